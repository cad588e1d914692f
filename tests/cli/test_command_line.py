"""The command line as a whole: help, mistakes, output that is closed, internal errors."""

from __future__ import annotations

import gc
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pgasrob import __main__ as entry
from pgasrob import __version__
from pgasrob import cli as cli_package
from pgasrob.cli import COMMANDS, EXAMPLES, GROUPS, cli, command_named, main
from pgasrob.cli.check import EXAMPLES as CHECK_EXAMPLES
from pgasrob.robustness.engines import ENGINES
from pgasrob.robustness.reduction import REDUCTIONS
from tests.cli.commands import (
    QUIET,
    ROBUST,
    command,
    environment,
    run,
    start,
)


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_reader_that_goes_away_is_no_error(folder: Path, form: str) -> None:
    for number in range(5):
        Path(f"{number}.pgas").write_text(ROBUST)
    process = start("check", ".", "--format", form)
    assert process.stdout and process.stderr
    process.stdout.close()
    assert process.stderr.read() == QUIET
    assert process.wait(600) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_no_traceback(folder: Path) -> None:
    Path("p.pgas").write_text(ROBUST)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command("check", "p.pgas"), stdout=full, stderr=subprocess.PIPE, env=environment(), text=True
        )
    assert done.returncode == 2 and "Traceback" not in done.stderr and "No space left" in done.stderr


def test_help_and_version() -> None:
    assert run("--version").output == f"pgasrob {__version__}\n"
    text = run("--help").output
    assert all(name in text for name in ("check", "explain-error", "completion", "Examples:"))
    check_help = run("check", "--help").output
    options = ["--nodes", "--engine", "--max-states", "--timeout", "--format", "--expect", "--strict", "--verbose"]
    options += ["--memory-limit", "--jobs", "--no-reduction", "--without", "--assumptions", *REDUCTIONS]
    assert all(option in check_help for option in [*options, *ENGINES, "Exit code:", "Examples:"])
    assert all(run(name, "-h").exit_code == 0 for name in COMMANDS)
    assert max(map(len, (text + check_help).splitlines())) <= 100


def test_the_list_of_commands_is_whole_and_says_what_their_help_says() -> None:
    """The table repeats the docstrings of the commands, which are not imported for the list."""
    listed = [line.split(maxsplit=1) for line in run("--help").output.splitlines()]
    for name, text in COMMANDS.items():
        assert command_named(name).get_short_help_str(200) == text, name
        assert [name, text] in listed, "in a group, on one line, and not cut at 80 columns"
    modules = {path.stem.replace("_", "-") for path in Path(cli_package.__file__).parent.glob("*.py")}
    assert sum(map(len, GROUPS.values())) == len(COMMANDS) and set(COMMANDS) <= modules


def test_the_list_of_commands_imports_none() -> None:
    code = (
        "import sys; from pgasrob.cli import COMMANDS, cli\n"
        "try: cli.main(['--help'], prog_name='pgasrob')\n"
        "except SystemExit: pass\n"
        "assert not {f'pgasrob.cli.{name}' for name in COMMANDS} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], env=environment(), check=True, capture_output=True)


def test_the_examples_of_the_help_are_commands() -> None:
    """Every example parses: its options exist, and their values are right."""
    examples = re.findall(r"^  pgasrob (\S.*?)(?:   .*)?$", EXAMPLES + CHECK_EXAMPLES, re.MULTILINE)
    assert len(examples) > 5
    for example in examples:
        name, *arguments = re.split(r" [|>] ", example)[0].split()
        command_named(name).make_context(name, arguments)


def test_help_and_version_import_nothing_heavy() -> None:
    for arguments in (["--help"], ["--version"], ["check", "--help"]):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "pgasrob", *arguments],
            capture_output=True,
            text=True,
            env=environment(),
            check=True,
        )
        imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
        heavy = {"multiprocessing", "lark", "rich", "sympy", "automata", "networkx"} | (
            {"json"} if arguments == ["--version"] else set()
        )
        assert "click" in imported and not imported & heavy


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chek", "p.pgas"], "did you mean `check`?"),
        (["p.pgas"], "did you mean `pgasrob check p.pgas`?"),
        (["expain-error"], "did you mean `explain-error`?"),
        (["zzz"], "no such command 'zzz'"),
        (["check", "--nods", "2", "p.pgas"], "--nodes"),
        (["check", "--engine", "prodct", "p.pgas"], "did you mean `product`?"),
        (["check", "--engine", "zzz", "p.pgas"], "not one of portfolio, attack, product, definition, traces, spin"),
        (["check", "--without", "persistant", "p.pgas"], "did you mean `persistent`?"),
        (["check", "--without", "zzz", "p.pgas"], "not one of infeasibility, persistent, merging, liveness, symmetry"),
        (["check", "--jobs", "0", "p.pgas"], "--jobs"),
        (["check", "--heads", "4", "p.pgas"], "add --engine product"),
        (["check", "--format", "xml", "p.pgas"], "'xml'"),
        (["check", "--timeout", "0", "p.pgas"], "--timeout"),
        (["check", "--timeout", "nan", "p.pgas"], "--timeout"),
        (["check", "--timeout", "soon", "p.pgas"], "--timeout"),
        (["check", "--max-states", "-1", "p.pgas"], "--max-states"),
        (["check", "--max-states", "1.5", "p.pgas"], "--max-states"),
        (["check"], "FILE"),
        (["completion", "tcsh"], "'bash'"),
        (["completion"], "bash"),
        (["record", "--launcher", 'srun "', "--", "./ring"], "no closing quotation"),
        (["explain-error", "PG01x"], "did you mean PG0"),
    ],
)
def test_mistakes_are_usage_errors_that_help(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2 and message in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


@pytest.mark.parametrize("name", ["check", "race", "outcomes", "run", "repair", "thrift", "explain", "show"])
def test_an_empty_file_is_a_program_with_an_error(folder: Path, name: str) -> None:
    for text in ("", "/* nothing */"):
        Path("p.c").write_text(text)
        result = run(name, "p.c")
        assert (result.exit_code, "PG144" in result.output) == (2, True), result.output


def test_what_is_closed_is_no_verdict(tmp_path: Path) -> None:
    file = tmp_path / "p.pgas"
    file.write_text("process { skip; }")
    for redirect, code, wanted in (("2>&-", 0, "robust"), (">&-", 2, "cannot write the output"), (">&- 2>&-", 2, "")):
        command = f"{sys.executable} -m pgasrob check {file} {redirect}"
        run = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
        assert (run.returncode, wanted in run.stdout + run.stderr) == (code, True), redirect


def test_an_internal_error_is_no_verdict(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for error, code, wanted in (
        (ZeroDivisionError("oops"), 70, "error[PG190]: internal error: ZeroDivisionError: oops"),
        (MemoryError(), 3, "memory"),
    ):

        def fail(error: Exception = error, **_: object) -> None:
            raise error

        monkeypatch.setattr(cli, "main", fail)
        with pytest.raises(SystemExit) as exit:
            main()
        assert exit.value.code == code and wanted in capsys.readouterr().err


@pytest.mark.parametrize("module", ["click", "pgasrob.cli"])
def test_ctrl_c_before_the_command_is_there(tmp_path: Path, module: str) -> None:
    """While what it needs is imported: the interrupt comes when ``module`` is looked for."""
    (tmp_path / "interrupts.py").write_text(f"""import os, runpy, signal, sys
class Finder:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
runpy.run_module("pgasrob", run_name="__main__")
""")
    run = subprocess.run(
        [sys.executable, str(tmp_path / "interrupts.py")],
        capture_output=True,
        text=True,
        env=environment(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "")


def test_the_command_that_is_installed_is_the_entry_point() -> None:
    with Path(__file__).parents[2].joinpath("pyproject.toml").open("rb") as file:
        assert tomllib.load(file)["project"]["scripts"] == {"pgasrob": "pgasrob.__main__:main"}


def test_python_looks_for_cycles_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[tuple[int, int, int]] = []
    monkeypatch.setattr("pgasrob.cli.main", lambda: found.append(gc.get_threshold()))
    before = gc.get_threshold()
    try:
        gc.set_threshold(700, 10, 10)
        entry.main()
    finally:
        gc.set_threshold(*before)
    assert found == [entry.COLLECTIONS]
