"""Converts the graphs of a stage to automata of automata-lib, and to pictures that Graphviz lays out.

`to_automaton` needs automata-lib alone. What it gives can be used further there: to test words, intersect, minimise,
and it shows itself in a notebook. The Z exist as automata-lib objects anyway (`CycleTypeAutomata.pair(...).automaton()`
and `.automaton(cycle)`). A transition over a word (a barrier in Y: an event of every rank) becomes one symbol, one over
no letter is automata-lib's "". Its automata know the letters that they are given: one that no edge bears is in the
alphabet of Z, not in that of what `to_automaton` makes of a drawing of Z.

Pictures are of the DOT text that `render.stage_pictures` writes. automata-lib's own diagrams are not used: parallel
edges get labels joined by commas, of which commands are full, states are circles whatever their labels, and names and
order differ from run to run. The package `pygraphviz` brings Graphviz along, so no system program is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pgasrob.render.stage_pictures import to_dot
from pgasrob.robustness.stages import Graph
from pgasrob.whole_files import replace_file

if TYPE_CHECKING:
    from automata.fa.nfa import NFA

PACKAGES = ("pygraphviz",)


class MissingExtra(Exception):
    """The optional package that brings Graphviz is not installed; the message says how to get it."""


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


def picture(graphs: Sequence[Graph], form: str) -> bytes:
    """``graphs`` in one picture, a cluster with a title each, in a format that Graphviz has: svg, png, pdf.

    Raises :class:`MissingExtra` without the optional package.
    """
    if not all(find_spec(package) for package in PACKAGES):
        raise MissingExtra(f"it takes the package {PACKAGES[0]} (pip install {PACKAGES[0]})")
    import pygraphviz

    # From left to right Graphviz puts the first cluster at the bottom.
    drawn: bytes = pygraphviz.AGraph(string=to_dot(graphs[::-1], bundled=True)).draw(format=form, prog="dot")
    return drawn


def write(graphs: Sequence[Graph], path: Path) -> None:
    """Write the picture of ``graphs`` to ``path`` in the format that its ending says.

    Raises :class:`MissingExtra` without the optional package, and :class:`~pgasrob.whole_files.CannotWrite`.
    """
    replace_file(path, picture(graphs, path.suffix[1:].lower()))
