"""`python -m tests.bench.small`: how many small programs a second one command checks, and goes on with after a kill.

    python -m tests.bench.small --count 10000 --jobs 2

It makes the programs, runs `pgasrob check --resume` on the folder, kills it in the middle, has it go on, and then once
more when all results are there. Every program has to have one result.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click

from tests.support import COMMANDS, DECLARATIONS, FURTHER, SHARING


def small_programs(count: int, seed: int = 19) -> Iterator[str]:
    """So many programs of 2 or 3 ranks with up to four commands each, about half of them robust."""
    chosen = random.Random(seed)
    for _ in range(count):
        nodes = chosen.choice((2, 2, 2, 3))
        pool = chosen.choice((COMMANDS, COMMANDS + FURTHER, SHARING))
        blocks = []
        for rank in range(nodes):
            body = " ".join(chosen.choice(pool) for _ in range(chosen.randint(1, 4)))
            blocks.append(f"process {rank} {{ {body.replace('OTHER', str((rank + 1) % nodes))} }}")
        yield "\n".join([f"nodes {nodes};", DECLARATIONS, *blocks, ""])


def write_small_programs(folder: Path, count: int) -> list[str]:
    """Write them to the ``folder``; returns their names, in the order of `pgasrob check`."""
    for number, text in enumerate(small_programs(count)):
        (folder / f"p{number:05}.pgas").write_text(text)
    return [f"p{number:05}.pgas" for number in range(count)]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--count", type=click.IntRange(min=10), default=10_000, show_default=True, help="How many programs.")
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True)
def main(count: int, jobs: int) -> None:
    """Measure how many small programs a second `pgasrob check` takes."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "programs")
        folder.mkdir()
        names = write_small_programs(folder, count)
        command = [sys.executable, "-m", "pgasrob", "check", ".", "-j", str(jobs), "--format", "json"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, map(os.path.abspath, sys.path)))}

        def measured(what: str, kept: str, kill_after: int | None = None) -> list[str]:
            """The verdicts of the command, or the first ones of it before it is killed."""
            began, cpu = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
            process = subprocess.Popen(
                [*command, "--resume", str(Path(place, kept))],
                cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True,
            )  # fmt: skip
            assert process.stdout is not None
            lines = []
            for line in process.stdout:
                lines.append(line)  # read later, as that would take from the processors what is measured
                if len(lines) == kill_after:
                    os.killpg(process.pid, signal.SIGKILL)
                    break
            process.stdout.close()
            process.wait()
            seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - cpu.ru_utime - cpu.ru_stime
            rate = f"{len(lines) / seconds:,.0f} a second"
            click.echo(f"{what}: {len(lines):,} in {seconds:.1f} s, {rate}; {used:.1f} s of CPU")
            return [json.loads(line)["file"] for line in lines]

        assert measured("all, without a break", "whole.db") == names
        assert measured("all again, from what is kept", "whole.db") == names
        measured("killed in the middle", "cut.db", kill_after=count // 2)
        assert measured("gone on with", "cut.db") == names
        click.echo(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main(prog_name="python -m tests.bench.small")
