"""Runs in normal form find a violation exactly where there is one: against all runs of programs without loops, against
programs with loops that are unrolled, and with each rule left out (`proofs/rdma-normal-form.md`)."""

from __future__ import annotations

import time
from collections import Counter
from random import Random

import pytest

from pgasrob.models.litmus.litmus_parser import parse
from pgasrob.models.litmus.litmus_program import Program
from pgasrob.models.networks.robustness import by_normal_forms, by_runs
from pgasrob.models.rdma_tso import RdmaTso
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.watch import Watch
from tests.models.strategies import random_program, random_text

DEPTHS = (1, 2, 3)
MOST = 20_000


def everywhere(text: str) -> Program:
    """The program with threads that may end behind each instruction, as a prefix of a run is one."""
    return parse(text).program.everywhere


def watch() -> Watch:
    return Watch(Limits(max_states=MOST), None, time.monotonic())


def robust(text: str, **variant: bool) -> bool:
    """By runs in normal form; a violation is a run of the machine that has a cycle."""
    found = by_normal_forms(everywhere(text), RdmaTso(**variant))  # type: ignore[arg-type]
    assert found.reason is None
    return found.violation is None


def variant_of(random: Random) -> RdmaTso:
    return RdmaTso(pcie=random.random() < 0.6, placed=random.random() < 0.3)


def agreement(count: int, seed: int, **sizes: object) -> tuple[int, int]:
    """Programs without loops that are robust, and that are not, by runs in normal form and by all runs."""
    said = Counter[bool]()
    for number in range(count):
        random = Random(seed * 1_000_000 + number)
        program = random_program(random, "rdma-tso", **sizes).everywhere
        model = variant_of(random)
        found, runs = by_normal_forms(program, model), by_runs(model.machine(program))
        assert (found.reason, runs.reason) == (None, None), number
        assert (found.violation is None) == (runs.violation is None), number
        said[found.violation is None] += 1
    return said[True], said[False]


BRANCHING = {"statements": 7, "threads": (2, 3), "nodes": (2, 3), "branching": True}


def test_all_runs_say_the_same() -> None:
    assert agreement(300, 5) == (220, 80)
    assert agreement(150, 6, **BRANCHING) == (81, 69)


@pytest.mark.nightly
def test_all_runs_say_the_same_on_many() -> None:
    assert agreement(12_000, 7) == (0, 0)
    assert agreement(8_000, 8, **BRANCHING) == (0, 0)


# Loops


def looped(random: Random) -> str:
    """A program with a loop or two; {0} stands for how often they run. Nothing counts, so that it has few states."""
    while True:
        text = random_text(random, "rdma-tso", statements=5, threads=(2, 3), nodes=(2, 3))
        if "+" in text or "*" in text:
            continue
        head, _, rest = text.partition(" :: ")
        threads = []
        loops = 0
        for thread in rest.split(" || "):
            node, _, body = thread.partition(": ")
            statements = body.split("; ") if body else []
            if statements and random.random() < 0.6:
                first = random.randrange(len(statements))
                last = random.randint(first + 1, len(statements))
                inner = "; ".join(statements[first:last])
                statements[first:last] = [f"loop {{0}} {{{{ {inner} }}}}"]
                loops += 1
            threads.append(f"{node}: {'; '.join(statements)}")
        if loops:
            return f"{head} :: {' || '.join(threads)}"


def unrolled(text: str, model: RdmaTso) -> int | None:
    """How often the loops run at most in the first violation that there is; 0 where there is none up to DEPTHS, None
    where it has too many states."""
    for depth in DEPTHS:
        runs = by_runs(model.machine(everywhere(text.format(depth))), watch())
        if runs.violation is not None:
            return depth
        if runs.reason is not None:
            return None
    return 0


def against_unrolled(count: int, seed: int) -> Counter[str]:
    """How often programs with loops are said to be what."""
    said = Counter[str]()
    for number in range(count):
        random = Random(seed * 1_000_000 + number)
        text, model = looped(random), variant_of(random)
        found, depth = by_normal_forms(everywhere(text.format("")), model, watch()), unrolled(text, model)
        assert found.reason is None, text
        if found.violation is None:
            assert not depth, (number, text)
        said["robust" if found.violation is None else f"violated at {depth}"] += 1
    return said


def test_programs_with_loops_are_what_they_are_unrolled() -> None:
    assert against_unrolled(60, 1) == {"robust": 39, "violated at 1": 16, "violated at 2": 5}


@pytest.mark.nightly
def test_programs_with_loops_are_what_they_are_unrolled_on_many() -> None:
    assert against_unrolled(20_000, 2) == {}
