"""Certificates are written for what is robust, and for nothing else, and the checker accepts them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import pgasrob
from pgasrob.certificates.check.accept import examine
from pgasrob.certificates.check.states import Moves, State
from pgasrob.certificates.write import NoCertificate, write
from pgasrob.program import core
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.program.program import Program
from pgasrob.program.reading import LITERAL_READING, Reading
from pgasrob.robustness import attack, native
from pgasrob.robustness.attack_search import AttackSearch
from tests.analysis.test_ranges import Generator
from tests.analysis.test_symmetry import random_text
from tests.certificates.mutants import random_programs
from tests.support import examples, is_nightly, sampled
from tests.test_corpus import PROGRAMS, expected

MOST_STATES = 20_000

LARGE = {"gaspi_credits", "stencil_2d"}
"""Robust programs of the corpus that take very long, or have none."""
SLOW = {"armci_spmv", "bucket_sort", "gaspi_stencil", "histogram_owners"}
"""Those that take longer than the others."""


@pytest.mark.parametrize("path", sampled(PROGRAMS, 6), ids=lambda path: path.stem)
def test_the_corpus(path: Path) -> None:
    """A certificate is written just for what is robust, and is accepted; one program in six, with --nightly all."""
    program = pgasrob.load(path)
    nodes = program.nodes or 2
    if path.stem in LARGE or (path.stem in SLOW and not is_nightly()):
        pytest.skip("takes long")
    if expected(path, nodes) == "robust":
        assert examine(program, write(program, nodes).text).reason is None
    else:
        with pytest.raises(NoCertificate, match=r"is not robust|has no value"):
            write(program, nodes)


def verdict(instance: Instance) -> bool | None:
    """Whether there is a violation; None when that takes long."""
    search = native.NativeSearch(instance) if native.available() else AttackSearch(instance)
    for _ in search.run():
        if search.states > MOST_STATES:
            return None
    return search.violation is not None


def agree(program: Program, nodes: int, reading: Reading, seen: Counter[str]) -> None:
    violated = verdict(program.instantiate(nodes, reading))
    if violated is None:
        return
    try:
        written = write(program, nodes, reading, 3_000)
    except NoCertificate as reason:
        told = str(reason)
    else:
        told = ""
        assert examine(program, written.text).reason is None
    seen[told or written.kind] += 1
    assert not violated if not told else violated or "not robust" not in told


def test_random_programs() -> None:
    seen: Counter[str] = Counter()
    for _, program, nodes in random_programs(0, examples(150, nightly=10_000)):
        for reading in (Reading(), LITERAL_READING):
            agree(program, nodes, reading, seen)
    assert {"infeasibility", "states", "infeasibility and states", "no sources", "the program is not robust"} <= set(
        seen
    )


def test_random_programs_of_other_kinds() -> None:
    """With ranks that are alike, doubles and wide types, faults."""
    seen: Counter[str] = Counter()
    for seed in range(examples(40, nightly=2_000)):
        agree(parse(random_text(seed, 2 + seed % 3, seed % 2 == 1)), 2 + seed % 3, Reading(), seen)
        program = Generator(seed, extended=True).program()
        agree(program, program.nodes or 2, Reading(), seen)
    assert seen["a command may be reached that has no value"]


# The moves are those of the engine


def same(state: State) -> attack.State:
    """A state as the engine has it."""
    from pgasrob.analysis.placement import DELAYED, Kind, Slot
    from pgasrob.analysis.touched import Touched

    def slot(kind: str, *rest: int) -> Slot:
        known = Kind[kind.upper()]
        if known in (Kind.BUNDLED, Kind.LOCATED):
            return Slot(core.EVERY_QUEUE, known, *rest)
        return Slot(rest[0], known, *rest[1:])

    def touched(accesses: frozenset[tuple[int, str]]) -> Touched:
        found = Touched()
        for cell, way in accesses:
            kind = "" if way in ("r", "w") else way
            found = found.adding(core.Access(cell, way == "r" or bool(kind), way != "r", kind))
        return found

    begun = None
    if state.attack is not None:
        source, tainted, done, delayed = state.attack
        begun = attack.Attack(source, sum(1 << rank for rank in tainted), touched(done), touched(delayed))
    placement = tuple(tuple(sorted((slot(*fact), DELAYED) for fact in facts)) for facts in state.facts)
    return attack.State(state.control, state.registers, state.memory, placement, begun)


def test_the_moves_are_those_of_the_engine() -> None:
    """Written a second time, from `proofs/attack.md`: every state has the same successors."""
    compared = 0
    for seed, program, nodes in random_programs(20_000, examples(60, nightly=3_000)):
        instance = program.instantiate(nodes, Reading() if seed % 4 else LITERAL_READING)
        space = attack.AttackSpace(instance)
        cells = range(len(instance.memory))
        waited = space._waited_for
        waited_for = {cell for _, bits in waited.updated for cell in cells if bits >> cell & 1}
        moves = Moves(instance, frozenset(waited_for), lambda *source: True)
        found = {moves.initial}
        todo = [moves.initial]
        while todo and len(found) < 300:
            state = todo.pop()
            mine = [each for rank in range(nodes) for each in moves.of_rank(state, rank)]
            mine += moves.of_barriers(state)
            theirs = {target for _, target in space.successors(same(state))}
            assert {attack.Found() if each is None else same(each) for each, _ in mine} == theirs
            further = {each for each, _ in mine if each is not None} - found
            found |= further
            todo += further
        compared += len(found)
    assert compared > 2_000 * (10 if is_nightly() else 1)
