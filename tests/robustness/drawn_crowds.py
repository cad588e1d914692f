"""Random programs in which interchangeable ranks begin with an atomic on one cell, and go on by what it has fetched."""

from __future__ import annotations

from random import Random

RELATIONS = ("==", "!=")


def drawn_crowd(seed: int) -> str:
    """The text of such a program, of three or four ranks; rank 0 may have a process of its own."""
    random = Random(seed)
    nodes = random.choice((3, 3, 3, 4))
    lines = [
        f"nodes {nodes};",
        f"memory x{random.choice(('', ' = -1', ' = 1'))}, y{random.choice(('', ' = -1', ' = 1'))}, z, w = 2;",
        f"queue q{random.choice(('', '', ' unordered'))};",
        "queue p;",
        "register r, s;",
    ]
    before = "".join(random.choice(BEFORE) for _ in range(random.randint(0, 2)))
    ends = random.randint(1, 3 if nodes == 3 else 2)
    block = before + random.choice(FIRST) + "".join(_command(random) for _ in range(ends))
    own = "".join(_command(random) for _ in range(random.randint(0, 2)))
    if random.random() < 0.5:
        return "\n".join([*lines, f"process 0 {{ {own}}}", f"process {{ {block}}}"]) + "\n"
    return "\n".join([*lines, f"process {{ {block}}}"]) + "\n"


BEFORE = (
    *("mem[z] <- 1; ", "write(w, 0, z, q); ", "mem[w] <- me; ", "wait(q); ", "s <- mem[y]; ", "write(w, 0, y, p); "),
    *("await(mem[y] != 0); ", "barrier; "),
)
FIRST = (
    *["r <- swap(0, x, me); "] * 3,
    "r <- swap(0, x, 1); ",
    "r <- fetch_add(0, x, 1); ",
    "r <- fetch_add(0, x, 2); s <- r; ",
)


def _command(random: Random) -> str:
    value, cell, queue = random.randint(-1, 2), random.choice("xyyz"), random.choice("qp")
    where, other = random.choice(("0", "0", "me")), random.choice("xyz")
    ways = {
        f"if (r {random.choice(RELATIONS)} {value}) {{ {_simple(random)}}} else {{ {_simple(random)}}} ": 5,
        f"if (r != -1) {{ write(w, r, {cell}, {queue}); }} ": 5,
        f"if (r == me) {{ {_simple(random)}}} ": 1,
        f"await(mem[{cell}] {random.choice(RELATIONS)} {value}); ": 2,
        f"s <- compare_swap(0, x, me, {random.choice((-1, 0))}); ": 3,
        f"s <- swap(0, {cell}, me); ": 2,
        f"r <- fetch_add({where}, {cell}, 1); ": 2,
        f"write({random.choice('zw')}, {where}, {cell}, {queue}); ": 4,
        f"read({random.choice('zw')}, {where}, {cell}, {queue}); ": 2,
        f"mem[{other}] <- {random.choice(('1', 'me', 'r'))}; ": 3,
        f"s <- mem[{other}]; ": 4,
        f"notify(set, 1, {where}, {cell}, {queue}); ": 2,
        f"wait({queue}); ": 2,
        "barrier; ": 1,
    }
    return random.choices(list(ways), list(ways.values()))[0]


def _simple(random: Random) -> str:
    return random.choice(
        (
            "skip; ",
            "s <- mem[z]; ",
            "write(w, r, y, q); ",
            "mem[y] <- 1; ",
            "write(w, 0, z, q); ",
            "s <- swap(0, y, 1); ",
            "await(mem[y] != 0); ",
        )
    )
