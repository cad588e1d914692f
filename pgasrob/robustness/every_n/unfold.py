"""Control automata unfolded by what registers hold: in place of one interval for a control state several, one for each
of the ways that lead there (`proofs/every-n.md`, section 4).

A read is as many transitions as there are values that it may bring, if these are few, so that what it brought is known
after it. One that fails (`program.polls`) leads nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pgasrob.program import core
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.expressions import Expr, registers_of
from pgasrob.robustness.every_n.flow import Flow
from pgasrob.robustness.every_n.known import Known, Ranks
from pgasrob.robustness.every_n.linear import ANYTHING, Value, between
from pgasrob.robustness.every_n.settled_cells import SettledCells
from pgasrob.robustness.every_n.symbolic_values import File

MOST_FILES = 32
"""The most register files that are kept apart at one control state; all others there are joined."""
MOST_STATES = 400
"""The number of states of a name from which on no more files are kept apart."""
MOST_READ = 6
"""The most values of a cell of which each is a transition of its own when it is read."""


class _Edge(NamedTuple):
    """The transition of a control state at some place there, unfolded: it leads ``to`` a state, None for nowhere."""

    state: int
    place: int
    to: int | None
    read: Value | None


class Unfolded(Known):
    """What is known of the states of unfolded automata, which are numbered anew. The last one of each name is where no
    rank is.

    ``read``: for each name, state and transition what it reads at its issue, if anything. ``origins``: the
    transitions of the automata that were unfolded, as their control states and places there.
    """

    def __init__(self, flow: Flow, automata: Sequence[ControlAutomaton]) -> None:
        """``automata``: those of ``flow``, in which reads may fail."""
        live = {id(automaton): automaton.live for automaton in automata}
        unfolded = [_Unfolding(flow, rank, each, live[id(each)]) for rank, each in enumerate(automata)]
        ranks = [Ranks(each.name, one.automaton) for each, one in zip(flow.ranks, unfolded, strict=True)]
        super().__init__(ranks, flow.values, flow.layout, flow.initial, flow.memory, [each.files for each in unfolded])
        self.read = [each.read for each in unfolded]
        self.origins = [each.origins for each in unfolded]
        self.settled = SettledCells(self)

    def possible(self, rank: int, state: int, transition: Transition) -> bool:
        """Whether a command can be issued; one that is not possible leads nowhere."""
        return self.files[rank][transition.target] is not None

    def held(self, rank: int, state: int, place: core.Place) -> Value:
        """The values that a command before ``state`` may find in a cell."""
        return self.settled.held(rank, state, place) or super().held(rank, state, place)


class _Unfolding:
    """The unfolded automaton of one name."""

    def __init__(self, flow: Flow, rank: int, automaton: ControlAutomaton, live: Sequence[frozenset[int]]) -> None:
        self._flow, self._rank, self._values = flow, rank, flow.values[rank]
        self._out = automaton.out
        self._live = live
        forms = (each.form for each in automaton.transitions)
        ranks = (expr for form in forms for role, expr in core.expressions(form) if role is core.Role.RANK)
        self._naming = {register for expr in ranks for register in registers_of(expr)}
        self._states: list[tuple[int, File]] = []
        self._numbers: dict[tuple[int, File], int] = {}
        self._kept_apart = [0] * len(automaton.out)
        self._number(0, flow.first)
        edges: list[list[_Edge]] = []
        for state, file in self._states:  # which grow
            places = range(len(self._out[state]))
            edges.append([edge for place in places for edge in self._edges(state, place, file)])
        nowhere = len(self._states)
        out = [
            tuple(
                self._out[each.state][each.place].leading_to(nowhere if each.to is None else each.to)
                for each in leaving
            )
            for leaving in edges
        ]
        self.automaton = ControlAutomaton((*out, ()))
        self.read = [[each.read for each in leaving] for leaving in edges]
        self.origins = [[(each.state, each.place) for each in leaving] for leaving in edges]
        self.files: list[File | None] = [*(file for _, file in self._states), None]

    def _number(self, state: int, file: File) -> int | None:
        """The number of a state with the registers of ``file``, or with all that may be there; None when no rank comes
        there."""
        every = self._flow.files[self._rank][state]
        if every is None:
            return None
        file = tuple(value if index in self._live[state] else ANYTHING for index, value in enumerate(file))
        if (state, file) not in self._numbers:
            if self._kept_apart[state] >= MOST_FILES or len(self._states) >= MOST_STATES:
                file = every
            self._kept_apart[state] += 1
        if (state, file) not in self._numbers:
            self._numbers[state, file] = len(self._states)
            self._states.append((state, file))
        return self._numbers[state, file]

    def _edges(self, state: int, place: int, file: File) -> list[_Edge]:
        """The transitions that a transition becomes; one that leads nowhere when it cannot be taken."""
        transition = self._out[state][place]
        ways = self._ways(file, transition.form)
        found = [_Edge(state, place, self._number(transition.target, after), read) for after, read in ways]
        return found or [_Edge(state, place, None, None)]

    def _ways(self, file: File, form: core.Form) -> Iterator[tuple[File, Value | None]]:
        """The registers after a command, each with the value that it has read at its issue; none when it cannot be
        issued."""
        reads: Sequence[Value | None] = (None,)
        if isinstance(form, core.Immediate) and form.access.reads:
            reads = self._read(file, form)
        for read in reads:
            after = self._flow.registers_after(self._rank, file, form, read)
            if after is not None:
                yield after, self._accepted(file, form, after, read)

    def _accepted(self, file: File, form: core.Form, after: File, read: Value | None) -> Value | None:
        """The part of ``read``, the values that a command has read, for which its condition holds."""
        if not isinstance(form, core.Immediate) or read is None:
            return None
        if form.register is not None:
            read = after[form.register]
        awaited = None if form.condition is None else self._values.of(form.condition.value, file)
        if form.condition is None or awaited is None:
            return read
        return self._values.related(form.condition.relation, read, awaited)

    def _read(self, file: File, form: core.Immediate[core.Place, Expr]) -> list[Value]:
        """The values that a command may read, one by one if these are few; else that by itself which a compare-and-swap
        expects."""
        domain, layout = self._flow.ranks[self._rank].name.domain, self._flow.layout
        address = self._values.of(form.access.cell.address, file)
        value = self._flow.in_slots(self._rank, layout.held_in(domain, address))
        low, high = domain.span(value)
        if high - low < MOST_READ:
            return [between(each, each) for each in range(low, high + 1)]
        return self._apart(value, self._compared(file, form))

    def _compared(self, file: File, form: core.Immediate[core.Place, Expr]) -> Value | None:
        """The value that is read by itself: what a compare-and-swap expects, or what was there in the beginning, for a
        swap and where a rank is named by what is read."""
        match form.update:
            case core.Update("compare_swap", _, expected) if expected is not None:
                return self._values.of(expected, file)
            case core.Update("set") | None if form.update or form.register in self._naming:
                address = self._values.of(form.access.cell.address, file)
                slots = self._flow.layout.held_in(self._flow.ranks[self._rank].name.domain, address)
                return between(*[self._flow.initial[slots[0]]] * 2) if len(slots) == 1 else None
        return None

    def _apart(self, value: Value, one: Value | None) -> list[Value]:
        """``value`` in parts, of which ``one`` is one, if it is always the same number of a rank."""
        if one is None or one[0] != one[1] or not self._values.may_be("==", value, one):
            return [value]
        domain = self._flow.ranks[self._rank].name.domain
        parts = (value[0], one[0].shifted(-1)), one, (one[0].shifted(1), value[1])
        return [part for part in parts if domain.range(part[1].minus(part[0]))[1] >= 0]
