"""What operations make of the values of all members (MPI-4, section 6.9)."""

from __future__ import annotations

from collections.abc import Sequence

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis import flags
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.transfers import int_type
from pgasrob.frontends.c.types import CType, Floating
from pgasrob.program.commands import Assign
from pgasrob.program.expressions import Binary, Conditional, Expr

LOCATED = {"minloc": "<", "maxloc": ">"}


def folded(steps: Steps, operation: str, blocks: Sequence[Sequence[Expr]], types: Sequence[CType]) -> list[Expr]:
    """The ``blocks`` of all members, of items with elements of these ``types``, combined element by element."""
    kinds = [types[place % len(types)] for place in range(len(blocks[0]))]
    combine = extremes if operation in LOCATED else flags.folded
    return combine(steps, operation, blocks, kinds)


def extremes(steps: Steps, operation: str, blocks: Sequence[Sequence[Expr]], types: Sequence[CType]) -> list[Expr]:
    """The least or greatest values with the least of the numbers that come with them (6.9.4)."""
    if len(types) % 2:
        steps.call.fail(
            Wrong.ARGUMENT,
            f"{steps.call.name} with MPI_{operation.upper()}",
            "use a type of pairs, such as MPI_2INT",
        )
    result: list[Expr] = []
    for place in range(0, len(blocks[0]), 2):
        (value, number), *others = [(block[place], block[place + 1]) for block in blocks]
        kind = types[place % len(types)]
        dot = "." if isinstance(kind, Floating) else ""
        for other, its in others:
            better = Binary(LOCATED[operation] + dot, other, value, int_type(kind))
            same = Binary("&&", Binary(f"=={dot}", other, value, int_type(kind)), Binary("<", its, number))
            chosen, least, most = (steps.call.register(hint) for hint in ("chosen", "value", "number"))
            steps.do(Assign(chosen, Binary("||", better, same)))
            steps.do(Assign(least, Conditional(chosen, other, value)), Assign(most, Conditional(chosen, its, number)))
            value, number = least, most
        result += [value, number]
    return result
