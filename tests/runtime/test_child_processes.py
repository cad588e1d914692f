"""Nothing that `record`, `reproduce` and `build` have started outlives them, however they end: real programs that
hang."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from pgasrob.recording.recorded_answers import check_trace
from pgasrob.runtime import child_processes
from pgasrob.runtime.child_processes import Terminated, ended_by_signals, finished, run, signals
from tests.runtime.recorded import PROGRAMS, built
from tests.tools import needs

CORPUS = Path(__file__).parents[2] / "programs" / "c"
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc and signals of a parent's death")
PATIENCE = 60.0
"""Seconds until a test fails; what hangs would do so for ever."""

pytestmark = LINUX


@pytest.fixture(autouse=True)
def _hang_ups_are_heard() -> Iterator[None]:
    """Also where the tests run under `nohup`: what is ignored stays so."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def started_by(process: int) -> list[int]:
    """The processes that ``process`` has started, also those that have lost their parents since."""
    named = f"PGASROB_PARENT={process} ".encode()
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if named in Path("/proc", name, "environ").read_bytes():
                found.append(int(name))
    return found


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@contextmanager
def pgasrob(folder: Path, *arguments: str | Path, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A command at work, with its temporary files in ``folder``."""
    folder.mkdir(exist_ok=True)
    with open(folder.with_suffix(".said"), "w") as said:
        running = subprocess.Popen(
            [sys.executable, "-m", "pgasrob", *map(str, arguments)],
            stdout=said, stderr=subprocess.STDOUT, text=True, env={**os.environ, "TMPDIR": str(folder), **environment},
        )  # fmt: skip
    try:
        yield running
    finally:
        for process in (running.pid, *started_by(running.pid)):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        running.wait()


@needs("mpicc")
def test_no_process_is_left_of_a_program_that_hangs(tmp_path: Path) -> None:
    """All at once, so that it takes no longer than one."""
    program = built("mpicc", PROGRAMS / "hangs.c", tmp_path)
    numbers = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL)
    with ExitStack() as stack:
        for number in numbers:
            folder, deaf = tmp_path / number.name, ["deaf"] * (number != signal.SIGHUP)
            command = ("record", "-o", folder.with_suffix(".pgastrace"), "--", program, *deaf)
            running = stack.enter_context(pgasrob(folder, *command))
            stack.callback(ended_by, number, running, folder)


def ended_by(number: signal.Signals, running: subprocess.Popen[str], folder: Path) -> None:
    """What is left of a recording that this signal has ended."""
    said, trace = folder.with_suffix(".said"), folder.with_suffix(".pgastrace")
    until(lambda: said.read_text().count("hangs") == 2)
    assert len(started_by(running.pid)) == 5
    running.send_signal(number)
    running.wait(PATIENCE)
    until(lambda: not started_by(running.pid))
    unfinished = list(folder.parent.glob(f"{folder.name}.*.pgastrace"))
    if number is signal.SIGKILL:
        assert not trace.exists() and len(unfinished) == 1
        assert unfinished[0].stat().st_size < 1_000_000  # and not so much as it may become
        trace = unfinished[0]
    else:
        assert not unfinished and running.returncode == 130
        assert "2 ranks, 3 calls" in said.read_text() and "the program was interrupted" in said.read_text()
        assert not [path for path in folder.iterdir() if path.name.startswith("pgasrob")]
    check = check_trace(str(trace))
    assert check.verdict == "unknown" and "ranks forked" in str(check.reason)


@needs("oshcc")
def test_reproduce_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    with pgasrob(folder, "reproduce", CORPUS / "openshmem/message_passing_no_fence.c") as running:
        until(lambda: len(started_by(running.pid)) >= 3 and list(folder.glob("pgasrob-*")))
        running.send_signal(signal.SIGTERM)
        assert running.wait(PATIENCE) == 130
        assert not started_by(running.pid) and not list(folder.glob("pgasrob-*"))


@needs("mpicc")
def test_build_leaves_nothing(tmp_path: Path) -> None:
    """Where the compiler hangs on the runtime, which is made first."""
    compiler, folder, cache = tmp_path / "gcc", tmp_path / "files", tmp_path / "cache"
    compiler.write_text('#!/bin/sh\ncase "$*" in *parent.c*) sleep 1000;; *) exec gcc "$@";; esac\n')
    compiler.chmod(0o755)
    (tmp_path / "x.c").write_text("int main(void) { return 0; }\n")
    command = ("build", "--", "mpicc", tmp_path / "x.c", "-o", tmp_path / "x")
    with pgasrob(folder, *command, OMPI_CC=str(compiler), XDG_CACHE_HOME=str(cache)) as running:
        until(lambda: len(started_by(running.pid)) >= 3)
        running.send_signal(signal.SIGTERM)
        assert running.wait(PATIENCE) == 130
        assert not started_by(running.pid) and not list(folder.iterdir())
        assert not list((cache / "pgasrob").iterdir())


def late(done: list[str]) -> None:
    with ended_by_signals(), signals(held=True):
        os.kill(os.getpid(), signal.SIGTERM)
        done.append("all")


def test_signals_wait_for_what_must_not_be_left_half_done() -> None:
    done = []

    def interrupted() -> None:
        with ended_by_signals():
            with signals(held=True):
                os.kill(os.getpid(), signal.SIGHUP)
                done.append("half")
                with suppress(Terminated), signals(held=False):
                    done.append("never")
                os.kill(os.getpid(), signal.SIGTERM)  # there is nothing left to be ended
                done.append("all")
            done.append("next")
            with signals(held=True):
                done.append("and next")

    interrupted()
    assert done == ["half", "all", "next", "and next"] and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    done = []
    with pytest.raises(Terminated):
        late(done)
    assert done == ["all"]
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ended_by_signals():  # as with nohup
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def test_what_a_command_has_started_ends_with_it() -> None:
    script = "sleep 1000 & exec sleep 1000"
    ran = run(["sh", "-c", f"echo begun; trap '' TERM; {script}"], None, 0.3, captured=True)
    assert (ran.output, ran.stopped) == ("begun\n", "timeout") and not started_by(os.getpid())
    with pytest.raises(KeyboardInterrupt), ended_by_signals():
        finished(["sh", "-c", f"kill -TERM $PPID; {script}"])
    assert not started_by(os.getpid())


@needs("mpicc")
def test_what_is_left_of_a_killed_command(tmp_path: Path) -> None:
    """Launchers get a signal, and ranks look after themselves, where the launcher cannot."""
    source = tmp_path / "rank.c"
    source.write_text("#include <unistd.h>\nint main(void) { for (;;) pause(); }\n")
    parent = Path(child_processes.__file__).with_name("parent.c")
    subprocess.run(["gcc", "-w", source, parent, "-o", tmp_path / "rank", "-lpthread"], check=True)
    deaf = ("sh", "-c", f"trap '' TERM; {tmp_path}/rank; true")
    script = "import sys; from pgasrob.runtime.child_processes import run; run(sys.argv[1:])"
    for command, count in ((("sleep", "1000"), 1), (deaf, 2)):
        running = subprocess.Popen([sys.executable, "-c", script, *command])
        until(lambda: len(started_by(running.pid)) == count and named(running.pid, command[0] == "sh"))  # noqa: B023
        running.kill()
        running.wait()
        until(lambda: not started_by(running.pid))  # noqa: B023


def named(process: int, with_rank: bool) -> bool:
    """Whether what ``process`` has started is no copy of it any more."""
    names = [Path("/proc", str(each), "comm").read_text().strip() for each in started_by(process)]
    return sorted(names) == (["rank", "sh"] if with_rank else ["sleep"])


def test_more_time_than_any_clock_counts_is_no_limit() -> None:
    assert run(["true"], None, 1e20, captured=True).exit_code == 0
