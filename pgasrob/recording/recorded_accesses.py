"""Lowers the loads, stores and atomic updates that the ranks make themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pgasrob.program import commands
from pgasrob.program.commands import Command
from pgasrob.program.expressions import Const, Register
from pgasrob.program.unknown_value import UNKNOWN
from pgasrob.recording.events import Recorded
from pgasrob.recording.memory_places import Places
from pgasrob.recording.recorded_calls import Spans
from pgasrob.recording.recorded_memory import RecordedMemory
from pgasrob.runtime.record.records import Access, Kind

_REGISTER = Register("seen", 0)
_ATOMIC = 0x20
STORING = (Kind.STORE, Kind.STORE_RANGE)


class Accesses:
    """The commands of accesses of so many ``ranks``, to memory in ``places``. Equal ones are one object, but those that
    store a value that is known."""

    def __init__(self, ranks: int, places: Places, memory: RecordedMemory, spans: Spans) -> None:
        self._places, self._memory, self._spans = places, memory, spans
        self._known: list[dict[tuple[object, ...], tuple[Recorded, ...]]] = [{} for _ in range(ranks)]

    def forget(self, rank: int) -> None:
        """Addresses of the rank are other memory than before."""
        self._known[rank].clear()

    def of(self, rank: int, access: Access) -> tuple[Recorded, ...]:
        """The command of an access; none where it is to memory that does not matter."""
        update = access.value if access.kind is Kind.UPDATE else None
        key = (access.kind, access.flags, access.address, access.bytes, access.place, update)
        known = self._known[rank]
        if (found := known.get(key)) is None:
            found = known[key] = tuple(self._accessed(rank, access))
        if access.kind in STORING and access.value is not None and found:
            stored = found[0].command
            assert isinstance(stored, commands.Store)
            value = Const(access.value)
            command = commands.Store(stored.address, value, stored.rank, atomic=stored.atomic)
            return (found[0]._replace(command=command),)
        return found

    def _accessed(self, rank: int, access: Access) -> Iterator[Recorded]:
        at = self._places.at(rank, access.address)
        if at is None:
            return
        owner, address = at
        command = accessing(access, rank, owner, address)
        variable = re.split(r"\W", self._memory.called_at(address, access.bytes).name.lstrip("*"))[0]
        span = self._spans.of_access(access.place, variable, access.kind in STORING)
        yield Recorded(rank, command, span, None, (access.bytes,))


def accessing(access: Access, rank: int, owner: int, address: int) -> Command:
    """The command of an access of ``rank`` to the memory of ``owner``; of a store it has no value."""
    where, to = Const(address), None if owner == rank else Const(owner)
    atomic = "C" if access.flags & _ATOMIC or access.kind is Kind.UPDATE else ""
    match access.kind:
        case Kind.LOAD | Kind.LOAD_RANGE:
            return commands.Load(_REGISTER, where, to, atomic=atomic)
        case Kind.STORE | Kind.STORE_RANGE:
            return commands.Store(where, Const(UNKNOWN), to, atomic=atomic)
        case _:
            after = UNKNOWN if access.value is None else access.value
            return commands.Swap(_REGISTER, Const(owner), where, Const(after), atomic=atomic)
