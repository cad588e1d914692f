"""Expressions of all types as Promela and as C: the compiler's values are those of the calculus."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from pgasrob.export.promela_expressions import DECLARATIONS, Scope, Unsupported, Variable, has_value, type_of, updated
from pgasrob.program.commands import UPDATES
from pgasrob.program.core import Update
from pgasrob.program.expressions import (
    CONVERSIONS,
    OPERATORS,
    Binary,
    Conditional,
    Const,
    Expr,
    Fault,
    IntType,
    Register,
    Unary,
    evaluator,
    float_bits,
)
from pgasrob.program.float_functions import FUNCTIONS, FUNCTIONS_OF_TWO
from pgasrob.semantics.effect import updated as value_updated
from tests.support import examples

TYPES = [IntType(bits, signed) for bits in (8, 16, 32, 64) for signed in (False, True)]
EDGES = sorted(
    {0, 1, 2, 3, 7, 31, 32, 63, 100, *(bound + by for type in TYPES for bound in type.range for by in (-1, 0, 1))}
)
NUMBERS = [number for number in EDGES if -(1 << 63) <= number < 1 << 64]
DOUBLES = [
    float_bits(value)
    for value in (
        0.0,
        -0.0,
        1.0,
        -1.5,
        0.1,
        1e300,
        -1e-300,
        3e38,
        3.5e38,
        2.0**31,
        2.0**63,
        -(2.0**63),
        2.0**64 - 2**11,
    )
] + [float_bits(float(text)) for text in ("inf", "-inf", "nan")]
REGISTERS = 3
LONGEST = 4_000
"""Characters of a text that is compiled: those of nested divisions are long, and say nothing more."""


class Random:
    """Expressions over some registers, small ones mostly."""

    def __init__(self, seed: int) -> None:
        self.source = random.Random(seed)
        # Small values let Promela do it.
        pool = self.source.choice((range(-3, 9), range(-3, 9), NUMBERS, [*NUMBERS, *DOUBLES], DOUBLES))
        self.values = tuple(self.source.choice(pool) for _ in range(REGISTERS))
        self.file = tuple(
            (min(value, other), max(value, other))
            for value in self.values
            for other in [
                self.source.choice((value, value, value + self.source.choice((-2, 1, 4)), self.source.choice(pool)))
            ]
        )
        self.pool = pool

    def expr(self, depth: int) -> Expr:
        pick = self.source
        if depth == 0 or pick.random() < 0.15:
            return Const(pick.choice(self.pool)) if pick.random() < 0.3 else Register("r", pick.randrange(REGISTERS))
        symbols = [*OPERATORS, "&&", "||", *CONVERSIONS, "!", "-", "~", "?:"]
        symbols = [symbol for symbol in symbols if symbol.rstrip(".") not in (*FUNCTIONS, *FUNCTIONS_OF_TWO)]
        if not any(value in DOUBLES for value in self.pool):
            of_doubles = ("int", "float32", "bits32")
            symbols = [symbol for symbol in symbols if not symbol.endswith(".") and symbol not in of_doubles]
        symbol, type = pick.choice(symbols), pick.choice([*TYPES, IntType(32, True), IntType(32, True)])
        parts = [self.expr(depth - 1) for _ in range(3)]
        if symbol == "?:":
            return Conditional(*parts)
        if symbol in ("!", "-", "~", *CONVERSIONS) and (symbol not in OPERATORS or pick.random() < 0.3):
            return Unary(symbol, parts[0], type)
        return Binary(symbol, parts[0], parts[1], type)

    @property
    def variables(self) -> list[Variable]:
        return [Variable(f"r_{index}", values, type_of(values), "") for index, values in enumerate(self.file)]


def value_of(expr: Expr, registers: tuple[int, ...]) -> int | None:
    try:
        return evaluator(expr)(registers)
    except Fault:
        return None


C_TYPES = {"bit": "unsigned char", "byte": "unsigned char", "int": "int", "short": "short"}


def in_c(text: str) -> str:
    """A text of a model as C has it."""
    return re.sub(r"c_expr \{ (.*) \}", r"\1", text).replace(" -> ", " ? ")


def compiled(folder: Path, blocks: list[tuple[list[Variable], tuple[int, ...], str]]) -> list[int]:
    """What the compiler makes of some texts over variables with these values."""
    helpers = "\n".join(DECLARATIONS).removeprefix("c_decl {").removesuffix("};")
    lines = ["#include <stdio.h>", helpers]
    lines.append('static void show(wide it) { printf("%lld %llu\\n", (int64) (it >> 64), (uint64) it); }')
    for number, (variables, values, text) in enumerate(blocks):
        declared = " ".join(
            f"volatile {C_TYPES.get(variable.type, variable.type)} {variable.name} = {_wide(value)};"
            for variable, value in zip(variables, values, strict=True)
        )
        lines.append(f"static void f{number}(void) {{ {declared} show({text}); }}")
    lines.append("int main(void) { " + " ".join(f"f{number}();" for number in range(len(blocks))) + " return 0; }")
    (folder / "it.c").write_text("\n".join(lines), encoding="utf-8")
    subprocess.run(["cc", "-O0", "-w", "-fwrapv", "-o", "it", "it.c"], cwd=folder, check=True)
    said = subprocess.run(["./it"], cwd=folder, capture_output=True, text=True, check=True).stdout.split()
    return [(int(high) << 64) + int(low) for high, low in zip(said[::2], said[1::2], strict=True)]


def _wide(value: int) -> str:
    return f"((wide) {value >> 64} << 64 | {value & (1 << 64) - 1}ULL)"


@pytest.mark.skipif(not shutil.which("cc"), reason="not installed: cc")
def test_random_expressions(tmp_path: Path) -> None:
    """Promela's where it is said to do, C's always, and the condition that says whether there is a value."""
    blocks, wanted, seen = [], [], Counter[str]()
    for seed in range(examples(750, nightly=60_000)):
        drawn = Random(seed)
        expr, registers = drawn.expr(3), drawn.values
        scope = Scope(drawn.variables, drawn.file)
        value, condition = value_of(expr, registers), has_value(expr)
        assert (condition is None or value_of(condition, registers) != 0) == (value is not None)
        assert value is None or condition is None or value_of(condition, registers) is not None
        if value is None:
            seen["faults"] += 1
            continue
        exprs = [expr] if condition is None else [expr, condition]
        for each in exprs:
            texts = [("C", scope._c(each)), ("plain" if scope.is_plain(each) else "embedded", scope.condition(each))]
            for kind, text in texts:
                if len(text) <= LONGEST:
                    blocks.append((drawn.variables, registers, in_c(text)))
                    wanted.append(value_of(each, registers))
                    seen[kind] += 1
    for start in range(0, len(blocks), 20_000):
        assert compiled(tmp_path, blocks[start : start + 20_000]) == wanted[start : start + 20_000]
    assert min(seen["plain"], seen["embedded"], seen["faults"] * 4) > len(blocks) // 20, seen


@pytest.mark.parametrize("operation", UPDATES)
def test_updates(operation: str) -> None:
    """The new values of cells are those of the semantics."""
    old, operand, expected = (Register("r", index) for index in range(3))
    for type in TYPES:
        update: Update[Expr] = Update(operation, operand, expected, type)
        run = evaluator(updated(update, old, operand, expected))
        source = random.Random(type.bits)
        pool = [*DOUBLES] if operation.endswith(".") else [number for number in NUMBERS if type.wrap(number) == number]
        for _ in range(200):
            values = tuple(source.choice(pool) for _ in range(3))
            assert run(values) == value_updated(operation, *values, type), (operation, values)


def test_a_double_is_cut_off_where_it_is_an_integer() -> None:
    """At both ends of each type, where the condition differs: below 2**53 a fraction is cut off beyond the end."""
    for type in TYPES:
        low, high = type.range
        for value in (low - 1.0, low - 0.5, float(low), high - 0.5, float(high), high + 0.5, high + 1.0):
            cut = Unary("int", Const(float_bits(value)), type)
            condition = has_value(cut)
            assert condition is not None
            assert (value_of(condition, ()) != 0) == (value_of(cut, ()) is not None), (type, value)


def test_numbers_that_no_type_has() -> None:
    with pytest.raises(Unsupported, match="18446744073709551616 has more than 64 bits"):
        Scope([], ()).condition(Const(1 << 64))
    for function in (Unary("exp.", Register("r", 0)), Binary("pow.", Register("r", 0), Const(0))):
        with pytest.raises(Unsupported, match="the function `"):
            Scope([Variable("r", (0, 1), "wide", "")], ((0, 1),)).condition(function)
    with pytest.raises(Unsupported, match="24-bit unsigned"):
        Scope([], ()).condition(Unary("cast", Const(1 << 30), IntType(24, False)))


def test_only_what_fits_is_left_to_promela() -> None:
    def plain(expr: Expr, *values: tuple[int, int]) -> bool:
        variables = [Variable(f"r_{index}", each, type_of(each), "") for index, each in enumerate(values)]
        return Scope(variables, values).is_plain(expr)

    r, s = Register("r", 0), Register("r", 1)
    long, byte = IntType(64, True), IntType(8, False)
    assert plain(Binary("+", r, s, long), (0, 1 << 30), (0, 1 << 29))
    assert not plain(Binary("+", r, s, long), (0, 1 << 30), (0, 1 << 30))
    assert plain(Binary("+", r, s), (0, 1 << 30), (0, 1 << 30))  # it wraps as int does
    assert not plain(Binary("+", r, s, byte), (0, 200), (0, 56))
    assert plain(Binary("<<", r, s, long), (0, 1), (0, 30)) and not plain(Binary("<<", r, s, long), (0, 0), (0, 32))
    assert plain(Unary("cast", r, byte), (0, 255)) and not plain(Unary("cast", r, byte), (-1, 0))
    assert not plain(Unary("-", r, byte), (0, 1)) and plain(Unary("-", r, long), (0, 1))
    assert not plain(Binary("<", r, Const(1 << 31)), (0, 1)) and not plain(Binary("<.", r, s), (0, 1), (0, 1))
    assert not plain(r, (0, 1 << 31)) and plain(Binary("==", r, s, long), (0, 1), (0, 1))
