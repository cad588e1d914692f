"""Names and statements of a litmus text: which are locations and registers, and what instructions they become."""

from __future__ import annotations

import pytest

from pgasrob.models.litmus.instructions import (
    Assign,
    Assume,
    Cell,
    CompareAndSet,
    Flush,
    Get,
    GetAccumulate,
    Instruction,
    Load,
    MemoryFence,
    NicCompareAndSet,
    NicFetchAdd,
    Poll,
    Put,
    RemoteCompareAndSet,
    RemoteFence,
    Store,
)
from pgasrob.models.litmus.litmus_parser import parse
from pgasrob.models.litmus.litmus_program import Choose, Location, Loop, straight
from pgasrob.program.expressions import Binary, Conditional, Const, Register, Unary
from tests.models.litmus.trees import bare

A = Register("a", 0)


def body(statements: str, before: str = "x@1=0 y@1=0 z@2=0 w@2=0") -> tuple[object, ...]:
    return tuple(bare(item) for item in parse(f"{before} :: 1: {statements}").program.threads[0].body)


X, Y, Z, W = map(Cell, "xyzw")


@pytest.mark.parametrize(
    ("text", "instructions"),
    [
        ("a = x", [Load(0, X)]),
        ("a = x.n", [Load(0, Cell("x", False))]),
        ("x = 1", [Store(X, Const(1))]),
        ("x.n = -1", [Store(Cell("x", False), Const(-1))]),
        ("a = 2 + 3 * 4", [Assign(0, Binary("+", Const(2), Binary("*", Const(3), Const(4))))]),
        ("a = 1 - 2 - 3", [Assign(0, Binary("-", Binary("-", Const(1), Const(2)), Const(3)))]),
        ("a = -5", [Assign(0, Const(-5))]),
        ("a = -(5)", [Assign(0, Unary("-", Const(5)))]),
        ("a = - -5", [Assign(0, Unary("-", Const(-5)))]),
        ("$1 = x; y = $1; x = y", [Load(0, X), Store(Y, Register("$1", 0)), Load(1, Y), Store(X, Register("$2", 1))]),
        ("a = 1; x = !a", [Assign(0, Const(1)), Store(X, Unary("!", A))]),
        ("a = 1; a = a ? 1 : 2", [Assign(0, Const(1)), Assign(0, Conditional(A, Const(1), Const(2)))]),
        ("a = 1; a = (a || 1)", [Assign(0, Const(1)), Assign(0, Binary("||", A, Const(1)))]),
        ("a = 1; a = a ^ 2", [Assign(0, Const(1)), Assign(0, Binary("^", A, Const(2)))]),
        ("x = z^2", [Get(X, Z)]),
        ("x = get(z^2)", [Get(X, Z)]),
        ("x.n = get(z.n^2)", [Get(Cell("x", False), Cell("z", False))]),
        ("x = z^2.n", [Get(X, Cell("z", False))]),
        ("z^2 = x", [Put(Z, X)]),
        ("put(z^2, x)", [Put(Z, X)]),
        ("put(z^2, 3)", [Put(Z, Cell("$3@1"))]),
        ("z^2 = -1", [Put(Z, Cell("$-1@1"))]),
        ("x = rga(z^2, y)", [GetAccumulate(X, Z, Y)]),
        ("x = rga(z^2, 1)", [GetAccumulate(X, Z, Cell("$1@1"))]),
        ("x = cas(z^2, y, 2)", [RemoteCompareAndSet(X, Z, Y, Cell("$2@1"))]),
        ("x = rcas(z^2, 0, 1)", [NicCompareAndSet(X, Z, Const(0), Const(1))]),
        ("a = 1; x = rcas(z^2, a, -a)", [Assign(0, Const(1)), NicCompareAndSet(X, Z, A, Unary("-", A))]),
        (
            "x.n = rcas(z^2.n, y, x + 1)",
            [
                Load(0, Y),
                Load(1, X),
                NicCompareAndSet(
                    Cell("x", False),
                    Cell("z", False),
                    Register("$1", 0),
                    Binary("+", Register("$2", 1), Const(1)),
                ),
            ],
        ),
        ("x = rfaa(z^2, y)", [Load(0, Y), NicFetchAdd(X, Z, Register("$1", 0))]),
        ("flush(2)", [Flush(2)]),
        ("mfence", [MemoryFence()]),
        ("poll(2); rfence(2)", [Poll(2), RemoteFence(2)]),
        ("a = CAS(x, 0, 1)", [CompareAndSet(0, X, Const(0), Const(1))]),
        ("CAS(x, 0, 1)", [CompareAndSet(None, X, Const(0), Const(1))]),
        ("assume(x == 1)", [Load(0, X), Assume(Binary("==", Register("$1", 0), Const(1)))]),
        ("assume(x = 1)", [Load(0, X), Assume(Binary("==", Register("$1", 0), Const(1)))]),
        ("x = y", [Load(0, Y), Store(X, Register("$1", 0))]),
        (
            "a = y + x * y",
            [
                Load(1, Y),
                Load(2, X),
                Load(3, Y),
                Assign(
                    0,
                    Binary("+", Register("$1", 1), Binary("*", Register("$2", 2), Register("$3", 3))),
                ),
            ],
        ),
        ("x = (y) ^ 2", [Load(0, Y), Store(X, Binary("^", Register("$1", 0), Const(2)))]),
        ("y = CAS(x, 0, 1)", [CompareAndSet(0, X, Const(0), Const(1)), Store(Y, Register("$1", 0))]),
        ("skip; ;", []),
        ("choose { x = 1 } or { }", [Choose(((Store(X, Const(1)),), ()))]),
        ("loop 3 { x = 1; mfence; }", [Loop(3, (Store(X, Const(1)), MemoryFence()))]),
        (
            "choose { skip } or { loop 2 { mfence } } mfence",
            [Choose(((), (Loop(2, (MemoryFence(),)),))), MemoryFence()],
        ),
    ],
)
def test_statements(text: str, instructions: list[Instruction]) -> None:
    assert body(text) == bare(tuple(instructions))


def test_a_program() -> None:
    test = parse("x@1=0, z@2=5 :: 1: z^2 = x; poll(2); x = 1 || 2: a = z")
    assert test.program.locations == (Location("x", 1, 0), Location("z", 2, 5))
    assert [thread.node for thread in test.program.threads] == [1, 2]
    assert test.program.names == ("x", "z", "a")
    assert test.name == "unnamed"
    assert test.program.threads[0].graph == straight(test.program.threads[0].body)


def test_names_that_nobody_declares() -> None:
    """The local end of an operation of the adapter is a location, wherever it is mentioned; the rest are registers."""
    program = parse("y@2=1 :: 1: b = a; a = y^2; c = a || 2: d = y").program
    for word in ("rcas(y^2, b, 1)", "rfaa(y^2, b)"):
        assert parse(f"y@2=1 :: 1: b = a; a = {word}; c = a || 2: d = y").program.names == program.names
    assert program.locations == (Location("y", 2, 1), Location("a", 1, 0))
    assert [thread.registers for thread in program.threads] == [("b", "c"), ("d",)]
    assert program.names == ("y", "a", "b", "c", "d")


def test_constants_are_held_by_locations_that_no_outcome_shows() -> None:
    program = parse("y@2 x@1 :: 1: y^2 = 1; y^2 = 1; y^2 = 2 || 2: x^1 = 1").program
    assert program.locations[2:] == (
        Location("$1@1", 1, 1, shown=False), Location("$2@1", 1, 2, shown=False), Location("$1@2", 2, 1, shown=False)
    )  # fmt: skip
    assert program.names == ("y", "x")


def test_empty_threads_and_no_locations() -> None:
    assert [thread.body for thread in parse(":: 1: || 2: ;; || 3: a = 1").program.threads][:2] == [(), ()]
