"""Reads the program in a file: `.pgas` or C, by the ending of its name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.program.files import DISK, Files
from pgasrob.program.program import Program

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.frontends.options import FrontEnd

OF_ANOTHER_KIND = {
    (".cpp", ".cc", ".cxx", ".c++", ".C", ".hpp", ".hh", ".hxx"): (
        "C++, which is not read",
        "give it a name that ends in .c where it is C; else record what it does, with `pgasrob build` and "
        "`pgasrob record`, and check the trace",
    ),
    (".f", ".F", ".f90", ".F90", ".f03", ".F03", ".f08", ".F08"): (
        "Fortran, which is not read",
        "record what it does, with `pgasrob build` and `pgasrob record`, and check the trace",
    ),
    (".h",): (
        "a header, where a program is asked for",
        "name the C file with `main` that includes it; headers are looked for beside that, and in the folders of `-I`",
    ),
    ("compile_commands.json",): (
        "a compilation database, where a program is asked for",
        "name it with `--compile-commands`; without a FILE `pgasrob check` takes all programs in it",
    ),
}
"""Files that are no programs but may be given as one: by their endings, what they are and what to do instead."""


def load(path: str | Path, front_end: FrontEnd | None = None, files: Files = DISK) -> Program | CProgram:
    """The program in file ``path`` of ``files``, C when its name ends in `.c`; ``front_end`` says how to read that.

    Raises :class:`~pgasrob.diagnostics.SourceError` when it is none.
    """
    if str(path).endswith(".c"):
        from pgasrob.frontends.lower import load_c

        return load_c(path, front_end, files)
    if str(path).endswith(".litmus"):
        hint = "ask `pgasrob litmus` for its outcomes, or `pgasrob check` whether it is robust"
        raise SourceError([Diagnostic("PG181", "a litmus test, where a program is asked for", str(path), hint=hint)])
    for endings, (what, hint) in OF_ANOTHER_KIND.items():
        if str(path).endswith(endings):
            raise SourceError([Diagnostic("PG182", what, str(path), hint=hint)])
    from pgasrob.program.parser import parse_file

    program: Program = parse_file(Path(path), files)
    return program
