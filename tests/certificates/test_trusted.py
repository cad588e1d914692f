"""What a sceptic has to read: which modules the checker of certificates loads, and how many lines these have."""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from collections.abc import Iterable
from pathlib import Path

import pytest

import pgasrob
from pgasrob.certificates.check import __main__ as alone

ROOT = Path(pgasrob.__file__).parents[1]


def named(folder: str, names: str) -> set[str]:
    return {f"{folder}.{name}" for name in names.split()}


CHECKER = named("certificates.check", "accept command_effects infeasible names states")
PROGRAM = {"semantics.effect"} | named(
    "program",
    """
    builder commands control core declaration_rules declarations expression_rules expressions files
    float_functions graphs
    illegal_calls instance parser program reading report statement_rules statements value_classes
    vocabulary
    """,
)
"""What a `.pgas` text means: from the text to commands, and what these do at their issue."""
AROUND = {"certificates.certificate_files", "display", "file_input", "pgasrob", "version", "whole_files"} | {
    "diagnostics", "diagnostics.diagnostic", "diagnostics.suggestions", "diagnostics.wrong", "program.kept_tables",
    "stop_points",
}  # fmt: skip
"""What reads files and words errors."""
POLLS = named(
    "program",
    """
    bits certain gathering later_writes live_registers looks open_conditions polls raised_flags reached_values walks
    """,
)
"""What recognises polls, for programs that read a cell again."""
COMMAND = {"cli"} | named("cli", "certify declare exit_codes option_groups parameter_types shared_steps")
LIMITS = named("robustness", "limits reasons stopping watch")
"""What `pgasrob certify` has beside: options, and what ends it at its limits."""


def code_lines(text: str) -> int:
    """The lines that a token of Python stands in, docstrings and comments left out."""
    lines = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.string.strip() and token.type != tokenize.COMMENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def size(modules: Iterable[str]) -> int:
    paths = (ROOT / "pgasrob" / each.replace(".", "/") for each in modules if each != "pgasrob")
    files = [path / "__init__.py" if path.is_dir() else path.with_suffix(".py") for path in paths]
    return sum(code_lines(file.read_text()) for file in files)


def test_lines_of_code_are_counted() -> None:
    assert code_lines('"""Text."""\n# a comment\n\nx = (\n    1\n)  # another\n"""What it is,\nand more."""\n') == 3


LOADED = """
import runpy, sys
module, *sys.argv[1:] = sys.argv[1:]
try:
    runpy.run_module(module, run_name="__main__", alter_sys=True)
except SystemExit as end:
    print(end.code or 0)
print(*(name for name, module in sys.modules.items() if name.split(".")[0] == "pgasrob" and module.__doc__))
"""


def loaded(module: str, *arguments: str | Path) -> set[str]:
    """The modules of the package that an accepting run of ``module`` has imported, without empty ones of folders."""
    command = [sys.executable, "-c", LOADED, module, *map(str, arguments)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    *_, code, names = ran.stdout.splitlines()
    assert code == "0", ran.stdout + ran.stderr
    return {name.removeprefix("pgasrob.") for name in names.split()}


def certificate(program: Path, folder: Path) -> Path:
    path = folder / "kept.json"
    command = [sys.executable, "-m", "pgasrob", "check", str(program), "--only", "robust", "--certificate", str(path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    return path


FOLDERS = {"certificates", "certificates.check", "program", "semantics", "robustness"}
"""Of these `__init__` has a docstring alone."""


@pytest.mark.parametrize(
    ("name", "further"), [("one_to_one/one_to_one_wait", set()), ("ring/ring_shift", POLLS)], ids=["", "polls"]
)
def test_the_checker_of_pgas_programs_is_small(name: str, further: set[str], tmp_path: Path) -> None:
    """No front end, no analysis, no engine: the numbers are those of `proofs/certificates.md` and of the manual."""
    program = ROOT / "programs" / f"{name}.pgas"
    path = certificate(program, tmp_path)
    needed = CHECKER | PROGRAM | AROUND | further
    assert loaded("pgasrob.certificates.check", program, path) - FOLDERS == needed
    assert loaded("pgasrob", "certify", program, path) - FOLDERS == needed | COMMAND | LIMITS
    assert size(CHECKER) < 600
    assert size(CHECKER | PROGRAM | AROUND | {"certificates.check.__main__"}) < 4_500
    assert size(POLLS) < 1_700


def test_of_c_the_front_end_is_trusted(tmp_path: Path) -> None:
    """With all that its C library, its API and the merging of ways need; the engines are not."""
    program = ROOT / "programs/c/openshmem/message_passing_fence.c"
    found = loaded("pgasrob", "certify", program, certificate(program, tmp_path))
    of_pgas = CHECKER | PROGRAM | AROUND | POLLS | COMMAND | LIMITS | FOLDERS
    assert {name for name in found - of_pgas if name.startswith("robustness")} == {"robustness.load"}
    assert {name.partition(".")[0] for name in found - of_pgas} == {"analysis", "frontends", "program", "robustness"}
    assert size(found) < 31_200


def test_what_the_front_end_has_made_can_be_checked_without_it(tmp_path: Path) -> None:
    """By a certificate of what `pgasrob show` prints."""
    command = [sys.executable, "-m", "pgasrob", "show", "programs/c/openshmem/message_passing_fence.c", "-n", "2"]
    printed = tmp_path / "printed.pgas"
    printed.write_text(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    path = certificate(printed, tmp_path)
    assert loaded("pgasrob.certificates.check", printed, path) - FOLDERS - POLLS == CHECKER | PROGRAM | AROUND


def test_exit_codes_of_the_checker_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, other = (str(ROOT / "programs/one_to_one" / f"one_to_one{each}.pgas") for each in ("_wait", ""))
    path = str(certificate(Path(program), tmp_path))
    assert [alone.main(program, path), alone.main(other, path)] == [0, 1]
    assert capsys.readouterr().out == "robust\nrefused: it is about another program, or another version of it\n"
    for files in ((program, "nowhere.json"), ("nowhere.pgas", path), (path, path), (program, __file__ + "c")):
        assert alone.main(*files) == 2
    assert len(capsys.readouterr().err.splitlines()) >= 4
