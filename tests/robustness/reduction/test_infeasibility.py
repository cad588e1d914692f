"""No step that is not choosable is ever the source of a violation, and many steps are not choosable.

F1 to F6, E1 and E2 are the rules of `proofs/reductions.md`, section 2.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pgasrob
from pgasrob.analysis.rank_types import Symmetry
from pgasrob.program.core import steps_of
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.reference.attack import AttackSpace, Choosable, Found
from pgasrob.robustness.reduction import fixpoint, infeasibility, setting
from pgasrob.robustness.reduction.infeasibility import cannot_fault, choosable
from pgasrob.semantics.sequential import SequentialFacts
from tests.bench.families import ONE_TRACE, recursive_doubling
from tests.oracle.strategies import COMMANDS, EXTENSIONS, random_program
from tests.support import Drawn, drawn_programs, examples, instance, sampled, translated

PROGRAMS = Path(__file__).parents[3] / "programs"
ENOUGH = 10_000
"""States after which a search for a violation is given up; it would not have said anything then."""


def numbered(program: Instance, masks: list[int]) -> Choosable:
    """The masks of all transitions by (rank, control state, occurrence), as the attack search wants them."""
    places = [
        (rank, state, transition.occurrence)
        for rank, automaton in enumerate(program.automata)
        for state, leaving in enumerate(automaton.out)
        for transition in leaving
    ]
    return dict(zip(places, masks, strict=True))


def all_steps(program: Instance) -> list[int]:
    edges = [edge for automaton in program.automata for leaving in automaton.out for edge in leaving]
    return [(1 << len(steps_of(edge.form))) - 1 for edge in edges]


def violated(program: Instance, masks: list[int]) -> bool | None:
    """Whether the plain search finds a violation when it may choose these sources only; None: not within ENOUGH."""
    space = AttackSpace(program, numbered(program, masks))
    seen, stack = {space.initial}, [space.initial]
    while stack:
        for _, target in space.successors(stack.pop()):
            if isinstance(target, Found):
                return True
            if target not in seen:
                seen.add(target)
                stack.append(target)
        if len(seen) > ENOUGH:
            return None
    return False


def not_choosable(program: Instance) -> list[int]:
    """The steps that are not choosable."""
    return [steps & ~worth for steps, worth in zip(all_steps(program), choosable(program), strict=True)]


# Random programs


ALL = (*COMMANDS, *EXTENSIONS)


@given(
    drawn_programs()
    | drawn_programs(loops=True)
    | drawn_programs(ranks=(3, 3))
    | drawn_programs(commands=ALL)
    | drawn_programs(commands=ALL, loops=True)
)
@settings(max_examples=examples(23, nightly=15_000))
def test_no_other_step_is_the_source_of_a_violation(drawn: Drawn) -> None:
    program = drawn.instance
    masks = not_choosable(program)
    if any(masks):
        assert not violated(program, masks)


UNORDERED = ("write", "read", "fence", "load", "store", "wait", "wait_local", "barrier", "fetch_add", "await")


@given(st.integers(0, 1 << 32), st.booleans())
@settings(max_examples=examples(50, nightly=10_000))
def test_neither_with_many_fences_and_barriers(seed: int, loops: bool) -> None:
    program = translated(random_program(seed, commands=UNORDERED, loops=loops, faults=False)).instance
    masks = not_choosable(program)
    if any(masks):
        assert not violated(program, masks)


def test_most_robust_programs_are_settled() -> None:
    """Of those that transfer something; the others are settled too."""
    robust = settled = 0
    for seed in range(200):
        program = translated(random_program(seed, loops=seed % 2 == 1)).instance
        worth = choosable(program)
        if any(all_steps(program)) and violated(program, worth) is False:
            robust += 1
            settled += not any(worth)
    assert robust > 50
    assert settled / robust > 0.7


@pytest.mark.parametrize(
    "name",
    [
        "halo/halo", "halo/halo_get", "ticket_lock/ticket_lock", "ticket_lock/ticket_lock_put",
        "spin_lock/spin_lock", "spin_lock/spin_lock_put_release", "one_to_one/one_to_one_wait_between_barriers",
    ],
)  # fmt: skip
@pytest.mark.parametrize("nodes", [2, 3, 7])
def test_programs_that_are_settled(name: str, nodes: int) -> None:
    assert not any(choosable(pgasrob.load(PROGRAMS / f"{name}.pgas").instantiate(nodes)))


@pytest.mark.parametrize("path", sampled(sorted(PROGRAMS.rglob("*.pgas")), 8), ids=lambda path: path.stem)
def test_no_violation_of_the_corpus_is_lost(path: Path) -> None:
    program = pgasrob.load(path).instantiate()
    masks = not_choosable(program)
    if any(masks):
        assert not violated(program, masks)


# One source at a time


def chosen(*blocks: str, nodes: int | None = None) -> list[int]:
    """The steps of the remote commands that are choosable, in the order of the commands."""
    program = instance(*blocks, nodes=nodes)
    return [found for found, steps in zip(choosable(program), all_steps(program), strict=True) if steps]


@pytest.mark.parametrize(
    ("waits", "expected"),
    [
        ("await(mem[w] == 0);", [1, 1]),
        ("r <- mem[w];", [1, 0]),  # it waits for nothing, and one source is enough
        ("await(mem[z] == 0);", [0, 0]),
    ],
)
def test_a_rank_is_tainted_by_delaying_a_further_update(waits: str, expected: list[int]) -> None:
    """F6: the increment of rank 1 has nothing to do with rank 0 but that both may have to wait for e."""
    assert chosen(f"update(add, 1, 0, w, u); {waits}", "update(add, 1, 0, w, u);") == expected


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ("write(x, 0, y, q); r <- mem[y];", [0b10]),
        ("write(x, 0, y, q); mem[x] <- 2;", [0b01]),
        ("write(x, 0, y, q); mem[x] <- 2; r <- mem[y];", [0b11]),
        ("write(x, 0, y, q); wait(q); r <- mem[y];", [0]),
        ("write(x, 0, y, q); wait(u); r <- mem[y];", [0b10]),
        ("write(x, 0, y, q); wait_local(q); r <- mem[y];", [0b10]),  # it waits for the first step alone
        ("write(x, 0, y, q); wait_local(q); mem[x] <- 2;", [0]),
        ("read(y, 0, x, q); wait_local(q); r <- mem[y];", [0]),
        ("write(x, 0, y, q); choose { wait(q); } or { skip; } r <- mem[y];", [0b10]),
        ("write(x, 0, y, q); wait(r + 1); mem[y] <- 2;", [0b10]),  # for another queue, the registers say
        ("write(x, 0, y, q); await(mem[y] == 0); mem[x] <- 2;", [0b10]),  # the await is the end, one way or another
        ("write(x, 0, y, q); mem[z] <- 1; r <- mem[w];", [0]),
        ("write(x, 0, x, q);", [0]),  # its own steps are no conflict
        ("loop { write(x, 0, x, q); }", [0b10]),  # FIFO, but the next one reads before this one writes
        ("loop { write(x, 0, x, q); wait(q); }", [0]),
        ("loop { write(x, 0, y, q); } mem[z] <- 1;", [0]),
        ("loop { write(x, 0, y, u); }", [0b10]),
        ("write(x, 0, y, q); write(z, 0, y, q);", [0, 0]),
        ("write(x, 0, y, u); write(z, 0, y, u);", [0b10, 0]),
        ("write(x, 0, y, u); fence(u); write(z, 0, y, u);", [0, 0]),
        ("write(x, 0, y, u); fence(u, 0); write(z, 0, y, u);", [0, 0]),
        ("write(x, 0, y, u); fence(v); write(z, 0, y, u);", [0b10, 0]),
        ("write(x, 0, y, u); choose { fence(u); } or { skip; } write(z, 0, y, u);", [0b10, 0, 0]),
        ("write(x, 0, y, u); choose { fence(u); } or { mem[w] <- 1; } write(z, 0, y, u);", [0b10, 0]),
        ("write(x, 0, y, u); choose { fence(u); } or { fence(v); } wait_local(u); write(z, 0, y, u);", [0b10, 0]),
        ("write(x, 0, y, u); fence(u); read(y, 0, z, u);", [0b10, 0]),  # no fence orders a get
        ("write(x, 0, y, q); write(z, 0, w, q); wait(u); r <- mem[w];", [0, 0b10]),
        ("write(x, 0, y + r, q); r <- mem[y];", [0b10]),
        ("write(x, 0, y, q); r <- mem[x + r + 1];", [0b10]),
        # The load may be of y, but not certainly.
        ("s <- swap(0, z, 1); write(x, 0, y, q); r <- mem[x + s]; mem[x] <- 2;", [0b11]),
        ("write(x, 0, y, r); wait(r); r <- mem[z];", [0]),
        ("r <- fetch_add(0, y, 1); write(x, 0, y, q);", [0]),
        ("write(x, 0, y, q); r <- fetch_add(0, y, 1);", [0b10]),
        ("assume(0); write(x, 0, y, q); r <- mem[y];", [0]),  # nobody comes there
        ("write(x, 0, y, q); assume(0); r <- mem[y];", [0]),
        ("write(x, 0, y, q); await(mem[y] == 5);", [0]),  # it is never over, so it is not e
        ("write(x, 0, y, q); write(x, 7, y, q); r <- mem[y];", [0, 0]),  # a fault ends it
        ("write(x, 0, y, q); barrier; r <- mem[y];", [0b10]),
        ("write(x, 0, y, q); wait(q); barrier; r <- mem[y];", [0]),
        # What is delayed behind the source is certain too.
        ("write(x, 0, y, u); write(y, 0, z, q); wait(q); mem[x] <- 2;", [0b10, 0]),
        ("write(x, 0, y, u); write(z, 0, w, q); wait(q); mem[x] <- 2;", [0b01, 0]),
        ("write(x, 0, y, u); write(y, 0, z, q); r <- mem[z]; mem[x] <- 2;", [0b10, 0b10]),
    ],
)
def test_one_rank(commands: str, expected: list[int]) -> None:
    program = instance(commands)
    assert chosen(commands) == expected
    assert violated(program, choosable(program)) == any(expected)
    assert not violated(program, not_choosable(program))


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ("write(x, 0, y, u); fence(u, r); write(z, 0, y, u);", [0b10, 0]),
        ("write(x, r, y, u); fence(u); write(z, r, y, u);", [0b10, 0b00]),
        ("write(x, 0, y, r); wait(r); r <- mem[y];", [0b10]),
        ("write(x, 0, y + r, q); r <- mem[z];", [0b10]),
    ],
)
def test_what_depends_on_a_register_is_not_known(commands: str, expected: list[int]) -> None:
    """Unless it is certain what the register holds."""
    assert chosen(f"r <- swap(0, w, 1); {commands}", "s <- 0;") == expected
    assert chosen(commands, "s <- 0;") == [0] * len(expected)


CHOICE = "choose { r <- 0; } or { r <- 1; } "
STORE_BUFFERING = "write(x, 1, y, q); r <- fetch_add(1, z, 1);", "mem[z] <- 1; r <- mem[y];"
PASSED_ON = "await(mem[z] == 1); write(x, 2, w, q);", "await(mem[w] == 1); r <- mem[y];"


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        # Message passing: a rank that has seen the flag looks for the data.
        (("write(x, 1, y, q); write(x, 1, z, u);", "await(mem[z] == 1); r <- mem[y];"), [0b10, 0]),
        (("write(x, 1, y, q); write(x, 1, z, q);", "await(mem[z] == 1); r <- mem[y];"), [0, 0]),
        (("write(x, 1, y, q); wait(q); write(x, 1, z, q);", "await(mem[z] == 1); r <- mem[y];"), [0, 0]),
        # Store buffering: the rank that is behind the source conflicts with another one, which is the end.
        (("write(x, 1, y, q); r <- fetch_add(1, z, 1);", "mem[z] <- 1; r <- mem[y];"), [0b10]),
        (("write(x, 1, y, q); wait(q); r <- fetch_add(1, z, 1);", "mem[z] <- 1; r <- mem[y];"), [0]),
        (("write(x, 1, y, q); r <- fetch_add(1, z, 1);", "mem[w] <- 1; r <- mem[y];"), [0]),
        # A rank cannot be tainted by what it does itself when it is tainted.
        (("write(x, 1, y, q);", "mem[w] <- 1; write(w, 1, y, q); r <- mem[w];"), [0, 0]),
        # It is tainted by a delayed step alone, so its own step is delayed and its wait never over.
        (("write(x, 1, y, q);", "write(w, 1, y, q); wait(q); mem[y] <- 1;"), [0, 0]),
        (("write(x, 1, y, q);", "write(w, 1, y, q); wait(u); mem[y] <- 1;"), [0b10, 0b10]),
        # The other rank may have done something for that with the source's command, without delay, before.
        (("write(x, 1, y, q); mem[w] <- 1;", "read(w, 0, w, q); wait(q); r <- mem[y];"), [0b10, 0]),
        # Barriers taint all ranks, but only when all of them come to one.
        (("write(x, 1, y, q); barrier;", "barrier; r <- mem[y];"), [0b10]),
        (("write(x, 1, y, q); barrier;", "r <- mem[y]; barrier; r <- mem[z];"), [0]),
        (("write(x, 1, y, q); wait(q); barrier;", "barrier; r <- mem[y];"), [0]),
        (("write(x, 1, y, q); barrier; wait(q); barrier;", "barrier; barrier; r <- mem[y];"), [0]),
        (("write(x, 1, y, q); barrier; barrier; wait(q); barrier;", "barrier; barrier; r <- mem[y]; barrier;"), [0b10]),
        (("write(x, 2, y, q); barrier;", "barrier;", "r <- mem[y];"), [0]),
        (("write(x, 2, y, q); barrier;", "barrier;", "barrier; r <- mem[y];"), [0b10]),
        (("write(x, 2, y, q); barrier;", "skip;", "barrier; r <- mem[y];"), [0]),
        (("loop { barrier; } write(x, 1, y, q); barrier;", "loop { barrier; r <- mem[y]; }"), [0b10]),
        # Between the same two barriers only, the third rank has not written yet.
        (("write(x, 1, y, q); mem[z] <- 1; barrier;", "barrier; read(w, 0, z, q); wait(q); r <- mem[y];"), [0b10, 0]),
        (("barrier; write(x, 1, y, q); mem[z] <- 1;", "read(w, 0, z, q); wait(q); r <- mem[y]; barrier;"), [0, 0]),
        # Through a third rank.
        (("write(x, 2, y, q); write(x, 1, z, u);", *PASSED_ON), [0b10, 0, 0]),
        (("write(x, 2, y, q); wait(q); write(x, 1, z, u);", *PASSED_ON), [0, 0, 0]),
        # F1: of the source's step nothing is certain to be to z, so the load of z is not certain to come after it.
        (("s <- swap(0, w, 1); write(x, 0, y + s, q); r <- mem[z]; mem[x] <- 2;", "s <- 0;"), [0b11]),
        # F2: what is no part of the attack, by its read, may be its end by its write.
        (("write(x, 0, y, u); put(y, 0, x, v);",), [0b11, 0]),
        # F2: what a put reads at its issue it has read, though its write is delayed.
        (("put(x, 1, y, q);", "s <- swap(0, x, 2); r <- mem[y];"), [0b1]),
        # F3: a barrier comes when every rank can come to one.
        (("barrier; write(x, 1, y, q); r <- fetch(1, y);", "skip;"), [0]),
        (("write(x, 1, y, q); barrier; r <- fetch(1, y);", "assume(0); barrier;"), [0]),
        (("write(x, 1, y, q); barrier; r <- fetch(1, y);", "barrier;"), [0b10]),
        (("write(x, 1, y, q);" + 6 * "barrier; " + "r <- fetch(1, y);", 6 * "barrier; "), [0b10]),
        (("write(x, 1, y, q); barrier; barrier; wait(q); barrier;", "barrier; barrier; barrier; r <- mem[y];"), [0]),
        # The others know what is delayed: rank 1 cannot go on to the swap behind its load.
        (("write(x, 1, y, q); barrier;", "barrier; r <- mem[y]; s <- swap(0, x, 2);"), [0b10]),
        # Company: in any phase in which the source's rank may stand where it does, also far from the start.
        (("loop { barrier; } " + STORE_BUFFERING[0], "barrier; " + STORE_BUFFERING[1]), [0b10]),
        ((20 * "barrier; " + STORE_BUFFERING[0], 20 * "barrier; " + STORE_BUFFERING[1]), [0b10]),
        (("barrier; write(x, 1, y, q); mem[z] <- 1;", "read(y, 0, z, q); wait(q); barrier;"), [0, 0]),
        # F4: a rank may be tainted by what it also does itself, if another one does it.
        (
            ("write(x, 1, y, q); mem[w] <- 1;", "choose { s <- swap(0, w, 2); } or { s <- fetch(0, w); r <- mem[y]; }"),
            [0b10],
        ),
        # F4: not if what it accesses at its issue comes after the source for certain.
        (("write(x, 1, y, q); mem[z] <- 1;", "put(y, 0, z, u); s <- swap(0, x, 2);"), [0b10, 0b1]),
        # F5: what is behind the step that is delayed is delayed too, so nobody can have seen it.
        (("write(x, 1, y, q);", CHOICE + "write(y + r, 1, w, q);", "s <- fetch(1, w); r <- fetch(1, y);"), [0, 0]),
        # F5: the first step may hit d, but only the second one need.
        (
            (
                "write(x, 1, y, q); write(x, 1, z, q); write(x, 1, x, q);",
                CHOICE + "write(z + r, 1, x, u); wait_local(u); s <- mem[y];",
            ),
            [0b10, 0b10, 0, 0b10],
        ),
        # F4 and F5 are asked again: rank 1 sees what rank 2 does, first what it delays and later what it does not;
        (
            (
                "write(x, 1, y, q); mem[z] <- 1;",
                "read(w, 0, y, q); wait(q); r <- mem[y];",
                "choose { write(w, 1, y, q); } or { s <- mem[z]; } write(w, 0, y, q);",
                "s <- fetch(0, z); s <- swap(1, z, 1);",
                "s <- fetch(1, z); s <- swap(2, z, 1);",
            ),
            [0b10, 0, 0, 0],
        ),
        # and what it has done itself before rank 2 does.
        (
            (
                "write(x, 1, y, q); mem[z] <- 1;",
                "choose { s <- fetch(0, z); s <- swap(0, w, 1); } or { s <- fetch(0, w); r <- mem[y]; }",
                "s <- fetch(0, y); s <- swap(0, w, 1);",
                "s <- fetch(0, z); s <- swap(0, y, 1);",
            ),
            [0b10],
        ),
        # E2: one command is tainted and closes the cycle: by one access, by two, by what is left of it in the end.
        (("write(x, 0, x, q);", "s <- swap(0, x, 5);"), [0b10]),
        (("write(x, 0, x, q);", "await_add(0, mem[x] == 9, 1);"), [0]),  # it is never over
        (("write(x, 1, y, q); mem[z] <- 1;", "read(y, 0, z, q); wait(q);"), [0b10, 0b01]),
        (("write(x, 1, y, q); write(x, 1, w, q);", "write(y, 1, w, u);"), [0b10, 0, 0b10]),
    ],
)  # fmt: skip
def test_several_ranks(blocks: tuple[str, ...], expected: list[int]) -> None:
    program = instance(*blocks)
    assert chosen(*blocks) == expected
    assert violated(program, choosable(program)) == any(expected)
    assert not violated(program, not_choosable(program))


# Limits


@pytest.mark.parametrize("limit", ["PHASES", "PHASES_AFTER", "WAYS"])
@given(drawn=drawn_programs(loops=True))
@settings(max_examples=examples(13, nightly=2_000))
def test_knowing_less_is_no_harm(limit: str, drawn: Drawn) -> None:
    program = drawn.instance
    known = choosable(program)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setting if limit == "PHASES" else fixpoint, limit, 1)
        less = choosable(program)
    assert all(some & ~more == 0 for some, more in zip(known, less, strict=True))
    masks = [steps & ~found for steps, found in zip(all_steps(program), less, strict=True)]
    if any(masks):
        assert not violated(program, masks)


# What is left out because it does not matter


FAR_APART = {
    "a further source's accesses, which are not on the source's side": (
        "read(z, 1, y, q); await_add(1, mem[x] == 0, 1);",
        "update(add, 1, 1, x, u); mem[y] <- 1; r <- mem[z];",
        "update(add, 1, 1, x, u); write(x, 3, z, v);",
        "r <- mem[z];",
    ),
    "taint that comes back by another way": (
        "write(x, 1, y, q); r <- mem[z];",
        "read(z, 3, w, q); r <- mem[y];",
        "write(x, 0, z, q); mem[y] <- 1;",
        "read(z, 2, y, q); mem[w] <- 1;",
    ),
}


def chosen_without_sides(program: Instance) -> list[int]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setting.Setting, "side", lambda *_: -1)
        patch.setattr(setting, "WIDE", 0)  # all accesses are looked through
        return choosable(program)


@pytest.mark.parametrize("blocks", FAR_APART.values(), ids=FAR_APART)
def test_what_lies_on_another_side_does_not_matter(blocks: tuple[str, ...]) -> None:
    program = instance(*blocks)
    assert choosable(program) == chosen_without_sides(program) and any(choosable(program))


@given(drawn=drawn_programs(ranks=(3, 6), commands=(*COMMANDS, *EXTENSIONS), loops=True))
@settings(max_examples=examples(40, nightly=5_000))
def test_what_lies_on_another_side_does_not_matter_at_random(drawn: Drawn) -> None:
    assert choosable(drawn.instance) == chosen_without_sides(drawn.instance)


@pytest.mark.parametrize("family", ONE_TRACE, ids=lambda family: family.__name__)
def test_what_is_looked_at_is_linear_in_ranks(family: Callable[[int], str]) -> None:
    """But for recursive doubling, where as far as ranges know each rank may put to any other."""
    looks = []
    for nodes in (16, 64):
        found = setting.Setting(infeasibility.commands(parse(family(nodes)).instantiate(nodes)))
        for rank in range(nodes):
            infeasibility._choosable(found, rank)
        looks.append(found.looks)
    assert looks[1] <= (17 if family is recursive_doubling else 6) * looks[0]


def test_what_takes_too_long_is_choosable(monkeypatch: pytest.MonkeyPatch) -> None:
    program = instance("write(x, 1, y, q); wait(q); r <- mem[y];", nodes=2)
    assert not any(choosable(program))
    monkeypatch.setattr(fixpoint, "LOOKS", -1)
    assert choosable(program) == all_steps(program)


@pytest.mark.parametrize(
    "name",
    [
        "mcs_lock/mcs_lock",
        pytest.param("ticket_lock/ticket_lock", marks=pytest.mark.nightly),
        pytest.param("spin_lock/spin_lock_put_release_twice", marks=pytest.mark.nightly),
    ],
)
def test_ranks_that_are_alike_are_looked_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = pgasrob.load(PROGRAMS / f"{name}.pgas").instantiate(4)
    found = choosable(program)
    monkeypatch.setattr(infeasibility, "symmetry", lambda program: Symmetry((), (), (), (), False))
    assert choosable(program) == found
    monkeypatch.undo()
    monkeypatch.setattr(fixpoint, "LOOKS", 50_000)
    assert not any(choosable(pgasrob.load(PROGRAMS / "ticket_lock/ticket_lock.pgas").instantiate(500)))


@pytest.mark.parametrize(
    ("commands", "settled"),
    [
        (
            "write(x, (me + 1) % nodes, y, q); wait(q); barrier; r <- mem[y]; barrier;"
            " write(y, (me + 1) % nodes, z, q); wait(q); barrier; r <- mem[z]; mem[x] <- r; barrier;",
            True,
        ),
        (
            "r <- fetch_add(0, z, 1); while (s != r) { s <- fetch_add(0, w, 0); }"
            " mem[x] <- r; write(x, 0, y, q); wait(q); s <- fetch_add(0, w, 1);",
            True,
        ),
        ("mem[w] <- 1; write(w, (me + 1) % nodes, y, q); write(x, me ^ 1, z, q); await(mem[z] == 1);", False),
        ("r <- mem[x]; write(x + r, r, y, q); wait(q); s <- fetch_add(r, x, 1); read(y, s, x + r, u); wait(u);", False),
    ],
)  # fmt: skip
def test_64_ranks_take_no_time(commands: str, settled: bool) -> None:
    program = instance(commands, nodes=64)
    started = time.process_time()
    assert any(choosable(program)) != settled
    assert time.process_time() - started < 10


# Faults


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ("r <- mem[x]; mem[y] <- r + s * 2; write(x, 0, y, q); wait(q); barrier;", True),
        ("r <- mem[4];", False),
        ("r <- mem[-1];", False),
        ("ANY r <- mem[x + (r & 1)];", True),
        ("ANY r <- mem[x + r];", False),
        ("r <- mem[x + r];", True),
        ("while (r < 4) { s <- mem[x + r]; r <- r + 1; }", True),
        ("while (r < 5) { s <- mem[x + r]; r <- r + 1; }", False),
        ("write(x, 1, y, q);", False),
        ("ANY write(x, r, y, q);", False),
        ("write(x, 0, y, -1);", False),
        ("write(x, 0, y, 77);", True),
        ("ANY write(x, 0, y, r);", False),
        ("ANY wait(s);", False),
        ("fence(u); fence(u, 0);", True),
        ("fence(u, 1);", False),
        ("ANY r <- s / 2 + s % 3;", True),
        ("r <- 2 / s;", False),
        ("ANY assume(s > 0); r <- 2 / s;", True),
        ("r <- s / 0;", False),
        ("ANY assume(!(r % (s + 1)));", False),
        ("ANY r <- s << 31;", True),
        ("r <- s << 32;", False),
        ("ANY r <- 1 >> s;", False),
        ("ANY r <- (s ? 1 : 1 / r);", False),
        ("r <- swap(0, x, 1); r <- compare_swap(0, x, r, s);", True),
        ("ANY r <- fetch_add(s, x, 1);", False),
        ("await(mem[y] == 1 / r);", False),
    ],
)
def test_what_cannot_fault(commands: str, expected: bool) -> None:
    anything = "loop { r <- fetch_add(0, x, 1); s <- r; }"
    assert cannot_fault(instance(commands.replace("ANY", anything))) == expected


@given(drawn_programs() | drawn_programs(loops=True))
@settings(max_examples=examples(60, nightly=5_000))
def test_what_cannot_fault_does_not(drawn: Drawn) -> None:
    program = drawn.instance
    if cannot_fault(program):
        facts = SequentialFacts(program)
        for _ in facts.explore():
            if facts.states > ENOUGH:
                break
        assert facts.fault is None
