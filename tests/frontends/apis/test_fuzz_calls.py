"""Calls with arguments that are not what they should be: lowered, or an error of the program; never a traceback."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

from pgasrob.diagnostics import SourceError
from tests.frontends.apis.mpi import calls as mpi
from tests.frontends.apis.openshmem import calls as openshmem
from tests.support import examples

ARGUMENT = re.compile(r"(?<=[(,])\s*[^(),;]+?(?=[,)])")
VALUES = (
    "-1", "0", "3", "1000000", "2147483647", "1.5", "NULL", "&x", "a", "x", "l", "d", "w", "me", "n",
    "MPI_PROC_NULL", "MPI_ANY_SOURCE", "MPI_INT", "MPI_BYTE", "MPI_COMM_SELF", "MPI_IN_PLACE",
    "SHMEM_TEAM_INVALID", "SHMEM_CTX_INVALID",
)  # fmt: skip


def pinned(api: str) -> list[str]:
    """The calls whose lowering the tests of ``api`` pin."""
    files = sorted(Path(__file__).with_name(api).glob("test_*.py"))
    modules = [import_module(f"{__package__}.{api}.{file.stem}") for file in files]
    return [call for module in modules for call in getattr(module, "CALLS", ())]


@pytest.mark.parametrize(("api", "lowered"), [("openshmem", openshmem.lowered), ("mpi", mpi.lowered)])
@pytest.mark.parametrize("seed", range(3))
def test_mutated_calls(api: str, lowered: Callable[[str, int], str], seed: int) -> None:
    chosen, calls = random.Random(seed), pinned(api)
    assert len(calls) > 40
    for _ in range(examples(40, 100)):
        text = chosen.choice(calls)
        arguments = list(ARGUMENT.finditer(text))
        if not arguments:
            continue
        for argument in sorted(chosen.sample(arguments, min(2, len(arguments))), key=lambda found: -found.start()):
            text = f"{text[: argument.start()]} {chosen.choice(VALUES)}{text[argument.end() :]}"
        with suppress(SourceError):
            lowered(text, chosen.choice((1, 2, 3)))
