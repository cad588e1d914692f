"""The values that registers and cells may have, by names of ranks, and what follows from them for commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

from pgasrob.program import core
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.core import Form, Place, Role
from pgasrob.program.expressions import Expr
from pgasrob.robustness.every_n.guards import Guards, guards, is_below_nodes
from pgasrob.robustness.every_n.linear import ANYTHING, NODES, Linear, Value, between, number
from pgasrob.robustness.every_n.memory import Layout
from pgasrob.robustness.every_n.rank_cases import Name
from pgasrob.robustness.every_n.symbolic_values import File, Values
from pgasrob.semantics.effect import OPERATOR_OF

ZERO = between(0, 0)


@dataclass(frozen=True)
class Ranks:
    """The ranks of a ``name``, and what they do: the same ``automaton`` for each."""

    name: Name
    automaton: ControlAutomaton


class Known:
    """``files``: for every name and control state what registers may hold there, None when no such rank comes there.
    ``memory``: what cells may hold, by the slots of the ``layout``; ``initial``: what they do in the beginning."""

    def __init__(
        self,
        ranks: Sequence[Ranks],
        values: Sequence[Values],
        layout: Layout,
        initial: Sequence[int],
        memory: list[Value],
        files: list[list[File | None]],
    ) -> None:
        self.ranks, self.values, self.layout, self.files = ranks, values, layout, files
        self.initial, self.memory = initial, memory

    def operand(self, rank: int, state: int, expr: Expr) -> Value | None:
        """The values that an expression of a rank may have before ``state``."""
        file = self.files[rank][state]
        return None if file is None else self.values[rank].of(expr, file)

    def slots(self, rank: int, state: int, expr: Expr) -> Sequence[int]:
        """The slots of memory that an address may be in."""
        return self.layout.held_in(self.ranks[rank].name.domain, self.operand(rank, state, expr))

    def possible(self, rank: int, state: int, transition: Transition) -> bool:
        """Whether a command can be issued before ``state``, and lead to where the transition does."""
        file = self.files[rank][state]
        leads = self.files[rank][transition.target] is not None
        return file is not None and leads and self.legal(rank, file, transition.form) is not None

    def faults(self) -> Iterator[tuple[int, Transition, Role, Expr]]:
        """The operands that may have no value, or no legal one, with their ranks, commands and roles."""
        for rank, (values, files) in enumerate(zip(self.values, self.files, strict=True)):
            automaton = self.ranks[rank].automaton
            holding: list[Guards] = []
            for state, file in enumerate(files):
                for transition in automaton.out[state] if file is not None else ():
                    for role, expr in core.expressions(transition.form):
                        assert file is not None, "only what has been reached is looked at"
                        value = values.of(expr, file)
                        if not values.may_fault(expr, file):
                            if not self._may_be_illegal(values, role, value):
                                continue
                            if role is Role.RANK and value is not None and values.domain.always(number(0), value[0]):
                                holding = holding or guards(automaton)
                                if is_below_nodes(expr, holding[state]):
                                    continue
                        yield rank, transition, role, expr

    def _may_be_illegal(self, values: Values, role: Role, value: Value | None) -> bool:
        if value is None:
            return True
        low, high = self._bounds(role)
        domain = values.domain
        if role is Role.ADDRESS:
            return self.layout.may_be_illegal(domain, value)
        return (low is not None and not domain.always(low, value[0])) or (
            high is not None and not domain.always(value[1], high)
        )

    def _bounds(self, role: Role) -> tuple[Linear | None, Linear | None]:
        """The bounds between which an operand has to lie so as not to fault."""
        match role:
            case Role.RANK:
                return number(0), NODES.shifted(-1)
            case Role.QUEUE:
                return number(0), None
            case Role.ADDRESS:
                return self.layout.bounds
            case Role.VALUE:
                return None, None
            case _:
                assert_never(role)

    # Effects

    def legal(self, rank: int, file: File, form: Form) -> File | None:
        """The registers ``file``, restricted to those values with which all operands are legal and a test holds."""
        values, found = self.values[rank], file
        for role, expr in core.expressions(form):
            if values.of(expr, file) is None:
                return None
            bounds = self._bounds(role)
            if bounds != (None, None):
                limited = values.limited(expr, found, *bounds)
                if limited is None or not self._may_be_legal(values, expr, file, bounds):
                    return None
                found = limited
        if isinstance(form, core.Test) and form.blocks:
            return values.narrowed(form.condition, True, found)
        return found

    def registers_after(self, rank: int, file: File, form: Form, read: Value | None) -> File | None:
        """What registers may hold after a command that is issued with ``file`` and has ``read`` that at its issue
        (None: nothing, or whatever it waits for); None when it cannot be issued, or waits for something else."""
        values, found = self.values[rank], self.legal(rank, file, form)
        if found is None:
            return None
        match form:
            case core.Assign(register, assigned):
                return with_register(found, register, values.of(assigned, file))
            case core.Immediate() if read is not None:
                if form.condition is not None:
                    awaited = values.of(form.condition.value, file)
                    if awaited is None or not values.may_be(form.condition.relation, read, awaited):
                        return None
                if form.register is None:
                    return found
                after = with_register(found, form.register, read)
                return after if form.until is None or after is None else values.narrowed(form.until.holds, True, after)
        return found

    def _may_be_legal(
        self, values: Values, expr: Expr, file: File, bounds: tuple[Linear | None, Linear | None]
    ) -> bool:
        value, (low, high) = values.of(expr, file), bounds
        if value is None:
            return False
        domain = values.domain
        above = low is None or domain.range(value[1].minus(low))[1] >= 0
        return above and (high is None or domain.range(high.minus(value[0]))[1] >= 0)

    def writes(
        self, rank: int, state: int, form: Form, found: tuple[int, Value] | None = None
    ) -> Iterator[tuple[int, Place, Value]]:
        """Which accesses of a command before ``state`` write, by their numbers in its chain, where, and what values
        that may be; writing what was there is left out. ``found``: the number of one, and what it finds in its cell."""
        file, values = self.files[rank][state], self.values[rank]
        assert file is not None, "only what has been reached is followed"
        match form:
            case core.Immediate(access, _, update) if update is not None:
                held = found[1] if found else self.held(rank, state, access.cell)
                value = self._updated(values, update, held, *self._given(values, update, file))
                if value is not None:
                    yield 0, access.cell, value
            case core.Transfer():
                yield from self._transferred(rank, state, file, form, found)

    def _transferred(
        self, rank: int, state: int, file: File, form: core.Transfer[Place, Expr], found: tuple[int, Value] | None
    ) -> Iterator[tuple[int, Place, Value]]:
        values = self.values[rank]
        carried, expected = (ZERO, ZERO) if form.update is None else self._given(values, form.update, file)
        if form.captured is not None:
            carried = self.held(rank, state, form.captured.cell)
        for number_, step in enumerate(form.steps, start=int(form.captured is not None)):
            place = step.access.cell
            match step.kind:
                case "popa":
                    carried = self.held(rank, state, place)
                case "popd":
                    expected = self.held(rank, state, place)
                case "popb" if form.update is not None:
                    held = found[1] if found and found[0] == number_ else self.held(rank, state, place)
                    value = self._updated(values, form.update, held, carried, expected)
                    if value is not None:
                        yield number_, place, value
                    carried = held
                case "popb" | "popc":
                    yield number_, place, carried
                case _:
                    assert_never(step.kind)

    def _given(self, values: Values, update: core.Update[Expr], file: File) -> tuple[Value, Value]:
        """The operand of an update and the value that it expects."""
        operand, expected = (
            ZERO if expr is None else values.of(expr, file) for expr in (update.operand, update.expected)
        )
        return operand or ANYTHING, expected or ANYTHING

    def _updated(
        self, values: Values, update: core.Update[Expr], held: Value, operand: Value, expected: Value
    ) -> Value | None:
        """The value that an update writes, None where it writes nothing or what the cell held."""
        match update.operation:
            case "set":
                return operand
            case "fetch":
                return None
            case "compare_swap":
                return operand if values.may_be("==", held, expected) else None
            case "min" | "max":
                return values.domain.joined(held, operand)
            case "min." | "max.":
                return operand
        return values.binary(OPERATOR_OF[update.operation], held, operand, update.type) or ANYTHING

    def held(self, rank: int, state: int, place: Place) -> Value:
        """The values that a command before ``state`` may find in a cell."""
        return self.in_slots(rank, self.slots(rank, state, place.address))

    def in_slots(self, rank: int, slots: Sequence[int]) -> Value:
        """The values that the cells of some slots may hold, for a rank."""
        domain = self.ranks[rank].name.domain
        found: Value | None = None
        for slot in slots:
            value = self.memory[slot]
            found = value if found is None else domain.joined(found, value)
        return found or ZERO


def with_register(file: File, register: int, value: Value | None) -> File | None:
    """``file`` with another value of a register; None where there is no value."""
    return None if value is None else (*file[:register], value, *file[register + 1 :])
