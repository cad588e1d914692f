"""Reading a source, and again when it is changed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pgasrob.program.files import DISK, Files, Overlay
from pgasrob.program.program import Program
from pgasrob.repair.texts import parts
from pgasrob.robustness.check import load

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.repair.verifier import AnyProgram, Parse


def read(file: str, front_end: FrontEnd | None = None, files: Files = DISK) -> tuple[AnyProgram, Parse]:
    """The program in ``file`` of ``files``, and how a changed text of all its files is read. Raises
    :class:`pgasrob.diagnostics.SourceError` when it is none."""
    program = load(file, front_end, files)
    if isinstance(program, Program):
        from pgasrob.program.parser import parse

        return program, partial(parse, file=file)
    from pgasrob.frontends.lower import parse_c

    def parse_all(text: str) -> AnyProgram:
        first, *others = parts(text)
        return parse_c(first.text, file, front_end, Overlay({each.file: each.text for each in others}))

    return program, parse_all
