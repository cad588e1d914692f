"""The JSON object of a finding, as it is beside the result that it is one of."""

from __future__ import annotations

from typing import TypedDict


class FindingPlace(TypedDict):
    """A place that belongs to a finding, and what is to be said of it; null: the file as a whole. Columns count UTF-16
    code units from 1."""

    file: str
    line: int | None
    column: int | None
    message: str


class FindingInBrief(TypedDict):
    """What is wrong at a place, as all formats have it: ``message`` is a sentence of at most 300 characters, and
    ``related`` has the edges of a cycle, ranks that are stuck, the accesses of a race, what would help."""

    rule: str
    level: str
    file: str
    line: int | None
    column: int | None
    message: str
    related: list[FindingPlace]
