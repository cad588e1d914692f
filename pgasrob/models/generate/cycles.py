"""Finds pivots (section 6.1): executions whose hb has a cycle, and has none without one edge of a rule.

An execution is a choice of reads-from and of an order of the writes of each location (by WS). Its hb is the closure of
the static edges, reads-from (R2), the order of writes, and for each read the edge to the write that comes next after
the one it reads (R1). Choices are made one after the other; a choice that closes a cycle in what must remain acyclic
is dropped at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Literal

from pgasrob.models.generate.conventions import Conventions
from pgasrob.models.generate.static_order import Actions, Edge
from pgasrob.program.expressions import INT32
from pgasrob.stop_points import stop_point

Reach = list[int]
"""A closure: bit b of row a says that a comes before b."""


@dataclass(frozen=True, slots=True)
class Pivot:
    """An execution with a cycle: ``edges`` of ``rule`` are the pivot, ``source`` has the write (None: the initial one)
    that each reading action reads from, ``order`` the writes of each location in their order, ``reach`` the hb that
    remains without the pivot. For WS the pivot is the order of the two writes."""

    rule: str
    edges: tuple[tuple[int, int], ...]
    source: dict[int, int | None]
    order: tuple[tuple[int, ...], ...]
    reach: tuple[int, ...]


def add(reach: Reach, before: int, after: int) -> bool:
    """Add ``before -> after`` to the closure ``reach``. Returns False, and adds nothing, where that would close a
    cycle."""
    if before == after or reach[after] >> before & 1:
        return False
    if reach[before] >> after & 1:
        return True
    more, bit = reach[after] | 1 << after, 1 << before
    for number, row in enumerate(reach):
        if number == before or row & bit:
            reach[number] = row | more
    return True


def pivots(actions: Actions, rule: str, conventions: Conventions, initial: Sequence[int]) -> Iterator[Pivot]:
    """All executions of a program with a pivot of ``rule``, one at a time; ``initial``: the value of each location."""
    found: Iterator[Pivot]
    match rule:
        case "R1" | "R2":
            found = _reading_pivots(actions, rule, conventions)
        case "WS":
            found = _order_pivots(actions, conventions)
        case "CAS-F" | "CAS-T":
            found = _static_pivots(actions, rule, "CAS", conventions)
            if conventions.cas_values == "flow":
                found = (pivot for pivot in found if _compares(actions, pivot, initial) in (None, rule == "CAS-T"))
        case _:
            found = _static_pivots(actions, rule, rule, conventions)
    if conventions.both and len(actions.shape.threads) > 1:
        found = (pivot for pivot in found if _visits_both(actions, pivot))
    yield from found


def _closure(size: int, edges: Sequence[Edge]) -> Reach:
    reach = [0] * size
    for edge in edges:
        add(reach, edge.before, edge.after)
    return reach


def _static_pivots(actions: Actions, rule: str, name: str, conventions: Conventions) -> Iterator[Pivot]:
    size = len(actions.actions)
    groups: dict[object, list[Edge]] = {}
    for edge in actions.edges:
        if edge.rule == name:
            key = (
                edge.application if conventions.pivot == "application" else (edge.application, edge.before, edge.after)
            )
            groups.setdefault(key, []).append(edge)
    for group in groups.values():
        reach = _closure(size, [edge for edge in actions.edges if edge not in group])
        open_edges = [edge for edge in group if not reach[edge.before] >> edge.after & 1]
        if not open_edges:
            continue
        for found, source, order in _Executions(actions, conventions).within(reach):
            if _closes(found, open_edges):
                edges = tuple((edge.before, edge.after) for edge in group)
                yield Pivot(rule, edges, source, order, tuple(found))


def _closes(reach: Reach, edges: Sequence[Edge]) -> bool:
    """Whether ``edges`` together close a cycle in ``reach``, which has none."""
    reach = list(reach)
    return not all(add(reach, edge.before, edge.after) for edge in edges)


Found = tuple[Reach, dict[int, int | None], tuple[tuple[int, ...], ...]]
"""A choice: the closure, reads-from, and the order of the writes to each location."""


class _Executions:
    """Choices of the order of writes and of reads-from that keep a closure acyclic.

    ``split``: these two writes are neighbours in the order, which is not put into hb, nor is what R1 makes of it.
    ``left_out``: of the reading action ``of`` the edge of R2, or that of R1 to the next write, is left out.
    """

    def __init__(
        self,
        actions: Actions,
        conventions: Conventions,
        split: tuple[int, int] | None = None,
        left_out: Literal["R1", "R2"] | None = None,
        of: int = -1,
    ) -> None:
        self.writers, self.own_reads = actions.writers, conventions.own_reads
        self.split, self.left_out, self.of = split, left_out, of
        self.required = _required(actions, conventions)
        self.local = [action.kind == "r" for action in actions.actions]
        self.same = [(action.thread, action.statement) for action in actions.actions]
        self.reads: list[tuple[int, int, int]] = []
        """Each reading action with its location and the number of local reads of that location from here on, this one
        included; local reads of a location come first."""
        for place, readers in enumerate(actions.readers):
            first = sorted(readers, key=lambda reader: not self.local[reader])
            count = sum(self.local[reader] for reader in first)
            self.reads += [(reader, place, max(0, count - number)) for number, reader in enumerate(first)]
        self.of_place = [sum(1 << writer for writer in writers) & (self.required or 0) for writers in actions.writers]
        self.orders: list[tuple[int, ...]] = [()] * len(actions.writers)
        self.source: dict[int, int | None] = {}

    def within(self, reach: Reach) -> Iterator[Found]:
        """The choices that keep ``reach`` acyclic."""
        if self.required is not None:
            for found in self._ordered(0, list(reach), self.required):
                yield found, dict(self.source), tuple(self.orders)

    def _ordered(self, place: int, reach: Reach, required: int) -> Iterator[Reach]:
        """Order the writes to each location from ``place`` on, in every way."""
        if place == len(self.writers):
            yield from self._read(0, reach, required)
            return
        for order in permutations(self.writers[place]):
            if self.split is not None and self.split[0] in order and self.split not in pairwise(order):
                continue
            after = list(reach)
            if all(
                (first, second) == self.split or add(after, first, second)
                for at, first in enumerate(order)
                for second in order[at + 1 :]
            ):
                self.orders[place] = order
                yield from self._ordered(place + 1, after, required)

    def _read(self, at: int, reach: Reach, unread: int) -> Iterator[Reach]:
        """Choose what the reading actions from number ``at`` on read from, in every way. The writes ``unread`` must
        still be read by local reads."""
        if at == len(self.reads):
            yield reach
            return
        reader, place, reads_left = self.reads[at]
        order, local, same = self.orders[place], self.local[reader], self.same
        for number in range(-1, len(order)):
            write = None if number < 0 else order[number]
            if write == reader or (not self.own_reads and write is not None and same[write] == same[reader]):
                continue
            still = unread
            if local:
                if write is not None:
                    still &= ~(1 << write)
                if (still & self.of_place[place]).bit_count() >= reads_left:
                    continue
            after = list(reach)
            if self._with_edges(after, reader, write, order[number + 1 :]):
                self.source[reader] = write
                yield from self._read(at + 1, after, still)

    def _with_edges(self, reach: Reach, reader: int, write: int | None, later: tuple[int, ...]) -> bool:
        """Add the edges of R2 and R1 for a ``reader`` of ``write`` that comes before the ``later`` writes; False where
        they close a cycle."""
        left_out = self.left_out if reader == self.of else None
        if write is not None and left_out != "R2" and not add(reach, write, reader):
            return False
        return all(
            other == reader or (self.split is not None and (write, other) == self.split) or add(reach, reader, other)
            for other in (later[1:] if left_out == "R1" else later)
        )


def _compares(actions: Actions, pivot: Pivot, initial: Sequence[int]) -> bool | None:
    """Whether the cas of the pivot compares equal values in the execution with the cycle; None where a value comes out
    of thin air, so that any value is possible."""
    erw = next(number for edge in pivot.edges for number in edge if actions.actions[number].kind == "erw")
    at = actions.actions[erw]
    expected = next(
        number
        for number, action in enumerate(actions.actions)
        if (action.thread, action.statement) == (at.thread, at.statement)
    )
    read, _ = values(actions, pivot.source, initial)
    if read[expected] is None or read[erw] is None:
        return None
    return read[expected] == read[erw]


def _visits_both(actions: Actions, pivot: Pivot) -> bool:
    """Whether a cycle that the pivot closes has actions of both processes."""
    for before, after in pivot.edges:
        cycle = [before, after]
        cycle += [x for x, row in enumerate(pivot.reach) if pivot.reach[after] >> x & 1 and row >> before & 1]
        if len({actions.actions[number].thread for number in cycle}) > 1:
            return True
    return False


def values(
    actions: Actions, source: dict[int, int | None], initial: Sequence[int]
) -> tuple[list[int | None], list[int | None]]:
    """The values that each action reads and writes when reads-from is ``source``; None where a value depends on
    itself."""
    size = len(actions.actions)
    read: list[int | None] = [None] * size
    wrote: list[int | None] = [None] * size
    value = max((0, *initial)) + 1
    members: dict[tuple[int, int], list[int]] = {}
    for number, action in enumerate(actions.actions):
        members.setdefault((action.thread, action.statement), []).append(number)
        if action.kind == "w":
            wrote[number] = value
            value += 1
    changed = True
    while changed:
        stop_point()
        changed = False
        for reader, write in source.items():
            if read[reader] is None:
                place = actions.actions[reader].reads
                assert place is not None
                read[reader] = initial[place] if write is None else wrote[write]
                changed |= read[reader] is not None
        for group in members.values():
            last = group[-1]
            if wrote[last] is None and len(group) > 1:
                # A get and a put write what they read, rga and cas what the remote location held.
                wrote[last] = read[group[-2]]
                changed |= wrote[last] is not None
            if len(group) >= 3 and wrote[group[-2]] is None:
                erw, held = group[-2], read[group[-2]]
                if len(group) == 3:
                    operand = read[group[0]]
                    wrote[erw] = None if held is None or operand is None else INT32.wrap(held + operand)
                elif held is not None and read[group[0]] is not None:
                    wrote[erw] = read[group[1]] if read[group[0]] == held else held
                changed |= wrote[erw] is not None
    return read, wrote


def _required(actions: Actions, conventions: Conventions) -> int | None:
    """The writes that local reads must read from; None when there are too few of these."""
    if conventions.reads == "none":
        return 0
    required = 0
    for readers, writers in zip(actions.readers, actions.writers, strict=True):
        local = sum(actions.actions[reader].kind == "r" for reader in readers)
        if local < len(writers):
            return None
        for writer in writers:
            required |= 1 << writer
    return required if conventions.observed == "instance" else 0


def _reading_pivots(actions: Actions, rule: Literal["R1", "R2"], conventions: Conventions) -> Iterator[Pivot]:
    static = _closure(len(actions.actions), actions.edges)
    for place, readers in enumerate(actions.readers):
        for reader in readers if actions.writers[place] else ():
            for reach, source, orders in _Executions(actions, conventions, None, rule, reader).within(static):
                order, write = orders[place], source[reader]
                if rule == "R2":
                    if write is None:
                        continue
                    edge = (write, reader)
                else:
                    at = -1 if write is None else order.index(write)
                    if at + 1 == len(order) or order[at + 1] == reader:
                        continue
                    edge = (reader, order[at + 1])
                if reach[edge[1]] >> edge[0] & 1:
                    yield Pivot(rule, (edge,), source, orders, tuple(reach))


def _order_pivots(actions: Actions, conventions: Conventions) -> Iterator[Pivot]:
    static = _closure(len(actions.actions), actions.edges)
    for writers in actions.writers:
        for split in permutations(writers, 2):
            for reach, source, orders in _Executions(actions, conventions, split).within(static):
                first, second = split
                if reach[first] >> second & 1:
                    continue
                if reach[second] >> first & 1:
                    # hb has the other order even without WS, which then holds.
                    if conventions.write_pairs == "any" and _closed_by(reach, source, second, first) is False:
                        yield Pivot("WS", (split,), source, orders, tuple(reach))
                    continue
                if _closed_by(reach, source, first, second) and (
                    conventions.write_pairs != "both" or _closed_by(reach, source, second, first)
                ):
                    yield Pivot("WS", (split,), source, orders, tuple(reach))


def _closed_by(reach: Reach, source: dict[int, int | None], first: int, second: int) -> bool:
    """Whether there is a cycle when the write ``first`` comes before ``second``, with the edges that R1 adds for
    that."""
    befores = [first, *(reader for reader, write in source.items() if write == first and reader != second)]
    return any(reach[second] >> before & 1 for before in befores)
