"""Has a process end when the one that has started it does, however that ends: killed, it has no time to say so."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable

PR_SET_PDEATHSIG = 1  # of <sys/prctl.h>
LOOK = 0.5
"""Seconds between two looks at the parent where the system does not tell."""


def end_with(parent: int) -> None:
    """End this process when the one with the number ``parent``, that has started it, does. On Windows it lives on."""
    asked = _asks(signal.SIGKILL, parent)
    if asked is not None:
        asked()
    elif sys.platform != "win32":
        threading.Thread(target=_look, args=(parent,), daemon=True).start()


def ends_with_this(number: int) -> Callable[[], None] | None:
    """What a process that this one starts calls before its program is executed (`preexec_fn`), to get the signal
    ``number`` when this one ends; None where the system does not tell."""
    return _asks(number, os.getpid())


def _asks(number: int, parent: int) -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    control = ctypes.CDLL(None).prctl  # before the fork: behind it nothing may be loaded

    def ask() -> None:
        control(PR_SET_PDEATHSIG, number)
        if os.getppid() != parent:
            os._exit(128 + number)

    return ask


def _look(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)
