"""That a program is not meant for a number of nodes, or was put on another one therefore: as an object of JSON, and in
a sentence."""

from __future__ import annotations

from typing import TypedDict, assert_never

from pgasrob.diagnostics import visible
from pgasrob.program.count_note import CountNote as Found
from pgasrob.program.count_note import WhyNot
from pgasrob.program.statements import place_of
from pgasrob.render.english import capital, on_nodes


class CountNote(TypedDict):
    """``why`` the program is not meant for ``nodes`` nodes (`program/count_note.py`): ``text`` at that place says so.

    Line 0: no place. ``rank``: the one that is not there, or leaves alone. ``further``: the least number of nodes, up
    to 8, that is not so. ``chosen``: the program was put on that number, since none was given. ``nothing``: nothing was
    checked, since no rank comes to a call by which it communicates. ``sentence`` says it.
    """

    nodes: int
    why: WhyNot
    line: int
    column: int
    end_column: int
    text: str
    rank: int | None
    further: int | None
    chosen: bool
    nothing: bool
    sentence: str


def count_note_to_json(note: Found) -> CountNote:
    """``note`` as an object that `json.dumps` can write."""
    one_line = note.span.end_line == note.span.line
    return {
        "nodes": note.nodes,
        "why": note.why,
        "line": note.span.line,
        "column": note.span.column,
        "end_column": note.span.end_column if one_line else note.span.column,
        "text": note.text,
        "rank": note.rank,
        "further": note.further,
        "chosen": note.chosen,
        "nothing": note.nothing,
        "sentence": sentence(note),
    }


def sentence(note: Found) -> str:
    """What is wrong with the number of nodes, and what to do, or what has been done."""
    found = capital(_what(note))
    if note.chosen:
        return f"{found}: {note.further} nodes were chosen instead (-n sets another number)."
    if helps := note.helps():
        return f"{found}: {helps}."
    if note.why == "leaves":
        return f"{found}; no number of nodes up to 8 is known to go further."
    return f"{found}."


def _what(note: Found) -> str:
    on = on_nodes(note.nodes).lstrip()
    text = f"`{visible(note.text)}`"
    where = f"{_line(note)}, {text}" if note.span.line else ""
    match note.why:
        case "leaves" if note.rank is not None:
            return f"{on} rank {note.rank} ends the run in {where}"
        case "leaves":
            before = "" if note.communicated else ", before any communication"
            return f"{on} every rank leaves in {where}{before}"
        case "silent":
            apart = f" (see {where})" if where else ""
            return f"{on} no rank accesses the memory of another one{apart}"
        case "asserts":
            return f"{on} {text} in {_line(note)} fails before any communication"
        case "names":
            return f"{on} there is no rank {note.rank} for {text} in {_line(note)}"
        case "error":
            return f"{on} {_line(note)} is in error ({visible(note.text)})"
        case _:
            assert_never(note.why)


def _line(note: Found) -> str:
    file, line = place_of(note.span.line)
    return f"line {line}{f' of {visible(file)}' if file else ''}"
