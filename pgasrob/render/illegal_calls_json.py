"""The JSON objects of calls that their API forbids where they stand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from pgasrob.program.illegal_calls import Opened
from pgasrob.render.process_numbers import numbered
from pgasrob.render.run_json import Witness, witness_to_json
from pgasrob.robustness.verdict import FoundIllegalCall


class OpenedBy(TypedDict):
    """The earlier call by which another one is illegal: it opened or closed an epoch, took a lock, freed an object."""

    call: str
    line: int
    column: int


class IllegalCall(TypedDict):
    """A call that breaks a ``rule`` of its API: its code, what it demands (``demands``), and the ``section`` of the
    specification that says so. ``sentence`` says what the call does wrong, ``remedy`` what would mend it. In the
    ``run`` the call of ``rank`` is the last event; null where runs are left out."""

    rule: str
    demands: str
    section: str
    sentence: str
    remedy: str
    rank: int
    line: int
    column: int
    end_line: int
    end_column: int
    opened: OpenedBy | None
    run: Witness | None


def illegal_calls_to_json(found: Iterable[FoundIllegalCall]) -> list[IllegalCall]:
    return [_to_json(each) for each in found]


def _to_json(found: FoundIllegalCall) -> IllegalCall:
    call, opened = found.call, found.call.opened
    return {
        "rule": call.rule.code,
        "demands": call.rule.sentence,
        "section": call.rule.section,
        "sentence": call.sentence,
        "remedy": call.remedy or call.rule.remedy,
        "rank": found.rank if found.run is None else numbered(found.run.run.instance, found.rank),
        "line": call.span.line,
        "column": call.span.column,
        "end_line": call.span.end_line,
        "end_column": call.span.end_column,
        "opened": None if opened is None else _opened(opened),
        "run": witness_to_json(found.run),
    }


def _opened(call: Opened) -> OpenedBy:
    return {"call": call.name, "line": call.span.line, "column": call.span.column}
