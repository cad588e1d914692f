"""The readable report: what it says, that it fits, and that its table puts every event where it belongs."""

from __future__ import annotations

import re
from copy import deepcopy
from functools import cache
from itertools import pairwise
from typing import Any, cast

import pytest

from pgasrob.api import check
from pgasrob.frontends.lower import parse_c
from pgasrob.program.parser import parse
from pgasrob.render import lines as styled
from pgasrob.render import words
from pgasrob.render.result_report import report
from pgasrob.render.run_json import Witness
from pgasrob.render.verdict_json import Result, to_json
from pgasrob.render.verdict_text import initially
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.reasons import InternalError
from tests.render.test_verdict_json import DEADLOCK, ONE_TO_ONE

RING = """memory send_buffer[2] = {1, 2}, receive_buffer[2];
register index, received;
queue communication_queue;
process {
  index <- index + 1;
  write(send_buffer + index, (me + 1) % nodes, receive_buffer + index, communication_queue);
  barrier;
  received <- mem[receive_buffer + index];
}
"""

GOLDEN = """\
one_to_one.pgas: not robust on 2 nodes
  Rank 0 reads y in line 8 before the write of rank 1 in line 6 has arrived
  there, although both have passed the barrier in line 7. Nothing up to line 7
  waits until the write is complete at its target (barrier in line 7 does not).
  product engine: N states, 13 SC states, N s
  On the network an assertion of rank 0 in line 9 (`assert(r == 1)`) can fail;
  it fails in no sequentially consistent (SC) run.
  In every SC run the assertions hold and there is no deadlock.

A run on the network that no SC run looks like, in which the assertion of rank 0
in line 9 fails:
  Initially x = 1 on every rank; all else is 0.
  step │ rank 0                             │ rank 1
── τ₁ ─┼────────────────────────────────────┼───────────────────────────────────
   1-2 │ ... 2 events in line 6             │
     3 │                                    │*6  write(x, 0, y, q)
     4 │                                    │ 6  popa x@1 = 1 (of step 3)
   5-6 │*7  barrier                         │*7  barrier
     7 │*8  r <- mem[y]                     │
       │    reads y@0 = 0; r stays 0        │
── τ₂ ─┼────────────────────────────────────┼─ delayed ─────────────────────────
     8 │ 6  popb y@1: 0 -> 1 (of step 1)    │
     9 │                                    │*6  popb y@0: 0 -> 1 (of step 3)
───────┼────────────────────────────────────┼───────────────────────────────────
    10 │ 9  assert(r == 1)  FAILS           │
 11-12 │                                    │ ... 2 events in lines 8-9
  * marks the steps of a happens-before cycle. Events that the cycle does not
  need are folded (--full shows them). popa fetches the value of a read or write
  from its source, popb puts it at its destination. y@1 is y of rank 1.

The cycle, edge by edge (po program order, cf conflict, id one command):
  cf  step 7 (rank 0 loads y@0 in line 8) must come before step 9 (the write of
      rank 1 in line 6 arrives at y@0): it read the old value, y@0 = 0.
  id  step 9 and step 3 (rank 1 issues the write in line 6) are one write.
  po  step 3 must come before step 6 (barrier of rank 1 in line 7): program
      order of rank 1.
  id  step 6 and step 5 (barrier of rank 0 in line 7) are one barrier.
  po  step 5 must come before step 7: program order of rank 0.
  So step 7 would have to come before itself.

Steps 1 to 9 as a marked computation in normal form, with cycle type 0 1:
  (write₀, ∅) (popa₀, ∅) (write₁, ∅) (popa₁, ∅) (barrier₀, {enter})
  (barrier₁, {leave}) (load₀, {leave}) | (popb₀, ∅) (popb₁, {enter})
  τ₁ | τ₂ are the parts of the normal form. enter and leave mark where the cycle
  enters and leaves each rank; the cycle type is the order of the ranks.
"""


@cache
def checked(text: str, nodes: int | None, engine: str, limits: Limits) -> Result:
    return to_json(check(parse(text, "one_to_one.pgas"), nodes, engine, limits))


def result(text: str, nodes: int | None = None, engine: str = "product", **limits: Any) -> Result:
    # What memory there is changes, and with it what is looked up.
    return deepcopy(checked(text, nodes, engine, Limits(memory=None, **limits)))


def told(text: str, nodes: int | None = None, width: int = 80, full: bool = False, **options: Any) -> str:
    """The report without colour."""
    return styled.plain(report(result(text, nodes, **options), width, full=full))


def flat(text: str) -> str:
    """``text`` on one line, for sentences that are wrapped somewhere."""
    return " ".join(text.split())


def without_cost(text: str) -> str:
    return re.sub(r"[\d,.]+ states, (\d+ SC states), [\d.]+ s\n", r"N states, \1, N s\n", text)


@pytest.mark.parametrize(
    ("states", "sc_states", "counts"), [(1, 1, "1 state, 1 SC state,"), (0, 1_200, "0 states, 1,200 SC states,")]
)
def test_one_state_is_no_states(states: int, sc_states: int, counts: str) -> None:
    found = result(ONE_TO_ONE)
    found["stats"] |= {"states": states, "sc_states": sc_states, "seconds": 0.5}
    assert f"  product engine: {counts} 0.50 s\n" in styled.plain(report(found))


def test_the_report_of_one_to_one() -> None:
    assert without_cost(told(ONE_TO_ONE)) == GOLDEN


# What is known


def test_a_robust_verdict_names_its_node_count_and_carries_the_facts_over() -> None:
    text = flat(told(ONE_TO_ONE.replace("barrier", "wait(q); barrier"), nodes=3))
    assert "one_to_one.pgas: robust on 3 nodes" in text
    assert "On 3 nodes every run on the network looks like a sequentially consistent (SC) run." in text
    assert "In every run on the network the assertions hold and there is no deadlock." in text


def test_a_robust_verdict_says_that_failed_polls_are_left_out() -> None:
    text = "memory x; register r; process { while (r == 0) { r <- mem[x]; } }"
    without = "On 2 nodes every run on the network looks like a sequentially consistent (SC) run."
    assert "On 2 nodes every run on the network, but for polls that fail, looks like a sequentially" in flat(told(text))
    assert without not in flat(told(text))
    assert without in flat(told("memory x; register r; process { r <- mem[x]; }"))


def test_of_a_program_that_is_not_robust_only_sc_runs_are_known() -> None:
    text = flat(told(ONE_TO_ONE))
    assert "it fails in no sequentially consistent (SC) run. In every SC run" in text
    assert "In every SC run the assertions hold and there is no deadlock." in text
    assert "This says nothing about the other runs on the network." not in text
    assert "every run on the network" not in text
    unsaid = result(ONE_TO_ONE)
    unsaid["effect"] = unsaid["effect_detail"] = None
    text = flat(styled.plain(report(unsaid)))
    assert "In every sequentially consistent (SC) run the assertions hold and there is no deadlock." in text
    assert "This says nothing about the other runs on the network." in text


ROUNDS = """#include <GASPI.h>
#include <assert.h>
int main(void)
{
    gaspi_rank_t rank;
    gaspi_pointer_t base;
    gaspi_notification_t value;
    gaspi_proc_init(GASPI_BLOCK);
    gaspi_proc_rank(&rank);
    gaspi_segment_create(0, 2 * sizeof(int), GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
    gaspi_segment_ptr(0, &base);
    int *c = base;
    for (int i = 0; i < 3; i++)
        if (rank == 0) {
            c[0] = i + 1;
            gaspi_write_notify(0, 0, 1, 0, sizeof(int), sizeof(int), i, 1, 0, GASPI_BLOCK);
        } else {
            gaspi_notify_waitsome(0, i, 1, NULL, GASPI_BLOCK);
            assert(c[1] == i + 1);
        }
}
"""


def test_an_effect_says_that_it_is_one_iteration_that_it_is_about() -> None:
    """In the first iteration the assertion fails in SC runs, too: nobody waits before the next one writes."""
    result = to_json(check(parse_c(ROUNDS, "rounds.c"), 2))
    assert result["assertions"] == "violated" and result["effect"] == "assertion"
    assert words.effect(result) == (
        "On the network an assertion of rank 1 in line 19 (`assert(c[1] == i + 1)`) can fail; it fails in no SC run "
        "in the same iteration or call."
    )


def test_nothing_is_said_of_what_the_program_does_not_have() -> None:
    text = told("memory x; process { mem[x] <- 1; }")
    assert "assertion" not in text and "deadlock" not in text


def test_a_limit_leaves_everything_open() -> None:
    text = flat(told("memory x; register r; process { loop { r <- r + 1; mem[x] <- r; assert(1); } }", max_states=50))
    assert "unknown on 2 nodes" in text and "the limit of 50 states was reached" in text
    assert "says nothing about robustness. --max-states, --timeout and --memory-limit set the limits." in text
    unknown = "it is unknown whether the assertions hold and whether there is a deadlock."
    assert f"Not all sequentially consistent (SC) runs were seen, so {unknown}" in text
    assert "robust on" not in text


def test_a_failing_assertion_and_a_deadlock_come_with_their_runs() -> None:
    text = told(DEADLOCK, nodes=3)
    assert "robust on 3 nodes" in text and "the assertions hold" not in text and "no deadlock" not in text
    assert "An assertion fails, already in an SC run (below)." in text
    assert "There is a deadlock, already in an SC run (below)." in text
    assertion, deadlock = text.split("An SC run that ends in the deadlock:")
    assert "An SC run in which the assertion in line 5 fails:" in assertion
    assert re.search(r"2 │ 5  assert\(r == 4\)  FAILS", assertion)
    assert deadlock.endswith(
        "Where each rank stands:\n"
        "  rank 0 stands before barrier (line 6; it waits for ranks 1 and 2)\n"
        "  rank 1 stands before await(mem[flag] == 2) (line 9; flag@1 = 3)\n"
        "  rank 2 has ended\n"
    )


def test_a_deadlock_at_the_start() -> None:
    text = told("memory f; process { await(mem[f] == 1); }", nodes=1)
    assert "No command has been issued" in text and "rank 0 stands before await(mem[f] == 1) (line 1; f@0 = 0)" in text


def test_a_fault_names_file_line_rank_values_and_run() -> None:
    text = told("memory x = 2; register r;\nprocess 0 { }\nprocess 1 {\n  r <- mem[x];\n  r <- 8 / (r - 2);\n}")
    assert "one_to_one.pgas: error on 2 nodes" in text
    assert "one_to_one.pgas:5:3: error[PG040]: rank 1: division by zero: 8 / 0\n     5 | r <- 8 / (r - 2);\n" in text
    assert "       | ^^^^^^^^^^^^^^^^\n" in text
    assert "Registers of rank 1: r = 2." in text
    assert re.search(r"1 │ 4  r <- mem\[x\]  reads x@1 = 2; r: 0 -> 2", text)
    assert text.count("division by zero") == 1


def test_a_fault_of_a_command_that_the_source_does_not_spell_out_shows_it_as_others() -> None:
    text = flat(told("memory a[2]; register r;\nprocess {\n  r <- 2 / (1 - me\n    - r);\n}"))
    assert "3 | r <- 2 / (1 - me | ^^^^^^^^^^^^^^^^ The command is r <- 2 / (0 - r). Registers" in text


def test_a_text_that_is_no_program_shows_where_it_goes_wrong() -> None:
    found = result("process 0 { }", nodes=2)
    found |= {"nodes": None}
    text = styled.plain(report(found))
    assert text.startswith("one_to_one.pgas: error\none_to_one.pgas: error[PG030]: no process block for rank 1")
    assert text.count("no process block") == 1


@pytest.mark.parametrize(
    ("expected", "note"),
    [
        ("not robust", "not robust on 2 nodes (as expected)"),
        ("robust", "not robust on 2 nodes (expected robust)"),
        (None, "not robust on 2 nodes (no `// expect:` says what was expected)"),
    ],
)
def test_what_was_expected_stands_behind_the_verdict(expected: str | None, note: str) -> None:
    found = result(ONE_TO_ONE)
    found |= {"expected": expected, "as_expected": expected == "not robust"}
    assert note in styled.plain(report(found))


def test_a_file_without_a_node_count_can_only_be_expected_to_be_an_error() -> None:
    found = result("process 0 { }", nodes=2)
    found |= {"nodes": None, "expected": None, "as_expected": False}
    assert "error (no `// expect: error` without `at ...`, for it has no node count)" in styled.plain(report(found))


# The table


def rows(text: str) -> list[str]:
    """The lines of the first table, without the lines between parts."""
    table = re.findall(r"^.*[│┼].*$", text, re.MULTILINE)
    return [line for line in table if "┼" not in line]


def lanes(text: str) -> dict[str, list[str]]:
    """For each step number of the table what stands in its lanes."""
    return {cells[0].strip(): cells[1:] for line in rows(text)[1:] if (cells := line.split("│"))[0].strip()}


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160])
@pytest.mark.parametrize("nodes", [2, 3, 4])
@pytest.mark.parametrize(
    ("program", "engine"),
    [(ONE_TO_ONE, "product"), (ONE_TO_ONE, "definition"), (RING, "definition")],
    ids=["one_to_one-product", "one_to_one-definition", "ring-definition"],
)
def test_no_line_is_too_long(program: str, nodes: int, width: int, engine: str) -> None:
    text = told(program, nodes, width, engine=engine)
    assert "not robust" in text
    assert max(map(len, text.splitlines())) <= width
    assert not re.search(r" $", text, re.MULTILINE)


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160])
@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_nothing_is_lost_by_wrapping(nodes: int, width: int) -> None:
    """Every lane (the last cell of a single column) spells out commands and changes, however narrow it is."""
    found = result(RING, nodes, engine="definition")
    table = rows(styled.plain(report(found, width, full=True)))
    single = re.search(r"│ 0 1", table[1])
    for rank in range(nodes):
        mine = [line.split("│") for line in table[1 + bool(single) :]]
        if single:
            spelled, owner = "", ""
            for _, track, entry in mine:
                owner = track.strip() or owner  # a line that continues an entry has no rank number
                spelled += entry if owner == str(rank) else ""
        else:
            spelled = "".join(cells[1 + rank] for cells in mine)
        spelled = re.sub(r"\s", "", spelled)
        for event in (found["witness"] or {})["computation"]:  # type: ignore[typeddict-item]
            if event["rank"] == rank:
                parts = words.effects(event)
                parts += [event["event"]] if event["event"] in words.STEPS else [event["command"]]
                assert all(part.replace(" ", "") in spelled for part in parts)


def test_every_event_is_in_the_lane_of_its_rank_in_the_order_of_time() -> None:
    found = result(ONE_TO_ONE, 3, engine="definition")
    text = styled.plain(report(found, 120, full=True))
    table = lanes(text)
    steps = [step for step in table if "-" not in step]
    assert steps == sorted(steps, key=int)
    witness = found["witness"]
    assert witness
    for place, event in enumerate(witness["computation"]):
        if event["event"] == "barrier":
            continue
        cells = table[str(place + 1)]
        name = event["event"] if event["event"] in words.STEPS else event["command"]
        assert [name in cell for cell in cells] == [rank == event["rank"] for rank in range(3)]
    assert all("barrier" in cell for cell in table["4-6"])


def test_lanes_give_way_to_a_single_column_when_they_get_too_narrow() -> None:
    assert " step │ rank 0 " in told(ONE_TO_ONE, 3, 80)
    assert " step │ rank 0 " in told(ONE_TO_ONE, 4, 120)
    narrow = told(ONE_TO_ONE, 4, 80, full=True, engine="definition")
    assert " step │ 0 1 2 3 │" in narrow
    assert "    3 │     2   │ 6  write(x, 3, y, q)" in narrow
    assert "    8 │       3 │*7  barrier" in narrow


def test_lanes_give_way_when_nearly_every_entry_would_be_wrapped() -> None:
    assert " step │ rank 0 " in told(RING, 3, 160, full=True, engine="definition")
    assert " step │ 0 1 2 │" in told(RING, 3, 80, full=True, engine="definition")


def test_ranks_without_events_have_no_lane() -> None:
    violation = told("memory x; queue q; process 1 { write(x, 0, x, q); mem[x] <- 1; } process { }", nodes=3)
    assert "│ rank 1\n" in violation and "│ rank 0" not in violation
    assert "Ranks 0 and 2 have no event here." in flat(violation)


def test_the_events_of_the_cycle_are_marked_without_colour() -> None:
    found = result(ONE_TO_ONE)
    table = lanes(styled.plain(report(found)))
    marked = {step for step, cells in table.items() if any(cell.startswith("*") for cell in cells)}
    assert marked == {"3", "5-6", "7", "9"}
    assert found["witness"] and {place + 1 for place in words.cycle_steps(found["witness"])} == {3, 5, 6, 7, 9}


def test_parts_of_the_normal_form_are_set_apart() -> None:
    text = told(ONE_TO_ONE)
    first, second = text.index("τ₁"), text.index("τ₂")
    assert first < text.index("1-2 │") < text.index("7 │") < second < text.index("delayed") < text.index("8 │")
    assert "τ" not in told(ONE_TO_ONE, engine="definition")


def test_equal_and_unequal_initial_values() -> None:
    found = result(ONE_TO_ONE)
    assert found["effect_run"]
    found["effect_run"]["memory"][2]["value"] = 5
    assert "Initially x@0 = 1, x@1 = 5; all else is 0." in styled.plain(report(found))


@pytest.mark.parametrize(
    ("memory", "sentence"),
    [
        ("x", "Initially everything is 0."),
        ("x, one = 1", "Initially one = 1 on every rank; all else is 0."),  # though no event accesses it
        ("x, a[3] = {0, -2}, b[2]", "Initially a = {0, -2} on every rank; all else is 0."),
        ("x = 7, a[1] = 3", "Initially x = 7 on every rank, a = {3} on every rank; all else is 0."),
        ("x, a[8] = {1, 2, 3, 4, 5, 6, 7, 8}", "Initially a = {1, 2, 3, 4, 5, 6, 7, 8} on every rank; all else is 0."),
        ("x, a[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}",
         "Initially a = {1, 2, 3, 4, 5, 6, ..., 9} on every rank; all else is 0."),
        ("x, " + ", ".join(f"v{number} = 1" for number in range(22)),
         ", v19 = 1 on every rank, and 2 more that the program declares; all else is 0."),
    ],
)  # fmt: skip
def test_the_initial_values_of_all_memory_are_told(memory: str, sentence: str) -> None:
    assert sentence in flat(told(f"memory {memory}; process {{ mem[x] <- 1; assert(0); }}"))
    assert sentence in flat(told(f"memory {memory}; process {{ await(mem[x] == 5); }}"))


def test_a_fault_that_is_not_excluded_is_a_line_of_its_own_and_the_verdict_stands() -> None:
    text = "memory x; register r, s; process {{ loop {{ r <- r + 1; s <- {}; assert(1); }} }}"
    found = result(text.format("1 / (r | 1)"), max_states=500)
    assert (found["verdict"], found["faults"], found["assertions"]) == ("robust", "unknown", "unknown")
    assert (found["reason_code"], found["limit"]) == ("fault-possible", "max-states")
    said = flat(styled.plain(report(found)))
    assert "a fault cannot be excluded: the limit of 500 states was reached" in said
    unknown = "whether a command faults, whether the assertions hold and whether there is a deadlock"
    assert f"it is unknown {unknown}. --max-states sets the limit." in said
    found = result(text.format("r | 1"), max_states=500)
    assert (found["verdict"], found["faults"], found["reason_code"]) == ("robust", "none", "sc-runs-left")
    assert "fault" not in flat(styled.plain(report(found)))


def test_the_sentence_about_an_unknown_verdict_is_true() -> None:
    found = result("memory x; register r; process { loop { r <- r + 1; mem[x] <- r; assert(1); } }", max_states=50)
    sentence = "The search did not end, so this says nothing about robustness."
    assert sentence in flat(styled.plain(report(found)))
    assert "--max-states, --timeout and --memory-limit set the limits." in flat(styled.plain(report(found)))
    wrong = InternalError.of_run("product", "does not replay")
    found.update(reason=str(wrong), reason_code=wrong.code, limit=wrong.option)
    assert sentence not in flat(styled.plain(report(found)))


# Words


@pytest.mark.parametrize(
    ("command", "why"),
    [("mem[x] <- 2;", "which overwrote x@0"), ("r <- mem[x];", "it read the old value, x@0 = 0")],
    ids=["write and write", "read and write"],
)
def test_conflicts_say_what_happened(command: str, why: str) -> None:
    program = "memory one = 1, x; register r; queue q; process { write(one, 0, x, q); COMMAND }"
    text = flat(told(program.replace("COMMAND", command), nodes=1))
    assert why in text and "step 3 would have to come before itself" in text


def test_a_value_that_was_read_is_named() -> None:
    program = """memory x, y, one = 1; register r; queue q unordered;
        process 0 { write(one, 1, x, q); write(one, 1, y, q); }
        process 1 { await(mem[y] == 1); r <- mem[x]; }"""
    text = flat(told(program))
    assert "(rank 1 sees y@1 in its await in line 3), which read the value it wrote, y@1 = 1." in text


def test_the_cycle_is_spelled_out_as_the_json_has_it_and_closes_up() -> None:
    for program, nodes in ((ONE_TO_ONE, 3), (RING, 2)):
        found = result(program, nodes, "definition")
        text = styled.plain(report(found)).split("The cycle, edge by edge")[1]
        edges = re.findall(r"^  (po|cf|id)  (.*(?:\n      .*)*)$", text, re.MULTILINE)
        assert found["witness"] and found["witness"]["cycle"]
        numbers = [[int(number) for number in re.findall(r"step (\d+)", sentence)] for _, sentence in edges]
        pairs = [(relation, *steps) for (relation, _), steps in zip(edges, numbers, strict=True)]
        expected = [(edge["relation"], edge["from"] + 1, edge["to"] + 1) for edge in found["witness"]["cycle"]]
        start = expected.index(pairs[0])
        assert pairs == expected[start:] + expected[:start]
        assert all(first[2] == second[1] for first, second in pairwise([*pairs, pairs[0]]))
        assert pairs[0][0] == "cf" and f"So step {pairs[0][1]} would have to come before itself." in text


def test_every_step_of_the_cycle_is_described_once() -> None:
    sentences = flat(told(RING, engine="definition").split("id one command):")[1])
    described = re.findall(r"(step \d+) \(", sentences)
    assert described and len(described) == len(set(described))
    assert set(described) == set(re.findall(r"step \d+", sentences))


# Colour and characters


def test_a_recorded_value_is_only_said_of_the_ranks_whose_memory_is_known() -> None:
    memory = [{"rank": rank, "index": rank, "name": "t[0]", "value": 7} for rank in (0, 1)]
    run = {"nodes": 2, "computation": [], "memory": memory, "unknown": 0}
    assert "t[0] = 7 on every rank" in initially(cast(Witness, run)).replace("\u00a0", " ")
    known = initially(cast(Witness, {**run, "memory": memory[:1]})).replace("\u00a0", " ")
    assert "t[0]@0 = 7" in known and "every rank" not in known
