"""What is shipped: one wheel for every CPython where the kernel is built, one for every platform where it is not."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from functools import cache
from importlib.metadata import packages_distributions, version
from itertools import chain
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from pgasrob.program.corpus import SUFFIXES
from pgasrob.version import VERSION

ROOT = Path(__file__).parents[1]
KERNEL = "pgasrob/kernel"


def sources() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [path for path in listed.stdout.splitlines() if (ROOT / path).exists()]


@pytest.mark.nightly
@pytest.mark.parametrize("cargo", [True, False], ids=["with cargo", "without cargo"])
def test_the_sdist_has_the_kernels_sources_and_the_wheel_its_library(tmp_path: Path, cargo: bool) -> None:
    """The wheel is built from the sdist."""
    if cargo and not shutil.which("cargo"):
        pytest.skip("needs cargo")
    if not shutil.which("git"):
        pytest.skip("needs git")
    for path in sources():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    folders = os.environ["PATH"].split(os.pathsep)
    path = os.pathsep.join(folder for folder in folders if cargo or not shutil.which("cargo", path=folder))
    built = subprocess.run(
        [sys.executable, "-m", "build", "--outdir", tmp_path / "dist"],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "CARGO_TARGET_DIR": str(ROOT / KERNEL / "target/packaging")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    (sdist,) = (tmp_path / "dist").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    crate = {path for path in sources() if path.startswith(f"{KERNEL}/")}
    assert f"{KERNEL}/src/lib.rs" in crate and crate <= packed
    corpus = {path for path in sources() if path.startswith("programs/") and path.endswith(SUFFIXES)}
    assert "programs/c/mpi/barrier_halo.c" in corpus and corpus <= packed
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    with ZipFile(wheel) as archive:
        names = archive.namelist()
    assert not [name for name in names if name.startswith(f"{KERNEL}/")]
    data = {path for path in sources() if path.startswith("pgasrob/") and path.endswith((".lark", ".txt"))}
    assert {"pgasrob/program/grammar.lark", "pgasrob/diagnostics/codes/c.txt"} <= data <= set(names)
    assert {f"pgasrob/{path}" for path in corpus} == {name for name in names if name.startswith("pgasrob/programs/")}
    libraries = [name for name in names if name.startswith("pgasrob/_kernel.") and not name.endswith(".pyi")]
    tag = wheel.stem.split("-", 2)[2]
    if cargo:
        assert len(libraries) == 1 and "abi3" in libraries[0]
        assert tag.startswith("cp311-abi3-") and not tag.endswith("-any")
    else:
        assert not libraries
        assert tag == "py3-none-any"


# What is needed


def declared() -> dict[str, Requirement]:
    """What the package needs, its extras counted, by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    found = [Requirement(each) for each in chain(*lists)]
    return {each.name: each for each in found if each.name != project["name"]}


def bounds(requirement: Requirement, operator: str) -> list[Version]:
    return [Version(each.version) for each in requirement.specifier if each.operator == operator]


def test_the_constraints_are_the_lowest_versions_that_are_declared() -> None:
    """`.ci/run` runs the quick tests with them; those who only judge the text of the sources are left out."""
    lines = (ROOT / "tests/lowest.txt").read_text(encoding="utf-8").splitlines()
    constraints = [Requirement(line) for line in lines if not line.startswith("#")]
    pinned = {each.name: bounds(each, "==") for each in constraints}
    lowest = {name: bounds(each, ">=") for name, each in declared().items() if name not in ("mypy", "ruff")}
    assert pinned == lowest and list(pinned) == sorted(lowest)
    text = (ROOT / ".ci/run").read_text(encoding="utf-8")
    installs = text.index("pip install -q -r tests/lowest.txt\n")  # beside all else
    waits, runs = text.index('\nwait "$lowest"\n'), text.index(".venv-lowest/bin/pytest -q -n auto --quick")
    assert installs < waits < runs


@cache
def others_imported() -> dict[Path, set[str]]:
    """What the modules of the package import that is neither of it nor of the standard library."""
    found = {}
    for path in (ROOT / "pgasrob").rglob("*.py"):
        names = found[path.relative_to(ROOT / "pgasrob")] = set[str]()
        if {"kernel", "manual"} & {*path.parts}:  # they are for what builds the package and the documentation
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Import(aliases):
                    names |= {alias.name.partition(".")[0] for alias in aliases}
                case ast.ImportFrom(str(module)):
                    names.add(module.partition(".")[0])
        names -= {*sys.stdlib_module_names, "pgasrob"}
    return found


def test_with_the_lowest_versions_all_is_tested_that_uses_them() -> None:
    """The other rooms import nothing that has a version; what lies in no room is tested through these."""
    tested = (ROOT / ".ci/run").read_text(encoding="utf-8").rpartition("tests/{")[2].partition("}")[0].split(",")
    for path, others in others_imported().items():
        test = path.with_name(f"test_{path.name}").as_posix()
        assert not others or len(path.parts) == 1 or test.startswith(tuple(tested)), f"{path} uses {others}"


def test_what_is_known_to_break_has_an_upper_bound() -> None:
    """And nothing asks for a development version, but of a package that has no others."""
    bounded = {name for name, each in declared().items() if bounds(each, "<")}
    assert bounded == {
        "anyio", "automata-lib", "click", "h11", "lark", "lsprotocol", "markdown-it-py", "pygls", "pygraphviz",
        "starlette", "sympy", "tree-sitter", "tree-sitter-c", "uvicorn",
    }  # fmt: skip
    assert [name for name, each in declared().items() if bounds(each, ">=")[0].is_devrelease] == ["python-sat"]
    for name, each in declared().items():
        assert name in ("mypy", "ruff") or Version(version(name)) in each.specifier, "what the tests run with"


def test_what_is_imported_is_declared() -> None:
    """And not only there because something else needs it."""
    others = set().union(*others_imported().values())
    assert {"h11", "lsprotocol", "pysat"} <= others

    def plain(name: str) -> str:
        return re.sub(r"[._]", "-", name).lower()

    known, distributions = {plain(name) for name in declared()}, packages_distributions()
    assert not [each for each in others if not known & set(map(plain, distributions[each]))]


def test_all_that_names_a_version_names_the_same() -> None:
    """What is cited, built, installed in an editor and described in the CHANGELOG, whose last release has its day."""
    found = {
        "pgasrob/kernel/Cargo.toml": r'^version = "(.*)"$',
        "pgasrob/kernel/Cargo.lock": r'^name = "pgasrob-kernel"\nversion = "(.*)"$',
        "pgasrob/lsp/vscode/package.json": r'^  "version": "(.*)",$',
        "pgasrob/manual/citing.md": r"^  version = \{(.*)\},$",
        "CHANGELOG.md": r"^## \[([\d.]+)\] - \d{4}-\d\d-\d\d$",
    }
    for path, pattern in found.items():
        named = re.search(pattern, (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
        assert named and named[1] == VERSION, path
