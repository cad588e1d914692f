"""Marks: full ones for what does what the key does, and for nothing else; what a limit leaves open is undecided."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgasrob.batch.headers import BadKey
from pgasrob.course.grade import Grader, Mark
from pgasrob.robustness.limits import Limits

ASSIGNMENT = Path(__file__).parent / "assignment"
NO_LIMITS = Limits()
KEY = """// expect: robust at 2..3
// points: 4
program flag;
nodes 2;
memory x = 7, y, flag;
register r;
queue q unordered;
process 0 {
  write(x, 1, y, q);
  wait(q);
  write(x, 1, flag, q);
}
process 1 {
  await(mem[flag] == 7);
  r <- mem[y];
  assert(r == 7);
}
process {
}
"""


def marked(tmp_path: Path, submission: str, key: str = KEY, limits: Limits = NO_LIMITS, handout: str = "") -> Mark:
    for folder, text in (("key", key), ("ada", submission), ("handout", handout)):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "flag.pgas").write_text(text)
    grader = Grader(tmp_path / "key", limits, tmp_path / "handout" if handout else None)
    (mark,) = grader.grade(tmp_path / "ada").marks
    return mark


def test_the_sample_assignment() -> None:
    grader = Grader(ASSIGNMENT / "key", NO_LIMITS, ASSIGNMENT / "handout")
    ada, ben = (grader.grade(ASSIGNMENT / "students" / name) for name in ("ada", "ben"))
    assert (ada.student, ada.points, ben.student, ben.points, grader.points) == ("ada", 6, "ben", 1, 6)
    assert [mark.state for mark in ada.marks] == ["right"] * 3
    assert [mark.state for mark in ben.marks] == ["wrong", "right", "no program"]
    assert ben.marks[2].why == "line 12: a `;` is missing after `)`"


def test_another_way_is_right_too(tmp_path: Path) -> None:
    fifo = KEY.replace(" unordered", "").replace("  wait(q);\n", "").replace("register r", "register r, s")
    mark = marked(tmp_path, fifo)
    assert (mark.state, mark.why, mark.points) == ("right", "", 4)


READING = "  await(mem[flag] == 7);\n  r <- mem[y];\n  assert(r == 7);\n"


@pytest.mark.parametrize(
    ("change", "state", "why"),
    [
        (("  wait(q);\n", ""), "wrong", "it is not robust on 2 nodes, and should be robust"),
        (
            ("process {\n}", "process {\n  write(x, 1, flag, q);\n}"),
            "wrong",
            "an assertion fails in an SC run on 3 nodes",
        ),
        (("  write(x, 1, y, q);\n", ""), "wrong", "an assertion fails in an SC run on 2 nodes"),
        (("write(x, 1, flag, q);", "skip;"), "wrong", "there is a deadlock on 2 nodes"),
        ((READING, "  mem[x] <- 1;\n"), "wrong", "its SC runs end with other values in memory"),
        (("assert(r == 7)", "assert(1 / (r - 7))"), "wrong", "it is in error ("),
        (("assert(r == 7)", "assert(r = 7)"), "no program", "line 16: "),
        (("assert(r == 7)", "assert(r > 6)"), "right", ""),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, change: tuple[str, str], state: str, why: str) -> None:
    assert change[0] in KEY
    mark = marked(tmp_path, KEY.replace(*change))
    assert (mark.state, mark.why[: len(why)], mark.points) == (state, why, 4 if state == "right" else 0)


def test_a_program_that_does_nothing_gets_nothing(tmp_path: Path) -> None:
    mark = marked(tmp_path, "program flag; memory x = 7, y, flag; process { }")
    assert (mark.state, mark.why) == ("wrong", "its SC runs end with other values in memory than they should")
    mark = marked(tmp_path, "program flag; process { skip; }")
    assert mark.state == "wrong" and mark.why.startswith("it has no flag, x, y, which the key has")


def test_the_node_counts_are_those_of_the_key(tmp_path: Path) -> None:
    broken = KEY.replace("  wait(q);\n", "")
    assert marked(tmp_path, broken.replace("nodes 2", "nodes 1")).state == "wrong"
    only_three = KEY.replace("process {\n}", "process {\n  write(x, 1, x, q);\n  write(x, 1, flag, q);\n}")
    assert "on 3 nodes" in marked(tmp_path, only_three).why


def test_what_a_limit_leaves_open_is_undecided(tmp_path: Path) -> None:
    key = marked(tmp_path, KEY, limits=Limits(timeout=1e-6))
    assert key.state == "undecided" and (key.points, key.undecided) == (0, 4)
    endless = KEY.replace("register r", "register r, s").replace("process 0 {", "process 0 {\n  loop { s <- s + 1; }")
    mark = marked(tmp_path, endless, limits=Limits(max_states=1_000))
    assert mark.state == "undecided" and "on 2 nodes" in mark.why


def test_nothing_that_was_handed_out_may_go(tmp_path: Path) -> None:
    key, handout = KEY.replace("// points: 4", "// changes: insertions"), KEY.replace("  wait(q);\n", "")
    assert marked(tmp_path, KEY, key, handout=handout).state == "right"
    fifo = handout.replace(" unordered", "")
    assert marked(tmp_path, fifo, key, handout=handout).why == "a line that was handed out is gone: queue q unordered;"
    assert marked(tmp_path, fifo, key).why.startswith("a line that was handed out is gone")
    swapped = KEY.replace(
        "  write(x, 1, y, q);\n  wait(q);\n  write(x, 1, flag, q);", "  write(x, 1, flag, q);\n  write(x, 1, y, q);"
    )
    assert "is gone" in marked(tmp_path, swapped, key, handout=handout).why


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("// expect: robust\n", "right"),
        ("// expect: robust at 2..3\n", "right"),
        ("// expect: robust at 2\n", "wrong"),
        ("// expect: not robust\n", "wrong"),
        ("// expect: robustt\n", "no program"),
        ("", "missing"),
    ],
)
def test_a_verdict_that_a_student_gives(tmp_path: Path, line: str, state: str) -> None:
    key = KEY.replace("// points: 4", "// asks: verdict")
    program = KEY.split("\n", 2)[2]
    assert marked(tmp_path, line + program, key).state == state
    changed = marked(tmp_path, "// expect: robust\n" + program.replace("wait(q)", "skip"), key)
    assert (changed.state, changed.why) == ("wrong", "the program is not the one that was handed out")


def test_what_is_missing_and_what_is_too_much(tmp_path: Path) -> None:
    (tmp_path / "key").mkdir()
    (tmp_path / "key" / "flag.pgas").write_text(KEY)
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / "flagg.pgas").write_text(KEY)
    graded = Grader(tmp_path / "key", NO_LIMITS).grade(tmp_path / "ada")
    assert graded.others == ("flagg.pgas",)
    assert (graded.marks[0].state, graded.marks[0].why) == ("missing", "there is no such file; there is flagg.pgas")
    (tmp_path / "ada" / "flag.pgas").symlink_to(tmp_path / "key" / "flag.pgas")
    (mark,) = Grader(tmp_path / "key", NO_LIMITS).grade(tmp_path / "ada").marks
    assert mark.points == 0 and "leads out of" in mark.why


@pytest.mark.parametrize(
    ("key", "why"),
    [
        (KEY.replace("expect: robust", "expect: not robust"), "is robust on 2 nodes, and says that not robust"),
        (KEY.replace("// expect: robust at 2..3\n", ""), "the key says of each program what is expected"),
        (KEY.replace("points: 4", "points: many"), "`points: many` is not"),
        (KEY.replace("process 0", "proces 0"), "flag.pgas:8"),
    ],
)
def test_a_key_that_is_wrong_grades_nobody(tmp_path: Path, key: str, why: str) -> None:
    with pytest.raises(BadKey, match=why):
        marked(tmp_path, KEY, key)
    (tmp_path / "none").mkdir()
    with pytest.raises(BadKey, match="is no folder with"):
        Grader(tmp_path / "none", NO_LIMITS)
