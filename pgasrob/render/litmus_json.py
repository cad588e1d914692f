"""The JSON object of `pgasrob litmus`: what one model says of one test. The text and the graphs are drawn from it.

One object a line and model. Readers ignore what they do not know; the types below are the schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NotRequired, TypedDict

from pgasrob.models.litmus.litmus_program import Value
from pgasrob.models.model_table import known, label
from pgasrob.render.shared_json import SCHEMA, Error, unicode_name

if TYPE_CHECKING:
    from pgasrob.models.litmus.expected_outcomes import Compared, LitmusTest
    from pgasrob.models.litmus_answers import Answer, Why
    from pgasrob.models.model_interface import CycleEdge, Event, Execution, Model


class LocationObject(TypedDict):
    """``shown``: it is among the values of an outcome."""

    name: str
    node: int
    initial: int
    shown: bool


class ThreadObject(TypedDict):
    node: int
    registers: list[str]


class EventObject(TypedDict):
    """``thread``: its number from 0, null for an initial write. Events of one instruction have one ``operation`` and
    one ``text``, which is that of the source."""

    thread: int | None
    operation: int
    kind: str
    location: str | None
    reads: Value | None
    writes: Value | None
    line: int
    column: int
    text: str


class EdgeObject(TypedDict):
    """An edge of a cycle, between events by their number, with the relation and the rule that it is by."""

    source: int
    target: int
    relation: str
    rule: str


class ExecutionObject(TypedDict):
    """An execution: ``relations`` by name, each a list of pairs of events; ``order``: for a run of a machine the events
    as they take effect; ``cycle``: why it is not consistent, empty where it is."""

    locations: list[LocationObject]
    threads: list[ThreadObject]
    events: list[EventObject]
    relations: dict[str, list[list[int]]]
    order: list[int]
    outcome: dict[str, Value]
    cycle: list[EdgeObject]


class ExpectedObject(TypedDict):
    """A line of the test that is about the model. ``holds``: null where a limit or a refusal leaves it open."""

    line: int
    text: str
    allowed: bool
    values: dict[str, Value]
    holds: bool | None


class ForbiddenObject(TypedDict):
    """That no execution has these values. ``rules``: the smallest sets of rules without which one has; null where the
    model has no rules, or where ``reason`` has kept it from finding them. ``execution``: one that would be consistent
    without the first of the sets. ``asked``: by --forbidden, not by a line of the test alone."""

    values: dict[str, Value]
    allowed: bool
    rules: list[list[str]] | None
    reason: str | None
    execution: ExecutionObject | None
    asked: bool


class RefusalObject(TypedDict):
    reason: str
    line: int
    column: int


class LitmusResult(TypedDict):
    """What ``model`` says of the test in ``file``; ``text`` is the test in one line.

    ``semantics``: which of several equal ones; ``variant``: what is not as in the model's paper; ``label``: the model
    with both, as the text calls it. ``complete``: these are all outcomes, else ``reason`` or ``refusals`` say why not.
    ``states``: of a machine, or executions, that were looked at. ``as_expected`` is null where no line of the test is
    about the model, or where that is open. ``executions`` (with --executions): one for each of ``outcomes``.
    ``only`` (with --compare): those that the other model does not have.
    """

    schema: int
    file: str
    text: str | None
    model: str | None
    semantics: str | None
    variant: str
    label: str
    complete: bool
    reason: str | None
    refusals: list[RefusalObject]
    names: list[str]
    outcomes: list[dict[str, Value]]
    expected: list[ExpectedObject]
    as_expected: bool | None
    forbidden: list[ForbiddenObject]
    states: int
    seconds: float
    errors: list[Error]
    executions: NotRequired[list[ExecutionObject]]
    only: NotRequired[list[dict[str, Value]]]


def litmus_to_json(file: str, answer: Answer, *, executions: bool = False) -> LitmusResult:
    """``answer`` as an object that `json.dumps` can write."""
    test, model, found = answer.test, answer.model, answer.outcomes.found
    ordered = sorted(found, key=numbers_first)
    result: LitmusResult = {
        **_about(file, test, model),
        "complete": answer.complete,
        "reason": None if answer.reason is None else str(answer.reason),
        "refusals": [
            {"reason": each.reason, "line": each.span.line, "column": each.span.column} for each in answer.refusals
        ],
        "outcomes": [named(test.program.names, outcome) for outcome in ordered],
        "expected": [_expected(each) for each in answer.compared],
        "as_expected": answer.as_expected,
        "forbidden": [_why(each, test) for each in answer.why],
        "states": answer.outcomes.states,
        "seconds": round(answer.seconds, 4),
    }
    if executions:
        result["executions"] = [execution_to_json(found[outcome], test) for outcome in ordered]
    return result


def compared_to_json(file: str, one: Answer, other: Answer, *, executions: bool = False) -> list[LitmusResult]:
    """The objects of two models, each with the outcomes that it ``only`` allows unless one of them refuses the test."""
    results = [litmus_to_json(file, each, executions=executions) for each in (one, other)]
    if not any(result["refusals"] for result in results):
        for result, against in zip(results, reversed(results), strict=True):
            result["only"] = [each for each in result["outcomes"] if each not in against["outcomes"]]
    return results


def no_litmus(file: str, errors: list[Error]) -> LitmusResult:
    """The object of a text that is no test."""
    return {
        "schema": SCHEMA,
        "file": unicode_name(file),
        "text": None,
        "model": None,
        "semantics": None,
        "variant": "",
        "label": "",
        "complete": False,
        "reason": None,
        "refusals": [],
        "names": [],
        "outcomes": [],
        "expected": [],
        "as_expected": None,
        "forbidden": [],
        "states": 0,
        "seconds": 0.0,
        "errors": errors,
    }


def execution_to_json(execution: Execution, test: LitmusTest, cycle: Iterable[CycleEdge] = ()) -> ExecutionObject:
    program = execution.program
    return {
        "locations": [
            {"name": each.name, "node": each.node, "initial": each.initial, "shown": each.shown}
            for each in program.locations
        ],
        "threads": [{"node": each.node, "registers": list(each.registers)} for each in program.threads],
        "events": [_event(each, execution, test) for each in execution.events],
        "relations": {name: sorted(map(list, pairs)) for name, pairs in execution.relations.items()},
        "order": list(execution.order),
        "outcome": named(program.names, execution.outcome),
        "cycle": [
            {"source": edge.source, "target": edge.target, "relation": edge.relation, "rule": edge.rule}
            for edge in cycle
        ],
    }


def named(names: Iterable[str], values: Iterable[Value]) -> dict[str, Value]:
    return dict(zip(names, values, strict=True))


def values_text(values: Mapping[str, Value]) -> str:
    """``a=0 b=1``, as expectations have it."""
    return " ".join(f"{name}={value}" for name, value in values.items())


def _about(file: str, test: LitmusTest, model: Model) -> LitmusResult:
    from pgasrob.models.litmus.litmus_printer import in_one_line

    result = no_litmus(file, [])
    semantics = known(model.name).semantics
    return {
        **result,
        "text": in_one_line(test.program),
        "model": model.name,
        "semantics": model.semantics if semantics else None,
        "variant": model.variant,
        "label": label(model),
        "names": list(test.program.names),
    }


def numbers_first(outcome: Iterable[Value]) -> list[tuple[bool, int]]:
    """The key by which outcomes are sorted: by their values in turn, undefined ones (`T`) after numbers."""
    return [(True, 0) if value == "T" else (False, value) for value in outcome]


def _expected(compared: Compared) -> ExpectedObject:
    line = compared.expectation
    return {
        "line": compared.line,
        "text": str(line),
        "allowed": line.allowed,
        "values": dict(line.values),
        "holds": compared.holds,
    }


def _why(why: Why, test: LitmusTest) -> ForbiddenObject:
    by = why.by
    return {
        "values": dict(why.values),
        "allowed": why.allowed,
        "rules": None if by is None else [sorted(rules) for rules in by.rules],
        "reason": None if why.reason is None else str(why.reason),
        "execution": None if by is None or by.execution is None else execution_to_json(by.execution, test, by.cycle),
        "asked": why.asked,
    }


def _event(event: Event, execution: Execution, test: LitmusTest) -> EventObject:
    location = None if event.location is None else execution.program.locations[event.location].name
    return {
        "thread": event.thread,
        "operation": event.operation,
        "kind": event.kind,
        "location": location,
        "reads": event.reads,
        "writes": event.writes,
        "line": event.span.line,
        "column": event.span.column,
        "text": test.source.piece(event.span),
    }


__all__ = ["LitmusResult", "execution_to_json", "litmus_to_json", "no_litmus", "values_text"]
