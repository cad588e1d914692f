"""What an explanation says is so: sigma, the normal form, the heads, the marked word, the attack, the counts.

On the whole corpus, but for programs with threads, which are refused, and on program 1to1 to the letter of the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.automata.automaton import Interned
from pgasrob.automata.multiheaded import comp
from pgasrob.diagnostics import SourceError
from pgasrob.program.instance import Instance
from pgasrob.render.explanation.blocks import Text, steps
from pgasrob.render.explanation.chapters import chapters
from pgasrob.robustness.cycle_types import CycleTypeAutomata, conflict_automaton, some_conflict
from pgasrob.robustness.explanation import ALL, DEFINITION, PLAIN, Explanation, explain
from pgasrob.robustness.explanation.example_runs import delayed_run, round_robin, without_unneeded_commands
from pgasrob.robustness.explanation.marked_word import Marking, Visit, mark, pair_runs
from pgasrob.robustness.explanation.reordering import NotGenerated, commands_in_order, generate, reorder
from pgasrob.robustness.load import load
from pgasrob.robustness.marked_normal_form import ENTER, LEAVE, Marked, MarkedNormalForm
from pgasrob.robustness.normal_form import NormalForm
from pgasrob.robustness.product import ProductSearch
from pgasrob.semantics.accesses import access_of, conflict
from pgasrob.semantics.computation import Computation, Event
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from tests.support import FURTHER, SHARING, examples, instance, is_normal_form, one_to_one, sampled, tiny_instances
from tests.support import ONE_TO_ONE as BODY
from tests.support import program as parsed
from tests.test_paper import NORMAL_FORM, SIGMA, TAU, relation

PROGRAMS = Path(__file__).parents[2] / "programs"
OTHERS = ("lectures", "threads")
CORPUS = sampled(sorted(path for path in PROGRAMS.glob("*/*.pgas") if path.parent.name not in OTHERS), 4)
ONE_TO_ONE = PROGRAMS / "one_to_one" / "one_to_one.pgas"


@cache
def explained(path: Path, searches: bool = False) -> Explanation:
    return explain(load(path), max_states=3_000, timeout=120, searches=searches)


@cache
def with_runs() -> list[Explanation]:
    """The explanations of the corpus that have a computation."""
    return [found for found in map(explained, CORPUS) if found.run is not None]


def violating() -> list[Explanation]:
    return [found for found in with_runs() if found.marked is not None]


Check = Callable[[Explanation], None]
RUN_CHECKS: list[Check] = []
VIOLATION_CHECKS: list[Check] = []
"""What is checked of every computation that is explained, and of every violating one."""


def of_every_run(check: Check) -> Check:
    RUN_CHECKS.append(check)
    return check


def of_every_violation(check: Check) -> Check:
    VIOLATION_CHECKS.append(check)
    return check


def name_of(check: Check) -> str:
    return check.__name__


def picked(computation: Computation, places: tuple[int, ...]) -> Computation:
    return tuple(computation[place] for place in places)


def test_every_program_of_the_corpus_is_explained() -> None:
    verdicts = [(found.verdict.verdict, found.run is None, found.cycle is None) for found in map(explained, CORPUS)]
    assert set(verdicts) <= {("robust", False, True), ("robust", True, True), ("not robust", False, False),
                             ("error", True, True)}  # fmt: skip
    assert verdicts.count(("not robust", False, False)) > 20
    assert verdicts.count(("robust", False, True)) > 20
    assert sum(found.origin == "check" for found in violating()) > 0  # those that the product takes too long for


@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("threads/*.pgas")), ids=lambda path: path.stem)
def test_programs_with_threads_are_refused(path: Path) -> None:
    with pytest.raises(SourceError, match="PG038"):
        explained(path)


# The computation


@of_every_run
def the_computation_replays_and_is_complete(found: Explanation) -> None:
    assert found.run is not None and found.run.complete
    assert HappensBefore(found.run.computation).cycle == found.cycle


@of_every_violation
def ranks_that_take_turns_keep_the_relation_and_the_last_command(found: Explanation) -> None:
    """Against the run of the verdict, which the check has replayed."""
    assert found.verdict.witness is not None
    given = found.verdict.witness.run.computation
    turned = round_robin(given)
    assert sorted(turned) == sorted(given)
    assert relation(turned) == relation(given)
    assert replay(found.instance, turned).complete
    issues = [[event for event in each if not event.is_step][-1] for each in (given, turned)]
    assert issues[0] == issues[1]


def test_turns_are_taken() -> None:
    assert round_robin(NORMAL_FORM) == TAU


def test_what_the_violation_does_not_need_at_its_end_is_left_out() -> None:
    later = (*TAU[:7], Event("assign", 0, 3, None, 3), *TAU[7:])
    program = instance(BODY.format("") + "r <- 1;", nodes=2, declarations="memory x = 1, y; register r; queue q;")
    assert replay(program, later).complete
    assert without_unneeded_commands(later) == TAU
    assert without_unneeded_commands(TAU) == TAU


@pytest.mark.parametrize("most", [1, 5, 24])
def test_a_delaying_run_delays(most: int) -> None:
    found = delayed_run(one_to_one(), most)
    assert sum(not event.is_step and event.kind != "barrier" for event in found) <= most
    if most > 2:
        kinds = [event.kind for event in found]
        assert kinds.index("barrier") < kinds.index("popa")


def test_a_delaying_run_of_a_program_that_polls_ends_its_steps() -> None:
    poll = instance("write(x, 0, y, q); r <- 0; while (r == 0) { r <- mem[y]; }", nodes=1, declarations=
                    "memory x = 1, y; register r; queue q;")  # fmt: skip
    found = delayed_run(poll)
    run = replay(poll, found)
    assert run.complete
    assert [each.read for each in run.events if each.event.kind == "load"][-1] == 1


# e and sigma


@of_every_run
def sigma_is_an_sc_run_with_the_same_relation_and_the_same_values(found: Explanation) -> None:
    order = found.order
    assert order is not None and found.run is not None
    rest = tuple(event for place, event in enumerate(order.computation) if place not in order.last)
    sigma = picked(order.computation, order.sigma)
    assert order.sigma_run.computation == sigma == replay(found.instance, sigma).computation
    assert sorted(sigma) == sorted(rest)
    assert relation(sigma) == relation(rest)
    groups = commands_in_order(sigma)
    assert [place for group in groups for place in group] == list(range(len(sigma)))  # steps behind their issue
    before = {each.event: each for each in replay(found.instance, rest).events}
    # Updates that commute are in no order of the relation, and find what those before them have made.
    ordered = [each for each in order.sigma_run.events if not each.event.commutes]
    assert all(before[each.event].read == each.read for each in ordered)


def told(found: Explanation, chapter: str) -> str:
    """What the paragraphs of a chapter say."""
    return " ".join(block.text for block in chapters(found, chapter)[0].blocks if isinstance(block, Text))


@of_every_run
def sigma_is_said_to_have_other_values_just_where_it_has(found: Explanation) -> None:
    order, run = found.order, found.run
    assert order is not None and run is not None
    before = {each.event: (each.read, each.cell_change and each.cell_change.after) for each in run.events}
    others = [
        each.event
        for each in order.sigma_run.events
        if before[each.event] != (each.read, each.cell_change and each.cell_change.after)
    ]
    assert all(event.is_step for event in others)
    said = told(found, "sigma")
    if order.sigma:
        assert ("the same relation and the same values" in said) != bool(others)
    if others:
        named = steps(sorted(run.computation.index(event) for event in others))
        assert f"Now that e is gone, {named} of chapter 2 read" in said


@of_every_run
def what_is_said_of_the_run_does_not_contradict_itself(found: Explanation) -> None:
    order, said = found.order, told(found, "computation")
    assert order is not None
    assert not ("they all do" in said and "come late" in said)
    assert not ("No command of it has steps" in said and "come late" in said)
    if "something to put in order" in said:
        assert order.moved and found.found != order.computation
        assert "nothing has to move" not in told(found, "normal-form")
    if found.found and "take turns here" not in said:
        assert order.computation == found.found[: len(order.computation)]


@of_every_run
def e_is_issued_last(found: Explanation) -> None:
    order = found.order
    assert order is not None
    last = max(place for place, event in enumerate(order.computation) if not event.is_step)
    assert last in order.last
    assert len({HappensBefore(order.computation).commands[place] for place in order.last}) == 1


# The normal form


@of_every_run
def the_normal_form_is_one_with_the_same_relation(found: Explanation) -> None:
    order = found.order
    assert order is not None
    assert order.run.complete and sorted(order.normal_form) == sorted(order.computation)
    assert relation(order.normal_form) == relation(order.computation)
    assert is_normal_form(order.normal_form, max(4, len(order.segments)))


@of_every_run
def the_parts_are_segments_in_the_order_of_sigma_and_of_the_issues(found: Explanation) -> None:
    order = found.order
    assert order is not None
    assert list(order.parts) == sorted(order.parts)
    rank_in_sigma = {place: number for number, place in enumerate(order.sigma)}
    issued = {event.issued: place for place, event in enumerate(order.normal_form) if not event.is_step}
    for part, segment in enumerate(order.segments, 1):
        places = [place for place, own in zip(order.places, order.parts, strict=True) if own == part]
        own = [place for place in places if place in order.last]
        assert places == sorted(segment, key=rank_in_sigma.__getitem__) + own
        events = [order.computation[place] for place in places]
        if part > 1:
            assert all(event.is_step for event in events)
            assert all(issued[one.issued] <= issued[other.issued] for one, other in pairwise(events))


def test_a_normal_form_in_one_part_is_an_sc_run() -> None:
    found = [order for each in with_runs() if (order := each.order) and max(order.parts) == 1]
    for order in found:
        groups = commands_in_order(order.normal_form)
        assert [place for group in groups for place in group] == list(range(len(order.normal_form)))
    assert found


@of_every_run
def what_moves_conflicts_with_nothing_that_it_overtakes(found: Explanation) -> None:
    order = found.order
    assert order is not None
    turned = {(one, other) for one, other in combinations(order.places, 2) if one > other}
    assert turned == {(each.place, other) for each in order.moved for other in each.overtaken}
    for one, other in turned:
        first, second = (access_of(order.computation[place]) for place in (one, other))
        assert not (first and second and conflict(first, second))
        assert order.computation[one].issued != order.computation[other].issued


# The heads


@of_every_run
def y_generates_the_normal_form(found: Explanation) -> None:
    order = found.order
    assert order is not None
    letters = [(head, order.normal_form[place]) for each in found.path for head, place in each.events]
    assert comp(letters, order.heads) == order.normal_form
    assert [head for head, _ in sorted(letters, key=lambda letter: letter[0])] == list(order.parts)


def test_y_does_not_generate_what_is_no_normal_form() -> None:
    parts = tuple(1 if place < 7 else 2 for place in range(9))
    assert generate(one_to_one(), NORMAL_FORM, parts, 4)
    with pytest.raises(NotGenerated):
        generate(one_to_one(), NORMAL_FORM, (1, 2, 1, 1, 1, 1, 1, 1, 1), 4)


# The marked word


def dfa_accepts(program: Instance, marked: Marking) -> bool:
    """Whether every Z of the cycle type accepts the word, and some step is a conflict, by automata-lib's automata."""
    automata = CycleTypeAutomata(program)
    for pair in (automata.pair(*ranks) for ranks in automata.neighbours(marked.cycle_type)):
        symbols = [symbol for letter in marked.word if (symbol := pair.read(letter)) is not None]
        automaton = pair.automaton()
        if not set(symbols) <= automaton.input_symbols or not automaton.accepts_input(symbols):
            return False
    return bool(conflict_automaton().accepts_input([s for letter in marked.word if (s := some_conflict(letter))]))


@of_every_violation
def the_marked_word_is_accepted_by_the_automata_of_its_cycle_type(found: Explanation) -> None:
    assert found.marked is not None
    assert dfa_accepts(found.instance, found.marked)
    assert all(pair.accepts for pair in found.pairs)
    assert [(pair.automaton.source, pair.automaton.target) for pair in found.pairs] == (
        CycleTypeAutomata(found.instance).neighbours(found.marked.cycle_type)
    )


@of_every_violation
def the_marked_word_is_one_of_y_m(found: Explanation) -> None:
    marked, order = found.marked, found.order
    assert marked is not None and order is not None
    automaton = MarkedNormalForm(Interned(NormalForm(found.instance, order.heads)), sorted(marked.cycle_type))
    states = {automaton.initial}
    for each in found.path:
        word = tuple((head, marked.word[place]) for head, place in each.events)
        states = {target for state in states for made, target in automaton.successors(state) if made == word}
    assert any(automaton.is_final(state) for state in states)


@of_every_violation
def a_word_without_one_of_its_marks_is_not_accepted(found: Explanation) -> None:
    assert found.marked is not None
    for place, carried in enumerate(found.marked.marks):
        for name in carried:
            marks = list(found.marked.marks)
            marks[place] = carried - {name}
            poorer = Marking(found.marked.computation, found.marked.visits, tuple(marks))
            assert not dfa_accepts(found.instance, poorer)
            assert not all(pair.accepts for pair in pair_runs(found.instance, poorer))


@of_every_violation
def the_runs_of_z_are_runs(found: Explanation) -> None:
    for pair in found.pairs:
        delta = pair.automaton.transitions()
        assert pair.steps[0].source == "start" and pair.steps[-1].target == "joined"
        assert all(delta[step.source][step.symbol] == step.target for step in pair.steps)
        assert all(one.target == other.source for one, other in pairwise(pair.steps))
        assert found.marked is not None
        read = [(place, symbol) for place, letter in enumerate(found.marked.word)
                if (symbol := pair.automaton.read(letter)) is not None]  # fmt: skip
        assert read == [(step.place, step.symbol) for step in pair.steps]


@of_every_violation
def every_rank_of_the_cycle_type_is_entered_before_it_is_left(found: Explanation) -> None:
    marked = found.marked
    assert marked is not None
    for rank, visit in zip(marked.cycle_type, marked.visits, strict=True):
        enter, leave = marked.computation[visit.enter], marked.computation[visit.leave]
        assert enter.rank == leave.rank == rank and enter.operation <= leave.operation
        assert ENTER in marked.marks[visit.enter] and LEAVE in marked.marks[visit.leave]
    assert sum(map(len, marked.marks)) == 2 * len(marked.cycle_type)


# The attack


@of_every_violation
def the_attack_is_a_violating_computation_of_sigma_and_e(found: Explanation) -> None:
    attack, order = found.attack, found.order
    assert attack is not None and order is not None
    run = replay(found.instance, attack.computation)
    assert run.complete and HappensBefore(attack.computation).cycle is not None
    assert sorted(attack.computation) == sorted(order.computation)
    assert {attack.computation[place] for place in attack.last} == {order.computation[place] for place in order.last}
    sigma, delayed = order.sigma_run.computation, {attack.computation[place] for place in attack.delayed}
    outside = [event for place, event in enumerate(attack.computation) if place not in attack.last]
    assert outside == [event for event in sigma if event not in delayed] + [
        event for event in sigma if event in delayed
    ]


@of_every_violation
def the_source_is_what_e_slips_in_before_and_d_what_has_to_follow_it(found: Explanation) -> None:
    attack, order = found.attack, found.order
    assert attack is not None and order is not None
    computation = attack.computation
    source, leaving = computation[attack.source], computation[attack.leaving]
    first, second = access_of(leaving), access_of(source)
    assert first and second and conflict(first, second)
    assert attack.leaving < attack.source and attack.source in attack.delayed and attack.leaving in attack.last
    assert all(computation[place].is_step for place in attack.delayed)
    assert [attack.parts[place] for place in attack.delayed] == [2] * len(attack.delayed)
    sigma, delayed = order.sigma_run.computation, {computation[place] for place in attack.delayed}
    for place, event in enumerate(sigma):
        made = access_of(event)
        if event not in delayed or made is None:
            continue
        for later in sigma[place + 1 :]:
            other = access_of(later)
            assert later in delayed or not (other and conflict(made, other))
            assert later in delayed or not (later.is_step and later.issued == event.issued)


@of_every_violation
def what_a_tainted_rank_does_comes_after_the_source(found: Explanation) -> None:
    """Against the relation of sigma itself."""
    attack, order = found.attack, found.order
    assert attack is not None and order is not None
    (begin,) = [number for number, moment in enumerate(attack.search_steps) if moment.role == "the source"]
    assert all(not moment.tainted for moment in attack.search_steps[:begin])
    assert [moment.role == "e" for moment in attack.search_steps] == [False] * (len(attack.search_steps) - 1) + [True]
    sigma = order.sigma_run.computation
    hb = HappensBefore(sigma)
    after: dict[int, set[int]] = {}
    for edge in hb.edges:
        after.setdefault(hb.commands[edge.source], set()).add(hb.commands[edge.target])
    source = access_of(attack.computation[attack.source])
    delayed = [attack.computation[place] for place in attack.delayed]
    stack = [hb.commands[sigma.index(event)] for event in delayed if access_of(event) == source]  # further ones, too
    reached = set(stack)
    while stack:
        stack += (fresh := after.get(stack.pop(), set()) - reached)
        reached |= fresh
    tainted: set[int] = set()
    for moment in attack.search_steps[:-1]:
        event = attack.computation[moment.places[0]]
        if hb.commands[sigma.index(event)] in reached:
            tainted |= {attack.computation[place].rank for place in moment.places}
        assert set(moment.tainted) == tainted


# All of that, on the corpus and on random programs


@pytest.mark.parametrize("check", RUN_CHECKS, ids=name_of)
def test_every_run_of_the_corpus(check: Check) -> None:
    for found in with_runs():
        check(found)


@pytest.mark.parametrize("check", VIOLATION_CHECKS, ids=name_of)
def test_every_violation_of_the_corpus(check: Check) -> None:
    for found in violating():
        check(found)


@given(program=tiny_instances(6) | tiny_instances(5, SHARING) | tiny_instances(5, FURTHER), first=st.booleans())
@settings(max_examples=examples(13))
def test_random_programs(program: Instance, first: bool) -> None:
    """``first``: by the violation that the product finds; else by that of the check."""
    found = explain(program.program, program.nodes, max_states=5_000 if first else 300, timeout=120, searches=False)
    if found.run is None:
        return
    for check in RUN_CHECKS:
        check(found)
    for check in VIOLATION_CHECKS if found.marked else []:
        check(found)
    for chapter in chapters(found):
        assert chapter.blocks


# 1to1, to the letter


WAITS = ("await(mem[w] == 0);", "await_add(0, mem[w] == 0, 5);", "r <- mem[w]; while (r) { r <- mem[w]; }")


@pytest.mark.parametrize("waits", WAITS)
@pytest.mark.parametrize("further", [1, 2])
def test_an_attack_with_further_sources(waits: str, further: int) -> None:
    """A command that waits for a value comes before several updates of one kind (`proofs/attack.md`, section 5)."""
    others = ["update(add, 1, 0, w, u); r <- fetch_add(0, y, 1);"] * further
    found = explain(
        parsed(f"await(mem[y] == {further}); update(add, 1, 0, w, u); {waits}", *others), 1 + further, searches=False
    )
    assert found.marked is not None and found.attack is not None
    roles = [moment.role for moment in found.attack.search_steps if moment.role]
    assert roles == ["the source", *["a further source"] * further, "e"]
    assert len(found.attack.delayed) == 1 + further
    for check in (*RUN_CHECKS, *VIOLATION_CHECKS):
        check(found)


def test_on_1to1_it_is_the_paper() -> None:
    """Examples 1 and 9, Figure 4, Example 15; ranks from 0. The corpus has an assertion behind the load."""
    found = explained(ONE_TO_ONE, searches=True)
    assert found.run is not None and found.order is not None and found.marked is not None and found.attack is not None
    assert found.run.computation == TAU
    assert found.order.last == (6,)
    assert found.order.sigma_run.computation == SIGMA
    assert found.order.normal_form == NORMAL_FORM and found.order.parts == (1,) * 7 + (2, 2)
    none, enter, leave = frozenset(), frozenset((ENTER,)), frozenset((LEAVE,))
    assert found.marked.marks == (none, none, none, none, enter, leave, leave, none, enter)
    assert found.marked.cycle_type == (0, 1)
    assert found.marked.visits == (Visit(4, 6), Visit(8, 5))
    assert [[step.symbol for step in pair.steps] for pair in found.pairs] == [
        ["new barrier", "leave y@0 r", "enter y@0 w"],
        ["enter barrier", "leave barrier"],
    ]
    assert [each.events for each in found.path] == [
        ((1, 0), (1, 1), (2, 7)), ((1, 2), (1, 3), (2, 8)), ((1, 4), (1, 5)), ((1, 6),)
    ]  # fmt: skip
    assert found.attack.parts == (1,) * 8 + (2,)
    assert (found.attack.source, found.attack.delayed, found.attack.last) == (8, (8,), (7,))
    assert [moment.tainted for moment in found.attack.search_steps] == [(), (1,), (0, 1), ()]


# The searches


def test_the_counts_are_those_of_the_engines() -> None:
    found = explain(load(ONE_TO_ONE), timeout=120)
    assert found.product is not None and found.settled is not None
    assert [(each.states, each.ended) for each in found.product.costs] == [(944, True), (11_997, True)]
    assert (found.product.total, found.product.possible) == (3, 3)
    assert {each.name: each.states for each in found.costs} == {ALL: 14, PLAIN: 28, DEFINITION: 63}
    assert (found.settled.steps, found.settled.choosable) == (4, 2)
    search = ProductSearch(found.instance)
    for _ in search.run():
        pass
    assert search.states == 944


def test_a_program_that_is_settled_takes_no_states() -> None:
    program = "write(x, (me + 1) % nodes, y, q); wait(q);"
    found = explain(parsed(program), nodes=2, timeout=120)
    assert found.verdict.verdict == "robust" and found.settled is not None
    assert found.settled.nothing_to_search and found.settled.choosable == 0 and found.settled.steps == 4
    assert {each.name: each.states for each in found.costs}[ALL] == 0


def test_the_limits_stop_the_searches() -> None:
    found = explain(load(ONE_TO_ONE), max_states=20, timeout=120)
    assert found.origin == "check" and found.product is not None
    assert not any(each.ended for each in found.product.costs)
    assert not any(each.violation for each in found.product.costs)


@pytest.mark.parametrize(("nodes", "types"), [(1, 1), (2, 3), (3, 8), (4, 24)])
def test_cycle_types_are_counted(nodes: int, types: int) -> None:
    found = explain(load(PROGRAMS / "one_to_one" / "one_to_one_wait.pgas"), nodes, max_states=50, timeout=120)
    assert found.product is not None
    assert found.product.total == types


def test_a_program_in_error_has_no_computation() -> None:
    path = PROGRAMS / "faults" / "division_by_zero.pgas"
    found = explained(path)
    assert found.verdict.verdict == "error" and found.run is None and found.control


def test_the_empty_program() -> None:
    found = explain(parsed(""), nodes=2)
    assert found.verdict.verdict == "robust" and found.run is None and found.settled is not None


def test_marks_are_read_off_a_cycle() -> None:
    cycle = HappensBefore(TAU).cycle
    assert cycle is not None
    marked = mark(TAU, cycle)
    assert marked.cycle_type == (0, 1)
    assert all(isinstance(letter, Marked) for letter in marked.word)


def test_two_orders_of_one_computation_have_one_normal_form() -> None:
    """sigma keeps to the order of the issues, so the turns that ranks take make no difference here."""
    program = one_to_one()
    assert {reorder(program, each).normal_form for each in (TAU, NORMAL_FORM)} == {NORMAL_FORM}
