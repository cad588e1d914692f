"""The process in which inputs are tried one after the other: `python -m tests.fuzz.worker KIND SEED FIRST COUNT`.

For each input it prints its number before, and a JSON object with what came of it; then it waits for a line. It works
in the folder where it was started, and does what the command `pgasrob` does, with files as standard input, output and
error. Some inputs are tried once more as a process of its own, whose exit code is to be the same.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.kinds import ALL, KINDS, Case

ROOM = 6 << 30
"""Bytes of address space, so that what asks for too much memory leaves the machine alone."""
OUT, ERR = ".stdout", ".stderr"
SECONDS_TAKEN = re.compile(r"\d+\.\d\d")
ONE_IN = 200
"""One input in so many is tried as a process of its own, too: to start one takes longer than many inputs."""


def without_other_processes() -> None:
    """The servers answer in this process: to start one for each session takes longer than all the rest."""
    from pgasrob import bounded
    from pgasrob.lsp import server

    async def run(seconds: float, memory: int, work: Any, *arguments: Any) -> Any:
        return work(*arguments)

    bounded.run = run
    server.default_converter = cache(server.default_converter)
    server.DEBOUNCE = 0.0


@contextmanager
def streams(case: Case) -> Iterator[None]:
    """Standard input, output and error are files of this folder."""
    Path(".stdin").write_bytes(case.stdin)
    kept = [os.dup(number) for number in range(3)]
    before = sys.stdin, sys.stdout, sys.stderr
    opened = [
        os.open(".stdin", os.O_RDONLY),
        *(os.open(each, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) for each in (OUT, ERR)),
    ]
    for number, file in enumerate(opened):
        os.dup2(file, number)
        os.close(file)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode, encoding="utf-8", errors=errors, closefd=False)
        for number, (mode, errors) in enumerate(
            (("r", "surrogateescape"), ("w", "surrogateescape"), ("w", "backslashreplace"))
        )
    )
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(ValueError, OSError):
                stream.flush()
        sys.stdin, sys.stdout, sys.stderr = before
        for number, file in enumerate(kept):
            os.dup2(file, number)
            os.close(file)


def tried(case: Case) -> int:
    """The exit code."""
    from pgasrob.cli import main

    try:
        if case.work is not None:
            case.work()
            return 0
        sys.argv = ["pgasrob", *case.arguments]
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return -1
    return 0


def _alone(case: Case) -> int:
    """The exit code of a process of its own."""
    command = [sys.executable, "-m", "pgasrob", *case.arguments]
    return subprocess.run(command, input=case.stdin, capture_output=True, check=False).returncode


def memory(field: str) -> int:
    """Bytes by a line of `/proc/self/status`."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


def used() -> float:
    """Seconds of processors that this process and its children have used."""
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in found)


def main(kind: str, seed: str, first: str, count: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    go_on = os.fdopen(os.dup(0))
    report = partial(print, file=os.fdopen(os.dup(1), "w"), flush=True)
    if kind in ("lsp", "explore"):
        without_other_processes()
    make = ALL[kind](Path.cwd())
    for number in range(int(first), int(first) + int(count)):
        case = make(Random(f"{kind} {seed} {number}"))
        report(json.dumps({"number": number, "arguments": case.arguments}))
        alone = None
        if number % ONE_IN == 0 and kind in KINDS and case.work is None:
            alone = _alone(case)
            case = make(Random(f"{kind} {seed} {number}"))  # the command may have changed its files
        Path("/proc/self/clear_refs").write_text("5")
        begun, resident, clock = used(), memory("VmRSS"), time.monotonic()
        with streams(case):
            code = tried(case)
        found = {
            "code": code,
            "seconds": round(used() - begun, 3),
            "clock": round(time.monotonic() - clock, 3),
            "bytes": memory("VmHWM") - resident,
            "out": Path(OUT).read_bytes()[:100_000].decode(errors="replace"),
            "err": Path(ERR).read_bytes()[-4_000:].decode(errors="replace"),
        }
        if alone is not None:
            found["alone"] = alone
        if case.shown is not None:
            found["as_before"] = SECONDS_TAKEN.sub("", found["out"]) == SECONDS_TAKEN.sub("", case.shown)
        report(json.dumps(found))
        go_on.readline()


if __name__ == "__main__":
    main(*sys.argv[1:])
