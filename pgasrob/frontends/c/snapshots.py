"""The state of one rank while it is lowered: frames, contents of memory, what APIs remember."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from pgasrob.frontends.c.choices import Choice
from pgasrob.frontends.c.code import CompiledFunction, Region, Slot
from pgasrob.frontends.c.contents import Contents, Key, Pages, scalars_of_page
from pgasrob.frontends.c.initialised import ALL, NOTHING, Initialised
from pgasrob.frontends.c.nondeterminism import Bounds, Leaf, leaves_of
from pgasrob.frontends.c.together import Brought
from pgasrob.frontends.c.types import CType
from pgasrob.frontends.c.values import UNDEFINED, Address, Known, ObjectId, Table, Value
from pgasrob.program.expressions import Const, Expr
from pgasrob.program.statements import NOWHERE, Span

Place = tuple[tuple[str, int], ...]
"""Where a rank is: function and place of every frame, the outermost first."""


class Frame:
    """A call of a function. ``depth`` counts its earlier calls that have not returned, ``target`` is the slot of the
    caller that the result goes to, ``set_at`` says where a slot was set last. ``turn`` is another one in each call, and
    in each iteration of a loop. ``thread``: which one of the rank it belongs to; ``own``: the objects that this has for
    itself, None for all."""

    __slots__ = ("depth", "function", "live", "own", "pc", "result", "set_at", "slots", "target", "thread", "turn")

    def __init__(
        self, function: CompiledFunction, live: list[int], depth: int, target: Slot | None, result: CType
    ) -> None:
        self.function = function
        self.live = live
        self.depth = depth
        self.target = target
        self.result = result
        self.pc = 0
        self.turn = self.thread = 0
        self.own: frozenset[str] | None = None
        self.slots: list[Value] = [UNDEFINED] * len(function.slots)
        self.set_at: dict[Slot, Span] = {}

    def copy(self) -> Frame:
        other = Frame(self.function, self.live, self.depth, self.target, self.result)
        other.pc, other.turn, other.thread, other.own = self.pc, self.turn, self.thread, self.own
        other.slots, other.set_at = list(self.slots), dict(self.set_at)
        return other

    def live_now(self, waiting: Slot | None) -> tuple[Slot, ...]:
        """The slots that are read later on; ``waiting`` is the one that the current call will set."""
        bits = self.live[self.pc]
        return _slots_of(bits if waiting is None else bits & ~(1 << waiting))

    def local(self, name: str) -> ObjectId:
        """The local object ``name`` of this call."""
        if self.thread and (self.own is None or name in self.own):
            return ObjectId("local", (self.function.name, name, self.depth, self.thread))
        return ObjectId("local", (self.function.name, name, self.depth))

    def regions(self, *, waiting: bool) -> Iterator[Region]:
        """The regions of OpenMP that it is in, the inner ones first; ``waiting``: for a call to return."""
        place = self.pc - waiting
        return (each for each in self.function.regions if each.first <= place < each.last)

    @property
    def span(self) -> Span:
        spans = self.function.spans
        return spans[self.pc] if self.pc < len(spans) else NOWHERE


@lru_cache(maxsize=1 << 14)
def _slots_of(bits: int) -> tuple[Slot, ...]:
    """The numbers of the ``bits`` that are set, the lowest first."""
    return tuple(number for number in range(bits.bit_length()) if bits >> number & 1)


@dataclass(slots=True)
class State:
    """``sizes``: of the objects that the rank has allocated, in bytes. ``tables``: what lies in those that have an
    entry for each rank. ``initialised``: what has been set of objects in cells, where that is not what it is when
    their lives begin. ``heads``: the loop heads passed on the way here, each with the label of its latest snapshot.
    ``assumed``: what the branches taken on unknown values say of them; ``choices``: the terms of them for which values
    have been chosen; ``guarded``: the unknown values of which more is said; ``answered``: those of which cells
    have been asked something; ``given``: those that others may have; ``brought``: those that collectives have brought.
    ``leaves`` counts the unknown values made so far."""

    frames: list[Frame]
    memory: dict[ObjectId, Contents] = field(default_factory=dict)
    sizes: dict[ObjectId, int] = field(default_factory=dict)
    tables: dict[ObjectId, Table] = field(default_factory=dict)
    initialised: dict[ObjectId, Initialised] = field(default_factory=dict)
    notes: dict[str, Hashable] = field(default_factory=dict)
    heads: list[tuple[Place, str]] = field(default_factory=list)
    assumed: dict[Expr, Bounds] = field(default_factory=dict)
    choices: dict[Expr, Choice] = field(default_factory=dict)
    guarded: frozenset[Leaf] = frozenset()
    answered: frozenset[Leaf] = frozenset()
    given: frozenset[Leaf] = frozenset()
    brought: dict[Brought, Expr] = field(default_factory=dict)
    leaves: int = 0

    def copy(self) -> State:
        for contents in self.memory.values():
            contents.shared = True
        return State([frame.copy() for frame in self.frames], dict(self.memory), dict(self.sizes),
                     dict(self.tables), dict(self.initialised), dict(self.notes), list(self.heads), dict(self.assumed),
                     dict(self.choices), self.guarded, self.answered, self.given, dict(self.brought),
                     self.leaves)  # fmt: skip

    def is_set(self, id: ObjectId) -> Initialised:
        """What has been set of an object in cells. All is that is no variable of a call: it begins with zeros."""
        return self.initialised.get(id, NOTHING if id.kind == "local" else ALL)

    @property
    def place(self) -> Place:
        return tuple((frame.function.name, frame.pc) for frame in self.frames)

    def live(self) -> list[tuple[Frame, Sequence[Slot]]]:
        """The live slots of every frame."""
        targets = [frame.target for frame in self.frames[1:]]
        return [(frame, frame.live_now(waiting)) for frame, waiting in zip(self.frames, [*targets, None], strict=True)]

    def key(self, items: Items) -> Hashable:
        """Equal for states that go on in the same way. ``items``: of the states before on the same rank."""
        frames = tuple(
            (frame.function.name, frame.depth, frame.pc, frame.target, *((slot, frame.slots[slot]) for slot in live))
            for frame, live in self.live()
        )
        changing: tuple[Mapping[Any, Any], ...] = (
            {id: contents.key for id, contents in self.memory.items()}, self.sizes, self.tables, self.initialised,
            self.notes, self.assumed, self.choices, self.brought,
        )  # fmt: skip
        return frames, *map(items.of, range(len(changing)), changing), self.guarded, self.answered, self.given

    def variables(self) -> Variables:
        """The values by which two states at one place may differ: of live slots, and of scalars in memory."""
        slots: dict[Hashable, Value] = {
            ("slot", frame.function.name, frame.depth, frame.pc, slot): frame.slots[slot]
            for frame, live in self.live()
            for slot in live
        }
        memory = {id: contents.key for id, contents in self.memory.items()}
        return Variables(slots, memory, dict(self.initialised), len(self.sizes))


class Items:
    """The items of dictionaries as sets. From one state to the next few of these change, and to hash one takes long."""

    def __init__(self) -> None:
        self._latest: dict[int, tuple[Mapping[Any, Any], frozenset[Any]]] = {}

    def of(self, number: int, now: Mapping[Any, Any]) -> frozenset[Any]:
        """The items of ``now``; ``number``: which of a state's dictionaries it is."""
        if not now:
            return frozenset()
        latest = self._latest.get(number)
        if latest is None or latest[0] != now:
            latest = self._latest[number] = dict(now), frozenset(now.items())
        return latest[1]


class Variables(NamedTuple):
    """What two states at one place may differ in: the values of live slots, what is in memory, what has been set; and
    how many objects had been ``allocated``."""

    slots: dict[Hashable, Value]
    memory: dict[ObjectId, Key]
    initialised: dict[ObjectId, Initialised]
    allocated: int

    @property
    def key(self) -> Hashable:
        """Equal where they differ in no variable."""
        return tuple(frozenset(each.items()) for each in (self.slots, self.memory, self.initialised))


def various(states: Sequence[Variables]) -> dict[Hashable, set[Value | Initialised | None]]:
    """The variables that ``states`` differ in, with those of their values that are known or unknown values."""
    values: dict[Hashable, set[Value | Initialised | None]] = defaultdict(set)
    for each in states:
        for variable, value in each.slots.items():
            place = value.offset if isinstance(value, Address) else None
            if isinstance(value, Known) or isinstance(place, Const) or leaves_of(value):
                values[variable].add(value)
    groups: dict[tuple[ObjectId, int], set[Pages]] = defaultdict(set)
    for each in states:
        for id, (_, contents) in each.memory.items():
            for number, group in contents:
                groups[id, number].add(group)
    for (id, _), found in groups.items():
        # What is the same in all states does not tell them apart.
        pages = set().union(*found) if len(found) > 1 else ()
        for offset, size, value in {each for _, page in pages for each in scalars_of_page(page)}:
            if isinstance(value, Known) or leaves_of(value):
                values["memory", id, offset, size].add(value)
    for id in {id for each in states for id in each.initialised}:
        values["initialised", id] = {each.initialised.get(id) for each in states}
    return values
