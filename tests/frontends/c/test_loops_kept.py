"""Long loops: kept as loops where that tells the same, written out where something must be known of each iteration."""

from __future__ import annotations

import random
from collections.abc import Hashable
from pathlib import Path

import pytest

from pgasrob import check, load
from pgasrob.frontends.c import driver, merge_points
from pgasrob.frontends.c.assemble import _merged
from pgasrob.frontends.c.facts import Facts, KeepsLoops
from pgasrob.frontends.c.graph import Node
from pgasrob.frontends.c.moved import Folding
from pgasrob.frontends.lower import parse_c
from pgasrob.program import commands
from pgasrob.program.expressions import Const, Register
from pgasrob.program.program import Program
from pgasrob.program.statements import Do, FlowGraph, Statement

SOURCE = """#include <assert.h>
#include <shmem.h>
#include <stdlib.h>
static int x, flag[2], sum, a[8];
int main(void) {{
  shmem_init();
  int me = shmem_my_pe();
  {}
  shmem_barrier_all();
  shmem_finalize();
}}
"""
PING = """for (int i = 1; i <= 4; i++) {{
  if (me == 0) {{ shmem_int_p(&x, i, 1); {} shmem_int_p(&flag[i % 2], i, 1);
    shmem_int_wait_until(&flag[0], SHMEM_CMP_GE, i); }}
  else {{ shmem_int_wait_until(&flag[i % 2], SHMEM_CMP_EQ, i); sum += x; {} shmem_int_p(&flag[0], i, 0); }}
}}
assert(sum == 10 * me);"""
BODIES = {
    "fence": (
        "if (me) for (int i = 0; i < 5; i++) { shmem_int_p(&x, i, 0); shmem_fence(); }"
        " shmem_barrier_all(); assert(me || x == 4);",
        "robust",
    ),
    "ping": (PING.format("shmem_fence();", ""), "robust"),
    "ping without a fence": (PING.format("", ""), "not robust"),
    "toggle": (
        "int now = 0; for (int i = 0; i < 4; i++) { a[now] = x; shmem_int_p(&a[2 + now], i, 1 - me);"
        " shmem_barrier_all(); sum += a[2 + now]; now = 1 - now; shmem_barrier_all(); } assert(sum == 6);",
        "robust",
    ),
    "nested": (
        "for (int i = 0; i < 3; i++) for (int k = 0; k < 3; k++) { shmem_int_p(&a[k], i, 1 - me); shmem_barrier_all();"
        " sum += a[k]; shmem_barrier_all(); } assert(sum == 9);",
        "robust",
    ),
    "sum in a register": (
        "int s = 0; for (int i = 0; i < 4; i++) { s += i * i; shmem_int_p(&a[i], s, 1 - me); }"
        " sum = s + a[3]; assert(sum == 14 || sum == 28);",
        "not robust",
    ),
}


def program(body: str, kept: bool, monkeypatch: pytest.MonkeyPatch) -> Program:
    """The program on 2 nodes, with loops kept as soon as may be, or written out."""
    monkeypatch.setattr(merge_points, "LONG_CODE", 2 if kept else 100_000)
    monkeypatch.setattr(merge_points, "FEW_VALUES", 2)
    return parse_c(SOURCE.format(body)).program(2)


def size(program: Program) -> int:
    graphs = [process.body for process in program.processes]
    return sum(len(piece.statements) for graph in graphs if isinstance(graph, FlowGraph) for piece in graph.pieces)


@pytest.mark.parametrize(("body", "expected"), BODIES.values(), ids=BODIES)
def test_a_loop_that_is_kept_does_what_its_iterations_do(
    monkeypatch: pytest.MonkeyPatch, body: str, expected: str
) -> None:
    kept, written_out = (program(body, each, monkeypatch) for each in (True, False))
    assert size(kept) != size(written_out)
    for each in (kept, written_out):
        verdict = check(each)
        assert (verdict.verdict, verdict.assertions, verdict.deadlock) == (expected, "hold", False)


def test_code_gets_no_longer_with_more_iterations() -> None:
    inner = "shmem_int_p(&x, i, 1 - me); shmem_barrier_all(); sum += x; shmem_barrier_all();"
    body = f"for (int i = 0; i < {{}}; i++) {{{{ {inner} }}}}"
    sizes = {count: size(parse_c(SOURCE.format(body.format(count))).program(2)) for count in (20, 400, 2_000, 100_000)}
    assert sizes[20] > 100
    assert sizes[2_000] == sizes[100_000] < 50


def test_twenty_steps_of_a_stencil_are_no_longer_than_a_hundred() -> None:
    body = """for (int t = 0; t < {}; t++) {{ if (me > 0) shmem_int_p(&a[7], a[1], me - 1);
        if (!me) shmem_int_p(&a[0], a[6], 1); shmem_barrier_all();
        for (int i = 1; i < 7; i++) a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3; shmem_barrier_all(); }}"""
    sizes = [size(parse_c(SOURCE.format(body.format(steps))).program(2)) for steps in (2, 4, 20, 100)]
    assert sizes[0] < sizes[1] > sizes[2] == sizes[3], sizes


def test_loops_that_are_not_very_long_are_kept_only_where_little_code_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is computed of the counter would be in a register for each element."""
    body = """long b[48]; for (int t = 0; t < 18; t++) { for (int i = 0; i < 48; i++) b[i] = me + i * t;
        shmem_int_p(&x, (int)b[t], 1 - me); shmem_barrier_all(); for (int i = 0; i < 8; i++) { a[i] = (int)b[i]; }
        {} shmem_barrier_all(); }"""
    body = body.replace("{}", "for (int i = 8; i < 48; i++) shmem_int_p(&sum, (int)b[i], 1 - me);")
    written_out = size(program(body, False, monkeypatch))
    monkeypatch.undo()
    assert 2 * size(parse_c(SOURCE.format(body)).program(2)) < written_out
    monkeypatch.setattr(driver, "SHORTER", 10)
    assert size(parse_c(SOURCE.format(body)).program(2)) == written_out


def test_where_something_must_be_known_of_each_iteration_they_are_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    body = "for (int i = 1; i <= 4; i++) { shmem_int_put(a, a + 4, i, 1 - me); shmem_barrier_all(); }"
    assert size(program(body, True, monkeypatch)) == size(program(body, False, monkeypatch))


def naively_merged(nodes: dict[str, Node]) -> dict[str, str]:
    """The same by the definition: classes are refined as long as that makes any difference."""
    keys: dict[str, Hashable] = {label: (tuple(node.statements), node.condition) for label, node in nodes.items()}
    for _ in nodes:
        numbers: dict[Hashable, int] = {}
        classes = {label: numbers.setdefault(key, len(numbers)) for label, key in keys.items()}
        keys = {label: (classes[label], *(classes[each] for each in node.goes_to)) for label, node in nodes.items()}
    first: dict[Hashable, str] = {}
    return {label: first.setdefault(key, label) for label, key in keys.items()}


def test_nodes_are_merged_as_by_the_definition() -> None:
    drawn = random.Random(7)
    merged = 0
    for _ in range(400):
        labels = [f"s{number}" for number in range(drawn.randint(1, 12))]
        nodes = {}
        for label in labels:
            issued: list[Statement] = [Do(commands.Assign(Register("r", 0), Const(drawn.randint(0, 1))))]
            nodes[label] = Node(label, issued, tuple(drawn.choices(labels, k=drawn.randint(0, 2))))
        found = _merged(nodes)
        assert found == naively_merged(nodes)
        merged += len(nodes) - len(set(found.values()))
    assert merged > 200


@pytest.mark.parametrize("kept", [True, False])
def test_what_has_not_been_set_is_not_used_in_a_loop_that_is_kept_either(
    monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    """At the inner head `last` takes more values than any counter does before it is one of the registers."""
    body = """int s = 0, last; for (int i = 0; i * i < 3 + s; i++) { if (i > 3) break;
        for (int k = 3; k > 0; k--) { shmem_int_p(&a[k], k, 1 - me); {} s += last; last = k; } }
        shmem_barrier_all(); assert(x != 3);"""
    faulting = program(body.replace("{}", "if (k)"), kept, monkeypatch)
    assert check(faulting).verdict == "error"
    fine = program(body.replace("{}", "if (k < 3)"), kept, monkeypatch)
    assert check(fine).verdict == "not robust"


def test_a_list_that_grows_is_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the counter in a register the loop never ends, and each element that is allocated makes a new state."""
    body = """struct node { struct node *next; int value; } *list = 0;
        for (int i = 0; i < 5; i++) { struct node *made = malloc(sizeof *made); made->next = list; made->value = i;
            list = made; shmem_int_p(&x, i, 1 - me); shmem_fence(); }
        for (; list; list = list->next) shmem_int_p(&a[list->value], 1, 1 - me);"""
    learned: list[Facts] = []

    def noted(keeps_loops: KeepsLoops, folding: Folding, units: int) -> Facts:
        learned.append(Facts(keeps_loops, folding, units))
        return learned[-1]

    monkeypatch.setattr(driver, "Facts", noted)
    monkeypatch.setattr(merge_points, "KEPT_STATES", 40)
    monkeypatch.setattr(merge_points, "MOST_SNAPSHOTS", 400)
    kept = program(body, True, monkeypatch)
    assert [facts.loops_kept for facts in learned] == [True, True, False]
    elements = [sum(id.kind == "heap" for id in facts.objects) for facts in learned]
    assert elements[1:] == [40, 5]  # that loops kept soon leave much code is seen before
    assert size(kept) == size(program(body, False, monkeypatch))


@pytest.mark.nightly
def test_a_stencil_of_a_hundred_steps_is_robust_on_16_ranks() -> None:
    path = Path(__file__).parents[3] / "programs/c/openshmem/stencil_2d.c"
    assert check(load(path), 16).verdict == "robust"
