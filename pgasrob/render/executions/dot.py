"""Execution graphs in the DOT language of Graphviz: a cluster per thread, an event a node. Edges differ by their line,
not by colour: it can be printed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pgasrob.diagnostics import visible
from pgasrob.render.executions.edges import NAMES, OTHERS, edges
from pgasrob.render.executions.svg import Panel
from pgasrob.render.graphs.dot import quote
from pgasrob.render.litmus import told
from pgasrob.render.litmus_json import ExecutionObject

LINES = {
    "po": "style=solid, color=gray40",
    "rf": "style=solid",
    "mo": "style=solid, arrowhead=empty",
    "rb": "style=dashed",
}
DOTTED = "style=dotted"
LEGEND = "rf: reads from. mo: modification order. rb: reads before. Gray: program order."
NUMBERED = "Bold and numbered: a cycle."


def executions_dot(title: str, panels: Sequence[Panel]) -> str:
    """All ``panels`` as one digraph, a cluster for each."""
    numbered = f" {NUMBERED}" * any(panel.execution["cycle"] for panel in panels)
    heading = f"{title}\n{LEGEND}{numbered}"
    lines = [
        "digraph executions {",
        '  charset="UTF-8"; newrank=true; labelloc=t; fontname="Helvetica"; fontsize=12;',
        f"  label={_text(heading)};",
        '  node [shape=box, fontname="Courier", fontsize=11];',
        '  edge [fontname="Helvetica", fontsize=10];',
    ]
    for number, panel in enumerate(panels, 1):
        lines += [f"  subgraph cluster_{number} {{", f"    label={_text(panel.title)};"]
        lines += [f"    {line}" for line in _execution(panel.execution, f"e{number}_")]
        lines.append("  }")
    return "\n".join([*lines, "}"]) + "\n"


def _execution(execution: ExecutionObject, prefix: str) -> list[str]:
    events, drawn = execution["events"], edges(execution)
    on_cycle = {end for edge in drawn if edge.number for end in (edge.source, edge.target)}
    lines = []
    firsts = []
    for number, event in enumerate(events):
        if event["thread"] is None and any(number in (edge.source, edge.target) for edge in drawn):
            lines.append(f"{prefix}{number} [label={_text(told(event))}, shape=ellipse];")
    for thread, about in enumerate(execution["threads"]):
        name = f"thread {thread + 1} on node {about['node']}"
        lines += [
            f"subgraph cluster_{prefix}{thread} {{",
            f"  label={quote(name)};",
        ]
        mine = [number for number, event in enumerate(events) if event["thread"] == thread]
        firsts += mine[:1]
        for number in mine:
            event = events[number]
            bold = ", penwidth=2.5" if number in on_cycle else ""
            text = f"{visible(event['text'])}\n{told(event)}" if event["text"] else told(event)
            lines.append(f"  {prefix}{number} [label={_text(text)}{bold}];")
        lines += [f"  {prefix}{one} -> {prefix}{other} [{LINES['po']}];" for one, other in pairwise(mine)]
        lines.append("}")
    # Threads from left to right.
    lines += [f"{{ rank=same; {prefix}{one} -> {prefix}{other} [style=invis]; }}" for one, other in pairwise(firsts)]
    for edge in drawn:
        style = LINES.get(edge.relation, DOTTED)
        if edge.number is not None:
            style += ", penwidth=3, fontsize=13"
        by = f" ({edge.rule})" if edge.rule else ""
        name = (NAMES | OTHERS).get(edge.relation, edge.relation)
        lines.append(
            f"{prefix}{edge.source} -> {prefix}{edge.target} "
            f"[{style}, label={quote(f'  {edge.label}{by}  ')}, tooltip={quote(name)}, constraint=false];"
        )
    return lines


def _text(text: str) -> str:
    """``text`` as a DOT string; Graphviz would read ``&lt;`` in it as an entity."""
    return quote(text.replace("&", "&amp;"))
