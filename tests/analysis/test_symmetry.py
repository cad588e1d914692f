"""Ranks are exchanged only when the search cannot tell, and then the search says the same about fewer states."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations, pairwise, permutations
from pathlib import Path

import pytest

import pgasrob
from pgasrob.analysis.placement import Kind, Slot
from pgasrob.analysis.range_analysis import find_ranges
from pgasrob.analysis.rank_types import Symmetry, deciding_values
from pgasrob.analysis.symmetry import _symmetry, find_symmetry, symmetry
from pgasrob.analysis.touched import Touched
from pgasrob.program.commands import Assign
from pgasrob.program.expressions import Const
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.program.reading import Reading
from pgasrob.program.statements import Block, Do
from pgasrob.reference.attack import AttackSpace, Found, State
from pgasrob.reference.renaming import renamed, representative
from pgasrob.semantics.accesses import possible_accesses
from tests.support import examples, instance

PROGRAMS = Path(__file__).parents[2] / "programs"


# Random programs in which ranks are mostly interchangeable

DECLARATIONS = "memory x = 1, y, home, link = {link}, a[2]; register i, p, n; queue q, u unordered; nodes {nodes};"
"""Cells x, y and a and register i hold scalars, home and p ranks, link and n ranks plus one."""
RANKS = ("me", "p", "n - 1", "0", "0", "(i == 1 ? me : p)", "(i == 1 ? p : 1)")
COPIES = (
    "x, {rank}, y",
    "y, {rank}, x",
    "x, {rank}, x",
    "link, {rank}, link",
    "home, {rank}, home",
    "x, {rank}, a + i",
)
TRANSFERS = (
    "write({copy}, q);", "write({copy}, u);", "write({copy}, u);", "read({copy}, q);", "read({copy}, u);",
)  # fmt: skip
ACCESSES = (
    "i <- mem[x];", "i <- mem[y];", "n <- mem[link];", "p <- mem[home];", "mem[x] <- i;", "mem[y] <- 2;",
    "mem[link] <- me + 1;", "mem[home] <- p;", "mem[home] <- me;", "mem[link] <- n;", "mem[link] <- 0;",
    "i <- fetch_add({rank}, x, 1);", "i <- fetch_add({rank}, y, 1);", "i <- fetch_add({rank}, a + i, 1);",
    "n <- swap({rank}, link, me + 1);", "p <- swap({rank}, home, me);", "n <- swap({rank}, link, p + 1);",
    "n <- compare_swap({rank}, link, 0, me + 1);", "n <- compare_swap({rank}, link, me + 1, 0);",
)  # fmt: skip
OTHERS = (
    "p <- me;", "p <- me;", "n <- me + 1;", "n <- p + 1;", "p <- n - 1;", "i <- (p == me);", "i <- i + 1;",
    "assume(i == 1);", "assume(n != 0);", "assume(n);", "assume(p == me);", "assert(n != me + 1);",
    "await(mem[link] == 0);", "await(mem[link] != me + 1);", "await(mem[x] >= 1);", "await(mem[home] == me);",
    "wait(q);", "wait(u);", "wait_local(u);", "fence(u);", "fence(u, {rank});", "barrier;", "barrier;",
)  # fmt: skip
SELDOM = (
    "assume(p != 0);", "p <- 1;", "mem[home] <- 0;", "n <- 1;", "await(mem[home] != 1);", "assume(!p);",
    "assume(me == 0);", "i <- me % 2;", "mem[a + me] <- 1;", "assume(n < 2);",
)  # fmt: skip
"""They call a rank by its name, or compute with one."""
COMPUTED = ("mem[x] <- me * 10;", "i <- me * 3 + 1;", "mem[y] <- me % 2 + i;", "mem[y] <- 7 - me;", "i <- -p;")
"""They compute with a rank, and where they leave the result it may decide nothing."""
DEFERRED = (
    "put({copy}, q);", "put({copy}, u);", "update(add, 1, {rank}, x, u);", "update(add, i, {rank}, x, q, y);",
    "update(set, me + 1, {rank}, link, u);", "update(set, p, {rank}, home, u, home);",
    "update(compare_swap, me + 1, 0, {rank}, link, u, link);", "update_located(add, 1, {rank}, x, u);",
    "update_located(set, n, {rank}, link, u, link);", "update_from(add, x, {rank}, y, u);",
    "update_from(set, home, {rank}, home, q);", "update_from_located(max, x, {rank}, x, u, y);",
    "update_from(compare_swap, link, link, {rank}, link, u, link);", "update_from(fetch, {rank}, link, u, link);",
    "update_from_located(fetch, {rank}, a + i, u, x);", "notify(set, 1, {rank}, y, u);",
    "notify(add, 1, {rank}, x, q);", "notify(set, me + 1, {rank}, link, u);", "notify_all(set, 1, {rank}, y, q);",
    "notify_all(add, 1, {rank}, y, u);", "signal(add, 1, {rank}, y, u);", "signal(set, me, {rank}, home, q);",
    "signal(set, 1, {rank}, x, u);", "bundle;", "bundle;", "n <- fetch({rank}, link);", "i <- fetch({rank}, x);",
    "p <- fetch_update(set, {rank}, home, me);", "i <- fetch_update(or, {rank}, x, 1);",
    "await_add({rank}, mem[x] == 1, 1);", "await_add({rank}, mem[y] < 2, i);",
)  # fmt: skip
"""Operations with steps of other numbers than two, and what else the extended calculus has."""


def random_text(seed: int, nodes: int, extended: bool = False, computed: bool = False) -> str:
    """A program for ``nodes`` ranks, most of which run one block; ``extended``: with commands of all kinds;
    ``computed``: that often compute with ranks."""
    choose = random.Random(seed)
    transfers = (*TRANSFERS, *DEFERRED) if extended else TRANSFERS

    def statement(depth: int) -> str:
        if depth and choose.random() < 0.2:
            inner = " ".join(statement(0) for _ in range(choose.randint(1, 2)))
            ways = ("loop {{ {} }}", "if (n == 0) {{ {} }}", "choose {{ {} }} or {{ {} }}", "if (p == me) {{ {} }}")
            return choose.choice(ways).format(inner, statement(0))
        (kind,) = choose.choices((transfers, ACCESSES, OTHERS, SELDOM, COMPUTED), (40, 40, 25, 2, 20 * computed))
        text = choose.choice(kind)
        return text.format(rank=choose.choice(RANKS), copy=choose.choice(COPIES).format(rank=choose.choice(RANKS)))

    def block(longest: int) -> str:
        return " ".join(statement(1) for _ in range(choose.randint(1, longest)))

    longest = {2: 5, 3: 4, 4: 3}[nodes]
    declarations = DECLARATIONS.format(nodes=nodes, link=choose.choice((0, 0, 1)))
    first = f"process 0 {{ {block(longest)} }} " if choose.random() < 0.2 else ""
    return f"{declarations} {first}process {{ {block(longest)} }}"


def random_instances(
    first: int, count: int, extended: bool = False, every_value: bool = True
) -> Iterator[tuple[str, Instance, Symmetry]]:
    """``count`` random programs that have a symmetry, by default one of all their values."""
    seed = first
    while count:
        text = random_text(seed, 2 + seed % 3, extended, not every_value)
        seed += 1
        program = parse(text).instantiate()
        found = find_symmetry(program, every_value)
        if found.classes:
            count -= 1
            yield text, program, found


# Searches


def explored(space: AttackSpace, stored: Callable[[State], State], most: int) -> tuple[set[State], bool] | None:
    """The states that are stored when ``stored`` says which, and whether a violation is among them; None: too many."""
    assert isinstance(space.initial, State)
    start = stored(space.initial)
    seen, stack, violation = {start}, [start], False
    while stack:
        for _, target in space.successors(stack.pop()):
            if isinstance(target, Found):
                violation = True
            elif (target := stored(target)) not in seen:
                seen.add(target)
                stack.append(target)
        if len(seen) > most:
            return None
    return seen, violation


def moves(
    space: AttackSpace, state: State, rename: Callable[[State], State], place: tuple[int, ...]
) -> Counter[object]:
    """The moves at ``state``, their ranks and targets renamed."""
    return Counter(
        (
            tuple(sorted((place[letter.rank], part, letter.kind, letter.occurrence) for part, letter in word)),
            target if isinstance(target, Found) else rename(target),
        )
        for word, target in space.successors(state)
    )


def renamings(nodes: int, found: Symmetry) -> Iterator[tuple[int, ...]]:
    """Those that exchange two ranks of a class."""
    for ranks in found.classes:
        for first, second in combinations(ranks, 2):
            place = list(range(nodes))
            place[first], place[second] = second, first
            yield tuple(place)


def as_it_is(state: State) -> State:
    return state


def deciding(program: Instance) -> Callable[[State], State]:
    """Forgets the values that decide nothing."""
    by_text = _symmetry(program, False, None)
    values = deciding_values(program, None if by_text.classes else find_ranges(program, by_text))

    def kept(state: State) -> State:
        return state._replace(
            registers=tuple(
                tuple(value if index in values.registers[0] else 0 for index, value in enumerate(registers))
                for registers in state.registers
            ),
            memory=tuple(
                value if values.cells >> program.index(cell) & 1 else 0 for cell, value in enumerate(state.memory)
            ),
        )

    return kept


def check_moves(program: Instance, found: Symmetry, most: int, kept: Callable[[State], State] = as_it_is) -> int:
    """Renaming and then moving is moving and then renaming, in what is ``kept`` of states; how many of up to ``most``
    reached ones there were."""
    space = AttackSpace(program)
    assert isinstance(space.initial, State)
    seen, stack = {space.initial}, [space.initial]
    for state in stack:
        for place in renamings(program.nodes, found):

            def rename(state: State, place: tuple[int, ...] = place) -> State:
                return renamed(program, found, state, place)

            expected = moves(space, state, lambda state: kept(rename(state)), place)
            assert moves(space, rename(state), kept, tuple(range(program.nodes))) == expected
        for _, target in space.successors(state):
            if isinstance(target, State) and target not in seen and len(seen) < most:
                seen.add(target)
                stack.append(target)
    return len(seen)


def check_search(program: Instance, found: Symmetry, most: int) -> tuple[int, int, bool] | None:
    """The search on representatives says what the plain one does; stored states of both, and whether it is robust."""
    space = AttackSpace(program)
    plain = explored(space, lambda state: state, most)
    if plain is None:
        return None
    reduced = explored(space, lambda state: representative(program, found, state)[0], most)
    assert reduced is not None
    assert reduced[1] == plain[1]
    # Whatever the plain search reaches has a renaming that is stored.
    for state in plain[0]:
        if representative(program, found, state)[0] not in reduced[0]:
            assert any(renamed(program, found, state, place) in reduced[0] for place in all_renamings(program, found))
    return len(plain[0]), len(reduced[0]), not plain[1]


def all_renamings(program: Instance, found: Symmetry) -> Iterator[tuple[int, ...]]:
    classed = {rank: number for number, ranks in enumerate(found.classes) for rank in ranks}
    for place in permutations(range(program.nodes)):
        if all(classed.get(rank, -1 - rank) == classed.get(to, -1 - to) for rank, to in enumerate(place)):
            yield place


# Random programs


@pytest.mark.parametrize("extended", [False, True], ids=["", "extended"])
@pytest.mark.parametrize("block", range(4))
def test_renaming_maps_moves_to_moves(block: int, extended: bool) -> None:
    count = examples(5, nightly=2_000)
    states = sum(check_moves(*drawn[1:], 25) for drawn in random_instances(1_000_000 * block, count, extended))
    assert states > 10 * count


@pytest.mark.parametrize("extended", [False, True], ids=["", "extended"])
@pytest.mark.parametrize("block", range(4, 8))
def test_renaming_maps_moves_to_moves_but_for_values_that_decide_nothing(block: int, extended: bool) -> None:
    count = examples(12, nightly=2_000)
    states = more = 0
    for _, program, found in random_instances(1_000_000 * block, count, extended, every_value=False):
        states += check_moves(program, found, 25, deciding(program))
        more += sum(map(len, found.classes)) > sum(map(len, find_symmetry(program, every_value=True).classes))
    assert states > 10 * count
    assert more > count // 10, "some have more of a symmetry than one of all their values"


@pytest.mark.parametrize(
    ("block", "classes"),
    [
        ("mem[y] <- me * 10 + 1; write(y, 0, x, q); i <- mem[x]; mem[y] <- i * 2;", [(1, 2)]),  # x of rank 0 is a name
        ("mem[y] <- me * 10 + 1; write(y, 0, a, q);", [(0, 1, 2)]),
        ("i <- me % 2; mem[x] <- i;", [(0, 1, 2)]),
        ("i <- me % 2; assume(i);", []),
        ("i <- me % 2; assert(i);", []),
        ("i <- 10 / me; mem[x] <- i;", []),  # it faults for one of them
        ("i <- 10 << me; mem[x] <- i;", []),
        ("mem[y] <- me * 10 + 1; await(mem[y] != 7);", []),
        ("mem[y] <- me * 10 + 1; i <- mem[y]; p <- i; write(x, p, y, q);", []),
        ("mem[y] <- me * 10; write(y, 0, link, q); n <- swap(0, link, me + 1); assume(n == 0);", []),
        ("n <- swap(0, link, me + 1); i <- n % 2;", [(0, 1, 2)]),
        ("update(add, me, 0, a, q);", [(0, 1, 2)]),
        ("i <- fetch_add(0, a, me); mem[y] <- i;", [(0, 1, 2)]),
        ("i <- fetch_add(0, a, me); assume(i < 7);", []),
    ],
)
def test_what_decides_nothing_may_be_computed_from_ranks(block: str, classes: list[tuple[int, ...]]) -> None:
    declarations = KEPT.replace("link;", "link, a;")
    assert list(symmetry(instance(block, nodes=3, declarations=declarations)).classes) == classes


@pytest.mark.parametrize("extended", [False, True], ids=["", "extended"])
@pytest.mark.parametrize("blocks", [(10, 11), (12, 13)], ids=str)
def test_the_search_on_representatives_says_the_same(blocks: tuple[int, ...], extended: bool) -> None:
    count = examples(4, nightly=2_000)
    drawn = [each for block in blocks for each in random_instances(1_000_000 * block, count, extended)]
    found = [check_search(program, kinds, 1_500) for _, program, kinds in drawn]
    done = [result for result in found if result is not None]
    assert len(done) > 0.8 * len(drawn)
    assert sum(reduced for _, reduced, _ in done) < 0.85 * sum(plain for plain, _, _ in done)
    assert 0.1 < sum(robust for _, _, robust in done) / len(done) < 0.95


def test_a_state_is_renamed_to_its_representative() -> None:
    """And states that renaming makes of each other have the same one, nearly always."""
    same = tried = 0
    for _, program, found in random_instances(77_000_000, examples(20)):
        result = explored(AttackSpace(program), lambda state: state, 3_000)
        for state in sorted(result[0] if result else [], key=repr)[:20]:
            target, place = representative(program, found, state)
            assert target == renamed(program, found, state, place)
            assert all(sorted(place[rank] for rank in ranks) == list(ranks) for ranks in found.classes)
            assert sum(rank != to for rank, to in enumerate(place)) <= sum(map(len, found.classes))
            for other in renamings(program.nodes, found):
                tried += 1
                same += representative(program, found, renamed(program, found, state, other))[0] == target
    assert same > 0.9 * tried > 0


def test_cells_that_nobody_writes_stay_as_they_are() -> None:
    """A search need not store them, so renaming must leave them alone."""
    for _, program, found in random_instances(88_000_000, examples(60)):
        state = AttackSpace(program).initial
        assert isinstance(state, State)
        ranks = range(program.nodes)
        written = {made.cell for rank in ranks for made in possible_accesses(program, rank) if made.writes}
        for place in renamings(program.nodes, found):
            after = renamed(program, found, state, place)
            assert all(
                after.memory[cell] == state.memory[cell] for cell in range(len(state.memory)) if cell not in written
            )


# What is found from the text

KEPT = "memory x = 1, y, home, link; register i, p, n; queue q, u unordered; "


def static(block: str, nodes: int = 3, declarations: str = KEPT) -> Symmetry:
    return find_symmetry(instance(block, nodes=nodes, declarations=declarations), every_value=True)


@pytest.mark.parametrize(
    ("block", "classes"),
    [
        ("mem[y] <- 2; i <- mem[y];", [(0, 1, 2)]),
        ("mem[home] <- me; p <- mem[home]; assume(p == me);", [(0, 1, 2)]),
        ("write(x, 0, y, q); wait(q);", [(0, 1, 2)]),  # y of rank 0 is where they all write, its x is its own
        ("write(x, 0, x, q); wait(q);", [(1, 2)]),
        ("mem[home] <- me + 1; write(home, 0, link, q);", [(0, 1, 2)]),
        ("mem[home] <- me; write(home, 0, link, q);", [(1, 2)]),  # link of rank 1 is 0 for good
        ("mem[home] <- me; write(home, 0, home, q);", [(1, 2)]),  # home moves, so the one of rank 0 is a name
        ("i <- fetch_add(1, y, 1); mem[x] <- i;", [(0, 1, 2)]),
        ("i <- fetch_add(1, y, 1); mem[y] <- i;", [(0, 2)]),
        ("p <- me; i <- fetch_add(p, y, 1);", [(0, 1, 2)]),
        ("i <- fetch_add(me, y, 1);", [(0, 1, 2)]),
        ("n <- swap(0, link, me + 1); if (n != 0) { write(home, n - 1, home, q); }", [(0, 1, 2)]),
        ("n <- swap(0, link, me + 1); if (n) { skip; } else { mem[x] <- 2; }", [(0, 1, 2)]),
        ("n <- swap(0, link, me + 1); if (n == 2) { mem[x] <- 2; }", [(0, 2)]),
        ("n <- swap(0, link, me + 1); if (n - 1 == 1) { mem[x] <- 2; }", [(0, 2)]),
        ("n <- swap(0, link, me + 1); n <- compare_swap(0, link, 2, 0);", [(0, 2)]),
        ("n <- compare_swap(0, link, 0, me + 1); n <- compare_swap(0, link, me + 1, 3);", [(0, 1)]),
        ("p <- (i == 1 ? me : 2); mem[home] <- p;", [(0, 1)]),
        ("p <- me; if (!p) { mem[x] <- 2; }", [(1, 2)]),
        ("if (me == 1) { mem[y] <- 1; }", [(0, 2)]),
        ("if (me == nodes - 1) { mem[y] <- 1; }", [(0, 1)]),
        ("if (me == 7) { mem[y] <- 1; }", [(0, 1, 2)]),
        ("await(mem[home] == me);", [(1, 2)]),  # home is 0 for good
        ("await(mem[home] == me); mem[home] <- me;", [(0, 1, 2)]),
        ("await(mem[x] == me);", [(0, 2)]),  # x is 1 for good
        ("await(mem[link] > 0); mem[link] <- me + 1;", []),
        ("i <- me % 2;", []),
        ("i <- me * 2;", []),
        ("i <- -me;", []),
        ("i <- nodes - me;", []),
        ("if (me < 1) { mem[y] <- 1; }", []),
        ("mem[x + me] <- 1;", []),
        ("wait(me);", []),
        ("write(x, (me + 1) % nodes, y, q);", []),
        ("write(x, me + 1, y, q);", []),  # a rank plus one is no rank
        ("p <- me; p <- me + 1;", []),  # which of the two it holds cannot be told
        ("p <- me; p <- p + 1;", []),
        ("p <- me; n <- me + 1; assume(p == n);", []),
        ("i <- fetch_add(0, y, 1); i <- fetch_add(i, y, 1); i <- i + 1;", []),  # a number that is used as a rank
        ("p <- me; i <- fetch_add(0, y, p);", []),
        ("p <- me + 2000000; mem[y] <- p - 2000000;", []),
        ("write(x, me, y, u); fence(u, me);", [(0, 1, 2)]),
        ("write(x, me, y, u); fence(u, 1);", [(0, 2)]),
        ("write(x, me, y, q); fence(q, 1);", [(0, 1, 2)]),  # no fence is needed in a FIFO queue
        ("write(home, 0, link, u); fence(u, 0); mem[home] <- 1;", [(0, 1, 2)]),
    ],
)
def test_classes(block: str, classes: list[tuple[int, ...]]) -> None:
    assert list(static(block).classes) == classes


@pytest.mark.parametrize(
    "process",
    [
        "j <- fetch(0, x); write(one, 0, x, q); {} write(one, 0, x, q); mem[z] <- i;",
        "write(one, 0, x, q); {} mem[z] <- i;",
    ],
)
def test_what_tells_a_failed_read_decides(process: str) -> None:
    """A read that leaves i as it was fails, and what i was before is not the same for all ranks."""
    loop = "while (n == 0) { n <- fetch(0, flag); if (n == 0) { i <- (2 - me) * 5; } }"
    text = "memory one = 1, x, flag, z; register i, n, j; queue q; nodes 3; process 0 { mem[flag] <- 1; } "
    program = parse(text + f"process {{ {process.format(loop)} }}").instantiate()
    assert symmetry(program).classes == ()
    counted = parse(text + f"process {{ {process.format(loop)} }}").instantiate(reading=Reading("count", "wait"))
    assert symmetry(counted).classes == ((1, 2),)


def test_what_moves_and_what_holds_ranks() -> None:
    found = static("n <- swap(0, link, me + 1); p <- n - 1; mem[home] <- n; write(home, p, home, u); i <- mem[y];")
    assert found == Symmetry(((0, 1, 2),), (1, 2), (None, 0, 1), (None, None, 1, 1), True)


def test_a_register_in_an_address_stands_for_all() -> None:
    found = static("mem[home] <- me; mem[y] <- 2; i <- mem[y]; i <- mem[x + i]; mem[y] <- i;")
    assert found.classes == ()  # a rank may then be in i, and in y
    assert static("mem[home] <- me; i <- mem[x + i];").classes == ((0, 1, 2),)  # i is 0 there
    assert static("mem[home] <- 5; i <- mem[x + i];").moving == (0, 1, 2, 3)


def test_blocks_are_classes_of_their_own() -> None:
    text = f"{KEPT} nodes 6; process 1, 4 {{ mem[x] <- 1; }} process 5 {{ skip; }} process {{ mem[x] <- 1; }}"
    assert symmetry(parse(text).instantiate()).classes == ((0, 2, 3), (1, 4))
    assert symmetry(parse(text).instantiate(5)).classes == ((0, 2, 3), (1, 4))
    assert symmetry(parse(text).instantiate(3)).classes == ((0, 2),)


# Where it prunes, and where it must not


@pytest.mark.parametrize(
    ("name", "nodes", "plain", "reduced"),
    [
        ("ticket_lock/ticket_lock_put", 2, 69, 35),
        ("ticket_lock/ticket_lock_put", 3, 814, 140),
        ("mcs_lock/mcs_lock", 2, 213, 108),
        ("mcs_lock/mcs_lock", 3, 4_671, 808),
    ],
)
def test_sc_states_of_locks(name: str, nodes: int, plain: int, reduced: int) -> None:
    program = pgasrob.load(PROGRAMS / f"{name}.pgas").instantiate(nodes)
    found = symmetry(program)
    nothing = {
        (rank, state, transition.occurrence): 0
        for rank, automaton in enumerate(program.automata)
        for state, leaving in enumerate(automaton.out)
        for transition in leaving
    }
    space = AttackSpace(program, nothing)
    for stored, count in (
        (lambda state: state, plain),
        (lambda state: representative(program, found, state)[0], reduced),
    ):
        result = explored(space, stored, plain)
        assert result is not None and len(result[0]) == count and not result[1]


@pytest.mark.parametrize(
    "block",
    [
        "if (me == 1) { mem[y] <- 1; }",
        "n <- swap(0, link, me + 1); if (n == 2) { write(x, 0, y, q); }",
        "i <- fetch_add(1, y, 1); mem[y] <- i;",
        "p <- me; if (p < 1) { mem[y] <- 1; }",
        "n <- swap(0, link, me + 1); i <- n % 2;",
        "write(x, me, y, u); fence(u, 1); write(x, me, y, u);",
    ],
)
def test_ranks_that_have_a_name_are_not_exchanged(block: str) -> None:
    """A search that exchanges them all the same is found out by `check_moves`."""
    program = instance(block, nodes=3, declarations=KEPT)
    found = find_symmetry(program, every_value=True)
    assert (0, 1, 2) not in found.classes
    check_moves(program, found, 200)
    with pytest.raises(AssertionError):
        check_moves(program, replace(found, classes=((0, 1, 2),), targets=True), 200)


# The representative, by hand


def placed_state(program: Instance, control: tuple[int, ...], registers: list[tuple[int, ...]]) -> State:
    return State(control, tuple(registers), program.memory, ((),) * program.nodes, None)


def test_ranks_are_sorted_by_control_then_by_registers() -> None:
    program = instance("mem[x] <- 2; i <- mem[x]; p <- me;", nodes=3, declarations=KEPT)
    found = find_symmetry(program, every_value=True)
    state = placed_state(program, (2, 0, 2), [(5, 0, 0), (9, 1, 0), (4, 2, 0)])
    target, place = representative(program, found, state)
    assert place == (2, 0, 1)
    assert target.control == (0, 2, 2)
    # Register p holds the rank itself, before as after.
    assert target.registers == ((9, 0, 0), (4, 1, 0), (5, 2, 0))


def test_a_rank_that_has_ended_is_behind_its_last_state() -> None:
    program = instance("mem[x] <- 2; i <- mem[x];", nodes=2, declarations=KEPT)
    ended = len(program.automata[0].out)
    state = placed_state(program, (ended, 1), [(0, 0, 0)] * 2)
    assert representative(program, symmetry(program), state)[0].control == (1, ended)


def test_ranks_are_told_apart_by_who_points_to_them() -> None:
    """A queue of ranks, each of which holds its successor: the last one to be told apart is the head."""
    program = instance("mem[link] <- me + 1; n <- mem[link];", nodes=4, declarations=KEPT)
    found = find_symmetry(program, every_value=True)
    queues = []
    for order in permutations(range(4)):
        registers = [(0, 0, 0)] * 4
        for rank, successor in pairwise(order):
            registers[rank] = (0, 0, successor + 1)
        queues.append(representative(program, found, placed_state(program, (1,) * 4, registers))[0])
    assert len(set(queues)) == 1


def test_what_attacks_touch_moves_too() -> None:
    program = instance("write(x, me, y, u); fence(u, me); write(y, me, x, u);", nodes=2, declarations=KEPT)
    found = symmetry(program)
    space = AttackSpace(program)
    assert isinstance(space.initial, State)
    # Rank 0 begins an attack with its second step and is before the fence.
    word, state = next(
        edge for edge in space.successors(space.initial) if isinstance(edge[1], State) and edge[1].attack is not None
    )
    assert word[0][1].rank == 0 and isinstance(state, State) and state.attack is not None
    target, place = representative(program, found, state)
    assert place == (1, 0) and target.attack is not None
    size = program.size
    assert target.attack.source.cell == state.attack.source.cell + size
    assert target.attack.tainted == 0b10
    delayed = state.attack.delayed
    assert delayed.cells and not delayed.updated
    assert target.attack.delayed == Touched(delayed.read << size, delayed.written << size)
    slots = Slot(1, Kind.PENDING), Slot(1, Kind.LOCAL), Slot(1, Kind.FENCED, 1)
    assert target.placement == ((), tuple((slot, 2) for slot in slots))


def test_a_literal_that_can_wrap_around_to_a_rank_is_no_rank() -> None:
    """Values of `.pgas` have 32 bits; those of the library may have more."""
    program = parse("nodes 2; memory x, y; register r; process { r <- 7; if (r + 1 - 1 == me) { mem[x] <- 1; } }")
    (process,) = program.processes
    assign, *others = process.body.statements
    assert isinstance(assign, Do) and isinstance(assign.command, Assign)
    assert symmetry(program.instantiate()).classes
    for value in (1 << 32, -(1 << 40), (1 << 31)):
        wide = replace(assign, command=replace(assign.command, value=Const(value)))
        changed = replace(program, processes=(replace(process, body=Block((wide, *others))),))
        assert not symmetry(changed.instantiate()).classes
