"""The oracle's own tests: known programs, the two modes of `decide` against each other, replay, the generator."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from .control import automaton
from .definition import decide
from .expressions import Fault, Unary, evaluate, op, to_text
from .happens_before import is_violating, witness
from .litmus import LITMUS, message, one_to_one, polling, ranks
from .replay import check_deadlock, check_failed_assert, check_fault, check_run, check_sc, check_witness
from .semantics import Machine
from .strategies import COMMANDS, LOOPS, programs, random_program
from .syntax import (
    Assert,
    Assign,
    Assume,
    Await,
    Barrier,
    Cell,
    Choose,
    If,
    Load,
    Loop,
    Process,
    Program,
    Queue,
    Skip,
    Statement,
    Store,
    Wait,
    While,
    Write,
    event_name,
    numbered,
    statements,
    to_pgas,
)

# Expressions and text


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        (op("+", 2**31 - 1, 1), -(2**31)),
        (op("*", 65536, 65536), 0),
        (op("/", -7, 2), -3),
        (op("%", -7, 2), -1),
        (op("/", op("-", 2**31), -1), -(2**31)),
        (op("%", op("-", 2**31), -1), 0),
        (op(">>", -5, 1), -3),
        (op("<<", 1, 31), -(2**31)),
        (op("&&", 0, op("/", 1, 0)), 0),
        (op("||", 5, op("/", 1, 0)), 1),
        (op("?:", 1, 3, op("/", 1, 0)), 3),
        (op("!", 7), 0),
        (op("~", 0), -1),
    ],
)
def test_values(expr: Any, value: int) -> None:
    assert evaluate(expr, {}) == value


@pytest.mark.parametrize(
    "expr", [op("/", 1, 0), op("%", 1, 0), op("<<", 1, 32), op(">>", 1, -1), op("&&", 1, op("/", 1, 0))]
)
def test_faults(expr: Any) -> None:
    with pytest.raises(Fault):
        evaluate(expr, {})


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (op("*", op("+", 1, 2), 3), "(1 + 2) * 3"),
        (op("-", 1, op("-", 2, 3)), "1 - (2 - 3)"),
        (op("-", op("-", 1, 2), 3), "1 - 2 - 3"),
        (op("&", op("==", "r", 1), 1), "r == 1 & 1"),
        (op("==", op("&", "r", 1), 1), "(r & 1) == 1"),
        (op("<", "r", -1), "r < -1"),
        (op("-", op("-", 1)), "-(-1)"),
        (op("?:", op("?:", 1, 2, 3), 4, op("?:", 5, 6, 7)), "(1 ? 2 : 3) ? 4 : 5 ? 6 : 7"),
        (Unary("!", op("||", "r", "me")), "!(r || me)"),
    ],
)
def test_text(expr: Any, text: str) -> None:
    assert to_text(expr) == text


PRINTED = """\
// expect: not robust
program generated;
nodes 2;
memory x = -1, a[2] = {1, 2};
register r;
queue q, p unordered;
process 0 {
  if (r == 1) {
    r <- mem[a + 1];
  } else {
    skip;
  }
  choose {
  } or {
    await(mem[x] == (r < 1));
  }
}
process {
  while (1) {
    loop {
      mem[x] <- me;
    }
  }
  wait(q);
}
"""


def test_printing_and_lines() -> None:
    first = (
        If(op("==", "r", 1), (Load("r", op("+", "a", 1)),), (Skip(),)),
        Choose(((), (Await("x", "==", op("<", "r", 1)),))),
    )
    second = (While(1, (Loop((Store("x", "me"),)),)), Wait("q"))
    memory = (Cell("x", None, (-1,)), Cell("a", 2, (1, 2)))
    program = Program((Process(first, (0,)), Process(second)), 2, memory, queues=(Queue("q"), Queue("p", True)))
    assert to_pgas(program, "not robust") == PRINTED
    lines = PRINTED.splitlines()
    for process in numbered(program).processes:
        for statement in statements(process.body):
            word = event_name(statement) if isinstance(statement, Skip | Wait | Await) else ""
            assert lines[statement.line - 1].strip().startswith(word)
    assert [s.line for s in statements(numbered(program).processes[0].body)] == [8, 9, 11, 13, 15]


# Control: no silent edges


def test_choose_and_loop_commit_to_nothing() -> None:
    body = (Choose(((Store("x", 1), Wait("q")), (Skip(), Skip()))), Loop((Skip(), Barrier())), Skip())
    table = automaton(body)
    assert [edge.command for edge in table[0]] == [Store("x", 1), Barrier()]
    assert [edge.command for edge in table[table[0][1].target]] == [Barrier()]


def test_a_state_without_commands_has_ended() -> None:
    assert automaton((Skip(), Loop(()), Loop((Loop((Skip(),)),)), Choose(((), (Skip(),))))) == [[]]


def test_each_test_is_one_assume() -> None:
    (yes, no), *_ = automaton((If("r", (Wait("q"),)), While("r", ())))
    assert (yes.command, no.command) == (Assume("r"), Assume(op("!", "r")))


# Verdicts


@pytest.mark.parametrize("name", LITMUS)
def test_litmus(name: str) -> None:
    program, expected = LITMUS[name]
    result = decide(program, max_runs=1_000)
    assert result.verdict == expected
    assert result.fault is False or expected == "unknown"
    if expected == "not robust":
        check_witness(program, None, result.witness["computation"], result.witness["cycle"])
    plain = decide(program, memo=False, max_runs=1_000, max_steps=12)
    assert plain.violating in (result.violating, None)


def test_assertions_are_about_sc_runs() -> None:
    """The assert of 1to1 can fail, but in no SC run."""
    assert decide(one_to_one()).assertions == "hold"
    assert decide(one_to_one(), 1).assertions == "hold"
    assert decide(ranks((Load("r", "x"), Assert("r")))).assertions == "violated"
    assert decide(ranks((Load("r", "x"),))).assertions is None
    assert decide(message(Assert(op("==", "r", 0)))).assertions == "hold"


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (ranks((Barrier(),), ()), True),  # a rank that has ended never arrives
        (ranks((Barrier(),), (Barrier(),)), False),
        (ranks((Await("x", "==", 1),)), True),
        (ranks((Await("x", "==", 1),), (Write("z", 0, "x", "q"),)), False),
        (ranks((Await("x", "==", 1),), (Assume(0),)), True),  # the other rank waits all the same
        (ranks((Await("x", "==", 0), Assume(0)), (Assume(0),), ()), False),  # false assumes alone
        (ranks((Barrier(),), (Assume(0),)), True),  # the rank before the barrier is stuck, whatever is to blame
        (ranks((Await("x", "==", 1),), (Choose(((Assume(0),), (Barrier(),))),)), True),
        (ranks((Assume(0),)), None),
        (ranks((Choose(((Barrier(),), ())),), ()), True),  # the barrier may still come next: not ended
    ],
)
def test_deadlock(program: Program, expected: bool | None) -> None:
    assert decide(program).deadlock is expected
    assert decide(program, memo=False).deadlock is expected


def test_faults_count_where_an_sc_run_reaches_them() -> None:
    fault = Assign("r", op("/", 1, "r"))
    reached = decide(ranks((fault,)))
    assert (reached.verdict, reached.fault, reached.violating) == ("error", True, False)
    assert reached.fault_text == "line 8, rank 0: division by zero"
    assert decide(ranks((If(0, (fault,)),))).verdict == "robust"
    # r is 0 only where the put is late, and then the run is a violation
    late = (*one_to_one().processes[0].body[:-1], fault)
    result = decide(replace(one_to_one(), processes=(Process(late),)))
    assert (result.verdict, result.fault, result.violating) == ("not robust", False, True)
    both = decide(ranks((Write("x", "me", "y", "q"), Load("r", "y"), fault)))
    assert (both.verdict, both.fault, both.violating) == ("error", True, True)
    assert both.allowed == {"error", "not robust"}


@pytest.mark.parametrize(
    "command",
    [Load("r", 4), Store(-1, 0), Write("x", 2, "x", "q"), Write("x", -1, "x", "q"), Write("x", 0, "x", -1), Wait(-1)],
)
def test_commands_that_fault(command: Any) -> None:
    assert decide(ranks((command,), ())).fault is True


def test_limits_say_unknown() -> None:
    program, _ = LITMUS["store buffering, waits"]
    assert decide(program, max_runs=5).verdict == "unknown"
    assert decide(program, max_steps=3).verdict == "unknown"
    assert decide(program, max_steps=10).verdict == "robust"  # five events a rank


def test_a_barrier_loop_is_decided_with_memo() -> None:
    assert decide(ranks((Loop((Barrier(),)),), (Loop((Barrier(),)),))).verdict == "robust"


def test_a_barrier_happens_at_once_and_in_rank_order() -> None:
    machine = Machine(ranks((Barrier(),), (Choose(((Barrier(),), (Barrier(), Skip(), Wait("q")))),)))
    after = list(machine.successors(machine.initial()))
    assert [[(event.kind, event.rank) for event in run.history] for run in after] == [
        [("barrier", 0), ("barrier", 1)]
    ] * 2


# The two modes


def agree(program: Program, max_runs: int, max_steps: int = 100) -> bool:
    """Whether both modes decide the program; they may not contradict each other, and every witness must replay."""
    memo, plain = decide(program), decide(program, memo=False, max_runs=max_runs, max_steps=max_steps)
    for fact in ("violating", "fault", "assertions", "deadlock"):
        ours, theirs = getattr(memo, fact), getattr(plain, fact)
        undecided = ("unknown",) if fact in ("assertions", "deadlock") else (None,)
        assert ours == theirs or ours in undecided or theirs in undecided, (fact, to_pgas(program))
    for result in (memo, plain):
        if result.witness:
            check_witness(program, None, result.witness["computation"], result.witness["cycle"])
        if result.fault_witness:
            check_fault(program, None, result.fault_witness["computation"])
    return None not in (memo.violating, plain.violating)


def seeds(few: int, nightly: int) -> range:
    """The numbers of so many random programs, by the profile of ``tests/conftest.py`` that is in force."""
    return range(nightly if settings().max_examples >= 1_000 else few)


@pytest.mark.nightly  # of the oracle itself, which nothing else changes
def test_memo_and_no_memo_agree() -> None:
    tried = seeds(60, nightly=500)
    decided = sum(agree(random_program(seed), max_runs=800) for seed in tried)
    assert decided >= len(tried) // 2


@pytest.mark.nightly  # of the oracle itself, which nothing else changes
def test_memo_and_no_memo_agree_with_loops() -> None:
    tried = seeds(40, nightly=300)
    decided = sum(agree(random_program(seed, loops=True), max_runs=500, max_steps=10) for seed in tried)
    assert decided >= len(tried) // 4


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_memo_and_no_memo_agree_hypothesis(program: Program) -> None:
    agree(program, max_runs=500)


def test_a_prefix_with_a_cycle_keeps_it() -> None:
    """Why a run may be cut at its first cycle."""
    machine = Machine(LITMUS["store buffering"][0])
    runs, cut = [machine.initial()], 0
    while runs:
        run = runs.pop()
        if is_violating(run.history):
            cut += 1
            assert is_violating(machine.emptied(run).history)
        else:
            runs += machine.successors(run)
    assert cut > 10


# Replay


def witness_of(program: Program) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    found = copy.deepcopy(decide(program).witness)
    assert found is not None
    return found["computation"], found["cycle"]


def test_replay_takes_the_witness_and_keys_it_does_not_know() -> None:
    events, cycle = witness_of(one_to_one())
    for event in events:
        event["value"] = 1
    assert not check_witness(one_to_one(), 2, events, cycle)[0].pending()
    with pytest.raises(AssertionError):
        check_sc(events)


def test_replay_rejects_changed_computations() -> None:
    events, cycle = witness_of(one_to_one())
    with pytest.raises(AssertionError, match="pending steps"):
        check_witness(one_to_one(), 2, events[:-1], cycle)
    check_run(one_to_one(), 2, events[:-1])
    barrier = next(i for i, event in enumerate(events) if event["event"] == "barrier")
    changed = [*events[:barrier], events[barrier + 1], events[barrier], *events[barrier + 2 :]]
    with pytest.raises(AssertionError, match="rank order"):
        check_witness(one_to_one(), 2, changed, cycle)
    with pytest.raises(AssertionError, match="is not possible here"):
        check_witness(one_to_one(Wait("q")), 2, events, cycle)
    for position, event in enumerate(events):
        for key, value in (("event", "store"), ("rank", 1 - event["rank"]), ("operation", 7), ("line", 99)):
            changed = copy.deepcopy(events)
            changed[position][key] = value
            with pytest.raises(AssertionError, match="is not possible here"):
                check_run(one_to_one(), 2, changed)
        changed = copy.deepcopy(events)
        changed[position]["address"] = {"rank": 0, "index": 0, "name": "y"}
        with pytest.raises(AssertionError, match="is not possible here"):
            check_run(one_to_one(), 2, changed)
        del changed[position]["address"]
        with pytest.raises(AssertionError, match="has no address"):
            check_run(one_to_one(), 2, changed)


def test_replay_rejects_changed_cycles() -> None:
    events, cycle = witness_of(one_to_one())
    assert len(cycle) >= 4
    for position in range(len(cycle)):
        with pytest.raises(AssertionError, match="the next edge begins"):
            check_witness(one_to_one(), 2, events, cycle[:position] + cycle[position + 1 :])
        for relation in {"po", "cf", "id", "rf"} - {cycle[position]["relation"]}:
            changed = copy.deepcopy(cycle)
            changed[position]["relation"] = relation
            with pytest.raises(AssertionError, match="edge"):
                check_witness(one_to_one(), 2, events, changed)
    backwards = [{"from": e["to"], "to": e["from"], "relation": e["relation"]} for e in reversed(cycle)]
    with pytest.raises(AssertionError, match="edge"):
        check_witness(one_to_one(), 2, events, backwards)
    with pytest.raises(AssertionError, match="no event"):
        check_witness(one_to_one(), 2, events, [{"from": 99, "to": 99, "relation": "id"}])
    with pytest.raises(AssertionError, match="no edges"):
        check_witness(one_to_one(), 2, events, [])
    # entered and left by identity alone
    first, second = (i for i, event in enumerate(events) if event["event"] == "barrier")
    both = [{"from": first, "to": second, "relation": "id"}, {"from": second, "to": first, "relation": "id"}]
    with pytest.raises(AssertionError, match="two different commands"):
        check_witness(one_to_one(), 2, events, both)


def test_replay_rejects_a_self_loop() -> None:
    program = LITMUS["self loop"][0]
    names = [("write", None), ("popa", "x"), ("popb", "x")]
    events = [
        {"event": kind, "rank": 0, "operation": 0, "line": 8, "address": cell and {"rank": 0, "index": 0, "name": cell}}
        for kind, cell in names
    ]
    with pytest.raises(AssertionError, match="two different commands"):
        check_witness(
            program, None, events, [{"from": 1, "to": 2, "relation": "cf"}, {"from": 2, "to": 1, "relation": "id"}]
        )


def test_replay_po_may_skip_and_cf_may_not() -> None:
    body = (Write("z", 0, "x", "q"), Store("x", 1), Store("x", 2), Load("r", "x"))
    program = ranks(body)
    machine = Machine(numbered(program))
    run = machine.initial()
    for _ in body:
        run = next(machine.issues(run))
    events = witness(machine, run)["computation"]
    steps = {"popa": 4, "popb": 5}
    assert [event["event"] for event in events] == ["write", "store", "store", "load", *steps]
    good = [(0, 3, "po"), (3, 5, "cf"), (5, 0, "id")]
    check_witness(program, None, events, [{"from": i, "to": j, "relation": name} for i, j, name in good])
    bad = [(0, 1, "po"), (1, 5, "cf"), (5, 0, "id")]  # the second store is between
    with pytest.raises(AssertionError, match="no write between"):
        check_witness(program, None, events, [{"from": i, "to": j, "relation": name} for i, j, name in bad])


def test_replay_of_sc_runs() -> None:
    fault = Assign("r", op("/", 1, op("-", "r", 1)))
    program = ranks((Write("z", "me", "x", "q"), Load("r", "x"), Assert(op("!", "r")), fault))
    events = decide(program).fault_witness["computation"]
    assert check_fault(program, None, events) == [(0, 11, "division by zero")]
    check_failed_assert(program, None, events)
    with pytest.raises(AssertionError, match="no assert"):
        check_failed_assert(program, None, events[:-1])
    with pytest.raises(AssertionError, match="no command faults"):
        check_fault(program, None, events[:-1])
    with pytest.raises(AssertionError, match="not an SC run"):
        check_sc([events[0], *events[2:]])
    check_deadlock(ranks((Barrier(),), ()), None, [])
    with pytest.raises(AssertionError, match="deadlock"):
        check_deadlock(ranks((Barrier(),), (Barrier(),)), None, [])


def test_replay_tries_every_way_through_choose() -> None:
    body = (Choose(((Skip(), Store("x", 1), Store("x", 2)), (Store("x", 1), Store("y", 2)))),)
    program = ranks(body)
    event = {"event": "store", "rank": 0, "operation": 0, "line": 0, "address": {"rank": 0, "index": 0, "name": "x"}}
    second = {**event, "operation": 1, "address": {"rank": 0, "index": 1, "name": "y"}}
    assert len(check_run(program, None, [event], lines=False)) == 2
    assert len(check_run(program, None, [event, second], lines=False)) == 1


# The generator


def keyword(statement: Statement) -> str:
    structured = isinstance(statement, If | While | Choose | Loop)
    return type(statement).__name__.lower() if structured else event_name(statement)


@pytest.mark.nightly  # of the oracle itself, which nothing else changes
@pytest.mark.parametrize("loops", [False, True])
def test_statistics_of_random_programs(loops: bool) -> None:
    verdicts: Counter[str] = Counter()
    facts: Counter[Any] = Counter()
    seen: set[str] = set()
    count = 150
    for seed in range(count):
        program = random_program(seed, loops=loops)
        result = decide(program, max_runs=2_000, max_steps=40)
        verdicts[result.verdict] += 1
        facts.update([("assertions", result.assertions), ("deadlock", result.deadlock), ("nodes", program.nodes)])
        for body in Machine(program).bodies:
            seen |= {keyword(statement) for statement in statements(body)}
    assert seen == set(COMMANDS) | (set(LOOPS) if loops else set())
    assert 0.25 <= verdicts["not robust"] / count <= 0.6
    assert 0.25 <= verdicts["robust"] / count <= 0.7
    assert verdicts["unknown"] <= 0.03 * count
    assert 0.005 * count <= verdicts["error"] <= 0.1 * count
    assert all(facts["nodes", nodes] for nodes in (1, 2, 3))
    assert facts["assertions", "violated"] and facts["assertions", "hold"]
    assert facts["deadlock", True] and facts["deadlock", False]


def test_random_programs_are_reproducible_and_keep_to_what_is_asked() -> None:
    assert to_pgas(random_program(3)) == to_pgas(random_program(3))
    assert to_pgas(random_program(3)) != to_pgas(random_program(4))
    for seed in range(200):
        program = random_program(seed, ranks=(2, 2), commands=("write", "load", "fence"), faults=False)
        assert program.nodes == 2
        used = {event_name(s) for process in program.processes for s in statements(process.body)}
        assert used <= {"write", "load", "fence", "skip"}
        assert decide(program).fault is False


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(loops=True))
def test_hypothesis_programs_can_be_printed_and_run(program: Program) -> None:
    assert to_pgas(program).startswith("// generated\nprogram generated;\n")
    assert decide(program, max_runs=500, max_steps=20).allowed


def test_polling_needs_the_stale_poll() -> None:
    """Waiting for the shadow cell in an await is no poll: it reads once, when the value has come."""
    assert decide(polling(Await("w", "==", 1))).verdict == "robust"
