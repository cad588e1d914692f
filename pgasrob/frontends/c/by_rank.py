"""What several ranks do at once: one machine executes them as long as they do the same but with other numbers.

A number that differs is a :class:`~pgasrob.frontends.c.values.KnownByRank`, a pointer an
:class:`~pgasrob.frontends.c.values.AddressByRank`, and a constant in commands a
:class:`~pgasrob.program.expressions.ConstByRank`. Whoever asks one of them for its number raises
:class:`~pgasrob.program.expressions.Apart`. Then what was asked for is computed for each rank by itself
(:func:`each_rank`) and put together again (:func:`together`), or the ranks are executed apart from there on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import repeat
from typing import Any, TypeVar

from pgasrob.frontends.apis.call_steps import FREED
from pgasrob.frontends.apis.lent import LENT
from pgasrob.frontends.c.machine_parts import Parts
from pgasrob.frontends.c.snapshots import State
from pgasrob.frontends.c.values import Address, AddressByRank, Known, KnownByRank, Value, known_of
from pgasrob.program.expressions import Apart, Const, ConstByRank, Register, Symbol, alike
from pgasrob.program.statements import Statement

T = TypeVar("T")
KEPT = "kept"
"""Stands for what a rank has noted before."""


def each_rank(parts: Parts, compute: Callable[[int], T]) -> tuple[T, list[Statement]]:
    """What ``compute`` gives for every rank that is executed, by its place, and the statements that it writes, put
    together. It may change the notes of the rank, and nothing else that differs. Raises :class:`Apart`."""
    position, writer, ranks = parts.position, parts.writer, len(parts.position.rank.numbers)
    state, node, written, writes = position.state, writer.node, writer.statements, parts.objects.writes
    before, begun = _kept(state), len(node.statements)
    found, notes, after = [], [], []
    for place in range(ranks):
        _restore(state, before)
        parts.registers.release()
        try:
            with position.at_rank(place):
                result = compute(place)
        except Apart:
            raise Apart(range(ranks)) from None
        found.append((result, node.statements[begun:]))
        notes.append(state.notes)
        after.append({key: value for key, value in _kept(state).items() if key != "notes"})
        del node.statements[begun:]
    forked = parts.world.forks.keys() & set(position.rank.numbers)
    if not writer.open or writer.node is not node or parts.objects.writes != writes or forked:
        for rank in forked:  # a fork keeps the state of one rank
            del parts.world.forks[rank]
        raise Apart(range(ranks))
    if any(each != after[0] for each in after):
        raise Apart(list(map(repr, after)))
    result, done = together(found)
    state.notes = _notes(notes, absent=None)
    node.statements += done
    writer.statements = written + len(done)
    return result, done


def attempt(parts: Parts, compute: Callable[[], T]) -> T | None:
    """What ``compute`` gives for all ranks that are executed at once; None, and nothing has been changed, where they
    differ. Raises :class:`Apart` where it cannot be undone."""
    state, writer, writes = parts.position.state, parts.writer, parts.objects.writes
    before, node, begun, written = _kept(state), writer.node, len(writer.node.statements), writer.statements
    try:
        return compute()
    except Apart:
        if not writer.open or writer.node is not node or parts.objects.writes != writes:
            raise
    _restore(state, before)
    del node.statements[begun:]
    writer.statements = written
    return None


CHANGING = ("sizes", "tables", "initialised", "notes", "assumed", "choices", "guarded", "answered", "given", "brought",
            "leaves")  # fmt: skip
"""What a call may change in the state of a rank before it is known what it does."""


def _kept(state: State) -> dict[str, Any]:
    return {key: copy(getattr(state, key)) for key in CHANGING}


def _restore(state: State, kept: Mapping[str, Any]) -> None:
    for key, value in kept.items():
        setattr(state, key, copy(value))


def on_rank(value: Value, place: int) -> Value:
    """``value`` as the rank at ``place`` has it."""
    match value:
        case KnownByRank(numbers=numbers):
            return Known(numbers[place])
        case AddressByRank(each=each):
            return each[place]
    return value


def look_alike(value: Hashable) -> None:
    """Raises :class:`Apart` where something in ``value`` is another thing on some of the ranks."""
    match value:
        case KnownByRank(numbers=found) | AddressByRank(each=found) | ConstByRank(each=found):
            raise Apart(found)
        case tuple() | frozenset():
            for each in value:
                look_alike(each)
        case _ if is_dataclass(value):
            for field in fields(value):
                look_alike(getattr(value, field.name))


@dataclass(frozen=True, slots=True)
class NoteByRank:
    """What an API remembers that is another thing on each of the ranks that one machine executes: ``each``, in their
    order; None where it remembers nothing."""

    each: tuple[Hashable | None, ...]

    def onto(self, before: Hashable | None) -> NoteByRank:
        """The same where it is what it was ``before`` on ranks that note nothing."""
        kept = before.each if isinstance(before, NoteByRank) else repeat(before)
        return NoteByRank(tuple(old if each is KEPT else each for each, old in zip(self.each, kept, strict=False)))


class Notes(dict[str, Hashable]):
    """What APIs remember, seen by all ranks at once: they go apart over what differs."""

    def __getitem__(self, key: str) -> Hashable:
        return _alike(super().__getitem__(key))

    def get(self, key: str, default: Any = None) -> Any:
        return _alike(super().get(key, default))

    def __contains__(self, key: object) -> bool:
        note = super().get(key) if isinstance(key, str) else None
        return alike([each is not None for each in note.each]) if isinstance(note, NoteByRank) else note is not None

    def items(self) -> Any:
        return [(key, self[key]) for key in self]

    def values(self) -> Any:
        return [self[key] for key in self]


def _alike(note: Hashable) -> Hashable:
    return alike(note.each) if isinstance(note, NoteByRank) else note


def notes_at(notes: Mapping[str, Hashable], place: int | None) -> Mapping[str, Hashable]:
    """``notes`` as the rank at ``place`` has them, or all of them at once when it is None."""
    if not any(isinstance(each, NoteByRank) for each in notes.values()):
        return notes
    if place is None:
        return Notes(notes)
    its = {key: each.each[place] if isinstance(each, NoteByRank) else each for key, each in notes.items()}
    return {key: each for key, each in its.items() if each is not None}


def _notes(found: Sequence[Mapping[str, Hashable]], absent: Hashable | None = KEPT) -> dict[str, Hashable]:
    """What each rank notes, by key; ``absent``: what stands for no note. Ranks go apart over what the machine itself
    looks at."""
    notes: dict[str, Hashable] = {}
    for key in dict.fromkeys(key for each in found for key in each):
        values = tuple(each.get(key, absent) for each in found)
        if all(each == values[0] for each in values):
            notes[key] = values[0]
        elif key in (LENT, FREED) or key.startswith(("machine.", "C.")):
            raise Apart(list(map(repr, values)))
        else:
            notes[key] = NoteByRank(values)
    return notes


def together(found: Sequence[Any]) -> Any:
    """The one thing of which each rank has what is ``found`` for it. Raises :class:`Apart` where there is none."""
    first = found[0]
    if all(each is first for each in found):
        return first
    kinds = {type(each) for each in found}
    if kinds <= {Const, Symbol}:
        return first if all(each == first for each in found) else ConstByRank(tuple(found))
    if kinds == {Known}:
        return known_of([each.value for each in found])
    if kinds == {Address}:
        return first if all(each == first for each in found) else AddressByRank(tuple(found))
    if kinds == {Register} and any(each != first for each in found):
        raise Apart(range(len(found)))  # each rank will have a register for what each of the others gives
    if len(kinds) > 1:
        raise Apart([type(each).__name__ for each in found])
    if isinstance(first, list | tuple):
        if len({len(each) for each in found}) > 1:
            raise Apart([len(each) for each in found])
        parts = [together(each) for each in zip(*found, strict=True)]
        if all(one is another for one, another in zip(parts, first, strict=True)):
            return first
        if isinstance(first, list):
            return parts
        return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
    if isinstance(first, Mapping):
        return _notes(found)
    if is_dataclass(first) and not isinstance(first, type):
        changed = {}
        for field in fields(first) if first.__class__.__name__ != "Span" else ():
            before = getattr(first, field.name)
            part = together([getattr(each, field.name) for each in found])
            if part is not before:
                changed[field.name] = part
        return replace(first, **changed) if changed else first
    if any(each != first for each in found):
        raise Apart(list(map(repr, found)))
    return first
