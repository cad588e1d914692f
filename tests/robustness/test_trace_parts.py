"""An exploration in parts: together they are the whole, and the answer made of them is that of the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain

import pytest

from pgasrob import twins
from pgasrob.program.instance import Instance
from pgasrob.reference.exploration import WHOLE, Exploration, Subtrees
from pgasrob.robustness import native_traces
from pgasrob.robustness import trace_parts as parts
from pgasrob.robustness.engine import FoundInPart
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.native_traces import NativeTraceSearch
from pgasrob.robustness.reasons import StateLimit, TooManyUpdates, WorkerDied
from pgasrob.robustness.trace_parts import PartsSearch, go_through, parts_of
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from pgasrob.twins import trace_search
from tests.robustness.contended import contended
from tests.robustness.test_traces_agree import programs
from tests.support import examples, instance

LONGEST, MOST_EVENTS = 60, 1_500
LIMITS = Limits(memory=None)


def explored(program: Instance, part: Subtrees) -> Exploration | None:
    """The exploration of a part; None when it takes too long."""
    exploration = Exploration(program, part)
    for _ in exploration.run():
        if exploration.length > LONGEST or exploration.events > MOST_EVENTS:
            return None
    return exploration


def in_parts(program: Instance, levels: int, of: int) -> tuple[int, list[tuple[Subtrees, Exploration]]] | None:
    """How many subtrees there are, and what each part of so many of them has come to."""
    above = explored(program, Subtrees(levels, WHOLE.end, WHOLE.end))
    if above is None:
        return None
    assert above.traces == above.redundant == 0
    some = [Subtrees(levels, first, first + of) for first in range(0, above.subtrees, of)]
    found = [(part, explored(program, part)) for part in some]
    return above.subtrees, [(part, each) for part, each in found if each is not None]


def small(first: int, count: int) -> Iterator[Instance]:
    return chain(programs(first, count), (contended(seed) for seed in range(first, first + count)))


def test_the_parts_have_every_trace_once() -> None:
    """And the kernel goes the same way."""
    seen: Counter[str] = Counter()
    for number, program in enumerate(small(0, examples(10, nightly=10_000))):
        whole = explored(program, WHOLE)
        found = in_parts(program, levels := 1 + number % 4, 1 + number % 3)
        if whole is None or found is None:
            continue
        count, each = found
        assert sum(one.traces for _, one in each) == whole.traces, (number, levels)
        seen["traces"] += whole.traces
        seen["subtrees"] += count
        for part, slow in each if twins.available() else []:
            fast = NativeTraceSearch(program, part=part)
            for _ in fast.run():
                pass
            if fast.violation is None:
                assert (fast.traces, fast.exploration.redundant) == (slow.traces, slow.redundant)
                assert (fast.transitions, fast.subtrees) == (slow.events, slow.subtrees)
                seen["alike"] += 1
    assert seen["subtrees"] > 100 and seen["traces"] > 120
    assert seen["alike"] > 30 or not twins.available()


def test_above_the_subtrees_every_command_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were it the commands of some rank alone, the others would be asked for by a subtree that has no say there."""
    monkeypatch.setattr(Exploration, "_private", lambda self, choices, asleep: choices[0].rank)
    lost = 0
    for program in small(0, 25):
        whole, found = explored(program, WHOLE), in_parts(program, 2, 1)
        if whole is not None and found is not None:
            lost += sum(one.traces for _, one in found[1]) != whole.traces
    assert lost > 2


def test_the_answer_of_the_parts_is_that_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("LARGE", 20), ("MANY", 6)):
        monkeypatch.setattr(parts, name, value)
    monkeypatch.setattr(native_traces, "PIECE", 1)
    seen: Counter[str] = Counter()
    for program in small(240, examples(11, nightly=10_000)):
        whole = trace_search(program, None)
        if any(whole.states > MOST_EVENTS for _ in whole.run()):
            continue
        some = parts_of(program, None)
        if not some:
            seen["small"] += 1
            continue
        search = PartsSearch(program, [go_through(program, part, LIMITS, None) for part in some], None)
        for _ in search.run():
            pass
        if whole.facts.fault or search.fault:  # which ends a search, wherever it is met
            continue
        assert (search.violation is None) == (whole.violation is None)
        if search.violation is not None:
            seen["violation"] += 1
            assert HappensBefore(replay(program, search.violation.computation).computation).cycle is not None
            continue
        seen["robust"] += 1
        facts = whole.facts
        assert (search.gave_up, search.complete) == (whole.gave_up, facts.complete)
        for mine, other in ((search.failed.get(None), facts.failed.get(None)), (search.deadlock, facts.deadlock)):
            assert (mine is None) == (other is None)
            seen["facts"] += mine is not None
    assert min(seen["violation"], seen["robust"], seen["small"]) > 3 and seen["facts"] > 1, seen


TWO = instance("mem[x] <- 1; r <- mem[y];", nodes=2)


def answer(*found: FoundInPart) -> PartsSearch:
    """Of these, for parts of one subtree each."""
    ends = [*range(1, len(found)), WHOLE.end]
    placed = [
        each._replace(subtrees=Subtrees(2, place, end))
        for place, (each, end) in enumerate(zip(found, ends, strict=True))
    ]
    search = PartsSearch(TWO, placed, None)
    for _ in search.run():
        pass
    return search


def test_what_is_left_open_is_left_open() -> None:
    """A limit in one part, or a lost worker, and nothing is robust; the first reason is told."""
    good, open_ = FoundInPart(WHOLE, 5, complete=True), FoundInPart(WHOLE, 7, reason=StateLimit(6))
    assert answer(good, good).gave_up is None and answer(good, good).complete
    died = FoundInPart(WHOLE, reason=WorkerDied("is gone"))
    search = answer(good, open_, died)
    assert (search.gave_up, search.complete, search.states) == (StateLimit(6), False, 12)
    undecided = good._replace(reason=TooManyUpdates())
    assert answer(undecided, good).gave_up == TooManyUpdates() and answer(undecided, good).complete


def test_a_part_that_is_missing_is_noticed() -> None:
    some = [FoundInPart(Subtrees(2, 0, 3)), FoundInPart(Subtrees(2, 3, 4)), FoundInPart(Subtrees(2, 4, WHOLE.end))]
    PartsSearch(TWO, some, None)
    PartsSearch(TWO, [some[0], some[1]._replace(violation=True)], None)
    wrong = [some[:2], some[1:], [some[0], some[2]], [*some[:2], FoundInPart(Subtrees(3, 4, WHOLE.end))], []]
    for found in wrong:
        with pytest.raises(ValueError, match="not all parts"):
            PartsSearch(TWO, found, None)


def test_limits_hold_in_each_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_traces, "PIECE", 1)
    found = go_through(TWO, WHOLE, Limits(max_states=1), None)
    assert (found.reason, found.complete, found.decides) == (StateLimit(1), False, False)
