"""Blocks that differ in constants alone stand for one with ``me``: on each rank it is the rank's own block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import pgasrob
from pgasrob.analysis.common_blocks import common_blocks
from pgasrob.analysis.symmetry import find_symmetry, symmetry
from pgasrob.frontends.lower import parse_c
from pgasrob.program.commands import Command, map_expressions
from pgasrob.program.control import build
from pgasrob.program.declarations import Process
from pgasrob.program.expressions import Const, Me, specialise
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.program.statements import Span
from tests.analysis.test_symmetry import check_moves, random_text
from tests.robustness.every_n.drawn_facts import drawn_facts_in_c
from tests.support import examples, sampled

PROGRAMS = Path(__file__).parents[2] / "programs"
DECLARED = "memory x, y, z[9]; register r, s; queue q;"


def of_rank(node: Any, rank: int) -> Any:
    """``node`` of a text with a number in place of ``me``."""
    if isinstance(node, Me):
        return Const(rank)
    if isinstance(node, tuple):
        return tuple(of_rank(each, rank) for each in node)
    if not is_dataclass(node) or isinstance(node, Span):
        return node
    known: Any = node
    return replace(known, **{each.name: of_rank(getattr(node, each.name), rank) for each in fields(node) if each.init})


def apart(text: str, nodes: int) -> Instance:
    """The program of ``text`` with a block for each rank in place of that for all."""
    program = parse(text)
    *named, last = program.processes
    left = [rank for rank in range(nodes) if all(rank not in (each.ranks or ()) for each in named)]
    blocks = (replace(last, ranks=(rank,), body=of_rank(last.body, rank)) for rank in left)
    return replace(program, processes=(*named, *blocks)).instantiate(nodes)


def on_rank(process: Process, rank: int, nodes: int) -> list[tuple[object, ...]]:
    """The commands of ``process`` on a rank, without their places."""

    def here(command: Command) -> Command:
        return map_expressions(command, lambda expr: specialise(expr, rank, nodes))

    return [tuple((each.command, each.target) for each in leaving) for leaving in build(process.body, here).out]


def check_blocks(program: Instance) -> Counter[str]:
    """Each rank has one common block, which does what its own does."""
    found, own = Counter[str](), {rank: each for each in program.program.processes for rank in each.ranks or ()}
    for process in common_blocks(program):
        found["in common"] += len(process.ranks or ()) > 1
        for rank in process.ranks or ():
            assert on_rank(process, rank, program.nodes) == on_rank(own.pop(rank), rank, program.nodes)
    assert not own
    return found


@pytest.mark.parametrize("path", sampled(sorted(PROGRAMS.glob("c/**/*.c")), 24), ids=lambda path: path.stem)
def test_each_rank_of_the_corpus_runs_its_own_block(path: Path) -> None:
    program = pgasrob.load(path)
    for nodes in (2, 3, 5):
        try:
            placed = program.instantiate(nodes)
        except pgasrob.SourceError:
            continue  # it is for other numbers of nodes
        if not placed.has_threads:
            check_blocks(placed)


def test_random_blocks_come_together_again() -> None:
    """What is said to be interchangeable is so in all moves of an attack."""
    found = Counter[str]()
    for seed in range(examples(60, nightly=6_000)):
        nodes = 3 + seed % 2
        text = random_text(seed, nodes, extended=bool(seed % 3))
        one, several = parse(text).instantiate(nodes), apart(text, nodes)
        found += check_blocks(several)
        classes = find_symmetry(several, every_value=True)
        if classes.classes:
            found["moves"] += check_moves(several, classes, 12)
        found["as one block"] += symmetry(several).classes == symmetry(one).classes != ()
        found["fewer"] += len(symmetry(several).classes) < len(symmetry(one).classes)
    assert found["moves"] and found["as one block"] > 5 * found["fewer"]


def drawn_c() -> Iterator[Instance]:
    for seed in range(examples(12, nightly=3_000)):
        yield parse_c(drawn_facts_in_c(seed)).instantiate(3 + seed % 2)


def test_ranks_of_random_c_programs_are_interchangeable() -> None:
    found = Counter[str]()
    for program in drawn_c():
        found += check_blocks(program)
        classes = find_symmetry(program, every_value=True)
        if classes.classes:
            found["moves"] += check_moves(program, classes, 12)
    assert found["in common"] and found["moves"]


@pytest.mark.parametrize(
    ("block", "classes"),
    [
        ("write(x, 0, y, q); r <- mem[y];", [(1, 2, 3)]),  # what each reads as its own names rank 0
        ("r <- fetch_add(0, y, 1); if (r == 3) { write(x, me, x, q); }", [(0, 1, 2, 3)]),
        ("mem[x] <- me + 1; r <- mem[x]; assume(r == me + 1);", [(0, 1, 2, 3)]),
        ("mem[x] <- me * me; r <- mem[x]; assume(r == 4);", []),  # 0, 1, 4 and 9 are told apart
        ("mem[x] <- me * me;", [(0, 1, 2, 3)]),  # nobody reads them
        ("mem[x] <- (me == 2 ? 7 : 5); r <- mem[x]; assume(r == 5);", [(0, 1, 3)]),
        ("write(x, (me + 1) % nodes, y, q);", []),  # neighbours are ranks that are computed
    ],
)
def test_classes(block: str, classes: list[tuple[int, ...]]) -> None:
    assert list(symmetry(apart(f"{DECLARED} process {{ {block} }}", 4)).classes) == classes


def test_a_lock_in_c_is_searched_once_for_all_orders() -> None:
    verdict = pgasrob.check(PROGRAMS / "c/openshmem/lock.c", 6, effect=False)
    assert (verdict.verdict, verdict.deadlock, verdict.stats.sequential_states) == ("robust", False, 108)
