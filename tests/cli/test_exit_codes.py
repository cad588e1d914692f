"""Which exit code results stand for."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import click
import pytest

from pgasrob.cli import main
from pgasrob.cli.exit_codes import code_of_verdict
from tests.cli.commands import (
    ENDLESS,
    FAULT,
    NOT_ROBUST,
    ROBUST,
    SYNTAX_ERROR,
    TEXTS,
    check,
    objects,
)
from tests.render.test_verdict_json import RESULT

DEADLOCK = "memory x; process { await(mem[x] == 1); }"
FAILING = "memory x; process { assert(0); }"


@pytest.mark.parametrize(
    ("programs", "code"),
    [
        ("robust", 0),
        ("not", 1),
        ("fault", 2),
        ("syntax", 2),
        ("unknown", 3),
        ("robust not", 1),
        ("not robust", 1),
        ("robust unknown", 3),
        ("not unknown robust", 3),
        ("unknown not", 3),
        ("unknown fault not", 2),
        ("syntax unknown robust", 2),
        ("robust not unknown syntax", 2),
    ],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_the_gravest_exit_code_applies(folder: Path, programs: str, code: int, form: str) -> None:
    names = programs.split()
    for name in names:
        Path(name + ".pgas").write_text(TEXTS[name])
    result = check(*(name + ".pgas" for name in names), "--max-states", "300", "--format", form)
    assert result.exit_code == code


@pytest.mark.parametrize(
    ("program", "header", "code"),
    [
        (ROBUST, "robust", 0),
        (NOT_ROBUST, "not robust", 0),
        (FAULT, "error", 0),
        (SYNTAX_ERROR, "error", 0),
        (ROBUST, "robust at 2..3, not robust at 4", 0),
        (ROBUST, "not robust", 1),
        (NOT_ROBUST, "robust", 1),
        (ROBUST, "error", 1),
        (ROBUST, None, 2),
        (ROBUST, "robust at 3..4", 2),
        (ROBUST, "robustt", 2),
        (FAULT, "robust", 2),
        (FAULT, None, 2),
        (SYNTAX_ERROR, "not robust", 2),
        (SYNTAX_ERROR, None, 2),
        (ENDLESS, "robust", 3),
        (ENDLESS, None, 2),
    ],
)
def test_exit_codes_with_expect(folder: Path, program: str, header: str | None, code: int) -> None:
    Path("p.pgas").write_text(f"// expect: {header}\n{program}" if header else program)
    result = check("p.pgas", "--expect", "--max-states", "300")
    assert result.exit_code == code, result.output
    objs = objects(check("p.pgas", "--expect", "--max-states", "300", "--format", "json"))
    assert [each["as_expected"] for each in objs] == [code == 0]
    assert set(objs[0]) - {"one_block"} == RESULT | {"expected", "as_expected", "findings"}


def test_expect_takes_the_gravest_of_all_programs(folder: Path) -> None:
    Path("a.pgas").write_text(f"// expect: not robust\n{ROBUST}")
    Path("b.pgas").write_text(f"// expect: not robust\n{NOT_ROBUST}")
    Path("c.pgas").write_text(f"// expect: robust\n{ENDLESS}")
    Path("d.pgas").write_text(ROBUST)
    limit = ("--max-states", "300", "--expect")
    assert check("b.pgas", *limit).exit_code == 0
    assert check("b.pgas", "a.pgas", *limit).exit_code == 1
    assert check("b.pgas", "a.pgas", "c.pgas", *limit).exit_code == 3
    assert check(".", *limit).exit_code == 2


@pytest.mark.parametrize(("program", "code"), [(FAILING, 1), (DEADLOCK, 1), (ROBUST, 0), (FAULT, 2)])
def test_failing_assertions_and_deadlocks_count(folder: Path, program: str, code: int) -> None:
    """Unless robustness alone is asked, or the verdict is compared with what was expected; --strict then does."""
    Path("p.pgas").write_text(f"// expect: robust\n{program}")
    assert check("p.pgas").exit_code == code
    assert check("p.pgas", "--only", "robust").exit_code == (2 if program == FAULT else 0)
    assert check("p.pgas", "--only", "assertions").exit_code == (0 if program == DEADLOCK else code)
    assert check("p.pgas", "--only", "progress").exit_code == (0 if program == FAILING else code)
    assert check("p.pgas", "--only", "robust", "--strict").exit_code == code
    assert check("p.pgas", "--expect").exit_code == (2 if program == FAULT else 0)
    assert check("p.pgas", "--strict", "--expect").exit_code == code
    assert check("p.pgas", "--nodes", "all").exit_code == code
    assert check("p.pgas", "--nodes", "all", "--only", "robust").exit_code == (2 if program == FAULT else 0)


def test_what_is_not_robust_does_not_count_where_it_is_not_asked(folder: Path) -> None:
    Path("p.pgas").write_text(NOT_ROBUST)
    assert check("p.pgas", "--only", "progress,assertions").exit_code == 0
    assert check("p.pgas", "--only", "progress,robust").exit_code == 1


def test_of_c_what_is_left_open_counts() -> None:
    """Of programs in the core language it is a fact beside the verdict, of C a line of the answer."""
    path = str(Path(__file__).parents[2] / "programs/c/openshmem/bucket_sort.c")
    limit = ("--max-sc-states", "10", "--max-states", "10")
    assert check(path, *limit, "--only", "progress").exit_code == 3


def test_strict_does_not_take_an_open_question_for_a_good_answer(folder: Path) -> None:
    """The program is robust, and nobody knows whether its assertions hold: no failure, and no success either."""
    Path("p.pgas").write_text(
        "// expect: robust\nmemory x; register r; process { loop { mem[x] <- r; r <- r + 1; assert(r >= 0); } }"
    )
    limit = ("--max-sc-states", "100")
    plain = check("p.pgas", *limit)
    assert plain.exit_code == 0 and "robust on 2 nodes" in plain.output
    message = " ".join(plain.output.split())
    assert "unknown whether the assertions hold and whether there is a deadlock. --max-sc-states sets" in message
    assert "not all sequentially consistent runs were seen: the limit of 100 SC states was reached" in message
    assert check("p.pgas", *limit, "--expect").exit_code == 0
    assert check("p.pgas", *limit, "--strict").exit_code == 3
    assert check("p.pgas", *limit, "--strict", "--expect").exit_code == 3
    (found,) = objects(check("p.pgas", *limit, "--format", "json"))
    assert (found["verdict"], found["assertions"], found["deadlock"]) == ("robust", "unknown", "unknown")
    assert (found["reason_code"], found["limit"]) == ("sc-runs-left", "max-sc-states")


@pytest.mark.parametrize("verdict", ["robust", "not robust", "unknown", "error"])
@pytest.mark.parametrize("assertions", ["hold", "violated", "unknown", None])
def test_without_lines_assertions_never_change_the_exit_code(verdict: str, assertions: str | None) -> None:
    """As in a result that an earlier version has written."""
    result: Any = {"verdict": verdict, "assertions": assertions, "deadlock": True}
    codes = {"robust": 0, "not robust": 1, "unknown": 3, "error": 2}
    assert code_of_verdict(result, expect=False, strict=False) == codes[verdict]
    assert code_of_verdict(result, expect=False, strict=True) == (2 if verdict == "error" else 1)


@pytest.mark.parametrize(
    ("effect", "code"), [("outcome", 1), ("assertion", 1), ("none found", 0), ("none", 0), (None, 1)]
)
def test_outcomes_alone_change_the_exit_code(effect: str | None, code: int) -> None:
    lines = [{"line": "robust", "answer": "no", "asked": True, "found": 1}]
    synchronised = {"answer": "no", "whole": False, "summary": "not robust", "lines": lines}
    result: Any = {
        "verdict": "not robust", "effect": effect, "assertions": None, "deadlock": True, "synchronised": synchronised
    }  # fmt: skip
    assert code_of_verdict(result, expect=False, strict=False, outcomes_alone=True) == code
    assert code_of_verdict(result, expect=False, strict=True, outcomes_alone=True) == 1
    assert code_of_verdict(result, expect=False, strict=False) == 1


@pytest.mark.parametrize(
    ("lines", "strict", "code"),
    [("", False, 0), ("", True, 1), ("races", False, 1), ("races?", False, 3), ("races?", True, 1)],
)
def test_what_is_harmless_counts_with_strict_alone(lines: str, strict: bool, code: int) -> None:
    """The other lines count as ever."""
    found = [{"line": "robust", "answer": "harmless", "asked": True, "found": 1}]
    if lines:
        found.append({"line": "races", "answer": "unknown" if "?" in lines else "no", "asked": True, "found": 1})
    facts: Any = {"assertions": None, "deadlock": None, "synchronised": {"lines": found}}
    result: Any = {"verdict": "not robust", "effect": "none", **facts}
    assert code_of_verdict(result, expect=False, strict=strict) == code


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (click.Abort(), 130),
        (KeyboardInterrupt(), 130),
        (EOFError(), 70),
        (click.ClickException("no"), 2),
        (click.FileError("file"), 2),
        (click.UsageError("no"), 2),
        (BrokenPipeError(), 141),
        (OSError(28, "No space left on device"), 2),
        (MemoryError(), 3),
        (RecursionError(), 70),
        (ValueError(), 70),
        (AssertionError(), 70),
    ],
)
def test_no_exception_ends_a_command_with_the_code_of_a_verdict(
    raised: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Click would say 1, which is "not robust", of most."""

    def fail(command: str | None) -> NoReturn:
        raise raised

    monkeypatch.setattr("pgasrob.cli.schema.schema_of", fail)
    monkeypatch.setattr("sys.argv", ["pgasrob", "schema"])
    monkeypatch.setattr("os.dup2", lambda *_: None)  # of the output of this process
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code
