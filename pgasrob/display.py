"""What Jupyter asks an object for. It finds these methods by name on the object itself.

So classes of lower layers hand themselves to a renderer that the package has set above them, in its ``__init__``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _not_set() -> Any:
    raise RuntimeError("the package sets the renderer when it is imported")


renderer: Callable[[], Any] = _not_set
"""Gives the module that shows them; called when Jupyter asks, and not before."""


class Displayed:
    """An object that shows itself in Jupyter."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(renderer().html(self))

    def _repr_svg_(self) -> str | None:
        drawing: str | None = renderer().svg(self)
        return drawing
