"""Stores that loads may overtake, and what other ranks may do meanwhile, found from the text."""

from __future__ import annotations

import pytest

from pgasrob.analysis import phases
from pgasrob.analysis.pending import pending_transfers
from pgasrob.analysis.phases import meanwhile_touched
from pgasrob.analysis.store_buffers import Buffering, buffering, named, store_buffers
from pgasrob.program import commands
from pgasrob.program.commands import FULL_FENCE, Mark
from pgasrob.program.core import lower
from pgasrob.program.expressions import Const, Register
from pgasrob.program.parser import parse

HEAD = "memory x, y, z, a[2]; register r; queue q, u unordered;\n"
ONE, R = Const(1), Register("r", 0)


@pytest.mark.parametrize(
    ("command", "own", "other"),
    [
        (commands.Store(ONE, ONE), Buffering.STORES, Buffering.STORES),
        (commands.Load(R, ONE), Buffering.LOADS, Buffering.LOADS),
        (commands.Await(ONE, "==", ONE), Buffering.LOADS, Buffering.LOADS),
        (commands.Fetch(R, ONE, ONE), Buffering.LOADS, Buffering.EMPTY),
        (commands.FetchAdd(R, ONE, ONE, ONE), Buffering.EMPTY, Buffering.EMPTY),
        (commands.Swap(R, ONE, ONE, ONE), Buffering.EMPTY, Buffering.EMPTY),
        (commands.AwaitAdd(ONE, ONE, "==", ONE, ONE), Buffering.EMPTY, Buffering.EMPTY),
        (commands.Put(ONE, ONE, ONE, ONE), Buffering.LOADS, Buffering.LOADS),
        (commands.Write(ONE, ONE, ONE, ONE), Buffering.NOTHING, Buffering.NOTHING),
        (commands.Wait(ONE), Buffering.NOTHING, Buffering.NOTHING),
        (commands.Fence(ONE, None), Buffering.NOTHING, Buffering.NOTHING),
        (commands.Barrier(), Buffering.EMPTY, Buffering.EMPTY),
        (commands.Assume(ONE), Buffering.NOTHING, Buffering.NOTHING),
        (Mark(ONE, "something else"), Buffering.NOTHING, Buffering.NOTHING),
        (Mark(ONE, FULL_FENCE), Buffering.EMPTY, Buffering.EMPTY),
    ],
)
def test_what_commands_have_to_do_with_the_buffer(command: commands.Command, own: Buffering, other: Buffering) -> None:
    assert buffering(command, lower(command), True) is own
    assert buffering(command, lower(command), False) is other


def pairs(text: str, nodes: int = 2) -> list[tuple[int, int, int]]:
    """The pairs by rank, line of the store and line of the load, lines counted from 1 behind the head."""
    instance = parse(HEAD + text).instantiate(nodes)
    return [(each.rank, each.store - 1, each.load - 1) for each in named(store_buffers(instance).pairs, instance)]


SB = "process 0 { %s }\nprocess { r <- swap(0, x, 1);\n r <- swap(0, y, 1);\n }"


@pytest.mark.parametrize(
    ("block", "found"),
    [
        ("mem[x] <- 1;\nr <- mem[y];", [(0, 1, 2)]),
        ("mem[x] <- 1;\nmem[x] <- 2;\nr <- mem[y];", [(0, 1, 3), (0, 2, 3)]),
        ("mem[x] <- 1;\nr <- mem[z];", []),
        ("mem[z] <- 1;\nr <- mem[y];", []),
        ("mem[a + 1] <- 1;\nr <- mem[y];", []),
        # a transfer of its own that may be pending is somebody else
        ("write(z, 1, a, q);\nmem[z] <- 1;\nr <- mem[y];", [(0, 2, 3)]),
        ("write(z, 1, a, q); wait_local(q);\nmem[z] <- 1;\nr <- mem[y];", []),
        ("write(z, 1, a, q); wait(q);\nmem[z] <- 1;\nr <- mem[y];", []),
        ("write(z, 1, a, q); wait(u);\nmem[z] <- 1;\nr <- mem[y];", [(0, 2, 3)]),
        ("read(z, 1, a, q);\nmem[x] <- 1;\nr <- mem[z];", [(0, 2, 3)]),
        ("read(z, 1, a, q); wait(q);\nmem[x] <- 1;\nr <- mem[z];", []),
        # a wait for a transfer behind the store, on every way
        ("mem[x] <- 1;\nwrite(z, 1, a, q); wait(q); r <- mem[y];", []),
        ("mem[x] <- 1;\nchoose { write(z, 1, a, q); } or { skip; } wait(q); r <- mem[y];", [(0, 1, 2)]),
        ("mem[x] <- 1;\nwrite(z, 1, a, u); wait(q); r <- mem[y];", [(0, 1, 2)]),
        ("mem[x] <- 1;\nwrite(z, 1, a, r); wait(r); r <- mem[y];", [(0, 1, 2)]),
        ("write(z, 1, a, q); mem[x] <- 1;\nwait(q); r <- mem[y];", [(0, 1, 2)]),
        ("loop { mem[x] <- 1;\nr <- mem[y]; write(z, 1, a, q); wait(q); }", [(0, 1, 2)]),
        ("loop { r <- mem[y];\nwrite(z, 1, a, q); wait(q); mem[x] <- 1; }", [(0, 2, 1)]),
        ("loop { r <- mem[y];\nmem[x] <- 1; write(z, 1, a, q); wait(q); }", []),
    ],
)
def test_pairs(block: str, found: list[tuple[int, int, int]]) -> None:
    block = block.replace("write(z, 1, a, r); wait(r)", "r <- mem[x]; write(z, 1, a, r & 1); wait(r & 1)")
    if "& 1" in block:
        found = [(0, 1, 2)]
    assert pairs(SB % block) == found


def test_only_what_others_do_between_the_same_barriers_counts() -> None:
    """Rank 1 writes y behind a barrier, so that rank 0 is over with it, unless the write is pending before."""
    first = "process 0 { mem[x] <- 1;\nr <- mem[y];\nbarrier; r <- mem[z]; }"
    assert pairs(f"{first} process {{ r <- fetch(0, x); barrier; r <- swap(0, y, 1); }}") == []
    assert pairs(f"{first} process {{ r <- fetch(0, x); r <- swap(0, y, 1); barrier; }}") == [(0, 1, 2)]
    late = "process 0 { r <- 1; barrier; mem[x] <- 1;\nr <- mem[y]; }\n"
    assert pairs(f"{late} process {{ write(z, 0, y, q); barrier; r <- fetch(0, x); }}") == [(0, 1, 2)]
    assert pairs(f"{late} process {{ write(z, 0, y, q); wait(q); barrier; r <- fetch(0, x); }}") == []


def test_others_have_to_write_what_is_loaded_and_to_access_what_is_stored() -> None:
    own = "process 0 { mem[x] <- 1;\nr <- mem[y]; }"
    assert pairs(f"{own} process {{ r <- fetch(0, x); r <- fetch(0, y); }}") == []
    assert pairs(f"{own} process {{ r <- swap(0, y, 1); }}") == []
    assert pairs(f"{own} process {{ r <- fetch(0, x); r <- swap(0, y, 1); }}") == [(0, 1, 2)]


@pytest.mark.parametrize(
    ("between", "found"),
    [
        ("r <- 1;", [(0, 1, 3), (0, 5, 7)]),
        ("mem[l] <- 1;", []),
        ("await(mem[l] == 0);", []),
        ("r <- mem[z];", [(0, 1, 3), (0, 5, 7)]),
    ],
)
def test_threads_of_a_rank(between: str, found: list[tuple[int, int, int]]) -> None:
    """A thread is somebody else, and goes to cells within a library of threads by locked instructions."""
    threads = (
        f"memory l made_up; process 0 {{ mem[x] <- 1;\n{between}\nr <- mem[y]; }}\n"
        f"process 0 thread 1 {{\nmem[y] <- 1;\n{between}\nr <- mem[x]; }}"
    )
    assert pairs(threads, 1) == found


def test_a_cell_of_an_array_may_be_another_one() -> None:
    others = "process { r <- swap(0, a, 1); r <- swap(0, a + 1, 1); }"
    own = "process 0 { r <- fetch(1, x); mem[a] <- 1;\nr <- mem[%s]; } process 2 { r <- swap(1, x, 1); }"
    assert pairs(own % "a + (r & 1)" + others, 3) == [(0, 1, 2)]
    assert pairs(own % "a" + others, 3) == []


def test_barriers_of_different_names_do_not_meet() -> None:
    own = "choose { barrier(one); mem[x] <- 1;\nr <- mem[y]; } or { barrier(two); }"
    writes = "r <- fetch(0, x); r <- swap(0, y, 1);"
    apart = f"process 0 {{ {own} }} process {{ choose {{ barrier(one); }} or {{ barrier(two); {writes} }} }}"
    assert pairs(apart) == []
    assert pairs(apart.replace("barrier(two)", "barrier(one)")) == [(0, 1, 2)]


def test_barriers_in_loops() -> None:
    instance = parse(
        f"{HEAD}process 0 {{ loop {{ r <- mem[x]; barrier; r <- mem[y]; barrier; }} }}"
        "process { loop { r <- swap(0, x, 1); barrier; r <- swap(0, y, 1); barrier; } }"
    ).instantiate(2)
    touched = meanwhile_touched(instance)[0]
    by_start = [touched[state].written for state in range(len(touched))]
    assert by_start[0] == 1  # x alone, in the first round and in all others
    assert sorted(set(by_start)) == [1, 2]


def test_what_is_pending() -> None:
    instance = parse(f"{HEAD}process {{ write(x, 0, y, q); wait_local(q); wait(q); r <- 1; }}").instantiate(1)
    found = pending_transfers(instance, 0)
    assert [(each.transfers, each.local, each.touched.cells) for each in found] == [
        (0, 0, 0), (1, 1, 3), (1, 0, 2), (0, 0, 0), (0, 0, 0)
    ]  # fmt: skip


@pytest.mark.parametrize("most", [1, 6, 7])
def test_with_too_many_pairs_everything_comes_beside_everything(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "process { mem[a + me % 2] <- 1; barrier; if (me == 2) { mem[z] <- 1; } r <- mem[x]; }"
    instance = parse(HEAD + text).instantiate(3)
    monkeypatch.setattr(phases, "MOST_PAIRS", most)  # of three ranks six are in order, and each has two here
    accesses = phases.touched_by_ranks(instance)
    for rank, states in enumerate(meanwhile_touched(instance)):
        others = [each for other, each in enumerate(accesses) if other != rank]
        assert states == [others[0].joined(others[1])] * len(states)
