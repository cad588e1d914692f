"""The report and the JSON object of one run without a verdict."""

from __future__ import annotations

import json
from typing import Any, cast

from pgasrob.render.lines import plain
from pgasrob.render.one_run_json import RunResult, simulated_to_json
from pgasrob.render.one_run_text import simulation_report
from pgasrob.render.result_report import report
from pgasrob.runs.simulate import simulate
from tests.support import instance, one_to_one


def run_text(*texts: str, seed: int = 0, **more: Any) -> str:
    return plain(simulation_report(simulated_to_json(simulate(instance(*texts), seed, **more)), 80))


def test_a_run_that_looks_like_an_sc_run() -> None:
    shown = run_text("write(x, 1, y, q);", "r <- mem[z];", seed=2)
    assert "a run on the network on 2 nodes" in shown.splitlines()[0]
    assert "--seed 2 gives this run again." in shown
    assert "It looks like an SC run" in shown
    assert "The SC run that it looks like:" in shown
    assert "All ranks have ended." in shown
    assert "y@1 = 1" in shown


def test_a_run_that_looks_like_none() -> None:
    shown = run_text("write(x, 0, y, q); r <- mem[y];", bias="late")
    assert "No SC run looks like this one" in shown
    assert "The cycle, edge by edge" in shown
    assert "--seed 0 --bias late gives this run again." in shown


def test_an_sc_run() -> None:
    shown = run_text("write(x, 0, y, q); r <- mem[y];", network=False)
    assert "a run under SC" in shown
    assert "looks like" not in shown


def test_the_ends_of_runs() -> None:
    assert "The run ends in a deadlock." in run_text("await(mem[y] == 1);")
    assert "rank 0 stands before await" in run_text("await(mem[y] == 1);")
    assert "before an assume that is false" in run_text("assume(r == 1);")
    assert "error[PG040]: rank 0: division by zero" in run_text("r <- 1 / r;")
    assert "--steps" in run_text("loop { r <- r + 1; }", steps=5)
    assert "The assertion of rank 0 in line 1 fails (step 1)." in run_text("assert(r == 1);")
    assert "Every assertion that it passes holds." in run_text("assert(r == 0);")


def test_a_run_in_json() -> None:
    result = simulated_to_json(simulate(one_to_one("wait(q);"), 5))
    assert (result["schema"], result["engine"], result["verdict"], result["nodes"]) == (1, "run", None, 2)
    witness, simulation = result["witness"], result["simulation"]
    assert witness is not None
    assert simulation is not None
    assert (witness["shows"], witness["cycle"]) == ("run", None)
    assert simulation["final"] == {
        "r@0": 1, "r@1": 1, "x@0": 1, "x@1": 1, "y@0": 1, "y@1": 1,
    }  # fmt: skip
    assert (simulation["seed"], simulation["ending"], simulation["memory_model"]) == (5, "ended", "network")
    assert simulation["events"] == len(witness["computation"])
    again: RunResult = json.loads(json.dumps(result))
    assert plain(simulation_report(again)) == plain(simulation_report(result)) == plain(report(cast(Any, result)))


def test_a_long_run_is_not_shown_twice() -> None:
    shown = run_text("loop { write(x, 1, y, q); }", "loop { r <- mem[z]; }", steps=300, seed=1)
    assert "It is not shown for its length" in shown
