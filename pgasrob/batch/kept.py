"""Results that are kept in a file from one command to the next, so that nothing is checked twice.

A result is found again by a digest of all that it depends on: what the program is read from, what is asked about it and
how, and the build of this package. SQLite keeps them: any number of processes may write at a time, and what has been
kept is there when the process that kept it is killed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pgasrob.program.files import Copies


class KeptError(RuntimeError):
    """The file cannot be read or written; the text says why."""


class Form(NamedTuple):
    """How a result is written as JSON, and read back by its schema, which raises ValueError where it does not fit."""

    dumps: Callable[[Any], str]
    loads: Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Kept:
    """The results in the file ``path`` about what is ``asked``: a text that has all that they depend on beside the
    programs, the build (:func:`~pgasrob.batch.build_id.whole_build`) too.

    ``say`` is called with a sentence about each result that is ``damaged``. ``unkept``: why what was found cannot be
    kept, once that is so. The two lists are of one process.
    """

    path: str
    asked: str
    form: Form
    say: Callable[[str], None]
    damaged: list[str] = field(default_factory=list, compare=False)
    unkept: list[str] = field(default_factory=list, compare=False)

    def key(self, file: str, nodes: int | None, front_end: object, copies: Copies) -> str:
        """What the result for ``file`` on so many ``nodes`` is found by; ``copies``: all that it is read from."""
        texts = [
            (path, repr(text) if isinstance(text, Exception) else hashlib.sha256(text).hexdigest())
            for path, text in sorted(copies.kept.items())
        ]
        whole = repr((self.asked, file, nodes, front_end, texts))
        return hashlib.sha256(whole.encode(errors="surrogatepass")).hexdigest()
