"""Where a run stands, as a JSON object for the page: the steps so far, what each rank may do next, memory, drawing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pgasrob.explore import why_blocked
from pgasrob.explore.position import Move, Position, Stop
from pgasrob.explore.request_bounds import MOST_CELLS
from pgasrob.program.control import Transition
from pgasrob.program.statements import place_of
from pgasrob.render import english, words
from pgasrob.render.count_note_json import sentence as count_note_sentence
from pgasrob.render.double_values import value
from pgasrob.render.one_run_json import no_run
from pgasrob.render.one_run_text import ENDS
from pgasrob.render.process_numbers import numbered
from pgasrob.render.run_json import Event, Witness, event_to_json, mark_event, witness_to_json
from pgasrob.render.run_svg import to_svg
from pgasrob.render.source_commands import Calls, WrittenCommands
from pgasrob.render.verdict_text import initially
from pgasrob.robustness import verdict as library
from pgasrob.semantics.endings import ending_of
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from pgasrob.semantics.state_space import computation_of

BOX = 24
"""Characters on a line of a box of the drawing, which stands beside two other columns."""
STEPS_OF_C = {"popa": "reads", "popd": "reads", "popb": "arrives:", "popc": "result arrives:"}
"""What the next step of an operation is called, for people who have written C."""


def position_to_json(here: Position, stop: Stop | None) -> dict[str, Any]:
    """All that the page shows of the run ``here``, which went no further because of ``stop``."""
    return _Page(here, stop).to_json()


class _Page:
    """A position with what several parts of its object are made of: the run as a witness, the moves."""

    def __init__(self, here: Position, stop: Stop | None) -> None:
        self.here, self.stop, self.instance = here, stop, here.instance
        self.commands = WrittenCommands(self.instance)
        self.calls = None if self.instance.program.source.shows_commands else Calls(self.instance, self.commands)
        computation = here.computation
        run = replay(self.instance, computation)
        witness = witness_to_json(library.Witness("run", run, HappensBefore.of(run).cycle))
        assert witness is not None, "there is a run"
        self.witness: Witness = witness
        self.events = witness["computation"]
        self.issues = {
            (event["rank"], event["operation"]): number
            for number, event in enumerate(self.events)
            if event["event"] not in words.STEPS
        }
        """The place in the run of the event by which a rank has issued an operation."""
        self.moves = here.moves()

    def to_json(self) -> dict[str, Any]:
        cycle = words.from_conflict(self.witness["cycle"] or [], self.events)
        late = self.witness.get("late") or []
        note = self.instance.program.count_note
        return {
            "nodes": self.instance.nodes,
            "count_note": "" if note is None else count_note_sentence(note),
            "run": [choice for choice, _ in self.here.made],
            "steps": list(self._steps()),
            "stop": None if self.stop is None else self.stop._asdict(),
            "ranks": [self._rank(rank) for rank in range(self.instance.processes)],
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
        """What each choice has done, and the numbers of its first and its last event, with the local ones before it. Of
        the events of a barrier that of the rank which the choice names is shown."""
        first = 0
        for choice, behind in self.here.made:
            names: dict[str, int] = {}
            for place in range(first, behind):
                event = self.events[place]
                names.setdefault(
                    f"{'s' * (event['event'] in words.STEPS)}{event['rank']:d}.{event['operation']}", place
                )
            own = names.get(choice.partition("/")[0], first)
            event = self.events[own]
            yield {
                "choice": choice,
                "rank": event["rank"],
                "name": str(event["rank"]),
                "line": self._line(event["line"]),
                "first": first + 1,
                "last": behind,
                "what": english.capital(words.phrase(own, self.events)),
                "effects": _effects(event),
                "step": event["event"] in words.STEPS,
            }
            first = behind

    def _line(self, line: int) -> int | None:
        """``line`` if it is in the text that the page has, not in a header or another unit."""
        file, number = place_of(line)
        return None if file else number or None

    # --- A rank -----------------------------------------------------------------------------------------------------

    def _rank(self, rank: int) -> dict[str, Any]:
        moves = [move for move in self.moves if any(letter.rank == rank for letter in move.word)]
        issues = [move for move in moves if not move.step]
        leaving = self.instance.automata[rank].out[self.here.state.control[rank]]
        values = self.here.state.registers[rank]
        program = self.instance.program
        return {
            "rank": rank,
            "name": self.instance.process_name(rank),
            "ended": not leaving,
            "lines": sorted({line for each in leaving if (line := self._line(each.span.line))}),
            "moves": [self._move(move, rank) for move in issues],
            "blocked": list(self._blocked(rank, leaving, may_go_on=bool(issues))),
            "pending": [self._operation(rank, operation) for operation in self.here.pending[rank]],
            "registers": [
                {"name": called, "value": str(value(name, number, program.doubles))}
                for name, number in zip(program.registers, values, strict=True)
                if (called := program.variables.get(name, name)) is not None
            ],
        }

    def _blocked(self, rank: int, leaving: tuple[Transition, ...], may_go_on: bool) -> Iterator[dict[str, Any]]:
        """The next commands of ``rank`` that cannot be issued; not the other branch where it ``may_go_on`` by one."""
        for transition in leaving:
            why = why_blocked.why_not_issued(self.here, rank, transition, self._operation_name)
            if why is not None and not (may_go_on and transition.command.kind == "assume"):
                command = self.commands.text(rank, transition.occurrence)
                yield {"line": self._line(transition.span.line), "command": command, "why": why}

    def _move(self, move: Move, rank: int) -> dict[str, Any]:
        """A move as ``rank`` takes part in it."""
        place = next(place for place, letter in enumerate(move.word) if letter.rank == rank)
        event = self._event(move, place)
        effects = _effects(event)
        if event["event"] == "barrier":
            others = [numbered(self.instance, letter.rank) for letter in move.word if letter.rank != rank]
            effects = [f"with {english.ranks(others) if others else 'no other rank'}"]
        return {
            "choice": move.name,
            "line": self._line(event["line"]),
            "command": event["command"],
            "effects": effects,
            "local": move.local,
        }

    def _event(self, move: Move, place: int = 0) -> Event:
        """The event that ``move`` would be, at ``place`` of its word."""
        run = replay(self.instance, computation_of([*self.here.words, move.word]))
        replayed = run.events[self.here.events + place]
        rank, occurrence = replayed.event.rank, replayed.event.occurrence
        event = event_to_json(self.instance, replayed, self.commands.text(rank, occurrence))
        mark_event(event, self.instance.program.doubles)
        if self.calls is not None:
            event["call"] = self.calls.at(rank, occurrence)
            if event["event"] == "assume" and replayed.span.holds is not None:
                event["truth"] = replayed.span.holds
        return event

    # --- Operations on their way --------------------------------------------------------------------------------------

    def _operation_name(self, rank: int, operation: int) -> str:
        event = self.events[self.issues[rank, operation]]
        return f"the {words.name(event)} of line {event['line']}" if event["line"] else f"the {words.name(event)}"

    def _operation(self, rank: int, operation: int) -> dict[str, Any]:
        issued, left = self.issues[rank, operation], self.here.operation(rank, operation)
        event = self.events[issued]
        name = f"s{rank}.{operation}"
        move = next((move for move in self.moves if move.name == name), None)
        step = left.left[0]
        if move is None:
            choice, why = None, why_blocked.why_not_yet(self.here, rank, operation, self._operation_name)
            effects = [self.instance.cell_name(step.access.cell)]
        else:
            choice, why, effects = name, None, _effects(self._event(move))
        return {
            "number": issued + 1,
            "line": self._line(event["line"]),
            "command": event["command"],
            "queue": event["queue"]["name"] if event["queue"] and self.calls is None else None,
            "target": event["target"],
            "step": step.kind if self.calls is None else STEPS_OF_C[step.kind],
            "effects": effects,
            "later": len(left.left) - 1,
            "choice": choice,
            "why": why,
        }

    # --- Values, ending, drawing --------------------------------------------------------------------------------------

    def _memory(self) -> Iterator[dict[str, Any]]:
        """The cells of all ranks by their names, with those that the last event has written."""
        size, nodes = self.instance.size, self.instance.nodes
        written = {event["written"]["cell"] for event in self.events[-1:] if event["written"]}
        coming = {
            step.access.cell
            for rank in range(self.instance.processes)
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
        """How the run ends, if nothing can happen any more."""
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
