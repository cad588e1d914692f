"""The search for races, in Python and in the kernel, and the definition give the same answers on random programs.

`proofs/races.md` says what they have to agree on: on a robust program all races; on any other that there is none that
the definition does not have, and one, or a conflict that is none, whenever the program is not robust.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable

import pytest

from pgasrob.program.instance import Instance
from pgasrob.program.reading import Reading
from pgasrob.races import native as native_races
from pgasrob.races.definition import DefinitionSearch
from pgasrob.races.engine import RaceSearch as Searching
from pgasrob.races.native import NativeRaceSearch
from pgasrob.races.search import RaceSearch
from pgasrob.robustness.attack_search import AttackSearch
from pgasrob.robustness.reduction import REDUCTIONS
from pgasrob.semantics.replay import replay
from tests.oracle.strategies import COMMANDS, EXTENSIONS, MEETINGS, random_program
from tests.oracle.syntax import Program, statements
from tests.support import translated

needs_kernel = pytest.mark.skipif(not native_races.available(), reason="the kernel has not been built")

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


def drawn(seed: int, choices: tuple[tuple[str, ...], ...] = CHOICES) -> tuple[Program, Instance, bool]:
    """The random program of ``seed``, the same instantiated, and whether races are strict."""
    source = random.Random(seed)
    found = translated(random_program(seed, commands=choices[seed % len(choices)], loops=source.random() < 0.2))
    reading = Reading(conflicts=source.choice(("commuting", "all")))
    return found.oracle, found.program.instantiate(reading=reading), source.random() < 0.5


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
    if native_races.available():
        from pgasrob.robustness.native import NativeSearch

        found: NativeSearch | AttackSearch = NativeSearch(instance)
    else:
        found = AttackSearch(instance, REDUCTIONS)
    for _ in found.run():
        if found.states > 20 * MOST_STATES:
            return None
    return found.violation is None


def compare(seed: int, search: Callable[..., Searching]) -> Counter[str]:
    """Compare a search with the definition on the program of ``seed``; what there was to see."""
    oracle, instance, strict = drawn(seed)
    definition, found = DefinitionSearch(instance, strict), search(instance, strict, some_reductions(seed))
    if not ended(definition) or not ended(found):
        return Counter(("too large",))
    robust = is_robust(instance)
    if found.fault is not None or robust is None:
        return Counter(("fault" if found.fault else "not known",))
    assert set(found.races) <= set(definition.races), f"{seed}: a race that is none"
    assert found.races or found.needs_robust or robust, f"{seed}: nothing goes before a step, yet it is not robust"
    assert not robust or set(found.races) == set(definition.races), f"{seed}: not all races"
    for race in found.races.values():
        replay(instance, race.run)
    verdict = "race" if definition.races else "no race"
    seen = Counter((verdict, f"{verdict}, {'' if robust else 'not '}robust"))
    if robust and not found.needs_robust and not found.races:
        seen["settled without the check"] += 1
    if definition.races.keys() - found.races.keys():
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


def test_the_search_agrees_with_the_definition() -> None:
    seen = campaign(range(150), RaceSearch)
    assert seen["race"] > 80 and seen["no race"] > 20
    assert seen["race, not robust"] > 30 and seen["race, robust"] > 20


@needs_kernel
@pytest.mark.nightly
@pytest.mark.parametrize("part", range(10))
def test_the_kernel_agrees_with_the_definition(part: int) -> None:
    seen = campaign(range(10_000 + 1_000 * part, 11_000 + 1_000 * part), NativeRaceSearch)
    assert seen["race"] > 500 and seen["no race"] > 100
