"""Execution graphs of litmus tests: which edges are drawn, and that nothing lies on anything else."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from random import Random
from xml.etree import ElementTree

import pytest

from pgasrob.drawing.labels import BADGE, label_width
from pgasrob.drawing.lanes import Box, Picture, layout
from pgasrob.models.litmus.litmus_parser import parse, parse_file
from pgasrob.models.model_table import asked
from pgasrob.render.execution_graph import INITIALLY, edges, execution_graph, executions_dot, executions_svg, panel
from pgasrob.render.lane_panels import panels_svg
from pgasrob.render.litmus_json import ExecutionObject, execution_to_json, values_text
from tests.models.strategies import random_text
from tests.render.test_litmus_text import CORPUS, REUSE, result_of
from tests.support import examples

FAR = """
x@1=0 y@2=0 z@3=0 :: 1: y^2 = 1; flush(2); z^3 = 1 || 2: a = y; x^1 = 1; b = y; flush(1); c = y ||
3: d = z; e = x^1; flush(1); e2 = e
"""
LONG = "a_very_long_location_name_number_one_of_this"
OTHER = "another_quite_long_location_name_of_this_test"


def executions(text: str, model: str) -> list[ExecutionObject]:
    result = result_of(parse(text), model)
    forbidden = [why["execution"] for why in result["forbidden"] if why["execution"]]
    return [*result["executions"], *forbidden]


def drawn(execution: ExecutionObject) -> Picture:
    return layout(execution_graph(execution))


def segments(picture: Picture) -> list[tuple[int, tuple[float, float], tuple[float, float]]]:
    return [
        (number, start, end)
        for number, way in enumerate(picture.ways)
        for start, end in zip(way.points, way.points[1:], strict=False)
    ]


def overlaps(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    """Of two rectangles, each as left, top, right, bottom."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def check_picture(picture: Picture) -> None:
    boxes = [(box.x, box.y, box.x + box.width, box.y + box.height) for box in picture.boxes]
    assert not any(overlaps(one, other) for one, other in combinations(boxes, 2))
    labels = []
    for way in picture.ways:
        if way.badge is None:
            continue
        half = label_width(way.edge.label or "") / 2
        x, y = way.badge
        labels.append((x - half, y - BADGE / 2, x + half, y + BADGE / 2))
    for number, label in enumerate(labels):
        assert not any(overlaps(label, other) for other in labels[number + 1 :])
        assert not any(overlaps(label, box) for box in boxes)
        assert label[0] >= -1 and label[2] <= picture.width + 1
    for _, start, end in segments(picture):
        left, right = sorted((start[0], end[0]))
        top, bottom = sorted((start[1], end[1]))
        inside = [(x + 1, y + 1, to_x - 1, to_y - 1) for x, y, to_x, to_y in boxes]
        assert not any(overlaps((left, top, right + 0.01, bottom + 0.01), box) for box in inside)
    sideways = [(start[1], *sorted((start[0], end[0]))) for _, start, end in segments(picture) if start[1] == end[1]]
    for (y, left, right), (other_y, other_left, other_right) in combinations(sideways, 2):
        assert y != other_y or right <= other_left or other_right <= left, "two edges run sideways on one line"
    downwards = [(start[0], *sorted((start[1], end[1]))) for _, start, end in segments(picture) if start[0] == end[0]]
    for (x, top, bottom), (other_x, other_top, other_bottom) in combinations(downwards, 2):
        assert x != other_x or bottom <= other_top or other_bottom <= top, "two edges run down on one line"


def test_a_cycle_is_drawn_with_its_numbers() -> None:
    *_, forbidden = executions(REUSE, "rdma-tso")
    found = [(edge.number, edge.relation, edge.rule) for edge in edges(forbidden)]
    assert found[-4:] == [(1, "ippo", "ippo.F7"), (2, "pf", "ib.pf"), (3, "ippo", "ippo.E2"), (4, "rf", "ib.rf")]
    assert [edge[:2] for edge in found[:-4]] == [(None, "rf")]


def test_what_follows_from_others_is_not_drawn() -> None:
    (execution,) = executions("x@1=0 :: 1: x = 1; x = 2; x = 3; a = x", "sc")
    found = {(edge.relation, edge.source - 1, edge.target - 1) for edge in edges(execution)}
    assert found == {("mo", 0, 1), ("mo", 1, 2), ("rf", 2, 3)}, "nothing of the initial value, and mo by steps"
    (execution,) = executions("x@1 z@2 :: 2: z = rfaa(x^1, 1)", "rdma-tso")
    assert [execution["relations"]["rb"], edges(execution)] == [[[2, 3]], []], "the addition comes between"
    execution = next(each for each in executions(FAR, "corerma") if each["outcome"]["d"] == 1)
    assert {edge.relation for edge in edges(execution)} <= {"rf", "rb", "mo"}


@pytest.mark.parametrize("model", ["rdma-tso", "corerma", "pgas", "sc", "tso"])
def test_nothing_lies_on_anything_else(model: str) -> None:
    random = Random(f"pictures {model}")
    dialect = {"corerma": "corerma", "pgas": "corerma", "tso": "tso"}.get(model, "rdma-tso")
    count = 0
    for _ in range(examples(12, nightly=400)):
        test = parse(random_text(random, dialect, statements=8, threads=(2, 3), nodes=(1, 4)))  # type: ignore[arg-type]
        found = asked(model).outcomes(test.program).found
        for execution in list(found.values())[:4]:
            drawn_of = execution_to_json(execution, test)
            check_picture(drawn(drawn_of))
            count += len(edges(drawn_of))
    assert count >= 30


@pytest.mark.parametrize(
    "file", ["corerma/6_in_order_routing", "rdma_tso/3e_store_buffering_gets_polls", "corerma/8_get_put"]
)
def test_pictures_of_what_is_forbidden(file: str) -> None:
    test = parse_file(CORPUS / f"{file}.litmus")
    shown = 0
    for model in ("corerma", "rdma-tso"):
        for why in result_of(test, model)["forbidden"]:
            if why["execution"]:
                check_picture(drawn(why["execution"]))
                shown += 1
    assert shown


def test_lanes_and_boxes() -> None:
    *_, forbidden = executions(REUSE, "rdma-tso")
    picture = drawn(forbidden)
    assert [lane.title for lane in picture.lanes] == ["thread 1 on node 1", "thread 2 on node 2"]
    texts = [(box.heading, [line.strip() for line in box.lines]) for box in picture.boxes]
    assert texts == [
        ("z^2 = x", ["nlR x = 1", "nrW z = 1"]),
        ("poll(2)", ["P"]),
        ("x = 1", ["lW x = 1"]),
        ("a = z", ["lR z = 1"]),
    ]


def test_initial_writes_have_a_lane_where_the_cycle_passes_one() -> None:
    (execution,) = executions("x@1=0 :: 1: a = x", "sc")
    assert [lane.title for lane in drawn(execution).lanes] == ["thread 1 on node 1"]
    execution["cycle"] = [{"source": 0, "target": 1, "relation": "rf", "rule": "rf"}]
    picture = drawn(execution)
    assert [lane.title for lane in picture.lanes] == [INITIALLY, "thread 1 on node 1"]
    assert isinstance(picture.boxes[0], Box) and picture.boxes[0].lines[0].endswith("x = 0")


def test_svg_has_every_event_and_edge() -> None:
    found = executions(FAR, "corerma")
    panels = [panel("first & <last>", ("Initially.",), each) for each in found[:2]]
    svg = executions_svg("two", panels)
    root = ElementTree.fromstring(svg)
    assert "first &amp; &lt;last&gt;" in svg
    namespace = "{http://www.w3.org/2000/svg}"
    groups = [group.get("class") or "" for group in root.iter(f"{namespace}g")]
    assert groups.count("event") == sum(
        len({(event["thread"], event["operation"]) for event in each["events"] if event["thread"] is not None})
        for each in found[:2]
    )
    assert sum(group.startswith("edge ") for group in groups) == sum(len(edges(each)) for each in found[:2])


def test_pictures_of_long_names_hold_all_values() -> None:
    text = f"{LONG}@1=0 {OTHER}@2=0 :: 1: {LONG} = 2147483647; {OTHER}^2 = {LONG}; poll(2) || 2: a = {OTHER}"
    found = executions(text, "rdma-tso")
    for execution in found:
        boxes = [(box.heading, *(line.strip() for line in box.lines)) for box in drawn(execution).boxes]
        assert not any(each.endswith("…") for box in boxes for each in box)
        assert boxes[0][0].endswith("= 2147483647") and boxes[0][1].endswith("= 2147483647")
    svg = executions_svg("long", [panel(values_text(each["outcome"]), (), each) for each in found])
    width = float(re.findall(r'<svg[^>]* width="([\d.]+)"', svg)[0])
    titles = re.findall(r'class="headline"[^>]*>([^<]*)<', svg)
    assert titles and all(20 + 10 * len(title) <= width for title in titles), "bold letters have some 10 pixels"


def test_the_legend_has_program_order_where_there_is_some() -> None:
    told = "program order (po)"
    assert told in executions_svg("t", [panel("t", (), executions("x@1=0 :: 1: x = 1; a = x", "sc")[0])])
    for text in ("x@1=0 :: 1: ", "x@1=0 :: 1: x = 1 || 1: a = x"):
        assert told not in executions_svg("t", [panel("t", (), executions(text, "sc")[0])])


def test_dot_has_every_event_and_edge() -> None:
    *_, forbidden = executions(REUSE, "rdma-tso")
    dot = executions_dot('say "this"', [panel("a=1", (), forbidden)])
    assert r"say \"this\"" in dot
    assert len(re.findall(r"^ +e1_\d+ \[", dot, re.MULTILINE)) == 5
    assert len(re.findall(r"label=\"  \d \w+", dot)) == 4
    assert 'label="  1 ippo (ippo.F7)  "' in dot
    assert dot.count("{") == dot.count("}")


def test_the_entries_of_a_legend_share_a_line_as_long_as_there_is_room() -> None:
    def heights(legend: list[str]) -> list[float]:
        (execution, *_) = executions(REUSE, "rdma-tso")
        text = panels_svg("test", "", [replace(panel("", [], execution), legend=legend)], {})
        found = [each for each in ElementTree.fromstring(text).iter() if each.get("class") == "legend"]
        return [float(each.get("y", "")) for each in found]

    assert len(set(heights(["one", "two", "three"]))) == 1
    assert len(set(heights(["two" * 40, "three"]))) == 2
