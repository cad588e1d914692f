"""The JSON object of an answer about races: the two accesses at the end of the run."""

from __future__ import annotations

from pgasrob.render.one_race_json import with_accesses
from pgasrob.render.races_json import counted
from pgasrob.render.result_forms import pairs
from pgasrob.render.verdict_json import RaceResult
from tests.render.test_races_text import BUFFER, QUIET, REMOTE, THREE, C, result_of


def test_the_two_accesses_are_events_that_are_still_to_come() -> None:
    (race,) = result_of(REMOTE)["races"]
    assert (race["shows"], race["kind"], race["lines"], race["complete"]) == ("race", "remote", [7, 8], False)
    put, load = race["accesses"]
    assert [each["event"] for each in race["computation"]] == ["write", "popa"]
    assert (put["event"], put["rank"], put["operation"], put["pending"]) == ("popb", 0, 0, True)
    assert (put["access"], put["cell"], put["atomic"], put["target"]) == ("write", "y@1", None, 1)
    assert (load["event"], load["rank"], load["operation"], load["pending"]) == ("load", 1, 0, False)
    assert (load["access"], load["cell"], load["line"], load["column"]) == ("read", "y@1", 8, 13)
    assert load["address"] == {"rank": 1, "index": 1, "name": "y"}
    assert load["command"] == "r <- mem[y]"
    drawn = with_accesses(race)
    assert drawn["computation"][2:] == [put, load]
    added = drawn["happens_before"][len(race["happens_before"]) :]
    assert added == [{"from": 1, "to": 2, "relation": "id"}, {"from": 2, "to": 3, "relation": "race"}]


def test_program_order_leads_to_an_access_before_which_its_rank_stands() -> None:
    (race,) = result_of(BUFFER)["races"]
    assert (race["kind"], race["lines"]) == ("local buffer", [3, 4])
    assert [(each["event"], each["pending"]) for each in race["accesses"]] == [("popa", True), ("store", False)]
    added = with_accesses(race)["happens_before"]
    assert {"from": 0, "to": 1, "relation": "id"} in added
    assert {"from": 0, "to": 2, "relation": "po"} in added


def test_a_call_in_c_keeps_its_piece() -> None:
    (race,) = result_of(C)["races"]
    put, load = race["accesses"]
    issue = next(each for each in race["computation"] if each["event"] == "put")
    assert (put["call"], put["piece"]) == ("shmem_long_put", issue["piece"])
    assert (load["call"], load["command"]) == (None, 'printf("%ld\\n", data)')
    assert load["piece"] > max(each["piece"] for each in race["computation"])


def test_where_not_all_is_known_no_number_is_said() -> None:
    cut: RaceResult = {**result_of(THREE), "reason": "there may be more races: the limit was reached"}
    first: RaceResult = {**result_of(THREE), "all": False}
    assert (counted(result_of(THREE)), counted(cut)) == ("3 pairs", "unknown")
    assert [pairs(each) for each in (result_of(THREE), cut, first, result_of(QUIET))] == ["3", "3+", "3+", "0"]
    assert counted(result_of(REMOTE)) == "1 pair"
