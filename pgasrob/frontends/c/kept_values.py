"""What a round of a loop in C leaves behind for what is shown later: such a round is no failed poll, though it does
nothing but read and come back (`proofs/polling.md`, section 1)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Set
from functools import cached_property

from pgasrob.frontends.c.code import Call, Copy, Label, Load, Slot, Store
from pgasrob.frontends.c.data_flow import ERRNO, DataFlow, brought_by
from pgasrob.frontends.c.liveness import live_slots, reads
from pgasrob.frontends.c.types import Array, Struct
from pgasrob.program.shown_places import OUTPUT, Value


class Kept:
    """Of the function of ``flow``, in which values of the slots ``given`` and of ``objects`` are shown in the end.
    ``goes_on``: whether something is done behind main."""

    def __init__(self, flow: DataFlow, given: Collection[Slot], objects: Collection[str], goes_on: bool) -> None:
        self._flow, self._code = flow, flow.code
        self._given, self._objects = frozenset(given), frozenset(objects)
        self._goes_on = goes_on or flow.number > 0

    def at(
        self, defining: Iterable[Label], setting: Iterable[Label], showing: Iterable[Label]
    ) -> Mapping[Label, frozenset[Value]]:
        """The places that give something a value that is shown, with what it is; or that show in some rounds what they
        do not in others."""
        found: dict[Label, frozenset[Value]] = {}
        for place in defining:
            found[place] = frozenset({self._flow.target(place)})
        for place in setting:
            found[place] = found.get(place, frozenset()) | (self._flow.set_at(place) & self._objects)
        for place in showing:
            if self.answers(place):
                found[place] = found.get(place, frozenset()) | {OUTPUT}
        return found

    @cached_property
    def live(self) -> tuple[frozenset[Value], ...]:
        """For each place the slots and objects of which the values that they have there may be shown."""
        slots, objects = live_slots(self._flow.function), self._live_objects()
        return tuple((here & self._given) | more | {OUTPUT} for here, more in zip(slots, objects, strict=True))

    def _live_objects(self) -> list[set[str]]:
        after = self._flow.after
        live: list[set[str]] = [set() for _ in after]
        changed = True
        while changed:
            changed = False
            for place in reversed(range(len(after))):
                behind = set[str]().union(*(live[each] for each in after[place]))
                here = (behind - self._set_as_a_whole(place)) | self._read_at(place)
                if here != live[place]:
                    live[place], changed = here, True
        return live

    def _set_as_a_whole(self, place: Label) -> set[str]:
        """The local scalar that has another value behind ``place``."""
        flow, each = self._flow, self._code[place]
        sets = isinstance(each, Store) or (isinstance(each, Call) and brought_by(each.function) is not None)
        found = flow.set_at(place) if sets else set()
        types = [flow.function.objects[name].type for name in found if name in flow.function.objects]
        return found if len(found) == len(types) == 1 and not isinstance(types[0], Array | Struct) else set()

    def _read_at(self, place: Label) -> Set[str]:
        """The objects that may be read at ``place``, or elsewhere behind it."""
        flow = self._flow
        match self._code[place]:
            case Load(_, pointer) | Copy(_, pointer):
                return flow.objects(pointer) & self._objects
            case _ if not flow.after[place]:
                return self._objects if self._goes_on else set()
            case Call(_, name) if name in ERRNO:
                return self._objects
            case Call() as each if not flow.called(each):
                return flow.given_at(each) & self._objects - self._set_as_a_whole(place)
            case Call():
                return self._objects
        return set()

    def answers(self, place: Label) -> bool:
        """Whether it depends on what a round reads what is shown at ``place``, or whether anything is."""
        flow, loop = self._flow, self._flow.around(place)
        if not flow.repeats(place):
            if flow.number == 0:
                return False
        elif not loop:
            return True
        varying = flow.varying(flow.component[place] if loop else None)
        return any(each in varying for each in (flow.place(place), *map(flow.slot, reads(self._code[place]))))
