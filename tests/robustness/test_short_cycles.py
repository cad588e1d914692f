"""The search for short cycles: what it finds is violating, what it saves where others take long, its bounds."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings

from pgasrob.api import check
from pgasrob.frontends.lower import parse_c
from pgasrob.program.instance import Instance
from pgasrob.reference.attack_search import AttackSearch
from pgasrob.robustness import portfolio, short_cycles
from pgasrob.robustness.counterexample import Counterexample
from pgasrob.robustness.engine import Settings
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.portfolio import PortfolioSearch
from pgasrob.robustness.reduction.infeasibility import choosable
from pgasrob.robustness.short_cycles import ShortCycles
from pgasrob.robustness.verdict import Verdict, Witness
from tests.oracle.strategies import COMMANDS, EXTENSIONS
from tests.support import Drawn, drawn_programs, examples, program

LATE = """
#include <shmem.h>
static long x, slots[8], got;
int main(void) {
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    long v = 0, w = 0;
    LOOPS
    if (CONDITION) { shmem_long_p(&x, 5, 1); BETWEEN v = shmem_long_g(&x, 1); slots[7] = v; }
    shmem_finalize();
    return 0;
}
"""


def late(count: int, phases: int, condition: str, between: str = "") -> str:
    """A put and a get of one cell that ``condition`` lets a rank come to, behind ``phases`` of ``count`` atomics of
    each rank."""
    loop = "for (int i = 0; i < {count}; i++) w += shmem_long_atomic_fetch_inc(&slots[{phase}], {phase} % 2);"
    loops = " shmem_barrier_all(); ".join(loop.format(count=count, phase=phase) for phase in range(phases))
    return LATE.replace("LOOPS", loops).replace("CONDITION", condition).replace("BETWEEN", between)


# Where rank 0 is the last in every phase, which is in few of the runs.
LAST = {
    "two phases of three": (late(3, 2, "me == 0 && w == 2 * (9 * n - 6)"), 4),
    "three phases of two": (late(2, 3, "me == 0 && w == 3 * (4 * n - 3)"), 4),
    "a phase of five": (late(5, 1, "me == 1 && w == 5 * (5 * n - 3)"), 4),
}


def _searched(text: str, nodes: int) -> ShortCycles:
    instance = parse_c(text).instantiate(nodes)
    search = ShortCycles(instance, choosable(instance))
    for _ in search.run():
        pass
    return search


def _checked(text: str, nodes: int) -> Verdict:
    return check(parse_c(text), nodes, limits=Limits(max_states=200_000), effect=False)


@pytest.mark.parametrize("name", LAST)
def test_a_put_and_a_get_behind_a_loop_of_other_calls(name: str) -> None:
    text, nodes = LAST[name]
    search = _searched(text, nodes)
    assert search.violation is not None and search.states < 2_000
    instance = parse_c(text).instantiate(nodes)
    assert isinstance(Counterexample(instance, "portfolio", search.violation).judged(), Witness)


def _settled(text: str, nodes: int) -> tuple[str, int]:
    search = PortfolioSearch(parse_c(text).instantiate(nodes), Settings(max_states=200_000))
    for _ in search.run():
        pass
    assert search.violation is not None
    return search.settled_by, search.states


def test_the_portfolio_asks_it_after_the_first_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    text, nodes = LAST["two phases of three"]
    assert _settled(text, nodes) == ("short cycles", 6_423)
    monkeypatch.setattr(portfolio, "FOR_SHORT_CYCLES", 0)
    by, states = _settled(text, nodes)
    assert by == "attack" and states > 20_000


def test_what_is_ordered_or_never_happens_is_not_found() -> None:
    for text in (late(2, 2, "me == 0 && w == 8 * n - 6", "shmem_quiet();"), late(2, 2, "me == 0 && w == 8 * n")):
        assert _searched(text, 3).violation is None
        assert _checked(text, 3).verdict == "robust"


def test_a_late_step_alone_is_no_cycle() -> None:
    """Another rank reads before the write arrives, and nothing says that it should not."""
    instance = program("write(x, 1, y, q);", "r <- mem[y];").instantiate(2)
    every_step = [3] * sum(len(automaton.transitions) for automaton in instance.automata)
    search = ShortCycles(instance, every_step)
    for _ in search.run():
        pass
    assert search.violation is None


def test_a_loop_without_an_end_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short_cycles, "LONGEST", 100)
    text = late(1, 1, "me == 0").replace("for (int i = 0; i < 1; i++)", "for (;;)")
    search = _searched(text, 2)
    assert search.violation is None and search.states == 300


def test_random_programs() -> None:
    """What is found is violating by the judges, and it is found in most of the small programs that are."""
    found: Counter[str] = Counter()

    @settings(max_examples=examples(60, nightly=3_000))
    @given(drawn_programs(commands=(*COMMANDS, *EXTENSIONS)))
    def compare(drawn: Drawn) -> None:
        instance = drawn.instance
        search = ShortCycles(instance, choosable(instance))
        for _ in search.run():
            if search.states > 2_000:
                break
        if search.violation is not None:
            judged = Counterexample(instance, "portfolio", search.violation).judged()
            assert isinstance(judged, Witness), judged
        found["violating" if _is_violating(instance) else "robust", search.violation is not None] += 1

    compare()
    assert found["robust", True] == 0
    assert found["violating", True] >= found["violating", False], found


def _is_violating(instance: Instance) -> bool:
    search = AttackSearch(instance, ())
    for _ in search.run():
        if search.states > 5_000:
            break
    return search.violation is not None
