"""Writes that may come between the read and the write of an atomic operation of a network card."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgasrob.analysis.mixed_atomics import Writing, mixed_atomics
from pgasrob.frontends.lower import parse_c
from pgasrob.program.expectation import read_expectation
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.semantics.state_space import Operation, State, StateSpace
from tests.support import BY_VALUE, COMMANDS, FURTHER, examples

PROGRAMS = Path(__file__).parents[2] / "programs"
HEAD = "memory x, y, z, one = 1; register r; queue q, p, u unordered;\n"
UPDATE = "process 1 { r <- fetch_add(0, x, 1); }"
"""Rank 1 adds to x of rank 0."""


def found(text: str, nodes: int = 3) -> dict[str, tuple[set[int], set[tuple[int, int, str]]]]:
    """The mixed cells with the lines of their atomics, and of the writes with rank and kind; lines from 1."""
    others = "" if "process {" in text else "\nprocess { }"
    given = mixed_atomics(parse(HEAD + text + others).instantiate(nodes))
    return {
        each.cell: (
            {line - 1 for line in each.atomics},
            {(write.rank, write.line - 1, write.how.value) for write in each.writes},
        )
        for each in given
    }


@pytest.mark.parametrize("atomic", ["fetch_add(0, x, 1)", "compare_swap(0, x, 0, 1)", "swap(0, x, 1)"])
def test_a_store_of_the_owner(atomic: str) -> None:
    assert found(f"process 0 {{ mem[x] <- 5; }}\nprocess 1 {{ r <- {atomic}; }}") == {"x@0": ({2}, {(0, 1, "store")})}


@pytest.mark.parametrize(
    ("block", "writes"),
    [
        # what only reads is harmless
        ("process 0 { r <- mem[x]; }", None),
        ("process 0 { r <- fetch(0, x); await(mem[x] == 0); }", None),
        ("process 2 { read(y, 0, x, q); wait(q); r <- fetch(0, x); }", None),
        ("process 2 { update_from(fetch, 0, x, q, y); }", None),
        ("process 0 { mem[y] <- 1; }", None),
        ("process 2 { mem[x] <- 1; }", None),  # its own x
        # the card excludes its own atomics, those that it makes for the owner, too
        ("process 2 { r <- fetch_add(0, x, 1); r <- swap(0, x, 1); update(add, 1, 0, x, q); }", None),
        ("process 0 { update(add, 1, 0, x, q); }", None),
        # and not those of the CPU, whether or not they succeed
        ("process 0 { r <- fetch_add(0, x, 1); }", (0, 2, "atomic")),
        ("process 0 { r <- swap(me, x, 1); }", (0, 2, "atomic")),
        ("process 0 { r <- compare_swap(me, x, 7, 1); }", (0, 2, "atomic")),
        ("process 0 { await_add(0, mem[x] == 0, 1); }", (0, 2, "atomic")),
        # puts, also those of an atomic set that fetches nothing
        ("process 2 { write(one, 0, x, q); }", (2, 2, "put")),
        ("process 2 { put(one, 0, x, q); }", (2, 2, "put")),
        ("process 2 { update(set, 1, 0, x, q); }", (2, 2, "put")),
        ("process 2 { notify(set, 1, 0, x, q); }", (2, 2, "put")),
        ("process 2 { update(set, 1, 0, x, q, y); }", None),
        ("process 2 { notify(add, 1, 0, x, q); }", None),
        # what the owner fetches
        ("process 0 { read(x, 1, y, q); }", (0, 2, "landing")),
        ("process 0 { update(add, 1, 1, y, q, x); }", (0, 2, "landing")),
        # barriers separate, but not from what is pending
        ("process 0 { mem[x] <- 1; barrier; }\nprocess 2 { barrier; }", (0, 2, "store")),
    ],
)  # fmt: skip
def test_what_comes_into_an_addition(block: str, writes: tuple[int, int, str] | None) -> None:
    assert found(f"{UPDATE}\n{block}") == ({} if writes is None else {"x@0": ({1}, {writes})})


@pytest.mark.parametrize(
    ("first", "second", "mixed"),
    [
        ("mem[x] <- 1;", "r <- fetch_add(0, x, 1);", False),
        ("mem[x] <- 1;", "update(add, 1, 0, x, q);", False),
        ("write(one, 0, x, q); wait(q);", "r <- fetch_add(0, x, 1);", False),
        ("write(one, 0, x, q);", "r <- fetch_add(0, x, 1);", True),
    ],
)
def test_barriers_separate_what_is_not_pending(first: str, second: str, mixed: bool) -> None:
    text = f"process 0 {{ {first} barrier; }}\nprocess 1 {{ barrier; {second} }}"
    assert bool(found(text, 2)) == mixed
    assert found(text.replace("barrier;", ""), 2)


def test_an_atomic_is_mixed_as_long_as_it_is_pending() -> None:
    text = "process 0 {\nbarrier;\nmem[x] <- 1; }\nprocess 1 {\nupdate(add, 1, 0, x, q, y);\n%s\nbarrier; }"
    assert found(text % "", 2) == {"x@0": ({5}, {(0, 3, "store")})}
    assert found(text % "wait(q);", 2) == {}
    assert found(text % "wait_local(q);", 2) == {}  # the result has come


@pytest.mark.parametrize(
    ("block", "mixed"),
    [
        # a put comes before an atomic in its queue pair, and may overtake one before it
        ("write(one, 0, x, q); update(add, 1, 0, x, q);", False),
        ("update(add, 1, 0, x, q); write(one, 0, x, q);", True),
        ("write(one, 0, x, q); update(add, 1, 0, x, p);", True),
        ("write(one, 0, x, u); update(add, 1, 0, x, u);", True),
        ("write(one, 0, x, q); r <- fetch_add(0, x, 1);", True),
        ("write(one, 0, x, q); wait(q); r <- fetch_add(0, x, 1);", False),
        ("r <- fetch_add(0, x, 1); write(one, 0, x, q);", False),
        ("update(add, 1, 0, x, q); wait(q); write(one, 0, x, q);", False),
        ("update_located(set, 1, 0, x, u); update_located(add, 2, 0, x, u);", False),
        ("update_located(set, 1, 0, x, u); update(add, 2, 0, x, u);", True),
        ("update_located(add, 1, 0, x, u); update_located(set, 2, 0, x, u);", False),
    ],
)
def test_what_one_rank_mixes(block: str, mixed: bool) -> None:
    assert bool(found(f"process 1 {{ {block} }}", 2)) == mixed


def test_only_what_is_mixed_between_the_same_barriers_is_named() -> None:
    """The atomic behind the barrier meets another atomic of the card, and the store behind it no atomic."""
    text = (
        "process 0 {\nmem[x] <- 1;\nbarrier;\nmem[y] <- 1; }\n"
        "process 1 {\nr <- fetch_add(0, x, 1);\nr <- fetch_add(0, y, 1);\nbarrier;\nr <- fetch_add(0, x, 2); }\n"
        "process 2 { barrier; r <- fetch_add(0, x, 3); }"
    )
    assert found(text) == {"x@0": ({6}, {(0, 2, "store")})}


def test_atomics_of_cpus_alone_are_not_torn() -> None:
    """A locked instruction has its cell to itself."""
    assert found("process 0 { r <- fetch_add(me, x, 1); }\nprocess 2 { write(one, 0, x, q); }") == {}


def test_a_rank_that_is_computed() -> None:
    text = "process 0 { mem[x] <- 1; }\nprocess { r <- fetch_add((me + 1) % nodes, x, 1); }"
    assert found(text, 2) == {"x@0": ({2}, {(0, 1, "store")})}
    assert found(text, 3) == {"x@0": ({2}, {(0, 1, "store")})}


C = """#include <shmem.h>
long lock, other;
int main(void) {
  shmem_init();
  if (shmem_my_pe() == 1) {
    shmem_long_atomic_compare_swap(&lock, 0, 1, 0);
  } else {
    %s;
  }
  shmem_finalize();
}
"""


@pytest.mark.parametrize(
    ("call", "how"),
    [
        ("lock = 2", Writing.STORE),
        ("shmem_long_p(&lock, 2, 0)", Writing.PUT),
        ("long got = lock", None),
        # a library's own atomics exclude each other
        ("shmem_long_atomic_swap(&lock, 2, 0)", None),
        ("shmem_long_atomic_set(&lock, 2, 0)", None),
        ("shmem_long_atomic_inc(&lock, 0)", None),
        # the compiler's are those of the CPU
        ("__sync_fetch_and_add(&lock, 2)", Writing.ATOMIC),
        ("__atomic_store_n(&lock, 2, __ATOMIC_RELEASE)", Writing.STORE),
        ("__atomic_load_n(&lock, __ATOMIC_RELEASE)", None),
    ],
)
def test_a_library(call: str, how: Writing | None) -> None:
    given = mixed_atomics(parse_c(C % call).instantiate(2))
    assert [(each.cell, each.atomics) for each in given] == ([] if how is None else [("lock@0", (6,))])
    assert [write for each in given for write in each.writes] == ([] if how is None else [(0, 8, how)])


def test_what_a_library_makes_up_is_not_looked_at() -> None:
    """The buffers of messages, which are filled by what could be an atomic and emptied by what could be a store."""
    path = PROGRAMS / "c" / "mpi" / "collectives.c"
    assert mixed_atomics(parse_c(path.read_text(), str(path)).instantiate(3)) == ()


# Against all states of the calculus


FETCHING = ("fetch_add", "fetch_update", "compare_swap", "swap", "await_add")
Next = tuple[int, int, str]
"""A cell, the line of the command that accesses it next, and how: "card", or how it writes."""


def accesses(instance: Instance, state: State, underway: tuple[tuple[int, ...], ...]) -> Iterator[tuple[int, Next]]:
    """What each rank can do next to a cell, with its number. ``underway``: the occurrences of its pending commands."""
    space = StateSpace(instance)
    commands = [{each.occurrence: each for each in automaton.transitions} for automaton in instance.automata]
    for word, _ in space.successors(state):
        (rank, cell), kind = word[0][1:3], word[0].kind
        if len(word) > 1 or cell is None:
            continue
        in_step = kind in ("popa", "popb", "popc", "popd")
        command = commands[rank][underway[rank][word[0].which] if in_step else word[0].which]
        how = ""
        if kind in FETCHING:
            how = "atomic" if instance.owner(cell) == rank else "card"
        elif kind == "store":
            how = "store"
        elif kind == "popc" or (kind == "popb" and command.command.kind == "read"):
            how = "landing"
        elif kind == "popb":
            operation = getattr(command.command, "operation", "set")
            how = "card" if operation != "set" or getattr(command.command, "result", None) is not None else "put"
        if how:
            yield rank, (cell, command.span.line, how)


def torn(instance: Instance, most: int) -> set[tuple[str, int, int, int, str]]:
    """The cells where, in one of the first ``most`` states, an atomic of a card and a write are next, with the line of
    the atomic, the rank of the write, its line and kind."""
    space = StateSpace(instance)
    first = (space.initial, ((),) * instance.nodes)
    seen, stack, found = {first}, [first], set()
    while stack and len(seen) < most:
        state, underway = stack.pop()
        for (_, one), (rank, other) in product(list(accesses(instance, state, underway)), repeat=2):
            if one[0] == other[0] and one[2] == "card" != other[2]:
                found.add((instance.cell_name(one[0]), one[1], rank, *other[1:]))
        for word, target in space.successors(state):
            left = list(underway)
            for letter in word:
                pending = sum(isinstance(each, Operation) for each in target.pending[letter.rank])
                if letter.last:
                    place = letter.which
                    left[letter.rank] = (*left[letter.rank][:place], *left[letter.rank][place + 1 :])
                elif pending > len(left[letter.rank]):
                    left[letter.rank] = (*left[letter.rank], letter.which)
            following = target, tuple(left)
            if following not in seen:
                seen.add(following)
                stack.append(following)
    return found


ATOMICS = tuple(each for each in (*COMMANDS, *FURTHER) if "add" in each or "swap" in each or "xor" in each)


@st.composite
def drawn(draw: st.DrawFn) -> Instance:
    """Programs of two or three ranks, with each command on a line of its own."""
    nodes = draw(st.integers(2, 3))
    lines = st.sampled_from((*COMMANDS, *FURTHER)) | st.sampled_from(ATOMICS)
    chosen = draw(st.lists(st.tuples(st.integers(0, nodes - 1), lines), min_size=2, max_size=6))
    blocks = []
    for rank in range(nodes):
        own = [line.replace("OTHER", str((rank + 1) % nodes)) for owner, line in chosen if owner == rank]
        blocks.append(f"process {rank} {{\n" + "\n".join(own) + "\n}")
    head = f"nodes {nodes}; memory x = 1, y; register r; queue q, u unordered, v unordered;"
    return parse("\n".join([head, *blocks])).instantiate(reading=BY_VALUE)


@given(drawn())
@settings(max_examples=examples(50))
def test_whatever_can_come_together_is_found(instance: Instance) -> None:
    given = {
        (each.cell, line, write.rank, write.line, write.how.value)
        for each in mixed_atomics(instance)
        for line in each.atomics
        for write in each.writes
    }
    assert torn(instance, 2_000) <= given


# The corpus


APART = {
    "bakery_get", "bakery_put", "bakery_put_one_wait", "counted_rounds", "dekker", "dekker_release_no_wait", "peterson",
    "peterson_one_wait",
}  # fmt: skip
"""Robust programs in which the ranks keep their atomics and writes apart by values, of which the analysis does not
know: it has a note on a counter that is only touched in critical sections, or set back when all have added."""


def robust_programs() -> Iterator[tuple[str, Instance]]:
    for path in sorted(PROGRAMS.rglob("*.pgas")):
        text = path.read_text()
        expected, program = read_expectation(text, str(path)), parse(text)
        if "fetch_add" in text or "swap" in text or "update" in text or "await_add" in text:
            instance = program.instantiate(reading=BY_VALUE)
            if expected is not None and expected.at(instance.nodes) == "robust":
                yield path.stem, instance


def test_the_corpus() -> None:
    """In most the CPU of rank 0 makes an atomic on its memory, on which the others make remote ones."""
    kinds = {
        name: {write.how.value for each in mixed_atomics(instance) for write in each.writes}
        for name, instance in robust_programs()
    }
    found = {name for name, of_program in kinds.items() if of_program}
    assert len(found) == 34
    assert found > APART
    assert {name for name in found if kinds[name] != {"atomic"}} == {
        "8_09_reset", "counted_rounds", "mixed_lock", "released_by_a_store", "spin_lock_data_elsewhere",
        "spin_lock_data_fetched_back", "spin_lock_put_release", "spin_lock_put_release_twice_wait", "spin_lock_rcas",
        "steal",
    }  # fmt: skip


@pytest.mark.nightly  # 80,000 states
def test_the_notes_of_the_corpus_are_true() -> None:
    """Except in a few programs an atomic and what may come into it are next together in some state."""
    noted = [(name, instance) for name, instance in robust_programs() if mixed_atomics(instance)]
    assert {name for name, instance in noted if not torn(instance, 50_000)} == APART
