"""Programs of which it is known that they leave at once on all numbers of nodes but a few."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.driver import lower
from pgasrob.frontends.fitting_counts import doubt
from pgasrob.frontends.lower import CProgram, parse_c
from pgasrob.program.program import Program
from pgasrob.robustness.check import check
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import Question
from pgasrob.robustness.reasons import NothingChecked
from pgasrob.robustness.session import Session
from tests.frontends.counted_programs import PROGRAMS, mpi, shmem
from tests.frontends.drawn_checks import Drawn
from tests.support import check_every_count, examples

ONLY = {
    "not equal, MPI_Abort": (3,),
    "rank 0 says why": (5,),
    "a message of several lines": (3,),
    "all in an if": (4,),
    "a macro": (3,),
    "a helper": (6,),
    "a switch": (5, 7),
    "eight": (8,),
    "GASPI": (3,),
    "ARMCI": (3, 4, 5, 6, 7, 8),
}
CHECKS: dict[str, tuple[int, ...] | None] = {
    "if (n != 3 && n != 5) exit(1);": (3, 5),
    "if (!(n == 3 || 6 == n)) exit(1);": (3, 6),
    "if (n > 4) exit(1);": (2, 3, 4),
    "if (n < 3) exit(1); if (n > 4) exit(1);": (3, 4),
    "if (n - 1 != 2) exit(1);": None,  # no comparison with a constant
    "if (n % 2) exit(1);": None,  # the others are not a few
    "if (n < 4) exit(1);": None,
    "if (n > 40) exit(1);": None,
    "if (n != 1) exit(1);": None,  # nothing is left
    "if (n != 5000) exit(1);": None,  # more than can be checked
    "if ((unsigned char) n != 3) exit(1);": None,  # 259 is such a number, too
    "if ((short) n != 3 || n > 9) exit(1);": None,
    "if (n != 3) { shmem_int_p(&x, one, 0); exit(1); }": None,  # it communicates before
    "shmem_int_p(&x, one, 0); if (n != 3) exit(1);": None,
    "if (n != 3) { if (me == 0) exit(1); }": None,  # the others do not leave
    "if (n != 3) { if (me == 0) printf(\"no\"); exit(1); }": (3,),
    "if (n != 3) { while (1); }": None,  # nor do they leave so
    "if (n != 3) { assert(n == 3); exit(1); }": None,
    "if (n != 3) { int *p = 0; *p = 1; exit(1); }": None,
    "if (n != 3) { x = 1; if (x) exit(1); }": (3,),
    "if (n != 3) { if (rand() % 2) exit(1); exit(2); }": (3,),
    "if (n != 3) { if (rand() % 2) exit(1); }": None,
    "if (me == 0 && n != 3) exit(1);": None,
    "if (n != 3) { shmem_finalize(); return 1; }": (3,),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_programs_that_are_for_a_few_numbers_of_nodes(name: str) -> None:
    only = parse_c(PROGRAMS[name].text, "a.c").only
    assert (only.counts if only else None) == ONLY.get(name)


@pytest.mark.parametrize("check", CHECKS)
def test_which_checks_restrict_a_program(check: str) -> None:
    program = parse_c(shmem(check), "a.c")
    only = program.only
    assert (only.counts if only else None) == CHECKS[check]
    if only is not None:
        for count in {*range(2, 12)} - {*only.counts}:
            assert _leaves(program, count)


def _leaves(program: CProgram, count: int) -> bool:
    """Whether every rank leaves, by what the program is on so many nodes."""
    lowered: Any = program.program(count)
    return doubt(lowered) == "silent" and len({end.rank for end in lowered.ends}) == count


def test_ranks_that_leave_may_wait_at_a_barrier_where_they_part_before_and_for_a_value() -> None:
    apart = "if (n != 3) { if (me == 0) shmem_barrier_all(); exit(1); }"
    together = "if (n != 3) { shmem_barrier_all(); exit(1); }"
    awaits = "if (n != 3) { static int f; shmem_int_wait_until(&f, SHMEM_CMP_EQ, 1); exit(1); }"
    for text, waits in ((apart, True), (together, False), (awaits, True)):
        only = parse_c(shmem(text), "a.c").only
        assert only is not None and only.counts == (3,) and only.waits is waits


@pytest.mark.parametrize("parted", ["if (me) MPI_Barrier(MPI_COMM_WORLD); ", ""])
def test_where_ranks_that_leave_may_wait_deadlocks_are_open(parted: str) -> None:
    program = parse_c(mpi(f"if (n == 40) {{ {parted}MPI_Finalize(); return 1; }}"), "a.c").for_every_count()
    assert program.blind_awaits is bool(parted)


@pytest.mark.parametrize(
    ("check", "fewest"),
    [
        ("if (n < 4) MPI_Abort(MPI_COMM_WORLD, 1);", 4),
        ("if (n < 2) MPI_Abort(MPI_COMM_WORLD, 1);", 2),
        ("if (n >= 4) in = 1; else { MPI_Finalize(); return 1; }", 4),
        ("if (n < 3) MPI_Abort(MPI_COMM_WORLD, 1); if (n == 3) exit(1);", 4),
        ("if (n < 4) { if (me == 0) exit(1); MPI_Finalize(); return 2; }", 4),
    ],
)
def test_behind_a_check_a_program_is_lowered_without_its_number(check: str, fewest: int) -> None:
    """A window that is created on some ways only is one that all ranks create, where they are so many."""
    program = parse_c(mpi(check), "a.c")
    symbolic = program.for_every_count()
    for count in range(2, 8):
        assert symbolic.instantiate(count).communicates is (count >= fewest)
        own = program.instantiate(count)
        assert own.communicates is (count >= fewest)
        if count >= fewest:
            assert symbolic.instantiate(count).can_wait and own.can_wait
    assert check_every_count(program).verdict == "robust"


@pytest.mark.parametrize(
    "check",
    [
        "if (me == 0 && n < 4) MPI_Abort(MPI_COMM_WORLD, 1);",  # not all ranks
        "if (n < 4) { MPI_Bcast(&in, 1, MPI_INT, 0, MPI_COMM_WORLD); exit(1); }",  # they communicate before
        "if (me == 0) { if (n < 4) exit(1); } else if (n < 4) exit(1);",  # behind another branch
    ],
)
def test_what_needs_the_number_otherwise_is_refused(check: str) -> None:
    with pytest.raises(SourceError, match="PG146"):
        parse_c(mpi(check), "a.c").for_every_count()


def test_what_no_rank_can_begin_is_refused_for_all_numbers_too() -> None:
    program = parse_c("int data = 42;", "a.c")
    with pytest.raises(SourceError) as on_two:
        program.instantiate(2)
    assert program.only is None
    with pytest.raises(SourceError) as on_all:
        program.for_every_count()
    assert on_all.value.diagnostics == on_two.value.diagnostics


def drawn_programs(seed: int) -> Iterator[CProgram]:
    """A random program with checks at its beginning in OpenSHMEM, and one in MPI that creates a window behind them."""
    one = Drawn(seed, "shmem_int_p(&x, 1, 0);", "shmem_barrier_all();", "shmem_global_exit(2);").beginning()
    yield parse_c(shmem(one, "shmem_int_p(&x, one, (me + 1) % n); y = shmem_int_g(&x, 0);"), "a.c")
    send = "MPI_Send(&one, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);"
    two = Drawn(seed, send, "MPI_Barrier(MPI_COMM_WORLD);", "MPI_Abort(MPI_COMM_WORLD, 2);").beginning()
    yield parse_c(mpi(f"static int x; {two}"), "a.c")


def test_random_checks() -> None:
    """On numbers of nodes that are said to be none of the program's every rank leaves; without the number, it does what
    it does on each."""
    found: Counter[str] = Counter()
    for seed in range(examples(16, 3_000)):
        for program in drawn_programs(seed):
            only = program.only
            if only is not None:
                found["only"] += 1
                assert all(_leaves(program, count) for count in {*range(2, 10)} - {*only.counts}), seed
                continue
            with suppress(SourceError):
                lower(program.compiled, None)
                continue
            with suppress(SourceError):
                symbolic = program.for_every_count()
                found["behind a check"] += 1
                for count in range(2, 5):
                    own = program.instantiate(count)
                    assert symbolic.instantiate(count).communicates or not own.communicates, seed
                    assert _verdict(symbolic, count) != "robust" or _verdict(program, count) == "robust", seed
    assert found["only"] >= 2 and found["behind a check"] >= 2, found


def _verdict(program: Program | CProgram, count: int) -> str:
    found = check(Session(Question(program, count, limits=Limits(max_states=20_000))))
    return "robust" if isinstance(found.reason, NothingChecked) else found.verdict
