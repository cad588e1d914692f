"""Offers repairs of a program as code actions of the editor; `repairs` runs in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lsprotocol.types import CodeAction, CodeActionKind, Diagnostic, Range, TextEdit, WorkspaceEdit

from pgasrob.diagnostics import SourceError
from pgasrob.lsp.edited_program import EditedProgram
from pgasrob.lsp.positions import Places
from pgasrob.program.statements import place_of
from pgasrob.render.repair_text import answer_text, changes
from pgasrob.render.verdict_json import Change
from pgasrob.repairs import repair
from pgasrob.repairs.read_again import read


@dataclass(frozen=True, slots=True)
class Repaired:
    """A repair: a sentence that says what it does, and its changes by file."""

    title: str
    changes: Mapping[str, Sequence[Change]]


def repairs(edited: EditedProgram, counts: Sequence[int]) -> list[Repaired]:
    """The cheapest repairs of the ``edited`` program, checked on ``counts``."""
    settings = edited.settings
    try:
        program, parse = read(edited.file, settings.front_end, edited.files)
    except SourceError:
        return []
    found = repair(program, parse, counts, limits=settings.limits, goal="robust")
    answers = []
    for answer in found.answers:
        by_file: dict[str, list[Change]] = {}
        for change in changes(found.text, [edit for candidate in answer.candidates for edit in candidate.edits]):
            by_file.setdefault(place_of(change["line"])[0] or edited.file, []).append(change)
        answers.append(Repaired(answer_text(found, answer), by_file))
    return answers


def actions(
    found: Sequence[Repaired], mended: Sequence[Diagnostic], uri: Callable[[str], str], text: Callable[[str], str]
) -> list[CodeAction]:
    """The repairs that were ``found``, of the violations that are to be ``mended``; the first is the one to prefer."""
    return [
        CodeAction(
            each.title,
            kind=CodeActionKind.QuickFix,
            diagnostics=mended,
            is_preferred=number == 0,
            edit=WorkspaceEdit(
                changes={uri(file): _edits(changes, Places(text(file))) for file, changes in each.changes.items()}
            ),
        )
        for number, each in enumerate(found)
    ]


def _edits(changes: Sequence[Change], places: Places) -> list[TextEdit]:
    return [
        TextEdit(
            Range(
                places.position(int(change["line"]), change["column"]),
                places.position(int(change["end_line"]), change["end_column"]),
            ),
            change["text"],
        )
        for change in changes
    ]
