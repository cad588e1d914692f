"""What the commands say that read waits by value, of programs that are robust when waits are read by condition only."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from pgasrob.cli import cli

COUNTED = "r <- fetch_add(0, x, 1); if (r >= 0) { skip; }"
ROBUST = f"""nodes 2;
memory x, one = 1, f, a, b, c;
register r, s;
queue q, p;
process 0 {{ write(one, 1, f, q); {COUNTED} $0 }}
process 1 {{ {COUNTED} await(mem[f] >= 0); $1 }}
"""
PLAIN = ROBUST.replace("$0", "").replace("$1", "")
BUFFERED = ROBUST.replace("$0", "mem[a] <- 1; s <- mem[b];").replace(
    "$1", "write(one, 0, b, p); wait(p); read(c, 0, a, p); wait(p);"
)


def run(command: str, text: str, *options: str) -> str:
    Path("p.pgas").write_text(text)
    found = CliRunner().invoke(cli, [command, "p.pgas", *options], env={"COLUMNS": "500"})
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    return found.output


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_check_reads_by_condition() -> None:
    assert "p.pgas: robust on 2 nodes" in run("check", PLAIN)
    assert "p.pgas: not robust, but harmless on 2 nodes" in run("check", PLAIN, "--waits", "value")


def test_explain_and_certificates_name_their_reading() -> None:
    assert run("explain", PLAIN).startswith("p.pgas: not robust on 2 nodes, with waits read by value (--waits value)\n")
    assert (
        "no certificate is written: the program is not robust with waits read by value, as certificates have them"
        in run("check", PLAIN, "--certificate", "c.json")
    )


def test_explain_names_no_reading_where_they_are_the_same() -> None:
    text = PLAIN.replace(COUNTED, "r <- fetch_add(0, x, 1);").replace("await(mem[f] >= 0)", "s <- mem[f]")
    assert run("explain", text).splitlines()[0] == "p.pgas: not robust on 2 nodes"


def test_an_engine_that_reads_by_value_names_one_that_does_not() -> None:
    found = run("check", PLAIN, "--engine", "attack")
    assert "p.pgas: unknown on 2 nodes" in found
    assert "(--waits value); --engine traces reads them by condition" in found
    assert "p.pgas: robust on 2 nodes" in run("check", PLAIN, "--engine", "traces")


def test_store_buffers_change_nothing_where_no_load_may_overtake() -> None:
    found = run("check", PLAIN, "--cpu", "tso")
    assert "p.pgas: robust on 2 nodes" in found and "no load may overtake a store" in found


def test_with_store_buffers_what_is_robust_by_condition_only_is_not_known() -> None:
    assert "p.pgas: robust on 2 nodes" in run("check", BUFFERED)
    found = run("check", BUFFERED, "--cpu", "tso")
    assert "p.pgas: unknown on 2 nodes" in found
    assert "with store buffers waits are read by value, and so the program is not robust" in found
    assert "Without store buffers (--cpu sc) the program is robust." in found


def test_values_that_are_only_compared_are_no_outcomes() -> None:
    """`outcomes` has one on the network only, in which r of rank 0 is 0."""
    harmless = PLAIN.replace("r >= 0", "r == 1", 1).replace("await(mem[f] >= 0)", "s <- mem[f]")
    end = "every run on the network ends as some sequentially consistent (SC) run does"
    assert f"{end}, but for the value of r where it is only compared (--waits value) (" in run("check", harmless)
    assert "when values that are only compared count (--waits value)" in run("outcomes", harmless)
    assert "but for the value" not in run("check", harmless, "--waits", "value")
