"""Robustness with store buffers: known patterns, and the search and the analysis against trying every run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from time import sleep

import pytest

from pgasrob.analysis.store_buffers import store_buffers
from pgasrob.automata.automaton import Reached
from pgasrob.models.store_buffers.buffered_run import written_down
from pgasrob.models.store_buffers.buffered_space import BufferedSpace
from pgasrob.models.store_buffers.cycle_search import BufferedSearch
from pgasrob.program.parser import parse
from pgasrob.robustness.definition import DefinitionSearch
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.verdict import BufferedRun, Verdict
from tests.models.store_buffers.programs import buffering_program
from tests.oracle.store_buffers import violating
from tests.oracle.strategies import random_program
from tests.oracle.syntax import to_pgas
from tests.support import BY_VALUE, check_on_tso, examples

HEAD = "memory x, y, one = 1, to, told; register r, s; queue q, u unordered;\n"
LOOK = "process 1 { write(one, 0, y, q); wait(q); read(to, 0, x, q); wait(q); r <- mem[to]; }\n"
MOST = 8_000


def check(text: str, nodes: int = 2) -> Verdict:
    return check_on_tso(parse(HEAD + text), nodes, limits=Limits(max_states=100_000))


@pytest.mark.parametrize(
    ("first", "pairs", "verdict"),
    [
        ("mem[x] <- 1; r <- mem[y];", 1, "not robust"),
        ("mem[x] <- 1; await(mem[y] == 1);", 1, "robust"),  # in no run does it overtake and find the old value
        ("mem[x] <- 1; await(mem[y] == 0);", 1, "not robust"),
        ("mem[x] <- 1; r <- fetch(me, y);", 1, "not robust"),  # a plain load will do for it
        ("mem[x] <- 1; put(y, 1, told, q);", 1, "not robust"),  # reads its source at the issue
        ("mem[x] <- 1; r <- fetch(1, told); r <- mem[y];", 0, "robust"),  # comes back through the buffer
        ("mem[x] <- 1; r <- fetch_add(me, y, 0);", 0, "robust"),
        ("r <- swap(me, x, 1); r <- mem[y];", 0, "robust"),
        ("mem[x] <- 1; r <- fetch_add(1, told, 1); r <- mem[y];", 0, "robust"),
        ("mem[x] <- 1; write(one, 1, told, q); wait(q); r <- mem[y];", 0, "robust"),
        ("mem[x] <- 1; write(one, 1, told, q); wait_local(q); r <- mem[y];", 0, "robust"),
        ("mem[x] <- 1; put(one, 1, told, q); wait_local(q); r <- mem[y];", 1, "not robust"),  # nothing to wait for
        ("mem[x] <- 1; wait(q); r <- mem[y];", 1, "not robust"),
        ("write(one, 1, told, q); mem[x] <- 1; wait(q); r <- mem[y];", 1, "not robust"),  # the put was before the store
        ("mem[x] <- 1; fence(q); r <- mem[y];", 1, "not robust"),
        ("mem[x] <- 1; write(one, 1, told, u); fence(u); r <- mem[y];", 1, "not robust"),
        ("mem[x] <- 1; r <- mem[x];", 0, "robust"),  # from the buffer
        ("mem[y] <- 2; mem[x] <- 1; r <- mem[y];", 1, "not robust"),  # from the buffer, behind another store
        ("mem[x] <- 1; mem[y] <- 2; r <- mem[y];", 1, "robust"),  # from the buffer, behind nothing
        ("mem[one] <- 2; r <- mem[y];", 0, "robust"),  # nobody else accesses that cell
        ("mem[x] <- 1; r <- mem[one];", 0, "robust"),  # nobody writes it
        ("r <- mem[y]; mem[x] <- 1;", 0, "robust"),
        ("mem[x] <- 1; mem[y] <- 1;", 0, "robust"),
        ("mem[one] <- 1; mem[x] <- 1; mem[one] <- 2; r <- mem[y];", 1, "not robust"),
        ("choose { mem[x] <- 1; } or { r <- swap(me, x, 1); } s <- mem[y];", 1, "not robust"),
        ("loop { mem[x] <- 1; s <- fetch_add(me, one, 1); r <- mem[y]; }", 0, "robust"),
    ],
)
def test_store_then_load(first: str, pairs: int, verdict: str) -> None:
    """Rank 1 puts y and then gets x, with waits, so that everything hangs on rank 0."""
    found = check(f"process 0 {{ {first} }}\n{LOOK}")
    assert found.on_tso is not None, found
    assert (len(found.on_tso.overtaken), found.verdict) == (pairs, verdict)
    assert bool(found.on_tso.states) == bool(pairs)
    assert (found.on_tso.run is not None) == (verdict == "not robust")


@pytest.mark.parametrize(
    ("text", "nodes", "verdict"),
    [
        # message passing
        ("process 0 { mem[x] <- 1; mem[y] <- 1; } process { r <- fetch(0, y); s <- fetch(0, x); }", 2, "robust"),
        # load buffering
        ("process 0 { r <- mem[x]; mem[y] <- 1; } process { r <- fetch(0, y); s <- swap(0, x, 1); }", 2, "robust"),
        # 2 + 2 writes
        ("process 0 { mem[x] <- 1; mem[y] <- 2; } process { r <- swap(0, y, 1); s <- swap(0, x, 2); }", 2, "robust"),
        # store buffering in memory that is shared
        (
            "process 0 { mem[x] <- 1; r <- mem[y]; } process { mem[y @ 0] <- 1; r <- mem[x @ 0]; }", 2, "not robust",
        ),
        # independent reads of independent writes: stores reach all at once
        (
            "process 0 { mem[x] <- 1; } process 1 { mem[y @ 0] <- 1; }"
            "process 2 { r <- mem[x @ 0]; s <- mem[y @ 0]; } process 3 { r <- mem[y @ 0]; s <- mem[x @ 0]; }",
            4, "robust",
        ),
        # a value from the buffer, and then another cell (n6, n7 of the x86 manuals)
        (
            "process 0 { mem[x] <- 1; r <- mem[x]; s <- mem[y]; } process { mem[y @ 0] <- 1; r <- mem[x @ 0]; }",
            2, "not robust",
        ),
        # the locked instruction on one side alone does not do
        (
            "process 0 { r <- swap(me, x, 1); r <- mem[y]; } process { mem[y @ 0] <- 1; r <- mem[x @ 0]; }",
            2, "not robust",
        ),
        # barriers empty the buffer
        ("process 0 { mem[x] <- 1; barrier; r <- mem[y]; } process { mem[y @ 0] <- 1; barrier; r <- mem[x @ 0]; }",
         2, "robust"),
        # an own get that is pending brings a value to the cell that is loaded; it fails without store buffers, too
        ("process 0 { read(y, 1, to, q); mem[x] <- 1; r <- mem[y]; } process { r <- fetch(0, x); }", 2, "not robust"),
    ],
)  # fmt: skip
def test_known_patterns(text: str, nodes: int, verdict: str) -> None:
    assert check(text, nodes).verdict == verdict


def _holds(search: BufferedSearch | DefinitionSearch, most: int = 20_000) -> bool | None:
    """Whether the search finds no violation; None when it does not end."""
    for _ in search.run():
        if search.states > most:
            return None
    found = search.found if isinstance(search, BufferedSearch) else search.violation
    return None if search.gave_up else found is None


def _judge(run: BufferedRun) -> None:
    """The edges of the cycle are what they are said to be, and close up."""
    events = run.events
    for edge, after in pairwise((*run.cycle, run.cycle[0])):
        source, target = events[edge.source], events[edge.target]
        first, second = source.event, target.event
        assert edge.target == after.source
        match edge.relation:
            case "po":
                assert first.rank == second.rank and first.operation < second.operation
            case "id":
                assert first.issued == second.issued or (first.kind, second.kind) == ("barrier", "barrier")
            case _:
                assert first.cell == second.cell and first.cell is not None
                assert source.written is not None or target.written is not None
    assert any(edge.relation == "cf" for edge in run.cycle)


def test_the_search_finds_what_trying_every_run_finds() -> None:
    """Random programs: the search with what the analysis knows, the one that buffers all, the calculus, the oracle."""
    seen: Counter[str] = Counter()
    commands = (
        "load",
        "store",
        "read",
        "write",
        "wait",
        "put",
        "fetch",
        "load_there",
        "store_there",
        "swap",
        "barrier",
    )
    for seed in range(examples(83, 5_000)):
        program = random_program(seed, (2, 2), commands, faults=False) if seed % 5 == 0 else buffering_program(seed)
        truth = violating(program, MOST)
        instance = parse(to_pgas(program)).instantiate(reading=BY_VALUE)
        known = store_buffers(instance)
        search = BufferedSearch(instance, known)
        robust, without = _holds(search), _holds(DefinitionSearch(instance))
        if None in (truth, robust, without):
            seen["left open"] += 1
            continue
        assert robust is not truth, to_pgas(program)
        assert not (robust and not without), "what is a violation without store buffers is one with them"
        if not known.pairs:
            assert robust is without, to_pgas(program)
        if seed % 4 == 0:
            assert _holds(BufferedSearch(instance, None)) is robust, to_pgas(program)
        if search.found:
            run = written_down(instance, known, search.found)
            assert run is not None
            _judge(run)
        seen["pairs" if known.pairs else "none", bool(without), bool(robust)] += 1  # type: ignore[index]
    assert seen["left open"] <= len(seen)
    # Each of them is there: store buffers make the difference, or they might have.
    assert seen["pairs", True, False] > 2 and seen["pairs", True, True] > 2  # type: ignore[index]
    assert seen["none", True, True] > 30 and seen["none", False, False] > 20  # type: ignore[index]


@pytest.mark.parametrize(
    "kinds", [("store", "write", "read", "wait", "swap"), ("load", "write", "read", "wait", "put")]
)
def test_without_loads_or_without_stores_nothing_is_added(kinds: tuple[str, ...]) -> None:
    for seed in range(examples(60)):
        instance = parse(to_pgas(random_program(seed, (2, 2), kinds, faults=False))).instantiate(reading=BY_VALUE)
        assert not store_buffers(instance).pairs


def test_limits_leave_it_open() -> None:
    text = f"process 0 {{ mem[x] <- 1; await(mem[y] == 1); }}\n{LOOK}"
    found = check_on_tso(parse(HEAD + text), 2, limits=Limits(max_states=20))
    assert (found.verdict, found.reason and found.reason.code) == ("unknown", "state-limit")
    assert found.on_tso is not None and found.on_tso.run is None and not found.assumptions


def test_stores_that_pile_up_leave_it_open() -> None:
    endless = "process 0 { loop { mem[x] <- 1; r <- mem[y]; } }\nprocess { r <- fetch(0, x); r <- swap(0, y, 1); }"
    found = check_on_tso(parse(HEAD + endless), 2, limits=Limits(max_states=3_000))
    assert (found.verdict, found.reason and found.reason.code) == ("unknown", "pending-bound")


def test_the_seconds_are_those_of_both_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(search: BufferedSearch) -> Iterator[None]:
        sleep(0.3)
        yield

    monkeypatch.setattr(BufferedSearch, "run", slow)
    text = f"process 0 {{ mem[x] <- 1; await(mem[y] == 1); }}\n{LOOK}"
    assert check_on_tso(parse(HEAD + text), 2).stats.seconds >= 0.3


def test_what_is_not_robust_is_not_asked_about_store_buffers() -> None:
    found = check("process 0 { write(one, 1, x, q); write(one, 1, y, u); } process { r <- mem[y]; s <- mem[x]; }")
    assert found.verdict == "not robust" and found.witness is not None and found.on_tso is None


def _reached(text: str, nodes: int = 2) -> set[tuple[int, ...]]:
    """The registers of rank 0 in all final states of the machine in which it has ended."""
    instance = parse(HEAD + text).instantiate(nodes, BY_VALUE)
    machine = BufferedSpace(instance)
    reached = Reached(machine)
    ended = len(instance.automata[0].out) - 1
    states = [state for state in reached.expand() if machine.is_final(state) and state.x.control[0] == ended]
    return {state.x.registers[0] for state in states}


def test_a_load_finds_the_latest_store_of_its_rank() -> None:
    assert _reached("process { mem[x] <- 1; mem[x] <- 2; r <- mem[x]; }", 1) == {(2, 0)}
    there = "process 0 { mem[x] <- 1; mem[y] <- 2; r <- mem[x]; s <- mem[to]; } process { write(one, 0, to, q); }"
    assert _reached(there) == {(1, 0), (1, 1)}


def test_transfers_come_behind_the_stores_before_them() -> None:
    assert _reached("process { mem[x] <- 5; write(x, 0, to, q); wait(q); r <- mem[to]; }", 1) == {(5, 0)}
    assert _reached("process { mem[x] <- 5; put(x, 0, to, q); mem[x] <- 6; wait(q); r <- mem[to]; }", 1) == {(5, 0)}
    late = _reached("process { write(x, 0, to, q); mem[x] <- 5; wait(q); r <- mem[to]; }", 1)
    assert late == {(0, 0), (5, 0)}


def _run(text: str, *wanted: tuple[str, str]) -> BufferedRun | None:
    """The run that goes on by the first move that is as the next of ``wanted``: how, and the kind of the event."""
    instance = parse(HEAD + text).instantiate(2, BY_VALUE)
    machine = BufferedSpace(instance)
    state, words = machine.initial, []
    for how, kind in wanted:
        word, state = next(
            (word, target)
            for word, target in machine.successors(state)
            if (word[0].how, word[0].letter.kind) == (how, kind)
        )
        words.append(word)
    return written_down(instance, None, words)


def test_who_reads_from_the_buffer_comes_behind_the_store() -> None:
    alone = "process 0 { mem[y] <- 2; mem[x] <- 1; r <- mem[y]; } process { r <- swap(0, y, 3); r <- fetch(0, x); }"
    stores = (("buffered", "store"), ("buffered", "store"), ("issue", "load"))
    in_order = (*stores, ("drain", "store"), ("drain", "store"), ("issue", "swap"), ("issue", "fetch"))
    assert _run(alone, *in_order) is None
    late = (*stores, ("drain", "store"), ("issue", "swap"), ("issue", "fetch"), ("drain", "store"))
    run = _run(alone, *late)
    assert run is not None and run.events[2].source == 0 and run.events[2].read == 2
    # The load comes before the swap, as its store does.
    places = [(edge.source, edge.target, edge.relation) for edge in run.cycle]
    assert (2, 4, "cf") in places or (3, 4, "cf") in places
    _judge(run)


def test_fewer_stores_are_buffered_where_that_makes_no_difference() -> None:
    """With what the analysis knows fewer states are passed; the numbers are pinned."""
    text = f"process 0 {{ mem[to] <- 1; mem[told] <- 1; mem[x] <- 1; r <- mem[y]; }}\n{LOOK}"
    instance = parse(HEAD + text.replace("mem[y]", "mem[one]")).instantiate(2, BY_VALUE)
    counts = []
    for known in (store_buffers(instance), None):
        search = BufferedSearch(instance, known)
        assert _holds(search) is True
        counts.append(search.states)
    assert counts == [58, 148]
