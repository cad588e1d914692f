"""The cause of a violation in two sentences, in the words of the program: calls, variables, ranks, lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import assert_never

from pgasrob.program import core
from pgasrob.program.commands import ATOMICS, Store
from pgasrob.program.instance import Instance
from pgasrob.render import english
from pgasrob.render.process_numbers import home_of, numbered
from pgasrob.render.source_commands import Calls, WrittenCommands, pieces
from pgasrob.robustness.late_operations import Late, issued_operands
from pgasrob.semantics.computation import Event
from pgasrob.semantics.happens_before import Edge
from pgasrob.semantics.replay import Run

FREEING = frozenset(("free", "cfree", "realloc", "reallocarray"))
LONGEST = 255
"""Characters of a diagnosis, so that there is room for what it is the reason of (`finding_sentences.LONGEST`)."""
LEAVING = re.compile(r"(return|break|continue|goto)\b")
"""What ends the life of memory: calls, and statements that leave a block."""


class Diagnosis:
    """Describes the late operations of ``run``. ``line`` maps a line of its source to the line to name; without it
    lines are named as they are. ``written``: the program whose commands are named, where that of the run has some other
    ones in their places."""

    def __init__(self, run: Run, line: Callable[[int], int] | None = None, written: Instance | None = None) -> None:
        self._named_line = line or (lambda line: line)
        self._run, self._instance, self._operands = run, run.instance, issued_operands(run)
        self._events = tuple(replace(each, event=self._named(each.event)) for each in run.events)
        self._texts = WrittenCommands(written or run.instance)
        self._calls = Calls(run.instance, self._texts)

    def _named(self, event: Event) -> Event:
        return event._replace(rank=numbered(self._instance, event.rank))

    def sentences(self, late: Late) -> str:
        """Which access is ahead of which operation, and what would have kept it from that.

        In a long text the way from the operation to the access is left out first, which the cycle shows, and then what
        is of no use to it.
        """
        text = ""
        for linked, useless in ((True, True), (False, True), (False, False)):
            lacking = english.capital(self._lacking(late, useless))
            text = f"{english.capital(self._overtaking(late, linked))}. {lacking}."
            if len(text) <= LONGEST:
                break
        return text

    def overtaking(self, late: Late) -> str:
        """The sentence that says which access happens before which operation: ``rank 0 reads x in line 4 before its get
        has arrived there``."""
        return self._overtaking(late, True)

    def _overtaking(self, late: Late, linked: bool) -> str:
        links = [self._link(edge) for edge in late.link] if linked else []
        although = f", although {' and '.join(links)}" if links else ""
        return f"{self._access(late.ahead)} before {self._arrival(late)}{although}"

    def _lacking(self, late: Late, useless: bool) -> str:
        """Which wait, fence or queue is missing between the late operation and the access that came first, as a clause;
        with the commands in between that are ``useless`` to it."""
        operation, line = f"the {self._name(late.step)}{self._which(late)}", self._line(late.next)
        if late.within is not None:
            name, where = self._name(late.within), self._line(late.within)
            before = f" before line {line}" * (where != line)
            return f"nothing{before} waits until the {'earlier ' * (where == line)}{name} in line {where} is complete"
        if self._events[late.next].event.issued == self._events[late.step].event.issued:
            return (
                f"{operation} is not done at once, and nothing keeps {self._actor(late.ahead)} from coming in between"
            )
        kind = self._events[late.step].event.kind
        match late.missing:
            case "order":
                same = self._line(late.step) == line and self._name(late.step) == self._name(late.next)
                if same and self._is_one_call(late.step, late.next):
                    return f"nothing orders the elements that {operation} transfers"
                lacking = (
                    f"nothing orders {operation} before the {'next ' * same}{self._name(late.next)} in line {line}"
                )
            case "local completion":
                done = "read its source" if kind in ("popa", "popd") else "brought its value"
                lacking = f"nothing {self._upto(late)} waits until {operation} has {done}"
            case "completion":
                there = " at its target" if kind == "popb" else ""
                lacking = f"nothing {self._upto(late)} waits until {operation} is complete{there}"
            case _:
                assert_never(late.missing)
        between = list(dict.fromkeys(f"{self._name(place)} in line {self._line(place)}" for place in late.between))
        if not between or not useless:
            return lacking
        return f"{lacking} ({' and '.join(between)} {'does' if len(between) == 1 else 'do'} not)"

    def _is_one_call(self, *places: int) -> bool:
        """Whether the commands of the events at ``places`` are of one call in C."""
        made = list(pieces(self._run))
        return self._calls.called(self._issued(places[0])) is not None and len({made[each] for each in places}) == 1

    def _which(self, late: Late) -> str:
        """What distinguishes the late operation from others of its name in the sentence; "" where there are none."""
        named = {late.ahead, late.next, *(place for edge in late.link for place in (edge.source, edge.target))}
        name, line, rank = self._name(late.step), self._line(late.step), self._events[late.step].event.rank
        others = {(self._line(place), self._events[place].event.rank) for place in named if self._name(place) == name}
        others.discard((line, rank))
        if not others:
            return ""
        return f" of rank {rank}" if {each for each, _ in others} == {line} else f" in line {line}"

    def _upto(self, late: Late) -> str:
        """Up to where nothing waits, including the line itself where its command is said to be of no use."""
        line = self._line(late.next)
        return f"up to line {line}" if line in map(self._line, late.between) else f"before line {line}"

    def _link(self, edge: Edge) -> str:
        """How the cycle goes on between two commands, which are of two ranks as a rule."""
        source, target = edge.source, edge.target
        if edge.relation == "id":
            lines = sorted({self._line(source), self._line(target)})
            return f"both have passed the {self._name(source)} in {english.lines(lines)}"
        if self._calls.is_of_library(self._events[source].event.cell):
            return f"{self._actor(target)} comes after {self._actor(source)}"
        first, second = self._events[source], self._events[target]
        if first.cell_change is None:
            return f"{self._access(source)} before {self._actor(target)} changes it"
        done = "has seen" if second.read is not None else "has overwritten"
        return f"{self._actor(target)} {done} the value that {self._actor(source)} wrote to {self._cell(source, None)}"

    def _access(self, place: int) -> str:
        """``rank 1 reads x in line 4``, ``the get of rank 1 in line 4 reads x of rank 0``."""
        event = self._events[place].event
        if self._ends_a_life(event):
            return self._end_of_life(place)
        match event.kind:
            case "popb" | "popc":
                verb = "updates" if self._updates(place) else "writes"
            case "store":
                verb = "overwrites"
            case "await":
                verb = "sees"
            case kind if kind in ATOMICS and kind != "fetch":
                verb = "updates"
            case _:
                verb = "reads"
        name, rank = self._caller(place), event.rank
        if name is None:
            return f"rank {rank} {verb} {self._cell(place, rank)} in line {self._line(place)}"
        return f"the {name} of rank {rank} in line {self._line(place)} {verb} {self._cell(place, rank)}"

    def _ends_a_life(self, event: Event) -> bool:
        command = self._texts.command(event.rank, event.occurrence)
        return isinstance(command, Store) and command.ends

    def _end_of_life(self, place: int) -> str:
        """``rank 0 frees *p in line 4``, ``rank 0's t goes out of scope at the end of the block in line 7``."""
        event, line, call = self._events[place].event, self._line(place), self._call(place)
        cell = self._cell(place, event.rank)
        if call in FREEING:
            return f"rank {event.rank} frees {cell} in line {line}"
        leaves = LEAVING.match(self._texts.text(event.rank, event.occurrence))
        where = f"with the {leaves[0]}" if leaves else "at the end of the block"
        return f"rank {event.rank}'s {cell} goes out of scope {where} in line {line}"

    def _actor(self, place: int) -> str:
        """``rank 1 in line 4``, ``the get of rank 1 in line 4``."""
        name, rank = self._caller(place), self._events[place].event.rank
        who = f"rank {rank}" if name is None else f"the {name} of rank {rank}"
        return f"{who} in line {self._line(place)}"

    def _arrival(self, late: Late) -> str:
        """The end of "before ...": the late operation and the step of it that had not happened yet."""
        event = self._events[late.step].event
        name, line = self._name(late.step), self._line(late.step)
        ahead = self._events[late.ahead].event
        earlier = "earlier " * (ahead.rank == event.rank and line == self._line(late.ahead))
        if ahead.rank == event.rank and self._caller(late.ahead) is None:
            operation = f"its {earlier}{name} in line {line}"
        else:
            operation = f"the {earlier}{name} of rank {event.rank} in line {line}"
        if event.kind in ("popa", "popd"):
            return f"{operation} has read it"
        if event.kind == "popc":
            return f"the result of {operation} has arrived there"
        return f"{operation} has {'updated it' if self._updates(late.step) else 'arrived there'}"

    # One event

    @cached_property
    def _issues(self) -> dict[tuple[int, int], int]:
        return {each.event.issued: place for place, each in enumerate(self._events) if not each.event.is_step}

    def _updates(self, place: int) -> bool:
        """Whether the operation that the event is a step of changes what it finds at its target."""
        operands = self._operands[self._events[place].event.issued]
        assert isinstance(operands, core.Transfer)
        at_target = self._events[place].event.kind == "popb"
        return at_target and operands.update is not None and operands.update.operation != "set"

    def _kind(self, place: int) -> str:
        """The kind of the command that the event is of."""
        issued = self._issued(place)
        return self._texts.command(issued.rank, issued.occurrence).kind

    def _issued(self, place: int) -> Event:
        return self._events[self._issues[self._events[place].event.issued]].event

    def _line(self, place: int) -> int:
        return self._named_line(self._events[self._issues[self._events[place].event.issued]].span.line)

    def operation(self, late: Late) -> str:
        """The operation that is late: ``the shmem_int_put in line 4``."""
        return f"the {self._name(late.step)} in line {self._line(late.step)}"

    def following(self, late: Late) -> str:
        """The command of its rank by which the cycle goes on: ``the shmem_int_p in line 5``."""
        return f"the {self._name(late.next)} in line {self._line(late.next)}"

    def _name(self, place: int) -> str:
        """The command that the event is of: the call in C, else its kind."""
        return self._call(place) or self._kind(place)

    def _call(self, place: int) -> str | None:
        if self._instance.program.source.shows_commands:
            return None
        return self._calls.called(self._issued(place))

    def _caller(self, place: int) -> str | None:
        """The command that does it; None where the rank itself does."""
        if self._instance.program.source.shows_commands:
            kind = self._kind(place)
            return kind if self._events[place].event.is_step or kind in ATOMICS else None
        return self._calls.of(self._issued(place))

    def _cell(self, place: int, rank: int | None) -> str:
        """The cell by its name, as ``rank`` sees it, whose own is nobody else's; None: without a rank."""
        cell = self._events[place].event.cell
        assert cell is not None
        name, owner = self._instance.program.cell_name(self._instance.index(cell)), self._instance.owner(cell)
        return name if rank is None or home_of(rank) == owner else f"{name} of rank {owner}"
