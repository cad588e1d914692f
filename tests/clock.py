"""Time that has passed without waiting for it: limits of time are tested on any machine, however busy."""

from __future__ import annotations

import time
from typing import Any, NoReturn

import pytest

from pgasrob.batch import checker
from pgasrob.races import race_check
from pgasrob.robustness import check, watch
from pgasrob.stop_points import stop_point

DAY = 86_400.0
ahead = 0.0
"""Seconds that the clock of this process is ahead while a test has called `leaping`."""


def leap() -> None:
    """Have a day go by, for who has called `leaping`."""
    global ahead
    ahead += DAY


def for_ever(*arguments: Any, **named: Any) -> NoReturn:
    """What never ends, and has been at it for a day already."""
    leap()
    while True:
        stop_point()


def leaping(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on a day goes by in each call of `for_ever`: generous limits of time are over there, and nowhere else.
    To tell what is known by then there is enough of it, too."""
    for module, name in ((time, "monotonic"), (watch, "perf_counter")):
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda real=real: real() + ahead)
    for telling in (checker, check, race_check):
        monkeypatch.setattr(telling, "GRACE", 60.0)
