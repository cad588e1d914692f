"""What a long check is at, on the terminal while it runs. The search knows nothing of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TextIO

from pgasrob.render.table import amount

if TYPE_CHECKING:
    from rich.live import Live

    from pgasrob.robustness.check import Progress

PATIENCE = 0.7
"""Seconds before anything is shown: a small check should neither flicker nor pay for rich."""
PERIOD = 0.1


class Display:
    """A line or two on ``stream`` about one check, cleared at its end. Call it with every snapshot of the search.

    ``title`` names the program and node count; ``max_states`` is the limit, None when there is none.
    """

    def __init__(self, stream: TextIO, title: str, max_states: int | None) -> None:
        self._stream = stream
        self._title = title
        self._max_states = max_states
        self._live: Live | None = None
        self._shown = 0.0
        self._phase = ""
        self._phase_began = 0.0

    def __enter__(self) -> Display:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._live:
            self._live.stop()
            self._live = None

    def __call__(self, progress: Progress) -> None:
        if progress.phase != self._phase:
            self._phase, self._phase_began = progress.phase, progress.seconds
        now = time.monotonic()
        if progress.seconds < PATIENCE or now - self._shown < PERIOD:
            return
        self._shown = now
        self._show(status(progress, self._phase_began, self._title, self._max_states))

    def _show(self, text: str) -> None:
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


def status(progress: Progress, began: float, title: str, max_states: int | None) -> str:
    """The display's text: ``title``, then phase, states, states per second, seconds, then what the search is at."""
    spent = progress.seconds - began
    rate = f", {amount(progress.states / spent)}/s" if spent > 0 else ""
    limit = f" of at most {amount(max_states)}" if max_states else ""
    text = f"{title}\n  {progress.phase}: {amount(progress.states)} states{limit}{rate}, {progress.seconds:.0f} s"
    return text + (f"\n  {progress.doing}" if progress.doing else "")
