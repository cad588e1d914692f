"""The space-time diagram: where everything stands, that nothing stands on anything else, and that all is there once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest

from pgasrob.api import check
from pgasrob.batch.job import Job, find_programs
from pgasrob.drawing.channels import MOST_TRACKS, snapped
from pgasrob.drawing.labels import BADGE, Line
from pgasrob.drawing.measure import LINE, PADDING, cut, width_of
from pgasrob.program import statements
from pgasrob.program.parser import parse
from pgasrob.program.reading import DEFAULT_READING
from pgasrob.render import words
from pgasrob.render.diagram.boxes import LONGEST
from pgasrob.render.diagram.folding import fold
from pgasrob.render.diagram.model import NUMBER, Box, Diagram, edges, shown
from pgasrob.render.diagram.run_layout import MOST_LANES, layout
from pgasrob.render.run_json import Event, Witness
from pgasrob.render.verdict_json import Result, to_json
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.load import load
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from tests.render.test_verdict_json import DEADLOCK, ONE_TO_ONE
from tests.support import calls, check_all, sampled, violation_alone

ROOT = Path(__file__).parents[3]
Rectangle = tuple[float, float, float, float]  # left, top, right, bottom


@cache
def result_of(text: str, nodes: int | None = None, engine: str = "product") -> Result:
    return violation_alone(to_json(check(parse(text, "example.pgas"), nodes, engine)))


def diagram_of(text: str, nodes: int | None = None, engine: str = "product") -> Diagram:
    witness = shown(result_of(text, nodes, engine))
    assert witness is not None
    return layout(witness)


def corpus(name: str, nodes: int | None = None) -> Result:
    """The result for a program of the corpus, by the default engine."""
    path = ROOT / "programs" / name
    found = next(iter(check_all([str(path)], Job(nodes=None if nodes is None else range(nodes, nodes + 1)))))
    return violation_alone(to_json(found.verdict))


@cache
def with_runs() -> list[tuple[str, Witness]]:
    """The runs that an eighth of the corpus has to show, with --nightly all of it. Programs that are robust and have no
    deadlock or fault have none."""
    files = [
        path
        for path in map(Path, find_programs([str(ROOT / "programs")])[0])
        if "// expect: robust\n" not in (text := path.read_text()) or "deadlock" in text
    ]
    runs = []
    for checked in check_all(list(map(str, sampled(files, 8))), Job(limits=Limits(max_states=30_000))):
        result = to_json(checked.verdict)
        for run in (result["witness"], result["assertion_run"], result["deadlock_run"], result.get("effect_run")):
            if run:
                runs.append((checked.file, run))
    return runs


# --- What stands where ------------------------------------------------------------------------------------------------


def text_of(box: Box) -> str:
    return "\n".join("".join(text for text, _ in line) for line in box.lines)


def test_one_to_one() -> None:
    diagram = diagram_of(ONE_TO_ONE)
    assert [lane.rank for lane in diagram.lanes] == [0, 1]
    witness = shown(result_of(ONE_TO_ONE))
    assert witness is not None
    for box, event in zip(diagram.boxes, witness["computation"], strict=True):
        step = event["event"].startswith("pop")
        assert (box.kind == "step") is step
        lane = event["address"]["rank"] if step and event["address"] else event["rank"]
        assert diagram.lanes[box.lane].rank == lane  # a step stands where it takes effect
    arrived = [box for box in diagram.boxes if "popb  y@1" in text_of(box)]
    assert [box.lane for box in arrived] == [1]
    assert diagram.boxes[0].lines[0][:2] == (("6  ", "line"), ("write(x, 1, y, q)", "command"))
    assert any(len(row.places) == 2 for row in diagram.rows)
    loads = [text_of(box) for box in diagram.boxes if "mem[y]" in box.full]
    assert loads == ["8  r <- mem[y]  reads y@0 = 0; r stays 0\n   {leave}"]
    assert sorted(line.number for line in diagram.lines if line.number) == [1, 2, 3, 4, 5]


def test_the_cycle_is_numbered_from_the_surprise() -> None:
    result = result_of(ONE_TO_ONE)
    witness = shown(result)
    assert witness is not None and witness["cycle"] is not None
    diagram = layout(witness)
    cycle = sorted((line for line in diagram.lines if line.number), key=lambda line: line.number or 0)
    first = witness["computation"][cycle[0].source]
    assert cycle[0].relation == "cf" and first["event"] == "load"
    for line, following in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        assert line.target == following.source
    assert len(cycle) == len(witness["cycle"])


def test_edges_are_those_of_happens_before_and_the_rest_of_the_cycle() -> None:
    witness = shown(result_of(ONE_TO_ONE))
    assert witness is not None
    found = edges(witness, fold(witness, False))
    relation = {(edge["from"], edge["to"], edge["relation"]) for edge in witness["happens_before"]}
    beyond = [edge for edge, _ in found if (edge["from"], edge["to"], edge["relation"]) not in relation]
    reversed_ = [edge for edge in beyond if (edge["to"], edge["from"], edge["relation"]) in relation]
    assert all(edge["relation"] == "id" for edge in reversed_)
    assert len(found) == len(relation) + len(beyond) - len(reversed_)
    # Identity of the cycle goes from the arrival straight to the issue, which are no neighbours.
    assert [edge["relation"] for edge in beyond if edge not in reversed_] == ["id"]


def test_a_deadlock_shows_where_the_ranks_stand() -> None:
    result = result_of(DEADLOCK, 3, "attack")
    run = result["deadlock_run"]
    assert run is not None
    diagram = layout(run)
    assert [box.lane for box in diagram.ends] == [0, 1, 2]
    assert text_of(diagram.ends[2]) == "has ended"
    assert "stands before await" in text_of(diagram.ends[1])
    below = max(box.y + box.height for box in diagram.boxes)
    assert all(box.y > below and box.place == -1 for box in diagram.ends)


def test_a_fault_shows_its_command() -> None:
    diagram = diagram_of("register r; memory x; process { r <- mem[x]; r <- 1 / r; }", 1, "attack")
    (end,) = diagram.ends
    assert end.kind == "fault" and "1 / r" in text_of(end) and "division by zero" in text_of(end)


def test_an_atomic_on_another_rank_reaches_there() -> None:
    witness = shown(corpus("mcs_lock/mcs_lock_fifo.pgas"))
    assert witness is not None
    reaching = [box for box in layout(witness).boxes if box.reach is not None]
    assert reaching and all(box.kind == "issued" and box.reach == 0 and box.lane == 1 for box in reaching)


def event(kind: str, rank: int, operation: int, cell: tuple[int, int] | None = None, **more: Any) -> Event:
    address = None if cell is None else {"rank": cell[0], "index": cell[1], "name": f"cell{cell[1]}"}
    made: dict[str, Any] = {
        "event": kind, "rank": rank, "operation": operation, "address": address, "line": 3, "column": 1, "end_line": 3,
        "end_column": 2, "command": "write(x, 1, y, q)", "read": None, "written": None, "register": None,
        "queue": None, "target": None, "holds": None, "part": None, "marks": None,
    }  # fmt: skip
    return made | more  # type: ignore[return-value]


def run(events: list[Event], nodes: int, happens_before: Any = ()) -> Witness:
    """A simulated run of ``events``."""
    return {
        "shows": "run", "nodes": nodes, "computation": events, "cycle": None, "cycle_type": None, "complete": True,
        "memory": [], "registers": [], "standing": [], "fault": None, "source": "", "irreducible": None,
        "sequential": None,
        "happens_before": [{"from": a, "to": b, "relation": relation} for a, b, relation in happens_before],
    }  # fmt: skip


def long_run(operations: int, nodes: int) -> Witness:
    """All writes are issued before any step is done, and every cell is written over and over."""
    events: list[Event] = []
    for turn in range(operations):
        events.append(event("write", turn % nodes, turn // nodes))
    for kind, offset in (("popa", 0), ("popb", 1)):
        for turn in range(operations):
            rank = (turn + offset) % nodes
            value = {"cell": f"cell{offset}@{rank}", "before": -(2**63), "after": 2**63 - 1} if offset else None
            events.append(event(kind, turn % nodes, turn // nodes, (rank, offset), read=1, written=value))
    order: list[tuple[int, int, str]] = []
    for turn in range(operations):
        if turn + nodes < operations:
            order.append((turn, turn + nodes, "po"))
            order.append((2 * operations + turn, 2 * operations + turn + nodes, "cf"))
        order.append((turn, turn + operations, "id"))
        order.append((turn + operations, turn + 2 * operations, "id"))
    return run(events, nodes, order)


def test_a_run_without_events() -> None:
    diagram = layout(run([], 1))
    assert not diagram.boxes and not diagram.lines and [lane.rank for lane in diagram.lanes] == [0]
    assert diagram.width > 0 < diagram.height


def test_of_many_ranks_only_those_that_take_part_have_a_lane() -> None:
    few = layout(run([event("write", 3, 0)], MOST_LANES))
    assert [lane.rank for lane in few.lanes] == list(range(MOST_LANES))
    many = layout(run([event("write", 3, 0), event("popb", 3, 0, (60, 0))], 64))
    assert [lane.rank for lane in many.lanes] == [3, 60]


def test_a_long_command_is_cut_and_given_in_full() -> None:
    command = "shmem_put(" + "x" * 200 + ")"
    (box,) = layout(run([event("write", 0, 0, command=command)], 1)).boxes
    (line,) = text_of(box).splitlines()
    assert len(line) == LONGEST and line.endswith("…") and command in box.full


@pytest.mark.parametrize("room", [14, 16, 24])
def test_a_command_begins_below_the_name_of_its_file_where_that_takes_its_room(room: int) -> None:
    place = statements.Line(12, "/src/06_exchange.c", "06_exchange.c")
    (box,) = layout(run([event("write", 0, 0, line=place, read=7)], 1), room=room).boxes
    lines = [line.strip() for line in text_of(box).splitlines()]
    assert lines[0] == "06_exchange.c:12" and max(map(len, lines)) <= max(room, len(lines[0]))
    assert "".join(lines[1:]).replace(" ", "") == "write(x,1,y,q)reads=7"


def test_long_values_are_never_cut() -> None:
    diagram = layout(long_run(2, 2))
    arrived = text_of(diagram.boxes[-1]).replace("\n", " ")
    assert "cell1@0: -9223372036854775808 → 9223372036854775807" in arrived
    assert all(line == line.strip() for box in diagram.boxes[2:] for line in text_of(box).splitlines())


def test_lines_of_text_end_where_they_may() -> None:
    load = event("load", 0, 0, (0, 0), read=123456, register={"name": "r", "before": 0, "after": 123456})
    load["address"] = {"rank": 0, "index": 0, "name": "a_name_of_twenty-eight_chars"}
    (box,) = layout(run([load], 1)).boxes
    told = [line.strip() for line in text_of(box).splitlines()[1:]]
    assert told == ["reads", "a_name_of_twenty-eight_chars@0 = 123456;", "r: 0 → 123456"]


def test_the_line_to_another_rank_lies_on_no_other() -> None:
    swap = event("swap", 1, 0, (0, 0), read=1, written={"cell": "cell0@0", "before": 1, "after": 2})
    diagram = check_diagram(run([event("store", 0, 0, (0, 0)), swap], 2, [(0, 1, "cf")]))
    assert diagram.boxes[1].reach == 0 and diagram.boxes[1].lane == 1


def test_wide_letters_take_two_places() -> None:
    assert width_of("漢字") == width_of("four") and width_of("e\u0301") == width_of("e")
    assert cut("漢字漢字", 5) == "漢字…" and cut("short", 5) == "short"


def test_barriers_that_follow_one_another_have_a_row_each() -> None:
    events = [event("barrier", rank, turn) for turn in range(2) for rank in range(3)]
    assert [row.places for row in layout(run(events, 3)).rows] == [(0, 1, 2), (3, 4, 5)]


# --- Rows that are shared, bands --------------------------------------------------------------------------------------


def rows_of(diagram: Diagram) -> list[tuple[int, ...]]:
    return [row.places for row in diagram.rows]


def test_what_is_not_ordered_shares_a_row() -> None:
    assert rows_of(diagram_of(ONE_TO_ONE)) == [(0, 2), (1, 3), (4, 5), (6,), (7, 8)]
    witness = shown(corpus("halo/halo_no_wait.pgas", 4))
    assert witness is not None
    assert len(witness["computation"]) == 33 and len(layout(witness).rows) == 12


def test_what_does_not_share_a_row() -> None:
    def store(rank: int, operation: int, cell: tuple[int, int], kind: str = "store") -> Event:
        return event(kind, rank, operation, cell)

    # One after the other in a rank, on a cell, or at memory of one rank; a part, or a barrier, begins a row.
    assert rows_of(layout(run([store(0, 0, (0, 0)), store(1, 0, (1, 0))], 2))) == [(0, 1)]
    assert rows_of(layout(run([store(0, 0, (0, 0)), store(0, 1, (0, 1))], 2))) == [(0,), (1,)]
    pending = [event("write", 0, 0), store(0, 0, (1, 0), "popb"), event("assign", 0, 1), store(1, 0, (1, 1))]
    assert rows_of(layout(run(pending, 2))) == [(0, 3), (1,), (2,)]  # a step stays behind what its rank did
    same = [event("write", 0, 0), store(0, 0, (1, 0), "popb"), store(1, 0, (1, 0))]
    assert rows_of(layout(run(same, 2))) == [(0,), (1,), (2,)]
    parts = [store(0, 0, (0, 0)) | {"part": 1}, store(1, 0, (1, 0)) | {"part": 2}]
    assert rows_of(layout(run(parts, 2))) == [(0,), (1,)]  # type: ignore[arg-type]
    barrier = [store(0, 0, (0, 0)), event("barrier", 0, 1), event("barrier", 1, 0), store(1, 1, (1, 0))]
    assert rows_of(layout(run(barrier, 2))) == [(0,), (1, 2), (3,)]


def test_nothing_stands_where_a_line_crosses_its_lane() -> None:
    """An atomic on memory two lanes away, and a step whose issue is two lanes away, have the lane between to them."""
    swap = event("swap", 0, 0, (2, 0))
    assert rows_of(layout(run([swap, event("assign", 1, 0)], 3))) == [(0,), (1,)]
    write = [event("write", 0, 0), event("popb", 0, 0, (2, 0)), *(event("assign", 1, turn) for turn in range(3))]
    assert rows_of(layout(run(write, 3, [(0, 1, "id")]))) == [(0, 2), (1,), (3,), (4,)]


@pytest.mark.parametrize(
    ("name", "nodes", "reordered"),
    [
        ("halo/halo_no_wait.pgas", 4, True),
        ("iriw/iriw_get_unordered.pgas", 4, True),
        ("mcs_lock/mcs_lock_late_reset.pgas", 2, True),
        ("notification/later_write.pgas", 2, False),
        ("c/openshmem/message_passing_no_fence.c", 2, False),
    ],
)
@pytest.mark.parametrize("cycle_only", [False, True])
def test_read_row_by_row_it_is_a_run_with_the_same_relation(
    name: str, nodes: int, reordered: bool, cycle_only: bool
) -> None:
    """The judge replays what the rows say, and finds the same edges and values."""
    program = load(str(ROOT / "programs" / name))
    instance = program.instantiate(nodes, DEFAULT_READING)
    verdict = check(program, nodes)
    witness = shown(violation_alone(to_json(verdict)))
    assert verdict.witness is not None and witness is not None
    order = [place for row in layout(witness, cycle_only).rows for place in row.places]
    computation = verdict.witness.run.computation
    assert (order != sorted(order)) == reordered or cycle_only
    again = replay(instance, tuple(computation[place] for place in order))
    assert [each.read for each in again.events] == [verdict.witness.run.events[place].read for place in order]
    found = {(order[edge.source], order[edge.target], edge.relation) for edge in HappensBefore(again.computation).edges}
    wanted = {tuple(edge) for edge in HappensBefore(computation).edges}
    assert {unordered(*edge) for edge in found} == {unordered(*edge) for edge in wanted}


def test_what_the_cycle_does_not_pass_is_folded() -> None:
    witness = shown(corpus("halo/halo_no_wait.pgas", 4))
    assert witness is not None
    diagram = check_diagram(witness, cycle_only=True)
    assert [text_of(band) for band in diagram.bands] == [
        "steps 1–22: 22 events of ranks 0–3",
        "steps 25–26: 2 events of rank 3",
        "step 33: 1 event of rank 3",
    ]
    assert "(rank 0 7, rank 1 7, rank 2 7, rank 3 1)" in diagram.bands[0].full
    # The cycle, the issue and the other step of its write, and its barrier on the ranks that take part.
    assert [box.place + 1 for box in diagram.boxes] == [23, 24, 27, 30, 31, 32]
    assert [lane.rank for lane in diagram.lanes] == [0, 3]
    assert words.cycle_steps(witness) < {box.place for box in diagram.boxes}
    assert len(diagram.rows) == 8


def test_where_the_room_is_given_nothing_is_shortened() -> None:
    witness = shown(corpus("halo/halo_no_wait.pgas", 4))
    assert witness is not None
    for room in (14, 20):
        diagram = layout(witness, cycle_only=True, room=room)
        texts = [text_of(box) for box in (*diagram.boxes, *diagram.bands)]
        assert "…" not in "".join(texts)
        assert all(len(line) <= room for text in texts for line in text.split("\n"))


def test_there_are_as_few_bands_as_can_be() -> None:
    """What is folded moves past what it has nothing to do with, and past nothing else."""

    def folded(*events: Event) -> list[str]:
        witness = run(list(events), 4)
        on_cycle = [place for place, each in enumerate(events) if each["line"] == 9]
        witness["cycle"] = [{"from": one, "to": other, "relation": "cf"} for one, other in pairwise(on_cycle * 2)]
        return [text_of(band) for band in layout(witness, cycle_only=True).bands]

    def drawn(rank: int, operation: int, **more: Any) -> Event:
        return event("store", rank, operation, (rank, 0), line=9, **more)

    def other(rank: int, operation: int, **more: Any) -> Event:
        return event("store", rank, operation, more.pop("cell", (rank, 1)), **more)

    assert folded(other(0, 0), drawn(1, 0), other(2, 0), drawn(0, 1)) == ["steps 1, 3: 2 events of ranks 0, 2"]
    assert folded(drawn(0, 0), other(0, 1), drawn(0, 2)) == ["step 2: 1 event of rank 0"]
    same = folded(other(2, 0), drawn(0, 0), other(1, 0, cell=(0, 0)), drawn(0, 1))
    assert same == ["step 1: 1 event of rank 2", "step 3: 1 event of rank 1"]
    parts = folded(other(2, 0, part=1), drawn(0, 0, part=1), other(1, 0, part=2), drawn(0, 1, part=2))
    assert parts == ["step 1: 1 event of rank 2", "step 3: 1 event of rank 1"]
    barrier = [event("barrier", rank, 1, line=9 if rank < 2 else 3) for rank in range(4)]
    assert folded(*(other(rank, 0) for rank in range(4)), *barrier, *(other(rank, 2) for rank in range(4))) == [
        "steps 1–4: 4 events of ranks 0–3",
        "steps 9–12: 4 events of ranks 0–3",
    ]
    turns = [each for turn in range(6) for each in (other(2, turn), drawn(turn % 2, turn))]
    assert folded(*turns) == ["steps 1–11 (not all): 6 events of rank 2"]


def test_program_order_passes_a_band() -> None:
    events = [event("store", 0, turn, (0, turn % 4)) for turn in range(6)]
    order = [(turn, turn + 1, "po") for turn in range(5)]
    witness = run(events, 40, order)
    witness["cycle"] = [
        {"from": 1, "to": 4, "relation": "po"},
        {"from": 4, "to": 5, "relation": "po"},
        {"from": 5, "to": 1, "relation": "cf"},
    ]
    diagram = layout(witness, cycle_only=True)
    assert [text_of(band) for band in diagram.bands] == ["step 1: 1 event of rank 0", "steps 3–4: 2 events of rank 0"]
    assert [(line.source, line.target, line.relation) for line in diagram.lines if line.relation == "po"] == [
        (1, 4, "po"),
        (4, 5, "po"),
    ]
    assert rows_of(diagram) == [(0,), (1,), (2, 3), (4,), (5,)]


def test_without_a_cycle_nothing_is_folded() -> None:
    deadlock = result_of(DEADLOCK, 3, "attack")["deadlock_run"]
    assert deadlock is not None
    assert layout(deadlock, cycle_only=True) == layout(deadlock)


def test_a_rank_that_is_folded_away_has_no_lane() -> None:
    cells = [(0, 0), (1, 0), (2, 0), (0, 0), (3, 0)]
    events = [
        event("store", rank, turn, cell) for turn, (rank, cell) in enumerate(zip((0, 1, 2, 2, 3), cells, strict=True))
    ]
    witness = run(events, 4)
    assert [lane.rank for lane in layout(witness).lanes] == [0, 1, 2, 3]
    witness["cycle"] = [{"from": 0, "to": 3, "relation": "cf"}, {"from": 3, "to": 0, "relation": "cf"}]
    assert [lane.rank for lane in layout(witness, cycle_only=True).lanes] == [0, 2]


# --- Nothing on anything else -----------------------------------------------------------------------------------------


def texts(diagram: Diagram) -> Iterator[Rectangle]:
    """The place of every text of the diagram."""
    for box in (*diagram.boxes, *diagram.bands, *diagram.ends):
        top = box.y + (box.height - len(box.lines) * LINE) / 2
        for index, line in enumerate(box.lines):
            width = sum(width_of(text) for text, _ in line)
            assert width <= box.width - 2 * PADDING + 0.01
            yield box.x + PADDING, top + index * LINE, box.x + PADDING + width, top + (index + 1) * LINE
    for box in diagram.boxes:
        end = diagram.lanes[box.lane].number_end(box)
        yield end - NUMBER * len(str(box.place + 1)), box.y - 11, end, box.y
    for lane in diagram.lanes:
        yield lane.x, 5, lane.x + width_of(f"rank {lane.rank}"), 22
    for line in diagram.lines:
        if line.badge:
            yield badge_of(line, diagram)
    for part in diagram.parts:
        yield 6, part.y + 6, 26, part.y + 22


def badge_of(line: Line, diagram: Diagram) -> Rectangle:
    assert line.badge is not None
    x, y = line.badge
    return x - diagram.badge / 2, y - BADGE / 2, x + diagram.badge / 2, y + BADGE / 2


def overlap(one: Rectangle, other: Rectangle) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def overlaps(rectangles: list[Rectangle]) -> list[tuple[Rectangle, Rectangle]]:
    rectangles = sorted(rectangles, key=lambda each: each[1])
    found = []
    for index, one in enumerate(rectangles):
        for other in rectangles[index + 1 :]:
            if other[1] >= one[3]:
                break
            if overlap(one, other):
                found.append((one, other))
    return found


def frame(box: Box) -> Rectangle:
    return box.x, box.y, box.x + box.width, box.y + box.height


def stretches(line: Line) -> Iterator[Rectangle]:
    """The pieces of a line, each a rectangle without breadth."""
    for (x, y), (u, v) in pairwise(line.points):
        assert x == u or y == v
        yield min(x, u), min(y, v), max(x, u), max(y, v)


def check_diagram(witness: Witness, cycle_only: bool = False) -> Diagram:
    """Lays ``witness`` out and asserts all that holds of every diagram."""
    diagram = layout(witness, cycle_only)
    events = witness["computation"]
    # Everything is there, once: as a box or in a band; of a barrier only the ranks that have a lane.
    at = {box.place: box for box in diagram.boxes}
    banded = [place for band in diagram.bands for place in band.folded]
    lanes = {lane.rank for lane in diagram.lanes}
    aside = [place for place, event in enumerate(events) if event["event"] == "barrier" and event["rank"] not in lanes]
    assert sorted({*at, *banded, *aside}) == list(range(len(events))) and len(at) + len(banded) >= len(events) - len(
        aside
    )
    assert diagram.bands or not aside
    assert sorted(place for row in diagram.rows for place in row.places) == list(range(len(events)))
    for number, row in enumerate(diagram.rows):
        assert {at[place].row if place in at else number for place in row.places} == {number}
        assert at.keys() & set(row.places) or set(row.places) <= set(banded), "each row shows something"
    check_time(diagram, witness)
    happens_before = [edge for edge in witness["happens_before"] if edge["from"] in at and edge["to"] in at]
    passing = list(fold(witness, cycle_only).edges(witness))
    relation = Counter((edge["from"], edge["to"], edge["relation"]) for edge in happens_before + passing)
    cycle = Counter((edge["from"], edge["to"], edge["relation"]) for edge in witness["cycle"] or ())
    drawn = Counter((line.source, line.target, line.relation) for line in diagram.lines)
    wanted = {unordered(*edge) for edge in (*relation, *cycle)}
    assert Counter(unordered(*edge) for edge in drawn) == Counter(wanted)
    assert Counter((line.source, line.target, line.relation) for line in diagram.lines if line.number) == cycle
    numbers = sorted(line.number for line in diagram.lines if line.number)
    assert numbers == list(range(1, len(witness["cycle"] or ()) + 1))
    assert all((line.badge is not None) == (line.number is not None) for line in diagram.lines)
    # Nothing lies on anything else.
    assert not overlaps(list(texts(diagram)))
    boxes = [frame(box) for box in (*diagram.boxes, *diagram.ends)]
    assert not overlaps(boxes)
    badges = [badge_of(line, diagram) for line in diagram.lines if line.badge]
    assert not [box for box in boxes for badge in badges if overlap(box, badge)]
    inside = (0.0, 0.0, diagram.width, diagram.height)
    assert all(box[0] >= inside[0] and box[2] <= inside[2] and box[3] <= inside[3] for box in boxes + badges)
    # Lines touch the boxes of their events and run through none.
    bands = [frame(band) for band in diagram.bands]  # a line may pass a band, but not its text
    tops = sorted([*boxes, *bands], key=lambda box: box[1])
    for line in diagram.lines:
        for x, y in (line.points[0], line.points[-1]):
            assert 0 <= x <= diagram.width and 0 <= y <= diagram.height
        assert on_edge(line.points[0], frame(at[line.source]))
        assert on_edge(line.points[-1], frame(at[line.target]))
        for piece in stretches(line):
            met = [box for box in tops if overlap(box, piece) or crossed(box, piece)]
            assert not met, (line, met)
    assert not confused(diagram)
    return diagram


def check_time(diagram: Diagram, witness: Witness) -> None:
    """Nothing stands above what it has to come after: read row by row, the diagram is a run with the same relation."""
    events = witness["computation"]
    row_of = {place: number for number, row in enumerate(diagram.rows) for place in row.places}
    barriers = {place: row for row in words.rows(events) if events[row[0]]["event"] == "barrier" for place in row}
    bands = {band.row for band in diagram.bands}
    for edge in witness["happens_before"]:
        earlier, later = sorted((edge["from"], edge["to"]))
        together = later in barriers.get(earlier, ()) or row_of[later] in bands
        assert row_of[earlier] < row_of[later] or (together and row_of[earlier] == row_of[later])
    last: dict[Any, int] = {}
    for place, each in enumerate(events):
        address = each["address"]
        for key in {each["rank"], (address["rank"], address["index"]) if address else each["rank"]}:
            row = last.get(key, -1)
            assert row < row_of[place] or row == row_of[place] in bands
            last[key] = row_of[place]
    parts = [row.part for row in diagram.rows if row.part is not None]
    assert parts == sorted(parts)


def confused(diagram: Diagram) -> list[tuple[Line, Line]]:
    """Lines that lie on one another sideways, though they are not of one kind from or to one event."""
    across: dict[float, list[tuple[float, float, Line]]] = {}
    for line in diagram.lines:
        for left, top, right, bottom in stretches(line):
            if top == bottom:
                across.setdefault(top, []).append((left, right, line))
    for box in diagram.boxes:
        if box.reach is not None:  # the line to the memory of another rank is none of happens-before
            reach = Line(box.place, box.place, "reach", ())
            ends = sorted((box.x + box.width * (box.reach > box.lane), diagram.lanes[box.reach].axis))
            across.setdefault(snapped(box.y + box.height / 2), []).append((ends[0], ends[1], reach))
    return [
        (one, other)
        for pieces in across.values()
        for (left, right, one), (start, end, other) in combinations(pieces, 2)
        if left < end and start < right
        if one.relation != other.relation
        or one.number
        or other.number
        or not {one.source, one.target} & {other.source, other.target}
    ]


def unordered(source: int, target: int, relation: str) -> tuple[int, int, str]:
    if relation == "id":
        source, target = sorted((source, target))
    return source, target, relation


def on_edge(point: tuple[float, float], box: Rectangle) -> bool:
    x, y = point
    across, down = box[0] <= x <= box[2], box[1] <= y <= box[3]
    return across and down and (x in (box[0], box[2]) or y in (box[1], box[3]))


def crossed(box: Rectangle, piece: Rectangle) -> bool:
    """Whether a piece of a line, which has no breadth, runs through the inside of ``box``."""
    left, top, right, bottom = piece
    if left == right:
        return box[0] < left < box[2] and top < box[3] and bottom > box[1]
    return box[1] < top < box[3] and left < box[2] and right > box[0]


def test_every_run_of_the_corpus() -> None:
    """Small enough to be drawn, which all of them are, though lines run through each other's rows."""
    runs = with_runs()
    assert len(runs) > 30
    for file, witness in runs:
        try:
            check_diagram(witness)
            check_diagram(witness, cycle_only=True)
        except AssertionError as error:
            raise AssertionError(file) from error


@pytest.mark.parametrize(
    ("name", "nodes"),
    [
        ("halo/halo_no_wait.pgas", 3),
        ("halo/halo_no_wait.pgas", 6),
        ("halo/halo_get_late_wait.pgas", 6),
        ("iriw/iriw_get_unordered.pgas", 4),
        ("c/mpi/request_wait.c", 2),  # a number between long boxes of a barrier
    ],
)
def test_some_runs_of_the_corpus(name: str, nodes: int) -> None:
    witness = shown(corpus(name, nodes))
    assert witness is not None
    diagram = check_diagram(witness)
    assert len(diagram.lanes) == nodes
    lines = [line for box in diagram.boxes for line in text_of(box).splitlines()]
    assert not [line for line in lines if line.rstrip(";").endswith((" =", " →"))]  # where a line should not end


def test_runs_with_parts_and_marks() -> None:
    diagram = diagram_of(ONE_TO_ONE)
    assert [part.number for part in diagram.parts] == [1, 2]
    first, second = diagram.parts
    assert first.y + first.height <= second.y
    for row in diagram.rows:
        part = next(part for part in diagram.parts if part.number == row.part)
        assert part.y < row.y and row.y + row.height < part.y + part.height


def test_lines_side_by_side_do_not_lie_on_one_another() -> None:
    """Only conflicts of one event share their way, and those beyond `MOST_TRACKS` the last place."""
    witness = long_run(MOST_TRACKS, 2)
    diagram = check_diagram(witness)
    down: dict[float, list[tuple[float, float, Line]]] = {}
    for line in diagram.lines:
        for left, top, right, bottom in stretches(line):
            if left == right:
                down.setdefault(left, []).append((top, bottom, line))
    for pieces in down.values():
        pieces.sort(key=lambda piece: piece[:2])
        for (_, bottom, one), (top, _, other) in pairwise(pieces):
            assert bottom <= top or (one.relation == other.relation == "cf" and one.source == other.source)


def test_the_place_between_two_lanes_is_bounded() -> None:
    narrow, wide = layout(long_run(60, 2)), layout(long_run(240, 2))
    assert narrow.lanes[1].x - narrow.lanes[0].x == wide.lanes[1].x - wide.lanes[0].x


@pytest.mark.parametrize("nodes", [1, 2, 64])
def test_long_runs_take_little_time(nodes: int) -> None:
    witness = long_run(667, nodes)  # 2,001 events
    made, diagram = calls(lambda: layout(witness))
    assert made < 600 * 2001
    assert len(diagram.boxes) == 2001
