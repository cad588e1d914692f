"""Facts of accesses: what is atomic, in which type, which bytes, what waits, which memory is made up."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from pgasrob.api import race as races
from pgasrob.program import core
from pgasrob.program.commands import Command
from pgasrob.program.statements import Do
from pgasrob.races.access_facts import Fact, atomic_together, command_facts, facts_of, overlap, updates_may_race
from pgasrob.races.race_check import RACE_ENGINES
from tests.program.strategies import commands
from tests.support import examples, instance, program


def facts(command: str) -> str:
    """The facts of each access of ``command``, "-" for a plain one of the whole cell."""
    (statement,) = program(f"{command};").processes[0].body.statements
    assert isinstance(statement, Do)
    return "; ".join(map(told, command_facts(statement.command)))


def told(fact: Fact) -> str:
    touched = "" if fact.bytes is None else "bytes {} to {}".format(*fact.bytes)
    words = [fact.atomic, fact.by and f"by {fact.by}", "waits" if fact.waits else "", touched]
    return " ".join(word for word in words if word) or "-"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("r <- s", ""),
        ("wait(q)", ""),
        ("barrier", ""),
        ("r <- mem[x]", "-"),
        ("mem[x] <- r", "-"),
        ("r <- mem[x @ 0]", "-"),
        ("await(mem[x] == r)", "int waits"),
        ("await_add(0, mem[x] == r, 1)", "int"),
        ("r <- fetch(0, x)", "int"),
        ("r <- fetch_add(0, x, 1)", "int"),
        ("r <- fetch_update(set, 0, x, 1)", "int"),
        ("r <- swap(0, x, 1)", "int"),
        ("r <- compare_swap(0, x, 0, 1)", "int"),
        ("read(x, 0, y, q)", "-; -"),
        ("write(x, 0, y, q)", "-; -"),
        ("put(x, 0, y, q)", "-; -"),
        ("update(add, 1, 0, y, q)", "int"),
        ("update(set, 1, 0, y, q, z)", "int; -"),
        ("update_from(add, x, 0, y, q)", "-; int"),
        ("update_from(fetch, 0, y, q, z)", "int; -"),
        ("update_from_located(compare_swap, x, z, 0, y, q, w)", "-; -; int; -"),
        ("notify(set, 1, 0, y, q)", "int"),
        ("signal(add, 1, 0, y, q)", "int"),
        ("r <- mem[x] as long", "long"),
        ("r <- mem[x] as polling", "waits"),
        ("r <- mem[x] as polling unsigned int", "unsigned int waits"),
        ("mem[x @ 1] <- 1 as int[4-7]", "int bytes 4 to 8"),
        ("r <- fetch(0, x) as plain", "-"),
        ("r <- fetch_add(0, x, 1) as long by or", "long by or"),
        ("await(mem[x] == r) as plain", "waits"),
        ("put(x, 0, y, q) as plain[0-3, 2]", "bytes 0 to 4; bytes 2 to 3"),
        ("update(set, 1, 0, y, q, z) as plain", "-; -"),
        ("update_from(add, x, 0, y, q) as MPI_INT by sum[0-3, 4-7]", "bytes 0 to 4; MPI_INT by sum bytes 4 to 8"),
        ("write(x, 0, y, q) as T", "-; T"),
    ],
)
def test_what_is_atomic(command: str, expected: str) -> None:
    assert facts(command) == expected


@given(commands())
@settings(max_examples=examples(120))
def test_there_is_one_fact_for_each_access(command: Command) -> None:
    assert len(command_facts(command)) == len(core.accesses_of(core.lower(command)))


def test_a_polling_read_waits() -> None:
    polling = instance("r <- mem[x]; while (r == 0) { r <- mem[x]; }", nodes=1)
    assert [facts_of(each) for each in polling.automata[0].out[0]] == [(Fact(waits=True),)]


@pytest.mark.parametrize(
    ("loop", "waits"),
    [
        ("s <- 0; while (s == 0) { s <- mem[x]; }", [True]),
        ("again: s <- mem[x]; if (s < r) { goto again; }", [True]),
        ("again: s <- mem[x]; if (s == 0) { goto again; } t <- mem[y]; if (t == 0) { goto again; }", [True, True]),
        # Rounds of a loop that counts differ, whatever it reads.
        ("r <- 0; while (r < 5) { s <- mem[x + r]; r <- r + 1; }", [False]),
        ("r <- 0; while (r < 5 && s == 0) { s <- mem[x + r]; r <- r + 1; }", [False]),
        ("r <- 0; while (r < 5) { s <- mem[x]; if (s == 1) { r <- 9; } r <- r + 1; }", [False]),
        # It never comes to pass.
        ("loop { s <- mem[x]; }", [True]),
        # It does something else.
        ("s <- 0; while (s == 0) { s <- mem[x]; mem[y] <- 1; }", [False]),
        # There may be more to it than is looked at.
        (f"again: s <- mem[x]; if ({' || '.join(f's == {value}' for value in range(11))}) {{ goto again; }}", [False]),
    ],
)
def test_which_loops_poll(loop: str, waits: list[bool]) -> None:
    looping = instance(loop, nodes=1, declarations="memory x, y, a[9]; register r, s, t;")
    reads = {
        edge.occurrence: fact.waits
        for edge in looping.automata[0].transitions
        if edge.command.kind == "load"
        for fact in facts_of(edge)
    }
    assert [*reads.values()] == waits


def test_a_loop_over_an_array_races_with_what_arrives() -> None:
    reads = "while (r < 3) { s <- mem[a + r]; r <- r + 1; }"
    both = program("put(x, 1, a + 1, q);", reads, declarations="memory x, a[3]; register r, s; queue q;")
    assert races(both, 2).verdict == races(both, 2, engine="definition").verdict == "race"


def test_which_accesses_exclude_each_other() -> None:
    plain, add, set, any = Fact(), Fact("int", "add"), Fact("int", "set"), Fact("int")
    for strict in (False, True):
        assert all(atomic_together(*two, strict) for two in ((add, add), (add, any), (any, set)))
        assert not atomic_together(add, set, strict)
    swap = Fact("int", "compare_swap")
    assert atomic_together(add, swap) and not atomic_together(add, swap, strict=True)
    assert not atomic_together(any, Fact("long")) and not atomic_together(plain, plain)
    assert not atomic_together(plain, any)
    signal, set_signal, add_signal, other = (Fact("long", by) for by in ("s", "s set", "s add", "set"))
    assert atomic_together(signal, set_signal) and atomic_together(add_signal, Fact("long"))
    assert not atomic_together(set_signal, add_signal) and not atomic_together(set_signal, other)


def test_overlap_is_by_bytes() -> None:
    whole, low, high, middle = Fact(), Fact(bytes=(0, 4)), Fact(bytes=(4, 8)), Fact(bytes=(2, 6))
    assert overlap(whole, low) and overlap(low, middle) and overlap(middle, high) and overlap(low, low)
    assert not overlap(low, high) and not overlap(high, low)


UPDATED = "update(add, 1, 0, y, q) as {};"


@pytest.mark.parametrize("engine", RACE_ENGINES)
@pytest.mark.parametrize(
    ("one", "other", "race"),
    [
        ("MPI_INT by sum", "MPI_INT by sum", False),
        ("MPI_INT by sum", "MPI_INT", False),
        ("MPI_INT by sum", "MPI_INT by band", True),
        ("MPI_INT by sum", "MPI_INT by compare_swap", False),
        ("MPI_INT by sum, strictly", "MPI_INT by compare_swap", True),
        ("MPI_INT by sum", "MPI_INT32_T by sum", True),
        ("plain", "plain", True),
        ("plain[0-3]", "plain[4-7]", False),
        ("plain[0-3]", "plain[3]", True),
    ],
)
def test_updates_that_commute_race_all_the_same(engine: str, one: str, other: str, race: bool) -> None:
    """They have no conflict, but may exclude each other or not."""
    strict = one.endswith(", strictly")
    two = program(UPDATED.format(one.removesuffix(", strictly")), UPDATED.format(other))
    assert updates_may_race(two.instantiate(2), strict) == race or one == "plain[0-3]"
    assert races(two, 2, engine=engine, strict=strict).verdict == ("race" if race else "no race")


def test_made_up_memory_does_not_race() -> None:
    both = ("mem[y @ 0] <- 1;", "mem[y @ 0] <- 2;")
    declared = "memory {};"
    assert races(program(*both, declarations=declared.format("y")), 2).verdict == "race"
    assert races(program(*both, declarations=declared.format("y made_up")), 2).verdict == "no race"
