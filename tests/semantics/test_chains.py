"""X(P, N) and replay on the commands beyond reads and writes: captured, updating, notifying and bundled operations."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.program.core import Access, Step
from pgasrob.program.instance import Instance
from pgasrob.reference.attack import AttackSpace
from pgasrob.reference.attack_search import AttackSearch
from pgasrob.robustness.normal_form import NormalForm
from pgasrob.semantics import state_space
from pgasrob.semantics.replay import replay
from pgasrob.semantics.sequential import SequentialSpace
from pgasrob.semantics.state_space import (
    BundleMark,
    FenceMark,
    Pending,
    StateSpace,
    computation_of,
    drop_idle_marks,
)
from tests.semantics.test_replay import judge, mutants
from tests.semantics.test_state_space import READ, WRITE, memories, operation, registers
from tests.support import (
    COMMANDS,
    FURTHER,
    SHARING,
    computations,
    examples,
    follow,
    instance,
    layers,
    orders,
    sizes,
    tiny_instances,
    walks,
)


def found(block: str, *kinds: str) -> set[str]:
    """The orders of the events of rank 0, which runs ``block``, while another rank does nothing."""
    return orders(instance(block, ""), *kinds)


# What a chain does


def test_a_put_reads_its_source_at_the_issue() -> None:
    (computation,) = [each for each in computations(instance("put(x, 1, y, q);", "")) if len(each) == 2]
    assert [(event.kind, event.cell) for event in computation] == [("put", 0), ("popb", 5)]
    assert memories("put(x, 0, y, q); mem[x] <- 7;") == {(7, 1, 0, 0)}


@pytest.mark.parametrize(
    ("command", "chain", "memory"),
    [
        ("update(add, 2, 0, x, q)", "popb0", (3, 0, 0, 0)),
        ("update(add, 2, 0, x, q, w)", "popb0 popc0", (3, 0, 0, 1)),
        ("update(set, 2, 0, x, q, w)", "popb0 popc0", (2, 0, 0, 1)),
        ("update(and, 6, 0, x, q, w)", "popb0 popc0", (0, 0, 0, 1)),
        ("update(or, 6, 0, x, q)", "popb0", (7, 0, 0, 0)),
        ("update(xor, 3, 0, x, q)", "popb0", (2, 0, 0, 0)),
        ("update(mul, 5, 0, x, q)", "popb0", (5, 0, 0, 0)),
        ("update(min, -1, 0, x, q)", "popb0", (-1, 0, 0, 0)),
        ("update(max, -1, 0, x, q)", "popb0", (1, 0, 0, 0)),
        ("update(compare_swap, 8, 1, 0, x, q, w)", "popb0 popc0", (8, 0, 0, 1)),
        ("update(compare_swap, 8, 0, 0, x, q, w)", "popb0 popc0", (1, 0, 0, 1)),
        ("update_from(add, x, 0, y, q)", "popa0 popb0", (1, 1, 0, 0)),
        ("update_from(add, x, 0, x, q, w)", "popa0 popb0 popc0", (2, 0, 0, 1)),
        ("update_from(compare_swap, x, y, 0, z, q, x)", "popa0 popd0 popb0 popc0", (0, 0, 1, 0)),
        ("update_from(compare_swap, y, z, 0, x, q)", "popa0 popd0 popb0", (1, 0, 0, 0)),
        ("update_from(fetch, 0, x, q, w)", "popa0 popc0", (1, 0, 0, 1)),
        ("notify(set, 9, 0, y, q)", "popb0", (1, 9, 0, 0)),
        ("notify_all(add, 9, 0, x, q)", "popb0", (10, 0, 0, 0)),
        ("signal(add, 9, 0, x, q)", "popb0", (10, 0, 0, 0)),
        ("put(x, 0, y, q)", "popb0", (1, 1, 0, 0)),
    ],
)
def test_the_steps_of_a_command_and_what_they_do(command: str, chain: str, memory: tuple[int, ...]) -> None:
    assert orders(instance(f"{command};"), "popa", "popb", "popc", "popd") == {chain}
    assert memories(f"{command};") == {memory}


def test_operands_are_captured_or_read_by_their_steps() -> None:
    """The operand of an update is what the register held at the issue, that of update_from what the cell holds."""
    assert memories("r <- 5; update(add, r, 0, y, q); r <- 7; wait(q);") == {(1, 5, 0, 0)}
    assert memories("update_from(add, x, 0, y, q); mem[x] <- 7;") == {(7, 1, 0, 0), (7, 7, 0, 0)}
    expects = "update_from(compare_swap, x, y, 0, z, q); mem[y] <- 7;"
    assert memories(expects) == {(1, 7, 1, 0), (1, 7, 0, 0)}


@pytest.mark.parametrize(
    ("command", "register", "x"),
    [
        ("fetch(0, x)", 1, 1),
        ("fetch_update(or, 0, x, 6)", 1, 7),
        ("fetch_update(min, 0, x, 0)", 1, 0),
        ("fetch_update(set, 0, x, 5)", 1, 5),
        ("fetch_update(mul, 0, x, 5)", 1, 5),
    ],
)
def test_atomics_at_the_issue(command: str, register: int, x: int) -> None:
    assert registers(f"r <- {command};") == {((register, 0),)}
    assert memories(f"r <- {command};") == {(x, 0, 0, 0)}


def test_await_add_waits_and_adds_at_once() -> None:
    """At most one of the two gets the lock, whoever comes first."""
    lock = "await_add(0, mem[y] == 0, 1);"
    assert memories(lock) == {(1, 1, 0, 0)}
    assert orders(instance(lock, lock), "await_add") == {"await_add0", "1:await_add0"}
    assert orders(instance("await_add(0, mem[x] == 0, 1);")) == {""}


# What orders them


def test_a_fifo_queue_keeps_each_stage_in_order() -> None:
    two = "update(add, 1, 0, x, q, z); update(add, 1, 0, y, q, w);"
    assert found(two, "popb", "popc") == {"popb0 popc0 popb1 popc1", "popb0 popb1 popc0 popc1"}
    assert found("put(x, 0, y, q); write(x, 1, z, q);", "popb") == {"popb0 popb1"}
    mixed = "update_from(compare_swap, x, y, 0, z, q); write(x, 0, w, q);"
    assert "popa0 popa1 popd0 popb0 popb1" not in found(mixed, "popa", "popb", "popd")
    assert "popa0 popd0 popa1 popb0 popb1" in found(mixed, "popa", "popb", "popd")


def test_stages_of_a_fifo_queue_do_not_wait_for_each_other() -> None:
    """A fetch has no update and a put nothing else: neither waits for the other, whichever was first."""
    fetch, put = "update_from(fetch, 1, x, q, w);", "put(x, 1, z, q);"
    assert found(fetch + put, "popa", "popb", "popc") == {"popa0 popc0 popb1", "popa0 popb1 popc0", "popb1 popa0 popc0"}
    assert found(put + fetch, "popa", "popb", "popc") == {"popa1 popc1 popb0", "popa1 popb0 popc1", "popb0 popa1 popc1"}
    assert sizes(StateSpace(instance(fetch + put, ""))) == (10, 13)


def test_a_queue_does_not_delay_what_a_put_has_done() -> None:
    """The put reads its source at the issue although an earlier write of the queue has not."""
    assert "write0 put1 popa0 popb0 popb1" in found("write(x, 0, y, q); put(z, 0, w, q);")


@pytest.mark.parametrize(
    ("command", "awaited"),
    [
        ("write(x, 0, y, u)", "popa"),
        ("put(x, 0, y, u)", ""),
        ("update(add, 1, 0, y, u)", ""),
        ("update(add, 1, 0, y, u, x)", "popc"),
        ("update_from(add, x, 0, y, u)", "popa"),
        ("update_from(compare_swap, x, z, 0, y, u)", "popd"),
        ("update_from(add, x, 0, y, u, x)", "popc"),
        ("update_from(fetch, 0, y, u, x)", "popc"),
        ("update_from(fetch, 0, y, u)", ""),
        ("notify(set, 1, 0, y, u)", ""),
        ("signal(set, 1, 0, y, u)", ""),
    ],
)
def test_what_the_waits_wait_for(command: str, awaited: str) -> None:
    """wait for all steps; wait_local for reading operands here, and for what is brought here."""
    for word in found(f"{command}; wait(u);"):
        assert word.endswith("wait1")
    before = {word.split(" wait_local1")[0] for word in found(f"{command}; wait_local(u);")}
    least = min(before, key=len)
    assert least.split()[-1] == (f"{awaited}0" if awaited else f"{command.partition('(')[0]}0")


FENCED = ("write(x, 1, y, u)", "put(x, 1, y, u)", "update(add, 1, 1, y, u)", "signal(add, 1, 1, y, u)")
UNFENCED = ("notify(add, 1, 1, y, u)", "read(y, 1, y, u)")
EITHER, IN_ORDER = {"popb0 popb2", "popb2 popb0"}, {"popb0 popb2"}


@pytest.mark.parametrize("second", [*FENCED, *UNFENCED])
@pytest.mark.parametrize("first", [*FENCED, *UNFENCED])
def test_fences_order_destination_writes(first: str, second: str) -> None:
    """They do not order notifications, before or after; but these come after writes of their queue anyway."""
    between = found(f"{first}; fence(u); bundle; {second};", "popb")
    between = {word.replace("3", "2") for word in between}
    ordered = first in FENCED and (second in FENCED or second.startswith("notify"))
    assert between == (IN_ORDER if ordered else EITHER)


@pytest.mark.parametrize(
    ("first", "second", "ordered"),
    [
        ("write(x, 1, y, u)", "notify(set, 1, 1, z, u)", True),
        ("put(x, 1, y, u)", "notify(set, 1, 1, z, u)", True),
        ("update(add, 1, 1, y, u)", "notify(set, 1, 1, z, u)", True),
        ("signal(add, 1, 1, y, u)", "notify(set, 1, 1, z, u)", True),
        ("read(x, 1, y, u)", "notify(set, 1, 1, z, u)", False),
        ("notify(set, 1, 1, y, u)", "notify(set, 1, 1, z, u)", False),
        ("write(x, 0, y, u)", "notify(set, 1, 1, z, u)", False),
        ("write(x, 1, y, v)", "notify(set, 1, 1, z, u)", False),
        ("write(x, 1, y, v)", "notify_all(set, 1, 1, z, u)", True),
        ("write(x, 1, y, q)", "notify_all(set, 1, 1, z, u)", True),
        ("write(x, 1, y, v)", "notify_all(set, 1, 1, z, q)", True),
        ("write(x, 0, y, v)", "notify_all(set, 1, 1, z, u)", False),
        ("notify(set, 1, 1, z, u)", "write(x, 1, y, u)", False),
        ("notify_all(set, 1, 1, z, u)", "put(x, 1, y, u)", False),
        ("notify(set, 1, 1, z, q)", "write(x, 1, y, q)", True),
    ],
)
def test_a_notification_comes_after_the_writes_to_its_rank(first: str, second: str, ordered: bool) -> None:
    assert found(f"{first}; skip; {second};", "popb") == (
        {"popb0 popb1"} if ordered else {"popb0 popb1", "popb1 popb0"}
    )


def test_a_notification_comes_after_every_earlier_write() -> None:
    words = found("write(x, 1, y, u); write(x, 1, z, u); notify(set, 1, 1, w, u);", "popb")
    assert words == {"popb0 popb1 popb2", "popb1 popb0 popb2"}


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("write(x, 0, y, u); signal(add, 1, 1, z, v);", {"popb0 popb1"}),
        ("read(x, 0, y, u); signal(add, 1, 1, z, v);", {"popb0 popb1"}),
        ("bundle; write(x, 0, y, u); signal(add, 1, 1, z, v);", {"popb1 popb2"}),
        ("write(x, 0, y, u); bundle; signal(add, 1, 1, z, v);", {"popb0 popb2", "popb2 popb0"}),
        ("signal(add, 1, 1, y, u); signal(add, 1, 1, z, v);", {"popb0 popb1"}),
        ("signal(add, 1, 1, y, u); bundle; signal(add, 1, 1, z, v);", {"popb0 popb2", "popb2 popb0"}),
        ("signal(add, 1, 1, y, u); write(x, 1, z, v);", {"popb0 popb1", "popb1 popb0"}),
        (
            "put(x, 1, y, u); bundle; put(x, 1, z, u); signal(add, 1, 1, w, u);",
            {"popb0 popb2 popb3", "popb2 popb0 popb3", "popb2 popb3 popb0"},
        ),
        (
            # Of two bundles the signals end one each.
            "put(x, 1, y, u); signal(add, 1, 1, w, u); bundle; signal(set, 1, 1, z, u);",
            {"popb0 popb1 popb3", "popb0 popb3 popb1", "popb3 popb0 popb1"},
        ),
    ],
)
def test_a_signal_comes_after_its_bundle(block: str, expected: set[str]) -> None:
    assert found(block, "popb") == expected


def test_a_signal_comes_after_the_results_of_its_bundle() -> None:
    words = found("update(add, 1, 0, x, u, y); signal(add, 1, 1, z, v);", "popb", "popc")
    assert words == {"popb0 popc0 popb1"}


@pytest.mark.parametrize(
    ("first", "second", "ordered"),
    [
        ("update_located(add, 1, 1, x, u)", "update_located(add, 1, 1, x, v)", True),
        ("update_located(add, 1, 1, x, u)", "update_located(add, 1, 1, y, u)", False),
        ("update_located(add, 1, 1, x, u)", "update_located(add, 1, 0, x, u)", False),
        ("update_located(add, 1, 1, x, u)", "update(add, 1, 1, x, u)", False),
        ("update(add, 1, 1, x, u)", "update_located(add, 1, 1, x, u)", False),
        ("update_from_located(add, y, 1, x, u)", "update_located(set, 1, 1, x, v)", True),
        ("update_located(set, 1, 1, x, v)", "update_from_located(add, y, 1, x, u)", True),
        ("update_located(set, 1, 1, x, v)", "put(x, 1, x, u)", False),
    ],
)
def test_located_updates_of_a_cell_are_in_order(first: str, second: str, ordered: bool) -> None:
    assert found(f"{first}; {second};", "popb") == ({"popb0 popb1"} if ordered else {"popb0 popb1", "popb1 popb0"})


def test_a_located_fetch_is_ordered_where_it_reads() -> None:
    one, other = "update_located(add, 1, 1, x, u)", "update_from_located(fetch, 1, x, v, y)"
    assert found(f"{one}; {other};") == {
        "update0 popb0 update_from1 popa1 popc1",
        "update0 update_from1 popb0 popa1 popc1",
    }
    words = found(f"{other}; {one};", "popa", "popb", "popc")
    assert words == {"popa0 popc0 popb1", "popa0 popb1 popc0"}


def test_reading_an_operand_of_a_located_update_is_not_ordered() -> None:
    words = found("update_located(add, 1, 0, x, u); update_from_located(add, x, 0, x, v);", "popa", "popb")
    assert words == {"popb0 popa1 popb1", "popa1 popb0 popb1"}


# Marks

SIGNAL, BUNDLE, FENCE = operation("signal"), BundleMark(), FenceMark(1, None)


@pytest.mark.parametrize(
    ("pending", "kept"),
    [
        ((BUNDLE,), ()),
        ((BUNDLE, WRITE), (WRITE,)),
        ((READ, BUNDLE), (READ, BUNDLE)),
        ((READ, BUNDLE, BUNDLE), (READ, BUNDLE)),
        ((READ, BUNDLE, READ, BUNDLE), (READ, READ, BUNDLE)),
        ((READ, BUNDLE, READ, SIGNAL, BUNDLE), (READ, BUNDLE, READ, SIGNAL, BUNDLE)),
        ((READ, BUNDLE, SIGNAL, READ, BUNDLE, READ, BUNDLE), (READ, BUNDLE, SIGNAL, READ, READ, BUNDLE)),
        ((WRITE, FENCE, BUNDLE), (WRITE, BUNDLE, FENCE)),
        ((READ, FENCE, BUNDLE), (READ, BUNDLE)),
    ],
)
def test_marks_of_bundles_that_bind_nothing_are_dropped(pending: Pending, kept: Pending) -> None:
    assert drop_idle_marks(pending) == kept


def test_a_fence_is_idle_when_only_results_are_left() -> None:
    update = operation("update")
    result = update._replace(left=(Step("popc", Access(2, reads=False, writes=True), 2),))
    assert drop_idle_marks((update, FENCE)) == (update, FENCE)
    assert drop_idle_marks((result, FENCE)) == (result,)


def test_a_loop_that_bundles_has_finitely_many_states() -> None:
    assert sizes(StateSpace(instance("write(x, 0, y, u); loop { bundle; } wait(u);")))[0] < 20
    both = "write(x, 0, y, u); loop { bundle; fence(u); } signal(set, 1, 0, z, u);"
    assert sizes(StateSpace(instance(both)))[0] < 60


MARKING = (
    "put(x, OTHER, y, u);", "write(y, me, x, u);", "update(add, 1, OTHER, x, v, y);", "read(x, OTHER, y, u);",
    "bundle;", "bundle;", "fence(u);", "fence(u, OTHER);", "signal(add, 1, OTHER, z, u);", "signal(set, 1, me, z, v);",
    "notify(add, 1, OTHER, w, u);",
)  # fmt: skip


@given(tiny_instances(5, MARKING))
@settings(max_examples=examples(20))
def test_dropping_idle_marks_changes_no_language(program: Instance) -> None:
    plain = [{computation_of(path) for _, path in layer} for layer in layers(program, 600)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state_space, "drop_idle_marks", lambda pending: pending)
        kept = [{computation_of(path) for _, path in layer} for layer in layers(program, 600)]
    assert plain == kept


# Replay


ALL = (*FURTHER, *COMMANDS, *SHARING)


@given(st.data(), tiny_instances(6, ALL))
@settings(max_examples=examples(40))
def test_the_paths_of_x_replay_to_the_same_state(data: st.DataObject, program: Instance) -> None:
    computation = computation_of(data.draw(walks(program)))
    run = replay(program, computation)
    assert run.complete and run.computation == computation
    assert (run.control, run.registers, run.memory) in {state[:3] for state in follow(program, computation)}


ORDERING = (
    "put(x, 1, y, u); bundle; put(x, 1, z, u); signal(add, 1, 1, w, u);",
    "put(x, 1, y, u); signal(add, 1, 1, w, u); bundle; signal(set, 1, 1, z, u);",
    "update(add, 1, 1, x, u, y); bundle; signal(add, 1, 1, z, v);",
    "put(x, 1, y, v); put(x, 0, y, u); notify(set, 1, 1, z, u);",
    "put(x, 0, y, v); notify(set, 1, 1, y, v); notify_all(set, 1, 1, z, u);",
    "update_located(add, 1, 1, x, u, y); update_from_located(fetch, 1, x, v, z); update_located(add, 1, 0, x, u);",
    "update_from(compare_swap, x, y, 1, z, q, w); update(add, 1, 1, z, q, w);",
    "notify(add, 1, 1, x, u); fence(u); put(x, 1, y, u); wait_local(u);",
)


@pytest.mark.parametrize("block", ORDERING)
def test_replay_accepts_all_computations(block: str) -> None:
    """A rule that holds back more than it orders would be seen here."""
    program = instance(block, "")
    assert all(replay(program, computation).complete for computation in computations(program))


@given(st.data(), tiny_instances(4, (*FURTHER, *MARKING)))
@settings(max_examples=examples(13))
def test_a_mutated_computation_is_rejected_or_a_path_of_x(data: st.DataObject, program: Instance) -> None:
    """Neither more nor less than X(P, N)."""
    for mutant in mutants(program, computation_of(data.draw(walks(program, 6)))):
        judge(program, mutant)


# Pinned counts of states and transitions: of X, of the SC runs, of Y, of the attack search, and the verdict.


@pytest.mark.parametrize(
    ("blocks", "counts", "violating"),
    [
        (("put(x, 1, y, q); mem[x] <- 7;", ""), ((5, 5), (3, 2), (5, 4), (5, 4)), False),
        (("write(x, 1, y, q); mem[x] <- 7;", ""), ((9, 9), (3, 2), (7, 6), (7, 6)), True),
        (
            ("put(x, 1, y, q); r <- mem[y];", "put(x, 0, y, q); r <- mem[y];"),
            ((34, 58), (13, 14), (33, 44), (28, 32)),
            True,
        ),
        (
            ("put(x, 1, y, u); signal(set, 1, 1, z, u);", "await(mem[z] == 1); r <- mem[y];"),
            ((8, 8), (5, 4), (8, 7), (8, 7)),
            False,
        ),
        (
            ("put(x, 1, y, u); bundle; signal(set, 1, 1, z, u);", "await(mem[z] == 1); r <- mem[y];"),
            ((14, 17), (6, 5), (13, 12), (12, 11)),
            True,
        ),
        (
            ("put(x, 1, y, u); notify(set, 1, 1, z, u);", "await(mem[z] == 1); r <- mem[y];"),
            ((8, 8), (5, 4), (8, 7), (8, 7)),
            False,
        ),
        (
            ("put(x, 1, y, u); notify(set, 1, 1, z, v);", "await(mem[z] == 1); r <- mem[y];"),
            ((12, 14), (5, 4), (11, 10), (10, 9)),
            True,
        ),
        (
            ("put(x, 1, y, u); notify_all(set, 1, 1, z, v);", "await(mem[z] == 1); r <- mem[y];"),
            ((8, 8), (5, 4), (8, 7), (8, 7)),
            False,
        ),
        (
            ("notify(set, 1, 1, z, u); put(x, 1, y, u);", "r <- mem[y]; s <- mem[z];"),
            ((29, 44), (13, 14), (28, 36), (25, 28)),
            True,
        ),
        (
            ("update_located(set, 1, 1, y, u); update_located(set, 2, 1, y, v);", "r <- mem[y]; r <- mem[y];"),
            ((26, 38), (15, 17), (26, 35), (26, 28)),
            False,
        ),
        (
            ("update(set, 1, 1, y, u); update(set, 2, 1, y, v);", "r <- mem[y]; r <- mem[y];"),
            ((38, 53), (15, 17), (31, 41), (27, 31)),
            True,
        ),
        (
            (
                "update(add, 1, 1, x, u, y); wait_local(u); r <- mem[y];",
                "update(add, 1, 1, x, u, y); wait_local(u); r <- mem[y];",
            ),
            ((52, 84), (25, 36), (51, 76), (48, 68)),
            False,
        ),
        (("update(add, 1, 1, x, u, y); r <- mem[y];", ""), ((8, 8), (3, 2), (7, 6), (6, 5)), True),
        (
            (
                "update_from(compare_swap, x, y, 1, x, q, z); update_from(fetch, 1, x, q, w);",
                "r <- fetch_update(add, 0, x, 1);",
            ),
            ((35, 63), (6, 7), (24, 38), (33, 41)),
            True,
        ),
        (
            (
                "await_add(0, mem[y] == 0, 1); put(x, 1, z, u); wait(u); r <- fetch_update(set, 0, y, 0);",
                "await_add(0, mem[y] == 0, 1); r <- mem[z]; r <- fetch_update(set, 0, y, 0);",
            ),
            ((16, 16), (14, 14), (16, 16), (16, 16)),
            False,
        ),
        (
            (
                "await_add(0, mem[y] == 0, 1); put(x, 1, z, u); r <- fetch_update(set, 0, y, 0);",
                "await_add(0, mem[y] == 0, 1); r <- mem[z]; r <- fetch_update(set, 0, y, 0);",
            ),
            ((19, 24), (12, 12), (18, 19), (18, 18)),
            True,
        ),
    ],
)
def test_states_and_transitions(blocks: tuple[str, ...], counts: object, violating: bool) -> None:
    program = instance(*blocks)
    spaces = (StateSpace(program), SequentialSpace(program), NormalForm(program, 2), AttackSpace(program))
    assert tuple(map(sizes, spaces)) == counts
    search = AttackSearch(program)
    for _ in search.run():
        pass
    assert (search.violation is not None) == violating
