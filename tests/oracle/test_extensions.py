"""The oracle's own tests of the extended calculus: known programs, values, text, both modes, replay, the generator."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from . import operations
from .definition import decide
from .happens_before import witness
from .litmus import EXTENDED, alone, ranks
from .operations import must_precede, updated
from .replay import check_deadlock, check_failed_assert, check_fault, check_run, check_sc, check_witness
from .semantics import Machine, Run
from .strategies import COMMANDS, EXTENSIONS, programs, random_program
from .syntax import (
    Assert,
    AwaitAdd,
    Bundle,
    Fetch,
    FetchUpdate,
    Load,
    Notify,
    Program,
    Put,
    Signal,
    Statement,
    Store,
    Update,
    UpdateFrom,
    Wait,
    event_name,
    numbered,
    statements,
    to_pgas,
)
from .test_oracle import agree, keyword, seeds

EVERYTHING = (*COMMANDS, *EXTENSIONS)

# Text

PRINTED: tuple[tuple[Statement, str], ...] = (
    (Put("x", 1, "y", "q"), "put(x, 1, y, q);"),
    (Update("add", 5, 1, "x", "q"), "update(add, 5, 1, x, q);"),
    (Update("add", 5, 1, "x", "q", "w"), "update(add, 5, 1, x, q, w);"),
    (Update("set", 5, 1, "x", "q", "w", located=True), "update_located(set, 5, 1, x, q, w);"),
    (Update("compare_swap", "r", 3, "x", "y", "q", expected="s"), "update(compare_swap, r, s, 3, x, y, q);"),
    (UpdateFrom("max", "z", 1, "x", "q"), "update_from(max, z, 1, x, q);"),
    (
        UpdateFrom("compare_swap", "z", 1, "x", "q", "w", "y", located=True),
        "update_from_located(compare_swap, z, y, 1, x, q, w);",
    ),
    (UpdateFrom("fetch", None, 1, "x", "q", "w"), "update_from(fetch, 1, x, q, w);"),
    (Notify("set", 1, 1, "x", "q"), "notify(set, 1, 1, x, q);"),
    (Notify("add", 1, 1, "x", "q", everywhere=True), "notify_all(add, 1, 1, x, q);"),
    (Bundle(), "bundle;"),
    (Signal("add", 1, 1, "x", "q"), "signal(add, 1, 1, x, q);"),
    (Fetch("r", 1, "x"), "r <- fetch(1, x);"),
    (FetchUpdate("or", "r", 1, "x", 4), "r <- fetch_update(or, 1, x, 4);"),
    (AwaitAdd(0, "x", "==", 0, 1), "await_add(0, mem[x] == 0, 1);"),
    (Load("r", "x", 1), "r <- mem[x @ 1];"),
    (Store("x", 2, 1), "mem[x @ 1] <- 2;"),
)


def test_printing() -> None:
    texts = to_pgas(ranks(tuple(statement for statement, _ in PRINTED))).splitlines()[7:-1]
    expected = [text for _, text in PRINTED]
    assert [text.strip() for text in texts] == expected


# Verdicts


@pytest.mark.parametrize("name", EXTENDED)
def test_litmus(name: str) -> None:
    program, expected = EXTENDED[name]
    result = decide(program)
    assert (result.verdict, result.fault) == (expected, False)
    if result.witness:
        check_witness(program, None, result.witness["computation"], result.witness["cycle"])
    assert decide(program, memo=False, max_runs=1_000).violating in (result.violating, None)


# Values


@pytest.mark.parametrize(
    ("update", "old", "operand", "after"),
    [
        ("set", 6, 3, 3),
        ("add", 6, -7, -1),
        ("add", 2**31 - 1, 1, -(2**31)),
        ("and", 6, 3, 2),
        ("or", 6, 3, 7),
        ("xor", 6, 3, 5),
        ("mul", 6, 3, 18),
        ("mul", 65536, 65536, 0),
        ("min", 6, -3, -3),
        ("max", 6, -3, 6),
    ],
)
def test_updates(update: str, old: int, operand: int, after: int) -> None:
    assert updated(update, old, operand) == after


def test_a_compare_swap_stores_its_value_when_the_cell_is_as_expected() -> None:
    assert updated("compare_swap", 6, 3, expected=6) == 3
    assert updated("compare_swap", 6, 3, expected=5) == 6


def emptied(*body: Statement) -> tuple[Run, list[str]]:
    """Rank 0 runs `body` alone (x, y, w = 0, z = 1), every step directly after its issue; the names of the events."""
    machine = Machine(alone(*body))
    run = machine.initial()
    for _ in body:
        run = next(machine.sc_successors(run))
    return run, [event.kind for event in run.history]


@pytest.mark.parametrize(
    ("body", "here", "there", "events"),
    [
        # here, there: x, y, z, w of rank 0 and of rank 1 in the end
        ((Put("z", 1, "x", "q"),), (0, 0, 1, 0), (1, 0, 1, 0), "put popb"),
        ((Update("add", 4, 1, "z", "q"),), (0, 0, 1, 0), (0, 0, 5, 0), "update popb"),
        ((Update("add", 4, 1, "z", "q", "w"),), (0, 0, 1, 1), (0, 0, 5, 0), "update popb popc"),
        ((Update("set", 4, 1, "z", "q", "w"),), (0, 0, 1, 1), (0, 0, 4, 0), "update popb popc"),
        ((Update("compare_swap", 4, 1, "z", "q", "w", 1),), (0, 0, 1, 1), (0, 0, 4, 0), "update popb popc"),
        ((Update("compare_swap", 4, 1, "z", "q", "w", 2),), (0, 0, 1, 1), (0, 0, 1, 0), "update popb popc"),
        ((UpdateFrom("mul", "x", 1, "z", "q"),), (0, 0, 1, 0), (0, 0, 0, 0), "update_from popa popb"),
        ((UpdateFrom("add", "z", 1, "z", "q", "w"),), (0, 0, 1, 1), (0, 0, 2, 0), "update_from popa popb popc"),
        (
            (UpdateFrom("compare_swap", "z", 1, "x", "q", "w", "y"),),
            (0, 0, 1, 0),
            (1, 0, 1, 0),
            "update_from popa popd popb popc",
        ),
        (
            (UpdateFrom("compare_swap", "x", 1, "z", "q", expected="y"),),
            (0, 0, 1, 0),
            (0, 0, 1, 0),
            "update_from popa popd popb",
        ),
        ((UpdateFrom("fetch", None, 1, "z", "q", "w"),), (0, 0, 1, 1), (0, 0, 1, 0), "update_from popa popc"),
        ((Notify("add", 4, 1, "z", "q"),), (0, 0, 1, 0), (0, 0, 5, 0), "notify popb"),
        ((Notify("set", 4, 1, "z", "q", True),), (0, 0, 1, 0), (0, 0, 4, 0), "notify popb"),
        ((Bundle(), Signal("add", 4, 1, "z", "q")), (0, 0, 1, 0), (0, 0, 5, 0), "bundle signal popb"),
        ((Fetch("r", 1, "z"), Store("x", "r")), (1, 0, 1, 0), (0, 0, 1, 0), "fetch store"),
        ((FetchUpdate("or", "r", 1, "z", 6), Store("x", "r")), (1, 0, 1, 0), (0, 0, 7, 0), "fetch_update store"),
        ((FetchUpdate("set", "r", 1, "z", 6), Store("x", "r")), (1, 0, 1, 0), (0, 0, 6, 0), "fetch_update store"),
        ((AwaitAdd(1, "z", ">", 0, -3),), (0, 0, 1, 0), (0, 0, -2, 0), "await_add"),
        ((Load("r", "z", 1), Store("x", "r")), (1, 0, 1, 0), (0, 0, 1, 0), "load store"),
        ((Store("z", 6, 1),), (0, 0, 1, 0), (0, 0, 6, 0), "store"),
    ],
)
def test_effects(
    body: tuple[Statement, ...], here: tuple[int, ...], there: tuple[int, ...], events: str
) -> None:  # fmt: skip
    run, kinds = emptied(*body)
    assert run.memory == (here, there)
    assert " ".join(kinds) == events


def test_a_put_is_captured_at_its_issue() -> None:
    machine = Machine(alone(Put("z", 1, "x", "q"), Store("z", 5)))
    run = next(machine.issues(next(machine.issues(machine.initial()))))
    assert machine.emptied(run).memory == ((0, 0, 5, 0), (1, 0, 1, 0))


@pytest.mark.parametrize(
    "command",
    [
        Put(4, 1, "x", "q"),
        Update("add", 1, 2, "x", "q"),
        Update("add", 1, 1, "x", "q", 4),
        UpdateFrom("compare_swap", "x", 1, "x", "q", expected=4),
        UpdateFrom("fetch", None, 1, 4, "q", "w"),
        Notify("set", 1, 1, -1, "q"),
        Signal("set", 1, 1, "x", -1),
        Fetch("r", -1, "x"),
        AwaitAdd(2, "x", "==", 0, 1),
    ],
)
def test_commands_that_fault(command: Statement) -> None:
    assert decide(alone(command)).fault is True


def test_what_a_compare_swap_expects_may_be_any_value() -> None:
    assert decide(alone(Update("compare_swap", 1, 1, "x", "q", expected=99))).fault is False


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (ranks((AwaitAdd(0, "x", "==", 1, 1),)), True),
        (ranks((AwaitAdd(1, "x", "==", 1, 1),), (Store("x", 1),)), False),
        (ranks((AwaitAdd(0, "x", "==", 0, 1),), (AwaitAdd(0, "x", "==", 0, 1),)), True),
        (ranks((Put("z", "me", "x", "q"),)), None),
    ],
)
def test_deadlock(program: Program, expected: bool | None) -> None:
    assert decide(program).deadlock is expected


# The rules for steps keep to one direction: what the search needs


def test_rules_order_later_commands_after_earlier_ones_alone() -> None:
    """Pending steps can always be emptied, whatever is issued, and in the order of the issue."""
    for seed in range(60):
        machine = Machine(random_program(seed, commands=EVERYTHING, faults=False))
        run = machine.initial()
        for _ in range(6):
            run = next(machine.issues(run), run)
        for rank, number in run.pending():
            for step in run.issued[rank][number].steps:
                assert machine.may_happen(run, rank, number, step)
                run = machine.step(run, rank, number, step)
        assert not run.pending()


def test_a_bundle_that_began_before_everything_changes_nothing() -> None:
    operations = machine_operations(Put("z", 1, "x", "q"), Signal("add", 1, 1, "y", "p"))
    bundled = machine_operations(Bundle(), Put("z", 1, "x", "q"), Signal("add", 1, 1, "y", "p"))
    assert must_precede(operations, 0, "popb", 1, "popb", unordered=True)
    assert must_precede(bundled, 1, "popb", 2, "popb", unordered=True)


def machine_operations(*body: Statement) -> tuple[Any, ...]:
    machine = Machine(alone(*body))
    run = machine.initial()
    for _ in body:
        run = next(machine.issues(run))
    return run.issued[0]


# The two modes


@pytest.mark.nightly  # of the oracle itself, which nothing else changes
def test_memo_and_no_memo_agree() -> None:
    tried = seeds(50, nightly=500)
    decided = sum(agree(random_program(seed, commands=EVERYTHING), max_runs=600) for seed in tried)
    assert decided >= len(tried) * 2 // 5


@pytest.mark.nightly  # of the oracle itself, which nothing else changes
def test_memo_and_no_memo_agree_with_loops() -> None:
    tried = seeds(40, nightly=300)
    programs = (random_program(seed, commands=EVERYTHING, loops=True) for seed in tried)
    assert sum(agree(program, max_runs=400, max_steps=10) for program in programs) >= len(tried) // 4


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(commands=EVERYTHING))
def test_memo_and_no_memo_agree_hypothesis(program: Program) -> None:
    agree(program, max_runs=500)


# Replay

CHAINED = alone(
    UpdateFrom("compare_swap", "z", 1, "x", "q", "w", "y"),
    Update("add", 1, 1, "x", "q", "w"),
    Wait("q"),
    Load("r", "w"),
)


def sc_events() -> list[dict[str, Any]]:
    """The one SC run of `CHAINED`."""
    machine = Machine(numbered(CHAINED))
    run = machine.initial()
    while (after := next(machine.sc_successors(run), None)) is not None:
        run = after
    return witness(machine, run)["computation"]


def test_replay_of_sc_runs() -> None:
    events = sc_events()
    names = ["update_from", "popa", "popd", "popb", "popc", "update", "popb", "popc", "wait", "load"]
    assert [event["event"] for event in events] == names
    check_sc(events)
    check_sc(events[:2])
    late = [*events[:4], events[5], events[4], *events[6:]]
    with pytest.raises(AssertionError, match="not an SC run"):
        check_sc(late)
    check_run(CHAINED, None, late)
    with pytest.raises(AssertionError, match="not an SC run"):
        check_sc([*events[:2], *events[5:]])
    with pytest.raises(AssertionError, match="is not possible here"):
        check_run(CHAINED, None, [events[0], events[2], events[1], *events[3:]])


def test_replay_sees_a_result_that_has_not_come() -> None:
    """Whether an update has a result is not said by its events, but by the program."""
    assertion = Assert(0)
    body = (Update("add", 1, 1, "x", "q", "w"), Store("z", 1), assertion)
    program = alone(*body)
    machine = Machine(numbered(program))
    run = machine.initial()
    for _ in body:
        run = next(machine.sc_successors(run))
    events = witness(machine, run)["computation"]
    check_failed_assert(program, None, events)
    with pytest.raises(AssertionError, match="not an SC run"):
        check_failed_assert(program, None, [*events[:2], *events[3:]])
    faulty = alone(body[0], Store("z", 1), Store(-1, 0))
    check_fault(faulty, None, events[:-1])
    with pytest.raises(AssertionError, match="not an SC run"):
        check_fault(faulty, None, [*events[:2], *events[3:-1]])


def test_replay_of_a_deadlock() -> None:
    program = alone(Put("z", 1, "x", "q"), AwaitAdd(1, "x", "==", 0, 1))
    machine = Machine(numbered(program))
    events = witness(machine, next(machine.sc_successors(machine.initial())))["computation"]
    check_deadlock(program, None, events)
    with pytest.raises(AssertionError, match="deadlock"):
        check_deadlock(program, None, events[:1])


def test_replay_rejects_changed_steps() -> None:
    found = decide(EXTENDED["signal, the next bundle"][0]).witness
    assert found is not None
    check_witness(EXTENDED["signal, the next bundle"][0], None, found["computation"], found["cycle"])
    events = [event for event in found["computation"] if event["event"] != "bundle"]
    for event in events:
        event["operation"] -= event["event"] in ("signal",)
    with pytest.raises(AssertionError, match="is not possible here"):
        check_run(EXTENDED["signal"][0], None, events, lines=False)


# The generator


@pytest.mark.nightly  # of the oracle itself, which nothing else changes
@pytest.mark.parametrize("loops", [False, True])
def test_statistics_of_random_programs(loops: bool) -> None:
    verdicts: Counter[str] = Counter()
    seen: Counter[object] = Counter()
    count = 150
    for seed in range(count):
        program = random_program(seed, commands=EVERYTHING, loops=loops)
        verdicts[decide(program, max_runs=2_000, max_steps=40).verdict] += 1
        for body in set(Machine(program).bodies):
            for statement in statements(body):
                seen[keyword(statement)] += 1
                seen.update(features(statement))
    assert all(seen[kind] >= 10 for kind in EXTENSIONS)
    assert all(seen[feature] for feature in FEATURES)
    assert 0.25 <= verdicts["not robust"] / count <= 0.65
    assert 0.2 <= verdicts["robust"] / count <= 0.7
    assert verdicts["unknown"] <= 0.05 * count
    assert verdicts["error"] <= 0.1 * count


@pytest.mark.parametrize(
    ("rule", "commands"),
    [
        ("_in_order", ("put", "update", "notify", "fetch_add")),
        ("_fenced_apart", ("put", "update", "fence", "fetch_add")),
        ("_notified", ("put", "update", "notify", "fetch_add")),
        ("_signalled", ("put", "bundle", "signal", "fetch_add")),
        ("_located", ("update", "update_from", "fetch_add")),
    ],
)
def test_some_random_programs_depend_on_every_rule(
    rule: str, commands: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = [random_program(seed, ranks=(2, 2), commands=commands, faults=False) for seed in range(80)]
    robust = [program for program in drawn if decide(program, max_runs=1_000).violating is False]
    monkeypatch.setattr(operations, rule, lambda *_: False)
    assert sum(decide(program, max_runs=1_000).violating is True for program in robust) >= 1


@pytest.mark.parametrize(("ours", "count"), [(Load, 2), (Store, 5)])
def test_some_random_programs_depend_on_whose_memory_is_accessed(ours: type[Load | Store], count: int) -> None:
    """How many of the verdicts change when loads or stores of other ranks' memory are of the rank's own."""
    commands = ("put", "load", "store", "load_there", "store_there", "wait")
    changed = 0
    for seed in range(50):
        program = random_program(seed, ranks=(2, 2), commands=commands, faults=False)
        taken_out = replace(
            program,
            processes=tuple(
                replace(
                    process,
                    body=tuple(replace(each, rank=None) if isinstance(each, ours) else each for each in process.body),
                )
                for process in program.processes
            ),
        )
        changed += decide(program, max_runs=1_000).violating != decide(taken_out, max_runs=1_000).violating
    assert changed == count


FEATURES = ("everywhere", "located", "result", "no result", "expected", "fetch", "set", "add", "max")


def features(statement: Statement) -> list[str]:
    """What is to be met in random programs beside the kinds of their commands."""
    found = [flag for flag in ("everywhere", "located") if getattr(statement, flag, False)]
    if isinstance(statement, Update | UpdateFrom):
        found += ["no result" if statement.result is None else "result"] + ["expected"] * (
            statement.expected is not None
        )
    if isinstance(statement, Load | Store) and statement.rank is not None:
        found.append(f"{keyword(statement)}_there")
    return [*found, getattr(statement, "operation", "")]


def test_new_commands_come_only_where_they_are_asked_for() -> None:
    for seed in range(100):
        program = random_program(seed)
        used = {event_name(s) for process in program.processes for s in statements(process.body) if is_command(s)}
        assert not used & set(EXTENSIONS)
        asked = random_program(seed, commands=("put", "bundle", "signal", "load"))
        used = {event_name(s) for process in asked.processes for s in statements(process.body)}
        assert used <= {"put", "bundle", "signal", "load", "skip"}


def is_command(statement: Statement) -> bool:
    return keyword(statement) in (*COMMANDS, *EXTENSIONS) and keyword(statement) not in ("if", "choose")


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(commands=EVERYTHING, loops=True))
def test_hypothesis_programs_can_be_printed_and_run(program: Program) -> None:
    assert to_pgas(program).startswith("// generated\nprogram generated;\n")
    assert decide(program, max_runs=300, max_steps=20).allowed
