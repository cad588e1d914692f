"""Polls unrolled once, twice and three times say what polls as waits say."""

from __future__ import annotations

from collections import Counter

import pytest

from .definition import decide
from .readings import Reading
from .syntax import Program
from .test_oracle import seeds
from .unrolling import Poll, is_violating_unrolled, polls, random_program, with_polls

MOST_RUNS = 1_500
TIMES = (1, 2, 3)


def is_violating(program: Program, reading: Reading) -> bool | None:
    return decide(program, reading=reading, max_runs=MOST_RUNS, max_steps=40).violating


@pytest.mark.parametrize("conflicts", ["commuting", "all"])
def test_unrolled_polls_are_waits(conflicts: str) -> None:
    """An await in the place of a poll, the loop without its failed reads, and any number of looks in a row, the failed
    ones taken out afterwards: the verdict is one. With the failed ones left in it often is another."""
    seen: Counter[object] = Counter()
    tried = seeds(8, nightly=2_000)
    for seed in tried:
        program = random_program(seed)
        waits = polls(program)
        if not waits:
            continue
        answers: dict[object, bool | None] = {}
        failed = False
        for times in TIMES:
            answers[times], found = is_violating_unrolled(program, times, conflicts, MOST_RUNS)
            failed |= found
        answers["loop"] = is_violating(with_polls(program, Poll.looped), Reading("wait", conflicts))
        if all(poll.rank is None for poll in waits):
            answers["await"] = is_violating(with_polls(program, Poll.awaited), Reading("count", conflicts))
        known = set(answers.values()) - {None}
        assert len(known) <= 1, (seed, answers)
        seen.update(name for name, answer in answers.items() if answer is not None)
        seen.update(known)
        seen["failed"] += failed
        counted = is_violating(with_polls(program, Poll.looped), Reading("count", conflicts))
        seen["counting differs"] += counted is True and known == {False}
    assert min(seen[name] for name in (*TIMES, "loop")) >= len(tried) // 3
    assert seen["await"] >= len(tried) // 6
    assert seen["failed"] >= len(tried) // 4 and seen["counting differs"] >= len(tried) // 12
    assert min(seen[True], seen[False]) >= len(tried) // 12
