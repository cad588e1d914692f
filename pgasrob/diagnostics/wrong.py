"""What can be wrong with a call or an access, as a code: the same one whether it is found in the text or in a run."""

from __future__ import annotations

from enum import StrEnum


class Wrong(StrEnum):
    """The codes of what a command cannot do. Those that end with LIMIT are limits of pgasrob, the others mistakes."""

    FAULT = "PG040"
    BOUNDS = "PG041"
    RANK = "PG042"
    UNSET = "PG043"
    POINTER = "PG044"
    ARGUMENT = "PG160"
    ELSEWHERE = "PG164"
    UNKNOWN_LIMIT = "PG140"
    SIZE_LIMIT = "PG141"
    CALL_LIMIT = "PG165"


OF_FAULTS = (Wrong.FAULT, Wrong.BOUNDS, Wrong.RANK, Wrong.UNSET, Wrong.POINTER)
"""The codes that a fault of a run may have."""
