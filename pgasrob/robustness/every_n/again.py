"""Finds commands that a rank in a loop issues for another cell each time, since it counts a register up or down.

    for (pe = 0; pe < nodes; pe++) put(column[me] at pe, row[pe])

Between two issues of the put the rank has increased `pe` and set it in no other way, so the two are to different ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.expressions import (
    Binary,
    Conditional,
    Const,
    Expr,
    IntType,
    Me,
    Nodes,
    Register,
    Symbol,
    Unary,
    registers_of,
)
from pgasrob.program.graphs import reached_by
from pgasrob.robustness.every_n.known import Known
from pgasrob.robustness.every_n.linear import NODES
from pgasrob.robustness.every_n.symbolic_values import File, Values

Edge = tuple[int, Transition]
"""A transition with the control state that it leaves."""


@dataclass(frozen=True)
class _Counted:
    """What happens between two issues of one command: which registers are ``set``, and which of them are ``counted``,
    i.e. only increased, at least once, or only decreased."""

    set: frozenset[int]
    counted: frozenset[int]


class Again:
    """The commands of a rank of some name that may be issued several times."""

    def __init__(self, known: Known, rank: int) -> None:
        self._known, self._rank = known, rank
        self._values: Values = known.values[rank]
        self._out = known.ranks[rank].automaton.out
        self._edges: list[Edge] = [
            (state, each)
            for state, leaving in enumerate(self._out)
            for each in leaving
            if known.possible(rank, state, each)
        ]
        self._of: dict[int, list[Edge]] = {}
        for edge in self._edges:
            self._of.setdefault(edge[1].occurrence, []).append(edge)
        self._apart: dict[int, frozenset[int]] = {}

    def apart(self, occurrence: int) -> frozenset[int]:
        """The places in its chain of the accesses that are to another cell each time that a command is issued."""
        if occurrence not in self._apart:
            self._apart[occurrence] = frozenset(self._found(self._of.get(occurrence, ())))
        return self._apart[occurrence]

    def _found(self, edges: Sequence[Edge]) -> Iterator[int]:
        forms = [each.form for _, each in edges]
        if not forms or any(form != forms[0] for form in forms):
            return
        places = [access.cell for access in core.accesses_of(forms[0])]
        operands = [[_issued(each) for each in (place.rank, place.address) if each is not None] for place in places]
        named = frozenset(register for exprs in operands for expr in exprs for register in registers_of(expr))
        file = self._before(edges)
        if not named or file is None:
            return
        counted = self._between(edges, named)
        for number, exprs in enumerate(operands):
            if any(
                self._differs(expr, register, counted, file)
                for expr in exprs
                for register in registers_of(expr) & counted.counted
            ):
                yield number

    def _before(self, edges: Sequence[Edge]) -> File | None:
        """The values that registers may have before any of ``edges``."""
        found: File | None = None
        for state, _ in edges:
            found = self._values.either(found, self._known.files[self._rank][state])
        return found

    def _between(self, edges: Sequence[Edge], named: frozenset[int]) -> _Counted:
        """What happens on all ways from after one of ``edges`` to before one, to the registers ``named``."""
        first, last = {each.target for _, each in edges}, {state for state, _ in edges}
        after = reached_by(((state, each.target) for state, each in self._edges), first)
        before = reached_by(((each.target, state) for state, each in self._edges), last)
        region = [(state, each) for state, each in self._edges if state in after and each.target in before]
        assigned = {register for _, each in region if (register := core.register_set(each.form)) is not None}
        counted = set()
        for register in assigned & named:
            steps = [
                (edge, self._step(*edge, register)) for edge in region if core.register_set(edge[1].form) == register
            ]
            signs = {None if step is None else step > 0 for _, step in steps}
            if len(signs) == 1 and None not in signs:
                others = [edge for edge in region if core.register_set(edge[1].form) != register]
                if last.isdisjoint(reached_by(((state, each.target) for state, each in others), first)):
                    counted.add(register)
        return _Counted(frozenset(assigned), frozenset(counted))

    def _step(self, state: int, transition: Transition, register: int) -> int | None:
        """By how much a command changes a register that it sets, never beyond its type; None for anything else."""
        match transition.form:
            case core.Assign(_, Binary("+" | "-" as symbol, Register(index=index), Const(value), type)) if (
                index == register and value
            ):
                file, by = self._known.files[self._rank][state], value if symbol == "+" else -value
                if file is not None and self._fits(self._span(Register("", register), file), by, type):
                    return by
        return None

    # Operands

    def _span(self, expr: Expr, file: File) -> tuple[int, int] | None:
        found = self._values.of(expr, file)
        return None if found is None else self._values.domain.span(found)

    @staticmethod
    def _fits(span: tuple[int, int] | None, by: int, type: IntType) -> bool:
        return span is not None and type.range[0] <= span[0] + by and span[1] + by <= type.range[1]

    def _differs(self, expr: Expr, register: int, counted: _Counted, file: File) -> bool:
        """Whether ``expr`` has another value for every value of ``register``, all else being as it was."""
        match expr:
            case Binary("+", left, right, type):
                for one, other in ((left, right), (right, left)):
                    if self._times(one, register, counted, file) == 0 and self._adds(left, "+", right, type, file):
                        return self._differs(other, register, counted, file)
            case Binary("%", left, Nodes()):
                span, values = self._span(left, file), file[register]
                few = self._values.domain.always(values[1].minus(values[0]), NODES.shifted(-1))
                once = self._times(left, register, counted, file) in (1, -1)
                return span is not None and span[0] >= 0 and few and once
        return self._times(expr, register, counted, file) not in (None, 0)

    def _times(self, expr: Expr, register: int, counted: _Counted, file: File) -> int | None:
        """How often ``register`` is added in ``expr``, in which nothing else changes; None where that is not known."""
        match expr:
            case Const() | Symbol() | Me() | Nodes():
                return 0
            case Register(_, index):
                return 1 if index == register else None if index in counted.set else 0
            case Unary("cast", operand, type) if self._fits(self._span(operand, file), 0, type):
                return self._times(operand, register, counted, file)
            case Binary("+" | "-" as symbol, left, right, type):
                one, other = (self._times(each, register, counted, file) for each in (left, right))
                if one is None or other is None:
                    return None
                if one == other == 0:
                    return 0
                if not self._adds(left, symbol, right, type, file):
                    return None
                return one + other if symbol == "+" else one - other
            case Binary("*", left, Const(value), type) | Binary("*", Const(value), left, type):
                times, span = self._times(left, register, counted, file), self._span(left, file)
                fits = span is not None and all(self._fits((end * value, end * value), 0, type) for end in span)
                return 0 if times == 0 else times * value if times is not None and fits else None
        return 0 if registers_of(expr).isdisjoint(counted.set) else None

    def _adds(self, left: Expr, symbol: str, right: Expr, type: IntType, file: File) -> bool:
        """Whether a sum, or a difference, does not wrap around."""
        one, other = self._span(left, file), self._span(right, file)
        if one is None or other is None:
            return False
        low, high = other if symbol == "+" else (-other[1], -other[0])
        return self._fits((one[0] + low, one[1] + high), 0, type)


def _issued(expr: Expr) -> Expr:
    """``expr``, a rank or an address, where its command is issued: a branch with a value below 0 would be a fault, so
    it is not taken."""
    match expr:
        case Conditional(_, then, Const(value)) if value < 0:
            return _issued(then)
    return expr
