"""The happens-before graph for Graphviz: what is in it, and that `dot` reads it."""

from __future__ import annotations

import re
import shutil
import subprocess
from html import unescape
from itertools import pairwise

import pytest

from pgasrob.cli.draw import only
from pgasrob.diagnostics import visible
from pgasrob.drawing.palette import colour
from pgasrob.render.diagram.run_layout import layout
from pgasrob.render.run_graph import to_dot
from tests.render.diagram.test_model import corpus, long_run, result_of
from tests.render.test_output_files import FAULT, NASTY, nasty, of_witness
from tests.render.test_verdict_json import DEADLOCK, ONE_TO_ONE

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz's `dot` is not installed")

EDGE = re.compile(r"^  (e\d+) -> (e\d+) \[([^\]]*)\];$", re.MULTILINE)


def drawn(text: str, form: str = "svg") -> str:
    done = subprocess.run(["dot", f"-T{form}"], input=text.encode(), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert not [line for line in done.stderr.decode().splitlines() if "size too small" not in line]
    return done.stdout.decode()


def middles(text: str) -> dict[str, tuple[float, float]]:
    """Where `dot` puts the nodes, the invisible ones among them; y grows downwards."""
    lines = [line.split() for line in drawn(text, "plain").splitlines()]
    return {name: (float(x), -float(y)) for kind, name, x, y, *_ in (line for line in lines if line[0] == "node")}


def test_one_to_one() -> None:
    text = to_dot(result_of(ONE_TO_ONE))
    edges = EDGE.findall(text)
    assert len(edges) == 10
    numbered = [attributes for *_, attributes in edges if "label" in attributes]
    names = [name for each in numbered for name in re.findall(r'label="  (\d \w\w)  "', each)]
    assert sorted(names) == ["1 cf", "2 id", "3 po", "4 id", "5 po"]
    assert all("penwidth=3" in each for each in numbered)
    for source, target, attributes in edges:
        assert int(source[1:]) < int(target[1:])  # downwards in time
        assert sum(f"style={style}" in attributes for style in ("solid", "dashed", "dotted")) == 1
        assert ("arrowhead=none" in attributes) is ("style=dotted" in attributes)
    assert len(re.findall(r"shape=ellipse", text)) == 4


def test_what_is_large_has_straight_edges() -> None:
    """Which `dot` draws in seconds; the others take it minutes."""
    assert "splines=line" in to_dot(of_witness("long.pgas", long_run(400, 3)))
    assert "splines" not in to_dot(result_of(ONE_TO_ONE))


def test_how_ranks_end() -> None:
    deadlock = to_dot(only(result_of(DEADLOCK, 3), "deadlock"))
    assert "stands before await" in deadlock and "z2" in deadlock
    assert re.search(r"\{ rank=same; z0 -> z1 -> z2 \[style=invis\]; \}", deadlock)
    assert "division by zero" in to_dot(result_of(FAULT))


@needs_dot
@pytest.mark.parametrize("cycle_only", [False, True])
@pytest.mark.parametrize("name", ["mcs_lock/mcs_lock_fifo.pgas", "c/openshmem/stencil_no_fence.c"])
def test_dot_draws_it_in_the_lanes_and_rows_of_the_svg(name: str, cycle_only: bool) -> None:
    result = corpus(name)
    assert result["witness"]
    laid_out = layout(result["witness"], cycle_only)
    at = middles(to_dot(result, cycle_only=cycle_only))
    boxes = {f"e{box.place + 1}": box for box in laid_out.boxes}
    assert {name for name in at if name.startswith("e")} == set(boxes)
    headings = [at[f"lane{lane.rank}"][0] for lane in laid_out.lanes]
    assert headings == sorted(headings)
    for (one, box), (other, next_to) in pairwise(sorted(boxes.items(), key=lambda each: (each[1].row, each[1].lane))):
        if box.row == next_to.row:
            assert at[one][0] < at[other][0] and abs(at[one][1] - at[other][1]) < 1
        else:
            assert at[one][1] < at[other][1]
    for name, box in boxes.items():
        beside = [at.get(f"axis{box.row}_{lane.rank}", at[f"lane{lane.rank}"])[0] for lane in laid_out.lanes]
        assert all(at[name][0] < x for x in beside[box.lane + 1 :]), name
        assert all(at[name][0] > x for x in beside[: box.lane]), name


@needs_dot
def test_dot_shows_nasty_texts_as_they_are() -> None:
    svg = drawn(to_dot(nasty()))
    shown = {unescape(text).replace("\u00a0", " ") for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)}
    assert not [text for place, text in enumerate(NASTY, 1) if f"{place}: {visible(text)}" not in shown]


def test_the_colours_are_those_of_the_svg() -> None:
    text = to_dot(result_of(ONE_TO_ONE))
    for _, _, attributes in EDGE.findall(text):
        relation = {"solid": "po", "dashed": "cf", "dotted": "id"}[re.findall(r"style=(\w+)", attributes)[0]]
        on_cycle = "penwidth" in attributes
        assert f'color="{colour("accent" if on_cycle else relation)}"' in attributes
