"""Displays against all runs of small random programs, one by one; and that robust programs show what SC runs show."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

import pytest

from pgasrob.api import check
from pgasrob.frontends.lower import CProgram, parse_c
from pgasrob.program import core
from pgasrob.program.instance import Instance
from pgasrob.program.outside_memory import Place
from pgasrob.program.statements import Span
from pgasrob.repairs import displays
from pgasrob.repairs.displays import Seen, TooMany, first_difference
from pgasrob.semantics.sequential import SequentialSpace
from pgasrob.semantics.state_space import StateSpace
from tests.support import examples

MOST_RUNS = 3_000
Shown = frozenset[tuple[object, ...]]


def program(phases: list[list[list[str]]]) -> str:
    """For each phase, which ends with a barrier, what each rank does; the barriers are in lines of their own."""
    lines = ["#include <shmem.h>", "#include <stdio.h>", "#include <unistd.h>", "static long x, y;"]
    lines += ["int main(void) {", "shmem_init();", "int me = shmem_my_pe();"]
    for phase in phases:
        for rank, calls in enumerate(phase):
            lines.append(f"if (me == {rank}) {{ {' '.join(calls)} }}")
        lines.append("shmem_sync_all();")
    return "\n".join([*lines[:-1], "return 0;", "}", ""])


def random_phases(generator: random.Random, ranks: int) -> list[list[list[str]]]:
    def call(rank: int) -> str:
        cell, other = generator.choice("xy"), generator.randrange(ranks)
        return generator.choice([
            'printf("a");', 'printf("a");', 'access("f", 0);', 'remove("f");',
            f"shmem_long_atomic_set(&{cell}, {generator.randint(1, 2)}, {other});", "shmem_quiet();",
            f'printf("%ld", shmem_long_atomic_fetch(&{cell}, {other}));',
            f"if (shmem_long_atomic_fetch(&{cell}, {other})) puts(\"b\");",
        ])  # fmt: skip

    calls = generator.choice([3, 4, 5]) if ranks == 2 else 3
    phases: list[list[list[str]]] = [[[] for _ in range(ranks)] for _ in range(generator.choice([2, 2, 3]))]
    for _ in range(calls):
        rank = generator.randrange(ranks)
        generator.choice(phases)[rank].append(call(rank))
    return phases


def runs(instance: Instance, space: Any) -> Iterator[list[tuple[Any, Any, Any]]]:
    """All maximal runs, as triples of a state, a word and the state after it. Raises TooMany."""
    count = 0
    stack = [(space.initial, [])]
    while stack:
        state, path = stack.pop()
        moves = list(space.successors(state))
        for word, after in moves:
            stack.append((after, [*path, (state, word, after)]))
        if not moves:
            # Those in which a guess of the front end was wrong are none.
            guesses = (
                {edge.command.kind for edge in of.out[at]} == {"assume"}
                for of, at in zip(instance.automata, state.control, strict=True)
            )
            count += 1
            if count > MOST_RUNS:
                raise TooMany
            if not any(guesses):
                yield path


def shown(instance: Instance, places: Collection[Place], space: Any) -> dict[tuple[str, int | None], Shown]:
    """What is seen of each place, by each rank that reads it, in all runs."""
    edges = {
        (rank, edge.occurrence): edge
        for rank, automaton in enumerate(instance.automata)
        for edge in automaton.transitions
    }
    found: dict[tuple[str, int | None], set[tuple[object, ...]]] = {}
    for path in runs(instance, space):
        events: list[tuple[str, int, object, object]] = []
        for _, word, after in path:
            first = word[0]
            if first.kind in ("popa", "popb", "popc", "popd", "barrier"):
                continue
            edge = edges[first.rank, first.which]
            place = next((each.name for each in places if each.address == first.cell), None)
            if place is not None:
                events.append((place, first.rank, edge.command.kind, edge.span.line))
            elif isinstance(edge.form, core.Immediate) and edge.form.register is not None:
                value = after.registers[first.rank][edge.form.register]
                events.append(("", first.rank, "reads", (edge.span.line, instance.cell_name(first.cell), value)))
        for each in places:
            readers = {rank for _, rank, kind, _ in events if kind == "load"}
            for reader in (None, *readers, *range(instance.nodes)):
                display: list[object] = []
                unread: dict[int, tuple[object, ...]] = {}
                for name, rank, kind, what in events:
                    if not name:
                        unread[rank] = (*unread.get(rank, ()), what)
                    elif name == each.name and (kind == "store" or rank == reader):
                        display.append((rank, kind, what, unread.pop(rank, ()) if kind == "store" else ()))
                found.setdefault((each.name, reader), set()).add(tuple(display))
    return {key: frozenset(some) for key, some in found.items()}


def seen(made: Instance, places: tuple[Place, ...], on_the_network: bool = False) -> Seen:
    names = {made.program.cell_name(address) for address in made.program.lasting}

    def site(span: Span) -> int:
        return span.line

    return Seen(made, places, site, names, on_the_network)


def with_cells(text: str, ranks: int) -> tuple[CProgram, Any, Instance, tuple[Place, ...]]:
    read = parse_c(text)
    made, places = read.with_places(ranks, terminal=True)
    return read, made, made.instantiate(ranks), places


def without(text: str, number: int) -> str:
    """``text`` with nothing in place of its barrier ``number``, so that lines keep their numbers."""
    lines = text.split("\n")
    at = [place for place, line in enumerate(lines) if line == "shmem_sync_all();"][number]
    return "\n".join([*lines[:at], "", *lines[at + 1 :]])


@pytest.mark.parametrize("on_the_network", [False, True])
def test_what_is_new_is_what_no_run_has_shown(on_the_network: bool) -> None:
    counts: Counter[str] = Counter()
    for seed in range(examples(35, 4_000)):
        generator = random.Random(seed)
        ranks = generator.choice([2, 2, 3])
        phases = random_phases(generator, ranks)
        text = program(phases)
        edited = without(text, generator.randrange(len(phases) - 1))
        old, new = (with_cells(each, ranks)[2:] for each in (text, edited))
        space = StateSpace if on_the_network else SequentialSpace
        try:
            before, after = (shown(instance, places, space(instance)) for instance, places in (old, new))
        except TooMany:
            counts["too many"] += 1
            continue
        is_new = any(some - before.get(key, frozenset()) for key, some in after.items())
        found = first_difference(seen(*new, on_the_network), seen(*old, on_the_network))
        assert (found is not None) == is_new, (seed, text, found)
        counts["new" if is_new else "none"] += 1
        counts["of files"] += found is not None and found.place.name == "f"
        counts["of values"] += found is not None and any(
            (each.rank, each.site) == (found.new.rank, found.new.site) for each in found.old
        )
    assert min(counts["new"], counts["none"]) >= examples(10, 500), counts
    assert counts["of files"] and counts["of values"] >= examples(0, 10), counts


def test_what_is_robust_shows_what_sc_runs_show() -> None:
    """Section "What is seen" of `proofs/repair.md`; other programs may show more."""
    counts: Counter[str] = Counter()
    for seed in range(examples(35, 4_000)):
        generator = random.Random(1_000_000 + seed)
        ranks = generator.choice([2, 2, 3])
        _, made, instance, places = with_cells(program(random_phases(generator, ranks)), ranks)
        try:
            network, sc = (shown(instance, places, space(instance)) for space in (StateSpace, SequentialSpace))
        except TooMany:
            continue
        robust = check(made, ranks).verdict == "robust"
        assert network == sc or not robust, seed
        counts[f"{'robust' if robust else 'not robust'}, {'same' if network == sc else 'more'}"] += 1
    assert counts["robust, same"] >= examples(20, 1_000) and counts["not robust, more"] >= examples(2, 50), counts


ROUNDS = """#include <shmem.h>
#include <stdio.h>
static long more = 1;
int main(void) {
  shmem_init();
  while (shmem_long_atomic_fetch(&more, 0)) {
    if (shmem_my_pe() == 0) puts("round");
    shmem_sync_all();
    if (shmem_my_pe() == 1) puts("row");
    shmem_sync_all();
    if (shmem_my_pe() == 0) shmem_long_atomic_set(&more, 0, 0);
    shmem_barrier_all();
  }
}
"""


def test_rounds_that_are_not_known_in_number() -> None:
    """The same calls in both orders, in one round and the next: each has its place in the sequence."""
    old, middle = (
        seen(*with_cells(text, 2)[2:]) for text in (ROUNDS, ROUNDS.replace("    shmem_sync_all();\n", "", 1))
    )
    found = first_difference(middle, old)
    assert found is not None and (found.new.rank, [each.rank for each in found.old]) == (1, [0])
    assert first_difference(old, old) is None


def test_a_run_that_ends_without_a_word_is_new() -> None:
    """What is there of its display is the beginning of one that there was."""
    text = program(
        [[["shmem_long_atomic_set(&x, 1, 1);"], []], [[], ['if (shmem_long_atomic_fetch(&x, 1)) puts("a");']]]
    )
    old, new = (seen(*with_cells(each, 2)[2:]) for each in (text, without(text, 0)))
    found = first_difference(new, old)
    assert found is not None and found.new == displays.END and [each.rank for each in found.old] == [1]


def test_what_is_read_when_nothing_is_written_any_more_does_not_count() -> None:
    """A rank that reads for ever has read more in each state."""
    text = """#include <shmem.h>
#include <stdio.h>
static long more = 1, looked;
int main(void) {
  shmem_init();
  puts("begin");
  if (shmem_my_pe() == 0) shmem_long_atomic_set(&more, 0, 0);
  else while (shmem_long_atomic_fetch(&more, 0)) shmem_long_atomic_set(&looked, 1, 1);
}
"""
    old = seen(*with_cells(text, 2)[2:])
    assert first_difference(old, old) is None
    later = seen(*with_cells(text.replace(", 1, 1);\n", ', 1, 1);\n  puts("end");\n'), 2)[2:])
    with pytest.raises(TooMany):
        first_difference(later, later)


def test_only_what_is_read_of_the_named_cells_counts() -> None:
    reads = 'printf("%ld", shmem_long_atomic_fetch(&x, 1));'
    text = program([[["shmem_long_atomic_set(&x, 1, 1);"], []], [[], [reads]]])
    pairs = [with_cells(each, 2)[2:] for each in (without(text, 0), text)]
    for names, differ in (({"x"}, True), ({"y"}, False)):
        new, old = (Seen(*each, lambda span: span.line, names, False) for each in pairs)
        assert (first_difference(new, old) is not None) == differ


def test_who_has_stored_a_value_counts_where_that_is_asked_for() -> None:
    """The 0 of the beginning is not the 0 that rank 0 has put there; nor is a copy of the one a copy of the other."""
    reads = 'printf("%ld", shmem_long_atomic_fetch(&y, 1));'
    for copies in ("", "shmem_long_get(&y, &y, 1, 0);"):
        puts = f"shmem_long_p(&y, 0, {0 if copies else 1}); shmem_quiet();"
        text = program([[[puts], []], [[], [copies, reads]]])
        pairs = [with_cells(each, 2)[2:] for each in (without(text, 0), text)]
        for writers in (True, False):
            new, old = (Seen(*each, lambda span: span.line, {"y"}, False, writers) for each in pairs)
            assert (first_difference(new, old) is not None) == writers


def test_states_that_differ_in_what_has_been_read_are_one() -> None:
    """The values are in the letters; each read of three gives 0 or 1."""
    reads = "if (shmem_long_atomic_fetch(&x, 1)) shmem_quiet();" * 3
    [one] = [with_cells(program([[["shmem_long_atomic_set(&x, 1, 1);", 'puts("a");'], [reads, 'puts("b");']]]), 2)[2:]]
    assert len(seen(*one).moves) == 26


def test_too_many_states_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = program([[['printf("a");'] * 3, ['printf("b");'] * 3], [[], ['printf("c");']]])
    old = with_cells(text, 2)[2:]
    new, before = seen(*old), seen(*old)
    monkeypatch.setattr(displays, "MOST_WORK", 5)
    with pytest.raises(TooMany):
        first_difference(new, before)
    monkeypatch.setattr(displays, "MOST_STATES", 10)
    with pytest.raises(TooMany):
        seen(*old)
