"""Outcomes of atomic coreRMA programs, fast: one memory, and a partial order of the actions of each process.

With atomic accesses alone an execution is consistent iff its actions have a total order that keeps the static edges
(IR, GA, CAS, F1 to F3, PG, LO) and in which every read takes the last value (`proofs/models.md`, section coreRMA). That
is a machine: any action may be next that nothing unfinished has to precede. `pgasrob.models.corerma` has the axioms;
the tests compare the two.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgasrob.models.generate.static_order import Actions
from pgasrob.program.expressions import INT32

Registers = tuple[int, ...]
"""The values of all registers, in the order of the text."""


def outcomes(actions: Actions, initial: Sequence[int]) -> frozenset[Registers]:
    """The final values of the registers in all executions that begin with the values ``initial`` of the locations.

    ``actions`` decide about the reading of IR: with its premise they are made by ``actions_of(shape, ir_own=False)``.
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


def _steps(actions: Actions, initial: Sequence[int]) -> list[_Step]:
    places = len(initial)
    value = max((0, *initial)) + 1
    first: dict[tuple[int, int], int] = {}
    found: list[_Step] = []
    for number, action in enumerate(actions.actions):
        begin = first.setdefault((action.thread, action.statement), number)
        read, write = action.reads, action.writes
        kind = actions.shape.threads[action.thread][action.statement][0]
        if action.kind == "w":
            found.append(_Step(None, write, constant=value))
            value += 1
        elif action.kind == "erw":
            found.append(_Step(read, write, kind=kind, own=places + number, begin=places + begin))
        elif action.kind == "ew":
            # What a get or put has read, and what a remote location of rga and cas held: the action before.
            found.append(_Step(None, write, begin=places + number - 1))
        else:
            found.append(_Step(read, None, own=places + number))
    return found


class _Step:
    """What an action does to the list of a state. ``own``, ``begin``: where its value and that of the first action of
    its statement (of an ew: the action before) are."""

    __slots__ = ("begin", "constant", "kind", "own", "read", "write")

    def __init__(
        self,
        read: int | None,
        write: int | None,
        *,
        kind: str = "",
        own: int = -1,
        begin: int = -1,
        constant: int | None = None,
    ) -> None:
        self.read, self.write, self.kind = read, write, kind
        self.own, self.begin, self.constant = own, begin, constant

    def __call__(self, held: list[int]) -> None:
        read, write = self.read, self.write
        if self.kind and read is not None and write is not None:
            value = held[self.own] = held[read]
            if self.kind == "rga":
                held[write] = INT32.wrap(value + held[self.begin])
            elif value == held[self.begin]:
                held[write] = held[self.begin + 1]
        elif read is not None:
            held[self.own] = held[read]
        elif write is not None:
            held[write] = held[self.begin] if self.constant is None else self.constant
