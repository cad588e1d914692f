"""Barriers of different names do not meet, and an exit ends the run of all ranks."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from pgasrob.api import check
from pgasrob.robustness.engines import ENGINES
from pgasrob.robustness.limits import Limits
from pgasrob.semantics.computation import Computation, Event
from pgasrob.semantics.replay import ReplayError, replay
from tests.oracle.definition import decide
from tests.oracle.strategies import random_program
from tests.oracle.syntax import Barrier, Block, Exit, Program, Statement
from tests.robustness.test_engines_agree import check_facts
from tests.support import examples, instance, translated

OUR_OWN = sorted(set(ENGINES) - {"spin"})


PLAIN = ("load", "store", "write", "wait", "choose")


def random_barriers(seed: int) -> tuple[Program, Program, Program]:
    """A program whose ranks mostly give their barriers the same names, and in some of which a rank ends the run; the
    same without names; and without exits."""
    source = random.Random(seed)
    drawn = random_program(seed, (2, 2), PLAIN, faults=False)
    names = [source.choice(("a", "b", "")) for _ in range(2)]

    def body(block: Block) -> Block:
        found = list(block)
        for place, name in zip(sorted(source.randrange(len(found) + 1) for _ in names), names, strict=True):
            found.insert(place, Barrier(name if source.random() < 0.8 else "c"))
        if source.random() < 0.3:
            found.insert(source.randrange(len(found) + 1), Exit())
        return tuple(found)

    full = tuple(replace(each, body=body(each.body)) for each in drawn.processes)

    def without(change: Callable[[Statement], list[Statement]]) -> Program:
        bodies = (tuple(new for each in process.body for new in change(each)) for process in full)
        processes = (replace(process, body=each) for process, each in zip(full, bodies, strict=True))
        return replace(drawn, processes=tuple(processes))

    return (
        replace(drawn, processes=full),
        without(lambda each: [replace(each, name="") if isinstance(each, Barrier) else each]),
        without(lambda each: [] if isinstance(each, Exit) else [each]),
    )


def test_every_engine_finds_what_the_oracle_finds() -> None:
    """And the names and exits matter: without them many of the answers would be others."""
    seen: Counter[str] = Counter()
    for seed in range(examples(20, nightly=3_000)):
        program, *others = random_barriers(seed)
        drawn, expected = translated(program), decide(program)
        if expected.verdict == "unknown":
            continue
        for engine in OUR_OWN:
            check_facts(drawn, check(drawn.program, engine=engine, limits=Limits(max_states=200_000)), expected)
        seen[expected.verdict] += 1
        seen[f"deadlock {expected.deadlock}"] += 1
        for kind, other in zip(("names", "exits"), map(decide, others), strict=True):
            seen[f"{kind} change whether there is a deadlock"] += other.deadlock != expected.deadlock
            seen[f"{kind} change the verdict"] += other.verdict != expected.verdict
    count = examples(20, nightly=3_000)
    assert seen["names change whether there is a deadlock"] > count // 5 and seen["names change the verdict"] > 1
    assert min(seen["exits change whether there is a deadlock"], seen["exits change the verdict"]) >= examples(0, 2)
    assert min(seen["robust"], seen["not robust"], seen["deadlock True"], seen["deadlock False"]) > count // 6


SENT = "write(x, 1, y, q);"


@pytest.mark.parametrize(
    ("blocks", "robust", "deadlock"),
    [
        (("barrier(a); barrier(b);", "barrier(b); barrier(a);"), True, True),
        (("barrier(a); barrier(b);", "barrier(a); barrier(b);"), True, False),
        (("barrier;", "barrier(a);"), True, True),
        (("choose { barrier(a); } or { barrier(b); }", "barrier(b);"), True, False),
        # What comes behind barriers that do not meet does not happen.
        ((SENT + "barrier(a); r <- swap(1, w, 1);", "barrier(b); r <- mem[w]; s <- mem[y];"), True, True),
        ((SENT + "barrier(a); r <- swap(1, w, 1);", "barrier(a); r <- mem[w]; s <- mem[y];"), False, False),
        # What comes before an exit does, and nobody waits for ever for a rank that has come to it.
        ((SENT + "r <- swap(1, w, 1); exit;", "r <- mem[w]; s <- mem[y]; barrier;"), False, False),
        (("exit; barrier;", "barrier;"), True, False),
        (("choose { exit; } or { mem[x] <- 1; }", "barrier;"), True, True),
        (("assume(0); exit;", "barrier;"), True, True),
    ],
)
def test_what_meets_and_what_ends(blocks: tuple[str, str], robust: bool, deadlock: bool) -> None:
    program = instance(*blocks)
    for engine in OUR_OWN:
        verdict = check(program.program, 2, engine=engine)
        assert (verdict.verdict, verdict.deadlock) == ("robust" if robust else "not robust", deadlock), engine


def test_a_run_in_which_barriers_of_different_names_are_passed_is_rejected() -> None:
    run: Computation = (Event("barrier", 0, 0, None, 0), Event("barrier", 1, 0, None, 0))
    replay(instance("barrier(a);", "barrier(a);"), run)
    with pytest.raises(ReplayError, match="barriers of the ranks have different names"):
        replay(instance("barrier(a);", "barrier(b);"), run)
    with pytest.raises(ReplayError, match="an exit ends the run"):
        replay(instance("exit;", ""), (Event("exit", 0, 0, None, 0),))
