"""That nothing races from a number of nodes on is never said wrongly: random programs, and what each rule is for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pgasrob.frontends.lower import parse_c
from pgasrob.program.parser import parse
from pgasrob.program.program import Program
from pgasrob.program.reading import DEFAULT_READING
from pgasrob.races import no_race_beyond as proving
from pgasrob.races.end_sets import AllEnds
from pgasrob.races.no_race_beyond import is_free_of_races, no_race_beyond
from pgasrob.races.racing_pairs import Pairs
from pgasrob.robustness.every_n.proof import Obstacle
from pgasrob.robustness.every_n.prove import Prover
from pgasrob.robustness.every_n.rank_cases import Frame
from pgasrob.robustness.every_n.sc_pairs import ScPairs
from pgasrob.robustness.load import load
from pgasrob.robustness.maximal_runs import Viewer
from pgasrob.robustness.question import Question
from pgasrob.robustness.session import Session
from tests.robustness.every_n.drawn_facts import drawn_facts
from tests.support import examples

FRAMES = (Frame(0, 1), None, Frame(0, 1), Frame(0, 2), Frame(0, 1), Frame(1, 1))
MOST_STATES = 300
HEADER = "program some; memory x, y = 1, z, f; register r, s; queue q; process { "
RING = "(me + 1) % nodes"


def claimed(program: Program, frame: Frame | None = None) -> bool:
    return no_race_beyond(program, DEFAULT_READING, lambda: None, frame)


def races(program: Program, nodes: int) -> bool | None:
    """Whether commands that race are both next in an SC state, by looking at all of them; None where there are too
    many, and none of the first has such."""
    instance = program.instantiate(nodes)
    everything = AllEnds(Viewer(instance), Pairs(instance, on_purpose=False), MOST_STATES)
    for _ in everything.explore():
        pass
    found = any(True for _ in everything.races())
    return found if found or everything.complete else None


def test_no_claim_about_a_random_program_is_wrong() -> None:
    found = Counter[str]()
    for seed in range(examples(7, nightly=5_000)):
        program, frame = parse(drawn_facts(seed)), FRAMES[seed % len(FRAMES)]
        prover = Prover(program, DEFAULT_READING, frame)
        if any(True for case in prover.frame.cases() for _ in prover.flow(case).faults()):
            continue
        claim = claimed(program, frame)
        for nodes in (prover.frame.cutoff, prover.frame.cutoff + 1):
            racing = races(program, nodes)
            assert not (claim and racing), f"{seed} is said to have no race, and has one on {nodes} nodes"
            found[str(racing)] += 1
            found["claimed"] += claim
    assert min(found["True"], found["claimed"]) > 0.2 * examples(7, nightly=5_000), found


GROWING = """#include <shmem.h>
int main(void) {
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    int *p = shmem_malloc(n * sizeof *p);
    shmem_int_p(&p[n - 1], me, 0);
    shmem_finalize();
    return 0;
}
"""
PROGRAMS = {
    f"write(y, {RING}, x, q); wait(q); barrier; r <- mem[x];": True,
    f"write(y, {RING}, x, q); wait(q); r <- mem[x];": False,
    f"write(y, {RING}, x, q); wait(q); barrier; r <- mem[z];": True,
    f"write(y, {RING}, x, q); r <- mem[z];": True,
    "if (me > 0) { write(y, 0, x, q); }": False,
    "if (me == 1) { write(y, 0, x, q); }": True,
    "if (me == nodes - 2 || me == nodes - 1) { write(y, 0, x, q); }": False,
    "r <- fetch_add(0, x, 1);": True,
    "if (me == 1) { r <- fetch(0, x); } else { update(add, 1, 0, x, q); }": True,
    "if (me == 1) { write(y, 0, x, q); } else { r <- fetch_add(0, x, 1); }": False,
    f"write(y, {RING}, x, q); wait(q); write(y, {RING}, f, q); await(mem[f] == 1); r <- mem[x];": True,
    f"write(y, {RING}, x, q); wait(q); await(mem[x] == 1);": True,
    "if (me == 0) { mem[f] <- 1; await(mem[f] == 1); }": True,
    "if (me == 0) { write(y, 1, x, q); } if (me == 1) { r <- fetch(me, x); }": True,
    "if (me == 0) { write(y, 1, x, q); } if (me == 2) { r <- fetch(1, x); }": False,
}
"""Whether it is known of a block for all ranks that it has no race."""


@pytest.mark.parametrize(("block", "expected"), PROGRAMS.items())
def test_what_is_known(block: str, expected: bool) -> None:
    program = parse(f"{HEADER}{block} }}")
    assert claimed(program) == expected
    assert races(program, Prover(program, DEFAULT_READING).frame.cutoff) is not expected


def test_programs_in_c() -> None:
    """Cells that a library has for itself do not race; and of memory that grows nothing is claimed."""
    halo = load(Path(__file__).parents[2] / "programs/c/mpi/barrier_halo.c")
    growing = parse_c(GROWING, "growing.c")
    assert not isinstance(halo, Program) and claimed(halo.for_every_count())
    assert growing.for_every_count().growing and not claimed(growing.for_every_count())


def without_writes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(proving, "_race", lambda one, other: one[1].writes and other[1].writes and bool(one[0] & other[0]))


def without_others(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ScPairs, "others", lambda self, rank: [])


def with_all_atomic(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(proving, "atomic_together", lambda *_: True)


@pytest.mark.parametrize("broken", [without_writes, without_others, with_all_atomic])
def test_without_a_rule_claims_are_wrong(
    broken: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch)
    found = {block: claimed(parse(f"{HEADER}{block} }}")) for block, expected in PROGRAMS.items() if not expected}
    assert any(found.values())


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where too much would have to be looked at nothing is claimed."""
    block = next(block for block, expected in PROGRAMS.items() if expected)
    monkeypatch.setattr("pgasrob.robustness.every_n.sc_pairs.MOST_LOOKS", 5)
    assert not claimed(parse(f"{HEADER}{block} }}"))


def test_races_are_excluded_from_where_the_proof_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proof in which all ranks but one have no name begins earlier than one that tells even ranks from odd ones, in
    which there is too much to look at."""
    program = parse(
        f"{HEADER} if (nodes < 8) {{ if (me == nodes - 1) {{ mem[x @ 0] <- 1; }} if (me == 0) {{ r <- mem[x]; }} }} "
        "if ((me ^ 1) < nodes) { write(z, me ^ 1, y, q); } wait(q); barrier; r <- fetch(0, z); }"
    )
    session = Session(Question(program, 5))
    assert (session.proof().cutoff, is_free_of_races(Session(Question(program, 8)))) == (8, True)
    assert not is_free_of_races(session)
    before = Prover.run

    def run(self: Prover) -> Iterator[str]:
        yield from before(self)
        if self.frame.modulus > 1:
            self.proof.obstacles.append(Obstacle("limit"))

    monkeypatch.setattr(Prover, "run", run)
    session = Session(Question(program, 5))
    assert session.proof().is_about(5)
    assert not is_free_of_races(session)
