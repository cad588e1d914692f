"""`python -m tests.bench`: measure the families and write RESULTS.md."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import click

from tests.bench.families import FAMILIES, SCALED
from tests.bench.measure import Budget, Record, load, measure, save
from tests.bench.report import report

HERE = Path(__file__).parent


def _names(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...]:
    known = dict.fromkeys((*FAMILIES, *SCALED))
    names = tuple(value.split(",")) if value else tuple(known)
    for name in names:
        if name not in known:
            raise click.BadParameter(f"no family {name!r}; there is {', '.join(known)}.", ctx, param)
    return names


def _sizes(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    try:
        return tuple(sorted(map(int, value.split(",")))) if value else None
    except ValueError:
        raise click.BadParameter("numbers of ranks with commas between, as in 2,4,8.", ctx, param) from None


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--families", callback=_names, metavar="NAMES", help="Only these, with commas between. Default: all.")
@click.option(
    "--part",
    "parts",
    multiple=True,
    type=click.Choice(["reductions", "scaling", "repairs"]),
    default=["reductions", "scaling", "repairs"],
    help="The attack search with and without reductions, how the default engine grows, or repairs. Default: all.",
)
@click.option("--sizes", callback=_sizes, metavar="COUNTS", help="Other sizes for the growth tables, as in 2,4,8.")
@click.option("--quick", is_flag=True, help="Small limits and no repeats: to see that it works.")
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS",
              help="Stop a run of the comparison with SPIN after so long. Default: 40.")  # fmt: skip
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), default=HERE / "RESULTS.md",
              help="The report; its record goes beside it, as .json. Default: tests/bench/RESULTS.md.")  # fmt: skip
@click.option("--report-only", is_flag=True, help="Measure nothing: make the report again from its record.")
def main(
    families: tuple[str, ...],
    parts: tuple[str, ...],
    sizes: tuple[int, ...] | None,
    quick: bool,
    time_limit: float | None,
    output: Path,
    report_only: bool,
) -> None:
    """Measure pgasrob with and without its reductions, and SPIN on the same question, family by family.

    The report is written after every family, and the families measured before are kept in it: one that was
    interrupted goes on with --families.
    """
    kept = output.with_suffix(".json")
    record = load(kept)
    started = time.monotonic()

    def say(line: str) -> None:
        click.echo(f"{time.monotonic() - started:6.0f} s  {line}", err=True)

    def done(record: Record) -> None:
        save(record, kept)
        output.write_text(report(record), encoding="utf-8")

    if report_only:
        done(record)
        return
    budget = Budget(5.0, 2.0, 20_000, repeats=1) if quick else Budget()
    if time_limit is not None:
        budget = replace(budget, seconds=time_limit, growth_seconds=min(time_limit, budget.growth_seconds))
    measure(record, families, budget, say, done, sizes, parts)
    click.echo(f"{output}: {', '.join(families)}")


main(prog_name="python -m tests.bench")
