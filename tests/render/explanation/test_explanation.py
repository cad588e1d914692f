"""The chapters of an explanation: their sentences, in the terminal and on the page."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pgasrob.program.reading import DEFAULT_READING, LITERAL_READING, Reading
from pgasrob.render.explanation.blocks import Drawing, Points, Remark, Rows, ShownRun, Text, Word
from pgasrob.render.explanation.chapters import NAMES, Chapter, NoSuchChapter, chapter_name, chapters
from pgasrob.render.explanation.run_chapters import COMMANDS
from pgasrob.render.explanation.terminal import explanation_lines
from pgasrob.render.lines import plain
from pgasrob.robustness.explanation import Explanation, explain
from pgasrob.robustness.load import load
from tests.support import program

PROGRAMS = Path(__file__).parents[3] / "programs"
ONE_TO_ONE = "one_to_one/one_to_one.pgas"
SOME = (
    ONE_TO_ONE,
    "one_to_one/one_to_one_wait.pgas",
    "mcs_lock/mcs_lock_late_reset.pgas",
    "halo/halo_no_wait.pgas",
    "iriw/iriw_get_unordered.pgas",
    "deferred_atomics/old_value.pgas",
    "notification/later_write.pgas",
    "bundled_signal/earlier_put.pgas",
    "captured_put/still_on_its_way.pgas",
    "bakery/bakery_get.pgas",
    "faults/division_by_zero.pgas",
    "c/openshmem/message_passing_no_fence.c",
)
PRESENT = [path for path in SOME if (PROGRAMS / path).exists()]


@cache
def explained(path: str, states: int = 2_000, reading: Reading = DEFAULT_READING) -> Explanation:
    return explain(load(PROGRAMS / path), max_states=states, timeout=120, reading=reading)


@cache
def written(path: str) -> list[Chapter]:
    return chapters(explained(path))


def text(path: str, width: int = 80) -> str:
    return plain(explanation_lines(path, written(path), width))


def said(path: str, name: str) -> str:
    """What the paragraphs of a chapter say."""
    (chapter,) = (each for each in written(path) if each.name == name)
    return " ".join(block.text for block in chapter.blocks if isinstance(block, Text | Remark))


def first(path: str, name: str, kind: type) -> Any:
    (chapter,) = (each for each in written(path) if each.name == name)
    return next(block for block in chapter.blocks if isinstance(block, kind))


# Small things


@pytest.mark.parametrize(
    ("given", "name"), [("1", "program"), ("9", "attack"), ("sigma", "sigma"), ("norm", "normal-form")]
)
def test_a_chapter_by_number_or_name(given: str, name: str) -> None:
    assert chapter_name(given) == name


@pytest.mark.parametrize("given", ["0", "10", "", "x", "²", "1" * 5_000])
def test_no_such_chapter(given: str) -> None:
    with pytest.raises(NoSuchChapter, match="there is program"):
        chapter_name(given)


@pytest.mark.parametrize("path", PRESENT)
def test_there_are_nine_chapters_and_none_is_empty(path: str) -> None:
    decided = explained(path).verdict.verdict != "error"
    assert [chapter.name for chapter in written(path)] == list(NAMES if decided else NAMES[:1])
    assert [chapter.number for chapter in written(path)] == list(range(1, 10 if decided else 2))
    for chapter in written(path):
        assert any(isinstance(block, Text) and block.text for block in chapter.blocks)


def test_one_chapter_alone() -> None:
    (chapter,) = chapters(explained(ONE_TO_ONE), "sigma")
    assert chapter == written(ONE_TO_ONE)[3]


# What is said of 1to1


def test_the_computation_of_1to1() -> None:
    assert "a violating computation of 9 events of 4 commands" in said(ONE_TO_ONE, "computation")
    assert first(ONE_TO_ONE, "computation", Rows).rows == [
        ("0", "write(x, 1, y, q)", "step 1", "popa x@0 in step 3, popb y@1 in step 9"),
        ("1", "write(x, 0, y, q)", "step 2", "popa x@1 in step 4, popb y@0 in step 8"),
    ]


def test_the_relation_of_1to1() -> None:
    told = said(ONE_TO_ONE, "happens-before")
    assert "po (3 edges here)" in told and "cf (1)" in told and "(5 between neighbours)" in told
    (points, cycle) = (block for block in written(ONE_TO_ONE)[2].blocks if isinstance(block, Points))
    assert [label for label, _ in points.points] == ["cf"]
    assert [label for label, _ in cycle.points] == ["cf", "id", "po", "id", "po"]
    assert told.endswith("So step 7 would have to come before itself.")


def test_sigma_of_1to1() -> None:
    told = said(ONE_TO_ONE, "sigma")
    assert "e is the command issued last: step 7 (rank 0 loads y@0 in line" in told
    assert "In the numbers of the computation: 1, 3, 9, 2, 4, 8, 5, 6." in told


def test_the_normal_form_of_1to1() -> None:
    assert "τ1 (steps 1 to 6) and τ2 (steps 8 and 9)" in said(ONE_TO_ONE, "normal-form")
    assert first(ONE_TO_ONE, "normal-form", Rows).rows == [
        ("3 -> 2", "the write of rank 0 fetches x@0", "step 2", "what it overtakes accesses no cell"),
        ("9 -> 8", "the write of rank 0 arrives at y@1", "step 8", "they access different cells"),
    ]


def test_the_heads_and_words_of_1to1() -> None:
    """Figure 4 and Example 15."""
    rows = first(ONE_TO_ONE, "heads", Rows)
    assert rows.header == ("rank", "command", "head 1", "head 2", "from here on")
    assert [row[2:4] for row in rows.rows] == [
        ("write0 popa0", "popb0"),
        ("write1 popa1", "popb1"),
        ("barrier0 barrier1", ""),
        ("load0", ""),
    ]
    word = "write0 popa0 write1 popa1 barrier0 barrier1 load0 | popb0 popb1"
    assert " ".join(first(ONE_TO_ONE, "heads", Word).letters) == word
    assert first(ONE_TO_ONE, "marked-word", Word).letters == [
        "(write0, ∅)",
        "(popa0, ∅)",
        "(write1, ∅)",
        "(popa1, ∅)",
        "(barrier0, {enter})",
        "(barrier1, {leave})",
        "(load0, {leave})",
        "|",
        "(popb0, ∅)",
        "(popb1, {enter})",
    ]


def test_the_automata_of_1to1_are_drawn_with_their_runs() -> None:
    drawn = [block for block in written(ONE_TO_ONE)[6].blocks if isinstance(block, Drawing)]
    assert [len(block.graph.nodes) for block in drawn] == [5, 5]
    for block in drawn:
        names = block.graph.nodes
        assert any(names[target] == "joined" for _, target in block.taken)
        assert set(block.taken) <= {edge[:2] for edge in block.graph.edges}


def test_the_costs_of_1to1() -> None:
    told = {chapter.name: chapter for chapter in chapters(explained(ONE_TO_ONE, 20_000))}
    (rows,) = (block.rows for block in told["emptiness"].blocks if isinstance(block, Rows))
    assert rows == [("2 heads", "944", "1,171", "a violation"), ("4 heads", "11,997", "14,891", "a violation")]
    (_, rows) = (block.rows for block in told["attack"].blocks if isinstance(block, Rows))
    assert [row[1] for row in rows] == ["14", "28", "63"]


# What is not so of every program


def test_sigma_has_other_values_where_e_was_read() -> None:
    """The last command stores what the steps behind it fetch."""
    (chapter,) = chapters(explained("iriw/iriw_get_unordered.pgas", 5_000), "sigma")
    told = " ".join(block.text for block in chapter.blocks if isinstance(block, Text))
    assert "there is an SC run sigma with the relation and the values of that computation, in which" in told
    assert "Now that e is gone, steps 10 and 12 of chapter 2 read or write other values than there. It is:" in told
    (chapter,) = chapters(explained("lectures/3_happens_before/3_09_increments.pgas", reading=LITERAL_READING), "sigma")
    told = " ".join(block.text for block in chapter.blocks if isinstance(block, Text | Remark))
    assert "Now that e is gone, step 4 of chapter 2 reads or writes another value than there." in told
    told = said(ONE_TO_ONE, "sigma")
    assert "sigma with the same relation and the same values, in which" in told and "is gone" not in told


@pytest.mark.parametrize(
    ("path", "clause"),
    [
        ("deadlock/missing_barrier.pgas", "."),  # all steps directly follow their issue
        ("store_buffering/store_buffering_atomic.pgas", "."),  # there are none
        ("captured_put/source_reused.pgas", ": steps come late, for on the network they may."),  # one rank alone
        ("one_to_one/one_to_one_wait.pgas", ": ranks take turns, and steps come late, for on the network they may."),
    ],
)
def test_what_is_late_in_a_robust_program(path: str, clause: str) -> None:
    told = said(path, "computation")
    assert re.search(rf"This one has \d+ events of \d+ commands?{re.escape(clause)} ", told)
    assert ("late" in told) == ("other events between" in told) == ("late" in clause)


@pytest.mark.parametrize(
    ("path", "clause"),
    [
        (ONE_TO_ONE, "; so that there is something to put in order, its ranks take turns here, with the same "
                     "happens-before relation."),
        ("lectures/3_happens_before/3_07_self_lost.pgas", "."),  # shown as it was found
        ("captured_put/still_on_its_way.pgas", "."),
        ("ticket_lock/ticket_lock_fence.pgas", "; its ranks take turns here, with the same happens-before relation."),
        ("ring/ring_shift_no_wait.pgas", "; what the cycle does not need at its end is left out here; so that there "
                                         "is something to put in order, its ranks take turns here, with the same "
                                         "happens-before relation."),
    ],
)  # fmt: skip
def test_how_the_computation_differs_from_what_was_found(path: str, clause: str) -> None:
    assert f"in normal form already{clause} " in said(path, "computation") + " "
    assert ("something to put in order" in clause) == ("Here nothing has to move" not in said(path, "normal-form"))


def test_what_overtakes_need_not_come_earlier() -> None:
    path = "halo/halo_no_wait.pgas"
    moved = [row[0].split(" -> ") for row in first(path, "normal-form", Rows).rows]
    assert any(int(before) <= int(after) for before, after in moved)
    assert "What overtakes what, and why it may:" in said(path, "normal-form")


def test_definition_4_is_about_events() -> None:
    sentence = "In every part the events of different commands stand in the order in which these commands are issued"
    assert f"{sentence} (Definition 4)" in said(ONE_TO_ONE, "normal-form")


def test_the_target_of_an_operation_may_be_the_rank_itself() -> None:
    points = dict(first("lectures/3_happens_before/3_07_self_lost.pgas", "program", Points).points)
    assert "write(x, 0, x, q)" in text("lectures/3_happens_before/3_07_self_lost.pgas")
    assert points["write"].endswith("its step popb writes the cell at the rank it names.")
    assert not [kind for kind, told in COMMANDS if "other rank" in told or "another rank" in told]


def test_a_bundle_is_explained_where_there_is_one() -> None:
    points = dict(first("bundled_signal/earlier_put.pgas", "program", Points).points)
    assert points["bundle"].startswith("does nothing by itself: a later signal comes after what this rank issues from")
    assert "since its latest bundle" in points["signal"]
    assert "bundle" not in dict(first(ONE_TO_ONE, "program", Points).points)


@pytest.mark.parametrize(
    "path",
    [
        "lectures/3_happens_before/3_07_self_lost.pgas",
        "lectures/5_flags_locks_atomics/5_15_spin_no_wait.pgas",
        "control/puts_in_a_loop_unordered.pgas",
    ],
)
def test_the_normal_form_found_again_in_two_parts(path: str) -> None:
    order = explained(path).order
    assert order is not None and max(order.parts) > 2
    divided = "It is the normal form of chapter 5, divided into two parts."
    found = [said(path, name) for name in ("emptiness", "attack")]
    assert any(divided in told for told in found)
    assert not any("It is the normal form of chapter 5." in told for told in found)


def test_the_normal_form_found_again_as_it_is() -> None:
    assert "It is the normal form of chapter 5." in said(ONE_TO_ONE, "emptiness")


def test_nothing_is_placed_later_than_in_the_last_part() -> None:
    rows = first("lectures/3_happens_before/3_07_self_lost.pgas", "heads", Rows).rows
    assert [row[-1] for row in rows] == ["popb of q in τ4", "popa of q in τ2 or later; popb of q in τ3 or later"]


def test_more_heads_than_the_paper_has() -> None:
    found = explain(program("update_from(add, x, 1, y, q, z);", "skip;"), timeout=120, searches=False)
    (chapter,) = chapters(found, "heads")
    told = [block.text for block in chapter.blocks if isinstance(block, Text | Remark)]
    assert told[0].startswith("Y(P, N) is a 5-headed automaton")
    assert told[1].startswith("The paper has 4 heads. Here e has 3 steps and cuts the computation into 5 parts")
    assert "The paper has" not in said(ONE_TO_ONE, "heads")


def test_a_search_that_was_stopped_says_so() -> None:
    sentence = "A search is stopped when it notices that it has passed 2,000 states or 15 s;"
    assert sentence in said(ONE_TO_ONE, "emptiness")
    assert first(ONE_TO_ONE, "emptiness", Rows).rows[1][3] == "stopped by the limit, so nothing"


def test_a_robust_program() -> None:
    path = "one_to_one/one_to_one_wait.pgas"
    assert "The program is robust, so any computation would do." in said(path, "computation")
    assert "It has no cycle" in said(path, "happens-before")
    assert "no cycle type accepts it" in said(path, "marked-word")
    assert "For none it might, so the program is robust." in said(path, "attack")
    assert "With two heads 3 cycle types were refuted." in said(path, "emptiness")


def test_a_program_in_error() -> None:
    path = "faults/division_by_zero.pgas"
    assert "The program is in error" in said(path, "program")
    assert "division by zero" in said(path, "program")
    assert not any(isinstance(block, ShownRun) for block in written(path)[0].blocks)
    (chapter,) = chapters(explained(path), "sigma")
    assert [type(block) for block in chapter.blocks] == [Text]


# The terminal


# The page
