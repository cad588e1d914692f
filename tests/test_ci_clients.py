"""pre-commit and GitHub Actions: the hooks by the real pre-commit, the steps of the action by a shell."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml", reason="comes with pre-commit, of the test extra")
pytest.importorskip("pre_commit", reason="comes with the test extra")

ROOT = Path(__file__).parents[1]
ACTION = ROOT / ".github/actions/check/action.yml"
WORKFLOWS = ROOT / ".github/workflows"
ONE_TO_ONE = ROOT / "programs/one_to_one"
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda path: path.stem)
def test_forms_and_workflows_are_yaml(path: Path) -> None:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert content["name"]
    assert path.name != "ci.yml" or content["jobs"]["tests"]["steps"][-1]["run"] == ".ci/run"
    assert path.parent.name != "ISSUE_TEMPLATE" or all({"type", "id"} <= set(field) for field in content["body"])


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=600
    )


def git(*words: str, cwd: Path) -> str:
    """What git says; the repository is nobody's but the test's."""
    settings = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "init.defaultBranch=main"]
    result = run("git", *settings, *words, cwd=cwd)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def script(path: Path) -> Path:
    """The command `pgasrob`, of these sources."""
    path.parent.mkdir(parents=True)
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m pgasrob "$@"\n')
    path.chmod(0o755)
    return path


def repository(folder: Path, *files: Path) -> Path:
    """A new git repository with these files, all of them to be committed."""
    folder.mkdir()
    for file in files:
        shutil.copy(file, folder)
    git("init", "-q", cwd=folder)
    git("add", "-A", cwd=folder)
    return folder


def pre_commit(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "-m", "pre_commit", "run", "--all-files", "--color=never", cwd=folder, **environment)


# pre-commit


def test_pre_commit_accepts_the_hooks() -> None:
    result = run(sys.executable, "-m", "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml", cwd=ROOT)
    assert result.returncode == 0, result.stdout


@needs_git
def test_pre_commit_runs_the_hooks_on_what_is_committed(tmp_path: Path) -> None:
    """With the command that is installed here, for an environment of its own takes minutes: that is the next test."""
    hooks = repository(tmp_path / "hooks", ROOT / ".pre-commit-hooks.yaml")
    git("commit", "-qm", "hooks", cwd=hooks)
    bad, good = ONE_TO_ONE / "one_to_one.pgas", ONE_TO_ONE / "one_to_one_wait.pgas"
    halo = ROOT / "programs/c/mpi/barrier_halo.c"
    work = repository(tmp_path / "work", bad, good, halo)
    config = {
        "repos": [
            {
                "repo": str(hooks),
                "rev": git("rev-parse", "HEAD", cwd=hooks),
                "hooks": [{"id": hook, "language": "system"} for hook in ("pgasrob", "pgasrob-c")],
            }
        ]
    }
    (work / ".pre-commit-config.yaml").write_text(json.dumps(config))
    git("add", "-A", cwd=work)
    command = script(tmp_path / "bin/pgasrob")
    path = os.pathsep.join([str(command.parent), os.environ["PATH"]])
    environment = {"PRE_COMMIT_HOME": str(tmp_path / "home"), "PATH": path}
    result = pre_commit(work, **environment)
    assert result.returncode == 1, result.stdout + result.stderr
    found = [line for line in result.stdout.splitlines() if " error: " in line]
    assert [*dict.fromkeys(line.split(":")[0] for line in found)] == ["one_to_one.pgas", "barrier_halo.c"]
    assert result.stdout.count("exit code: 1") == 2
    for file in (bad, halo):
        (work / file.name).unlink()
    git("add", "-A", cwd=work)
    result = pre_commit(work, **environment)
    assert result.returncode == 0 and "Passed" in result.stdout and "no files to check" in result.stdout


@pytest.mark.nightly
@needs_git
def test_pre_commit_installs_the_hook_from_a_clone(tmp_path: Path) -> None:
    """From what is committed here, with what pip gets from the network. Without cargo, to save time."""
    if run("git", "rev-parse", "HEAD", cwd=ROOT).returncode:
        pytest.skip("needs the git repository")
    if run(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", tmp_path, "lark", cwd=tmp_path).returncode:
        pytest.skip("needs the network")
    work = repository(tmp_path / "work", ONE_TO_ONE / "one_to_one.pgas")
    config = {"repos": [{"repo": str(ROOT), "rev": git("rev-parse", "HEAD", cwd=ROOT), "hooks": [{"id": "pgasrob"}]}]}
    (work / ".pre-commit-config.yaml").write_text(json.dumps(config))
    git("add", "-A", cwd=work)
    folders = os.environ["PATH"].split(os.pathsep)
    path = os.pathsep.join(folder for folder in folders if not shutil.which("cargo", path=folder))
    result = pre_commit(work, PRE_COMMIT_HOME=str(tmp_path / "home"), PATH=path)
    assert result.returncode == 1 and "one_to_one.pgas:13:3: error: Not robust" in result.stdout, result.stdout


# GitHub Actions


def steps() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {
        each["name"]: each for each in yaml.safe_load(ACTION.read_text())["runs"]["steps"]
    }
    return found


@pytest.mark.parametrize(
    ("schema", "paths"),
    [("vendor.github-actions", [ACTION]), ("vendor.github-workflows", sorted(WORKFLOWS.glob("*.yml")))],
    ids=["action", "workflows"],
)
def test_they_have_the_form_that_github_asks_for(schema: str, paths: list[Path]) -> None:
    pytest.importorskip("check_jsonschema", reason="comes with the test extra")
    result = run(sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *paths, cwd=ROOT)
    assert paths and result.returncode == 0, result.stdout


def test_wheels_are_tried_before_they_are_published() -> None:
    """What cibuildwheel runs in each wheel is in pyproject.toml: there is a kernel, and a program gets its verdict."""
    jobs = yaml.safe_load((WORKFLOWS / "wheels.yml").read_text(encoding="utf-8"))["jobs"]
    assert jobs["publish"]["needs"] == [name for name in jobs if name != "publish"]
    systems = {runner.partition("-")[0] for runner in jobs["kernel"]["strategy"]["matrix"]["runner"]}
    assert systems == {"ubuntu", "macos", "windows"}
    built = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["cibuildwheel"]
    for commands in (built["test-command"], built["windows"]["test-command"]):
        imported, checked = commands
        assert "import pgasrob._kernel" in imported
        program = checked.replace("\\", "/").partition("{project}/")[2]
        result = run(sys.executable, "-m", "pgasrob", "check", program, cwd=ROOT)
        assert (result.returncode, result.stderr) == (0, "")


def do(step: str, folder: Path, runner: Path, **inputs: str) -> tuple[int, str, dict[str, str]]:
    """Run a step in ``folder`` as GitHub does; the exit code, what it prints, and its outputs."""
    about = yaml.safe_load(ACTION.read_text())
    given = {name: inputs.get(name, each["default"]) for name, each in about["inputs"].items()}
    environment = {
        name: given[text.removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, text in steps()[step].get("env", {}).items()
    }
    output = runner / "output"
    output.write_text("")
    result = run(
        "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps()[step]["run"],
        cwd=folder, RUNNER_TEMP=str(runner), GITHUB_OUTPUT=str(output), GITHUB_ACTION_PATH=str(ACTION.parent),
        **environment,
    )  # fmt: skip
    outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
    return result.returncode, result.stdout + result.stderr, outputs


@needs_bash
def test_the_steps_of_the_action(tmp_path: Path) -> None:
    runner, work = tmp_path / "runner", tmp_path / "a repository"
    script(runner / "pgasrob/bin/pgasrob")
    (work / "src").mkdir(parents=True)
    shutil.copy(ONE_TO_ONE / "one_to_one_wait.pgas", work / "src")
    assert do("Check", work, runner) == (0, "", {"exit-code": "0"})
    shutil.copy(ONE_TO_ONE / "one_to_one.pgas", work / "src")
    code, printed, outputs = do("Check", work, runner, paths="src/*.pgas absent.pgas", arguments="-n 2,3 --jobs 1")
    assert (code, outputs) == (2, {"exit-code": "2"})
    kinds = [line.partition(",")[0] for line in printed.splitlines() if line.startswith("::")]
    assert kinds == ["::error file=src/one_to_one.pgas"] * 2 + ["::error file=absent.pgas"]
    shutil.copy(ONE_TO_ONE / "one_to_one.pgas", work / "--help.pgas")
    code, printed, _ = do("Check", work, runner, paths="*.pgas")
    assert code == 1 and "::error file=--help.pgas" in printed, "an option is what `arguments` has alone"
    (work / "--help.pgas").unlink()
    log = work / "pgasrob.sarif"
    assert len(json.loads(log.read_text())["runs"][0]["results"]) == 1
    assert do("Check", work, runner, paths="src/*.pgas absent.pgas", arguments="-n 2,3 --jobs 1")[0] == 2
    assert len(json.loads(log.read_text())["runs"][0]["results"]) == 3
    old = str(log.rename(work / "of before.sarif"))
    code, printed, outputs = do("Check", work, runner, baseline=old, arguments="-n 2", sarif="new.sarif")
    assert (code, outputs) == (0, {"exit-code": "0"}) and "::error" not in printed
    assert json.loads((work / "new.sarif").read_text())["runs"][0]["results"][0]["baselineState"] == "unchanged"


@needs_bash
def test_the_action_installs_what_it_lies_in(tmp_path: Path) -> None:
    """In an environment of its own; pip is not run for real, which other tests do."""
    called = tmp_path / "called"
    fake = tmp_path / "bin/python3"
    fake.parent.mkdir()
    fake.write_text(
        f'#!/bin/sh\necho "$@" >> {called}\nmkdir -p "$3/bin"\n'
        f'printf \'#!/bin/sh\\necho pip "$@" >> {called}\\n\' > "$3/bin/pip"\nchmod +x "$3/bin/pip"\n'
    )
    fake.chmod(0o755)
    before = os.environ["PATH"]
    os.environ["PATH"] = os.pathsep.join([str(fake.parent), before])
    try:
        code, printed, _ = do("Install pgasrob", tmp_path, tmp_path)
    finally:
        os.environ["PATH"] = before
    assert code == 0, printed
    made, installed = called.read_text().splitlines()
    assert made == f"-m venv {tmp_path}/pgasrob"
    assert Path(installed.split()[-1]).resolve() == ROOT and (ROOT / "pyproject.toml").exists()
