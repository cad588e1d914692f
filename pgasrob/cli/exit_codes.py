"""What the exit code says (the design, section 6)."""

from __future__ import annotations

from collections.abc import Collection

ROBUST, NOT_ROBUST, ERROR, UNKNOWN = 0, 1, 2, 3
NO_RACE, RACE = ROBUST, NOT_ROBUST
CRASHED = 70
"""As sysexits.h has it for an error of the software itself."""
INTERRUPTED = 130
"""As a shell reports a command that Ctrl-C ended."""
BROKEN_PIPE = 141
"""As a shell reports a command whose reader went away."""
GRAVEST_FIRST = (ERROR, UNKNOWN, NOT_ROBUST, ROBUST)


def gravest(codes: Collection[int]) -> int:
    """The exit code of several; that of none is 0."""
    return next((code for code in GRAVEST_FIRST if code in codes), ROBUST)
