"""How setuptools packs what is not in the package: the kernel's sources into the sdist, its library, if it could be
built, into a wheel, and the corpus of examples, which lies beside the package, into both.

`pyproject.toml` names these classes. They are no part of the installed package.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools.command.build import build
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist
from setuptools_rust.setuptools_ext import add_rust_extension

HERE = Path("pgasrob/kernel")
"""Setuptools runs in the folder of `pyproject.toml`."""
EXAMPLES = [path for suffix in ("pgas", "c", "h", "litmus") for path in Path("programs").rglob(f"*.{suffix}")]
"""The programs of the corpus: `pgasrob.program.corpus` looks for them in the package and, in a checkout, beside it."""


class Build(build):
    """A build with the corpus, after which a wheel is one for every platform unless it holds the kernel.

    The latter is not known before: cargo may be missing, too old or without a network.
    """

    def initialize_options(self) -> None:
        super().initialize_options()
        # Classes that pyproject.toml names take the place of those of setuptools-rust, instead of joining them.
        if self.distribution.get_command_class("build_ext") is build_ext:
            add_rust_extension(self.distribution)

    def run(self) -> None:
        super().run()
        for path in EXAMPLES:
            target = Path(self.build_lib, "pgasrob", path)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        if not any(Path(self.build_lib, "pgasrob").glob("_kernel.*[!i]")):
            self.distribution.has_ext_modules = lambda: False
            wheel = self.distribution.get_command_obj("bdist_wheel", create=False)
            if wheel is not None:
                wheel.root_is_pure = True


class SourceDistribution(sdist):
    """With the sources of the kernel, which are not in wheels as package data would be, and the corpus."""

    def make_distribution(self) -> None:
        patterns = ("Cargo.*", "rustfmt.toml", "packaging.py", "src/**/*.rs")
        self.filelist.extend(str(path) for pattern in patterns for path in HERE.glob(pattern))
        self.filelist.extend(map(str, EXAMPLES))
        super().make_distribution()
