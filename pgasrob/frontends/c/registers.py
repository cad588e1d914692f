"""Which register a value is put into: one that no value is in that is still needed."""

from __future__ import annotations

from collections.abc import Sequence

from pgasrob.frontends.c import code
from pgasrob.frontends.c.code import Slot
from pgasrob.frontends.c.rank_position import Position
from pgasrob.frontends.c.snapshots import Frame
from pgasrob.frontends.c.values import Address, Entry, Known, Unknown, Value, of_registers
from pgasrob.program.expressions import Register, registers_of
from pgasrob.stop_points import stop_point


class Registers:
    """The registers of one rank. ``taken``: those that the current instruction needs beside all live variables."""

    def __init__(self, position: Position) -> None:
        self.position = position
        self.world = position.world
        self.taken: set[int] = set()
        self._next: dict[str, int] = {}
        """With which number the names begin that `keep` may still give, by what they are called after."""

    def live(self, before: bool) -> list[tuple[Frame, Sequence[Slot]]]:
        """The live slots of all frames, ``before`` or after the current instruction."""
        state, frame = self.position.state, self.position.frame
        if before:
            return state.live()
        frame.pc += 1
        *others, (_, here) = state.live()
        frame.pc -= 1
        target = getattr(frame.function.code[frame.pc], "target", None)
        return [*others, (frame, [slot for slot in here if slot != target])]

    def mentioned(self, before: bool) -> set[int]:
        """The registers that live values need."""
        found = self.taken | {each.register.index for each in self.position.state.choices.values()}
        for frame, live in self.live(before):
            slots = frame.slots
            for slot in live:
                value = slots[slot]
                if isinstance(value, Unknown | Address | Entry):
                    found |= registers_in(value)
        return found

    def home(self, frame: Frame, slot: Slot) -> Register:
        """The register of a variable wherever branches come together."""
        name = self.world.program.slot_names(frame.function)[slot]
        home = self.world.register(f"{name}^{frame.depth}" if frame.depth else name)
        variable = frame.function.slots[slot].name
        if variable is not None:
            self.world.variables[home.name] = variable
        return home

    def destination(self) -> Slot | None:
        """The variable that the result of the current instruction is moved to right after it."""
        function, pc = self.position.frame.function, self.position.frame.pc
        slot = getattr(function.code[pc], "target", None)
        for instruction in function.code[pc + 1 : pc + 4]:
            if slot is None or function.slots[slot].name is not None:
                return slot
            match instruction:
                case code.Move(target, source) | code.Convert(target, source) if source == slot:
                    slot = target
                case _:
                    return None
        return slot if slot is not None and function.slots[slot].name is not None else None

    def note_what_is_read(self, *values: Value) -> None:
        """Note whether the source looks at ``values``, which the current instruction gives its target: what it reads
        into registers for them, its commands show only where it is used in commands."""
        unknown = [each for each in values if not isinstance(each, Known)]
        if unknown and (found := frozenset[int]().union(*map(registers_in, unknown))):
            frame = self.position.frame
            looked = self._looked_at(-1, frame.pc + 1, getattr(frame.function.code[frame.pc], "target", None))
            for register in found:
                key = self.position.span, register
                before = self.world.looked_at.get(key, False)
                self.world.looked_at[key] = True if looked or before else before if looked is False else None

    def _looked_at(self, call: int, place: int, slot: Slot | None) -> bool | None:
        """Whether the source looks at the value that ``slot`` has at ``place`` in a call, the current one being -1;
        None where that is not known."""
        if slot is None:
            return False
        frames = self.position.state.frames
        looked = self.world.program.looked_at(frames[call].function)
        found = True if slot in looked.surely[place] else None if slot in looked.maybe[place] else False
        if found or slot not in looked.returns[place]:
            return found
        if -call == len(frames):
            return True  # the exit status
        outer = self._looked_at(call - 1, frames[call - 1].pc, frames[call].target)
        return outer if outer or found is False else None

    def register(self, hint: str = "t", before: bool = True, alone: bool = False) -> Register:
        """A register that no live value needs, if possible that of the variable which the result goes to; else, or if
        that is not wanted (``alone``), one called after ``hint``. ``before``: what the current instruction reads is
        still live.

        No variable has the name of another register: reports show the one and not the other.
        """
        return self._free(hint, before, 1, alone)[0]

    def keep(self, hint: str, alone: bool = False) -> Register:
        """A register, as of `register`, that the current call needs until it is done."""
        found, self._next[hint] = self._free(hint, True, self._next.get(hint, 1), alone)
        self.taken.add(found.index)
        return found

    def release(self) -> None:
        """Need only those that variables need."""
        self.taken, self._next = set(), {}

    def _free(self, hint: str, before: bool, number: int, alone: bool = False) -> tuple[Register, int]:
        """A register, called after ``hint`` with ``number`` or a greater one if it is that of no variable; and with
        which one it is called so."""
        mentioned = self.mentioned(before)
        variable = None if alone else self.destination()
        if variable is not None:
            home = self.home(self.position.frame, variable)
            if home.index not in mentioned:
                return home, number
        while True:
            stop_point()  # many elements of one call have a register each, and so as many names
            name = hint if number == 1 else f"{hint}_{number}"
            if name not in self.world.program.named and (found := self.world.register(name)).index not in mentioned:
                return found, number
            number += 1


def registers_in(value: Value) -> frozenset[int]:
    """The indexes of the registers that ``value`` depends on."""
    if isinstance(value, Unknown):
        return registers_of(value.expr)
    if isinstance(value, Address | Entry):
        offset = value.offset if isinstance(value, Address) else 0
        return of_registers(value) | (frozenset() if isinstance(offset, int) else registers_of(offset))
    return frozenset()
