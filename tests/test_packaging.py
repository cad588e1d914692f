"""What is shipped: one wheel for every CPython where the kernel is built, one for every platform where it is not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest

from pgasrob.program.corpus import SUFFIXES

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
