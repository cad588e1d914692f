"""Reproduced executions as a report and as JSON."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, TypedDict

from pgasrob.diagnostics import visible
from pgasrob.program.statements import Line
from pgasrob.render.double_values import value
from pgasrob.render.english import capital, count, listed, on_nodes
from pgasrob.render.lines import Line as TextLine
from pgasrob.render.lines import headline, paragraph
from pgasrob.render.shared_json import SCHEMA, Error
from pgasrob.render.source_commands import Calls, pieces

if TYPE_CHECKING:
    from pgasrob.runtime.reproduce.execute import Execution
    from pgasrob.runtime.reproduce.reproduce import Compared, Reproduction
    from pgasrob.semantics.replay import Run

ALL_HELD = (
    "No run is known whose result no sequentially consistent run has; with everything held back for as long as it may "
    "be, the program prints something else than before. Whether an SC run can print that is not known."
)
LIBRARIES = {"openshmem": "OpenSHMEM", "mpi": "MPI"}


class ProcessesObject(TypedDict):
    """``output``: the lines of each rank; ``exit_code``: null where the program did not end."""

    output: list[list[str]]
    assertion: str | None
    exit_code: int | None


class ValueObject(TypedDict):
    """``in_sc``: what SC runs have there; empty where it takes several values together to tell."""

    name: str
    rank: int
    line: int | None
    counterexample: int | None
    in_sc: list[int]
    normal: int | None
    reproduced: int | None


class UntilObject(TypedDict):
    rank: int
    line: int


class HeldObject(TypedDict):
    rank: int
    line: int
    call: str
    until: UntilObject


class ReproducedObject(TypedDict):
    """``state``: "reproduced", "not reproduced", "robust", "unknown" or "error"; with everything held back "same" or
    "different"."""

    schema: int
    file: str
    nodes: int | None
    state: str
    reason: str | None
    library: str | None
    normal: ProcessesObject | None
    reproduced: list[ProcessesObject]
    values: list[ValueObject]
    held: list[HeldObject]
    all_held: bool
    errors: list[Error]


def pieces_of(run: Run) -> list[tuple[int, str | None]]:
    """For each event of ``run`` the number of its piece of source, and the library function that it comes from."""
    calls = Calls(run.instance)
    return [
        (piece, None if event.is_step else calls.of(event))
        for event, piece in zip(run.computation, pieces(run), strict=True)
    ]


def nothing_reproduced(
    file: str, nodes: int | None, state: str, reason: str | None = None, errors: Sequence[Error] = ()
) -> ReproducedObject:
    return {
        "schema": SCHEMA, "file": file, "nodes": nodes, "state": state, "reason": reason, "library": None,
        "normal": None, "reproduced": [], "values": [], "held": [], "all_held": False,
        "errors": list(errors),
    }  # fmt: skip


def reproduced_to_json(file: str, found: Reproduction, state: str, doubles: Collection[str]) -> ReproducedObject:
    return {
        **nothing_reproduced(file, found.nodes, state, found.why_not),
        "library": found.library,
        "all_held": found.all_held,
        "normal": _execution(found.normal),
        "reproduced": [_execution(each) for each in found.reproduced],
        "values": [_value(each, doubles) for each in found.values],
        "held": [
            {"rank": each.rank, "line": each.line, "call": each.call,
             "until": {"rank": each.until_rank, "line": each.until_line}}
            for each in found.held
        ],
    }  # fmt: skip


def _execution(execution: Execution) -> ProcessesObject:
    return {
        "output": [list(lines) for lines in execution.output],
        "assertion": execution.failed_assertion,
        "exit_code": execution.code,
    }


def _value(each: Compared, doubles: Collection[str]) -> ValueObject:
    def shown(number: int) -> int:
        return value(each.name, number, doubles)

    return {
        "name": each.name,
        "rank": each.rank,
        "line": each.line,
        "counterexample": None if each.counterexample is None else shown(each.counterexample),
        "in_sc": [shown(number) for number in each.in_sc],
        "normal": None if each.normal is None else shown(each.normal),
        "reproduced": None if each.reproduced is None else shown(each.reproduced),
    }


def reproduced_lines(
    file: str, found: Reproduction, state: str, doubles: Collection[str], width: int
) -> list[TextLine]:
    """The report: both executions side by side, the values that differ, and what was held back."""
    style = {"reproduced": "not robust", "different": "not robust", "same": "robust"}.get(state, "unknown")
    runs = count(len(found.reproduced), "run")
    outcome = {
        "reproduced": f"reproduced in {runs}", "not reproduced": "not reproduced",
        "same": f"nothing differs in {runs} with everything held back",
        "unknown": "nothing to compare with",
        "different": f"with everything held back it does something else in {runs}",
    }[state]  # fmt: skip
    where = f"{on_nodes(found.nodes)}, with {LIBRARIES[found.library]}"
    lines = headline(f"{visible(file)}: ", [(outcome, style), (where, "")], width)
    if found.why_not:
        lines += paragraph(f"{capital(found.why_not)}.", width, "", "  ")
    elif found.all_held and state == "reproduced":
        lines += paragraph(ALL_HELD, width, "", "  ")
    return [*lines, [], *_side_by_side(found, width), *_values(found, doubles, width), *_held(found, width)]


def _side_by_side(found: Reproduction, width: int) -> Iterator[TextLine]:
    shown = found.reproduced[0]
    right = "held back" if found.all_held else "reproduced run"
    columns = [[[*map(visible, lines)] for lines in execution.output] for execution in (found.normal, shown)]
    longest = max(len(line) for line in (_end(found.normal), *(line for rank in columns[0] for line in rank)))
    room = min(max(11, longest) + 3, max(14, width // 2))
    yield [(f"{'':9}{'normal run':{room}}{right}", "heading")]
    for rank, (normal, reproduced) in enumerate(zip(*columns, strict=True)):
        for number in range(max(len(normal), len(reproduced), 1)):
            one, other = (lines[number] if number < len(lines) else "" for lines in (normal, reproduced))
            if not one and not other and not number:
                one, other = "(nothing)", "(nothing)"
            name = f"rank {rank}" if number == 0 else ""
            same = one == other
            yield [(f"{name:9}", "faint"), (f"{_cut(one, room - 2):{room}}", ""), (other, "" if same else "bad")]
    ends = [_end(found.normal), _end(shown)]
    if any(ends):
        yield [(f"{'':9}{_cut(ends[0], room - 2):{room}}", ""), (ends[1], "bad")]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _end(execution: Execution) -> str:
    """How the execution ended, if it did not end well."""
    if execution.failed_assertion is not None:
        return visible(execution.failed_assertion.partition(": ")[2] or execution.failed_assertion)
    if execution.code is None:
        waiting = [rank for rank, ended in enumerate(execution.ended) if not ended]
        return f"does not end ({listed([f'rank {rank}' for rank in waiting])})" if waiting else "does not end"
    return f"exit code {execution.code}" if execution.code else ""


def _values(found: Reproduction, doubles: Collection[str], width: int) -> Iterator[TextLine]:
    if found.values:
        yield []
    for each in found.values:
        shown = _value(each, doubles)
        where = "at the end" if each.line is None else f"in {_at(each.line)}"
        runs = (
            ("normal run", shown["normal"]),
            ("run with everything held back" if found.all_held else "reproduced run", shown["reproduced"]),
        )
        seen = [f"{number} in the {name}" for name, number in runs if number is not None]
        sc = f"{listed(shown['in_sc'], 'or')} in SC runs" if shown["in_sc"] else ""
        planned = [] if each.counterexample is None else [f"{shown['counterexample']} in the counterexample"]
        values = [*seen, *planned, *([sc] if sc else [])]
        yield from paragraph(f"{each.name} {where}: {', '.join(values)}", width, "", "", "  ")

    if found.values and all(each.normal == each.counterexample for each in found.values):
        yield [("The normal run shows it, too.", "")]


def _held(found: Reproduction, width: int) -> Iterator[TextLine]:
    if found.held:
        yield []
        yield [("Held back", "heading")]
    for each in found.held:
        sentence = f"rank {each.rank}, {_at(each.line)}: {each.call}, until rank {each.until_rank} has come past"
        yield from paragraph(f"{sentence} {_at(each.until_line)}", width, "", "  ", "    ")


def _at(line: int) -> str:
    """``line 12``, or ``util.c:12`` for a line of a further file."""
    return str(line) if isinstance(line, Line) else f"line {line}"
