"""Prints generated litmus tests as rows of text, `.litmus` files, or JSON with one object a test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict

from pgasrob.models.generate.corerma_tests import GeneratedTest
from pgasrob.models.generate.distinguish import Distinguishing
from pgasrob.models.generate.programs import REGISTERS
from pgasrob.models.generate.rdma_tests import CellTest
from pgasrob.models.litmus.litmus_printer import in_one_line
from pgasrob.models.litmus.litmus_program import Value
from pgasrob.models.model_table import label
from pgasrob.render.litmus_json import numbers_first
from pgasrob.render.shared_json import SCHEMA

Generated = GeneratedTest | CellTest | Distinguishing
Values = dict[str, Value]


class GeneratedResult(TypedDict):
    """A test. ``rule``: what it is for, null where it tells two models apart. ``size``: actions for coreRMA, else
    statements. ``test``: the program in one line; ``other_test``: as the second model spells it, where that differs.
    ``why``: the pivot of coreRMA, else empty.

    ``allowed``: outcomes of the model; of two models those that the first one has alone. ``forbidden``: outcomes that
    the model has not and would have without the rule; of two models empty. ``lost``: outcomes of the model that it
    would not have if the rule ordered what it does not.
    """

    schema: int
    name: str
    model: str
    other_model: str | None
    rule: str | None
    size: int
    test: str
    other_test: str | None
    why: str
    allowed: list[Values]
    forbidden: list[Values]
    lost: list[Values]


def name_of(test: Generated, number: int) -> str:
    """The name of the file of a test, without its ending: its purpose, its size and a number."""
    return f"{test.name}-{number:03}"


def files_of(test: Generated, number: int) -> list[tuple[str, str]]:
    """The name and text of each of its `.litmus` files: one, or two for models that spell it differently."""
    name = name_of(test, number)
    if isinstance(test, Distinguishing):
        return [(f"{each.name}.litmus", text) for each, text in zip(test.tests(name), test.text(name), strict=True)]
    return [(f"{name}.litmus", test.text(name))]


def generated_to_json(test: Generated, number: int) -> GeneratedResult:
    """The object of a test; ``number``: which one it is of those with its name."""
    program = test.program
    result: GeneratedResult = {
        "schema": SCHEMA,
        "name": name_of(test, number),
        "model": "",
        "other_model": None,
        "rule": None,
        "size": test.shape.statements,
        "test": in_one_line(program),
        "other_test": None,
        "why": "",
        "allowed": [],
        "forbidden": [],
        "lost": [],
    }
    match test:
        case GeneratedTest():
            result |= {
                "model": "corerma",
                "rule": test.rule,
                "size": test.shape.actions,
                "why": test.pivot_text(),
                "allowed": _values(REGISTERS, test.allowed),
                "forbidden": _values(REGISTERS, test.forbidden),
            }
        case CellTest():
            result |= {
                "model": "rdma-tso",
                "rule": test.rule,
                "allowed": _values(program.names, test.allowed),
                "forbidden": _values(program.names, test.forbidden),
                "lost": _values(program.names, test.lost),
            }
        case Distinguishing():
            result |= {
                "model": label(test.first),
                "other_model": label(test.second),
                "other_test": in_one_line(test.other) if test.other != program else None,
                "allowed": _values(program.names, test.outcomes),
            }
    return result


def _values(names: Sequence[str], outcomes: Iterable[tuple[Value, ...]]) -> list[Values]:
    return [dict(zip(names, outcome, strict=False)) for outcome in sorted(outcomes, key=numbers_first)]


def generated_row(result: GeneratedResult) -> list[str]:
    """A test in lines: its program, and below what the rule changes."""

    def shown(outcomes: list[Values]) -> str:
        return "; ".join(" ".join(f"{name}={value}" for name, value in each.items()) for each in outcomes)

    rows = [f"{result['name']}: {result['test']}"]
    if result["other_test"] is not None:
        rows.append(f"    for {result['other_model']}: {result['other_test']}")
    if result["why"]:
        rows.append(f"    {result['why']}")
    if result["other_model"] is not None:
        rows.append(f"    {result['model']} has and {result['other_model']} has not: {shown(result['allowed'])}")
    elif result["forbidden"]:
        rows.append(f"    forbidden by {result['rule']}: {shown(result['forbidden'])}")
    elif result["lost"]:
        rows.append(f"    allowed because {result['rule']} orders nothing: {shown(result['lost'])}")
    else:
        rows.append(f"    no outcome hangs on {result['rule']} alone")
    return rows
