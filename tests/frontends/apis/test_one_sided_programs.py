"""The programs of the corpus for GASPI, GPI, ARMCI and GASNet: they are C, and mean what their `.pgas` twins mean."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import pgasrob

ROOT = Path(__file__).parents[3]
PROGRAMS = ROOT / "programs"
OWN_HEADERS = ROOT / "tests" / "frontends" / "headers"
MPI_HEADERS = Path("/usr/lib/x86_64-linux-gnu/openmpi/include")
ARMCI_HEADER = Path("/usr/include/armci.h")


def sources(*apis: str) -> list[Path]:
    return [path for api in apis for path in sorted((PROGRAMS / "c" / api).glob("*.c"))]


def compile_only(path: Path, headers: Path) -> str:
    """What the compiler complains about."""
    command = ["gcc", "-std=c11", "-fopenmp", "-fsyntax-only", "-Wall", f"-I{headers}", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("path", sources("gaspi", "gpi", "gasnet"), ids=lambda path: path.stem)
def test_it_compiles_with_the_declarations_of_its_api(path: Path) -> None:
    assert compile_only(path, OWN_HEADERS) == ""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.skipif(not (ARMCI_HEADER.exists() and MPI_HEADERS.exists()), reason="needs libarmci-mpi-dev")
@pytest.mark.parametrize("path", sources("armci"), ids=lambda path: path.stem)
def test_it_compiles_with_the_headers_of_armci_mpi(path: Path) -> None:
    assert compile_only(path, MPI_HEADERS) == ""


TWINS = [
    ("gpi/gpi_one_to_one", "one_to_one/one_to_one"),
    ("gpi/gpi_one_to_one_wait", "one_to_one/one_to_one_wait"),
    ("gpi/gpi_read_back", "one_to_one/one_to_one_read_back_same_cell"),
    ("gpi/gpi_stencil", "halo/halo"),
    ("gpi/gpi_stencil_no_wait", "halo/halo_no_wait"),
    ("gaspi/gaspi_wait_then_barrier", "one_to_one/one_to_one_wait_local"),
    ("gaspi/gaspi_wait_then_barrier_101", "one_to_one/one_to_one_wait"),
    ("gaspi/gaspi_notify_other_queue", "producer_consumer/flag_fence_other_queue"),
    ("gaspi/gaspi_source_reuse", "producer_consumer/source_reuse"),
    ("gaspi/gaspi_source_reuse_wait", "producer_consumer/source_reuse_wait_local"),
    ("gaspi/gaspi_lock", "ticket_lock/ticket_lock_put_wait_local"),
    ("gaspi/gaspi_lock_101", "ticket_lock/ticket_lock"),
    ("armci/armci_flag", "producer_consumer/flag_fence"),
    ("armci/armci_flag_nonblocking_fence", "producer_consumer/flag_wait"),
    ("armci/armci_flag_other_process", "message_passing/message_passing_two_targets_fence"),
    ("armci/armci_flag_other_process_fence", "message_passing/message_passing_two_targets_wait"),
    ("armci/armci_lock_no_fence", "ticket_lock/ticket_lock_no_wait"),
    ("gasnet/gasnet_put", "one_to_one/one_to_one_wait"),
    ("gasnet/gasnet_put_nbi", "one_to_one/one_to_one"),
    ("gasnet/gasnet_put_nb_wrong_set", "one_to_one/one_to_one_wait_after_barrier"),
    ("gasnet/gasnet_flag_nbi", "one_to_one/one_to_one_flag_unordered"),
    ("gasnet/gasnet_get_nb", "one_to_one/one_to_one_get"),
    ("gasnet/gasnet_transpose", "all_to_all/all_to_all"),
]
"""The same idiom in C and in the calculus."""


@pytest.mark.parametrize(("here", "there"), TWINS, ids=lambda name: Path(name).name)
def test_the_same_idiom_has_the_same_verdict(here: str, there: str) -> None:
    ours = pgasrob.check(pgasrob.load(PROGRAMS / "c" / f"{here}.c"), effect=False)
    theirs = pgasrob.check(pgasrob.load(PROGRAMS / f"{there}.pgas"), effect=False)
    assert ours.verdict == theirs.verdict != "error"
