"""Executes the commands of a thread in a run in normal form: which of their accesses come late
(`proofs/rdma-normal-form.md`, section 3).

A run in normal form is a sequentially consistent one but for one *source*, an access that comes late, and what has to
come late because of it. Commands read what a sequentially consistent run has in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from pgasrob.models.litmus import instructions as litmus
from pgasrob.models.litmus.litmus_program import Program
from pgasrob.models.operational import Queue, at
from pgasrob.models.rdma_tso.delays import UNBOUNDED, Delays, Orders, Pair, Variant
from pgasrob.models.rdma_tso.processor import node_of, request_of
from pgasrob.models.thread_control import value_of

HUNG = -1
"""The control state of a thread that is in a command which ends after everything else."""

Writer = tuple[Literal["store", "place", "land", "returned", ""], int, int]
"""Who writes late: what writes, the thread, the queue pair. "returned": a get that lands late, with an rfence behind it
that has passed; "": one whose write no read of the thread can see before it is in memory."""


class Access(NamedTuple):
    """An access of a command. ``queue``: where it waits, as of :data:`pgasrob.models.operational.Queue`; ``buffered``:
    it reads a late write of its own thread that is in a buffer yet; ``atomic``: it is the read or the write of a remote
    atomic, which writes nothing if it fails; ``place``: the number of its instruction."""

    location: int
    reads: bool
    writes: bool
    late: bool
    queue: Queue
    buffered: bool = False
    atomic: bool = False
    place: int = 0

    def conflicts(self, location: int, writes: bool) -> bool:
        """Whether it conflicts with an access to ``location`` that ``writes`` or reads."""
        return self.location == location and (self.writes or writes)


class Touched(NamedTuple):
    """Locations that have been read, and that have been written."""

    reads: frozenset[int] = frozenset()
    writes: frozenset[int] = frozenset()

    def hit_by(self, location: int, writes: bool) -> bool:
        """Whether an access conflicts with one of these."""
        return location in self.writes or (writes and location in self.reads)

    def and_also(self, accesses: Sequence[Access]) -> Touched:
        reads = self.reads.union(access.location for access in accesses if access.reads)
        return Touched(reads, self.writes.union(access.location for access in accesses if access.writes))


class Attack(NamedTuple):
    """What there is of a violation. The source is an access to ``location`` that ``writes`` or reads. ``threads``,
    ``touched``: those of commands that come after the source, and what they have accessed; ``late``: what they access
    late. ``before``: the values in memory of locations that are written late; ``latest``: who writes them last;
    ``own``: all who write ``location`` late. ``atomics``: the nodes on which remote atomics come late; ``torn``: one
    of them has read, and its write is the source."""

    location: int
    writes: bool
    threads: frozenset[int]
    touched: Touched
    late: Touched
    before: frozenset[tuple[int, int]]
    latest: frozenset[tuple[int, Writer]]
    own: frozenset[Writer]
    atomics: frozenset[int]
    torn: bool = False


class State(NamedTuple):
    """The state of a sequentially consistent run, with what is late of each thread, and how many operations of each
    pair of each thread can be polled."""

    controls: tuple[int, ...]
    registers: tuple[tuple[int, ...], ...]
    memory: tuple[int, ...]
    delays: tuple[Delays, ...]
    attack: Attack | None
    polls: tuple[tuple[int, ...], ...]


class Command(NamedTuple):
    """Instructions that are one command, and the control state behind them."""

    instructions: tuple[litmus.Instruction, ...]
    target: int


class Issue(litmus.Visitor[bool]):
    """A command of ``thread`` that is executed in ``state``. Each method says whether the instruction can be.

    ``source``: which access of the command is the source of the attack, None for none. ``last``: it is the last command
    of the run, whose accesses come late only where the thread's own do. ``hangs``: it waits for something late behind
    its first access, or loads late, and only the first ``executed`` of its instructions come early.
    """

    def __init__(self, program: Program, variant: Variant, nodes: Sequence[int], state: State, thread: int) -> None:
        self._program, self._variant, self._nodes, self._state, self._thread = program, variant, nodes, state, thread
        self._orders = Orders(variant)
        self.registers = state.registers[thread]
        self.memory = list(state.memory)
        self.delays = state.delays[thread]
        self.polls = list(state.polls[thread])
        self.accesses: list[Access] = []
        self.writers: list[tuple[int, Writer]] = []
        self.source: int | None = None
        self.last = self.hangs = False
        self._place = self.executed = 0
        self._attack = state.attack
        self._latest = dict(state.attack.latest) if state.attack else {}
        self._before = dict(state.attack.before) if state.attack else {}
        self._own = state.attack.own if state.attack else frozenset[Writer]()

    def execute(self, command: Command, source: int | None = None, last: bool = False) -> bool:
        """Whether ``command`` can be executed; then the attributes say what has become of the thread and memory."""
        self.source, self.last = source, last
        for self._place, instruction in enumerate(command.instructions):
            if not self.hangs:
                self.executed = self._place
            if not self.visit(instruction):
                return False
        self.executed += not self.hangs
        return True

    def _access(self, access: Access, seen: bool = False) -> bool:
        """Note an access that is late if one of the thread that comes late has to come before, and whether it comes
        late. ``seen``: what it reads is a late write of its thread that it sees before that is in memory."""
        late = access.late or self.hangs or len(self.accesses) == self.source
        if not late and not self.last and not seen:
            late = self._hits(access.location, access.writes)
        buffered = access.buffered or (seen and not late and not self.last)
        self.accesses.append(access._replace(late=late, buffered=buffered, place=self._place))
        return late

    def _hits(self, location: int, writes: bool) -> bool:
        return self._attack is not None and self._attack.late.hit_by(location, writes)

    def _written(self, location: int, value: int, late: bool, writer: Writer) -> None:
        if late:
            self.writers.append((location, writer))
            self._before.setdefault(location, self.memory[location])
        self.memory[location] = value

    def _in_memory(self, location: int) -> int:
        """The value that a command reads there: the last one what is in memory before anything that comes late, or what
        it has written itself: it loads what it has fetched behind all that comes late."""
        early = self.last and all(location != written for written, _ in self.writers)
        return self._before.get(location, self.memory[location]) if early else self.memory[location]

    # The CPU

    def assign(self, instruction: litmus.Assign) -> bool:
        self._set(instruction.register, value_of(instruction.value, instruction)(self.registers))
        return True

    def _set(self, register: int | None, value: int) -> None:
        if register is not None:
            self.registers = at(self.registers, register, value)

    def assume(self, instruction: litmus.Assume) -> bool:
        return bool(value_of(instruction.condition, instruction)(self.registers))

    def load(self, instruction: litmus.Load) -> bool:
        """It sees the latest late write to the location if that is a store of its own thread, in the store buffer; else
        it cannot come before that write, unless it is the last command. A later part of a command may come late."""
        location = self._program.place(instruction.cell)
        mine: Writer = ("store", self._thread, -1)
        buffered = self.last and self._attacks(location) and mine in self._own
        seen = not self.last and self._sees(location, mine)
        late = not self.last and not seen and self._hits(location, False)
        self.hangs |= self._place > 0 and (late or len(self.accesses) == self.source)
        if late and not self.hangs:
            return False
        self._access(Access(location, True, False, False, ("cpu", -1), buffered), seen)
        self._set(instruction.register, self.memory[location] if buffered else self._in_memory(location))
        return True

    def store(self, instruction: litmus.Store) -> bool:
        location = self._program.place(instruction.cell)
        value = value_of(instruction.value, instruction)(self.registers)
        late = self._access(Access(location, False, True, self.delays.stores, ("store", -1)))
        self.delays = self.delays._replace(stores=self.delays.stores or late)
        self._written(location, value, late, ("store", self._thread, -1))
        return True

    def memory_fence(self, instruction: litmus.MemoryFence) -> bool:
        return not self.delays.stores

    def compare_and_set(self, instruction: litmus.CompareAndSet) -> bool:
        location = self._program.place(instruction.cell)
        value = self._in_memory(location)
        expected, new = instruction.expected, instruction.new
        succeeds = value == value_of(expected, instruction)(self.registers)
        if self.delays.stores or (not self.last and self._hits(location, succeeds)):
            return False
        self._access(Access(location, True, succeeds, False, ("cpu", -1)))
        if succeeds:
            self.memory[location] = value_of(new, instruction)(self.registers)
        self._set(instruction.register, value)
        return True

    # The adapter

    def _pair(self, instruction: litmus.Instruction) -> tuple[int, Pair]:
        number = self._nodes.index(node_of(self._program, instruction))
        return number, self.delays.pairs[number]

    def put(self, instruction: litmus.Put) -> bool:
        number, pair = self._pair(instruction)
        node = self._nodes[number]
        remote, local = self._program.place(instruction.remote), self._program.place(instruction.local)
        seen = not self._variant.pcie and self._sees(local, ("land", self._thread, number))
        waits = self._orders.source_waits(self.delays, number)
        buffered = self._in_buffer(local, ("returned", self._thread, number))
        source = self._access(Access(local, True, False, waits, ("source", node), buffered), seen)
        waits = source or self._orders.place_waits(self.delays, number)
        placing = self._access(Access(remote, False, True, waits, ("place", node)))
        value = self.memory[local] if buffered else self._in_memory(local)
        self._written(remote, value, placing, ("place", self._thread, number))
        self._operated(number, self._orders.after_put(pair, source, placing))
        return True

    def get(self, instruction: litmus.Get) -> bool:
        number, pair = self._pair(instruction)
        node = self._nodes[number]
        remote, local = self._program.place(instruction.remote), self._program.place(instruction.local)
        seen = not self._variant.pcie and self._sees(remote, ("place", self._thread, number))
        waits = self._orders.fetch_waits(self.delays, number)
        buffered = self._in_buffer(remote, ("place", self._thread, number))
        fetch = self._access(Access(remote, True, False, waits, ("fetch", node), buffered), seen)
        waits = fetch or self._orders.landing_waits(self.delays, number)
        landing = self._access(Access(local, False, True, waits, ("land", node)))
        returns = not (fetch or pair.fetches or pair.sources)
        writer: Writer = ("land", self._thread, number) if returns else ("", self._thread, number)
        value = self.memory[remote] if buffered else self._in_memory(remote)
        self._written(local, value, landing, writer)
        self._operated(number, self._orders.after_get(pair, fetch, landing))
        return True

    def _sees(self, location: int, writer: Writer) -> bool:
        """Whether a read sees the latest late write to ``location`` in a buffer: the store buffer of its own thread or,
        without the guarantee of PCI Express, the write-back buffer of its own pair."""
        return self._latest.get(location) == writer

    def _in_buffer(self, location: int, writer: Writer) -> bool:
        """Without the guarantee of PCI Express: whether a read of ``location`` sees what ``writer`` writes late, in the
        write-back buffer of its own pair, and ``location`` is that of the source."""
        return self.last and not self._variant.pcie and self._attacks(location) and writer in self._own

    def _attacks(self, location: int) -> bool:
        return self._attack is not None and location == self._attack.location

    def _operated(self, number: int, pair: Pair) -> None:
        self.delays = self.delays.with_pair(number, pair)
        if not pair.notifications and self.polls[number] < UNBOUNDED:
            self.polls[number] += 1

    def remote_fence(self, instruction: litmus.RemoteFence) -> bool:
        number, pair = self._pair(instruction)
        self.delays = self.delays.with_pair(number, self._orders.after_fence(pair))
        landing: Writer = ("land", self._thread, number)
        returned: Writer = ("returned", self._thread, number)
        if landing in self._own and not self._variant.pcie:
            self._own |= {returned}
        return True

    def poll(self, instruction: litmus.Poll) -> bool:
        number, pair = self._pair(instruction)
        if self.polls[number]:
            self.polls[number] -= self.polls[number] < UNBOUNDED
            return True
        if self.last:
            return bool(self.accesses)
        self.hangs = bool(self.accesses) and pair.notifications and not self.accesses[0].late
        return self.hangs

    def _atomic(self, instruction: litmus.NicAtomic) -> bool:
        """It reads and writes together, early or late, unless its write alone is the source."""
        number, pair = self._pair(instruction)
        node, at_source = self._nodes[number], len(self.accesses)
        remote, local = self._program.place(instruction.remote), self._program.place(instruction.local)
        held = self._in_memory(remote)
        new = request_of(self._program, instruction)(self.registers).written(held)
        torn = self.source == at_source + 1
        waits = self._orders.atomic_waits(self.delays, number)
        waits = waits or (not self.last and not torn and self._hits(remote, new is not None))
        fetch = self._access(Access(remote, True, False, waits, ("fetch", node), atomic=True))
        update = self._access(Access(remote, False, new is not None, fetch, ("update", node), atomic=True))
        if new is not None:
            self._written(remote, new, update, ("", self._thread, number))
        waits = update or self._orders.landing_waits(self.delays, number)
        landing = self._access(Access(local, False, True, waits, ("land", node)))
        returns = not (update or pair.fetches or pair.sources)
        self._written(local, held, landing, ("land" if returns else "", self._thread, number))
        self._operated(number, self._orders.after_get(pair, update, landing))
        return True

    nic_compare_and_set = nic_fetch_add = _atomic
    get_accumulate = remote_compare_and_set = flush = litmus.refused

    # What becomes of the state

    def after(self, target: int) -> State:
        """The state behind the command, which leads to the control state ``target``."""
        state, thread = self._state, self._thread
        return State(
            at(state.controls, thread, HUNG if self.hangs else target),
            at(state.registers, thread, (0,) * len(self.registers) if self.hangs else self.registers),
            tuple(self.memory),
            at(state.delays, thread, self.delays),
            self._attacked(),
            at(state.polls, thread, tuple(self.polls)),
        )

    def _attacked(self) -> Attack | None:
        attack, thread = self._attack, self._thread
        now = [access for access in self.accesses if not access.late and not access.buffered]
        late = [access for access in self.accesses if access.late]
        if self.source is not None:
            first = self.accesses[self.source]
            own = frozenset(writer for location, writer in self.writers if location == first.location)
            writes = any(access.writes and access.location == first.location for access in late)
            atomics = [access.late for access in self.accesses if access.atomic]
            return Attack(
                first.location,
                writes,
                frozenset((thread,)),
                Touched().and_also(now),
                Touched().and_also(late),
                frozenset(self._before.items()),
                frozenset(dict(self.writers).items()),
                own,
                _nodes_of_atomics(late),
                torn=any(atomics) and not all(atomics),
            )
        if attack is None:
            return None
        own = self._own.union(writer for location, writer in self.writers if location == attack.location)
        if self._comes_after(attack):
            return attack._replace(
                threads=attack.threads | {thread},
                touched=attack.touched.and_also(now),
                late=attack.late.and_also(late),
                before=frozenset(self._before.items()),
                latest=frozenset({**self._latest, **dict(self.writers)}.items()),
                own=own,
                atomics=attack.atomics | _nodes_of_atomics(late),
            )
        assert not late, "what comes late comes after the source"
        return attack._replace(own=own)

    def _comes_after(self, attack: Attack) -> bool:
        """Whether the command comes after the source."""
        return self._thread in attack.threads or any(
            attack.touched.hit_by(access.location, access.writes) or attack.late.hit_by(access.location, access.writes)
            for access in self.accesses
        )

    def closes(self, number: int) -> bool:
        """Whether, as the last command of the run, it comes before the source by its access ``number`` and after it."""
        attack = self._attack
        assert attack is not None
        access = self.accesses[number]
        if access.late or not access.conflicts(attack.location, attack.writes):
            return False
        if access.buffered or any(each.late for each in self.accesses[:number]) or not self._has_the_lock(number):
            return False
        behind = self.accesses[number + 1 :]
        return (
            self._thread in attack.threads
            or any(attack.touched.hit_by(each.location, each.writes) for each in self.accesses)
            or any(attack.late.hit_by(each.location, each.writes) for each in behind)
        )

    def _has_the_lock(self, number: int) -> bool:
        """Whether the adapters can do the remote atomics of the last command up to its access ``number`` before what
        comes late: a read alone, where a write follows, keeps others from the node until the end."""
        attack, early = self._attack, self.accesses[: number + 1]
        assert attack is not None
        if attack.torn and any(access.atomic and access.queue[1] in attack.atomics for access in early):
            return False
        if not early[-1].atomic or early[-1].queue[0] == "update":
            return True
        update = self.accesses[number + 1]
        return update.writes and not self._variant.glob and update.queue[1] not in attack.atomics


def _nodes_of_atomics(accesses: Sequence[Access]) -> frozenset[int]:
    return frozenset(access.queue[1] for access in accesses if access.atomic)
