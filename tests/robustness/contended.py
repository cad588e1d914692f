"""Random programs for the exploration: updates of a cell by several ranks, with all kinds of waiting for its value."""

from __future__ import annotations

from random import Random

from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse


def contended(seed: int) -> Instance:
    """The program of ``seed``, always the same one; two to four ranks with up to three commands each."""
    random = Random(seed)
    nodes = random.choice((2, 3, 3, 4))
    cells = random.choice((("y",), ("y", "z")))

    def command(nested: bool = False) -> str:
        cell, value, wanted = random.choice(cells), random.choice((1, 1, 2, 4, -1, -2)), random.choice((1, 1, 2, 3, 4))
        relation = random.choice(("==", "==", ">=", "!="))
        match random.randrange(10 if nested else 13):
            case 0 | 1 | 2 | 3:
                update = random.choice(("add", "add", "add", "or", "max"))
                return f"update({update}, {value}, {random.choice((0, 0, 'me'))}, {cell}, {random.choice('qu')});"
            case 4 | 5:
                return f"await(mem[{cell}] {relation} {wanted});"
            case 6:
                return f"while (!(r {relation} {wanted})) {{ r <- fetch(0, {cell}); }}"
            case 7:
                return f"await_add(0, mem[{cell}] {relation} {wanted}, {value});"
            case 8:
                return random.choice(
                    (
                        f"r <- fetch(0, {cell});",
                        f"s <- swap(0, {cell}, {wanted});",
                        f"s <- fetch(0, {cell}); assert(s < 1);",
                    )
                )
            case 9:
                return random.choice(
                    (f"write(x, 0, {cell}, q);", f"mem[{cell}] <- {wanted};", "assert(r == 0);", "assert(s < 2);")
                )
            case 10:
                return "barrier;"
            case 11:
                return f"choose {{ barrier; }} or {{ {command(True)} {command(True)} }}"
            case _:
                return f"choose {{ {command(True)} }} or {{ {random.choice((command(True), ''))} }}"

    blocks = (" ".join(command() for _ in range(random.randrange(1, 4 if nodes < 4 else 3))) for _ in range(nodes))
    processes = " ".join(f"process {rank} {{ {block} }}" for rank, block in enumerate(blocks))
    declarations = "memory x = 1, y, z; register r, s; queue q, u unordered;"
    return parse(f"{declarations} nodes {nodes}; {processes}").instantiate(nodes)
