"""Makes the table of a run in a text report: one lane per rank, time downwards.

Where lanes get too narrow it is a single column in which the place of the rank number shows the lane. Drawn from the
JSON object alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import zip_longest

from pgasrob.diagnostics import visible
from pgasrob.render import rows, summary, words
from pgasrob.render.lines import Glyphs, Line, Segment, wrap
from pgasrob.render.rows import Row
from pgasrob.render.run_json import Event, Witness
from pgasrob.render.source_places import label

NARROWEST_LANE = 22
"""Least width of a lane that can be read well."""
TALLEST = 1.5
"""How many times as many lines as a single column lanes may take; with more, too many of their lines are wrapped."""
MOST_TRACKS = 10
"""Ranks up to which a single column shows the lane by the place of the rank number."""
MARK = "*"
BAR = " {}"
"""The text left of a lane, with a vertical line in the middle. A lane begins with the place of the mark."""
NEXT = "next"
"""In place of the number of an access that has not happened yet."""
CONTINUED = " (continued)"
"""Follows a call that began in an earlier row."""
DELAYED = "delayed"
"""Labels the later parts of a normal form, which have delayed steps."""


@dataclass(frozen=True)
class _Entry:
    """An action of a rank in the table: marked or not, its line number, the action, its changes, and the issue of a
    step."""

    marked: bool
    line: str
    action: str
    changes: list[str]
    origin: str

    def lines(self, width: int) -> list[Line]:
        """The entry in lines of ``width`` characters; what changed is after the action or below it."""
        lead: Line = [(MARK if self.marked else " ", "cycle"), (f"{self.line}  ", "faint")]
        indent: Line = [(" " * self._indent, "")]
        style = "heading" if self.marked else ""
        room = width - self._indent
        words_ = [(word, style) for word in self.action.split(" ")]
        changes = [(change, "bad" if change == words.FAILS else "change") for change in self.changes]
        changes += [(self.origin, "faint")] * bool(self.origin)
        if self.widest <= width:
            gap = [("", "")] if changes and not self.origin else []
            body = [_spaced([*words_, *gap, *changes])]
        elif self.origin:
            body = _filled(words_ + changes, room)
        else:
            body = _filled(words_, room) + _filled(changes, room)
        return [[*(lead if index == 0 else indent), *line] for index, line in enumerate(body)]

    @property
    def _indent(self) -> int:
        return len(self.line) + 3

    @property
    def narrowest(self) -> int:
        """The width in which no word of the entry is broken."""
        return self._indent + max(map(len, [*self.action.split(" "), *self.changes, self.origin]))

    @property
    def widest(self) -> int:
        """The width that the entry takes on one line."""
        changes = " ".join([*self.changes, *([self.origin] if self.origin else [])])
        gap = 0 if not changes else 1 if self.origin else 2
        return self._indent + len(self.action) + gap + len(changes)


@dataclass(frozen=True)
class _Folded:
    """Events that are only counted."""

    text: str
    marked: bool = field(default=False, init=False)

    def lines(self, width: int) -> list[Line]:
        return [[(line, "faint")] for line in wrap(self.text.replace("lines ", "lines\u00a0"), width, " ... ", "     ")]

    narrowest: int = field(default=0, init=False)
    """Its words are all short."""

    @property
    def widest(self) -> int:
        return len(self.text) + len(" ... ")


_Text = _Entry | _Folded


@dataclass(frozen=True)
class _TableRow:
    """A row with the text of each rank (``by_rank``), and with the lines of a single column (``together``)."""

    number: str
    part: int | None
    by_rank: dict[int, _Text]
    together: list[tuple[str, tuple[int, ...], _Text]]
    """The number, the ranks and the entry of each line."""


def _spaced(chunks: list[Segment]) -> Line:
    """``chunks`` on one line, a blank between any two."""
    return [segment for chunk in chunks for segment in ((" ", ""), chunk)][1:]


def _filled(chunks: list[Segment], width: int) -> list[Line]:
    """``chunks`` with blanks between them on as few lines of ``width`` characters as it takes.

    A chunk is split only when it is wider than a line.
    """
    width = max(width, 1)
    lines: list[list[Segment]] = []
    used = width + 1
    for text, style in chunks:
        while text:
            if used + 1 + len(text) > width:
                lines.append([])
                used = -1
            lines[-1].append((text[:width], style))
            used += 1 + len(text[:width])
            text = text[width:]
    return [_spaced(line) for line in lines]


def table(witness: Witness, width: int, glyphs: Glyphs, full: bool = True) -> list[Line]:
    """The run of ``witness``: a lane per rank that has an event, or a single column when lanes get too narrow.

    ``full``: with a row for each event.
    """
    computation = witness["computation"]
    found = _rows(witness, rows.every_event(witness) if full else rows.in_short(witness), full)
    ranks = sorted({event["rank"] for event in computation})
    named = full or witness["cycle_type"] is not None  # else nothing speaks of the parts of the normal form
    parts = {row.part for row in found}
    names = [_part_name(part, named, glyphs) for part in parts]
    gutter = max(len("step"), *(len(row.number) for row in found), *(len(name) - 1 for name in names)) + 1
    column = _column(found, ranks, gutter, width, glyphs, named)
    room = (width - gutter) // len(ranks) - len(BAR.format(0))
    if room < NARROWEST_LANE and len(ranks) > 1:
        return column
    entries = [entry for row in found for entry in row.by_rank.values()]
    widest = max(entry.widest for entry in entries)
    lanes = _lanes(found, ranks, gutter, min(room, widest), glyphs, named)
    if len(ranks) == 1 or (max(entry.narrowest for entry in entries) <= room and len(lanes) <= TALLEST * len(column)):
        return lanes
    return column


def _rows(witness: Witness, found: list[Row], full: bool) -> list[_TableRow]:
    computation = witness["computation"]
    marked = words.cycle_steps(witness)
    digits = max(len(label(event["line"])) for event in computation)
    number_of_issue: dict[int, str] = {}  # by the place of the event: the number of its row
    begun: set[tuple[int, int]] = set()
    table_rows = []
    for row in found:
        events = [computation[place] for place in row.places]
        by_rank: dict[int, _Text] = {}
        together: list[tuple[str, tuple[int, ...], _Text]] = []
        ranks = tuple(sorted({event["rank"] for event in events}))
        number = NEXT if "access" in events[0] else row.number
        if row.folded:
            own: dict[int, list[Event]] = {rank: [] for rank in ranks}
            for event in events:
                own[event["rank"]].append(event)
            by_rank = {rank: _Folded(summary.folded(own[rank])) for rank in ranks}
            together = [(number, ranks, _Folded(summary.folded_of_ranks(events)))]
        elif events[-1]["event"] != "barrier":
            line = f"{label(events[0]['line']):>{digits}}"
            action, effects, origin = _action(row.places[0], events, computation, number_of_issue)
            goes_on = not full and _goes_on(events[0], begun)
            entry = _Entry(not marked.isdisjoint(row.places), line, action + CONTINUED * goes_on, effects, origin)
            by_rank, together = {ranks[0]: entry}, [(number, ranks, entry)]
        else:
            for place, event in zip(row.places, events, strict=True):
                if event["event"] == "barrier":
                    line, action = f"{label(event['line']):>{digits}}", visible(event["command"])
                    goes_on = not full and _goes_on(event, begun)
                    by_rank[event["rank"]] = entry = _Entry(place in marked, line, action + CONTINUED * goes_on, [], "")
                    together.append((str(place + 1), (event["rank"],), entry))
            if not full and len({(each.line, each.action) for _, _, each in together if isinstance(each, _Entry)}) == 1:
                entry = _Entry(not marked.isdisjoint(row.places), entry.line, entry.action, [], "")
                together = [(number, ranks, entry)]
        for place in row.places:
            number_of_issue[place] = row.number
        table_rows.append(_TableRow(number, events[0]["part"], by_rank, together))
    return table_rows


def _goes_on(event: Event, begun: set[tuple[int, int]]) -> bool:
    """Whether the row that begins with ``event`` continues a call that an earlier row has ``begun``."""
    if not words.is_c(event) or event["event"] in words.STEPS:
        return False
    call = event["rank"], event["piece"]
    known = call in begun
    begun.add(call)
    return known


def _action(
    place: int, events: list[Event], computation: list[Event], numbers: dict[int, str]
) -> tuple[str, list[str], str]:
    """The action of the ``events`` from ``place`` on, their effects, and the issue if they are steps."""
    effects = [visible(effect) for effect in summary.effects(events)]
    if events[0]["event"] in words.STEPS:
        issue = words.issue_of(place, computation)
        number = numbers.get(issue, str(issue + 1))
        if len(events) == 1:
            number = str(issue + 1)
        return words.step_name(place, computation), _listed(effects), f"(of step{'s' * ('-' in number)} {number})"
    return visible(events[0]["command"]), _listed(effects), ""


def _listed(effects: list[str]) -> list[str]:
    return [f"{effect};" for effect in effects[:-1]] + effects[-1:]


def _lanes(found: list[_TableRow], ranks: list[int], gutter: int, lane: int, glyphs: Glyphs, named: bool) -> list[Line]:
    bar = (BAR.format(glyphs.vertical), "faint")

    def line(number: str, cells: list[Line]) -> Line:
        found: Line = [(f"{number:>{gutter}}", "faint")]
        for cell in cells:
            used = sum(len(text) for text, _ in cell)
            found += [bar, *cell, (" " * (lane - used), "")]
        return found

    lines = [line("step", [[(f" rank {rank}", "heading")] for rank in ranks])]
    part: int | None = -1
    for row in found:
        if row.part != part:
            part = row.part
            lines.append(_separator(part, gutter, [lane] * len(ranks), glyphs, named))
        cells = {rank: entry.lines(lane) for rank, entry in row.by_rank.items()}
        for index, beside in enumerate(zip_longest(*(cells.get(rank, []) for rank in ranks), fillvalue=Line())):
            lines.append(line(row.number if index == 0 else "", list(beside)))
    return lines


def _part_name(part: int | None, named: bool, glyphs: Glyphs) -> str:
    return "" if part is None or not named else f" {glyphs.tau}{glyphs.subscript(part)} "


def _separator(part: int | None, gutter: int, lanes: list[int], glyphs: Glyphs, named: bool) -> Line:
    """The line above a part of the normal form, which says that it is of steps that are delayed, if it is."""
    text = _part_name(part, named, glyphs).rjust(gutter, glyphs.horizontal)
    delayed = f"{glyphs.horizontal} {DELAYED} " if part is not None and part > 1 else ""
    for index, width in enumerate(lanes):  # joined as by BAR
        last = index == len(lanes) - 1
        text += glyphs.horizontal + glyphs.cross + (delayed * last).ljust(width, glyphs.horizontal)
    return [(text, "faint")]


def _column(
    found: list[_TableRow], ranks: list[int], gutter: int, width: int, glyphs: Glyphs, named: bool
) -> list[Line]:
    """The run in one column; the number of the rank stands in the rank's own place."""
    tracks = len(ranks) <= MOST_TRACKS
    title = " rank"
    label = "".join(f" {rank}" for rank in ranks).ljust(len(title)) if tracks else title
    room = max(width - gutter - len(label) - 2 * len(BAR.format(0)), NARROWEST_LANE)
    bar = (BAR.format(glyphs.vertical), "faint")

    def place(here: tuple[int, ...]) -> str:
        if not tracks:
            return f"{here[0] if len(here) == 1 else 'all' if len(here) == len(ranks) else '...':>5}"
        places = (f" {other}" if other in here else " " * len(f" {other}") for other in ranks)
        return "".join(places).ljust(len(title))

    lines: list[Line] = [[(f"{'step':>{gutter}}", "faint"), bar, (label, "heading"), bar]]
    if tracks:
        lines.insert(0, [(" " * gutter, ""), bar, (title.ljust(len(label)), "heading"), bar])
    part: int | None = -1
    for row in found:
        if row.part != part:
            part = row.part
            lines.append(_separator(part, gutter, [len(label), room], glyphs, named))
        for number, here, entry in row.together:
            for index, line in enumerate(entry.lines(room)):
                where = place(here) if index == 0 else " " * len(label)
                gutter_text = number if index == 0 else ""
                lines.append([(f"{gutter_text:>{gutter}}", "faint"), bar, (where, "heading"), bar, *line])
    return lines
