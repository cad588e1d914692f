"""X(P, N) with a store buffer for each rank, as x86 processors have them (Ambal et al. 2024, section 3).

What is added to X(P, N) (`semantics.state_space`, the design, section 2) is this, decided for every shape of command in
`analysis.store_buffers.buffering`:

- A store of the processor goes into the buffer of its rank, also one to memory that it shares with other ranks. The
  oldest store in a buffer may be put into memory at any time.
- A load (and an await, a poll, and the read of a source that is captured) takes the latest store to its cell in the own
  buffer; if there is none, what is in memory.
- A transfer of any kind goes through the buffer: none of its steps happens while a store from before its issue is in
  the buffer. Its issue waits for nothing, and later stores need not wait for it.
- What reads and writes at its issue (blocking atomics) is a locked instruction at home and a round trip elsewhere, a
  blocking fetch from another rank is a round trip, a barrier is left when all have arrived through their buffers, and a
  full fence is one: they take an empty buffer; of a barrier, of all ranks.
- `wait`, `wait_local` and `fence` do what they do in X: they wait for, or order, steps of transfers, which come after
the earlier stores. Where nothing is pending they empty no buffer.

A computation is a run at whose end nothing is pending and all buffers are empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from pgasrob.analysis.store_buffers import Buffering, StoreBuffers, buffering
from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Cell, Operands
from pgasrob.program.instance import Instance, Memory, refuse_threads
from pgasrob.semantics import state_space
from pgasrob.semantics.effect import issue, put
from pgasrob.semantics.state_space import Letter, StateSpace, issue_pending, issued


class Buffered(NamedTuple):
    """A store in a buffer."""

    cell: Cell
    value: int


class State(NamedTuple):
    """A state of X, for each rank the stores in its buffer, oldest first, and for each of its pending operations how
    many of them are from before it."""

    x: state_space.State
    buffers: tuple[tuple[Buffered, ...], ...]
    before: tuple[tuple[int, ...], ...]


class Move(NamedTuple):
    """An event.

    ``letter``: that of X; of a store that is put into memory, that of the store, with its cell. ``how``: an "issue", a
    "buffered" store (nothing happens to memory), a "drain", or a "step" of a transfer. ``source``: of a read from the
    own buffer, the place of the store in it, from the oldest.
    """

    letter: Letter
    how: Literal["issue", "buffered", "drain", "step"]
    source: int | None = None


class BufferedSpace:
    """The machine as an automaton.

    ``known``: the result of `analysis.store_buffers`. With it stores that cannot be overtaken are put into memory at
    once, when the buffer is empty, and there are fewer states; happens-before may become the same
    (`proofs/store-buffers.md`). Without it every store goes into the buffer.
    """

    def __init__(self, instance: Instance, known: StoreBuffers | None = None) -> None:
        refuse_threads(instance.program, "a memory model with store buffers")
        self.instance = instance
        self._x = StateSpace(instance)
        self._known = known
        nodes = instance.nodes
        self.initial = State(self._x.initial, ((),) * nodes, ((),) * nodes)

    def is_final(self, state: State) -> bool:
        return not any(state.buffers) and self._x.is_final(state.x)

    def successors(self, state: State) -> Iterator[tuple[tuple[Move, ...], State]]:
        for rank in range(self.instance.nodes):
            yield from self._issues_of(state, rank)
        if not any(state.buffers):
            yield from self._barriers(state)
        yield from self.drains(state)

    def drains(self, state: State) -> Iterator[tuple[tuple[Move, ...], State]]:
        """The moves that need no command to be issued."""
        for rank in range(self.instance.nodes):
            if state.buffers[rank]:
                yield self._drain(state, rank)
            yield from self._steps(state, rank)

    def _issues_of(self, state: State, rank: int) -> Iterator[tuple[tuple[Move, ...], State]]:
        x, instance = state.x, self.instance
        control, registers, buffer = x.control[rank], x.registers[rank], state.buffers[rank]
        for transition, operands in instance.evaluated(rank, control, registers):
            made = core.at_issue(operands)
            own = made is None or instance.owner(made.cell) == rank
            way = buffering(transition.command, operands, own)
            if way is Buffering.STORES and self._at_once(rank, control, transition, operands, buffer):
                # A store to a cell that no other rank accesses may be overtaken by anything, and overtakes nothing.
                way = Buffering.NOTHING if not buffer else Buffering.EMPTY
            if way is Buffering.EMPTY and buffer:
                continue
            seen, source = x.memory, None
            if way is Buffering.LOADS and made is not None:
                seen, source = _seen(x.memory, buffer, made.cell)
            pending = issue_pending(instance, operands, seen, x.pending[rank])
            done = issue(operands, registers, seen)
            if pending is None or done is None:
                continue
            changed, memory = done
            before, buffers = state.before, state.buffers
            if way is Buffering.STORES:
                assert isinstance(operands, core.Immediate) and operands.update is not None
                assert operands.update.operand is not None and made is not None
                buffers = put(buffers, rank, (*buffer, Buffered(made.cell, operands.update.operand)))
            if isinstance(operands, core.Transfer):
                before = put(before, rank, (*before[rank], len(buffer)))
            target = state_space.State(
                put(x.control, rank, transition.target),
                put(x.registers, rank, changed),
                x.memory if way is Buffering.STORES or way is Buffering.LOADS else memory,
                put(x.pending, rank, pending),
            )
            move = Move(issued(rank, transition, operands), "buffered" if way is Buffering.STORES else "issue", source)
            yield (move,), State(target, buffers, before)

    def _at_once(
        self, rank: int, control: int, transition: Transition, operands: Operands, buffer: tuple[Buffered, ...]
    ) -> bool:
        """Whether a store goes to memory at once, when the buffer is empty, and not into the buffer."""
        if self._known is None:
            return False
        site, made = (rank, control, transition.occurrence), core.at_issue(operands)
        assert made is not None
        if self._known.late.get(site, 0) >> made.cell & 1:
            return False
        return not buffer or bool(self._known.shared.get(site, 0) >> made.cell & 1)

    def _barriers(self, state: State) -> Iterator[tuple[tuple[Move, ...], State]]:
        for arrivals in self.instance.barriers(state.x.control):
            word = tuple(Move(letter, "issue") for letter in state_space.barrier_word(self.instance, arrivals))
            control = state_space.behind(state.x.control, arrivals)
            yield word, state._replace(x=state.x._replace(control=control))

    def _drain(self, state: State, rank: int) -> tuple[tuple[Move, ...], State]:
        oldest, *left = state.buffers[rank]
        move = Move(Letter("store", rank, oldest.cell, 0), "drain")
        return (move,), State(
            state.x._replace(memory=put(state.x.memory, oldest.cell, oldest.value)),
            put(state.buffers, rank, tuple(left)),
            put(state.before, rank, tuple(max(0, count - 1) for count in state.before[rank])),
        )

    def _steps(self, state: State, rank: int) -> Iterator[tuple[tuple[Move, ...], State]]:
        place = -1
        for position, entry in enumerate(state.x.pending[rank]):
            if not isinstance(entry, state_space.Operation):
                continue
            place += 1
            edge = None if state.before[rank][place] else self._x.step(state.x, rank, position)
            if edge is not None:
                (letter,), x = edge
                before = state.before[rank]
                if letter.last:
                    before = (*before[:place], *before[place + 1 :])
                yield (Move(letter, "step"),), State(x, state.buffers, put(state.before, rank, before))


def _seen(memory: Memory, buffer: tuple[Buffered, ...], cell: Cell) -> tuple[Memory, int | None]:
    """The memory that a load of ``cell`` sees, and the place of the store in the buffer that it takes it from."""
    for place in reversed(range(len(buffer))):
        if buffer[place].cell == cell:
            return put(memory, cell, buffer[place].value), place
    return memory, None
