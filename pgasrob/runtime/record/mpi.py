"""The recording functions of MPI: what is written before and after each of the library's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def recording(compiler: Sequence[str]) -> str:
    """C source that defines the functions of the header that ``compiler`` finds. Raises ``HeaderError``."""
    return ""
