"""Results that are kept in a file from one command to the next, so that nothing is checked twice.

A result is found again by a digest of all that it depends on: what the program is read from, what is asked about it and
how, and the build of this package. SQLite keeps them: any number of processes may write at a time, and what has been
kept is there when the process that kept it is killed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from pgasrob.program.files import Copies


class KeptError(RuntimeError):
    """The file cannot be read or written; the text says why."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The results in the file ``path`` about what is ``asked``: a text that has all that they depend on beside the
    programs, the build (:func:`~pgasrob.batch.build_id.whole_build`) too."""

    path: str
    asked: str

    def key(self, file: str, nodes: int | None, front_end: object, copies: Copies) -> str:
        """What the result for ``file`` on so many ``nodes`` is found by; ``copies``: all that it is read from."""
        texts = [
            (path, repr(text) if isinstance(text, Exception) else hashlib.sha256(text).hexdigest())
            for path, text in sorted(copies.kept.items())
        ]
        whole = repr((self.asked, file, nodes, front_end, texts))
        return hashlib.sha256(whole.encode(errors="surrogatepass")).hexdigest()
