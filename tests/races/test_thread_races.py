"""Races between threads of a rank: what they are, and that all searches and the oracles find the same."""

from __future__ import annotations

from collections import Counter

import pytest

from pgasrob.api import race
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.races.found import RaceSearch as Searching
from pgasrob.races.native_races import NativeRaceSearch, NativeTracesRaceSearch
from pgasrob.races.race_definition import DefinitionSearch
from pgasrob.races.racing_pairs import Places
from pgasrob.reference.race_search import RaceSearch
from pgasrob.reference.race_traces import TracesRaceSearch
from pgasrob.robustness.engine import knows_traces
from pgasrob.robustness.native_attack import NativeSearch
from pgasrob.robustness.reduction import REDUCTIONS
from tests.oracle.classical_races import classical_races
from tests.oracle.race_order import RaceOrder, TooLarge
from tests.oracle.syntax import numbered, to_pgas
from tests.oracle.threads import random_threads
from tests.races.test_consequences import CHOICES, decided
from tests.support import examples

MOST = 20_000


def found(search: Searching) -> set[Places] | None:
    for _ in search.run():
        if getattr(search, "states", 0) > MOST:
            return None
    return None if search.fault else set(search.races)


def is_robust(instance: Instance) -> bool:
    search = NativeSearch(instance)
    for _ in search.run():
        if search.states > MOST:
            return False
    return search.violation is None


def compare(seed: int, strict: bool) -> str:
    """Compare all searches on the program of ``seed``; what there was to see."""
    text = to_pgas(random_threads(seed))
    instance = parse(text).instantiate()
    wanted = found(DefinitionSearch(instance, strict))
    if wanted is None:
        return "too large"
    robust = is_robust(instance)
    searches: list[Searching] = [
        NativeRaceSearch(instance, strict), RaceSearch(instance, strict, REDUCTIONS), RaceSearch(instance, strict)
    ]  # fmt: skip
    if knows_traces(instance):
        searches += [NativeTracesRaceSearch(instance, strict), TracesRaceSearch(instance, strict)]
    for search in searches:
        races = found(search)
        assert races is None or races <= wanted, (seed, text)
        assert races is None or not robust or races == wanted, (seed, text)
        assert robust or races or search.needs_robust, (seed, text)
    if strict and not any(word in text for word in ("update", "notify", "signal")):
        classical = classical_races(instance, 2_000)
        assert classical is None or bool(classical) == bool(wanted), (seed, text)
    return "races" if wanted else "none"


def test_all_searches_find_the_same() -> None:
    seen = Counter(compare(seed, strict=seed % 2 == 0) for seed in range(examples(24, nightly=5_000)))
    assert min(seen["races"], seen["none"]) > 4, seen


def test_those_that_matter_are_those_of_the_oracle() -> None:
    seen: Counter[str] = Counter()
    for seed in range(examples(24, nightly=5_000)):
        program = numbered(random_threads(seed, CHOICES[seed % len(CHOICES)]))
        try:
            oracle = RaceOrder(program, 3_000)
        except TooLarge:
            continue
        _, answer = decided(to_pgas(program))
        matters, harmless = {each.race.lines for each in answer.matters}, {each.lines for each in answer.harmless}
        assert (matters, matters | harmless) == (oracle.matters, oracle.racing), seed
        seen[answer.answer] += 1
    assert min(seen["matters"], seen["harmless"], seen["none"]) > 0, seen


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("mem[x] <- 1;", "r <- mem[x];", ["local"]),
        ("mem[x] <- 1 as a;", "r <- mem[x] as a;", []),
        ("r <- mem[x];", "r <- mem[x];", []),
        # A store is seen by another thread as any memory is: who waits for it without atomics races with it.
        ("mem[x] <- 1;", "await(mem[x] == 1);", ["local"]),
        ("mem[x] <- 1 as a;", "await(mem[x] == 1) as a;", []),
        ("write(x, 1, y, q);", "mem[x] <- 1;", ["local buffer"]),
        ("write(x, 1, y, q); wait(q); mem[f] <- 1 as a;", "await(mem[f] == 1) as a; mem[x] <- 1;", []),
        ("write(x, 1, y, q); mem[f] <- 1 as a;", "await(mem[f] == 1) as a; wait(q); mem[x] <- 1;", ["local buffer"]),
        ("write(x, 1, y, q);", "write(f, 1, y, q);", ["remote"]),
    ],
)
def test_what_races_between_threads(first: str, second: str, expected: list[str]) -> None:
    text = f"nodes 2; memory x, y, f; register r; queue q; process 0 {{ {first} }} process 0 thread 1 {{ {second} }}"
    answer = race(parse(f"{text} process 1 {{ skip; }}"), all_=True)
    assert [race.kind for race in answer.races] == expected and answer.reason is None
