"""Calls with arguments that are not what they should be: lowered, or an error of the program; never a traceback."""

from __future__ import annotations

import random
import re
from contextlib import suppress

import pytest

from pgasrob.diagnostics import SourceError
from tests.frontends.apis import test_mpi_calls, test_openshmem_calls
from tests.frontends.apis.lowering import processes

ARGUMENT = re.compile(r"(?<=[(,])\s*[^(),;]+?(?=[,)])")
VALUES = (
    "-1", "0", "3", "1000000", "2147483647", "1.5", "NULL", "&x", "a", "x", "l", "d", "w", "me", "n",
    "MPI_PROC_NULL", "MPI_ANY_SOURCE", "MPI_INT", "MPI_BYTE", "MPI_COMM_SELF", "MPI_IN_PLACE",
    "SHMEM_TEAM_INVALID", "SHMEM_CTX_INVALID",
)  # fmt: skip


@pytest.mark.parametrize(("module", "seed"), [(m, s) for m in (test_openshmem_calls, test_mpi_calls) for s in range(3)])
def test_mutated_calls(module: object, seed: int) -> None:
    chosen = random.Random(seed)
    calls: dict[str, str] = module.CALLS  # type: ignore[attr-defined]
    prelude: str = module.PRELUDE  # type: ignore[attr-defined]
    for _ in range(100):
        text = chosen.choice(list(calls))
        arguments = list(ARGUMENT.finditer(text))
        if not arguments:
            continue
        for argument in sorted(chosen.sample(arguments, min(2, len(arguments))), key=lambda found: -found.start()):
            text = f"{text[: argument.start()]} {chosen.choice(VALUES)}{text[argument.end() :]}"
        with suppress(SourceError):
            processes(prelude.replace("%s", text), chosen.choice((1, 2, 3)))
