"""The rules for races as flat tables of integers, for the native kernel (`kernel/src/races/rules.rs`)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from pgasrob.program.instance import Instance
from pgasrob.races.facts import Fact, atomic_together, made_up, overlap
from pgasrob.races.pairs import Kinds, Pairs
from pgasrob.robustness.tables import READ, UPDATED, WRITTEN

WAITS, ATOMIC, STANDS = 1, 2, 4
"""The flags of a kind: it is about the value that comes, it is atomic, it is made at the issue."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What :class:`pgasrob._kernel.Races` takes beside tables.

    - ``starts``, ``accesses``: for every transition the piece with the kinds of its accesses, in their order.
    - ``kinds``: rows (place in the source, fact, flags, ways), the ways as in the tables.
    - ``facts``: how many facts there are, and ``excluded``: a square with 1 for two of which no accesses race.
    - ``made_up``: the addresses of cells that never race. ``strict`` as of :class:`~pgasrob.races.pairs.Pairs`.
    """

    starts: list[int]
    accesses: list[int]
    kinds: list[int]
    facts: int
    excluded: list[int]
    made_up: list[int]
    strict: bool


def rules(instance: Instance, strict: bool) -> Rules:
    """The rules for races of ``instance``."""
    kinds = Kinds(Pairs(instance, strict), instance)
    facts: dict[Fact, int] = {}
    where: dict[object, int] = {}
    rows: list[int] = []
    for kind in kinds.all:
        if kind.commutes:
            ways = UPDATED << instance.update_kinds.index(kind.commutes)
        else:
            ways = READ * kind.reads + WRITTEN * kind.writes
        flags = WAITS * kind.fact.waits + ATOMIC * bool(kind.fact.atomic) + STANDS * kind.stands
        place, fact = where.setdefault(kind.span, len(where)), facts.setdefault(kind.fact, len(facts))
        rows += [place, fact, flags, ways]
    excluded = [int(atomic_together(one, other, strict) or not overlap(one, other)) for one in facts for other in facts]
    return Rules(
        [0, *accumulate(map(len, kinds.accesses))],
        [kind for of_transition in kinds.accesses for kind in of_transition],
        rows,
        len(facts),
        excluded,
        sorted(made_up(instance.program)),
        strict,
    )
