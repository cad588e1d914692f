"""Conditions over registers, and what is certain of an expression of which parts are unknown (`proofs/polling.md`,
section 1: one operand may decide alone).

Expressions that may have no value (:func:`~pgasrob.program.expressions.faults_inside`) are not for this module: an
operand that decides alone would hide the fault of another.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce
from itertools import chain, islice, product

from pgasrob.program.expressions import (
    Binary,
    Conditional,
    Const,
    Expr,
    IntType,
    Register,
    Unary,
    constant,
    flattened,
    folded,
    parts,
)

TRUE: Expr = Const(1)
FALSE: Expr = Const(0)

UNKNOWN: Expr = Register("?", -1)
"""Any value, and not the same one wherever it stands."""

MOST_CASES = 16
"""Cases of one expression: with more of them nothing is said about it."""

MOST_PARTS = 200
"""Size of an expression over registers: repeated assigns can double it each time, and no poll does so."""


def negated(expr: Expr) -> Expr:
    return folded(Unary("!", expr))


def both(left: Expr, right: Expr) -> Expr:
    if constant(left) is not None:
        return right if constant(left) else FALSE
    if constant(right) == 0 or left == negated(right) or right == negated(left):
        return FALSE
    return left if constant(right) else Binary("&&", left, right)


def either(left: Expr, right: Expr) -> Expr:
    if constant(left) is not None:
        return TRUE if constant(left) else right
    return TRUE if constant(right) else left if constant(right) == 0 else Binary("||", left, right)


def holds(expr: Expr, wanted: bool = True) -> Expr:
    """A condition without :data:`UNKNOWN` under which ``expr`` is not 0, or is if that is ``wanted``, whatever stands
    for the unknown. It need not be the weakest: FALSE where nothing is found."""
    if not _is_unknown(expr):
        return expr if wanted else negated(expr)
    found = FALSE if is_large(expr) else _truth(expr, wanted)
    return FALSE if is_large(found) else found


def _truth(expr: Expr, wanted: bool) -> Expr:
    """As :func:`holds`, for an expression that is not large."""
    match expr:
        case _ if not _is_unknown(expr):
            return expr if wanted else negated(expr)
        case Unary("!", operand) | Binary("==", operand, Const(0)) | Binary("==", Const(0), operand):
            return _truth(operand, not wanted)
        case Binary("!=", operand, Const(0)) | Binary("!=", Const(0), operand):
            return _truth(operand, wanted)
        case Binary("&&" | "||" as symbol, left, right):
            joined = both if (symbol == "&&") == wanted else either
            return joined(_truth(left, wanted), _truth(right, wanted))
    found = FALSE
    if isinstance(expr, Conditional):
        found = both(_truth(expr.then, wanted), _truth(expr.otherwise, wanted))
    elif isinstance(expr, Binary) and expr.operator == "|" and wanted:
        found = reduce(either, (_sets_a_bit(operand, expr.type) for operand in flattened(expr, "|", expr.type)))
    for condition, value in _cases(expr):
        found = either(found, both(condition, value if wanted else negated(value)))
    return found


def _sets_a_bit(expr: Expr, type: IntType) -> Expr:
    """When ``expr`` is not 0 as an operand in ``type``; FALSE for one that is not known and may have any bits."""
    if not _is_unknown(expr):
        return folded(Binary("|", expr, Const(0), type))
    match expr:
        case Unary("!") | Binary("&&" | "||" | "==" | "!=" | "<" | "<=" | ">" | ">="):
            return _truth(expr, True)
    return FALSE


def is_large(expr: Expr) -> bool:
    """Whether ``expr`` has more parts than a condition of a poll should have."""
    return any(True for _ in islice(parts(expr), MOST_PARTS, None))


def _is_unknown(expr: Expr) -> bool:
    return any(part == UNKNOWN for part in parts(expr))


Case = tuple[Expr, Expr]
"""A condition, and the value that an expression has where it holds."""


def _cases(expr: Expr) -> list[Case]:
    """What is known of the value of ``expr``; it may be anything where no condition holds."""
    if not _is_unknown(expr):
        return [(TRUE, expr)]
    found = list(islice(_cases_of_operation(expr), MOST_CASES + 1))
    return found if len(found) <= MOST_CASES else []


def _cases_of_operation(expr: Expr) -> Iterator[Case]:
    match expr:
        case Unary(symbol, operand, type):
            for condition, value in _cases(operand):
                yield condition, folded(Unary(symbol, value, type))
        case Conditional(test, then, otherwise):
            first, second = _cases(then), _cases(otherwise)
            for condition, value in _cases(test):
                for decides, branch in ((value, first), (negated(value), second)):
                    for other, result in branch:
                        yield from _possible(both(both(condition, decides), other), result)
        case Binary("&&" | "||" | "&" | "|" | "*"):
            cases = [_cases(operand) for operand in flattened(expr, expr.operator, expr.type)]
            yield from _decided_by_one(expr, cases)
            yield from _of_all(expr, cases)
        case Binary():
            yield from _of_all(expr, [_cases(expr.left), _cases(expr.right)])


def _of_all(expr: Binary, cases: list[list[Case]]) -> Iterator[Case]:
    """The cases in which all operands are known."""
    for chosen in product(*cases):
        conditions, values = zip(*chosen, strict=True)
        yield from _possible(reduce(both, conditions), reduce(partial(_combined, expr), values))


def _combined(expr: Binary, left: Expr, right: Expr) -> Expr:
    return folded(Binary(expr.operator, left, right, expr.type))


def _decided_by_one(expr: Binary, cases: list[list[Case]]) -> Iterator[Case]:
    """The cases in which some operands decide the result alone: those that are known in any case together, for 4 & 2
    is 0 and so is 65536 * 65536, or one of the others."""
    logical = expr.operator in ("&&", "||")
    known = [each[0][1] for each in cases if _surely(each)]
    together = known if logical or not known else [reduce(partial(_combined, expr), known)]
    for condition, value in chain(((TRUE, each) for each in together), *(each for each in cases if not _surely(each))):
        match expr.operator:
            case "&&":
                yield from _possible(both(condition, negated(value)), FALSE)
            case "||":
                yield from _possible(both(condition, value), TRUE)
            case symbol:
                result = Const(expr.type.wrap(-1 if symbol == "|" else 0))
                yield from _possible(both(condition, folded(Binary("==", value, result))), result)


def _surely(cases: list[Case]) -> bool:
    """Whether the value is known in any case."""
    return bool(cases) and cases[0][0] == TRUE


def _possible(condition: Expr, value: Expr) -> Iterator[Case]:
    if condition != FALSE:
        yield condition, value
