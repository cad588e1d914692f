"""`pgasrob draw`: a run that was written as JSON, in another format."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from pgasrob.cli.options import HELP, FromTable, Name, listed, refuse
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
    from collections.abc import Sequence

    from pgasrob.render.verdict_json import RaceResult, Result

RUNS = {"violation": "witness", "assertion": "assertion_run", "deadlock": "deadlock_run"}
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
        from pgasrob.render.files import FORMATS

        return [ending[1:] for ending in FORMATS]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert(str(value).lstrip("."), param, ctx)


@click.command(context_settings=HELP, epilog=EXAMPLES)
@click.argument("file", type=click.Path(allow_dash=True))
@click.option("-o", "--output", "outputs", type=WitnessPath(), multiple=True, metavar="PATH",
              cls=FromTable, told=lambda: f"Write to PATH, in the format that its ending says: {endings()}. PATH may "
              f"have {listed(PLACEHOLDERS_SHOWN)}. Can be repeated.")  # fmt: skip
@click.option("--to", "format_", type=FormatName(), metavar="FORMAT",
              cls=FromTable, told=lambda: f"Print in this format: {listed(FormatName().names())}.")  # fmt: skip
@click.option("--result", "number", type=click.IntRange(min=1), metavar="N",
              cls=FromTable, told=lambda: "Of several results in FILE the one of this number, from 1. Default: the "
              f"first with a run; {holding_many()} hold all.")  # fmt: skip
@click.option("--run", "run", type=click.Choice(list(RUNS)),
              help="Which run of the result: the violation (or fault), that of a failing assertion, or that of a "
              "deadlock. Default: the first that it has.")  # fmt: skip
@fold_option
def draw(
    file: str,
    outputs: tuple[str, ...],
    format_: str | None,
    number: int | None,
    run: str | None,
    cycle_only: bool,
) -> None:
    """Draw a run that was kept as JSON.

    FILE is what `check`, `run` or `outcomes` has written with --witness run.json, or what `check` or `run` prints with
    --format json; or it is a single - for standard input.
    Nothing is checked again. What is drawn is what the file says.
    """
    from pgasrob.diagnostics import visible
    from pgasrob.render.diagram.model import shown
    from pgasrob.render.english import on_nodes
    from pgasrob.render.files import FORMATS, TEXT_WIDTH, Format, drawable, format_of, write
    from pgasrob.render.lines import glyphs_for, plain
    from pgasrob.render.report import report
    from pgasrob.render.witness_file import BadWitnessFile, read_results

    if not outputs and format_ is None:
        raise click.UsageError("say where to: -o run.svg, or --to svg for standard output.")
    for output in outputs:
        known_placeholders(output, "-o")
    need_a_drawing(cycle_only, "-o", [*outputs, *([f"run.{format_}"] if format_ else [])])
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except (OSError, ValueError) as error:
        refuse(f"pgasrob: cannot read {file}: {getattr(error, 'strerror', None) or error}")
    try:
        results = read_results(data)
    except BadWitnessFile as error:
        source = Path(file).suffix in (".pgas", ".c")
        hint = f"; draw needs what `pgasrob check {file} --witness run.json` writes"
        refuse(f"pgasrob: {file}: {error}{hint if source else ''}")
    numbers = {id(result): place for place, result in enumerate(results, 1)}
    count = len(results)
    if number is not None:
        if number > len(results):
            raise click.UsageError(f"--result {number}: {file} has {_count(len(results))}.")
        results = [results[number - 1]]
    if run is not None:
        kept = [cast("Result", result) for result in results if result.get(RUNS[run])]
        results = [only(result, run) for result in kept]
        numbers = {id(drawn): numbers[id(result)] for drawn, result in zip(results, kept, strict=True)}
        if not results:
            refuse(f"pgasrob: {file}: there is no run of that kind ({run})")

    def chosen(target: Format, results: list[Result | RaceResult] = results) -> list[Result | RaceResult]:
        if target.holds_many:
            return results
        with_run = [result for result in results if shown(drawable(result))]
        if target.needs_run and not with_run:
            refuse(f"pgasrob: {file}: there is no run to draw; {_without_run(results)}")
        return (with_run or results)[:1]

    def say(where: str, drawn: Result | RaceResult, of: int) -> None:
        """Of several results only one is drawn: which?"""
        if number is None and of > 1:
            shows = f"{where} shows result {numbers[id(drawn)]} of {count}"
            told = f"{shows}, {visible(drawn['file'])}{on_nodes(drawn['nodes'])}"
            click.echo(f"pgasrob: {told}; --result N draws another", err=True)

    for output in outputs:
        target = format_of(output)
        for path, those in _targets(output, results).items():
            drawn = chosen(target, those)
            try:
                write(drawn, path, cycle_only)
            except OSError as error:
                refuse(f"pgasrob: cannot write {path}: {error.strerror or error}")
            if not target.holds_many:
                say(path, drawn[0], len(those))
    if format_ is not None:
        target = FORMATS[f".{format_}"]
        drawn = chosen(target)
        if format_ == "txt":
            sys.stdout.write("\n".join(plain(report(each, TEXT_WIDTH, glyphs_for(sys.stdout))) for each in drawn))
        else:
            sys.stdout.buffer.write(target.text(drawn, cycle_only).encode())
        if not target.holds_many:
            say("this", drawn[0], len(results))


def _targets(output: str, results: list[Result | RaceResult]) -> dict[str, list[Result | RaceResult]]:
    """The files that ``output`` names with its placeholders filled in, and what goes into each."""
    if not PLACEHOLDER.search(output):
        return {output: results}
    found: dict[str, list[Result | RaceResult]] = {}
    for result in results:
        found.setdefault(filled(output, result["file"], result["nodes"]), []).append(result)
    return found


def only(result: Result, run: str) -> Result:
    """``result`` with that ``run`` alone."""
    others: Any = {key: None for kind, key in RUNS.items() if kind != run}
    return {**result, **others}


def _without_run(results: list[Result | RaceResult]) -> str:
    if len(results) > 1:
        return f"none of the {len(results)} results has one"
    return f"the verdict is {results[0]['verdict']}"


def _count(number: int) -> str:
    return f"{number} result{'s' * (number != 1)}"
