"""The happens-before graph for Graphviz: what is in it, and that `dot` reads it."""

from __future__ import annotations

import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pgasrob.cli.draw import only
from pgasrob.diagnostics import visible
from pgasrob.render.pens.svg import colour
from pgasrob.render.run_dot import to_dot
from tests.render.diagram.test_model import corpus, result_of
from tests.render.test_formats import FAULT, NASTY, nasty
from tests.render.test_json import DEADLOCK, ONE_TO_ONE

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz's `dot` is not installed")

EDGE = re.compile(r"(e\d+) -> (e\d+) \[([^\]]*)\]")


def drawn(text: str, folder: Path) -> str:
    file = folder / "run.dot"
    file.write_text(text, encoding="utf-8")
    done = subprocess.run(["dot", "-Tsvg", str(file)], capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert not [line for line in done.stderr.decode().splitlines() if "size too small" not in line]
    ElementTree.fromstring(done.stdout)
    return done.stdout.decode()


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
    clusters = text.split("subgraph ")
    assert 'label="rank 0"' in clusters[1] and 'label="rank 1"' in clusters[2]
    assert len(re.findall(r"shape=ellipse", clusters[1])) == 2  # its write's steps, wherever they take effect


def test_a_barrier_is_on_one_height() -> None:
    assert re.search(r"\{ rank=same; e\d+ -> e\d+ \[[^]]*constraint=false\]; \}", to_dot(result_of(ONE_TO_ONE)))


def test_how_ranks_end() -> None:
    deadlock = to_dot(only(result_of(DEADLOCK, 3), "deadlock"))
    assert "stands before await" in deadlock and "end2" in deadlock
    assert re.search(r"e\d+ -> end0 \[arrowhead=none\];", deadlock)
    assert "end2 [" in deadlock and "-> end2" not in deadlock  # rank 2 has issued nothing
    assert "division by zero" in to_dot(result_of(FAULT))


@needs_dot
@pytest.mark.parametrize("name", ["mcs_lock/mcs_lock_fifo.pgas", "c/openshmem/stencil_no_fence.c"])
def test_dot_draws_it(name: str, tmp_path: Path) -> None:
    result = corpus(name)
    assert result["witness"]
    svg = drawn(to_dot(result), tmp_path)
    assert svg.count('class="node"') == len(result["witness"]["computation"])


@needs_dot
def test_dot_shows_nasty_texts_as_they_are(tmp_path: Path) -> None:
    svg = drawn(to_dot(nasty()), tmp_path)
    shown = {unescape(text).replace("\u00a0", " ") for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)}
    assert not [text for place, text in enumerate(NASTY, 1) if f"{place}: {visible(text)}" not in shown]


def test_the_colours_are_those_of_the_svg() -> None:
    text = to_dot(result_of(ONE_TO_ONE))
    for _, _, attributes in EDGE.findall(text):
        relation = {"solid": "po", "dashed": "cf", "dotted": "id"}[re.findall(r"style=(\w+)", attributes)[0]]
        on_cycle = "penwidth" in attributes
        assert f'color="{colour("accent" if on_cycle else relation)}"' in attributes
