"""Every kind of assumption at length: what is taken for granted, why, and what to do where it is false."""

from __future__ import annotations

from pgasrob.diagnostics.catalogue import UnknownCode, entries
from pgasrob.diagnostics.suggestions import did_you_mean

CATALOGUE = {entry.code: entry for entry in entries(__package__, "assumptions.txt")}
"""The codes in the order of `Kind`."""


def explain(code: str) -> str:
    """The entry of ``code`` as text; case does not matter. Raises
    :class:`~pgasrob.diagnostics.catalogue.UnknownCode`."""
    wanted = code.strip().lower()
    if wanted in CATALOGUE:
        return str(CATALOGUE[wanted])
    near = did_you_mean(wanted, CATALOGUE) or "`pgasrob explain-assumption` lists all"
    raise UnknownCode(f"there is no assumption {code.strip()!r}; {near}")
