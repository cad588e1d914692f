"""The happens-before graph of a run in the DOT language of Graphviz.

A cluster per rank, issued commands as boxes, their steps as ellipses beside them, in the colours of the SVG. Nothing is
laid out here, so no Graphviz is needed to write it. Edges differ by their line, too, not by colour alone: it can be
printed.
"""

from __future__ import annotations

from pgasrob.render import words
from pgasrob.render.diagram.folding import fold
from pgasrob.render.diagram.model import edges
from pgasrob.render.graphs.dot import quote
from pgasrob.render.json import Edge, Result
from pgasrob.render.pens.svg import colour
from pgasrob.render.run_graph import bands, by_rank, caption, downwards, ends, is_step, label, last_issued, witness_of

LINES = {
    "po": "style=solid",
    "cf": "style=dashed",
    "id": "style=dotted, arrowhead=none",
    "race": 'style=dashed, dir=both, penwidth=3, label="  race  "',
}
LEGEND = "Solid: program order (po). Dashed: conflict (cf). Dotted: one command (id)."
NUMBERED = "Bold and numbered: a cycle."


def to_dot(result: Result, *, cycle_only: bool = False) -> str:
    """The run of ``result`` as a digraph for `dot`. Raises `NoRun` where there is none.

    ``cycle_only``: a node stands for each stretch of events that the cycle does not pass.
    """
    witness = witness_of(result)
    folded = fold(witness, cycle_only)
    title = f"{caption(result)}\n{LEGEND}" + f" {NUMBERED}" * bool(witness["cycle"])
    lines = [
        "digraph run {",
        '  charset="UTF-8"; newrank=true; labelloc=t; fontname="Helvetica"; fontsize=12;',
        f"  label={_text(title)};",
        f'  node [shape=box, style=filled, fillcolor="{colour("box")}", fontname="Courier", fontsize=11];',
        '  edge [fontname="Helvetica", fontsize=10];',
    ]
    on_cycle, standing = words.cycle_steps(witness), ends(witness)
    for rank, places in by_rank(witness, folded.kept).items():
        lines += [f"  subgraph cluster_{rank} {{", f'    label={quote(f"rank {rank}")}; color="{colour("rule")}";']
        for place in places:
            shape = f', shape=ellipse, fillcolor="{colour("step")}"' if is_step(place, witness) else ""
            bold = f', penwidth=2.5, color="{colour("accent")}"' if place in on_cycle else ""
            text = "\n".join(label(place, witness))
            tooltip = words.phrase(place, witness["computation"])
            lines.append(f"    e{place + 1} [label={_text(text)}, tooltip={_text(tooltip)}{shape}{bold}];")
        if rank in standing:
            text = "\n".join(standing[rank])
            lines.append(f"    end{rank} [label={_text(text)}, shape=note, style=dashed];")
        lines.append("  }")
        last = last_issued(rank, witness)
        if rank in standing and last in folded.kept:
            lines.append(f"  e{last + 1} -> end{rank} [arrowhead=none];")
    for index, (text, before, behind) in enumerate(bands(witness, folded)):
        lines.append(f"  band{index} [label={_text(text)}, style=dotted];")
        lines += [f"  e{before + 1} -> band{index} [style=invis];"] if before is not None else []
        lines += [f"  band{index} -> e{behind + 1} [style=invis];"] if behind is not None else []
    for edge, number in edges(witness, folded):
        barrier = edge["relation"] == "id" and witness["computation"][edge["from"]]["event"] == "barrier"
        lines.append(_edge(edge, number, barrier))
    return "\n".join([*lines, "}"]) + "\n"


def _edge(edge: Edge, number: int | None, barrier: bool) -> str:
    """``edge`` with its ``number`` in the cycle; one between two events of a ``barrier`` puts them on one height."""
    source, target = downwards(edge)
    relation = edge["relation"]
    name = colour("accent" if number is not None or relation == "race" else relation)
    attributes = f'{LINES[relation]}, color="{name}", fontcolor="{name}"'
    if number is not None:
        attributes += f', penwidth=3, label="  {number} {relation}  ", fontsize=13'
    drawn = f"e{source + 1} -> e{target + 1} [{attributes}{', constraint=false' * barrier}];"
    return f"  {{ rank=same; {drawn} }}" if barrier else f"  {drawn}"


def _text(text: str) -> str:
    """``text`` as a DOT string; Graphviz would read ``&lt;`` in it as an entity."""
    return quote(text.replace("&", "&amp;"))
