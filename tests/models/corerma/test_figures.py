"""Every program of the paper, with the outcomes that it has (worked out by hand where the paper names only some)."""

from __future__ import annotations

import pytest

from pgasrob.models.corerma import CoreRma
from pgasrob.models.litmus.litmus_program import Outcome, Program
from tests.models.corerma.programs import Writer, program

STOCK, VPI, NO_IR = CoreRma(), CoreRma(vpi=True), CoreRma(without={"IR"})


def figure_1(mark: str = "") -> Program:
    first = Writer(1).get(f"x{mark}", f"y{mark}").load("a", f"x{mark}")
    return program("x@1 y@2=1", first, Writer(2).get(f"y{mark}", f"x{mark}").load("b", f"y{mark}"))


FIGURE_3A = program("x@1 y@2", Writer(1).get("x.n", "y.n").store("x.n", 1).load("a", "x.n"), Writer(2))
FIGURE_3B = program("x@1 y@2", Writer(1).put("y.n", "x.n").store("x.n", 1), Writer(2).load("b", "y.n"))
FIGURE_3C = program("x@1=1 y@2", Writer(1).put("y.n", "x.n").get("x.n", "y.n").flush(2).load("c", "x.n"), Writer(2))
FIGURE_3D = program(
    "x@1=1 y@2",
    Writer(1).get("x.n", "y.n").put("y.n", "x.n").flush(2).get("x.n", "y.n").flush(2).load("d", "x.n"),
    Writer(2),
)
FIGURE_6 = program(
    "x@0=1 y@1=0", Writer(0).load("a", "x"), Writer(1).put("x", "y").get("y", "x").flush(0).load("b", "y")
)
FIGURE_7_CAS = program("x@0=1 y@0=0", Writer(0).cas("y", "y", "x", "y").load("b", "y").load("a", "y"))
FIGURE_7_RGA = program(
    "x@0=0 y@0=1", Writer(0).get("y", "y").load("b", "y").rga("y", "y", "x").load("c", "y").load("a", "y")
)
FIGURE_8 = program(
    "x@0=1 y@1=0",
    Writer(0).load("a", "x").store("x", 2).load("b", "x"),
    Writer(1).get("y", "x").put("x", "y").flush(0).load("c", "y"),
)
FIGURE_9 = program(
    "x@0=1 y@1=0",
    Writer(0).load("a", "x"),
    Writer(1).put("x", "y").get("y", "x").store("y", 2).flush(0).load("c", "y").load("b", "y"),
)

STOCK_8 = {(0, 2, 1), (1, 1, 1), (1, 0, 1), (1, 2, 2), (1, 2, 1), (1, 0, 2)}


def values(model: CoreRma, asked: Program, names: str) -> set[Outcome]:
    places = [asked.names.index(name) for name in names]
    return {tuple(outcome[place] for place in places) for outcome in model.outcomes(asked).found}


@pytest.mark.parametrize(
    ("model", "asked", "names", "expected"),
    [
        (STOCK, figure_1(), "ab", {(0, 0), (0, 1), (1, 0), (1, 1)}),
        # With nothing atomic each local read can race with the write of its get.
        (STOCK, figure_1(".n"), "ab", {(a, b) for a in (0, 1, "T") for b in (0, 1, "T")}),
        (STOCK, FIGURE_3A, "a", {(0,), (1,), ("T",)}),
        (CoreRma(hb="least"), FIGURE_3A, "a", {("T",)}),
        (STOCK, FIGURE_3B, "b", {(0,), (1,), ("T",)}),
        (CoreRma(hb="least"), FIGURE_3B, "b", {("T",)}),
        # In order the put is read, written and read back; out of order the put's read and the get's write race.
        (STOCK, FIGURE_3C, "c", {(1,)}),
        (NO_IR, FIGURE_3C, "c", {(0,), (1,), ("T",)}),
        (VPI, FIGURE_3C, "c", {(0,), (1,), ("T",)}),
        # Routing in order does not keep the put from reading x before the get writes it.
        (STOCK, FIGURE_3D, "d", {(0,), (1,), ("T",)}),
        (NO_IR, FIGURE_3D, "d", {(0,), (1,), ("T",)}),
        # Printed (0,0), (1,2); nothing in the program is a 2.
        (STOCK, FIGURE_6, "ab", {(0, 0), (1, 0)}),
        (NO_IR, FIGURE_6, "ab", {(0, 0), (0, 1), (1, 0), (1, 1)}),
        (STOCK, FIGURE_7_CAS, "ab", {(0, 0)}),
        (STOCK, FIGURE_7_RGA, "abc", {(1, 1, 1)}),
        (STOCK, FIGURE_8, "abc", STOCK_8),
        # The text counts three more, all with c=0, which were observed; the model has a fourth.
        (VPI, FIGURE_8, "abc", STOCK_8 | {(1, 2, 0), (0, 2, 0), (1, 0, 0), (0, 2, 2)}),
        (NO_IR, FIGURE_8, "abc", STOCK_8 | {(1, 2, 0), (0, 2, 0), (1, 0, 0), (0, 2, 2)}),
        (STOCK, FIGURE_9, "abc", {(0, 2, 2), (1, 0, 0), (1, 2, 2), (0, 0, 0), (2, 2, 2)}),
    ],
)
def test_outcomes(model: CoreRma, asked: Program, names: str, expected: set[Outcome]) -> None:
    assert values(model, asked, names) == expected
