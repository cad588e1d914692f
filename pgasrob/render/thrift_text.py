"""Savings (waits, fences and barriers that can go) as a report and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypedDict

from pgasrob.render.count_note_json import CountNote, count_note_to_json
from pgasrob.render.english import capital, count, on_counts
from pgasrob.render.lines import Line, paragraph
from pgasrob.render.repair_text import (
    beginning,
    changes,
    diagnosis,
    diff_lines,
    other_findings,
    violation_sentence,
    what_else,
)
from pgasrob.render.shared_json import SCHEMA, Assumption, Error, assumptions_to_json, errors_to_json
from pgasrob.render.verdict_json import Change
from pgasrob.repairs import texts
from pgasrob.repairs.sc_outcomes import Compared
from pgasrob.repairs.thrift import Thrift

if TYPE_CHECKING:
    from pgasrob.repairs.thrift import Judged


class SavingObject(TypedDict):
    """``call`` in ``line`` left out, or ``instead`` in its place; ``why_not``: null where that may be done alone."""

    line: int
    call: str
    instead: str | None
    saves: int
    edits: list[Change]
    together: bool
    why_not: str | None


class ThriftObject(TypedDict):
    """``state``: "thrifty", "can save", "not robust", "unknown" or "error"; ``diff``: what saves most together.
    ``assumptions``: those beside what verdicts rest on. ``not_correct``: what is wrong beside robustness."""

    schema: int
    file: str
    nodes: list[int]
    state: str
    reason: str | None
    savings: list[SavingObject]
    saved: int
    most: bool
    assumptions: list[Assumption]
    outcomes: str | None
    diff: str
    checks: int
    seconds: float
    not_correct: list[str]
    count_notes: list[CountNote]
    errors: list[Error]


def why_not(judged: Judged, text: str) -> str:
    """Why the saving may not be made in ``text``, as a sentence; "" where it may."""
    if judged.tried.violation is not None:
        assert judged.tried.violation.witness is not None
        sentence = violation_sentence(text, judged.saving.edits, judged.tried.violation.witness)
        return f"The program would not be robust on {judged.tried.violation.nodes} nodes. {sentence}"
    if judged.tried.shows is not None:
        assert judged.tried.shows.witness is not None
        sentence = violation_sentence(text, judged.saving.edits, judged.tried.shows.witness)
        return f"{capital(judged.tried.why)}. {sentence}"
    return f"{capital(judged.tried.why)}." if judged.tried.why else ""


def thrift_to_json(file: str, thrift: Thrift) -> ThriftObject:
    return {
        "schema": SCHEMA,
        "file": file,
        "nodes": list(thrift.nodes),
        "state": thrift.state,
        "reason": thrift.reason or None,
        "savings": [
            {
                "line": each.saving.line,
                "call": each.saving.call,
                "instead": each.saving.instead or None,
                "saves": each.saving.saves,
                "edits": changes(thrift.text, each.saving.edits),
                "together": each.saving in thrift.together,
                "why_not": why_not(each, thrift.text) or None,
            }
            for each in thrift.judged
        ],
        "saved": thrift.saved,
        "most": thrift.most,
        "assumptions": assumptions_to_json(thrift.assumptions),
        "outcomes": None if thrift.same is None else "same" if thrift.same.compared is Compared.SAME else "untouched",
        "diff": _difference(file, thrift),
        "checks": thrift.checks,
        "seconds": round(thrift.seconds, 6),
        "not_correct": what_else(thrift.verdicts, thrift.races),
        "count_notes": [count_note_to_json(each.count_note) for each in thrift.verdicts if each.count_note],
        "errors": errors_to_json([error for verdict in thrift.verdicts for error in verdict.errors], file),
    }


def no_thrift(file: str, errors: list[Error], reason: str | None = None) -> ThriftObject:
    """The object of a search that a limit or an internal error has ended."""
    found = thrift_to_json(file, Thrift("error" if errors else "unknown", (), (), reason=reason or ""))
    return {**found, "errors": errors}


def diff(file: str, thrift: Thrift) -> str:
    """What saves most, as `diff -u` prints it, after lines that `patch` skips: what it rests on."""
    difference = _difference(file, thrift)
    return "".join(f"# {sentence}\n" for sentence in _assumed(thrift)) + difference if difference else ""


def _difference(file: str, thrift: Thrift) -> str:
    return texts.diff(file, thrift.text, thrift.after) if thrift.together else ""


def _assumed(thrift: Thrift) -> list[str]:
    return [f"Assumes that {each}." for each in thrift.assumptions]


def thrift_lines(file: str, thrift: Thrift, width: int) -> list[Line]:
    """The report: each wait, fence, barrier and blocking call, and the diff of what saves most together."""
    on = on_counts(thrift.nodes)
    lines = beginning(file, [*_headline(thrift), (on, "heading")], thrift.verdicts, _sentences(thrift), width)
    for each in thrift.judged:
        lines += _judged(each, thrift.text, on, width)
    if thrift.together:
        changes = "This change is" if len(thrift.together) == 1 else "These changes are together"
        most = "" if thrift.most else ", perhaps not the most"
        saved = f"{changes} possible{on} (saving an estimated {thrift.saved}{most}):"
        lines += [[], *paragraph(saved, width, "heading")]
        lines += diff_lines(_difference(file, thrift))
    return lines


def _headline(thrift: Thrift) -> Line:
    if thrift.state == "thrifty":
        return [("no call can be removed", "robust")]
    if thrift.state == "can save":
        replaced = {bool(each.instead) for each in thrift.together}
        how = "removed or replaced" if len(replaced) == 2 else "replaced" if True in replaced else "removed"
        return [(f"{count(len(thrift.together), 'call')} can be {how}", "unknown")]
    return [(thrift.state, thrift.state)]


def _sentences(thrift: Thrift) -> Iterator[tuple[str, str]]:
    if thrift.state == "not robust":
        first = next(each for each in thrift.verdicts if each.verdict == "not robust")
        yield diagnosis(first.witness), "bad"
        yield "Only a robust program has calls that it does not need: use `pgasrob repair` first.", "open"
    elif thrift.reason:
        yield f"{capital(thrift.reason)}.", "open"
    yield from other_findings(thrift.verdicts, thrift.races)
    if thrift.state not in ("not robust", "error"):
        yield from ((sentence, "faint") for sentence in _assumed(thrift))
    if thrift.judged:
        yield f"{count(thrift.checks, 'changed program')} checked, {thrift.seconds:.2f} s", "faint"


def _judged(judged: Judged, text: str, on: str, width: int) -> Iterator[Line]:
    saving = judged.saving
    what = (
        f"`{saving.call}` can be replaced by `{saving.instead}`"
        if saving.instead
        else f"`{saving.call}` can be removed"
    )
    if judged.is_safe:
        yield from paragraph(
            f"line {saving.line}: {what}{on}; saves an estimated {saving.saves}", width, "good", "  ", "    "
        )
    else:
        kept = what.replace("` can be", "` cannot be", 1)
        yield from paragraph(f"line {saving.line}: {kept}{on}. {why_not(judged, text)}", width, "faint", "  ", "    ")
