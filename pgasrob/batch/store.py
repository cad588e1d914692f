"""The file that results are kept in (:mod:`~pgasrob.batch.kept`): an SQLite connection of one process."""

from __future__ import annotations

import io
import pickle
import sqlite3
import zlib
from contextlib import closing, suppress
from typing import Any

from pgasrob.batch.kept import KeptError

PATIENCE = 60.0
"""Seconds to wait for another process that is writing."""
CLASSES = {("pgasrob.program.statements", "Line"), ("pgasrob.render.double_values", "Double")}
"""The classes of values in results, by their modules: all else is of Python's own types without code."""


class Store:
    """A connection to the file, of one process."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
            with suppress(sqlite3.OperationalError):  # another process is about to do the same
                self._connection.execute("pragma journal_mode = wal")  # a commit need not wait for the disk
            self._connection.execute("pragma synchronous = normal")
            self._connection.execute("create table if not exists results (key text primary key, result blob)")
        except sqlite3.Error as error:
            raise self._error(error) from None

    def get(self, key: str) -> Any:
        """The result of ``key``; None where there is none."""
        try:
            with closing(self._connection.execute("select result from results where key = ?", (key,))) as found:
                row = found.fetchone()
            return row and _Reader(io.BytesIO(zlib.decompress(row[0]))).load()
        except (sqlite3.Error, zlib.error, pickle.UnpicklingError) as error:
            raise self._error(error) from None

    def put(self, key: str, result: object) -> None:
        """Keep ``result``. Where another process was faster it is there already."""
        try:
            row = key, zlib.compress(pickle.dumps(result), 1)
            self._connection.execute("insert or ignore into results values (?, ?)", row)
        except sqlite3.Error as error:
            raise self._error(error) from None

    def close(self) -> None:
        self._connection.close()

    def _error(self, error: Exception) -> KeptError:
        return KeptError(f"cannot keep results in {self.path}: {error}")


class _Reader(pickle.Unpickler):
    """Reads results, and nothing that would run code: the file may come from anywhere."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in CLASSES:
            raise pickle.UnpicklingError(f"there is a {module}.{name} in it, which is part of no result")
        return super().find_class(module, name)
