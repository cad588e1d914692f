"""`pgasrob thrift`: what it prints and writes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pgasrob.cli import cli

PROGRAMS = Path(__file__).parents[2] / "programs"
THREE = PROGRAMS / "one_to_one" / "one_to_one_wait_between_barriers.pgas"


def thrift(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["thrift", *map(str, arguments)], env={"COLUMNS": "200"})


def test_the_report() -> None:
    result = thrift(THREE, "-n", "2..3")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == f"{THREE}: 1 call can be removed on 2 and 3 nodes"
    assert "  line 12: `barrier` can be removed on 2 and 3 nodes; saves an estimated 8" in lines
    assert any(
        line.startswith(
            "  line 13: `wait(q)` cannot be replaced by `wait_local(q)` on 2 and 3 nodes. The program would "
        )
        for line in lines
    )
    assert "This change is possible on 2 and 3 nodes (saving an estimated 8):" in lines and "-  barrier;" in lines


def test_what_is_left_is_printed_in_the_lines_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "p.pgas"
    path.write_text("""memory x = 1, y;
register r;
queue q;

process {
  write(x, 1 - me, y, q);
  wait(q);
  barrier;
  r <- mem[y];
}
""")
    message = " ".join(thrift(path, "-n", "2").stdout.split())
    assert (
        "line 7: `wait(q)` cannot be removed on 2 nodes. The program would not be robust on 2 nodes. Rank 0 reads y in "
        in message
    )
    assert (
        "before the write of rank 1 in line 6 has arrived there, although both have passed the barrier in line 8."
        in message
    )


def test_json() -> None:
    found = json.loads(thrift(THREE, "--format", "json").stdout)
    assert (found["schema"], found["state"], found["saved"], found["most"]) == (1, "can save", 8, True)
    message = [(each["line"], each["instead"], each["together"], each["why_not"] is None) for each in found["savings"]]
    assert message == [
        (12, None, True, True), (13, None, False, False), (13, "wait_local(q)", False, False), (14, None, False, False),
    ]  # fmt: skip
    assert found["savings"][0]["edits"] == [{"line": 12, "column": 1, "end_line": 13, "end_column": 1, "text": ""}]
    assert found["outcomes"] == "same" and found["diff"].count("\n-") == 1


def test_what_is_written(tmp_path: Path) -> None:
    path = tmp_path / "three.pgas"
    path.write_bytes(THREE.read_bytes())
    assert thrift(path, "--write").exit_code == 0
    assert path.read_text() == THREE.read_text().replace("  barrier;\n", "", 1)
    assert Path(f"{path}.orig").read_bytes() == THREE.read_bytes()
    assert thrift(path).stdout.startswith(f"{path}: no call can be removed on 2 nodes\n")


def test_exit_codes(tmp_path: Path) -> None:
    late = thrift(PROGRAMS / "one_to_one/one_to_one.pgas")
    assert late.exit_code == 1 and "Only a robust program has calls that it does not need" in late.stdout
    broken = tmp_path / "broken.pgas"
    broken.write_text("process {")
    assert thrift(broken).exit_code == 2
    limited = thrift(PROGRAMS / "c/openshmem/ring_halo.c", "--timeout", "0.001")
    assert limited.exit_code == 3 and "time limit of 0.001 s" in limited.output


HEADER = PROGRAMS.parent / "tests" / "repairs" / "seen" / "header_then_rows.c"
KEPT = (
    "Assumes that accesses to files and output to the terminal are seen in the order of the calls (--output-order "
    "free: output in any order)."
)
FREE = (
    "Assumes that accesses to files are seen in the order of the calls, and output to the terminal may come in any "
    "order (--output-order free)."
)


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize(("order", "sentence", "saved"), [("kept", KEPT, 4), ("free", FREE, 12)])
def test_every_output_says_what_is_assumed_of_output(
    monkeypatch: pytest.MonkeyPatch, columns: int, order: str, sentence: str, saved: int
) -> None:
    monkeypatch.chdir(HEADER.parent)
    arguments = ["thrift", HEADER.name, "--output-order", order]
    text = CliRunner().invoke(cli, arguments, env={"COLUMNS": str(columns)}).stdout
    assert sentence in " ".join(text.split()) and max(map(len, text.splitlines())) <= columns
    found = json.loads(CliRunner().invoke(cli, [*arguments, "--format", "json"]).stdout)
    assert [(each["code"], f"Assumes that {each['text']}.") for each in found["assumptions"]] == [
        ("output-order", sentence)
    ]
    assert found["saved"] == saved and found["diff"].startswith("--- a/")
    diff = CliRunner().invoke(cli, [*arguments, "--format", "diff"]).stdout
    assert diff == f"# {sentence}\n{found['diff']}"


def test_a_diff_with_what_is_assumed_can_be_applied(tmp_path: Path) -> None:
    path = tmp_path / "p.c"
    path.write_text(HEADER.read_text())
    diff = thrift(path, "--output-order", "free", "--format", "diff").stdout
    arguments = ["patch", "-s", str(path)]
    subprocess.run(arguments, input=diff, text=True, check=True, cwd=tmp_path)
    assert path.read_text() == "".join(
        line for line in HEADER.read_text().splitlines(keepends=True) if "barrier" not in line
    )


def test_what_is_assumed_is_said_where_nothing_can_go_and_not_where_nothing_was_tried(tmp_path: Path) -> None:
    path = tmp_path / "p.c"
    path.write_text('#include <stdio.h>\nint main(void) { puts("a"); return 0; }\n')
    assert KEPT in thrift(path).stdout
    assert "Assumes" not in thrift(THREE).stdout
    assert "Assumes" not in thrift(PROGRAMS / "c/openshmem/message_passing_no_fence.c").stdout


@pytest.mark.parametrize("name", ["thrift", "repair", "race"])
def test_a_long_path_does_not_widen_the_headline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("a" * 70) / "p.pgas"
    path.parent.mkdir()
    path.write_text("memory x, y; queue q; process 0 { write(x, 1, y, q); wait(q); } process { skip; }")
    first, second, *_ = CliRunner().invoke(cli, [name, str(path)], env={"COLUMNS": "80"}).stdout.splitlines()
    assert first == f"{path}:" and second.startswith("  ") and len(second) <= 80
