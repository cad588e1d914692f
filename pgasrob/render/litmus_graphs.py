"""Execution graphs of litmus tests in files, by their ending."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgasrob.models.litmus.program import Value
from pgasrob.render.litmus_json import LitmusResult


class NothingToDraw(Exception):
    """There is no execution to draw."""


def write_graphs(
    paths: Sequence[str], results: Sequence[LitmusResult], wanted: Sequence[dict[str, Value]]
) -> Iterator[str]:
    """Draw the executions of ``results`` into each of ``paths``, which it gives as they are written. ``wanted``: those
    whose outcomes have some of these values; all when empty."""
    raise NothingToDraw("graphs cannot be drawn yet")
    yield
