"""The options with which C files are read: macros, header folders, dialects, further files of a program."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

DIALECTS = ("gaspi-17", "gaspi-1.01")
"""Versions of APIs in which a call means something else than in others; the first of an API is the default."""

Macros = tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class Flags:
    """The options that one file is compiled with, in its order: ``macros``, by their heads, with what they stand for
    (`-D`) or None (`-U`); ``folders`` of headers (`-I`), and those of headers in quotes alone (`-iquote`); ``forced``:
    files that are included before its first line (`-include`). ``empty_configs``: a generated header (`config.h`) that
    is not there is empty."""

    macros: Macros = ()
    folders: tuple[str, ...] = ()
    quoted: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()
    empty_configs: bool = False

    def and_then(self, others: Flags) -> Flags:
        """These options followed by ``others``."""
        return Flags(
            self.macros + others.macros,
            self.folders + others.folders,
            self.quoted + others.quoted,
            self.forced + others.forced,
            self.empty_configs or others.empty_configs,
        )

    def for_text(self, text: str) -> Flags:
        """These options for a file that has this ``text``. `-D main=NAME` is about files whose `main` another one calls
        by that NAME: the one that calls it keeps its own."""
        name = dict(self.macros).get("main")
        if not name or not re.search(rf"\b{re.escape(name)}\s*\(", text):
            return self
        return replace(self, macros=tuple(each for each in self.macros if each[0] != "main"))


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How files are compiled: ``files``, by their absolute paths, for the targets that each is built for; and what the
    command line says of ``all`` files."""

    files: Mapping[str, Sequence[tuple[Flags, str]]]
    all: Flags

    def targets(self, file: str) -> frozenset[str]:
        """The targets that the compilation database names for ``file``; none where it names none."""
        return frozenset(target for _, target in self.files.get(os.path.abspath(file), ()) if target)

    def of(self, file: str, targets: frozenset[str] = frozenset()) -> tuple[Flags, ...]:
        """The different options that ``file`` is compiled with: for one of the ``targets``, or for any where it is for
        none."""
        known = self.files.get(os.path.abspath(file), ())
        found = [flags for flags, target in known if target in targets] or [flags for flags, _ in known] or [Flags()]
        return tuple(flags.and_then(self.all) for flags in dict.fromkeys(found))


SHARED_MEMORY = re.compile(r"none|all|nodes=[1-9][0-9]{0,4}", re.ASCII)
NO_SHARED_MEMORY = "none"


@dataclass(frozen=True, slots=True)
class FrontEnd:
    """``dialects`` (`--api`), functions that touch no shared memory (`--assume-pure`), macros (`-D`), folders of
    headers (`-I`). ``shared_memory``: which ranks reach each other's memory by loads and stores (`--shared-memory`),
    None where the comments of the file say it. ``arguments``: those that the program is started with, None where the
    comments of the file may say them. ``empty_configs``: a header that builds generate (`config.h`) and that is not
    there is empty (`--define-missing-config`).

    ``units``: further C files, which are parts of a program where it needs what they define; with what a compilation
    database says about each, and the target that it is built for ("" where that is not known).
    """

    dialects: tuple[str, ...] = ()
    pure: tuple[str, ...] = ()
    defines: tuple[tuple[str, str], ...] = ()
    shared_memory: str | None = None
    folders: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    commands: tuple[tuple[str, Flags, str], ...] = ()
    arguments: tuple[str, ...] | None = None
    empty_configs: bool = False

    def build_options(self) -> BuildOptions:
        """The options of each file from the compilation database, by its absolute path, and the options for all
        files."""
        found: dict[str, list[tuple[Flags, str]]] = {}
        for file, flags, target in self.commands:
            found.setdefault(os.path.abspath(file), []).append((flags, target))
        return BuildOptions(found, Flags(self.defines, self.folders, empty_configs=self.empty_configs))

    @staticmethod
    def check_dialect(name: str, fail: Callable[[str, str], None]) -> None:
        """Call ``fail`` with a message and a hint when there is no dialect ``name``."""
        from pgasrob.diagnostics.suggestions import did_you_mean

        if name not in DIALECTS:
            fail(f"no API dialect {name!r}", did_you_mean(name, DIALECTS) or f"there is {', '.join(DIALECTS)}")

    @staticmethod
    def check_shared_memory(text: str, fail: Callable[[str, str], None]) -> None:
        """Call ``fail`` with a message and a hint when ``text`` does not say which ranks share memory."""
        if not SHARED_MEMORY.fullmatch(text):
            fail(f"{text!r} does not say which ranks share memory", "write none, all, or nodes=4 for blocks of 4 ranks")


def split_arguments(text: str, fail: Callable[[str, str], None]) -> tuple[str, ...]:
    """The arguments of a program as a shell splits ``text``; calls ``fail`` with a message and a hint when it cannot
    be split."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        fail(f"{text!r} cannot be split into arguments: {str(error).lower()}", "close what is quoted, as in a shell")
        raise AssertionError("`fail` raises") from None


def neighbours(shared_memory: str, rank: int, nodes: int) -> range:
    """The ranks that share the memory of ``rank`` among ``nodes``, itself among them: it alone (``none``), ``all``, or
    those of its block of K consecutive ranks (``nodes=K``)."""
    if shared_memory == "all":
        return range(nodes)
    size = 1 if shared_memory == NO_SHARED_MEMORY else int(shared_memory.removeprefix("nodes="))
    first = rank - rank % size
    return range(first, min(first + size, nodes))
