"""The declarative model against the definitions as they are printed, and what it says of forbidden outcomes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product
from random import Random

import pytest

from pgasrob.models.candidate_executions import INITIAL, Candidate, Circular, Values, candidates
from pgasrob.models.litmus.litmus_parser import parse
from pgasrob.models.litmus.litmus_program import Program
from pgasrob.models.model_interface import Execution, Refused
from pgasrob.models.rdma_tso.declarative import Declarative
from pgasrob.models.rdma_tso.execution_search import _orders
from pgasrob.models.rdma_tso.expansion import expand, polls_from
from pgasrob.models.rdma_tso.orders import CELLS, KINDS, RULES, Rules
from pgasrob.models.rdma_tso.points import Choice, Graph
from pgasrob.models.relations import of_pairs
from tests.models.rdma_tso.conditions import acyclic, violated
from tests.models.strategies import random_program
from tests.support import examples

Pair = tuple[int, int]


def executions(program: Program, rules: Rules) -> Iterator[Execution]:
    """Everything that Definitions 4.2 and 4.3 allow: any rf, mo and nfo, and any order of remote atomics on a node."""
    for candidate in candidates(program, expand):
        for polled in polls_from(candidate, rules):
            graph = Graph(candidate, rules, polled)
            flushes = [(c.first, c.second) for c in graph.flush_choices()]
            locks = [(c.first, c.second) for c in graph.lock_choices()]
            for sources in all_sources(candidate):
                values = Values(candidate, sources)
                try:
                    for event in candidate.written:
                        values.written(event)
                except Circular:
                    continue
                if not values.may_hold():
                    continue
                for orders in product(*(permutations(writes) for writes in candidate.writes.values())):
                    for way in product((False, True), repeat=len(flushes + locks)):
                        chosen = [(b, a) if back else (a, b) for (a, b), back in zip(flushes + locks, way, strict=True)]
                        nfo = set(chosen[: len(flushes)])
                        lock = {(graph.updates.get(a, a), b) for a, b in chosen[len(flushes) :]}
                        yield execution(candidate, values, orders, polled, nfo, lock)


def all_sources(candidate: Candidate) -> Iterator[list[int | None]]:
    choices: list[tuple[int | None, ...]] = []
    for number, action in enumerate(candidate.actions):
        if action.reads:
            assert action.location is not None
            writes = candidate.writes.get(action.location, ())
            choices.append((INITIAL, *(write for write in writes if write != number)))
        else:
            choices.append((None,))
    return map(list, product(*choices))


def execution(
    candidate: Candidate,
    values: Values,
    orders: tuple[tuple[int, ...], ...],
    polled: dict[int, int],
    nfo: set[Pair],
    lock: set[Pair],
) -> Execution:
    events = candidate.events(values)
    shift = len(events) - len(candidate.actions)
    first = {location: number for number, location in enumerate(candidate.locations)}
    chains = {location: [first[location]] for location in candidate.locations}
    last = [INITIAL] * len(candidate.program.locations)
    for location, order in zip(candidate.writes, orders, strict=True):
        chains[location] += [write + shift for write in order]
        last[location] = order[-1]
    mo = {(a, b) for chain in chains.values() for place, a in enumerate(chain) for b in chain[place + 1 :]}
    rf = {
        (first[events[read + shift].location or 0] if source == INITIAL else source + shift, read + shift)
        for read, source in enumerate(values.sources)
        if source is not None
    }
    return Execution(
        candidate.program,
        events,
        {
            "po": frozenset(),
            "rf": frozenset(rf),
            "mo": frozenset(mo),
            "rb": frozenset((r, b) for w, r in rf for a, b in mo if a == w and b != r),
            "pf": frozenset((write + shift, poll + shift) for poll, write in polled.items()),
            "nfo": frozenset((a + shift, b + shift) for a, b in nfo),
            "lock": frozenset((a + shift, b + shift) for a, b in lock),
        },
        candidate.outcome(values, last),
    )


def essence(found: Execution) -> tuple[object, ...]:
    return found.events, found.relations["rf"], found.relations["mo"], found.outcome


def changed_at_random(random: Random) -> Rules:
    """Rules with some of them left out, and some cells of Figure 9 as they are not."""
    without = frozenset(random.sample(sorted(RULES), random.choice((0, 0, 1, 2))))
    rules = Rules.of(
        pcie=random.random() < 0.7, placed=random.random() < 0.2, glob=random.random() < 0.2, without=without
    )
    for cell in random.sample(CELLS, random.choice((0, 0, 1, 3))):
        orders = rules.orders.with_cell(cell, random.choice(("yes", "no", "sqp")))
        rules = replace(rules, orders=orders)
    return rules


def model(rules: Rules) -> Declarative:
    made = Declarative()
    made.rules = rules
    return made


@pytest.mark.parametrize("seed", range(examples(120)))
def test_the_search_finds_what_the_definition_says(seed: int) -> None:
    """All rf, mo, nfo and orders of remote atomics are tried; an execution is consistent when no condition as printed
    is violated. Of executions that differ in nfo or in these orders alone the search finds one."""
    random, atomics = Random(seed), seed % 5 > 2
    program = random_program(
        random,
        "rdma-tso",
        nodes=(2 if atomics else 1, 3),
        statements=4 if atomics else 5,
        threads=(1, 2),
        branching=seed % 3 == 0,
        remote_atomics=atomics,
    )
    rules = Rules.of(pcie=seed % 4 > 0, placed=seed % 8 == 1, glob=seed % 7 == 0)
    rules = rules if seed % 2 else changed_at_random(random)
    consistent = {essence(each) for each in executions(program, rules) if not violated(each, rules)}
    found = list(model(rules).executions(program))
    assert not any(violated(each, rules) for each in found)
    assert {essence(each) for each in found} == consistent
    assert len(found) == len(consistent)
    outcomes = model(rules).outcomes(program).found
    assert set(outcomes) == {each.outcome for each in found}
    assert not any(violated(each, rules) for each in outcomes.values())


def forbidden(text: str, without: frozenset[str] = frozenset(), **values: int) -> list[set[str]]:
    found = Declarative(without=without).forbidden(parse(text).program, values)
    assert found is not None
    return [set(rules) for rules in found.rules]


PUT_THEN_POLL = "x@1, z@2 :: 1: z^2 = x; poll(2); x = 1"
FLUSHED = """y@1 x@2 z@2 w@1 :: 1: x^2 = 1; c = z^2; poll(2); poll(2); a = y
                         || 2: y^1 = 1; d = w^1; poll(1); poll(1); b = x"""


def test_forbidden_by() -> None:
    assert forbidden(PUT_THEN_POLL, z=1)[:2] == [{"ib.pf"}, {"ippo.F7"}]
    assert forbidden("x@1, z@2 :: 1: x = 1; z^2 = x", z=0) == [{"oppo.B6"}, {"ob.rb"}]
    sets = forbidden(FLUSHED, a=0, b=0)
    assert {"oppo.G8", "oppo.G9", "ippo.G8"} in sets
    assert sets.index({"ob.rb"}) > sets.index({"oppo.G8", "oppo.G9", "ippo.G8"})


def test_a_rule_that_forbids_allows_when_left_out() -> None:
    program = parse(FLUSHED).program
    why = Declarative().forbidden(program, {"a": 0, "b": 0})
    assert why is not None and why.execution is not None
    for rules in why.rules:
        assert Declarative(without=rules).forbidden(program, {"a": 0, "b": 0}) is None
        for rule in rules:
            assert Declarative(without=rules - {rule}).forbidden(program, {"a": 0, "b": 0}) is not None
    assert [edge.rule for edge in why.cycle][:4] == ["oppo.G9", "ob.nlW-pf", "ippo.E1", "ob.rb"]
    ends = [(edge.source, edge.target) for edge in why.cycle]
    assert all(one[1] == other[0] for one, other in zip(ends, [*ends[1:], ends[0]], strict=True))


def test_an_outcome_that_nobody_writes_has_no_rules() -> None:
    found = Declarative().forbidden(parse("x@1 :: 1: x = 1").program, {"x": 7})
    assert found is not None and found.rules == () and found.execution is None


def test_an_allowed_outcome_is_not_explained() -> None:
    assert Declarative().forbidden(parse(PUT_THEN_POLL).program, {"z": 0}) is None


def test_unknown_names() -> None:
    with pytest.raises(ValueError, match=r"RDMA-TSO has no rule ippo\.Z1"):
        Declarative(without=frozenset(("ippo.Z1",)))
    with pytest.raises(KeyError):
        Declarative().forbidden(parse("x@1 :: 1: x = 1").program, {"q": 7})


def test_a_fault_is_refused_by_name() -> None:
    with pytest.raises(Refused, match="division by zero: 1 / 0"):
        Declarative().outcomes(parse("x@1 y@1 :: 1: a = 1 / x").program)


def test_a_fault_that_no_run_reaches_is_none() -> None:
    outcomes = Declarative().outcomes(parse("x@1 y@1 :: 1: x = 2; a = 4 / x").program)
    assert [outcome[-1] for outcome in outcomes.found] == [2]


def test_no_value_out_of_thin_air() -> None:
    """Even without the rule that orders a read before a later write, a value has a write that it comes from."""
    text = "x@1 y@1 :: 1: a = x; y = a || 1: b = y; x = b"
    for without in (frozenset[str](), frozenset(("ippo.A2", "oppo.A2"))):
        assert set(Declarative(without=without).outcomes(parse(text).program).found) == {(0, 0, 0, 0)}


def has_cycle_of_operations(found: Execution) -> bool:
    """Whether po, rf, mo and rb have a cycle when the events of an operation are one node."""
    node = [(event.thread, event.operation if event.thread is not None else n) for n, event in enumerate(found.events)]
    number = {each: place for place, each in enumerate(dict.fromkeys(node))}
    edges = {(number[node[a]], number[node[b]]) for name in ("po", "rf", "mo", "rb") for a, b in found.relations[name]}
    return not acyclic(of_pairs(len(number), (edge for edge in edges if edge[0] != edge[1])))


LATE = "y@2=0 z@3=0 :: 1: y^2 = 0; poll(2); z^3 = 1 || 2: a = z^3; poll(3); b = y"


def test_outcome_robust_is_not_hb_robust() -> None:
    """A put that is polled and not yet placed, of the value that was there before: a cycle that no outcome shows."""
    program = parse(LATE).program
    assert any(has_cycle_of_operations(found) for found in Declarative().executions(program))
    orderly = {f.outcome for f in Declarative().executions(program) if not has_cycle_of_operations(f)}
    assert orderly == set(Declarative().outcomes(program).found)
    placed = Declarative(placed=True)
    assert not any(has_cycle_of_operations(found) for found in placed.executions(program))


def test_kinds_are_those_of_definition_4_1_and_of_remote_atomics() -> None:
    text = "x@1 y@2 :: 1: a = x; x = 1; CAS(x, 1, 2); mfence; y^2 = x; x = y^2; rfence(2); x = rfaa(y^2, 1); poll(2)"
    found = next(Declarative().executions(parse(text).program))
    assert {event.kind for event in found.events} == set(KINDS)


def test_more_choices_than_calls_can_be_nested() -> None:
    """Writes of one location by many threads: a choice for each pair of them."""
    count = sys.getrecursionlimit() + 10
    with_no_order = tuple(0 for _ in range(2))
    choices = [Choice(0, 1, (), ()) for _ in range(count)]
    assert next(_orders(with_no_order, choices, ())) == with_no_order
    assert list(_orders(with_no_order, (), choices)) == [with_no_order]
