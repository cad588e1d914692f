"""What store buffers change for a program that is robust without them: as JSON, and below a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

from pgasrob.program.statements import NOWHERE
from pgasrob.render import english
from pgasrob.render.lines import Line, paragraph, together
from pgasrob.render.source_commands import WrittenCommands

if TYPE_CHECKING:
    from pgasrob.analysis.store_buffers import Pair
    from pgasrob.robustness import verdict as library

CYCLE_TITLE = "The cycle, edge by edge (po program order, cf conflict, id one command):"
MOST_NAMED = 3
"""Pairs, and cells of a command, that are named in a sentence."""


class OvertakenPair(TypedDict):
    """A store of ``rank`` that may be in the store buffer still when a load of the rank is made: their lines and the
    cells (``x@0``) that others access, or write."""

    rank: int
    store: int
    stored: list[str]
    load: int
    loaded: list[str]


class BufferedEvent(TypedDict):
    """An event of a run with store buffers.

    ``how``: "issue", "buffered" (a store that goes into the buffer), "drain" (it reaches memory) or "step". ``source``
    is the place in the run of the store whose value is read from the buffer, or that reaches memory.
    """

    event: str
    how: str
    rank: int
    operation: int
    line: int
    column: int
    command: str
    cell: str | None
    read: int | None
    written: int | None
    source: int | None


Edge = TypedDict("Edge", {"from": int, "to": int, "relation": str})


class OnTso(TypedDict):
    """What store buffers add where the program is robust without them.

    ``settled_by``: "analysis" where no load may overtake a store that it matters for, else "search"; ``states`` of the
    search. ``run`` and ``cycle``: a run that no SC run looks like, and a cycle of its happens-before relation by places
    in the run; null where there is none, or none was found.
    """

    settled_by: str
    states: int
    overtaken: list[OvertakenPair]
    run: list[BufferedEvent] | None
    cycle: list[Edge] | None


def pairs_to_json(pairs: Sequence[Pair]) -> list[OvertakenPair]:
    return [
        {
            "rank": each.rank,
            "store": each.store,
            "stored": list(each.stored),
            "load": each.load,
            "loaded": list(each.loaded),
        }
        for each in pairs
    ]


def on_tso_to_json(on_tso: library.OnTso) -> OnTso:
    run = on_tso.run
    return {
        "settled_by": "search" if on_tso.overtaken else "analysis",
        "states": on_tso.states,
        "overtaken": pairs_to_json(on_tso.overtaken),
        "run": None if run is None else _events(run),
        "cycle": None
        if run is None
        else [{"from": edge.source, "to": edge.target, "relation": edge.relation} for edge in run.cycle],
    }


def _events(run: library.BufferedRun) -> list[BufferedEvent]:
    """The events of a run with store buffers as objects, with their places in the source."""
    texts = WrittenCommands(run.instance)
    spans = [{each.occurrence: each.span for each in automaton.transitions} for automaton in run.instance.automata]
    found: list[BufferedEvent] = []
    for event, how, read, written, source in (
        (each.event, each.how, each.read, each.written, each.source) for each in run.events
    ):
        span = spans[event.rank].get(event.occurrence, NOWHERE)
        found.append(
            {
                "event": event.kind,
                "how": how,
                "rank": event.rank,
                "operation": event.operation,
                "line": span.line,
                "column": span.column,
                "command": texts.text(event.rank, event.occurrence),
                "cell": None if event.cell is None else run.instance.cell_name(event.cell),
                "read": read,
                "written": written,
                "source": source,
            }
        )
    return found


def sentence(on_tso: OnTso, verdict: str, waits: str) -> str:
    """Sentences on what store buffers change for the verdict, which reads ``waits`` so."""
    if verdict == "not robust":
        by_value = " Waits are read by value here (--waits value)." if waits == "value" else ""
        return (
            "Without store buffers (--cpu sc) every run looks like an SC run; with those of x86 a load may overtake a "
            f"store: {pairs(on_tso['overtaken'])}.{by_value}"
        )
    if verdict != "robust":
        return "Without store buffers (--cpu sc) the program is robust."
    if not on_tso["overtaken"]:
        return "With the store buffers of x86, too: no load may overtake a store for which it would matter."
    return (
        f"With the store buffers of x86, too ({english.count(on_tso['states'], 'state')} were searched), although a "
        f"load may overtake a store: {pairs(on_tso['overtaken'])}."
    )


def pairs(overtaken: Sequence[OvertakenPair], most: int = MOST_NAMED) -> str:
    """The first of the pairs in words, by lines and cells."""
    sentences = list(dict.fromkeys(map(_pair, overtaken)))
    more = [f"{english.count(len(sentences) - most, 'more such pair')}"] * (len(sentences) > most)
    return "; ".join([*sentences[:most], *more])


def _pair(pair: OvertakenPair) -> str:
    where = english.lines(sorted({pair["store"], pair["load"]}))
    return f"rank {pair['rank']} stores {cells(pair['stored'])} and then loads {cells(pair['loaded'])}, {where}"


def cells(names: Sequence[str]) -> str:
    """The cells in words, the first of many."""
    more = [f"{len(names) - MOST_NAMED} more"] * (len(names) > MOST_NAMED)
    return english.listed([*names[:MOST_NAMED], *more])


def run_section(on_tso: OnTso, width: int) -> list[Line]:
    """The run and its cycle."""
    events, cycle = on_tso["run"], on_tso["cycle"]
    if not events or cycle is None:
        return []
    title = "A run with store buffers that no sequentially consistent run looks like:"
    lines: list[Line] = [[], *paragraph(title, width, "heading")]
    marked = {place for edge in cycle for place in (edge["from"], edge["to"])}
    number = len(str(len(events)))
    for place, event in enumerate(events):
        mark = "*" if place in marked else " "
        start = f"  {place + 1:>{number}}{mark} "
        lines += paragraph(effect_text(event), width, "cycle" if place in marked else "", start, " " * len(start))
    lines += paragraph("* marks the steps of a happens-before cycle.", width, "faint", "  ")
    lines += [[], *paragraph(CYCLE_TITLE, width, "heading")]
    for edge in cycle:
        text = _edge(edge, events)
        lines.append([(f"  {edge['relation']}  ", "cycle"), (text, "")])
    return lines


def effect_text(event: BufferedEvent) -> str:
    """One event of a run with store buffers: who does what, and where the value comes from or goes."""
    who = together(f"rank {event['rank']}, line {event['line']}:")
    value = "" if event["cell"] is None else together(f"{event['cell']} = {event['written']}")
    command = event["command"]
    if event["how"] == "buffered":
        return f"{who} {command}  {value} goes into the store buffer"
    if event["how"] == "drain":
        return f"{who} {value} of step {(event['source'] or 0) + 1} reaches memory"
    does = f"later, {command}" if event["how"] == "step" else command
    if event["read"] is not None:
        seen = together(f"{event['cell']} = {event['read']}")
        where = "" if event["source"] is None else f" in its store buffer, of step {event['source'] + 1}"
        does += f"  reads {seen}{where}"
    if event["written"] is not None:
        does += f"{',' if event['read'] is not None else ' '} writes {value}"
    return f"{who} {does}"


def _edge(edge: Edge, events: Sequence[BufferedEvent]) -> str:
    first, second = f"step {edge['from'] + 1}", f"step {edge['to'] + 1}"
    source = events[edge["from"]]
    if edge["relation"] == "id":
        return f"{first} and {second} are of one command"
    if edge["relation"] == "po":
        return f"{first} comes before {second}"
    did = "read the old" if source["written"] is None else "wrote"
    return f"{first} {did} {source['cell']} before {second}"
