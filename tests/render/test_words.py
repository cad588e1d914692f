"""Events in words: the operations beyond reads and writes."""

from __future__ import annotations

from typing import cast

from pgasrob.api import check
from pgasrob.program.parser import parse
from pgasrob.render import words
from pgasrob.render.effect_json import EffectPlace
from pgasrob.render.lines import plain
from pgasrob.render.result_report import report
from pgasrob.render.run_json import Event
from pgasrob.render.verdict_json import Result, to_json

FURTHER = """memory x = 1, y, z, w; register r; queue u unordered, v unordered;
process 0 {
  update_from(compare_swap, x, y, 1, x, u, w);
  put(x, 1, y, u);
  bundle;
  signal(set, 1, 1, z, u);
  notify(add, 1, 1, w, u);
}
process 1 {
  r <- mem[y];
  await_add(1, mem[z] == 1, 1);
  r <- fetch(0, x);
  r <- fetch_update(or, 1, x, 4);
  update_from(fetch, 0, x, v, y);
}
"""


def result(text: str, nodes: int | None = None) -> Result:
    return to_json(check(parse(text, "further.pgas"), nodes, "definition"))


def test_every_event_has_its_words() -> None:
    witness = result(FURTHER)["witness"]
    assert witness is not None
    run = witness["computation"]
    said: dict[str, str] = {}
    for place, event in enumerate(run):
        said.setdefault(event["event"], words.phrase(place, run))
    assert said == {
        "update_from": "rank 0 issues the update_from",
        "put": "rank 0 issues the put of x@0",
        "bundle": "bundle of rank 0",
        "signal": "rank 0 issues the signal",
        "await_add": "rank 1 sees z@1 in its await_add",
        "fetch": "fetch of rank 1 on x@0",
        "fetch_update": "fetch_update of rank 1 on x@1",
        "load": "rank 1 loads y@1",
        "popa": "the update_from of rank 0 fetches x@0",
        "popd": "the update_from of rank 0 fetches y@0",
        "popb": "the signal of rank 0 acts on z@1",
        "popc": "the result of the update_from of rank 0 arrives at w@0",
    }


def told(found: Result) -> str:
    """The report on one line."""
    return " ".join(plain(report(found)).split())


def test_the_report_says_what_the_steps_are() -> None:
    text = told(result(FURTHER))
    assert "popa fetches an operand, or what a fetch is for; popb writes at the destination or updates it." in text
    assert "popd fetches what a compare_swap expects." in text
    assert "popc brings what the target held to the result." in text


def test_a_rank_that_is_stuck_before_an_await_add_sees_its_value() -> None:
    found = result("memory x = 7; process { await_add(0, mem[x] == 5, 1); }", 1)
    assert found["deadlock"] is True
    assert "stands before await_add(0, mem[x] == 5, 1) (line 1; x@0 = 7)" in told(found)


def test_the_events_of_a_barrier_stand_side_by_side() -> None:
    def event(kind: str, rank: int) -> Event:
        return {"event": kind, "rank": rank}  # type: ignore[typeddict-item]

    barriers = [event("barrier", rank) for rank in (0, 1, 2, 0, 1, 2)]
    computation = [event("load", 0), event("load", 1), *barriers, event("store", 3), event("barrier", 0)]
    assert [list(row) for row in words.rows(computation)] == [[0], [1], [2, 3, 4], [5, 6, 7], [8], [9]]
    assert not list(words.rows([]))


def test_a_run_that_shows_two_things_is_one() -> None:
    shown = result("register r; process { r <- 1 / r; }")
    (only,) = words.runs(shown)
    assert only == ("witness", shown["witness"])
    twice: Result = {**shown, "assertion_run": shown["witness"]}
    assert list(words.runs(twice)) == [only]
    other = {**only[1], "nodes": 7}
    assert list(words.runs({**shown, "deadlock_run": other})) == [only, ("deadlock_run", other)]  # type: ignore[typeddict-item]


def test_an_effect_may_be_a_place_that_a_rank_comes_to() -> None:
    result = to_json(check(parse("process { barrier; }", "p.pgas")))
    place: EffectPlace = {"rank": 1, "line": 3, "column": 1, "command": "mem[x] <- 1", "copies": 1}
    detail = {"assertion": None, "place": place}
    for more, way in (({}, "can come to"), ({"ended": True}, "can end behind")):
        changed = cast(Result, result | {"effect": "place", "effect_detail": detail | {"place": place | more}})
        assert words.effect(changed) == (f"On the network rank 1 {way} line 3 (`mem[x] <- 1`); it does in no SC run.")
