"""Which memory of a rank its threads share: what one of them may set while another one looks at it lies in cells."""

from __future__ import annotations

from typing import cast

from pgasrob.frontends.c.problem import Problem, TryAgain
from pgasrob.frontends.c.rank_position import Position
from pgasrob.frontends.c.thread_facts import Part
from pgasrob.frontends.c.values import Address, ObjectId

KEPT = "C.kept"
"""Key in `State.notes` of the scalars in which the thread has stored pointers and handles since it was forked."""


class Sharing:
    """Looks at the loads and stores of one thread.

    The first thread of a rank knows what it has stored where no other one looks at it while both run. What the others
    store they forget at the end of their region, so that it lies in cells; but for pointers, which they have for
    themselves.
    """

    def __init__(self, position: Position) -> None:
        self.position = position
        self.facts = position.facts

    def reads(self, address: Address, size: int) -> None:
        """The thread looks at ``size`` bytes at ``address``."""
        if self._is_shared(address):
            part = self._touch(address, size)
            if part.offset is not None and self.facts.threads.kept:
                self._check_kept(address.object, part.offset)

    def writes(self, address: Address, size: int, pointer: bool) -> None:
        """The thread sets ``size`` bytes at ``address``, to a ``pointer`` or handle or to a number."""
        if not self._is_shared(address):
            return
        part, thread = self._touch(address, size), self.position.thread
        others = self.facts.threads.touching(address.object, part) & self.position.others
        if pointer and part.offset is not None and (thread or others):
            place = address.object, part.offset
            self.facts.threads.kept[place].update({thread} if thread else {thread, *others})
            notes = self.position.state.notes
            notes[KEPT] = cast("frozenset[object]", notes.get(KEPT, frozenset())) | {place}
            self._check_kept(address.object, part.offset)
        elif thread or others:
            self._share(address.object, part)

    def fills(self, address: Address, size: int) -> None:
        """The thread sets ``size`` bytes at ``address``, in which several scalars may lie."""
        if not self._is_shared(address) or not self.position.others:
            return
        whole = Part(address.offset if isinstance(address.offset, int) else None, size)
        for part in self.facts.threads.parts_in(address.object, whole):
            seen = self.facts.threads.touched[address.object][part]
            if seen & self.position.others or (self.position.thread and seen - {self.position.thread}):
                self._share(address.object, part)

    def _is_shared(self, address: Address) -> bool:
        """Whether other threads may access the object of ``address``, which is the rank's own."""
        id = address.object
        if not self.facts.threads.any or id.of_api or id.kind == "string" or address.owner is not None:
            return False
        return not (id.kind == "local" and isinstance(id.number, tuple) and len(id.number) > 3)

    def _touch(self, address: Address, size: int) -> Part:
        part = Part(address.offset if isinstance(address.offset, int) else None, size)
        if self.facts.threads.touch(address.object, part, self.position.thread):
            self.facts.changed()
        return part

    def _share(self, id: ObjectId, part: Part) -> None:
        if part.offset is not None:
            self.facts.share(id, part.offset, part.size)
        self.facts.unsettle(id, part.offset)
        self.facts.reach(id)

    def _check_kept(self, id: ObjectId, offset: int) -> None:
        threads = self.facts.threads.kept.get((id, offset))
        now = cast("frozenset[object]", self.position.state.notes.get(KEPT, frozenset()))
        if threads is None or (threads == {self.position.thread} and (id, offset) in now):
            return
        if self.position.facts_changed:
            raise TryAgain
        raise Problem(
            "PG143",
            f"a thread stores a pointer or a handle in `{self.facts.objects[id].name}`, which another one accesses, or "
            "this one behind its region",
            "give each thread variables of its own for pointers and handles, in the region",
            self.position.span,
        )
