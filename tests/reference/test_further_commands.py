"""Reductions and commands whose steps are not two: captured puts, deferred atomics, notifications, bundles, signals.

Programs of a few commands, in which a reduction that forgets too much is found out; `test_reductions_agree` has random
ones.
"""

from __future__ import annotations

import pytest

from pgasrob.analysis.futures import FENCED, ISSUED, LOCATED, NOTIFIED, SIGNALLED, futures
from pgasrob.analysis.placement import Kind, Slot
from pgasrob.analysis.ranges import ranges
from pgasrob.analysis.relevance import relevance
from pgasrob.analysis.symmetry import find_symmetry
from pgasrob.analysis.touched import Touched
from pgasrob.program.commands import Assign, Store, Update
from pgasrob.program.core import EVERY_QUEUE
from pgasrob.program.declarations import MemoryObject, Process
from pgasrob.program.declarations import Queue as ProgramQueue
from pgasrob.program.expressions import INT32, Binary, Conditional, Const, Expr, IntType, Me, Register, Unary
from pgasrob.program.instance import Instance
from pgasrob.program.program import Program
from pgasrob.program.statements import Block, Do
from pgasrob.reference import liveness_reduction as liveness
from pgasrob.reference.attack import Attack, AttackSpace, State
from pgasrob.reference.attack_search import AttackSearch
from pgasrob.reference.renaming import renamed, representative
from pgasrob.robustness.reduction import REDUCTIONS, fixpoint
from pgasrob.robustness.reduction.infeasibility import choosable, is_settled
from pgasrob.semantics.accesses import Access
from tests.analysis.test_symmetry import check_moves
from tests.support import instance

X, Y, Z, W = range(4)
Q, U, V = range(3)

READER = "await(mem[z] == 1); r <- mem[y];"
"""It reads what has been written before z is set."""
NOTIFIED_IN = "write(x, 1, y, u); notify(set, 1, 1, z, {});"
NOTIFIED_EVERYWHERE = "write(x, 1, y, {}); notify_all(set, 1, 1, z, v);"
SIGNALLED_AFTER = "{} write(x, 1, y, q); {} signal(set, 1, 1, z, u);"
LOCATED_TWICE = "{}(set, 1, 0, x, u); update_located(set, 2, 0, x, v);"


def finished(program: Instance, *reductions: str) -> tuple[int, bool]:
    """The number of states, and whether there is a violation."""
    search = AttackSearch(program, reductions)
    for _ in search.run():
        pass
    return search.states, search.violation is not None


# What is ordered, and what is not


@pytest.mark.parametrize(
    ("blocks", "plain", "alone", "together"),
    [
        ((NOTIFIED_IN.format("u"), READER), (10, False), {"infeasibility": 5, "liveness": 8}, 5),
        ((NOTIFIED_IN.format("v"), READER), (13, True), {"infeasibility": 9, "liveness": 10}, 9),
        ((NOTIFIED_EVERYWHERE.format("u"), READER), (10, False), {"infeasibility": 5, "liveness": 8}, 5),
        ((NOTIFIED_EVERYWHERE.format("q"), READER), (10, False), {"infeasibility": 5, "liveness": 8}, 5),
        ((SIGNALLED_AFTER.format("bundle;", ""), READER), (11, False), {"infeasibility": 6, "liveness": 9}, 6),
        ((SIGNALLED_AFTER.format("", "bundle;"), READER), (16, True), {"infeasibility": 11, "liveness": 12}, 11),
        ((SIGNALLED_AFTER.format("", ""), READER), (10, False), {"infeasibility": 5, "liveness": 8}, 5),
        ((LOCATED_TWICE.format("update_located"),), (6, False), {"infeasibility": 0, "liveness": 4}, 0),
        ((LOCATED_TWICE.format("update"),), (7, True), {"infeasibility": 6, "liveness": 5}, 5),
        (("put(x, 1, y, u); mem[x] <- 5;", ""), (5, False), {"infeasibility": 0, "liveness": 3}, 0),
        (("write(x, 1, y, u); mem[x] <- 5;", ""), (7, True), {"infeasibility": 5, "liveness": 5}, 5),
    ],
)
def test_states_of_small_programs(
    blocks: tuple[str, ...], plain: tuple[int, bool], alone: dict[str, int], together: int
) -> None:
    program = instance(*blocks)
    states, violated = plain
    assert finished(program) == plain
    assert {name: finished(program, name) for name in REDUCTIONS} == {
        name: (alone.get(name, states), violated) for name in REDUCTIONS
    }
    assert finished(program, *REDUCTIONS) == (together, violated)


LOCK = """
    await_add(0, mem[z] == 0, 1);
    {}(x, 0, y, q);
    {}
    r <- fetch_update(add, 0, z, -1);
"""


@pytest.mark.parametrize(
    ("wait", "violated", "expected"),
    [("wait(q);", False, [(20, 10), (56, 15), (144, 20)]), ("", True, [(24, 11), (51, 14), (88, 14)])],
)
def test_states_of_a_lock(wait: str, violated: bool, expected: list[tuple[int, int]]) -> None:
    """With interchangeable ranks, and an await that belongs to an atomic."""
    for nodes, states in enumerate(expected, 2):
        program = instance(LOCK.format("put", wait), nodes=nodes)
        found = finished(program), finished(program, "persistent", "merging", "liveness", "symmetry")
        assert found == ((states[0], violated), (states[1], violated))
        assert finished(program, *REDUCTIONS)[1] is violated


# What must not be forgotten


@pytest.mark.parametrize(
    ("use", "blocks"),
    [
        ("NOTIFIED", (NOTIFIED_IN.format("u"), READER)),
        ("NOTIFIED", (NOTIFIED_EVERYWHERE.format("u"), READER)),
        ("NOTIFIED", (NOTIFIED_EVERYWHERE.format("q"), READER)),
        ("SIGNALLED", (SIGNALLED_AFTER.format("bundle;", ""), READER)),
        ("SIGNALLED", (SIGNALLED_AFTER.format("", ""), READER)),
        ("LOCATED", (LOCATED_TWICE.format("update_located"),)),
    ],
)
def test_what_a_later_command_looks_at_is_kept(
    use: str, blocks: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Liveness that did not know of the use would call a robust program violating."""
    program = instance(*blocks)
    assert not finished(program, "liveness")[1]
    monkeypatch.setattr(liveness, use, 0)
    assert finished(program, "liveness")[1]


def test_a_bundle_ends_what_is_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    """More ways lead from the bundle to the last signal than are told apart, and on the last of them alone no fence
    delays a write of its bundle."""
    fences = " or ".join(f"{{ fence({queue}); }}" for queue in "abcde")
    block = [
        "write(x, 1, y, u);",
        *(f"signal(set, 1, 1, x, {queue});" for queue in "abcde"),
        f"bundle; choose {fences}",
        *(f"write(x, 1, w + {place}, {queue});" for place, queue in enumerate("abcd")),
        "signal(set, 1, 1, z, u);",
    ]
    queues = ", ".join(f"{queue} unordered" for queue in "uabcde")
    program = instance(" ".join(block), READER, declarations=f"memory x = 1, y, z, w[4]; register r; queue {queues};")
    assert finished(program, "infeasibility")[1]
    monkeypatch.setattr(fixpoint, "fenced", lambda placement, operands: placement)
    assert not finished(program, "infeasibility")[1]


CHOICE = "choose { r <- 0; } or { r <- 1; }"


@pytest.mark.parametrize(
    "blocks",
    [
        # What a put reads at its issue may taint it.
        ("write(x, 1, y, u); write(x, 1, w, v);", "put(w, 0, z, q); r <- mem[y];"),
        # A target or a cell that is not certain is not mistaken for another one.
        (f"{CHOICE} write(x, r, y, u); fence(u, 0); write(x, 0, z, u);", "s <- fetch(0, z); s <- mem[y];"),
        # What is read may be what waits for a result, as far as is known, but is not certain to be.
        (
            "mem[x] <- 3; r <- mem[x]; r <- r == 2; mem[z] <- 1; update(set, 1, 1, y, u, w); write(z + r, 1, z, v);",
            "await(mem[z] == 1); s <- mem[y];",
        ),
        (f"{CHOICE} write(x, 0, y, u); notify(set, 1, r, z, u);", "await(mem[z] == 1); s <- fetch(0, y);"),
        (
            f"{CHOICE} update_located(set, 5, 0, x, u); update_located(set, 1, 1, y + r, v);",
            "await(mem[y] == 1); s <- fetch(0, x);",
        ),
    ],
)
def test_violations_that_are_not_missed(blocks: tuple[str, ...]) -> None:
    program = instance(*blocks)
    assert finished(program)[1]
    assert finished(program, "infeasibility")[1] and finished(program, *REDUCTIONS)[1]


def test_a_bundle_without_a_queue_is_placed(monkeypatch: pytest.MonkeyPatch) -> None:
    program = instance(SIGNALLED_AFTER.format("", "bundle;"), READER)
    assert finished(program, "infeasibility")[1]
    monkeypatch.setattr(fixpoint, "fenced", lambda placement, operands: placement)
    assert not finished(program, "infeasibility")[1]


# Which steps are worth choosing


@pytest.mark.parametrize(
    ("blocks", "worth"),
    [
        # The issue of a put reads x, so nothing of it is delayed but the write.
        (("put(x, 1, y, u); wait_local(u); mem[x] <- 5;", ""), [0, 0, 0]),
        (("put(x, 1, y, u); r <- fetch(1, y);", ""), [1, 0]),
        (("put(x, 1, y, u); wait(u); r <- fetch(1, y);", ""), [0, 0, 0]),
        # Only what is in conflict: the update of y, or the result in z.
        (("update(add, 1, 1, y, u, z); r <- fetch(1, y);", ""), [1, 0]),
        (("update(add, 1, 1, y, u, z); r <- mem[z];", ""), [2, 0]),
        (("update(add, 1, 1, y, u); r <- mem[z];", ""), [0, 0]),
        (("update(add, 1, 1, y, u, z); wait_local(u); r <- mem[z];", ""), [0, 0, 0]),
        (("update_from(compare_swap, x, w, 1, y, u, z); mem[w] <- 1;", ""), [2, 0]),
        (("update_from(compare_swap, x, w, 1, y, u, z); mem[x] <- 1;", ""), [1, 0]),
        (("update_from(fetch, 1, y, u, z); r <- mem[z];", ""), [2, 0]),
        (("update_from(fetch, 1, y, u, z); r <- fetch(1, y);", ""), [0, 0]),
        # Where the update is delayed, so is its result; the load of z cannot be part of that.
        (("update(add, 1, 1, y, u, z); r <- mem[z]; r <- fetch(1, y);", ""), [2, 0, 0]),
    ],
)
def test_steps_that_are_worth_choosing(blocks: tuple[str, ...], worth: list[int]) -> None:
    assert choosable(instance(*blocks)) == worth


def test_an_await_that_adds_leaves_something_to_search() -> None:
    program = instance("await_add(0, mem[x] == 5, 1);")
    assert not any(choosable(program)) and not is_settled(program, choosable(program))


# What is known of commands


def made(program: Instance) -> list[Touched]:
    """The accesses of the first command of rank 0, one by one."""
    at_issue, steps = ranges(program).made(0, 0, program.automata[0].out[0][0])
    return [*([at_issue] if at_issue != Touched() else []), *steps]


def reads(*cells: int) -> Touched:
    return Touched(sum(1 << cell for cell in cells), 0)


def writes(*cells: int) -> Touched:
    return Touched(0, sum(1 << cell for cell in cells))


def updates(cell: int) -> Touched:
    return Touched(1 << cell, 1 << cell)


def adds(cell: int) -> Touched:
    return Touched(updated=(("add int32", 1 << cell),))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("write(x, 1, y, q);", [reads(X), writes(4 + Y)]),
        ("read(x, 1, y, q);", [reads(4 + Y), writes(X)]),
        ("put(x, 1, y, q);", [reads(X), writes(4 + Y)]),
        ("update(add, 1, 1, y, q);", [adds(4 + Y)]),
        ("update(add, 1, 1, y, q, z);", [updates(4 + Y), writes(Z)]),
        ("update(set, 1, 1, y, q);", [writes(4 + Y)]),
        ("update(set, 1, 1, y, q, z);", [updates(4 + Y), writes(Z)]),  # what was there is read for the result
        ("update_from(max, x, 1, y, q, z);", [reads(X), updates(4 + Y), writes(Z)]),
        ("update_from(set, x, 1, y, q);", [reads(X), writes(4 + Y)]),
        ("update_from(compare_swap, x, w, 1, y, q, z);", [reads(X), reads(W), updates(4 + Y), writes(Z)]),
        ("update_from(fetch, 1, y, q, z);", [reads(4 + Y), writes(Z)]),
        ("notify(add, 1, 1, y, q);", [adds(4 + Y)]),
        ("signal(set, 1, 1, y, q);", [writes(4 + Y)]),
        ("r <- fetch(1, y);", [reads(4 + Y)]),
        ("r <- fetch_update(set, 1, y, 3);", [updates(4 + Y)]),
        ("await_add(1, mem[y] == 0, 1);", [updates(4 + Y)]),
        ("await_add(1, mem[x] == 7, 1);", [updates(4 + X)]),  # it is never over, and looks at its cell all the same
        ("bundle;", []),
    ],
)
def test_accesses_one_by_one(command: str, expected: list[Touched]) -> None:
    assert made(instance(command, "")) == expected


@pytest.mark.parametrize(
    ("block", "cell", "expected"),
    [
        ("put(x, 0, y, q);", Y, (0, 1)),
        ("update(add, 5, 0, x, q, y);", X, INT32.range),
        ("update(set, 5, 0, x, q, y);", Y, (0, 5)),
        ("update(or, 6, 0, x, q, y);", Y, (0, 7)),
        ("update(compare_swap, 9, 7, 0, x, q, y);", X, (1, 1)),
        ("update(compare_swap, 9, 1, 0, x, q, y);", X, (1, 9)),
        ("mem[w] <- 4; update_from(max, w, 0, y, q, z);", Y, (0, 4)),
        ("mem[w] <- 4; update_from(compare_swap, w, x, 0, z, q);", Z, (0, 0)),  # z is never x
        ("update_from(fetch, 0, x, q, y);", Y, (0, 1)),
        ("notify(set, 3, 0, y, q);", Y, (0, 3)),
        ("signal(set, -2, 0, x, q);", X, (-2, 1)),
        ("r <- fetch(0, x); mem[y] <- r + 1;", Y, (0, 2)),
        ("r <- fetch_update(min, 0, x, -3);", X, (-3, 1)),
        ("await_add(0, mem[x] < 3, 1);", X, (1, 3)),
        ("await_add(0, mem[x] == 2, 1);", X, (1, 1)),
    ],
)
def test_what_cells_hold(block: str, cell: int, expected: tuple[int, int]) -> None:
    assert ranges(instance(block)).cell(cell) == expected


def uses(block: str, state: int = 0) -> dict[int | None, int]:
    return futures(instance(block, "")).queues[0][state]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("put(x, 1, y, q);", {Q: ISSUED}),
        ("update_from(fetch, 1, y, v, z);", {V: ISSUED}),
        ("notify(set, 1, 1, y, u);", {U: ISSUED | NOTIFIED}),
        ("notify_all(set, 1, 1, y, u);", {U: ISSUED, None: NOTIFIED}),
        ("choose { r <- 1; } or { r <- 0; } notify(set, 1, 1, y, r);", {None: ISSUED | NOTIFIED}),
        ("signal(set, 1, 1, y, u);", {U: ISSUED, EVERY_QUEUE: SIGNALLED}),
        ("bundle; signal(set, 1, 1, y, u);", {U: ISSUED}),
        ("choose { bundle; } or { r <- 0; } signal(set, 1, 1, y, u);", {U: ISSUED, EVERY_QUEUE: SIGNALLED}),
        ("update_located(add, 1, 1, y, u);", {U: ISSUED, EVERY_QUEUE: LOCATED}),
        ("bundle; update_located(add, 1, 1, y, u);", {U: ISSUED, EVERY_QUEUE: LOCATED}),
        ("update(add, 1, 1, y, u); fence(u);", {U: ISSUED | FENCED}),
        ("assume(0); notify_all(set, 1, 1, y, u);", {}),
    ],
)
def test_how_queues_are_used(block: str, expected: dict[int | None, int]) -> None:
    assert uses(block) == expected


@pytest.mark.parametrize(
    ("block", "registers", "cells"),
    [
        ("put(x, 0, y, q);", set(), []),
        ("put(x, 0, y, q); await(mem[y] == 1);", set(), [X, Y]),
        ("update(add, r, 0, y, q, z);", set(), []),
        ("update(add, r, 0, y, q, z); await(mem[z] == 1);", {0}, [Y, Z]),
        ("update(set, r, 0, y, q, z); await(mem[z] == 1);", {0}, [Y, Z]),
        ("update(compare_swap, 1, r, 0, y, q); await(mem[y] == 1);", {0}, [Y]),
        ("update_from(compare_swap, x, y + r, 0, z, q);", {0}, []),
        ("update_from(compare_swap, x, w, 0, z, q, y); await(mem[y] == 1);", set(), [X, Y, Z, W]),
        ("update(add, 1, 0, y, q, z + r);", {0}, []),
        ("notify(add, r, 0, y, q); await(mem[y] == 1);", {0}, [Y]),
        ("r <- fetch(0, x); assume(r == 1);", {0}, [X]),
        ("r <- fetch_update(or, 0, x, s); assume(r == 1);", {0, 1}, [X]),
        ("r <- fetch_update(or, 0, x, s);", set(), []),
        ("await_add(0, mem[x] == r, s);", {0, 1}, [X]),
    ],
)
def test_which_values_decide(block: str, registers: set[int], cells: list[int]) -> None:
    found = relevance(instance(block))
    assert found.registers == (frozenset(registers),)
    assert found.cells == sum(1 << cell for cell in cells)


@pytest.mark.parametrize(("conversion", "decides"), [("int", True), ("float", False), ("cast", False), ("-.", False)])
def test_a_double_that_may_be_no_integer_decides(conversion: str, decides: bool) -> None:
    value = Unary(conversion, Binary("/.", Register("r", 0), Const(0)))
    body = Block((Do(Update("add.", value, Const(0), Const(0), Const(0))),))
    program = Program(
        "p", 1, (MemoryObject("x", 0, None, (0,)),), ("r",), (ProgramQueue("q", 0, False),), (Process(None, body),)
    )
    assert (relevance(program.instantiate()).registers == (frozenset((0,)),)) is decides


# Interchangeable ranks


@pytest.mark.parametrize(
    ("block", "classes"),
    [
        ("put(x, 0, y, q); wait(q);", [(0, 1, 2)]),
        ("put(x, 0, x, q); wait(q);", [(1, 2)]),
        ("update(set, me + 1, 0, link, u, y);", [(0, 1, 2)]),
        ("update(set, me, 0, home, u); update(add, 1, 0, y, u, home);", []),  # the sum would be a rank
        ("update(set, me + 1, 0, link, u, y); await(mem[y] > 1);", []),
        ("update(compare_swap, me + 1, 2, 0, link, u);", [(0, 2)]),
        ("update(add, me, 0, link, u);", []),
        ("mem[home] <- me; update_from(set, home, 0, link, u, y);", [(1, 2)]),  # link of rank 1 is 0 for good
        ("mem[home] <- me; update_from(max, home, 0, link, u);", []),
        ("mem[home] <- me + 1; update_from(compare_swap, home, y, 0, link, u);", [(0, 1, 2)]),
        ("p <- me; notify(set, 1, p, x, u);", [(0, 1, 2)]),
        ("p <- me; write(x, p, x, u); notify(set, 1, 1, y, u);", [(0, 2)]),  # placements have targets
        ("p <- me; write(x, p, x, q); notify(set, 1, 1, y, q);", [(0, 1, 2)]),  # in order without them
        ("p <- me; write(x, p, x, q); notify_all(set, 1, 1, y, q);", [(0, 2)]),
        ("bundle; write(x, 0, y, u); signal(add, 1, 0, link, u);", [(0, 1, 2)]),
        ("signal(set, me, 0, home, u); mem[home] <- me;", [(1, 2)]),
        ("signal(set, me, me, home, u);", [(0, 1, 2)]),
        ("p <- fetch(0, home); mem[home] <- me;", [(1, 2)]),
        ("p <- fetch_update(set, me, y, me);", [(0, 1, 2)]),
        ("p <- me; p <- fetch_update(add, 0, y, 1);", []),
        ("await_add(0, mem[y] == 0, 1);", [(0, 1, 2)]),
        ("await_add(0, mem[y] == me, 1);", []),
    ],
)
def test_which_ranks_are_interchangeable(block: str, classes: list[tuple[int, ...]]) -> None:
    declarations = "memory x = 1, y, home, link; register i, p, n; queue q, u unordered;"
    program = instance(block, nodes=3, declarations=declarations)
    assert list(find_symmetry(program, every_value=True).classes) == classes


IS_7 = Binary("==", Register("p", 0), Const(7))
INT64, UINT64, INT16 = IntType(64, True), IntType(64, False), IntType(16, True)


@pytest.mark.parametrize(
    ("value", "classes"),
    [
        (Unary("cast", Me(), INT64), [(0, 1, 2)]),
        (Binary("-", Binary("+", Unary("cast", Me(), INT64), Const(1), INT64), Const(1)), [(0, 1, 2)]),
        # What is cast is 0, the name of a rank, whatever it was before.
        (Conditional(IS_7, Unary("cast", Conditional(IS_7, Const(1 << 40), Const(1 << 33))), Me()), [(1, 2)]),
        (Unary("cast", Me(), UINT64), []),  # -1 becomes something else in it
        (Unary("cast", Me(), INT16), []),
        (Binary("+", Me(), Const(0), UINT64), []),
        (Unary("float", Me()), []),
        (Binary("+.", Me(), Const(0)), []),
    ],
)
def test_ranks_may_be_made_wider(value: Expr, classes: list[tuple[int, ...]]) -> None:
    register, x, queue = Register("p", 0), Const(0), Const(0)
    commands = [Assign(register, value), Store(x, register), Update("set", register, register, x, queue, x)]
    body = Block(tuple(map(Do, commands)))
    cells, queues = (MemoryObject("x", 0, None, (0,)),), (ProgramQueue("q", 0, True),)
    program = Program("p", 3, cells, ("p",), queues, (Process(None, body),)).instantiate()
    found = find_symmetry(program, every_value=True)
    assert list(found.classes) == classes
    if classes:
        check_moves(program, found, 200)


def test_located_cells_move_with_their_rank() -> None:
    block = "p <- me; update_located(add, 1, p, x, u); update_located(add, 1, 0, home, u); mem[x] <- 1;"
    program = instance(block, nodes=3, declarations="memory x, home; register p; queue u unordered;")
    found = find_symmetry(program, every_value=True)
    assert found.classes == ((1, 2),)
    state = AttackSpace(program).initial
    assert isinstance(state, State)
    pending, located = (Slot(U, Kind.PENDING), 2), Slot(EVERY_QUEUE, Kind.LOCATED)
    placement = (located._replace(of=1), 2), (located._replace(of=2), 2), pending
    state = state._replace(placement=((), placement, ()), attack=Attack(writes_to(2), 2))
    after = renamed(program, found, state, (0, 2, 1))
    # x has moved from rank 1 to rank 2; home of rank 0 stays.
    assert after.placement == ((), (), ((located._replace(of=1), 2), (located._replace(of=4), 2), pending))
    assert representative(program, found, state)[0] == representative(program, found, after)[0]


def writes_to(cell: int) -> Access:
    return Access(cell, reads=False, writes=True)
