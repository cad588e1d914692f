"""Y(P, N), the automaton of the normal-form computations (the paper, Definition 4, Table 2, Lemma 12)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from pgasrob.automata.multiheaded import comp
from pgasrob.program.instance import Instance
from pgasrob.program.reading import LITERAL_READING
from pgasrob.robustness.normal_form import (
    Letter,
    NormalForm,
    State,
    numbered,
)
from pgasrob.semantics.computation import Event
from pgasrob.semantics.sequential import SequentialSpace
from tests.support import (
    FURTHER,
    TooMany,
    computations,
    examples,
    generated,
    instance,
    is_normal_form,
    one_to_one,
    sizes,
    tiny_instances,
)

OPERATIONS = (
    "write(x, me, y, q);", "write(y, OTHER, x, u);", "write(x, OTHER, y, u);", "read(x, OTHER, y, q);", "fence(u);",
    "read(y, OTHER, x, u);", "fence(u, OTHER);", "wait_local(u);", "wait(q);", "r <- mem[y];", "mem[x] <- 2;",
)  # fmt: skip


@pytest.mark.parametrize("heads", [1, 2, 3, 4])
@given(program=tiny_instances(5) | tiny_instances(4, OPERATIONS) | tiny_instances(4, FURTHER))
@settings(max_examples=examples(12))
def test_y_accepts_exactly_the_normal_form_computations(heads: int, program: Instance) -> None:
    """Lemma 12, for the paper's four parts and for fewer."""
    try:
        found, accepted = computations(program, 3000), generated(program, heads)
    except TooMany:
        return
    assert accepted == {computation for computation in found if is_normal_form(computation, heads)}


STORE_BUFFERING = ("write(z, 1, x, q); r <- mem[y];", "write(z, 0, y, q); r <- mem[x];")
COUNTS = [
    (one_to_one(), [15, 107, 203, 213, 1737]),
    (one_to_one("wait(q);"), [49, 69, 75, 75, 515]),
    (instance(*STORE_BUFFERING), [19, 127, 229, 239, 869]),
    (instance("write(x, 0, y, u); write(x, 0, z, u); write(x, 0, w, u);"), [4, 34, 121, 184, 292]),
]


@pytest.mark.parametrize(("program", "counts"), COUNTS)
def test_how_many_computations_are_in_normal_form(program: Instance, counts: list[int]) -> None:
    """With 1 to 4 parts, and all: every head lets more in, and four do not let in everything."""
    found = computations(program)
    assert [len(generated(program, heads)) for heads in (1, 2, 3, 4)] + [len(found)] == counts
    assert [sum(is_normal_form(each, parts) for each in found) for parts in (1, 2, 3, 4)] == counts[:4]


@given(tiny_instances(6) | tiny_instances(6, FURTHER))
def test_one_head_is_sequential_consistency(program: Instance) -> None:
    """With one part every step directly follows its issue."""
    assert sizes(NormalForm(program, 1)) == sizes(SequentialSpace(program))


# Table 2, rule by rule


def placements(program: Instance, heads: int, *chosen: tuple[int, int] | None) -> set[tuple[int, int]]:
    """The parts (m, n) in which the steps of the next remote command of rank 0 may be placed, after ``chosen`` ones
    for its commands before (None for one that has no steps)."""
    automaton = NormalForm(program, heads)
    state = automaton.initial
    for parts in chosen:
        state = next(target for word, target in automaton.successors(state) if heads_of(word) == parts)
    return {parts for word, _ in automaton.successors(state) if (parts := heads_of(word))}


def heads_of(word: tuple[tuple[int, Letter], ...]) -> tuple[int, int] | None:
    return (word[1][0], word[2][0]) if word[0][1].kind in ("read", "write") else None


def pairs(first: int = 1, second: int = 1, heads: int = 4) -> set[tuple[int, int]]:
    """All (m, n) with first <= m <= n and second <= n."""
    return {(m, n) for m in range(first, heads + 1) for n in range(max(m, second), heads + 1)}


def test_a_remote_command_is_generated_in_one_shot() -> None:
    automaton = NormalForm(instance("write(x, 1, y, q);", ""))
    for word, _ in automaton.successors(automaton.initial):
        assert word[0][0] == 1
        assert [letter for _, letter in word] == [
            Letter("write", 0, None, 0),
            Letter("popa", 0, 0, 0),
            Letter("popb", 0, 5, 0),
        ]


@pytest.mark.parametrize("heads", [1, 2, 3, 4])
def test_popb_never_comes_before_popa(heads: int) -> None:
    """Rule gpa': pa <= pb."""
    assert placements(instance("read(x, 0, y, u);"), heads) == pairs(heads=heads)


@pytest.mark.parametrize("before", sorted(pairs()))
def test_later_steps_of_a_fifo_queue_never_undercut_earlier_ones(before: tuple[int, int]) -> None:
    """Rules gpa' and gpb': the parts only increase."""
    program = instance("write(x, 0, y, q); write(x, 0, z, q);")
    assert placements(program, 4, before) == pairs(*before)


@pytest.mark.parametrize("block", ["write(x, 0, y, u); write(x, 0, z, u);", "write(x, 0, y, q); write(x, 0, z, 9);"])
def test_unordered_queues_and_other_queues_are_free(block: str) -> None:
    assert placements(instance(block), 4, (3, 4)) == pairs()


@pytest.mark.parametrize(
    ("block", "bound"),
    [
        ("write(x, 0, y, u); fence(u); write(x, 0, z, u);", 3),
        ("write(x, 0, y, u); fence(u, 0); write(x, 0, z, u);", 3),
        ("write(x, 0, y, u); fence(u, 1); write(x, 0, z, u);", 1),
        ("write(x, 0, y, u); fence(u); write(x, 1, z, u);", 1),
        ("write(x, 0, y, u); fence(9); write(x, 0, z, u);", 1),
        ("write(x, 0, y, u); fence(u); read(x, 0, z, u);", 1),
        ("read(x, 0, y, u); fence(u); write(x, 0, z, u);", 1),
    ],
)
def test_a_fence_bounds_popb_of_later_writes_to_its_rank(block: str, bound: int) -> None:
    assert placements(instance(block, ""), 4, (2, 3), None) == pairs(1, bound)


def test_a_fence_takes_the_latest_of_the_writes_before() -> None:
    block = "write(x, 0, y, u); write(x, 0, z, u); fence(u); write(x, 0, w, u);"
    assert placements(instance(block), 4, (1, 3), (1, 2), None) == pairs(1, 3)


def test_a_write_after_the_fence_bounds_nothing_without_another_fence() -> None:
    block = "write(x, 0, y, u); fence(u); write(x, 0, z, u); write(x, 0, w, u);"
    assert placements(instance(block), 4, (1, 2), None, (1, 4)) == pairs(1, 2)


def may_wait(block: str, parts: tuple[int, int]) -> bool:
    """Whether the command after the first one of ``block`` is enabled."""
    automaton = NormalForm(instance(block), 4)
    state = next(target for word, target in automaton.successors(automaton.initial) if heads_of(word) == parts)
    return any(True for _ in automaton.successors(state))


@pytest.mark.parametrize("queue", ["q", "u"])
@pytest.mark.parametrize("kind", ["read", "write"])
@pytest.mark.parametrize("parts", sorted(pairs()))
def test_a_wait_needs_what_it_waits_for_in_the_first_part(queue: str, kind: str, parts: tuple[int, int]) -> None:
    """tau_1 is followed by no issued event, so what is delayed beyond it never comes in time."""
    popa, popb = parts
    command = f"{kind}(x, 0, y, {queue});"
    assert may_wait(f"{command} wait({queue});", parts) == (popb == 1)
    assert may_wait(f"{command} wait_local({queue});", parts) == (popa == 1 if kind == "write" else popb == 1)
    assert may_wait(f"{command} wait(9);", parts)
    assert may_wait(f"{command} wait_local(9);", parts)


@pytest.mark.parametrize("wait", ["wait", "wait_local"])
def test_a_wait_remembers_what_was_delayed_before_something_that_was_not(wait: str) -> None:
    automaton = NormalForm(instance(f"write(x, 0, y, u); write(x, 0, z, u); {wait}(u);"), 4)
    state = automaton.initial
    for parts in ((2, 2), (1, 1)):
        state = next(target for word, target in automaton.successors(state) if heads_of(word) == parts)
    assert not list(automaton.successors(state))


def test_the_least_delay_is_tried_first_and_none_at_all_last() -> None:
    """So that the shortest word that is found delays something, but no more than it must."""
    automaton = NormalForm(instance("write(x, 0, y, q);"), 3)
    found = [heads_of(word) for word, _ in automaton.successors(automaton.initial)]
    assert found == [(1, 2), (1, 3), (1, 1), (2, 2), (2, 3), (3, 3)]


def test_the_memory_is_that_of_the_first_part() -> None:
    """Rule write': popb in tau_1 updates the memory, later ones do not."""
    automaton = NormalForm(instance("write(x, 0, y, q);"), 4)
    memories = {heads_of(word): target.memory for word, target in automaton.successors(automaton.initial)}
    assert memories == {parts: (1, 1 if parts == (1, 1) else 0, 0, 0) for parts in pairs()}


def test_a_barrier_is_one_word_of_the_first_head() -> None:
    automaton = NormalForm(instance("barrier;", nodes=2))
    ((word, _),) = automaton.successors(automaton.initial)
    assert [(head, letter.kind, letter.rank) for head, letter in word] == [(1, "barrier", 0), (1, "barrier", 1)]


def test_every_state_is_final() -> None:
    automaton = NormalForm(one_to_one())
    assert automaton.is_final(automaton.initial)


# States that behave alike are equal


def test_a_queue_in_which_nothing_is_delayed_leaves_no_trace() -> None:
    automaton = NormalForm(instance("write(x, 0, x, q); write(x, 0, x, u); fence(u);"))
    state = automaton.initial
    for parts in ((1, 1), (1, 1), None):
        state = next(target for word, target in automaton.successors(state) if heads_of(word) == parts)
        assert state.placement == ((),)


def test_the_initial_state_delays_nothing() -> None:
    program = one_to_one()
    assert NormalForm(program).initial == State((0, 0), ((0,), (0,)), (1, 0, 1, 0), ((), ()))


# Words and computations


def test_operations_are_numbered_along_the_path_and_parts_are_joined() -> None:
    """Head 2 generates its events early, and they stand behind those of head 1."""
    path = [
        ((1, Letter("write", 0, None, 5)), (1, Letter("popa", 0, 0, 5)), (2, Letter("popb", 0, 3, 5))),
        ((1, Letter("load", 1, 3, 7)),),
        ((1, Letter("store", 0, 0, 6)),),
    ]
    write, popa, popb = Event("write", 0, 0, None, 5), Event("popa", 0, 0, 0, 5), Event("popb", 0, 0, 3, 5)
    load, store = Event("load", 1, 0, 3, 7), Event("store", 0, 1, 0, 6)
    assert numbered(path) == [(1, write), (1, popa), (2, popb), (1, load), (1, store)]
    assert comp(numbered(path), 2) == (write, popa, load, store, popb)


# Pinned counts


@pytest.mark.parametrize(
    ("program", "two", "four"),
    [
        (one_to_one(), (52, 69), (521, 720)),
        (one_to_one("wait(q);"), (29, 45), (148, 269)),
        (one_to_one(nodes=3), (280, 495), (9331, 16630)),
        (one_to_one("wait(q);", nodes=3), (133, 313), (1736, 4765)),
        (instance(*STORE_BUFFERING), (55, 87), (461, 850)),
        (instance("write(x, 0, y, u); fence(u); write(x, 0, z, u);"), (12, 13), (34, 67)),
        (instance("loop { write(x, 1, y, q); }", "loop { r <- mem[y]; }", reading=LITERAL_READING), (9, 27), (30, 180)),
    ],
)
def test_states_and_transitions(program: Instance, two: tuple[int, int], four: tuple[int, int]) -> None:
    assert (sizes(NormalForm(program, 2)), sizes(NormalForm(program, 4))) == (two, four)
