"""Robust programs end with the same memory on the network as in SC runs, failed polls and all (Corollary 3 of
`proofs/polling.md`; the same for updates that commute: `proofs/commuting.md`)."""

from __future__ import annotations

from collections import Counter

from pgasrob.automata.automaton import Reached
from pgasrob.program.instance import Instance, Memory
from pgasrob.program.reading import LITERAL_READING
from pgasrob.reference.attack_search import AttackSearch
from pgasrob.robustness.reduction import REDUCTIONS
from pgasrob.semantics.sequential import SequentialSpace
from pgasrob.semantics.state_space import StateSpace
from tests.oracle.polls_and_updates import random_program
from tests.robustness.test_engines_agree import translated
from tests.support import examples

MOST_STATES = 8_000


def is_violated(program: Instance) -> bool | None:
    search = AttackSearch(program, REDUCTIONS)
    for _ in search.run():
        if search.states > MOST_STATES:
            return None
    return search.violation is not None


def ends(space: SequentialSpace | StateSpace) -> set[Memory] | None:
    """The memory of all states in which every rank has ended and nothing is pending; None: there are too many."""
    reached, found = Reached(space), set()
    out = [automaton.out for automaton in space.instance.automata]
    for state in reached.expand():
        if len(reached) > MOST_STATES:
            return None
        if space.is_final(state) and not any(out[rank][control] for rank, control in enumerate(state.control)):
            found.add(state.memory)
    return found


def test_robust_programs_end_as_sc_runs_do() -> None:
    seen: Counter[str] = Counter()
    for seed in range(50_000, 50_000 + examples(20, nightly=5_000)):
        program = translated(random_program(seed)).program
        violated = is_violated(program.instantiate())
        if violated is None:
            continue
        literal = program.instantiate(reading=LITERAL_READING)
        network, sequential = ends(StateSpace(literal)), ends(SequentialSpace(literal))
        if network is None or sequential is None:
            continue
        if violated:
            seen["more on the network"] += network != sequential
            continue
        assert network == sequential, seed
        seen["robust"] += 1
        seen["for this reading alone"] += is_violated(literal) is True
        seen["that end"] += bool(network)
    assert seen["robust"] >= 10 and seen["that end"] >= 5, seen
    assert seen["for this reading alone"] >= 1 and seen["more on the network"] >= 1, seen
