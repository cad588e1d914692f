"""Small witnesses (`proofs/small-witnesses.md`), and the marks of a cycle that is found in one.

Irreducible is what no subset of the commands undercuts, by trying them all; the fewest commands of all are found by a
search over all computations.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pgasrob
from pgasrob import twins
from pgasrob.automata.automaton import Interned
from pgasrob.batch.job import find_programs
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.reference.attack_search import AttackSearch
from pgasrob.robustness import shrink
from pgasrob.robustness.cycle_types import CycleTypeAutomata
from pgasrob.robustness.definition import DefinitionSearch, DefinitionState, HappensBeforeSpace
from pgasrob.robustness.engine import Engine, Violation
from pgasrob.robustness.marked_normal_form import ENTER, LEAVE, Marked, MarkedNormalForm, Marks
from pgasrob.robustness.marking import marks_of
from pgasrob.robustness.native_attack import NativeSearch
from pgasrob.robustness.needed_commands import Cycles, items_of
from pgasrob.robustness.normal_form import Letter as Generated
from pgasrob.robustness.normal_form import NormalForm
from pgasrob.robustness.product import ProductSearch
from pgasrob.robustness.reduction import REDUCTIONS
from pgasrob.robustness.session import Interrupted
from pgasrob.robustness.shrink import Shrinking, Shrunk
from pgasrob.robustness.verdict import Verdict
from pgasrob.semantics.computation import Computation, Event
from pgasrob.semantics.happens_before import Edge, HappensBefore
from pgasrob.semantics.replay import ReplayError, Run, replay
from pgasrob.semantics.state_space import Letter, State, StateSpace, computation_of
from tests.automata.strategies import accepts
from tests.oracle.happens_before import is_violating
from tests.oracle.replay import check_run
from tests.oracle.strategies import COMMANDS, EXTENSIONS
from tests.oracle.syntax import Program as OracleProgram
from tests.support import (
    FURTHER,
    SHARING,
    Drawn,
    drawn_programs,
    examples,
    instance,
    is_nightly,
    is_normal_form,
    json_events,
    one_to_one,
    sampled,
    tiny_instances,
)

PROGRAMS = find_programs([str(Path(__file__).parents[2] / "programs")])[0]
LARGE = ("bucket_sort_sync", "histogram_owners_no_flush", "stencil_2d_no_fence")
"""Programs of realistic sizes: it takes too long to tell of their witnesses whether all in them is needed."""
NOT_ROBUST = [
    file for file in PROGRAMS if "// expect: not robust" in Path(file).read_text() and Path(file).stem not in LARGE
]
CHOSEN = [str(path) for path in sampled(list(map(Path, NOT_ROBUST)), 8)]
"""An eighth of them, with --nightly all."""
Words = list[tuple[Letter, ...]]
EVERYTHING = (*COMMANDS, *EXTENSIONS)
ENGINES: dict[str, Any] = {
    "attack": AttackSearch,
    "all reductions": lambda program: AttackSearch(program, REDUCTIONS),
    "product": ProductSearch,
    "definition": DefinitionSearch,
}
reduced_native = pytest.mark.skipif(not twins.available(), reason="the kernel has not been built")


def violation_of(search: Engine, most: int = 50_000) -> Violation | None:
    for _ in search.run():
        if search.states > most:
            return None
    return search.violation


def shrunk(program: Instance, violation: Violation, most: int = 1_000_000) -> Shrunk:
    shrinking = Shrinking(program, violation, most)
    for _ in shrinking.run():
        pass
    return shrinking.found


def size(computation: Computation) -> int:
    """The number of its commands, a barrier being one."""
    return len(set(HappensBefore(computation).commands))


def is_violation(program: Instance, computation: Computation) -> bool:
    try:
        run = replay(program, computation)
    except ReplayError:
        return False
    return run.complete and HappensBefore(computation).cycle is not None


# Trying every subset


def parts_of(computation: Computation) -> Iterator[Computation]:
    """What is left of ``computation`` when some of its commands are left out: all that there is, the smallest first."""
    commands = HappensBefore(computation).commands
    for left in range(1, size(computation)):
        for kept in combinations(range(size(computation)), left):
            events, issued = [], {}
            counts: dict[int, int] = {}
            for command, event in zip(commands, computation, strict=True):
                if command in kept:
                    if not event.is_step:
                        issued[event.issued] = counts[event.rank] = counts.get(event.rank, -1) + 1
                    events.append(event._replace(operation=issued[event.issued]))
            yield tuple(events)


def fewest(program: Instance, computation: Computation) -> int:
    """The fewest commands of a violating computation that some commands of ``computation`` are."""
    return next((size(part) for part in parts_of(computation) if is_violation(program, part)), size(computation))


def check_shrunk(program: Instance, violation: Violation, most: int) -> tuple[int, int] | None:
    """Compare with all subsets when there are at most ``most`` commands; gives the sizes before and after."""
    found = shrunk(program, violation)
    small = found.violation
    assert found.irreducible is True
    assert is_violation(program, small.computation)
    if small.parts is not None:
        assert len(small.parts) == len(small.computation)
        assert list(small.parts) == sorted(small.parts)
    before, after = size(violation.computation), size(small.computation)
    assert (small is violation) == (before == after)
    if before > most:
        return None
    assert after == fewest(program, violation.computation)
    return before, after


@given(drawn_programs(commands=EVERYTHING))
@settings(max_examples=examples(10, 3_000))
def test_no_choice_of_commands_is_smaller(drawn: Drawn) -> None:
    program = drawn.instance
    for search in ENGINES.values():
        violation = violation_of(search(program), 2_000)
        if violation is not None:
            check_shrunk(program, violation, examples(7, 10))


@given(drawn_programs(ranks=(1, 2), loops=True))
@settings(max_examples=examples(10, 2_000))
def test_no_choice_of_commands_is_smaller_with_loops(drawn: Drawn) -> None:
    program = drawn.instance
    for search in ENGINES.values():
        violation = violation_of(search(program), 500)
        if violation is not None:
            check_shrunk(program, violation, examples(7, 10))


@given(tiny_instances(most=7, commands=(*SHARING, *FURTHER)))
@settings(max_examples=examples(40, 3_000))
def test_no_choice_of_commands_of_an_unguided_run_is_smaller(program: Instance) -> None:
    """Not of an engine's violation but of a whole run that is violating: it goes on to the end of the program."""
    computation = a_whole_run(program)
    if computation is not None:
        check_shrunk(program, Violation(computation), 9)


def a_whole_run(program: Instance) -> Computation | None:
    """A violating computation after which no rank can issue anything more; steps are put off."""
    space = StateSpace(program)
    for turn in range(3):
        state, words = space.initial, []
        while edges := list(space.successors(state)):
            issues = [edge for edge in edges if edge[0][0].kind not in ("popa", "popb", "popc", "popd")]
            chosen = issues or edges
            word, state = chosen[turn * len(words) % len(chosen)] if issues else chosen[-1 if turn else 0]
            words.append(word)
        computation = computation_of(words)
        if space.is_final(state) and HappensBefore(computation).cycle is not None:
            return computation
    return None


@st.composite
def free_runs(draw: st.DrawFn) -> tuple[Instance, Computation]:
    """A run of ranks that may issue any of some commands at any time, so that nearly any of them can be left out."""
    nodes = draw(st.integers(1, 2))
    blocks = []
    for rank in range(nodes):
        commands = draw(st.lists(st.sampled_from(FREE), min_size=2, max_size=5, unique=True))
        ways = " or ".join(f"{{ {command} }}" for command in commands)
        blocks.append(f"loop {{ choose {ways} }}".replace("OTHER", str((rank + 1) % nodes)))
    program = instance(*blocks)
    space, issued = StateSpace(program), 0
    state, words = space.initial, []
    while True:
        edges = [edge for edge in space.successors(state) if issued < 8 or edge[0][0].kind.startswith("pop")]
        if not edges:
            return program, computation_of(words)
        steps = [edge for edge in edges if edge[0][0].kind.startswith("pop")]
        word, state = draw(st.sampled_from(steps if steps and draw(st.integers(0, 3)) == 0 else edges))
        issued += not word[0].kind.startswith("pop")
        words.append(word)


FREE = tuple(command for command in (*SHARING, *FURTHER) if "compare_swap" not in command)


@given(free_runs())
@settings(max_examples=examples(23, 20_000))
def test_no_choice_of_commands_that_may_all_go_is_smaller(run: tuple[Instance, Computation]) -> None:
    program, computation = run
    if HappensBefore(computation).cycle is not None:
        check_shrunk(program, Violation(computation), 8)


def oracle_fewest(program: OracleProgram, run: Run) -> int:
    """`fewest` by the oracle, which has a semantics of its own and knows events by kind, rank, cell and line."""
    commands = HappensBefore(run.computation).commands
    events = json_events(run)
    for left in range(1, size(run.computation)):
        for kept in combinations(range(size(run.computation)), left):
            part, issued = [], {}
            counts: dict[int, int] = {}
            for command, event, shown in zip(commands, run.computation, events, strict=True):
                if command in kept:
                    if not event.is_step:
                        issued[event.issued] = counts[event.rank] = counts.get(event.rank, -1) + 1
                    part.append({**shown, "operation": issued[event.issued]})
            try:
                runs = check_run(program, None, part)
            except AssertionError:
                continue
            if any(not one.pending() and is_violating(one.history) for one in runs):
                return left
    return size(run.computation)


@given(drawn_programs(commands=tuple(name for name in EVERYTHING if name != "if")))
@settings(max_examples=examples(10, 2_000))
def test_the_oracle_finds_nothing_smaller(drawn: Drawn) -> None:
    """Without `if`, of which both ways have one line."""
    program = drawn.instance
    violation = violation_of(AttackSearch(program, REDUCTIONS), 2_000)
    if violation is not None and size(violation.computation) <= examples(6, 8):
        small = shrunk(program, violation).violation
        assert oracle_fewest(drawn.oracle, replay(program, violation.computation)) == size(small.computation)


# What goes and what stays


def tau(program: Instance, text: str) -> Computation:
    """The first computation of the form `0:write 0:popa ...`: ranks and kinds of events, a barrier named once."""
    space = StateSpace(program)
    nodes: list[tuple[State, Words]] = [(space.initial, [])]
    for name in text.split():
        nodes = [
            (target, [*words, word])
            for state, words in nodes
            for word, target in space.successors(state)
            if f"{word[0].rank}:{word[0].kind}" == name
        ]
    return computation_of(nodes[0][1])


@pytest.mark.parametrize(
    ("blocks", "run", "left"),
    [
        # Nothing can go: the barrier stands between.
        (
            ("write(x, 1, y, q); barrier;", "barrier; r <- mem[y];"),
            "0:write 0:barrier 1:load 0:popa 0:popb",
            "write barrier barrier load popa popb",
        ),
        # What comes after, and what another rank does.
        (
            ("write(x, 0, y, q); r <- mem[y]; s <- mem[z];", "mem[w] <- 1;", "r <- 2;"),
            "0:write 1:store 0:load 2:assign 0:load 0:popa 0:popb",
            "write load popa popb",
        ),
        # A round of a loop, and the first of two branches.
        (
            ("loop { mem[z] <- s; } write(x, 0, y, q); r <- mem[y];",),
            "0:store 0:store 0:write 0:load 0:popa 0:popb",
            "write load popa popb",
        ),
        # A round with a barrier, of both ranks at once.
        (
            ("loop { barrier; } write(x, 1, y, q); barrier; r <- 1;", "loop { barrier; } barrier; r <- mem[y];"),
            "0:barrier 0:barrier 0:write 0:barrier 1:load 0:popa 0:popb",
            "write barrier barrier load popa popb",
        ),
        # A value that is waited for has to be written.
        (
            ("write(x, 0, y, q); mem[z] <- 1; r <- mem[w];", "await(mem[z] == 0); r <- mem[y];"),
            "0:write 0:store 0:load 1:await 1:load 0:popa 0:popb",
            "",
        ),
        # Two cycles: the smaller one stays.
        (
            ("write(x, 0, y, q); s <- mem[z]; r <- mem[y];", "write(y, 1, z, q); r <- mem[z];"),
            "0:write 1:write 0:load 1:load 0:load 0:popa 0:popb 1:popa 1:popb",
            "1:write 1:load 1:popa 1:popb",
        ),
    ],
)
def test_what_goes(blocks: tuple[str, ...], run: str, left: str) -> None:
    program = instance(*blocks)
    computation = tau(program, run)
    found = shrunk(program, Violation(computation))
    if not left:  # no cycle: it is no violation, and the search says nothing
        assert found == Shrunk(Violation(computation), None)
        return
    assert found.irreducible is True
    kinds = [f"{event.rank}:{event.kind}" if ":" in left else event.kind for event in found.violation.computation]
    assert " ".join(kinds) == left
    assert is_violation(program, found.violation.computation)


def test_choices_that_lead_to_one_state_differ_by_what_they_have_kept_of_cycles() -> None:
    """Found by chance, one run in a thousand shows it."""
    commands = ("await_add(me, mem[y] != 0, -1);", "barrier;", "mem[x] <- 2;", "notify(set, 1, 0, y, u);")
    program = instance("loop { choose " + " or ".join(f"{{ {command} }}" for command in commands) + " }")
    kinds = {"await_add": (1, 0), "barrier": (None, 1), "store": (0, 2), "notify": (None, 3), "popb": (1, 3)}
    run = (
        "notify 0, popb 0, await_add 1, store 2, notify 3, notify 4, popb 4, await_add 5, notify 6, barrier 7, popb 6, "
        "await_add 8, popb 3"
    )
    computation = tuple(
        Event(kind, 0, int(operation), *kinds[kind]) for kind, operation in map(str.split, run.split(", "))
    )
    assert check_shrunk(program, Violation(computation), 9) == (9, 2)


def test_a_loop_loses_the_rounds_that_nothing_depends_on() -> None:
    program = instance("loop { mem[z] <- r; } write(x, 0, y, q); r <- mem[y];")
    run = tau(program, " ".join(["0:store"] * 40 + ["0:write", "0:load", "0:popa", "0:popb"]))
    assert size(shrunk(program, Violation(run)).violation.computation) == 2


def test_operations_of_a_fifo_queue_go_together_with_what_waits_for_them() -> None:
    """The wait for the first one may stay without it."""
    program = instance("loop { write(x, 0, y, q); } wait(v); r <- mem[y];")
    run = tau(program, "0:write 0:write 0:wait 0:load 0:popa 0:popa 0:popb 0:popb")
    small = shrunk(program, Violation(run)).violation.computation
    assert [event.kind for event in small] == ["write", "wait", "load", "popa", "popb"]
    assert [event.operation for event in small] == [0, 1, 2, 0, 0]


def test_parts_stay_those_of_the_normal_form_and_marks_while_they_are_right() -> None:
    program = one_to_one(nodes=2)
    found = violation_of(ProductSearch(program))
    assert found is not None and found.marks is not None
    assert shrunk(program, found).violation is found  # nothing goes
    reduced = violation_of(AttackSearch(program, REDUCTIONS))
    assert reduced is not None
    small = shrunk(program, reduced).violation
    assert len(small.computation) < len(reduced.computation)
    assert small.parts is not None and is_normal_form(small.computation, 2)


def test_a_search_that_is_cut_short_says_nothing_and_leaves_a_violation() -> None:
    """A counter that every round depends on: the choices are as many as pairs of rounds."""
    program = instance("while (r < 150) { r <- r + 1; } write(x, 0, y, q); s <- mem[y]; s <- mem[z]; s <- mem[z];")
    run = tau(program, " ".join(["0:assume 0:assign"] * 150 + ["0:assume 0:write", *["0:load"] * 3, "0:popa 0:popb"]))
    shrinking = Shrinking(program, Violation(run), 3_000)
    for _ in shrinking.run():
        pass
    assert shrinking.found.irreducible is None
    assert shrinking.effort < 4 * 3_000
    assert size(shrinking.found.violation.computation) == size(run) - 2  # the loads at the end go nevertheless
    assert is_violation(program, shrinking.found.violation.computation)


def test_what_is_no_violation_is_left_alone() -> None:
    program = instance("write(x, 0, y, q); r <- mem[y];")
    for text in ("0:write 0:popa 0:popb 0:load", ""):
        violation = Violation(tau(program, text))
        assert shrunk(program, violation) == Shrunk(violation, None)
    wrong = Violation(tau(program, "0:write 0:load 0:popa 0:popb")[::-1])
    assert shrunk(program, wrong).violation is wrong


# The corpus


@cache
def checked(file: str) -> Verdict:
    return pgasrob.check(pgasrob.load(file), effect=False)


@cache
def corpus() -> list[Instance]:
    """The instances of the chosen programs at their own node count, those in C last."""
    witnesses = [checked(file).witness for file in sorted(CHOSEN, key=lambda file: file.endswith(".c"))]
    return [witness.run.instance for witness in witnesses if witness is not None]


class Tally(NamedTuple):
    """Witnesses found, those that became smaller, the commands that went, those compared with all their subsets."""

    witnesses: int
    smaller: int
    gone: int
    compared: int


def shrink_corpus(search: Any, most_states: int) -> Tally:
    """Shrink the violations that ``search`` finds; every one must be irreducible."""
    sizes, compared = [], 0
    for program in corpus():
        violation = violation_of(search(program), most_states)
        if violation is not None:
            compared += check_shrunk(program, violation, examples(5, 11)) is not None
            sizes.append(size(violation.computation) - size(shrunk(program, violation).violation.computation))
    return Tally(len(sizes), sum(map(bool, sizes)), sum(sizes), compared)


def test_the_witnesses_of_the_corpus_are_irreducible() -> None:
    """By the default engine, which after its search with all reductions looks for a shorter run with none."""
    verdicts = [checked(file) for file in CHOSEN]
    witnesses = [verdict.witness for verdict in verdicts if verdict.witness is not None]
    assert len(witnesses) == len(CHOSEN) > len(NOT_ROBUST) // 12 >= 15
    assert [witness.run.instance.program.name for witness in witnesses if witness.irreducible is not True] == []
    for witness in witnesses:
        again = shrunk(witness.run.instance, Violation(witness.run.computation))
        assert again[:2] == (Violation(witness.run.computation), True)  # nothing goes


@pytest.mark.nightly  # the witnesses of the corpus are looked at below
@reduced_native
def test_witnesses_of_the_plain_search_lose_nothing() -> None:
    tally = shrink_corpus(lambda program: NativeSearch(program, ()), 200_000)
    assert tally.witnesses == len(NOT_ROBUST)
    assert tally.smaller == 0
    assert tally.compared > 80


@reduced_native
def test_witnesses_of_the_search_with_all_reductions_lose_what_they_do_not_need() -> None:
    tally = shrink_corpus(lambda program: NativeSearch(program, REDUCTIONS), 200_000)
    assert tally.witnesses == len(CHOSEN)
    assert tally.smaller > len(CHOSEN) // 5 and tally.gone > len(CHOSEN)
    assert tally.compared > len(CHOSEN) // 5


@pytest.mark.parametrize(("name", "smaller"), [("product", 1), ("definition", 1)])
def test_witnesses_of_the_other_engines(name: str, smaller: int) -> None:
    """They search breadth-first, too, but one cycle type after the other, or by events."""
    tally = shrink_corpus(ENGINES[name], examples(200, 20_000))
    assert tally.witnesses > len(CHOSEN) // 5
    assert tally.smaller >= is_nightly() * smaller


def test_every_engine_shows_the_small_run_with_parts_and_marks_that_are_right() -> None:
    """A command goes from the run that the product engine finds."""
    path = Path(__file__).parents[2] / "programs" / "ring" / "ring_shift_no_wait.pgas"
    program = pgasrob.load(path)
    found = violation_of(ProductSearch(program.instantiate(program.nodes or 2)))
    witness = pgasrob.check(program, engine="product").witness
    assert found is not None and witness is not None and witness.irreducible is True
    assert len(witness.run.computation) < len(found.computation)
    assert witness.marks is not None and witness.cycle_type is not None and witness.parts is not None
    assert len(witness.marks) == len(witness.parts) == len(witness.run.computation)
    assert_marked(witness.run.instance, witness.run.computation, witness.marks, witness.cycle_type)
    for engine in ("attack", "definition"):
        other = pgasrob.check(program, engine=engine).witness
        assert other is not None and other.irreducible is True and other.marks is None


def test_a_time_limit_leaves_the_witness_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(self: Shrinking) -> Iterator[None]:
        yield
        raise KeyboardInterrupt

    monkeypatch.setattr(Shrinking, "run", stop)
    program = pgasrob.load(Path(__file__).parents[2] / "programs" / "one_to_one" / "one_to_one.pgas")
    with pytest.raises(Interrupted) as interrupted:
        pgasrob.check(program)
    verdict = interrupted.value.verdict
    assert verdict.verdict == "not robust" and verdict.witness is not None


def test_what_does_not_replay_when_shrunk_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine's own run is; and nothing is claimed of it."""

    def wrong(self: Shrinking) -> Iterator[None]:
        yield
        self.found = Shrunk(Violation(()), True)

    monkeypatch.setattr(Shrinking, "run", wrong)
    program = pgasrob.load(Path(__file__).parents[2] / "programs" / "one_to_one" / "one_to_one.pgas")
    witness = pgasrob.check(program, engine="product").witness
    assert witness is not None and len(witness.run.computation) > 0 and witness.irreducible is None


# The fewest of all


def fewest_of_all(program: Instance, below: int, most: int) -> bool | None:
    """Whether some word of X(P, N) with fewer than ``below`` commands has a cycle: a search of its own, by commands
    issued, over states and happens-before. None: more than ``most`` states."""
    space = HappensBeforeSpace(program)
    costs: dict[DefinitionState, int] = {space.initial: 0}
    waiting = deque([space.initial])
    settled = set()
    while waiting:
        state = waiting.popleft()
        if state in settled:
            continue
        settled.add(state)
        if space.is_final(state):
            return True
        if len(costs) > most:
            return None
        for word, target in space.successors(state):
            cost = costs[state] + (not word[0].kind.startswith("pop"))
            if cost < min(below, costs.get(target, below)):
                costs[target] = cost
                if cost == costs[state]:
                    waiting.appendleft(target)
                else:
                    waiting.append(target)
    return None if space.cut else False


def plain(program: Instance, twice: bool = True) -> Violation | None:
    """The violation of the plain search; made ``twice``, by the kernel and in Python, it is the same."""
    found = violation_of(NativeSearch(program, ()), 6_000) if twins.available() else None
    if not twice and found is not None:
        return found
    same = violation_of(AttackSearch(program), 3_000)
    assert found is None or same is None or same == found
    return found or same


@given(drawn_programs(commands=EVERYTHING))
@settings(max_examples=examples(30, 3_000))
def test_the_plain_search_finds_the_fewest_commands_of_all(drawn: Drawn) -> None:
    violation = plain(drawn.instance)
    if violation is not None:
        assert not fewest_of_all(drawn.instance, size(violation.computation), 3_000)


@given(drawn_programs(ranks=(1, 2), loops=True))
@settings(max_examples=examples(30, 3_000))
def test_the_plain_search_finds_the_fewest_commands_of_all_with_loops(drawn: Drawn) -> None:
    violation = plain(drawn.instance)
    if violation is not None:
        assert not fewest_of_all(drawn.instance, size(violation.computation), 2_000)


def test_no_violation_of_the_corpus_has_fewer_commands() -> None:
    """Where the search ends: pinned, so that it cannot come to try nothing."""
    answers = []
    for program in corpus():
        violation = plain(program, twice=False)
        if violation is not None:
            answers.append(fewest_of_all(program, size(violation.computation), examples(150, 100_000)))
    assert True not in answers
    assert answers.count(False) >= examples(20, nightly=80)


def test_a_barrier_is_one_command() -> None:
    """Two ways to a violation: past a barrier of six ranks, or by three commands more."""
    cheap = "write(x, 0, y, q); choose { barrier; } or { r <- 1; r <- 2; } s <- mem[y];"
    program = instance(cheap, *["barrier;"] * 5)
    violation = plain(program)
    assert violation is not None
    assert [event.kind for event in violation.computation].count("barrier") == 6
    assert size(violation.computation) == 3
    assert fewest_of_all(program, 3, 100_000) is False
    assert fewest_of_all(program, 4, 100_000) is True


# Marks


def assert_marked(
    program: Instance, computation: Computation, marks: tuple[Marks, ...], cycle_type: tuple[int, ...]
) -> None:
    """The marked word is of Z^cyc and, each rank being entered before it is left or at the same command, of M."""
    automata = CycleTypeAutomata(program)
    word = [
        Marked(Generated(event.kind, event.rank, event.cell, event.occurrence, event.commutes), mark)
        for event, mark in zip(computation, marks, strict=True)
    ]
    for acceptor in automata.acceptors(cycle_type):
        assert accepts(acceptor, word)
    assert cycle_type[0] == min(cycle_type) and len(set(cycle_type)) == len(cycle_type)
    for rank in range(program.nodes):
        mine = [(event, mark) for event, mark in zip(computation, marks, strict=True) if event.rank == rank]
        entered = [event.operation for event, mark in mine if ENTER in mark]
        left = [event.operation for event, mark in mine if LEAVE in mark]
        assert len(entered) == len(left) == (rank in cycle_type)
        assert not entered or (entered < left if len(cycle_type) == 1 else entered <= left)
    if is_normal_form(computation, 2):
        assert in_marked_normal_form(program, computation, marks, sorted(cycle_type))


def in_marked_normal_form(
    program: Instance, computation: Computation, marks: tuple[Marks, ...], ranks: list[int]
) -> bool:
    """Whether Y^M with two heads has the marked word, by following the paths whose heads read it."""
    automaton = MarkedNormalForm(Interned(NormalForm(program, 2)), ranks)
    word = [
        ((event.kind, event.rank, event.cell, event.occurrence, event.commutes, event.home), mark)
        for event, mark in zip(computation, marks, strict=True)
    ]
    for cut in range(len(word), -1, -1):
        tapes = (word[:cut], word[cut:])
        seen = {(automaton.initial, 0, 0)}
        stack = list(seen)
        while stack:
            state, *read = stack.pop()
            if automaton.is_final(state) and read == [len(tapes[0]), len(tapes[1])]:
                return True
            for letters, target in automaton.successors(state):
                after = list(read)
                for head, (letter, mark) in letters:
                    place = after[head - 1]
                    if tapes[head - 1][place : place + 1] != [(tuple(letter), mark)]:
                        break
                    after[head - 1] += 1
                else:
                    node = (target, *after)
                    if node not in seen:
                        seen.add(node)
                        stack.append(node)
    return False


@given(drawn_programs(commands=EVERYTHING))
@settings(max_examples=examples(25, 3_000))
def test_marks_read_off_a_cycle_are_a_word_of_the_marked_normal_form(drawn: Drawn) -> None:
    program = drawn.instance
    for search in ENGINES.values():
        violation = violation_of(search(program), 1_000)
        if violation is not None:
            cycle = HappensBefore(violation.computation).cycle
            assert cycle is not None
            assert_marked(program, violation.computation, *marks_of(cycle, violation.computation))


def test_marks_of_the_corpus() -> None:
    lengths = set()
    for file in CHOSEN:
        witness = checked(file).witness
        assert witness is not None and witness.cycle is not None
        marks, cycle_type = marks_of(witness.cycle, witness.run.computation)
        assert_marked(witness.run.instance, witness.run.computation, marks, cycle_type)
        lengths.add(len(cycle_type))
    assert lengths >= {1, 2}


def test_marks_of_a_cycle_that_comes_to_a_rank_twice() -> None:
    """Rank 0 is visited between two conflicts on y, and again on z: the shorter way round is a circuit, too."""
    program = instance(
        "write(x, 1, y, u); write(x, 1, z, u); s <- mem[w];",
        "r <- mem[z]; s <- mem[y];",
    )
    computation = tau(program, "0:write 0:write 0:popa 0:popa 0:popb 1:load 1:load 0:popb")
    events = HappensBefore(computation)
    if events.cycle is not None:
        assert_marked(program, computation, *marks_of(events.cycle, computation))


def test_a_cycle_needs_a_conflict() -> None:
    with pytest.raises(ValueError, match="conflict"):
        marks_of([Edge(0, 1, "id"), Edge(1, 0, "id")], tau(instance("barrier;", "barrier;"), "0:barrier"))


@given(tiny_instances(most=7, commands=(*SHARING, *FURTHER)))
@settings(max_examples=examples(20, 3_000))
def test_around_one_cycle_first_no_choice_is_smaller_either(program: Instance) -> None:
    """As where there are many ranks: what the first cycle does not need goes before anything is tried."""
    computation = a_whole_run(program)
    if computation is None:
        return
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shrink, "MANY", 0)
        found = shrunk(program, Violation(computation))
    small = found.violation.computation
    assert found.irreducible is True and is_violation(program, small)
    assert fewest(program, small) == size(small)


def test_the_cycle_that_is_kept_is_a_short_one() -> None:
    """A put, the barrier behind it, and a read: of one rank or of two, though all make the mistake."""
    body = "mem[x] <- 1; write(x, (me + 1) % nodes, y, q); s <- mem[y]; barrier; r <- mem[y];"
    text = f"program p; nodes 9; memory x, y; register r, s; queue q; process {{ {body} }}"
    program = parse(text).instantiate()
    computation = a_whole_run(program)
    assert computation is not None
    cycles = Cycles(items_of(computation))
    assert len(cycles.shortest()) == 4 <= len(cycles.one())
    assert cycles.among(sum(1 << command for command in cycles.shortest()))
