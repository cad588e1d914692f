"""The classical litmus tests, in one-sided communication: which final values SC has, and which the network adds.

The sets of SC outcomes are those of the literature (J. Alglave, L. Maranget, M. Tautschnig: *Herding Cats*, TOPLAS
2014, and the tests of that family; store buffering is Dekker's entry). What the network adds follows from what is
delayed: a put (`write`) arrives late, a get (`read`) looks late, loads and stores are immediate. Numbers of SC runs
are those of interleavings, an operation with its steps being one; those of the network are counted path by path below.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from math import factorial, prod
from pathlib import Path

import pytest

from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.robustness.load import load
from pgasrob.runs.outcomes import outcomes
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.state_space import State, StateSpace

PROGRAMS = Path(__file__).parents[1] / "programs"
Runs = dict[str, int]
"""Final values, in the order of the test's names, and how many runs have them."""


@dataclass(frozen=True)
class Litmus:
    """A test: a program per rank, what is looked at, and its outcomes."""

    of: str
    ranks: tuple[str, ...]
    forbidden: str  # by SC, of all that the places could hold; "" when it forbids none
    sc: Runs
    network: Runs
    queue: str = "queue q;"

    @property
    def instance(self) -> Instance:
        header = f"memory one = 1, two = 2, x, y, z, w; register r, s; {self.queue} nodes {len(self.ranks)};"
        blocks = " ".join(f"process {rank} {{ {block} }}" for rank, block in enumerate(self.ranks))
        return parse(f"{header} {blocks}").instantiate()


UNORDERED = "queue q unordered;"

LITMUS: dict[str, Litmus] = {
    # Store buffering. x lies on rank 1 and y on rank 0, each is put by the other rank. SC: one of the two reads 1.
    # The network: each put may be under way while its rank loads, so 0 0 comes too.
    "SB": Litmus(
        "r@0,r@1",
        ("write(one, 1, x, q); r <- mem[y];", "write(one, 0, y, q); r <- mem[x];"),
        "0 0",
        {"0 1": 1, "1 0": 1, "1 1": 4},
        {"0 0": 264, "0 1": 149, "1 0": 149, "1 1": 68},
    ),
    # With a wait between (a full fence) it is as under SC.
    "SB+wait": Litmus(
        "r@0,r@1",
        ("write(one, 1, x, q); wait(q); r <- mem[y];", "write(one, 0, y, q); wait(q); r <- mem[x];"),
        "0 0",
        {"0 1": 1, "1 0": 1, "1 1": 18},
        {"0 1": 21, "1 0": 21, "1 1": 210},
    ),
    # One wait is one too few.
    "SB+wait+po": Litmus(
        "r@0,r@1",
        ("write(one, 1, x, q); wait(q); r <- mem[y];", "write(one, 0, y, q); r <- mem[x];"),
        "0 0",
        {"0 1": 1, "1 0": 1, "1 1": 8},
        {"0 0": 38, "0 1": 95, "1 0": 103, "1 1": 142},
    ),
    # Dekker's entry with a fence that orders puts alone: it does not help.
    "SB+fence": Litmus(
        "r@0,r@1",
        ("write(one, 1, x, q); fence(q); r <- mem[y];", "write(one, 0, y, q); fence(q); r <- mem[x];"),
        "0 0",
        {"0 1": 1, "1 0": 1, "1 1": 18},
        {"0 0": 2200, "0 1": 2336, "1 0": 2336, "1 1": 2200},
        UNORDERED,
    ),
    # Message passing: x is the data, y the flag, r the flag as rank 1 reads it, s the data. SC: never 1 0.
    "MP+fifo": Litmus(
        "r@1,s@1",
        ("write(one, 1, x, q); write(one, 1, y, q);", "r <- mem[y]; s <- mem[x];"),
        "1 0",
        {"0 0": 1, "0 1": 4, "1 1": 1},
        {"0 0": 56, "0 1": 79, "1 1": 5},
    ),
    # An unordered queue lets the flag overtake the data.
    "MP+unordered": Litmus(
        "r@1,s@1",
        ("write(one, 1, x, q); write(one, 1, y, q);", "r <- mem[y]; s <- mem[x];"),
        "1 0",
        {"0 0": 1, "0 1": 4, "1 1": 1},
        {"0 0": 149, "0 1": 110, "1 0": 6, "1 1": 15},
        UNORDERED,
    ),
    "MP+fence": Litmus(
        "r@1,s@1",
        ("write(one, 1, x, q); fence(q); write(one, 1, y, q);", "r <- mem[y]; s <- mem[x];"),
        "1 0",
        {"0 0": 1, "0 1": 8, "1 1": 1},
        {"0 0": 155, "0 1": 195, "1 1": 10},
        UNORDERED,
    ),
    # Load buffering. SC: never 1 1. Loads are immediate, so the network has no more.
    "LB": Litmus(
        "r@0,r@1",
        ("r <- mem[x]; write(one, 1, y, q);", "r <- mem[y]; write(one, 0, x, q);"),
        "1 1",
        {"0 0": 4, "0 1": 1, "1 0": 1},
        {"0 0": 68, "0 1": 1, "1 0": 1},
    ),
    # With gets and puts that nothing orders, each get may look after the other's put: z is where it lands.
    "LB+gets": Litmus(
        "z@0,z@1",
        ("read(z, 1, x, q); write(one, 1, y, q);", "read(z, 1, y, q); write(one, 1, x, q);"),
        "1 1",
        {"0 0": 4, "0 1": 1, "1 0": 1},
        {"0 0": 73070, "0 1": 9210, "1 0": 9210, "1 1": 910},
        UNORDERED,
    ),
    # Coherence of two reads of one cell. SC: never new and then old. So it is with loads,
    "CoRR": Litmus(
        "r@1,s@1",
        ("write(one, 1, x, q);", "r <- mem[x]; s <- mem[x];"),
        "1 0",
        {"0 0": 1, "0 1": 1, "1 1": 1},
        {"0 0": 6, "0 1": 3, "1 1": 1},
    ),
    # and not with two gets in an unordered queue, whose looks may change places.
    "CoRR+gets": Litmus(
        "z@1,w@1",
        ("mem[x] <- 1;", "read(z, 0, x, q); read(w, 0, x, q);"),
        "1 0",
        {"0 0": 1, "0 1": 1, "1 1": 1},
        {"0 0": 26, "0 1": 14, "1 0": 4, "1 1": 26},
        UNORDERED,
    ),
    # Coherence of two writes of one cell: the later one stays, unless the queue is unordered.
    "CoWW+fifo": Litmus("x@1", ("write(one, 1, x, q); write(two, 1, x, q);", ""), "1", {"2": 1}, {"2": 5}),
    "CoWW+unordered": Litmus(
        "x@1", ("write(one, 1, x, q); write(two, 1, x, q);", ""), "1", {"2": 1}, {"1": 4, "2": 6}, UNORDERED
    ),
    # A load after a put to one's own cell may still read the old value: there is no forwarding.
    "CoWR": Litmus("r@0", ("write(one, 0, x, q); r <- mem[x];",), "0", {"1": 1}, {"0": 2, "1": 1}),
    # A get before a store to the same cell may fetch the new value.
    "CoRW": Litmus("z@0", ("read(z, 0, x, q); mem[x] <- 1;",), "1", {"0": 1}, {"0": 2, "1": 1}),
    # 2+2W: x = 1; y = 2 beside y = 1; x = 2. SC: never 1 1 at the end.
    "2+2W+fifo": Litmus(
        "x@0,y@1",
        ("write(one, 0, x, q); write(two, 1, y, q);", "write(one, 1, y, q); write(two, 0, x, q);"),
        "1 1",
        {"1 2": 1, "2 1": 1, "2 2": 4},
        {"1 2": 3080, "2 1": 3080, "2 2": 16940},
    ),
    "2+2W+unordered": Litmus(
        "x@0,y@1",
        ("write(one, 0, x, q); write(two, 1, y, q);", "write(one, 1, y, q); write(two, 0, x, q);"),
        "1 1",
        {"1 2": 1, "2 1": 1, "2 2": 4},
        {"1 1": 14540, "1 2": 22640, "2 1": 22640, "2 2": 32580},
        UNORDERED,
    ),
    # S: x = 2; y = 1 beside r = y; x = 1. SC: never r = 1 and x = 2 at the end.
    "S+unordered": Litmus(
        "r@1,x@1",
        ("write(two, 1, x, q); write(one, 1, y, q);", "r <- mem[y]; mem[x] <- 1;"),
        "1 2",
        {"0 1": 4, "0 2": 1, "1 1": 1},
        {"0 1": 110, "0 2": 149, "1 1": 15, "1 2": 6},
        UNORDERED,
    ),
    # R: x = 1; y = 1 beside y = 2; r = x. SC: never r = 0 and y = 2 at the end.
    "R": Litmus(
        "r@1,y@1",
        ("write(one, 1, x, q); write(one, 1, y, q);", "write(two, 1, y, q); r <- mem[x];"),
        "0 2",
        {"0 1": 1, "1 1": 4, "1 2": 1},
        {"0 1": 1161, "0 2": 384, "1 1": 1009, "1 2": 596},
    ),
    # Write-to-read causality: rank 1 sees x and says so in y, rank 2 sees y and looks at x. SC: never 1 1 0. There is
    # one x, so rank 2 cannot miss what rank 1 saw.
    "WRC": Litmus(
        "r@1,r@2,s@2",
        ("write(one, 1, x, q);", "r <- mem[x]; write(one, 2, y, q);", "r <- mem[y]; s <- fetch(1, x);"),
        "1 1 0",
        {"0 0 0": 8, "0 0 1": 8, "0 1 0": 1, "0 1 1": 3, "1 0 0": 1, "1 0 1": 8, "1 1 1": 1},
        {"0 0 0": 722, "0 0 1": 419, "0 1 0": 28, "0 1 1": 55, "1 0 0": 6, "1 0 1": 29, "1 1 1": 1},
    ),
    # A broadcast makes copies, which are two writes, under SC too: nothing is forbidden, and nothing is new.
    "WRC+copies": Litmus(
        "r@1,r@2,s@2",
        ("write(one, 1, x, q); write(one, 2, x, q);", "r <- mem[x]; write(one, 2, y, q);", "r <- mem[y]; s <- mem[x];"),
        "",
        {"0 0 0": 22, "0 0 1": 13, "0 1 0": 4, "0 1 1": 6, "1 0 0": 18, "1 0 1": 22, "1 1 0": 1, "1 1 1": 4},
        {
            "0 0 0": 46463, "0 0 1": 13421, "0 1 0": 2266, "0 1 1": 2200, "1 0 0": 3202, "1 0 1": 1594, "1 1 0": 44,
            "1 1 1": 110,
        },
    ),
    # ISA2: data, flag, flag of the flag over three ranks. SC: never 1 1 0.
    "ISA2": Litmus(
        "r@1,r@2,s@2",
        ("write(one, 2, x, q); write(one, 1, y, q);", "r <- mem[y]; write(one, 2, z, q);", "r <- mem[z]; s <- mem[x];"),
        "1 1 0",
        {"0 0 0": 13, "0 0 1": 48, "0 1 0": 1, "0 1 1": 13, "1 0 0": 1, "1 0 1": 13, "1 1 1": 1},
        {
            "0 0 0": 72795, "0 0 1": 54244, "0 1 0": 2664, "0 1 1": 6521, "1 0 0": 1256, "1 0 1": 1065, "1 1 0": 10,
            "1 1 1": 45,
        },
        UNORDERED,
    ),
    # Independent reads of independent writes. SC: the readers agree on the order of the writes, never 1 0 1 0.
    # Blocking fetches look at the one copy there is: as under SC.
    "IRIW": Litmus(
        "r@2,s@2,r@3,s@3",
        (
            "write(one, 0, x, q);", "write(one, 1, y, q);", "r <- fetch(0, x); s <- fetch(1, y);",
            "r <- fetch(1, y); s <- fetch(0, x);",
        ),
        "1 0 1 0",
        {
            "0 0 0 0": 18, "0 0 0 1": 22, "0 0 1 0": 1, "0 0 1 1": 4, "0 1 0 0": 22, "0 1 0 1": 18, "0 1 1 0": 13,
            "0 1 1 1": 22, "1 0 0 0": 1, "1 0 0 1": 13, "1 0 1 1": 1, "1 1 0 0": 4, "1 1 0 1": 22, "1 1 1 0": 1,
            "1 1 1 1": 18,
        },
        {
            "0 0 0 0": 8640, "0 0 0 1": 4836, "0 0 1 0": 216, "0 0 1 1": 483, "0 1 0 0": 4836, "0 1 0 1": 2100,
            "0 1 1 0": 708, "0 1 1 1": 861, "1 0 0 0": 216, "1 0 0 1": 708, "1 0 1 1": 21, "1 1 0 0": 483,
            "1 1 0 1": 861, "1 1 1 0": 21, "1 1 1 1": 210,
        },
    ),
    # Gets in an unordered queue may look in the other order.
    "IRIW+gets": Litmus(
        "z@2,w@2,z@3,w@3",
        (
            "mem[x] <- 1;", "mem[y] <- 1;", "read(z, 0, x, q); read(w, 1, y, q);",
            "read(z, 1, y, q); read(w, 0, x, q);",
        ),
        "1 0 1 0",
        {
            "0 0 0 0": 18, "0 0 0 1": 22, "0 0 1 0": 1, "0 0 1 1": 4, "0 1 0 0": 22, "0 1 0 1": 18, "0 1 1 0": 13,
            "0 1 1 1": 22, "1 0 0 0": 1, "1 0 0 1": 13, "1 0 1 1": 1, "1 1 0 0": 4, "1 1 0 1": 22, "1 1 1 0": 1,
            "1 1 1 1": 18,
        },
        {
            "0 0 0 0": 2262960, "0 0 0 1": 1291448, "0 0 1 0": 385816, "0 0 1 1": 263976, "0 1 0 0": 1291448,
            "0 1 0 1": 645344, "0 1 1 0": 2182816, "0 1 1 1": 1285792, "1 0 0 0": 385816, "1 0 0 1": 2182816,
            "1 0 1 0": 54208, "1 0 1 1": 380160, "1 1 0 0": 263976, "1 1 0 1": 1285792, "1 1 1 0": 380160,
            "1 1 1 1": 2274272,
        },
        UNORDERED,
    ),
}  # fmt: skip

NETWORK_ALLOWS = {
    "SB", "SB+wait+po", "SB+fence", "MP+unordered", "LB+gets", "CoRR+gets", "CoWW+unordered", "CoWR", "CoRW",
    "2+2W+unordered", "S+unordered", "R", "ISA2", "IRIW+gets",
}  # fmt: skip
"""The tests whose forbidden outcome the network has."""


def counted(litmus: Litmus) -> tuple[Runs, Runs]:
    """The outcomes under SC and on the network."""
    found = outcomes(litmus.instance, litmus.of.split(","))
    sc = {" ".join(map(str, each.values)): each.sc_runs or 0 for each in found.outcomes if each.sc_runs}
    return sc, {" ".join(map(str, each.values)): each.network_runs or 0 for each in found.outcomes}


@pytest.mark.parametrize("name", LITMUS)
def test_outcomes(name: str) -> None:
    assert counted(LITMUS[name]) == (LITMUS[name].sc, LITMUS[name].network)


@pytest.mark.parametrize("name", LITMUS)
def test_sc_forbids_what_the_literature_says_and_nothing_else(name: str) -> None:
    litmus = LITMUS[name]
    ends = [key.split() for key in (*litmus.network, litmus.forbidden) if key]
    values = [sorted({end[place] for end in ends}) for place in range(len(ends[0]))]
    everything = {" ".join(held) for held in product(*values)}
    assert set(litmus.sc) == everything - {litmus.forbidden}
    assert set(litmus.network) - set(litmus.sc) == ({litmus.forbidden} if name in NETWORK_ALLOWS else set())


@pytest.mark.parametrize("name", LITMUS)
def test_the_forbidden_outcome_has_a_run_with_a_cycle(name: str) -> None:
    only = outcomes(LITMUS[name].instance, LITMUS[name].of.split(",")).network_only
    assert len(only) == (name in NETWORK_ALLOWS)
    for outcome in only:
        assert HappensBefore(outcome.example).cycle is not None


# Counting in other ways


def paths(instance: Instance) -> int:
    """The runs of X(P, N), followed one by one."""
    space = StateSpace(instance)
    stack: list[State] = [space.initial]
    found = 0
    while stack:
        after = [target for _, target in space.successors(stack.pop())]
        found += not after
        stack += after
    return found


@pytest.mark.parametrize("name", [name for name in LITMUS if sum(LITMUS[name].network.values()) <= 10_000])
def test_counts_are_those_of_paths(name: str) -> None:
    assert sum(LITMUS[name].network.values()) == paths(LITMUS[name].instance)


EVENTS = {"write": 3, "read": 3, "r <-": 1, "s <-": 1, "mem": 1, "fence": 1, "wait": 1}


@pytest.mark.parametrize("name", LITMUS)
def test_counts_are_those_of_interleavings(name: str) -> None:
    """No rank of these waits for another one: the orders of the ranks by themselves, times the ways to merge them."""
    litmus = LITMUS[name]
    commands = [[text.strip() for text in block.split(";") if text.strip()] for block in litmus.ranks]
    lengths = [sum(EVENTS[next(key for key in EVENTS if text.startswith(key))] for text in block) for block in commands]
    nothing = ("",) * len(litmus.ranks)
    alone = [
        paths(replace(litmus, ranks=(*nothing[:rank], block, *nothing[rank + 1 :])).instance)
        for rank, block in enumerate(litmus.ranks)
    ]
    assert sum(litmus.network.values()) == merged(lengths) * prod(alone)
    assert sum(litmus.sc.values()) == merged([len(block) for block in commands])


def merged(lengths: list[int]) -> int:
    """The ways to merge sequences of these lengths."""
    return factorial(sum(lengths)) // prod(map(factorial, lengths))


# The corpus

CORPUS = {
    # file: outcomes, those that only the network has, SC runs
    "store_buffering/store_buffering": (4, 1, 6),
    "store_buffering/store_buffering_wait": (5, 0, 252),
    "store_buffering/store_buffering_fence": (4, 1, 20),
    "store_buffering/store_buffering_atomic": (3, 0, 6),
    "message_passing/message_passing_fifo": (3, 0, 10),
    "message_passing/message_passing_unordered": (4, 1, 10),
    "message_passing/message_passing_fence": (3, 0, 20),
    "message_passing/message_passing_unordered_reader_swapped": (4, 0, 6),  # not robust, but no value tells
    "load_buffering/load_buffering_load_put": (3, 0, 6),
    "load_buffering/load_buffering_get_put_unordered": (4, 1, 6),
    "load_buffering/load_buffering_get_store": (4, 1, 6),
    "iriw/iriw_get_fifo": (15, 0, 180),
    "iriw/iriw_get_unordered": (16, 1, 180),
    "iriw/iriw_copies_fence": (16, 1, 25_200),
    "iriw/iriw_copies_wait": (15, 0, 25_200),
    "two_plus_two_writes/two_plus_two_writes_fifo": (3, 0, 6),
    "two_plus_two_writes/two_plus_two_writes_unordered": (4, 1, 6),
    "two_plus_two_writes/two_plus_two_writes_fence_two_targets": (4, 1, 20),
    "coherence/puts_fifo": (1, 0, 1),
    "coherence/puts_unordered": (2, 1, 1),
    "coherence/puts_equal_values": (1, 0, 1),
    "coherence/get_put_unordered": (2, 1, 1),
    "coherence/put_get_fifo": (2, 1, 1),
}


@pytest.mark.parametrize("name", CORPUS)
def test_the_corpus(name: str) -> None:
    found = outcomes(load(PROGRAMS / f"{name}.pgas").instantiate())
    assert (len(found.outcomes), len(found.network_only), found.sc_runs) == CORPUS[name]
