"""Execution graphs of litmus tests: which edges are drawn, that nothing lies on anything else, text at two widths."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest

from pgasrob.models.answers import Answer, answer
from pgasrob.models.known import asked
from pgasrob.models.litmus.expectation import LitmusTest
from pgasrob.models.litmus.parser import parse, parse_file
from pgasrob.render.diagram.badges import BADGE
from pgasrob.render.executions.dot import executions_dot
from pgasrob.render.executions.edges import edges
from pgasrob.render.executions.layout import INITIALLY, Box, Picture, fitted, label_width, layout
from pgasrob.render.executions.svg import Panel, executions_svg
from pgasrob.render.lines import ASCII, plain
from pgasrob.render.litmus import comparison_report, execution_report, litmus_report, rules_told
from pgasrob.render.litmus_json import ExecutionObject, LitmusResult, execution_to_json, litmus_to_json, values_text
from pgasrob.robustness.limits import Limits
from tests.models.strategies import random_text
from tests.support import examples

CORPUS = Path(__file__).parents[2] / "programs" / "litmus"
REUSE = "x@1=0, z@2=0 :: 1: z^2 = x; poll(2); x = 1 || 2: a = z\nforbidden rdma-tso: a=1"
FAR = """
x@1=0 y@2=0 z@3=0 :: 1: y^2 = 1; flush(2); z^3 = 1 || 2: a = y; x^1 = 1; b = y; flush(1); c = y ||
3: d = z; e = x^1; flush(1); e2 = e
"""


def result_of(test: LitmusTest, model: str, asked_for: tuple[tuple[str, int], ...] = ()) -> LitmusResult:
    found: Answer = answer(test, asked(model), Limits(), [asked_for] if asked_for else [])
    return litmus_to_json("test.litmus", found, executions=True)


def executions(text: str, model: str) -> list[ExecutionObject]:
    result = result_of(parse(text), model)
    forbidden = [why["execution"] for why in result["forbidden"] if why["execution"]]
    return [*result["executions"], *forbidden]


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
        half = label_width(way.edge.label) / 2
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
    drawn = [(edge.number, edge.relation, edge.rule) for edge in edges(forbidden)]
    assert drawn[-4:] == [(1, "ippo", "ippo.F7"), (2, "pf", "ib.pf"), (3, "ippo", "ippo.E2"), (4, "rf", "ib.rf")]
    assert [edge[:2] for edge in drawn[:-4]] == [(None, "rf")]


def test_what_follows_from_others_is_not_drawn() -> None:
    (execution,) = executions("x@1=0 :: 1: x = 1; x = 2; x = 3; a = x", "sc")
    drawn = {(edge.relation, edge.source - 1, edge.target - 1) for edge in edges(execution)}
    assert drawn == {("mo", 0, 1), ("mo", 1, 2), ("rf", 2, 3)}, "nothing of the initial value, and mo by steps"
    execution = next(each for each in executions(FAR, "corerma") if each["outcome"]["d"] == 1)
    assert {edge.relation for edge in edges(execution)} <= {"rf", "rb", "mo"}


@pytest.mark.parametrize("model", ["rdma-tso", "corerma", "pgas", "sc", "tso"])
def test_nothing_lies_on_anything_else(model: str) -> None:
    random = Random(f"pictures {model}")
    dialect = {"corerma": "corerma", "pgas": "corerma", "tso": "tso"}.get(model, "rdma-tso")
    drawn = 0
    for _ in range(examples(12, nightly=400)):
        test = parse(random_text(random, dialect, statements=8, threads=(2, 3), nodes=(1, 4)))  # type: ignore[arg-type]
        found = asked(model).outcomes(test.program).found
        for execution in list(found.values())[:4]:
            drawn_of = execution_to_json(execution, test)
            check_picture(layout(drawn_of))
            drawn += len(edges(drawn_of))
    assert drawn >= 30


@pytest.mark.parametrize(
    "file", ["corerma/6_in_order_routing", "rdma_tso/3e_store_buffering_gets_polls", "corerma/8_get_put"]
)
def test_pictures_of_what_is_forbidden(file: str) -> None:
    test = parse_file(CORPUS / f"{file}.litmus")
    shown = 0
    for model in ("corerma", "rdma-tso"):
        for why in result_of(test, model)["forbidden"]:
            if why["execution"]:
                check_picture(layout(why["execution"]))
                shown += 1
    assert shown


def test_lanes_and_boxes() -> None:
    *_, forbidden = executions(REUSE, "rdma-tso")
    picture = layout(forbidden)
    assert [lane.title for lane in picture.lanes] == ["thread 1 on node 1", "thread 2 on node 2"]
    texts = [(box.text, [told for _, told in box.events]) for box in picture.boxes]
    assert texts == [
        ("z^2 = x", ["nlR x = 1", "nrW z = 1"]),
        ("poll(2)", ["P"]),
        ("x = 1", ["lW x = 1"]),
        ("a = z", ["lR z = 1"]),
    ]


def test_initial_writes_have_a_lane_where_the_cycle_passes_one() -> None:
    (execution,) = executions("x@1=0 :: 1: a = x", "sc")
    assert [lane.title for lane in layout(execution).lanes] == ["thread 1 on node 1"]
    execution["cycle"] = [{"source": 0, "target": 1, "relation": "rf", "rule": "rf"}]
    picture = layout(execution)
    assert [lane.title for lane in picture.lanes] == [INITIALLY, "thread 1 on node 1"]
    assert isinstance(picture.boxes[0], Box) and picture.boxes[0].events[0][1].endswith("x = 0")


def test_svg_has_every_event_and_edge() -> None:
    found = executions(FAR, "corerma")
    panels = [Panel("first & <last>", ("Initially.",), each) for each in found[:2]]
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


LONG = "a_very_long_location_name_number_one_of_this"
OTHER = "another_quite_long_location_name_of_this_test"


@pytest.mark.parametrize(
    ("text", "room", "told"),
    [
        (f"lW {LONG} = 2147483647", 42, "lW a_very_long_l…_one_of_this = 2147483647"),
        (f"CAS {LONG}: -2147483648 -> 2147483647", 42, "CAS a_ver…_this: -2147483648 -> 2147483647"),
        (f"{LONG} = {OTHER}", 44, "a_very_lon…e_of_this = another_qu…this_test"),
        ("x = y + z", 8, "x = y +…"),
        ("lW x = 1", 42, "lW x = 1"),
    ],
)
def test_long_names_lose_their_middle(text: str, room: int, told: str) -> None:
    assert fitted(text, room) == told and len(told) <= room


def test_pictures_of_long_names_hold_all_values() -> None:
    text = f"{LONG}@1=0 {OTHER}@2=0 :: 1: {LONG} = 2147483647; {OTHER}^2 = {LONG}; poll(2) || 2: a = {OTHER}"
    found = executions(text, "rdma-tso")
    for execution in found:
        boxes = [(box.text, *(told for _, told in box.events)) for box in layout(execution).boxes]
        assert not any(each.endswith("…") for box in boxes for each in box)
        assert boxes[0][0].endswith("= 2147483647") and boxes[0][1].endswith("= 2147483647")
    svg = executions_svg("long", [Panel(values_text(each["outcome"]), (), each) for each in found])
    width = float(re.findall(r'<svg[^>]* width="([\d.]+)"', svg)[0])
    titles = re.findall(r'class="headline"[^>]*>([^<]*)<', svg)
    assert titles and all(20 + 10 * len(title) <= width for title in titles), "bold letters have some 10 pixels"


def test_the_legend_has_program_order_where_there_is_some() -> None:
    told = "program order (po)"
    assert told in executions_svg("t", [Panel("t", (), executions("x@1=0 :: 1: x = 1; a = x", "sc")[0])])
    for text in ("x@1=0 :: 1: ", "x@1=0 :: 1: x = 1 || 1: a = x"):
        assert told not in executions_svg("t", [Panel("t", (), executions(text, "sc")[0])])


def test_lines_break_at_blanks() -> None:
    """Also where a program has more locations, or longer statements, than there is room for on a line."""
    names = " ".join(f"x{number}@1={number}" for number in range(30))
    statement = f"x1 = {' + '.join(f'x{number}' for number in range(2, 30))}"
    text = f"{names} :: 1: {statement} || 1: x0 = x1; z^2 = x0"
    result = result_of(parse(f"z@2=0 {text}\nallowed {names.replace('@1', '')}"), "sc")
    for width in range(40, 100, 7):
        lines = plain(litmus_report([result], width)).splitlines()
        assert all(len(line) <= width for line in lines)
        said = " ".join(" ".join(lines).split())
        assert text.replace(" ||", "; ||") in said and f"allowed {names.replace('@1', '')}: " in said
        assert " x2=2 x3=3 x4=4 " in said


def test_dot_has_every_event_and_edge() -> None:
    *_, forbidden = executions(REUSE, "rdma-tso")
    dot = executions_dot('say "this"', [Panel("a=1", (), forbidden)])
    assert r"say \"this\"" in dot
    assert len(re.findall(r"^ +e1_\d+ \[", dot, re.MULTILINE)) == 5
    assert len(re.findall(r"label=\"  \d \w+", dot)) == 4
    assert 'label="  1 ippo (ippo.F7)  "' in dot
    assert dot.count("{") == dot.count("}")


@pytest.mark.parametrize("width", [80, 120])
def test_reports_keep_to_the_width(width: int) -> None:
    for path in sorted(CORPUS.rglob("*.litmus"))[::9]:
        test = parse_file(path)
        results = [
            result_of(test, model) for model in ("corerma", "corerma without IR", "rdma-tso", "rdma-tso no-pcie", "sc")
        ]
        lines = litmus_report(results, width, others=["tso"])
        lines += comparison_report(results[0], results[4], width)
        for result in results:
            for execution in result["executions"]:
                lines += execution_report("An execution:", execution, width)
        for line in plain(lines).splitlines():
            assert len(line) <= width, (path, line)


def test_a_terminal_without_unicode() -> None:
    text = plain(litmus_report([result_of(parse(REUSE), "rdma-tso")], 80, ASCII))
    assert text.isascii()


def test_what_rules_are_called() -> None:
    assert rules_told([]) == "no execution at all has these values."
    assert rules_told([["IR"]]) == "by IR."
    assert rules_told([["IR"], ["F2", "PG"]]) == "by IR, or by F2 and PG together."
    assert rules_told([[f"R{number}"] for number in range(14)]).endswith("or by 8 other sets of rules.")
