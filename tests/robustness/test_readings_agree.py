"""Failed polls and updates that commute: every engine says what the oracle says, under both readings of each.

The oracle judges each read by what its rank has been through (`tests/oracle/polling.py`); the package works out
beforehand which reads fail (`pgasrob/program/polls.py`). Programs in which the package is known to make less of it,
which is no error, are the `hard` ones: what it calls robust must be so there too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import pytest

from pgasrob import twins
from pgasrob.api import check
from pgasrob.program import certain, instance, polls, raised_flags, walks
from pgasrob.program.control import ControlAutomaton
from pgasrob.program.declarations import Declared
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.program.reading import Reading
from pgasrob.reference.attack_search import AttackSearch
from pgasrob.reference.trace_search import TraceSearch
from pgasrob.robustness.definition import DefinitionSearch
from pgasrob.robustness.engine import Engine
from pgasrob.robustness.native_attack import NativeSearch
from pgasrob.robustness.native_traces import NativeTraceSearch
from pgasrob.robustness.product import ProductSearch
from pgasrob.robustness.reduction import REDUCTIONS
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from tests.oracle import polling, readings, several_flags
from tests.oracle.definition import decide
from tests.oracle.litmus import COMMUTING, POLLS
from tests.oracle.polls_and_updates import random_program
from tests.oracle.replay import check_witness
from tests.oracle.syntax import Program, to_pgas
from tests.oracle.threads import polling_threads
from tests.oracle.unrolling import Poll, with_polls
from tests.oracle.unrolling import random_program as random_waits
from tests.support import examples, json_events, translated

MOST_RUNS = examples(250, nightly=1_000)
READINGS = readings.READINGS


def answer(search: Engine, most: int) -> bool | None:
    """Whether there is a violation; None when ``most`` states do not tell."""
    for _ in search.run():
        if search.states > most:
            return None
    return search.violation is not None if search.violation or search.gave_up is None else None


def kernels(program: Instance) -> Iterator[tuple[str, Engine, int]]:
    if twins.available():
        yield "kernel", NativeSearch(program, ()), 20_000
        yield "kernel with reductions", NativeSearch(program, REDUCTIONS), 20_000


def engines(program: Instance) -> Iterator[tuple[str, Engine, int]]:
    yield from kernels(program)
    yield "attack", AttackSearch(program, ()), 2_000
    yield "attack with reductions", AttackSearch(program, REDUCTIONS), 2_000
    yield "definition", DefinitionSearch(program), 2_000
    yield "two heads", ProductSearch(program, 2), 1_000
    yield "four heads", ProductSearch(program, 4), 500


def by_condition(program: Instance) -> Iterator[tuple[str, Engine, int]]:
    """The engines that read waits by condition."""
    yield "definition", DefinitionSearch(program), 2_000
    yield "traces", NativeTraceSearch(program) if twins.available() else TraceSearch(program), 2_000


def translated_reading(reading: readings.Reading) -> Reading:
    return Reading(reading.failed_polls, reading.conflicts, reading.waits)  # type: ignore[arg-type]


def answers(program: Program, reading: readings.Reading, all_engines: bool) -> dict[str, bool | None]:
    """What the oracle says (first) and what the engines do; the oracle confirms each witness."""
    expected = decide(program, max_runs=MOST_RUNS, max_steps=40, reading=reading)
    found = {"oracle": expected.violating}
    read = translated(program).program.instantiate(reading=translated_reading(reading))
    if reading.waits == "condition":
        asked: Iterator[tuple[str, Engine, int]] = by_condition(read)
    else:
        asked = engines(read) if all_engines else kernels(read)
    for name, search, most in asked:
        found[name] = answer(search, most)
        if search.violation is not None and expected.violating:
            run = replay(read, search.violation.computation)
            cycle = HappensBefore.of(run).cycle
            assert run.complete and cycle is not None, name
            edges = [{"from": edge.source, "to": edge.target, "relation": edge.relation} for edge in cycle]
            check_witness(program, None, json_events(run), edges, reading=reading)
    return found


@pytest.mark.parametrize("reading", READINGS, ids=str)
def test_threads_that_poll(reading: readings.Reading) -> None:
    """A thread waits for what another one of its rank stores as for what comes from elsewhere."""
    counts: Counter[bool | None] = Counter()
    for seed in range(examples(4, nightly=2_000)):
        found = answers(polling_threads(100 + seed), reading, all_engines=seed % 4 == 0)
        assert len(set(found.values()) - {None}) < 2, (seed, found)
        counts[found["oracle"]] += 1
    assert counts[True] and counts[False], counts


@pytest.mark.parametrize("reading", READINGS, ids=str)
@pytest.mark.parametrize("name", POLLS | COMMUTING)
def test_the_litmus_programs(name: str, reading: readings.Reading) -> None:
    """Their verdicts follow from the definitions."""
    if name in POLLS:
        program, believed, literal = POLLS[name]
        expected = believed if reading.failed_polls == "wait" else literal
    else:
        program, believed, literal = COMMUTING[name]
        expected = believed if reading.conflicts == "commuting" else literal
    found = answers(program, reading, all_engines=True)
    assert set(found.values()) - {None} == {expected == "not robust"}, found
    assert list(found.values()).count(None) <= 2


CASES = {
    # one command, left from two control states, of which one leads back and the other does not
    "where it is read": """memory x, y, z, o, w, one = 1; register r, s, t, k; queue q unordered;
        process 0 { write(one, 1, y, q); write(one, 1, x, q); }
        process 1 { goto L; RD: r <- mem[x]; k <- r; L: choose { goto RD; } or { skip; }
          if (t == 0) { t <- 1; mem[o] <- k; s <- mem[y]; mem[w] <- s; } choose { goto RD; } or { mem[z] <- 1; } }""",
    "where it is looked at": """memory y = 1, f, one = 1, zero, z, o; register r, s, t; queue q unordered;
        process 0 { await(mem[f] == 1); write(one, 1, y, q); write(one, 1, f, q); }
        process 1 { goto L; S: choose { mem[z] <- 1; goto E; } or { skip; } S2: s <- mem[y];
          if (s == 0) { L: r <- mem[z]; goto S2; } mem[o] <- r; t <- t + 1;
          if (t == 1) { mem[y] <- 0; mem[one] <- 1; write(one, 0, f, q); wait(q); await(mem[f] == 1); r <- 5; goto S; }
          E: skip; }""",
    "a look that faults": """memory x = 1, zero, two = 2, one = 1, flag; register r; queue q unordered;
        process 0 { write(zero, 1, x, q); wait(q); write(two, 1, x, q); write(one, 1, flag, q); }
        process 1 { await(mem[flag] == 1); r <- mem[x];
          if (r != 2) { if (10 / r > 2) { skip; } else { skip; } await(mem[x] == 2); } }""",
    "a poll that faults": """memory x = 1, zero, two = 2, one = 1, flag; register r; queue q unordered;
        process 0 { write(zero, 1, x, q); wait(q); write(two, 1, x, q); write(one, 1, flag, q); }
        process 1 { await(mem[flag] == 1); again: r <- mem[x];
          if (r != 2) { if (10 / r > 2) { goto again; } else { goto again; } } }""",
}
"""Programs that are not robust, and whose reads have been taken to fail where they do not."""


@pytest.mark.parametrize("case", CASES)
def test_a_read_fails_only_where_it_does(case: str) -> None:
    program = parse(f"program p; nodes 2; {CASES[case]}").instantiate(reading=Reading(waits="value"))
    found = {name: answer(search, 10_000) for name, search, _ in engines(program)}
    assert set(found.values()) - {None} == {True}, found
    assert list(found.values()).count(None) <= 2


def test_a_poll_does_not_hide_a_fault() -> None:
    read = "process 0 { mem[x] <- 0; } process 1 { while (1) { r <- fetch(0, x); if (10 / r > 2) { skip; } } }"
    assert check(parse(f"program p; nodes 2; memory x = 1; register r; {read}")).verdict == "error"


def test_assertions_behind_a_read_that_fails_elsewhere() -> None:
    text = """memory y = 1, z, go, one = 1; register r, s, t; queue q;
        process 0 { await(mem[go] == 1); write(one, 1, y, q); wait(q); }
        process 1 { goto L; S: choose { mem[z] <- 1; goto E; } or { skip; } S2: s <- mem[y];
          if (s == 0) { L: r <- mem[z]; goto S2; } t <- t + 1;
          if (t == 1) { mem[y] <- 0; write(one, 0, go, q); wait(q); r <- 5; goto S; } assert(r == 5); E: skip; }"""
    for engine in ("attack", "definition"):
        assert check(parse(f"program p; nodes 2; {text}"), engine=engine).assertions == "violated"


@pytest.mark.parametrize("loops", [False, True], ids=["polls and updates", "waits as loops"])
def test_random_programs(loops: bool) -> None:
    seen: Counter[object] = Counter()
    tried = examples(5, nightly=3_000)
    for seed in range(tried):
        program = with_polls(random_waits(seed), Poll.looped) if loops else random_program(seed)
        for reading in READINGS:
            found = answers(program, reading, all_engines=True)
            assert len(set(found.values()) - {None}) <= 1, (seed, reading, found)
            seen.update(name for name, each in found.items() if each is not None)
            seen[found["oracle"]] += 1
    assert min(seen["oracle"], seen["definition"], seen["attack"], seen["two heads"]) >= tried
    assert min(seen[True], seen[False]) >= tried // 2


@pytest.mark.parametrize("hard", [False, True], ids=["", "hard"])
def test_many_random_programs_in_the_kernel(hard: bool) -> None:
    if not twins.available():
        pytest.skip("the kernel has not been built")
    for seed in range(10_000, 10_000 + examples(8, nightly=12_500)):
        program = random_program(seed, hard=hard)
        for reading in READINGS:
            found = answers(program, reading, all_engines=False)
            oracle, *others = found.values()
            if oracle is None:
                continue
            assert len(set(others) - {None}) <= 1, (seed, reading, found)
            told = {oracle} if not hard or oracle or reading.failed_polls == "count" else {oracle, True}
            assert set(others) <= {*told, None}, (seed, reading, found)


FAULTING = "2 / "
"""Where the other operand may fault, no flag is said to decide alone, and such polls are taken for less."""


def rounds_of_flags(seeds: range, engines_of: Callable[[Instance], Iterator[tuple[str, Engine, int]]]) -> Counter[str]:
    """What the oracle and the engines say of programs that poll several flags: how many are robust, how many are not,
    and how often an engine says otherwise, by what it says."""
    seen: Counter[str] = Counter()
    reading = readings.Reading("wait", "commuting", "value")
    for seed in seeds:
        program = several_flags.random_program(seed)
        expected = decide(program, max_runs=4_000, max_steps=40, reading=reading).violating
        read = translated(program).program.instantiate(reading=translated_reading(reading))
        found = {answer(search, most) for _, search, most in engines_of(read)} - {None}
        if expected is None or not found:
            continue
        seen["not robust" if expected else "robust"] += 1
        if found != {expected}:
            seen["a false alarm" + (" where a flag may fault" if FAULTING in to_pgas(program) else "")] += not expected
            seen["missed"] += expected
    return seen


def test_rounds_of_several_flags() -> None:
    seen = rounds_of_flags(range(examples(8, nightly=500)), engines)
    seen += rounds_of_flags(range(1_000, 1_000 + examples(80, nightly=10_000)), kernels)
    assert seen["a false alarm"] == seen["missed"] == 0, seen
    assert seen["a false alarm where a flag may fault"] * 50 < seen["robust"], seen
    assert min(seen["robust"], 7 * seen["not robust"]) > 50, seen


# Without the rules the answers are others


def test_unless_one_flag_decides_polls_of_several_are_false_alarms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walks, "holds", lambda expr: certain.FALSE if certain._is_unknown(expr) else expr)
    monkeypatch.setattr(raised_flags.Flags, "of", lambda *_: {})  # else most of them gather flags
    monkeypatch.setattr(polling, "Gathers", lambda *_: None)
    seen = rounds_of_flags(range(1_000, 1_060), kernels)
    assert seen["a false alarm"] == 10 and seen["missed"] == 0, seen


def disagreements(kind: str, reading: readings.Reading) -> int:
    """On how many of some programs the attack search does not say what the oracle says."""
    count = 0
    for seed in range(40):
        program = random_program(seed, kind)
        expected = decide(program, max_runs=MOST_RUNS, max_steps=40, reading=reading).violating
        read = translated(program).program.instantiate(reading=translated_reading(reading))
        found = answer(AttackSearch(read, REDUCTIONS), 2_000)
        count += expected is not None and found is not None and found != expected
    return count


def test_without_guards_programs_that_poll_have_other_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    def unguarded(automaton: ControlAutomaton, *_: int) -> ControlAutomaton:
        return automaton

    reading = readings.Reading("wait", "commuting", "value")
    assert disagreements("polls", reading) == 0
    monkeypatch.setattr(polls, "with_polls", unguarded)
    assert disagreements("polls", reading) >= 4


def test_without_commuting_updates_programs_that_update_have_other_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    as_read = instance._as_read

    def all_in_conflict(
        program: Declared, automata: Sequence[ControlAutomaton], reading: Reading, home: Sequence[int]
    ) -> list[ControlAutomaton]:
        return as_read(program, automata, Reading(reading.failed_polls, "all", "value"), home)

    reading = readings.Reading("wait", "commuting", "value")
    assert disagreements("updates", reading) == 0
    monkeypatch.setattr(instance, "_as_read", all_in_conflict)
    assert disagreements("updates", reading) >= 2
