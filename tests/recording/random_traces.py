"""Draws traces as bytes: calls and accesses at random, in a random order, as a recorder might have written them.

No library has run them, so what ranks read may be anything; what is asked of them does not depend on it. The same
numbers give the same bytes.
"""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random

from pgasrob.runtime.record.records import Kind, Operation
from pgasrob.runtime.record.trace import IDENTITIES
from pgasrob.runtime.record.trace_reader import APPENDIX, HEADER_BYTES, MAGIC
from tests.recording.damaged_traces import CHUNK, packed

HEAP, STACK, STATIC, VIEW = 0x7F0000001000, 0x7FFC00002000, 0x550000003000, 0x7E0000004000
WINDOW, BYTES, WORLD = 5, 256, 1
NONBLOCKING, FETCHING, VALUE, LOCAL, REQUEST = 1, 2, 4, 8, 16
NAMES = ("f", "MPI_INT", "MPI_Rput", "MPI_DOUBLE")
LINES = 12
"""The places of the program, one in each line."""


class _Rank:
    def __init__(self, number: int) -> None:
        self.number = number
        self.records: list[bytes] = []
        self.buffers: dict[int, tuple[int, bool]] = {}  # whose they are, and whether they live until a request is done
        self.regions = self.requests = 0
        self.contents: dict[int, int] = {}
        self.collectives = 0
        self.stands = False

    def add(self, *words: int) -> None:
        self.records.append(struct.pack(f"<{len(words)}Q", *(word % (1 << 64) for word in words)))


class Drawn:
    """The trace to a ``seed``, and how often what occurs ``met``."""

    def __init__(self, seed: int, actions: int = 60) -> None:
        self._random = random = Random(seed)
        self.met: Counter[str] = Counter()
        self.api = random.choice((1, 2, 2))
        self._ranks = [_Rank(number) for number in range(random.choice((2, 2, 3)))]
        self._clock = 0
        self._even = random.random() < 0.5  # all accesses are of words of 4 bytes, so no atomic is accessed in part
        self._together = random.random() < 0.6  # ranks wait for what is theirs before they come to a barrier
        self._begin()
        for _ in range(random.randrange(actions)):
            rank = random.choice([rank for rank in self._ranks if not rank.stands])
            self._act(rank)

    @property
    def content(self) -> bytes:
        """The trace, at the end of which all ranks have ended."""
        self._end()
        about = json.dumps({"command": ["p"], "program": "p", "host": "h"}).encode()
        header = bytearray(HEADER_BYTES)
        header[:8] = MAGIC
        struct.pack_into("<5Ii", header, 8, 2, CHUNK, len(self._ranks), self.api, 1, 0)
        struct.pack_into("<Q", header, 64, self._clock + 1)
        struct.pack_into("<Q", header, IDENTITIES, 100)
        header[256 : 256 + len(about)] = about
        sites = [[0, line, 0, line, 0] for line in range(1, LINES + 1)]
        text = json.dumps({"files": ["p.c"], "functions": ["main"], "sites": sites, "symbols": []}).encode()
        struct.pack_into("<QQ", header, APPENDIX, HEADER_BYTES, len(text))
        logs = {(rank.number, 0): rank.records for rank in self._ranks}
        return packed(bytes(header) + text, logs)

    # Records

    def _number(self) -> int:
        self._clock += 1
        return self._clock

    def _pc(self) -> int:
        return self._random.randint(1, LINES)

    def _call(
        self, rank: _Rank, operation: Operation, *operands: int, flags: int = 0, name: int = 1, of: int = 2
    ) -> None:
        first = Kind.CALL | operation << 8 | (3 + len(operands)) << 16 | self._pc() << 32
        rank.add(first, self._number() | flags << 48, name | of << 32, *operands)
        self.met[operation.name] += 1

    def _return(self, rank: _Rank, operation: Operation, *results: int) -> None:
        rank.add(Kind.RETURN | operation << 8 | (2 + len(results)) << 16, self._number(), *results)

    def _region(
        self, rank: _Rank, kind: int, address: int, size: int, identity: int, of: int = -1, remote: int = 0
    ) -> int:
        number = rank.regions
        rank.regions += 1
        first = Kind.REGION | kind << 8 | 7 << 16 | self._pc() << 32
        rank.add(first, number, address, size, identity, of, remote)
        return number

    def _begin(self) -> None:
        for rank in self._ranks:
            for number, name in enumerate(NAMES, 1):
                text = name.encode().ljust(-(-len(name) // 8) * 8, b"\0")
                rank.records.append(struct.pack("<Q", Kind.STRING | (1 + len(text) // 8) << 16 | number << 32) + text)
            self._call(rank, Operation.INITIALISE, rank.number, len(self._ranks), 0)
        for rank in self._ranks:
            self._return(rank, Operation.INITIALISE)
            if self.api == 1:
                self._region(rank, 2, STATIC, BYTES, 0)
                self._region(rank, 1, HEAP, BYTES, 0)
        if self.api == 2:
            for rank in self._ranks:
                self._call(rank, Operation.WINDOW_CREATE, WORLD, 1, BYTES, 1, 2)
            for rank in self._ranks:
                self._return(rank, Operation.WINDOW_CREATE, WINDOW, HEAP, 1)
                self._region(rank, 3, HEAP, BYTES, WINDOW)
            if self._random.random() < 0.7:
                for rank in self._ranks:
                    self._call(rank, Operation.LOCK_ALL, WINDOW, 0)
                    self._return(rank, Operation.LOCK_ALL)
        elif self._random.random() < 0.3:
            rank = self._random.choice(self._ranks)
            other = (rank.number + 1) % len(self._ranks)
            self._call(rank, Operation.POINTER, other, HEAP)
            self._return(rank, Operation.POINTER, VIEW)
            self._region(rank, 5, VIEW, BYTES, 0, other, HEAP)
            self.met["view"] += 1

    def _end(self) -> None:
        for rank in self._ranks:
            if not rank.stands:
                self._settle(rank)
                self._barrier(rank)
        for rank in self._ranks:
            self._call(rank, Operation.FINALISE)
        for rank in self._ranks:
            self._return(rank, Operation.FINALISE)
            rank.add(Kind.END, self._number())

    def sweep(self, count: int) -> None:
        """Rank 0 stores so many times to the second half of its memory."""
        first = Kind.STORE | 2 << 8 | (HEAP + BYTES // 2) << 16
        self._ranks[0].add(Kind.RUN | 1 << 8 | 4 << 16, count, first, self._pc())

    # What ranks do

    def _act(self, rank: _Rank) -> None:
        # What the loops do is most of what stencils are.
        acts: list[tuple[int, Callable[[_Rank], None]]] = [
            (4, self._load_or_store), (3, self._loop), (1, self._update), (5, self._transfer), (2, self._atomic),
            (2, self._complete), (2, self._barrier), (1, self._reduce), (1, self._memory),
        ]  # fmt: skip
        acts += [(1, self._fence), (1, self._request)] if self.api == 2 else [(1, self._order), (1, self._await)]
        (act,) = self._random.choices([act for _, act in acts], [weight for weight, _ in acts])
        act(rank)

    def _owned(self, rank: _Rank) -> int:
        """An address of a rank, in memory of all, or in a buffer in use."""
        bases = [HEAP, HEAP, *([STATIC, VIEW] if self.api == 1 else [])]
        bases += [address for address, _ in rank.buffers.values()]
        return self._random.choice(bases) + self._random.randrange(
            0, 64, self._random.choice((4, 8) if self._even else (1, 4, 8))
        )

    def _load_or_store(self, rank: _Rank) -> None:
        random, address = self._random, self._owned(rank)
        kind = random.choice((Kind.LOAD, Kind.STORE, Kind.LOAD_RANGE, Kind.STORE_RANGE))
        if kind in (Kind.LOAD_RANGE, Kind.STORE_RANGE):
            rank.add(kind | address << 16, self._pc(), 4 if self._even else random.choice((0, 4, 24)))
            if kind == Kind.STORE_RANGE and random.random() < 0.5:
                rank.add(Kind.CONTENTS | 4 << 16, address, 8, random.randrange(3))
        else:
            log2, flags = random.choice((2,) if self._even else (0, 2, 2, 3)), random.choice((0, 0, 0, 0x10, 0x20))
            words = [kind | (log2 | flags) << 8 | address << 16, self._pc() | 7 << 32]
            rank.add(*words, *([7] if log2 == 3 else []))
        self.met[kind.name] += 1

    def _update(self, rank: _Rank) -> None:
        address = HEAP + self._random.randrange(0, 64, 4)
        rank.add(Kind.UPDATE | (2 | 0x20) << 8 | address << 16, self._pc() | 2 << 32, 1, 0, 0, 1)
        self.met["UPDATE"] += 1

    def _loop(self, rank: _Rank) -> None:
        random, words = self._random, []
        for _ in range(random.choice((1, 2, 3, 5))):
            kind, log2 = random.choice((Kind.LOAD, Kind.LOAD, Kind.STORE)), 2 if self._even else random.choice((2, 3))
            stride = random.choice((4, 8, 8, -8, 16, 0, 4 if self._even else 3))
            address = self._owned(rank) + (random.randrange(64, 200, 4) if random.random() < 0.5 else 0)
            words += [kind | log2 << 8 | address << 16, self._pc() | (stride % (1 << 32)) << 32]
        count = random.choice((1, 2, 7, 20, 60))
        rank.add(Kind.RUN | len(words) // 2 << 8 | (2 + len(words)) << 16, count, *words)
        self.met["RUN"] += 1

    def _buffer(self, rank: _Rank, identity: int, target: int, size: int = 8) -> int:
        """The address of private memory that an operation uses, or of the window."""
        random = self._random
        if random.random() < 0.3:
            return HEAP + random.randrange(0, 64, 4)
        address = STACK + random.choice((0, 4, 8, 32, 64))
        number = self._region(rank, 4, address, size, identity, target)
        rank.buffers[number] = address, False
        if random.random() < 0.8:
            self._contents(rank, address, size)
        return address

    def _contents(self, rank: _Rank, address: int, size: int) -> None:
        if self._random.random() < 0.3:
            rank.contents[address] = self._random.randrange(1, 4)
            self.met["changed"] += 1
        rank.add(Kind.CONTENTS | 4 << 16, address, size, rank.contents.get(address, 1))

    def _other(self, rank: _Rank) -> int:
        return self._random.choice([each.number for each in self._ranks if each is not rank or self.api == 2])

    def _remote(self) -> int:
        offset = self._random.randrange(0, 64, self._random.choice((4, 8)))
        if self.api == 2:
            return offset
        return self._random.choice((HEAP, HEAP, STATIC)) + offset

    def _transfer(self, rank: _Rank) -> None:
        random = self._random
        operation = random.choice((Operation.PUT, Operation.PUT, Operation.GET))
        flags = 0 if self.api == 1 and random.random() < 0.5 else NONBLOCKING
        target, size = self._other(rank), 4 if self._even else random.choice((4, 8, 8, 24))
        blocks = (2, size, 32) if random.random() < 0.1 else (1, size, size)
        if self.api == 1 and operation is Operation.PUT and random.random() < 0.2:
            flags, local = VALUE, 0
        elif self.api == 1 and not flags:
            local = STACK if random.random() < 0.5 else HEAP + random.randrange(0, 64, 4)
            if local == STACK:
                self._contents(rank, STACK, 8)
        else:
            local = self._buffer(rank, WINDOW if self.api == 2 else 0, target, size)
        queue = WINDOW if self.api == 2 else 0
        here = (1, blocks[0] * size, size) if local else (0, 0, 0)
        self._call(rank, operation, target, self._remote(), *blocks, local, *here, 4, 1, queue, flags=flags)
        if operation is Operation.GET and not flags:
            self._return(rank, operation, 0)

    def _atomic(self, rank: _Rank) -> None:
        random = self._random
        target, update = self._other(rank), random.choice((0, 1, 2, 2, 5, 6))
        of = random.choice((2, 2, 4))
        if self.api == 1:
            flags = FETCHING if update in (0, 1, 6) or random.random() < 0.5 else 0
            self._call(
                rank, Operation.ATOMIC, target, self._remote(), 4, 1, update, 1, 0, 0, 0, 0, 0, flags=flags, of=of
            )
            if flags:
                self._return(rank, Operation.ATOMIC, 0)
            return
        local = 0 if update == 0 else self._buffer(rank, WINDOW, target)
        expected = self._buffer(rank, WINDOW, target) if update == 6 else 0
        result = self._buffer(rank, WINDOW, target) if update in (0, 6) or random.random() < 0.3 else 0
        elements = 1 if update == 6 else random.choice((1, 2))
        operands = target, self._remote(), 4, elements, update, 0, 0, local, expected, result, WINDOW
        self._call(rank, Operation.ATOMIC, *operands, flags=NONBLOCKING, of=of)

    def _request(self, rank: _Rank) -> None:
        target = self._other(rank)
        rank.requests += 1
        request = 1000 * rank.number + rank.requests + 10
        address = self._buffer(rank, request, target)
        size = 4 if self._even else 8
        operands = target, self._remote(), 1, size, size, address, 1, size, size, 4, 1, WINDOW, request
        self._call(rank, Operation.PUT, *operands, flags=NONBLOCKING | REQUEST, name=3)
        self._call(rank, Operation.COMPLETE_REQUESTS, 1, 1)
        self._return(rank, Operation.COMPLETE_REQUESTS, request, -1, -1, 0)

    def _complete(self, rank: _Rank) -> None:
        if self.api == 1:
            self._call(rank, Operation.QUIET, 0)
            self._return(rank, Operation.QUIET)
        else:
            flags = LOCAL if self._random.random() < 0.3 else 0
            self._call(rank, Operation.FLUSH, WINDOW, self._random.choice((-1, self._other(rank))), flags=flags)
            self._return(rank, Operation.FLUSH)
        self._free(rank)

    def _free(self, rank: _Rank) -> None:
        for number in [number for number in rank.buffers if self._random.random() < 0.8]:
            del rank.buffers[number]
            rank.add(Kind.END_OF_REGION | 4 << 8 | 2 << 16, number)

    def _settle(self, rank: _Rank) -> None:
        """Wait for all operations."""
        if self.api == 1:
            self._call(rank, Operation.QUIET, 0)
            self._return(rank, Operation.QUIET)
        else:
            self._call(rank, Operation.FLUSH, WINDOW, -1)
            self._return(rank, Operation.FLUSH)

    def _gather(self, rank: _Rank, operation: Operation, operands: Callable[[_Rank], Iterator[int]]) -> None:
        """All ranks call a collective."""
        ranks = [rank, *(each for each in self._ranks if each is not rank)]
        for each in ranks:
            if self._together:
                self._settle(each)
            self._call(each, operation, *operands(each))
            each.collectives += operation is Operation.COLLECTIVE
        self._random.shuffle(ranks)
        for each in ranks:
            self._return(each, operation)

    def _barrier(self, rank: _Rank) -> None:
        none = (1 << 64) - 1
        self._gather(rank, Operation.COLLECTIVE, lambda each: iter((WORLD, each.collectives, 0, none, 0, 0, 0, 0, 0)))

    def _reduce(self, rank: _Rank) -> None:
        source, to = HEAP + self._random.randrange(0, 64, 8), HEAP + self._random.randrange(0, 64, 8)
        kind, root = self._random.choice(((7, -1), (2, 0), (8, 0)))
        self._gather(
            rank, Operation.COLLECTIVE, lambda each: iter((WORLD, each.collectives, kind, root, to, source, 4, 1, 2))
        )

    def _fence(self, rank: _Rank) -> None:
        assertion = self._random.choice((0, 0, 0, 2))
        self._gather(rank, Operation.WINDOW_FENCE, lambda each: iter((WINDOW, assertion)))

    def _order(self, rank: _Rank) -> None:
        self._call(rank, Operation.FENCE, 0)

    def _await(self, rank: _Rank) -> None:
        address = self._random.choice((HEAP, STATIC)) + self._random.randrange(0, 64, 4)
        self._call(rank, Operation.WAIT_UNTIL, address, 4, 1, self._random.randrange(6), 1, 0, 0)
        self._return(rank, Operation.WAIT_UNTIL, 1)

    def _memory(self, rank: _Rank) -> None:
        rank.add(Kind.MEMORY | 2 << 8 | 3 << 16 | self._pc() << 32, STACK - 64, 256)
