"""Explains why two accesses of a robust program are in order: which commands between them keep it robust.

Nothing is said that has not been checked. What may order them (`suspects`) is taken away, one thing at a time, and the
program checked again: where it is not robust any more, by a computation whose cycle goes through both, that is what
orders them. Where no single one does, two at a time and then all of them are taken away, and of these as many are put
back as do not matter: each of those that are named is needed where the others are missing.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from pgasrob.automata.automaton import Reached
from pgasrob.program import commands, core
from pgasrob.program.control import build
from pgasrob.program.expressions import Const
from pgasrob.program.instance import Instance, block_of
from pgasrob.program.program import Program
from pgasrob.program.statements import Do, Span
from pgasrob.program.variants import with_commands
from pgasrob.robustness.check import check
from pgasrob.robustness.late_operations import Late, late_operations
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import Question
from pgasrob.robustness.session import Session
from pgasrob.robustness.suspects import Suspect, on_lines, suspects
from pgasrob.robustness.verdict import Verdict
from pgasrob.semantics.accesses import Access, conflict
from pgasrob.semantics.happens_before import Edge, HappensBefore
from pgasrob.semantics.replay import ReplayError, Run, replay
from pgasrob.semantics.sequential import SequentialSpace

MOST_SINGLES, MOST_PAIRS = 24, 40
"""Things that are taken away alone, and two at a time; each takes a check."""
MOST_PINNED = 4
"""Operations that are held in place one after the other, so that a violation shows that has to do with the two."""
FRESH = 1 << 20
"""The first of the queues of these operations: no program has so many."""
TRANSFERS = (
    commands.Read, commands.Write, commands.Put, commands.Update, commands.UpdateFrom, commands.Notify, commands.Signal,
)  # fmt: skip

Answer = Literal[
    "ordered", "several", "other", "not needed", "no conflict", "no cell", "no access", "not robust", "not known"
]
"""What is known: something orders them, or several things do that have to be missing together; the program needs what
lies between for something else; it does not need it, and they are in conflict, or are not, or never access the same
cell; there is no access in a line; the program is not robust."""
_Found = Literal["violated", "robust", "other", "not known"]


@dataclass(frozen=True, slots=True)
class Without:
    """That a program is not robust without all of ``suspects``, each of which would do: a run on the network and its
    cycle, replayed without them.

    ``late`` is the operation that comes too late in it.
    """

    suspects: tuple[Suspect, ...]
    run: Run
    cycle: tuple[Edge, ...]
    late: Late


@dataclass(frozen=True, slots=True)
class Why:
    """Why the accesses in ``lines`` are in order; ``instance`` is the robust program.

    ``without``: what shows it: for "ordered" each of them, for "several" just one. For "no access" ``line`` is the line
    without one. ``checks`` have been made, ``untried`` suspects were too many; ``reason`` says why nothing more is
    known.
    """

    lines: tuple[int, int]
    answer: Answer
    instance: Instance
    without: tuple[Without, ...] = ()
    line: int | None = None
    checks: int = 0
    untried: int = 0
    reason: str | None = None


def why(question: Question, verdict: str, lines: tuple[int, int]) -> Why:
    """Why the accesses in ``lines`` of the program of ``question`` are in order, about which there is this ``verdict``.

    The question is asked many times: its limits hold for each of the checks, and the time for all of them together.
    Raises :class:`pgasrob.diagnostics.SourceError` for a program that is none, and KeyboardInterrupt on Ctrl-C.
    """
    loaded = Session(replace(question, limits=Limits())).load()
    program = loaded.program if isinstance(loaded.program, Program) else loaded.program.program(loaded.nodes)
    question = replace(question, program=program, nodes=loaded.nodes)
    instance = program.instantiate(loaded.nodes, question.reading)
    for line in lines:
        edges = (edge for automaton in instance.automata for edge in automaton.transitions)
        if not any(on_lines(edge, (line,)) for edge in edges):
            return Why(lines, "no access", instance, line=line)
    if verdict == "not robust":
        return Why(lines, "not robust", instance)
    if verdict != "robust":
        return Why(lines, "not known", instance, reason="it is not known whether the program is robust")
    return _Asking(program, instance, lines, question).answer()


class _Asking:
    """One question, and the checks that are made for it."""

    def __init__(self, program: Program, instance: Instance, lines: tuple[int, int], question: Question) -> None:
        self._program, self._instance, self._lines = program, instance, lines
        self._question = question
        self._began = time.monotonic()
        self._checks = 0
        self._reason: str | None = None

    def answer(self) -> Why:
        every = suspects(self._instance, self._lines)
        tried = every[:MOST_SINGLES]
        shown: list[Without] = []
        outcomes: dict[Suspect, _Found] = {}
        for suspect in tried:
            outcomes[suspect], without = self._without((suspect,))
            if without is not None:
                shown.append(without)
        if shown:
            return self._why("ordered", shown, len(every) - len(tried))
        found: set[_Found] = set(outcomes.values())
        if found == {"robust"}:
            pairs = list(combinations(tried, 2))
            # Without a barrier ranks need not come to where it matters that nothing is waited for.
            stay = tuple(each for each in tried if each.does != "meets")
            groups: list[tuple[Suspect, ...]] = [*pairs[:MOST_PAIRS], stay, tuple(tried)] if pairs else []
            for group in dict.fromkeys(each for each in groups if len(each) > 1):
                outcome, without = self._without(group)
                found.add(outcome)
                if without is not None:
                    return self._why("several", [self._least(without)], 0)
        answer = self._in_conflict()
        if len(every) > len(tried) and self._reason is None:
            self._reason = f"of {len(every)} commands between them {len(tried)} were tried"
            found.add("not known")
        if answer == "not needed" and not found <= {"robust"}:
            answer = "other" if "other" in found else "not known"
        return self._why(answer, [], 0)

    def _least(self, without: Without) -> Without:
        """``without`` with as few suspects as do, none of which could stay."""
        for suspect in reversed(without.suspects):
            fewer = tuple(each for each in without.suspects if each != suspect)
            less = self._without(fewer)[1] if len(fewer) > 1 else None  # each alone has been tried
            without = less or without
        return without

    def _why(self, answer: Answer, without: list[Without], untried: int) -> Why:
        shown = tuple(without)
        return Why(self._lines, answer, self._instance, shown, None, self._checks, untried, self._reason)

    # Checking without some suspects

    def _without(self, group: tuple[Suspect, ...]) -> tuple[_Found, Without | None]:
        """The verdict on the program without ``group``, and a run that shows the accesses out of order."""
        program = self._program
        for suspect in group:
            program = suspect.taken(program)
        less = program.instantiate(self._instance.nodes, self._instance.reading)
        pinned: set[Span] = set()
        for _ in range(MOST_PINNED):
            verdict = self._check(_pinned(program, pinned))
            if verdict is None or verdict.verdict in ("unknown", "error"):
                return "other" if pinned else "not known", None
            if verdict.verdict == "robust" or verdict.witness is None:
                return "other" if pinned else "robust", None
            run = verdict.witness.run if not pinned else _lifted(verdict.witness.run, less)
            if run is None:
                return "other", None
            cycle = HappensBefore.of(run).cycle
            if cycle is None or not run.complete:
                return "other", None
            late = late_operations(run, cycle)
            about = next((each for each in late if self._is_about(run, each)), None)
            if about is not None:
                return "violated", Without(group, run, cycle, about)
            others = {_issue(run, each.issue) for each in late} - pinned
            others = {span for span in others if not self._has(span)}
            if not others:
                return "other", None
            pinned |= others
        return "other", None

    def _check(self, program: Program) -> Verdict | None:
        """The verdict on ``program``; None when there is no time left."""
        limits = self._question.limits
        if limits.timeout is not None:
            left = limits.timeout - (time.monotonic() - self._began)
            if left <= 0:
                self._reason = f"the {limits.timeout:g} s of --timeout were over"
                return None
            limits = replace(limits, timeout=left)
        self._checks += 1
        verdict = check(Session(replace(self._question, program=program, limits=limits)))
        if verdict.verdict in ("unknown", "error") and self._reason is None:
            self._reason = f"without something it is {verdict.verdict}: {verdict.reason}"
        return verdict

    def _has(self, span: Span) -> bool:
        return any(span.line <= line <= span.end_line for line in self._lines)

    def _is_about(self, run: Run, late: Late) -> bool:
        """Whether the operation that is late is in one of the lines, and what comes before it, or by what the cycle
        goes on, in the other."""
        first, second = self._lines
        spans = {each.event.issued: each.span for each in run.events if not each.event.is_step}

        def has(place: int, line: int) -> bool:
            span = spans[run.computation[place].issued]
            return span.line <= line <= span.end_line

        return any(
            has(late.step, mine) and (has(late.ahead, other) or has(late.next, other))
            for mine, other in ((first, second), (second, first))
        )

    # Whether they are in conflict at all

    def _in_conflict(self) -> Answer:
        """Whether accesses of the two lines are in conflict in some SC run; of a robust program that is all of them."""
        made: tuple[set[tuple[int, int, Access]], ...] = (set(), set())
        instance = self._instance
        space = SequentialSpace(instance)
        reached = Reached(space)
        for looked, state in enumerate(reached.expand()):
            most, timeout = self._question.limits.max_sc_states, self._question.limits.timeout
            if most is not None and looked >= most:
                self._reason = f"the search for their cells ended after {looked:,} SC states (--max-sc-states)"
                return "not known"
            if timeout is not None and time.monotonic() - self._began > timeout:
                self._reason = f"the {timeout:g} s of --timeout were over"
                return "not known"
            for rank in range(instance.processes):
                for edge, operands in instance.evaluated(rank, state.control[rank], state.registers[rank]):
                    for line, found in zip(self._lines, made, strict=True):
                        if on_lines(edge, (line,)):
                            found |= {(rank, edge.occurrence, each) for each in core.accesses_of(operands)}
        first, second = made
        pairs = [(a, b) for *mine, a in first for *other, b in second if mine != other]
        if any(conflict(a, b) for a, b in pairs):
            return "not needed"
        return "no conflict" if any(a.cell == b.cell for a, b in pairs) else "no cell"


def _issue(run: Run, place: int) -> Span:
    return run.events[place].span


def _pinned(program: Program, spans: set[Span]) -> Program:
    """``program`` in which the operations at ``spans`` are complete before their rank goes on, each in a queue of its
    own."""
    own = {span: FRESH + number for number, span in enumerate(sorted(spans, key=lambda each: (each.line, each.column)))}

    def change(do: Do) -> tuple[Do, ...]:
        number = own.get(do.span)
        if number is None or not isinstance(do.command, TRANSFERS):
            return (do,)
        moved = replace(do.command, queue=Const(number))
        return (replace(do, command=moved), Do(commands.Wait(Const(number)), do.span))

    return with_commands(program, change) if spans else program


def _lifted(run: Run, instance: Instance) -> Run | None:
    """``run`` of a program in which operations are pinned as a run of ``instance``, where they are not; None when it is
    none, for they do not stay in place by themselves."""
    place_of = {rank: _occurrences(run.instance, rank) for rank in range(instance.processes)}
    issued: dict[int, int] = {}
    operation: dict[tuple[int, int], int] = {}
    lifted = []
    for event in run.computation:
        number = place_of[event.rank].get(event.occurrence)
        if number is None:
            continue
        if not event.is_step:
            operation[event.issued] = issued.get(event.rank, 0)
            issued[event.rank] = operation[event.issued] + 1
        lifted.append(event._replace(occurrence=number, operation=operation[event.issued]))
    try:
        return replay(instance, tuple(lifted))
    except ReplayError:
        return None


def _occurrences(instance: Instance, rank: int) -> dict[int, int]:
    """The occurrences of the process of ``rank`` by what they are without the waits for pinned operations."""
    edges = {edge.occurrence: edge for edge in build(block_of(instance, rank).body).transitions}
    found: dict[int, int] = {}
    # Behind those of the block are those of commands that are read as several.
    last = max((edge.occurrence for edge in instance.automata[rank].transitions), default=-1)
    for occurrence in range(max([last, *edges]) + 1):
        command = edges[occurrence].command if occurrence in edges else None
        match command:
            case commands.Wait(Const(number)) if number >= FRESH:
                continue
        found[occurrence] = len(found)
    return found
