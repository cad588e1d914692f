"""Finds the outcomes of a loop-free program: the values with which its runs end, and how many runs end so.

A run is a maximal computation: nothing more can happen, so nothing is pending either, for the earliest pending
operation of a rank can always take its next step. A rank that faults, is stopped by an assume or waits for ever does
not move, and the others go on as long as they can; how the run ends then is part of its outcome. Runs are counted as
sequences of events, which are the paths of X(P, N) and of the SC runs. A rank that can move does: where a process ends
with a `choose` that has an empty branch, no run ends in it while another can be taken (`Outcomes.left_out`).

An outcome that no SC run has comes from violating computations alone: one with an acyclic happens-before relation has
the events of an SC run, in another order of those that do not depend on each other, and ends where that ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pgasrob.display import Result
from pgasrob.program.conditional_waits import only_compared
from pgasrob.program.control import may_be_left_out
from pgasrob.program.instance import Instance, instantiate
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.reasons import AnyValue, Reason, RunsLeftOut
from pgasrob.robustness.watch import Progress, Watch
from pgasrob.runs.chosen import chosen
from pgasrob.runs.enumeration import Enumeration, HasLoop, heights_of
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.endings import ENDINGS, Ending, FailedAssertion, Place, places
from pgasrob.semantics.sequential import SequentialSpace
from pgasrob.semantics.state_space import StateSpace

__all__ = ["FaultMet", "HasLoop", "Outcome", "Outcomes", "outcomes"]

SC_RUNS, NETWORK_RUNS = "SC runs", "network runs"

Values = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """An outcome and how many runs have it.

    ``sc_runs`` and ``network_runs`` are None when a limit was hit before they had been counted. SC runs are runs on the
    network, too, and counted there as well. ``network_only``: no SC run has it; None when that is not known.
    ``example`` is a shortest run, an SC run if there is one.
    """

    ending: Ending
    values: Values
    failed: tuple[FailedAssertion, ...]
    sc_runs: int | None
    network_runs: int | None
    network_only: bool | None
    example: Computation


@dataclass(frozen=True, slots=True)
class FaultMet:
    """A command that cannot be evaluated in a state that some run passes; ``in_sc``: an SC run does, None: unknown.

    It need not be how a run ends: where a rank has another choice, it takes that.
    """

    rank: int
    line: int
    occurrence: int
    reason: str
    in_sc: bool | None


@dataclass(frozen=True, slots=True, repr=False)
class Outcomes(Result):
    """The outcomes of ``instance``, ordered by ending, values and failed assertions.

    ``places`` says what the values are of. ``left_out``: the lines of commands at which a process may end instead, by
    an empty branch; runs that do so are not among these. ``reason`` is None when all runs have been seen, else why not;
    then ``sc_complete`` says whether at least all SC runs were, and what ``outcomes`` has need not be all.
    """

    instance: Instance
    places: tuple[Place, ...]
    outcomes: tuple[Outcome, ...]
    faults: tuple[FaultMet, ...]
    left_out: tuple[int, ...]
    reason: Reason | None
    sc_complete: bool
    sc_states: int
    network_states: int
    seconds: float

    @property
    def complete(self) -> bool:
        return self.reason is None

    @property
    def polls(self) -> bool:
        """Whether some reads are polls in the default reading of robustness, in which failed polls are no events; here
        they are counted as events."""
        return self._as_checked.polls

    @property
    def only_compares(self) -> bool:
        """Whether some values that are fetched are read in the default reading only as far as they are compared; here
        they are what registers hold."""
        return bool(only_compared(self._as_checked.automata))

    @property
    def _as_checked(self) -> Instance:
        """The program in the default reading of robustness, instantiated once."""
        found: Instance | None = self.instance.analyses.get("as checked")
        if found is None:
            found = instantiate(self.instance.program, self.instance.nodes)
            self.instance.analyses["as checked"] = found
        return found

    @property
    def sc_runs(self) -> int | None:
        """How many SC runs there are; None when not all were seen."""
        return sum(outcome.sc_runs or 0 for outcome in self.outcomes) if self.sc_complete else None

    @property
    def network_runs(self) -> int | None:
        return sum(outcome.network_runs or 0 for outcome in self.outcomes) if self.complete else None

    @property
    def network_only(self) -> tuple[Outcome, ...]:
        """The outcomes that are known to be reached on the network alone."""
        return tuple(outcome for outcome in self.outcomes if outcome.network_only)


def outcomes(
    instance: Instance,
    of: Iterable[str] | None = None,
    limits: Limits | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Outcomes:
    """The outcomes of a loop-free ``instance``, under SC and on the network.

    ``of`` chooses registers and cells (as :func:`~pgasrob.runs.chosen.chosen`), all when None. ``progress`` is
    called a few times a second. Raises :class:`HasLoop` for an instance with a loop and
    :class:`~pgasrob.runs.chosen.UnknownPlace` for a name in ``of`` that nothing has. A limit that is hit leaves
    the counts None that it cost.
    """
    started = time.monotonic()
    look_at = places(instance) if of is None else chosen(instance, of)
    heights = [heights_of(instance, rank) for rank in range(instance.processes)]
    watch = Watch(limits or Limits(), progress, started)
    sc = Enumeration(instance, SequentialSpace(instance), look_at, heights)
    network = Enumeration(instance, StateSpace(instance), look_at, heights)
    reason = sc.run(watch, SC_RUNS) or network.run(watch, NETWORK_RUNS)
    if reason is None and instance.program.gaps:
        reason = RunsLeftOut(instance.program.gaps)
    elif reason is None and instance.program.uncertain:
        reason = AnyValue(instance.program.uncertain)
    return Outcomes(
        instance,
        look_at,
        tuple(joined(sc, network)),
        tuple(_faults(sc, network)),
        _left_out(instance),
        reason,
        sc.complete,
        sc.states,
        network.states,
        time.monotonic() - started,
    )


def _left_out(instance: Instance) -> tuple[int, ...]:
    """The lines of the commands at which a process may end instead; commands that no rank can reach do not count."""
    reachable = {edge.span for automaton in instance.automata for edge in automaton.transitions}
    bodies = [process.body for process in instance.program.processes]
    return tuple(sorted({span.line for body in bodies for span in may_be_left_out(body) if span in reachable}))


def joined(sc: Enumeration[Any], network: Enumeration[Any]) -> Iterator[Outcome]:
    """The outcomes of both enumerations. No outcome is called network-only before all SC runs have been seen."""
    for key in sorted({*sc.found, *network.found}, key=lambda key: (ENDINGS.index(key.ending), *key[1:])):
        in_sc, on_network = sc.found.get(key), network.found.get(key)
        known = in_sc or on_network
        assert known is not None
        yield Outcome(
            *key,
            (in_sc.runs if in_sc else 0) if sc.complete else None,
            (on_network.runs if on_network else 0) if network.complete else None,
            False if in_sc else True if sc.complete else None,
            (sc if in_sc else network).computation(known.node),
        )


def _faults(sc: Enumeration[Any], network: Enumeration[Any]) -> Iterator[FaultMet]:
    for rank, line, occurrence in sorted({*sc.faults, *network.faults}):
        key = (rank, line, occurrence)
        in_sc = True if key in sc.faults else False if sc.complete else None
        yield FaultMet(*key, sc.faults.get(key) or network.faults[key], in_sc)
