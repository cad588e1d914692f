"""What models refuse by their tables: every instruction is refused or handled, and by every clause something."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from pgasrob.models import rdma_tso, sc, tso
from pgasrob.models.corerma import program_actions as actions
from pgasrob.models.forms import Forms
from pgasrob.models.litmus.instructions import Instruction, Visitor, refused
from pgasrob.models.litmus.litmus_parser import parse
from pgasrob.models.pgas import from_litmus as translation
from pgasrob.models.rdma_tso import expansion as events
from pgasrob.models.rdma_tso import processor

VISITORS: list[tuple[Forms, type]] = [
    (Forms({}), sc.Thread),
    (tso.FORMS, tso.Thread),
    (rdma_tso.FORMS, processor.Processor),
    (rdma_tso.FORMS, events._Expanding),
    (actions.FORMS, actions._Values),
    (translation.FORMS, translation._Commands),
]
METHOD = {
    kind: "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in kind.__name__).lstrip("_")
    for kind in get_args(Instruction)
}


@pytest.mark.parametrize(("forms", "visitor"), VISITORS, ids=lambda each: getattr(each, "__qualname__", ""))
def test_what_is_refused_is_what_has_no_method(forms: Forms, visitor: type[Visitor[object]]) -> None:
    assert {kind for kind, method in METHOD.items() if getattr(visitor, method) is refused} == set(forms.missing)


def test_an_instruction_that_was_to_be_refused_is_an_error() -> None:
    thread = parse("x@1 :: 1: poll(1)").program
    with pytest.raises(AssertionError, match="refuses"):
        tso.Thread(thread, 0, tso.Sharing(thread), True)


FORMS = Forms(
    dict.fromkeys([kind for kind in METHOD if kind.__name__ in ("Poll", "GetAccumulate")], "no {word} to {node}"),
    non_atomic="no {name}.n",
    own_node="none to {node}",
    threads="two on {node}",
    branches="branches",
    loops="loops",
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x@1 z@2 :: 1: x = z^2; z^2 = x; flush(2)", []),
        ("x@1 z@2 :: 1: poll(2); x = rga(z^2, x)", ["no poll to 2", "no rga to 2"]),
        ("x@1 z@2 :: 1: x.n = z^2.n; z^2.n = x.n; x.n = 1", ["no x.n", "no z.n", "no x.n", "no z.n", "no x.n"]),
        ("x@1 z@2 :: 1: x.n = cas(z^2.n, y.n, x)", ["no x.n", "no z.n", "no y.n"]),
        ("x@1 z@1 :: 1: x = z^1; rfence(1)", ["none to 1", "none to 1"]),
        ("x@1 z@2 :: 1: poll(1); poll(1)", ["no poll to 1", "no poll to 1"]),
        ("x@1 z@2 :: 1: x = 1 || 1: x = 2 || 2: z = 1 || 1: x = 3", ["two on 1"]),
        ("x@1 :: 1: choose { x = 1 } or { poll(1) }", ["branches", "no poll to 1"]),
    ],
)
def test_clauses(text: str, expected: list[str]) -> None:
    assert [each.reason for each in FORMS.refusals(parse(text).program)] == expected


def test_nothing_is_said_of_the_instructions_of_a_thread_without_a_bound() -> None:
    program = parse("x@1 :: 1: poll(1)").program
    thread = program.threads[0]
    (edges, _) = thread.graph.out
    around = replace(thread.graph, out=(tuple((each, 0) for each, _ in edges),), ends=frozenset((0,)))
    looping = replace(program, threads=(replace(thread, graph=around),))
    assert [each.reason for each in FORMS.refusals(looping)] == ["branches", "loops"]
    assert [each.reason for each in replace(FORMS, loops="").refusals(looping)] == ["branches", "no poll to 1"]
