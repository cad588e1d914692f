"""Random small programs whose ranks have two or three threads: what shares a memory is often not ordered otherwise.

Some are rings: process i accesses cell i and then cell i + 1, and the cells lie on few ranks, so that one reordering
makes a cycle, and taking program order of the whole rank, or a thread for a rank, changes the verdict. In others what
comes after one access is passed on by flags and barriers, from thread to thread, until another access conflicts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from hypothesis import strategies as st

from .expressions import Name
from .polls_and_updates import Generator
from .strategies import COMMANDS, EXTENSIONS, _Generator
from .syntax import Await, Barrier, Block, Cell, Load, Process, Program, Put, Statement, Store

MOST_PROCESSES = 4
CHOICES: tuple[tuple[str, ...], ...] = (
    ("load", "store", "write", "read", "wait", "wait_local", "barrier"),
    ("load", "store", "write", "put", "fence", "wait", "fetch_add", "await"),
    ("load", "store", "write", "await", "fetch_add", "swap", "compare_swap", "wait", "choose", "assert"),
    ("load", "store", "write", "read", "barrier", "named", "wait", "await"),
    ("load", "store", "put", "update", "notify", "bundle", "signal", "wait", "fetch", "barrier"),
    COMMANDS,
    (*COMMANDS, *EXTENSIONS),
)


def random_threads(seed: int, commands: Collection[str] = (), loops: bool = False) -> Program:
    """The program of `seed`, with some of the `commands`; by default those of one of CHOICES, by the seed."""
    source = random.Random(seed)
    return ThreadsGenerator(source.randrange, commands or CHOICES[seed % len(CHOICES)], loops).program()


@st.composite
def threaded_programs(draw: st.DrawFn, commands: Collection[str], loops: bool = False) -> Program:
    """As `random_threads`, drawn."""
    return ThreadsGenerator(lambda limit: draw(st.integers(0, limit - 1)), commands, loops).program()


class ThreadsGenerator(_Generator):
    def __init__(self, below: Callable[[int], int], commands: Collection[str], loops: bool) -> None:
        super().__init__(below, (1, 2), commands, loops, faults=False)
        # The threads of each rank; the first one has two, mostly.
        first = self.pick((2, 3, 1), (6, 2, 1))
        more = MOST_PROCESSES - first
        self.threads = [first] if self.nodes == 1 else [first, 1 + self.below(more if first > 1 else 2)]
        if sum(self.threads) == self.nodes:
            self.threads[-1] += 1
        self.homes = [(rank, thread) for rank, count in enumerate(self.threads) for thread in range(count)]
        self.ring, self.relay = self.chance(1, 3), self.chance(1, 3)
        if self.ring or self.relay:
            self.cells = ("x", "y", "z", "w", "f", "g", "h")[: 7 if self.relay else 4]

    def program(self) -> Program:
        memory = tuple(self.cell(name) for name in self.cells)
        bodies = self.relay_bodies() if self.relay else self.ring_bodies() if self.ring else self.free_bodies()
        processes = [Process(body, (rank,), thread) for (rank, thread), body in zip(self.homes, bodies, strict=True)]
        if self.chance(1, 3):
            processes.sort(key=lambda each: each.thread)
        return Program(tuple(processes), self.nodes, memory, self.registers, self.queues)

    def cell(self, name: str) -> Cell:
        return Cell(name, None, (1,) if name == "z" else ()) if self.relay else super().cell(name)

    def free_bodies(self) -> list[Block]:
        small = len(self.homes) > 3
        bodies = []
        for _ in self.homes:
            self.remote = 1 if small else 2
            bodies.append(self.block(1 + self.below(2 if small else 3), nested=small))
        return self.with_barriers(bodies)

    def with_barriers(self, bodies: Sequence[Block]) -> list[Block]:
        """`bodies` with as many barriers on each rank, mostly, each in some thread of it."""
        found = [list(body) for body in bodies]
        count = self.pick((0, 1, 2), (3, 4, 1)) if "barrier" in self.commands else 0
        for rank in range(self.nodes):
            own = [place for place, (home, _) in enumerate(self.homes) if home == rank]
            for _ in range(count + self.chance(1, 6)):
                body = found[self.pick(own)]
                body.insert(self.below(len(body) + 1), self._named() if "named" in self.commands else Barrier())
        return [tuple(body) for body in found]

    def ring_bodies(self) -> list[Block]:
        """By process the access to cell i, something between, and the access to cell i + 1."""
        count = len(self.homes)
        places = [(self.below(self.nodes), "xy"[index % 2]) for index in range(count)]
        bodies = []
        for process, (rank, _) in enumerate(self.homes):
            self.remote = 1
            queue = Name(self.pick(self.queues).name)
            first, second = places[process], places[(process + 1) % count]
            body = self.near_or_far(rank, first, queue) + self.between(queue, first[0])
            bodies.append(tuple(body + self.near_or_far(rank, second, queue)))
        return self.with_barriers(bodies) if self.chance(1, 3) else bodies

    # Relays: one process accesses x, by a transfer mostly, and what comes after that is passed on by flags and barriers
    # until another one accesses x, too

    def relay_bodies(self) -> list[Block]:
        bodies: list[list[Statement]] = [[] for _ in self.homes]
        at, place = self.below(len(self.homes)), (self.below(self.nodes), "x")
        queue, self.remote = Name(self.pick(self.queues).name), 1
        bodies[at] += self.near_or_far(self.homes[at][0], place, queue)
        if self.chance(1, 3):
            bodies[at] += self.between(queue, place[0])
        for flag in ("f", "g", "h")[: 1 + self.below(3)]:
            at = self.passed_on(bodies, at, flag, queue)
        bodies[at] += self.near_or_far(self.homes[at][0], place, queue)
        if self.chance(1, 3):
            other = self.below(len(self.homes))
            bodies[other].insert(self.below(len(bodies[other]) + 1), self.statement(nested=True)[0])
        return [tuple(body) for body in bodies]

    def passed_on(self, bodies: list[list[Statement]], at: int, flag: str, queue: Name) -> int:
        """Lets what comes after the process `at` go on with another one: which one."""
        home = self.homes[at][0]
        to = self.pick([process for process in range(len(self.homes)) if process != at])
        if self.homes[to][0] == home:
            bodies[at].append(Store(flag, 1))
            bodies[to].append(Await(flag, "!=", 0) if self.chance(7, 8) else Load(self.register(), flag))
        elif self.chance(1, 2):
            bodies[at].append(Barrier())
            bodies[to].append(Barrier())
        else:
            bodies[at].append(
                Store(flag, 1, self.homes[to][0]) if self.chance(1, 2) else Put("z", self.homes[to][0], flag, queue)
            )
            bodies[to].append(Await(flag, "!=", 0))
        return to

    def near_or_far(self, rank: int, place: tuple[int, str], queue: Name) -> list[Statement]:
        """An access, of the rank's own memory by plain commands, more often than not."""
        target, cell = place
        if target == rank and self.chance(2, 3):
            register = self.register()
            ways: list[Statement] = [Load(register, cell), Store(cell, 1)]
            return [self.pick([*ways, Await(cell, "!=", 0)] if "await" in self.commands else ways)]
        return self.access(rank, place, queue)


class PollsOfThreads(Generator):
    """Polls and updates that commute, by threads."""

    def program(self) -> Program:
        self.nodes = self.pick((1, 2), (1, 1))
        counts = [2 if self.nodes == 2 or self.chance(3, 4) else 3, 1 + self.chance(1, 4)][: self.nodes]
        homes = [(rank, thread) for rank, count in enumerate(counts) for thread in range(count)]
        memory = (Cell("x"), Cell("y"), Cell("z", None, (1,)), Cell("w"))
        processes = tuple(Process(self.body(rank), (rank,), thread) for rank, thread in homes)
        return Program(processes, self.nodes, memory, ("r", "s"), self.queues)

    def body(self, rank: int | None) -> Block:
        self.rank, self.left = rank, 2
        body: list[Statement] = []
        for _ in range(1 + self.below(2)):
            body += self.piece()
        return tuple(body)


def polling_threads(seed: int, hard: bool = False) -> Program:
    """The program of `seed` in which threads poll and update; `hard` as in `polls_and_updates.random_program`."""
    return PollsOfThreads(random.Random(seed).randrange, None, hard).program()


def as_ranks(program: Program) -> Program:
    """The same with every thread a rank of its own: not what the program says, but close to it."""
    running = program.running(program.nodes)
    blocks = tuple(Process(body, (process,)) for process, (_, body) in enumerate(running))
    return replace(program, processes=blocks, nodes=len(running))
