"""Runs compilers and launchers, so that none of what they start outlives this process.

SIGTERM and SIGHUP, which `timeout`, batch systems and continuous integration send, end the work as Ctrl-C does. Ranks
see by themselves when this process has been killed (`parent.c`).
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pgasrob.parent_death import ends_with_this

GRACE = 0.5
"""Seconds between the signals that ask ranks to end, then the launcher, which ends what is left of them, and that kill
whoever has not done so."""
MOST_SECONDS = 2_000_000
"""Three weeks: more is never, for the system's calls that wait do not take much more."""


class Terminated(KeyboardInterrupt):
    """A signal has come that ends this process as Ctrl-C does."""


class _Signals:
    """What comes of signals: they raise an exception, but while they are ``held`` they only ``wait``. After the first
    there is nothing more that they could end."""

    def __init__(self) -> None:
        self.held, self.waits, self.raised = False, False, False

    def handle(self, *_: object) -> None:
        self.waits = True
        self.let_go()

    def let_go(self) -> None:
        if self.waits and not self.held and not self.raised:
            self.raised = True
            raise Terminated


_signals = _Signals()


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Raises :class:`Terminated` once where SIGTERM, SIGHUP or SIGINT comes in the ``with``, and is to be in the main
    thread for that. A signal that is ignored stays so (`nohup`)."""
    _signals.__init__()  # type: ignore[misc]
    before: dict[int, object] = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM), signal.SIGINT):
            if number not in before and signal.getsignal(number) != signal.SIG_IGN:
                before[number] = signal.signal(number, _signals.handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if callable(handler) else signal.SIG_DFL)


@contextmanager
def signals(*, held: bool) -> Iterator[None]:
    """Whether signals only wait in this ``with``, for what must not be left half done."""
    outer, _signals.held = _signals.held, held
    try:
        _signals.let_go()
        yield
    finally:
        _signals.held = outer
    _signals.let_go()


@dataclass(frozen=True, slots=True)
class Ran:
    """The output of a run, if ``captured``, and its end. ``exit_code``: that of the launcher; negative: minus the
    signal. ``stopped``: this process ended it, because its time was up, or by Ctrl-C or such a signal."""

    output: str
    errors: str
    exit_code: int
    stopped: Literal["timeout", "interrupt"] | None


def run(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    timeout: float | None = None,
    *,
    captured: bool = False,
) -> Ran:
    """Runs ``command``, for ``timeout`` seconds at most. ``captured``: its output is kept, and its input is empty.

    Raises ``OSError`` when it cannot be started.
    """
    pipe = subprocess.PIPE if captured else None
    timeout = None if timeout is None or timeout > MOST_SECONDS else timeout
    inherited = {**(os.environ if environment is None else environment), **_parent()}
    stopped: Literal["timeout", "interrupt"] | None = None
    with signals(held=True):  # a process that has just begun has to be ended, too
        # A session of its own, so that what the launcher started ends with it.
        running = subprocess.Popen(
            command, stdin=subprocess.DEVNULL if captured else None, stdout=pipe, stderr=pipe,
            text=True, errors="replace", env=inherited, start_new_session=True,
            preexec_fn=ends_with_this(signal.SIGTERM),
        )  # fmt: skip
        try:
            with signals(held=False):
                output, errors = running.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            stopped = "timeout"
            output, errors = _ended(running)
        except KeyboardInterrupt:
            stopped = "interrupt"
            output, errors = _ended(running)
        except BaseException:
            _ended(running)
            raise
    return Ran(output or "", errors or "", running.returncode, stopped)


def finished(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    timeout: float | None = None,
    *,
    captured: bool = True,
) -> Ran:
    """As :func:`run`, of what is of no use when it was interrupted. Raises KeyboardInterrupt then."""
    ran = run(command, environment, timeout, captured=captured)
    if ran.stopped == "interrupt":
        raise KeyboardInterrupt
    return ran


def _ended(running: subprocess.Popen[str]) -> tuple[str, str]:
    """Ends the ranks, then the launcher, then all that is left of its session; returns the output so far."""
    output = None
    for number, kind in enumerate((signal.SIGTERM, signal.SIGTERM, signal.SIGKILL)):
        processes = _session(running.pid)
        for process in [each for each in processes if number or each != running.pid] or processes:
            with suppress(ProcessLookupError):
                os.kill(process, kind)
        if output is None:
            with suppress(subprocess.TimeoutExpired):
                output = running.communicate(timeout=GRACE)
    return output or running.communicate()


def _session(leader: int) -> list[int]:
    """The processes in the session of ``leader``. Launchers make groups of processes, but no sessions."""
    found = []
    processes = [int(name) for name in os.listdir("/proc") if name.isdigit()] if Path("/proc/self").exists() else []
    for process in processes or [leader]:
        with suppress(OSError):
            if os.getsid(process) == leader:
                found.append(process)
    return found


def _parent() -> dict[str, str]:
    """What tells ranks of this process."""
    try:
        return {"PGASROB_PARENT": f"{os.getpid()} {os.readlink('/proc/self/ns/pid')}"}
    except OSError:
        return {}
