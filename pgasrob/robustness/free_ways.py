"""Runs that go ways which nothing ties to what other ranks know, or for which no values are known: they may be none of
the program.

A front end that drops what ties the unknown values of several ranks to each other marks the ways that ranks go by them
(:class:`~pgasrob.program.commands.Guess`), and those by conditions that perhaps no values satisfy. That all these runs
are as they should be says it of those of the program; that one of them is not says nothing where its ways may belong to
no values at all."""

from __future__ import annotations

from collections.abc import Iterator

from pgasrob.program.commands import Assume, Command, Guess
from pgasrob.program.control import Transition
from pgasrob.program.core import lower
from pgasrob.program.expressions import Const
from pgasrob.program.instance import Instance
from pgasrob.program.statements import Span
from pgasrob.robustness.reasons import NoValuesKnown, OthersPending, ValuesSetFree
from pgasrob.semantics.computation import Computation, has_steps

WHAT_RUNS_SHOW = {
    "violation": "a run with a cycle",
    "assertion": "a run in which an assertion fails",
    "illegal call": "a run with an illegal call",
    "deadlock": "a run that gets stuck",
    "race": "a run with a race",
    "fault": "a run that faults",
}
Doubt = ValuesSetFree | NoValuesKnown | OthersPending


def has_free_ways(instance: Instance) -> bool:
    """Whether some rank may go such a way."""
    return first_free_way(instance) is not None


def first_free_way(instance: Instance) -> int | None:
    """The first line in which some rank may go such a way."""
    edges = (edge for automaton in instance.automata for edge in automaton.transitions)
    return min((edge.span.line for edge in edges if _may_be_none(edge.command)), default=None)


def _may_be_none(command: Command) -> bool:
    return isinstance(command, Guess) and (command.free or command.vain)


def doubt(instance: Instance, computation: Computation, shows: str) -> Doubt | None:
    """Why it is open whether the ``computation``, which ``shows`` something, is a run of the program, if it is: it goes
    a way for which no values are known, or a free one and another one by an unknown value, where of an assertion a free
    one is enough; or operations are pending where a wait may have completed them."""
    if (line := _pending_behind(instance, computation)) is not None:
        return OthersPending(WHAT_RUNS_SHOW[shows], line)
    guesses = [(guess, span) for guess, span, _ in _guesses(instance, computation) if guess.waited is None]
    vain = [span.line for guess, span in guesses if guess.vain]
    free = [span.line for guess, span in guesses if guess.free]
    if vain:
        return NoValuesKnown(WHAT_RUNS_SHOW[shows], min(vain))
    if free and (shows == "assertion" or len(guesses) > 1):
        return ValuesSetFree(WHAT_RUNS_SHOW[shows], min(free))
    return None


def without_free_ways(instance: Instance) -> Instance:
    """The ``instance`` in which no rank goes on where such a way begins: all its runs are runs of the program, as far
    as that can be known, but those in which a rank stands there."""
    closed = lower(Assume(Const(0)))

    def without(edge: Transition) -> tuple[Transition]:
        return (edge.with_form(closed) if _may_be_none(edge.command) else edge,)

    return instance.with_automata(tuple(automaton.with_edges(without) for automaton in instance.automata))


def _pending_behind(instance: Instance, computation: Computation) -> int | None:
    """The line of a wait behind which an operation of another thread of the rank is pending, issued before in the queue
    that the wait is for."""
    for guess, span, place in _guesses(instance, computation) if instance.has_threads else ():
        if guess.waited is None:
            continue
        waiting = computation[place].rank
        later = {event.issued for event in computation[place:] if event.is_step}
        for event in computation[:place]:
            other = event.rank != waiting and instance.home[event.rank] == instance.home[waiting]
            if other and not event.is_step and event.issued in later and has_steps(event.kind):
                command = next(
                    edge.command
                    for edge in instance.automata[event.rank].transitions
                    if edge.occurrence == event.occurrence
                )
                if getattr(command, "queue", None) == Const(guess.waited):
                    return span.line
    return None


def _guesses(instance: Instance, computation: Computation) -> Iterator[tuple[Guess, Span, int]]:
    taken: dict[tuple[int, int], tuple[Guess, Span]] = {
        (rank, edge.occurrence): (edge.command, edge.span)
        for rank, automaton in enumerate(instance.automata)
        for edge in automaton.transitions
        if isinstance(edge.command, Guess)
    }
    for place, event in enumerate(computation):
        found = taken.get((event.rank, event.occurrence)) if event.kind == "assume" else None
        if found is not None:
            yield *found, place
