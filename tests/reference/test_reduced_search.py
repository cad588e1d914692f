"""The reduced search: fewer states, the same verdict, and runs that are runs of the program."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.analysis.symmetry import symmetry
from pgasrob.program.instance import Instance
from pgasrob.reference.attack_search import AttackSearch
from pgasrob.robustness.engine import PIECE
from pgasrob.robustness.reduction import REDUCTIONS
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import replay
from tests.oracle.definition import decide
from tests.oracle.strategies import COMMANDS, random_program
from tests.support import Drawn, drawn_programs, examples, instance, is_nightly, one_to_one, translated

ALL = frozenset(REDUCTIONS)
ALONE = [frozenset((name,)) for name in REDUCTIONS]
SUBSETS = [frozenset(names) for size in range(len(REDUCTIONS) + 1) for names in combinations(REDUCTIONS, size)]


def search(program: Instance, reductions: Collection[str], most: int = 100_000) -> AttackSearch | None:
    """The finished search, None when it stores more than ``most`` states; its run is checked."""
    found = AttackSearch(program, reductions)
    for _ in found.run():
        if found.states > most:
            return None
    if found.violation is not None:
        run = replay(program, found.violation.computation)
        # Local commands have no part in a cycle, and a merged loop may have made a thousand of them.
        rest = tuple(event for event in run.computation if event.kind not in ("assign", "assume", "assert"))
        assert run.complete and HappensBefore(rest).cycle is not None
        assert found.violation.parts is not None
        assert list(found.violation.parts) == sorted(found.violation.parts)
    return found


def states(program: Instance, *reductions: str) -> int:
    found = search(program, reductions)
    assert found is not None
    return found.states


def is_robust(program: Instance, reductions: Collection[str]) -> bool:
    found = search(program, reductions)
    assert found is not None
    return found.violation is None


# Where they prune

CHAIN = """
    if (me != 0) { while (r == 0) { r <- mem[flag]; } r <- mem[data]; }
    if (me != nodes - 1) { mem[mine] <- 5; write(mine, me + 1, data, q); write(one, me + 1, flag, q); }
"""
CHAIN_CELLS = "memory data, flag, one = 1, mine; register r; queue q;"
TICKET_LOCK = """
    t <- fetch_add(0, next, 1);
    again: s <- fetch_add(0, serving, 0);
    if (s != t) { goto again; }
    write(mine, 0, data, q);
    wait(q);
    s <- fetch_add(0, serving, 1);
"""
TICKET_LOCK_CELLS = "memory next, serving, data, mine = 1; register t, s; queue q;"


def halo(nodes: int) -> Instance:
    return instance(
        "write(x, (me + 1) % nodes, y, q); wait(q); barrier; r <- mem[y]; barrier;",
        nodes=nodes,
        declarations="memory x = 1, y; register r; queue q;",
    )


def chain(nodes: int) -> Instance:
    return instance(CHAIN, nodes=nodes, declarations=CHAIN_CELLS)


def ticket_lock(nodes: int) -> Instance:
    return instance(TICKET_LOCK, nodes=nodes, declarations=TICKET_LOCK_CELLS)


@pytest.mark.parametrize(
    ("program", "reductions", "expected"),
    [
        (halo, "", [26, 90, 314]),
        (halo, "infeasibility", [14, 36, 98]),
        (halo, "persistent", [17, 30, 47, 68, 93]),
        (halo, "liveness", [20, 63, 206]),
        (halo, "infeasibility persistent merging liveness symmetry", [9, 12, 15, 18, 21]),
        (chain, "", [40, 151, 484]),
        (chain, "persistent", [18, 33, 48]),
        (chain, "merging", [12, 23, 34, 45, 56]),
        (chain, "persistent merging", [12, 23, 34, 45, 56]),
        (chain, "persistent merging liveness", [9, 17, 25, 33, 41]),
        (chain, "infeasibility persistent merging liveness symmetry", [6, 11, 16, 21, 26]),
        (ticket_lock, "", [63, 589]),
        (ticket_lock, "persistent merging", [29, 166]),
        (ticket_lock, "liveness", [52, 431]),
        (ticket_lock, "persistent merging liveness", [22, 83]),
        (ticket_lock, "symmetry", [32, 103, 360]),
        (ticket_lock, "persistent merging symmetry", [15, 29, 64]),
        (ticket_lock, "persistent merging liveness symmetry", [12, 18, 24, 30, 36]),
        (ticket_lock, "infeasibility persistent merging liveness symmetry", [11, 16, 21, 26, 31]),
    ],
)
def test_states_of_robust_programs(program: object, reductions: str, expected: list[int]) -> None:
    """Pinned from two nodes on.

    Where no attack can begin what is stored are SC runs: halo has a barrier, the others loops, in which ranks could be
    stuck.
    """
    assert callable(program)
    assert [states(program(nodes), *reductions.split()) for nodes, _ in enumerate(expected, 2)] == expected


def test_every_rank_is_merged_at_the_start_and_after_a_barrier() -> None:
    assert states(instance("r <- me; s <- r;", nodes=3), "merging") == 1
    assert states(instance("barrier;", "barrier; r <- 1; s <- r;", "r <- 2; barrier; r <- 1;"), "merging") == 2


def test_an_attack_that_is_given_up_puts_nothing_off() -> None:
    """When rank 0 has chosen its write as the source and loaded z, D blocks it, and nobody else can reach y: the other
    ranks need not move. So what they add is their SC runs."""
    block, other = "write(x, 0, y, q); r <- mem[z]; wait(q); s <- mem[y];", "r <- mem[x]; r <- mem[x]; r <- mem[x];"
    alone = states(instance(block), "persistent", "liveness")
    assert states(instance(block, other), "persistent", "liveness") == alone + 3
    assert states(instance(block, other, other), "persistent", "liveness") == alone + 6


def test_dead_registers_that_hold_ranks_name_none() -> None:
    """If they named rank 0, it could not be exchanged for the others. Three ranks are at five places in 35 ways."""
    program = instance("r <- me; s <- mem[x]; assume(r == me); s <- mem[x];", nodes=3)
    assert symmetry(program).registers[0] == 0
    assert states(program, "liveness", "symmetry") == 35


def test_ranks_that_can_do_nothing_but_e_are_not_expanded_alone() -> None:
    """The load of y closes the cycle, but it waits for rank 1 to end."""
    program = instance("write(x, 0, y, q); r <- mem[y];", "r <- mem[x]; r <- mem[x]; r <- mem[x];")
    assert states(program, "persistent") == 15


# Where they must not


LOSSES = {
    "a loop may be expanded alone only when that leads on, and choosing a source does not": (
        "loop { write(x, 0, y, q); }",
        "write(x, 1, y, q); r <- mem[y];",
    ),
    "a local loop may not go on for ever either": ("loop { r <- 1; }", "write(x, 1, y, q); r <- mem[y];"),
    "each rank waits for the other's cell to be touched": (
        "write(x, 0, y, q); read(w, 1, y, u);",
        "write(x, 1, y, q); read(w, 0, y, u);",
    ),
    "the reader has to come between two steps": (
        "write(x, 1, y, u); write(x, 1, z, u);",
        "await(mem[z] == 1); r <- mem[y];",
    ),
    "what was accessed and delayed is how the cycle comes back": (
        "write(x, 1, y, q); r <- swap(1, z, 1);",
        "r <- swap(1, z, 2); s <- mem[y];",
    ),
    "a branch that loads is not the local one": ("write(x, 0, y, u); choose { s <- 1; } or { r <- mem[y]; }",),
    "neither of two local branches is the only one": (
        "write(x, 0, y, u); choose { r <- 1; } or { r <- 2; } assume(r == 2); s <- mem[y];",
    ),
    "a rank that has nothing left but a barrier carries taint through it": (
        "write(x, 1, y, q); barrier;",
        "barrier; r <- mem[y];",
    ),
    "a rank before a wait that is blocked may go another way": (
        "write(x, 0, y, q); choose { wait(q); } or { r <- mem[y]; }",
    ),
    "a register is dead only when it is set before it is read on every way": (
        "r <- 1; write(x, 0, y, q); choose { r <- 2; } or { skip; } assume(r == 1); s <- mem[y];",
    ),
    "a cell that only an atomic reads is not dead": (
        "mem[z] <- 1; write(x, 0, y, q); s <- fetch_add(0, z, 1); assume(s == 1); r <- mem[y];",
    ),
}


@pytest.mark.parametrize("blocks", LOSSES.values(), ids=LOSSES)
def test_violations_that_a_sloppy_reduction_loses(blocks: tuple[str, ...]) -> None:
    for reductions in SUBSETS:
        assert not is_robust(instance(*blocks), reductions), sorted(reductions)


ROLES = """
    r <- fetch_add(0, y, 1);
    if (r == 1) { write(x, 0, z, q); s <- swap(0, w, 1); }
    if (r == 2) { s <- swap(0, w, 2); assume(s == 1); s <- fetch_add(0, z, 0); }
"""


def test_ranks_that_have_changed_places_in_the_search_are_themselves_in_the_run() -> None:
    """Who comes second forgets to wait, and who comes third sees it; all ranks are interchangeable."""
    program = instance(ROLES, nodes=3)
    assert symmetry(program).classes == ((0, 1, 2),)
    for reductions in SUBSETS:
        assert not is_robust(program, reductions), sorted(reductions)
    assert is_robust(instance(ROLES.replace("0, z, q);", "0, z, q); wait(q);"), nodes=3), ALL)
    assert states(program) > 2 * states(program, "symmetry")


@pytest.mark.parametrize("reductions", [*ALONE, ALL], ids=lambda names: " ".join(sorted(names)))
@pytest.mark.parametrize(
    "block",
    [
        "write(x, 0, y, u); fence(u); write(z, 0, y, u);",  # the last fence has passed, what it ordered has not
        "write(x, 0, y, q); write(z, 0, y, q);",
        "write(x, 0, y, q); wait(q); r <- mem[y];",
        "write(x, 0, y, q); wait_local(q); mem[x] <- 2;",
        "write(x, 0, y, q); r <- 0; wait(r); s <- mem[y];",  # the queue depends on a register
    ],
)
def test_order_that_a_sloppy_reduction_forgets(block: str, reductions: frozenset[str]) -> None:
    assert is_robust(instance(block), reductions)


# The interface


def test_no_reductions_are_the_plain_search() -> None:
    program = one_to_one("wait(q);")
    assert states(program) == 25
    assert states(program, "merging") == 25  # nothing to merge, and nothing else changes


def test_an_unknown_reduction_is_refused() -> None:
    with pytest.raises(ValueError, match="no such reduction: sleep"):
        AttackSearch(one_to_one(), ["persistent", "sleep"])


def test_the_search_goes_on_after_a_piece() -> None:
    found = AttackSearch(ticket_lock(3))
    pieces = [found.states for _ in found.run()]
    reduced = AttackSearch(ticket_lock(4), ["symmetry"])
    reduced_pieces = [reduced.states for _ in reduced.run()]
    assert len(pieces) == 589 // PIECE and len(reduced_pieces) == 360 // PIECE
    assert (found.states, reduced.states) == (589, 360)


# Against the plain search and the oracle


def check(drawn: Drawn, subsets: Collection[Collection[str]], most: int = 3_000) -> bool | None:
    """All searches agree, with each other and with the oracle as far as it knows; says whether there is a violation.

    A violation may take longer to find than without the reduction, since others are put off.
    """
    program = drawn.instance
    plain = search(program, (), most)
    if plain is None:
        return None
    expected = plain.violation is not None
    known = decide(drawn.oracle, max_runs=2_000).violating
    assert known in (None, expected)
    for reductions in subsets:
        found = search(program, reductions, most)
        if found is None:
            assert expected
            continue
        assert (found.violation is not None) == expected, sorted(reductions)
        if not expected:
            assert found.states <= plain.states
    return expected


@given(drawn_programs(), st.sampled_from(SUBSETS))
@settings(max_examples=examples(25, nightly=20_000))
def test_every_reduction_agrees_with_the_plain_search_and_the_oracle(drawn: Drawn, some: frozenset[str]) -> None:
    check(drawn, [*ALONE, some, ALL])


@given(drawn_programs(loops=True), st.sampled_from(SUBSETS))
@settings(max_examples=examples(5, nightly=20_000))
def test_every_reduction_agrees_on_loops(drawn: Drawn, some: frozenset[str]) -> None:
    check(drawn, [*ALONE, some, ALL])


FOCUS = (
    ("load", "store", "write", "read", "wait", "wait_local", "barrier"),
    ("load", "store", "write", "fence", "wait", "fetch_add", "barrier"),
    ("load", "write", "await", "fetch_add", "swap", "compare_swap", "wait", "choose", "assign", "if"),
    COMMANDS,
)


def test_every_reduction_agrees_on_programs_of_a_seed() -> None:
    """Many small ones, with three ranks more often than not; both answers come up."""
    seen: Counter[bool | None] = Counter()
    count = examples(13, nightly=20_000)
    for seed in range(count):
        source = random.Random(seed)
        program = random_program(seed, (2, 3), source.choice(FOCUS), loops=source.random() < 1 / 3, faults=False)
        seen[check(translated(program), [*ALONE, ALL, source.choice(SUBSETS)])] += 1
    assert min(seen[True], seen[False]) > count // 4
    assert is_nightly() or seen[None] < 10
