"""The exploration goes once through every trace: against an enumeration of all SC runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from pgasrob.program import core
from pgasrob.program.expressions import Fault
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.reference import exploration
from pgasrob.reference.exploration import EVERYTHING, Exploration
from pgasrob.semantics.accesses import Access, conflict
from pgasrob.semantics.mazurkiewicz_trace import Command
from pgasrob.semantics.sequential import SequentialSpace, SequentialState
from tests.oracle import polls_and_updates, strategies
from tests.oracle.syntax import to_pgas
from tests.robustness.contended import contended
from tests.robustness.test_engines_agree import CHOICES, FURTHER_CHOICES
from tests.support import examples, instance, translated

MOST_RUNS, LONGEST = 2_000, 60
Trace = frozenset[tuple[tuple[object, ...], frozenset[tuple[object, ...]]]]


class TooMany(Exception):
    """There are too many SC runs to go through, or they are too long."""


def footprint(program: Instance, state: SequentialState, rank: int, occurrence: int) -> list[Access]:
    """What a command accesses, and what its rank looks at (`proofs/traces.md`, section 1)."""
    found, before_barrier = [], False
    leaving = program.automata[rank].out[state.control[rank]]
    for transition in leaving:
        before_barrier |= isinstance(transition.form, core.Barrier)
        try:
            operands = program.operands(rank, transition, state.registers[rank])
        except Fault:
            continue
        if transition.occurrence == occurrence:
            found += core.accesses_of(operands)
        elif isinstance(operands, core.Immediate) and operands.may_block:
            found.append(core.Access(operands.access.cell, True, False))
    mixed = any(
        len(leaving) > 1 and any(isinstance(each.form, core.Barrier) for each in leaving)
        for automaton in program.automata
        for leaving in automaton.out
    )
    return [*found, core.Access(EVERYTHING, not before_barrier, before_barrier)] if mixed else found


def traces(program: Instance) -> set[Trace]:
    """The traces of the maximal SC runs: of each event what comes before it."""
    space, found, runs = SequentialSpace(program), set[Trace](), 0

    def go(state: SequentialState, events: list[tuple[int | None, object, list[Access]]]) -> None:
        nonlocal runs
        if len(events) > LONGEST:
            raise TooMany
        ended = True
        for word, after in space.successors(state):
            ended = False
            first = word[0]
            if first.kind == "barrier":
                go(after, [*events, (None, tuple(letter.which for letter in word), [])])
            else:
                made = footprint(program, state, first.rank, first.which)
                go(after, [*events, (first.rank, first.which, made)])
        if ended:
            runs += 1
            if runs > MOST_RUNS:
                raise TooMany
            found.add(ordered(events))

    go(space.initial, [])
    return found


def ordered(events: list[tuple[int | None, object, list[Access]]]) -> Trace:
    counts: Counter[int | None] = Counter()
    names: list[tuple[object, ...]] = []
    before: list[set[int]] = []
    for rank, which, made in events:
        past: set[int] = set()
        for other, (its_rank, _, its) in enumerate(events[: len(names)]):
            if None in (rank, its_rank) or rank == its_rank or any(conflict(one, two) for one in made for two in its):
                past |= {other} | before[other]
        names.append((rank, counts[rank], which))
        before.append(past)
        counts[rank] += 1
    return frozenset((name, frozenset(names[each] for each in past)) for name, past in zip(names, before, strict=True))


def programs(first: int, count: int) -> Iterator[Instance]:
    choices = (*CHOICES, *FURTHER_CHOICES)
    for seed in range(first, first + count):
        drawn = (
            polls_and_updates.random_program(seed)
            if seed % 2
            else strategies.random_program(seed, commands=choices[seed // 2 % len(choices)])
        )
        assert to_pgas(drawn)
        yield translated(drawn).instance


def explored(program: Instance) -> int | None:
    """How many traces the exploration finds; None when a run is too long."""
    found = Exploration(program)
    for _ in found.run():
        if found.length > LONGEST:
            return None
    return found.traces


def test_every_trace_is_found_once() -> None:
    seen: Counter[str] = Counter()
    for program in programs(0, examples(27, nightly=20_000)):
        try:
            expected = traces(program)
        except TooMany:
            continue
        assert explored(program) == len(expected)
        seen["programs"] += 1
        seen["traces"] += len(expected)
        seen["several"] += len(expected) > 1
        seen["polls"] += program.polls
        seen["updates that commute"] += bool(program.update_kinds)
    assert min(seen["several"], seen["polls"], seen["updates that commute"]) > seen["programs"] / 10
    assert seen["traces"] > 2 * seen["programs"]


def test_every_trace_of_contended_programs_is_found_once() -> None:
    found = 0
    for seed in range(examples(50, nightly=20_000)):
        program = contended(seed)
        try:
            expected = len(traces(program))
        except TooMany:
            continue
        number = explored(program)
        assert number in (None, expected), seed
        found += number is not None and expected > 3
    assert found > 12


ALTERNATIVES = (
    "choose { r <- mem[x]; r <- fetch_add(me, x, 2); } or { } r <- mem[y];",
    "r <- fetch_add(0, z, r); mem[y] <- 3; write(z, 0, x, q);",
)
A_POLL = "while (r != 1) { r <- mem[y]; }", "write(x, 0, y, q); mem[z] <- 1; update(add, 1, 0, y, q);"
SEVERAL_UPDATES = "await(mem[y] == 1);", *["update(add, 1, 0, y, q);"] * 3
A_CHOICE = (
    "choose { await(mem[y] == 1); mem[z] <- 1; } or { mem[w] <- 1; }",
    "r <- swap(0, y, 1);",
    "r <- swap(0, y, 2);",
)
NO_GREATEST = (
    "await(mem[y] == 4);",
    "update(add, -2, 0, y, q);",
    "update(add, 4, 0, y, q);",
    ("update(add, 1, 0, y, q); update(add, 2, 0, y, q);"),
)
"""The sum is 4 after {4} and after {4, 2, -2}, in which the 1 before the 2 is missing."""
OVER_A_BARRIER = (
    "choose { barrier; } or { await(mem[y] == 1); r <- mem[y]; }",
    "s <- swap(0, y, 1); barrier;",
    "s <- swap(0, y, 2); barrier;",
)
A_BARRIER = "choose { barrier; r <- mem[x]; } or { mem[x] <- 1; }", "choose { mem[y] <- 1; barrier; } or { }"


@pytest.mark.parametrize(
    ("texts", "count"),
    [
        (ALTERNATIVES, 4),
        (A_POLL, 2),
        (SEVERAL_UPDATES, 4),
        (A_CHOICE, 8),
        (A_BARRIER, 3),
        (NO_GREATEST, 2),
        (OVER_A_BARRIER, 5),
    ],
    ids=["alternatives", "a poll", "several updates", "a choice", "a barrier or not", "no greatest", "over a barrier"],
)
def test_numbers_of_traces(texts: tuple[str, ...], count: int) -> None:
    program = instance(*texts)
    assert explored(program) == len(traces(program)) == count


def test_a_rank_with_some_commands_asleep_is_not_asked_for_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> int:
        search = Exploration(contended(52_085), by_condition=True)
        for _ in search.run():
            pass
        return search.traces

    assert found() == 96
    monkeypatch.setattr(Exploration, "_sleeps_in_part", lambda *_: False)
    assert found() == 94


def test_a_look_is_left_out_with_the_update_of_its_event() -> None:
    """Behind the write of rank 0 an update that comes with a look at the same cell; before both rank 1 can go on."""
    text = """memory x = 1, y; register r; queue q; nodes 2;
        process 0 { write(x, 0, y, q); choose { update(add, 1, 0, y, q); } or { await(mem[y] == 2); } barrier; }
        process 1 { choose { barrier; } or { await_add(0, mem[y] != 1, -1); await(mem[y] == 1); } }"""
    search = Exploration(parse(text).instantiate(), by_condition=True)
    for _ in search.run():
        pass
    assert search.traces == 3


def loses(count: int = 150) -> bool:
    """Whether the exploration loses traces of some program."""
    for program in (contended(seed) for seed in range(count)):
        try:
            expected = len(traces(program))
        except TooMany:
            continue
        number = explored(program)
        if number is not None and number < expected:
            return True
    return False


def test_what_waits_is_looked_for_earlier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Exploration, "_find_earlier", lambda self, rank, command: None)
    assert loses()


def test_what_has_been_disabled_is_met_where_a_run_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind two of three updates, of which one is enough, nothing else is awake."""
    find_earlier = Exploration._find_earlier

    def at_ends(self: Exploration, rank: int, command: Command) -> None:
        if not self._nodes[-1].asleep:
            find_earlier(self, rank, command)

    monkeypatch.setattr(Exploration, "_find_earlier", at_ends)
    assert explored(instance(*SEVERAL_UPDATES)) == 3


def test_races_are_turned_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Exploration, "_passes_without", lambda self, rank, command, event: False)
    assert loses()


def test_a_rank_with_some_commands_asleep_does_not_begin_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """434 of the programs with the commands of the paper."""
    begun_with = exploration._begun_with
    monkeypatch.setattr(exploration, "_begun_with", lambda choices, asleep, last: _first(choices, asleep))
    program = translated(strategies.random_program(434, commands=CHOICES[4])).instance
    assert explored(program) == 10
    monkeypatch.setattr(exploration, "_begun_with", begun_with)
    assert explored(program) == len(traces(program)) == 11


def _first(choices: list[exploration.Choice], asleep: dict[tuple[int, ...], object]) -> set[int]:
    return set([choice.rank for choice in choices if choice.key not in asleep][:1])
