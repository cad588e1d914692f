"""Simulates one random run of a program, under SC or on the network.

The same seed gives the same run of the same program on every machine and under every version of Python: the only
source of chance is `random.Random.randrange`, and the choices always come in the same order.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Literal

from pgasrob.display import Result
from pgasrob.program.instance import Instance
from pgasrob.semantics.endings import Ending, FailedAssertion, ending_of, is_sequential
from pgasrob.semantics.happens_before import Edge, HappensBefore
from pgasrob.semantics.replay import Run, replay
from pgasrob.semantics.sequential import SequentialSpace, SequentialState
from pgasrob.semantics.state_space import Letter, Operation, State, StateSpace, computation_of
from pgasrob.stop_points import stop_point

DEFAULT_STEPS = 1_000
MOST_CHOICES = 4_096
"""Transitions of one state to choose from: with choices at a barrier there can be millions."""
Bias = Literal["late", "even", "early"]
BIASES: dict[Bias, int] = {"late": 1, "even": 4, "early": 7}
"""In how many of eight cases a pending step is next, where a command could be issued as well."""
EIGHTS = 8
Wanted = Literal["violation", "assertion", "deadlock", "fault"]

_Word = tuple[Letter, ...]


@dataclass(frozen=True, repr=False)
class Simulated(Result):
    """A simulated run, replayed, and how it ended.

    A run that was ``cut`` has taken its pending steps, so that it is a computation.
    """

    run: Run
    network: bool
    seed: int
    bias: Bias
    ending: Ending

    @cached_property
    def cycle(self) -> tuple[Edge, ...] | None:
        """A cycle of its happens-before relation; None when it looks like an SC run."""
        return HappensBefore.of(self.run).cycle

    @property
    def is_sequential(self) -> bool:
        """Whether it is an SC run itself: every step directly follows its issue or an earlier step of that."""
        return is_sequential(self.run.computation)

    @property
    def failed(self) -> tuple[FailedAssertion, ...]:
        """The assertions that were false."""
        failed = (each for each in self.run.events if each.holds is False)
        found = {FailedAssertion(each.event.rank, each.span.line, each.event.occurrence) for each in failed}
        return tuple(sorted(found))

    def shows(self, wanted: Wanted) -> bool:
        """Whether it is a run of that kind: with a cycle, a false assertion, or such an ending."""
        if wanted == "violation":
            return self.cycle is not None
        return bool(self.failed) if wanted == "assertion" else self.ending == wanted


def simulate(
    instance: Instance, seed: int, network: bool = True, bias: Bias = "even", steps: int = DEFAULT_STEPS
) -> Simulated:
    """The run of ``instance`` that belongs to ``seed``, to its end or for ``steps`` events (and what is pending then).

    On the network a coin decides whether the next event is a pending step or an issue, where there are both; ``bias``
    weights it. Of the steps, or the issues, each is as likely as any other; but where ranks can take part in a barrier
    in more than :data:`MOST_CHOICES` ways, only the first of them are drawn from. Under SC there are issues alone.
    Raises ValueError for a seed below 0, which random generators take for its opposite.
    """
    if seed < 0:
        raise ValueError(f"seed {seed}; it takes 0 or more")
    chance = random.Random(seed)
    words, ending = _on_network(instance, chance, bias, steps) if network else _under_sc(instance, chance, steps)
    return Simulated(replay(instance, computation_of(words)), network, seed, bias, ending)


def search(
    simulated: Callable[[int], Simulated],
    wanted: Wanted,
    seeds: range,
    look_around: Callable[[int], None] = lambda tried: None,
) -> Simulated | None:
    """The first run that shows what is ``wanted``, of those that ``simulated`` makes from ``seeds``; None if none does;
    other seeds may. ``look_around`` is called before each run with the number of those before it."""
    for tried, seed in enumerate(seeds):
        look_around(tried)
        found = simulated(seed)
        if found.shows(wanted):
            return found
    return None


def _under_sc(instance: Instance, chance: random.Random, steps: int) -> tuple[list[_Word], Ending]:
    space = SequentialSpace(instance)
    state: SequentialState = space.initial
    words: list[_Word] = []
    events = 0
    while edges := list(islice(space.successors(state), MOST_CHOICES)):
        stop_point()
        if events >= steps:
            return words, "cut"
        word, state = edges[chance.randrange(len(edges))]
        words.append(word)
        events += len(word)
    return words, ending_of(instance, *state)


def _on_network(instance: Instance, chance: random.Random, bias: Bias, steps: int) -> tuple[list[_Word], Ending]:
    space = StateSpace(instance)
    state = space.initial
    words: list[_Word] = []
    events = 0
    while True:
        stop_point()
        issues = list(islice(space.issues(state), MOST_CHOICES))
        pending = any(state.pending)
        cut = events >= steps and bool(issues)
        if not pending and (cut or not issues):
            return words, "cut" if cut else ending_of(instance, state.control, state.registers, state.memory)
        if pending and (cut or not issues or chance.randrange(EIGHTS) < BIASES[bias]):
            word, state = _any_step(space, state, chance)
        else:
            word, state = issues[chance.randrange(len(issues))]
        words.append(word)
        events += len(word)


def _any_step(space: StateSpace, state: State, chance: random.Random) -> tuple[_Word, State]:
    """One of the steps that may come next, each as likely as any other; something is pending.

    Operations are drawn until one need not wait, so that of many pending ones few are looked at.
    """
    drawn = [
        (rank, position)
        for rank, pending in enumerate(state.pending)
        for position, entry in enumerate(pending)
        if isinstance(entry, Operation)
    ]
    while True:
        place = chance.randrange(len(drawn))
        edge = space.step(state, *drawn[place])
        if edge is not None:
            return edge
        drawn[place] = drawn[-1]
        drawn.pop()
