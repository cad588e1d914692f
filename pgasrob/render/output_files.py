"""Writes results to files; the ending of the name chooses the format.

Each renderer is imported when it is used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

from pgasrob.diagnostics.suggestions import did_you_mean
from pgasrob.whole_files import replace_file

if TYPE_CHECKING:
    from pgasrob.render.verdict_json import RaceResult, Result

TEXT_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Format:
    """A format by its ``ending``, and what makes a text of it: a function of several results or, where it ``draws``,
    a module and its function that draw the run of one, in which what is not on the cycle can be folded away.

    ``needs_run``: a result without a run has nothing to show in it. ``holds_many``: a file can hold several results.
    ``verdicts_only``: it cannot show a run that belongs to no verdict, such as one of `pgasrob run`.
    """

    ending: str
    texts: Callable[[Sequence[Result]], str] | None = None
    drawn_by: tuple[str, str] | None = None
    needs_run: bool = True
    holds_many: bool = False
    verdicts_only: bool = False

    @property
    def draws(self) -> bool:
        return self.drawn_by is not None

    def can_show(self, result: Result | RaceResult) -> bool:
        from pgasrob.render.diagram.model import shown

        return not self.needs_run or shown(drawable(result)) is not None

    def text(self, results: Sequence[Result | RaceResult], cycle_only: bool = False) -> str:
        """The text of ``results`` in this format; pictures show the first race of an answer about races."""
        if self.texts is not None:
            return self.texts(cast("Sequence[Result]", results))
        assert self.drawn_by is not None
        module, function = self.drawn_by
        draw = getattr(import_module(f"pgasrob.render.{module}"), function)
        return str(draw(drawable(results[0]), cycle_only=cycle_only))


class UnknownFormat(ValueError):
    """No format has the ending of a file; the message lists those there are."""


def drawable(result: Result | RaceResult) -> Result:
    """``result`` with the run to draw as its witness; answers about races become one of robustness."""
    from pgasrob.render.races_json import is_about_races

    if is_about_races(result):
        from pgasrob.render.races_text import drawable as with_first_race

        return with_first_race(result)
    return cast("Result", result)


def _json(results: Sequence[Result]) -> str:
    from pgasrob.render.findings import in_json
    from pgasrob.render.source_places import dumps

    return "".join(dumps(in_json(result)) + "\n" for result in results)


def _sarif(results: Sequence[Result]) -> str:
    from pgasrob.render.sarif import to_sarif

    return to_sarif(results)


def _text(results: Sequence[Result]) -> str:
    from pgasrob.render.lines import plain
    from pgasrob.render.result_report import report

    return "\n".join(plain(report(result, TEXT_WIDTH)) for result in results)


FORMATS = {
    format_.ending: format_
    for format_ in (
        Format(".svg", drawn_by=("run_svg", "to_svg")),
        Format(".html", drawn_by=("explorer", "to_html"), needs_run=False),
        Format(".dot", drawn_by=("run_graph", "to_dot")),
        Format(".mmd", drawn_by=("run_graph", "to_mermaid")),
        Format(".tex", drawn_by=("run_tikz", "to_tikz")),
        Format(".json", _json, needs_run=False, holds_many=True),
        Format(".sarif", _sarif, needs_run=False, holds_many=True, verdicts_only=True),
        Format(".txt", _text, needs_run=False, holds_many=True),
    )
}
OTHER_ENDINGS = {
    ".gv": ".dot", ".htm": ".html", ".xhtml": ".html", ".jsonl": ".json", ".ndjson": ".json", ".latex": ".tex",
    ".tikz": ".tex", ".mermaid": ".mmd", ".md": ".mmd", ".text": ".txt", ".log": ".txt",
}  # fmt: skip
PICTURES = (".pdf", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".eps", ".ps")


def format_of(path: str) -> Format:
    """The format of the file ``path`` by its ending, large letters as small ones. Raises :class:`UnknownFormat`."""
    ending = os.path.splitext(path)[1]
    small = ending.lower()
    if small in FORMATS:
        return FORMATS[small]
    known = f"the endings are {', '.join(FORMATS)}"
    if not ending:
        raise UnknownFormat(f"{path!r} has no ending to say in which format it is to be; {known}")
    if small in PICTURES:
        hint = "write .svg or .tex, from which other programs make pictures"
    elif small in OTHER_ENDINGS:
        hint = f"did you mean `{OTHER_ENDINGS[small]}`?"
    else:
        hint = did_you_mean(small, FORMATS)
    raise UnknownFormat(f"{path!r}: there is no format {ending}; {known}{hint and '; '}{hint}")


def write(results: Sequence[Result | RaceResult], path: str, cycle_only: bool = False) -> None:
    """Write ``results`` to ``path`` in the format of its ending: one, or several where a file can hold them.

    ``cycle_only``: in a picture, what the cycle does not pass is folded away.

    Raises :class:`UnknownFormat`, `run_graph.NoRun` where there is no run to draw, and
    :class:`~pgasrob.whole_files.CannotWrite`.
    """
    replace_file(path, format_of(path).text(results, cycle_only))
