"""What expressions may be for ranks and numbers of nodes that are symbols contains what they are for numbers."""

from __future__ import annotations

from random import Random

import pytest

from pgasrob.program.expressions import (
    INT32,
    NEGATED,
    RELATIONS,
    Binary,
    Conditional,
    Const,
    Expr,
    Fault,
    IntType,
    Me,
    Nodes,
    Register,
    Unary,
    evaluator,
    specialise,
)
from pgasrob.robustness.every_n.linear import RANK, Domain, Linear, Number, Value
from pgasrob.robustness.every_n.symbolic_values import File, Values
from tests.support import alternating, examples

TYPES = (INT32, INT32, IntType(64, True), IntType(64, False), IntType(32, False), IntType(16, False), IntType(8, True))
OPERATORS = (
    "+",
    "-",
    "-",
    "*",
    "%",
    "%",
    "/",
    "/",
    "&",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "&&",
    "||",
)
REGISTERS: tuple[Value, ...] = ((Linear(), Linear(n=1, c=-1)), (Linear(c=-2), Linear(c=3)), (Linear(x=1), Linear(x=1)))


def drawn(random: Random, depth: int, type: IntType) -> Expr:
    """An expression whose operations have operands of their types, as in C."""
    if depth == 0 or random.random() < 0.15:
        register: Expr = Register("r", random.randrange(len(REGISTERS)))
        if not type.signed:
            register = Unary("cast", register, type)
        number = random.choice((0, 1, 1, 2, 2, 3, 4, 6, 40, -1 if type.signed else 7))
        return random.choice((Me(), Me(), Nodes(), Const(number), register))
    other = random.choice(TYPES)
    match random.randrange(9):
        case 0 if type.signed:  # 0 for powers of two
            of = random.choice((Me(), Nodes(), Binary("+", Me(), Nodes(), type)))
            return Binary("&", of, Binary("-", of, Const(1), type), type)
        case 8:
            return Unary("cast", drawn(random, depth - 1, other), type)
        case 1:
            return Unary(random.choice(("-", "~", "!")), drawn(random, depth - 1, type), type)
        case 2:
            return Conditional(*(drawn(random, depth - 1, each) for each in (other, type, type)))
    symbol = random.choice(OPERATORS)
    inner = other if symbol in RELATIONS or symbol in ("&&", "||") else type
    return Binary(symbol, drawn(random, depth - 1, inner), drawn(random, depth - 1, inner), inner)


def at(form: Linear, rank: int, nodes: int) -> Number:
    return form.x * rank + form.n * nodes + form.c


def test_values_of_random_expressions() -> None:
    compared = exact = 0
    for seed in range(examples(1_500, nightly=60_000)):
        random = Random(seed)
        modulus = random.choice((1, 1, 2, 3, 4, 6, 8))
        left = random.randrange(modulus), random.randrange(modulus)
        least, low, high, most = random.randrange(4, 9), random.randrange(3), random.randrange(3), 12 + 2 * modulus
        domain = Domain(least, low, high, modulus, *left, most)
        me = random.choice((RANK, RANK, RANK, Linear(x=1, c=1), Linear(c=2), Linear(n=1, c=-2)))
        values, expr = Values(domain, me), drawn(random, random.choice((1, 2, 3)), random.choice(TYPES))
        found, may_fault = values.of(expr, REGISTERS), values.may_fault(expr, REGISTERS)
        exact += found is not None and found[0] == found[1] and bool(found[0].x or found[0].n)
        for nodes in range(least, most + 1):
            for rank in range(low, nodes - high):
                if (rank % modulus, nodes % modulus) != left:
                    continue
                held = [random.randint(at(first, rank, nodes), at(last, rank, nodes)) for first, last in REGISTERS]
                try:
                    value = evaluator(specialise(expr, at(me, rank, nodes), nodes))(held)
                except Fault:
                    assert may_fault, expr
                    continue
                assert found is not None, expr
                first, last = (at(bound, rank, nodes) for bound in found)
                assert first <= value <= last, (expr, rank, nodes, held)
                compared += 1
    assert compared > 4 * examples(1_500, nightly=60_000) < 100 * exact


def two_walks(values: Values, condition: Expr, truth: bool, file: File | None) -> File | None:
    """What is left of ``file`` when ``condition`` is ``truth``, by its definition, which asks its left part twice."""
    if file is None:
        return None
    match condition:
        case Unary("!", operand):
            return two_walks(values, operand, not truth, file)
        case Binary("&&" | "||" as symbol, left, right):
            decides = symbol == "||"
            last = two_walks(values, right, truth, two_walks(values, left, not decides, file))
            return last if truth != decides else values.either(two_walks(values, left, decides, file), last)
        case Binary(symbol, left, right) if symbol in RELATIONS:
            return values._related(left, symbol if truth else NEGATED[symbol], right, file)
        case Conditional(test, then, otherwise):
            ways = (two_walks(values, test, True, file), then), (two_walks(values, test, False, file), otherwise)
            return values.either(*(two_walks(values, branch, truth, left) for left, branch in ways))
    return values._related(condition, "!=" if truth else "==", Const(0), file)


def test_one_walk_finds_what_two_find() -> None:
    for seed in range(examples(500, nightly=20_000)):
        random = Random(seed)
        values = Values(Domain(4, 0, 0, 1, 0, 0, 16), RANK)
        condition = drawn(random, random.randint(1, 5), random.choice(TYPES))
        expected = tuple(two_walks(values, condition, truth, REGISTERS) for truth in (True, False))
        assert values.split(condition, REGISTERS) == expected
        assert tuple(values.narrowed(condition, truth, REGISTERS) for truth in (True, False)) == expected


def test_a_deep_condition_takes_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = 0

    def counted(self: Values, symbol: str, one: Value, other: Value) -> bool:
        nonlocal steps
        steps += 1
        return related(self, symbol, one, other)

    related = Values.may_be
    monkeypatch.setattr(Values, "may_be", counted)
    values, condition = Values(Domain(4, 0, 0, 1, 0, 0, 16), RANK), alternating(40)
    file = ((Linear(), Linear(c=100)),) * 40
    assert values.of(condition, file) is not None
    assert all(values.narrowed(condition, truth, file) is not None for truth in (True, False))
    assert values.may_fault(condition, file) is False
    assert 200 < steps < 10_000
