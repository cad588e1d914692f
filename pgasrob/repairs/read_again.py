"""Reads a source, and changed texts of it in the same way."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pgasrob.program.files import DISK, Files, Overlay
from pgasrob.program.program import Program
from pgasrob.repairs.texts import parts
from pgasrob.robustness.load import load

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.repairs.verifier import AnyProgram, Parse


def read(file: str, front_end: FrontEnd | None = None, files: Files = DISK) -> tuple[AnyProgram, Parse]:
    """The program in ``file`` of ``files``, and how a changed text of all its files is read. Raises
    :class:`pgasrob.diagnostics.SourceError` when it is none."""
    program = load(file, front_end, files)
    return program, _reads_like(program, files)


def reads_like(program: AnyProgram) -> Parse:
    """How a changed text of all files of ``program`` is read, as it was. Raises ValueError for one that has no text."""
    if not program.source.text:
        raise ValueError(f"{program.name or 'the program'} was made without a text, so there is none to change")
    return _reads_like(program, DISK)


def _reads_like(program: AnyProgram, files: Files) -> Parse:
    file = program.source.file
    if isinstance(program, Program):
        from pgasrob.program.parser import parse

        return partial(parse, file=file)
    from pgasrob.frontends.lower import parse_c

    front_end = program.front_end

    def parse_all(text: str) -> AnyProgram:
        first, *others = parts(text)
        return parse_c(first.text, file, front_end, Overlay({each.file: each.text for each in others}, files))

    return parse_all
