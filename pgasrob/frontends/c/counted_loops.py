"""Loops that certainly have many iterations: a counter goes to a bound by steps, and nothing else ends the loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pgasrob.frontends.c.code import (
    Binary,
    Branch,
    Call,
    CompiledFunction,
    Instruction,
    Jump,
    Label,
    LoopHead,
    Move,
    Return,
    Slot,
)
from pgasrob.frontends.c.liveness import COMPUTES, reads
from pgasrob.frontends.c.standard import words
from pgasrob.frontends.c.values import Known, Value

ENDING = frozenset(
    words(
        "exit _exit _Exit quick_exit abort longjmp siglongjmp _longjmp pthread_exit execv execvp execl execlp raise "
        "kill shmem_global_exit shmem_finalize MPI_Abort MPI_Finalize gaspi_proc_term ARMCI_Error ARMCI_Cleanup "
        "gasnet_exit gex_System_Exit"
    )
)
"""Functions behind which the run may not go on."""
DEEPEST = 8
"""So deep is looked into what is computed for a bound."""
LEAST = 4
"""Instructions of an iteration at least: condition, branch, step and jump."""


@dataclass(frozen=True, slots=True)
class CountedLoop:
    """It goes on while ``counter`` is related by ``relation`` to ``bound``; each iteration adds ``step`` times ``sign``
    at most once, and executes so many ``instructions`` at least."""

    counter: Slot
    relation: str
    bound: Slot
    step: Slot
    sign: int
    instructions: int

    def left(self, slots: Sequence[Value]) -> int:
        """So many iterations are left at least, at the head of the loop; 0 where that is not known."""
        found = [slots[slot] for slot in (self.counter, self.bound, self.step)]
        numbers = [each.value for each in found if isinstance(each, Known)]
        if len(numbers) < 3 or not numbers[2]:
            return 0
        step = numbers[2] * self.sign
        way = numbers[1] - numbers[0]
        towards = way * step > 0 and (self.relation[0] == ("<" if step > 0 else ">") or self.relation == "!=")
        return abs(way) // abs(step) if towards else 0


def counted_loop(
    function: CompiledFunction, head: Label, end: Label, functions: Mapping[str, CompiledFunction]
) -> CountedLoop | None:
    """The loop from ``head`` to ``end``, if it is one that counts and has no other loop inside. ``functions``: those of
    the program, which it may call."""
    body, inside = function.code[head + 1 : end + 1], range(head, end + 1)
    branches = [each for each in body if isinstance(each, Branch)]
    if not branches or any(isinstance(each, Return | LoopHead) for each in body) or not _returns(body, functions):
        return None
    targets = [each.to for each in body if isinstance(each, Jump)]
    targets += [to for each in branches[1:] for to in (each.yes, each.no)]
    condition = _written(body, branches[0].condition)
    if not all(to in inside for to in targets) or len(condition) != 1 or not isinstance(condition[0], Binary):
        return None
    relation, counter, bound = condition[0].operator, condition[0].left, condition[0].right
    steps = _written(body, counter)
    leaves = branches[0].yes in inside and branches[0].no not in inside
    if relation not in ("<", "<=", ">", ">=", "!=") or not leaves or len(steps) != 1:
        return None
    step = steps[0]
    if not isinstance(step, Binary) or step.operator not in ("+", "-") or not _is_fixed(function, body, bound):
        return None
    # `a[i++]` adds to a copy of the counter.
    moved = {counter, *(each.target for each in body if isinstance(each, Move) and each.source == counter)}
    if step.left not in moved or not _is_fixed(function, body, step.right):
        return None
    sign = 1 if step.operator == "+" else -1
    return CountedLoop(counter, relation, bound, step.right, sign, LEAST if branches[1:] else end - head + 1)


def _returns(body: Sequence[Instruction], functions: Mapping[str, CompiledFunction]) -> bool:
    """Whether the run goes on behind all calls in ``body``."""
    called = {each.function for each in body if isinstance(each, Call)}
    todo = list(called)
    for name in todo:
        if not isinstance(name, str) or name in ENDING:
            return False
        if name in functions:
            further = {each.function for each in functions[name].code if isinstance(each, Call)} - called
            called |= further
            todo += further
    return True


def _written(body: Sequence[Instruction], slot: Slot) -> list[Instruction]:
    """The instructions that give ``slot`` a value."""
    return [each for each in body if getattr(each, "target", None) == slot]


def _is_fixed(function: CompiledFunction, body: Sequence[Instruction], slot: Slot, depth: int = 0) -> bool:
    """Whether ``slot`` has the same value in all iterations: nothing in ``body`` sets it, or it is no variable, and
    computed once of such."""
    written = _written(body, slot)
    if not written:
        return True
    once = len(written) == 1 and function.slots[slot].name is None and isinstance(written[0], COMPUTES)
    read = reads(written[0])
    return once and depth < DEEPEST and all(_is_fixed(function, body, each, depth + 1) for each in read)
