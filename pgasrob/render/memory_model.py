"""The answer about a program in a memory model of MPI: as a JSON object, and from that as a report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

from pgasrob.diagnostics import visible
from pgasrob.render import assumptions_text, english
from pgasrob.render.count_note_json import CountNote, count_note_to_json
from pgasrob.render.errors import error_lines
from pgasrob.render.lines import Line, paragraph, paragraphs
from pgasrob.render.shared_json import SCHEMA, Assumption, Error, assumptions_to_json, errors_to_json

if TYPE_CHECKING:
    from pgasrob.program.instance import Instance
    from pgasrob.races.mpi.actions import Action
    from pgasrob.races.mpi.judgement import ModelVerdict


class ModelAccess(TypedDict):
    """``rank``: whose program it is part of; ``call``: which call of MPI, null for a load or store. ``access``: load,
    store, vac (where a call takes effect, at its target), "buffer read" or "buffer write"."""

    rank: int
    line: int
    column: int
    access: str
    call: str | None
    cells: list[str]


class ModelRace(TypedDict):
    """Two conflicting accesses, and in which order they are not: ``missing`` is happens-before or consistency."""

    missing: str
    accesses: list[ModelAccess]


class Misuse(TypedDict):
    rank: int
    line: int
    column: int
    rule: str
    section: str
    message: str


class ModelResult(TypedDict):
    """``verdict`` is that of `pgasrob race`: "no race" where the ``status`` is defined or eventual. ``executions``: how
    many were looked at; all unless a race was found, or there is a ``reason``. ``expected``: what the header states."""

    schema: int
    file: str
    program: str | None
    nodes: int | None
    memory_model: str
    verdict: Literal["race", "no race", "unknown", "error"]
    status: Literal["defined", "eventual", "undefined", "unknown", "error"]
    reason: str | None
    executions: int
    races: list[ModelRace]
    misuses: list[Misuse]
    errors: list[Error]
    assumptions: list[Assumption]
    expected: NotRequired[str | None]
    as_expected: NotRequired[bool]
    count_note: NotRequired[CountNote]


VERDICTS: dict[str, Literal["race", "no race", "unknown", "error"]] = {
    "defined": "no race", "eventual": "no race", "undefined": "race", "unknown": "unknown", "error": "error"
}  # fmt: skip
STYLES = {"defined": "good", "eventual": "good", "undefined": "bad", "unknown": "open", "error": "bad"}


def model_to_json(verdict: ModelVerdict) -> ModelResult:
    """``verdict`` as an object that `json.dumps` can write."""
    found: ModelResult = {
        "schema": SCHEMA,
        "file": verdict.file,
        "program": verdict.program,
        "nodes": verdict.nodes,
        "memory_model": verdict.model,
        "verdict": VERDICTS[verdict.status],
        "status": verdict.status,
        "reason": verdict.reason,
        "executions": verdict.executions,
        "races": [
            {"missing": race.missing, "accesses": [_access(each, verdict.instance) for each in race.actions]}
            for race in verdict.races
        ],
        "misuses": [
            {
                "rank": each.rank,
                "line": each.call.span.line,
                "column": each.call.span.column,
                "rule": each.call.rule.code,
                "section": each.call.rule.section,
                "message": each.call.sentence,
            }
            for each in verdict.misuses
        ],
        "errors": errors_to_json(verdict.errors, verdict.file),
        "assumptions": assumptions_to_json(verdict.assumptions),
    }
    if verdict.count_note:
        found["count_note"] = count_note_to_json(verdict.count_note)
    return found


def _access(action: Action, instance: Instance | None) -> ModelAccess:
    assert instance is not None, "what has races has been put on nodes"
    return {
        "rank": action.origin,
        "line": action.span.line,
        "column": action.span.column,
        "access": action.kind,
        "call": None if action.call is None else action.call.name,
        "cells": [instance.cell_name(cell) for cell in sorted(action.cells)],
    }


def model_report(result: ModelResult, width: int = 80, *, list_assumptions: bool = False) -> Iterator[Line]:
    """The report of ``result`` in lines of at most ``width`` characters; ``list_assumptions``: with all assumptions."""
    head: Line = [(f"{visible(result['file'])}: ", "heading"), (result["status"], STYLES[result["status"]])]
    where = "" if result["nodes"] is None else english.on_nodes(result["nodes"])
    head.append((f" in the {result['memory_model']} model{where}", "heading"))
    if "as_expected" in result:
        stated = result.get("expected") or f"no `// {result['memory_model']}:` in the header"
        head.append((" (as expected)", "good") if result["as_expected"] else (f" (expected: {stated})", "bad"))
    yield head
    yield from error_lines(result["file"], result["errors"])
    if note := result.get("count_note"):
        yield from paragraph(note["sentence"], width, "faint" if note["chosen"] else "open", "  ")
    if result["reason"]:
        yield from paragraph(f"{english.capital(result['reason'])}.", width, "open", "  ")
    for misuse in result["misuses"]:
        text = f"line {misuse['line']}: {misuse['message']} (rank {misuse['rank']}; {misuse['section']})"
        yield from paragraph(text, width, "bad", "  ")
    for race in result["races"]:
        lines = english.lines(list(dict.fromkeys(access["line"] for access in race["accesses"])))
        yield from paragraph(f"{lines}: {sentence(race)}.", width, "bad", "  ")
    yield from paragraphs(_meaning(result), width)
    if list_assumptions:
        yield from assumptions_text.listed(result, width)  # type: ignore[arg-type]


def sentence(race: ModelRace) -> str:
    """The two accesses, and what is missing between them."""
    one, other = map(phrase, race["accesses"])
    if race["missing"] == "happens-before":
        return f"{one}, and {other}, and neither happens before the other"
    missing = f"{one}, and {other}; one happens before the other, but no call makes the memory consistent in between"
    ranks = {access["rank"] for access in race["accesses"]}
    if len(ranks) == 2 and all(access["access"] in ("load", "store") for access in race["accesses"]):
        return f"{missing}: MPI_Win_sync on both sides (MPI-4.1, 12.2.3)"
    return missing


def phrase(access: ModelAccess) -> str:
    """What an access does to which cells, as a clause: ``the MPI_Put of rank 0 takes effect on x@1``."""
    cells = [visible(cell) for cell in access["cells"]]
    where = english.listed(cells) if len(cells) <= 3 else f"{cells[0]} to {cells[-1]}"
    call = f"the {access['call']} of rank {access['rank']}"
    match access["access"]:
        case "vac":
            return f"{call} takes effect on {where}"
        case "buffer read":
            return f"{call} reads its buffer {where}"
        case "buffer write":
            return f"what {call} brings arrives at {where}"
        case "store":
            return f"rank {access['rank']} writes {where}"
        case _:
            return f"rank {access['rank']} reads {where}"


def _meaning(result: ModelResult) -> Iterator[tuple[str, str]]:
    """Sentences with styles on what the status of the program says."""
    match result["status"]:
        case "defined":
            yield (
                "In every execution conflicting accesses are ordered by happens-before and by consistency order.",
                "good",
            )
        case "eventual":
            yield (
                "In every execution conflicting accesses are ordered, but for loads in loops that poll: these see what "
                "is put there at some time, and MPI does not say when.",
                "good",
            )
        case "unknown":
            yield "This says nothing about the program.", "open"
    if result["status"] not in ("error", "unknown") and (rests_on := assumptions_text.sentence(result)):  # type: ignore[arg-type]
        yield rests_on, "faint"
