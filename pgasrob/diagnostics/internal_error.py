"""An exception that should not have been raised, as a finding about the file that was at work: what to report."""

from __future__ import annotations

import traceback
from pathlib import Path

from pgasrob.diagnostics.diagnostic import Diagnostic

CODE = "PG190"
PACKAGE = Path(__file__).parents[1]
MOST_FRAMES = 8
MOST_CHARACTERS = 200


def internal_error(error: BaseException, file: str) -> Diagnostic:
    """The finding that ``error`` ended what was asked about ``file``, with the lines of the package that it came from,
    the innermost first."""
    said, _, _ = str(error).partition("\n")
    if len(said) > MOST_CHARACTERS:
        said = f"{said[:MOST_CHARACTERS]}..."
    places: list[str] = []
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.is_relative_to(PACKAGE) and len(places) < MOST_FRAMES:
            places.append(f"{path.relative_to(PACKAGE).as_posix()}:{frame.lineno}")
    message = f"internal error: {type(error).__name__}{said and f': {said}'}"
    hint = "please report it, with this file, the options and what `pgasrob --version` says"
    return Diagnostic(CODE, message, file, hint=hint, notes=(f"raised in {' < '.join(places)}",) if places else ())
