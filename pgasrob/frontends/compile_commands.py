"""Reads compilation databases (`compile_commands.json`), as CMake, Meson and `bear` write them.

https://clang.llvm.org/docs/JSONCompilationDatabase.html. They say how each file is compiled, and not what is linked.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from pgasrob import file_input
from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.frontends.options import Flags, Macros

NAME = "compile_commands.json"
WITH_VALUE = ("-isystem", "-idirafter", "-iquote", "-include", "-imacros", "-D", "-U", "-I")
MACRO = re.compile(r"[A-Za-z_]\w*(\(.*)?", re.ASCII | re.DOTALL)
"""What `-D` and `-U` take, the parameters of a macro with it."""
LIBTOOL = "PIC"
"""The macro with which libtool compiles a file a second time, for a shared library."""
Compiled = tuple[str, Flags, str]
"""A file, the options that it is compiled with, and the target that it is built for, "" where that is not known."""


def read(path: str) -> tuple[Compiled, ...]:
    """The C files of the database ``path``, or of the one in this folder, relative to the working directory where they
    lie in it. Raises :class:`pgasrob.diagnostics.SourceError`."""
    file = os.path.join(path, NAME) if os.path.isdir(path) else path
    try:
        entries = json.loads(file_input.text(file))
    except OSError as error:
        raise _refused(file, f"cannot read the file: {'; '.join(file_input.why(error))}") from None
    except (ValueError, RecursionError) as error:
        raise _refused(file, f"this is no JSON: {error}") from None
    if not isinstance(entries, list):
        raise _refused(file, "this is no compilation database: a list of commands is needed")
    compiled = [_compiled(entry, file, number) for number, entry in enumerate(entries, start=1)]
    found = tuple(dict.fromkeys(each for each in compiled if each[0].endswith(".c")))
    if not found:
        raise _refused(file, "it names no C file")
    return found


def _refused(file: str, message: str, hint: str = "`--compile-commands` takes a compile_commands.json") -> SourceError:
    return SourceError([Diagnostic("PG163", message, file, hint=hint)])


def _compiled(entry: Any, file: str, number: int) -> Compiled:
    """Entry ``number`` of the database: the file, its options, and its target. Raises `SourceError` for others."""
    match entry:
        case {"directory": str(folder), "file": str(source), "arguments": [*words]}:
            arguments = list(map(str, words))
        case {"directory": str(folder), "file": str(source), "command": str(command)}:
            try:
                arguments = shlex.split(command)
            except ValueError as error:
                raise _refused(file, f"entry {number}: `command` cannot be taken apart: {error}") from None
        case _:
            needed = "`directory`, `file`, and `command` or `arguments`"
            raise _refused(file, f"entry {number}: {needed} are needed")
    folder = os.path.join(os.path.dirname(os.path.abspath(file)), folder)
    flags, output = _flags(list(_written_out(arguments[1:], folder, file)), folder)
    wrong = [head for head, _ in flags.macros if not MACRO.fullmatch(head)]
    if wrong:
        raise _refused(file, f"entry {number}: `{wrong[0]}` is not the name of a macro")
    output = entry.get("output") if isinstance(entry.get("output"), str) else output
    return _near(os.path.join(folder, source)), flags, _target(os.path.join(folder, output)) if output else ""


def _written_out(arguments: list[str], folder: str, file: str) -> Iterator[str]:
    """The ``arguments`` with those that files hold (`@FILE`), and those for the preprocessor (`-Wp,`)."""
    for argument in arguments:
        if argument.startswith("@"):
            try:
                yield from shlex.split(file_input.text(Path(folder, argument[1:]), file_input.SOURCE))
            except (OSError, ValueError):
                raise _refused(file, f"cannot read {argument[1:]}, which holds options", "build the project") from None
        elif argument.startswith("-Wp,"):
            yield from argument.split(",")[1:]
        else:
            yield argument


def _near(path: str) -> str:
    """``path``, relative to the working directory when that is shorter."""
    whole = os.path.normpath(path)
    return min(os.path.relpath(whole), whole, key=len)


def _target(output: str) -> str:
    """The target of a file in `CMakeFiles/TARGET.dir/` of CMake, or in `TARGET.p/` of Meson."""
    *folders, _ = output.split("/")
    for place, (folder, inside) in enumerate(pairwise(folders)):
        if folder == "CMakeFiles" and len(target := inside.removesuffix(".dir")) < len(inside):
            return "/".join((*folders[:place], target))
    for place, folder in enumerate(folders):
        if folder != ".p" and len(target := folder.removesuffix(".p")) < len(folder):
            return "/".join((*folders[:place], target))
    return ""


def _flags(arguments: list[str], folder: str) -> tuple[Flags, str]:
    """The macros and folders of headers in the command line of a C compiler, and the file that it writes."""
    macros: list[tuple[str, str | None]] = []
    folders: list[str] = []
    later: list[str] = []
    quoted: list[str] = []
    forced: list[str] = []
    output = ""
    for option, value in _options(arguments):
        match option:
            case "-D":
                head, _, body = value.partition("=")
                if head != LIBTOOL:
                    macros.append((head, body if "=" in value else "1"))
            case "-U":
                macros.append((value, None))
            case "-I":
                folders.append(_near(os.path.join(folder, value)))
            case "-isystem" | "-idirafter":
                later.append(_near(os.path.join(folder, value)))
            case "-iquote":
                quoted.append(_near(os.path.join(folder, value)))
            case "-include" | "-imacros":
                forced.append(_near(os.path.join(folder, value)))
            case "-o":
                output = value
            case "-fopenmp" | "-qopenmp":
                macros.append(("_OPENMP", "201511"))
    kept: Macros = tuple(macros)
    return Flags(kept, (*folders, *later), tuple(quoted), tuple(forced)), output


def _options(arguments: list[str]) -> Iterator[tuple[str, str]]:
    """The options that take a value, whether it is joined to them or follows."""
    rest = iter(arguments)
    for argument in rest:
        option = next((each for each in WITH_VALUE if argument.startswith(each)), "")
        if argument in ("-fopenmp", "-qopenmp"):
            yield argument, ""
        elif argument == "-o" or option:
            yield option or argument, argument.removeprefix(option or argument) or next(rest, "")
