"""Makes the happens-before graph of a run for formats that leave the layout to other programs: DOT and Mermaid.

Lanes, rows and colours are those of the SVG. Each rank has a lane. What the rank issues are boxes on the line of the
lane, and the steps of all ranks that act on its memory are ellipses beside it. Edges differ by their line, too, not by
colour alone, so that the graph can be printed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pgasrob.diagnostics import visible
from pgasrob.drawing import dot, mermaid
from pgasrob.drawing.graph_to_draw import Edge, Graph, Node
from pgasrob.drawing.palette import colour
from pgasrob.render import english, one_run_text, words
from pgasrob.render.diagram.folding import Fold, band_text, fold
from pgasrob.render.diagram.model import edges, shown
from pgasrob.render.diagram.run_layout import ranks_of
from pgasrob.render.diagram.shared_rows import lane_of, rows
from pgasrob.render.run_json import Event, Witness
from pgasrob.render.run_table import NEXT
from pgasrob.render.verdict_json import Result

LINES = {
    "po": "style=solid",
    "cf": "style=dashed",
    "id": "style=dotted, arrowhead=none",
    "race": "style=dashed, dir=both, penwidth=3",
}
LEGEND = "Solid: program order (po). Dashed: conflict (cf). Dotted: one command (id)."
NUMBERED = "Bold and numbered: a cycle."
_STEP = f'shape=ellipse, fillcolor="{colour("step")}"'
_CYCLE = f'penwidth=2.5, color="{colour("accent")}"'


def _line(relation: str, name: str) -> str:
    return f'{LINES[relation]}, color="{colour(name)}", fontcolor="{colour(name)}"'


DOT = dot.DotStyle(
    "run",
    'charset="UTF-8"; labelloc=t; fontname="Helvetica"; fontsize=12; ranksep=0.3;',
    f'shape=box, style=filled, fillcolor="{colour("box")}", color="{colour("faint")}", fontname="Courier", fontsize=11',
    'fontname="Helvetica", fontsize=10',
    {
        "step": _STEP,
        "cycle": _CYCLE,
        "step cycle": f"{_STEP}, {_CYCLE}",
        "end": 'shape=note, style="filled,dashed"',
        "band": 'style="filled,dotted"',
    },
    {relation: _line(relation, "accent" if relation == "race" else relation) for relation in LINES},
    {relation: _line(relation, "accent") for relation in LINES},
    space="  ",
)


class NoRun(ValueError):
    """There is no run to draw."""


def witness_of(result: Result) -> Witness:
    """The run to draw. Raises :class:`NoRun` where there is none."""
    witness = shown(result)
    if witness is None:
        raise NoRun("there is no run to draw")
    return witness


def caption(result: Result) -> str:
    """The caption of the drawing: ``ring.pgas on 2 nodes: a run on the network that no SC run looks like``."""
    run = witness_of(result)
    title, where = one_run_text.title(result, run), english.on_nodes(run["nodes"])
    return f"{visible(result['file'])}{where}: {title[0].lower()}{title[1:]}"


def to_dot(result: Result, *, cycle_only: bool = False) -> str:
    """The run of ``result`` as a digraph for `dot`. Raises `NoRun` where there is none.

    ``cycle_only``: a node stands for each stretch of events that the cycle does not pass.
    """
    graph = run_graph(result, cycle_only)
    title = f"{graph.title}\n{LEGEND}" + f" {NUMBERED}" * bool(witness_of(result)["cycle"])
    return dot.to_dot(replace(graph, title=title), DOT)


def to_mermaid(result: Result, *, cycle_only: bool = False) -> str:
    """The run of ``result`` as a Mermaid diagram. Raises `NoRun` where there is none.

    ``cycle_only``: a node stands for each stretch of events that the cycle does not pass. Of a run that is too large
    for Mermaid the events of the cycle alone.
    """
    graph = run_graph(result, cycle_only)
    count = len(witness_of(result)["computation"])
    return mermaid.to_mermaid(graph, f"{graph.title} (of {count} events those of the cycle)")


def run_graph(result: Result, cycle_only: bool) -> Graph:
    """The run of ``result`` with a lane for each rank. Raises `NoRun` where there is none."""
    witness = witness_of(result)
    folded = fold(witness, cycle_only)
    ranks = ranks_of(witness, folded)
    grouped = rows(witness, folded, {rank: lane for lane, rank in enumerate(ranks)})
    row_of = {place: row for row, places in enumerate(grouped) for place in places}
    nodes = [*_events(witness, folded, ranks, row_of), *_ends(witness, ranks), *_bands(witness, folded, row_of)]
    found = [*_edges(witness, folded), *_end_edges(witness, folded, ranks), *_around_bands(folded, row_of)]
    names = [
        [f"band{row}"] if places in folded.bands else [f"e{place + 1}" for place in places if place in folded.kept]
        for row, places in enumerate(grouped)
    ]
    return Graph(caption(result), nodes, found, lanes={rank: f"rank {rank}" for rank in ranks}, rows=names)


def _events(witness: Witness, folded: Fold, ranks: list[int], row_of: dict[int, int]) -> Iterator[Node]:
    on_cycle, events = words.cycle_steps(witness), witness["computation"]
    lanes = {rank: lane for lane, rank in enumerate(ranks)}
    for place in sorted(folded.kept):
        look = f"{'step ' * is_step(events[place])}{'cycle' * (place in on_cycle)}".strip()
        lines = tuple(visible(line) for line in _lines(place, events))
        lane = ranks[lane_of(events[place], lanes)]
        yield Node(f"e{place + 1}", lines, look, words.phrase(place, events), lane, row_of[place])


def _lines(place: int, computation: list[Event]) -> list[str]:
    """The label of an event: its number and command, what it did, and its source line or the step that issued it."""
    event = computation[place]
    effects = words.effects(event)
    number = NEXT if "access" in event else str(place + 1)
    if is_step(event):
        name, issue = words.step_name(place, computation), words.issue_of(place, computation)
        return [f"{number}: {name}", *effects, f"of step {issue + 1}"]
    where = [f"line {event['line']}"] if event["line"] else []
    return [f"{number}: {event['command']}", *effects, *where]


def is_step(event: Event) -> bool:
    """Whether ``event`` is a step of an operation and not issued itself."""
    return event["event"] in words.STEPS


def _ends(witness: Witness, ranks: list[int]) -> Iterator[Node]:
    """How ranks end, where that is what the run shows: the command that faults and why, or what each rank waits for."""
    fault, standing = witness["fault"], witness["standing"]
    if fault:
        lines = visible(f"line {fault['line']}: {fault['command']}"), visible(fault["reason"])
        yield Node(f"z{fault['rank']:d}", lines, "end", lane=fault["rank"])
    elif words.stands(witness):
        for each in standing:
            if each["rank"] in ranks:
                yield Node(f"z{each['rank']:d}", (visible(words.standing(each, standing)),), "end", lane=each["rank"])


def _bands(witness: Witness, folded: Fold, row_of: dict[int, int]) -> Iterator[Node]:
    for band in folded.groups:
        if band in folded.bands:
            yield Node(
                f"band{row_of[band[0]]}", (band_text(band, witness["computation"]),), "band", row=row_of[band[0]]
            )


def _edges(witness: Witness, folded: Fold) -> Iterator[Edge]:
    """The edges of happens-before, those of the cycle with their numbers."""
    next_ones = {(edge["from"], edge["to"]) for edge in witness["happens_before"] if edge["relation"] == "po"}
    for edge, number in edges(witness, folded):
        ends, relation = (edge["from"], edge["to"]), edge["relation"]
        if relation == "id":  # it alone may run against the order of the run, in which layouts put nodes
            ends = min(ends), max(ends)
        label = "race" if relation == "race" else None if number is None else f"{number} {relation}"
        tight = relation == "po" and (number is None or ends in next_ones)  # not past another command
        yield Edge(f"e{ends[0] + 1}", f"e{ends[1] + 1}", relation, label, number, tight=tight)


def _end_edges(witness: Witness, folded: Fold, ranks: list[int]) -> Iterator[Edge]:
    """From the last command of each rank to how the rank ends."""
    for end in _ends(witness, ranks):
        issued = (
            place
            for place, event in enumerate(witness["computation"])
            if event["rank"] == end.lane and not is_step(event)
        )
        last = max(issued, default=None)
        if last in folded.kept:
            yield Edge(f"e{last + 1}", end.name, "end")


def _around_bands(folded: Fold, row_of: dict[int, int]) -> Iterator[Edge]:
    """Edges from the group before each band to it, and from it to the group after it."""
    kept = folded.kept
    groups = [
        group if group in folded.bands else tuple(place for place in group if place in kept) for group in folded.groups
    ]
    for index, band in enumerate(groups):
        if band in folded.bands:
            name = f"band{row_of[band[0]]}"
            if index:
                yield Edge(f"e{groups[index - 1][-1] + 1}", name, "order")
            if index + 1 < len(groups):
                yield Edge(name, f"e{groups[index + 1][0] + 1}", "order")
