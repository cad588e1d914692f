"""Names the file of a line where a program has several: in text, and in JSON as `file` beside the line, unless it is
the first file of the program."""

from __future__ import annotations

import json
from typing import Any

from pgasrob.diagnostics import visible
from pgasrob.program.statements import Line, place_of

LONGEST_LABEL = 20
"""Characters that the name of a file and a line take at most in a table or a box."""


NESTED = (dict, list, tuple)
"""What has values in it. Most values have none, and are not asked about theirs."""


def located(file: str, line: int, column: int | None = None) -> str:
    """``line`` and ``column`` of a program with the first ``file``: `ring.c:12:3`."""
    other, number = place_of(line)
    return f"{visible(other or file)}:{number}" + (f":{column}" if column is not None else "")


def is_lowered(file: str) -> bool:
    """Whether ``file`` is a C program, whose variables need not be registers."""
    return file.endswith(".c")


def label(line: int) -> str:
    """``line`` with its file in little room: of a long name the end is kept."""
    text = str(line or "")
    return text if len(text) <= LONGEST_LABEL else f"...{text[3 - LONGEST_LABEL :]}"


def dumps(value: object, **options: Any) -> str:
    """``value`` as JSON, with the files of its lines."""
    return json.dumps(_with_files(value), **options)


def _with_files(value: Any) -> Any:
    match value:
        case dict():
            found = {key: _with_files(each) if type(each) in NESTED else each for key, each in value.items()}
            if isinstance(line := value.get("line"), Line):
                found |= {"file": line.file, "file_name": line.name}
            if (lines := value.get("lines")) and any(isinstance(line, Line) for line in lines):
                found["files"] = [place_of(line)[0] or None for line in lines]
                found["file_names"] = [line.name if isinstance(line, Line) else None for line in lines]
            return found
        case list() | tuple():
            return [_with_files(each) if type(each) in NESTED else each for each in value]
        case _:
            return value


def with_lines(value: Any) -> Any:
    """The inverse of :func:`dumps`, from what `json.loads` gives."""
    match value:
        case {"line": int(line), "file": str(file), "file_name": str(name)}:
            found = {key: with_lines(each) for key, each in value.items()} | {"line": Line(line, file, name)}
            if isinstance(end := found.get("end_line"), int):
                found["end_line"] = Line(end, file, name)
            return found
        case {"lines": [*lines], "files": [*files], "file_names": [*names]}:
            places = [
                Line(line, file, name) if file and name and isinstance(line, int) else line
                for line, file, name in zip(lines, files, names, strict=False)
            ]
            return {key: with_lines(each) for key, each in value.items()} | {"lines": places}
        case dict():
            return {key: with_lines(each) for key, each in value.items()}
        case list():
            return [with_lines(each) for each in value]
        case _:
            return value
