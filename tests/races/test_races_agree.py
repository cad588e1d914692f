"""The search for races, in Python and in the kernel, and the definition give the same answers on random programs.

`proofs/races.md` says what they have to agree on: on a robust program all races; on any other that there is none that
the definition does not have, and one, or a conflict that is none, whenever the program is not robust.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from pgasrob import twins
from pgasrob.analysis.meanwhile import is_left_alone
from pgasrob.analysis.placement import NOW
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.program.reading import Reading
from pgasrob.races.access_facts import updates_may_race
from pgasrob.races.found import RaceSearch as Searching
from pgasrob.races.native_races import NativeRaceSearch
from pgasrob.races.race_definition import DefinitionSearch
from pgasrob.races.racing_pairs import Places
from pgasrob.reference import persistent_sets
from pgasrob.reference import race_search as search_module
from pgasrob.reference import race_traces as traces_module
from pgasrob.reference.attack import Edge, State
from pgasrob.reference.attack_search import AttackSearch
from pgasrob.reference.delaying import Order
from pgasrob.reference.liveness_reduction import Liveness
from pgasrob.reference.race_search import RaceSearch, StoppingSpace
from pgasrob.reference.race_traces import TracesRaceSearch
from pgasrob.robustness.load import load
from pgasrob.robustness.moves import NotEnabled
from pgasrob.robustness.reduction import REDUCTIONS
from pgasrob.semantics.replay import ReplayError, replay
from tests.oracle.classical_races import classical_races
from tests.oracle.strategies import COMMANDS, EXTENSIONS, MEETINGS, random_program
from tests.oracle.syntax import Program, statements, to_pgas
from tests.support import instance, translated

needs_kernel = pytest.mark.skipif(not twins.available(), reason="the kernel has not been built")

BLOCKING = (
    (*COMMANDS, "put", "fetch", "fetch_update", "await_add", "load_there", "store_there"),
    ("load", "store", "write", "read", "wait", "wait_local", "barrier"),
    ("load", "store", "write", "fence", "wait", "fetch_add"),
    ("load", "write", "put", "await", "fetch_add", "swap", "compare_swap", "wait", "choose"),
    ("load", "store", "write", "put", "load_there", "store_there", "fence", "wait"),
    MEETINGS,
)
"""Choices of commands without deferred atomics, notifications and signals."""
DEFERRED = (
    (*COMMANDS, *EXTENSIONS),
    ("load", "store", "put", "update", "fence", "notify", "wait", "wait_local", "fetch"),
    ("load", "store", "write", "put", "bundle", "signal", "await", "barrier"),
    ("load", "store", "update", "update_from", "wait", "wait_local", "fetch_update", "choose"),
    ("load", "write", "put", "await_add", "await", "signal", "notify", "fetch_add"),
)
"""Choices of commands with these."""
CHOICES = (*BLOCKING, *DEFERRED)
MOST_STATES = 4_000
PROGRAMS = Path(__file__).parents[2] / "programs"


ACCESSING = re.compile(
    r"((?:\w+ <- )?(?:(?:put|write|read|fetch|fetch_add|fetch_update|swap|compare_swap|update|update_from"
    r"|update_located|update_from_located|notify|notify_all|signal|await|await_add)\(.*\)|mem\[.*))(?=;)"
)


def decorated(text: str, source: random.Random) -> str:
    """A program in which some accesses are atomic in other types, or plain, or to some bytes of their cells, and some
    memory is made up."""

    def told(match: re.Match[str]) -> str:
        statement, bytes = match[0], source.choice(("[0-3%s]", "[4-7%s]", "[2-5%s]"))
        more = ", 0-3" if statement.startswith(("put", "write", "read")) else ""
        ways = ["", " as int", " as long", " as plain"]
        if more or statement.startswith(("mem", "r <- mem", "s <- mem")):
            ways += [" as plain" + bytes % more, " as long" + bytes % more]
        return statement + source.choice(ways)

    head, process, body = text.partition("process")
    if source.random() < 0.2:
        head = re.sub(r"memory ([^,;{]*({[^}]*})?)", r"memory \1 made_up", head)
    return head + process + ACCESSING.sub(told, body)


def drawn(
    seed: int, choices: tuple[tuple[str, ...], ...] = CHOICES, decorate: bool = True
) -> tuple[Program, Instance, bool]:
    """The random program of ``seed``, the same instantiated, and whether races are strict."""
    source = random.Random(seed)
    found = random_program(seed, commands=choices[seed % len(choices)], loops=source.random() < 0.2)
    text = to_pgas(found)
    strict, reading = source.random() < 0.5, Reading(conflicts=source.choice(("commuting", "all")), waits="value")
    program = parse(decorated(text, source) if decorate and source.random() < 0.4 else text)
    if updates_may_race(program.instantiate(), strict):
        reading = Reading(conflicts="all", waits="value")
    return found, program.instantiate(reading=reading), strict


def some_reductions(seed: int) -> tuple[str, ...]:
    """None, all, or some of them."""
    source = random.Random(-seed - 1)
    return source.choice(((), REDUCTIONS, tuple(name for name in REDUCTIONS if source.random() < 0.6)))


def ended(search: Searching, most: int = MOST_STATES) -> bool:
    """Run a search; whether it has seen all there is."""
    for _ in search.run():
        if search.states > most:
            return False
    return search.gave_up is None


def is_robust(instance: Instance) -> bool | None:
    """Whether it is robust; None: not known."""
    if twins.available():
        from pgasrob.robustness.native_attack import NativeSearch

        found: NativeSearch | AttackSearch = NativeSearch(instance)
    else:
        found = AttackSearch(instance, REDUCTIONS)
    for _ in found.run():
        if found.states > 20 * MOST_STATES:
            return None
    return found.violation is None


@cache
def by_definition(seed: int) -> tuple[Program, Instance, bool, frozenset[Places] | None]:
    """The program of ``seed``, and its races by the definition; None where these would take too long."""
    oracle, instance, strict = drawn(seed)
    definition = DefinitionSearch(instance, strict)
    return oracle, instance, strict, frozenset(definition.races) if ended(definition) else None


def compare(seed: int, search: Callable[..., Searching]) -> Counter[str]:
    """Compare a search with the definition on the program of ``seed``; what there was to see."""
    oracle, instance, strict, expected = by_definition(seed)
    found = search(instance, strict, some_reductions(seed))
    if expected is None or not ended(found):
        return Counter(("too large",))
    robust = is_robust(instance)
    if found.fault is not None or robust is None:
        return Counter(("fault" if found.fault else "not known",))
    assert set(found.races) <= expected, f"{seed}: a race that is none"
    assert found.races or found.needs_robust or robust, f"{seed}: nothing goes before a step, yet it is not robust"
    assert not robust or set(found.races) == expected, f"{seed}: not all races"
    for race in found.races.values():
        replay(instance, race.run)
    verdict = "race" if expected else "no race"
    seen = Counter((verdict, f"{verdict}, {'' if robust else 'not '}robust"))
    if robust and not found.needs_robust and not found.races:
        seen["settled without the check"] += 1
    if expected - found.races.keys():
        seen["more races in the definition"] += 1
        seen["the only race in the definition"] += not found.races
    seen.update({f"has {type(each).__name__}" for process in oracle.processes for each in statements(process.body)})
    return seen


def campaign(seeds: Iterable[int], search: Callable[..., Searching]) -> Counter[str]:
    """What :func:`compare` has seen for all ``seeds``."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        seen.update(compare(seed, search))
    return seen


FEW = range(80)


def test_the_search_agrees_with_the_definition() -> None:
    seen = campaign(FEW, RaceSearch)
    assert min(seen["race, not robust"], seen["race, robust"], seen["no race, robust"]) > 15
    commands = ("Await", "Barrier", "Fence", "Notify", "Put", "Signal", "Update", "UpdateFrom", "WaitLocal")
    assert all(seen[f"has {name}"] > 5 for name in commands), seen


@needs_kernel
@pytest.mark.nightly
@pytest.mark.parametrize("part", range(10))
def test_the_kernel_agrees_with_the_definition(part: int) -> None:
    seen = campaign(range(10_000 + 1_000 * part, 11_000 + 1_000 * part), NativeRaceSearch)
    by_definition.cache_clear()
    assert seen["race"] > 500 and seen["no race"] > 100


def no_stop(self: StoppingSpace, state: State, rank: int, transition: object, operands: object) -> Iterator[Edge]:
    going = self.going(state, rank, operands)  # type: ignore[arg-type]
    yield self._issued(state, rank, transition, operands, going, state.attack)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("where", "name", "broken", "wrong"),
    [
        (
            search_module,
            "lower_bounds",
            lambda _, __, operands: [NOW] * len(operands.steps),
            "a race that is none|not happened",
        ),
        (search_module, "wait_is_over", lambda *_: True, "a race that is none|is not"),
        (StoppingSpace, "_remote", no_stop, "not all races|not robust"),
        (StoppingSpace, "going", lambda *_: 0, "not all races|not robust"),
        (Liveness, "_meets", lambda *_: False, "not all races|not robust"),
        (search_module, "next_at_issue", lambda *_: [], "not all races|not robust"),
    ],
)
def test_every_rule_of_the_search_matters(
    monkeypatch: pytest.MonkeyPatch, where: object, name: str, broken: object, wrong: str
) -> None:
    """With a rule broken it disagrees with the definition."""
    monkeypatch.setattr(where, name, broken)
    with pytest.raises((AssertionError, ReplayError), match=wrong):
        campaign(range(300), RaceSearch)


@pytest.mark.parametrize("seeds", [range(25), pytest.param(range(40_000, 45_000), marks=pytest.mark.nightly)])
def test_trace_by_trace_agrees_with_the_definition(seeds: Iterable[int]) -> None:
    seen = campaign(seeds, by_traces)
    assert min(seen["race, not robust"], seen["race, robust"], seen["no race, robust"]) > 1


def by_traces(instance: Instance, strict: bool, _: Collection[str]) -> TracesRaceSearch:
    return TracesRaceSearch(instance, strict)


@pytest.mark.parametrize(
    ("where", "name", "broken", "wrong", "first"),
    [
        (traces_module, "lower_bounds", lambda *of: [NOW] * len(of[2].steps), "a race that is none|not happened", 0),
        (traces_module, "wait_is_over", lambda *_: True, "a race that is none|is not", 0),
        (TracesRaceSearch, "_compare", lambda *_: None, "not all races|not robust", 0),
        (TracesRaceSearch, "_note_both", lambda *_: None, "not all races|not robust", 0),
        (Order, "after", lambda *_: (), "a race that is none|cannot issue|condition", 150),
    ],
)
def test_every_rule_of_the_traces_matters(
    monkeypatch: pytest.MonkeyPatch, where: object, name: str, broken: object, wrong: str, first: int
) -> None:
    """With a rule broken they disagree with the definition."""
    monkeypatch.setattr(where, name, broken)
    with pytest.raises((AssertionError, ReplayError, NotEnabled), match=wrong):
        campaign(range(first, 300), by_traces)


def test_one_trace_of_many_ranks() -> None:
    """Ranks that meet at barriers have one trace."""
    program = load(PROGRAMS / "halo" / "halo.pgas").instantiate(16)
    search = TracesRaceSearch(program)
    assert ended(search) and (search.states, search.races, search.needs_robust) == (293, {}, False)


@pytest.mark.parametrize(
    ("sent", "awaited", "strict"),
    [
        ("mem[y @ 1] <- 1;", "await(mem[y] == 1);", True),  # an await races with what arrives, strictly alone
        ("mem[y] <- 1;", "await_add(0, mem[y] == 1, 1);", False),  # an await_add races with whatever is plain
        ("mem[y @ 2] <- 1;", "await_add(2, mem[y] == 1, 1);", False),
    ],
)
def test_who_waits_for_a_rank_that_goes_first_stands_before_an_access(
    monkeypatch: pytest.MonkeyPatch, sent: str, awaited: str, strict: bool
) -> None:
    """Nothing that rank 1 does before its await has to do with what rank 0 does next; but that it stands there has."""
    program = instance(f"{sent} r <- mem[x @ 1];", f"mem[x] <- 1; {awaited}", "")
    definition = DefinitionSearch(program, strict)
    assert ended(definition) and len(definition.races) == 2

    def found() -> set[Places]:
        search = RaceSearch(program, strict, REDUCTIONS)
        assert ended(search)
        return set(search.races)

    assert found() == set(definition.races)
    monkeypatch.setattr(persistent_sets, "is_left_alone", lambda *given: is_left_alone(*given[:-1]))
    assert len(found()) == 1


@needs_kernel
def test_the_kernel_stores_the_same_states_and_finds_the_same_runs() -> None:
    seen: Counter[str] = Counter()
    for seed in range(45):
        _, instance, strict = drawn(seed)
        for reductions in ((), REDUCTIONS, some_reductions(seed)):
            reference, kernel = RaceSearch(instance, strict, reductions), NativeRaceSearch(instance, strict, reductions)
            if not ended(reference, 1_000):
                continue
            assert ended(kernel)
            assert (reference.fault is None) == (kernel.fault is None)
            if reference.fault is None:
                assert (reference.states, reference.transitions) == (kernel.states, kernel.transitions)
                assert reference.needs_robust == kernel.needs_robust
                assert reference.races == kernel.races and list(reference.races) == list(kernel.races)
            seen["states"] += reference.states
            seen["races"] += len(reference.races)
    assert seen["states"] > 5_000 and seen["races"] > 100


@pytest.mark.parametrize("seeds", [range(80), pytest.param(range(1_000, 6_000), marks=pytest.mark.nightly)])
def test_the_classical_definition_agrees(seeds: Iterable[int]) -> None:
    """Strictly, and without deferred atomics; it may have more pairs, behind the first race of a run."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        commands = BLOCKING[seed % len(BLOCKING)]
        instance = translated(random_program(seed, commands=commands, faults=False)).instance
        expected = classical_races(instance, 500)
        definition = DefinitionSearch(instance, strict=True)
        if expected is None or not ended(definition):
            continue
        assert bool(expected) == bool(definition.races), seed
        assert expected >= definition.races.keys()
        seen["race" if expected else "no race"] += 1
    assert min(seen["race"], seen["no race"]) > len(list(seeds)) // 10


@needs_kernel
@pytest.mark.parametrize("seeds", [range(300), pytest.param(range(20_000, 40_000), marks=pytest.mark.nightly)])
def test_race_free_programs_with_blocking_atomics_are_robust(seeds: Iterable[int]) -> None:
    """Strictly: awaits race with what arrives."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        _, instance, _ = drawn(seed, BLOCKING, decorate=False)
        robust, search = is_robust(instance), NativeRaceSearch(instance, strict=True, all_=False)
        if robust is None or not ended(search, 20 * MOST_STATES) or search.fault is not None:
            continue
        assert search.races or robust, seed
        seen[f"{'race' if search.races else 'no race'}, {'' if robust else 'not '}robust"] += 1
    assert min(seen.values()) > len(list(seeds)) // 20 and len(seen) == 3


@needs_kernel
@pytest.mark.parametrize(
    ("name", "nodes", "states", "races"),
    [
        ("halo/halo", 4, 73, 0),
        ("halo/halo", 64, 1_093, 0),  # about 17 for each rank
        ("ticket_lock/ticket_lock", 4, 160, 0),
        ("ticket_lock/ticket_lock", 8, 2_684, 0),
        ("ticket_lock/ticket_lock_no_wait", 6, 851, 2),
    ],
)
def test_states_of_the_corpus(name: str, nodes: int, states: int, races: int) -> None:
    """The reductions are all at work; several threads find the same."""
    program = load(PROGRAMS / f"{name}.pgas").instantiate(nodes)
    for threads in (1, 4):
        search = NativeRaceSearch(program, threads=threads)
        assert ended(search, 10_000)
        assert (search.states, len(search.races)) == (states, races)
    if states < 500:
        reference = RaceSearch(program, reductions=REDUCTIONS)
        assert ended(reference) and reference.states == states
