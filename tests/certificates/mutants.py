"""Copies of `pgasrob.certificates` in which one rule of the checker is changed, and programs to try them on."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from pgasrob.program.parser import parse
from pgasrob.program.program import Program
from tests.oracle import polls_and_updates, strategies
from tests.oracle.syntax import to_pgas
from tests.robustness.test_engines_agree import CHOICES, FURTHER_CHOICES

HERE = Path(__file__).parents[2] / "pgasrob" / "certificates"
KINDS = (*CHOICES, *FURTHER_CHOICES)


class Mutant(NamedTuple):
    """A changed copy: its modules `write` and `check.accept`."""

    write: ModuleType
    accept: ModuleType


Edit = tuple[str, str, str]
"""In a file what stands there once, and what stands there instead."""


def mutant(folder: Path, name: str, *edits: Edit) -> Mutant:
    """A copy below ``folder`` with some ``edits``."""
    copy = folder / name
    shutil.copytree(HERE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for file, old, new in edits:
        text = (copy / file).read_text()
        assert text.count(old) == 1, f"{file} has {text.count(old)} times: {old}"
        (copy / file).write_text(text.replace(old, new))
    for path in copy.rglob("*.py"):
        path.write_text(path.read_text().replace("pgasrob.certificates", name))
    sys.path.insert(0, str(folder))
    try:
        for module in [each for each in sys.modules if each.partition(".")[0] == name]:
            del sys.modules[module]
        return Mutant(importlib.import_module(f"{name}.write"), importlib.import_module(f"{name}.check.accept"))
    finally:
        sys.path.remove(str(folder))


def text_of(*ranks: str) -> str:
    """A program with a block for each of some ranks."""
    header = (
        "program p;\nnodes {};\nmemory one = 1, x, y, z, w, a[4];\nregister r, s;\nqueue q, u unordered, v unordered;\n"
    )
    blocks = (f"process {rank} {{ {commands} }}\n" for rank, commands in enumerate(ranks))
    return header.format(len(ranks)) + "".join(blocks)


def random_program(seed: int) -> tuple[Program, int]:
    """The program of ``seed``, and its node count."""
    if seed % 3 == 0:
        drawn = polls_and_updates.random_program(seed)
    else:
        drawn = strategies.random_program(seed, commands=KINDS[seed // 3 % len(KINDS)], loops=seed % 3 == 1)
    return parse(to_pgas(drawn)), drawn.nodes or 2


def random_programs(first: int, count: int) -> Iterator[tuple[int, Program, int]]:
    for seed in range(first, first + count):
        yield seed, *random_program(seed)
