"""`pgasrob draw`: write a run that was kept as JSON in another format: a picture, a page, a text."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from pgasrob import file_input
from pgasrob.cli.declare import argument, command, option
from pgasrob.cli.parameter_types import Name, OneOf, listed
from pgasrob.cli.shared_steps import refuse
from pgasrob.cli.witness_files import (
    PLACEHOLDER,
    PLACEHOLDERS_SHOWN,
    WitnessPath,
    endings,
    filled,
    fold_option,
    holding_many,
    known_placeholders,
    need_a_drawing,
)

if TYPE_CHECKING:
    from pgasrob.render.output_files import Format
    from pgasrob.render.verdict_json import RaceResult, Result

    AnyResult = Result | RaceResult

RUNS = {
    "violation": "witness",
    "outcome": "effect_run",
    "assertion": "assertion_run",
    "deadlock": "deadlock_run",
    "call": "illegal_calls",
    "race": "consequences",
}
"""The runs of a result by what they show; a fault, or a simulated run, stands where a violation does."""

EXAMPLES = """\b
Examples:
  pgasrob check ring.pgas --witness ring.json
  pgasrob draw ring.json -o ring.svg -o ring.tex
  pgasrob draw ring.json -o slide.tex --fold
  pgasrob draw ring.json --to dot | dot -Tpdf > ring.pdf
  pgasrob check programs --format json > verdicts.jsonl
  pgasrob draw verdicts.jsonl -o verdicts.sarif
"""


class FormatName(Name):
    """A format by its ending, without the dot."""

    name = "format"

    def names(self) -> Sequence[str]:
        from pgasrob.render.output_files import FORMATS

        return [ending[1:] for ending in FORMATS]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert(str(value).lstrip("."), param, ctx)


@dataclass(frozen=True)
class DrawOptions:
    """The options of `pgasrob draw`."""

    # fmt: off
    file: str = argument(type=click.Path(allow_dash=True))
    outputs: tuple[str, ...] = option("-o", "--output", type=WitnessPath(), multiple=True, metavar="PATH",
        help=lambda: f"Write to PATH, in the format of its ending: {endings()}. PATH may have "
        f"{listed(PLACEHOLDERS_SHOWN)}. Can be repeated.")
    format: str | None = option("--to", type=FormatName(), metavar="FORMAT",
        help=lambda: f"Print in this format: {listed(FormatName().names())}.")
    number: int | None = option("--result", type=click.IntRange(min=1), metavar="N",
        help=lambda: "If FILE has several results: the number of the one to draw, from 1. Default: the first with a "
        "run; "
        f"{holding_many()} hold all.")
    run: str | None = option("--run", type=OneOf(list(RUNS)),
        help="Which run of the result: the violation (or fault), the one that ends in its effect (outcome), that of a "
        "failing assertion, that of a deadlock, that to an illegal call, or one that shows that a race matters. "
        "Default: the one that reports show first.")
    fold: bool = fold_option()
    # fmt: on


@command(DrawOptions, examples=EXAMPLES)
def draw(options: DrawOptions) -> None:
    """Draw a run that was saved as JSON.

    FILE is a file that `check`, `run` or `outcomes` has written with --witness run.json, or the output of `check` or
    `run` with --format json; a single - is the standard input. Nothing is checked again: the picture shows what the
    file says.
    """
    if not options.outputs and options.format is None:
        raise click.UsageError("say where to: -o run.svg, or --to svg for standard output.")
    for output in options.outputs:
        known_placeholders(output, "-o")
    need_a_drawing(options.fold, "-o", [*options.outputs, *([f"run.{options.format}"] if options.format else [])])
    drawing = _Drawing(options, _read(options.file))
    for output in options.outputs:
        drawing.write(output)
    if options.format is not None:
        drawing.print(options.format)


def _read(file: str) -> list[AnyResult]:
    """The results in ``file``; ends the command where there are none."""
    from pgasrob.render.witness_file import BadWitnessFile, read_results

    try:
        return read_results(file_input.standard_input() if file == "-" else file_input.read(file))
    except BadWitnessFile as error:
        source = Path(file).suffix in (".pgas", ".c")
        hint = f"; draw needs what `pgasrob check {file} --witness run.json` writes"
        refuse(f"pgasrob: {file}: {error}{hint if source else ''}")
    except (OSError, ValueError) as error:
        refuse(f"pgasrob: cannot read {file}: {'; '.join(file_input.why(error))}")


class _Drawing:
    """The results in a file that ``options`` ask for, with one run of each where --run names it."""

    def __init__(self, options: DrawOptions, results: list[AnyResult]) -> None:
        self.options, self.results, self.count = options, results, len(results)
        self.numbers = {id(result): place for place, result in enumerate(results, 1)}
        number, run = options.number, options.run
        if number is not None:
            if number > self.count:
                there = f"{self.count} result{'s' * (self.count != 1)}"
                raise click.UsageError(f"--result {number}: {options.file} has {there}.")
            self.results = [results[number - 1]]
        if run is not None:
            kept = [cast("Result", result) for result in self.results if _has(result, run)]
            self.results = [only(result, run) for result in kept]
            self.numbers = {
                id(drawn): self.numbers[id(result)] for drawn, result in zip(self.results, kept, strict=True)
            }
            if not kept:
                refuse(f"pgasrob: {options.file}: there is no run of that kind ({run})")

    def write(self, output: str) -> None:
        """Write to the files that ``output`` names."""
        from pgasrob.render.output_files import format_of, write

        target = format_of(output)
        for path, those in _targets(output, self.results).items():
            drawn = self._chosen(target, those)
            write(drawn, path, self.options.fold)
            if not target.holds_many:
                self._mention(path, drawn[0], len(those))

    def print(self, name: str) -> None:
        """Print in the format of this ``name``."""
        from pgasrob.render.lines import glyphs_for, plain
        from pgasrob.render.output_files import FORMATS, TEXT_WIDTH
        from pgasrob.render.result_report import report

        target = FORMATS[f".{name}"]
        drawn = self._chosen(target, self.results)
        if name == "txt":
            sys.stdout.write("\n".join(plain(report(each, TEXT_WIDTH, glyphs_for(sys.stdout))) for each in drawn))
        else:
            sys.stdout.buffer.write(target.text(drawn, self.options.fold).encode())
        if not target.holds_many:
            self._mention("this", drawn[0], len(self.results))

    def _chosen(self, target: Format, results: list[AnyResult]) -> list[AnyResult]:
        """The ``results`` that a file of the format ``target`` shows: all, or the first with a run."""
        from pgasrob.render.diagram.model import shown
        from pgasrob.render.output_files import drawable

        if target.holds_many:
            return results
        with_run = [result for result in results if shown(drawable(result))]
        if target.needs_run and not with_run:
            several = f"none of the {len(results)} results has one"
            why = several if len(results) > 1 else f"the verdict is {results[0]['verdict']}"
            refuse(f"pgasrob: {self.options.file}: there is no run to draw; {why}")
        return (with_run or results)[:1]

    def _mention(self, where: str, drawn: AnyResult, of: int) -> None:
        """Say which of several results is drawn."""
        from pgasrob.diagnostics import visible
        from pgasrob.render.english import on_nodes

        if self.options.number is None and of > 1:
            shows = f"{where} shows result {self.numbers[id(drawn)]} of {self.count}"
            place = f"{visible(drawn['file'])}{on_nodes(drawn['nodes'])}"
            click.echo(f"pgasrob: {shows}, {place}; --result N draws another", err=True)


def _targets(output: str, results: list[AnyResult]) -> dict[str, list[AnyResult]]:
    """The files that ``output`` names with its placeholders filled in, and what goes into each."""
    if not PLACEHOLDER.search(output):
        return {output: results}
    found: dict[str, list[AnyResult]] = {}
    for result in results:
        found.setdefault(filled(output, result["file"], result["nodes"]), []).append(result)
    return found


def _has(result: AnyResult, run: str) -> bool:
    from pgasrob.render.words import race_runs

    return bool(race_runs(cast("Result", result)) if run == "race" else result.get(RUNS[run]))


def only(result: Result, run: str) -> Result:
    """``result`` with that ``run`` alone."""
    nothing: dict[str, list[object]] = {"illegal_calls": []}
    others: Any = {key: nothing.get(key) for kind, key in RUNS.items() if kind != run}
    kept: Any = {**result, **others}
    kept.pop("synchronised", None)  # what it says of other lines is shown by their runs
    if run != "race":
        kept.pop("consequences", None)
    if run == "violation" and "effect" not in kept["witness"]:
        kept["witness"] = {key: value for key, value in kept["witness"].items() if key != "title"}  # not beside another
    return cast("Result", kept)
