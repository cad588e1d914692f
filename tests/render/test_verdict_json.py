"""The JSON object of a verdict: its schema, and that its witnesses are what they claim to be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pgasrob.api import check
from pgasrob.diagnostics import SourceError
from pgasrob.program.parser import parse
from pgasrob.render.verdict_json import to_json
from pgasrob.robustness.reasons import NoProgram
from pgasrob.robustness.verdict import Verdict

RESULT = {
    "schema", "file", "program", "nodes", "engine", "verdict", "reason", "reason_code", "limit", "assertions",
    "deadlock", "faults", "communicates", "polls", "stats", "witness", "assertion_run", "deadlock_run", "errors",
    "effect", "effect_detail", "effect_run",
    "failed_polls", "conflicts", "waits", "assumptions", "legal", "illegal_calls", "synchronised", "always_stuck",
    "deadlock_kind",
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
    assert set(found["effect_run"]) == WITNESS | {"late", "title", "effect"}
    assert found["effect_run"]["effect"] == {"places": [9], "ending": None, "beyond": 9}
    assert all(set(event) == EVENT for event in found["witness"]["computation"])
    assert all(set(edge) == {"from", "to", "relation"} for edge in found["witness"]["cycle"])


def test_a_verdict_that_is_not_robust() -> None:
    found = result(ONE_TO_ONE)
    assert found["schema"] == 1
    assert (found["file"], found["program"], found["nodes"]) == ("some.pgas", "one_to_one", 2)
    assert (found["engine"], found["verdict"], found["reason"]) == ("product", "not robust", None)
    assert (found["assertions"], found["deadlock"]) == ("hold", False)
    assert (found["assertion_run"], found["deadlock_run"], found["errors"]) == (None, None, [])
    assert found["stats"]["states"] > 0 and found["stats"]["transitions"] > 0 and found["stats"]["sc_states"] == 13


def test_a_robust_verdict_has_no_witness() -> None:
    found = result(ONE_TO_ONE.replace("barrier", "wait(q); barrier"), nodes=3)
    assert (found["verdict"], found["nodes"], found["witness"]) == ("robust", 3, None)
    assert set(found) == RESULT | {"hardware", "one_block"}


def test_runs_of_assertion_and_deadlock_have_keys_of_their_own() -> None:
    found = result(DEADLOCK, nodes=3)
    assert (found["verdict"], found["assertions"], found["deadlock"]) == ("robust", "violated", True)
    assertion, deadlock = found["assertion_run"], found["deadlock_run"]
    assert (assertion["shows"], deadlock["shows"]) == ("assertion", "deadlock")
    assert found["witness"] == assertion and assertion["cycle"] is None and set(deadlock) == WITNESS
    assert [event["holds"] for event in assertion["computation"]] == [None, False]


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
        "length": 16,
        "reason": "division by zero: 8 / 0",
        "registers": {"r": 2},
    }
    assert [event["event"] for event in found["witness"]["computation"]] == ["load"]
    assert found["witness"]["standing"][0]["next"][0]["address"] is None


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
