"""The paper's examples, figures and lemmas, computed.

G. Calin, E. Derevenetc, R. Majumdar, R. Meyer, *A Theory of Partitioned Global Address Spaces*, FSTTCS 2013.

Where we depart from it: ranks count from 0 and not from 1, so the paper's process 1 is rank 0 here, and its bold
process 2 is rank 1. A cycle needs two commands, so that a copy of a cell onto itself is no violation; with it a cycle
of type (CYC) needs a conflict, which rules out a barrier that is entered on one rank and left on another. The program
of section 5.1, `read(0,0,0,0)` on one node, names rank 0 in the paper too, although its ranks count from 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given, settings

from pgasrob.automata.multiheaded import project
from pgasrob.program.instance import Instance
from pgasrob.robustness.cycle_types import CycleTypeAutomata, cycle_types
from pgasrob.robustness.engine import Violation
from pgasrob.robustness.marked_normal_form import ENTER, LEAVE, Marked
from pgasrob.robustness.normal_form import Letter
from pgasrob.robustness.product import ProductSearch
from pgasrob.semantics.computation import Computation, Event
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from pgasrob.semantics.sequential import SequentialFacts, SequentialSpace
from pgasrob.semantics.state_space import StateSpace, computation_of
from tests.automata.strategies import accepts
from tests.support import (
    ONE_TO_ONE,
    SHARING,
    TooMany,
    computations,
    examples,
    follow,
    generated,
    instance,
    is_normal_form,
    one_to_one,
    tiny_instances,
)

# Program 1to1 on two nodes; cells x and y of rank 0 are 0 and 1, of rank 1 they are 2 and 3.
PROGRAM = one_to_one()
X0, Y0, X1, Y1 = range(4)

# The events of process 1 (rank 0) and, with a prime in the name, of process 2 (rank 1, bold in the paper).
WRITE, POPA, POPB = Event("write", 0, 0, None, 0), Event("popa", 0, 0, X0, 0), Event("popb", 0, 0, Y1, 0)
WRITE_, POPA_, POPB_ = Event("write", 1, 0, None, 0), Event("popa", 1, 0, X1, 0), Event("popb", 1, 0, Y0, 0)
BAR, BAR_ = Event("barrier", 0, 1, None, 1), Event("barrier", 1, 1, None, 1)
LOAD = Event("load", 0, 2, Y0, 2)

TAU = (WRITE, WRITE_, POPA, POPA_, BAR, BAR_, LOAD, POPB_, POPB)
NORMAL_FORM = (WRITE, POPA, WRITE_, POPA_, BAR, BAR_, LOAD, POPB, POPB_)

Relation = set[tuple[str, Event, Event]]


def relation(computation: Computation) -> Relation:
    """Happens-before between the events themselves; identity as the equivalence that it is."""
    hb = HappensBefore(computation)
    found = {(edge.relation, computation[edge.source], computation[edge.target]) for edge in hb.edges}
    classes = dict(zip(computation, hb.commands, strict=True))
    identity = {("id", a, b) for a, b in product(computation, repeat=2) if a != b and classes[a] == classes[b]}
    return {edge for edge in found if edge[0] != "id"} | identity


def symmetric(*pairs: tuple[Event, Event]) -> Relation:
    return {("id", a, b) for a, b in pairs} | {("id", b, a) for a, b in pairs}


def without(computation: Computation, last: Event) -> Computation:
    """tau without an event and all that identity relates to it (Lemma 6)."""
    hb = HappensBefore(computation)
    number = hb.commands[computation.index(last)]
    return tuple(event for event, command in zip(computation, hb.commands, strict=True) if command != number)


def last_issued(computation: Computation) -> Event:
    return [event for event in computation if not event.is_step][-1]


def sequential(program: Instance) -> Iterator[Computation]:
    space = SequentialSpace(program)
    stack = [(space.initial, [])]
    while stack:
        state, path = stack.pop()
        yield computation_of(path)
        stack += [(target, [*path, word]) for word, target in space.successors(state)]


# Example 1


def test_example_1_is_a_computation() -> None:
    (state,) = follow(PROGRAM, TAU)
    assert StateSpace(PROGRAM).is_final(state)
    assert replay(PROGRAM, TAU).complete
    assert TAU in computations(PROGRAM)


def test_example_1_accesses_the_addresses_of_the_paper() -> None:
    """addr(popa) = (1, x), addr(popb) = (2, y), the bold ones symmetrically, addr(load) = (1, y)."""
    names = [PROGRAM.cell_name(event.cell) for event in (POPA, POPB, POPA_, POPB_, LOAD) if event.cell is not None]
    assert names == ["x@0", "y@1", "x@1", "y@0", "y@0"]


# Figure 3 and Example 2

FIGURE_3: Relation = {
    ("po", WRITE, BAR),
    ("po", BAR, LOAD),
    ("po", WRITE_, BAR_),
    ("cf", LOAD, POPB_),
    *symmetric(
        (WRITE, POPA), (POPA, POPB), (WRITE, POPB), (WRITE_, POPA_), (POPA_, POPB_), (WRITE_, POPB_), (BAR, BAR_)
    ),
}


def test_figure_3_is_the_happens_before_relation_of_example_1() -> None:
    assert relation(TAU) == FIGURE_3


def test_example_2_the_computation_is_violating() -> None:
    assert HappensBefore(TAU).cycle is not None


def test_example_2_no_sequentially_consistent_execution_loads_the_initial_value() -> None:
    """In Example 1 the load reads 0; in SC runs the assertion of Figure 1 holds."""
    assert replay(PROGRAM, TAU).events[6].read == 0
    facts = SequentialFacts(instance(ONE_TO_ONE.format("") + "assert(r == 1);", nodes=2))
    for _ in facts.explore():
        pass
    assert facts.complete and facts.failed.get(None) is None


# Section 4: Lemmas 6 to 8 and Example 9


def test_example_9_the_event_of_lemma_6_is_the_load() -> None:
    assert last_issued(TAU) == LOAD
    assert without(TAU, LOAD) == (WRITE, WRITE_, POPA, POPA_, BAR, BAR_, POPB_, POPB)


SIGMA = (WRITE, POPA, POPB, WRITE_, POPA_, POPB_, BAR, BAR_)


def test_example_9_sigma_is_a_sequentially_consistent_computation_with_the_same_relation() -> None:
    """Lemma 7. There are two of them; the paper names the one in which process 1 goes first."""
    rest = without(TAU, LOAD)
    found = [computation for computation in sequential(PROGRAM) if relation(computation) == relation(rest)]
    assert SIGMA in found and len(found) == 2


def rearranged() -> Computation:
    """tau^nf: sigma projected to tau_1, the event e, sigma projected to tau_2."""
    cut = TAU.index(LOAD)
    first, second = set(TAU[:cut]), set(TAU[cut + 1 :])
    return (*filter(first.__contains__, SIGMA), LOAD, *filter(second.__contains__, SIGMA))


def test_example_9_the_normal_form_is_that_of_figure_4() -> None:
    assert rearranged() == NORMAL_FORM


def test_example_9_lemma_8() -> None:
    """The normal form is a computation, has the same happens-before relation, and is in normal form."""
    assert NORMAL_FORM in computations(PROGRAM)
    assert relation(NORMAL_FORM) == relation(TAU) == FIGURE_3
    assert is_normal_form(NORMAL_FORM, 4) and is_normal_form(NORMAL_FORM, 2)
    assert not is_normal_form(TAU, 4)


@given(tiny_instances(5))
def test_lemma_6_the_last_issued_event_can_be_cancelled(program: Instance) -> None:
    try:
        found = computations(program, 2000)
    except TooMany:
        return
    for computation in found:
        if computation:
            assert without(computation, last_issued(computation)) in found


@pytest.mark.parametrize("parts", [4, 2])
@given(program=tiny_instances(5) | tiny_instances(5, SHARING))
@settings(max_examples=examples(23))
def test_theorem_5_a_program_is_robust_iff_it_has_no_normal_form_violation(parts: int, program: Instance) -> None:
    """With the paper's four parts, and with the two that are enough (`proofs/two-parts.md`)."""
    try:
        violating = [each for each in computations(program, 4000) if HappensBefore(each).cycle is not None]
    except TooMany:
        return
    if violating:
        assert any(is_normal_form(computation, parts) for computation in violating)


def test_theorem_5_one_part_is_not_enough() -> None:
    violating = [each for each in computations(PROGRAM) if HappensBefore(each).cycle is not None]
    assert not any(is_normal_form(computation, 1) for computation in violating)


# Section 5.1: languages


def test_the_projection_of_section_5_1() -> None:
    assert project([(1, "a"), (2, "b"), (1, "c")], 1) == ("a", "c")


READING = instance("loop { read(0, 0, 0, 0); }", declarations="memory x; queue q;")


def pure(words: set[str]) -> set[str]:
    """The words of a*b*c*."""
    return {word for word in words if word == "".join(sorted(word))}


def letters(computation: Computation) -> str:
    return "".join({"read": "a", "popa": "b", "popb": "c"}[event.kind] for event in computation)


def test_the_computations_of_a_reading_loop_are_not_context_free() -> None:
    """Section 5.1: C(P, 1) and a*b*c* is { a^p b^p c^p }, up to p = 4."""
    space = StateSpace(READING)
    layer, words = [(space.initial, [])], {""}
    for _ in range(12):
        layer = [(target, [*path, word]) for state, path in layer for word, target in space.successors(state)]
        layer = [(state, path) for state, path in layer if pure({letters(computation_of(path))})]
        words |= {letters(computation_of(path)) for state, path in layer if space.is_final(state)}
    assert pure(words) == {"a" * p + "b" * p + "c" * p for p in range(5)}


@pytest.mark.parametrize(("heads", "most"), [(1, 1), (2, 1), (3, 3), (4, 3)])
def test_how_many_heads_a_p_b_p_c_p_needs(heads: int, most: int) -> None:
    """Three: with two, some c would stand before a b of a later read (NF). Reads unrolled up to p = 3."""
    program = instance("read(0, 0, 0, 0); " * 3, declarations="memory x; queue q;")
    words = pure({letters(computation) for computation in generated(program, heads)})
    assert words == {"a" * p + "b" * p + "c" * p for p in range(most + 1)}


# Section 5.2: Lemma 12 on the example


@pytest.mark.parametrize("heads", [2, 4])
def test_y_generates_the_normal_form_and_not_example_1(heads: int) -> None:
    found = generated(PROGRAM, heads)
    assert NORMAL_FORM in found
    assert TAU not in found


# Section 5.3: Examples 14 and 15, Lemma 13


@pytest.mark.parametrize("computation", [TAU, NORMAL_FORM])
def test_example_14_the_cycle(computation: Computation) -> None:
    """a1 = b1 = bar, c1 = d1 = load, a2 = popb, b2 = write, c2 = d2 = bar, the latter three of process 2."""
    cycle = HappensBefore(computation).cycle
    assert cycle is not None
    edges = [(edge.relation, computation[edge.source], computation[edge.target]) for edge in cycle]
    start = edges.index(("po", BAR, LOAD))
    assert edges[start:] + edges[:start] == [
        ("po", BAR, LOAD),
        ("cf", LOAD, POPB_),
        ("id", POPB_, WRITE_),
        ("po", WRITE_, BAR_),
        ("id", BAR_, BAR),
    ]


@pytest.fixture(params=[2, 4])
def violation(request: pytest.FixtureRequest) -> Violation:
    """What the product engine finds, with two heads and with the paper's four."""
    search = ProductSearch(PROGRAM, request.param)
    for _ in search.run():
        pass
    assert search.violation is not None
    return search.violation


def test_figure_4_is_what_the_engine_finds(violation: Violation) -> None:
    assert violation.computation == NORMAL_FORM
    assert violation.parts == (1,) * 7 + (2, 2)


def test_example_15_is_the_marked_word_that_the_engine_finds(violation: Violation) -> None:
    """(write, {}) (popa, {}) (write, {}) (popa, {}) (bar, {enter}) (bar, {leave}) (load, {leave}) (popb, {})
    (popb, {enter})."""
    none, enter, leave = frozenset(), frozenset((ENTER,)), frozenset((LEAVE,))
    assert violation.marks == (none, none, none, none, enter, leave, leave, none, enter)
    assert violation.cycle_type == (0, 1)


def test_example_15_is_accepted_by_both_pair_automata(violation: Violation) -> None:
    """Z^{1,2} by the conflict of load and popb, Z^{2,1} by the barrier."""
    marks = violation.marks or ()
    word = tuple(
        Marked(Letter(event.kind, event.rank, event.cell, event.occurrence), mark)
        for event, mark in zip(violation.computation, marks, strict=True)
    )
    automata = CycleTypeAutomata(PROGRAM)
    assert accepts(automata.pair(0, 1).acceptor(), word)
    assert accepts(automata.pair(1, 0).acceptor(), word)


def has_cycle_of_some_type(computation: Computation, nodes: int) -> bool:
    """Lemma 13 with our departures: for some cycle type every rank is entered at a_i, left at d_i, and d_i leads to
    a_{i+1} by a conflict or a barrier; one of these edges is a conflict, and within one rank the commands differ."""
    hb = HappensBefore(computation)
    conflicts = {(edge.source, edge.target) for edge in hb.conflicts}
    places = [
        [place for place, event in enumerate(computation) if event.rank == rank and ends(event)]
        for rank in range(nodes)
    ]

    def joined(leave: int, enter: int) -> bool:
        barrier = computation[leave].kind == computation[enter].kind == "barrier"
        return (leave, enter) in conflicts or (barrier and hb.commands[leave] == hb.commands[enter])

    def closes(cycle: tuple[int, ...], chosen: list[tuple[int, int]]) -> bool:
        if len(chosen) == len(cycle):
            edges = list(zip(chosen, chosen[1:] + chosen[:1], strict=True))
            return joined(chosen[-1][1], chosen[0][0]) and any((a[1], b[0]) in conflicts for a, b in edges)
        rank = cycle[len(chosen)]
        for enter, leave in product(places[rank], repeat=2):
            first, second = computation[enter].operation, computation[leave].operation
            if first > second or (len(cycle) == 1 and first == second):
                continue
            if (not chosen or joined(chosen[-1][1], enter)) and closes(cycle, [*chosen, (enter, leave)]):
                return True
        return False

    return any(closes(cycle, []) for cycle in cycle_types(nodes))


def ends(event: Event) -> bool:
    """Whether an edge can enter or leave a rank at this event."""
    return event.cell is not None or event.kind == "barrier"


@given(tiny_instances(5) | tiny_instances(5, SHARING))
def test_lemma_13_a_cycle_can_enter_and_leave_each_rank_once(program: Instance) -> None:
    try:
        found = computations(program, 500)
    except TooMany:
        return
    for computation in found:
        assert has_cycle_of_some_type(computation, program.nodes) == (HappensBefore(computation).cycle is not None)


def test_lemma_13_on_the_example() -> None:
    assert has_cycle_of_some_type(TAU, 2) and has_cycle_of_some_type(NORMAL_FORM, 2)
    assert not has_cycle_of_some_type(SIGMA, 2)
