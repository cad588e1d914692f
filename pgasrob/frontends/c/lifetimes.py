"""When the life of local objects ends, and of memory that `alloca` has allocated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, cast

from pgasrob.frontends.c import code
from pgasrob.frontends.c.memory_access import Memory
from pgasrob.frontends.c.values import ObjectId

ON_STACK = "machine.stack"
"""Key in `State.notes` of the objects that calls which have not returned yet have allocated on the stack."""


class _OnStack(NamedTuple):
    """An object that the call at ``depth`` has allocated, and the slot that its address is in."""

    depth: int
    slot: code.Slot | None
    object: ObjectId


class Lifetimes:
    """Ends the lives of objects of the current call."""

    def __init__(self, memory: Memory) -> None:
        self.position = memory.position
        self.memory = memory

    def end_of_block(self, names: Iterable[str]) -> None:
        """End the lives of the objects ``names`` of the current call."""
        frame = self.position.frame
        for name in names:
            if name in frame.function.sized:
                self._end_on_stack(frame.function.sized[name])
            else:
                self.memory.end_of_life(frame.local(name))

    def end_of_call(self) -> None:
        """End the lives of all objects of the current call."""
        self.end_of_block(self.position.frame.function.lasting)
        self._end_on_stack(None)

    def end_of_rank(self) -> None:
        """main returns: nobody can look at its objects any more. What is still under way may use them as before."""
        frame, known = self.position.frame, self.memory.facts.objects
        for name in frame.function.lasting:
            if name not in frame.function.sized and (id := frame.local(name)) in known:
                known[id].of_main = True

    def put_on_stack(self, id: ObjectId) -> None:
        """Have the object that the current call has allocated live as long as the variable that its address goes to, or
        until the function returns."""
        frame = self.position.frame
        call = frame.function.code[frame.pc]
        assert isinstance(call, code.Call)
        self._note((*self._on_stack, _OnStack(len(self.position.state.frames), call.target, id)))

    @property
    def _on_stack(self) -> tuple[_OnStack, ...]:
        return cast("tuple[_OnStack, ...]", self.position.state.notes.get(ON_STACK, ()))

    def _note(self, objects: tuple[_OnStack, ...]) -> None:
        self.position.state.notes[ON_STACK] = objects

    def _end_on_stack(self, slot: code.Slot | None) -> None:
        """End the lives of what this call has allocated for ``slot``, or of all that it has allocated (None)."""
        objects = self._on_stack
        if not objects:
            return
        depth = len(self.position.state.frames)
        ended = [each for each in objects if each.depth == depth and slot in (None, each.slot)]
        for each in ended:
            self.memory.end_of_life(each.object)
        if ended:
            self._note(tuple(each for each in self._on_stack if each not in ended))
