"""Whether a program is correctly synchronised: an answer for each line that was asked, made from its verdict.

A line is answered "yes" where it is known to be as it should be, "no" where something was found, and "unknown" where a
limit left that open; "harmless" where the program is not robust but each of its runs on the network ends as some SC run
does. One "no" is the answer to the whole; else one "unknown" that was asked for is, else "harmless".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, assert_never

from pgasrob.robustness.reasons import NotAsked, NothingChecked
from pgasrob.robustness.verdict import LINES, LineName, Verdict

LineAnswer = Literal["yes", "no", "unknown", "harmless"]


@dataclass(frozen=True, slots=True)
class Line:
    """The ``answer`` in the line ``name``, with how many findings there are. ``asked``: it counts where it is unknown,
    too, and not only where something was found."""

    name: LineName
    answer: LineAnswer
    asked: bool = True
    found: int = 0


@dataclass(frozen=True, slots=True)
class Synchronised:
    """The ``lines`` in the order of :data:`~pgasrob.robustness.verdict.LINES`, without those that do not apply, such as
    assertions of a program that has none. ``whole``: all were asked, so that ``answer`` says whether the program is
    correctly synchronised. ``nothing``: nothing was checked, since no rank comes to a call by which it communicates."""

    answer: LineAnswer
    whole: bool
    lines: tuple[Line, ...]
    nothing: bool = False


def synchronised(verdict: Verdict) -> Synchronised | None:
    """What ``verdict`` says of the lines that were asked; None of a program that is in error."""
    if verdict.verdict == "error":
        return None
    lines = tuple(_lines(verdict))
    nothing = isinstance(verdict.reason, NothingChecked)
    return Synchronised(answer_of(lines), set(LINES) <= set(verdict.asked), lines, nothing)


def answer_of(lines: tuple[Line, ...]) -> LineAnswer:
    """The answer to all ``lines`` together."""
    if any(line.answer == "no" for line in lines):
        return "no"
    if any(line.asked and line.answer == "unknown" for line in lines):
        return "unknown"
    return "harmless" if any(line.answer == "harmless" for line in lines) else "yes"


WRONG: dict[LineName, str] = {
    "legal": "illegal",
    "progress": "stuck",
    "assertions": "fails",
    "faults": "fault",
    "robust": "not robust",
    "races": "race",
}
"""What is wrong where a line is bad, in a word."""


def as_expected_in_headers(found: Synchronised) -> str:
    """The answer as the header of a program says it: ``yes``, ``no (stuck, race)``; "unknown" where it is open. What is
    not robust is so there, be it harmless or not: that depends on how far its effect has been looked for."""
    wrong = ", ".join(WRONG[line.name] for line in found.lines if line.answer in ("no", "harmless"))
    return f"no ({wrong})" if wrong else found.answer


def _lines(verdict: Verdict) -> Iterator[Line]:
    for name in LINES:
        if name in verdict.asked or name in verdict.facts:
            found = _answered(verdict, name)
            if found is not None:
                # Where nothing was checked nothing is known to be as it should be.
                is_open = found[0] == "yes" and isinstance(verdict.reason, NothingChecked)
                yield Line(name, "unknown" if is_open else found[0], name in verdict.asked, found[1])


def _answered(verdict: Verdict, name: LineName) -> tuple[LineAnswer, int] | None:
    """The answer to a line, and the number of findings; None where it does not apply."""
    match name:
        case "legal":
            return None if verdict.legal is None else (verdict.legal, len(verdict.illegal_calls))
        case "progress":
            if verdict.deadlock is None:  # no rank can wait, but it may come to a command that faults
                return ("yes" if _has_looked(verdict) and verdict.faults != "unknown" else "unknown"), 0
            return ("unknown", 0) if verdict.deadlock == "unknown" else ("no", 1) if verdict.deadlock else ("yes", 0)
        case "assertions":
            match verdict.assertions:
                case None:
                    return None if _has_looked(verdict) else ("unknown", 0)
                case "hold":
                    return "yes", 0
                case "violated":
                    return "no", 1
                case "unknown":
                    return "unknown", 0
        case "faults":  # known ones make the program one with an error
            return ("unknown", 0) if verdict.faults == "unknown" else None
        case "robust":
            if verdict.verdict == "not robust":
                return ("harmless" if verdict.harmless else "no"), 1
            return ("yes" if verdict.verdict == "robust" else "unknown"), 0
        case "races":
            races = verdict.races
            if races is None or isinstance(races.reason, NotAsked):
                return None
            if found := len(races.matters) + races.left_out:
                return "no", found
            return ("unknown", 0) if races.answer == "unknown" else ("yes", 0)
        case _:
            assert_never(name)


def _has_looked(verdict: Verdict) -> bool:
    """Whether the check has come to the program on its nodes at all, so that it is known what there is to look for."""
    return verdict.communicates is not None
