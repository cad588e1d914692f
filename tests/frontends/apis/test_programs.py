"""The C programs of the corpus for OpenSHMEM and MPI: they are C, and idioms have one verdict in all languages."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import pgasrob

ROOT = Path(__file__).parents[3]
PROGRAMS = sorted((ROOT / "programs/c/openshmem").glob("*.c")) + sorted((ROOT / "programs/c/mpi").glob("*.c"))
INCLUDE = Path("/usr/lib/x86_64-linux-gnu/openmpi/include")

SAME = {
    "openshmem/message_passing_fence": "message_passing/message_passing_fence",
    "openshmem/message_passing_no_fence": "message_passing/message_passing_unordered",
    "openshmem/message_passing_atomic_flag": "producer_consumer/flag_atomic_fence",
    "openshmem/two_targets_fence": "message_passing/message_passing_two_targets_fence",
    "openshmem/two_targets_quiet": "message_passing/message_passing_two_targets_wait",
    "openshmem/store_buffering": "store_buffering/store_buffering",
    "openshmem/store_buffering_quiet": "store_buffering/store_buffering_wait",
    "openshmem/put_then_get": "coherence/put_get_fifo",
    "openshmem/put_quiet_get": "coherence/put_get_wait",
    "openshmem/source_reuse_nbi": "producer_consumer/source_reuse",
    "openshmem/ticket_lock": "ticket_lock/ticket_lock",
    "openshmem/ticket_lock_no_quiet": "ticket_lock/ticket_lock_no_wait",
    "openshmem/mcs_lock": "mcs_lock/mcs_lock",
    "openshmem/ring_halo": "halo/halo",
    "openshmem/ring_halo_sync": "halo/halo_no_wait",
    "openshmem/transpose": "all_to_all/all_to_all",
    "openshmem/transpose_sync": "all_to_all/all_to_all_no_wait",
    "openshmem/all_to_one_counter": "all_to_all/all_to_all_counter",
    "mpi/message_passing_flush": "producer_consumer/flag_wait",
    "mpi/message_passing_flush_local": "producer_consumer/flag_wait_local",
    "mpi/put_order": "coherence/puts_unordered",
    "mpi/spin_lock": "spin_lock/spin_lock",
    "mpi/mcs_lock": "mcs_lock/mcs_lock",
}
"""The same idiom in C and in the calculus."""


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", PROGRAMS, ids=name)
def test_a_compiler_accepts_it(path: Path) -> None:
    if shutil.which("gcc") is None or not (INCLUDE / "mpi.h").exists() or not (INCLUDE / "shmem.h").exists():
        pytest.skip("no gcc, or no headers of Open MPI")
    newer = ROOT / "tests/frontends/headers/shmem15.h"
    include = ["-include", str(newer)] if path.parent.name == "openshmem" else []
    flags = ["-std=c11", "-fopenmp", "-fsyntax-only", "-Wall", "-Werror"]
    command = ["gcc", *flags, *include, "-I", str(INCLUDE), str(path)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(("c", "calculus"), SAME.items())
def test_the_same_idiom_has_the_same_verdict(c: str, calculus: str) -> None:
    in_c = pgasrob.check(pgasrob.load(ROOT / f"programs/c/{c}.c"), effect=False)
    in_calculus = pgasrob.check(pgasrob.load(ROOT / f"programs/{calculus}.pgas"), effect=False)
    assert in_c.verdict == in_calculus.verdict


def test_a_long_program_of_each_api_is_among_them() -> None:
    for api in ("openshmem", "mpi"):
        lines = [len(path.read_text().splitlines()) for path in PROGRAMS if path.parent.name == api]
        assert max(lines) >= 100
