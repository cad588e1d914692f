"""Robustness without failed polls from the other end: every read is an event, and failed iterations are taken out.

`Machine` with "wait" never makes a failed read. Here each run is one of "count", and its happens-before is judged
after what came of failed reads has been taken out of it: whole iterations, what has begun of one at the end of a run,
and looks at a cell that is then waited for. Both must find the same programs robust.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .happens_before import is_violating
from .polling import Configuration, Polls
from .readings import Reading
from .semantics import Event, Machine, Run
from .syntax import Program, numbered

QUIET = frozenset({"load", "fetch", "assign", "assume", "wait", "wait_local", "fence"})
READS = frozenset({"load", "fetch"})


@dataclass(frozen=True, slots=True)
class Trail:
    """What a rank has done since its last command that is not quiet, without what has been taken out."""

    configurations: tuple[Configuration, ...]  # one more than there are commands
    commands: tuple[int, ...]  # their numbers of operation
    registers: tuple[str | None, ...]  # and what they set
    poll: int | None = None  # where a failed read began that the rank is bound to come back from
    look: int | None = None  # where a look began that is to be repeated by a wait


@dataclass(frozen=True, slots=True)
class Kept:
    run: Run
    trails: tuple[Trail, ...]
    removed: frozenset[tuple[int, int]] = frozenset()  # (rank, operation)

    def history(self) -> list[Event]:
        """The events that count."""
        begun = {
            (rank, number)
            for rank, trail in enumerate(self.trails)
            for start in (trail.poll, trail.look)
            if start is not None
            for number in trail.commands[start:]
        }
        return [event for event in self.run.history if (event.rank, event.operation) not in self.removed | begun]


def is_robust(program: Program, nodes: int | None = None, most: int = 20_000, steps: int = 30) -> bool | None:
    """Whether no run, with its failed reads taken out, is violating; None: `most` runs, or `steps` events, do not
    tell."""
    machine = Machine(numbered(program), nodes, Reading("count", "commuting", "value"))
    judge = Machine(numbered(program), nodes, Reading("wait", "commuting", "value"))
    assert judge.polls is not None
    start = judge.initial()
    trails = tuple(Trail((configuration,), (), ()) for (configuration,) in start.been)
    unread, seen, complete = [Kept(machine.initial(), trails)], 0, True
    while unread:
        kept = unread.pop()
        seen += 1
        if seen > most:
            return None
        if is_violating(kept.history()):
            return False
        if len(kept.run.history) >= steps:
            complete = False
            continue
        unread += [replace(kept, run=after) for after in machine.steps(kept.run)]
        unread += _issued(machine, judge.polls, kept)
    return True if complete and not judge.polls.cut else None


def _issued(machine: Machine, polls: Polls, kept: Kept) -> Iterator[Kept]:
    for after in machine.issues(kept.run):
        events = after.history[len(kept.run.history) :]
        trails, removed = list(kept.trails), set(kept.removed)
        for event in events:
            trails[event.rank] = _continued(machine, polls, kept.run, after, event, removed)(trails[event.rank])
        yield Kept(after, tuple(trails), frozenset(removed))


def _continued(machine: Machine, polls: Polls, run: Run, after: Run, event: Event, removed: set[tuple[int, int]]):
    rank, number = event.rank, event.operation
    control = after.control[rank]
    now = polls.configuration(rank, control, after.registers[rank])
    command, *_ = (
        edge.command for edge in machine.edges(run, rank) if edge.command.line == event.line and edge.target == control
    )

    def may_come_back(trail: Trail, end: int) -> list[int]:
        """The places before `end` with a configuration of which no live register has been set until then."""
        return [
            place
            for place, (state, _) in enumerate(trail.configurations[: end + 1])
            if not polls.live[rank][state] & set(trail.registers[place:end])
        ]

    def read_fails(trail: Trail) -> tuple[bool, bool]:
        """Whether it is a failed read, and whether one that only looks."""
        if event.kind not in READS:
            return False, False
        assert event.place is not None
        value = run.memory[event.place[0]][event.place[1]]
        been = frozenset(trail.configurations[place] for place in may_come_back(trail, len(trail.commands)))
        fails = polls.fails(rank, been, trail.configurations[-1], command, control, event.place, value)
        return fails, fails and not polls.comes_back(rank, been, command, now)

    def take_out(trail: Trail, start: int) -> Trail:
        removed.update((rank, each) for each in trail.commands[start:])
        return Trail(
            trail.configurations[: start + 1],
            trail.commands[:start],
            trail.registers[:start],
            None if trail.poll is None or trail.poll >= start else trail.poll,
            None if trail.look is None or trail.look >= start else trail.look,
        )

    def continued(trail: Trail) -> Trail:
        fails, looks = read_fails(trail) if trail.poll is None else (False, False)
        ends_look = trail.look is not None and trail.poll is None and not fails
        if ends_look and event.kind in (*READS, "await"):
            trail = take_out(trail, trail.look)
        if event.kind not in QUIET:
            return Trail((now,), (), ())
        here = len(trail.commands)
        trail = replace(
            trail,
            configurations=(*trail.configurations, now),
            commands=(*trail.commands, number),
            registers=(*trail.registers, getattr(command, "register", None)),
        )
        if looks:
            return replace(trail, look=here if trail.look is None else trail.look)
        if fails:
            trail = replace(trail, poll=here)
        if trail.poll is not None:
            back = may_come_back(trail, trail.poll + 1)
            places = [place for place in back if place <= trail.poll and trail.configurations[place] == now]
            if places:
                trail = take_out(trail, places[-1])
        return trail

    return continued
