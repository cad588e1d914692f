"""What is killed leaves no processes behind that go on with its work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pgasrob import parent_death
from tests.cli.commands import environment, start
from tests.processes import children, gone, needs_proc, ticks

LONG = "int main(void) { long a = 0; for (long i = 0; i < 15000000; i++) { a += i ^ a; a %= 1000003; } return a == 1; }"
"""To execute it takes longer than that, and nothing is said meanwhile, so that nobody finds out that nobody listens."""


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_batch(tmp_path: Path, number: int) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.c").write_text(LONG)
    process = start("check", str(tmp_path), "--jobs", "2")
    while len(workers := children(process.pid)) < 2 or not all(map(ticks, workers)):
        assert process.poll() is None
        time.sleep(0.02)
    os.kill(process.pid, number)
    assert gone(workers)
    process.communicate()
    assert process.returncode == -number


@needs_proc
def test_a_process_ends_with_its_parent_where_no_signal_tells() -> None:
    begun = """
import os, signal
from pgasrob import parent_death
parent_death._asks = lambda *_: None
parent_death.end_with(os.getppid())
print(os.getpid(), flush=True)
signal.pause()"""
    script = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {begun!r}]).wait()"
    with subprocess.Popen([sys.executable, "-c", script], env=environment(), stdout=subprocess.PIPE) as process:
        assert process.stdout
        child = int(process.stdout.readline())
        process.kill()
        assert gone([child])


@needs_proc
def test_a_parent_that_has_died_before_is_missed() -> None:
    """The signal is asked for too late then."""
    ask = parent_death._asks(signal.SIGKILL, os.getppid())
    if ask is None:
        pytest.skip("the system does not tell")
    with subprocess.Popen(["true"], preexec_fn=ask) as process:
        assert process.wait() == 128 + signal.SIGKILL
