"""Computes the outcomes of atomic coreRMA programs fast: on one memory, with a partial order of each process' actions.

With atomic accesses alone an execution is consistent iff its actions have a total order that keeps the static edges
(IR, GA, CAS, F1 to F3, PG, LO) and in which every read takes the last value (`proofs/models.md`, "Atomic programs are
one memory with a partial order per process"). So the outcomes are those of a machine in which any action may be next
unless an unfinished one must precede it. `pgasrob.models.corerma` has the axioms, with which this is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pgasrob.models.generate.static_order import Actions
from pgasrob.program.expressions import INT32

Registers = tuple[int, ...]
"""The values of all registers, in the order of the text."""


def outcomes(actions: Actions, initial: Sequence[int]) -> frozenset[Registers]:
    """The final values of the registers in all executions that begin with the values ``initial`` of the locations.

    For IR with its premise make ``actions`` by ``actions_of(shape, ir_own=False)``.
    """
    steps = _steps(actions, initial)
    size, places = len(actions.actions), len(initial)
    before = [0] * size
    for edge in actions.edges:
        before[edge.after] |= 1 << edge.before
    registers = [places + number for number, action in enumerate(actions.actions) if action.kind == "r"]
    # A state: the locations, then what each action has read (0 before); with the set of what has been done.
    states: set[tuple[int, tuple[int, ...]]] = {(0, (*initial, *(0,) * size))}
    for _ in range(size):
        following = set()
        for done, held in states:
            for number in range(size):
                if not done >> number & 1 and before[number] & ~done == 0:
                    after = list(held)
                    steps[number](after)
                    following.add((done | 1 << number, tuple(after)))
        states = following
    return frozenset(tuple(held[register] for register in registers) for _, held in states)


Step = Callable[[list[int]], None]
"""What an action does to the values of a state."""


def _steps(actions: Actions, initial: Sequence[int]) -> list[Step]:
    places = len(initial)
    value = max((0, *initial)) + 1
    first: dict[tuple[int, int], int] = {}
    found: list[Step] = []
    for number, action in enumerate(actions.actions):
        own = places + number
        begin = first.setdefault((action.thread, action.statement), own)
        kind = actions.shape.threads[action.thread][action.statement][0]
        match action.reads, action.writes:
            case int(read), int(written):
                found.append(_updated(kind, read, own, begin))
            case int(read), None:
                found.append(_copied(read, own))
            case None, int(written) if action.kind == "w":
                found.append(_stored(value, written))
                value += 1
            case None, int(written):
                # What a get or put has read, and what a remote location of rga and cas held: the action before.
                found.append(_copied(own - 1, written))
            case _:
                found.append(lambda held: None)
    return found


def _copied(source: int, target: int) -> Step:
    def step(held: list[int]) -> None:
        held[target] = held[source]

    return step


def _stored(value: int, target: int) -> Step:
    def step(held: list[int]) -> None:
        held[target] = value

    return step


def _updated(kind: str, location: int, own: int, operands: int) -> Step:
    """The read-write of an rga or cas; ``operands``: where the values begin that its reads before it have read."""

    def step(held: list[int]) -> None:
        value = held[own] = held[location]
        if kind == "rga":
            held[location] = INT32.wrap(value + held[operands])
        elif value == held[operands]:
            held[location] = held[operands + 1]

    return step
