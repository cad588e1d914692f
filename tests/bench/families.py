"""Families of programs with a parameter N, the number of ranks: the communication idioms that the benchmark measures.

A family is a function from N to the text of a program for N ranks. It is robust at every size that is measured, so that
a search has to look at everything; ``broken`` leaves out what makes it so, for the time to a first counterexample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.oracle.strategies import random_program
from tests.oracle.syntax import to_pgas


@dataclass(frozen=True, slots=True)
class Family:
    """A family and the sizes to measure it at.

    ``growth`` are the sizes of its growth table. ``spin_from`` is where the comparison with SPIN begins to look for the
    first size at which SPIN takes long enough, and ``spin_to`` the last that it tries. ``broken_at`` are the sizes of
    the variants that are not robust.
    """

    name: str
    program: Callable[[int], str]
    growth: tuple[int, ...]
    spin_from: int
    spin_to: int
    broken: Callable[[int], str] | None = None
    broken_at: tuple[int, ...] = ()

    @property
    def idiom(self) -> str:
        """The first line of the family's docstring."""
        return (self.program.__doc__ or "").partition("\n")[0]


def _lines(name: str, nodes: int, declarations: str, *processes: tuple[str, Iterable[str]]) -> str:
    """The text of a program; a process is its header and its commands."""
    blocks = "\n".join(f"{header} {{\n" + "".join(f"  {line}\n" for line in body) + "}" for header, body in processes)
    return f"program {name};\nnodes {nodes};\n{declarations}\n\n{blocks}\n"


# Phases


def halo(nodes: int, wait: bool = True) -> str:
    """Halo exchange, one side, one round: put to the right neighbour, wait, barrier, load.

    The paper's program 1to1 (Figure 1) with the wait that repairs it, on a ring of ranks.
    """
    return _lines(
        "halo" if wait else "halo_no_wait",
        nodes,
        "memory x = 1, y;\nregister r;\nqueue q;",
        (
            "process",
            ["write(x, (me + 1) % nodes, y, q);", *["wait(q);"][: int(wait)], "barrier;", "r <- mem[y];"],
        ),
    )


def two_sided_halo(nodes: int) -> str:
    """Halo exchange, both sides, two rounds: put the border to both neighbours, wait, barrier, update, barrier.

    The core of an iterative stencil: the second barrier keeps the next round's puts away until the ghost cells are
    read.
    """
    return _lines(
        "two_sided_halo",
        nodes,
        "memory u, from_left, from_right;\nregister i, a, b;\nqueue q;",
        (
            "process",
            [
                "mem[u] <- me + 1;",
                "while (i < 2) {",
                "  write(u, (me + 1) % nodes, from_left, q);",
                "  write(u, (me + nodes - 1) % nodes, from_right, q);",
                "  wait(q);",
                "  barrier;",
                "  a <- mem[from_left];",
                "  b <- mem[from_right];",
                "  mem[u] <- a + b;",
                "  barrier;",
                "  i <- i + 1;",
                "}",
            ],
        ),
    )


def all_to_all(nodes: int, wait: bool = True) -> str:
    """Personalised all-to-all: put to every other rank, wait for all, barrier, load every slot.

    The exchange of MPI_Alltoall, shmem_alltoall or gaspi_write in a transpose, with one slot per sender.
    """
    others = [f"(me + {distance}) % nodes" for distance in range(1, nodes)]
    return _lines(
        "all_to_all" if wait else "all_to_all_no_wait",
        nodes,
        f"memory item = 1, slot[{nodes}];\nregister r;\nqueue q unordered;",
        (
            "process",
            [
                *(f"write(item, {other}, slot + me, q);" for other in others),
                *["wait(q);"][: int(wait)],
                "barrier;",
                *(f"r <- mem[slot + {other}];" for other in others),
            ],
        ),
    )


# Flags


def chain(nodes: int, queue: str = "q") -> str:
    """Pipeline of flags: store the data, put data and flag to the right neighbour in one queue; the receiver spins.

    The notified put of GASPI and the put-with-flag of OpenSHMEM, handed on from rank to rank. The last rank sends
    nothing.
    """
    send = [
        "mem[data] <- me + 1;",
        "write(data, me + 1, data, q);",
        "write(one, me + 1, flag, q);",
    ]
    receive = ["while (r == 0) {", "  r <- mem[flag];", "}", "s <- mem[data];"]
    return _lines(
        "chain" if queue == "q" else "chain_unordered",
        nodes,
        f"memory data, flag, one = 1;\nregister r, s;\nqueue {queue};",
        ("process 0", send),
        *[("process", receive + send)][: int(nodes > 2)],
        (f"process {nodes - 1}", receive),
    )


# Locks


def ticket_lock(nodes: int, wait: bool = True) -> str:
    """Ticket lock on rank 0 by blocking fetch-and-adds, around a put to rank 0 and a wait.

    Mellor-Crummey and Scott, Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors, 1991, Section
    2.2, with the counters in remote memory.
    """
    return _lines(
        "ticket_lock" if wait else "ticket_lock_no_wait",
        nodes,
        "memory ticket, turn, last, mine;\nregister t, s;\nqueue q;",
        (
            "process",
            [
                "t <- fetch_add(0, ticket, 1);",
                "look: s <- fetch_add(0, turn, 0);",
                "if (s != t) { goto look; }",
                "write(mine, 0, last, q);",
                *["wait(q);"][: int(wait)],
                "s <- fetch_add(0, turn, 1);",
            ],
        ),
    )


def mcs_lock(nodes: int, wait: bool = True) -> str:
    """MCS queue lock: swap and compare_swap on the tail at rank 0, links put to the neighbour in the queue.

    Mellor-Crummey and Scott 1991, Section 2.4. The critical section is a put to rank 0 and a wait. Ranks are linked by
    their number plus one; 0 is nobody.
    """
    return _lines(
        "mcs_lock" if wait else "mcs_lock_no_wait",
        nodes,
        "memory self, zero, tail, successor, locked, last;\nregister p, n;\nqueue q;",
        (
            "process",
            [
                "mem[self] <- me + 1;",
                "mem[locked] <- 1;",
                "p <- swap(0, tail, me + 1);",
                "if (p != 0) {",
                "  write(self, p - 1, successor, q);",
                "  await(mem[locked] == 0);",
                "}",
                "write(self, 0, last, q);",
                *["wait(q);"][: int(wait)],
                "n <- mem[successor];",
                "if (n == 0) {",
                "  p <- compare_swap(0, tail, me + 1, 0);",
                "  if (p != me + 1) {",
                "    await(mem[successor] != 0);",
                "    n <- mem[successor];",
                "  }",
                "}",
                "if (n != 0) {",
                "  write(zero, n - 1, locked, q);",
                "}",
            ],
        ),
    )


def bakery(nodes: int, wait: bool = True) -> str:
    """Lamport's bakery: every rank has arrays of who chooses and of tickets; each rank puts its entries to all others.

    Lamport, A New Solution of Dijkstra's Concurrent Programming Problem, 1974. One round each; the critical section is
    a put to rank 0.
    """
    distances = range(1, nodes)
    waits = ["wait(q);"][: int(wait)]

    def announce(value: str, array: str) -> list[str]:
        return [*(f"write({value}, (me + {distance}) % nodes, {array} + me, q);" for distance in distances), *waits]

    take = [
        line
        for distance in distances
        for line in (f"n <- mem[number + (me + {distance}) % nodes];", "m <- n > m ? n : m;")
    ]
    await_others = [
        line
        for distance in distances
        for other in [f"(me + {distance}) % nodes"]
        for line in (
            f"choosing_{distance}: n <- mem[choosing + {other}];",
            f"if (n != 0) {{ goto choosing_{distance}; }}",
            f"number_{distance}: n <- mem[number + {other}];",
            f"if (n != 0 && (n < m || n == m && {other} < me)) {{ goto number_{distance}; }}",
        )
    ]
    return _lines(
        "bakery" if wait else "bakery_no_wait",
        nodes,
        f"memory zero, one = 1, mine, last, choosing[{nodes}], number[{nodes}];\nregister n, m;\nqueue q;",
        (
            "process",
            [
                *announce("one", "choosing"),
                *take,
                "m <- m + 1;",
                "mem[mine] <- m;",
                *announce("mine", "number"),
                *announce("zero", "choosing"),
                *await_others,
                "write(mine, 0, last, q);",
                *waits,
                *announce("zero", "number"),
            ],
        ),
    )


# Tasks


def work_stealing(nodes: int, claim_first: bool = False) -> str:
    """Work stealing: a deque of tasks per rank, both ends claim by compare_swap; an idle rank steals from the next.

    After Chase and Lev, Dynamic Circular Work-Stealing Deque, 2005, and Dinan et al., Scalable Work Stealing, 2009. The
    thief gets the task before it claims it, so that the owner finds a slot read when it clears it.
    """
    claim = ["s <- compare_swap((me + 1) % nodes, top, t, t + 1);"]
    get = ["read(landing, (me + 1) % nodes, task + t, q);"]
    steal = [*get, *claim, "wait(q);"] if claim_first else [*get, "wait(q);", *claim]
    return _lines(
        "work_stealing_claim_first" if claim_first else "work_stealing",
        nodes,
        "memory task[3], top, bottom, landing;\nregister t, b, v, s;\nqueue q;",
        (
            "process",
            [
                "mem[task] <- 5;",
                "mem[task + 1] <- 6;",
                "mem[task + 2] <- 7;",
                "mem[bottom] <- 3;",
                "t <- mem[top];",
                "while (t < 3) {",
                "  v <- mem[task + t];",
                "  s <- compare_swap(me, top, t, t + 1);",
                "  t <- mem[top];",
                "}",
                "mem[task] <- 0;",
                "mem[task + 1] <- 0;",
                "mem[task + 2] <- 0;",
                "t <- fetch_add((me + 1) % nodes, top, 0);",
                "b <- fetch_add((me + 1) % nodes, bottom, 0);",
                "if (t < b) {",
                *(f"  {line}" for line in steal),
                "  v <- mem[landing];",
                "}",
            ],
        ),
    )


# One trace: flags, notifications and barriers order everything


def flag_halo(nodes: int) -> str:
    """Halo exchange by flags, both sides, two rounds: border and flag in one FIFO queue, credits by notifications."""
    left, right = "(me + nodes - 1) % nodes", "(me + 1) % nodes"
    return _lines(
        "flag_halo",
        nodes,
        "memory u, one, from_left, from_right, left_flag, right_flag, left_read, right_read;\n"
        "register i, a, b;\nqueue q;",
        (
            "process",
            [
                "mem[u] <- me + 1;",
                "while (i < 2) {",
                "  i <- i + 1;",
                "  mem[one] <- i;",
                f"  write(u, {right}, from_left, q);",
                f"  write(one, {right}, left_flag, q);",
                f"  write(u, {left}, from_right, q);",
                f"  write(one, {left}, right_flag, q);",
                "  await(mem[left_flag] >= i);",
                "  a <- mem[from_left];",
                "  await(mem[right_flag] >= i);",
                "  b <- mem[from_right];",
                "  wait(q);",
                "  mem[u] <- a + b;",
                f"  notify(set, i, {left}, right_read, q);",
                f"  notify(set, i, {right}, left_read, q);",
                "  await(mem[left_read] >= i);",
                "  await(mem[right_read] >= i);",
                "}",
                "wait(q);",
            ],
        ),
    )


def dissemination(nodes: int) -> str:
    """Dissemination barrier behind a put: in round k a flag to the rank 2**k further on.

    Hensgen, Finkel, Manber 1988; Mellor-Crummey and Scott 1991, Section 3.3.
    """
    rounds = (nodes - 1).bit_length()
    return _lines(
        "dissemination",
        nodes,
        f"memory x, y, one, flag[{rounds}];\nregister r, k, d;\nqueue q;",
        (
            "process",
            [
                "mem[one] <- 1;",
                "write(one, (me + 1) % nodes, y, q);",
                "wait(q);",
                "d <- 1;",
                f"while (k < {rounds}) {{",
                "  write(one, (me + d) % nodes, flag + k, q);",
                "  await(mem[flag + k] == 1);",
                "  d <- d * 2;",
                "  k <- k + 1;",
                "}",
                "r <- mem[y];",
                "wait(q);",
            ],
        ),
    )


def tree_broadcast(nodes: int) -> str:
    """Broadcast along a binary tree: data and flag to both children, in one FIFO queue."""
    send = [
        line
        for child in ("2 * me + 1", "2 * me + 2")
        for line in (f"c <- {child};", "if (c < nodes) { write(data, c, data, q); write(one, c, flag, q); }")
    ]
    return _lines(
        "tree_broadcast",
        nodes,
        "memory data, one, flag;\nregister r, c;\nqueue q;",
        (
            "process",
            [
                "mem[one] <- 1;",
                "if (me == 0) { mem[data] <- 7; }",
                "if (me != 0) { await(mem[flag] == 1); }",
                *send,
                "wait(q);",
                "r <- mem[data];",
            ],
        ),
    )


def pipeline(nodes: int) -> str:
    """Pipeline of three items with flow control: slot and flag forward, a credit back."""
    return _lines(
        "pipeline",
        nodes,
        "memory slot, full, one, item, credit;\nregister i, v;\nqueue q;",
        (
            "process",
            [
                "while (i < 3) {",
                "  i <- i + 1;",
                "  if (me == 0) { mem[item] <- i * 10; }",
                "  if (me != 0) {",
                "    await(mem[full] == i);",
                "    v <- mem[slot];",
                "    mem[item] <- v + 1;",
                "    notify(set, i, me - 1, credit, q);",
                "  }",
                "  if (me < nodes - 1) {",
                "    if (i > 1) { await(mem[credit] == i - 1); }",
                "    mem[one] <- i;",
                "    write(item, me + 1, slot, q);",
                "    write(one, me + 1, full, q);",
                "    wait(q);",
                "  }",
                "}",
            ],
        ),
    )


def recursive_doubling(nodes: int) -> str:
    """Allreduce by recursive doubling on a power of two of ranks: in round k with the partner me ^ 2**k."""
    rounds = (nodes - 1).bit_length()
    return _lines(
        "recursive_doubling",
        nodes,
        f"memory sum, arrived[{rounds}], flag[{rounds}], one;\nregister k, d, a, b;\nqueue q;",
        (
            "process",
            [
                "mem[sum] <- me + 1;",
                "mem[one] <- 1;",
                "d <- 1;",
                f"while (k < {rounds}) {{",
                "  write(sum, me ^ d, arrived + k, q);",
                "  write(one, me ^ d, flag + k, q);",
                "  wait(q);",
                "  await(mem[flag + k] == 1);",
                "  a <- mem[arrived + k];",
                "  b <- mem[sum];",
                "  mem[sum] <- a + b;",
                "  d <- d * 2;",
                "  k <- k + 1;",
                "}",
            ],
        ),
    )


def token_ring(nodes: int) -> str:
    """Token once round a ring, and then the end told to all by rank 0."""
    return _lines(
        "token_ring",
        nodes,
        "memory token, one, done;\nregister r, d;\nqueue q;",
        (
            "process",
            [
                "mem[one] <- 1;",
                "if (me != 0) { await(mem[token] == 1); }",
                "write(one, (me + 1) % nodes, token, q);",
                "wait(q);",
                "if (me == 0) {",
                "  await(mem[token] == 1);",
                "  d <- 1;",
                "  while (d < nodes) { write(one, d, done, q); d <- d + 1; }",
                "  wait(q);",
                "}",
                "if (me != 0) { await(mem[done] == 1); r <- mem[token]; }",
            ],
        ),
    )


ONE_TRACE = (flag_halo, dissemination, tree_broadcast, pipeline, recursive_doubling, token_ring, two_sided_halo)


# Anything


SEEDS = {2: 1, 3: 1, 4: 10, 5: 9, 6: 28, 7: 28, 8: 10, 9: 15, 10: 18}
"""For every N the first seed whose program is robust and takes 5**N to 4 * 5**N states without reductions."""


def random_commands(nodes: int) -> str:
    """Random commands of all kinds, a block per rank or one for all; one program for each N.

    From the generator with which the engines are compared (`tests/oracle/strategies.py`), without faults.
    """
    return to_pgas(random_program(SEEDS[nodes], ranks=(nodes, nodes), faults=False))


# Contention: ranks take turns in an order that every run chooses


def cas_counter(nodes: int) -> str:
    """Counter by compare-and-swap, tried again until it succeeds; what it was is a slot, to which a value is put."""
    return _lines(
        "cas_counter",
        nodes,
        f"memory count, mine, slot[{nodes}];\nregister r, s;\nqueue q;",
        (
            "process",
            [
                "mem[mine] <- me + 1;",
                "s <- compare_swap(0, count, 0, 1);",
                "while (s != r) {",
                "  r <- s;",
                "  s <- compare_swap(0, count, r, r + 1);",
                "}",
                "write(mine, 0, slot + r, q);",
                "wait(q);",
            ],
        ),
    )


def work_sharing(nodes: int) -> str:
    """Eight items in an array at rank 0, taken by index with fetch_add, got, worked on, and put back."""
    return _lines(
        "work_sharing",
        nodes,
        "memory next, item[8] = {1, 2, 3, 4, 5, 6, 7, 8}, landing;\nregister i, v;\nqueue q;",
        (
            "process",
            [
                "i <- fetch_add(0, next, 1);",
                "while (i < 8) {",
                "  read(landing, 0, item + i, q);",
                "  wait(q);",
                "  v <- mem[landing];",
                "  mem[landing] <- v + 1;",
                "  write(landing, 0, item + i, q);",
                "  wait(q);",
                "  i <- fetch_add(0, next, 1);",
                "}",
            ],
        ),
    )


def _variant(program: Callable[..., str], **change: object) -> Callable[[int], str]:
    return lambda nodes: program(nodes, **change)


FAMILIES = {
    family.name: family
    for family in (
        Family("halo", halo, (2, 4, 6, 8, 16, 32, 64), 10, 16, _variant(halo, wait=False), (4, 8)),
        Family("two_sided_halo", two_sided_halo, (2, 3, 4, 6, 8, 16, 32), 6, 10),
        Family("all_to_all", all_to_all, (2, 3, 4, 5, 6, 8), 5, 8, _variant(all_to_all, wait=False), (4, 5)),
        Family("chain", chain, (2, 4, 8, 12, 16, 32, 64), 14, 24, _variant(chain, queue="q unordered"), (8, 16)),
        Family("ticket_lock", ticket_lock, (2, 3, 4, 6, 8, 32), 6, 8, _variant(ticket_lock, wait=False), (4, 5)),
        Family("mcs_lock", mcs_lock, (2, 3, 4, 5, 6, 8), 5, 6, _variant(mcs_lock, wait=False), (3, 4)),
        Family("bakery", bakery, (2, 3, 4, 8), 3, 4, _variant(bakery, wait=False), (2, 3)),
        Family("work_stealing", work_stealing, (2, 3, 4, 8), 3, 5, _variant(work_stealing, claim_first=True), (3, 4)),
        Family("random", random_commands, tuple(range(2, 10)), 7, 10),
    )
}


@dataclass(frozen=True, slots=True)
class Scaled:
    """A family that is decided as a whole command does it: at which sizes, and at which ones SPIN is tried."""

    program: Callable[[int], str]
    sizes: tuple[int, ...]
    spin: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return self.program.__name__

    @property
    def idiom(self) -> str:
        """The first line of the family's docstring."""
        return (self.program.__doc__ or "").partition("\n")[0]


_POWERS = tuple(2**k for k in range(2, 11))
SCALED = {
    family.name: family
    for family in (
        *(Scaled(family, _POWERS, tuple(range(4, 65))) for family in ONE_TRACE[:4]),
        Scaled(recursive_doubling, _POWERS, (2, 4, 8)),
        Scaled(token_ring, _POWERS, tuple(range(4, 65))),
        Scaled(two_sided_halo, (64, 128, 256, 512, 1024, 2048, 4096), tuple(range(4, 65))),
        Scaled(mcs_lock, tuple(range(2, 9)), tuple(range(4, 9))),
        Scaled(work_sharing, tuple(range(2, 7)), tuple(range(2, 7))),
        Scaled(cas_counter, (2, 4, 6, 8, 10, 12, 14, 16), tuple(range(4, 17))),
    )
}
"""First those with a single trace, then the barrier halo, then those with many."""
