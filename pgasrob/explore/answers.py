"""What the page shows of a position, and the nearest violation from there: answers to requests, as JSON.

These run in a process of their own (`answering`), which keeps the programs that it has read last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.explore import why_blocked
from pgasrob.explore.asked_run import AskedRun
from pgasrob.explore.nearest import choices, choices_of, nearest
from pgasrob.explore.position import Move, Position, Stop, follow
from pgasrob.explore.request_bounds import MOST_CELLS, MOST_NODES
from pgasrob.program.files import Overlay
from pgasrob.program.statements import place_of
from pgasrob.render import english, words
from pgasrob.render.double_values import value
from pgasrob.render.one_run_json import no_run
from pgasrob.render.one_run_text import ENDS
from pgasrob.render.run_json import Event, Witness, event_to_json, mark_event, witness_to_json
from pgasrob.render.run_svg import to_svg
from pgasrob.render.shared_json import errors_to_json
from pgasrob.render.source_commands import Calls, WrittenCommands
from pgasrob.render.source_places import dumps
from pgasrob.render.verdict_text import initially
from pgasrob.robustness import verdict as library
from pgasrob.robustness.load import load
from pgasrob.semantics.endings import ending_of
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from pgasrob.semantics.state_space import computation_of

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.instance import Instance
    from pgasrob.program.program import Program
    from pgasrob.program.reading import Reading

Answer = tuple[int, str]
"""The status of HTTP, and JSON."""
BOX = 26
"""Characters on a line of a box of the drawing, which stands beside two other columns."""


def position(asked: AskedRun) -> Answer:
    """What can be said of the run of ``asked``; with its diagnostics where the text is no program."""
    try:
        _, instance = _instance(asked)
    except SourceError as error:
        return 422, dumps({"errors": errors_to_json(error.diagnostics, asked.file)})
    here, stop = follow(instance, asked.run, asked.automatic)
    return 200, dumps(_View(here, stop).to_json())


def violation(asked: AskedRun) -> Answer:
    """The choices from the run of ``asked`` to the nearest violation, or what is known of there being none."""
    try:
        program, instance = _instance(asked)
    except SourceError as error:
        return 422, dumps({"errors": errors_to_json(error.diagnostics, asked.file)})
    here, _ = follow(instance, asked.run, asked.automatic)
    found = nearest(program, here)
    states = english.count(found.states, "state")
    if found.way is not None:
        number = len(found.way)
        sentence = f"{english.count(number, 'more step')} to a violation, the fewest there are." if number else (
            "This run is a violation already."
        )  # fmt: skip
        return 200, dumps({"found": True, "choices": choices(here, found.way), "sentence": sentence})
    if found.robust:
        sentence = "None, proved: the program is robust, so no run of it is a violation."
    elif found.proved:
        sentence = f"None, proved: all continuations of this run were looked at ({states})."
    else:
        sentence = f"None within the limit: {states} were looked at from here, and there are more."
    elsewhere = None
    if found.elsewhere is not None:
        elsewhere = choices_of(instance, found.elsewhere)
        sentence += " From the start there is one."
    return 200, dumps({"found": False, "proved": found.proved, "sentence": sentence, "elsewhere": elsewhere})


@dataclass(frozen=True, eq=False)
class _Kept:
    """A program that is known by what it was read from."""

    program: Program | CProgram


@lru_cache(maxsize=8)
def _read(file: str, text: str, front_end: FrontEnd) -> _Kept:
    return _Kept(load(file, front_end, Overlay({file: text})))


@lru_cache(maxsize=8)
def _instantiated(kept: _Kept, nodes: int | None, reading: Reading) -> Instance:
    return kept.program.instantiate(nodes, reading)


def _instance(asked: AskedRun) -> tuple[Program | CProgram, Instance]:
    """The program of ``asked``, and its instance. Raises :class:`SourceError`."""
    kept = _read(asked.file, asked.text, asked.front_end)
    instance = _instantiated(kept, asked.nodes, asked.reading)
    if instance.nodes > MOST_NODES:
        message, hint = f"{instance.nodes} nodes are too many to look at", f"take at most {MOST_NODES}"
        raise SourceError([Diagnostic("PG031", message, asked.file, hint=hint)])
    return kept.program, instance


STEPS_OF_C = {"popa": "reads", "popd": "reads", "popb": "arrives:", "popc": "result arrives:"}


class _View:
    """All that is shown of a position."""

    def __init__(self, here: Position, stop: Stop | None) -> None:
        self.here, self.stop, self.instance = here, stop, here.instance
        self.texts = WrittenCommands(self.instance)
        self.calls = None if self.instance.program.source.shows_commands else Calls(self.instance, self.texts)
        computation = here.computation
        self.cycle = HappensBefore(computation).cycle
        witness = witness_to_json(library.Witness("run", replay(self.instance, computation), self.cycle))
        assert witness is not None
        self.witness: Witness = witness
        self.events = witness["computation"]
        self.issues = {
            (event["rank"], event["operation"]): event for event in self.events if event["event"] not in words.STEPS
        }
        self.moves = here.moves()

    def to_json(self) -> dict[str, Any]:
        cycle = words.from_conflict(self.witness["cycle"] or [], self.events)
        late = self.witness.get("late") or []
        return {
            "nodes": self.instance.nodes,
            "run": [choice for choice, _ in self.here.made],
            "steps": list(self._steps()),
            "stop": None if self.stop is None else self.stop._asdict(),
            "ranks": [self._rank(rank) for rank in range(self.instance.nodes)],
            "memory": list(self._memory()),
            "drawing": self._drawing(),
            "violating": bool(cycle),
            "late": late[0]["sentences"] if late else "",
            "cycle": [*words.cycle(cycle, self.events), words.contradiction(cycle)] if cycle else [],
            "ending": self._ending(),
            "failed": [
                f"The assertion of rank {event['rank']} in line {event['line']} fails (step {place + 1})."
                for place, event in enumerate(self.events)
                if event["holds"] is False
            ],
            "initially": initially(self.witness),
        }

    def _steps(self) -> Iterator[dict[str, Any]]:
        """What each choice has done: its first event stands for the others of a barrier."""
        first = 0
        for choice, behind in self.here.made:
            events = range(first, behind)
            first = behind
            own = next((place for place in events if self._named(place) == choice.partition("/")[0]), events[0])
            event = self.events[own]
            yield {
                "choice": choice,
                "rank": event["rank"],
                "line": self._line(event["line"]),
                "number": own + 1,
                "what": english.capital(words.phrase(own, self.events)),
                "effects": _effects(event),
                "step": event["event"] in words.STEPS,
            }

    def _named(self, place: int) -> str:
        event = self.events[place]
        return f"{'s' * (event['event'] in words.STEPS)}{event['rank']}.{event['operation']}"

    def _line(self, line: int) -> int | None:
        """``line`` where it is in the text that the page has."""
        file, number = place_of(line)
        return None if file else number or None

    # --- A rank -----------------------------------------------------------------------------------------------------

    def _rank(self, rank: int) -> dict[str, Any]:
        moves = [move for move in self.moves if any(letter.rank == rank for letter in move.word)]
        issues = [move for move in moves if not move.step]
        leaving = self.instance.automata[rank].out[self.here.state.control[rank]]
        blocked = []
        for transition in leaving:
            why = why_blocked.why_not_issued(self.here, rank, transition, self._operation_name)
            if why is None or (issues and transition.command.kind == "assume"):
                continue
            blocked.append(
                {
                    "line": self._line(transition.span.line),
                    "command": self.texts.text(rank, transition.occurrence),
                    "why": why,
                }
            )
        values = self.here.state.registers[rank]
        program = self.instance.program
        return {
            "rank": rank,
            "ended": not leaving,
            "lines": sorted({line for each in leaving if (line := self._line(each.span.line))}),
            "moves": [self._move(move, rank) for move in issues],
            "blocked": blocked,
            "pending": [self._operation(rank, operation) for operation in self.here.pending[rank]],
            "registers": [
                {"name": called, "value": str(value(name, number, program.doubles))}
                for name, number in zip(program.registers, values, strict=True)
                if (called := program.variables.get(name, name)) is not None
            ],
        }

    def _move(self, move: Move, rank: int) -> dict[str, Any]:
        """A move as ``rank`` takes part in it."""
        place = next(place for place, letter in enumerate(move.word) if letter.rank == rank)
        event = self._event(move, place)
        return {
            "choice": move.name,
            "line": self._line(event["line"]),
            "command": event["command"],
            "effects": _effects(event) if event["event"] != "barrier" else [f"with {self._others(move, rank)}"],
            "local": move.local,
        }

    @staticmethod
    def _others(move: Move, rank: int) -> str:
        others = [letter.rank for letter in move.word if letter.rank != rank]
        return english.ranks(others) if others else "no other rank"

    def _event(self, move: Move, place: int = 0) -> Event:
        """The event that ``move`` would be, at ``place`` of its word."""
        made = computation_of([*self.here.words, move.word])
        run = replay(self.instance, made)
        replayed = run.events[self.here.events + place]
        rank, occurrence = replayed.event.rank, replayed.event.occurrence
        event = event_to_json(self.instance, replayed, self.texts.text(rank, occurrence))
        mark_event(event, self.instance.program.doubles)
        if self.calls is not None:
            event["call"] = self.calls.at(rank, occurrence)
            if event["event"] == "assume" and replayed.span.holds is not None:
                event["truth"] = replayed.span.holds
        return event

    # --- Operations on their way --------------------------------------------------------------------------------------

    def _operation_name(self, rank: int, operation: int) -> str:
        event = self.issues[rank, operation]
        return f"the {words.name(event)} of line {event['line']}" if event["line"] else f"the {words.name(event)}"

    def _operation(self, rank: int, operation: int) -> dict[str, Any]:
        event, left = self.issues[rank, operation], self.here.operation(rank, operation)
        name = f"s{rank}.{operation}"
        move = next((move for move in self.moves if move.name == name), None)
        step = left.left[0]
        if move is None:
            next_step = {
                "choice": None,
                "why": why_blocked.why_not_yet(self.here, rank, operation, self._operation_name),
            }
            effects = [self.instance.cell_name(step.access.cell)]
        else:
            next_step = {"choice": name, "why": None}
            effects = _effects(self._event(move))
        return {
            "number": next(place + 1 for place, each in enumerate(self.events) if each is event),
            "line": self._line(event["line"]),
            "command": event["command"],
            "queue": event["queue"] and event["queue"]["name"],
            "target": event["target"],
            "step": step.kind if self.calls is None else STEPS_OF_C[step.kind],
            "effects": effects,
            "later": len(left.left) - 1,
            **next_step,
        }

    # --- Values, ending, drawing --------------------------------------------------------------------------------------

    def _memory(self) -> Iterator[dict[str, Any]]:
        """The cells of all ranks by their names, with those that the last event has written."""
        size, nodes = self.instance.size, self.instance.nodes
        written = {event["written"]["cell"] for event in self.events[-1:] if event["written"]}
        coming = {
            step.access.cell
            for rank in range(nodes)
            for operation in self.here.pending[rank]
            for step in self.here.operation(rank, operation).left
            if step.access.writes
        }
        for index in range(min(size, MOST_CELLS // nodes)):
            memory = self.instance.program.object_at(index)
            if memory is not None and memory.made_up and memory.name.isidentifier():
                continue
            name = self.instance.program.cell_name(index)
            cells = [rank * size + index for rank in range(nodes)]
            yield {
                "name": name,
                "values": [
                    {
                        "value": str(value(name, self.here.state.memory[cell], self.instance.program.doubles)),
                        "written": self.instance.cell_name(cell) in written,
                        "coming": cell in coming,
                    }
                    for cell in cells
                ],
            }

    def _ending(self) -> dict[str, str] | None:
        """How the run ends, where nothing can happen any more."""
        state = self.here.state
        if self.moves or any(self.here.pending):
            return None
        sentence, style = ENDS[ending_of(self.instance, state.control, state.registers, state.memory)]
        return {"sentence": sentence, "style": style}

    def _drawing(self) -> str:
        """The happens-before graph of the run so far; "" before the first event."""
        if not self.events:
            return ""
        result: Any = no_run(self.instance.program.source.file, [])
        result |= {"nodes": self.instance.nodes, "witness": {**self.witness, "standing": []}}
        return to_svg(result, embedded=True, captions=False, room=BOX)


def _effects(event: Event) -> list[str]:
    return [effect.replace(" -> ", " → ") for effect in words.effects(event)]
