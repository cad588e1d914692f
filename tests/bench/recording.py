"""`python -m tests.bench.recording`: what recording costs beside a plain run and GCC's thread sanitizer.

The programs time their own steps; the runs of the three builds are in turn, and the medians count.
"""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import click

PROGRAMS = Path(__file__).parents[1] / "runtime" / "programs"
SIZES = {"stencil": ("1000", "1000", "100"), "gather": ("100000", "1000000", "2")}
RANKS = 2


def seconds(command: list[str], environment: dict[str, str]) -> float:
    """What the program says. Its exit code is left alone: Open MPI's shmem_finalize crashes."""
    told = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    found = re.search(r"([0-9.]+) seconds", told.stdout)
    if found is None:
        raise click.ClickException(f"{' '.join(command)} did not say how long it took:\n{told.stderr}")
    return float(found[1])


@click.command()
@click.option("--runs", default=5, show_default=True)
def main(runs: int) -> None:
    """Prints a table of seconds, slowdowns and bytes."""
    from pgasrob.runtime.record.trace import look
    from pgasrob.runtime.record.trace_reader import Trace
    from pgasrob.runtime.tools import launch

    click.echo("| program | plain, s | sanitizer, s | recorded, s | sanitizer / plain | recorded / plain "
               "| recorded / sanitizer | accesses | trace, MB |")  # fmt: skip
    click.echo("|---|---|---|---|---|---|---|---|---|")
    fixed = ["setarch", "-R"] if shutil.which("setarch") else []
    for name, size in SIZES.items():
        with tempfile.TemporaryDirectory() as folder:
            source, at = str(PROGRAMS / f"{name}.c"), Path(folder)
            subprocess.run(["oshcc", "-O2", "-g", source, "-o", at / "plain"], check=True)
            subprocess.run(["oshcc", "-O2", "-g", "-fsanitize=thread", source, "-o", at / "sanitizer"], check=True)
            pgasrob = [sys.executable, "-m", "pgasrob"]
            subprocess.run([*pgasrob, "build", "--", "oshcc", "-O2", source, "-o", at / "recorded"], check=True)
            before, environment = launch("openshmem", RANKS)
            environment["TSAN_OPTIONS"] = "report_bugs=0"
            trace = at / "run.pgastrace"
            commands = {
                "plain": [*before, str(at / "plain"), *size],
                "sanitizer": [*fixed, *before, str(at / "sanitizer"), *size],
                "recorded": [*pgasrob, "record", "-n", str(RANKS), "-o", str(trace), "--", str(at / "recorded"), *size],
            }
            found: dict[str, list[float]] = {which: [] for which in commands}
            for _ in range(runs):
                for which, command in commands.items():
                    found[which].append(seconds(command, environment))
            plain, sanitizer, recorded = (statistics.median(found[which]) for which in commands)
            with Trace(trace) as read:
                contents = look(read)
        click.echo(
            f"| {name} {' '.join(size)} | {plain:.3f} | {sanitizer:.3f} | {recorded:.3f} | {sanitizer / plain:.1f} "
            f"| {recorded / plain:.1f} | {recorded / sanitizer:.2f} | {contents.accesses:,} "
            f"| {contents.bytes / 1e6:.1f} |"
        )


if __name__ == "__main__":
    main()
