"""Which calls of a C program complete an operation, and which operations a call waits for, by the queues that its front
end has put them in; where the program makes no such call, what its library has (`repairs/remedies`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgasrob.program.commands import Command, Read, Wait, WaitLocal
from pgasrob.program.expressions import Const
from pgasrob.program.program import Program
from pgasrob.program.statements import Do, Span, place_of
from pgasrob.render.english import listed
from pgasrob.render.promises import Calls
from pgasrob.render.source_commands import CALL
from pgasrob.repairs.remedies import CallText, insertions

MOST_NAMED = 3
"""Calls that are named one by one."""
WAITS = (Wait, WaitLocal)


def calls_about(of: Do, statements: Sequence[Do], program: Program) -> Calls:
    """The calls among the ``statements`` of ``program`` that have to do with the queue of the command ``of``: all
    queues of its call, for one that waits."""
    alike = [each.command for each in statements if each.span == of.span]
    if isinstance(of.command, WAITS):
        queues = {_queue(command) for command in alike if isinstance(command, WAITS)} - {None}
        spans = [each.span for each in statements if _queue(each.command) in queues and not _waits(each)]
        names = _names(program, spans)
        if not names or len(names) > MOST_NAMED:
            return Calls()
        return Calls(f"{listed(names)} {'is' if len(names) == 1 else 'are'}")
    queue = _queue(of.command)
    if queue is None:
        return Calls()
    completing = (Wait, WaitLocal) if isinstance(of.command, Read) else (Wait,)
    found = [each.span for each in statements if _queue(each.command) == queue and isinstance(each.command, completing)]
    found.sort(key=lambda span: (span.line < of.span.line, span.line))  # the next one behind the call first
    there = listed(_names(program, found)[:1] or [""])
    offered = listed([*_offered(of, program)][:MOST_NAMED] or [""], "or")
    completes = f"{offered or there} completes it" * bool(offered or there)
    ranks = {getattr(command, "rank", None) for command in alike if type(command) is type(of.command)}
    target = next((f"rank {rank.value}" for rank in ranks if isinstance(rank, Const) and len(ranks) == 1), "its target")
    return Calls(completes=completes + f", as {there} does" * bool(offered and there), target=target)


def _waits(each: Do) -> bool:
    return isinstance(each.command, WAITS)


def _queue(command: Command) -> int | None:
    queue = getattr(command, "queue", None)
    return queue.value if isinstance(queue, Const) else None


def _names(program: Program, spans: Sequence[Span]) -> list[str]:
    """The calls at ``spans``, each with its line: ``the MPI_Put in line 12``."""
    return list(dict.fromkeys(filter(None, (_name(program, span) for span in spans))))


def _name(program: Program, span: Span) -> str:
    text, file = _text(program, span)
    called = CALL.match(text)
    return f"the {called[0]} in line {place_of(span.line)[1]}{f' of {file}' if file else ''}" if called else ""


def _text(program: Program, span: Span) -> tuple[str, str]:
    """The source from ``span`` on, and the file that it is in if that is not the first one."""
    lines, file = _lines(program, span)
    return "\n".join(lines)[span.column - 1 :], file


def _lines(program: Program, span: Span) -> tuple[list[str], str]:
    """The lines of the source from that of ``span`` on, and the file that they are in if that is not the first one."""
    file, line = place_of(span.line)
    source = dict(program.source.others).get(file, "") if file else program.source.text
    return source.split("\n")[line - 1 :], file


def _offered(of: Do, program: Program) -> Iterator[str]:
    """What the library of the call would complete it with."""
    lines, _ = _lines(program, of.span)
    before = lines[0][: of.span.column - 1] if lines else ""
    call = CallText.read(_text(program, of.span)[0], before)
    if call is not None:
        kinds = ("completion", "barrier", *(["local completion"] * isinstance(of.command, Read)))
        yield from (f"`{text.rstrip(';')}`" for kind, text in insertions(call, program.source.text) if kind in kinds)
