"""Random programs in which ranks line up, each behind the one whose number it takes from a cell, as in an MCS lock."""

from __future__ import annotations

from random import Random

HEADER = """program drawn;
memory tail = {empty}, next = {empty}, locked{waits}, x, y, zero, one = 1, mine{mine};
register p, n, r, i;
queue q, u;
process {{
"""


def drawn_queues(seed: int) -> str:
    """The program of ``seed``: mostly a lock, with something that is a little different."""
    random = Random(seed)

    def pick(usual: str, *others: str, chance: float = 0.12) -> str:
        return random.choice(others) if others and random.random() < chance else usual

    more = random.choice((0, 0, 1))
    me = f"me + {more}" if more else "me"
    empty = "0" if more else "-1"
    to, back = (f"p - {more}", f"n - {more}") if more else ("p", "n")
    waits = random.choice(("", " = 1", " = 1"))
    begin = [
        pick(f"mem[mine] <- {me};", "mem[mine] <- 2;", f"mem[mine] <- {me}; mem[mine @ (me + 1) % nodes] <- 1;"),
        pick("mem[locked] <- 1;", "") if not waits else pick("", "mem[locked] <- 1;", chance=0.4),
        pick("", f"mem[next] <- {empty};", "mem[next @ 0] <- 1;", "r <- fetch(0, tail);"),
    ]
    random.shuffle(begin)
    value = pick(me, "1", "(me + 1) % nodes", f"r + {more}")
    told = pick(
        f"write(mine, {to}, next, q);", f"put(mine, {to}, next, q);", f"update(set, {me}, {to}, next, q);",
        f"update(set, {me}, {pick(to, '(p + 1) % nodes', '0', f'{to} > 0 ? {to} - 1 : 0')}, next, q);",
        f"write(mine, {to}, next, q); wait(q);", f"mem[next @ {to}] <- {me};", f"write(one, {to}, next, q);",
        f"update(set, {pick(me, '1', 'r')}, {to}, next, q);",
        chance=0.75,
    )  # fmt: skip
    wait = pick("await(mem[locked] == 0);", "await(mem[locked] <= 1);", "")
    data = pick("write(one, 0, x, q); wait(q);", "write(one, 0, x, q);", "read(y, 0, x, q); wait(q);", "", chance=0.5)
    wake = pick(
        f"write(zero, {back}, locked, q);", f"write(zero, {back}, locked, u);", f"mem[locked @ {back}] <- 0;",
        "write(zero, 0, locked, q);", f"write(zero, {back}, locked, q); wait(q);", f"write(zero, {back}, mine, q);",
        chance=0.4,
    )  # fmt: skip
    left = pick(f"compare_swap(0, tail, {me}, {empty})", f"swap(0, tail, {empty})", f"compare_swap(0, tail, 1, {me})")
    read = pick("n <- mem[next];", f"n <- mem[next]; n <- n + 0 * {random.randint(1, 2)};", "n <- swap(me, next, 1);")
    lines = [
        *begin,
        f"p <- {pick('swap', 'swap', chance=0)}(0, tail, {value});",
        pick("", f"p <- swap(0, tail, {me});", "p <- mem[mine];", chance=0.06),
        f"if (p != {empty}) {{ {told} {wait} }}",
        data,
        f"n <- {left};",
        f"if (n != {me}) {{ await(mem[next] != {empty}); {read} {wake} }}",
    ]
    body = " ".join(each for each in lines if each)
    if random.random() < 0.15:
        body = f"i <- 0; while (i < 2) {{ {body} i <- i + 1; }}"
    return f"{HEADER.format(empty=empty, waits=waits, mine=random.choice(('', '', ' = 1')))}{body}\n}}\n"
