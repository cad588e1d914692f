"""That nothing was checked: the program has calls that move data between ranks, and on its number of nodes, with its
arguments and an empty environment, no rank comes to one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from pgasrob.frontends.apis.communicating import moves_data
from pgasrob.frontends.c.code import Call, CompiledFunction, Set
from pgasrob.frontends.c.compiled import Compiled
from pgasrob.frontends.c.values import Code
from pgasrob.program.assumptions import Kind
from pgasrob.program.count_note import CountNote, Remedy
from pgasrob.program.program import Program
from pgasrob.program.statements import Span
from pgasrob.stop_points import stop_point


def nothing_checked(compiled: Compiled, program: Program, note: CountNote | None) -> CountNote | None:
    """That nothing was checked of ``program``, which ``compiled`` is and whose ranks make no call that moves data; the
    ``note`` on its number of nodes where the text has no such call."""
    call = next(_calls_that_move_data(compiled), None)
    if call is None:
        return note
    if note is None:
        note = CountNote(program.nodes or 0, "silent")
    if note.why == "silent" and not note.span.line:
        note = replace(note, span=call, text=program.source.piece(call))
    return replace(note, nothing=True, remedies=tuple(_remedies(compiled, program)))


def _calls_that_move_data(compiled: Compiled) -> Iterator[Span]:
    """Where calls that move data between ranks stand in the functions that `main` may call."""
    functions = compiled.unit.functions
    todo, seen = ["main"], {"main"}
    while todo:
        stop_point()
        function = functions.get(todo.pop())
        for name, span in named(function) if function is not None else ():
            if name not in functions and moves_data(name):
                yield span
            if name not in seen:
                seen.add(name)
                todo.append(name)


def named(function: CompiledFunction) -> Iterator[tuple[str, Span]]:
    """The functions that ``function`` calls, or has pointers to."""
    for instruction, span in zip(function.code, function.spans, strict=True):
        match instruction:
            case Call(function=str(name)) | Set(value=Code(name)):
                yield name, span


def _remedies(compiled: Compiled, program: Program) -> Iterator[Remedy]:
    """What may let the program go further, beside another number of nodes."""
    if _reads_arguments(compiled):
        yield "arguments" if compiled.arguments is None else "other arguments"
    if any(each.kind is Kind.ENVIRONMENT for each in program.assumptions):
        yield "environment"


def _reads_arguments(compiled: Compiled) -> bool:
    """Whether `main` names its parameters elsewhere than behind `&`, as in `MPI_Init(&argc, &argv)`."""
    main = compiled.unit.functions["main"]
    names = [main.slots[slot].name for slot in main.parameters]
    text = compiled.unit.source.text
    return any(len(re.findall(rf"(?<![&\w]){re.escape(name)}\b", text)) > 1 for name in names if name)
