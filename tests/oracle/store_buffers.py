"""The oracle's machine with a store buffer for each rank, and the verdict by trying every run.

Written from the reading alone (`pgasrob/models/store_buffers/buffered_space.py`, its text): a store waits in the
buffer, what reads takes the latest own store to the cell, steps come behind the stores before their operation, atomics
and barriers take an empty buffer. The order of the accesses to a cell is that in memory. What is visited twice is what
has the same state and the same accesses to every cell in the same order, and nothing less.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .control import Edge
from .expressions import Fault
from .happens_before import is_violating
from .operations import Place
from .readings import Reading
from .semantics import Event, Machine, Run
from .syntax import Await, Barrier, Fetch, Load, Program, Put, Store, numbered

BY_VALUE = Reading(waits="value")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A store in a buffer: where, what, the number of its command, and those of the commands that have read it."""

    place: Place
    value: int
    operation: int
    readers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class BufferedRun:
    run: Run
    buffers: tuple[tuple[Waiting, ...], ...]


class BufferedMachine(Machine):
    """`fences`: whether fences of the calculus and waits empty the buffer, which they do not."""

    def start(self) -> BufferedRun:
        return BufferedRun(self.initial(), ((),) * self.nodes)

    def moves(self, here: BufferedRun) -> Iterator[BufferedRun]:
        run, buffers = here.run, here.buffers
        for rank in range(self.nodes):
            for number, edge in enumerate(self.edges(run, rank)):
                if not isinstance(edge.command, Barrier):
                    yield from self._command(here, rank, number, edge)
            if buffers[rank]:
                yield self._drained(here, rank)
        if not any(buffers):
            for after in self._barriers(run):
                yield BufferedRun(after, buffers)
        for rank, number in run.pending():
            if any(waiting.operation < number for waiting in buffers[rank]):
                continue
            for step, _ in run.issued[rank][number].chain:
                if self.may_happen(run, rank, number, step):
                    yield BufferedRun(self.step(run, rank, number, step), buffers)

    def _command(self, here: BufferedRun, rank: int, number: int, edge: Edge) -> Iterator[BufferedRun]:
        run, buffers = here.run, here.buffers
        own, command = buffers[rank], edge.command
        try:
            values = self.operands(run, rank, number)
        except Fault:
            return
        if isinstance(command, Store):
            operation = len(run.issued[rank])
            after = self._issue(run, rank, edge, values)
            place = after.history[-1].place
            issued = replace(after, memory=run.memory, history=(*run.history, replace(after.history[-1], place=None)))
            waiting = Waiting(place, values["value"], operation)
            yield BufferedRun(issued, self._with(buffers, rank, (*own, waiting)))
            return
        place = None
        if isinstance(command, Put):
            place = (rank, values["local"])
        elif isinstance(command, Load | Await) or (isinstance(command, Fetch) and values["rank"] == rank):
            place = (values.get("rank", rank), values["address"])
        elif any(key in command.exprs for key in ("rank",)) and hasattr(command, "address") and own:
            return  # an atomic, or a fetch from elsewhere
        found = [index for index, waiting in enumerate(own) if place is not None and waiting.place == place]
        seen = run
        if found:
            latest = own[found[-1]]
            memory = [list(cells) for cells in run.memory]
            memory[place[0]][place[1]] = latest.value
            seen = replace(run, memory=tuple(map(tuple, memory)))
        if not self._enabled(seen, rank, command, values) or self.fails(seen, rank, edge, values):
            return
        operation = len(run.issued[rank])
        after = self._issue(seen, rank, edge, values)
        if found:
            after = replace(after, memory=run.memory, history=(*run.history, replace(after.history[-1], place=None)))
            read = replace(latest, readers=(*latest.readers, operation))
            buffers = self._with(buffers, rank, (*own[: found[-1]], read, *own[found[-1] + 1 :]))
        yield BufferedRun(after, buffers)

    def _drained(self, here: BufferedRun, rank: int) -> BufferedRun:
        """The oldest store is put into memory; those who have read it come behind it in the order of the cell."""
        oldest, *left = here.buffers[rank]
        memory = [list(cells) for cells in here.run.memory]
        memory[oldest.place[0]][oldest.place[1]] = oldest.value
        events = [Event("popc", rank, oldest.operation, oldest.place)]
        events += [Event("popa", rank, reader, oldest.place) for reader in oldest.readers]
        run = replace(here.run, memory=tuple(map(tuple, memory)), history=(*here.run.history, *events))
        return BufferedRun(run, self._with(here.buffers, rank, tuple(left)))

    @staticmethod
    def _with(items: tuple, index: int, item: object) -> tuple:
        return (*items[:index], item, *items[index + 1 :])


def violating(program: Program, most: int = 20_000, reading: Reading = BY_VALUE) -> bool | None:
    """Whether some run with store buffers has a cycle; None where there are more than `most` to look at."""
    machine = BufferedMachine(numbered(program), reading=reading)
    stack = [machine.start()]
    seen = {_key(stack[0])}
    while stack:
        here = stack.pop()
        more = list(machine.moves(here))
        if not more and is_violating(here.run.history):
            return True
        for after in more:
            name = _key(after)
            if name not in seen:
                seen.add(name)
                stack.append(after)
        if len(seen) > most:
            return None
    return False


def _key(here: BufferedRun) -> object:
    run = here.run
    by_place: dict[Place, list[tuple]] = {}
    barriers = []
    for event in run.history:
        if event.place is not None:
            by_place.setdefault(event.place, []).append(
                (event.rank, event.operation, event.reads, event.writes, event.commutes)
            )
        if event.kind == "barrier":
            barriers.append((event.rank, event.operation))
    return (
        run.control, run.registers, run.memory, run.issued, tuple(sorted(run.done.items())), here.buffers, run.been,
        tuple(sorted((place, tuple(events)) for place, events in by_place.items())), tuple(barriers),
    )  # fmt: skip
