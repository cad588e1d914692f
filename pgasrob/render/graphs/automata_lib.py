"""Graphs of a stage as automata of automata-lib, and their diagrams as automata-lib draws them.

`to_automaton` needs automata-lib alone. What it gives can be used further there: to test words, intersect, minimise,
and it shows itself in a notebook. The Z exist as automata-lib objects anyway (`CycleTypeAutomata.pair(...).automaton()`
and `.automaton(cycle)`). Diagrams need two more packages, the extra `diagrams`; the wheels of pygraphviz bring Graphviz
along, so no system program is needed.

Where automata-lib's support does not serve, so that `render.graphs.svg` is the default and `render.graphs.dot` stays:

- Its extra `visual` asks for manim too, which makes films and is built on C libraries; diagrams need nothing of it.
- A symbol is one string, so a transition over a word (a barrier in Y: an event of every rank) becomes one symbol, and
  a transition over no letter is automata-lib's "".
- Its automata know the letters that they are given: one that no edge bears is in the alphabet of Z, not in that of
  what `to_automaton` makes of a drawing of Z.
- Parallel edges get one label joined by commas, of which commands are full. States are circles whatever their
  labels, titles do not exist, and brackets in the names of states (``left a[2] w``) become other characters of
  Unicode. `diagram` repairs these on the graph that automata-lib returns.
- Names and order differ from run to run, and so do the files: nodes come in the order of a set, and the one before the
  first state has a random name. `diagram` has names and an order of its own.
- There is one diagram per automaton; `diagram` puts several into one picture, a cluster each.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgasrob.robustness.stages import Graph

if TYPE_CHECKING:
    from automata.fa.nfa import NFA

PACKAGES = ("pygraphviz", "coloraide")
FONT = "Helvetica"
EMPTY = "ε"
ROUND = 3
"""Letters of a label up to which a state is a circle."""


class MissingExtra(Exception):
    """The optional packages that automata-lib draws with are not installed; the message says how to get them."""


def to_automaton(graph: Graph) -> NFA:
    """``graph`` as an automaton: its states are the node labels (their numbers when two are alike), its symbols the
    edge labels; an edge without a label is silent."""
    from automata.fa.nfa import NFA

    names = state_names(graph)
    transitions: dict[str, dict[str, set[str]]] = {}
    for source, target, label in graph.edges:
        transitions.setdefault(names[source], {}).setdefault(label, set()).add(names[target])
    return NFA(
        states=set(names),
        input_symbols={label for _, _, label in graph.edges if label},
        transitions=transitions,
        initial_state=names[0],
        final_states={names[number] for number in graph.finals},
    )


def state_names(graph: Graph) -> list[str]:
    """The names of the states of `to_automaton` in the order of the nodes."""
    alike = len(set(graph.nodes)) < len(graph.nodes) or "" in graph.nodes
    return [str(number) for number in range(len(graph.nodes))] if alike else graph.nodes


def diagram(graphs: Sequence[Graph]) -> Any:
    """``graphs`` as automata-lib draws them, in one `pygraphviz.AGraph`: a cluster with a title each.

    Raises :class:`MissingExtra` without the optional packages.
    """
    if not all(find_spec(package) for package in PACKAGES):
        raise MissingExtra(f"it takes the packages {' and '.join(PACKAGES)} (pip install {' '.join(PACKAGES)})")
    import pygraphviz

    whole = pygraphviz.AGraph(strict=False, directed=True, rankdir="LR", fontname=FONT)
    whole.node_attr["fontname"] = whole.edge_attr["fontname"] = FONT
    for index in reversed(range(len(graphs))):  # from left to right Graphviz puts the first cluster at the bottom
        _add(whole, index, graphs[index])
    return whole


def write(graphs: Sequence[Graph], path: Path) -> None:
    """Write the diagram of ``graphs`` to ``path``: .svg, .png, .pdf, or what else Graphviz has.

    Raises :class:`MissingExtra` without the optional packages, OSError when the file cannot be written.
    """
    path.write_bytes(diagram(graphs).draw(format=path.suffix[1:].lower(), prog="dot"))


def _add(whole: Any, index: int, graph: Graph) -> None:
    """What automata-lib draws of ``graph``, as a cluster of ``whole``."""
    automaton = to_automaton(graph)
    drawn = automaton.show_diagram()
    # The names that automata-lib gives to the nodes of its diagram; one more, of its own, is where the arrow begins.
    names = [automaton._get_state_name(name) for name in state_names(graph)]
    (start,) = set(drawn.nodes()) - set(names)
    cluster = whole.add_subgraph(name=f"cluster_{index}", label=_text(graph.title))
    ours = {name: f"{index}_{number}" for number, name in enumerate(names)} | {start: f"{index}_start"}
    cluster.add_node(ours[start], **_kept(drawn.get_node(start), "shape"), label="")
    for name, label in zip(names, graph.nodes, strict=True):
        kept = _kept(drawn.get_node(name), "shape", "fontsize")
        if len(label) > ROUND:
            rings = {"circle": "1", "doublecircle": "2"}[kept["shape"]]
            kept |= {"shape": "box", "style": "rounded", "peripheries": rings}
        cluster.add_node(ours[name], **kept, label=_text(label))
    cluster.add_edge(ours[start], ours[names[0]], **_kept(drawn.get_edge(start, names[0]), "arrowsize"))
    # In the order of ours, for that of automata-lib is the order of a set of strings, which is never the same.
    for (source, target), labels in _labels(graph).items():
        edge = drawn.get_edge(names[source], names[target])
        kept = _kept(edge, "arrowsize", "fontsize")
        cluster.add_edge(ours[names[source]], ours[names[target]], **kept, label=_text("\n".join(labels)))


def _kept(drawn: Any, *attributes: str) -> dict[str, str]:
    """``attributes`` of a node or an edge as automata-lib set them; places are left out, they will change."""
    return {name: drawn.attr[name] for name in attributes}


def _labels(graph: Graph) -> dict[tuple[int, int], list[str]]:
    """The labels of all edges between two nodes, each once."""
    found: dict[tuple[int, int], list[str]] = {}
    for source, target, label in graph.edges:
        labels = found.setdefault((source, target), [])
        if (label or EMPTY) not in labels:
            labels.append(label or EMPTY)
    return found


def _text(label: str) -> str:
    """``label`` so that Graphviz shows it as it is: neither an escape nor, in angle brackets, HTML."""
    escaped = label.replace("\\", "\\\\").replace("\n", "\\n")
    return f"{escaped} " if escaped.startswith("<") else escaped
