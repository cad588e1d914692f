"""C programs as `.pgas` texts: what `pgasrob show FILE.c` prints is read back as the same control automata."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from pgasrob.api import check
from pgasrob.frontends.lower import load_c, parse_c
from pgasrob.program.commands import Barrier, Guess, Mark
from pgasrob.program.expressions import Const, IntType, Register, Symbol, Unary
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.program.printer import to_source
from pgasrob.program.spelled import NO_NAME
from pgasrob.robustness.verdict import Verdict
from tests.support import sampled

PROGRAMS = Path(__file__).parents[2] / "programs"
CORPUS = sorted(path for path in PROGRAMS.glob("**/*.c") if "// expect: error" not in path.read_text("utf-8"))
NOT_READ_BACK = "// Not to be read back: .pgas has no "
DOUBLES = {
    "column_halo.c", "stencil.c", "stencil_barrier.c", "transpose_fence.c", "fence_sync.c", "put_barrier.c",
    "put_is_local.c", "quiet_sync.c", "armci_spmv.c", "armci_spmv_no_wait.c", "stencil_2d.c", "stencil_2d_no_fence.c",
}  # fmt: skip
"""The programs with doubles, for which `.pgas` has no syntax; one of two stencil.c has none."""
CHECKED = CORPUS[::9]


def bare(part: Any) -> Any:
    """Commands and expressions without names and types: only numbers and the places of registers are left."""
    match part:
        case Symbol(_, value) | Const(value):
            return value
        case Register(_, index):
            return "register", index
        case Unary("cast", operand, to) if to.bits >= 32:
            return bare(operand)
        case IntType():
            return None
        case Guess(condition) | Mark(condition):
            return "Assume", bare(condition)  # as which they are printed
        case Barrier(name):
            return "Barrier", NO_NAME.sub("_", name).strip("_")
    if is_dataclass(part):
        return type(part).__name__, *(bare(getattr(part, field.name)) for field in fields(part) if field.compare)
    return part


def automata(instance: Instance) -> list[Any]:
    return [
        [[(bare(edge.command), edge.target) for edge in leaving] for leaving in automaton.out]
        for automaton in instance.automata
    ]


def test_the_corpus_is_there() -> None:
    assert len(CORPUS) > 180 and len(CHECKED) > 19


@pytest.mark.parametrize("path", sampled(CORPUS, 8), ids=lambda path: path.name)
def test_what_is_shown_is_read_back(path: Path) -> None:
    instance = load_c(path).instantiate()
    text = to_source(instance.program)
    if text.startswith(NOT_READ_BACK):
        assert path.name in DOUBLES and instance.program.doubles
        return
    if instance.illegal_calls:
        return  # that a call is not allowed there is read back as an assertion of the program
    again = parse(text).instantiate()
    assert (again.nodes, again.program.cells, again.memory) == (instance.nodes, instance.program.cells, instance.memory)
    assert automata(again) == automata(instance)
    assert [queue.unordered for queue in again.program.queues] == [queue.unordered for queue in instance.program.queues]


@pytest.mark.parametrize("path", CHECKED, ids=lambda path: path.name)
def test_the_verdict_is_the_same(path: Path) -> None:
    program = load_c(path)
    text = to_source(program.program())
    if not text.startswith(NOT_READ_BACK):
        first, second = check(program), check(parse(text))
        assert first.verdict == second.verdict
        # In the text those that stand for illegal calls are like others.
        assert first.illegal_calls or second.assertions == (first.assertions or (second.assertions and "hold"))
        assert first.deadlock == second.deadlock or (first.deadlock is False and ends_in_a_guess(second))


def ends_in_a_guess(verdict: Verdict) -> bool:
    """Whether a rank of the run into a deadlock stands before false assumes alone: of a front end that is a wrong
    guess, and no deadlock; in the core language others may wait for it."""
    assert verdict.deadlock_run is not None
    run = verdict.deadlock_run.run
    leaving = [automaton.out[at] for automaton, at in zip(run.instance.automata, run.control, strict=True)]
    return any(each and all(transition.command.kind == "assume" for transition in each) for each in leaving)


def shown(body: str, head: str = "", name: str = "test.c") -> str:
    text = f"#include <shmem.h>\n{head}\nint main(void) {{ shmem_init(); int me = shmem_my_pe(); {body} return 0; }}"
    return to_source(parse_c(text, name).program(2))


def test_names() -> None:
    text = shown(
        "shmem_int_p(&x, 1, 0); int x = shmem_int_g(&mem, 0); shmem_int_put(&y.x, &x, 1, 0); "
        "shmem_int_p(&main_x, x, 0);",
        "int mem, main_x, x; struct { int x, z; } y;",
        "2d-put.c",
    )
    assert text.startswith("program _2d_put;\n")
    assert "memory x, main_x_2, mem_, y_x, main_x;" in text
    parse(text).instantiate()


def test_queues_are_named_and_ranks_are_not() -> None:
    """All three arguments that are numbers are 0 here."""
    text = shown("shmem_int_p(&x, 0, 0); shmem_quiet(); shmem_fence();", "int x;")
    assert "update(set, 0, 0, x, shmem) as plain;" in text and "wait(shmem);" in text


def test_elements_and_short_integers() -> None:
    text = shown("short v = shmem_int_g(&a[1], 0); shmem_int_p(&a[v & 1], v, 0);", "int a[2];")
    assert "fetch(0, a + 1)" in text and "<< 16 >> 16" in text
    assert not text.startswith("//")
    parse(text).instantiate()


def test_what_pgas_has_no_words_for() -> None:
    assert shown("shmem_double_p(&d, 1.5, 0);", "double d;").startswith(NOT_READ_BACK + "doubles")
    assert shown("shmem_long_p(&d, 1L << 40, 0);", "long d;").startswith(
        NOT_READ_BACK + "integers of more than 32 bits"
    )
    long = shown("shmem_long_p(&d, shmem_long_g(&d, 1) + 1, 0);", "long d;")
    assert long.startswith("// In C some of this is computed in other types than `int`")
    parse(long).instantiate()
