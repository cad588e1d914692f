"""Replay, the judge of the engines: it accepts the paths of X(P, N) and nothing else."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.semantics.computation import Computation, Event
from pgasrob.semantics.replay import Change, ReplayError, replay
from pgasrob.semantics.state_space import StateSpace, computation_of
from tests.oracle.readings import Reading
from tests.oracle.replay import check_run
from tests.support import (
    UNFENCED,
    Drawn,
    computations,
    drawn_programs,
    examples,
    follow,
    instance,
    json_events,
    one_to_one,
    walks,
)


def only(program: Instance, length: int) -> Computation:
    """The one computation of that length."""
    (computation,) = [found for found in computations(program) if len(found) == length]
    return computation


def rejected(program: Instance, computation: Computation) -> str:
    with pytest.raises(ReplayError) as caught:
        replay(program, computation)
    return str(caught.value)


# What is accepted


@given(st.data(), drawn_programs(loops=True))
@settings(max_examples=examples(60))
def test_the_paths_of_x_replay_to_the_same_state(data: st.DataObject, drawn: Drawn) -> None:
    program = drawn.instance
    computation = computation_of(data.draw(walks(program)))
    run = replay(program, computation)
    assert run.complete and run.computation == computation
    assert (run.control, run.registers, run.memory) in {state[:3] for state in follow(program, computation)}


@pytest.mark.parametrize("block", UNFENCED)
def test_a_fence_rejects_no_more_than_it_orders(block: str) -> None:
    program = instance(block, "")
    assert all(replay(program, computation).complete for computation in computations(program))


@given(st.data(), drawn_programs(loops=True))
def test_the_oracle_accepts_the_same_runs_line_by_line(data: st.DataObject, drawn: Drawn) -> None:
    program = drawn.instance
    run = replay(program, computation_of(data.draw(walks(program))))
    assert all(
        not found.pending() for found in check_run(drawn.oracle, None, json_events(run), reading=Reading(waits="value"))
    )


def test_the_empty_run_is_complete() -> None:
    run = replay(one_to_one(), ())
    assert run.complete and run.events == () and run.memory == (1, 0, 1, 0)


def test_a_run_with_pending_steps_is_not_complete() -> None:
    computation = only(instance("write(x, 0, y, q);"), 3)
    assert [replay(instance("write(x, 0, y, q);"), computation[:end]).complete for end in range(4)] == [
        True,
        False,
        False,
        True,
    ]


# What the events did


def test_what_a_write_and_its_steps_did() -> None:
    program = instance("r <- 1; write(x, r, y, q);", "")
    run = replay(program, only(program, 4))
    assign, write, popa, popb = run.events
    assert assign.register_change == Change("r", 0, 1)
    assert (write.queue, write.target, write.read, write.cell_change) == (0, 1, None, None)
    assert (popa.read, popa.cell_change, popa.queue, popa.target) == (1, None, 0, 1)
    assert (popb.read, popb.cell_change) == (None, Change("y@1", 0, 1))
    assert write.command == popa.command == popb.command == "write(x, r, y, q)"
    assert write.span == popa.span != assign.span


def test_what_loads_and_stores_did() -> None:
    program = instance("r <- mem[x]; mem[y] <- r + 1; await(mem[y] == 2); assert(r == 2);")
    load, store, wait, claim = replay(program, only(program, 4)).events
    assert (load.read, load.register_change, load.cell_change) == (1, Change("r", 0, 1), None)
    assert (store.read, store.register_change, store.cell_change) == (None, None, Change("y@0", 0, 2))
    assert (wait.read, wait.register_change, wait.cell_change) == (2, None, None)
    assert (claim.holds, load.holds) == (False, None)


@pytest.mark.parametrize(
    ("command", "after"),
    [
        ("fetch_add(1, x, 2)", 3),
        ("fetch_add(1, x, 2147483647)", -2147483648),
        ("swap(1, x, 8)", 8),
        ("compare_swap(1, x, 1, 8)", 8),
    ],
)
def test_what_an_atomic_did(command: str, after: int) -> None:
    program = instance(f"r <- {command};", "")
    (event,) = replay(program, only(program, 1)).events
    assert (event.read, event.register_change, event.cell_change) == (1, Change("r", 0, 1), Change("x@1", 1, after))


def test_a_compare_swap_that_fails_reads() -> None:
    program = instance("r <- compare_swap(1, x, 0, 8);", "")
    (event,) = replay(program, only(program, 1)).events
    assert (event.event.kind, event.read, event.register_change, event.cell_change) == (
        "failed_compare_swap", 1, Change("r", 0, 1), None
    )  # fmt: skip


def test_commands_show_the_values_of_their_rank() -> None:
    program = one_to_one()
    run = replay(program, next(iter(found for found in computations(program) if len(found) == 10)))
    assert {event.command for event in run.events if event.event.kind == "write"} == {
        "write(x, 1, y, q)",
        "write(x, 0, y, q)",
    }


# What is rejected, rule by rule


def events(text: str) -> Computation:
    """``"store0.1@2:3"``: kind, rank, operation, occurrence (the operation when left out), cell."""
    found = []
    for part in text.split():
        match = re.fullmatch(r"([a-z_]+)(\d+)\.(\d+)(?:@(\d+))?(?::(\d+))?", part)
        assert match is not None, part
        kind, rank, operation, occurrence, cell = match.groups()
        found.append(
            Event(kind, int(rank), int(operation), None if cell is None else int(cell), int(occurrence or operation))
        )
    return tuple(found)


# Program, run, what is wrong with its last event or with its last barrier.
WRONG = [
    (("mem[x] <- 1;",), "store0.1@0:0", "has issued 0 commands before"),
    (("mem[x] <- 1;",), "store0.0@0:0 store0.1@0:0", "it is not a next command of the rank"),
    (("mem[x] <- 1;",), "load0.0:0", "it is not a next command of the rank"),
    (("mem[x] <- 1;",), "store0.0@7:0", "it is not a next command of the rank"),
    (("mem[x] <- 1;",), "store0.0:1", "accesses cell 0, not 1"),
    (("mem[x] <- 1;",), "store0.0", "accesses cell 0, not None"),
    (("mem[x] <- 1;",), "store1.0:0", "there is no rank 1"),
    (("mem[x] <- 1;",), "popa1.0:0", "there is no rank 1"),
    (("r <- 1 / s;",), "assign0.0", "the command faults: division by zero: 1 / 0"),
    (("assume(r == 1);",), "assume0.0", "the condition is false"),
    (("await(mem[x] == 2);",), "await0.0:0", "the cell holds 1 and the condition is false"),
    (("write(x, 0, y, q);",), "popa0.0:0", "belongs to no operation issued before"),
    (("mem[x] <- 1;",), "store0.0:0 popa0.0:0", "belongs to no operation issued before"),
    (("write(x, 0, y, q);",), "write0.0 popa0.1:0", "belongs to no operation issued before"),
    (("write(x, 0, y, q);",), "write0.0 popa0.0:1", "its cell is not that of the command"),
    (("write(x, 0, y, q);",), "write0.0 popa0.0:0 popb0.0:0", "its cell is not that of the command"),
    (("write(x, 0, y, q);",), "write0.0 popb0.0:1", "in the order popa, popb"),
    (("write(x, 0, y, q);",), "write0.0 popa0.0:0 popa0.0:0", "come once each"),
    (("write(x, 0, y, q);",), "write0.0 popa0.0:0 popb0.0:1 popb0.0:1", "in the order popa, popb"),
    (("write(x, 0, y, q); write(z, 0, w, q);",), "write0.0 write0.1 popa0.1:2", "an earlier popa has not happened"),
    (
        ("write(x, 0, y, q); write(z, 0, w, q);",),
        "write0.0 write0.1 popa0.0:0 popa0.1:2 popb0.1:3",
        "an earlier popb has not happened",
    ),
    (
        ("write(x, 0, y, u); fence(u); write(z, 0, w, u);",),
        "write0.0 fence0.1 write0.2 popa0.0:0 popa0.2:2 popb0.2:3",
        "a fence puts it after an earlier write",
    ),
    (("write(x, 0, y, q); wait(q);",), "write0.0 wait0.1", "is not complete"),
    (("write(x, 0, y, q); wait(q);",), "write0.0 popa0.0:0 wait0.1", "is not complete"),
    (("write(x, 0, y, q); wait_local(q);",), "write0.0 wait_local0.1", "is not locally complete"),
    (("read(x, 0, y, q); wait_local(q);",), "read0.0 popa0.0:1 wait_local0.1", "is not locally complete"),
    (("barrier;", "barrier;"), "barrier0.0", "one event of every rank, in rank order"),
    (("barrier;", "barrier;"), "barrier1.0 barrier0.0", "one event of every rank, in rank order"),
    (("barrier;", "barrier;"), "barrier0.0 barrier0.0", "one event of every rank, in rank order"),
    (("barrier;", "mem[x] <- 1; barrier;"), "barrier0.0 store1.0:4 barrier1.1", "in rank order"),
    (("barrier;", ""), "barrier0.0 barrier1.0", "it is not a next command of the rank"),
    (("barrier;", "mem[x] <- 1;"), "barrier0.0 barrier1.0", "it is not a next command of the rank"),
]


@pytest.mark.parametrize(("blocks", "text", "why"), WRONG, ids=[f"{text} - {why}" for _, text, why in WRONG])
def test_what_breaks_a_rule_is_rejected(blocks: tuple[str, ...], text: str, why: str) -> None:
    assert why in rejected(instance(*blocks), events(text))


def test_a_rejection_names_the_event() -> None:
    message = rejected(instance("write(x, 0, y, q); wait(q);"), events("write0.0 wait0.1"))
    assert message.startswith("event 1 (wait of rank 0, operation 1): ")


@pytest.mark.parametrize("kind", ["popa", "popb"])
def test_negative_operations_are_rejected(kind: str) -> None:
    """They must not count from the end of the history."""
    program = instance("write(x, 0, y, q);")
    rejected(program, (*events("write0.0"), Event(kind, 0, -1, 0, 0)))
    rejected(program, (Event("write", 0, -1, None, 0),))
    rejected(program, (Event("write", -1, 0, None, 0),))


# What is rejected, systematically


def mutants(program: Instance, computation: Computation) -> Iterator[Computation]:
    """``computation`` with one change, in every way: an event less, more, moved, or with another value in a field."""
    events = list(computation)
    kinds = {"popa", "popb", "load", "store", "wait", "barrier", "write", *(event.kind for event in events)}
    values = {
        "kind": kinds,
        "rank": range(-1, program.nodes + 1),
        "operation": range(-1, 1 + max((event.operation for event in events), default=0)),
        "cell": [None, *range(program.nodes * program.size)],
        "occurrence": range(-1, 2 + max((event.occurrence for event in events), default=0)),
    }
    for place, event in enumerate(events):
        before, after = events[:place], events[place + 1 :]
        yield (*before, *after)
        yield (*before, event, event, *after)
        for distance in range(1, len(after) + 1):
            yield (*before, *after[:distance], event, *after[distance:])
        for name, others in values.items():
            for value in others:
                yield (*before, event._replace(**{name: value}), *after)


def judge(program: Instance, candidate: Computation) -> None:
    """Replay must say what X(P, N) says of ``candidate``."""
    states = follow(program, candidate)
    if not states:
        rejected(program, candidate)
        return
    run = replay(program, candidate)
    assert run.complete == StateSpace(program).is_final(states[0])
    assert (run.control, run.registers, run.memory) in {state[:3] for state in states}


@given(st.data(), drawn_programs(loops=True))
@settings(max_examples=examples(10))
def test_a_mutated_computation_is_rejected_or_a_path_of_x(data: st.DataObject, drawn: Drawn) -> None:
    """Neither more nor less than X(P, N): the judge is neither lax nor strict."""
    program = drawn.instance
    for mutant in mutants(program, computation_of(data.draw(walks(program, 5)))):
        judge(program, mutant)


@given(st.data(), drawn_programs(loops=True))
@settings(max_examples=examples(40))
def test_a_computation_mutated_twice_is_rejected_or_a_path_of_x(data: st.DataObject, drawn: Drawn) -> None:
    program = drawn.instance
    once = data.draw(st.sampled_from([*mutants(program, computation_of(data.draw(walks(program, 5))))] or [()]))
    judge(program, data.draw(st.sampled_from([*mutants(program, once)] or [()])))


def test_a_step_carries_the_occurrence_of_its_command() -> None:
    program = instance("write(x, 0, y, q);")
    write, popa, popb = only(program, 3)
    rejected(program, (write, popa._replace(occurrence=5), popb))
    rejected(program, (write, popa, popb._replace(occurrence=5)))


@pytest.mark.parametrize("last", ["wait", "fence"])
def test_a_long_run_is_no_trouble(last: str) -> None:
    """The rules look at what is unfinished alone, not at the whole history again for every event."""
    queue = "q" if last == "wait" else "q unordered"
    program = parse(f"memory x = 1, y; queue {queue}; process {{ loop {{ write(x, me, y, q); {last}(q); }} }}")
    kinds = [("write", 0, None, 0), ("popa", 0, 0, 0), ("popb", 0, 1, 0), (last, 1, None, 1)]
    computation = tuple(
        Event(kind, 0, 2 * number + offset, cell, occurrence)
        for number in range(8_000)
        for kind, offset, cell, occurrence in kinds
    )
    began = time.process_time()
    assert replay(program.instantiate(1), computation).complete
    assert time.process_time() - began < 10
