"""Cells of CSV files, which people open in spreadsheets."""

from __future__ import annotations

BEGINS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How texts begin that spreadsheets compute."""


def cell(value: object) -> object:
    """``value`` as it stands in a cell: truth as in JSON, nothing for None, and no text that a spreadsheet computes."""
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    return f"'{value}" if isinstance(value, str) and value.startswith(BEGINS_A_FORMULA) else value
