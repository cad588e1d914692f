"""The picture of the rooms in `pgasrob/README.md` is that of the table in `tests/test_imports.py`.

`python -m tests.test_rooms_picture` draws it anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from pgasrob.drawing.graph_to_draw import Edge, Graph, Node
from pgasrob.drawing.layered_svg import graph_svg
from tests.test_imports import MAY_IMPORT, PACKAGE, TOP

PICTURE = PACKAGE / "rooms.svg"


def reduced(graph: Mapping[str, Set[str]]) -> dict[str, set[str]]:
    """The edges of an acyclic ``graph`` that do not follow from others."""
    below: dict[str, set[str]] = {}

    def reach(node: str) -> set[str]:
        if node not in below:
            below[node] = set().union(*({target} | reach(target) for target in graph[node]))
        return below[node]

    return {
        node: {target for target in targets if not any(target in reach(other) for other in targets - {target})}
        for node, targets in graph.items()
    }


def picture() -> str:
    """The rooms as SVG, an arrow from each to those that it may import. The package itself, whose names are those of
    rooms and which rooms ask for the version, is left out, and so is the table of twins, which lies between."""
    between = {TOP, "twins"}
    rooms = {name: targets - between for name, targets in MAY_IMPORT.items() if name not in between}
    nodes = [Node(name, (name,), "room") for name in rooms]
    edges = [Edge(name, target) for name, targets in reduced(rooms).items() for target in sorted(targets)]
    return graph_svg(Graph("The rooms of pgasrob and whom they import", nodes, edges))


def test_what_follows_is_left_out() -> None:
    assert reduced({"a": {"b", "c", "d"}, "b": {"c"}, "c": set(), "d": set()}) == {
        "a": {"b", "d"},
        "b": {"c"},
        "c": set(),
        "d": set(),
    }


def test_the_picture_is_that_of_the_table() -> None:
    committed = PICTURE.read_text(encoding="utf-8") if PICTURE.exists() else ""
    assert committed == picture(), "pgasrob/rooms.svg is out of date: run `python -m tests.test_rooms_picture`"
    readme = (PACKAGE / "README.md").read_text(encoding="utf-8")
    assert f"({PICTURE.name})" in readme


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
