"""What the command line says about C files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

DIALECTS = ("gaspi-17", "gaspi-1.01")
"""Versions of APIs in which a call means something else than in others; the first of an API is the default."""


@dataclass(frozen=True, slots=True)
class FrontEnd:
    """``dialects`` (`--api`), functions that touch no shared memory (`--assume-pure`), macros (`-D`)."""

    dialects: tuple[str, ...] = ()
    pure: tuple[str, ...] = ()
    defines: tuple[tuple[str, str], ...] = ()

    @property
    def defined(self) -> dict[str, str]:
        return dict(self.defines)

    @staticmethod
    def check_dialect(name: str, fail: Callable[[str, str], None]) -> None:
        """Call ``fail`` with a message and a hint when there is no dialect ``name``."""
        from pgasrob.diagnostics.suggestions import did_you_mean

        if name not in DIALECTS:
            fail(f"no API dialect {name!r}", did_you_mean(name, DIALECTS) or f"there is {', '.join(DIALECTS)}")
