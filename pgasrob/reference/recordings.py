"""The exact answers for one recorded trace: whether an attack hides in it, and which accesses can be next at once.

Written from the definitions of `proofs/recorded-traces.md`; `recording.native_recordings` does the same for long
traces. Both look at the order of the trace alone: every run before the last command is an ideal of it, with steps
delayed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from pgasrob.analysis.placement import (
    DELAYED,
    NOW,
    Slot,
    bounding,
    entered,
    is_fenced,
    waited_for,
)
from pgasrob.analysis.placement import Kind as SlotKind
from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import EVERY_QUEUE, Cell
from pgasrob.program.instance import Instance
from pgasrob.races.racing_pairs import Next, Pairs
from pgasrob.races.racing_pairs import step as step_of
from pgasrob.recording.native_recordings import Undecided
from pgasrob.reference.closing import Closing
from pgasrob.robustness.moves import Move, Rerun, in_two_parts
from pgasrob.semantics.accesses import Access, conflict
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.mazurkiewicz_trace import Event, Trace


class Both(NamedTuple):
    """Two accesses that race: both are next after ``moves``, of which the steps in part 1 happen, and no others."""

    one: Next
    other: Next
    moves: list[Move]

    def run(self, instance: Instance) -> Computation:
        """What happens before."""
        computation, parts = in_two_parts(Rerun(instance).words(self.moves))
        return tuple(event for event, part in zip(computation, parts, strict=True) if part == NOW)


class Exact:
    """One trace, which is a run of the straight-line program ``instance`` (`recording.straight`)."""

    def __init__(self, instance: Instance, trace: Trace, strict: bool = False) -> None:
        self._instance, self._trace = instance, trace
        self._pairs = Pairs(instance, strict)

    def attack(self) -> list[Move] | None:
        """The moves of a run with a happens-before cycle; None when there is none. Raises :class:`Undecided`."""
        closing = Closing(self._instance, self._trace)
        found = next((moves for moves in closing.attacks() if moves is not None), None)
        if found is None and closing.undecided:
            raise Undecided
        return found

    def races(self) -> Iterator[Both]:
        """The accesses that are next at once after some prefix of a computation with this happens-before relation, and
        race: neither is among what has to come before the other is next."""
        order = _Steps(self._instance, self._trace)
        cells = defaultdict(list)
        for node in order.nodes:
            cells[node.next.access.cell].append(node)
        for nodes in cells.values():
            for number, one in enumerate(nodes):
                for other in nodes[:number]:
                    # Of the next commands of one rank only one is issued.
                    alternatives = one.next.at_issue and other.next.at_issue and one.next.rank == other.next.rank
                    ordered = alternatives or one.before >> other.bit & 1 or other.before >> one.bit & 1
                    if not ordered and one.command != other.command and self._pairs.race(other.next, one.next):
                        yield Both(other.next, one.next, order.moves(one.before | other.before))


class _Node(NamedTuple):
    """An access. ``before``: what has to have happened for it to be next."""

    next: Next
    command: tuple[int, int]
    bit: int
    before: int


class _Steps:
    """What comes before what in the computations that have the trace's happens-before relation: issues, which have an
    access or none, and steps. Sets are bits."""

    def __init__(self, instance: Instance, trace: Trace) -> None:
        nodes = instance.nodes
        self._instance, self._trace = instance, trace
        self.nodes: list[_Node] = []
        self._issues: list[int] = []
        self._steps: list[list[int]] = []
        self._count = 0
        self._past = [0] * nodes  # of the next issue of each rank
        # What comes before the end of the steps for which a slot stands (`analysis.placement`).
        self._slots: list[dict[Slot, int]] = [{} for _ in range(nodes)]
        self._cells: dict[Cell, list[tuple[Access, int]]] = defaultdict(list)
        for event in trace.events:
            issue = self._issue(event)
            self._issues.append(issue)
            self._bind(event)
            operands = event.operands
            self._steps.append(self._transfer(event, operands, issue) if isinstance(operands, core.Transfer) else [])
        for rank, places in enumerate(trace.positions):
            for command in places[-1].commands:
                made = core.at_issue(command.operands)
                if made is not None:
                    self._add(issue_of(rank, command.transition, made), self._new(), self._past[rank])

    def _issue(self, event: Event) -> int:
        """Add the issue of a command; what comes before its end, itself included."""
        operands, rank, bit, before = event.operands, event.rank, self._new(), 0
        ranks = range(self._instance.nodes) if event.is_barrier else (rank,)
        for each in ranks:
            before |= self._past[each]
        made, issue = core.at_issue(operands), before | 1 << bit
        if made is not None:
            self._add(issue_of(rank, event.transitions[0], made), bit, before)
            issue |= self._met(made)
            self._cells[made.cell].append((made, issue))
        if isinstance(operands, core.Wait):
            issue |= self._slots[rank].get(waited_for(operands), 0)
        for each in ranks:
            self._past[each] = issue
        return issue

    def _bind(self, event: Event) -> None:
        """What a bundle or a fence does to the steps so far."""
        operands, slots = event.operands, self._slots[event.rank]
        if isinstance(operands, core.Bundle):
            self._slots[event.rank] = {
                slot: there for slot, there in slots.items() if slot.kind is not SlotKind.BUNDLED
            }
        if isinstance(operands, core.Fence):
            for slot, there in list(slots.items()):
                if is_fenced(slot, operands):
                    bound = slot._replace(kind=SlotKind.BOUND)
                    slots[bound] = slots.get(bound, 0) | there

    def _transfer(self, event: Event, operands: core.Transfer[Cell, int], so_far: int) -> list[int]:
        """Add the steps of an operation, one after the other; their bits."""
        rank, slots = event.rank, self._slots[event.rank]
        unordered = self._instance.is_unordered(operands.queue)
        bits, entering = list[int](), list[tuple[Slot, int]]()
        for place, step in enumerate(operands.steps):
            cell = step.access.cell
            for slot in bounding(unordered, operands, step, cell):
                for known, there in slots.items():
                    if (known.kind, known.of) == (slot.kind, slot.of) and slot.queue in (known.queue, EVERY_QUEUE):
                        so_far |= there
            bit = self._new()
            self._add(step_of(rank, event.transitions[0], operands, place), bit, so_far)
            so_far |= 1 << bit | self._met(step.access)
            bits.append(bit)
            self._cells[cell].append((step.access, so_far))
            entering += [(slot, so_far) for slot in entered(unordered, self._instance, operands, step, cell)]
        for slot, there in entering:
            slots[slot] = slots.get(slot, 0) | there
        return bits

    def _met(self, access: Access) -> int:
        """What comes before the accesses so far that conflict with ``access``, and they."""
        found = 0
        for other, there in self._cells[access.cell]:
            found |= there if conflict(other, access) else 0
        return found

    def moves(self, there: int) -> list[Move]:
        """The run of what is ``there``."""
        moves: list[Move] = []
        for event, issue, steps in zip(self._trace.events, self._issues, self._steps, strict=True):
            if issue & ~there:
                continue
            parts = [NOW if there >> bit & 1 else DELAYED for bit in steps]
            moves.append((None if event.is_barrier else event.rank, event.transitions, parts))
        return moves

    def _new(self) -> int:
        self._count += 1
        return self._count

    def _add(self, next: Next, bit: int, before: int) -> None:
        self.nodes.append(_Node(next, (next.rank, next.transition.occurrence), bit, before))


def issue_of(rank: int, transition: Transition, made: Access) -> Next:
    """The access that the next command of a rank makes at its issue."""
    return Next(rank, transition, 0, made, at_issue=True)


def attack_in(instance: Instance, trace: Trace) -> list[Move] | None:
    """:meth:`Exact.attack` of a trace."""
    return Exact(instance, trace).attack()
