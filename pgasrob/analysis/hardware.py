"""Finds where a program may behave otherwise on RDMA hardware with x86 than in the calculus, by its text alone.

RDMA-TSO (Ambal et al. 2024) models puts, gets and the store buffers of x86. Seven of its differences from the calculus
allow further runs; the eighth is that a queue pair leads to one rank, while a queue of the calculus orders operations
to several. The ninth is that a network card makes its atomics in two accesses, which other writes may come between. A
difference without an occasion in the text of the program does not matter to it
(`proofs/store-buffers.md`, section 4).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import reduce
from operator import or_
from typing import NamedTuple

from pgasrob.analysis.mixed_atomics import Mixed, mixed_atomics
from pgasrob.analysis.pending import Transfers, pending_transfers, transfers_of
from pgasrob.analysis.phases import touched_by_others, touched_by_ranks
from pgasrob.analysis.ranges import ranges, single
from pgasrob.analysis.store_buffers import Pair, named, store_buffers
from pgasrob.program import core
from pgasrob.program.bits import members
from pgasrob.program.control import Transition
from pgasrob.program.instance import Instance


class Difference(Enum):
    """The differences: first those of today's machines, then those that only the specification allows."""

    STORE_BUFFER = "store-buffer"
    QUEUE_PAIRS = "queue-pairs"
    GETS_IN_ORDER = "gets-in-order"
    PUT_AFTER_GET = "put-after-get"
    MIXED_ATOMICS = "mixed-atomics"
    FENCE = "fence"
    EVERY_COMPLETION = "every-completion"
    PUTS_PLACED = "puts-placed"
    PCIE = "pcie"


class Occasion(NamedTuple):
    """Where a difference could matter: the lines of the commands, for the store buffer which stores and loads, and for
    atomics what they are mixed with."""

    difference: Difference
    lines: tuple[int, ...]
    overtaken: tuple[Pair, ...] = ()
    mixed: tuple[Mixed, ...] = ()


MOST_COMMANDS = 20_000
"""Commands of all ranks together up to which a program is examined."""


def occasions(instance: Instance) -> tuple[Occasion, ...] | None:
    """The differences that ``instance`` gives an occasion to, each once with all its lines; None where the program is
    too large."""
    if sum(len(leaving) for automaton in instance.automata for leaving in automaton.out) > MOST_COMMANDS:
        return None
    lines: dict[Difference, set[int]] = {}
    pairs = named(store_buffers(instance).pairs, instance)
    for pair in pairs:
        lines.setdefault(Difference.STORE_BUFFER, set()).update((pair.store, pair.load))
    mixed = mixed_atomics(instance)
    for each in mixed:
        lines.setdefault(Difference.MIXED_ATOMICS, set()).update(each.lines)
    for rank in range(instance.processes):
        for difference, line in _Rank(instance, rank).found():
            lines.setdefault(difference, set()).add(line)
    return tuple(
        Occasion(
            difference,
            tuple(sorted(lines[difference])),
            pairs if difference is Difference.STORE_BUFFER else (),
            mixed if difference is Difference.MIXED_ATOMICS else (),
        )
        for difference in Difference
        if difference in lines
    )


class _Rank:
    def __init__(self, instance: Instance, rank: int) -> None:
        self._instance, self._rank = instance, rank
        self._known = ranges(instance)
        self._transfers: Transfers = transfers_of(instance, rank)
        self._numbers = {
            (state, each.occurrence): number for number, (state, each) in enumerate(self._transfers.issues)
        }
        self._pending = pending_transfers(instance, rank)
        self._others = touched_by_others(instance)[rank]
        self._all = self._others.joined(touched_by_ranks(instance)[rank])
        self._meanwhile = self._touched_meanwhile()

    def found(self) -> Iterator[tuple[Difference, int]]:
        """The differences with the lines of the commands that give them an occasion."""
        for state, leaving in enumerate(self._instance.automata[self._rank].out):
            for each in leaving:
                if not self._known.named(self._rank, state, each).possible:
                    continue
                match each.form:
                    case core.Wait():
                        differences = self._of_wait(state, each)
                    case core.Fence():
                        differences = self._of_fence(state, each)
                    case core.Transfer():
                        yield from self._of_transfer(state, each)
                        continue
                    case _:
                        continue
                for difference in differences:
                    yield difference, each.span.line

    def _of_wait(self, state: int, wait: Transition) -> Iterator[Difference]:
        assert isinstance(wait.form, core.Wait)
        waited = list(self._in_queue(state, single(self._known.named(self._rank, state, wait).queue)))
        if len(waited) > 1 or any(map(self._piles_up, waited)):
            yield Difference.EVERY_COMPLETION
        goes_on = bool(self._instance.automata[self._rank].out[wait.target])
        if not wait.form.local and goes_on and any(map(self._puts, waited)):
            yield Difference.PUTS_PLACED

    def _of_fence(self, state: int, fence: Transition) -> Iterator[Difference]:
        queue = single(self._known.named(self._rank, state, fence).queue)
        if queue is not None and not self._instance.is_unordered(queue):
            return  # a FIFO queue is in order without fences
        if any(map(self._puts, self._in_queue(state, queue))):
            yield Difference.FENCE

    def _of_transfer(self, state: int, later: Transition) -> Iterator[tuple[Difference, int]]:
        """The differences that concern the order of a transfer and of those that may be pending when it is issued."""
        number = self._numbers[state, later.occurrence]
        named = self._known.named(self._rank, state, later)
        queue, line = single(named.queue), later.span.line
        notifies = any(step.after_writes or step.after_bundle for step in core.steps_of(later.form))
        for earlier in self._in_queue(state, queue):
            before_state, before = self._transfers.issues[earlier]
            if notifies and self._puts(earlier):
                yield from ((Difference.FENCE, each) for each in (before.span.line, line))
            if queue is not None and self._instance.is_unordered(queue):
                continue
            found = []
            to = single(self._known.named(self._rank, before_state, before).rank)
            if to is None or to != single(named.rank):
                found.append(Difference.QUEUE_PAIRS)
            if self._gets(earlier) and self._gets(number) and self._may_change(earlier) and self._may_change(number):
                found.append(Difference.GETS_IN_ORDER)
            if self._gets(earlier) and self._puts(number) and (self._may_change(earlier) or self._is_seen(earlier)):
                found.append(Difference.PUT_AFTER_GET)
            if self._puts(earlier) and self._gets(number):
                found.append(Difference.PCIE)
            for difference in found:
                yield difference, before.span.line
                yield difference, line

    def _in_queue(self, state: int, queue: int | None) -> Iterator[int]:
        """The transfers that may be pending before ``state`` in ``queue`` (None: any)."""
        for number in members(self._pending[state].transfers):
            if queue is None or self._transfers.queues[number] in (None, queue):
                yield number

    def _piles_up(self, number: int) -> bool:
        """Whether a transfer may still be pending when it is issued again."""
        return bool(self._pending[self._transfers.issues[number][0]].transfers >> number & 1)

    def _puts(self, number: int) -> bool:
        """Whether a transfer writes at its target."""
        form = self._transfers.issues[number][1].form
        return any(step.access.writes and step.access.cell.rank is not None for step in core.steps_of(form))

    def _gets(self, number: int) -> bool:
        """Whether a transfer reads at its target."""
        form = self._transfers.issues[number][1].form
        return any(step.kind == "popa" and step.access.cell.rank is not None for step in core.steps_of(form))

    def _may_change(self, number: int) -> bool:
        """Whether anything may change the cell that a transfer reads at its target."""
        fetched = self._known.made(self._rank, *self._transfers.issues[number]).steps[0].cells
        return bool(fetched & self._all.changed)

    def _is_seen(self, number: int) -> bool:
        """Whether another rank, or another command of this one while the transfer is pending, may access the cell that
        it writes at home."""
        *_, brought = self._known.made(self._rank, *self._transfers.issues[number]).steps
        return bool(brought.cells & (self._others.cells | self._meanwhile[number]))

    def _touched_meanwhile(self) -> list[int]:
        """For each transfer the cells that other commands of its rank may access which are issued while it may be
        pending."""
        found = [0] * len(self._transfers.issues)
        for state, leaving in enumerate(self._instance.automata[self._rank].out):
            pending = self._pending[state].transfers
            for each in leaving if pending else ():
                made = self._known.made(self._rank, state, each)
                cells = reduce(or_, (step.cells for step in made.steps), made.at_issue.cells)
                own = self._numbers.get((state, each.occurrence))
                for number in members(pending) if cells else ():
                    if number != own:
                        found[number] |= cells
        return found
