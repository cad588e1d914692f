"""How families of programs grow: asked for more and more ranks until a run takes too long, against a base and SPIN.

`python -m tests.bench.growth` measures the families in `tests/bench/families/`, by themselves or with `--against` in
turns with another checkout, and puts a table of them into RESULTS.md.
"""

from __future__ import annotations

import math
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

import click

from tests.bench import pan
from tests.bench.measure import ROOT, Grown, GrowthRecord, Measurement, check, load, machine, median, save, spin
from tests.bench.scaling import exponent
from tests.bench.templates import TEMPLATES, Template

SECONDS, MOST_RANKS = 60.0, 1_024
TURNS, SHORT = 3, 5.0
"""How often two are run in turns, and the seconds from which a run is not repeated."""
CUBIC = 3.0
"""Ranks are doubled where the states have last grown with no higher power of N."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Two laws of growth by least squares: N to the power of ``power``, or ``base`` to the power of N.

    ``polynomial``: whether the first fits better.
    """

    power: float
    base: float
    polynomial: bool

    def __str__(self) -> str:
        laws = [f"N^{self.power:.1f}", f"{self.base:.1f}^N"]
        return " or ".join(laws if self.polynomial else reversed(laws))


def fit(points: Sequence[tuple[int, float]]) -> Fit | None:
    """The laws for ``points`` (ranks, states or seconds), compared on a logarithmic scale; three at least."""
    known = [(nodes, math.log(size)) for nodes, size in points if size > 0]
    if len(known) < 3:
        return None
    logs = [size for _, size in known]
    power, wrong_power = _line([math.log(nodes) for nodes, _ in known], logs)
    rate, wrong_rate = _line([float(nodes) for nodes, _ in known], logs)
    return Fit(power, math.exp(rate), wrong_power <= wrong_rate)


def _line(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """The slope of the line through the points, and the sum of the squares of what it is wrong by."""
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)
    return slope, sum((b - y - slope * (a - x)) ** 2 for a, b in zip(xs, ys, strict=True))


def whole(run: Measurement | None) -> bool:
    """Whether the run has seen all that it looks for: no limit has cut the search, nor that of SC runs behind it."""
    return run is not None and run.done and run.reason is None


def states(record: GrowthRecord) -> Fit | None:
    return fit([(nodes, each.ours.states or 0) for nodes, each in record.sizes.items() if whole(each.ours)])


def seconds(record: GrowthRecord) -> Fit | None:
    """The law of processor time, of the runs in which it is not mostly Python's start."""
    return fit([(nodes, each.ours.cpu) for nodes, each in record.sizes.items() if each.ours.done and each.ours.cpu > 1])


@dataclass(slots=True)
class Growth:
    """Measures families, one after the other, each run by itself.

    ``against``: the checkout of another pgasrob with its kernel, which is run in turns with this one. ``with_spin``:
    whether SPIN is asked as well.
    """

    folder: Path
    say: Callable[[str], None]
    limit: float = SECONDS
    memory: int = 12 << 30
    against: Path | None = None
    with_spin: bool = True
    most: int = MOST_RANKS
    _spin_stopped: str | None = field(default=None, init=False)
    _base_stopped: bool = field(default=False, init=False)

    def family(self, family: Template) -> GrowthRecord:
        """All sizes of ``family`` up to the first that takes too long, or two that are cut by a limit of their own."""
        record = GrowthRecord(family.idiom, base=_commit(self.against), seconds=self.limit)
        record.measured, record.machine = date.today().isoformat(), machine()
        self._spin_stopped, self._base_stopped = None if self.with_spin else "it was not asked", False
        nodes: int | None = family.least
        while nodes is not None:
            record.sizes[nodes] = found = self._at(family, nodes)
            told = f"{found.ours.states or 0:,} states, {found.ours.wall:.2f} s, {found.ours.ended}"
            self.say(f"{family.name} {nodes}: {told}{f' ({found.ours.reason})' if found.ours.reason else ''}")
            nodes = self._next(family, record)
        record.without_spin = self._spin_stopped
        return record

    def _next(self, family: Template, record: GrowthRecord) -> int | None:
        sizes = list(record.sizes.items())
        nodes, last = sizes[-1]
        cut = [size for _, size in sizes[-2:] if not whole(size.ours)]
        if not last.ours.done or last.ours.cpu > self.limit or len(cut) == 2:
            return None
        grown = [(n, float(size.ours.states or 1)) for n, size in sizes[-2:]]
        slowly = len(sizes) > 3 and (exponent(*grown) or 0.0) <= CUBIC
        following = family.after(nodes, quickly=slowly)
        return following if following <= self.most else None

    @property
    def _patience(self) -> float:
        """Seconds that a run may take: more than the limit where it shares the processors with others."""
        return self.limit * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))

    def _at(self, family: Template, nodes: int) -> Grown:
        file = self.folder / f"{family.name}_{nodes}{family.suffix}"
        file.write_text(family.program(nodes), encoding="utf-8")
        ours: list[Measurement] = []
        base: list[Measurement] = []
        turns = [(ROOT, ours), *([(self.against, base)] if self.against and not self._base_stopped else [])]
        while not ours or (base and len(ours) < TURNS and max(ours[0].wall, base[0].wall) < SHORT):
            for folder, runs in turns:
                runs.append(check(file, nodes, "portfolio", self._patience, self.memory, folder))
        self._base_stopped = self._base_stopped or bool(base and not base[0].done)
        return Grown(_middle(ours), _middle(base) if base else None, self._spin(file, nodes))

    def _spin(self, file: Path, nodes: int) -> Measurement | None:
        if self._spin_stopped:
            return None
        folder = file.with_suffix(".spin")
        folder.mkdir(exist_ok=True)
        try:
            found = spin(pan.build(file, nodes, folder, self.memory), self._patience)
        except pan.NoSpin as problem:
            self._spin_stopped = f"on {nodes} ranks {problem}"
            return None
        if not found.done:
            after = f"{found.states or 0:,} states and {found.cpu:.0f} s"
            self._spin_stopped = f"on {nodes} ranks it is stopped ({found.ended}) after {after}"
        return found


def _middle(runs: Sequence[Measurement]) -> Measurement:
    """As :func:`median`, which forgets what cut a run."""
    return replace(median(runs), reason=next((run.reason for run in runs if run.reason), None))


def _commit(folder: Path | None) -> str | None:
    if folder is None:
        return None
    told = subprocess.run(
        ["git", "rev-parse", "--short=8", "HEAD"], cwd=folder, capture_output=True, text=True, check=False
    )
    return told.stdout.strip() or "a folder without a commit"


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("names", metavar="[FAMILY]...", nargs=-1, type=click.Choice(list(TEMPLATES)))
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), default=SECONDS, metavar="SECONDS",
              help="A family ends with the first run that takes more of a processor. Default: 60.")  # fmt: skip
@click.option("--against", type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path),
              help="A checkout with its kernel built, run in turns with this one.")  # fmt: skip
@click.option("--no-spin", is_flag=True, help="Do not ask SPIN as well.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), default=Path(__file__).parent / "RESULTS.md",
              help="The report; its record goes beside it, as .json. Default: tests/bench/RESULTS.md.")  # fmt: skip
def main(names: tuple[str, ...], time_limit: float, against: Path | None, no_spin: bool, output: Path) -> None:
    """Ask each FAMILY, by default all, for more and more ranks; the report is written after every one."""
    from tests.bench.report import report  # it uses what stands above

    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a checkout that was never run would be compiled for each run
    kept, started = output.with_suffix(".json"), time.monotonic()
    record = load(kept)
    with tempfile.TemporaryDirectory(prefix="pgasrob-growth-") as folder:
        for name in names or TEMPLATES:
            growth = Growth(
                Path(folder), lambda line: click.echo(f"{time.monotonic() - started:6.0f} s  {line}", err=True)
            )
            growth.limit, growth.against, growth.with_spin = time_limit, against, not no_spin
            record.growth[name] = growth.family(TEMPLATES[name])
            record.growth = {each: record.growth[each] for each in TEMPLATES if each in record.growth}
            save(record, kept)
            output.write_text(report(record), encoding="utf-8")


if __name__ == "__main__":
    main(prog_name="python -m tests.bench.growth")
