"""What the page shows of a run, as JSON; that it comes by the server as well is in `test_server`."""

from __future__ import annotations

from typing import Any

from pgasrob.explore.position import follow
from pgasrob.explore.position_json import position_to_json
from pgasrob.frontends.lower import parse_c
from pgasrob.program.parser import parse
from tests.frontends.counted_programs import PROGRAMS

LATE_WRITE = """memory x;
queue q;
register r;
process 0 {
  write(x, 1, x, q);
  barrier;
}
process 1 {
  barrier;
  r <- mem[x];
  assert(r == 1);
}
"""


def shown(*run: str) -> dict[str, Any]:
    return position_to_json(*follow(parse(LATE_WRITE).instantiate(2), run, True))


def test_why_a_number_of_nodes_was_chosen_is_said() -> None:
    assert shown()["count_note"] == ""
    instance = parse_c(PROGRAMS["not equal, MPI_Abort"].text, "a.c").instantiate()
    page: dict[str, Any] = position_to_json(*follow(instance, (), True))
    assert page["nodes"] == 3
    assert page["count_note"].startswith(
        "On 2 nodes every rank leaves in line 10, `n != 3`, before any communication: 3"
    )


def test_each_rank_has_its_moves_or_why_it_is_blocked() -> None:
    page = shown()
    first, second = page["ranks"]
    assert [(move["choice"], move["line"]) for move in first["moves"]] == [("0.0", 5)]
    assert not first["blocked"] and not second["moves"]
    assert second["blocked"] == [{"line": 9, "command": "barrier", "why": "it waits for rank 0"}]
    assert (page["run"], page["steps"], page["drawing"], page["stop"], page["ending"]) == ([], [], "", None, None)
    (barrier,) = shown("0.0")["ranks"][1]["moves"]
    assert barrier["effects"] == ["with rank 0"]


def test_steps_are_numbered_by_their_events_and_a_barrier_is_shown_once() -> None:
    page = shown("0.0", "0.1", "s0.0")
    assert [(step["first"], step["last"], step["what"]) for step in page["steps"]] == [
        (1, 1, "Rank 0 issues the write"),
        (2, 3, "Barrier of rank 0"),
        (4, 4, "The write of rank 0 fetches x@0"),
    ]
    assert [step["step"] for step in page["steps"]] == [False, False, True]


def test_operations_on_their_way_and_the_cells_that_they_will_write() -> None:
    page = shown("0.0", "0.1")
    (pending,) = page["ranks"][0]["pending"]
    assert (pending["number"], pending["queue"], pending["target"], pending["later"]) == (1, "q", 1, 1)
    assert (pending["choice"], pending["why"], pending["effects"]) == ("s0.0", None, ["x@0 = 0"])
    (cell,) = page["memory"]
    assert [value["coming"] for value in cell["values"]] == [False, True]
    arrived = shown("0.0", "0.1", "s0.0", "s0.0")
    assert not arrived["ranks"][0]["pending"]
    assert [value["written"] for value in arrived["memory"][0]["values"]] == [False, True]


def test_a_run_to_its_end() -> None:
    page = shown("0.0", "0.1", "1.1", "1.2", "s0.0", "s0.0")
    assert page["failed"] == ["The assertion of rank 1 in line 11 fails (step 5)."]
    assert page["ending"] == {"sentence": "All ranks have ended.", "style": ""}
    assert all(rank["ended"] for rank in page["ranks"])
    assert page["violating"] and page["cycle"][-1] == "So step 4 would have to come before itself."
    assert page["late"].startswith("Rank 1 reads x in line 10 before the write of rank 0 in line 5 has arrived")
    stopped = shown("0.0", "7.0")
    assert stopped["stop"] == {"place": 1, "choice": "7.0", "reason": "this is not possible here"}


def test_threads_are_chosen_by_their_numbers_and_shown_by_their_names() -> None:
    text = "nodes 2; memory x; queue q; process { barrier; } process 0 thread 1 { write(x, 1, x, q); }"
    shown = position_to_json(*follow(parse(text).instantiate(), ["2.0"], automatic=True))
    assert [each["name"] for each in shown["ranks"]] == ["0.0", "1", "0.1"]
    assert [each["choice"] for each in shown["ranks"][2]["pending"]] == ["s2.0"]
    assert [each["effects"] for each in shown["ranks"][0]["moves"]] == [["with rank 1"]]
    assert shown["steps"][0]["name"] == "0.1" and "rank 0.1" in shown["steps"][0]["what"].lower()
    assert "rank 0.1" in shown["drawing"] and len(shown["memory"][0]["values"]) == 2
