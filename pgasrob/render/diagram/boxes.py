"""Makes the boxes of a diagram with their texts: commands with their source lines, steps, and what each of them did."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pgasrob.diagnostics import visible
from pgasrob.drawing.measure import LINE, PADDING, cut, width_of
from pgasrob.render import words
from pgasrob.render.diagram.folding import Fold, band_in_full, band_text, beside
from pgasrob.render.diagram.model import AXIS, INDENT, Box, Span
from pgasrob.render.diagram.shared_rows import lane_of
from pgasrob.render.run_json import Event, Witness
from pgasrob.render.source_places import label

LONGEST, SHORTEST = 46, 32
"""Characters on one line of a box: with few lanes, and with many."""
MOST_LINES = 6
MOST_LINES_OF_COMMAND = 8
LEAST = 8
"""Characters that a command needs on the line of its place; where there are less it begins below."""
PIECE = re.compile(r"[^\s([,]+[(\[,]*\s*|[(\[,]+\s*|\s+")
"""A part of a command that is not broken where that can be avoided."""


def boxes(
    witness: Witness,
    rows: Iterable[tuple[int, ...]],
    folded: Fold,
    lanes: Mapping[int, int],
    room: int | None = None,
) -> list[Box]:
    """A box for each event that is drawn, in their order, with x from the left side of its lane. ``room``: the
    characters on a line, and commands are wrapped; None: as many as `_room` says, and a command has one line."""
    events = witness["computation"]
    cycle = words.cycle_steps(witness)
    digits = max((len(label(event["line"])) for event in events), default=1)
    lines_of_command = 1 if room is None else MOST_LINES_OF_COMMAND
    room = room or _room(len(lanes))
    issues: dict[tuple[int, int], int] = {}
    row_of = {place: row for row, places in enumerate(rows) for place in places}
    found: list[Box] = []
    for place in sorted(folded.kept):
        event = events[place]
        lane, indent, reach = lane_of(event, lanes), 0.0, None
        if event["event"] in words.STEPS:
            issue = issues[event["rank"], event["operation"]]
            step = words.step_name(place, events)
            lines, full, kind = _step(step, event, issue, room - 4), _full_step(step, event, issue), "step"
            indent = INDENT
        else:
            issues[event["rank"], event["operation"]] = place
            lines, full = _issued(event, digits, room, lines_of_command), _full_issued(event)
            kind = "barrier" if event["event"] == "barrier" else "issued"
            reach = lanes[beside(event)] if beside(event) != event["rank"] else None
        lines = _marked(lines, event, room)
        width, height = _size(lines, kind)
        found.append(
            Box(place, kind, lane, row_of[place], lines, full, place in cycle, indent, 0, width, height, reach)
        )
    return found


def bands(witness: Witness, rows: Iterable[tuple[int, ...]], folded: Fold, room: int | None = None) -> Iterator[Box]:
    """A box for the text of each band, beside the axis of the first lane; it is wrapped where ``room`` is given."""
    events = witness["computation"]
    for row, places in enumerate(rows):
        if places in folded.bands:
            text = band_text(places, events)
            lines = tuple(((line, "effect"),) for line in (_filled([text], room) if room else [text]))
            full = band_in_full(places, events)
            size = _size(lines, "band")
            yield Box(places[0], "band", 0, row, lines, full, False, AXIS + 5, 0, *size, folded=places)


def _room(lanes: int) -> int:
    """Characters on a line of a box: the fewer lanes, the more."""
    return max(SHORTEST, min(LONGEST, 150 // max(lanes, 1)))


def _size(lines: Sequence[Sequence[Span]], kind: str) -> tuple[float, float]:
    width = max(sum(width_of(text) for text, _ in line) for line in lines)
    return width + 2 * PADDING, len(lines) * LINE + (7 if kind == "step" else 9)


def _issued(event: Event, digits: int, room: int, most: int) -> tuple[tuple[Span, ...], ...]:
    """The command with its source line, on at most so many lines, and what it did below, or beside it where that is
    short."""
    line = f"{label(event['line']):>{digits}}  "
    text = visible(event["command"])
    if most > 1 and room - len(line) < LEAST:
        spans = [*((part, "command") for part in _wrapped(text, room, most))]
        spans += ((part, "effect") for part in _filled(_effects(event), room))
        return (((line.strip(), "line"),), *((span,) for span in spans))
    command, *more = [cut(text, room - len(line))] if most == 1 else _wrapped(text, room - len(line), most)
    effects = _filled(_effects(event), room - len(line))
    kind = "fails" if event["holds"] is False else "effect"
    first: tuple[Span, ...] = ((line, "line"), (command, "command"))
    beside = len(effects) == 1 and len(line + command + effects[0]) + 2 <= room and event["event"] != "barrier"
    if beside and not more:
        return ((*first, ("  " + effects[0], kind)),)
    below = [*((text, "command") for text in more), *((text, kind) for text in effects)]
    return (first, *(((" " * len(line), "line"), span) for span in below))


def _step(name: str, event: Event, issue: int, room: int) -> tuple[tuple[Span, ...], ...]:
    """The name of the step, what it did, and of which command it is a step."""
    origin, effects = f"of {issue + 1}", _effects(event)
    together = " ".join(effects)
    if len(f"{name}  {together}  {origin}") <= room:
        return (((name, "step"), (f"  {together}", "effect"), (f"  {origin}", "origin")),)
    return (((name, "step"), (f"  {origin}", "origin")), *(((text, "effect"),) for text in _filled(effects, room)))


def _marked(lines: tuple[tuple[Span, ...], ...], event: Event, room: int) -> tuple[tuple[Span, ...], ...]:
    """``lines`` with the marks of ``event`` in a normal form, as the paper writes them."""
    if not event["marks"]:
        return lines
    mark = f"{{{', '.join(event['marks'])}}}"
    if sum(len(text) for text, _ in lines[-1]) + 2 + len(mark) <= room:
        return (*lines[:-1], (*lines[-1], (f"  {mark}", "mark")))
    start, style = lines[0][0]
    indent = " " * len(start) if style == "line" else ""
    return (*lines, ((indent + mark, "mark"),))


def _effects(event: Event) -> list[str]:
    """The effects of the event, with an arrow for `->` and semicolons between them."""
    effects = [visible(effect).replace(" -> ", " → ") for effect in words.effects(event)]
    return [f"{effect};" for effect in effects[:-1]] + effects[-1:]


def _full_issued(event: Event) -> str:
    where = f"line {event['line']}: " if event["line"] else ""
    return " — ".join([f"{where}{visible(event['command'])}", *filter(None, [" ".join(_effects(event))])])


def _full_step(name: str, event: Event, issue: int) -> str:
    where = f", line {event['line']}" if event["line"] else ""
    command = f"of step {issue + 1}, rank {event['rank']}{where}: {visible(event['command'])}"
    return f"{name} {' '.join(_effects(event))} ({command})"


def _wrapped(command: str, room: int, most: int) -> list[str]:
    """``command`` on at most so many lines of ``room`` characters: broken at spaces and behind brackets and commas, and
    inside a word only where that is too long; its end is cut where it takes more lines."""
    lines, room = [""], max(room, LEAST)
    for piece in PIECE.findall(command):
        if len(lines[-1]) + len(piece.rstrip()) > room and lines[-1]:
            lines.append("")
        lines[-1] += piece
        while len(lines[-1].rstrip()) > room:
            lines[-1:] = [lines[-1][:room], lines[-1][room:]]
    if len(lines) > most:
        lines[most - 1 :] = [cut("".join(lines[most - 1 :]), room)]
    return [line.strip() for line in lines]


def _filled(chunks: Sequence[str], room: int) -> list[str]:
    """``chunks`` on as few lines of ``room`` characters as it takes, broken inside only where one is too long."""
    lines: list[str] = []
    for chunk in chunks:
        if lines and len(lines[-1]) + 1 + len(chunk) <= room:
            lines[-1] += f" {chunk}"
        else:
            # No line is broken within `x@0 = 1` or `0 → 1` where that can be avoided.
            kept = chunk.replace(" = ", "\u00a0=\u00a0").replace(" → ", "\u00a0→\u00a0")
            pieces = textwrap.wrap(kept, max(room, 8), break_on_hyphens=False) or [""]
            lines += [piece.replace("\u00a0", " ").strip() for piece in pieces]
    if len(lines) > MOST_LINES:
        lines[MOST_LINES - 1 :] = [cut(" ".join(lines[MOST_LINES - 1 :]), room)]
    return lines


# --- How the ranks end -----------------------------------------------------------------------------------------------


def ends(witness: Witness, row: int, lane_of: dict[int, int], room: int | None = None) -> Iterator[Box]:
    """Boxes below the last row: the command at which each rank is in a deadlock, or the command that faults."""
    room = room or _room(len(lane_of))
    fault = witness["fault"]
    if fault:
        command = cut(visible(fault["command"]), room - len(label(fault["line"])) - 2)
        first = ((f"{label(fault['line'])}  ", "line"), (command, "command"))
        reason = visible(fault["reason"])
        lines: tuple[tuple[Span, ...], ...] = (first, *(((text, "fails"),) for text in _filled([reason], room)))
        yield _end("fault", lane_of[fault["rank"]], row, lines, f"line {fault['line']}: {fault['command']} — {reason}")
    if words.stands(witness):
        for standing in witness["standing"]:
            if standing["rank"] in lane_of:
                sentence = visible(words.standing(standing, witness["standing"]))
                lines = tuple(((text, "effect"),) for text in _filled([sentence], room))
                yield _end("end", lane_of[standing["rank"]], row, lines, sentence)


def _end(kind: str, lane: int, row: int, lines: tuple[tuple[Span, ...], ...], full: str) -> Box:
    return Box(-1, kind, lane, row, lines, full, False, 0, 0, *_size(lines, kind))
