"""How results show themselves in Jupyter and in interactive Python, which look for methods of these names on an object.

So classes of lower layers hand themselves to a renderer that the package has set above them, in its ``__init__``.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any


def _not_set() -> Any:
    raise RuntimeError("the package sets the renderer when it is imported")


renderer: Callable[[], Any] = _not_set
"""Returns the module that renders objects; called only when one is displayed, so that the module is loaded late."""


def _line(shown: object) -> str:
    return str(renderer().short(shown))


def _page(shown: object) -> str:
    return str(renderer().html(shown))


def _picture(shown: object) -> str | None:
    drawing: str | None = renderer().svg(shown)
    return drawing


class Displayed:
    """An object that shows itself in Jupyter, and in a line where Python shows it.

    >>> import pgasrob
    >>> pgasrob.load(pgasrob.example("one_to_one"))
    <Program one_to_one: one_to_one.pgas>
    """

    __slots__ = ()
    __repr__, _repr_html_, _repr_svg_ = _line, _page, _picture


class Result:
    """An answer: ``print`` gives the report of the command line, Jupyter a picture.

    >>> import pgasrob
    >>> verdict = pgasrob.check(pgasrob.example("one_to_one"), nodes=3)
    >>> verdict
    <Verdict one_to_one.pgas: not robust on 3 nodes>
    >>> print(str(verdict).splitlines()[1].strip())
    Rank 0 reads y in line 13 before the write of rank 2 in line 11 has arrived
    """

    __slots__ = ()
    __repr__, _repr_html_, _repr_svg_ = _line, _page, _picture

    def __str__(self) -> str:
        return str(renderer().text(self))

    def to_json(self) -> Any:
        """The object that the command prints with ``--format json``: dicts, lists, numbers and texts.

        >>> import pgasrob
        >>> pgasrob.check("memory x; process { mem[x] <- 1; }").to_json()["verdict"]
        'robust'
        """
        return renderer().to_json(self)

    def save(self, path: str | PathLike[str], cycle_only: bool = False) -> None:
        """Write it to the file ``path``, whose ending says as what.

        ``.txt`` is the report and ``.json`` the object of :meth:`to_json`. What has a run can be ``.svg``, ``.html``
        (to step through), ``.tex``, ``.dot`` and ``.mmd``, a verdict and a repair ``.sarif``. ``cycle_only``: in a
        picture, what the cycle does not pass is folded away.

        Raises ValueError for another ending and where there is no run to draw, OSError where it cannot be written.

        >>> import pgasrob
        >>> pgasrob.check(pgasrob.example("one_to_one")).save("run.svg")
        """
        renderer().save(self, path, cycle_only)
