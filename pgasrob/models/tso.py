"""x86-TSO as an operational model: the CPUs of one node with their store buffers (Owens, Sarkar, Sewell, TPHOLs 2009).

Its rules follow that description, and not RDMA-TSO, which must coincide with it on programs without remote operations
(Theorem 4.6): the tests compare the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pgasrob.models.forms import Forms
from pgasrob.models.litmus import instructions as litmus
from pgasrob.models.litmus.litmus_program import Program
from pgasrob.models.model_interface import Outcomes, Refusal
from pgasrob.models.operational import Access, Begun, Machine, Option, Result, Sharing, Step, fixed, outcomes
from pgasrob.models.thread_control import STORE, Change, Control, Execute, MachineThread, value_of
from pgasrob.robustness.watch import Watch

FORMS = Forms(
    dict.fromkeys(
        (
            litmus.Get,
            litmus.Put,
            litmus.GetAccumulate,
            litmus.RemoteCompareAndSet,
            litmus.NicCompareAndSet,
            litmus.NicFetchAdd,
            litmus.Flush,
            litmus.Poll,
            litmus.RemoteFence,
        ),
        "TSO is about the CPUs of one node and has no {word}",
    ),
    non_atomic="TSO has no non-atomic accesses",
)


class Tso:
    """The model, which has no network and no non-atomic accesses."""

    name = "tso"
    semantics = None
    variant = ""

    def refusals(self, program: Program) -> tuple[Refusal, ...]:
        return FORMS.refusals(program)

    def outcomes(self, program: Program, watch: Watch | None = None) -> Outcomes:
        """All outcomes. Raises :class:`Refused`."""
        return outcomes(self.machine(program), watch)

    def machine(self, program: Program, reduced: bool = True) -> Machine[Hart]:
        """The machine that runs ``program``. Raises :class:`Refused`."""
        FORMS.require(program)
        sharing = Sharing(program)
        threads = [Thread(program, number, sharing, reduced) for number in range(len(program.threads))]
        return Machine(program, threads, sharing.constant if reduced else frozenset())


class Hart(NamedTuple):
    """A hardware thread: control state (-1: it has chosen to end), registers, the stores that are not in memory yet,
    the oldest first."""

    control: int
    registers: tuple[int, ...]
    buffer: tuple[tuple[int, int], ...] = ()


class Thread(MachineThread[Hart], litmus.Visitor[Execute[Hart]]):
    """A thread with its store buffer; its stores reach memory in their order."""

    def __init__(self, program: Program, number: int, sharing: Sharing, reduced: bool) -> None:
        super().__init__(program, number, sharing, reduced)
        self._control = Control(program.threads[number].graph, self.visit)
        self.initial = Hart(0, (0,) * len(program.threads[number].registers))

    def finished(self, hart: Hart) -> bool:
        return not hart.buffer and self._control.ended(hart)

    def options(self, hart: Hart) -> tuple[bool, Sequence[Option]]:
        """First may come what only touches registers or the young end of the buffer, and a store to a location that no
        other thread accesses."""
        drained = []
        if hart.buffer:
            (location, value), *rest = hart.buffer
            word = (Step(self.number, "drain", None, (), (Access(STORE, 0, location, None, value),)),)
            drained = [fixed(Result(word, hart._replace(buffer=tuple(rest)), ((location, value),)))]
            if self.reduced and self.sharing.own(self.number, location):
                return True, drained
        first, options = self._control.executed(hart)
        return (True, options) if first and self.reduced else (False, options + drained)

    def store(self, instruction: litmus.Store) -> Execute[Hart]:
        location, value = self.program.place(instruction.cell), value_of(instruction.value, instruction)
        word = (Step(self.number, "store", instruction, (Begun("lW", location, STORE),)),)

        def execute(hart: Hart) -> Iterator[Change]:
            buffer = (*hart.buffer, (location, value(hart.registers)))
            yield True, fixed(Result(word, hart._replace(buffer=buffer)))

        return execute

    def load(self, instruction: litmus.Load) -> Execute[Hart]:
        """It reads the latest store to the location in the own buffer, or else memory."""
        location = self.program.place(instruction.cell)
        calm = self.sharing.calm(self.number, location)

        def execute(hart: Hart) -> Iterator[Change]:
            own = next((n for n in range(len(hart.buffer) - 1, -1, -1) if hart.buffer[n][0] == location), None)
            if own is None:
                yield calm, Option((location,), lambda value: self.loaded(instruction, hart, value))
            else:
                yield calm, fixed(self.loaded(instruction, hart, hart.buffer[own][1], own))

        return execute

    def compare_and_set(self, instruction: litmus.CompareAndSet) -> Execute[Hart]:
        """It waits until the buffer is empty."""
        location, compared = self.program.place(instruction.cell), self.compares(instruction)
        own = self.sharing.own(self.number, location)

        def execute(hart: Hart) -> Iterator[Change]:
            yield (False, None) if hart.buffer else (own, Option((location,), compared(hart)))

        return execute

    def memory_fence(self, instruction: litmus.MemoryFence) -> Execute[Hart]:
        return self.waiting(self.mfence(instruction), lambda hart: hart.buffer)

    get = put = get_accumulate = remote_compare_and_set = litmus.refused
    nic_compare_and_set = nic_fetch_add = litmus.refused
    flush = poll = remote_fence = litmus.refused
