"""What may come from a control state on: flows over the control automaton, compared with following every path."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings

from pgasrob.analysis.futures import (
    FENCED,
    ISSUED,
    WAITED,
    WAITED_LOCAL,
    Futures,
    futures,
)
from pgasrob.analysis.ranges import ranges, single
from pgasrob.analysis.touched import Touched
from pgasrob.program.commands import expressions_of
from pgasrob.program.control import Transition
from pgasrob.program.expressions import registers_of
from pgasrob.program.instance import Instance
from pgasrob.semantics.accesses import possible_accesses
from tests.support import Drawn, drawn_programs, examples, instance

X, Y, Z, W = range(4)
Q, U = 0, 1


def of(block: str, state: int = 0) -> tuple[Touched, Touched, bool, set[int], dict[int | None, int]]:
    """What may come at ``state`` of the one rank that runs ``block``."""
    found = futures(instance(block))
    return (
        found.before_barrier[0][state],
        found.ever[0][state],
        found.barrier_later[0][state],
        set(found.live[0][state]),
        found.queues[0][state],
    )


def cells(*numbers: int) -> int:
    return sum(1 << number for number in numbers)


def test_a_barrier_ends_what_comes_before_it_and_not_what_comes_ever() -> None:
    before, ever, barrier, _, _ = of("mem[x] <- 1; barrier; r <- mem[y];")
    assert before == Touched(0, cells(X))
    assert ever == Touched(cells(Y), cells(X))
    assert barrier
    before, ever, barrier, _, _ = of("mem[x] <- 1; barrier; r <- mem[y];", state=2)
    assert before == ever == Touched(cells(Y), 0)
    assert not barrier


def test_what_a_loop_does_comes_at_each_of_its_states() -> None:
    found = futures(instance("loop { r <- mem[x]; mem[y] <- 1; }"))
    assert set(found.ever[0]) == {Touched(cells(X), cells(Y))}


@pytest.mark.parametrize(
    ("command", "touched"),
    [
        ("r <- mem[x];", Touched(cells(X), 0)),
        ("await(mem[x] == 1);", Touched(cells(X), 0)),
        ("mem[x] <- 1;", Touched(0, cells(X))),
        ("write(x, 0, y, q);", Touched(cells(X), cells(Y))),
        ("read(x, 0, y, q);", Touched(cells(Y), cells(X))),
        ("r <- swap(0, x, 1);", Touched(cells(X), cells(X))),
        ("mem[r] <- 1;", Touched(0, cells(X))),
        ("loop { r <- r + 1; } mem[r] <- 1;", Touched(0, cells(X, Y, Z, W))),
        ("while (r < 2) { r <- r + 1; mem[r] <- 1; }", Touched(0, cells(Y, Z))),
        ("mem[9] <- 1;", Touched()),
        ("write(x, 7, y, q);", Touched()),
        ("mem[9] <- 1; r <- mem[x];", Touched()),  # nothing comes after a fault
        ("assume(r == 1); r <- mem[x];", Touched()),
        ("await(mem[x] == 5); r <- mem[y];", Touched(cells(X), 0)),  # it is never over, but looks at x
        ("wait(q);", Touched()),
        ("r <- 1;", Touched()),
    ],
)
def test_accesses_of_a_command(command: str, touched: Touched) -> None:
    assert of(command)[0] == touched


def test_a_rank_that_depends_on_a_register_may_be_any() -> None:
    program = instance("loop { r <- r + 1; } write(x, r, y, q);", nodes=3)
    assert futures(program).ever[1][0] == Touched(cells(4 + X), cells(Y, 4 + Y, 8 + Y))


@pytest.mark.parametrize(
    ("block", "live"),
    [
        ("mem[x] <- r;", {0}),
        ("r <- 1; mem[x] <- r;", set()),
        ("r <- r + s; mem[x] <- r;", {0, 1}),  # a register is read before it is set
        ("r <- r + s;", set()),  # nobody uses what comes of it
        ("r <- r / s;", {0, 1}),  # it may fault
        ("r <- mem[x]; mem[r] <- s;", {1}),
        ("choose { r <- 1; } or { skip; } mem[x] <- r;", {0}),
        ("loop { mem[x] <- r; r <- s; }", {0, 1}),
        ("barrier; assert(r == s);", {0, 1}),
        ("r <- fetch_add(0, x, r);", {0}),
    ],
)
def test_live_registers(block: str, live: set[int]) -> None:
    assert of(block)[3] == live


@pytest.mark.parametrize(
    ("block", "queues"),
    [
        ("write(x, 0, y, q); wait(q);", {Q: ISSUED | WAITED}),
        ("read(x, 0, y, q); wait_local(q);", {Q: ISSUED | WAITED_LOCAL}),
        ("write(x, 0, y, u); barrier; fence(u); wait(q);", {U: ISSUED | FENCED, Q: WAITED}),
        ("loop { r <- r + 1; } wait(r); wait_local(u);", {None: WAITED, U: WAITED_LOCAL}),
        ("wait(r + 1); wait(-1); wait_local(u);", {U: WAITED}),  # nothing comes after a fault
        ("mem[x] <- 1;", {}),
    ],
)
def test_queues(block: str, queues: dict[int | None, int]) -> None:
    assert of(block)[4] == queues


def test_a_queue_is_used_no_more_after_its_last_command() -> None:
    assert of("write(x, 0, y, q); wait(q); wait(u);", state=2)[4] == {U: WAITED}


# By following every path


def ways(program: Instance, rank: int, state: int, through_barriers: bool) -> Iterator[tuple[int, Transition]]:
    """The transitions that some path from ``state`` takes, up to its first barrier or all; each with its start."""
    seen, stack = {state}, [state]
    while stack:
        here = stack.pop()
        for transition in program.automata[rank].out[here]:
            yield here, transition
            goes_on = ranges(program).named(rank, here, transition).possible
            goes_on &= through_barriers or transition.command.kind != "barrier"
            if goes_on and transition.target not in seen:
                seen.add(transition.target)
                stack.append(transition.target)


def is_live(program: Instance, rank: int, state: int, register: int) -> bool:
    """Whether some path from ``state`` reads ``register`` before it sets it."""
    seen, stack = {state}, [state]
    while stack:
        for transition in program.automata[rank].out[stack.pop()]:
            command = transition.command
            if any(register in registers_of(expr) for expr in expressions_of(command).values()):
                return True
            sets = hasattr(command, "register") and command.register.index == register
            if not sets and transition.target not in seen:
                seen.add(transition.target)
                stack.append(transition.target)
    return False


def check_state(program: Instance, found: Futures, rank: int, state: int) -> None:
    for through_barriers, told in ((False, found.before_barrier), (True, found.ever)):
        expected = Touched()
        for here, transition in ways(program, rank, state, through_barriers):
            expected = expected.joined(ranges(program).touched(rank, here, transition))
        assert told[rank][state] == expected
    later = [
        (transition.command.kind, named)
        for here, transition in ways(program, rank, state, through_barriers=True)
        if (named := ranges(program).named(rank, here, transition)).possible
    ]
    assert found.barrier_later[rank][state] == any(kind == "barrier" for kind, _ in later)
    registers = range(len(program.registers))
    assert found.live[rank][state] == {register for register in registers if is_live(program, rank, state, register)}
    uses: dict[int | None, int] = {}
    for kind, named in later:
        if named.queue:
            queue = single(named.queue)
            use = {"wait": WAITED, "wait_local": WAITED_LOCAL, "fence": FENCED}.get(kind, ISSUED)
            uses[queue] = uses.get(queue, 0) | use
    assert found.queues[rank][state] == uses


@given(drawn_programs(loops=True))
@settings(max_examples=examples(90))
def test_futures_are_what_paths_do(drawn: Drawn) -> None:
    program = drawn.instance
    found = futures(program)
    for rank, automaton in enumerate(program.automata):
        for state in range(len(automaton.out)):
            check_state(program, found, rank, state)
        whole = Touched()
        for made in possible_accesses(program, rank):
            whole = whole.adding(made)
        ever = found.ever[rank][0]
        assert not ever.read & ~whole.read and not ever.written & ~whole.written
