"""Prints marks: as a table with the reasons below it, as JSON, and as CSV for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import PurePath
from typing import TypedDict

from pgasrob.course.grade import Exercise, Graded, Mark
from pgasrob.diagnostics import visible
from pgasrob.render.lines import Line, paragraph
from pgasrob.render.printers import cell
from pgasrob.render.shared_json import unicode_name
from pgasrob.render.verdict_json import to_json
from pgasrob.render.words import diagnosis

SIGNS = {"right": "good", "wrong": "bad", "undecided": "open", "missing": "faint", "no program": "bad"}
"""The style of each state."""
COLUMNS = ("student", "exercise", "state", "points", "undecided", "of", "told")
"""The student and the entries of a `MarkObject`, in their order."""


class MarkObject(TypedDict):
    """``told``: why it is not right, "" where it is; ``undecided``: points that a limit has left open."""

    exercise: str
    state: str
    points: int
    undecided: int
    of: int
    told: str


class GradedObject(TypedDict):
    schema: int
    student: str
    points: int
    undecided: int
    of: int
    marks: list[MarkObject]
    others: list[str]


def mark_text(mark: Mark) -> str:
    """Why a mark is not full, in a sentence or two; "" where it is."""
    if not mark.why:
        return ""
    late = diagnosis(to_json(mark.verdict)["witness"]) if mark.verdict and mark.verdict.verdict == "not robust" else ""
    return f"{visible(mark.why)}{':' if late else '.'} {late}".strip()


def graded_to_json(graded: Graded) -> GradedObject:
    """The marks of a student as an object that `json.dumps` can write."""
    marks: list[MarkObject] = [
        {"exercise": mark.exercise.file, "state": mark.state, "points": mark.points, "undecided": mark.undecided,
         "of": mark.exercise.points, "told": mark_text(mark)}
        for mark in graded.marks
    ]  # fmt: skip
    of = sum(mark.exercise.points for mark in graded.marks)
    return {
        "schema": 1,
        "student": unicode_name(graded.student),
        "points": graded.points,
        "undecided": graded.undecided,
        "of": of,
        "marks": marks,
        "others": [unicode_name(name) for name in graded.others],
    }


def grades_csv(students: Sequence[Graded]) -> str:
    """A row for each exercise of each student, below a header; no cell is read as a formula."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(COLUMNS)
    for graded in students:
        found = graded_to_json(graded)
        for mark in found["marks"]:
            writer.writerow(map(cell, (found["student"], *mark.values())))
    return written.getvalue()


def grades_report(exercises: Sequence[Exercise], students: Sequence[Graded], width: int) -> list[Line]:
    """A table of the points, and below it why marks are not full."""
    names = [visible(PurePath(exercise.file).stem) for exercise in exercises]
    points = sum(exercise.points for exercise in exercises)
    first = max([len("of"), *(len(visible(graded.student)) for graded in students)])
    widths = [max(len(name), 4) for name in names]
    if first + sum(widths) + 2 * len(widths) + 24 > width:  # numbers in place of names, which the lines below have
        names = [str(number) for number, _ in enumerate(names, 1)]
        widths = [4 for _ in names]
    lines: list[Line] = [_row("", names, "points", first, widths, ["heading"] * len(names))]
    of = [str(exercise.points) for exercise in exercises]
    lines.append(_row("of", of, str(points), first, widths, ["faint"] * len(of)))
    for graded in students:
        cells = [
            "?" if mark.state == "undecided" else "-" if mark.state == "missing" else str(mark.points)
            for mark in graded.marks
        ]
        open_ = f"  {graded.undecided} undecided" if graded.undecided else ""
        styles = [SIGNS[mark.state] for mark in graded.marks]
        lines.append(
            [*_row(visible(graded.student), cells, str(graded.points), first, widths, styles), (open_, "open")]
        )
    for graded in students:
        lines += _why(graded, width)
    return lines


def _row(
    name: str, cells: Sequence[str], points: str, first: int, widths: Sequence[int], styles: Sequence[str]
) -> Line:
    row: Line = [(f"{name:<{first}}", "heading")]
    row += [(f"  {cell:>{size}}", style) for cell, size, style in zip(cells, widths, styles, strict=True)]
    return [*row, (f"  {points:>6}", "heading")]


def _why(graded: Graded, width: int) -> list[Line]:
    """Why the marks of a student are not full; nothing where all is right."""
    lines: list[Line] = []
    for number, mark in enumerate(graded.marks, 1):
        if why := mark_text(mark):
            got = "undecided" if mark.state == "undecided" else f"{mark.points} of {mark.exercise.points}"
            text = f"{number}. {visible(mark.exercise.file)} ({got}): {why}"
            lines += paragraph(text, width, SIGNS[mark.state] if mark.state == "undecided" else "", "  ", "     ")
    if graded.others:
        names = ", ".join(visible(name) for name in graded.others)
        lines += paragraph(f"Belongs to no exercise: {names}.", width, "faint", "  ")
    return [[], [(f"{visible(graded.student)}:", "heading")], *lines] if lines else []
