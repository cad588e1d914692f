"""What registers and cells may hold on every number of nodes, in all runs, by names of ranks.

As `analysis.range_analysis`: control automata are followed with an interval for each register, and each address has one
interval, for all times and all ranks, which every write widens. It is about whatever runs in some order and reads what
has been written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import assert_never

from pgasrob.program import core
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.core import Form, Place, Role
from pgasrob.program.expressions import INT32, Expr, constant, parts
from pgasrob.robustness.every_n.cases import Name
from pgasrob.robustness.every_n.linear import ANYTHING, NODES, Domain, Linear, Value, between, number
from pgasrob.robustness.every_n.values import File, Values, legal_addresses
from pgasrob.semantics.effect import OPERATOR_OF

EXACT_GROWTHS = 10
"""Times that what is known of a control state or an address grows before it is widened."""
MOST_FOLLOWED = 60_000
"""Commands, each as often as what is known before it changes, in all cases together."""
ZERO = between(0, 0)


class TooLong(Exception):
    """More than `MOST_FOLLOWED` commands would have to be followed."""


@dataclass(frozen=True)
class Ranks:
    """The ranks of a ``name``, and what they do: the same ``automaton`` for each."""

    name: Name
    automaton: ControlAutomaton

    @property
    def values(self) -> Values:
        return Values(self.name.domain, self.name.me)


class Flow:
    """The fixpoint. ``files``: for every name and control state what registers may hold there, None when no such rank
    comes there. ``memory``: by address. ``followed``: how many commands have been followed, here and before.

    Raises :class:`TooLong`.
    """

    def __init__(self, ranks: Sequence[Ranks], initial: Sequence[int], registers: int, followed: int = 0) -> None:
        self.ranks, self.followed = ranks, followed
        self.values = [each.values for each in ranks]
        self.memory: list[Value] = [between(value, value) for value in initial]
        self.files: list[list[File | None]] = [[None] * len(each.automaton.out) for each in ranks]
        self._growths: dict[tuple[int, int], int] = {}
        self._steps = _steps(ranks)
        self._readers: list[set[tuple[int, int]]] = [set() for _ in initial]
        self._queue: list[tuple[int, int]] = []  # a heap: what comes first in the text is followed first
        self._queued: set[tuple[int, int]] = set()
        for rank in range(len(ranks)):
            self._arrive(rank, 0, (ZERO,) * registers)
        while self._queue:
            rank, state = heappop(self._queue)
            self._queued.discard((rank, state))
            for transition in ranks[rank].automaton.out[state]:
                self.followed += 1
                if self.followed > MOST_FOLLOWED:
                    raise TooLong
                after = self._after(rank, state, transition.form)
                if after is not None:
                    self._arrive(rank, transition.target, after)

    def operand(self, rank: int, state: int, expr: Expr) -> Value | None:
        """The values of an expression of a rank before ``state``."""
        file = self.files[rank][state]
        return None if file is None else self.values[rank].of(expr, file)

    def addresses(self, rank: int, state: int, expr: Expr) -> Sequence[int]:
        """The cells of a memory that an address may be."""
        return legal_addresses(self.ranks[rank].name.domain, self.operand(rank, state, expr), len(self.memory))

    def possible(self, rank: int, state: int, form: Form) -> bool:
        """Whether a command can be issued before ``state``."""
        file = self.files[rank][state]
        return file is not None and self._legal(rank, file, form) is not None

    def faults(self) -> Iterator[tuple[int, Transition, Role, Expr]]:
        """The operands that may have no value, or no legal one, with their ranks, commands and roles."""
        for rank, (values, files) in enumerate(zip(self.values, self.files, strict=True)):
            for file, leaving in zip(files, self.ranks[rank].automaton.out, strict=True):
                if file is None:
                    continue
                for transition in leaving:
                    for role, expr in core.expressions(transition.form):
                        if values.may_fault(expr, file) or self._may_be_illegal(values, role, values.of(expr, file)):
                            yield rank, transition, role, expr

    def _may_be_illegal(self, values: Values, role: Role, value: Value | None) -> bool:
        if value is None:
            return True
        low, high = self._bounds(role)
        domain = values.domain
        return (low is not None and not domain.always(low, value[0])) or (
            high is not None and not domain.always(value[1], high)
        )

    def _bounds(self, role: Role) -> tuple[Linear | None, Linear | None]:
        """Between which bounds an operand does not fault."""
        match role:
            case Role.RANK:
                return number(0), NODES.shifted(-1)
            case Role.QUEUE:
                return number(0), None
            case Role.ADDRESS:
                return number(0), number(len(self.memory) - 1)
            case Role.VALUE:
                return None, None
            case _:
                assert_never(role)

    def _arrive(self, rank: int, state: int, file: File) -> None:
        known = self.files[rank][state]
        if known is not None:
            joined = self.values[rank].either(known, file)
            if joined is None or joined == known:
                return
            times = self._growths[rank, state] = self._growths.get((rank, state), 0) + 1
            domain = self.ranks[rank].name.domain
            file = tuple(
                old if old == new else self._grown(domain, old, new, times)
                for old, new in zip(known, joined, strict=True)
            )
        self.files[rank][state] = file
        self._enqueue((rank, state))

    def _enqueue(self, place: tuple[int, int]) -> None:
        if place not in self._queued:
            self._queued.add(place)
            heappush(self._queue, place)

    def _grown(self, domain: Domain, old: Value, new: Value, times: int) -> Value:
        """``new``, or more: an end that has grown for long goes on to the next step."""
        if times <= EXACT_GROWTHS:
            return new
        if times > EXACT_GROWTHS + 4 * len(self._steps):
            return ANYTHING
        low, high = new
        if low != old[0]:
            low = next((step for step in reversed(self._steps) if domain.always(step, low)), ANYTHING[0])
        if high != old[1]:
            high = next((step for step in self._steps if domain.always(high, step)), ANYTHING[1])
        return low, high

    # Effects

    def _legal(self, rank: int, file: File, form: Form) -> File | None:
        """What is left of ``file`` when all operands have legal values and a test holds."""
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

    def _may_be_legal(
        self, values: Values, expr: Expr, file: File, bounds: tuple[Linear | None, Linear | None]
    ) -> bool:
        value, (low, high) = values.of(expr, file), bounds
        if value is None:
            return False
        domain = values.domain
        above = low is None or domain.range(value[1].minus(low))[1] >= 0
        return above and (high is None or domain.range(high.minus(value[0]))[1] >= 0)

    def _after(self, rank: int, state: int, form: Form) -> File | None:
        """What registers may hold behind a command, None if it cannot be issued; what it writes is written."""
        file = self.files[rank][state]
        assert file is not None, "only what has been reached is followed"
        found, values = self._legal(rank, file, form), self.values[rank]
        if found is None:
            return None
        match form:
            case core.Assign(register, assigned):
                return _with(found, register, values.of(assigned, file))
            case core.Immediate(access, _, update, register):
                held = self._read(rank, state, access.cell) if access.reads or update is not None else ZERO
                if update is not None:
                    operands = self._given(values, update, file)
                    self._write(rank, state, access.cell, self._updated(values, update, held, *operands))
                return found if register is None else _with(found, register, held)
            case core.Transfer():
                self._transfer(rank, state, file, form)
                return found
            case core.Test() | core.Wait() | core.Fence() | core.Bundle() | core.Barrier():
                return found
            case _:
                assert_never(form)

    def _transfer(self, rank: int, state: int, file: File, form: core.Transfer[Place, Expr]) -> None:
        values = self.values[rank]
        carried, expected = (ZERO, ZERO) if form.update is None else self._given(values, form.update, file)
        if form.captured is not None:
            carried = self._read(rank, state, form.captured.cell)
        for step in form.steps:
            place = step.access.cell
            match step.kind:
                case "popa":
                    carried = self._read(rank, state, place)
                case "popd":
                    expected = self._read(rank, state, place)
                case "popb" if form.update is not None:
                    held = self._read(rank, state, place)
                    self._write(rank, state, place, self._updated(values, form.update, held, carried, expected))
                    carried = held
                case "popb" | "popc":
                    self._write(rank, state, place, carried)
                case _:
                    assert_never(step.kind)

    def _given(self, values: Values, update: core.Update[Expr], file: File) -> tuple[Value, Value]:
        """The operand of an update and what it expects."""
        operand, expected = (
            ZERO if expr is None else values.of(expr, file) for expr in (update.operand, update.expected)
        )
        return operand or ANYTHING, expected or ANYTHING

    def _updated(
        self, values: Values, update: core.Update[Expr], held: Value, operand: Value, expected: Value
    ) -> Value | None:
        """What an update writes, None for nothing or what the cell held."""
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

    def _read(self, rank: int, state: int, place: Place) -> Value:
        domain = self.ranks[rank].name.domain
        found: Value | None = None
        for address in self.addresses(rank, state, place.address):
            self._readers[address].add((rank, state))
            value = self.memory[address]
            found = value if found is None else domain.joined(found, value)
        return found or ZERO

    def _write(self, rank: int, state: int, place: Place, value: Value | None) -> None:
        if value is None:
            return
        domain = self.ranks[rank].name.domain
        value = domain.without_rank(value)
        for address in self.addresses(rank, state, place.address):
            known = self.memory[address]
            joined = domain.joined(known, value)
            if joined == known:
                continue
            times = self._growths[-1, address] = self._growths.get((-1, address), 0) + 1
            self.memory[address] = domain.without_rank(self._grown(domain, known, joined, times))
            for reader in self._readers[address]:
                self._enqueue(reader)


def _with(file: File, register: int, value: Value | None) -> File | None:
    return None if value is None else (*file[:register], value, *file[register + 1 :])


def _steps(ranks: Sequence[Ranks]) -> list[Linear]:
    """The bounds to which intervals are widened, ascending."""
    numbers = {0, 1, *INT32.range}
    for automaton in {id(each.automaton): each.automaton for each in ranks}.values():
        for transition in automaton.transitions:
            for _, expr in core.expressions(transition.form):
                for part in parts(expr):
                    value = constant(part)
                    if value is not None:
                        numbers |= {value - 1, value, value + 1}
    ascending = [number(value) for value in sorted(numbers)]
    about_nodes = [NODES.shifted(by) for by in (-1, 0, 1)]
    return [*ascending[:-1], *about_nodes, ascending[-1]]
