"""Happens-before and consistency order of an execution (sections 3 and 3.2), as sets of actions in bits.

Happens-before is the closure of program order and synchronisation order. Consistency order is the closure of what the
rules below say; each has its number in the paper. All of them relate actions that happens-before relates already, so
consistency order is a part of it, and what is ordered consistently (1) is what consistency order relates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

from pgasrob.frontends.apis.mpi.window_calls import SyncKind
from pgasrob.races.mpi.actions import Action, Edge, Execution, MemoryModel, Operation, Synchronisation

Rule = Callable[["Orders"], Iterator[Edge]]


class Orders:
    """The orders of an ``execution``; ``without``: the names of rules that are left out, for tests.

    ``hb`` and ``co``: for every action the ones after it, as bits.
    """

    def __init__(self, execution: Execution, model: MemoryModel, without: frozenset[str] = frozenset()) -> None:
        self.execution, self.model = execution, model
        self.coso = [
            *execution.coso,
            *(edge for rule in ORDERED if rule.__name__ not in without for edge in rule(self)),
        ]
        self.synchronised = [*execution.so, *self.coso]
        self.hb = closed(len(execution.actions), (*execution.po, *self.synchronised))
        rules = [*RULES, *(UNIFIED if model == "unified" else ())]
        self.rules = {rule.__name__: [*rule(self)] for rule in rules if rule.__name__ not in without}
        self.co = self._closed(self.rules)

    def before(self, one: int, other: int) -> bool:
        """Whether ``one`` happens before ``other``."""
        return bool(self.hb[one] >> other & 1)

    def ordered(self, one: int, other: int) -> bool:
        """Whether one of them happens before the other."""
        return self.before(one, other) or self.before(other, one)

    def consistent(self, one: int, other: int) -> bool:
        """Whether they are ordered by consistent happens-before (21)."""
        first, second = self.execution.actions[one], self.execution.actions[other]
        in_shared = first.is_local and second.is_local and first.rank != second.rank
        co = self._co_in_shared if in_shared else self.co
        return bool(co[one] >> other & 1 or co[other] >> one & 1)

    @cached_property
    def _co_in_shared(self) -> list[int]:
        """Consistency order as it is between loads and stores of two ranks: a call that communicates takes earlier
        stores of its rank along to its target (19), but does not synchronise the window for who loads there."""
        return self._closed({name: edges for name, edges in self.rules.items() if name != issued_after.__name__})

    def _closed(self, rules: Mapping[str, Iterable[Edge]]) -> list[int]:
        edges = (*self.coso, *(edge for edges in rules.values() for edge in edges))
        return closed(len(self.execution.actions), edges)

    @cached_property
    def local(self) -> dict[int, list[Action]]:
        """The accesses of each rank to its own memory."""
        return self._by_rank(lambda action: action.is_local)

    @cached_property
    def virtual(self) -> dict[int, list[Action]]:
        """The virtual communication actions at each rank."""
        return self._by_rank(lambda action: action.kind == "vac")

    @cached_property
    def issues(self) -> dict[int, list[Action]]:
        return self._by_rank(lambda action: action.kind == "issue")

    def _by_rank(self, chosen: Callable[[Action], bool]) -> dict[int, list[Action]]:
        found: dict[int, list[Action]] = defaultdict(list)
        for action in self.execution.actions:
            if chosen(action):
                found[action.rank].append(action)
        return found

    def calls(self, *kinds: SyncKind) -> Iterator[Synchronisation]:
        return (each for each in self.execution.synchronisations if each.call.kind in kinds)

    def as_ordered(self, ones: Iterable[int], others: Iterable[Action], ways: str = "both") -> Iterator[Edge]:
        """The pairs of ``ones`` and ``others`` that happens-before relates: from the ``others`` ("to"), to them
        ("from"), or both."""
        for one in ones:
            for other in others:
                if ways != "from" and self.before(other.number, one):
                    yield other.number, one
                if ways != "to" and self.before(one, other.number):
                    yield one, other.number


def closed(size: int, edges: Iterable[Edge]) -> list[int]:
    """The transitive closure; of a relation without cycles."""
    after: list[list[int]] = [[] for _ in range(size)]
    missing = [0] * size
    for one, other in set(edges):
        after[one].append(other)
        missing[other] += 1
    order = [number for number in range(size) if not missing[number]]
    for number in order:
        for other in after[number]:
            missing[other] -= 1
            if not missing[other]:
                order.append(other)
    assert len(order) == size, "what a run does comes one after the other"
    found = [0] * size
    for number in reversed(order):
        for other in after[number]:
            found[number] |= found[other] | 1 << other
    return found


def same_window(actions: Iterable[Action], call: Synchronisation) -> list[Action]:
    return [action for action in actions if action.call is not None and action.call.window == call.call.window]


# What is both synchronisation and consistency order, beside what `execution` finds in the calls themselves


def accumulates(orders: Orders) -> Iterator[Edge]:
    """(26), D8: accumulates of one rank to one place take effect in program order."""
    of_rank: dict[tuple[int, int], list[Operation]] = defaultdict(list)
    actions = orders.execution.actions
    for operation in orders.execution.operations:
        if operation.vac is None or operation.call.kind in ("put", "get"):
            continue
        key = actions[operation.issue].rank, operation.call.target
        for earlier in of_rank[key]:
            assert earlier.vac is not None, "it is kept for that"
            if actions[earlier.vac].places & actions[operation.vac].places:
                yield earlier.vac, operation.vac
        of_rank[key].append(operation)


def fetches(orders: Orders) -> Iterator[Edge]:
    """(23) for atomics: what brings a value comes after the accumulates of others that made it."""
    yield from orders.execution.fetched


def polls(orders: Orders) -> Iterator[Edge]:
    """3.5, G9: what a poll waits for comes before the load that sees it, in the unified model."""
    if orders.model == "unified":
        yield from orders.execution.polled


ORDERED: tuple[Rule, ...] = (accumulates, fetches, polls)


# Consistency order


def fences(orders: Orders) -> Iterator[Edge]:
    """(9), with D5 for what completes at the fence of another rank."""
    for fence in orders.calls("fence"):
        rank = fence.rank
        others = [*same_window((*orders.issues[rank], *orders.virtual[rank]), fence), *orders.local[rank]]
        yield from orders.as_ordered(fence.actions, others)


def matching_fences(orders: Orders) -> Iterator[Edge]:
    """3.2.4: the k-th fences of all ranks of a window are one, which begins everywhere before it ends anywhere."""
    counts: dict[tuple[str, int], int] = defaultdict(int)
    together: dict[tuple[str, int], list[Synchronisation]] = defaultdict(list)
    for fence in orders.calls("fence"):
        number = counts[fence.call.window, fence.rank]
        counts[fence.call.window, fence.rank] += 1
        together[fence.call.window, number].append(fence)
    for group in together.values():
        yield from _waited_for(orders, group, group)


def general(orders: Orders) -> Iterator[Edge]:
    """D6: (9) for post and wait, and for a start what comes after it."""
    for call in orders.calls("post", "wait"):
        others = [*same_window((*orders.issues[call.rank], *orders.virtual[call.rank]), call), *orders.local[call.rank]]
        yield from orders.as_ordered(call.actions, others)
    for call in orders.calls("start"):
        yield from orders.as_ordered(call.actions, same_window(orders.issues[call.rank], call), "from")


def matching_posts(orders: Orders) -> Iterator[Edge]:
    """D6: post coso start, complete coso wait."""
    for first, second in (("post", "start"), ("complete", "wait")):
        yield from _matched(orders, first, second)  # type: ignore[arg-type]


def _matched(orders: Orders, first: SyncKind, second: SyncKind) -> Iterator[Edge]:
    waiting: dict[tuple[str, int, int], list[Synchronisation]] = defaultdict(list)
    for call in orders.calls(first):
        for target in call.call.targets:
            waiting[call.call.window, call.rank, target].append(call)
    for call in orders.calls(second):
        for target in call.call.targets:
            before = waiting[call.call.window, target, call.rank]
            if before:
                yield from _waited_for(orders, [before.pop(0)], [call])


def _waited_for(orders: Orders, ones: Iterable[Synchronisation], others: Iterable[Synchronisation]) -> Iterator[Edge]:
    others = list(others)
    for one in ones:
        for other in others:
            if other.end is not None and orders.before(one.done, other.end):
                yield one.done, other.end


def locks(orders: Orders) -> Iterator[Edge]:
    """(10): lock co l*."""
    for lock in orders.calls("lock", "lock_all"):
        yield from orders.as_ordered(lock.actions, orders.local[lock.rank], "from")


def locks_after_remote(orders: Orders) -> Iterator[Edge]:
    """(11): what others have completed here is seen by who locks here (G17)."""
    for lock in orders.calls("lock", "lock_all"):
        for remote in orders.execution.synchronisations:
            vas = remote.virtual.get(lock.rank)
            if vas is not None and remote.call.window == lock.call.window:
                yield from ((vas, number) for number in lock.actions if orders.before(vas, number))


def buffers(orders: Orders) -> Iterator[Edge]:
    """(13), with flush_local (G15) and complete (D6): a buffer may be used again after its operation is complete."""
    actions = orders.execution.actions
    for operation in orders.execution.operations:
        places = {place for buffer in operation.buffers for place in actions[buffer].places}
        again = [each for each in orders.local[actions[operation.issue].rank] if each.places & places]
        yield from orders.as_ordered(operation.returned, again, "from")


def stores(orders: Orders) -> Iterator[Edge]:
    """(14): an unlock or flush lets others see the stores of its rank."""
    for call in orders.calls("unlock", "unlock_all", "flush", "flush_all"):
        own = [action for action in orders.local[call.rank] if action.writes]
        yield from orders.as_ordered((call.begin,), own, "to")


def virtual(orders: Orders) -> Iterator[Edge]:
    """(15), G17: at one target, whoever it is that completes there."""
    for call in orders.execution.synchronisations:
        for target, vas in call.virtual.items():
            yield from orders.as_ordered((vas,), same_window(orders.virtual[target], call))


def win_sync(orders: Orders) -> Iterator[Edge]:
    """(18); the creation of a window, too, begins with one content of both copies."""
    for call in orders.calls("win_sync", "create"):
        others = [*same_window(orders.virtual[call.rank], call), *orders.local[call.rank]]
        yield from orders.as_ordered(call.actions, others)


def shared(orders: Orders) -> Iterator[Edge]:
    """12.2.3 of MPI-4.1, for loads and stores of others in shared windows: calls that synchronise the window (12.5)
    order those of their rank, as MPI_Win_sync does, and what that has made visible sees who synchronises it later, or
    waits for that in such a call."""
    if orders.execution.shared is None:
        return
    of_buffers = ("request", "flush_local", "flush_local_all")
    calls = [each for each in orders.execution.synchronisations if each.call.kind not in of_buffers]
    for call in calls:
        yield from orders.as_ordered(call.actions, orders.local[call.rank])
    for one in calls:
        for other in calls:
            last = other.actions[-1]
            if one.rank != other.rank and one.call.window == other.call.window and orders.before(one.done, last):
                yield one.begin, last


def issued_after(orders: Orders) -> Iterator[Edge]:
    """(19), D20: l* hb r* at one rank."""
    for rank, issues in orders.issues.items():
        yield from orders.as_ordered([issue.number for issue in issues], orders.local[rank], "to")


RULES: tuple[Rule, ...] = (
    fences, matching_fences, general, matching_posts, locks, locks_after_remote, buffers, stores, virtual, win_sync,
    issued_after,
)  # fmt: skip


def one_copy(orders: Orders) -> Iterator[Edge]:
    """(20), D7: there is one copy of a window's memory."""
    for rank, remote in orders.virtual.items():
        yield from orders.as_ordered([vac.number for vac in remote], orders.local[rank])


UNIFIED: tuple[Rule, ...] = (one_copy, shared)
"""What holds in the unified model beside the others."""
