"""Runs functions in processes of their own (AnyIO): a server answers meanwhile, and can end what takes too much."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any, TypeVar, TypeVarTuple

import anyio
import anyio.to_process

from pgasrob.parent_death import end_with

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class TooLong(Exception):
    """The work took longer than it may, which the text says."""


class TooLarge(Exception):
    """The work took more memory than it may, or its process died."""


async def run(seconds: float, memory: int, work: Callable[[*Ts], T], *arguments: *Ts) -> T:
    """Call ``work``, a function of a module, in a process; its arguments and result are pickled.

    It may take so many ``seconds``, and its process so many bytes of address space (where the system can bound that).
    Where the caller is cancelled or the time is over the process is killed, and there is a new one for the next call;
    else it is kept for that. Raises :class:`TooLong` and :class:`TooLarge`.
    """
    with anyio.move_on_after(seconds):
        try:
            return await anyio.to_process.run_sync(_within, memory, work, arguments, cancellable=True)
        except (RecursionError, anyio.BrokenWorkerProcess):
            raise TooLarge from None
    raise TooLong(f"it took longer than {seconds:g} s")


def _within(memory: int, work: Callable[..., T], arguments: tuple[Any, ...]) -> T:
    # The process ends with the server, and not by itself on Ctrl-C.
    end_with(os.getppid())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    try:
        return work(*arguments)
    except MemoryError:
        os._exit(1)  # what it keeps may be what has filled it
