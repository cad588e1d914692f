"""Threads of a rank end as an interpreter of OpenMP says, on random programs."""

from __future__ import annotations

import pytest

from pgasrob.frontends.lower import parse_c
from pgasrob.program.instance import instantiate
from pgasrob.semantics.sequential import SequentialSpace
from tests.frontends.random_teams import VARIABLES, Ends, ends, program

MOST_STATES = 60_000


def ends_of(text: str) -> Ends | None:
    """What is in `out` after the SC runs of the program; None where there are too many states."""
    lowered = parse_c(text).program(1)
    instance = instantiate(lowered, 1)
    names = {instance.cell_name(cell).partition("@")[0]: cell for cell in range(instance.size)}
    out = [names[f"out[{x}]"] for x in range(VARIABLES)]
    space = SequentialSpace(instance)
    seen, waiting, found = {space.initial}, [space.initial], set[tuple[int, ...]]()
    while waiting:
        state = waiting.pop()
        after = [each for _, each in space.successors(state)]
        if not after:
            stuck = any(automaton.out[at] for automaton, at in zip(instance.automata, state.control, strict=True))
            found.add(() if stuck else tuple(state.memory[cell] for cell in out))
        new = [each for each in after if each not in seen]
        seen.update(new)
        waiting += new
        if len(seen) > MOST_STATES:
            return None
    return frozenset(found)


def compare(seed: int) -> bool:
    """Whether a random program is small enough; then it has to end as the interpreter says."""
    text, regions = program(seed)
    found = ends_of(text)
    assert found is None or found == ends(regions), text
    return found is not None


@pytest.mark.parametrize("first", range(0, 200, 4))
def test_random_teams_end_as_an_interpreter_says(first: int) -> None:
    assert sum(map(compare, range(first, first + 4))) > 2
