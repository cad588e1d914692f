"""Which memory of a rank its threads share: what one of them may set while another one looks at it lies in cells."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass

from pgasrob.frontends.apis.call_steps import Alike
from pgasrob.frontends.c.contents import Contents
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.pointers import Pointers
from pgasrob.frontends.c.problem import Problem, TryAgain
from pgasrob.frontends.c.rank_position import Position
from pgasrob.frontends.c.registers import registers_in
from pgasrob.frontends.c.thread_facts import ALIVE, TEAM, Part
from pgasrob.frontends.c.types import LONG, CType, Opaque, Pointer
from pgasrob.frontends.c.values import Address, Code, Entry, Handle, Known, ObjectId, Value
from pgasrob.program.expressions import Expr

KEPT = "kept "
"""How the keys of notes begin that say which pointers and handles a thread has stored since threads met last."""


@dataclass(frozen=True, slots=True)
class Kept(Alike):
    """A pointer or handle that a thread has stored in a scalar of the ``type`` at an ``offset`` of an ``object``."""

    object: ObjectId
    offset: int
    value: Value
    type: CType


def cell_of_threads(pointers: Pointers, *what: int | str) -> Expr:
    """A cell of the rank that its threads have for themselves."""
    id = ObjectId("internal threads", what)
    if id not in pointers.objects.facts.objects:
        contents = Contents(0)
        contents.store(0, Known(0), LONG)
        name = re.sub(r"\W+", "_", "_".join(map(str, what)))
        pointers.objects.declare(id, name, 8, None, contents)
    pointers.objects.facts.hide(id)
    return pointers.placed(Address(id, 0), 8)


class Sharing:
    """Looks at the loads and stores of one thread.

    The first thread of a rank knows what it has stored where no other one looks at it while both run. What the others
    store they forget at the end of their region, so that it lies in cells; but for pointers and handles, of which
    threads tell each other when they meet.
    """

    def __init__(self, position: Position) -> None:
        self.position = position
        self.facts = position.facts

    def reads(self, address: Address, size: int) -> None:
        """The thread looks at ``size`` bytes at ``address``."""
        if self._is_shared(address):
            part = self._touch(address, size)
            if part.offset is not None and self.facts.threads.stored:
                self._check_kept(address.object, part.offset)

    def writes(self, address: Address, size: int, value: Value, type: CType) -> None:
        """The thread sets ``size`` bytes at ``address`` to a ``value`` of the ``type``."""
        if not self._is_shared(address):
            return
        part, thread = self._touch(address, size), self.position.thread
        others = self.facts.threads.touching(address.object, part) & self.position.others
        kept = isinstance(value, Address | Entry | Code | Handle) or (
            isinstance(value, Known) and isinstance(type, Pointer | Opaque)
        )
        if (
            kept
            and part.offset is not None
            and not registers_in(value)
            and not self.facts.is_shared(address.object, part.offset, size)
        ):
            self._keep(Kept(address.object, part.offset, value, type))
        elif thread or others:
            self._share(address.object, part)

    def _keep(self, kept: Kept) -> None:
        """Others that access it know of it when they have met the thread; what they load before is not known."""
        size = size_of(kept.type)
        known = self.facts.threads.touching(kept.object, Part(kept.offset, size)) - {self.position.thread}
        if self.position.others and known:
            stored = self.facts.threads.stored.setdefault((kept.object, kept.offset), {})
            now = self._now, self.position.thread
            if now not in stored:
                stored[now] = None
                self.facts.changed()
            self.position.state.notes[f"{KEPT}{kept.object} {kept.offset}"] = kept
            self._check_kept(kept.object, kept.offset)

    @property
    def _now(self) -> Hashable:
        """Where the threads of a team have met last; None where this may be any time."""
        notes = self.position.state.notes
        if ALIVE in notes or TEAM not in notes:
            return None
        return None if self.position.team[0] == 1 else self.position.interval

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
        stored = self.facts.threads.stored.get((id, offset), {})
        here, own = self._now, self.position.thread
        near = (thread for now, thread in stored if here is None or now is None or now == here)
        if not self.position.others.intersection(near) - {own}:
            return
        if self.position.facts_changed:
            raise TryAgain
        raise Problem(
            "PG143",
            f"a thread stores a pointer or a handle in `{self.facts.objects[id].name}`, which another one accesses "
            "before the two meet at a barrier or a join",
            "let the threads meet in between, or give each thread its own variables for pointers and handles",
            self.position.span,
        )
