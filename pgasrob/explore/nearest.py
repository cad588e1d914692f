"""Finds the nearest violation from where a run stands, by a bounded search of all computations that begin so."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from pgasrob.automata.automaton import Reached
from pgasrob.explore.position import Position, Word
from pgasrob.explore.request_bounds import MOST_STATES, SEARCH_SECONDS
from pgasrob.program.instance import Instance
from pgasrob.program.program import Program
from pgasrob.robustness.check import check
from pgasrob.robustness.definition import HappensBeforeSpace
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import Question, Resources, Robustness
from pgasrob.robustness.session import Session
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.state_space import computation_of

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram

LOOKS = 256
"""States between two looks at the clock."""


class Nearest(NamedTuple):
    """``way``: a shortest continuation that makes the run violating, None when none was found; ``proved``: there is
    none. ``robust``: there is none from the start either. ``elsewhere``: a violating computation from the start."""

    way: list[Word] | None
    proved: bool
    states: int
    robust: bool = False
    elsewhere: Computation | None = None


def nearest(program: Program | CProgram, position: Position) -> Nearest:
    """Search breadth-first from ``position`` of ``program``; where that comes to no end, ask the engines about the
    whole program."""
    space = HappensBeforeSpace(position.instance)
    for word in position.words:
        _, target = next(edge for edge in space.successors(space.initial) if edge[0] == word)
        space.initial = target
    if space.is_final(space.initial):
        return Nearest([], False, 1)
    reached = Reached(space)
    until = time.monotonic() + SEARCH_SECONDS
    for number, state in enumerate(reached.expand()):
        if space.is_final(state):
            return Nearest(reached.path(state), False, len(reached))
        if len(reached) > MOST_STATES or (number % LOOKS == 0 and time.monotonic() > until):
            return _asked(program, position.instance, len(reached))
    if space.cut:
        return _asked(program, position.instance, len(reached))
    return Nearest(None, not position.instance.program.gaps, len(reached))


def _asked(program: Program | CProgram, instance: Instance, states: int) -> Nearest:
    """The answer of the engines for the whole program, after a search from a state that came to no end."""
    question = Question(
        program,
        instance.processes,
        Robustness(effect=False),
        instance.reading,
        limits=Limits(timeout=SEARCH_SECONDS),
        resources=Resources(threads=1),
    )
    verdict = check(Session(question))
    if verdict.verdict == "not robust" and verdict.witness:
        return Nearest(None, False, states, elsewhere=verdict.witness.run.computation)
    return Nearest(None, verdict.verdict == "robust", states, verdict.verdict == "robust")


def choices(position: Position, way: list[Word]) -> list[str]:
    """The names of the choices along ``way``; moves ``position`` along it."""
    names = []
    for word in way:
        move = next(move for move in position.moves() if move.word == word)
        names.append(move.name)
        position.take(move)
    return names


def choices_of(instance: Instance, computation: Computation) -> list[str]:
    """The names of the choices from the start that make ``computation``, as far as there are any."""
    position = Position(instance)
    place = 0
    names = []
    while place < len(computation):
        for move in position.moves():
            made = computation_of([*position.words, move.word])[position.events :]
            if tuple(computation[place : place + len(made)]) == made:
                names.append(move.name)
                position.take(move)
                place += len(made)
                break
        else:
            return names
    return names
