"""The assumptions of a verdict as a sentence and as a list, from the JSON object alone."""

from __future__ import annotations

from pgasrob.program.assumptions import Kind
from pgasrob.render import english
from pgasrob.render.lines import Line, paragraph, together, wrap
from pgasrob.render.shared_json import Assumption
from pgasrob.render.verdict_json import RaceResult, Result

LONGEST = 150
"""Characters of the sentence: two lines of 80."""
MOST_LINES = 3
ORDINARY = frozenset(
    kind.value for kind in (Kind.ARGUMENTS, Kind.ASSERT_GOES_ON, Kind.FREED_MEMORY, Kind.ALLOCATION, Kind.NO_EFFECT)
)
"""What nearly every program in C needs is not named in the sentence."""
OPTION = "--assumptions"


def sentence(result: Result | RaceResult) -> str | None:
    """The assumptions of ``result`` in a sentence: those of every verdict, and those for constructs of the program.

    None where that says nothing: no verdict, or a run that rests on no more than those of all programs do.
    """
    found = result.get("assumptions", [])
    own = [each for each in found if each["scope"] == "construct"]
    named = [together(_with_lines(each)) for each in own if each["code"] not in ORDINARY]
    robust = result["verdict"] in ("robust", "no race")  # about all runs, and not of one that is shown
    if not found or not (robust or named):
        return None
    every = "the general assumptions" + " on C" * any(each["scope"] == "C" for each in found)
    start, general = ("Rests on", [every]) if robust else ("The run shown rests on", [])
    for count in range(len(named), -1, -1):
        more = [f"{len(own) - count} more"] * (count < len(own))
        *first, last = [*general, *named[:count], *more]
        text = f"{', '.join(first)} and {last}" if first else last
        text = f"{start} {text} ({OPTION} lists all)."
        if len(text) <= LONGEST:
            break
    return text


def listed(result: Result | RaceResult, width: int) -> list[Line]:
    """All assumptions of ``result``, each with its code."""
    found = result.get("assumptions", [])
    if not found:
        return []
    column = max(len(each["code"]) for each in found)
    title = "What this rests on (`pgasrob explain-assumption CODE` explains it):"
    lines = paragraph(title, width, "", "  ")
    for each in found:
        text = each["text"] + (f" ({english.lines(each['lines'])})" if each["lines"] else "")
        first, *others = wrap(text, width, " " * (column + 6), " " * (column + 6))
        lines.append([(f"    {each['code']:<{column}}", "heading"), (first[column + 4 :], "")])
        lines += [[(line, "")] for line in others]
    return lines


def _with_lines(assumption: Assumption) -> str:
    lines = assumption["lines"]
    if len(lines) > MOST_LINES:
        return f"{assumption['code']} (line {lines[0]} and {len(lines) - 1} others)"
    return assumption["code"] + (f" ({english.lines(lines)})" if lines else "")
