"""Programs of which nothing is checked, since no rank comes to a call by which it communicates; and others."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import pgasrob
from pgasrob.cli import cli
from pgasrob.frontends.apis import armci, gasnet, gaspi, gpi, mpi, openshmem
from pgasrob.frontends.apis.communicating import moves_data
from pgasrob.frontends.lower import parse_c
from pgasrob.frontends.options import FrontEnd
from pgasrob.lsp.edited_program import EditedProgram, findings
from pgasrob.lsp.settings import Settings
from pgasrob.program.reading import DEFAULT_READING
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.reasons import NothingChecked
from tests.support import check_every_count

TEXT = """#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <shmem.h>
static long x;
static void usage(const char *name) { fprintf(stderr, "usage: %s N\\n", name); exit(1); }
static void talk(int n) { for (int i = 0; i < n; i++) shmem_long_p(&x, i, 1 - shmem_my_pe() % 2); }
int main(int argc, char **argv) {
    shmem_init();
    BODY
    shmem_finalize();
    return 0;
}
"""
GIVE = "before it communicates; give --args"


def text(body: str) -> str:
    return TEXT.replace("BODY", body)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("if (argc < 2) usage(argv[0]); talk(argc);", f"the program ends in line 10, `usage(argv[0])`, {GIVE}"),
        ("if (argc < 2) return 1; talk(atoi(argv[1]));", f"the program ends in line 10, `return 1;`, {GIVE}"),
        # No call stands behind the end in the text.
        (
            "if (argc > 1) talk(atoi(argv[1]));",
            "no rank communicates, as it would in line 7, `shmem_long_p(&x, i, 1 - shmem_my_pe() % 2)`; give --args",
        ),
        (
            'if (!getenv("N")) exit(1); talk(3);',
            "the program ends in line 10, `exit(1)`, before it communicates; "
            "set in the program what it asks the environment for",
        ),
        (
            "if (shmem_n_pes() < 3) return 0; talk(3);",
            "on 2 nodes the program ends in line 10, `shmem_n_pes() < 3`, before it communicates; try -n 3",
        ),
        # Only by a pointer is it called.
        ("void (*f)(int) = talk; if (argc > 1) f(3);", None),
    ],
)  # fmt: skip
def test_nothing_was_checked(body: str, why: str | None) -> None:
    verdict = pgasrob.check(parse_c(text(body)), 2)
    assert verdict.verdict == "unknown" and isinstance(verdict.reason, NothingChecked)
    assert why is None or str(verdict.reason) == f"nothing was checked: {why}"
    assert pgasrob.race(parse_c(text(body)), 2).verdict == "unknown"


@pytest.mark.parametrize(
    "body",
    [
        "talk(1);",
        # The call is made, and moves nothing.
        "shmem_long_put(&x, &x, 0, 1);",
        # One of the ways communicates.
        'FILE *f = fopen("n", "r"); if (!f) exit(1); talk(3);',
        "if (rand() % 2) usage(argv[0]); talk(2);",
        # There is nothing to check but what it computes: no function that `main` may call communicates.
        "(void)argc;",
        "if (argc < 2) usage(argv[0]); printf(\"hello\"); shmem_barrier_all();",
    ],
)  # fmt: skip
def test_other_programs_have_an_answer(body: str) -> None:
    verdict = pgasrob.check(parse_c(text(body)), 2)
    assert verdict.verdict in ("robust", "not robust"), verdict.reason


def test_with_arguments_it_is_checked() -> None:
    body = text("if (argc < 2) usage(argv[0]); talk(atoi(argv[1]));")
    assert pgasrob.check(parse_c(body, "a.c", FrontEnd(arguments=("1",))), 2).verdict == "robust"
    other = pgasrob.check(parse_c(body, "a.c", FrontEnd(arguments=())), 2)
    assert str(other.reason).endswith("give other --args")


def test_what_goes_wrong_before_is_found() -> None:
    stuck = pgasrob.check(parse_c(text("if (shmem_my_pe()) shmem_barrier_all(); if (argc > 1) talk(1);")), 2)
    assert (stuck.verdict, stuck.deadlock) == ("unknown", True)


def test_on_every_number_of_nodes() -> None:
    nothing = check_every_count(parse_c(text("if (argc < 2) usage(argv[0]); talk(1);")))
    assert isinstance(nothing.reason, NothingChecked)
    # On 2 nodes nothing is checked, but on others.
    assert check_every_count(parse_c(text("if (shmem_n_pes() < 3) return 0; talk(1);"))).verdict == "robust"


def _run(*arguments: str) -> tuple[int, str]:
    found = CliRunner().invoke(cli, list(arguments), env={"COLUMNS": "200"})
    return found.exit_code, found.stdout


def test_every_output_says_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text(text("if (argc < 2) usage(argv[0]); talk(1);"))
    why = f"the program ends in line 10, `usage(argv[0])`, {GIVE}"
    code, printed = _run("check", "a.c")
    assert code == 3 and printed.startswith(f"a.c: nothing was checked on 2 nodes\n  {why}\n")
    assert "ok" not in printed and "search did not end" not in printed
    assert _run("check", "a.c", "--brief") == (3, f"a.c: unknown on 2 nodes: nothing was checked: {why}\n")
    for format in ("gcc", "github"):
        code, printed = _run("check", "a.c", "--format", format)
        assert code == 3 and printed.count("\n") == 1 and f"nothing was checked: {why}" in printed
        assert printed.startswith(("a.c:10:", "::warning file=a.c,line=10,"))
    for more in ((), ("--brief",)):
        code, printed = _run("check", "a.c", "--nodes", "all", *more)
        assert code == 3 and f"nothing was checked: {why}" in printed and "race" not in printed
    code, printed = _run("check", "a.c", "--format", "json")
    found: Any = json.loads(printed)
    assert (code, found["verdict"], found["reason_code"]) == (3, "unknown", "nothing-checked")
    assert found["synchronised"]["nothing"] and found["synchronised"]["summary"] == "nothing was checked"
    assert {line["answer"] for line in found["synchronised"]["lines"]} == {"unknown"}
    _run("check", "a.c", "--witness", "log.sarif")
    run = json.loads(Path("log.sarif").read_text())["runs"][0]
    (said,) = run["invocations"][0]["toolExecutionNotifications"]
    assert said["level"] == "warning" and said["message"]["text"].endswith(why) and not run["results"]
    Path("b.c").write_text(text("talk(1);"))
    assert f"a.c (nodes: 2): unknown: nothing was checked: {why}" in _run("check", "a.c", "b.c")[1]
    for command in (("race", "a.c"), ("check", "a.c", "--network", "corerma"), ("check", "a.c", "--cpu", "tso")):
        code, printed = _run(*command)
        assert code == 3 and why in " ".join(printed.split())


def test_the_editor_says_it(tmp_path: Path) -> None:
    file, body = str(tmp_path / "a.c"), text("if (argc < 2) usage(argv[0]); talk(atoi(argv[1]));")
    limits = Limits(timeout=60, memory=1 << 30)
    for arguments, verdict in ((None, "unknown"), (("1",), "robust")):
        settings = Settings((2,), limits, False, FrontEnd(arguments=arguments), DEFAULT_READING)
        found = findings(EditedProgram(file, ((file, body),), settings), 2)
        assert (found.verdict, any(GIVE in note for note in found.notes)) == (verdict, arguments is None)


@pytest.mark.parametrize("api", [armci, gasnet, gaspi, gpi, mpi, openshmem])
def test_which_calls_move_data(api: Any) -> None:
    moving = {name for name in api.API.functions if moves_data(name)}
    idle = set(api.API.functions) - moving
    assert moving and not [name for name in moving if re.search("barrier|init$", name, re.IGNORECASE)]
    words = re.compile(
        r"putmem|getmem|_nbi$|accumulate|(?<!File_)write|allreduce(?!_buf|_elem)|rmw|to_all", re.IGNORECASE
    )
    assert not list(filter(words.search, idle))


def test_all_programs_of_the_corpus_that_communicate_make_such_a_call() -> None:
    files = sorted((Path(__file__).parents[2] / "programs/c").glob("*/*.c"))[::6]
    for program in (parse_c(path.read_text(), str(path)) for path in files):
        lowered = program.program()
        assert lowered.moves_data or not lowered.instantiate(lowered.nodes).communicates, program.name
