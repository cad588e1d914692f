"""Small programs of each verdict, and the command line run on them, in this process and in one of its own."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pgasrob import twins
from pgasrob.cli import cli
from tests.outputs import validate

ROOT = Path(__file__).parents[2]
ROBUST = "memory x; process { mem[x] <- 1; }"
NOT_ROBUST = "memory x; queue q; nodes 1; process { write(x, 0, x, q); mem[x] <- 1; }"
FAULT = "register r; process { r <- 1 / r; }"
SYNTAX_ERROR = "process { skip }"
ENDLESS = """memory x, y; register r; queue q; process {
  loop { mem[x] <- r; r <- r + 1; assert(1); if (r < 0) { write(x, me, y, q); r <- mem[y]; } } }"""
"""Its SC runs go on for longer than anybody waits, and none can tell beforehand that there is no violation."""
NO_KERNEL = f"pgasrob: {twins.MISSING_KERNEL}"
QUIET = "" if twins.available() else f"{NO_KERNEL}\n"
"""What stderr has when there is nothing to say."""
TEXTS = {
    "robust": ROBUST,
    "not": NOT_ROBUST,
    "fault": FAULT,
    "syntax": SYNTAX_ERROR,
    "unknown": ENDLESS,
}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


def check(*arguments: str) -> Result:
    return run("check", *arguments)


def objects(result: Result) -> list[dict[str, Any]]:
    """What `--format json` printed; every line has to be an object."""
    return [json.loads(line) for line in result.stdout.splitlines()]


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "NO_COLOR")}
    return {**kept, "PYTHONPATH": str(ROOT), "COLUMNS": "80", **more}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pgasrob", *arguments]


def installed(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own."""
    result = subprocess.run(
        command(*arguments), capture_output=True, encoding="utf-8", env=environment(**more), timeout=600, check=False
    )
    validate(arguments, result.stdout)
    return result


MESSAGE = """\
// {head}
#include <shmem.h>
#ifndef BETWEEN
#define BETWEEN
#endif
static int data, flag;
int main(void) {{
    shmem_init();
    if (shmem_my_pe() == 0) {{
        shmem_int_p(&data, 42, 1);
        BETWEEN;
        shmem_int_p(&flag, 1, 1);
    }} else {{
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
        int got = data;
        if (got != 42)
            helper(got);
    }}
}}
"""


def start(*arguments: str) -> subprocess.Popen[str]:
    """The command as a process of its own, whose workers have all the time they need to say what they know."""
    patient = "from pgasrob.batch import workers; workers.GRACE = 60; from pgasrob.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", patient, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=environment(),
        start_new_session=True,
        # As from a shell: a runner may have been started with interrupts ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )


def on_a_terminal(*arguments: str, **more: str) -> tuple[str, int]:
    """What the command writes to a terminal, and its exit code."""
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    process = subprocess.Popen(
        command(*arguments), stdin=slave, stdout=slave, stderr=slave, env=environment(TERM="xterm", **more)
    )
    os.close(slave)
    written = b""
    while select.select([master], [], [], 600)[0]:
        try:
            piece = os.read(master, 65536)
        except OSError:  # Linux reports the end this way
            break
        if not piece:
            break
        written += piece
    os.close(master)
    return written.decode(), process.wait(600)
