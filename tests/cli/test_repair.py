"""`pgasrob repair`: what it prints and writes, and what it says when it cannot."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pgasrob.cli import cli

PROGRAMS = Path(__file__).parents[2] / "programs"
ONE_TO_ONE = PROGRAMS / "one_to_one" / "one_to_one.pgas"
LATE = "Rank 0 reads y in line 13 before the write of rank 1 in line 11 has arrived there"


def repair(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["repair", *map(str, arguments)], env={"COLUMNS": "200"})


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    path = tmp_path / "one_to_one.pgas"
    path.write_bytes(ONE_TO_ONE.read_bytes())
    return path


def test_the_report() -> None:
    result = repair(ONE_TO_ONE, "-n", "2..4")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith(f"{ONE_TO_ONE}: 1 repair of cost 4 on 2, 3 and 4 nodes\n  {LATE}")
    assert "Repair: insert `wait(q);` in line 12\n" in result.stdout
    assert "  Robust on 2, 3 and 4 nodes, checked on the changed text. Its SC runs end as before (3 outcomes" in (
        result.stdout
    )
    assert "\n+  wait(q);\n" in result.stdout


def test_a_diff_that_patch_takes(copy: Path) -> None:
    result = repair(copy, "--format", "diff")
    assert result.exit_code == 0
    subprocess.run(["patch", "--quiet", str(copy)], input=result.stdout, text=True, check=True)
    assert repair(copy).stdout == f"{copy}: robust on 2 nodes: there is nothing to repair\n"


def test_what_is_written_and_what_is_kept(copy: Path) -> None:
    before = copy.read_text()
    result = repair(copy, "--write")
    assert result.exit_code == 0 and result.stderr == f"{copy}: repaired; the original is in {copy}.orig\n"
    assert Path(f"{copy}.orig").read_text() == before
    assert copy.read_text() == before.replace("  barrier;\n", "  wait(q);\n  barrier;\n")
    assert repair(copy, "--write").exit_code == 0
    assert Path(f"{copy}.orig").read_text() == before, "what is robust is left alone"


def test_a_byte_order_mark_and_permissions_stay(copy: Path) -> None:
    marked = b"\xef\xbb\xbf" + copy.read_bytes()
    copy.write_bytes(marked)
    copy.chmod(0o640)
    assert repair(copy, "--write").exit_code == 0
    kept = Path(f"{copy}.orig")
    assert kept.read_bytes() == marked and copy.read_bytes().startswith(marked[:20])
    assert kept.stat().st_mode & 0o777 == copy.stat().st_mode & 0o777 == 0o640


def test_no_copy_takes_the_place_of_another(copy: Path) -> None:
    Path(f"{copy}.orig").write_text("mine")
    result = repair(copy, "--write")
    assert result.stderr == f"{copy}: repaired; the original is in {copy}.orig.1\n"
    assert Path(f"{copy}.orig").read_text() == "mine"
    assert Path(f"{copy}.orig.1").read_bytes() == ONE_TO_ONE.read_bytes()


def test_a_fault_is_told() -> None:
    result = repair(PROGRAMS / "c/openshmem/message_passing_no_fence.c", "-n", "1..2")
    assert result.exit_code == 2 and "rank 1 is outside 0..0" in result.stdout and "before" not in result.stdout


def test_json(copy: Path) -> None:
    found = json.loads(repair(copy, "--format", "json").stdout)
    assert (found["schema"], found["file"], found["nodes"], found["state"]) == (1, str(copy), [2], "repaired")
    [answer] = found["answers"]
    assert (answer["cost"], answer["outcomes"], answer["ends"], found["checks"]) == (4, "same", 1, 1)
    [step] = answer["steps"]
    assert step["edits"] == [{"line": 12, "column": 1, "end_line": 12, "end_column": 1, "text": "  wait(q);\n"}]
    assert (step["kind"], step["cost"], step["inserted"]) == ("completion", 4, True)
    assert [message.partition(",")[0] for message in step["breaks"]] == [LATE]


def test_json_says_why_not() -> None:
    path = PROGRAMS / "lectures/4_completion_ordering_arrival/4_12_shmem_last_element.c"
    found = json.loads(repair(path, "--format", "json").stdout)
    assert (found["state"], found["answers"]) == ("not repaired", [])
    assert found["survivor"].startswith("Rank 1 reads data[0] in line 19 before the shmem_int_put of rank 0 in line 16")
    assert found["rejected"] and all(each["why"] and each["steps"] for each in found["rejected"])


def test_sarif_has_fixes() -> None:
    log = json.loads(repair(ONE_TO_ONE, "--format", "sarif").stdout)
    [fix] = log["runs"][0]["results"][0]["fixes"]
    [change] = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"].endswith("one_to_one.pgas")
    [replacement] = change["replacements"]
    assert replacement["insertedContent"] == {"text": "  wait(q);\n"}
    assert replacement["deletedRegion"] == {"startLine": 12, "startColumn": 1, "endLine": 12, "endColumn": 1}


def test_costs_decide(tmp_path: Path) -> None:
    path = PROGRAMS / "message_passing/message_passing_unordered.pgas"
    assert "insert `fence(q);` in line 12" in repair(path).stdout
    costs = tmp_path / "costs.toml"
    costs.write_text("order = 9\n")
    assert "1 repair of cost 4" in repair(path, "--costs", costs).stdout
    for text, said in (("oder = 1", "'oder' is no cost; there is order, local_completion"), ("order = 0", "order is 0"),
                       ("order", "Expected '='"), ('order = "1"', "a cost is a whole number")):  # fmt: skip
        costs.write_text(text + "\n")
        result = repair(path, "--costs", costs)
        assert result.exit_code == 2 and said in result.stderr, result.stderr


@pytest.mark.parametrize(
    ("path", "code", "said"),
    [
        (PROGRAMS / "one_to_one/one_to_one_wait.pgas", 0, "robust on 2 nodes: there is nothing to repair"),
        (PROGRAMS / "exchange/exchange.pgas", 1, "No change in the catalogue repairs this: The write of"),
    ],
)
def test_exit_codes(path: Path, code: int, said: str) -> None:
    result = repair(path)
    assert result.exit_code == code and said in result.stdout


def test_what_is_no_program(tmp_path: Path) -> None:
    path = tmp_path / "broken.pgas"
    path.write_text("process { wat; }\n")
    result = repair(path)
    assert result.exit_code == 2 and "broken.pgas:1" in result.stderr
    assert repair(tmp_path / "missing.pgas").exit_code == 2


def test_a_limit() -> None:
    result = repair(PROGRAMS / "c/openshmem/ring_halo_sync.c", "--timeout", "0.001")
    assert result.exit_code == 3 and "time limit of 0.001 s" in result.output  # while reading or later


def test_the_run_with_the_repair_beside_it(tmp_path: Path) -> None:
    page, picture = tmp_path / "run.html", tmp_path / "run.svg"
    assert repair(ONE_TO_ONE, "--witness", page, "--witness", picture, "--fold").exit_code == 0
    message = "Insert `wait(q);` in line 12; then it is robust on 2 nodes"
    assert message in page.read_text() and '<span class="good">+  wait(q);</span>' in page.read_text()
    assert "Repair:" in picture.read_text() and LATE.partition(" before")[0] in picture.read_text()
    result = repair(ONE_TO_ONE, "--witness", tmp_path / "none" / "run.html")
    assert result.exit_code == 2 and "there is no folder" in result.stderr
