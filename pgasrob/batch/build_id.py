"""The identity of this build of pgasrob: neither a cluster nor a file of results may mix the verdicts of two."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pgasrob import __version__
from pgasrob.twins import kernel_file, kernel_format

PACKAGE = Path(__file__).parents[1]


class Build(NamedTuple):
    """``sources``: a digest of the modules and the grammar. ``kernel``: the format of the native kernel, if it is
    there."""

    version: str
    sources: str
    kernel: int | None

    def __str__(self) -> str:
        kernel = "with the native kernel" if self.kernel is not None else "without the native kernel"
        return f"pgasrob {self.version} (sources {self.sources}) {kernel}"


@cache
def build() -> Build:
    """The build of this process."""
    digest = hashlib.sha256()
    for path in sorted(path for kind in ("*.py", "*.lark") for path in PACKAGE.rglob(kind)):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith("kernel/"):  # it is not installed
            digest.update(f"{name}\n{path.read_text(encoding='utf-8')}\n".encode())
    return Build(__version__, digest.hexdigest()[:12], kernel_format())


def whole_build() -> str:
    """The build of this process with a digest of the kernel, which may differ between the machines of a cluster."""
    kernel = kernel_file()
    return str(build()) if kernel is None else f"{build()} {hashlib.sha256(kernel.read_bytes()).hexdigest()}"
