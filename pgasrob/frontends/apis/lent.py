"""Buffers of calls that are under way: until such a call is complete nobody changes what it sends, nor touches where it
receives. What a rank has lent so is among the notes that it keeps."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.c.types import CType
from pgasrob.frontends.c.values import Address, ObjectId
from pgasrob.program.illegal_calls import Illegal, Opened, Rule

LENT = "lent"
"""Key in the state of what is lent."""
MOST_PIECES = 256
"""Of a buffer of more pieces it is not noted that it is lent."""


@dataclass(frozen=True, slots=True)
class Lent:
    """The ``pieces`` of an ``object``, from one offset to another, that a ``call`` has been given, by whose ``id`` they
    come back. ``receives``: nobody may access them, else change them, by this ``rule``."""

    id: Hashable
    object: ObjectId
    pieces: tuple[tuple[int, int], ...]
    receives: bool
    call: Opened
    rule: Rule

    def what(self, name: str, wrong: str = "") -> str:
        """What is done wrong with the object, or buffer, called so: ``wrong``, or an access."""
        how = "into which" if self.receives else "from which"
        verb = "receives" if self.receives else "sends"
        access = wrong or ("an access to" if self.receives else "a store to")
        return f"{access} {name}, {how} {self.call.name} {verb} until its request is complete"


def lend(steps: Steps, id: Hashable, scalars: Sequence[tuple[Address, CType]], receives: bool, rule: Rule) -> None:
    """Note that the call takes these ``scalars`` of this rank until it is complete."""
    for address, type in scalars if receives else ():
        used_by_call(steps, address, steps.call.size_of(type), stores=True)
    places: dict[ObjectId, list[tuple[int, int]]] = {}
    for address, type in scalars:
        if isinstance(address.offset, int) and _is_own(steps, address):
            end, size = address.offset, steps.call.size_of(type)
            places.setdefault(address.object, []).append((end, end + size))
    lent = tuple(
        Lent(id, object, pieces, receives, steps.opened(), rule)
        for object, found in places.items()
        if len(pieces := tuple(_joined(sorted(found)))) <= MOST_PIECES
    )
    steps.note(LENT, (*_all(steps.recall(LENT)), *lent) or None)


def give_back(steps: Steps, id: Hashable) -> None:
    """The call known by ``id`` is complete."""
    if lent := _all(steps.recall(LENT)):
        steps.note(LENT, tuple(each for each in lent if each.id != id) or None)


def wrongly_accessed(notes: Mapping[str, Hashable], address: Address, size: int, stores: bool) -> Iterator[Lent]:
    """What the rank with these ``notes`` has lent and accesses here, at an ``address`` in its own memory."""
    begin = address.offset
    if not isinstance(begin, int):
        return
    for lent in _all(notes.get(LENT)):
        if lent.object == address.object and (stores or lent.receives):
            yield from [lent] * any(first < begin + size and begin < last for first, last in lent.pieces)


def used_by_call(steps: Steps, address: Address, size: int, *, stores: bool = False) -> None:
    """Note that a call reads, or ``stores``, ``size`` bytes at ``address``, now or later, which may not lie where
    another one receives, or which it sends."""
    if LENT not in steps.call.state or not _is_own(steps, address):
        return
    said = {each.fact.rule for each in steps.commands if isinstance(each, Illegal)}
    for lent in wrongly_accessed(steps.call.state, address, size, stores):
        if lent.rule not in said:
            steps.illegal(lent.rule, lent.what(f"a buffer of {steps.call.name}"), lent.call)
            said.add(lent.rule)


def _is_own(steps: Steps, address: Address) -> bool:
    """Whether this is memory of the rank itself, of which it is not asked which one it is where nobody names it."""
    return address.owner is None or address.owner == steps.call.rank


def lent_of(notes: Mapping[str, Hashable], object: ObjectId) -> list[Lent]:
    """What is lent of the ``object``."""
    return [each for each in _all(notes.get(LENT)) if each.object == object]


def _all(noted: Hashable) -> tuple[Lent, ...]:
    return cast("tuple[Lent, ...]", noted or ())


def _joined(pieces: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    begin, end = pieces[0]
    for first, last in pieces[1:]:
        if first > end:
            yield begin, end
            begin = first
        end = max(end, last)
    yield begin, end
