"""Diagnostics of source texts: codes, positions, excerpts, hints."""

from pgasrob.diagnostics.diagnostic import Diagnostic, SourceError, on_screen, visible

__all__ = ["Diagnostic", "SourceError", "on_screen", "visible"]
