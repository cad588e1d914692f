"""What the memory of a recorded run is called, and what it held before the segment that is looked at."""

from __future__ import annotations

from pgasrob.program import core
from pgasrob.program.unknown_value import UNKNOWN
from pgasrob.recording.events import Recorded, value_of
from pgasrob.recording.memory_places import SHIFT, STATIC, Places
from pgasrob.recording.must_rma import LOCK
from pgasrob.recording.recorded_names import Called, Names
from pgasrob.recording.recorded_values import Held
from pgasrob.runtime.record.records import WITH_REQUEST, Call, Contents, Module, Operation, Region
from pgasrob.runtime.record.trace_appendix import Appendix
from pgasrob.runtime.record.trace_reader import Log, held_in

_BUFFER = 4
_BRINGING = (Operation.RECEIVE, Operation.COLLECTIVE)
_TRANSFERS = (Operation.PUT, Operation.GET, Operation.PUT_SIGNAL)


class RecordedMemory:
    """``names`` and values, ``held``, of the memory in ``places``, as the records of a trace tell of them."""

    def __init__(self, ranks: int, places: Places, appendix: Appendix) -> None:
        self._places = places
        self.names, self.held = Names(appendix, ranks), Held()
        self._modules: list[dict[int, Module]] = [{} for _ in range(ranks)]
        self._before: list[tuple[int, bytes] | None] = [None] * ranks
        self._seen: list[list[Contents]] = [[] for _ in range(ranks)]

    def begins(self, log: Log, region: Region) -> None:
        """A region begins: what a buffer held is not known any more, unless contents follow."""
        self._modules[log.rank] = log.modules
        if region.kind == _BUFFER:
            at, size = self._places.local(log.rank, region.address), region.bytes
            held = self.held.read(log.rank, at, min(size, 1024))
            self._before[log.rank] = None if held is None else (region.address, held)
            self.held.forget(log.rank, at, size)

    def note(self, rank: int, contents: Contents, latest: Call | None) -> bool:
        """What memory holds now; the ``latest`` call brings it, if it is one that brings something and returns. Whether
        private memory is another place from here on."""
        self._seen[rank].append(contents)
        if latest is not None and latest.operation in _BRINGING and not latest.flags & WITH_REQUEST:
            return False
        data = contents.data + bytes(contents.size - len(contents.data))
        before, self._before[rank] = self._before[rank], None
        at = self._places.local(rank, contents.address)
        same = self.held.agrees(rank, at, data)
        if before is not None and before[0] == contents.address:
            same = same and data.startswith(before[1][: len(data)])
        if same:
            self.held.write(rank, at, data)
            return False
        if self._places.at(rank, contents.address) not in (None, (rank, at)) or not self._is_private(at):
            self.held.forget(rank, at, len(data))
            return False
        if not self._places.renew(rank, contents.address):
            self.held.forget(rank, at, len(data))
            return False
        self.held.write(rank, self._places.local(rank, contents.address), data)
        return True

    def _is_private(self, address: int) -> bool:
        return self._places.what(address >> SHIFT)[0] == "buffer"

    def called(self, rank: int, call: Call) -> None:
        """A call is made: what private memory it reads holds is what has just been noted, or not known."""
        seen, self._seen[rank] = self._seen[rank], []
        if call.operation not in _TRANSFERS:
            return
        named = call.named()
        local, size = named["local"], named["local_block"]
        if local and self._places.at(rank, local) is None and held_in(seen, local, size) is None:
            self.held.forget(rank, self._places.local(rank, local), size)

    def arrived(self, rank: int, address: int, size: int) -> int:
        """What a call has brought to memory, as a number."""
        found = held_in(self._seen[rank], address, size)
        return UNKNOWN if found is None else found

    def typed(self, event: Recorded, call: Call) -> Recorded:
        """An event of a call; of which type the memory is that it accesses is noted."""
        for access in core.accesses_of(core.lower(event.command)):
            owner = event.rank if access.cell.rank is None else value_of(access.cell.rank)
            of = self._object(owner, value_of(access.cell.address))
            self.names.note_elements(of, call.named().get("element", 1), call.type)
        return event

    def _object(self, rank: int, address: int) -> tuple[object, ...]:
        """What an address of a rank lies in."""
        place, offset = address >> SHIFT, address & ((1 << SHIFT) - 1)
        if place not in self._places.regions:
            return "buffer", rank, offset
        region = self._places.regions[place][1]
        if region.kind != STATIC:
            return region.kind, region.identity
        module = self._modules[rank].get(region.identity)
        return region.identity, offset + region.address - (module.base if module is not None else 0)

    def called_at(self, address: int, size: int) -> Called:
        """The name of so many bytes at an address."""
        place, offset = address >> SHIFT, address & ((1 << SHIFT) - 1)
        if place in self._places.regions:
            rank, region = self._places.regions[place]
            modules = self._modules[rank]
            if region.kind == STATIC:
                module = modules.get(region.identity)
                start = region.address - module.base if module is not None else 0
                return self.names.static(region.identity, start + offset, size)
            return self.names.of_region(rank, region, offset, modules, size)
        what = self._places.what(place)
        match what:
            case ("buffer", int(rank), _):
                return self.names.private(rank, offset, self._modules[rank], size, offset)
            case ("lock" | "window", *numbers):
                return Called(f"of_{'_'.join(map(str, numbers))}{LOCK}", 0, "")
        return Called(f"{what[0]}_{offset}", 0, "")
