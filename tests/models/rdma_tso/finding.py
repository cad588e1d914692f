"""Finds a litmus program that notices a change of the model, and makes it small.

Random programs that have the events that the change is about, with threads that look on. The tests in `directed.txt`
were found so, ten of them by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from random import Random

from pgasrob.models.litmus.instructions import (
    Cell,
    CompareAndSet,
    Get,
    Instruction,
    Load,
    MemoryFence,
    NicCompareAndSet,
    NicFetchAdd,
    Poll,
    Put,
    RemoteFence,
    Store,
)
from pgasrob.models.litmus.litmus_printer import in_one_line
from pgasrob.models.litmus.litmus_program import Location, Outcome, Program, Thread, straight
from pgasrob.models.rdma_tso.execution_search import Search, Solution
from pgasrob.models.rdma_tso.expansion import kinds_in_order
from pgasrob.models.rdma_tso.orders import Rules, kinds_of
from pgasrob.program.expressions import Const
from tests.models.rdma_tso.mutants import OPERATIONS, flipped, flips, implied

Texts = tuple[tuple[int, tuple[Instruction, ...]], ...]
"""The node and the instructions of each thread. Loads are into registers that :func:`program_of` numbers."""

SHARED = {1: "xw", 2: "yv", 3: "zu"}


def program_of(threads: Texts) -> Program:
    """The program of these threads, with a register for each load and the locations that are mentioned."""
    found, count, mentioned = [], 0, dict[str, int]()
    for node, instructions in threads:
        names: list[str] = []
        body: list[Instruction] = []
        for each in instructions:
            if isinstance(each, Load) or (isinstance(each, CompareAndSet) and each.register is not None):
                each = replace(each, register=len(names))
                names.append("abcdefghijklm"[count])
                count += 1
            body.append(each)
            for attribute in ("cell", "local", "remote"):
                cell = getattr(each, attribute, None)
                if cell is not None:
                    mentioned[cell.name] = NODE[cell.name]
        found.append(Thread(node, tuple(names), straight(tuple(body))))
    locations = []
    for name in sorted(mentioned):
        constant = name.startswith("$")
        locations.append(Location(name, mentioned[name], int(name[1]) if constant else 0, not constant))
    return Program(tuple(locations), tuple(found))


NODE = {name: node for node, names in SHARED.items() for name in names}
NODE |= {f"${value}{node}": node for node in SHARED for value in range(1, 10)}
NODE |= {f"{letter}{node}": node for node in SHARED for letter in "pq"}


class Writer:
    """Writes threads at random."""

    def __init__(self, random: Random, nodes: int) -> None:
        self.random, self.nodes, self.value, self.atomics = random, nodes, 0, 0

    def fresh(self) -> int:
        self.value = self.value % 9 + 1
        return self.value

    def local(self, node: int) -> Cell:
        return Cell(self.random.choice(SHARED[node]) if self.random.random() < 0.3 else SHARED[node][0])

    def towards(self, node: int) -> int:
        return self.random.choice([other for other in range(1, self.nodes + 1) if other != node])

    def instruction(self, node: int, kind: str, towards: int | None = None) -> Instruction:
        other = towards or self.towards(node)
        match kind:
            case "lR":
                return Load(0, self.local(node))
            case "lW":
                return Store(self.local(node), Const(self.fresh()))
            case "CAS":
                return CompareAndSet(
                    None if self.random.random() < 0.5 else 0, self.local(node), Const(0), Const(self.fresh())
                )
            case "F":
                return MemoryFence()
            case "P":
                return Poll(other)
            case "nlR" | "nrW":
                source = Cell(f"${self.fresh()}{node}") if self.random.random() < 0.4 else self.local(node)
                return Put(self.local(other), source)
            case "nrR" | "nlW":
                into = Cell(f"p{node}") if self.random.random() < 0.3 else self.local(node)
                return Get(into, self.local(other))
            case "naR" | "naW":
                into, fresh = Cell(f"p{node}") if self.random.random() < 0.5 else self.local(node), Const(self.fresh())
                if self.random.random() < 0.4:
                    return NicFetchAdd(into, self.local(other), fresh)
                return NicCompareAndSet(into, self.local(other), Const(self.random.choice((0, 0, 9))), fresh)
        return RemoteFence(other)

    def block(self, node: int, most: int) -> list[Instruction]:
        weights = {"lR": 5, "lW": 5, "CAS": 1, "F": 1, "P": 4, "nlR": 3, "nrR": 3, "nF": 1, "naR": self.atomics}
        kinds = self.random.choices(list(weights), list(weights.values()), k=self.random.randint(0, most))
        return [self.instruction(node, kind) for kind in kinds]

    def program(self, kinds: tuple[str, str] | None) -> Texts:
        random = self.random
        self.atomics = 2 * (kinds is not None and not {"naR", "naW"}.isdisjoint(kinds))
        first: list[Instruction] = []
        if kinds is not None:
            pair = [self.instruction(1, kinds[0])]
            if kinds not in OPERATIONS or random.random() < 0.5:
                pair += [*self.block(1, 1), self.instruction(1, kinds[1])]
            first = self.block(1, 2) + pair + self.block(1, 2)
        else:
            first = self.block(1, 4) or [self.instruction(1, "nlR")]
        threads = [(1, tuple(first))]
        for _ in range(random.choice((0, 1, 1, 1, 1, 2))):
            node = random.randint(1, self.nodes)
            threads.append((node, tuple(self.block(node, 4))))
        return tuple(threads)


def fair(threads: Texts) -> bool:
    """Whether every poll has an operation to wait for."""
    for _, instructions in threads:
        pending: dict[int, int] = {}
        for each in instructions:
            match each:
                case Get(_, remote) | Put(remote, _) | NicCompareAndSet(_, remote) | NicFetchAdd(_, remote):
                    node = NODE[remote.name]
                    pending[node] = pending.get(node, 0) + 1
                case Poll(node):
                    pending[node] = pending.get(node, 0) - 1
                    if pending[node] < 0:
                        return False
    return True


def outcomes(program: Program, rules: Rules) -> frozenset[Outcome]:
    found: dict[Outcome, Solution] = {}
    for _ in Search(program, rules).each_new(found):
        pass
    return frozenset(found)


def differs(program: Program, one: Rules, other: Rules) -> bool:
    return outcomes(program, one) != outcomes(program, other)


def size(threads: Texts) -> tuple[int, int]:
    return sum(len(body) for _, body in threads), len(threads)


def smaller(threads: Texts) -> Iterator[Texts]:
    """The same without a statement, without an empty thread, or with a plainer statement."""
    for number, (node, body) in enumerate(threads):
        before, after = threads[:number], threads[number + 1 :]
        if not body and len(threads) > 1:
            yield before + after
        for place, each in enumerate(body):
            yield (*before, (node, body[:place] + body[place + 1 :]), *after)
            if isinstance(each, CompareAndSet) and each.register is not None:
                yield (*before, (node, (*body[:place], replace(each, register=None), *body[place + 1 :])), *after)


def shrunk(threads: Texts, one: Rules, other: Rules) -> Texts:
    """As few statements as can be had by leaving out one after the other."""
    while True:
        for fewer in smaller(threads):
            if fair(fewer) and differs(program_of(fewer), one, other):
                threads = fewer
                break
        else:
            return threads


def noticed_by(
    random: Random, rules: Rules, changes: dict[str, tuple[Rules, tuple[str, str] | None]], tries: int
) -> Iterator[tuple[str, Texts]]:
    """Programs that notice the ``changes``, by name: the changed rules, and the types of events they are about."""
    left = dict(changes)
    for _ in range(tries):
        if not left:
            return
        name = random.choice(list(left))
        threads = Writer(random, random.choice((2, 2, 3))).program(left[name][1])
        if not fair(threads) or size(threads)[0] > 9:
            continue
        program = program_of(threads)
        pairs = kinds_in_order(program)
        stock = outcomes(program, rules)
        if len(stock) > 60:
            continue
        for other, (changed, kinds) in list(left.items()):
            if (kinds is None or kinds in pairs) and outcomes(program, changed) != stock:
                del left[other]
                yield other, shrunk(threads, rules, changed)


def main() -> None:
    """Print a program for each flip of a cell that no argument implies: ``finding.py SEED TRIES [no-pcie]``."""
    rules = Rules.of(pcie="no-pcie" not in sys.argv)
    changes: dict[str, tuple[Rules, tuple[str, str] | None]] = {
        str(flip): (flipped(rules, flip), kinds_of(flip.cell)) for flip in flips(rules) if not implied(flip, rules)
    }
    for name, threads in noticed_by(Random(int(sys.argv[1])), rules, changes, int(sys.argv[2])):
        print(f"{name}: {in_one_line(program_of(threads))}", flush=True)


if __name__ == "__main__":
    main()
