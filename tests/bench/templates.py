"""Families of programs that resemble codes, as texts with parameters: `tests/bench/families/`.

Each file is a program as it stands, on the fewest ranks that make sense, and a template: ``/*N*/3`` is the number of
ranks, here 3, and ``/*steps*/2`` another size; C has the fewest ranks in its header. Its first lines say the idiom, the
verdict that was written down before any run, and why the verdict is so. ``// grows:`` says why the states are not
polynomial in N, if they were found not to be, and ``// ranks:`` for which N it is a program, if not for all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "families"
_PARAMETER = re.compile(r"/\*(\w+)\*/(\d+)")


@dataclass(frozen=True, slots=True)
class Template:
    """A family: its text for every number of ranks."""

    name: str
    text: str
    suffix: str = ".pgas"

    @property
    def idiom(self) -> str:
        return self._said("") or ""

    @property
    def expected(self) -> str:
        """The verdict at every size."""
        return self._said("expect: ") or ""

    @property
    def grows(self) -> str | None:
        """Why its states are not polynomial in the number of ranks."""
        return self._said("grows: ")

    def after(self, nodes: int, quickly: bool = False) -> int:
        """The next number of ranks for which it is a program, or ``quickly`` twice as many."""
        ranks = self._said("ranks: ")
        return 2 * nodes if quickly or ranks == "powers of two" else nodes + (2 if ranks == "even" else 1)

    @property
    def least(self) -> int:
        """The fewest ranks."""
        return self.sizes.get("N") or int(self._said("nodes: ") or 2)

    @property
    def sizes(self) -> dict[str, int]:
        """The parameters with the values that stand in the file."""
        return {name: int(value) for name, value in _PARAMETER.findall(self.text)}

    def program(self, nodes: int, sizes: Mapping[str, int] | None = None) -> str:
        """The text for ``nodes`` ranks, other sizes as in ``sizes`` or as they stand."""
        values = {**self.sizes, **(sizes or {}), "N": nodes}
        return _PARAMETER.sub(lambda found: str(values[found[1]]), self.text)

    def _said(self, what: str) -> str | None:
        """What stands behind the first comment that begins so."""
        found = re.search(rf"^// {re.escape(what)}(.*)$", self.text, re.MULTILINE)
        return found[1] if found else None


TEMPLATES = {
    path.stem: Template(path.stem, path.read_text(encoding="utf-8"), path.suffix) for path in sorted(FOLDER.iterdir())
}
