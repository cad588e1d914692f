"""Certificates are written for what is robust, and for nothing else, and the checker accepts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import pgasrob
from pgasrob import twins
from pgasrob.analysis.placement import Kind, Slot
from pgasrob.analysis.touched import Touched
from pgasrob.certificates.check.accept import examine
from pgasrob.certificates.check.command_effects import Fact, Touch
from pgasrob.certificates.check.names import case_of
from pgasrob.certificates.check.states import State, States
from pgasrob.certificates.write import NoCertificate, _values, write
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.program.program import Program
from pgasrob.program.reading import LITERAL_READING, Reading
from pgasrob.reference import attack
from pgasrob.reference.attack_search import AttackSearch
from pgasrob.robustness.native_attack import NativeSearch
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
    """A certificate is written just for what is robust and has no threads, and is accepted; one program in six, with
    --nightly all."""
    program = pgasrob.load(path)
    nodes = program.nodes or 2
    if path.stem in LARGE or (path.stem in SLOW and not is_nightly()):
        pytest.skip("takes long")
    if expected(path, nodes) == "robust" and not program.instantiate(nodes).has_threads:
        assert examine(program, write(program, nodes).text).reason is None
    else:
        with pytest.raises(NoCertificate, match=r"is not robust|has no value|several threads"):
            write(program, nodes)


def verdict(instance: Instance) -> bool | None:
    """Whether there is a violation; None when that takes long."""
    search = NativeSearch(instance) if twins.available() else AttackSearch(instance)
    for _ in search.run():
        if search.states > MOST_STATES:
            return None
    return search.violation is not None


def agree(program: Program, nodes: int, reading: Reading, seen: Counter[str]) -> None:
    violated = verdict(program.instantiate(nodes, reading.by_value))
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
    not_robust = "the program is not robust with waits read by value, as certificates have them"
    assert {"infeasibility", "states", "infeasibility and states", "no sources", not_robust} <= set(seen)


def test_random_programs_of_other_kinds() -> None:
    """With ranks that are alike, doubles and wide types, faults."""
    seen: Counter[str] = Counter()
    for seed in range(examples(10, nightly=2_000)):
        agree(parse(random_text(seed, 2 + seed % 3, seed % 2 == 1)), 2 + seed % 3, Reading(), seen)
        program = Generator(seed, extended=True).program()
        agree(program, program.nodes or 2, Reading(), seen)
    assert seen["a command may be reached that has no value"]


# The moves are those of the engine


def ours(instance: Instance, state: attack.State) -> State:
    """A state of the engine as the checker has it. Fences order nothing in a FIFO queue."""

    def fact(slot: Slot) -> Iterator[Fact]:
        place = [] if slot.kind in (Kind.PENDING, Kind.LOCAL, Kind.BUNDLED) else [slot.of]
        queue = [] if slot.kind in (Kind.BUNDLED, Kind.LOCATED) else [slot.queue]
        if slot.kind not in (Kind.FENCED, Kind.BOUND) or instance.is_unordered(slot.queue):
            yield slot.kind.name.lower(), *queue, *place
        if slot.kind is Kind.FENCED and instance.notifies_everywhere:
            yield "written", slot.of

    def touches(touched: Touched) -> frozenset[Touch]:
        by_way = [("r", touched.read), ("w", touched.written), *touched.updated]
        cells = range(len(instance.memory))
        return frozenset((cell, way) for way, bits in by_way for cell in cells if bits >> cell & 1)

    facts = tuple(frozenset(each for slot, _ in own for each in fact(slot)) for own in state.placement)
    found = State(state.control, state.registers, state.memory, facts)
    if state.attack is None:
        return found
    begun = state.attack
    return found._replace(
        source=touches(Touched().adding(begun.source)),
        tainted=frozenset(rank for rank in range(instance.nodes) if begun.tainted >> rank & 1),
        done=touches(begun.done),
        delayed=touches(begun.delayed),
    )


def test_the_moves_are_those_of_the_engine() -> None:
    """Written a second time, from `proofs/attack.md`: every state has the same successors. Further sources are chosen
    here whether or not somebody waits for what they update."""
    compared = 0
    for seed, program, nodes in random_programs(20_000, examples(8, nightly=3_000)):
        instance = program.instantiate(nodes, Reading() if seed % 4 else LITERAL_READING)
        space = attack.AttackSpace(instance)
        every = (1 << len(instance.memory)) - 1
        space._waited_for = Touched(updated=tuple((kind, every) for kind in instance.update_kinds))
        values = _values(case_of(instance))
        asked = States(values, {(*command.at, step) for command, step in values.sources})
        found = {space.initial}
        todo = [space.initial]
        while todo and len(found) < 300:
            state = todo.pop()
            theirs = {target for _, target in space.successors(state)}
            mine = set(asked.followed(ours(instance, state), None))
            assert mine == {ours(instance, each) if isinstance(each, attack.State) else None for each in theirs}
            further = {each for each in theirs if isinstance(each, attack.State)} - found
            found |= further
            todo += further
        compared += len(found)
    assert compared > (20_000 if is_nightly() else 600)
