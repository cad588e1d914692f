"""Simulated runs: the same for the same seed, maximal, and every run with a chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from pgasrob.program.instance import Instance
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.load import load
from pgasrob.runs.outcomes import HasLoop, outcomes
from pgasrob.runs.simulate import BIASES, Bias, Simulated, search, simulate
from pgasrob.semantics.computation import POPS
from pgasrob.semantics.endings import is_sequential
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.sc_order import sequential_order
from pgasrob.semantics.state_space import StateSpace
from tests.oracle.strategies import COMMANDS, EXTENSIONS, random_program
from tests.support import computations, examples, follow, instance, longest, one_to_one, spelled, translated

ROOT = Path(__file__).parents[2]
STORE_BUFFERING = ("write(x, 1, y, q); r <- mem[y];", "write(x, 0, y, q); r <- mem[y];")


def order(simulated: Simulated) -> str:
    return " ".join(f"{event.kind}{event.rank}" for event in simulated.run.computation)


def runs_of(drawn: Instance) -> Callable[[int], Simulated]:
    return partial(simulate, drawn)


PINNED = {
    # What a seed stands for is never to change.
    (0, True, "even"): "read1 write0 assign1 write0 load0 popa1 popa0 popb1 popb0 popa0 popb0",
    (1, True, "even"): "write0 popa0 popb0 read1 assign1 popa1 write0 load0 popa0 popb1 popb0",
    (2, True, "late"): "write0 write0 load0 read1 assign1 popa1 popb1 popa0 popa0 popb0 popb0",
    (3, True, "early"): "write0 popa0 write0 popa0 popb0 popb0 read1 popa1 popb1 wait1 load0",
    (2**64 + 7, True, "even"): "write0 write0 read1 assign1 load0 popa0 popa1 popb1 popb0 popa0 popb0",
    (4, False, "even"): "write0 popa0 popb0 read1 popa1 popb1 write0 popa0 popb0 wait1 load0",
}


@pytest.mark.parametrize("chosen", PINNED)
def test_a_seed_is_one_run_for_ever(chosen: tuple[int, bool, Bias]) -> None:
    seed, network, bias = chosen
    drawn = instance(
        "write(x, 1, y, u); write(x, 1, z, u); r <- mem[y];", "read(z, 0, x, q); choose { r <- 1; } or { wait(q); }"
    )
    assert order(simulate(drawn, seed, network, bias)) == PINNED[chosen]
    assert order(simulate(drawn, seed, network, bias)) == order(simulate(drawn, seed, network, bias))


@pytest.mark.parametrize("seed", range(60))
def test_runs_are_maximal_and_are_among_all(seed: int) -> None:
    """On random programs: nothing more can happen at the end, and outcomes has such an outcome."""
    drawn = translated(random_program(seed, (1, 3), (*COMMANDS, *EXTENSIONS))).instance
    known = outcomes(drawn)
    on_network = {(each.ending, each.values, each.failed) for each in known.outcomes}
    under_sc = {(each.ending, each.values, each.failed) for each in known.outcomes if each.sc_runs}
    for number in range(examples(3, 100)):
        network = number % 2 == 0
        bias: Bias = ("late", "even", "early")[number % 3]
        found = simulate(drawn, number, network, bias)
        assert found.run.complete
        for state in follow(drawn, found.run.computation):
            assert not list(StateSpace(drawn).successors(state))
        values = tuple(place.value(found.run.registers, found.run.memory) for place in known.places)
        assert (found.ending, values, found.failed) in (on_network if network else under_sc)
        assert is_sequential(found.run.computation) or network


@pytest.mark.parametrize("bias", BIASES)
def test_every_run_has_a_chance(bias: Bias) -> None:
    drawn = instance("write(x, 0, y, q); r <- mem[y]; mem[z] <- 2;")
    runs = {spelled(computation) for computation in longest(computations(drawn))}
    met = {spelled(simulate(drawn, seed, bias=bias).run.computation) for seed in range(600)}
    assert met == runs


def test_every_sc_run_has_a_chance() -> None:
    drawn = instance("write(x, 1, y, q); r <- mem[y];", "r <- mem[y]; mem[y] <- 3;")
    met = {simulate(drawn, seed, network=False).run.computation for seed in range(200)}
    assert len(met) == outcomes(drawn).sc_runs == 6


def test_biases_delay_more_or_less() -> None:
    drawn = instance(*STORE_BUFFERING)
    cyclic = {bias: sum(simulate(drawn, seed, bias=bias).cycle is not None for seed in range(300)) for bias in BIASES}
    assert cyclic["late"] > 2 * cyclic["even"] > 4 * cyclic["early"] > 0
    sequential = {bias: sum(simulate(drawn, seed, bias=bias).is_sequential for seed in range(300)) for bias in BIASES}
    assert sequential["early"] > 100 > sequential["even"]


def test_the_runs_of_a_robust_program_look_like_sc_runs() -> None:
    drawn = one_to_one("wait(q);", 3)
    met = set()
    for seed in range(100):
        found = simulate(drawn, seed, bias="late")
        computation = found.run.computation
        assert found.cycle is None
        like = sequential_order(drawn, computation)
        assert like is not None
        assert is_sequential(like.run.computation)
        assert sorted(like.run.computation) == sorted(computation)
        assert (like.run.registers, like.run.memory) == (found.run.registers, found.run.memory)
        met.add(computation)
    assert len(met) > 90


def test_endings() -> None:
    assert simulate(instance("mem[x] <- 1;"), 1).ending == "ended"
    assert simulate(instance("barrier;", ""), 1).ending == "deadlock"
    assert simulate(instance("assume(r == 1);"), 1).ending == "stopped"
    assert simulate(instance("r <- 1 / r;"), 1).ending == "fault"
    assert simulate(instance("r <- 1 / r;"), 1, network=False).ending == "fault"


# Runs without an end

ENDLESS = "loop { write(x, 0, y, u); r <- r + 1; }"


@pytest.mark.parametrize("steps", [1, 2, 10, 200])
@pytest.mark.parametrize("network", [True, False])
def test_a_run_is_cut_and_completed(steps: int, network: bool) -> None:
    found = simulate(instance(ENDLESS), 5, network, "late", steps)
    assert found.ending == "cut"
    assert found.run.complete
    computation = found.run.computation
    assert len(computation) >= steps
    if network:
        # After so many events only what was pending happens.
        assert {event.kind for event in computation[steps:]} <= POPS
    else:
        assert len(computation) <= steps + 2


def test_a_run_that_ends_in_time_is_not_cut() -> None:
    drawn = instance("mem[x] <- 1; mem[x] <- 2;")
    assert [simulate(drawn, 1, steps=steps).ending for steps in (1, 2, 3)] == ["cut", "ended", "ended"]


def test_a_cut_of_the_last_pending_steps_is_none() -> None:
    """The run has no more commands: its end is its own."""
    drawn = instance("write(x, 0, y, q);")
    assert [simulate(drawn, 1, steps=steps).ending for steps in (1, 2, 3)] == ["ended"] * 3
    assert len(simulate(drawn, 1, steps=1).run.computation) == 3


def test_loops_of_the_corpus() -> None:
    """Programs that have no outcomes to list have runs."""
    met: Counter[str] = Counter()
    for path in sorted((ROOT / "programs").glob("*/*.pgas")):
        drawn = load(path).instantiate()
        try:
            outcomes(drawn, limits=Limits(max_states=1))
        except HasLoop:
            found = simulate(drawn, 3, steps=150)
            assert found.run.complete
            met[found.ending] += 1
    assert met["ended"] > 20
    assert met["cut"] > 0


# Searching


def test_searching() -> None:
    drawn = instance(*STORE_BUFFERING)
    found = search(runs_of(drawn), "violation", range(1_000))
    assert found is not None
    assert found.cycle is not None
    assert HappensBefore(found.run.computation).cycle is not None
    assert all(simulate(drawn, seed).cycle is None for seed in range(found.seed))
    assert search(runs_of(drawn), "violation", range(found.seed, found.seed + 1)) == found
    assert search(runs_of(one_to_one("wait(q);")), "violation", range(50)) is None


def test_what_is_searched_for() -> None:
    asserting = instance("write(x, 1, y, q);", "r <- mem[y]; assert(r == 0);")
    failing = search(runs_of(asserting), "assertion", range(100))
    assert failing is not None
    assert [(each.rank, each.line) for each in failing.failed] == [(1, 1)]
    assert (
        search(runs_of(instance("barrier;", "choose { r <- 1; } or { barrier; }")), "deadlock", range(100)) is not None
    )
    assert search(runs_of(instance("choose { r <- 1 / r; } or { assume(0 == r); }")), "fault", range(50)) is None
    assert search(runs_of(instance("r <- mem[y]; r <- 1 / r;", "write(x, 0, y, q);")), "fault", range(50)) is not None


def test_look_around_is_called_before_each_try() -> None:
    told: list[int] = []
    assert search(runs_of(instance("skip;")), "violation", range(3, 7), look_around=told.append) is None
    assert told == [0, 1, 2, 3]


def test_a_seed_below_zero() -> None:
    with pytest.raises(ValueError, match="seed -1; it takes 0 or more"):
        simulate(instance("skip;"), -1)
