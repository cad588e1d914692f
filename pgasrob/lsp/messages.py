"""What an editor sends, bounded and looked at before pygls reads it.

A message that is none (no JSON, not of JSON-RPC 2.0) is passed over, which stderr says. A length that no message has
ends the session: what belongs to it would have to be read, and what comes after it cannot be found otherwise.
"""

from __future__ import annotations

import io
import json
import logging
import re
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

from pgasrob.lsp.settings import MOST_TEXT

MOST_BYTES = 64 * MOST_TEXT
"""Bytes of a message: texts that are too long to be looked at are sent all the same."""
MOST_HEADER = 4096
"""Bytes of a line of a header."""
LENGTH = re.compile(rb"content-length:[ \t]*(\d+)\s*", re.IGNORECASE)
UNREADABLE = "Unable to deserialize message"
"""How pygls begins to log what an editor has sent and it cannot read; a traceback follows."""
PASSED_OVER = "a message of the editor is passed over: {}"


class Refused(Exception):
    """Messages that cannot be read on; the text says why."""


class Messages(io.RawIOBase):
    """The messages of ``source``, for pygls to read as from a file. ``refused``: why it ended before ``source`` did."""

    def __init__(self, source: BinaryIO, say: Callable[[str], None]) -> None:
        self._source, self._say = source, say
        self._ahead = io.BytesIO()
        self.refused: str | None = None

    def readline(self, size: int | None = -1, /) -> bytes:
        return self._ahead.readline() or self._next().readline()

    def read(self, size: int = -1, /) -> bytes:
        return self._ahead.read(size)

    def _next(self) -> io.BytesIO:
        """The next message, behind a header as pygls knows it."""
        try:
            while (body := self._body()) is not None:
                if (why := _wrong(body)) is None:
                    self._ahead = io.BytesIO(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
                    break
                self._say(PASSED_OVER.format(why))
        except Refused as why:
            self.refused = str(why)
        return self._ahead

    def _body(self) -> bytes | None:
        """What is in the next message, if there is one."""
        length: int | None = None
        while line := self._source.readline(MOST_HEADER):
            if not line.endswith(b"\n") and len(line) == MOST_HEADER:
                raise Refused(f"the header of a message has a line of more than {MOST_HEADER:,} bytes")
            if found := LENGTH.fullmatch(line):
                digits = found[1].lstrip(b"0") or b"0"
                if len(digits) > 12 or int(digits) > MOST_BYTES:
                    length_text = digits[:20].decode() + "..." * (len(digits) > 20)
                    raise Refused(f"a message is to have {length_text} bytes; the most is {MOST_BYTES:,}")
                length = int(digits)
            elif not line.strip() and length is not None:
                body = self._source.read(length)
                return body if len(body) == length else None
        return None


def _wrong(body: bytes) -> str | None:
    """Why ``body`` is no message of JSON-RPC; None if it is one."""
    try:
        message: Any = json.loads(body)
    except (ValueError, RecursionError) as error:
        return f"it is no JSON ({error})"
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return "it is no object of JSON-RPC 2.0"
    if not isinstance(message.get("method", ""), str):
        return "its method is no text"
    if not isinstance(message.get("id"), int | str | None):
        return "its id is neither a number nor a text"
    return None


def _last_line(traceback: str) -> str:
    """The last line of a traceback with words in it: those of groups end with a frame."""
    lines = (line.strip(" |+-") for line in reversed(traceback.splitlines()))
    return next(filter(None, lines), "")


class _Lines(logging.Formatter):
    """What pygls has to say, in a line where it is about what the editor has sent, else with its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        text = record.getMessage()
        if text.startswith(UNREADABLE):
            return f"pgasrob: {PASSED_OVER.format(_last_line(text))}"
        return f"pgasrob: {super().format(record)}"


def log_to_stderr() -> None:
    """Have pygls log in lines. What it cannot read it would log twice."""
    from pygls.exceptions import JsonRpcException

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    handler.setLevel(logging.WARNING)
    handler.addFilter(lambda record: not (record.exc_info and isinstance(record.exc_info[1], JsonRpcException)))
    logger = logging.getLogger("pygls")
    logger.handlers, logger.propagate = [handler], False
