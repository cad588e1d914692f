"""The events of each instruction in RDMA-TSO (Definitions 4.1 and 4.3), and which operation each poll polls (pf)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from pgasrob.models.candidate_executions import Candidate, Path, paths_of
from pgasrob.models.litmus import instructions as litmus
from pgasrob.models.litmus.litmus_program import Program
from pgasrob.models.rdma_tso.orders import Rules
from pgasrob.program.expressions import INT32, Binary, Const, Register

NIC_WRITES = frozenset(("nlW", "nrW"))


Ways = Sequence[Callable[[], object]]
"""The alternatives for an instruction, each of which adds its events to a path."""


def expand(path: Path, instruction: litmus.Instruction) -> Ways:
    """The events of an instruction (Definition 4.1). A failed CAS is an F and an lR: it waits for the store buffer."""
    return _Expanding(path).visit(instruction)


class _Expanding(litmus.Visitor[Ways]):
    def __init__(self, path: Path) -> None:
        self._path, self._place = path, path.program.place

    def _set(self, register: int | None, slot: int) -> None:
        if register is not None:
            self._path.registers[register] = slot

    def load(self, instruction: litmus.Load) -> Ways:
        location = self._place(instruction.cell)
        return (lambda: self._set(instruction.register, self._path.read("lR", location)),)

    def store(self, instruction: litmus.Store) -> Ways:
        location = self._place(instruction.cell)
        return (lambda: self._path.write("lW", location, self._path.computed(instruction.value)),)

    def assign(self, instruction: litmus.Assign) -> Ways:
        return (lambda: self._set(instruction.register, self._path.computed(instruction.value)),)

    def assume(self, instruction: litmus.Assume) -> Ways:
        path, condition = self._path, instruction.condition

        def assumed() -> None:
            match condition:
                case Binary("==", Register(_, index), Const() as constant):
                    path.fix(path.registers[index], path.computed(constant))
            path.require(path.computed(condition))

        return (assumed,)

    def memory_fence(self, instruction: litmus.MemoryFence) -> Ways:
        return (lambda: self._path.add("F"),)

    def compare_and_set(self, instruction: litmus.CompareAndSet) -> Ways:
        path, location = self._path, self._place(instruction.cell)

        def succeeds() -> None:
            wanted, written = path.computed(instruction.expected), path.computed(instruction.new)
            event, old = path.update("CAS", location)
            path.written[event] = written
            path.fix(old, wanted)
            path.require(path.function(_equal, old, wanted))
            self._set(instruction.register, old)

        def fails() -> None:
            wanted = path.computed(instruction.expected)
            path.add("F")
            old = path.read("lR", location)
            path.require(path.function(_equal, old, wanted), False)
            self._set(instruction.register, old)

        return succeeds, fails

    def _operation(self, instruction: litmus.Get | litmus.Put) -> Ways:
        """The adapter reads, then writes what it has read."""
        path, node = self._path, self._path.program.node_of(instruction.remote)
        source, target = litmus.accesses(instruction)
        reads, writes = ("nrR", "nlW") if source.stage == "fetch" else ("nlR", "nrW")

        def copied() -> None:
            slot = path.read(reads, self._place(source.cell), towards=node)
            path.write(writes, self._place(target.cell), slot, towards=node)

        return (copied,)

    get = put = _operation

    def poll(self, instruction: litmus.Poll) -> Ways:
        return (lambda: self._path.add("P", towards=instruction.node),)

    def remote_fence(self, instruction: litmus.RemoteFence) -> Ways:
        return (lambda: self._path.add("nF", towards=instruction.node),)

    def nic_compare_and_set(self, instruction: litmus.NicCompareAndSet) -> Ways:
        """One that fails only fetches."""
        path = self._path

        def succeeds() -> None:
            wanted, written = path.computed(instruction.expected), path.computed(instruction.new)
            old = self._fetched(instruction)
            path.fix(old, wanted)
            path.require(path.function(_equal, old, wanted))
            self._answered(instruction, old, written)

        def fails() -> None:
            wanted, old = path.computed(instruction.expected), self._fetched(instruction)
            path.require(path.function(_equal, old, wanted), False)
            self._answered(instruction, old, None)

        return succeeds, fails

    def nic_fetch_add(self, instruction: litmus.NicFetchAdd) -> Ways:
        path = self._path

        def added() -> None:
            operand, old = path.computed(instruction.operand), self._fetched(instruction)
            self._answered(instruction, old, path.function(_sum, old, operand))

        return (added,)

    def _fetched(self, instruction: litmus.NicAtomic) -> int:
        node = self._path.program.node_of(instruction.remote)
        return self._path.read("naR", self._place(instruction.remote), towards=node)

    def _answered(self, instruction: litmus.NicAtomic, old: int, written: int | None) -> None:
        """The NIC writes, if it does, and then the answer lands."""
        node = self._path.program.node_of(instruction.remote)
        if written is not None:
            self._path.write("naW", self._place(instruction.remote), written, towards=node)
        self._path.write("nlW", self._place(instruction.local), old, towards=node)

    get_accumulate = remote_compare_and_set = flush = litmus.refused


def kinds_in_order(program: Program) -> set[tuple[str, str]]:
    """The pairs of types of events that some thread of ``program`` has one before the other."""
    found = set()
    for thread in range(len(program.threads)):
        for path in paths_of(program, thread, expand):
            kinds = [action.kind for action in path.actions]
            found |= {(kind, later) for place, kind in enumerate(kinds) for later in kinds[place + 1 :]}
    return found


def _equal(values: Sequence[int]) -> int:
    return int(values[0] == values[1])


def _sum(values: Sequence[int]) -> int:
    return INT32.wrap(values[0] + values[1])


def same_queue_pair(candidate: Candidate, first: int, second: int) -> bool:
    """sqp: of one thread, towards one node."""
    one, other = candidate.actions[first], candidate.actions[second]
    return one.thread == other.thread and one.towards == other.towards is not None


def polls_from(candidate: Candidate, rules: Rules) -> Iterator[dict[int, int]]:
    """The choices of pf: the write of the operation that each poll polls. There is one choice, or none when a poll has
    no operation to wait for, unless the rules that determine it are left out."""
    actions = candidate.actions
    polls = [number for number, action in enumerate(actions) if action.kind == "P"]
    earlier = [
        [w for w in range(poll) if actions[w].kind in NIC_WRITES and same_queue_pair(candidate, w, poll)]
        for poll in polls
    ]
    if rules.has("pf.oldest") and rules.has("pf.once"):
        counts: dict[tuple[int, int | None], int] = {}
        found = {}
        for poll, writes in zip(polls, earlier, strict=True):
            pair = (actions[poll].thread, actions[poll].towards)
            place = counts.get(pair, 0)
            if place == len(writes):
                return
            counts[pair] = place + 1
            found[poll] = writes[place]
        yield found
        return
    for chosen in product(*earlier):
        if rules.has("pf.once") and len(set(chosen)) < len(chosen):
            continue
        if rules.has("pf.oldest") and not all(
            any(other == write and before < poll for before, other in zip(polls, chosen, strict=True))
            for poll, polled, writes in zip(polls, chosen, earlier, strict=True)
            for write in writes
            if write < polled
        ):
            continue
        yield dict(zip(polls, chosen, strict=True))
