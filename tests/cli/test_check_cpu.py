"""`pgasrob check --cpu`, and what is said of the hardware beside a robust verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import pgasrob
from pgasrob.batch.job import find_programs
from pgasrob.cli import cli
from pgasrob.program.expectation import read_expectation

ROOT = Path(__file__).parents[2]
STORE_BUFFERS = ROOT / "programs" / "store_buffers"
OWN = str(STORE_BUFFERS / "own_store_own_load.pgas")
ON_TSO = [
    path
    for path in map(Path, find_programs([str(ROOT / "programs")])[0])
    if path.parent == STORE_BUFFERS or "\n// tso: " in path.read_text()
]


def run(*arguments: str, width: int = 100) -> Result:
    return CliRunner().invoke(cli, ["check", *arguments], env={"COLUMNS": str(width)})


def as_json(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*arguments, "--format", "json").output)
    return found


def test_without_store_buffers_it_is_robust_and_with_them_it_is_not() -> None:
    assert run(OWN).exit_code == run(OWN, "--cpu", "sc").exit_code == 0
    found = run(OWN, "--cpu", "tso")
    assert found.exit_code == 1
    assert (
        "Without store buffers (--cpu sc) every run looks like an SC run; with those of x86 a load may" in found.output
    )
    message = found.output[found.output.index("A run with store buffers") :].splitlines()
    assert message[0] == "A run with store buffers that no sequentially consistent run looks like:"
    assert message[1:3] == [
        "   1* rank 0, line 12: mem[x] <- 1  x@0 = 1 goes into the store buffer",
        "   2* rank 0, line 13: r <- mem[y]  reads y@0 = 0",
    ]
    assert "   9* rank 0, line 12: x@0 = 1 of step 1 reaches memory" in message
    assert "  cf  step 8 read the old x@0 before step 9" in message


def test_what_is_harmless_without_store_buffers_may_matter_with_them() -> None:
    """Only runs without them were looked at for how they end."""
    file = str(ROOT / "programs/coherence/puts_equal_values.pgas")
    assert as_json(file)["effect"] == "none" and run(file).exit_code == 0
    found = as_json(file, "--cpu", "tso")
    assert (found["verdict"], found["effect"], found["effect_detail"]["exhaustive"]) == (
        "not robust",
        "none found",
        False,
    )
    assert run(file, "--cpu", "tso").exit_code == 1


def test_json_has_the_run_and_its_cycle() -> None:
    found = as_json(OWN, "--cpu", "tso")
    added = found["on_tso"]
    assert (found["verdict"], found["witness"], "hardware" in found) == ("not robust", None, False)
    assert added["settled_by"] == "search" and added["states"] > 0
    assert added["overtaken"] == [{"rank": 0, "store": 12, "stored": ["x@0"], "load": 13, "loaded": ["y@0"]}]
    assert [event["how"] for event in added["run"]].count("drain") == 1
    places = range(len(added["run"]))
    for edge, after in zip(added["cycle"], [*added["cycle"][1:], added["cycle"][0]], strict=True):
        assert edge["to"] == after["from"] and edge["from"] in places
    said = {each["code"]: each["text"] for each in found["assumptions"]}
    assert said["program-order"].startswith("loads overtake stores in a store buffer, as on x86")
    analysed = as_json(str(STORE_BUFFERS / "own_swap_own_load.pgas"), "--cpu", "tso")
    assert analysed["on_tso"] == {"settled_by": "analysis", "states": 0, "overtaken": [], "run": None, "cycle": None}
    assert "on_tso" not in as_json(OWN)


@pytest.mark.parametrize("path", ON_TSO, ids=lambda path: path.stem)
def test_the_corpus_is_what_its_headers_say(path: Path) -> None:
    expectation = read_expectation(path.read_text(), str(path))
    assert expectation is not None
    assert expectation.at(2) == "robust", "store buffers make the difference"
    found = run(str(path), "--cpu", "tso", "--only", "robust", "--expect", "--brief")
    assert found.exit_code == 0, found.output
    assert expectation.at(2, machine="tso") in found.output


def test_several_processes() -> None:
    found = run(str(STORE_BUFFERS), "--cpu", "tso", "--jobs", "2", "--expect")
    assert found.exit_code == 0, found.output


def test_options_that_do_not_go_with_it() -> None:
    assert "--why is about --cpu sc" in run(OWN, "--cpu", "tso", "--why", "11,12").output
    assert run(OWN, "--cpu", "arm").exit_code == 2


def test_what_is_assumed_names_the_option() -> None:
    found = run(str(STORE_BUFFERS / "own_swap_own_load.pgas"), "--assumptions").output
    assert "in program order (--cpu tso: with store buffers)" in " ".join(found.split())
    with_buffers = run(str(STORE_BUFFERS / "own_swap_own_load.pgas"), "--assumptions", "--cpu", "tso").output
    assert "loads overtake stores in a store buffer, as on x86" in " ".join(with_buffers.split())


HEAD = "memory x, y, to = 1;\nregister r;\nqueue q;\n"


def test_of_the_hardware_a_report_says_what_machines_of_today_do(tmp_path: Path) -> None:
    """The store buffer where it may matter, what else may only with --assumptions; of a violation nothing."""
    file = tmp_path / "some.pgas"
    file.write_text(
        f"{HEAD}process 0 {{ mem[x] <- 1;\nr <- mem[y];\n}}\n"
        "process { write(to, 0, y, q); wait(q);\nr <- fetch(0, x);\nbarrier; }\n"
    )
    report = " ".join(run(str(file)).output.split())
    assert "On RDMA and x86 this could matter:" in report
    store_buffer = "the CPU's store buffer: rank 0 stores x@0 and then loads y@0, lines 4 and 5; others access both"
    placed = "completion of a put: a wait is until it is placed, a poll until it is acknowledged"
    assert store_buffer in report and placed not in report
    every = " ".join(run(str(file), "--assumptions").output.split())
    assert store_buffer in every and f"{placed}; hardware of today places it before (line 7)." in every
    assert [(each["difference"], each["places"]) for each in as_json(str(file))["hardware"]] == [
        ("store-buffer", [4, 5]), ("puts-placed", [7])
    ]  # fmt: skip
    # Where they have been looked at, nothing is left to be said of store buffers.
    assert "On RDMA" not in run(str(file), "--cpu", "tso").output


def test_what_has_not_been_looked_at_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgasrob.analysis.hardware.MOST_COMMANDS", 2)
    file = tmp_path / "some.pgas"
    file.write_text(f"{HEAD}process {{ write(to, 0, y, q); wait(q); r <- fetch(0, x); }}\n")
    assert as_json(str(file))["hardware"] is None
    assert "that has not been looked at" in " ".join(run(str(file)).output.split())


def test_a_program_that_meets_at_barriers_has_nothing_to_be_told(tmp_path: Path) -> None:
    file = tmp_path / "barriers.c"
    file.write_text(
        "#include <shmem.h>\nlong x[4], y;\nint main(void) {\n  shmem_init();\n  y = shmem_my_pe();\n"
        "  shmem_long_put(&x[shmem_my_pe()], &y, 1, 0);\n  shmem_barrier_all();\n  long s = x[0] + x[1];\n"
        "  shmem_barrier_all();\n  shmem_finalize();\n  return s == 1 ? 0 : 1;\n}\n"
    )
    found = run(str(file))
    assert found.exit_code == 0 and "On RDMA" not in found.output
    listed = " ".join(run(str(file), "--assumptions").output.split())
    assert listed.count("the library is taken to") == len(as_json(str(file))["hardware"]) > 0


MIXED = """process 0 { mem[x] <- 5;\n}
process 1 { r <- fetch_add(0, x, 1); write(to, 0, y, q);\n}
process 2 { write(to, 0, x, q); write(to, 0, y, q);\n}
process { r <- swap(0, y, 2); }
"""


def test_a_report_names_the_atomics_that_are_mixed_with_writes(tmp_path: Path) -> None:
    file = tmp_path / "mixed.pgas"
    file.write_text(f"{HEAD}{MIXED}")
    assert as_json(str(file), "--nodes", "4")["hardware"] == [
        {
            "difference": "mixed-atomics",
            "message": "remote atomics on x@0 (line 6) are atomic only against other remote atomics on this network "
            "card: rank 0 stores to it in line 4 and rank 2 puts to it in line 8; the same holds for 1 other cell",
            "places": [4, 6, 8, 10],
        }
    ]
    report = " ".join(run(str(file), "--nodes", "4").output.split())
    assert "On RDMA and x86 this could matter: - remote atomics on x@0 (line 6)" in report
    assert "1 other cell." in report


@pytest.mark.parametrize(
    ("call", "answer", "said"),
    [
        ("lock = 1", "harmless", True),
        ("shmem_long_atomic_swap(&lock, 1, 0)", "none", False),
        ("shmem_barrier_all(); lock = 1", "none", False),
        ("lock = lock + 1", "matters", False),  # which is said of the race
    ],
)
def test_of_mixed_atomics_in_c_a_report_says_what_races_do_not(
    call: str, answer: str, said: bool, tmp_path: Path
) -> None:
    file, barrier = tmp_path / "mixed.c", "shmem_barrier_all(); " * ("barrier" in call)
    file.write_text(
        "#include <shmem.h>\nlong lock;\nint main(void) {\n  shmem_init();\n  if (shmem_my_pe() == 1) {\n"
        f"    shmem_long_atomic_compare_swap(&lock, 0, 2, 0); {barrier}\n  }} else {{\n    {call};\n  }}\n"
        "  shmem_finalize();\n}\n"
    )
    found = as_json(str(file))
    assert (found["verdict"], found["consequences"]["answer"]) == ("robust", answer)
    assert [each["places"] for each in found["hardware"] if each["difference"] == "mixed-atomics"] == [[6, 8]] * said


@pytest.mark.parametrize(
    ("between", "verdict"),
    [
        ("", "not robust"),
        ("__sync_synchronize();", "robust"),
        ("_mm_mfence();", "robust"),
        ("_mm_sfence();", "not robust"),
        ("atomic_thread_fence(memory_order_seq_cst);", "robust"),
        ("atomic_thread_fence(memory_order_release);", "not robust"),
        ("__atomic_thread_fence(5);", "robust"),
        ("__atomic_thread_fence(__ATOMIC_ACQUIRE);", "not robust"),
        ("shmem_long_atomic_add(&other, 1, 0);", "not robust"),  # it comes later, and nothing waits for it
        ("shmem_long_atomic_fetch_inc(&other, 0);", "robust"),
        ("__sync_fetch_and_add(&other, 1);", "robust"),
        ("shmem_barrier_all(); shmem_barrier_all();", "robust"),
        ("shmem_fence();", "not robust"),
        # the store itself
        ("__atomic_store_n(&flag, 1, __ATOMIC_SEQ_CST);", "robust"),
        ("__atomic_store_n(&flag, 1, __ATOMIC_RELEASE);", "not robust"),
        ("__sync_lock_test_and_set(&flag, 1);", "robust"),
        ("__sync_lock_release(&flag);", "not robust"),
        ("__atomic_store_n(&other, 1, __ATOMIC_RELAXED);", "not robust"),
    ],
)  # fmt: skip
def test_what_keeps_a_load_of_c_behind_a_store(tmp_path: Path, between: str, verdict: str) -> None:
    """Of OpenSHMEM and of the compiler."""
    both = "shmem_barrier_all(); shmem_barrier_all();"
    store = "" if between.startswith("__") and "&flag" in between else "flag = 1;"
    file = tmp_path / "flags.c"
    file.write_text(
        "#include <shmem.h>\n#include <stdatomic.h>\nlong flag, mail, other;\nint main(void) {\n"
        "  long seen = 0, one = 1;\n  shmem_init();\n  if (shmem_my_pe() == 0) {\n"
        f"    {store}\n    {between}\n    seen = mail;\n  }} else {{\n"
        f"    {both if between == both else ''}\n    shmem_long_put(&mail, &one, 1, 0);\n    shmem_quiet();\n"
        "    seen = shmem_long_g(&flag, 0);\n  }\n  shmem_finalize();\n  return seen == 2;\n}\n"
    )
    assert pgasrob.check(pgasrob.load(str(file))).verdict == "robust"
    found = as_json(str(file), "--cpu", "tso")
    assert found["verdict"] == verdict, found["errors"]
