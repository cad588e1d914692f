"""The Mermaid flowchart, against a strict grammar of the small part of the language that is used."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from html import unescape
from typing import Any

import pytest

from pgasrob.cli.draw import only
from pgasrob.diagnostics import visible
from pgasrob.drawing.mermaid import MOST_EDGES, MOST_TEXT, escape
from pgasrob.drawing.palette import colour
from pgasrob.render.diagram.run_layout import layout
from pgasrob.render.run_graph import to_mermaid
from tests.render.diagram.test_model import corpus, long_run, result_of, with_runs
from tests.render.test_output_files import FAULT, NASTY, nasty, of_witness
from tests.render.test_verdict_json import DEADLOCK, ONE_TO_ONE

# In a label nothing but letters, digits, a few signs, entity codes, line breaks and characters beyond ASCII.
TEXT = r"(?:[A-Za-z0-9 ,()=+/-]|#\d+;|<br/>|[^\x00-\x7f])*"
LINES = {
    "subgraph": re.compile(r'  subgraph r\d+\["rank \d+(?:\.\d+)?"\]'),  # 0.1 is thread 1 of rank 0
    "end": re.compile(r"  end"),
    "node": re.compile(rf'    (e\d+)(?:\["({TEXT})"\]|\(\["({TEXT})"\]\))'),
    "standing": re.compile(rf'    (z\d+)\{{\{{"({TEXT})"\}}\}}'),
    "edge": re.compile(r'  (e\d+) (-->|-\.->|-\.-|---)(?:\|"(\d* ?(?:po|cf|id))"\|)? ([ez]\d+)'),
    "style": re.compile(r"  linkStyle (\d+) (?:[a-z-]+:[\w #]+)(?:,[a-z-]+:[\w #]+)*"),
    "class": re.compile(
        r"  (?:classDef (?:default|cycle|step) [a-z-]+:[\w#]+(?:,[a-z-]+:[\w#]+)+|class e\d+(?:,e\d+)* (?:cycle|step))"
    ),
    "lane": re.compile(r"  style r\d+(?: |,)(?:[a-z-]+:[\w#]+,?)+"),
}


def parsed(text: str) -> list[tuple[str, re.Match[str]]]:
    """The lines of a flowchart, each with what it is. Fails for what Mermaid might not read."""
    front, title, closing, kind, comment, *body = text.splitlines()
    assert (front, closing, kind) == ("---", "---", "flowchart TB")
    assert isinstance(json.loads(title.removeprefix("title: ")), str)
    assert comment.startswith("  %% ") and not set(comment[5:]) & set("{}%")
    found = []
    inside = False
    for line in body:
        matches = [(name, match) for name, form in LINES.items() if (match := form.fullmatch(line))]
        assert len(matches) == 1, line
        (name, match) = matches[0]
        assert inside is (name in ("end", "node", "standing"))
        inside = (inside or name == "subgraph") and name != "end"
        found.append((name, match))
    nodes = [match[1] for name, match in found if name in ("node", "standing")]
    edges = [match for name, match in found if name == "edge"]
    assert len(nodes) == len(set(nodes))
    assert {match[end] for match in edges for end in (1, 4)} <= set(nodes)
    assert all(int(match[1]) < len(edges) for name, match in found if name == "style")
    return found


def labels(text: str) -> list[str]:
    """What Mermaid shows in the nodes."""
    found = []
    for name, match in parsed(text):
        if name in ("node", "standing"):
            label = match[2] if match[2] is not None else match[3]
            found.append(unescape(re.sub(r"#(\d+);", r"&#\1;", label)).replace("<br/>", "\n").replace("\u200b", ""))
    return found


def test_one_to_one() -> None:
    text = to_mermaid(result_of(ONE_TO_ONE))
    lines = parsed(text)
    assert len([1 for name, _ in lines if name == "node"]) == 9
    edges = [match for name, match in lines if name == "edge"]
    assert len(edges) == 10
    assert sorted(match[3] for match in edges if match[3] and match[3][0].isdigit()) == [
        "1 cf", "2 id", "3 po", "4 id", "5 po",
    ]  # fmt: skip
    assert all(int(match[1][1:]) < int(match[4][1:]) for match in edges)  # downwards in time
    heavy = {int(match[1]) for name, match in lines if name == "style" and "stroke-width:4px" in match[0]}
    assert heavy == {place for place, match in enumerate(edges) if match[3] and match[3][0].isdigit()}
    arrows = {"po": "-->", "cf": "-.->", "id": "-.-"}
    assert all(match[2] == arrows[(match[3] or "po")[-2:]] for match in edges)
    dashes = {int(match[1]) for name, match in lines if name == "style" and "stroke-dasharray" in match[0]}
    assert dashes == {place for place, match in enumerate(edges) if match[2] != "-->"}
    assert "1: write(x, 1, y, q)\nline 6" in labels(text)


def test_the_lanes_are_those_of_the_svg() -> None:
    for name in ("mcs_lock/mcs_lock_fifo.pgas", "c/openshmem/stencil_no_fence.c"):
        result = corpus(name)
        assert result["witness"]
        diagram = layout(result["witness"])
        lanes: list[set[str]] = []
        for kind, match in parsed(to_mermaid(result)):
            if kind == "subgraph":
                lanes.append(set())
            elif kind == "node":
                lanes[-1].add(match[1])
        boxes = [{f"e{box.place + 1}" for box in diagram.boxes if box.lane == lane} for lane in range(len(lanes))]
        assert lanes == boxes and len(lanes) == len(diagram.lanes)


def nodes_of(text: str) -> int:
    return sum(name == "node" for name, _ in parsed(text))


def test_every_run_of_the_corpus_is_in_the_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those too large for it, the few of programs of realistic sizes, the events of the cycle."""
    large = 0
    for file, witness in with_runs():
        text = to_mermaid(of_witness(file, witness))
        events = len(witness["computation"])
        assert len(text) < MOST_TEXT
        if nodes_of(text) == events:
            continue
        large += 1
        assert 2 <= nodes_of(text) < events
        with monkeypatch.context() as unlimited:
            unlimited.setattr("pgasrob.drawing.mermaid.MOST_TEXT", 10**9)
            unlimited.setattr("pgasrob.drawing.mermaid.MOST_EDGES", 10**9)
            whole = to_mermaid(of_witness(file, witness))
        assert nodes_of(whole) == events
        assert len(whole) > MOST_TEXT or sum(name == "edge" for name, _ in parsed(whole)) > MOST_EDGES, file
    assert large < 5


def test_nasty_texts_are_shown_as_they_are() -> None:
    shown = [label.split("\n")[0] for label in labels(to_mermaid(nasty()))]
    assert shown == [f"{place}: {visible(text)}".replace("ﬂ", "fl") for place, text in enumerate(NASTY, 1)]


def test_what_is_read_even_as_an_entity_code_is_split() -> None:
    assert escape(r"\n \m") == "#92;\u200bn #92;m"
    assert escape("x ? fa:fa-car : fa:b") == "x #63; fa#58;\u200bfa-car #58; fa#58;b"


def test_how_ranks_end() -> None:
    deadlock = labels(to_mermaid(only(result_of(DEADLOCK, 3), "deadlock")))
    assert "has ended" in deadlock
    assert any(label.startswith("stands before await(mem[flag] == 2)") for label in deadlock)
    assert any("division by zero" in label for label in labels(to_mermaid(result_of(FAULT))))


@pytest.mark.parametrize(("operations", "letters"), [(140, 1), (60, 1000)], ids=["edges", "text"])
def test_of_what_is_too_large_for_mermaid_the_cycle_alone(
    operations: int, letters: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    witness: Any = deepcopy(long_run(operations, 2))
    for event in witness["computation"]:
        event["command"] = "c" * letters
    if letters == 1:
        monkeypatch.setattr("pgasrob.drawing.mermaid.MOST_TEXT", 10**6)
    result = of_witness("long.pgas", witness)
    assert len([1 for name, _ in parsed(to_mermaid(result)) if name == "edge"]) == len(witness["happens_before"])
    assert (len(witness["happens_before"]) > MOST_EDGES) is (letters == 1)
    witness["cycle"] = [{"from": 0, "to": 2, "relation": "po"}, {"from": 2, "to": 0, "relation": "cf"}]
    text = to_mermaid(result)
    assert [name for name, _ in parsed(text)].count("node") == 2
    assert f"(of {len(witness['computation'])} events those of the cycle)" in text


@pytest.mark.parametrize("text", ['a"b', "a;b", "a#b", "a%%b", "a[b", "<br/>", "style x:#1;"])
def test_nothing_else_is_in_a_label(text: str) -> None:
    assert re.fullmatch(TEXT.replace("|<br/>", ""), escape(text))


def test_the_colours_are_those_of_the_svg() -> None:
    text = to_mermaid(result_of(ONE_TO_ONE))
    edges = [match[3] or "po" for name, match in parsed(text) if name == "edge"]
    styles = {int(match[1]): match[0] for name, match in parsed(text) if name == "style"}
    assert len(styles) == len(edges)
    for place, relation in enumerate(edges):
        name = "accent" if relation[0].isdigit() else relation
        assert f"stroke:{colour(name)}" in styles[place]
    assert f"classDef cycle stroke:{colour('accent')}," in text
