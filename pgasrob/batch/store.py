"""The file that results are kept in (:mod:`~pgasrob.batch.kept`): an SQLite connection of one process.

Each result is there as JSON, packed, behind a digest of it and of what it is found by. What does not fit its digest,
or is no result by the schema, is damaged: it is as if it were not there, and is reported.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import zlib
from contextlib import closing, suppress
from typing import Any

from pgasrob import file_input
from pgasrob.batch.kept import Kept, KeptError

PATIENCE = 60.0
"""Seconds to wait for another process that is writing."""
APPLICATION = 0x70676173
"""By which SQLite, and `file`, know whose database it is."""
MAGIC, APPLICATION_AT = b"SQLite format 3\0", 68
"""How a database begins, and where in it the number of the application is (sqlite.org/fileformat2.html)."""
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
DIGEST_BYTES = 32


class Store:
    """A connection to the file of ``kept``, of one process. Raises :class:`KeptError` where there can be none."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self._broken = False
        try:
            self._connection = sqlite3.connect(kept.path, timeout=PATIENCE, isolation_level=None)
            with suppress(sqlite3.OperationalError):  # another process is about to do the same
                self.run("pragma journal_mode = wal")  # a commit need not wait for the disk
            self.run("pragma synchronous = normal")
            if (found := self.run("pragma application_id")[0][0]) != APPLICATION:
                tables = self.run("select name from sqlite_master where type = 'table' and name != 'results'")
                if found or tables:
                    raise KeptError(f"cannot keep results in {kept.path}: it is a database of another program")
                self.run(f"pragma application_id = {APPLICATION}")
            self.run("create table if not exists results (key text primary key, result blob)")
            self.run("select key, result from results limit 0")
        except sqlite3.Error as error:
            raise _error(kept, error) from error

    def run(self, command: str, *values: object) -> list[Any]:
        """The rows of an SQL ``command``. Raises sqlite3.Error."""
        try:
            with closing(self._connection.execute(command, values)) as found:
                return found.fetchall()
        except UnicodeDecodeError:  # its message has a name that is damaged
            error = sqlite3.DatabaseError("database disk image is malformed")
            error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise error from None

    def get(self, key: str, title: str) -> Any:
        """The result of ``key``; None where there is none, or a damaged one, which is noted as that of ``title``."""
        if self._broken:
            return None
        try:
            for (stored,) in self.run("select result from results where key = ?", key):
                return self._kept.form.loads(_unpacked(key, stored))
        except sqlite3.Error as error:
            self._broken = True
            self._kept.damaged.append(f"{self._kept.path} cannot be read ({error}): what is in it is computed again")
        except (ValueError, zlib.error) as error:
            self._kept.damaged.append(
                f"{self._kept.path}: the result for {title} is damaged ({error}), and is computed again"
            )
        return None

    def put(self, key: str, result: object) -> None:
        """Keep ``result``, unless it is one that would not be the same when it is read back. Where that fails it is
        noted."""
        if self._kept.unkept:
            return
        form, text = self._kept.form, self._kept.form.dumps(result)
        try:
            if form.dumps(form.loads(text)) == text:
                self.run("insert or replace into results values (?, ?)", key, _packed(key, text))
        except sqlite3.Error as error:
            self._kept.unkept.append(str(_error(self._kept, error)))
        except ValueError:
            return

    def close(self) -> None:
        self._connection.close()


def prepare(kept: Kept) -> None:
    """Make the file ready, before processes that use it are started. One of ours that is damaged is set aside, and
    reported. Raises :class:`KeptError`."""
    try:
        with closing(Store(kept)) as store:  # a connection must not be open when processes fork
            why = str(store.run("pragma integrity_check(1)")[0][0]).splitlines()[-1]
        if why == "ok":
            return
    except (KeptError, sqlite3.Error) as error:
        cause = error.__cause__ or error
        damaged = isinstance(cause, sqlite3.Error) and cause.sqlite_errorcode & 0xFF in DAMAGED
        if not damaged or not _is_ours(kept.path):
            raise _error(kept, cause) from None
        why = str(cause)
    aside = f"{kept.path}.damaged"
    try:
        os.replace(kept.path, aside)
    except OSError as error:
        raise KeptError(f"cannot keep results in {kept.path}: it is damaged ({why}), {error.strerror}") from None
    kept.damaged.append(f"{kept.path} is damaged ({why}): it is {aside} now, and what was in it is computed again")
    Store(kept).close()


def _is_ours(path: str) -> bool:
    with file_input.opened(path, None) as opened:
        head = opened.read(APPLICATION_AT + 4)
    return head.startswith(MAGIC) and head[APPLICATION_AT:] == APPLICATION.to_bytes(4, "big")


def _packed(key: str, text: str) -> bytes:
    packed = zlib.compress(text.encode(), 1)
    return hashlib.sha256(key.encode() + packed).digest() + packed


def _unpacked(key: str, stored: object) -> str:
    """The inverse of :func:`_packed`. Raises ValueError, and zlib.error."""
    if not isinstance(stored, bytes):
        raise ValueError(f"there is a value of SQLite's type {type(stored).__name__}")
    digest, packed = stored[:DIGEST_BYTES], stored[DIGEST_BYTES:]
    if hashlib.sha256(key.encode() + packed).digest() != digest:
        raise ValueError("it does not fit its digest")
    return zlib.decompress(packed).decode()


def _error(kept: Kept, error: BaseException | None) -> KeptError:
    return error if isinstance(error, KeptError) else KeptError(f"cannot keep results in {kept.path}: {error}")
