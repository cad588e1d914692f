"""Figures and tables of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Target:
    """What was asked for, what was measured, and whether that is enough; None when it was not measured."""

    wanted: str
    measured: str
    met: bool | None


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A Markdown table with columns of equal width, the first to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        first, *others = zip(cells, widths, strict=True)
        return "| " + " | ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]) + " |"

    rule = [f"{'-' * (widths[0] + 1)}", *(f"{'-' * width}:" for width in widths[1:])]
    return [line(head), "|" + "-" + "|-".join(rule) + "|", *(line(row) for row in rows)] if rows else []


def count(number: int | None) -> str:
    return NOTHING if number is None else f"{number:,}"


def seconds(seconds: float | None) -> str:
    if seconds is None:
        return NOTHING
    return f"{seconds:.0f}" if seconds >= 100 else f"{seconds:.1f}" if seconds >= 10 else f"{seconds:.2f}"


def times(ratio: float | None) -> str:
    if ratio is None:
        return NOTHING
    return f"{ratio:,.0f}" if ratio >= 20 else f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2f}"
