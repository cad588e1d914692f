"""Shows on the terminal how far long checks are. The search itself prints nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TextIO

from pgasrob.render.lines import UNICODE, Glyphs, glyphs_for, shorten, terminal_width
from pgasrob.render.table import amount

if TYPE_CHECKING:
    from rich.live import Live

    from pgasrob.robustness.watch import Progress

PATIENCE = 0.7
"""Seconds before anything is shown: a small check should neither flicker nor pay for rich."""
PERIOD = 0.1
MOST_CHECKS = 8
"""Checks shown at a time: more of them say no more."""


@dataclass(slots=True)
class Shown:
    """A check that has reported progress: ``title`` names program and node count, ``began`` is when its phase did."""

    title: str
    progress: Progress
    began: float


class Display:
    """Some lines on ``stream`` about the checks at work, cleared at their end.

    Called with a title it is the context of one check; what it enters is called with every snapshot of the search.
    ``max_states`` is the limit, None when there is none.
    """

    def __init__(self, stream: TextIO, max_states: int | None) -> None:
        self._stream = stream
        self._max_states = max_states
        self._checks: dict[object, Shown] = {}
        self._live: Live | None = None
        self._drawn = 0.0

    @contextmanager
    def __call__(self, title: str) -> Iterator[Callable[[Progress], None]]:
        key = object()  # not the title, which need not be different
        try:
            yield partial(self._note, key, title)
        finally:
            self._checks.pop(key, None)
            if not self._checks:
                self.clear()

    def clear(self) -> None:
        """Remove the lines before something else is printed; the next update writes them again."""
        if self._live:
            self._live.stop()
            self._live = None

    def _note(self, key: object, title: str, progress: Progress) -> None:
        before = self._checks.get(key)
        same = before is not None and before.progress.phase == progress.phase
        self._checks[key] = Shown(title, progress, before.began if before and same else progress.seconds)
        now = time.monotonic()
        if progress.seconds < PATIENCE or now - self._drawn < PERIOD:
            return
        self._drawn = now
        long = [check for check in self._checks.values() if check.progress.seconds >= PATIENCE]
        self._draw("\n".join(status(long, self._max_states, terminal_width(), glyphs_for(self._stream))))

    def _draw(self, text: str) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        if self._live is None:
            console = Console(file=self._stream, highlight=False)
            # No thread of its own: it would go on writing when Ctrl-C stops the search.
            self._live = Live(
                console=console, transient=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
            )
            self._live.start()
        self._live.update(Text(text, style="dim", no_wrap=True, overflow="ellipsis"), refresh=True)


def status(checks: Sequence[Shown], max_states: int | None, width: int, glyphs: Glyphs = UNICODE) -> list[str]:
    """The display's lines: for one check its title, phase and counts, and what it is at; for several a line each."""
    if len(checks) == 1:
        (check,) = checks
        lines = [check.title, "  " + _counts(check, max_states)]
        return lines + [f"  {check.progress.doing}"] * bool(check.progress.doing)
    lines = []
    for check in checks[:MOST_CHECKS]:
        counts = _counts(check, None)
        lines.append(f"{shorten(check.title, max(width - len(counts) - 2, 1), glyphs)}  {counts}")
    more = len(checks) - MOST_CHECKS
    return lines + [f"and {more} more"] * (more > 0)


def _counts(check: Shown, max_states: int | None) -> str:
    """Phase, states and states per second, if it passes any, seconds."""
    progress = check.progress
    spent = progress.seconds - check.began
    rate = f", {amount(progress.states / spent)}/s" if spent > 0 else ""
    limit = f" of at most {amount(max_states)}" if max_states else ""
    states = f"{amount(progress.states)} states{limit}{rate}, " if progress.states else ""
    return f"{progress.phase}: {states}{progress.seconds:.0f} s"
