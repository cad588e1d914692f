"""What several events of one call did, in a few words: ``reads data[0..7]@0``, ``flag@1: 0 -> 1``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from pgasrob.program.statements import place_of
from pgasrob.render import english, words
from pgasrob.render.run_json import Event

ELEMENT = re.compile(r"(?P<array>.*)\[(?P<index>\d+)\](?P<rank>@\d+)?")
MOST_RANGES = 2
"""Ranges of elements of an array that are written out; where there are more, the cells are counted."""

MOST_VALUES = 4
"""Different values of the elements of an array that are all written out."""

Read = tuple[int, ...]
"""The values that were read from a cell, one after the other."""
Change = tuple[int, int]
"""What a cell held before and after."""


def effects(events: Sequence[Event]) -> list[str]:
    """What ``events``, which are of one call, read and changed."""
    if len(events) == 1:
        return words.effects(events[0])
    read: dict[str, Read] = {}
    written: dict[str, Change] = {}
    registers: dict[str, Change] = {}
    holds: list[str] = []
    truths: list[str] = []
    for event in events:
        change, register, hidden = event["written"], event["register"], words.is_hidden(event["address"])
        if change and not hidden:
            first = written.get(change["cell"], (change["before"],))[0]
            written[change["cell"]] = (first, change["after"])
        elif event["read"] is not None and not hidden:
            name = words.cell(event["address"])
            known = read.get(name, ())
            read[name] = known if known[-1:] == (event["read"],) else (*known, event["read"])
        if register and not register.get("temporary"):
            name = words.variable(register)
            first = registers.get(name, (register["before"],))[0]
            registers[name] = (first, register["after"])
        if event["holds"] is not None:
            holds.append("holds" if event["holds"] else words.FAILS)
        if "truth" in event:
            truths.append("is true" if event["truth"] else "is false")
    steps = all(event["event"] in words.STEPS for event in events)
    found = ["reads " * (not steps) + _read(names, read) for names in _arrays(read)]
    found += [_changed(names, written, "writes " * (not steps)) for names in _arrays(written)]
    found += [_changed([name], registers) for name in registers]
    found += truths[-1:]
    return found + ([words.FAILS] if words.FAILS in holds else holds[:1])


def _read(names: list[str], values: Mapping[str, Read]) -> str:
    """``x@0 = 1``, ``a[0..1]@1 = {7, 8}``, ``x@0 = 1, then 2``; of many elements with different values the names."""
    held = [values[name] for name in names]
    if len(set(held)) == 1:
        return f"{_named(names)} = {', then '.join(map(str, held[0]))}"
    if len(names) > MOST_VALUES or any(each[1:] for each in held):
        return _named(names)
    return f"{_named(names)} = {_together([value for (value,) in held])}"


def _changed(names: list[str], values: Mapping[str, Change], verb: str = "") -> str:
    """``x@0: 0 -> 1``, ``a[0..1]@1: 0 -> {7, 8}``, ``x@0 stays 1``; of many elements with different values the names,
    behind ``verb``."""
    before, after = ([values[name][side] for name in names] for side in (0, 1))
    if len(set(zip(before, after, strict=True))) > 1 and len(names) > MOST_VALUES:
        return f"{verb}{_named(names)}"
    if before == after:
        return f"{_named(names)} {'stays' if len(names) == 1 else 'stay'} {_together(after)}"
    return f"{_named(names)}: {_together(before)} -> {_together(after)}"


def _together(values: list[int]) -> str:
    """The ``values`` of elements: the one that they all have, or all of them."""
    return str(values[0]) if len(set(values)) == 1 else f"{{{', '.join(map(str, values))}}}"


def _arrays(names: Iterable[str]) -> list[list[str]]:
    """``names`` by the arrays that they are elements of."""
    found: dict[object, list[str]] = {}
    for name in names:
        element = ELEMENT.fullmatch(name)
        found.setdefault((element["array"], element["rank"]) if element else name, []).append(name)
    return [sorted(group, key=_index) for group in found.values()]


def _index(name: str) -> int:
    element = ELEMENT.fullmatch(name)
    return int(element["index"]) if element else 0


def _named(names: list[str]) -> str:
    """Cells of one array: ``a[0..3]@1``."""
    elements = [ELEMENT.fullmatch(name) for name in names]
    if len(names) == 1 or elements[0] is None:
        return names[0]
    numbers = sorted(int(element["index"]) for element in elements if element)
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][-1] + 1 == number:
            ranges[-1].append(number)
        else:
            ranges.append([number])
    array, rank = elements[0]["array"], elements[0]["rank"] or ""
    if len(ranges) > MOST_RANGES:
        return f"{english.count(len(numbers), 'cell')} of {array}{rank}"
    spans = [f"{each[0]}..{each[-1]}" if each[1:] else str(each[0]) for each in ranges]
    return f"{array}[{','.join(spans)}]{rank}"


def folded(events: Sequence[Event]) -> str:
    """What is not shown of one rank: ``12 events in lines 15-31``."""
    lines = sorted({event["line"] for event in events if event["line"]})
    by_file = [list(found) for _, found in groupby(lines, key=lambda line: place_of(line)[0])]
    ranges = [f"{found[0]}-{int(found[-1])}" if found[1:] else str(found[0]) for found in by_file]
    where = f" in line{'s' * (len(lines) > 1)} {english.listed(ranges)}" if ranges else ""
    return f"{english.count(len(events), 'event')}{where}"


def folded_of_ranks(events: Sequence[Event]) -> str:
    """What is not shown of several ranks: ``12 events of rank 0 in lines 15-31, 4 of rank 1``."""
    ranks = sorted({event["rank"] for event in events})
    if len(ranks) > 3:
        count, _, where = folded(events).partition(" in ")
        return f"{count} of {english.count(len(ranks), 'rank')}{where and ' in '}{where}"
    counts: list[str] = []
    for rank in ranks:
        count, _, where = folded([event for event in events if event["rank"] == rank]).partition(" in ")
        count = count if not counts else count.split()[0]
        counts.append(f"{count} of rank {rank}{where and ' in '}{where}")
    return ", ".join(counts)
