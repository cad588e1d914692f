"""Polling loops: finds the reads that only lead back to where the rank has been (the design, section 2: polls).

A read *fails* when, whatever it is followed by, the rank has done nothing but read when it is back at a control state
at which it has been, with the same values of all registers that matter there. Taking such an iteration out of a
computation leaves one that does the same to everything else; so failed reads are disabled, as an await is whose
condition does not hold, and a polling loop *is* an await. `proofs/polling.md` has the definition, the proof, and what
is not recognised.

The result is a condition on the registers after each load or fetch (:class:`~pgasrob.program.core.Until`), computed
from the control automaton of a rank. Engines know nothing else of polls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from pgasrob.program import core
from pgasrob.program.certain import FALSE, either, negated
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.core import Form, Until
from pgasrob.program.declarations import Declared
from pgasrob.program.expressions import Expr, constant, names_me_or_nodes, registers_of
from pgasrob.program.failing_swaps import without_failing_swaps
from pgasrob.program.gathering import Gathering
from pgasrob.program.graphs import components, dominators, reached
from pgasrob.program.looks import Looks
from pgasrob.program.raised_flags import Flags, addresses
from pgasrob.program.walks import MOST_WAYS, Goal, Values, Walks, is_quiet, is_read
from pgasrob.stop_points import stop_point

if TYPE_CHECKING:
    from pgasrob.program.shown_places import Shown


def with_polls(
    automaton: ControlAutomaton, rank: Expr, program: Declared, nodes: Expr, flags: Flags | None = None
) -> ControlAutomaton:
    """``automaton``, of ``rank`` in ``program`` on ``nodes`` nodes, with its failed reads disabled. Where rank and
    nodes are symbols, a read is disabled only if it is for all numbers that they may stand for; with numbers ``flags``
    says which cells are flags."""
    if not any(is_read(transition.form) for transition in automaton.transitions):
        return automaton
    # What a compare_swap that fails is followed by depends on what it has read: it is no look, and gathers nothing.
    walks, without = (Walks(each, rank, program.cells, nodes) for each in (automaton, without_failing_swaps(automaton)))
    polls = _Polls(walks, without, program.shown, flags)
    out = [[polls.waiting(state, transition) for transition in leaving] for state, leaving in enumerate(automaton.out)]
    return ControlAutomaton(tuple(map(tuple, _numbered(out))))


def may_become_waits(automaton: ControlAutomaton) -> bool:
    """Whether reads that are no waits may be some where more is known of what the program shows: a read can only be one
    where its rank may look at the cell again, before it does what no rule here goes beyond."""

    def followed(state: int) -> Iterator[int]:
        leaving = automaton.out[state]
        return (
            edge.target for edge in leaving if not isinstance(edge.form, core.Transfer | core.Bundle | core.Barrier)
        )

    for read in automaton.transitions:
        form = read.form
        if not isinstance(form, core.Immediate) or not is_read(form) or form.until is not None:
            continue
        cells = addresses(form.access.cell.address)
        for each in (edge.form for state in reached([read.target], followed) for edge in automaton.out[state]):
            if isinstance(each, core.Immediate) and each.update is None:
                others = addresses(each.access.cell.address)
                if cells is None or others is None or not cells.isdisjoint(others):
                    return True
    return False


def _numbered(out: list[list[Transition]]) -> Iterator[list[Transition]]:
    """The transitions with a ``variant`` for each form of an occurrence: whether a read fails depends on the control
    state, so one occurrence may have several forms."""
    variants: dict[int, dict[Form, int]] = {}

    def numbered(transition: Transition) -> Transition:
        if not is_read(transition.form):
            return transition
        known = variants.setdefault(transition.occurrence, {})
        variant = known.setdefault(transition.form, len(known))
        return transition.with_form(transition.form, variant) if variant else transition

    for leaving in out:
        yield list(map(numbered, leaving))


def has_one_control(automaton: ControlAutomaton) -> bool:
    """Whether no decision depends on the rank or the number of nodes: they are in no assume, assert or awaited value,
    and no register computed from them is either, nor is it assigned to another register."""
    forms = [transition.form for transition in automaton.transitions]
    assigned = [form for form in forms if isinstance(form, core.Assign)]
    of_ranks = {form.register for form in assigned if names_me_or_nodes(form.value)}
    decides = [form.condition for form in forms if isinstance(form, core.Test)]
    decides += [form.condition.value for form in forms if isinstance(form, core.Immediate) and form.condition]
    if any(map(names_me_or_nodes, decides)):
        return False
    return all(registers_of(expr).isdisjoint(of_ranks) for expr in (*decides, *(form.value for form in assigned)))


def _is_alike(form: Form) -> bool:
    """Whether polls and looks cannot depend on the rank and the number of nodes by this command. Of one that they do
    not follow it matters only which registers it reads."""
    followed = is_quiet(form) or (isinstance(form, core.Immediate) and form.update is None)
    for role, expr in core.expressions(form):
        about_ranks = names_me_or_nodes(expr)
        if (role is core.Role.RANK or about_ranks) if followed else (about_ranks and bool(registers_of(expr))):
            return False
    return True


class _Polls:
    def __init__(self, walks: Walks, without_swaps: Walks, shown: Shown | None, flags: Flags | None) -> None:
        out = walks.out
        self._walks, self._without_swaps, self._shown = walks, without_swaps, shown
        known = constant(walks.rank)
        # Where less is decided or more is live than with numbers, what is a look may be a poll then, or no look.
        symbols = known is None or constant(walks.nodes) is None
        alike = not symbols or all(_is_alike(edge.form) for leaving in out for edge in leaving)
        self._may_look = alike
        self._gathering = None if flags is None or known is None else Gathering(without_swaps, flags)
        self._failing: dict[tuple[int, int], Expr] = {}
        self._out = out
        self._quiet = [[each.target for each in leaving if is_quiet(each.form)] for leaving in out]
        self._loop = components(self._quiet)

    @cached_property
    def _arriving(self) -> list[list[tuple[int, Transition]]]:
        found: list[list[tuple[int, Transition]]] = [[] for _ in self._out]
        for state, leaving in enumerate(self._out):
            for transition in leaving:
                found[transition.target].append((state, transition))
        return found

    @cached_property
    def _last_before(self) -> list[int | None]:
        """For each control state its immediate dominator on quiet ways."""
        begins = {0} | {each.target for leaving in self._out for each in leaving if not is_quiet(each.form)}
        return dominators(self._quiet, sorted(begins))

    def waiting(self, state: int, transition: Transition) -> Transition:
        """``transition``, which leaves ``state``, enabled only when it is a read that does not fail."""
        form = transition.form
        if not isinstance(form, core.Immediate) or not is_read(form):
            return transition
        fails, spins = self.fails(state, transition), True
        looks = form.condition is None
        if fails == FALSE and looks and self._may_look:
            fails, spins = Looks(self._without_swaps, self.fails, self._shown).fails(transition)
        gathers = FALSE if self._gathering is None or not looks else self._gathering.fails(state, transition)
        fails = either(fails, gathers)
        if fails == FALSE:
            return transition
        return transition.with_form(replace(form, until=Until(negated(fails), spins, gathers != FALSE)))

    def fails(self, state: int, read: Transition) -> Expr:
        """The condition, on the registers after ``read``, under which the rank is bound to come back to ``state``."""
        key = state, read.occurrence
        if key not in self._failing:
            self._failing[key] = self._fails(state, read)
        return self._failing[key]

    def _fails(self, state: int, read: Transition) -> Expr:
        found, register = FALSE, core.register_set(read.form)
        if self._loop[read.target] != self._loop[state]:
            return found
        self._walks.left = MOST_WAYS
        for back, changed in self._been_at(state):
            if not (changed | {register}) & self._walks.live[back] and not self._keeps(state, back):
                found = either(found, self._walks.bound(read.target, self._back_at(back), back=back))
            if self._walks.left < 0:
                break
        return found

    def _keeps(self, state: int, back: int) -> bool:
        """Whether a round of the loop around ``state``, from ``back`` to there, may leave something behind for what the
        source shows."""
        if self._shown is None:
            return False
        inside = (at for at, number in enumerate(self._loop) if number == self._loop[state])
        round = {edge.span for at in inside for edge in self._out[at] if self._loop[edge.target] == self._loop[state]}
        return self._shown.kept(round, {edge.span for edge in self._out[back]}, self._walks.never_passed)

    def _been_at(self, state: int) -> Iterator[tuple[int, frozenset[int]]]:
        """The control states of the loop around ``state`` that every quiet way to it passes, nearest first, each with
        the registers that may have been set since."""
        changed, back = frozenset[int](), state
        while True:
            stop_point()
            yield back, changed
            before = self._last_before[back]
            if before is None or self._loop[before] != self._loop[state]:
                return
            changed |= self._set_between(before, back)
            back = before

    def _set_between(self, back: int, state: int) -> frozenset[int]:
        """The registers that may be set between ``back`` and ``state``, which ``back`` dominates."""

        def earlier(at: int) -> Iterator[int]:
            return (before for before, _ in self._arriving[at] if before != back)

        arriving = (edge for at in reached([state], earlier) for _, edge in self._arriving[at])
        return frozenset(each for edge in arriving if (each := core.register_set(edge.form)) is not None)

    def _back_at(self, back: int) -> Goal:
        """To be at ``back`` with its live registers as they were after the read, and so before it."""

        def arrived(state: int, values: Values) -> Expr | None:
            return self._walks.agree(back, values) if state == back else None

        return arrived
