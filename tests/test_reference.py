"""The reference of the library is built from the docstrings without a warning, and has every public name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import pgasrob

SOURCE = Path(__file__).parents[1] / "pgasrob/manual/reference"


def test_it_is_built_without_a_warning_and_has_every_name(tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="comes with the docs extra")
    command = [
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-b",
        "html",
        "-d",
        tmp_path / "kept",
        SOURCE,
        tmp_path / "out",
    ]
    built = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    assert (built.returncode, built.stderr) == (0, "")
    page = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    names = [name for name in pgasrob.__all__ if name != "__version__"]
    assert names
    # What is documented has the anchor of its name, or of where its class is at home.
    homes = [(f"pgasrob.{name}", f"{getattr(pgasrob, name).__module__}.{name}") for name in names]
    assert not [anchors for anchors in homes if not any(f'id="{anchor}"' in page for anchor in anchors)]
