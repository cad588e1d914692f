"""The SC run that a computation looks like: checked against naive relations, on walks of random programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.api import check
from pgasrob.robustness.load import load
from pgasrob.semantics.computation import Computation, Event
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from pgasrob.semantics.sc_order import last_command, sc_places, sequential_order
from pgasrob.semantics.state_space import computation_of
from tests.support import Drawn, computations, drawn_programs, examples, instance, one_to_one, sampled, walks

PROGRAMS = Path(__file__).parents[2] / "programs"


def is_sc(computation: Computation) -> bool:
    """Whether the steps of every command directly follow its issue."""
    return all(
        not event.is_step or computation[place - 1].issued == event.issued for place, event in enumerate(computation)
    )


def by_event(computation: Computation) -> set[tuple[Event, Event]]:
    """Happens-before between commands, by the first events of the commands in rank and program order."""
    relation = HappensBefore(computation)
    first: dict[int, Event] = {}
    for command, event in zip(relation.commands, computation, strict=True):
        if command not in first or event.rank < first[command].rank:
            first.setdefault(command, event)
    return {
        (first[relation.commands[edge.source]], first[relation.commands[edge.target]])
        for edge in relation.edges
        if relation.commands[edge.source] != relation.commands[edge.target]
    }


@settings(max_examples=examples(60))
@given(st.data(), drawn_programs(loops=True))
def test_an_acyclic_computation_has_the_relation_of_an_sc_run(data: st.DataObject, drawn: Drawn) -> None:
    computation = computation_of(data.draw(walks(drawn.instance, 12)))
    run = replay(drawn.instance, computation)
    order, places = sequential_order(drawn.instance, computation), sc_places(HappensBefore(computation))
    if HappensBefore(computation).cycle is None:
        assert order is not None and order.without == () and order.places == places
        assert sorted(order.places) == list(range(len(computation)))
        assert is_sc(order.run.computation)
        assert by_event(order.run.computation) == by_event(computation)
        assert order.run.memory == run.memory and order.run.registers == run.registers
    else:
        assert places is None
        if order is not None:
            assert order.without == last_command(computation) != ()
            assert sorted((*order.places, *order.without)) == list(range(len(computation)))
            assert is_sc(order.run.computation)


def test_without_e_1to1_is_an_sc_run() -> None:
    """The load of a stale value is e, and the rest an SC run unless the other rank has a stale value too."""
    subject = one_to_one()
    cyclic = [each for each in computations(subject) if HappensBefore(each).cycle is not None]
    orders = [(each, sequential_order(subject, each)) for each in cyclic]
    found = [(each, order) for each, order in orders if order is not None]
    assert (len(cyclic), len(found)) == (1088, 342)
    for computation, order in found:
        assert [computation[place].kind for place in order.without] == ["load"]
        assert len(HappensBefore(order.run.computation).cycle or ()) == 0


def test_a_barrier_goes_as_a_whole() -> None:
    subject = instance("barrier;", nodes=2)
    (computation,) = [each for each in computations(subject) if each]
    assert last_command(computation) == (0, 1) and last_command(()) == ()


@pytest.mark.parametrize("family", ["mcs_lock", "halo", "c", "deferred_atomics", "notification"])
def test_every_violation_of_the_corpus_is_an_sc_run_and_one_command(family: str) -> None:
    found = 0
    paths = sorted(PROGRAMS.joinpath(family).rglob("*.[pc]*"))
    for path in sampled(paths, 6) if family == "c" else paths:
        if path.suffix not in (".pgas", ".c") or "expect: not robust\n" not in path.read_text():
            continue
        witness = check(load(path), effect=False).witness
        assert witness is not None and witness.sequential is not None
        found += 1
    assert found
