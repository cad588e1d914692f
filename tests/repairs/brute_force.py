"""The catalogue of repairs without the search: everything at every place, and all sets that cost less."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from pgasrob.frontends.lower import CProgram
from pgasrob.program.program import Program
from pgasrob.repairs import Costs, remedies
from pgasrob.repairs.edits import Edit, applied, overlap
from pgasrob.repairs.remedies import CallText, Kind
from pgasrob.repairs.source_statements import Statement, Statements

COSTS = Costs()
OF_QUEUES: dict[str, Kind] = {"fence": "order", "wait_local": "local completion", "wait": "completion"}


@dataclass(frozen=True, slots=True)
class Change:
    """One of the catalogue; ``meets``: all ranks do."""

    cost: int
    edits: tuple[Edit, ...]
    meets: bool = False


def catalogue(program: Program | CProgram) -> list[Change]:
    """What gives different texts, each at its smallest cost; those that meet in C alone."""
    statements = Statements.of(program)
    changes = _of_queues(program, statements) if isinstance(program, Program) else _of_calls(statements)
    found: dict[str, Change] = {}
    for change in sorted(changes, key=lambda each: each.cost):
        found.setdefault(applied(statements.text, change.edits), change)
    return list(found.values())


def _of_queues(program: Program, statements: Statements) -> Iterator[Change]:
    """Every wait and fence for every queue at every place, and for every operation the queues of the others."""
    queues = [queue.name for queue in program.queues]
    calls = [CallText.read(statements.text[each.start : each.end]) for each in statements.all()]
    used = {argument for call in calls if call and call.name not in OF_QUEUES for argument in call.arguments}
    for name, kind in OF_QUEUES.items():
        for queue in queues:
            yield from _everywhere(statements, f"{name}({queue});", kind)
    for statement in statements.all():
        call = CallText.read(statements.text[statement.start : statement.end])
        if call is not None and call.name not in OF_QUEUES:
            for place, argument in enumerate(call.arguments):
                for queue in queues:
                    if argument in queues and queue in used - {argument}:
                        changed = CallText(call.name, (*call.arguments[:place], queue, *call.arguments[place + 1 :]))
                        edit = Edit(statement.start, statement.end, 0, f"{changed};")
                        yield Change(COSTS.of("order", statement.loops), (edit,))


def _of_calls(statements: Statements) -> Iterator[Change]:
    """What the library has for every call of the text at every place, in place of every call, and barriers."""
    text = statements.text
    calls = [(each, start, end) for each, start, end in statements.calls(r"\w+")]
    inserted: set[tuple[Kind, str]] = set()
    for statement, start, end in calls:
        call = CallText.read(text[start:end], text[statement.start : start])
        if call is None:
            continue
        inserted |= {each for each in remedies.insertions(call, text) if not each[1].startswith(remedies.ONCE)}
        if told := remedies.barrier(call):
            inserted.add(("barrier", told))
        for kind, changed in remedies.changes(call):
            yield Change(COSTS.of(kind, statement.loops), (Edit(start, end, 0, changed),))
    for kind, added in sorted(inserted):
        yield from _everywhere(statements, added, kind)


def _everywhere(statements: Statements, text: str, kind: Kind) -> Iterator[Change]:
    for statement in statements.all():
        cost = COSTS.of(kind, statement.loops)
        for put in _places(statements, statement):
            yield Change(cost, put(statement, text, 0), kind == "barrier")  # type: ignore[operator]


def _places(statements: Statements, statement: Statement) -> Iterator[object]:
    if statement.insertable:
        yield statements.before
    if not statement.head and not statement.leaves:
        yield statements.after


def sets(changes: list[Change], below: int, most: int) -> Iterator[tuple[Change, ...]]:
    """The sets of ``changes`` that cost less than ``below`` in all, with one barrier at most; nothing when there are
    more than ``most`` of them."""
    affordable = [each for each in changes if each.cost < below]
    found: list[tuple[Change, ...]] = []
    for size in range(1, below):
        if len(affordable) ** size > 1_000 * most:  # too many even to look at
            return
        grown = len(found)
        for several in combinations(affordable, size):
            edits = [edit for each in several for edit in each.edits]
            cheap = sum(each.cost for each in several) < below and sum(each.meets for each in several) <= 1
            if cheap and not overlap(edits):
                found.append(several)
                if len(found) > most:
                    return
        if len(found) == grown:
            break
    yield from found
