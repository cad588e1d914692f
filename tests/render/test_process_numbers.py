"""Processes are numbers that print as names, and stand with the others of their rank."""

from __future__ import annotations

import json

from pgasrob.program.parser import parse
from pgasrob.render.process_numbers import home_of, numbered


def test_numbers_that_are_named() -> None:
    instance = parse("nodes 2; process { skip; } process 0 thread 1 { skip; }").instantiate()
    all_of_them = [numbered(instance, process) for process in (1, 2, 0)]
    assert json.dumps(all_of_them) == "[1, 2, 0]"
    assert [str(each) for each in sorted(all_of_them)] == [f"{each}" for each in sorted(all_of_them)]
    assert [str(each) for each in sorted(all_of_them)] == ["0.0", "0.1", "1"]
    assert [home_of(each) for each in all_of_them] == [1, 0, 0]
    assert sorted(all_of_them)[1] == 2 and {2: "found"}[all_of_them[1]] == "found"
