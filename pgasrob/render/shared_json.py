"""Parts that the JSON objects of several commands share: findings, assumptions, and what a search cost.

The types of all objects are TypedDicts, from which `json_schema` makes the JSON Schema and by which `witness_file`
checks what it reads back: the objects are plain dictionaries, which `json.dumps` writes as they are, which a later
version may extend, and which renderers copy with some keys changed. Structs or dataclasses would have to be made into
dictionaries and back at each of these places.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NotRequired, TypedDict

from pgasrob.diagnostics import Diagnostic, visible
from pgasrob.program.statements import Line

if TYPE_CHECKING:
    from pgasrob.program import assumptions as kinds
    from pgasrob.robustness import verdict as library


SCHEMA = 1


class Stats(TypedDict):
    """States and transitions of the engine, states of the SC runs beside it, wall-clock seconds; which part of the
    portfolio has decided: infeasibility, traces or attack."""

    states: int
    transitions: int
    seconds: float
    sc_states: int
    settled_by: NotRequired[str]


class Error(TypedDict):
    """A finding about the source text; line 0 when it concerns the file as a whole. ``notes``: how the place comes into
    the program, from a header or macro."""

    code: str
    message: str
    line: int
    column: int
    length: int
    excerpt: str
    hint: str
    notes: NotRequired[list[str]]


class Assumption(TypedDict):
    """What a verdict rests on: its code (`program/assumptions.py`), a sentence, and the lines of the source that need
    it, where they are known. ``scope``: what needs it, "every" verdict, those about "all numbers", those on "C", or a
    "construct"."""

    code: str
    text: str
    lines: list[int]
    scope: str


class Alike(TypedDict):
    """``elements`` of memory are accessed alike, and ``shown`` of them are in the runs that are looked at."""

    elements: int
    shown: int


def stats_to_json(stats: library.Stats) -> Stats:
    """The states, transitions and seconds of a search, as an object."""
    found: Stats = {
        "states": stats.states,
        "transitions": stats.transitions,
        "seconds": round(stats.seconds, 4),
        "sc_states": stats.sequential_states,
    }
    if stats.settled_by:
        found["settled_by"] = stats.settled_by
    return found


def assumptions_to_json(assumptions: Iterable[kinds.Assumption]) -> list[Assumption]:
    return [
        {"code": each.kind.value, "text": str(each), "lines": list(each.lines), "scope": each.kind.scope}
        for each in assumptions
    ]


def unicode_name(name: str) -> str:
    """``name`` as it is, the bytes that are not UTF-8 escaped: many a reader of JSON refuses a lone surrogate."""
    return "".join(visible(char) if "\ud800" <= char <= "\udfff" else char for char in name)


def errors_to_json(diagnostics: Iterable[Diagnostic], file: str) -> list[Error]:
    """The findings about a program whose first file is ``file``."""
    return [_error(diagnostic, file) for diagnostic in diagnostics]


def _error(diagnostic: Diagnostic, file: str) -> Error:
    line, other = diagnostic.line, diagnostic.file
    found: Error = {
        "code": diagnostic.code,
        "message": diagnostic.message,
        "line": line if other == file or not line else Line(line, other, other),
        "column": diagnostic.column,
        "length": diagnostic.length,
        "excerpt": diagnostic.excerpt,
        "hint": diagnostic.hint,
    }
    return {**found, "notes": list(diagnostic.notes)} if diagnostic.notes else found
