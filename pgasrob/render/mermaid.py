"""The happens-before graph of a run as a Mermaid flowchart, which Markdown on many sites draws.

A flowchart and not a sequence diagram, which has no arrow for a conflict or for program order: the cycle could not be
seen in it. A subgraph for each lane of the SVG, in the colours of it: what a rank issues as boxes, and with round ends
the steps that act on its memory, whose ever they are. Which of the lanes stand beside each other Mermaid alone decides,
which can be told no order of them. Needs Mermaid 10 or later.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from pgasrob.render import words
from pgasrob.render.diagram.folding import fold
from pgasrob.render.diagram.model import edges
from pgasrob.render.pens.svg import colour
from pgasrob.render.run_graph import bands, by_lane, caption, downwards, ends, is_step, label, last_issued, witness_of
from pgasrob.render.run_json import Edge, Witness
from pgasrob.render.verdict_json import Result

ARROWS = {"po": "-->", "cf": "-.->", "id": "-.-", "race": "<-.->"}
DASHES = {"po": "", "cf": "stroke-dasharray:9 5", "id": "stroke-dasharray:2 4", "race": "stroke-dasharray:9 4 2 4"}
MOST_EDGES, MOST_TEXT = 500, 50_000
"""Edges and characters beyond which Mermaid draws nothing unless the page that shows it is set up so."""
LEGEND = "Solid: program order (po). Dashed: conflict (cf). Dotted: one command (id). Thick and numbered: a cycle."

# Other characters become entity codes: Mermaid reads quotes, `#`, `;` and `%%` anywhere, words such as `style` before a
# colon, and what looks like Markdown, in which a label `1. x` or `a[0](x)` would be a list or a link.
_PLAIN = re.compile(r"[^A-Za-z0-9 ,()=+/-]")
# Read even where they stand as entity codes: a line break, an icon, and what Mermaid itself puts for such codes.
_SPLIT = re.compile(r"\\(?=n)|fa[bklrs]?:(?=fa-)")
_OWN = {"ﬂ": "fl"}


def to_mermaid(result: Result, *, cycle_only: bool = False) -> str:
    """The run of ``result`` as a Mermaid diagram. Raises `NoRun` where there is none.

    ``cycle_only``: a node stands for each stretch of events that the cycle does not pass. Of a run that is too large
    for Mermaid the events of the cycle alone.
    """
    witness = witness_of(result)
    cycle = words.cycle_steps(witness)
    folded = fold(witness, cycle_only)
    found = edges(witness, folded)
    lanes = by_lane(witness, folded)
    drawn = _chart(witness, caption(result), found, lanes, bands(witness, folded))
    if cycle and (len(found) > MOST_EDGES or len(drawn) > MOST_TEXT):
        title = f"{caption(result)} (of {len(witness['computation'])} events those of the cycle)"
        passed = {rank: [place for place in places if place in cycle] for rank, places in lanes.items()}
        lanes = {rank: places for rank, places in passed.items() if places}
        return _chart(witness, title, [each for each in found if each[1]], lanes)
    return drawn


def _chart(
    witness: Witness,
    title: str,
    found: Sequence[tuple[Edge, int | None]],
    lanes: Mapping[int, Sequence[int]],
    folds: Sequence[tuple[str, int | None, int | None]] = (),
) -> str:
    """The flowchart of the edges ``found`` and the places in ``lanes``, and of bands."""
    standing, cycle = ends(witness), words.cycle_steps(witness)
    shown = {place for places in lanes.values() for place in places}
    lines = ["---", f"title: {json.dumps(title, ensure_ascii=False)}", "---", "flowchart TB", f"  %% {LEGEND}"]
    for rank, places in lanes.items():
        lines.append(f'  subgraph r{rank}["rank {rank}"]')
        for place in places:
            text = "<br/>".join(map(escape, label(place, witness)))
            lines.append(f'    e{place + 1}(["{text}"])' if is_step(place, witness) else f'    e{place + 1}["{text}"]')
        if rank in standing:
            text = "<br/>".join(map(escape, standing[rank]))
            lines.append(f'    z{rank}{{{{"{text}"}}}}')
        lines.append("  end")
    lines += [_edge(edge, number) for edge, number in found]
    for rank in standing:
        last = last_issued(rank, witness)
        lines += [f"  e{last + 1} --- z{rank}"] if rank in lanes and last is not None and last in shown else []
    for index, (text, before, behind) in enumerate(folds):
        lines.append(f'  band{index}["{escape(text)}"]')
        lines += [f"  e{before + 1} ~~~ band{index}"] if before is not None else []
        lines += [f"  band{index} ~~~ e{behind + 1}"] if behind is not None else []
    for index, (edge, number) in enumerate(found):
        relation = edge["relation"]
        stroke = f"stroke:{colour('accent' if number is not None or relation == 'race' else relation)}"
        width = "" if number is None else "stroke-width:4px"
        lines.append(f"  linkStyle {index} {','.join(filter(None, [stroke, width, DASHES[relation]]))}")
    ink = f"color:{colour('ink')}"
    lines.append(f"  classDef default fill:{colour('box')},stroke:{colour('faint')},{ink}")
    lines += [f"  style r{rank} fill:{colour('part')},stroke:{colour('rule')},{ink}" for rank in lanes]
    if steps := [place for place in sorted(shown) if is_step(place, witness)]:
        lines.append(f"  classDef step fill:{colour('step')},{ink}")
        lines.append(_of_class("step", steps))
    if cycle:
        lines.append(f"  classDef cycle stroke:{colour('accent')},stroke-width:4px")
        lines.append(_of_class("cycle", sorted(cycle)))
    return "\n".join(lines) + "\n"


def _of_class(name: str, places: Sequence[int]) -> str:
    return f"  class {','.join(f'e{place + 1}' for place in places)} {name}"


def _edge(edge: Edge, number: int | None) -> str:
    source, target = downwards(edge)
    relation = edge["relation"]
    name = relation if number is None else f"{number} {relation}"
    text = "" if name == "po" else f'|"{name}"|'
    return f"  e{source + 1} {ARROWS[relation]}{text} e{target + 1}"


def escape(text: str) -> str:
    """``text``, which is one line, for between quotes in a Mermaid diagram."""
    return _PLAIN.sub(lambda found: _escaped(found[0]), _SPLIT.sub("\\g<0>\u200b", text))


def _escaped(char: str) -> str:
    return _OWN.get(char, char) if char > "\x7f" else f"#{ord(char)};"
