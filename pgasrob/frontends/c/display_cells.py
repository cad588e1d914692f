"""Displays what a rank shows: by stores to cells of its own, one behind the other, that nobody reads."""

from __future__ import annotations

from pgasrob.frontends.c.arithmetic import expression
from pgasrob.frontends.c.contents import Contents
from pgasrob.frontends.c.displayed_values import Displayed
from pgasrob.frontends.c.memory_access import Memory
from pgasrob.frontends.c.problem import Problem
from pgasrob.frontends.c.registers import registers_in
from pgasrob.frontends.c.types import DOUBLE, LONG, CType, Floating
from pgasrob.frontends.c.values import Known, ObjectId, Undefined, Unknown, Value
from pgasrob.program.expressions import Const

SHOWN = "machine.shown"
"""The key in `State.notes` of how often the rank has shown something."""
MOST_SHOWN = 64
SHOWN_IN = "shown_"
"""How the names of the cells begin."""


def is_shown(name: str) -> bool:
    """Whether memory of this ``name`` holds what is shown."""
    return name.startswith(SHOWN_IN)


class Display:
    """The display of one rank."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._position = memory.position
        self._objects = memory.objects
        self._facts = memory.facts
        self._numbers = memory.world.numbers

    def show(self, what: Displayed) -> None:
        """Store what is shown at the current instruction."""
        notes, slots = self._position.state.notes, self._position.frame.slots
        shown = notes.get(SHOWN, 0)
        assert isinstance(shown, int)
        if shown >= MOST_SHOWN:
            raise self._position.too_large(f"{self._position.rank} shows something more than {MOST_SHOWN} times")
        notes[SHOWN] = shown + 1
        id = ObjectId("display", (shown, what.number))
        name = f"{SHOWN_IN}{shown}" if what.number == 1 else f"{SHOWN_IN}{shown}_{what.number}"
        self._objects.declare(id, name, 8 * (1 + len(what.slots)), None, Contents(0), self._position.span)
        self._store(id, 0, Known(1), LONG)
        for number, (slot, type) in enumerate(what.slots, start=1):
            self._store(id, 8 * number, slots[slot], type)

    def _store(self, id: ObjectId, offset: int, value: Value, type: CType) -> None:
        if not isinstance(value, Known | Unknown | Undefined):
            if registers_in(value):
                raise Problem("PG143", "a pointer is shown, and it is not known where it points")
            value = Known(self._numbers.setdefault(value, len(self._numbers) + 1))
        self._facts.note(id, offset, DOUBLE if isinstance(type, Floating) else LONG)
        self._memory.give_up(id, offset, 8, Const(0) if isinstance(value, Undefined) else expression(value))
