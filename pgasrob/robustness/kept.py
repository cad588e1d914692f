"""Results that are kept in a file from one command to the next, so that nothing is checked twice.

A result is found again by a digest of all that it depends on: what the program is read from, what is asked about it and
how, and the build of this package. SQLite keeps them: any number of processes may write at a time, and what has been
kept is there when the process that kept it is killed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

from pgasrob.program.files import Copies
from pgasrob.robustness import native
from pgasrob.robustness.build import build

T = TypeVar("T")


class KeptError(RuntimeError):
    """The file cannot be read or written; the text says why."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The results in the file ``path`` about what is ``asked``: a text that has all that answers depend on beside the
    programs."""

    path: str
    asked: str

    def key(self, file: str, nodes: int | None, front_end: object, copies: Copies) -> str:
        """What the result for ``file`` on so many ``nodes`` is found by; ``copies``: all that it is read from."""
        texts = [
            (path, repr(text) if isinstance(text, Exception) else hashlib.sha256(text).hexdigest())
            for path, text in sorted(copies.kept.items())
        ]
        whole = repr((_version(), self.asked, file, nodes, front_end, texts))
        return hashlib.sha256(whole.encode(errors="surrogatepass")).hexdigest()

    def around(self, results: Iterator[T]) -> Iterator[T]:
        """``results``, of processes that keep them here. Raises :class:`KeptError` before the first one where that is
        not possible."""
        from pgasrob.robustness.store import Store

        # A connection must not be there when processes fork.
        Store(self.path).close()
        try:
            yield from results
        finally:
            Store(self.path).close()  # so that no log is left beside the file by processes that were killed


@cache
def _version() -> str:
    """This build, with the very kernel."""
    if not native.available():
        return str(build())
    from pgasrob import _kernel

    return f"{build()} {hashlib.sha256(Path(_kernel.__file__).read_bytes()).hexdigest()}"
