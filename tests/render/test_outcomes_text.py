"""The table of outcomes and the report of a simulated run, in text and in JSON."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from pgasrob.program.parser import parse
from pgasrob.render.lines import ASCII, plain
from pgasrob.render.outcomes_json import OutcomesResult, outcomes_to_json
from pgasrob.render.outcomes_text import (
    MOST_ROWS,
    count_text,
    example_report,
    final_values,
    outcomes_report,
)
from pgasrob.render.run_json import Witness
from pgasrob.robustness.limits import Limits
from pgasrob.runs.outcomes import outcomes
from tests.support import instance, one_to_one

STORE_BUFFERING = """memory one = 1, x;
register r;
queue q;
process {
  write(one, (me + 1) % nodes, x, q);
  r <- mem[x];
}
"""
TABLE = """sb.pgas: 4 outcomes on 2 nodes, 1 network-only
  6 SC runs, 630 runs on the network, 13 SC states, 62 states, 0.00 s

    │  r@0  r@1 │  SC runs  network runs
  1 │    0    0 │        0           264  network-only
  2 │    0    1 │        1           149
  3 │    1    0 │        1           149
  4 │    1    1 │        4            68
  Not in the table, for all agree: one = 1 on every rank, x = 1 on every rank.
  No SC run has outcome 1, so no run to it looks like one: the program is not
  robust. --example 1 shows a run.
"""


def result_of(source: str, **more: Any) -> OutcomesResult:
    result = outcomes_to_json(outcomes(parse(source, "sb.pgas").instantiate(), **more))
    result["stats"]["seconds"] = 0.0
    return result


def text(result: OutcomesResult, width: int = 80) -> str:
    lines = plain(outcomes_report(result, width))
    assert max(map(len, lines.splitlines())) <= width
    return lines


def blocks(*texts: str, **more: Any) -> OutcomesResult:
    return outcomes_to_json(outcomes(instance(*texts), **more))


def test_one_state_is_no_states() -> None:
    assert "1 SC run, 1 run on the network, 1 SC state, 1 state, 0.00 s" in text(result_of("nodes 1; process { }"))


def test_the_table() -> None:
    assert text(result_of(STORE_BUFFERING)) == TABLE


def test_the_text_is_drawn_from_the_json_alone() -> None:
    result = result_of(STORE_BUFFERING)
    assert text(json.loads(json.dumps(result))) == TABLE


def test_the_mark_is_no_matter_of_colour_and_ascii_will_do() -> None:
    shown = plain(outcomes_report(result_of(STORE_BUFFERING), 80, ASCII))
    assert shown.isascii()
    assert [line.endswith("network-only") for line in shown.splitlines()[4:8]] == [True, False, False, False]


def test_nothing_network_only_is_not_called_robust() -> None:
    shown = text(blocks("mem[x] <- 2;"))
    assert "does not make the program robust" in " ".join(shown.split())
    assert "none network-only" in shown
    assert "1 outcome on 1 node," in shown
    assert "1 SC run, 1 run on the network" in shown


def test_an_empty_branch_at_the_end_is_mentioned() -> None:
    """A rank that can move does, so runs that end in such a branch are not among those counted."""
    silent, shown = blocks("choose { r <- 1; } or { skip; }"), blocks("choose { r <- 1; } or { assume(1); }")
    assert (len(silent["outcomes"]), silent["left_out"]) == (1, [1])
    assert (len(shown["outcomes"]), shown["left_out"]) == (2, [])
    sentence = "may also end before the command in line 1, by an empty branch"
    assert sentence in " ".join(text(silent).split()) and sentence not in " ".join(text(shown).split())


def test_an_example() -> None:
    result = result_of(STORE_BUFFERING)
    shown = plain(example_report(result, 1))
    assert shown.startswith("A run on the network with outcome 1:\n")
    assert "The cycle, edge by edge" in shown
    shown = plain(example_report(result, 4))
    assert shown.startswith("An SC run with outcome 4:\n")
    assert "cycle" not in shown


def test_endings_and_failures() -> None:
    shown = text(blocks("r <- mem[y]; assert(r == 0); await(mem[z] == r);", "write(x, 0, y, q);"))
    assert "deadlock, line 1 fails on rank 0" in shown
    assert "deadlock: no rank can move" in shown
    shown = text(blocks("assume(r == 1);"))
    assert "stopped" in shown
    shown = text(blocks("r <- 1 / r;"))
    assert "Rank 0 cannot evaluate line 1: division by zero: 1 / 0 (met in an SC run)." in shown
    result = blocks("r <- 1 / r;")
    fault = cast(Witness, result["outcomes"][0]["example"])["fault"]
    assert fault is not None
    assert (fault["rank"], fault["reason"]) == (0, "division by zero: 1 / 0")
    assert "registers" in plain(example_report(result, 1)).casefold()


def test_a_fault_on_the_network_only() -> None:
    result = blocks("barrier; r <- mem[y]; r <- 1 / r;", "write(x, 0, y, q); barrier;")
    assert [fault["in_sc"] for fault in result["faults"]] == [False]
    assert "(met on the network only)" in " ".join(text(result).split())


def test_values_beside_the_table() -> None:
    shown = text(result_of(STORE_BUFFERING, of=["one@0", "x"]))
    assert "At the end of every run seen: one@0 = 1, x = 1 on every rank." in shown
    # Zeros are named when they were asked for: else is what was not.
    shown = text(blocks("mem[x] <- 1;", of=["x", "y"]))
    assert "y@0 = 0" in shown


@pytest.mark.parametrize(
    ("values", "everything", "said"),
    [
        ({"x@0": 1, "x@1": 1, "y@0": 0, "y@1": 0}, True, "x = 1 on every rank; all\u00a0else\u00a0is\u00a00"),
        ({"x@0": 1, "x@1": 2}, True, "x@0 = 1, x@1 = 2"),
        ({"x@0": 1, "x@1": 0}, True, "x@0 = 1; all else is 0"),
        ({"x@0": 0, "x@1": 0}, True, "everything is 0"),
        ({"x@0": 0, "x@1": 0}, False, "x = 0 on every rank"),
        ({"x@0": 0}, False, "x@0 = 0"),
        ({"a[1]@0": 5, "a[1]@1": 5}, False, "a[1] = 5 on every rank"),
    ],
)
def test_final_values(values: dict[str, int], everything: bool, said: str) -> None:
    assert final_values(values, 2, everything).replace("\u00a0", " ") == said.replace("\u00a0", " ")


def test_many_values_are_cut_short() -> None:
    values = {f"a[{index}]@0": index + 1 for index in range(100)}
    assert final_values(values, 2, True).endswith("and 80 more")


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (None, "?"), (0, "0"), (12345, "12,345"), (10**15 - 1, "999,999,999,999,999"), (10**15, "1.00e15"),
        (1999 * 10**400, "1.99e403"),
    ],
)  # fmt: skip
def test_counts(count: int | None, shown: str) -> None:
    assert count_text(count) == shown


def test_too_many_columns_are_paragraphs() -> None:
    names = ("rather_long", "another_one", "the_third_register")
    loads = " ".join(f"{name} <- fetch(1, x);" for name in names)
    result = result_of(f"memory x; register {', '.join(names)}; process 0 {{ {loads} }} process 1 {{ mem[x] <- 1; }}")
    assert "│" in text(result, 100)
    narrow = text(result, 60)
    assert "│" not in narrow
    assert (
        "   1  SC runs 1, network runs 1\n"
        "      rather_long@0 = 0, another_one@0 = 0,\n"
        "      the_third_register@0 = 0\n"
        "   2  SC runs 1, network runs 1\n" in narrow
    )


def test_of_many_outcomes_the_network_only_ones_are_listed() -> None:
    """A race of many values, and one outcome at the very end that only the network has."""
    stores = " or ".join(f"{{ r <- {index}; }}" for index in range(1, 60))
    more = f"choose {stores} s <- r; choose {' or '.join(f'{{ r <- {index}; }}' for index in range(1, 5))}"
    result = blocks(f"{more} write(x, 0, y, u); s <- s * 1000 + mem_; ".replace(" + mem_", ""), of=["r", "s"])
    assert len(result["outcomes"]) == 59 * 4
    shown = text(result)
    assert "36 more outcomes are not listed" in shown
    assert shown.count("\n") < MOST_ROWS + 20
    result["outcomes"][-1]["network_only"] = True
    result["network_only"] = 1
    shown = text(result)
    assert "236 │" in shown
    assert "network-only" in next(line for line in shown.splitlines() if "236 │" in line)


# Cut short


def test_a_cut_enumeration_says_so() -> None:
    drawn = one_to_one("", 3)
    shown = text(outcomes_to_json(outcomes(drawn, limits=Limits(max_states=100))))
    assert ": unknown, " in shown.splitlines()[0]
    assert "the limit of 100 states was reached" in shown
    assert "there may be more outcomes" in shown
    assert "network runs" in shown
    assert "?" in shown
    assert "does not make" not in shown
    result = outcomes_to_json(outcomes(drawn, limits=Limits(max_states=1)))
    assert (result["complete"], result["sc_complete"], result["network_only"]) == (False, False, None)
    assert "Which are network-only is not known." in text(result)


def test_what_is_not_known_is_not_called_network_only() -> None:
    result = result_of(STORE_BUFFERING)
    result["outcomes"][0]["network_only"] = None
    result["complete"] = result["sc_complete"] = False
    result["reason"] = "a limit"
    shown = text(result)
    assert "264  network-only?" in shown
    assert "is not\n  robust" not in shown


# A simulated run
