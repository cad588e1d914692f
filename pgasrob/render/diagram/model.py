"""The types of a space-time diagram of a run: a lane per rank, time downwards, with boxes and lines at their places.

Nothing is laid out here (`run_layout`) or drawn (`paint`). Its unit is a thirteenth of the size of the letters, and x
grows to the right, y downwards. The model follows from the `Witness` of a result alone.

An issued event is a box in the lane of its rank, at the left, where the line of program order runs through. A step is
where it takes effect: in the lane of the rank whose memory it acts on, indented, so that the line of program order does
not cross it. So the line from an issue to its steps is the message, and its length down the page is the time that the
message took. Events that are not ordered share a row (`shared_rows`) as long as a line can leave each box sideways
without meeting another one; it then runs down between two lanes.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgasrob.drawing.labels import Line
from pgasrob.render import words
from pgasrob.render.diagram.folding import Fold
from pgasrob.render.run_json import Edge, Witness
from pgasrob.render.verdict_json import Result

INDENT = 38.0
"""How far right of a lane's left side its steps begin."""
AXIS = 13.0
"""How far right of a lane's left side program order runs."""
BADGE_GAP = 34.0
"""Distance of two rows with a number of the cycle between them."""
NUMBER = 7.0
"""Width of a digit of the number of a step."""
INNER = INDENT + 14
"""How far right of a lane's left side identity runs down inside it."""

Span = tuple[str, str]
"""A text and its kind: line, command, step, effect, origin, mark or fails."""


@dataclass(frozen=True, slots=True)
class Box:
    """The box of one event: its lines of text and its place.

    ``kind`` is "issued", "step" or "barrier". A box at the end of a rank, "end" or "fault", is of no event (``place``
    is -1); a "band" is of all ``folded`` events. ``full`` is the text uncut, ``reach`` the lane of another rank on
    whose memory an issued event acts at once.
    """

    place: int
    kind: str
    lane: int
    row: int
    lines: tuple[tuple[Span, ...], ...]
    full: str
    cycle: bool
    x: float
    y: float
    width: float
    height: float
    reach: int | None = None
    folded: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Lane:
    rank: int
    x: float
    width: float

    @property
    def axis(self) -> float:
        return self.x + AXIS

    def number_end(self, box: Box) -> float:
        """Where the number above a ``box`` of this lane ends: at its right, off lines that enter from above."""
        end, inner = box.x + box.width, self.x + INNER
        return end if end - NUMBER * len(str(box.place + 1)) > inner + 5 else inner - 5


@dataclass(frozen=True, slots=True)
class Row:
    """Events that are not ordered, those of one barrier, or those of one band."""

    places: tuple[int, ...]
    y: float
    height: float
    part: int | None

    def top(self, height: float) -> float:
        """The y of a box of this height in the middle of the row."""
        return self.y + (self.height - height) / 2


@dataclass(frozen=True, slots=True)
class Part:
    """The place of a part of the normal form."""

    number: int
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Diagram:
    """A run, laid out: ``boxes`` of its events in their order, ``bands``, and the boxes at the ``ends`` of ranks."""

    width: float
    height: float
    gutter: float  # where the names of the parts end
    badge: float  # the width of the place for a number of the cycle
    lanes: tuple[Lane, ...]
    rows: tuple[Row, ...]
    boxes: tuple[Box, ...]
    bands: tuple[Box, ...]
    ends: tuple[Box, ...]
    parts: tuple[Part, ...]
    lines: tuple[Line, ...]


def shown(result: Result) -> Witness | None:
    """The run of ``result`` to draw, the first that it has: of its verdict, of a failing assertion, of a deadlock, of a
    race that matters."""
    return next((run for _, run in words.runs(result)), None)


def numbered(witness: Witness) -> list[Edge]:
    """The edges of the cycle in the order of their numbers; none when there is no cycle."""
    return words.from_conflict(witness["cycle"] or [], witness["computation"])


def edges(witness: Witness, folded: Fold) -> list[tuple[Edge, int | None]]:
    """Every edge to draw, each once, with its number in the cycle: those of happens-before and those of the cycle.

    Program order of a cycle may skip commands, and identity may skip steps. Past folded events only program order is
    drawn.
    """
    cycle = numbered(witness)
    numbers = {_key(edge): number for number, edge in reversed(list(enumerate(cycle, 1)))}
    found: list[tuple[Edge, int | None]] = []
    kept = folded.kept
    for edge in (*witness["happens_before"], *folded.edges(witness)):
        if edge["from"] not in kept or edge["to"] not in kept:
            continue
        number = numbers.pop(_key(edge), None)
        found.append((edge if number is None else cycle[number - 1], number))
    return found + [(cycle[number - 1], number) for number in sorted(numbers.values())]


def _key(edge: Edge) -> tuple[int, int, str]:
    """A key that is the same for equal edges: identity has no direction."""
    source, target = edge["from"], edge["to"]
    if edge["relation"] == "id":
        source, target = sorted((source, target))
    return source, target, edge["relation"]
