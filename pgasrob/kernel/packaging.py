"""How setuptools packs the kernel: its sources into the sdist, and into a wheel the library if it could be built.

`pyproject.toml` names these classes. They are no part of the installed package.
"""

from __future__ import annotations

from pathlib import Path

from setuptools.command.build import build
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist
from setuptools_rust.setuptools_ext import add_rust_extension

HERE = Path("pgasrob/kernel")
"""Setuptools runs in the folder of `pyproject.toml`."""


class Build(build):
    """A build after which a wheel is one for every platform unless it holds the kernel.

    That cannot be told before: cargo may be missing, too old or without a network.
    """

    def initialize_options(self) -> None:
        super().initialize_options()
        # Classes that pyproject.toml names take the place of those of setuptools-rust, instead of joining them.
        if self.distribution.get_command_class("build_ext") is build_ext:
            add_rust_extension(self.distribution)

    def run(self) -> None:
        super().run()
        if not any(Path(self.build_lib, "pgasrob").glob("_kernel.*[!i]")):
            self.distribution.has_ext_modules = lambda: False
            wheel = self.distribution.get_command_obj("bdist_wheel", create=False)
            if wheel is not None:
                wheel.root_is_pure = True


class SourceDistribution(sdist):
    """With the sources of the kernel, which are not in wheels as package data would be."""

    def make_distribution(self) -> None:
        patterns = ("Cargo.*", "rustfmt.toml", "packaging.py", "src/**/*.rs")
        self.filelist.extend(str(path) for pattern in patterns for path in HERE.glob(pattern))
        super().make_distribution()
