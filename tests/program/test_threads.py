"""Threads of a rank: how they are written, numbered and named, and what is refused."""

from __future__ import annotations

import pytest

from pgasrob.api import check
from pgasrob.diagnostics import SourceError
from pgasrob.export.promela import Unsupported, to_promela
from pgasrob.program.instance import block_of
from pgasrob.program.parser import parse
from pgasrob.program.printer import to_source
from pgasrob.twins import trace_search

TEXT = """program threads;
nodes 3;
memory x;
register r;

process {
  r <- me;
  barrier;
}

process 0 thread 1 {
  mem[x] <- me;
}

process thread 1 {
  mem[x] <- nodes;
}

process 2 thread 2 {
  read(x, me - 1, x, 0);
}
"""


def test_processes_are_the_ranks_and_then_the_further_threads() -> None:
    program = parse(TEXT)
    instance = program.instantiate()
    assert to_source(program) == TEXT
    assert (instance.nodes, instance.processes, instance.has_threads) == (3, 7, True)
    assert instance.home == (0, 1, 2, 0, 1, 2, 2)
    assert [instance.process_name(each) for each in range(7)] == ["0.0", "1.0", "2.0", "0.1", "1.1", "2.1", "2.2"]
    assert [block_of(instance, each).thread for each in range(7)] == [0, 0, 0, 1, 1, 1, 2]
    accesses = [instance.operands(each, instance.automata[each].out[0][0], (0,)) for each in (3, 4, 6)]
    assert [each.access.cell for each in accesses[:2]] == [0, 1]  # the memory of the rank
    assert [each.update.operand for each in accesses[:2]] == [0, 3]
    assert [step.access.cell for step in accesses[2].steps] == [1, 2]


def test_a_barrier_is_passed_by_one_process_of_each_rank() -> None:
    text = "nodes 2; process { barrier; } process 0 thread 1 { barrier; } process 1 thread 1 { barrier(other); }"
    instance = parse(text).instantiate()
    passing = [tuple(process for process, _ in arrivals) for arrivals in instance.barriers((0,) * 4)]
    assert passing == [(0, 1), (2, 1)]


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("process 0 thread 2 { skip; } process { skip; }", "PG037", "rank 0 has a thread 2, but no thread 1"),
        ("process thread 1 { skip; } process 0 { skip; }", "PG030", "no process block for rank 1 of 2 nodes"),
        ("process 0 strand 1 { skip; } process { skip; }", "PG010", "expected `thread` or `{`, found `strand`"),
        ("process { skip; } process thread 1 { skip; } process thread 1 { skip; }", "PG033", "for thread 1"),
        ("process { skip; } process 0 thread 1 { } process 1, 0 thread 1 { }", "PG032", "rank 0 already has a process"),
    ],
)
def test_what_is_wrong_with_threads(text: str, code: str, message: str) -> None:
    with pytest.raises(SourceError) as error:
        parse(text).instantiate()
    assert error.value.diagnostics[0].code == code and message in str(error.value)


def test_nobody_is_sent_where_threads_are_refused() -> None:
    verdict = check(
        parse("memory x; register r; process { barrier; } process thread 1 { mem[x] <- 1; r <- mem[x]; }"), 2
    )
    assert verdict.verdict == "robust" and not verdict.one_block


def test_what_does_not_know_threads_says_so() -> None:
    several = parse("nodes 1; process { barrier; } process thread 1 { barrier; }").instantiate()
    with pytest.raises(SourceError) as error:
        trace_search(several)
    assert error.value.diagnostics[0].code == "PG038"
    with pytest.raises(Unsupported, match="several threads"):
        to_promela(several)
