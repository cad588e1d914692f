"""The option `--witness`: decides which result goes to which file, and writes each as soon as it is complete."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, cast

import click

from pgasrob.cli.declare import option
from pgasrob.cli.parameter_types import listed

if TYPE_CHECKING:
    from pgasrob.render.baseline import Baseline
    from pgasrob.render.one_run_json import RunResult
    from pgasrob.render.output_files import Format
    from pgasrob.render.verdict_json import RaceResult, Result

PLACEHOLDERS = ("name", "path", "nodes")
PLACEHOLDERS_SHOWN = [f"{{{name}}}" for name in PLACEHOLDERS]
MOST_NAMED = 8
PLACEHOLDER = re.compile(r"\{(\w*)\}")


def endings(wanted: Callable[[Format], bool] | None = None, last: str = "or") -> str:
    """The endings of the formats that are ``wanted``, or of all: ``.svg, .html or .txt``."""
    from pgasrob.render.output_files import FORMATS

    return listed((ending for ending, each in FORMATS.items() if wanted is None or wanted(each)), last)


def holding_many() -> str:
    """The endings of the formats that hold several results."""
    return endings(lambda each: each.holds_many, "and")


def of_one_run(format_: Format) -> bool:
    """Whether a run that no verdict stands behind can be written so."""
    return not format_.verdicts_only


class WitnessPath(click.Path):
    """A file to write results to, whose ending says the format; checked before anything is searched."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from pgasrob.render.output_files import UnknownFormat, format_of

        try:
            format_of(value)
        except UnknownFormat as error:
            self.fail(str(error), param, ctx)
        folder = os.path.dirname(value) or "."
        if PLACEHOLDER.search(folder):
            return str(value)
        if not os.path.isdir(folder):
            self.fail(f"there is no folder {folder}; make it first.", param, ctx)
        if os.path.isdir(value):
            self.fail(f"{value} is a folder.", param, ctx)
        if not os.access(value if os.path.exists(value) else folder, os.W_OK):
            self.fail(f"{value} cannot be written: permission denied.", param, ctx)
        return str(value)


class RunPath(WitnessPath):
    """A file to write a single run to, which has no verdict."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from pgasrob.render.output_files import format_of

        path = super().convert(value, param, ctx)
        if not of_one_run(format_of(path)):
            kind = format_of(path).ending[1:].upper()
            self.fail(f"{path}: {kind} is for verdicts, and one run has none; `pgasrob check` writes it.", param, ctx)
        return path


class Witnesses:
    """Writes results to the files that `--witness` names, each as soon as the file is complete.

    ``files`` at each of ``nodes`` (None: at a file's own count) are what there will be results of. ``fold``: in
    pictures, what the cycle does not pass is folded away. ``baseline``: what has been found before.

    Raises click.UsageError where two would go to one file that cannot hold both, where a folder is missing, or where
    there is no picture to fold.
    """

    def __init__(
        self,
        paths: Sequence[str],
        files: Sequence[str],
        nodes: Sequence[int] | None,
        fold: bool = False,
        baseline: Baseline | None = None,
    ) -> None:
        from pgasrob.render.output_files import format_of

        need_a_drawing(fold, "--witness", paths)
        self.fold, self.baseline, self.files, self.nodes = fold, baseline, files, nodes
        self.formats = {path: format_of(path) for path in dict.fromkeys(paths)}
        self.kept: dict[str, list[Result | RaceResult]] = {}
        self.nothing: list[tuple[str, Result | RaceResult]] = []
        self.written: list[str] = []
        self.failed = False
        for path, format_ in self.formats.items():
            _check(path, format_.holds_many, files, nodes)

    def result(self, result: Result | RaceResult) -> None:
        for path, format_ in self.formats.items():
            target = filled(path, result["file"], result["nodes"])
            if not format_.can_show(result):
                self.nothing.append((target, result))
            elif format_.holds_many:
                self.kept.setdefault(target, []).append(result)
            else:
                self._write([result], target)

    def end(self) -> bool:
        """Write what is left, and say what there was nothing to draw of. Returns whether all could be written."""
        from pgasrob.diagnostics import visible

        for target, results in self.kept.items():
            self._write(results, target)
        targets = ", ".join(target for target, _ in self.nothing[:MOST_NAMED])
        targets += ", ..." * (len(self.nothing) > MOST_NAMED)
        if len({id(result) for _, result in self.nothing}) == 1:
            result = self.nothing[0][1]
            verdict = f"the verdict on {visible(result['file'])} is {result['verdict']}"
            click.echo(f"pgasrob: there is no run to draw, for {verdict}; not written: {targets}", err=True)
        elif self.nothing:
            click.echo(f"pgasrob: of {len(self.nothing)} there is no run to draw; not written: {targets}", err=True)
        return not self.failed

    def _write(self, results: list[Result | RaceResult], target: str) -> None:
        from pgasrob.render.output_files import format_of, write
        from pgasrob.whole_files import CannotWrite, replace_file

        try:
            if self.baseline is not None and format_of(target).ending == ".sarif":
                from pgasrob.render.sarif import to_sarif

                replace_file(target, self.baseline.compared(to_sarif(results), self.files))
            else:
                write(results, target, self.fold)
            self.written.append(target)
        except CannotWrite as error:
            self.failed = True
            click.echo(f"pgasrob: {error}", err=True)


def witness_option(written: str, kind: type[WitnessPath] = WitnessPath, also: Callable[[], str] = str) -> Any:
    """A field for the files that `--witness` names. The help says what is ``written`` and what else there is to say."""

    def help() -> str:
        return f"{written}: {endings(of_one_run if kind is RunPath else None)} by its ending. {also()}Can be repeated."

    return option("--witness", type=kind(), multiple=True, metavar="PATH", help=help)


def fold_option() -> Any:
    """A field that says whether pictures have the cycle only."""
    return option(
        "--fold", is_flag=True,
        help=lambda: f"Draw the cycle only (in {endings(lambda each: each.draws, 'and')}): all other events are folded "
        "into bands that say how many events of which ranks they stand for.",
    )  # fmt: skip


def need_a_drawing(fold: bool, option: str, paths: Sequence[str]) -> None:
    """Raises click.UsageError where what the cycle does not pass is to be folded and none of ``paths`` is a picture."""
    from pgasrob.render.output_files import format_of

    if fold and not any(format_of(path).draws for path in paths):
        kinds = endings(lambda each: each.draws)
        raise click.UsageError(f"--fold is for pictures: add {option} PATH with the ending {kinds}.")


def known_placeholders(path: str, option: str) -> None:
    """Raises click.UsageError where ``path``, given by ``option``, has a placeholder that there is not."""
    for name in PLACEHOLDER.findall(path):
        if name not in PLACEHOLDERS:
            known = ", ".join(PLACEHOLDERS_SHOWN)
            raise click.UsageError(f"{option} {path}: there is no placeholder {{{name}}}; there are {known}.")


def _check(path: str, holds_many: bool, files: Sequence[str], nodes: Sequence[int] | None) -> None:
    known_placeholders(path, "--witness")
    targets: dict[str, str] = {}
    for file in files:
        for count in nodes or (None,):
            target = filled(path, file, count)
            name = f"{file} on {count} nodes" if nodes and len(nodes) > 1 else file
            if target in targets and not holds_many:
                raise click.UsageError(
                    f"--witness {path}: {targets[target]} and {name} would both be written to {target}, which can hold "
                    f"one run. Try --witness '{_apart(path, files, nodes)}'."
                )
            targets[target] = name
    for folder in dict.fromkeys(os.path.dirname(target) for target in targets):
        if folder and not os.path.isdir(folder) and ("{nodes}" not in os.path.dirname(path) or nodes):
            raise click.UsageError(f"--witness {path}: there is no folder {folder}; make it first.")


def _apart(path: str, files: Sequence[str], nodes: Sequence[int] | None) -> str:
    """A path like ``path`` that keeps the results of ``files`` at ``nodes`` apart."""
    root, ending = os.path.splitext(path)
    if len(set(files)) > 1:
        names = {PurePath(file).stem for file in files}
        wanted = "{name}" if len(names) == len(set(files)) else "{path}"
        if wanted not in root:
            root = root.replace("{name}", wanted) if "{name}" in root else f"{root}-{wanted}"
    if nodes and len(nodes) > 1 and "{nodes}" not in root:
        root += "-{nodes}"
    return root + ending


def filled(path: str, file: str, nodes: int | str | None) -> str:
    """``path`` with its placeholders filled in for the result of ``file`` on ``nodes``."""
    values = {
        "name": PurePath(file).stem,
        "path": "-".join(part for part in PurePath(file).parts if part.strip(os.sep + ".")),
        "nodes": "own" if nodes is None else str(nodes),
    }
    return PLACEHOLDER.sub(lambda found: values[found[1]], path)


def write_witness(writing: Witnesses, result: RunResult) -> bool:
    """Write the one run of ``result``. Returns whether all could be written."""
    writing.result(cast("Result", result))
    return writing.end()
