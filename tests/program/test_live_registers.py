"""Liveness, compared with what it means: a way on which a register is read before it is set."""

from __future__ import annotations

import random
from typing import NamedTuple

from pgasrob.program import core
from pgasrob.program.expressions import Binary, Const, Expr, Register, faults_inside
from pgasrob.program.live_registers import live_registers

REGISTERS = 4


class _Edge(NamedTuple):
    form: core.Form
    target: int


def _drawn(draw: random.Random, states: int) -> list[list[_Edge]]:
    def value() -> Expr:
        one, other = (Register(f"r{k}", k) for k in draw.choices(range(REGISTERS), k=2))
        return draw.choice((Const(1), one, Binary("+", one, other), Binary("/", one, other)))

    def form() -> core.Form:
        if draw.random() < 0.2:
            return core.Test(value(), blocks=True)
        return core.Assign(draw.randrange(REGISTERS), value())

    return [[_Edge(form(), draw.randrange(states)) for _ in range(draw.randrange(3))] for _ in range(states)]


def _found(out: list[list[_Edge]], state: int) -> set[int]:
    """The registers for which there is a way from ``state`` on to a command that needs them before it is set. An
    assignment that cannot fault needs what it reads if its own register is needed then: this is the least solution."""
    needed: list[set[int]] = [set() for _ in out]
    for _ in range(len(out) * REGISTERS + 1):
        for at, leaving in enumerate(out):
            for form, target in leaving:
                own = core.register_set(form)
                needed[at] |= needed[target] - {own}
                if not isinstance(form, core.Assign) or own in needed[target] or faults_inside(form.value):
                    needed[at] |= core.registers_read(form)
    return needed[state]


def test_random_automata() -> None:
    draw, some = random.Random(3), 0
    for _ in range(150):
        out = _drawn(draw, draw.randint(1, 6))
        found = live_registers(out)
        assert [set(each) for each in found] == [_found(out, state) for state in range(len(out))]
        some += any(found) and any(0 < len(each) < REGISTERS for each in found)
    assert some > 50
