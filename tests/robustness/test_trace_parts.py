"""An exploration in parts: together they are the whole, and the answer is the same whoever goes through which."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain

import pytest

from pgasrob import twins
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.reference.exploration import Exploration, Node, Part
from pgasrob.robustness import native_traces
from pgasrob.robustness import trace_parts as parts
from pgasrob.robustness.check import check
from pgasrob.robustness.kernel_tables import tables
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.native_traces import NativeTraceSearch
from pgasrob.robustness.question import EngineChoice, Question, Resources, Robustness
from pgasrob.robustness.reasons import Interruption, MemoryLimit, OutOfMemory, Reason, TimeLimit
from pgasrob.robustness.session import Interrupted, Session
from pgasrob.robustness.trace_parts import Beginning, Elsewhere, Path, Report, go_through
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from tests.clock import DAY, leap, leaping
from tests.robustness.contended import contended
from tests.robustness.test_line_up_agrees import crowds
from tests.robustness.test_traces_agree import programs
from tests.support import examples, instance

LONGEST, MOST_EVENTS = 60, 1_500
needs_kernel = pytest.mark.skipif(not twins.available(), reason="the kernel has not been built")


def small(first: int, count: int) -> Iterator[Instance]:
    return chain(programs(first, count), (contended(seed) for seed in range(first, first + count)))


class TooLarge(Exception):
    """An exploration takes too long."""


def whole(program: Instance) -> Exploration:
    exploration = Exploration(program, by_condition=True)
    for _ in exploration.run():
        if exploration.length > LONGEST or exploration.events > MOST_EVENTS:
            raise TooLarge
    return exploration


def in_parts(program: Instance, often: int) -> Iterator[tuple[Part, Exploration, list[int]]]:
    """The parts of an exploration that is divided after every so many events, and where that has been so."""
    waiting: list[Part] = [()]
    while waiting:
        exploration, cuts = Exploration(program, part := waiting.pop(), by_condition=True), []
        for _ in exploration.run():
            if exploration.events > 2 * MOST_EVENTS:
                raise TooLarge
            if exploration.events % often == 0 and (given := exploration.split()) is not None:
                waiting.append(given)
                cuts.append(exploration.events)
        yield part, exploration, cuts


def test_the_parts_have_every_trace_once() -> None:
    seen: Counter[str] = Counter()
    for number, program in enumerate(small(0, examples(12, nightly=10_000))):
        try:
            traces = whole(program).traces
            each = list(in_parts(program, 1 + number % 5))
        except TooLarge:
            continue
        assert sum(part.traces for _, part, _ in each) == traces, number
        seen.update(traces=traces, parts=len(each), events=sum(part.events for _, part, _ in each))
    assert seen["parts"] > 100 and seen["traces"] > 120, seen


@needs_kernel
def test_the_kernel_gives_the_same_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the same part at the same place, and goes through it in the same way."""
    from pgasrob._kernel import Traces

    seen: Counter[str] = Counter()
    for number, program in enumerate(small(70, examples(12, nightly=10_000))):
        try:
            whole(program)
            each = list(in_parts(program, 2 + number % 4))
        except TooLarge:
            continue
        nothing = [0] * sum(len(automaton.transitions) for automaton in program.automata)
        compiled = tables(program, (), nothing, stores_states=False, by_condition=True)
        given: list[Path] = [()]
        for _, slow, cuts in each:
            fast = Traces(compiled, longest=10**6, part=given.pop())
            for cut in cuts:
                while fast.events < cut:
                    fast.run(1)
                given.append(fast.split() or ())
            while not fast.run(1_000):
                pass
            assert (fast.traces, fast.redundant, fast.events) == (slow.traces, slow.redundant, slow.events)
            seen.update(parts=1, traces=fast.traces)
        assert not given
    assert seen["parts"] > 60, seen


def test_above_a_part_every_command_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were it those alone that have been asked for, others would be asked for by a part that has no say there."""
    monkeypatch.setattr(Node, "begin_with_all", lambda self, processes: None)
    lost = 0
    for program in (contended(seed) for seed in range(12)):
        try:
            lost += sum(part.traces for _, part, _ in in_parts(program, 2)) != whole(program).traces
        except TooLarge:
            continue
    assert lost > 2


class Others:
    """Others who go through parts, in this process; ``loses`` says of the number of a part whether it is lost: before
    it has begun, or at its end."""

    def __init__(self, loses: Callable[[int], str] = lambda number: "") -> None:
        self._loses, self.seen = loses, Counter[str]()

    def count(self) -> int:
        return 2

    def go_through(self, begin: Beginning, part: Path, hear: Callable[[list[Path]], bool]) -> Report | None:
        begin, part = pickle.loads(pickle.dumps((begin, part)))
        self.seen["parts"] += 1
        lost = self._loses(self.seen["parts"])
        self.seen[lost] += 1
        if lost == "before":
            return None
        report, given = go_through(begin, part, lambda given: lost == "silent" or hear(list(given)))
        if lost == "at the end":
            return None
        hear(given)
        return report


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts are divided often."""
    for name, value in (("LARGE", 24), ("CHUNK", 5), ("PAUSE", 0.001)):
        monkeypatch.setattr(parts, name, value)
    monkeypatch.setattr(native_traces, "PIECE", 1)


def searched(program: Instance, threads: int = 1, elsewhere: Elsewhere | None = None) -> tuple[object, ...] | None:
    """What a search comes to, with its counts; None where it takes too long."""
    search = NativeTraceSearch(program, threads=threads, elsewhere=elsewhere)
    for _ in search.run():
        if search.states > MOST_EVENTS:
            return None
    counts = search.states, search.traces, search.exploration.redundant, search.effort
    return (
        *counts,
        search.violation,
        search.fault,
        dict(search.failed),
        search.deadlock,
        search.gave_up,
        search.complete,
    )


@needs_kernel
@pytest.mark.usefixtures("tiny")
def test_nothing_depends_on_how_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor on what is lost on the way; and it is what is found where nothing is divided."""
    seen: Counter[str] = Counter()
    losing = Others(lambda number: ("", "before", "silent", "at the end")[number % 4])
    for program in chain(small(240, examples(30, nightly=5_000)), crowds(0, examples(40, nightly=2_000))):
        alone = searched(program)
        if alone is None:
            continue
        assert searched(program, threads=3) == alone
        assert searched(program, 1, losing) == alone
        with monkeypatch.context() as patch:
            patch.setattr(parts, "LARGE", 10**9)
            undivided = NativeTraceSearch(program)
            for _ in undivided.run():
                pass
        _, traces, _, effort, violation, fault, failed, deadlock, reason, complete = alone
        assert isinstance(effort, int)
        seen["divided"] += effort > 100
        if undivided.fault or fault:  # which ends a search, wherever it is met
            continue
        assert (violation is None) == (undivided.violation is None)
        if violation is not None:
            seen["violation"] += 1
            run = replay(program, violation.computation)  # type: ignore[attr-defined]
            assert HappensBefore(run.computation).cycle is not None
            continue
        assert (traces, reason, complete) == (undivided.traces, undivided.gave_up, undivided.complete)
        assert isinstance(failed, dict) and failed.keys() == undivided.failed.keys()
        assert (deadlock is None) == (undivided.deadlock is None)
        seen.update(robust=1, facts=len(failed) + (deadlock is not None))
    assert min(seen["violation"], seen["robust"], seen["divided"]) > 2 and seen["facts"] > 1, seen
    assert min(losing.seen[how] for how in ("", "before", "silent", "at the end")) > 2, losing.seen


MANY = instance(
    "r <- fetch_add(0, y, 1); s <- r; r <- fetch_add(1, y, r); r <- fetch_add(0, z, r); assert(r != 3); "
    "if (me != 0 || s == 2) { write(x, (me + 1) % nodes, w, q); r <- mem[w]; }",
    nodes=3,
)


@needs_kernel
@pytest.mark.usefixtures("tiny")
def test_a_limit_of_states_does_not_depend_on_who_is_faster() -> None:
    """What comes behind the limit counts for nothing, though somebody has found it."""
    search = NativeTraceSearch(MANY)
    for _ in search.run():
        pass
    assert search.violation is not None
    for limit in range(40, search.states + 40, 1 + search.states // examples(12, nightly=200)):
        found = set()
        for threads in (1, 3, 3, 3):
            search = NativeTraceSearch(MANY, threads=threads)
            over = all(search.states <= limit for _ in search.run())
            found.add((over, over and search.violation is not None, frozenset(search.failed)))
        assert len(found) == 1, (limit, found)


@needs_kernel
@pytest.mark.usefixtures("tiny")
def test_what_goes_wrong_in_a_thread_goes_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is robust for it."""

    def at(begin: Beginning, part: Path) -> parts.Going:
        if threading.current_thread() is not threading.main_thread():
            raise MemoryError("the memory limit of 5 bytes was reached")
        return made(begin, part)

    made = Beginning.at
    monkeypatch.setattr(Beginning, "at", at)
    slowly = (threading.Event().wait(0.001) for _ in NativeTraceSearch(MANY, threads=3).run())
    with pytest.raises(MemoryError, match="of 5 bytes"):
        list(slowly)


@needs_kernel
@pytest.mark.usefixtures("tiny")
def test_who_helps_ends_when_nobody_wants_to_know() -> None:
    before = set(threading.enumerate())
    search = NativeTraceSearch(MANY, threads=4)
    run = search.run()
    while len(set(threading.enumerate()) - before) < 3:
        next(run)
    del search, run
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
        assert not thread.is_alive()


BODY = "r <- fetch_add(0, x, 1); r <- fetch_add(1, x, r); r <- fetch_add(0, y, r);"
ROBUST = parse(f"nodes 4; memory x, y; register r; process {{ {BODY} }}")
"""Of many traces, none of which shows anything."""


def answer(limits: Limits, threads: int = 1, elsewhere: Elsewhere | None = None) -> tuple[str, Reason | None]:
    """The verdict on `ROBUST` and its reason; no thread is left, and what was known is what is answered."""
    before = set(threading.enumerate())
    resources = Resources(threads=threads, elsewhere=elsewhere)
    question = Question(
        ROBUST, 4, Robustness(effect=False), engine=EngineChoice("traces"), limits=limits, resources=resources
    )
    try:
        verdict = check(Session(question))
    except Interrupted as interrupted:
        verdict = interrupted.verdict
    for thread in set(threading.enumerate()) - before:
        if not thread.daemon:
            thread.join(300)
            assert not thread.is_alive()
    return verdict.verdict, verdict.reason


class Begun(Others):
    """Others whose parts nobody else takes, for they have said that they begin."""

    def go_through(self, begin: Beginning, part: Path, hear: Callable[[list[Path]], bool]) -> Report | None:
        hear([])
        return super().go_through(begin, part, hear)


def at_a_part_of_others(does: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """From now on ``does`` something when another one begins with a part, for which the caller waits; what says whether
    that has happened."""
    happened, made, goes_on = threading.Event(), Beginning.at, parts.Going.on

    def at(begin: Beginning, part: Path) -> parts.Going:
        if threading.current_thread() is not threading.main_thread() and not happened.is_set():
            try:
                does()
            finally:
                happened.set()
        return made(begin, part)

    def on(going: parts.Going, effort: int) -> bool:
        if threading.current_thread() is threading.main_thread() and going.given:
            happened.wait(300)
        return goes_on(going, effort)

    monkeypatch.setattr(Beginning, "at", at)
    monkeypatch.setattr(parts.Going, "on", on)
    monkeypatch.setattr(parts, "IDLE", 10 * DAY)
    return happened


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def raises(error: BaseException) -> None:
    raise error


ENDS: dict[str, tuple[Callable[[], object], Limits, object]] = {
    "Ctrl-C": (interrupt, Limits(), Interruption),
    "time": (leap, Limits(timeout=60), TimeLimit),
    "memory limit": (partial(raises, MemoryError("the memory limit")), Limits(memory=10**10), MemoryLimit),
    "memory": (partial(raises, MemoryError()), Limits(), OutOfMemory),
}


@needs_kernel
@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("where", ["threads", "elsewhere"])
@pytest.mark.parametrize("what", ENDS)
def test_what_ends_a_check_while_others_are_at_its_parts_is_its_reason(
    what: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    does, limits, reason = ENDS[what]
    assert answer(limits) == ("robust", None)
    leaping(monkeypatch)
    threads, elsewhere = (3, None) if where == "threads" else (1, Begun())
    happened = at_a_part_of_others(does, monkeypatch)
    verdict, found = answer(limits, threads, elsewhere)
    assert happened.is_set()
    assert verdict == "unknown" and isinstance(found, reason)  # type: ignore[arg-type]


@needs_kernel
@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("how", ["before", "at the end"])
def test_what_is_lost_elsewhere_is_handed_out_once(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be lost each time, and who asks would wait for ever."""
    monkeypatch.setattr(parts, "IDLE", 10 * DAY)
    search, losing = NativeTraceSearch(instance(BODY, nodes=4)), Others(lambda _: how)
    run, exploration = search.run(), search.exploration
    while len(exploration._parts) < 4:
        next(run)
    asked = 0
    while losing.seen["parts"] == asked:
        assert not exploration.hand_out(losing)
        asked += 1
        assert asked <= len(exploration._parts)
    assert losing.seen["parts"] >= 3
    alone = NativeTraceSearch(instance(BODY, nodes=4))
    assert sum(1 for _ in run) and sum(1 for _ in alone.run())
    assert exploration.complete and (search.states, search.traces) == (alone.states, alone.traces)
