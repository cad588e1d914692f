"""Which reads fail: what a read has to bring so that the rank does not just come back (`proofs/polling.md`)."""

from __future__ import annotations

from typing import get_args

import pytest

from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.expressions import Const, parts
from pgasrob.program.instance import Instance, _reads_again
from pgasrob.program.parser import parse
from pgasrob.program.polls import may_become_waits, with_polls
from pgasrob.program.raised_flags import Flags
from pgasrob.program.reading import DEFAULT_READING, LITERAL_READING, Conflicts, Reading
from pgasrob.program.walks import is_read
from tests.certificates.mutants import random_programs
from tests.support import calls, examples

HEADER = "program p; nodes 2;\nmemory x, y, a[4];\nregister r, s, n;\nqueue q unordered;\n"


def instance(body: str, reading: Reading = DEFAULT_READING) -> Instance:
    return parse(f"{HEADER}process {{ {body} }}").instantiate(2, reading)


def fails(body: str, *values: int, read: int = 0) -> list[int]:
    """Those of ``values`` with which the ``read``-th load or fetch of ``body`` fails, all registers being 0 before."""
    guarded = instance(body)
    automaton = guarded.automata[0]
    reads = sorted(
        (edge.occurrence, state)
        for state, leaving in enumerate(automaton.out)
        for edge in leaving
        if edge.command.kind in ("load", "fetch")
    )
    occurrence, state = sorted(dict.fromkeys(reads))[read]
    edge = next(each for each in automaton.out[state] if each.occurrence == occurrence)
    registers = [0, 0, 0]
    found = []
    for value in values:
        after = list(registers)
        after[edge.form.register] = value
        if edge.form.until is not None and not edge.form.until.satisfied(after):
            found.append(value)
    return found


@pytest.mark.parametrize(
    ("body", "failing"),
    [
        ("while (r == 0) { r <- mem[x]; }", [0]),
        ("while (r < 2) { r <- mem[x]; }", [0, 1]),
        ("while (r < 2) { r <- fetch(1, x); }", [0, 1]),
        ("r <- mem[x]; ", []),
        ("again: r <- mem[x]; if (r == 0) { goto again; }", [0]),
        ("again: r <- mem[x]; if (r == 0) { n <- n + 1; goto again; }", [0]),  # nobody uses n
        ("again: r <- mem[x]; if (r == 0) { n <- n + 1; goto again; } mem[y] <- n;", []),
        ("again: r <- mem[x]; if (r == 0) { n <- 0; goto again; } mem[y] <- n;", [0]),  # it is 0 at the start, too
        ("again: r <- mem[x]; if (r == 0) { n <- 7; goto again; } mem[y] <- n;", []),
        ("again: r <- mem[x]; if (r == 0) { mem[y] <- 1; goto again; }", []),
        ("again: r <- mem[x]; if (r == 0) { assert(r == 0); goto again; }", []),
        ("again: r <- mem[x]; if (r == 0) { s <- fetch_add(0, y, 0); goto again; }", []),
        ("again: r <- mem[x]; if (r == 0) { await(mem[y] == 0); goto again; }", []),
        ("again: r <- mem[x]; if (r == 0) { barrier; goto again; }", []),
        ("again: r <- mem[x]; if (r == 0) { write(x, 1, y, q); goto again; }", []),
        ("again: r <- mem[x]; if (r == 0) { wait(q); wait_local(q); fence(q); fence(q, 1); goto again; }", [0]),
        ("again: r <- mem[x]; if (r == 0) { s <- mem[y]; goto again; }", [0]),
        ("again: r <- mem[x]; if (r == 0) { s <- mem[y]; if (s == 5) { goto again; } }", []),
        ("again: r <- mem[x]; if (r == 0) { s <- mem[y]; if (s == 5) { skip; } else { skip; } goto again; }", [0]),
        ("again: r <- mem[x]; if (r == 0) { s <- mem[y]; if (1 / s) { skip; } goto again; }", []),
        ("again: r <- mem[x]; if (r == 0) { s <- mem[y]; s <- s / 0; goto again; }", []),
        ("again: r <- mem[x]; if (r == 0) { choose { skip; } or { s <- 1; } goto again; }", [0]),
        ("again: r <- mem[x]; if (r == 0) { choose { goto again; } or { mem[y] <- 1; } }", []),
        ("again: r <- mem[x]; if (r == 0) { choose { goto again; } or { skip; } }", [0]),  # it may end anywhere
        ("again: r <- mem[x]; if (r == 0) { loop { s <- mem[y]; } goto again; }", []),
        ("again: r <- mem[x]; if (r == 0) { assume(s == 1); goto again; }", []),
        ("loop { r <- mem[x]; assume(r == 0); }", [0]),
        ("r <- mem[x]; assume(r == 1);", []),
        ("again: r <- mem[x]; goto again;", [0, 1, 2]),
        # the read's own register is read before it is set again
        ("again: s <- r + 1; r <- mem[x]; if (r == 0) { goto again; } mem[y] <- s;", []),
        ("again: s <- r; r <- mem[x]; if (r == 0) { goto again; } mem[y] <- s;", [0]),  # s was 0, too
        ("again: r <- r + 1; r <- mem[x]; if (r == 1) { goto again; }", [1]),  # nobody uses r + 1
        ("while (r == 0) { r <- mem[x]; s <- r; }", [0]),
        # back at some of what could be done before only: it may be stuck there
        ("choose { r <- mem[x]; assume(r == 0); goto on; } or { on: await(mem[y] == 1); }", []),
        # where the address comes from
        ("again: r <- mem[a + s]; if (r == 0) { goto again; }", [0]),
        ("again: r <- mem[x]; if (r == 0) { s <- mem[a + n]; goto again; }", [0]),
        ("n <- 9; again: r <- mem[x]; if (r == 0) { s <- mem[a + 90]; goto again; }", []),
        ("again: r <- mem[x]; if (r == 0) { s <- fetch(n, y); goto again; }", [0]),
        ("again: r <- mem[x]; if (r == 0) { s <- fetch(n - 1, y); goto again; }", []),
        ("again: r <- mem[x]; if (r == 0) { s <- fetch(7, y); goto again; }", []),
        ("again: r <- mem[x]; if (r == 0) { wait(n - 1); goto again; }", []),
        # entered in the middle
        ("goto mid; again: s <- mem[y]; if (s) { mem[x] <- 1; } mid: r <- mem[x]; if (r == 0) { goto again; }", []),
        ("goto middle; again: s <- mem[y]; middle: r <- mem[x]; if (r == 0) { goto again; }", [0]),
        ("goto middle; again: skip; middle: r <- mem[x]; if (r == 0) { goto again; }", [0]),
        # an awaited value, a value that leads elsewhere
        ("again: r <- mem[x]; if (r == 0) { goto again; } if (r == 1) { mem[y] <- 1; goto again; }", [0]),
        ("mem[y] <- 1; again: r <- mem[x]; if (r != 2) { if (r != 1) { goto again; } mem[y] <- 1; }", [0]),
    ],
)  # fmt: skip
def test_values_with_which_a_read_fails(body: str, failing: list[int]) -> None:
    read = 1 if "again: s <- mem[y]" in body else 0
    assert fails(body, 0, 1, 2, read=read) == failing


def test_two_tests_in_a_round() -> None:
    both = "while (!(r && s)) { r <- mem[x]; if (r) { s <- mem[y]; } }"
    assert fails(both, 0, 1, read=0) == [0]
    # r is 0 before here; in a round it is not when y is read, and then its value does not matter
    either = "again: r <- mem[x]; if (!r) { s <- mem[y]; if (!s) { goto again; } }"
    assert fails(either, 0, 1, read=0) == []
    assert fails(either, 0, 1, read=1) == [0]


@pytest.mark.parametrize(
    "condition",
    ["!(r && s)", "(r & s) == 0", "r * s == 0", "r == 0 || s == 0", "(r == 0) | (s == 0)", "!(s & r & 1)",
     "!((r == 1) & (s == 1))", "r ? !s : 1", "!(r && s) && 1"],
)  # fmt: skip
def test_one_flag_of_two_decides(condition: str) -> None:
    """Each in the order in which they are read, and whatever the other gives."""
    for first, second in ("rx", "sy"), ("sy", "rx"):
        looks = f"{first[0]} <- mem[{first[1]}]; {second[0]} <- mem[{second[1]}];"
        assert fails(f"while ({condition}) {{ {looks} }}", 0, 1, read=0) == [0], looks
        assert fails(f"while ({condition}) {{ {looks} }}", 0, 1, read=1) == [0, 1], looks  # with 0 in the first


def test_one_flag_of_three_decides() -> None:
    looks = "r <- mem[x]; s <- mem[y]; n <- mem[a];"
    for condition in "!(r && s && n)", "(r & s & n) == 0", "r * s * n == 0", "!r || !s || !n":
        assert [fails(f"while ({condition}) {{ {looks} }}", 0, 1, read=each) for each in range(3)] == [
            [0], [0, 1], [0, 1]
        ]  # fmt: skip


@pytest.mark.parametrize(
    "condition",
    [
        "r + s < 2",  # the other may be 5
        "(r | s) == 0",
        "r == 0 && s == 0",
        "(r ^ s) == 0",
        "!(r & 4 / s)",  # the rank may fault there
        "r * (1 << s) == 0",
    ],
)
def test_one_flag_of_two_does_not_decide(condition: str) -> None:
    assert fails(f"while ({condition}) {{ r <- mem[x]; s <- mem[y]; }}", 0, 1, read=0) == []


def test_one_flag_decides_what_is_computed_of_two() -> None:
    looks = "r <- mem[x]; s <- mem[y]; n <- r & s;"
    assert fails(f"while (!n) {{ {looks} }}", 0, 1, read=0) == [0]
    assert fails(f"while (!n) {{ {looks} }}", 0, 1, read=1) == [0, 1]
    assert fails(f"while (!n) {{ {looks} n <- n + s; }}", 0, 1, read=0) == []
    # an address that one operand decides
    assert fails("while (!r) { r <- mem[x]; s <- mem[y]; n <- mem[a + (r & s)]; }", 0, 1, read=0) == [0]
    assert fails("while (!r) { r <- mem[x]; s <- mem[y]; n <- mem[a + s]; }", 0, 1, read=0) == []


def test_both_tests_have_to_hold() -> None:
    body = "again: r <- mem[x]; if (!r) { goto again; } s <- mem[y]; if (!s) { goto again; }"
    assert fails(body, 0, 1, read=0) == [0]
    assert fails(body, 0, 1, read=1) == [0]


def test_a_register_set_in_the_round_decides_nothing_behind_it() -> None:
    # y is looked at with r as it is; coming back to the load of x, r is set before it is read
    body = "again: r <- mem[x]; s <- mem[y]; if (s < r) { goto again; }"
    reads = instance(body).automata[0].transitions
    until = next(edge.form.until for edge in reads if edge.command.kind == "load" and edge.form.register == 1)
    assert until is not None and until.spins
    assert not until.satisfied([5, 4, 0]) and until.satisfied([5, 5, 0]) and until.satisfied([5, 6, 0])


def test_an_outer_loop_that_only_reads_is_a_poll_too() -> None:
    tests = "r <- mem[x]; if (r == 0) { goto outer; } s <- mem[y]; if (s == 0) { goto outer; }"
    body = f"outer: {tests} mem[x] <- 0; goto outer;"
    assert fails(body, 0, 1, read=0) == [0]
    assert fails(body, 0, 1, read=1) == [0]
    silent = "outer: r <- mem[x]; if (r == 0) { goto outer; } goto outer;"
    assert fails(silent, 0, 1) == [0, 1]


@pytest.mark.parametrize(
    ("body", "failing", "spins"),
    [
        ("r <- mem[x]; if (r == 0) { await(mem[x] != 0); }", [0], False),
        ("r <- mem[x]; if (!r) { await(mem[x] != 0); }", [0], False),
        ("r <- mem[x]; if (r < 2) { await(mem[x] >= 2); }", [0, 1], False),
        ("r <- mem[x]; if (2 > r) { await(mem[x] >= 2); }", [0, 1], False),
        ("r <- mem[x]; if (r == n) { await(mem[x] != n); }", [0], False),
        ("r <- mem[x]; if (r < 2) { await(mem[x] >= 1); }", [], False),  # 1 would have led to the await again
        ("r <- mem[x]; if (r < 1) { await(mem[x] >= 2); }", [], False),  # who has seen 0 waits for ever when 1 comes
        ("r <- mem[x]; if (r < 1) { again: s <- mem[x]; if (s < 2) { goto again; } }", [0], True),
        ("r <- mem[x]; if (r) { await(mem[x] == 0); } else { while (r) { r <- mem[x]; } }", [1, 2], False),
        ("r <- mem[x]; if (r == 0) { await(mem[x] >= 2); } else { while (r < 2) { r <- mem[x]; } }", [1], True),
        ("r <- mem[x]; if (r == 0) { await(mem[y] != 0); }", [], False),
        ("r <- mem[x]; again: await(mem[x] != 0); goto again;", [], False),  # whatever it gives
        ("r <- mem[x]; if (r == 0) { await(mem[x] != 0); n <- 1; } mem[y] <- n;", [], False),
        ("r <- mem[x]; if (r == 0) { n <- 1; await(mem[x] != 0); } mem[y] <- n;", [], False),
        ("r <- mem[x]; if (r == 0) { n <- 1; await(mem[x] != 0); }", [0], False),
        ("r <- mem[x]; if (r == 0) { await(mem[x] != 0); } mem[y] <- r;", [], False),  # which look it was, shows
        ("r <- mem[x]; if (r == 0) { mem[y] <- 1; await(mem[x] != 0); }", [], False),
        ("r <- mem[x]; if (r == n) { n <- 1; await(mem[x] != n); }", [], False),
        ("r <- mem[x]; if (r == 0) { choose { await(mem[x] != 0); } or { mem[y] <- 1; } }", [], False),
        ("r <- mem[x]; if (!r) { await(mem[x] != 0); } while (n < 2) { await(mem[x] > 1); n <- mem[x]; }", [0], False),
        ("r <- fetch(1, x); if (r == 0) { await(mem[x] != 0); }", [], False),  # another cell
        ("r <- fetch(me, x); if (r == 0) { await(mem[x] != 0); }", [0], False),
        # another register decides, too
        ("r <- mem[x]; if (!n) { if (r != 1) { await(mem[x] == 1); } } else { mem[y] <- 1; }", [0, 2], False),
        ("r <- mem[x]; if (n) { if (r != 1) { await(mem[x] == 1); } }", [], False),
        ("r <- mem[x]; if (n) { await(mem[y] == 1); } if (r != 1) { await(mem[x] == 1); }", [0, 2], False),
        ("r <- mem[x]; if (!n) { await(mem[y] == 1); } if (r != 1) { await(mem[x] == 1); }", [], False),
        # r has what the look gave, not what was awaited
        ("r <- mem[x]; if (r == 0) { await(mem[x] != 0); } if (r == 0) { mem[y] <- 1; }", [], False),
        ("r <- mem[x]; if (!r) { again: s <- mem[x]; if (!s) { goto again; } } if (!r) { mem[y] <- 1; }", [], True),
        ("r <- mem[x]; while (r == 0) { r <- mem[x]; }", [0], True),
        ("s <- 5; r <- mem[x]; if (r) { goto on; } p: s <- mem[x]; on: if (s < 1) { goto p; } mem[y] <- s;", [], True),
        ("r <- mem[x]; while (r == 0) { r <- mem[x]; } mem[y] <- r;", [0], True),  # it is what was looked for
        ("r <- mem[x]; if (r == 0) { while (r == 0) { r <- mem[x]; } } mem[y] <- r;", [0], True),
        ("r <- mem[x]; if (r == 0) { while (r == 0) { r <- mem[x]; } mem[y] <- r; }", [], False),
        ("r <- mem[x]; if (!r) { while (!r) { r <- mem[x]; } } n <- mem[y]; while (!r) { r <- mem[x]; }", [0], True),
        ("r <- mem[x]; while (r == 0) { r <- mem[x]; } if (r == 2) { mem[y] <- r; }", [0], True),
        ("r <- mem[x]; if (r == 0) { again: s <- mem[x]; if (s == 0) { goto again; } }", [0], True),
        ("r <- mem[x]; if (r == 0) { again: s <- mem[x]; if (s < 2) { goto again; } }", [0], True),
        ("r <- mem[x]; if (r < 2) { again: s <- mem[x]; if (s == 0) { goto again; } }", [], True),
        ("r <- mem[a + n]; if (r == 0) { await(mem[a + n] != 0); }", [0], False),
    ],
)  # fmt: skip
def test_looking_before_waiting(body: str, failing: list[int], spins: bool) -> None:
    assert fails(body, 0, 1, 2) == failing
    first = next(edge.form for edge in instance(body).automata[0].transitions if edge.command.kind in ("load", "fetch"))
    assert not failing or first.until.spins == spins


def test_in_the_other_reading_no_read_fails() -> None:
    body = "while (r == 0) { r <- mem[x]; }"
    assert [edge.form.until for edge in instance(body, LITERAL_READING).automata[0].transitions if
            edge.command.kind == "load"] == [None]  # fmt: skip


def test_a_body_with_very_many_ways_is_no_poll() -> None:
    def rounds(tests: int) -> str:
        body = " ".join(f"if (n == {k}) {{ s <- {k}; }} else {{ s <- 0; }}" for k in range(tests))
        return f"again: r <- mem[x]; {body} if (r == 0) {{ goto again; }}"

    assert fails(rounds(3), 0, 1) == [0]
    assert fails(rounds(12), 0, 1) == []


def test_what_is_very_large_over_the_read_is_taken_as_unknown() -> None:
    """Assigns to each other double what a register holds with each: what a read has to bring stays small."""

    def rounds(assigns: int) -> Instance:
        return instance(f"again: r <- mem[x]; s <- r; {'s <- s * s + s; ' * assigns} if (s == 0) {{ goto again; }}")

    def parts_of_until(assigns: int) -> int:
        untils = [edge.form.until for edge in rounds(assigns).automata[0].transitions if edge.command.kind == "load"]
        return sum(1 for until in untils if until is not None for _ in parts(until.holds))

    assert parts_of_until(3) > 3**3
    assert parts_of_until(10) < 3**6


def test_a_long_loop_takes_no_longer_for_each_of_its_reads() -> None:
    def work(reads: int) -> int:
        body = " ".join(f"r <- mem[x]; n <- n + r; if (n > {each}) {{ mem[y] <- n; }}" for each in range(reads))
        program = parse(f"{HEADER}process {{ loop {{ {body} }} }}")
        return calls(program.instantiate)[0]

    assert work(160) < 2.2 * work(80)


def test_conditions_that_nest_deeply_are_none_of_a_poll() -> None:
    """What comes of putting one into another is not looked at by functions that call themselves for each level."""

    def body(nots: int) -> str:
        tests = " ".join(f"if ({'!' * nots}(s == {k})) {{ goto again; }}" for k in range(6))
        return f"again: r <- mem[x]; s <- {'!' * nots}r; {tests} mem[y] <- s;"

    assert fails(body(10), 0, 1, 2) == [0, 1, 2]
    assert fails(body(190), 0, 1, 2) == []


def test_where_no_cell_is_read_again_nothing_is_looked_for_and_nothing_would_be_found() -> None:
    """A checker of certificates does not even import `polls` there."""
    left_out = examined = never = 0
    for _, drawn, nodes in random_programs(500, examples(120, nightly=10_000)):
        for conflicts in get_args(Conflicts):
            literal = drawn.instantiate(nodes, Reading("count", conflicts, "value"))
            flags = Flags(drawn, literal.automata)
            found = [
                with_polls(each, Const(rank), drawn, Const(nodes), flags) for rank, each in enumerate(literal.automata)
            ]
            read = drawn.instantiate(nodes, Reading("wait", conflicts, "value")).automata
            assert [[edge.form for edge in each.transitions] for each in read] == [
                [edge.form for edge in each.transitions] for each in found
            ]
            for automaton, waiting in zip(literal.automata, found, strict=True):
                if not may_become_waits(automaton):
                    assert not any(_waits(edge) for edge in waiting.transitions)
                    never += any(is_read(edge.form) for edge in automaton.transitions)
            again = any(map(_reads_again, literal.automata))
            left_out += not again
            examined += again
    assert min(left_out, examined, never) > 60


def _waits(edge: Transition) -> bool:
    return isinstance(edge.form, core.Immediate) and edge.form.until is not None


@pytest.mark.parametrize(
    ("body", "may"),
    [
        ("r <- mem[x]; s <- mem[x];", True),
        ("r <- mem[x]; await(mem[x] == 1);", True),
        ("r <- mem[x]; n <- n + 1; if (n == 2) { wait(q); } s <- mem[x];", True),
        ("r <- mem[a + n]; s <- mem[a + 1];", True),
        ("while (n < 2) { r <- mem[x]; n <- n + 1; }", True),
        ("r <- mem[x]; s <- mem[y];", False),
        ("r <- mem[x]; mem[x] <- 1;", False),
        ("r <- mem[x]; barrier; s <- mem[x];", False),
        ("r <- mem[x]; write(y, 1, y, q); s <- mem[x];", False),
    ],
)
def test_which_reads_may_become_waits(body: str, may: bool) -> None:
    assert any(map(may_become_waits, instance(body, LITERAL_READING).automata)) == may
