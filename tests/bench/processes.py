"""Programs run for their time and memory: one process at a time, its wall and processor time, its peak resident set."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

GRACE = 10.0
"""Seconds that an interrupted process has to say how far it came."""


@dataclass(frozen=True, slots=True)
class Process:
    """What became of a process. ``wall`` and ``cpu`` are seconds, ``rss`` bytes.

    The resident set counts from the fork, so it is never less than that of the process which measures.
    """

    output: str
    errors: str
    code: int
    late: bool
    wall: float
    cpu: float
    rss: int


def run(
    command: Sequence[str], time_limit: float | None = None, memory_limit: int | None = None, folder: Path | None = None
) -> Process:
    """Run ``command``; after ``time_limit`` seconds it gets Ctrl-C, and is killed when it does not end then."""

    def limited() -> None:
        if memory_limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory_limit, memory_limit))

    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=output, stderr=errors, cwd=folder, preexec_fn=limited, start_new_session=True
        )
        late = threading.Event()

        def interrupt() -> None:
            late.set()
            process.send_signal(signal.SIGINT)
            killer.start()

        killer = threading.Timer(GRACE, process.kill)
        interrupter = threading.Timer(time_limit or 0, interrupt)
        if time_limit is not None:
            interrupter.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.perf_counter() - started
        except BaseException:
            process.kill()
            raise
        finally:
            interrupter.cancel()
            killer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        return Process(
            output.read(),
            errors.read(),
            process.returncode,
            late.is_set(),
            wall,
            usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss * 1024,
        )
