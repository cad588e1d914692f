"""What JSON objects share: names of files, assumptions."""

from __future__ import annotations

import json

from pgasrob.api import check
from pgasrob.frontends.lower import parse_c
from pgasrob.render.verdict_json import to_json
from pgasrob.robustness.verdict import Verdict
from tests.render.test_verdict_json import ONE_TO_ONE, result


def test_assumptions() -> None:
    found = result(ONE_TO_ONE.replace("barrier", "wait(q); barrier"))["assumptions"]
    assert all(set(each) == {"code", "text", "lines", "scope"} for each in found)
    assert [each["code"] for each in found if each["scope"] == "every"] == [
        "failed-polls", "conflicts", "program-order", "one-copy", "no-failures", "closed-program"
    ]  # fmt: skip
    text = "#include <stdlib.h>\nint main(void) {\n  return rand() < 3;\n}\n"
    drawn = to_json(check(parse_c(text, "some.c"), 1))["assumptions"][-1]
    assert drawn == {
        "code": "unknown-values", "text": "rand() (0 to 2147483647) may give any value, and a different one each time",
        "lines": [3], "scope": "construct",
    }  # fmt: skip


def test_a_file_name_that_is_not_utf8_gives_no_lone_surrogate() -> None:
    found = to_json(Verdict("a\udcff\ud800\n.pgas", "a\udcff", 2, "attack", "unknown"))
    assert (found["file"], found["program"]) == ("a\\xff\\ud800\n.pgas", r"a\xff")
    assert json.loads(json.dumps(found).encode())["file"] == found["file"]
