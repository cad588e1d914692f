"""The JSON object of outcomes, with example runs."""

from __future__ import annotations

from typing import cast

from pgasrob.render.outcomes_json import outcomes_to_json
from pgasrob.render.run_json import Witness
from pgasrob.runs.outcomes import outcomes
from tests.render.test_outcomes_text import STORE_BUFFERING, result_of
from tests.support import one_to_one


def test_json() -> None:
    result = result_of(STORE_BUFFERING)
    assert (result["schema"], result["engine"], result["nodes"], result["complete"]) == (1, "outcomes", 2, True)
    assert (result["sc_runs"], result["network_runs"], result["network_only"]) == (6, 630, 1)
    assert result["columns"][0] == {"name": "r@0", "rank": 0, "kind": "register"}
    assert result["columns"][-1] == {"name": "x@1", "rank": 1, "kind": "cell"}
    first, second = result["outcomes"][:2]
    assert first["values"] == {"r@0": 0, "r@1": 0, "one@0": 1, "one@1": 1, "x@0": 1, "x@1": 1}
    assert (first["row"], first["ending"], first["failed"], first["network_only"]) == (1, "ended", [], True)
    for row in result["outcomes"]:
        witness = cast(Witness, row["example"])
        assert witness["shows"] == "run"
        assert witness["complete"]
        assert (witness["cycle"] is not None) == bool(row["network_only"])
    assert second["network_only"] is False
    assert cast(Witness, second["example"])["sequential"] is None  # it is an SC run itself


def test_examples_that_are_not_asked_for_are_left_out() -> None:
    found = outcomes(one_to_one())
    assert [row["example"] is None for row in outcomes_to_json(found, {2})["outcomes"]] == [True, False, True, True]
