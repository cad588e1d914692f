"""The SC runs of an instance, one of each trace, where these are few: facts of all runs at the price of some.

A search for facts state by state takes long where there are many ranks, however few ways they have. The traces of a
program in which ranks only wait for each other's values are often one alone, and to go through it takes as many steps
as it has events.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgasrob.program.instance import Instance
from pgasrob.robustness.engine import Facts, TraceEngine, knows_traces, longest_run
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.sequential import SequentialSpace
from pgasrob.semantics.state_space import computation_of
from pgasrob.stop_points import stop_point
from pgasrob.twins import trace_search

SMALL = 200
"""Commands of all ranks up to which a search state by state takes a moment, and finds the shortest runs."""
EFFORT_PER_COMMAND = 200
"""What may be looked at for each command of the program: a hundred traces, about, in part of a second."""
IN_A_HURRY, EFFORT_PER_COMMAND_IN_A_HURRY = 300_000, 20
"""The same of large programs where the answer is known already, and how much of any."""


class ScTraces:
    """The traces of the SC runs of ``instance``, as far as they are looked at; not where there are no more commands
    than ``small``."""

    def __init__(self, instance: Instance, memory: int | None, small: int | None = None) -> None:
        self._instance = instance
        self.commands = instance.commands
        self._search: TraceEngine | None = None
        self._begun = False
        if self.commands > (SMALL if small is None else small) and knows_traces(instance):
            # No step may be the source of a violation, so that none is looked for.
            sources, longest = [0] * self.commands, longest_run(instance)
            self._search = trace_search(instance, memory, sources=sources, longest=longest, by_name=True)

    def explore(self, hurry: bool = False) -> Iterator[None]:
        """Go through the traces, once, while that takes little; a piece per iteration. ``hurry``: the answer is known
        without."""
        most = EFFORT_PER_COMMAND * self.commands
        if hurry:
            most = min(most, max(IN_A_HURRY, EFFORT_PER_COMMAND_IN_A_HURRY * self.commands))
        search = self._search
        if search is None or self._begun:
            return
        self._begun = True
        for _ in search.run():
            if search.facts.fault or search.effort > most:
                return
            yield

    @property
    def states(self) -> int:
        """How many states it has come to."""
        return 0 if self._search is None else self._search.states

    @property
    def facts(self) -> Facts | None:
        """What is true of all SC runs, if that is known and nothing of it is to be shown by a run, which would not be
        the shortest one."""
        facts = None if self._search is None else self._search.facts
        if facts is None or not facts.complete or facts.fault or facts.failed or facts.deadlock is not None:
            return None
        return facts

    @property
    def one_alone(self) -> bool:
        """Whether it is known that there is one trace alone, and that it shows nothing that goes wrong."""
        return self.facts is not None and self._search is not None and self._search.traces == 1

    def only(self) -> Computation | None:
        """A run to its end of the only trace; None where it is not known that there is one alone, or it shows what
        goes wrong."""
        if not self.one_alone:
            return None
        space = SequentialSpace(self._instance)
        state, words = space.initial, []
        going = True
        while going:
            going = False
            for rank in range(self._instance.processes):
                while (edge := next(iter(space.issues_of(state, rank)), None)) is not None:
                    stop_point()
                    words.append(edge[0])
                    state, going = edge[1], True
            if (edge := next(iter(space.barriers(state)), None)) is not None:
                words.append(edge[0])
                state, going = edge[1], True
        return computation_of(words)
