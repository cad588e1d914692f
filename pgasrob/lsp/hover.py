"""The text of a hover: what the command or call at a place promises; `promises` runs in a process of its own."""

from __future__ import annotations

from dataclasses import dataclass

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import CProgram
from pgasrob.lsp.edited_program import EditedProgram, checker
from pgasrob.program.commands import Kind
from pgasrob.program.program import Program
from pgasrob.program.statements import Do, Span, place_of, statements_in
from pgasrob.render.completing_calls import calls_about
from pgasrob.render.promises import promise
from pgasrob.render.source_commands import CALL
from pgasrob.robustness.verdict import Verdict

OWN: frozenset[Kind] = frozenset(("load", "store", "assign", "assume", "assert"))
"""Commands that a C program makes without calling an API."""


@dataclass(frozen=True, slots=True)
class Promised:
    """The text of a hover in Markdown, and the part of the program that it is about."""

    span: Span
    text: str


def promises(edited: EditedProgram, nodes: int, line: int, column: int) -> Promised | None:
    """What the innermost command or call at ``line`` and ``column`` (from 1) of the file promises, by what it does on
    ``nodes`` nodes on all ranks that come to it; None where there is none, or the program cannot be read."""
    read = checker(edited).load(edited.file)
    if isinstance(read, Verdict):
        return None
    try:
        program = read.program(nodes) if isinstance(read, CProgram) else read
    except SourceError:
        return None
    statements = (each for process in program.processes for each in statements_in(process.body))
    found = [each for each in statements if isinstance(each, Do) and _holds(each.span, line, column)]
    if isinstance(read, CProgram):
        found = [each for each in found if each.command.kind not in OWN]
    if not found:
        return None
    spans = [each.span for each in found]
    span = min(spans, key=lambda span: (span.end_line - span.line, span.end_column - span.column))
    of_c = isinstance(read, CProgram)
    every = _of_its_ranks(program, span)
    sentences = dict.fromkeys(
        promise(each.command, program, calls_about(each, every, program) if of_c else None)
        for each in found
        if each.span == span
    )
    text = "\n\n".join(sentences) if len(sentences) == 1 else "\n".join(f"- {sentence}" for sentence in sentences)
    if isinstance(read, CProgram) and (source := _specification(read, span)):
        text += f"\n\nBy {source}"
    return Promised(span, text)


def _of_its_ranks(program: Program, span: Span) -> list[Do]:
    """The commands of all ranks that come to ``span``: no call completes an operation of another rank."""
    made = [(each, [do for do in statements_in(each.body) if isinstance(do, Do)]) for each in program.processes]
    come = [process.ranks for process, dos in made if any(do.span == span for do in dos)]
    ranks = {rank for each in come for rank in each or ()}
    anyone = None in come
    return [do for each, dos in made if anyone or each.ranks is None or not ranks.isdisjoint(each.ranks) for do in dos]


def _holds(span: Span, line: int, column: int) -> bool:
    return not place_of(span.line)[0] and (span.line, span.column) <= (line, column) < (span.end_line, span.end_column)


def _specification(program: CProgram, span: Span) -> str | None:
    """The specification of the API that defines the call at ``span``."""
    line = program.source.text.split("\n")[span.line - 1]
    name = CALL.search(line, span.column - 1)
    api = name and next((each for each in program.compiled.apis if name[0] in each.functions), None)
    if not api:
        return None
    dialects = (*sorted(program.compiled.dialects), "")
    return next(filter(None, map(api.specifications.get, dialects)), None)
