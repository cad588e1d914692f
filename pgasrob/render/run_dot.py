"""The happens-before graph of a run in the DOT language of Graphviz.

What stands where is that of the SVG: a lane for each rank, from the left in their order, with what the rank issues as
boxes on its line and as ellipses beside it the steps that act on its memory, whose ever they are; the rows of the SVG
downwards; its colours. Nothing is laid out here, so no Graphviz is needed to write it. Edges differ by their line, too,
not by colour alone: it can be printed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pgasrob.render import words
from pgasrob.render.diagram.folding import Fold, fold, told
from pgasrob.render.diagram.layout import ranks_of
from pgasrob.render.diagram.model import edges
from pgasrob.render.diagram.rows import lane_of, rows
from pgasrob.render.graphs.dot import quote
from pgasrob.render.pens.svg import colour
from pgasrob.render.run_graph import caption, downwards, ends, is_step, label, witness_of
from pgasrob.render.run_json import Witness
from pgasrob.render.verdict_json import Result

LINES = {
    "po": "style=solid",
    "cf": "style=dashed",
    "id": "style=dotted, arrowhead=none",
    "race": 'style=dashed, dir=both, penwidth=3, label="  race  "',
}
BOLD = '"Helvetica-Bold"'
LEGEND = "Solid: program order (po). Dashed: conflict (cf). Dotted: one command (id)."
NUMBERED = "Bold and numbered: a cycle."
LARGE = 1_000
"""Rows times lanes from which on `dot` draws straight edges, and looks less long for the best places: it would take
minutes."""


def to_dot(result: Result, *, cycle_only: bool = False) -> str:
    """The run of ``result`` as a digraph for `dot`. Raises `NoRun` where there is none.

    ``cycle_only``: a node stands for each stretch of events that the cycle does not pass.
    """
    witness = witness_of(result)
    folded = fold(witness, cycle_only)
    ranks = ranks_of(witness, folded)
    grouped = rows(witness, folded, {rank: lane for lane, rank in enumerate(ranks)})
    title = f"{caption(result)}\n{LEGEND}" + f" {NUMBERED}" * bool(witness["cycle"])
    lines = [
        "digraph run {",
        '  charset="UTF-8"; labelloc=t; fontname="Helvetica"; fontsize=12; ranksep=0.3;'
        + " splines=line; nslimit=1;" * (len(grouped) * len(ranks) >= LARGE),
        f"  label={_text(title)};",
        f'  node [shape=box, style=filled, fillcolor="{colour("box")}", color="{colour("faint")}", '
        'fontname="Courier", fontsize=11];',
        '  edge [fontname="Helvetica", fontsize=10];',
        *_nodes(witness, folded),
        *_lanes(witness, folded, ranks, grouped),
        *_edges(witness, folded),
    ]
    return "\n".join([*lines, "}"]) + "\n"


def _nodes(witness: Witness, folded: Fold) -> Iterator[str]:
    """What is shown of each event."""
    on_cycle = words.cycle_steps(witness)
    for place in sorted(folded.kept):
        shape = f', shape=ellipse, fillcolor="{colour("step")}"' if is_step(place, witness) else ""
        bold = f', penwidth=2.5, color="{colour("accent")}"' if place in on_cycle else ""
        tooltip = words.phrase(place, witness["computation"])
        yield f"  e{place + 1} [label={_text(*label(place, witness))}, tooltip={_text(tooltip)}{shape}{bold}];"


def _lanes(witness: Witness, folded: Fold, ranks: Sequence[int], grouped: Sequence[tuple[int, ...]]) -> Iterator[str]:
    """What puts each node where it is: in its row, one of those ``grouped``, from the left to the right, on the line
    of its lane or beside it.

    Where a rank issues nothing in a row its line has a point there, so that nothing gets to the other side of it.
    """
    events, standing = witness["computation"], ends(witness)
    lanes = {rank: lane for lane, rank in enumerate(ranks)}
    left = Counter(events[place]["rank"] for place in folded.kept if not is_step(place, witness))
    begun = dict.fromkeys(ranks, False)
    yield from (f'  lane{rank} [label="rank {rank}", shape=plaintext, style="", fontname={BOLD}];' for rank in ranks)
    above = [f"lane{rank}" for rank in ranks]
    yield _side_by_side(above)
    for number, places in enumerate(grouped):
        on, beside = dict[int, str](), dict[int, str]()
        row = []
        if places in folded.bands:
            yield f'  band{number} [label={_text(told(places, events))}, style="filled,dotted"];'
            row.append(f"band{number}")
        else:
            for place in places:
                (beside if is_step(place, witness) else on)[ranks[lane_of(events[place], lanes)]] = f"e{place + 1}"
        axes = []
        for rank, before in zip(ranks, above, strict=True):
            axes.append(on.get(rank, f"axis{number}_{rank}"))
            if rank not in on:
                yield f"  {axes[-1]} [shape=point, style=invis, width=0];"
            if not (begun[rank] and left[rank]):  # else it is program order that is to be seen
                yield f'  {before} -> {axes[-1]} [arrowhead=none, color="{colour("rule")}", weight=100];'
            elif rank not in on or before.startswith("axis"):
                yield f"  {before} -> {axes[-1]} [style=invis];"
            row += [axes[-1], *([beside[rank]] if rank in beside else [])]
            begun[rank] |= rank in on
            left[rank] -= rank in on
        yield _side_by_side(row)
        above = axes
    for rank, before in zip(ranks, above, strict=True):
        if rank in standing:
            yield f'  end{rank} [label={_text(*standing[rank])}, shape=note, style="filled,dashed"];'
            yield f'  {before} -> end{rank} [arrowhead=none, color="{colour("rule")}", weight=100];'
    if at_end := [f"end{rank}" for rank in ranks if rank in standing]:
        yield _side_by_side(at_end)


def _side_by_side(nodes: Sequence[str]) -> str:
    return f"  {{ rank=same; {' -> '.join(nodes)}{' [style=invis]' if len(nodes) > 1 else ''}; }}"


def _edges(witness: Witness, folded: Fold) -> Iterator[str]:
    """The edges, those of the cycle with their numbers."""
    next_ones = {(edge["from"], edge["to"]) for edge in witness["happens_before"] if edge["relation"] == "po"}
    for edge, number in edges(witness, folded):
        source, target = downwards(edge)
        relation = edge["relation"]
        name = colour("accent" if number is not None or relation == "race" else relation)
        attributes = f'{LINES[relation]}, color="{name}", fontcolor="{name}"'
        if relation == "po" and (number is None or (source, target) in next_ones):  # not past another command
            attributes += ", weight=100"
        if number is not None:
            # Graphviz may fail to draw an edge within a row with a label that it makes room for.
            barrier = relation == "id" and witness["computation"][source]["event"] == "barrier"
            attributes += f', penwidth=3, {"xlabel" if barrier else "label"}="  {number} {relation}  ", fontsize=13'
        yield f"  e{source + 1} -> e{target + 1} [{attributes}];"


def _text(*lines: str) -> str:
    """``lines`` as a DOT string; Graphviz would read ``&lt;`` in it as an entity."""
    return quote("\n".join(lines).replace("&", "&amp;"))
