"""What other processes are at, as the system tells it: tests wait for that, not for a time."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

import pytest

needs_proc = pytest.mark.skipif(
    not Path(f"/proc/self/task/{os.getpid()}/children").exists(), reason="no telling who is at work"
)


def children(process: int) -> list[int]:
    found: list[int] = []
    for tasks in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, tasks.read_text().split())
    return found


def ticks(process: int) -> int:
    """The time of a processor that it has used, in ticks of the system's clock, of which a second has a hundred."""
    with suppress(OSError):
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11])
    return 0


PATIENCE = 8.0
"""Seconds until processes have to be gone."""


def gone(processes: list[int], seconds: float = PATIENCE) -> bool:
    """Whether they come to an end; a zombie has."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        stats = [Path(f"/proc/{each}/stat") for each in processes]
        if all(not each.exists() or each.read_text().rpartition(")")[2].split()[0] == "Z" for each in stats):
            return True
        time.sleep(0.02)
    return False
