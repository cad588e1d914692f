"""What Jupyter asks an object for. It finds these methods by name on the object itself.

So classes of lower layers hand themselves to a renderer, which is looked up only when Jupyter asks: nothing below
`render` depends on it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Displayed:
    """An object that `render.jupyter` can show."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(_renderer().html(self))

    def _repr_svg_(self) -> str | None:
        drawing: str | None = _renderer().svg(self)
        return drawing


def _renderer() -> Any:
    return import_module("pgasrob.render.jupyter")
