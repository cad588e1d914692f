"""The JSON object of a run: events, happens-before, what each event did."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.api import check
from pgasrob.program.parser import parse
from pgasrob.render.verdict_json import to_json
from pgasrob.robustness.limits import Limits
from tests.oracle import replay
from tests.render.test_verdict_json import DEADLOCK, ONE_TO_ONE, result
from tests.support import Drawn, drawn_programs, examples


def test_what_is_late() -> None:
    [late] = result(ONE_TO_ONE)["witness"]["late"]
    events = result(ONE_TO_ONE)["witness"]["computation"]
    assert late == {
        "sentences": "Rank 0 reads y in line 8 before the write of rank 1 in line 6 has arrived there, although both "
        "have passed the barrier in line 7. Nothing up to line 7 waits until the write is complete at its target "
        "(barrier in line 7 does not).",
        "issue": late["issue"], "step": late["step"], "ahead": late["ahead"], "next": late["next"],
        "missing": "completion", "between": [late["next"]],
    }  # fmt: skip
    names = [events[late[place]]["event"] for place in ("issue", "next", "ahead", "step")]
    assert names == ["write", "barrier", "load", "popb"]


def test_the_witness_of_one_to_one_is_the_papers_example_15() -> None:
    witness = result(ONE_TO_ONE)["witness"]
    assert witness["shows"] == "violation" and witness["complete"] and witness["fault"] is None
    assert [(event["event"], event["rank"], event["part"], event["marks"]) for event in witness["computation"]] == [
        ("write", 0, 1, []),
        ("popa", 0, 1, []),
        ("write", 1, 1, []),
        ("popa", 1, 1, []),
        ("barrier", 0, 1, ["enter"]),
        ("barrier", 1, 1, ["leave"]),
        ("load", 0, 1, ["leave"]),
        ("popb", 0, 2, []),
        ("popb", 1, 2, ["enter"]),
    ]
    assert witness["cycle_type"] == [0, 1]


def test_an_event_says_what_it_did() -> None:
    write, popa, *_, load, popb = result(ONE_TO_ONE)["witness"]["computation"][:8]
    q = {"id": 0, "name": "q", "unordered": False}
    assert write == {
        "event": "write", "rank": 0, "operation": 0, "address": None,
        "line": 6, "column": 3, "end_line": 6, "end_column": 35, "command": "write(x, 1, y, q)",
        "read": None, "written": None, "register": None, "queue": q, "target": 1, "holds": None, "part": 1, "marks": [],
    }  # fmt: skip
    assert popa["address"] == {"rank": 0, "index": 0, "name": "x"} and popa["read"] == 1 and popa["written"] is None
    assert popb["address"] == {"rank": 1, "index": 1, "name": "y"} and popb["read"] is None
    assert popb["written"] == {"cell": "y@1", "before": 0, "after": 1}
    assert (popb["operation"], popb["line"], popb["command"], popb["queue"]) == (0, 6, "write(x, 1, y, q)", q)
    assert (load["event"], load["operation"], load["read"]) == ("load", 2, 0)
    assert load["register"] == {"name": "r", "before": 0, "after": 0}


def test_an_engine_without_normal_forms_gives_no_parts_and_marks() -> None:
    witness = result(ONE_TO_ONE, engine="definition")["witness"]
    assert witness["cycle"] and witness["cycle_type"] is None
    assert {(event["part"], event["marks"]) for event in witness["computation"]} == {(None, None)}


def test_the_witness_holds_what_a_renderer_needs_without_the_program() -> None:
    header = "memory a[2] = {4, 5}, b; register r, s; queue q unordered;"
    text = header + "process { write(a + me, me, b, q); mem[b] <- 7; }"
    witness = result(text, nodes=2)["witness"]
    assert witness["source"] == text and witness["nodes"] == 2 and witness["registers"] == ["r", "s"]
    assert witness["memory"] == [
        {"rank": rank, "index": index, "name": name, "value": value}
        for rank in (0, 1)
        for index, (name, value) in enumerate((("a[0]", 4), ("a[1]", 5), ("b", 0)))
    ]
    assert witness["computation"][0]["queue"] == {"id": 0, "name": "q", "unordered": True}


def test_the_relation_and_the_sc_run_beside_it() -> None:
    witness = to_json(check(parse(ONE_TO_ONE)))["witness"]
    assert witness
    computation, sequential = witness["computation"], witness["sequential"]
    assert sequential
    # Figure 1b: the load of rank 0 is e; without it every step follows its issue, and nothing else changes.
    assert [(computation[place]["event"], computation[place]["rank"]) for place in sequential["without"]] == [
        ("load", 0)
    ]
    assert [event["event"] for event in sequential["events"]] == [
        "write", "popa", "popb", "write", "popa", "popb", "barrier", "barrier",
    ]  # fmt: skip
    assert sequential["events"] == [computation[place] for place in sequential["places"]]
    relations = [edge["relation"] for edge in witness["happens_before"]]
    assert {name: relations.count(name) for name in ("po", "cf", "id")} == {"po": 3, "cf": 1, "id": 5}
    assert {"from": 7, "to": 8, "relation": "cf"} in witness["happens_before"]


def test_a_deadlock_says_where_each_rank_stands() -> None:
    standing = result(DEADLOCK, nodes=3)["deadlock_run"]["standing"]
    waits = {"event": "await", "line": 9, "column": 3, "address": {"rank": 1, "index": 0, "name": "flag"}, "value": 3}
    barrier = {
        "event": "barrier", "command": "barrier", "line": 6, "column": 3, "address": None, "value": None, "barrier": ""
    }  # fmt: skip
    assert standing == [
        {"rank": 0, "ended": False, "next": [barrier], "registers": {"r": 3}, "loop": []},
        {
            "rank": 1,
            "ended": False,
            "next": [waits | {"command": "await(mem[flag] == 2)"}],
            "registers": {"r": 0},
            "loop": [],
        },
        {"rank": 2, "ended": True, "next": [], "registers": {"r": 0}, "loop": []},
    ]


@pytest.mark.parametrize("engine", ["product", "definition"])
@settings(max_examples=examples(13))
@given(data=st.data())
def test_witnesses_hold_up_before_the_oracle(engine: str, data: st.DataObject) -> None:
    """Every run is one of the program, and every cycle closes up with edges that are there."""
    drawn: Drawn = data.draw(drawn_programs())
    found = json.loads(json.dumps(to_json(check(drawn.program, None, engine, Limits(max_states=20_000)))))
    nodes, witness = found["nodes"], found["witness"]
    if found["verdict"] == "not robust":
        replay.check_witness(drawn.oracle, nodes, witness["computation"], witness["cycle"])
    if found["verdict"] == "error":
        faults = replay.check_fault(drawn.oracle, nodes, witness["computation"])
        assert (witness["fault"]["rank"], witness["fault"]["line"]) in [fault[:2] for fault in faults]
    if found["assertion_run"]:
        replay.check_failed_assert(drawn.oracle, nodes, found["assertion_run"]["computation"])
    if found["deadlock_run"]:
        replay.check_deadlock(drawn.oracle, nodes, found["deadlock_run"]["computation"])


@settings(max_examples=examples(40))
@given(drawn=drawn_programs())
def test_what_events_say_adds_up(drawn: Drawn) -> None:
    """Reading and writing along a run, from the initial memory on, gives the values that the events name."""
    found = to_json(check(drawn.program, None, "definition", Limits(max_states=20_000)))
    for witness in (found["witness"], found["assertion_run"], found["deadlock_run"]):
        if witness is None:
            continue
        memory = {f"{cell['name']}@{cell['rank']}": cell["value"] for cell in witness["memory"]}
        registers = {(rank, name): 0 for rank in range(witness["nodes"]) for name in witness["registers"]}
        for event in witness["computation"]:
            if event["address"]:
                cell = f"{event['address']['name']}@{event['address']['rank']}"
                assert event["read"] in (None, memory[cell])
                assert event["written"] is None or event["written"]["cell"] == cell
            if event["written"]:
                assert memory[event["written"]["cell"]] == event["written"]["before"]
                memory[event["written"]["cell"]] = event["written"]["after"]
            if event["register"]:
                place = (event["rank"], event["register"]["name"])
                assert registers[place] == event["register"]["before"]
                registers[place] = event["register"]["after"]
        for rank in witness["standing"]:
            assert rank["registers"] == {name: registers[rank["rank"], name] for name in witness["registers"]}
