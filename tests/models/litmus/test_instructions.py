"""Instructions: their accesses and nodes, and that a visitor is asked about each by its own method."""

from __future__ import annotations

from typing import get_args

import pytest

from pgasrob.models.litmus.instructions import Instruction, Visitor, accesses, node_of
from pgasrob.models.litmus.litmus_parser import parse

STATEMENTS = {
    "a = x": ("load", "cpu x r", None),
    "x = 1": ("store", "cpu x w", None),
    "a = 1": ("assign", "", None),
    "assume(1)": ("assume", "", None),
    "mfence": ("memory_fence", "", None),
    "a = CAS(x, 0, 1)": ("compare_and_set", "cpu x rw", None),
    "x = z^2": ("get", "fetch z r, land x w", 2),
    "z^2 = x": ("put", "source x r, place z w", 2),
    "x = rga(z^2, y)": ("get_accumulate", "source y r, fetch z rw, land x w", 2),
    "x = cas(z^2, y, w)": ("remote_compare_and_set", "source y r, source w r, fetch z rw, land x w", 2),
    "x = rcas(z^2, 0, 1)": ("nic_compare_and_set", "fetch z r, update z w, land x w", 2),
    "x = rfaa(z^2, 1)": ("nic_fetch_add", "fetch z r, update z w, land x w", 2),
    "flush(3)": ("flush", "", 3),
    "poll(3)": ("poll", "", 3),
    "rfence(3)": ("remote_fence", "", 3),
}


class Named(Visitor[str]):
    """Each method gives its own name."""


for method in Visitor.__abstractmethods__:
    setattr(Named, method, lambda self, instruction, method=method: method)
Named.__abstractmethods__ = frozenset()


def made(text: str) -> tuple[Instruction, dict[str, int]]:
    program = parse(f"x@1 y@1 w@1 z@2 :: 1: {text}").program
    (instruction,) = program.threads[0].graph.instructions
    return instruction, program.owners


def test_every_instruction_is_here() -> None:
    assert {type(made(text)[0]) for text in STATEMENTS} == set(get_args(Instruction))
    assert {method for method, _, _ in STATEMENTS.values()} == set(Visitor.__abstractmethods__)


@pytest.mark.parametrize(("text", "method", "expected", "node"), [(text, *row) for text, row in STATEMENTS.items()])
def test_what_is_known_without_a_model(text: str, method: str, expected: str, node: int | None) -> None:
    instruction, owners = made(text)
    shown = (f"{stage} {cell.name} {'r' * reads}{'w' * writes}" for stage, cell, reads, writes in accesses(instruction))
    assert ", ".join(shown) == expected
    assert node_of(instruction, owners) == node
    assert Named().visit(instruction) == method  # type: ignore[abstract]


@pytest.mark.parametrize("text", STATEMENTS)
def test_the_word_is_in_the_text(text: str) -> None:
    word = made(text)[0].word
    assert word in text or word in ("get", "put")
    assert (word == "") == (text in ("a = x", "x = 1", "a = 1"))
