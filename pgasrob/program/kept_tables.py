"""The tables of a parser, which are kept between runs: to build them takes longer than a check.

The file has what they were made of, a digest of them, and Lark's own form of them. That runs what it reads: so the
folder must be nobody else's, and what does not fit the digest is not read.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgasrob import file_input
from pgasrob.whole_files import CannotWrite, replace_file

if TYPE_CHECKING:
    from lark import Lark

DIGEST = re.compile(rb"[0-9a-f]{64}")


def parser_of(grammar: Path, actions: Any) -> Lark:
    """The parser for what is in the file ``grammar``, with ``actions`` for its rules: from the tables that are kept, if
    they are of that."""
    import lark

    text, path = grammar.read_text(encoding="utf-8"), _file(grammar.stem)
    made_of = hashlib.sha256(repr((text, lark.__version__, sys.version)).encode()).hexdigest().encode()
    if path is not None and (tables := _kept(path, made_of)) is not None:
        return lark.Lark.load(io.BytesIO(tables))
    # The basic lexer keeps keywords reserved. The contextual one would take them for names wherever a name is expected.
    parser = lark.Lark(text, start="file", parser="lalr", lexer="basic", transformer=actions)
    if path is not None:
        written = io.BytesIO()
        parser.save(written)
        with suppress(CannotWrite):
            replace_file(path, b"\n".join((made_of, _digest(written.getvalue()), written.getvalue())))
    return parser


def _kept(path: Path, made_of: bytes) -> bytes | None:
    """The tables in the file ``path``; None where there are none, or others. Warns of damaged ones."""
    try:
        found, digest, tables = file_input.read(path).split(b"\n", 2)
    except (OSError, ValueError):
        found = digest = tables = b""
    if found == made_of and digest == _digest(tables):
        return tables
    if path.exists() and (found == made_of or not DIGEST.fullmatch(found)):
        warnings.warn(f"{path} is damaged: the tables of the parser are made again", stacklevel=2)
    return None


def _digest(tables: bytes) -> bytes:
    return hashlib.sha256(tables).hexdigest().encode()


def _file(name: str) -> Path | None:
    """Where tables are kept; None where that cannot be."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser(), "pgasrob")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder / name if folder.stat().st_uid == os.getuid() else None
    except (OSError, RuntimeError, AttributeError):  # no such folder, no home, no users on this system
        return None
