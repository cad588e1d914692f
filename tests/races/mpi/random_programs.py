"""Random MPI programs of straight-line ranks, as statements of the oracle and written out in C."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.oracle.mpi_model import WINDOW, Program, Statement

LOCAL = ("a", "b")


class Maker:
    """Makes a program phase by phase; every call is allowed where it stands (3.1)."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.ranks = random.choice((2, 2, 2, 3))
        self.program: list[list[Statement]] = [[] for _ in range(self.ranks)]
        self.number = 0

    def make(self) -> Program:
        for _ in range(self.random.choice((1, 1, 2, 2, 3))):
            self.random.choice((self.fences, self.passive, self.passive, self.passive, self.general))()
            if self.random.random() < 0.4:
                self.together("barrier")
            for rank in range(self.ranks):
                self.between(rank)
        return self.program

    def fresh(self) -> int:
        self.number += 1
        return self.number

    def together(self, what: str) -> None:
        number = self.fresh()
        for statements in self.program:
            statements.append(Statement(what, number=number))

    def between(self, rank: int) -> None:
        """Some local accesses, and now and then a win_sync."""
        for _ in range(self.random.choice((0, 0, 1))):
            what = self.random.choice(("load", "store", "load", "win_sync"))
            cell = "" if what == "win_sync" else self.random.choice((*WINDOW, *LOCAL))
            self.program[rank].append(Statement(what, cell=cell))

    def operation(self, target: int) -> Statement:
        random = self.random
        what, cell = random.choice(("put", "put", "get", "get", "acc", "gacc", "cas")), random.choice(WINDOW)
        buffer = random.choice(LOCAL) if random.random() < 0.9 else random.choice(WINDOW)
        if what in ("put", "get"):
            return Statement(what, target, cell, buffer)
        result = random.choice([each for each in LOCAL if each != buffer])
        if what == "acc":
            return Statement(what, target, cell, buffer, op=random.choice(("sum", "replace")))
        if what == "gacc":
            return Statement(what, target, cell, buffer, result, random.choice(("sum", "no_op", "replace")))
        return Statement(what, target, cell, buffer, result)

    def some(self, rank: int, targets: list[int], most: int, requests: bool = False) -> None:
        for _ in range(self.random.randrange(most + 1)):
            operation = self.operation(self.random.choice(targets))
            if requests and operation.what in ("put", "get") and self.random.random() < 0.2:
                operation = replace(operation, number=self.fresh())
            self.program[rank].append(operation)
            self.between(rank)
            if operation.number:
                self.program[rank].append(Statement("request", operation.target, number=operation.number))

    def fences(self) -> None:
        self.together("fence")
        for rank in range(self.ranks):
            self.between(rank)
            self.some(rank, [*range(self.ranks)], 1)
        if self.random.random() < 0.2:
            self.together("barrier")
        self.together("fence")

    def passive(self) -> None:
        starts = [len(statements) for statements in self.program]
        for rank in range(self.ranks):
            self.locked(rank)
        if self.random.random() < 0.6:
            sender, receiver = self.random.sample(range(self.ranks), 2)
            number = self.fresh()
            for rank, what, other in ((sender, "send", receiver), (receiver, "recv", sender)):
                # Most often behind what the sender does, and before what the receiver does.
                end = len(self.program[rank])
                usual = end if what == "send" else starts[rank]
                at = usual if self.random.random() < 0.6 else self.random.randint(starts[rank], end)
                self.program[rank].insert(at, Statement(what, other, number=number))
                if self.random.random() < 0.4:
                    self.program[rank].insert(at + (what == "recv"), Statement("win_sync"))

    def locked(self, rank: int) -> None:
        random, own = self.random, self.program[rank]
        if random.random() < 0.3:
            if random.random() < 0.3:
                own.append(Statement("poll", cell=random.choice(WINDOW)))
            self.between(rank)
            return
        targets = [*range(self.ranks)]
        every = random.random() < 0.5
        if every:
            own.append(Statement("lock_all"))
        else:
            targets = [random.choice((*targets, rank))]
            own.append(Statement("lock", targets[0], op=random.choice(("exclusive", "exclusive", "shared"))))
        self.between(rank)
        for _ in range(random.choice((1, 1, 2))):
            self.some(rank, targets, 1, requests=True)
            target = random.choice(targets)
            if random.random() < 0.15:
                own += [Statement("flush", target), Statement("ragpoll", target, random.choice(WINDOW))]
            elif random.random() < 0.6:
                what = random.choice(("flush", "flush", "flush_all", "flush_local", "flush_local_all"))
                own.append(Statement(what, -1 if what.endswith("all") else target))
            self.between(rank)
        own.append(Statement("unlock_all") if every else Statement("unlock", targets[0]))

    def general(self) -> None:
        random, number = self.random, self.fresh()
        origin = random.randrange(self.ranks)
        others = [rank for rank in range(self.ranks) if rank != origin]
        targets = tuple(random.sample(others, random.randint(1, len(others))))
        for rank in targets:
            self.program[rank].append(Statement("post", group=(origin,), number=number))
        self.program[origin].append(Statement("start", group=targets, number=number))
        self.some(origin, list(targets), 2)
        self.program[origin].append(Statement("complete", group=targets, number=number))
        self.between(origin)
        for rank in targets:
            self.between(rank)
            self.program[rank].append(Statement("wait", group=(origin,), number=number))


def random_program(seed: int) -> Program:
    return Maker(Random(seed)).make()


# C

SET_UP = """#include <mpi.h>
#include <stdio.h>

static int mem[2], a = 1, b = 1, expected;

int main(int argc, char **argv)
{
    int rank;
    MPI_Win win;
    MPI_Group world, group;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Win_create(mem, sizeof mem, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
"""

OPERATIONS = {"sum": "MPI_SUM", "replace": "MPI_REPLACE", "no_op": "MPI_NO_OP"}


def in_c(program: Program) -> str:
    lines = [f"// nodes: {len(program)}", *SET_UP.splitlines()]
    for rank, statements in enumerate(program):
        lines.append(f"    {'' if rank == 0 else '} else '}if (rank == {rank}) {{")
        lines += (f"        {line}" for place, do in enumerate(statements) for line in _in_c(do, place))
    return "\n".join([*lines, "    }", "    MPI_Finalize();", "    return 0;", "}", ""])


def _variable(cell: str) -> str:
    return f"mem[{WINDOW.index(cell)}]" if cell in WINDOW else cell


def _in_c(do: Statement, place: int) -> list[str]:
    cell, buffer, result = _variable(do.cell), _variable(do.buffer), _variable(do.result)
    at = f"{do.target}, {WINDOW.index(do.cell) if do.cell in WINDOW else 0}"
    one = "1, MPI_INT"
    match do.what:
        case "load":
            return [f'printf("%d\\n", {cell});']
        case "store":
            return [f"{cell} = 1;"]
        case "poll":
            return [f"while ({cell} == 0)", "    ;"]
        case "put" | "get" if do.number:
            call = f"MPI_R{do.what}(&{buffer}, {one}, {at}, {one}, win, &request{do.number});"
            return [f"MPI_Request request{do.number};", call]
        case "put" | "get":
            return [f"MPI_{do.what.title()}(&{buffer}, {one}, {at}, {one}, win);"]
        case "acc":
            return [f"MPI_Accumulate(&{buffer}, {one}, {at}, {one}, {OPERATIONS[do.op]}, win);"]
        case "gacc" if place % 2:
            return [f"MPI_Fetch_and_op(&{buffer}, &{result}, MPI_INT, {at}, {OPERATIONS[do.op]}, win);"]
        case "gacc":
            operation = OPERATIONS[do.op]
            return [f"MPI_Get_accumulate(&{buffer}, {one}, &{result}, {one}, {at}, {one}, {operation}, win);"]
        case "cas":
            return [f"MPI_Compare_and_swap(&{buffer}, &expected, &{result}, MPI_INT, {at}, win);"]
        case "ragpoll":
            return [
                f"static int seen{place};",
                f"do {{ MPI_Fetch_and_op(&expected, &seen{place}, MPI_INT, {at}, MPI_NO_OP, win);",
                f"    MPI_Win_flush({do.target}, win); }} while (seen{place} == 0);",
            ]
        case "request":
            return [f"MPI_Wait(&request{do.number}, MPI_STATUS_IGNORE);"]
        case "lock":
            kind = "MPI_LOCK_EXCLUSIVE" if do.op == "exclusive" else "MPI_LOCK_SHARED"
            return [f"MPI_Win_lock({kind}, {do.target}, 0, win);"]
        case "fence" | "lock_all":
            return [f"MPI_Win_{do.what}(0, win);"]
        case "unlock" | "flush" | "flush_local":
            return [f"MPI_Win_{do.what}({do.target}, win);"]
        case "unlock_all" | "flush_all" | "flush_local_all":
            return [f"MPI_Win_{do.what}(win);"]
        case "win_sync":
            return ["MPI_Win_sync(win);"]
        case "post" | "start":
            ranks = ", ".join(map(str, do.group))
            return [
                f"{{ int ranks[] = {{{ranks}}}; MPI_Group_incl(world, {len(do.group)}, ranks, &group); }}",
                f"MPI_Win_{do.what}(group, 0, win);",
            ]
        case "complete" | "wait":
            return [f"MPI_Win_{do.what}(win);"]
        case "barrier":
            return ["MPI_Barrier(MPI_COMM_WORLD);"]
        case "send":
            return [f"MPI_Send(NULL, 0, MPI_BYTE, {do.target}, {do.number}, MPI_COMM_WORLD);"]
        case "recv":
            return [f"MPI_Recv(NULL, 0, MPI_BYTE, {do.target}, {do.number}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"]
    raise AssertionError(do.what)
