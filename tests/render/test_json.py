"""The JSON object of a verdict: its schema, and that its witnesses are what they claim to be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.api import check
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import parse_c
from pgasrob.program.parser import parse
from pgasrob.render.verdict_json import to_json
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.reasons import NoProgram
from pgasrob.robustness.verdict import Verdict
from tests.oracle import replay
from tests.support import Drawn, drawn_programs, examples

RESULT = {
    "schema", "file", "program", "nodes", "engine", "verdict", "reason", "reason_code", "limit", "assertions",
    "deadlock", "communicates", "polls", "stats", "witness", "assertion_run", "deadlock_run", "errors",
    "effect", "effect_detail", "effect_run",
    "failed_polls", "conflicts", "assumptions",
}  # fmt: skip
WITNESS = {
    "shows", "nodes", "computation", "cycle", "cycle_type", "complete", "memory", "registers", "standing", "fault",
    "source", "happens_before", "irreducible", "sequential", "doubles", "temporaries",
}  # fmt: skip
EVENT = {
    "event", "rank", "operation", "address", "line", "column", "end_line", "end_column", "command", "read", "written",
    "register", "queue", "target", "holds", "part", "marks",
}  # fmt: skip
ERROR = {"code", "message", "line", "column", "length", "excerpt", "hint"}

ONE_TO_ONE = """program one_to_one;
memory x = 1, y;
register r;
queue q;
process {
  write(x, (me + 1) % nodes, y, q);
  barrier;
  r <- mem[y];
  assert(r == 1);
}
"""
DEADLOCK = """memory flag = 3;
register r;
process 0 {
  r <- mem[flag];
  assert(r == 4);
  barrier;
}
process 1 {
  await(mem[flag] == me + 1);
}
process 2 {
}
"""


def result(text: str, nodes: int | None = None, engine: str = "product") -> dict[str, Any]:
    """The object for a program given as text, as it comes out of a file."""
    found: dict[str, Any] = json.loads(json.dumps(to_json(check(parse(text, "some.pgas"), nodes, engine))))
    return found


def test_the_keys_of_a_result_are_those_of_the_schema() -> None:
    found = result(ONE_TO_ONE)
    assert set(found) == RESULT
    assert set(found["stats"]) == {"states", "transitions", "seconds", "sc_states"}
    assert result(ONE_TO_ONE, engine="portfolio")["stats"]["settled_by"] == "traces"
    assert set(found["witness"]) == WITNESS | {"late"}
    assert all(set(event) == EVENT for event in found["witness"]["computation"])
    assert all(set(edge) == {"from", "to", "relation"} for edge in found["witness"]["cycle"])


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


def test_a_verdict_that_is_not_robust() -> None:
    found = result(ONE_TO_ONE)
    assert found["schema"] == 1
    assert (found["file"], found["program"], found["nodes"]) == ("some.pgas", "one_to_one", 2)
    assert (found["engine"], found["verdict"], found["reason"]) == ("product", "not robust", None)
    assert (found["assertions"], found["deadlock"]) == ("hold", False)
    assert (found["assertion_run"], found["deadlock_run"], found["errors"]) == (None, None, [])
    assert found["stats"]["states"] > 0 and found["stats"]["transitions"] > 0 and found["stats"]["sc_states"] == 13


def test_assumptions() -> None:
    found = result(ONE_TO_ONE.replace("barrier", "wait(q); barrier"))["assumptions"]
    assert all(set(each) == {"code", "text", "lines", "scope"} for each in found)
    assert [each["code"] for each in found if each["scope"] == "every"] == [
        "failed-polls", "conflicts", "program-order", "one-copy", "no-failures", "closed-program"
    ]  # fmt: skip
    text = "#include <stdlib.h>\nint main(void) {\n  return rand() < 3;\n}\n"
    drawn = to_json(check(parse_c(text, "some.c"), 1))["assumptions"][-1]
    assert drawn == {
        "code": "unknown-values", "text": "any value may come of rand() (0 to 2147483647), each time another",
        "lines": [3], "scope": "construct",
    }  # fmt: skip


def test_a_robust_verdict_has_no_witness() -> None:
    found = result(ONE_TO_ONE.replace("barrier", "wait(q); barrier"), nodes=3)
    assert (found["verdict"], found["nodes"], found["witness"]) == ("robust", 3, None)
    assert set(found) == RESULT | {"hardware", "one_block"}


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


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("write(a + me, (me + 1) % nodes, a + 2 * me, q);", "write(a + 1, 0, a + 2, q)"),
        ("mem[a] <- r * (nodes - 1);", "mem[a] <- r * 1"),
        ("if (me == 1) { mem[a] <- 1; }", "assume(me == 1)"),
        ("r <- me ? r : nodes;", "r <- 1 ? r : 2"),
        ("if (!r) { skip; } assert(r == me - 1 + 3 * r);", "assume(!r)"),
    ],
)
def test_commands_are_shown_as_written_with_the_rank_folded_in(command: str, shown: str) -> None:
    text = "memory a[4]; register r; queue q; process 0 { } process 1 { COMMAND assert(r == 9); }"
    events = result(text.replace("COMMAND", command))["assertion_run"]["computation"]
    assert events[0]["command"] == shown


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


def test_runs_of_assertion_and_deadlock_have_keys_of_their_own() -> None:
    found = result(DEADLOCK, nodes=3)
    assert (found["verdict"], found["assertions"], found["deadlock"]) == ("robust", "violated", True)
    assertion, deadlock = found["assertion_run"], found["deadlock_run"]
    assert (assertion["shows"], deadlock["shows"]) == ("assertion", "deadlock")
    assert found["witness"] == assertion and assertion["cycle"] is None and set(deadlock) == WITNESS
    assert [event["holds"] for event in assertion["computation"]] == [None, False]


def test_a_deadlock_says_where_each_rank_stands() -> None:
    standing = result(DEADLOCK, nodes=3)["deadlock_run"]["standing"]
    waits = {"event": "await", "line": 9, "column": 3, "address": {"rank": 1, "index": 0, "name": "flag"}, "value": 3}
    barrier = {
        "event": "barrier", "command": "barrier", "line": 6, "column": 3, "address": None, "value": None, "barrier": ""
    }  # fmt: skip
    assert standing == [
        {"rank": 0, "ended": False, "next": [barrier], "registers": {"r": 3}},
        {
            "rank": 1,
            "ended": False,
            "next": [waits | {"command": "await(mem[flag] == 2)"}],
            "registers": {"r": 0},
        },
        {"rank": 2, "ended": True, "next": [], "registers": {"r": 0}},
    ]


def test_a_fault_has_its_run_and_its_values() -> None:
    found = result("memory x = 2; register r; process {\n  r <- mem[x];\n  r <- 8 / (r - 2);\n}")
    assert (found["verdict"], found["assertions"], found["witness"]["cycle"]) == ("error", None, None)
    assert "8 / 0" in found["reason"]
    assert found["witness"]["fault"] == {
        "code": "PG040",
        "rank": 0,
        "command": "r <- 8 / (r - 2)",
        "line": 3,
        "column": 3,
        "reason": "division by zero: 8 / 0",
        "registers": {"r": 2},
    }
    assert [event["event"] for event in found["witness"]["computation"]] == ["load"]
    assert found["witness"]["standing"][0]["next"][0]["address"] is None


def test_the_command_of_a_fault_is_as_written() -> None:
    found = result("memory a[2], b; register r; process { choose { skip; } or { r <- mem[a + me + 2 * b + r]; } }")
    assert found["witness"]["fault"]["command"] == "r <- mem[a + 0 + 2 * b + r]"
    assert found["reason"].startswith("rank 0 faults at r <- mem[a + 0 + 2 * b + r]: address 4 is outside the memory")


def test_a_text_that_is_no_program() -> None:
    with pytest.raises(SourceError) as caught:
        parse("memory x\nprocess { y <- 1; }", "bad.pgas")
    diagnostics = tuple(caught.value.diagnostics)
    verdict = Verdict("bad.pgas", None, None, "product", "error", NoProgram("no program"), errors=diagnostics)
    found = json.loads(json.dumps(to_json(verdict)))
    assert set(found) == RESULT and found["nodes"] is None and found["witness"] is None
    assert [(error["line"], error["column"]) for error in found["errors"]] == [(1, 9), (2, 11)]
    assert all(set(error) == ERROR and error["message"] and error["hint"] for error in found["errors"])


def test_a_rank_without_process_is_an_error_at_that_node_count() -> None:
    found = result("process 0 { }", nodes=2)
    assert (found["verdict"], found["nodes"]) == ("error", 2)
    assert [error["code"] for error in found["errors"]] == ["PG030"]


@pytest.mark.parametrize("engine", ["product", "definition"])
@settings(max_examples=examples(40))
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


def test_a_file_name_that_is_not_utf8_gives_no_lone_surrogate() -> None:
    found = to_json(Verdict("a\udcff\ud800\n.pgas", "a\udcff", 2, "attack", "unknown"))
    assert (found["file"], found["program"]) == ("a\\xff\\ud800\n.pgas", r"a\xff")
    assert json.loads(json.dumps(found).encode())["file"] == found["file"]
