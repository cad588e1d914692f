"""Buffers that calls of one thread have while other threads of the rank run: what these do with them meanwhile.

What a thread itself may not do with them it knows from its notes (`apis/lent.py`), and so does another one once the two
have met. Before, a cell says how many calls have the buffer: 0 where the others may access it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from typing import cast

from pgasrob.frontends.apis.interface import Outcome
from pgasrob.frontends.apis.lent import LENT, Lent
from pgasrob.frontends.c.facts import shortest
from pgasrob.frontends.c.issuing import Issuer
from pgasrob.frontends.c.pointers import Pointers
from pgasrob.frontends.c.thread_memory import Sharing, cell_of_threads
from pgasrob.frontends.c.types import CType
from pgasrob.frontends.c.values import Address, Value
from pgasrob.program.commands import FetchAdd, Load
from pgasrob.program.expressions import Binary, Const
from pgasrob.program.illegal_calls import Illegal, IllegalCall
from pgasrob.program.statements import Do


class Buffers(Sharing):
    """Looks at what one thread lends to calls, and at what it accesses of what others have lent."""

    def __init__(self, pointers: Pointers, issuer: Issuer) -> None:
        super().__init__(pointers.objects.position)
        self.pointers = pointers
        self.issuer = issuer

    def reads(self, address: Address, size: int) -> None:
        super().reads(address, size)
        self._accesses(address, size, stores=False)

    def writes(self, address: Address, size: int, value: Value, type: CType) -> None:
        super().writes(address, size, value, type)
        self._accesses(address, size, stores=True)

    def fills(self, address: Address, size: int) -> None:
        super().fills(address, size)
        self._accesses(address, size, stores=True)

    def lent_by(self, outcome: Outcome) -> Outcome:
        """``outcome`` of a call, which counts what is lent from now on, and what is not any more."""
        program, name = self.position.program, self.position.called
        if LENT not in outcome.state or not self.facts.threads.any or program.is_of_library(name):
            return outcome  # where threads meet they only get to know of it
        before, after = (set(_lent(notes)) for notes in (self.position.state.notes, outcome.state))
        if self.position.others:
            for lent in after - before:
                known = self.facts.threads.lent[lent.object]
                if (lent, self.position.thread) not in known:
                    known[lent, self.position.thread] = None
                    self.facts.changed()
        return replace(
            outcome,
            statements=(*self._counted(after - before, 1), *outcome.statements),
            after=(*outcome.after, *self._counted(before - after, -1)),
        )

    def _counted(self, all: set[Lent], more: int) -> Iterator[Do]:
        watched = self.facts.threads.watched
        for number in sorted(watched[key] for lent in all if (key := _key(lent)) in watched):
            register, cell = self.position.world.register("lent"), cell_of_threads(self.pointers, "lent", number)
            yield Do(FetchAdd(register, self.position.me, cell, Const(more)), self.position.span)

    def _accesses(self, address: Address, size: int, *, stores: bool) -> None:
        """The thread accesses what others may have lent."""
        known, begin = self.facts.threads.lent.get(address.object), address.offset
        if not known or not isinstance(begin, int) or self.position.whose(address) is not None:
            return
        said, watched = set[Hashable](), self.facts.threads.watched
        for lent, thread in known:
            near, key = any(first < begin + size and begin < last for first, last in lent.pieces), _key(lent)
            if thread not in self.position.others or not near or not (stores or lent.receives) or key in said:
                continue
            said.add(key)
            if key not in watched:
                watched[key] = len(watched)
                self.facts.changed()
            register = self.position.world.register("lent")
            self.issuer.issue(Load(register, cell_of_threads(self.pointers, "lent", watched[key])))
            sentence = lent.what(f"`{shortest(address.object, self.facts.objects[address.object])}`")
            fact = IllegalCall(lent.rule, self.position.span, sentence, lent.call)
            self.issuer.issue(Illegal(Binary("==", register, Const(0)), fact))


def _lent(notes: Mapping[str, Hashable]) -> tuple[Lent, ...]:
    return cast("tuple[Lent, ...]", notes.get(LENT) or ())


def _key(lent: Lent) -> Hashable:
    return lent.id, lent.object, lent.pieces, lent.receives


__all__ = ["Buffers"]
