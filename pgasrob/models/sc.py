"""Sequential consistency as an operational model: instructions access one memory, one after the other.

``merged``: a put, a get or a remote atomic is one step, as an operation is one node of happens-before in the theory of
robustness. ``split``: it reads and writes in steps of their own, one after the other, and others may come between. A
poll waits for an operation of its thread that has not been polled; flushes and fences have nothing to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from pgasrob.models.litmus import instructions as litmus
from pgasrob.models.litmus.litmus_program import Program
from pgasrob.models.model_interface import Outcomes, Refusal
from pgasrob.models.operational import Access, Begun, Machine, Option, Queue, Result, Sharing, Step, at, fixed, outcomes
from pgasrob.models.thread_control import Change, Control, Execute, MachineThread, value_of, with_register
from pgasrob.program.expressions import INT32
from pgasrob.robustness.watch import Watch

Semantics = Literal["merged", "split"]

Written = Callable[[Sequence[int], Sequence[int]], int | None]
"""The value that an access writes, computed from the registers and from what the instruction's accesses have read so
far, this one included (0 for one that only writes); None where it writes nothing."""


class Part(NamedTuple):
    """An access of an instruction. ``written``: None where it does not write."""

    kind: str
    queue: Queue
    location: int
    reads: bool
    written: Written | None = None


class Sc:
    """The model. It takes every instruction."""

    name = "sc"

    def __init__(self, semantics: Semantics = "merged") -> None:
        self.semantics: Semantics = semantics

    @property
    def variant(self) -> str:
        """Unlike the semantics of other models these two differ in their outcomes."""
        return "split" if self.semantics == "split" else ""

    def refusals(self, program: Program) -> tuple[Refusal, ...]:
        return ()

    def outcomes(self, program: Program, watch: Watch | None = None) -> Outcomes:
        """All outcomes. Raises Refused when an expression has no value in some run."""
        return outcomes(self.machine(program), watch)

    def machine(self, program: Program, reduced: bool = True) -> Machine[Local]:
        sharing, split = Sharing(program), self.semantics == "split"
        threads = [Thread(program, number, sharing, split, reduced) for number in range(len(program.threads))]
        return Machine(program, threads, sharing.constant if reduced else frozenset())


class Local(NamedTuple):
    """A state of a thread: control state (-1: it has chosen to end), registers, how many operations to each node have
    not been polled. ``halfway``: of an instruction that has made some of its accesses, its number in ``Thread._parts``
    and what they have read; the control state is already the one after it."""

    control: int
    registers: tuple[int, ...]
    unpolled: tuple[int, ...]
    halfway: tuple[int, tuple[int, ...]] | None = None


class Thread(MachineThread[Local], litmus.Visitor[Execute[Local]]):
    """A thread; ``split``: its operations read and write in steps of their own."""

    def __init__(self, program: Program, number: int, sharing: Sharing, split: bool, reduced: bool) -> None:
        super().__init__(program, number, sharing, reduced)
        thread = program.threads[number]
        self._split = split
        nodes = sorted({each.node for each in thread.graph.instructions if isinstance(each, litmus.Poll)})
        self._polled = {node: place for place, node in enumerate(nodes)}
        self._parts: list[tuple[litmus.Instruction, tuple[Part, ...]]] = []
        self._control = Control(thread.graph, self.visit)
        self.initial = Local(0, (0,) * len(thread.registers), (0,) * len(nodes))

    def finished(self, local: Local) -> bool:
        return local.halfway is None and self._control.ended(local)

    def options(self, local: Local) -> tuple[bool, Sequence[Option]]:
        """First may come accesses to locations that no other thread writes (for writes: accesses)."""
        if local.halfway is not None:
            first, option = self._accessed(local, local.halfway[0], local.halfway[1])
            return first and self.reduced, (option,)
        first, options = self._control.executed(local)
        return first and self.reduced, options

    # Instructions

    def _nothing(self, instruction: litmus.Instruction) -> Execute[Local]:
        return self.waiting(Step(self.number, "fence", instruction))

    memory_fence = flush = remote_fence = _nothing

    def poll(self, instruction: litmus.Poll) -> Execute[Local]:
        node = instruction.node
        queue: Queue = ("cpu", node)
        word = (Step(self.number, "poll", instruction, (Begun("P", None, queue),), (Access(queue),)),)

        def execute(local: Local) -> Iterator[Change]:
            waits = not local.unpolled[self._polled[node]]
            yield True, None if waits else fixed(Result(word, local._replace(unpolled=self._counted(local, node, -1))))

        return execute

    def load(self, instruction: litmus.Load) -> Execute[Local]:
        return self._accesses(instruction, {})

    def store(self, instruction: litmus.Store) -> Execute[Local]:
        value = value_of(instruction.value, instruction)
        return self._accesses(instruction, {"cpu": lambda registers, read: value(registers)})

    def compare_and_set(self, instruction: litmus.CompareAndSet) -> Execute[Local]:
        expected, new = value_of(instruction.expected, instruction), value_of(instruction.new, instruction)

        def written(registers: Sequence[int], read: Sequence[int]) -> int | None:
            held, put = expected(registers), new(registers)
            return put if read[0] == held else None

        return self._accesses(instruction, {"cpu": written})

    def put(self, instruction: litmus.Put) -> Execute[Local]:
        return self._accesses(instruction, {"place": lambda registers, read: read[0]})

    def get(self, instruction: litmus.Get) -> Execute[Local]:
        return self._accesses(instruction, {"land": lambda registers, read: read[0]})

    def get_accumulate(self, instruction: litmus.GetAccumulate) -> Execute[Local]:
        return self._accesses(
            instruction,
            {
                "fetch": lambda registers, read: INT32.wrap(read[0] + read[1]),
                "land": lambda registers, read: read[1],
            },
        )

    def remote_compare_and_set(self, instruction: litmus.RemoteCompareAndSet) -> Execute[Local]:
        return self._accesses(
            instruction,
            {
                "fetch": lambda registers, read: read[1] if read[2] == read[0] else None,
                "land": lambda registers, read: read[2],
            },
        )

    def nic_compare_and_set(self, instruction: litmus.NicCompareAndSet) -> Execute[Local]:
        expected, new = value_of(instruction.expected, instruction), value_of(instruction.new, instruction)

        def written(registers: Sequence[int], read: Sequence[int]) -> int | None:
            held, put = expected(registers), new(registers)
            return put if read[0] == held else None

        return self._accesses(instruction, {"update": written, "land": lambda registers, read: read[0]})

    def nic_fetch_add(self, instruction: litmus.NicFetchAdd) -> Execute[Local]:
        added = value_of(instruction.operand, instruction)
        return self._accesses(
            instruction,
            {
                "update": lambda registers, read: INT32.wrap(read[0] + added(registers)),
                "land": lambda registers, read: read[0],
            },
        )

    # Accesses

    def _accesses(self, instruction: litmus.Instruction, written: dict[litmus.Stage, Written]) -> Execute[Local]:
        """Executes ``instruction``: its accesses, of which those that write get their value from ``written``."""
        node = litmus.node_of(instruction, self.program.owners)
        number, parts = len(self._parts), []
        for stage, cell, reads, writes in litmus.accesses(instruction):
            queue: Queue = (stage, -1 if node is None else node)
            atomic = isinstance(instruction, litmus.NicAtomic) and stage == "fetch"
            kind = "naR" if atomic else KINDS[stage, reads, writes]
            parts.append(Part(kind, queue, self.program.place(cell), reads, written[stage] if writes else None))
        self._parts.append((instruction, tuple(parts)))

        def execute(local: Local) -> Iterator[Change]:
            yield self._accessed(local, number, ())

        return execute

    def _accessed(self, local: Local, number: int, before: tuple[int, ...]) -> tuple[bool, Option]:
        """The next accesses of instruction ``number``, those made having read the values ``before``: all that are left,
        or one."""
        instruction, parts = self._parts[number]
        begins = () if local.halfway else tuple(Begun(part.kind, part.location, part.queue) for part in parts)
        following = parts[len(before) :]
        if self._split and isinstance(instruction, litmus.Remote):
            following = following[:1]
        last = following[-1] is parts[-1]
        name, letter = ("access", None) if local.halfway else (type(instruction).__name__, instruction)

        def then(*read: int) -> Result:
            values, accesses, writes = list(before), [], dict[int, int]()
            fresh = iter(read)
            for part in following:
                value = None
                if part.reads:
                    value = writes.get(part.location, next(fresh))
                values.append(value or 0)
                written = None if part.written is None else part.written(local.registers, values)
                accesses.append(Access(part.queue, 0, part.location, value, written))
                if written is not None:
                    writes[part.location] = written
            word = (Step(self.number, name, letter, begins, tuple(accesses)),)
            if not last:
                return Result(word, local._replace(halfway=(number, tuple(values))), tuple(writes.items()))
            after = local._replace(halfway=None)
            if isinstance(instruction, litmus.Load | litmus.CompareAndSet):
                after = with_register(after, instruction.register, values[0])
            if isinstance(instruction, litmus.Remote):
                node = self.program.node_of(instruction.remote)
                after = after._replace(unpolled=self._counted(local, node, 1))
            return Result(word, after, tuple(writes.items()))

        first = all(
            (self.sharing.calm if part.written is None else self.sharing.own)(self.number, part.location)
            for part in following
        )
        return first, Option(tuple(part.location for part in following if part.reads), then)

    def _counted(self, local: Local, node: int, change: int) -> tuple[int, ...]:
        """The numbers of operations that have not been polled, with ``change`` more to ``node``."""
        mine = self._polled.get(node)
        return local.unpolled if mine is None else at(local.unpolled, mine, local.unpolled[mine] + change)


KINDS: dict[tuple[litmus.Stage, bool, bool], str] = {
    ("cpu", True, False): "lR",
    ("cpu", False, True): "lW",
    ("cpu", True, True): "CAS",
    ("source", True, False): "nlR",
    ("place", False, True): "nrW",
    ("fetch", True, False): "nrR",
    ("fetch", True, True): "nrRW",
    ("update", False, True): "naW",
    ("land", False, True): "nlW",
}
"""RDMA-TSO's name for the event of an access, by its stage and whether it reads and writes; the read of a remote
atomic there is an naR."""
