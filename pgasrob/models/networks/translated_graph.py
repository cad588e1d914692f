"""Makes the graph of a thread of what a rank may do in each of its control states: instructions, several or none."""

from __future__ import annotations

from collections.abc import Sequence

from pgasrob.models.litmus.instructions import Instruction
from pgasrob.models.litmus.litmus_program import Graph

NO_GRAPH = Graph(((),), frozenset((0,)))
"""In place of the graph of a rank that is refused."""


def without_silent(steps: Sequence[Sequence[tuple[tuple[Instruction, ...], int]]], ends: set[int]) -> Graph:
    """The graph of ``steps``, each with one instruction, several or none."""
    closure: list[list[int]] = []
    for state in range(len(steps)):
        reached = [state]
        for each in reached:
            reached += [target for made, target in steps[each] if not made and target not in reached]
        closure.append(reached)
    out: list[list[tuple[Instruction, int]]] = [[] for _ in steps]
    for state, reached in enumerate(closure):
        for each in reached:
            for made, target in steps[each]:
                here = state
                for instruction in made[:-1]:
                    out.append([])
                    out[here].append((instruction, len(out) - 1))
                    here = len(out) - 1
                if made:
                    out[here].append((made[-1], target))
    # A loop without instructions is no cycle of the new graph: a rank that may stay in one for ever ends there.
    ends = ends | {
        state
        for state in range(len(steps))
        if any(not made and state in closure[target] for made, target in steps[state])
    }
    finals = frozenset(state for state, reached in enumerate(closure) if not ends.isdisjoint(reached))
    return _in_order(out, finals)


def _in_order(out: Sequence[Sequence[tuple[Instruction, int]]], ends: frozenset[int]) -> Graph:
    """The graph with its states numbered as they are reached, so that one without branches is straight."""
    numbers, order = {0: 0}, [0]
    for state in order:
        for _, target in out[state]:
            if target not in numbers:
                numbers[target] = len(order)
                order.append(target)
    edges = (tuple((instruction, numbers[target]) for instruction, target in out[state]) for state in order)
    return Graph(tuple(edges), frozenset(numbers[state] for state in ends if state in numbers))
