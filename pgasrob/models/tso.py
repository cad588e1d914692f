"""x86-TSO, the CPUs of one node: store buffers in front of a memory (Owens, Sarkar, Sewell, TPHOLs 2009).

Store buffers are written from that description, and not from RDMA-TSO, which must coincide with it on programs without
remote operations (Theorem 4.6).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pgasrob.models.forms import Forms
from pgasrob.models.litmus import instructions as litmus
from pgasrob.models.litmus.litmus_program import Program
from pgasrob.models.model_interface import Outcomes, Refusal, Refused
from pgasrob.models.operational import Access, Begun, Machine, Option, Queue, Result, Sharing, Step, at, fixed, outcomes
from pgasrob.models.thread_control import Change, Control, Execute, assigned, assumed, value_of
from pgasrob.robustness.watch import Watch

CPU: Queue = ("cpu", -1)
STORE: Queue = ("store", -1)

FORMS = Forms(
    dict.fromkeys(
        (
            litmus.Get,
            litmus.Put,
            litmus.GetAccumulate,
            litmus.RemoteCompareAndSet,
            litmus.Flush,
            litmus.Poll,
            litmus.RemoteFence,
        ),
        "TSO is about the CPUs of one node and has no {word}",
    ),
    non_atomic="TSO has no non-atomic accesses",
)


class Tso:
    """The model; it knows of no network, and of no accesses that are not atomic."""

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
        if refusals := self.refusals(program):
            raise Refused(refusals)
        sharing = Sharing(program)
        threads = [Thread(program, number, sharing, reduced) for number in range(len(program.threads))]
        return Machine(program, threads, sharing.constant if reduced else frozenset())


class Hart(NamedTuple):
    """A hardware thread: control state (-1: it has chosen to end), registers, the stores that are not in memory, the
    oldest first."""

    control: int
    registers: tuple[int, ...]
    buffer: tuple[tuple[int, int], ...] = ()


class Thread(litmus.Visitor[Execute[Hart]]):
    """What a thread does."""

    def __init__(self, program: Program, number: int, sharing: Sharing, reduced: bool) -> None:
        self._program, self._number, self._sharing, self._reduced = program, number, sharing, reduced
        self._control = Control(program.threads[number].graph, self.visit)
        self.initial = Hart(0, (0,) * len(program.threads[number].registers))

    def registers(self, hart: Hart) -> tuple[int, ...]:
        return hart.registers

    def finished(self, hart: Hart) -> bool:
        return not hart.buffer and self._control.ended(hart)

    def options(self, hart: Hart) -> tuple[bool, Sequence[Option]]:
        """First may come what touches registers and the young end of the buffer alone, or a location of this thread."""
        drained = []
        if hart.buffer:
            (location, value), *rest = hart.buffer
            word = (Step(self._number, "drain", None, (), (Access(STORE, 0, location, None, value),)),)
            drained = [fixed(Result(word, hart._replace(buffer=tuple(rest)), ((location, value),)))]
            if self._reduced and self._sharing.own(self._number, location):
                return True, drained
        first, options = self._control.executed(hart)
        return (True, options) if first and self._reduced else (False, options + drained)

    def assign(self, instruction: litmus.Assign) -> Execute[Hart]:
        return assigned(self._number, instruction)

    def assume(self, instruction: litmus.Assume) -> Execute[Hart]:
        return assumed(self._number, instruction)

    def store(self, instruction: litmus.Store) -> Execute[Hart]:
        location, value = self._program.place(instruction.cell), value_of(instruction.value, instruction)
        word = (Step(self._number, "store", instruction, (Begun("lW", location, STORE),)),)

        def execute(hart: Hart) -> Iterator[Change]:
            buffer = (*hart.buffer, (location, value(hart.registers)))
            yield True, fixed(Result(word, hart._replace(buffer=buffer)))

        return execute

    def load(self, instruction: litmus.Load) -> Execute[Hart]:
        """The latest store to the location in the own buffer, or else memory."""
        location = self._program.place(instruction.cell)
        begins, calm = (Begun("lR", location, CPU),), self._sharing.calm(self._number, location)

        def execute(hart: Hart) -> Iterator[Change]:
            own = next((n for n in range(len(hart.buffer) - 1, -1, -1) if hart.buffer[n][0] == location), None)

            def load(value: int) -> Result:
                access = Access(CPU, 0, location, value, None, None if own is None else (STORE, own))
                word = (Step(self._number, "load", instruction, begins, (access,)),)
                return Result(word, hart._replace(registers=at(hart.registers, instruction.register, value)))

            yield calm, Option((location,), load) if own is None else fixed(load(hart.buffer[own][1]))

        return execute

    def compare_and_set(self, instruction: litmus.CompareAndSet) -> Execute[Hart]:
        """It takes an empty buffer. One that fails is a fence and a read."""
        location, register = self._program.place(instruction.cell), instruction.register
        expected, new = value_of(instruction.expected, instruction), value_of(instruction.new, instruction)
        own = self._sharing.own(self._number, location)

        def execute(hart: Hart) -> Iterator[Change]:
            if hart.buffer:
                yield False, None
                return
            held, written = expected(hart.registers), new(hart.registers)

            def compare(value: int) -> Result:
                then = hart if register is None else hart._replace(registers=at(hart.registers, register, value))
                if value == held:
                    accesses: tuple[Access, ...] = (Access(CPU, 0, location, value, written),)
                    step = Step(self._number, "CAS", instruction, (Begun("CAS", location, CPU),), accesses)
                    return Result((step,), then, ((location, written),))
                begins = (Begun("F", None, CPU), Begun("lR", location, CPU))
                accesses = (Access(CPU), Access(CPU, 0, location, value))
                return Result((Step(self._number, "failed CAS", instruction, begins, accesses),), then)

            yield own, Option((location,), compare)

        return execute

    def memory_fence(self, instruction: litmus.MemoryFence) -> Execute[Hart]:
        word = (Step(self._number, "mfence", instruction, (Begun("F", None, CPU),), (Access(CPU),)),)

        def execute(hart: Hart) -> Iterator[Change]:
            yield (False, None) if hart.buffer else (True, fixed(Result(word, hart)))

        return execute

    get = put = get_accumulate = remote_compare_and_set = litmus.refused
    flush = poll = remote_fence = litmus.refused
