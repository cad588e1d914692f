"""What is wrong with a source text: codes, positions, excerpts, hints."""

from pgasrob.diagnostics.diagnostic import Diagnostic, SourceError, visible

__all__ = ["Diagnostic", "SourceError", "visible"]
