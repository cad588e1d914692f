"""Stores and reads certificates as text files, packed with gzip if the name ends in `.gz`.

States resemble each other, so packing makes a large certificate a hundred times smaller. The unpacked size is bounded,
so that a small file cannot fill the memory.
"""

from __future__ import annotations

import gzip
import zlib

from pgasrob import file_input

PACKED = ".gz"


class BadFile(Exception):
    """A file contains no text, is not packed as its name says, or is too long; the text of the exception says which."""


def stored(path: str) -> str:
    """The certificate in the file ``path``. Raises :class:`BadFile` and :class:`OSError`."""
    try:
        with file_input.opened(path) as file:
            unpacked = gzip.GzipFile(fileobj=file) if path.endswith(PACKED) else file
            return file_input.all_of(unpacked, path, file_input.LARGEST).decode()
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise BadFile("it is not packed with gzip, as its name says, or only in part") from None
    except UnicodeDecodeError:
        raise BadFile("it is no text in UTF-8") from None


def store(path: str, text: str) -> None:
    """Write a certificate to the file ``path``: the same text to the same bytes. Raises :class:`BadFile` and
    :class:`~pgasrob.whole_files.CannotWrite`."""
    from pgasrob.whole_files import replace_file

    written = text.encode()
    if len(written) > (most := file_input.most_bytes(file_input.LARGEST)):
        raise BadFile(f"it would be longer than {most} bytes")
    replace_file(path, gzip.compress(written, mtime=0) if path.endswith(PACKED) else written)
