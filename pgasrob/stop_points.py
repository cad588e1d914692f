"""Where work that may take long can be ended by a limit: `stop_point()` stands in loops and recursions of every length.

Whoever holds work to limits (`robustness/watch.py`) sets `due` from another thread when a limit has been reached. What
is at work then comes to its next stop point, and ends there by an exception, and nowhere else: one that another thread
raises at any instruction leaves things half done. In the hottest loops `if POINT.due: POINT.stop()` is the same without
a call.
"""

from __future__ import annotations

from collections.abc import Callable


class _Point:
    """``due``: some work is to end; ``ask`` raises the exception that ends that of this thread, if it is that."""

    __slots__ = ("ask", "due")

    def __init__(self) -> None:
        self.due = False
        self.ask: Callable[[], object] | None = None

    def stop(self) -> None:
        if self.ask is not None:
            self.ask()


POINT = _Point()


def stop_point() -> None:
    """Go on, or raise the exception by which the limit ends what is at work in this thread."""
    if POINT.due:
        POINT.stop()
