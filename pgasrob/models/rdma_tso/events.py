"""From instructions to events (Definitions 4.1 and 4.3), and which operation a poll polls (pf)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import assert_never

from pgasrob.models.candidates import Candidate, Path, paths_of
from pgasrob.models.litmus.program import (
    Assign,
    Assume,
    CompareAndSet,
    Flush,
    Get,
    GetAccumulate,
    Instruction,
    Load,
    MemoryFence,
    Poll,
    Program,
    Put,
    RemoteCompareAndSet,
    RemoteFence,
    Store,
)
from pgasrob.models.rdma_tso.rules import Rules
from pgasrob.program.expressions import Binary, Const, Register

NIC_WRITES = frozenset(("nlW", "nrW"))


def expand(path: Path, instruction: Instruction) -> Sequence[Callable[[], None]]:
    """The events of an instruction (Definition 4.1). A failed CAS is an F and an lR: it waits for the store buffer."""
    places = path.program.places

    def load(register: int, name: str) -> None:
        path.registers[register] = path.read("lR", places[name])

    def set_register(register: int, slot: int) -> None:
        path.registers[register] = slot

    match instruction:
        case Load(register, cell):
            return (lambda: load(register, cell.name),)
        case Store(cell, value):
            return (lambda: path.write("lW", places[cell.name], path.computed(value)),)
        case Assign(register, value):
            return (lambda: set_register(register, path.computed(value)),)
        case Assume(condition):

            def assume() -> None:
                if isinstance(condition, Binary) and condition.operator == "==":
                    match condition.left, condition.right:
                        case Register(_, index), Const():
                            path.fix(path.registers[index], path.computed(condition.right))
                path.require(path.computed(condition))

            return (assume,)
        case MemoryFence():
            return (lambda: void(path.add("F")),)
        case CompareAndSet(into, cell, expected, new):

            def succeeds() -> None:
                wanted, written = path.computed(expected), path.computed(new)
                event, old = path.update("CAS", places[cell.name])
                path.written[event] = written
                path.fix(old, wanted)
                path.require(path.function(_equal, old, wanted))
                if into is not None:
                    path.registers[into] = old

            def fails() -> None:
                wanted = path.computed(expected)
                path.add("F")
                old = path.read("lR", places[cell.name])
                path.require(path.function(_equal, old, wanted), False)
                if into is not None:
                    path.registers[into] = old

            return succeeds, fails
        case Get(local, remote):

            def get() -> None:
                node = path.program.node_of(remote)
                slot = path.read("nrR", places[remote.name], towards=node)
                path.write("nlW", places[local.name], slot, towards=node)

            return (get,)
        case Put(remote, local):

            def put() -> None:
                node = path.program.node_of(remote)
                slot = path.read("nlR", places[local.name], towards=node)
                path.write("nrW", places[remote.name], slot, towards=node)

            return (put,)
        case Poll(node):
            return (lambda: void(path.add("P", towards=node)),)
        case RemoteFence(node):
            return (lambda: void(path.add("nF", towards=node)),)
        case GetAccumulate() | RemoteCompareAndSet() | Flush():
            raise NotImplementedError("RDMA-TSO has no such instruction")
    assert_never(instruction)


def kinds_in_order(program: Program) -> set[tuple[str, str]]:
    """The types of events of which a thread may have one before the other."""
    found = set()
    for thread in range(len(program.threads)):
        for path in paths_of(program, thread, expand):
            kinds = [action.kind for action in path.actions]
            found |= {(kind, later) for place, kind in enumerate(kinds) for later in kinds[place + 1 :]}
    return found


def void(_: object) -> None:
    """Nothing, from a call whose result does not matter."""


def _equal(values: Sequence[int]) -> int:
    return int(values[0] == values[1])


def same_queue_pair(candidate: Candidate, first: int, second: int) -> bool:
    """sqp: of one thread, towards one node."""
    one, other = candidate.actions[first], candidate.actions[second]
    return one.thread == other.thread and one.towards == other.towards is not None


def polls_from(candidate: Candidate, rules: Rules) -> Iterator[dict[int, int]]:
    """pf: which write each poll polls from. There is one, or none when a poll has nothing left to wait for, unless the
    rules that make it one are left out."""
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
