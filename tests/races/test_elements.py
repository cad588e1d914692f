"""A few elements for all that are alike: the same places race."""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest

from pgasrob.analysis import sites as module
from pgasrob.api import race as races
from pgasrob.frontends.lower import parse_c
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.races.race_definition import DefinitionSearch
from pgasrob.races.racing_pairs import Places
from pgasrob.robustness.reduction.elements import represented
from pgasrob.robustness.reduction.unused import without_unused
from tests.robustness.reduction.test_elements import Drawing
from tests.support import examples

MOST_STATES = 1_500
PLAIN = re.compile(r"((?:put|write|read)\([^;]*\)|mem\[[^;]*\])(?=;)")


@pytest.fixture
def short_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST_ROUNDS", 1)


def pairs(instance: Instance) -> set[Places] | None:
    """The pairs of places that race; None when there is too much to look at."""
    search = DefinitionSearch(instance)
    for _ in search.run():
        if search.states > MOST_STATES:
            return None
    assert search.fault is None and search.gave_up is None
    return set(search.races)


def drawn(seed: int) -> str:
    """A program that copies arrays, in which some accesses are atomic or to a part of their cells."""
    draw = random.Random(seed)
    ways = ("",) * 6 + (" as int", " as plain[0-3%s]", " as long[4-7%s]")

    def told(match: re.Match[str]) -> str:
        way = draw.choice(ways) if draw.random() < 0.5 else ""
        return match[0] + (way % (", 0-3" * (match[0][0] != "m")) if "%" in way else way)

    return PLAIN.sub(told, Drawing(seed).text())


@pytest.mark.usefixtures("short_rows")
def test_random_programs() -> None:
    told: Counter[str] = Counter()
    for seed in range(examples(60, nightly=5_000)):
        whole = parse(drawn(seed)).instantiate()
        found = represented(whole, worthwhile=2)
        expected = None if found is None else pairs(whole)
        if found is None or expected is None:
            continue
        made_few = pairs(without_unused(found.instance))
        assert made_few is not None and bool(expected) == bool(made_few), drawn(seed)
        told["race" if expected else "no race"] += 1
        by_place = represented(whole, worthwhile=2, one_place=True)
        if by_place is not None:
            assert pairs(without_unused(by_place.instance)) == expected, drawn(seed)
            told["the same places"] += 1
    assert told["race"] > 3 and told["no race"] > 3 and told["the same places"] > 3, told


OTHER = " ".join(f"mem[a + {x} @ 0] <- 1 as int;" for x in range(6))


@pytest.mark.usefixtures("short_rows")
@pytest.mark.parametrize(
    ("memory", "own"),
    [
        # The last store is plain, or overlaps.
        ("a[6]", " ".join(f"mem[a + {x}] <- 1{' as int' * (x < 5)};" for x in range(6))),
        ("a[6]", " ".join(f"mem[a + {x}] <- 1 as {'int' if x < 5 else 'long'};" for x in range(6))),
        # Only the last cells are the program's.
        ("a[3] made_up, b[3]", " ".join(f"mem[a + {x}] <- 1;" for x in range(6))),
    ],
)
def test_facts_are_alike(memory: str, own: str) -> None:
    whole = parse(f"nodes 2; memory {memory}; process 0 {{ {own} }} process 1 {{ {OTHER} }}").instantiate()
    found = represented(whole, worthwhile=2)
    assert pairs(whole) and pairs(whole if found is None else found.instance)


@pytest.mark.usefixtures("short_rows")
def test_rows_of_several_places_hide_places() -> None:
    own = " ".join(f"mem[a + {x}] <- 1;" for x in range(6))
    whole = parse(f"nodes 2; memory a[6]; process 0 {{ {own} }} process 1 {{ {OTHER} }}").instantiate()
    few, same = represented(whole, worthwhile=2), represented(whole, worthwhile=2, one_place=True)
    assert few is not None and same is None
    assert len(pairs(whole) or ()) == 6 and len(pairs(few.instance) or ()) == 2


def test_long_arrays_of_c_programs() -> None:
    """The source of a put is overwritten before the put is complete."""
    text = """
    #include <shmem.h>
    static int a[N], b[N];
    int main(void) {
      shmem_init(); int me = shmem_my_pe();
      for (int i = 0; i < N; i++) a[i] = me + i;
      shmem_barrier_all();
      shmem_int_put_nbi(b, a, N, 1 - me);
      for (int i = 0; i < N; i++) a[i] = 0;
      shmem_barrier_all();
      int last = 0;
      for (int i = 0; i < N; i++) last = b[i];
      return 0;
    }"""
    few, many = (races(parse_c(text.replace("N", size)), 2, all_=True) for size in ("2", "100"))
    assert few.alike is None and many.alike == (200, 4)
    assert [race.lines for race in few.races] == [race.lines for race in many.races] == [(8, 9)]
    assert many.stats.states < 5_000
