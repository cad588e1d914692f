"""Diagnostics of source texts: codes, positions, excerpts, hints."""

from pgasrob.diagnostics.diagnostic import MAX_ERRORS, Diagnostic, SourceError, blank, in_order, on_screen, visible

__all__ = ["MAX_ERRORS", "Diagnostic", "SourceError", "blank", "in_order", "on_screen", "visible"]
