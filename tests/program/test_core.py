"""The core form of every command: what it accesses, in which steps, and what orders them."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given, settings

from pgasrob.program import core
from pgasrob.program.commands import Command, FailedCompareSwap, TestedAdd, expressions_of
from pgasrob.program.expressions import Expr, registers_of
from pgasrob.program.statements import Do
from tests.program.strategies import commands, commands_by_kind
from tests.support import examples, program

FLAGS = ("local", "fenced", "after_writes", "after_bundle", "located")


def form_of(command: str) -> core.Form:
    (statement,) = program(f"{command};").processes[0].body.statements
    assert isinstance(statement, Do)
    return core.lower(statement.command)


def access(made: core.Access[core.Place]) -> str:
    mode = ("r" if made.reads else "") + ("w" if made.writes else "")
    return f"{mode} {'there' if made.cell.rank is not None else 'here'}"


def told(form: core.Form) -> str:
    """The accesses in their order, steps with their stage and flags."""
    first = core.at_issue(form)
    steps = [
        " ".join([step.kind, access(step.access), str(step.stage), *(flag for flag in FLAGS if getattr(step, flag))])
        for step in core.steps_of(form)
    ]
    return "; ".join([*([] if first is None else [access(first)]), *steps])


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("r <- s", ""),
        ("assume(r)", ""),
        ("assert(r)", ""),
        ("wait(q)", ""),
        ("wait_local(q)", ""),
        ("fence(u, 0)", ""),
        ("fence(u)", ""),
        ("bundle", ""),
        ("barrier", ""),
        ("exit", ""),
        ("r <- mem[x]", "r here"),
        ("mem[x] <- r", "w here"),
        ("r <- mem[x @ 0]", "r there"),
        ("mem[x @ 0] <- r", "w there"),
        ("await(mem[x] == r)", "r here"),
        ("await_add(0, mem[x] == r, 1)", "rw there"),
        ("r <- fetch(0, x)", "r there"),
        ("r <- fetch_add(0, x, 1)", "rw there"),
        ("r <- fetch_update(set, 0, x, 1)", "rw there"),
        ("r <- swap(0, x, 1)", "rw there"),
        ("r <- compare_swap(0, x, 0, 1)", "rw there"),
        ("read(x, 0, y, q)", "popa r there 0; popb w here 1 local"),
        ("write(x, 0, y, q)", "popa r here 0 local; popb w there 1 fenced"),
        ("put(x, 0, y, q)", "r here; popb w there 1 fenced"),
        ("update(add, 1, 0, y, q)", "popb rw there 1 fenced"),
        ("update(set, 1, 0, y, q, z)", "popb w there 1 fenced; popc w here 2 local"),
        ("update_located(compare_swap, 1, 0, 0, y, q)", "popb rw there 1 fenced located"),
        ("update_from(add, x, 0, y, q)", "popa r here 0 local; popb rw there 1 fenced"),
        ("update_from_located(fetch, 0, y, q, z)", "popa r there 0 located; popc w here 2 local"),
        (
            "update_from_located(compare_swap, x, z, 0, y, q, w)",
            "popa r here 0 local; popd r here 0 local; popb rw there 1 fenced located; popc w here 2 local",
        ),
        ("notify(set, 1, 0, y, q)", "popb w there 1 after_writes"),
        ("notify_all(add, 1, 0, y, q)", "popb rw there 1 after_writes"),
        ("signal(add, 1, 0, y, q)", "popb rw there 1 fenced after_bundle"),
    ],
)
def test_what_a_command_accesses(command: str, expected: str) -> None:
    assert told(form_of(command)) == expected


def test_which_accesses_depend_on_what_the_cell_holds() -> None:
    assert core.observed(form_of("mem[x] <- 1")) == (False,)
    assert core.observed(form_of("r <- swap(0, x, 1)")) == (True,)
    assert core.observed(form_of("write(x, 0, y, q)")) == (True, False)
    assert core.observed(form_of("update(set, 1, 0, y, q)")) == (False,)
    # What was there is the result.
    assert core.observed(form_of("update(set, 1, 0, y, q, z)")) == (True, False)
    assert core.observed(form_of("update_from(fetch, 0, y, q, z)")) == (True, False)


def test_every_command_is_drawn() -> None:
    """What is drawn is printed and read back (`test_printer`), and lowered below."""
    assert set(commands_by_kind()) | {FailedCompareSwap, TestedAdd} == set(get_args(Command))


@given(commands())
@settings(max_examples=examples(120))
def test_the_core_form_has_all_registers_and_rank_operands_of_a_command(command: Command) -> None:
    """Nothing that a command computes with is lost, and nothing is made up."""

    def registers(exprs: list[Expr]) -> set[int]:
        return {register for expr in exprs for register in registers_of(expr)}

    form = core.lower(command)
    ours = [expr for _, expr in core.expressions(form)]
    assert registers(ours) == registers(list(expressions_of(command).values()))
    names_rank = "rank" in expressions_of(command)
    assert (core.target(form) is not None) == names_rank
    assert (core.Role.RANK in {role for role, _ in core.expressions(form)}) == names_rank
    assert core.register_set(form) == (command.register.index if hasattr(command, "register") else None)
