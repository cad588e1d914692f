"""Runs that go ways which nothing ties to what other ranks know: they may be none of the program.

A front end that drops what ties the unknown values of several ranks to each other marks the ways that ranks go by them
(:class:`~pgasrob.program.commands.Guess`). That all these runs are as they should be says it of those of the program;
that one of them is not says nothing where its ways may belong to no values at all."""

from __future__ import annotations

from collections.abc import Iterator

from pgasrob.program.commands import Guess
from pgasrob.program.instance import Instance
from pgasrob.program.statements import Span
from pgasrob.semantics.computation import Computation


def has_free_ways(instance: Instance) -> bool:
    """Whether some rank may go such a way."""
    return any(
        isinstance(edge.command, Guess) and edge.command.free
        for automaton in instance.automata
        for edge in automaton.transitions
    )


def line_of_doubt(instance: Instance, computation: Computation, alone: bool = False) -> int | None:
    """The line of a free way that the ``computation`` goes, if that leaves open whether a run of the program does: it
    goes another one by an unknown value, too, or ``alone`` is enough."""
    guesses = list(_guesses(instance, computation))
    free = [span.line for guess, span in guesses if guess.free]
    return min(free) if free and (alone or len(guesses) > 1) else None


def _guesses(instance: Instance, computation: Computation) -> Iterator[tuple[Guess, Span]]:
    taken: dict[tuple[int, int], tuple[Guess, Span]] = {
        (rank, edge.occurrence): (edge.command, edge.span)
        for rank, automaton in enumerate(instance.automata)
        for edge in automaton.transitions
        if isinstance(edge.command, Guess)
    }
    for event in computation:
        found = taken.get((event.rank, event.occurrence)) if event.kind == "assume" else None
        if found is not None:
            yield found
