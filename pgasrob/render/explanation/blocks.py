"""The blocks that chapters consist of (text, tables, runs, drawings), and the subject that all chapters describe.

Steps are numbered from 1, as in every report.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from pgasrob.render import english
from pgasrob.render.run_json import Event, Witness
from pgasrob.render.source_commands import WrittenCommands
from pgasrob.render.verdict_json import Result, to_json

if TYPE_CHECKING:
    from pgasrob.robustness.explanation import Explanation
    from pgasrob.robustness.stages import Graph
    from pgasrob.semantics.happens_before import Edge
    from pgasrob.semantics.replay import Run

MOST_ROWS = 40
"""Rows of a table, and events of a list, after which the rest is only counted."""


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Remark:
    """What a limit has cut off, or how something is to be read."""

    text: str


@dataclass(frozen=True, slots=True)
class Rows:
    """A table with a header."""

    header: tuple[str, ...]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Points:
    """Sentences, one below the other, each with a short label or none."""

    points: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A run, in the form in which every renderer takes it.

    ``form``: "table", "graph" (its happens-before relation, where that can be drawn), or "either": the graph where that
    can be drawn, else the table.
    """

    result: Result
    form: Literal["table", "graph", "either"] = "table"


@dataclass(frozen=True, slots=True)
class Drawing:
    """An automaton. ``taken``: the transitions of a run of it; ``in_text``: whether it is written out where nothing can
    be drawn."""

    graph: Graph
    caption: str
    taken: Collection[tuple[int, int]] = ()
    in_text: bool = True


@dataclass(frozen=True, slots=True)
class Word:
    """A word, letter by letter; ``|`` stands between its parts."""

    letters: list[str]


Block = Text | Remark | Rows | Points | ShownRun | Drawing | Word


NO_RUN = {
    "robust": "No rank can issue a command, so the only computation is the empty one, and that is not violating.",
    "error": "The program is in error, so there is no question of robustness. `pgasrob check` shows the run to that.",
    "not robust": "A limit has ended the replay of the violation, so there is no computation to explain it with.",
    "unknown": "Whether the program is robust is not known, so there is no computation to explain it with.",
}


class Subject:
    """An explanation with what its chapters need to speak of it."""

    def __init__(self, explanation: Explanation) -> None:
        self.explanation = explanation
        self.instance = explanation.instance
        self.texts = WrittenCommands(explanation.instance)
        self.violating = explanation.verdict.verdict == "not robust"

    @property
    def is_decided(self) -> bool:
        """Whether there is a verdict about robustness."""
        return self.explanation.verdict.verdict in ("robust", "not robust")

    @property
    def no_run(self) -> Text:
        """The sentence that says why there is no computation to show."""
        return Text(NO_RUN[self.explanation.verdict.verdict])

    def result(
        self,
        run: Run,
        cycle: tuple[Edge, ...] | None = None,
        parts: tuple[int, ...] | None = None,
        marks: tuple[frozenset[str], ...] | None = None,
    ) -> Result:
        """``run`` as the JSON object of a verdict, which all renderers take."""
        from pgasrob.robustness.verdict import Witness as Shown

        shown = Shown("violation" if cycle else "run", run, cycle, parts, marks)
        return to_json(
            replace(self.explanation.verdict, witness=shown, effect=None, assertion_run=None, deadlock_run=None)
        )

    def events(self, run: Run) -> list[Event]:
        """The events of ``run`` as in the JSON object."""
        return witness_of(self.result(run))["computation"]


def witness_of(result: Result) -> Witness:
    assert result["witness"] is not None
    return result["witness"]


def steps(places: Sequence[int]) -> str:
    """Places in a run as step numbers from 1: ``step 3``, ``steps 3 and 5``, ``steps 3 to 6``."""
    if len(places) == 1:
        return f"step {places[0] + 1}"
    if len(places) > 2 and list(places) == list(range(places[0], places[-1] + 1)):
        return f"steps {places[0] + 1} to {places[-1] + 1}"
    return f"steps {english.listed([place + 1 for place in places])}"
