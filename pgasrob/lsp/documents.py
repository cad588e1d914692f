"""The documents that an editor has open: which of them are programs, by which paths, and what their texts are."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import TextDocument

PROGRAMS = (".pgas", ".c")
UNITS = (".c", ".h")
"""Endings of files that a C program can be made of."""
SUFFIXES = {"pgas": ".pgas", "c": ".c"}
"""The ending of a document that has no file yet, by its language."""
ALONE = re.compile(r"\r(?!\n)")


def path_of(document: TextDocument) -> str | None:
    """The path of a ``document``, made up for one that has no file yet; None when it is neither."""
    match urlsplit(document.uri).scheme:
        case "file":
            return to_fs_path(document.uri)
        case "untitled":
            name = PurePosixPath(unquote(urlsplit(document.uri).path)).name or "untitled"
            suffix = SUFFIXES.get(document.language_id or "", "")
            return os.path.abspath(name if name.endswith(PROGRAMS) else name + suffix)
        case _:
            return None


def text_of(document: TextDocument) -> str:
    """The text, in which a lone carriage return ends a line as it does for editors."""
    return ALONE.sub("\n", document.source)


class Documents:
    """The open documents by their paths."""

    def __init__(self, documents: Iterable[TextDocument]) -> None:
        self._by_path = {path: each for each in documents if (path := path_of(each)) is not None}

    def uri(self, path: str) -> str:
        """The URI by which the editor knows the file ``path``."""
        document = self._by_path.get(path)
        return from_fs_path(path) if document is None else document.uri

    def texts_for(self, path: str) -> dict[str, str]:
        """The open texts that the program in the file ``path`` may be made of."""
        others = UNITS if path.endswith(".c") else ()
        return {
            each: text_of(document) for each, document in self._by_path.items() if each == path or each.endswith(others)
        }

    def programs_with(self, path: str) -> list[str]:
        """The open programs that the file ``path`` may be part of."""
        return [
            each
            for each in self._by_path
            if each.endswith(PROGRAMS) and (each == path or (each.endswith(".c") and path.endswith(UNITS)))
        ]
