"""The readable report of one verdict: the answer, what is known of its assertions, and the runs that show it.

A run is a table with one lane per rank, time downwards. Where lanes get too narrow it is a single column in which the
place of the rank number shows the lane. Drawn from the JSON object alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pgasrob.diagnostics import visible
from pgasrob.render import assumptions, english, words
from pgasrob.render.json import Event, Fault, Result, Standing, Witness
from pgasrob.render.lines import UNICODE, Glyphs, Line, Segment, paragraph, together, wrap
from pgasrob.robustness.reasons import FaultPossible, InternalError

NARROWEST_LANE = 22
"""Characters below which a lane is no pleasure to read."""
TALLEST = 1.5
"""How many times as many lines as a single column lanes may take: beyond it they are wrapped too often to be read."""
MOST_TRACKS = 10
"""Ranks up to which a single column shows the lane by the place of the rank number."""
MOST_INITIAL, MOST_ELEMENTS = 20, 8
"""Initial values, and elements of an array among them, up to which all are listed."""
MARK = "*"
BAR = " {}"
"""What stands left of a lane, with a vertical line in the middle. A lane begins with the place of the mark."""
PAIRS = re.compile(r"(?<=\bstep|\brank|\bline) (?=\d)| (?==)|(?<==) ")
"""Blanks at which a sentence is not broken: `step 7`, `x@0 = 1`."""
CYCLE_TITLE = "The cycle, edge by edge (po program order, cf conflict, id one command):"
SC = "sequentially consistent (SC)"
A_SC_RUN = f"a {SC} run"


def verdict_report(
    result: Result, width: int = 80, glyphs: Glyphs = UNICODE, list_assumptions: bool = False
) -> list[Line]:
    """The report of ``result`` in lines of at most ``width`` characters (a long line of the source may be longer).

    ``list_assumptions``: name all that it rests on, not only what is special to the program.
    """
    lines = [_headline(result)]
    told = list(sentences(result, assumed=not list_assumptions))
    if words.diagnosis(result["witness"]):
        sentence, style = told.pop(0)
        lines += paragraph(sentence, width, style, "  ")
    lines += _cost(result, width)
    for error in result["errors"]:
        lines += _error(result["file"], dict(error))
    for sentence, style in told:
        lines += paragraph(sentence, width, style, "  ")
    if list_assumptions:
        lines += assumptions.listed(result, width)
    for witness in _witnesses(result):
        lines += [[], *section(result, witness, width, glyphs)]
    return lines


def _headline(result: Result) -> Line:
    line: Line = [(f"{visible(result['file'])}: ", "heading"), (result["verdict"], result["verdict"])]
    if result["nodes"] is not None:
        line.append((english.on_nodes(result["nodes"]), "heading"))
    if "as_expected" in result:
        expected = result.get("expected")
        wrong = f" (expected {expected})" if expected else f" ({words.nothing_expected(result)})"
        line.append((" (as expected)", "good") if result["as_expected"] else (wrong, "bad"))
    return line


def _cost(result: Result, width: int) -> list[Line]:
    """What the search cost, and the reason when there is no answer."""
    lines: list[Line] = []
    fault = result["witness"] and result["witness"]["fault"]
    told_below = fault or (result["verdict"] == "error" and result["errors"])
    if result["reason"] and not told_below:
        lines += paragraph(result["reason"], width, "", "  ")
    stats = result["stats"]
    if stats["seconds"]:
        lines += paragraph(words.cost(result), width, "faint", "  ")
    return lines


def _error(file: str, error: dict[str, object]) -> Iterator[Line]:
    from pgasrob.diagnostics import Diagnostic

    text = Diagnostic(file=file, **error).render()  # type: ignore[arg-type]  # the keys are the fields
    for line in text.splitlines():
        yield [(line, "")]


def sentences(result: Result, assumed: bool = True) -> Iterator[tuple[str, str]]:
    """What is known of robustness, assertions and deadlocks, each with a style, and about which runs that is; at first
    what a violation comes down to, at the end what it rests on, if that is to be ``assumed`` in a sentence."""
    robust, assertions, deadlock = result["verdict"] == "robust", result["assertions"], result["deadlock"]
    if late := words.diagnosis(result["witness"]):
        yield late, "bad"
    if robust:
        where = english.capital(english.on_nodes(result["nodes"] or 0).lstrip())
        but = ", but for polls that fail," if result.get("polls") else ""
        yield f"{where} every run on the network{but} looks like {A_SC_RUN}.", ""
        if result["communicates"] is False:
            yield "No rank accesses the memory of another one: is that the node count the program is for?", "open"
    if result["verdict"] == "unknown":
        ended = result.get("reason_code") in (FaultPossible.code, InternalError.code)
        told = [] if ended else ["The search did not end, so this says nothing about robustness."]
        told += ["--max-states, --timeout and --memory-limit set the limits."] * bool(result.get("limit"))
        if told:
            yield " ".join(told), "open"
    if meaning := words.effect(result):
        yield meaning, "open" if result.get("effect") == "none found" else "bad"
    good = ["the assertions hold"] * (assertions == "hold") + ["there is no deadlock"] * (deadlock is False)
    if good and robust:
        yield f"In every run on the network {' and '.join(good)}.", "good"
    elif good:
        yield f"In every {SC} run {' and '.join(good)}. This says nothing about the other runs on the network.", "good"
    if assertions == "violated":
        yield f"An assertion fails, already in {A_SC_RUN} (below).", "bad"
    if deadlock is True:
        yield f"There is a deadlock, already in {A_SC_RUN} (below).", "bad"
    open_ = ["whether the assertions hold"] * (assertions == "unknown")
    open_ += ["whether there is a deadlock"] * (deadlock == "unknown")
    if open_:
        more = f" --{result['limit']} sets the limit." if robust and result.get("limit") else ""
        yield f"Not all SC runs were seen, so it is unknown {' and '.join(open_)}.{more}", "open"
    if assumed and (rests_on := assumptions.sentence(result)):
        yield rests_on, "faint"


def _witnesses(result: Result) -> Iterator[Witness]:
    """The runs to show: a violation or fault first, then those of the assertion and the deadlock."""
    first = result["witness"]
    if first and first["shows"] in ("violation", "fault"):
        yield first
    for run in (result["assertion_run"], result["deadlock_run"]):
        if run:
            yield run


def section(result: Result, witness: Witness, width: int, glyphs: Glyphs, title: str = "") -> list[Line]:
    """A run with its ``title``, table, legend, and what it shows."""
    lines: list[Line] = []
    if witness["fault"]:
        lines += _fault(result["file"], witness["fault"], witness, width)
    lines += paragraph(f"{title or words.title(witness)}:", width, "heading")
    lines += paragraph(initially(witness), width, "", "  ")
    if witness["computation"]:
        lines += table(witness, width, glyphs)
    lines += _legend(witness, width)
    if witness["cycle"]:
        lines += _cycle(witness, width)
    if witness["cycle_type"] is not None:
        lines += _marked_word(witness, width, glyphs)
    simulated = witness["shows"] == "run"
    if witness["shows"] == "deadlock" or (simulated and not all(rank["ended"] for rank in witness["standing"])):
        lines += _standings(witness["standing"], width)
    return lines


def initially(witness: Witness) -> str:
    """The initial values of all memory, as far as they are not 0."""
    by_name: dict[str, dict[int, list[int]]] = {}
    for cell in witness["memory"]:
        by_name.setdefault(cell["name"].partition("[")[0], {}).setdefault(cell["rank"], []).append(cell["value"])
    arrays = {cell["name"].partition("[")[0] for cell in witness["memory"] if "[" in cell["name"]}
    values = [
        together(text)
        for name, held in by_name.items()
        if any(map(any, held.values()))
        for text in _values(name, held, name in arrays)
    ]
    if len(values) > MOST_INITIAL:
        values[MOST_INITIAL:] = [f"and {len(values) - MOST_INITIAL} more that the program declares"]
    start = "" if witness["computation"] else "No command has been issued. "
    return start + (f"Initially {', '.join(values)}; all else is 0." if values else "Initially everything is 0.")


def _values(name: str, held: dict[int, list[int]], array: bool) -> list[str]:
    """The values of ``name`` by rank, in one text when they are the same on all."""
    first = next(iter(held.values()))
    if all(values == first for values in held.values()):
        return [f"{name} = {_value(first, array)} on every rank"]
    return [f"{name}@{rank} = {_value(values, array)}" for rank, values in held.items() if any(values)]


def _value(values: list[int], array: bool) -> str:
    """As in a declaration: the zeros at the end of an array are left out, and of a long one the middle."""
    if not array:
        return str(values[0])
    used = max((place + 1 for place, value in enumerate(values) if value), default=0)
    shown = [str(value) for value in values[:used]]
    if used > MOST_ELEMENTS:
        shown[MOST_ELEMENTS - 2 : -1] = ["..."]
    return f"{{{', '.join(shown)}}}"


def _legend(witness: Witness, width: int) -> list[Line]:
    events = witness["computation"]
    legend = []
    if witness["cycle"]:
        legend.append(f"{MARK} marks the steps of a happens-before cycle.")
    if any(event["event"] in words.STEPS for event in events):
        legend += steps_in(events)
    silent = sorted(set(range(witness["nodes"])) - {event["rank"] for event in events})
    if silent and events:
        legend.append(f"{english.ranks(silent).capitalize()} {'has' if len(silent) == 1 else 'have'} no event here.")
    return paragraph(" ".join(legend), width, "faint", "  ") if legend else []


def steps_in(events: list[Event]) -> list[str]:
    """What the steps are that stand in the table."""
    steps = {event["event"] for event in events if event["event"] in words.STEPS}
    updates = any(event["event"] in words.UPDATING for event in events)
    if updates:
        found = ["popa fetches an operand, or what a fetch is for; popb writes at the destination or updates it."]
    else:
        found = ["popa fetches the value of a read or write from its source, popb puts it at its destination."]
    if "popd" in steps:
        found.append("popd fetches what a compare_swap expects.")
    if "popc" in steps:
        found.append("popc brings what the target held to the result.")
    return found


# --- The table -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Row:
    """One or more events on one row: a barrier is a row of all ranks. ``first`` is the place of its first event."""

    first: int
    events: list[Event]

    @property
    def number(self) -> str:
        last = self.first + len(self.events)
        return str(last) if len(self.events) == 1 else f"{self.first + 1}-{last}"

    @property
    def part(self) -> int | None:
        return self.events[0]["part"]


@dataclass(frozen=True)
class _Entry:
    """An event as the table shows it: marked or not, its line number, what it did, what changed, whose step it is."""

    marked: bool
    line: str
    action: str
    changes: list[str]
    origin: str

    def lines(self, width: int) -> list[Line]:
        """The entry in lines of ``width`` characters; what changed stands behind the action or below it."""
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
    def widest(self) -> int:
        """The width that the entry takes on one line."""
        changes = " ".join([*self.changes, *([self.origin] if self.origin else [])])
        gap = 0 if not changes else 1 if self.origin else 2
        return self._indent + len(self.action) + gap + len(changes)


def _spaced(chunks: list[Segment]) -> Line:
    """``chunks`` on one line, a blank between any two."""
    return [segment for chunk in chunks for segment in ((" ", ""), chunk)][1:]


def _filled(chunks: list[Segment], width: int) -> list[Line]:
    """``chunks`` with blanks between them on as few lines of ``width`` characters as it takes.

    A chunk is split only when it is wider than a line.
    """
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


def table(witness: Witness, width: int, glyphs: Glyphs) -> list[Line]:
    """The run of ``witness``: a lane per rank that has an event, or a single column when lanes get too narrow."""
    computation = witness["computation"]
    rows = [_Row(places[0], computation[places[0] : places[-1] + 1]) for places in words.rows(computation)]
    ranks = sorted({event["rank"] for event in computation})
    gutter = max(len("step"), *(len(row.number) for row in rows), len(_part_name(rows[-1].part, glyphs)) - 1) + 1
    entries = _entries(witness)
    column = _column(rows, entries, ranks, gutter, width, glyphs)
    room = (width - gutter) // len(ranks) - len(BAR.format(0))
    if room < NARROWEST_LANE and len(ranks) > 1:
        return column
    lanes = _lanes(rows, entries, ranks, gutter, min(room, max(entry.widest for entry in entries)), glyphs)
    return lanes if len(ranks) == 1 or len(lanes) <= TALLEST * len(column) else column


def _entries(witness: Witness) -> list[_Entry]:
    computation = witness["computation"]
    marked = words.cycle_steps(witness)
    digits = max(len(str(event["line"])) for event in computation)
    return [
        _Entry(place in marked, f"{event['line'] or '':>{digits}}", *_told(place, computation))
        for place, event in enumerate(computation)
    ]


def _told(place: int, computation: list[Event]) -> tuple[str, list[str], str]:
    """What the event did, what it changed, and for a step whose it is."""
    event = computation[place]
    effects = [visible(effect) for effect in words.effects(event)]
    if event["event"] in words.STEPS:
        return event["event"], effects, f"(of step {words.issue_of(place, computation) + 1})"
    return visible(event["command"]), [f"{effect};" for effect in effects[:-1]] + effects[-1:], ""


def _lanes(
    rows: list[_Row], entries: list[_Entry], ranks: list[int], gutter: int, lane: int, glyphs: Glyphs
) -> list[Line]:
    bar = (BAR.format(glyphs.vertical), "faint")

    def line(number: str, cells: list[Line]) -> Line:
        found: Line = [(f"{number:>{gutter}}", "faint")]
        for cell in cells:
            used = sum(len(text) for text, _ in cell)
            found += [bar, *cell, (" " * (lane - used), "")]
        return found

    lines = [line("step", [[(f" rank {rank}", "heading")] for rank in ranks])]
    part: int | None = -1
    for row in rows:
        if row.part != part:
            part = row.part
            lines.append(_separator(part, gutter, [lane] * len(ranks), glyphs))
        cells: dict[int, list[Line]] = {
            event["rank"]: entries[row.first + offset].lines(lane) for offset, event in enumerate(row.events)
        }
        for index in range(max(map(len, cells.values()))):
            number = row.number if index == 0 else ""
            lines.append(line(number, [_nth(cells.get(rank, []), index) for rank in ranks]))
    return lines


def _nth(lines: list[Line], index: int) -> Line:
    return lines[index] if index < len(lines) else []


def _part_name(part: int | None, glyphs: Glyphs) -> str:
    return "" if part is None else f" {glyphs.tau}{glyphs.subscript(part)} "


def _separator(part: int | None, gutter: int, lanes: list[int], glyphs: Glyphs) -> Line:
    """The line above a part of the normal form, which bears its name."""
    text = _part_name(part, glyphs).rjust(gutter, glyphs.horizontal)
    for width in lanes:  # joined as by BAR
        text += glyphs.horizontal + glyphs.cross + glyphs.horizontal * width
    return [(text, "faint")]


def _column(
    rows: list[_Row], entries: list[_Entry], ranks: list[int], gutter: int, width: int, glyphs: Glyphs
) -> list[Line]:
    """The run in one column; the number of the rank stands in the rank's own place."""
    tracks = len(ranks) <= MOST_TRACKS
    label = " rank" if not tracks else " " + " ".join(str(rank) for rank in ranks)
    room = max(width - gutter - len(label) - 2 * len(BAR.format(0)), NARROWEST_LANE)
    bar = (BAR.format(glyphs.vertical), "faint")

    def place(rank: int) -> str:
        if not tracks:
            return f"{rank:>5}"
        return "".join(f" {other}" if other == rank else " " * len(f" {other}") for other in ranks)

    lines: list[Line] = [[(f"{'step':>{gutter}}", "faint"), bar, (label, "heading"), bar]]
    part: int | None = -1
    for row in rows:
        if row.part != part:
            part = row.part
            lines.append(_separator(part, gutter, [len(label), room], glyphs))
        for offset, event in enumerate(row.events):
            number = str(row.first + offset + 1)
            for index, told in enumerate(entries[row.first + offset].lines(room)):
                where = place(event["rank"]) if index == 0 else " " * len(label)
                gutter_text = number if index == 0 else ""
                lines.append([(f"{gutter_text:>{gutter}}", "faint"), bar, (where, "heading"), bar, *told])
    return lines


# --- Around the table ------------------------------------------------------------------------------------------------


def _cycle(witness: Witness, width: int) -> list[Line]:
    """The cycle edge by edge, each with its relation."""
    lines: list[Line] = [[], *paragraph(CYCLE_TITLE, width, "heading")]
    cycle = words.from_conflict(witness["cycle"] or [], witness["computation"])
    for edge, sentence in zip(cycle, words.cycle(cycle, witness["computation"]), strict=True):
        first, *rest = wrap(PAIRS.sub("\u00a0", sentence), width - 6)
        lines.append([(f"  {edge['relation']}  ", "cycle"), (first, "")])
        lines += [[("      " + text, "")] for text in rest]
    return [*lines, [(f"  {words.contradiction(cycle)}", "")]]


def _marked_word(witness: Witness, width: int, glyphs: Glyphs) -> list[Line]:
    """The word of Y^M as in the paper's Example 15, `|` between the parts of the normal form."""
    letters = []
    part = 1
    for event in witness["computation"]:
        bars = (event["part"] or part) - part
        part += bars
        marks = f"{{{','.join(event['marks'])}}}" if event["marks"] else glyphs.empty
        letter = together(f"({event['event']}{glyphs.subscript(event['rank'])}, {marks})")
        letters.append("| " * bars + letter)
    ranks = " ".join(str(rank) for rank in witness["cycle_type"] or ())
    title = f"The same as a marked computation in normal form, with cycle type {ranks}:"
    names = [glyphs.tau + glyphs.subscript(number) for number in range(1, part + 1)]
    parts = f"{' | '.join(names)} are the parts" if names[1:] else f"{names[0]} is the only part"
    legend = (
        f"{parts} of the normal form. enter and leave mark where the cycle enters and leaves each rank; the cycle type "
        "is the order of the ranks."
    )
    lines: list[Line] = [[], *paragraph(title, width, "heading"), *paragraph(" ".join(letters), width, "", "  ")]
    return lines + paragraph(legend, width, "faint", "  ")


def _fault(file: str, fault: Fault, witness: Witness, width: int) -> list[Line]:
    """What cannot be evaluated, with its source line and the registers of its rank."""
    source = witness["source"].splitlines()
    excerpt = source[fault["line"] - 1].strip() if 0 < fault["line"] <= len(source) else ""
    command = "" if fault["command"] in excerpt else f"The command is {together(fault['command'])}. "
    values = ", ".join(together(f"{name} = {value}") for name, value in fault["registers"].items())
    return [
        *paragraph(words.fault(file, fault), width, "bad", "", "    "),
        [(f"{fault['line']:>6} | ", "faint"), (excerpt, "")],
        *paragraph(f"{command}Registers of rank {fault['rank']}: {values or 'none'}.", width, "", "  "),
        [],
    ]


def _standings(ranks: list[Standing], width: int) -> list[Line]:
    lines: list[Line] = [[], [("Where each rank stands:", "heading")]]
    for rank in ranks:
        lines += paragraph(words.standing(rank, ranks), width, "", f"  rank {rank['rank']} ", "    ")
    return lines
