"""How long it takes to decide a recorded stencil of a million events: `python -m tests.bench.recorded`.

Four ranks sweep over their arrays by loads and stores, put their outer cells to both neighbours, wait, and meet at a
barrier. Addresses are of bytes, so that it goes through segments and cells as a trace file does.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator

from pgasrob.program import commands
from pgasrob.program.declarations import Source
from pgasrob.program.expressions import Const, Register
from pgasrob.program.statements import Span
from pgasrob.recording.events import Recorded
from pgasrob.recording.native_recordings import NativeExact
from pgasrob.recording.recorded_names import Called
from pgasrob.recording.trace_segments import Known, Segment, in_cells, segments

RANKS, CELLS, ROUNDS = 4, 250, 250
REGISTER = Register("r", 0)
KNOWN = Known(lambda address, size: Called(str(address), size, "signed"), lambda rank, address, size: 0)


def stencil(ranks: int, cells: int, rounds: int) -> Iterator[Recorded]:
    known: dict[tuple[object, ...], Recorded] = {}

    def told(rank: int, command: commands.Command, line: int, sizes: tuple[int, ...] = ()) -> Recorded:
        return known.setdefault((rank, command, line), Recorded(rank, command, Span(line, 1, line, 2), sizes=sizes))

    for turn in range(rounds):
        source, target = (0, 8 * cells) if turn % 2 == 0 else (8 * cells, 0)
        for rank in range(ranks):
            for cell in range(1, cells - 1):
                for line, beside in enumerate((-1, 0, 1), 10):
                    address = Const(source + 8 * (cell + beside))
                    yield told(rank, commands.Load(REGISTER, address), line, (8,))
                yield told(rank, commands.Store(Const(target + 8 * cell), Const(0)), 13, (8,))
        for rank in range(ranks):
            for line, here, there, to in ((20, 1, cells - 1, rank - 1), (21, cells - 2, 0, rank + 1)):
                local, remote = Const(target + 8 * here), Const(target + 8 * there)
                yield told(rank, commands.Put(local, Const(to % ranks), remote, Const(0)), line, (8, 8))
            yield told(rank, commands.Wait(Const(0)), 22)
        for rank in range(ranks):
            yield told(rank, commands.Barrier(), 23)


def main() -> None:
    started, events, races = time.process_time(), 0, 0
    for part in segments(stencil(RANKS, CELLS, ROUNDS), RANKS):
        exact = NativeExact(in_cells("stencil", Source("stencil.c", ""), Segment(RANKS, 1, part), KNOWN))
        assert exact.look(races=True, attacks=True) and exact.attack() is None
        events, races = events + len(part), races + sum(1 for _ in exact.races())
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{events:,} events, {races} races: {time.process_time() - started:.1f} s of processor time, {used} MB")


if __name__ == "__main__":
    main()
