"""`python -m tests.bench.reading`: how fast recorded runs are decided, and in how much memory, as they get longer.

Two ranks put to random cells and complete each put (400,212 calls at the length 1), and two ranks sweep over a stencil
(37 million accesses). With `--against` another checkout is asked in turns, with `--alarms` MUST-RMA, and the run itself
is timed with GCC's thread sanitizer. Times are of the processor.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import click

from tests.bench.tables import NOTHING, table

PROGRAMS = Path(__file__).parents[1] / "runtime" / "programs"
SIZES = {"puts": (100, 1000, 1_000_000), "stencil": (300, 600, 20)}
"""The arguments at the length 1."""
COMPILERS = {"puts": "mpicc", "stencil": "oshcc"}
API = {"puts": "mpi", "stencil": "openshmem"}


class Cost(NamedTuple):
    """What a process and its children have used: seconds of the processor, and at most so many bytes at once."""

    seconds: float
    bytes: int


@dataclass(frozen=True)
class Read:
    """A recorded run: how many ``things`` were recorded (calls, or accesses to memory), and for each that was asked the
    seconds of the processor and the bytes: `check`, `race`, `must-rma`, the run by itself (`plain`) and with the
    `sanitizer`."""

    program: str
    length: float
    things: int
    kind: str
    costs: dict[str, tuple[float, int]]


def reading_section(reads: Sequence[Read]) -> list[str]:
    """The lines about recorded runs in RESULTS.md."""
    if not reads:
        return []
    rows = []
    for read in reads:
        seconds = {word: used[0] for word, used in read.costs.items()}

        def ratio(word: str, seconds: dict[str, float] = seconds) -> str:
            return f"{seconds['race'] / seconds[word]:.2f}" if seconds.get(word) else NOTHING

        rows.append(
            [f"{read.program} x {read.length:g}", f"{read.things:,} {read.kind}"]
            + [f"{read.things / seconds[word]:,.0f}" for word in ("check", "race")]
            + [f"{max(read.costs[word][1] for word in ('check', 'race')) / 1e6:.0f}"]
            + [ratio(word) for word in ("must-rma", "plain", "sanitizer")]
        )
    head = ["run", "recorded", "check, per s", "race, per s", "MB", "race / must-rma", "race / run", "race / sanitizer"]
    return [
        "Two ranks put to random cells and complete each put, with a barrier each thousand; two ranks sweep over a "
        "stencil. Seconds are of the processor, and those of the whole command. Run: the program by itself; sanitizer: "
        "with GCC's thread sanitizer, which knows one order and no calls. must-rma: `race --analysis must-rma`.",
        "",
        *table(head, rows),
        "",
        "A first race that comes late takes longer: the segment that shows it is found in one pass, and what its cells "
        "hold at its beginning is found out by lowering all commands before it, in Python.",
    ]


def cost(command: Sequence[str], checkout: Path | None = None, more: dict[str, str] | None = None) -> Cost:
    """What a command uses, with the package of a ``checkout``. Its exit code is left alone: there may be races."""
    environment = {**os.environ, **(more or {})}
    silent = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=silent, stderr=silent, env=environment, cwd=checkout)
    _, _, used = os.wait4(process.pid, 0)
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def arguments(name: str, length: float) -> list[str]:
    """Longer runs of puts have more rounds, those of the stencil more steps."""
    size = list(SIZES[name])
    place = 0 if name == "puts" else 2
    size[place] = max(1, round(size[place] * length))
    return [str(each) for each in size]


def recorded(name: str, length: float, into: Path, *more: str) -> tuple[Path, str]:
    """The trace of a run, and what `record` says of it."""
    pgasrob = [sys.executable, "-m", "pgasrob"]
    program, trace = into / name, into / f"{name}.pgastrace"
    if not program.exists():
        built = [*pgasrob, "build", "--", COMPILERS[name], "-O2", str(PROGRAMS / f"{name}.c"), "-o", str(program)]
        subprocess.run(built, check=True)
    run = [*pgasrob, "record", "-n", "2", "--limit", "4GB", "-o", str(trace), "--", str(program)]
    said = subprocess.run([*run, *arguments(name, length), *more], check=False, capture_output=True, text=True)
    return trace, said.stderr.strip().rpartition("2 ranks, ")[2]


def sanitized(name: str, length: float, into: Path) -> tuple[Cost, Cost]:
    """What the run uses by itself, and with the thread sanitizer."""
    from pgasrob.runtime.tools import launch

    fixed = ["setarch", "-R"] if shutil.which("setarch") else []
    before, environment = launch(API[name], 2)
    found = []
    for word, options in (("plain", []), ("sanitizer", ["-fsanitize=thread"])):
        program = into / f"{name}-{word}"
        source = str(PROGRAMS / f"{name}.c")
        subprocess.run([COMPILERS[name], "-O2", "-g", *options, source, "-o", str(program)], check=True)
        command = [*fixed, *before, str(program), *arguments(name, length)]
        found.append(cost(command, None, {**environment, "TSAN_OPTIONS": "report_bugs=0"}))
    return found[0], found[1]


def counted(name: str, contents: str) -> tuple[int, str]:
    """How many calls, or accesses, `record` says that there are."""
    kind = "calls" if name == "puts" else "accesses"
    found = re.search(rf"([0-9,]+) (?:local )?{kind}", contents)
    return (int(found[1].replace(",", "")) if found else 0), kind


def keep(output: Path, read: Read) -> None:
    """Put what has been measured in the place of what there was of the same run; what was not measured now is kept."""
    from tests.bench.measure import load, save
    from tests.bench.report import report

    record = load(output.with_suffix(".json"))
    same = [each for each in record.reading if (each.program, each.length) == (read.program, read.length)]
    costs = {**(same[0].costs if same else {}), **read.costs}
    others = [each for each in record.reading if each not in same]
    every = [*others, replace(read, costs=costs)]
    record.reading = sorted(every, key=lambda each: (list(SIZES).index(each.program), each.length))
    save(record, output.with_suffix(".json"))
    output.write_text(report(record), encoding="utf-8")


@click.command()
@click.option("--lengths", default="1,4,16", show_default=True)
@click.option("--against", type=click.Path(path_type=Path), help="Another checkout.")
@click.option("--alarms", is_flag=True, help="Also MUST-RMA, and the thread sanitizer.")
@click.option("--timeout", default="600", show_default=True)
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), default=Path(__file__).parent / "RESULTS.md")
def main(lengths: str, against: Path | None, alarms: bool, timeout: str, output: Path) -> None:
    """Prints what is measured, and puts a table of it into the report."""
    here = Path(__file__).parents[2]
    checkouts = {"here": here, **({"there": against} if against else {})}
    asked = {"check": ["check"], "race": ["race"]}
    with tempfile.TemporaryDirectory() as folder:
        for name in SIZES:
            for length in map(float, lengths.split(",")):
                trace, contents = recorded(name, length, Path(folder))
                click.echo(f"{name} x {length:g}: {contents}")
                costs: dict[str, tuple[float, int]] = {}
                for word, command in asked.items():
                    for where, checkout in checkouts.items():
                        whole = [sys.executable, "-m", "pgasrob", *command, "--brief", "--timeout", timeout, str(trace)]
                        whole += ["--max-states", "1000000000"]
                        used = cost(whole, checkout)
                        click.echo(f"  {word} ({where}): {used.seconds:.1f} s, {used.bytes // 1_000_000} MB")
                        costs.setdefault(word, used)
                if alarms:
                    whole = [sys.executable, "-m", "pgasrob", "race", "--analysis", "must-rma", str(trace)]
                    used = cost([*whole, "--timeout", timeout, "--max-states", "1000000000"], here)
                    click.echo(f"  must-rma: {used.seconds:.1f} s, {used.bytes // 1_000_000} MB")
                    costs["must-rma"] = used
                    plain, sanitizer = sanitized(name, length, Path(folder))
                    click.echo(f"  the run: {plain.seconds:.1f} s, with the sanitizer {sanitizer.seconds:.1f} s")
                    costs |= {"plain": plain, "sanitizer": sanitizer}
                keep(output, Read(name, length, *counted(name, contents), costs))


if __name__ == "__main__":
    main()
