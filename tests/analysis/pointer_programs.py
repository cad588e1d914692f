"""Random programs whose cells hold ranks, addresses, and numbers that stand for nobody."""

from __future__ import annotations

import random

CELLS = ("x", "y", "z")
VALUES = ("-1", "0", "1", "me", "me + 1", "r", "s", "r + 1", "s - 1", "r % 2", "9", "9 + r", "nodes - r")
RANKS = ("0", "1", "me", "(me + 1) % nodes", "r", "s", "r - 1")
ADDRESSES = (*CELLS * 4, "x + r", "x + s", "y + r % 2", "a + r")
CONDITIONS = ("r != -1", "r == -1", "r != 9", "r == me", "s != -1", "r != s", "r >= 0", "r > 0 && r < 3", "s", "!r")
RELATIONS = ("!= -1", "== 0", "!= 0", "!= 9", ">= 0", "== me", "!= r", "< 3", "== s + 1")


def pointer_program(seed: int, loops: bool = True) -> str:
    """The program of ``seed``; a few statements for each of two or three ranks, or one block for all."""
    chance = random.Random(seed)

    def pick(items: tuple[str, ...]) -> str:
        return chance.choice(items)

    def operation(queue: str) -> str:
        there = f"{pick(RANKS)}, {pick(ADDRESSES)}, {queue}"
        result = f", {pick(CELLS)}" if chance.random() < 0.6 else ""
        return chance.choice(
            (
                f"write({pick(ADDRESSES)}, {there});",
                f"put({pick(ADDRESSES)}, {there});",
                f"read({pick(CELLS)}, {there});",
                f"update(set, {pick(VALUES)}, {there}{result});",
                f"update(add, {pick(VALUES)}, {there}{result});",
                f"update(compare_swap, {pick(VALUES)}, {pick(VALUES)}, {there}{result});",
                f"update_from(set, {pick(CELLS)}, {there}{result});",
                f"update_from(compare_swap, {pick(CELLS)}, {pick(CELLS)}, {there}{result});",
                f"update_from(fetch, {there}, {pick(CELLS)});",
                f"notify(set, {pick(VALUES)}, {there});",
            )
        )

    def careful(queue: str) -> str:
        return operation(queue) + chance.choice(("", "", f" wait({queue});", f" wait_local({queue});"))

    def simple() -> str:
        register, rank, value = pick(("r", "r", "s")), pick(RANKS), pick(VALUES)
        kinds = (
            lambda: f"{register} <- mem[{pick(ADDRESSES)}];",
            lambda: f"mem[{pick(ADDRESSES)}] <- {value};",
            lambda: f"{register} <- {value};",
            lambda: f"{register} <- swap({rank}, {pick(ADDRESSES)}, {value});",
            lambda: f"{register} <- compare_swap({rank}, {pick(ADDRESSES)}, {value}, {pick(VALUES)});",
            lambda: f"{register} <- fetch_add({rank}, {pick(CELLS)}, {pick(('1', '-1', 'me', 'r'))});",
            lambda: f"{register} <- fetch({rank}, {pick(ADDRESSES)});",
            lambda: f"{register} <- fetch_update({pick(('min', 'max', 'or'))}, {rank}, {pick(CELLS)}, {value});",
            lambda: f"await(mem[{pick(CELLS)}] {pick(RELATIONS)});",
            lambda: f"await_add({rank}, mem[{pick(CELLS)}] {pick(RELATIONS)}, {value});",
            lambda: f"assume({pick(CONDITIONS)});",
            lambda: careful(pick(("q", "u"))),
            lambda: careful(pick(("q", "u"))),
            lambda: f"wait({pick(('q', 'u'))});",
            lambda: "barrier;",
        )
        return chance.choice(kinds)()

    def statement() -> str:
        kind = chance.random()
        if kind < 0.15:
            return f"if ({pick(CONDITIONS)}) {{ {simple()} {simple()} }}"
        if kind < 0.2:
            return f"if ({pick(CONDITIONS)}) {{ {simple()} }} else {{ {simple()} }}"
        if kind < 0.28 and loops:
            again = chance.choice((f"r <- mem[{pick(CELLS)}];", f"r <- fetch({pick(RANKS)}, {pick(CELLS)});", simple()))
            return f"while ({pick(CONDITIONS)}) {{ {again} }}"
        return simple()

    def block() -> str:
        parts = [" ".join(statement() for _ in range(chance.randint(1, 4))) for _ in range(barriers + 1)]
        return " barrier; ".join(parts)

    barriers = chance.choice((0, 0, 1, 2))
    nodes = chance.choice((2, 2, 3))
    names = ("process",) if chance.random() < 0.5 else tuple(f"process {rank}" for rank in range(nodes))
    initial = ", ".join(f"{cell} = {pick(('-1', '0', '1', '9', '2'))}" for cell in CELLS)
    blocks = " ".join(f"{name} {{ {block()} }}" for name in names)
    return f"nodes {nodes}; memory {initial}, a[2]; register r, s; queue q, u unordered; {blocks}"
