"""Searches that take turns: what each may spend, and that the default engine is never weaker than its parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from pgasrob import twins
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.program.program import Program
from pgasrob.robustness.check import check
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.load import load
from pgasrob.robustness.portfolio import EVENTS_PER_COMMAND, EVENTS_PER_STATE, SMALL
from pgasrob.robustness.question import EngineChoice, Question, Resources, Robustness
from pgasrob.robustness.reasons import ScRunsLeft, ScStateLimit
from pgasrob.robustness.session import Session
from pgasrob.robustness.turns import FIRST, Part, budgets
from pgasrob.robustness.verdict import Verdict
from tests.bench.families import FAMILIES, SCALED
from tests.robustness.competing import COMPETING

PROGRAMS = Path(__file__).parents[2] / "programs"
OF_THE_CORPUS = (
    "dekker/dekker_no_wait.pgas", "dekker/dekker_release_unordered.pgas", "peterson/peterson.pgas",
    "peterson/peterson_one_wait.pgas", "stale_poll/poll_counts_rounds.pgas", "self_read/read_loop.pgas",
    "rounds/flag_and_answer.pgas", "lectures/6_normal_forms/6_e4_jugs.pgas",
    "lectures/6_normal_forms/6_02_unreachable.pgas", "rounds/counted_rounds.pgas", "rounds/forwarded_late.pgas",
    "rounds/sense_reversal.pgas", "all_to_all/all_to_all_counter_late_wait.pgas", "bakery/bakery_put.pgas",
    "c/openshmem/work_queue.c", "c/openshmem/stencil.c",
    "c/openshmem/bucket_sort_sync.c", "c/gaspi/gaspi_stencil.c", "c/mpi/fetch_and_op.c",
)  # fmt: skip
"""Those on which the engines differ most."""
OF_FAMILIES = (*FAMILIES, "work_sharing", "cas_counter")


class Counting:
    """A search that looks at so many states for each piece, and has so many pieces."""

    def __init__(self, pieces: int, states: int = 1) -> None:
        self.states = 0
        self._pieces, self._each = pieces, states

    def run(self) -> Iterator[None]:
        for _ in range(self._pieces):
            self.states += self._each
            yield


def part(pieces: int, states: int = 1) -> Part:
    search = Counting(pieces, states)
    return Part(search, search.run())


def test_what_a_search_may_spend_doubles_in_every_turn() -> None:
    assert list(islice(budgets(), 4)) == [2_000, 4_000, 8_000, 16_000]


def test_a_search_goes_on_where_it_has_stopped_and_says_when_it_has_ended() -> None:
    one = part(10)
    assert sum(1 for _ in one.search_until(4)) == 4 == one.states and not one.over
    assert sum(1 for _ in one.search_until(4)) == 0
    assert sum(1 for _ in one.search_until(8)) == 4 and one.states == 8
    assert sum(1 for _ in one.search_until(99)) == 2 and one.ended and one.over
    assert sum(1 for _ in one.search_until(999)) == 0 and one.states == 10


def test_a_search_stops_when_it_has_passed_its_limit_and_may_be_given_more() -> None:
    """Its caller, which looks at the limit itself, never sees more states than that."""
    one = part(10, 3)
    one.most = 7
    assert [one.states for _ in one.search_until(99)] == [3, 6]
    assert one.states == 9 and one.over and not one.ended
    one.most = None
    assert not one.over
    assert sum(1 for _ in one.search_until(99)) == 7 and one.ended and one.states == 30


def test_what_states_cost_may_be_another_number() -> None:
    search = Counting(100)
    one = Part(search, search.run(), lambda: 5 * search.states)
    assert sum(1 for _ in one.search_until(20)) == 4 == search.states


# The default engine and its parts

MOST = 10_000
IN_PYTHON = 2_000
"""The same for engines in Python, on 2 nodes."""
CASES = [
    *((name, nodes, MOST, None) for name in COMPETING for nodes in (2, 4)),
    *((f"family {name}", nodes, MOST, None) for name in OF_FAMILIES for nodes in (2, 4)),
    *((name, 4, MOST, None) for name in OF_THE_CORPUS),
    ("c/mpi/hoefler/listings_2_and_3.c", 2, MOST, None),
]
LONG = [
    ("work stealing", 6, 60_000, 1_074),
    ("a central barrier", 8, 60_000, 2_634),
    ("a queue lock, taken and left", 8, 60_000, 74_755),
    ("a queue lock on cells of the ranks", 6, 60_000, 18_959),
    ("a round that never ends", 5, 60_000, 28_618),
    ("flags from all to all, each put waited for", 5, 60_000, 371),
    ("flags from all to all, in some order", 5, 60_000, 54_603),
]
"""Here one engine needs several turns, and the other one has no end. Last, the states of the default."""


def case_of(name: str, nodes: int) -> Instance:
    if name in COMPETING:
        return parse(COMPETING[name]).instantiate(nodes)
    if name.startswith("family "):
        family = name.removeprefix("family ")
        made = FAMILIES[family].program if family in FAMILIES else SCALED[family].program
        return parse(made(nodes)).instantiate(nodes)
    found = load(PROGRAMS / name)
    return (found if isinstance(found, Program) else found.program(nodes)).instantiate(nodes)


def answered(instance: Instance, engine: str, most: int) -> Verdict:
    limits = Limits(most, max_sc_states=most)
    asked = Question(
        instance.program, instance.nodes, Robustness(effect=False), engine=EngineChoice(engine), limits=limits
    )
    return check(Session(asked))


def allowed(instance: Instance, engine: str, needed: int) -> int:
    """The states that the default may look at where ``engine`` alone has ``needed`` so many: these, and what the other
    one may look at up to the turn in which they are enough. Pieces of searches are not cut."""
    commands = sum(len(automaton.transitions) for automaton in instance.automata)
    whole = EVENTS_PER_COMMAND * commands if commands > SMALL else 0
    others = needed if engine == "traces" else EVENTS_PER_STATE * needed
    return needed + 2 * others + EVENTS_PER_STATE * FIRST + whole + 4_000


@pytest.mark.skipif(not twins.available(), reason="the kernel has not been built")
@pytest.mark.parametrize(("name", "nodes", "most", "states"), [*LONG, *CASES])
def test_the_default_settles_what_one_engine_settles(name: str, nodes: int, most: int, states: int | None) -> None:
    """Robustness and each fact, within the same limit for each part, and with a few times as many states."""
    instance = case_of(name, nodes)
    default = answered(instance, "portfolio", most)
    assert states in (None, default.stats.states)
    engines = {"traces": most, "attack": most} | ({} if nodes > 2 else {"product": IN_PYTHON, "definition": IN_PYTHON})
    for engine, limit in engines.items():
        alone = answered(instance, engine, limit)
        if alone.verdict != "unknown":
            assert default.verdict == alone.verdict, engine
            assert default.stats.states <= allowed(instance, engine, alone.stats.states), engine
        for fact in ("faults", "assertions", "deadlock"):
            known = getattr(alone, fact)
            assert known in ("unknown", None) or getattr(default, fact) in (known, None), (engine, fact)


@pytest.mark.skipif(not twins.available(), reason="the kernel has not been built")
def test_what_is_found_does_not_depend_on_threads() -> None:
    instance = case_of("rounds/flag_and_answer.pgas", 4)
    asked, limits = Robustness(effect=False), Limits(60_000)
    one, four = (
        check(Session(Question(instance.program, 4, asked, limits=limits, resources=Resources(threads))))
        for threads in (1, 4)
    )
    assert (one.verdict, one.stats.settled_by) == (four.verdict, four.stats.settled_by) == ("robust", "attack")
    assert replace(one.stats, seconds=0.0) == replace(four.stats, seconds=0.0)


@pytest.mark.skipif(not twins.available(), reason="the kernel has not been built")
def test_facts_that_are_left_have_a_limit_of_states_of_their_own() -> None:
    """Infeasibility has settled the rest, so the verdict stands."""
    instance = case_of("a counter of arrivals", 7)
    limits = Limits(1_000, max_sc_states=200)
    found = check(Session(Question(instance.program, 7, Robustness(effect=False), limits=limits)))
    assert (found.verdict, found.faults, found.assertions) == ("robust", "none", "unknown")
    assert found.reason == ScRunsLeft(ScStateLimit(200))
