"""The page of the live explorer in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def opened(context: Any, address: str) -> Iterator[Any]:
    """A new page of ``context`` at the start of its program; the console stays silent but for refusals that are
    wanted."""
    said: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda line: said.append(line.text) if "422" not in line.text else None)
    page.goto(address)
    page.wait_for_selector(".choice")
    yield page
    page.close()
    assert said == []
