"""Where interchangeable ranks come in the order of their numbers, the traces show what all traces show."""

from __future__ import annotations

from collections import Counter

import pytest

from pgasrob import twins
from pgasrob.analysis import line_up as module
from pgasrob.analysis.line_up import Behind, line_up
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.program.reading import DEFAULT_READING
from pgasrob.reference.trace_search import TraceSearch
from pgasrob.robustness.definition import DefinitionSearch
from pgasrob.robustness.engine import Engine, TraceEngine
from pgasrob.robustness.native_traces import NativeTraceSearch
from tests.robustness.drawn_crowds import drawn_crowd
from tests.support import examples

MOST_STATES, MOST_STATES_OF_X = 10_000, 1_000


def answer(search: Engine, most: int) -> bool | None:
    """Whether there is a violation; None when that is not known."""
    for _ in search.run():
        if search.states > most:
            return None
    if search.violation is None and search.gave_up is not None:
        return None
    return search.violation is not None


def facts(search: TraceEngine) -> tuple[bool, bool, set[object]]:
    found = search.facts
    return found.fault is not None, found.deadlock is not None, set(found.failed)


def crowds(first: int, count: int) -> list[Instance]:
    readings = (DEFAULT_READING.by_value, DEFAULT_READING, DEFAULT_READING)
    drawn = ((seed, parse(drawn_crowd(seed))) for seed in range(first, first + count))
    instances = (program.instantiate(None, readings[seed % 3]) for seed, program in drawn)
    return [program for program in instances if any(line_up(program))]


def test_some_orders_show_what_all_show() -> None:
    """30,000 programs when nightly."""
    seen: Counter[str] = Counter()
    for number, program in enumerate(crowds(0, examples(120, 30_000))):
        some, every = twins.trace_search(program), twins.trace_search(program, by_name=True)
        found, expected = answer(some, MOST_STATES), answer(every, 10 * MOST_STATES)
        if found is None or expected is None:
            continue
        assert found == expected, number
        if number % 5 == 0:
            by_definition = answer(DefinitionSearch(program), MOST_STATES_OF_X)
            assert by_definition in (None, found), number
            seen["by definition"] += by_definition is not None
        seen["violating" if found else "robust"] += 1
        if not found:
            assert facts(some) == facts(every), number
            assert some.undecided_sources == every.undecided_sources
            seen["deadlocks"] += facts(every)[1]
            seen["traces"] += some.traces
            seen["all traces"] += every.traces
    assert seen["violating"] > seen["robust"] / 10 > 3 and seen["deadlocks"] > 2 and seen["by definition"] > 2
    assert 3 * seen["traces"] < seen["all traces"]


@pytest.mark.skipif(not twins.available(), reason="the kernel has not been built")
def test_both_explorations_go_the_same_way() -> None:
    for program in crowds(50_000, examples(20, 1_000)):
        native, reference = NativeTraceSearch(program), TraceSearch(program)
        found = answer(native, 300)
        if found is not None:
            assert answer(reference, 300) == found
            assert (native.traces, native.states) == (reference.traces, reference.states)


NAMED = """nodes 3;
memory x = 1, y, one = 1;
register r;
queue q;
process 0 { await(mem[y] == 1); }
process { r <- swap(0, x, me); mem[x] <- me; if (r == me) { write(one, 0, y, q); } }
"""
"""x names rank 1: rank 0 waits in vain where rank 2 comes first."""
HANDED_ON = """nodes 3;
memory x, credit = 1;
register r;
queue q;
process 0 { skip; }
process { await_add(0, mem[credit] >= 1, -1); r <- swap(0, x, me); r <- fetch_add(0, credit, 1); }
"""
"""One rank at a time; rank 2 may have the credit before rank 1."""


def deadlocks(text: str) -> bool:
    search = twins.trace_search(parse(text).instantiate())
    assert answer(search, MOST_STATES) is not None
    return facts(search)[1]


def test_the_initial_state_may_name_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert deadlocks(NAMED)
    monkeypatch.setattr(module, "_alike_at_first", lambda _, __, ranks: list(ranks))
    assert not deadlocks(NAMED)


def test_ranks_may_have_to_wait_before() -> None:
    """A run ends where rank 2 has the credit first, which is no deadlock of the program."""
    program = parse(HANDED_ON).instantiate()
    assert line_up(program) == (None, None, Behind(1, 1))
    assert not deadlocks(HANDED_ON)


def test_counts_of_an_mcs_lock() -> None:
    """4 traces of 2 ranks, 15 of 3, 56 of 4; by name 4, 30 and 336: (N - 1)! times as many."""
    text = """nodes {0};
    memory next = -1, tail = -1, locked, mine, zero, last; register p, n; queue q;
    process {{
      mem[mine] <- me; mem[locked] <- 1;
      p <- swap(0, tail, me);
      if (p != -1) {{ write(mine, p, next, q); await(mem[locked] == 0); }}
      write(mine, 0, last, q); wait(q);
      p <- compare_swap(0, tail, me, -1);
      if (p != me) {{ await(mem[next] != -1); n <- mem[next]; write(zero, n, locked, q); }}
    }}"""
    for nodes, traces, by_name in ((2, 4, 4), (3, 15, 30), (4, 56, 336)):
        program = parse(text.format(nodes)).instantiate()
        for search, expected in (
            (twins.trace_search(program), traces),
            (twins.trace_search(program, by_name=True), by_name),
        ):
            assert answer(search, MOST_STATES) is False
            assert search.traces == expected
    assert line_up(program) == (None, None, Behind(1, 2), Behind(2, 2))
