"""Writes graphs with lanes as Mermaid flowcharts, which many sites draw in Markdown.

A flowchart and not a sequence diagram, which has no arrow for a conflict or for program order, so that a cycle could
not be seen in it. Each lane is a subgraph, in the colours of the SVG. Mermaid alone decides which of the lanes stand
beside each other; it cannot be given an order of them. Needs Mermaid 10 or later.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace

from pgasrob.drawing.graph_to_draw import Edge, Graph, Node
from pgasrob.drawing.palette import colour

ARROWS = {"po": "-->", "cf": "-.->", "id": "-.-", "race": "<-.->", "end": "---", "order": "~~~"}
DASHES = {"po": "", "cf": "stroke-dasharray:9 5", "id": "stroke-dasharray:2 4", "race": "stroke-dasharray:9 4 2 4"}
SHAPES = {"step": '(["{}"])', "end": '{{{{"{}"}}}}'}
MOST_EDGES, MOST_TEXT = 500, 50_000
"""Edges and characters beyond which Mermaid draws nothing unless the page that shows it is set up so."""
LEGEND = "Solid: program order (po). Dashed: conflict (cf). Dotted: one command (id). Thick and numbered: a cycle."

# Other characters become entity codes: Mermaid reads quotes, `#`, `;` and `%%` anywhere, words such as `style` before a
# colon, and what looks like Markdown, in which a label `1. x` or `a[0](x)` would be a list or a link.
_PLAIN = re.compile(r"[^A-Za-z0-9 ,()=+/-]")
# Mermaid reads these even as entity codes: a line break, an icon, and the characters by which it replaces such codes.
_SPLIT = re.compile(r"\\(?=n)|fa[bklrs]?:(?=fa-)")
_OWN = {"ﬂ": "fl"}


def to_mermaid(graph: Graph, cycle_title: str) -> str:
    """``graph`` as a flowchart. Of a graph that is too large for Mermaid its cycle alone, with ``cycle_title``."""
    drawn = _flowchart(graph)
    found = sum(edge.look in DASHES for edge in graph.edges)
    on_cycle = {node.name for node in graph.nodes if "cycle" in node.look}
    if not on_cycle or (found <= MOST_EDGES and len(drawn) <= MOST_TEXT):
        return drawn
    lanes = {node.lane for node in graph.nodes if node.name in on_cycle}
    kept = [node for node in graph.nodes if node.name in on_cycle or ("end" in node.look and node.lane in lanes)]
    names = {node.name for node in kept}
    edges = [edge for edge in graph.edges if edge.number is not None or edge.look == "end"]
    return _flowchart(
        replace(
            graph,
            title=cycle_title,
            nodes=kept,
            edges=[edge for edge in edges if edge.source in names and edge.target in names],
            lanes={lane: title for lane, title in graph.lanes.items() if lane in lanes},
        )
    )


def _flowchart(graph: Graph) -> str:
    lines = ["---", f"title: {json.dumps(graph.title, ensure_ascii=False)}", "---", "flowchart TB", f"  %% {LEGEND}"]
    for lane, title in graph.lanes.items():
        lines.append(f'  subgraph r{lane:d}["{title}"]')
        lines += [f"    {_node(node)}" for node in graph.nodes if node.lane == lane]
        lines.append("  end")
    related = [edge for edge in graph.edges if edge.look in DASHES]
    lines += map(_edge, related)
    lines += [_edge(edge) for edge in graph.edges if edge.look == "end"]
    order = [edge for edge in graph.edges if edge.look == "order"]
    for node in graph.nodes:
        if node.lane is None:
            lines.append(f"  {_node(node)}")
            lines += [_edge(edge) for edge in order if node.name in (edge.source, edge.target)]
    for index, edge in enumerate(related):
        heavy = edge.number is not None
        stroke = f"stroke:{colour('accent' if heavy or edge.look == 'race' else edge.look)}"
        style = ",".join(filter(None, [stroke, "stroke-width:4px" * heavy, DASHES[edge.look]]))
        lines.append(f"  linkStyle {index} {style}")
    ink = f"color:{colour('ink')}"
    lines.append(f"  classDef default fill:{colour('box')},stroke:{colour('faint')},{ink}")
    lines += [f"  style r{lane:d} fill:{colour('part')},stroke:{colour('rule')},{ink}" for lane in graph.lanes]
    classes = {"step": f"fill:{colour('step')},{ink}", "cycle": f"stroke:{colour('accent')},stroke-width:4px"}
    for name, look in classes.items():
        if members := [node.name for node in graph.nodes if name in node.look.split()]:
            lines += [f"  classDef {name} {look}", f"  class {','.join(members)} {name}"]
    return "\n".join(lines) + "\n"


def _node(node: Node) -> str:
    shape = SHAPES.get(node.look.partition(" ")[0], '["{}"]')
    return node.name + shape.format("<br/>".join(map(escape, node.lines)))


def _edge(edge: Edge) -> str:
    name = edge.label or ("" if edge.look in ("po", "end", "order") else edge.look)
    label = f'|"{name}"|' if name else ""
    return f"  {edge.source} {ARROWS[edge.look]}{label} {edge.target}"


def escape(text: str) -> str:
    """``text``, which is one line, for between quotes in a Mermaid diagram."""
    return _PLAIN.sub(lambda found: _escaped(found[0]), _SPLIT.sub("\\g<0>\u200b", text))


def _escaped(char: str) -> str:
    return _OWN.get(char, char) if char > "\x7f" else f"#{ord(char)};"
