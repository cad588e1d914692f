"""Lists what may order two accesses: the commands between them, and what the operations themselves promise.

Each suspect is a change to the program that takes one such thing away and leaves all else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from pgasrob.program import commands, core
from pgasrob.program.commands import Command
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.declarations import Queue
from pgasrob.program.expressions import Const, constant
from pgasrob.program.graphs import reached_by
from pgasrob.program.instance import Instance
from pgasrob.program.program import Program
from pgasrob.program.statements import Do, Span
from pgasrob.program.variants import with_commands

Does = Literal["completes", "completes locally", "orders", "meets", "captures", "notifies", "queues", "accumulates"]
"""How something orders an operation: a rank waits for it (at home, or for all of it), a fence, a barrier, a source that
is read at once, a notification that comes after it, a FIFO queue, updates of a cell that keep their order."""

KINDS: dict[str, Does] = {
    "wait": "completes",
    "wait_local": "completes locally",
    "fence": "orders",
    "barrier": "meets",
    "notify": "notifies",
    "signal": "notifies",
}


@dataclass(frozen=True, slots=True)
class Suspect:
    """What ``does`` something for the order of two accesses: the commands at ``span``, as seen at ``occurrence`` of
    ``rank``; of the queue with number ``queue`` the order."""

    does: Does
    span: Span
    rank: int
    occurrence: int
    queue: int | None = None

    def taken(self, program: Program) -> Program:
        """``program`` without it."""
        if self.queue is not None:
            others = tuple(queue for queue in program.queues if queue.id != self.queue)
            name = program.queue_name(self.queue)
            return replace(program, queues=(*others, Queue(name, self.queue, unordered=True)))
        return with_commands(program, lambda do: (replace(do, command=self._less(do)),))

    def _less(self, do: Do) -> Command:
        command = do.command
        if do.span != self.span:
            return command
        if KINDS.get(command.kind) == self.does and not isinstance(command, commands.Notify | commands.Signal):
            return commands.Assume(Const(1))
        match command:
            case commands.Notify(operation, value, rank, remote, queue, _, type) if self.does == "notifies":
                return commands.Update(operation, value, rank, remote, queue, type=type)
            case commands.Signal(operation, value, rank, remote, queue, type) if self.does == "notifies":
                return commands.Update(operation, value, rank, remote, queue, type=type)
            case commands.Put(local, rank, remote, queue) if self.does == "captures":
                return commands.Write(local, rank, remote, queue)
            case commands.Update() | commands.UpdateFrom() if self.does == "accumulates":
                return replace(command, located=False)
        return command


def suspects(instance: Instance, lines: tuple[int, int]) -> list[Suspect]:
    """What may order the accesses in ``lines``, of any ranks: completions first, and barriers behind fences."""
    found: dict[tuple[Does, Span, int | None], Suspect] = {}
    ending = [[edge for edge in automaton.transitions if on_lines(edge, lines)] for automaton in instance.automata]
    homes = {home for home, ends in zip(instance.home, ending, strict=True) if ends}
    for rank, (automaton, ends) in enumerate(zip(instance.automata, ending, strict=True)):
        own = {edge.occurrence for edge in ends}
        between = _after(automaton, ends) | _before(automaton, own)
        for edge in automaton.transitions:
            if edge.occurrence in own:
                suspected = [*_of_operation(edge, instance), *_of_command(edge)]
            elif edge.occurrence in between or (not ends and instance.home[rank] in homes and _is_barrier(edge)):
                suspected = [*_of_command(edge)]
            else:
                continue
            for does, queue in suspected:
                found.setdefault((does, edge.span, queue), Suspect(does, edge.span, rank, edge.occurrence, queue))
    order: list[Does] = ["completes locally", "completes", "captures", "orders", "notifies", "accumulates", "queues"]

    def nearness(suspect: Suspect) -> tuple[int, int]:
        return (*order, "meets").index(suspect.does), min(abs(suspect.span.line - line) for line in lines)

    return sorted(found.values(), key=nearness)


def on_lines(edge: Transition, lines: Iterable[int]) -> bool:
    """Whether ``edge`` accesses a cell, and is written on one of ``lines``."""
    return bool(core.accesses_of(edge.form)) and any(edge.span.line <= line <= edge.span.end_line for line in lines)


def _is_barrier(edge: Transition) -> bool:
    return isinstance(edge.form, core.Barrier)


def _of_command(edge: Transition) -> Iterator[tuple[Does, int | None]]:
    if edge.command.kind in KINDS:
        yield KINDS[edge.command.kind], None


def _of_operation(edge: Transition, instance: Instance) -> Iterator[tuple[Does, int | None]]:
    command = edge.command
    if isinstance(command, commands.Put):
        yield "captures", None
    if isinstance(command, commands.Update | commands.UpdateFrom) and command.located:
        yield "accumulates", None
    if isinstance(edge.form, core.Transfer):
        number = constant(edge.form.queue)
        if number is not None and not instance.is_unordered(number):
            yield "queues", number


def _after(automaton: ControlAutomaton, starts: list[Transition]) -> set[int]:
    """The occurrences of the commands that can come after one of ``starts``."""
    edges = ((state, edge.target) for state, leaving in enumerate(automaton.out) for edge in leaving)
    return {edge.occurrence for at in reached_by(edges, (each.target for each in starts)) for edge in automaton.out[at]}


def _before(automaton: ControlAutomaton, ends: set[int]) -> set[int]:
    """The occurrences of the commands that can come before one of ``ends``."""
    edges = [(state, edge) for state, leaving in enumerate(automaton.out) for edge in leaving]
    starts = {state for state, edge in edges if edge.occurrence in ends}
    before = reached_by(((edge.target, state) for state, edge in edges), starts)
    return {edge.occurrence for _, edge in edges if edge.target in before}
