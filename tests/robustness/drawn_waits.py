"""Random programs in which ranks wait for conditions of cells that others set several times, to several values."""

from __future__ import annotations

from random import Random

RELATIONS = ("==", "!=", "<", "<=", ">", ">=")


def drawn_waits(seed: int) -> str:
    """The text of such a program, of two or three ranks."""
    random = Random(seed)
    nodes = random.choice((2, 2, 3))
    lines = [
        f"nodes {nodes};",
        "memory x, y, z, w = 2;",
        f"queue q{random.choice(('', '', ' unordered'))};",
        "queue p;",
    ]
    blocks = []
    for rank in range(nodes):
        commands = "".join(_command(random, nodes) for _ in range(random.randint(1, 4 if nodes == 2 else 3)))
        blocks.append(f"process {rank} {{ {commands}}}")
    return "\n".join([*lines, "register r;", *blocks]) + "\n"


def _command(random: Random, nodes: int) -> str:
    flag, rank, queue, value = random.choice("xxy"), random.randrange(nodes), random.choice("qqp"), random.randint(0, 3)
    ways = {
        f"await(mem[{flag}] {random.choice(RELATIONS)} {value}); ": 9,
        f"r <- mem[{flag}]; while (r {random.choice(RELATIONS)} {value}) {{ r <- mem[{flag}]; }} ": 5,
        f"notify(set, {value}, {rank}, {flag}, {queue}); ": 3,
        f"update(set, {value}, {rank}, {flag}, {queue}); ": 4,
        f"write({random.choice('zw')}, {rank}, {flag}, {queue}); ": 2,
        f"put({random.choice('zw')}, {rank}, {flag}, {queue}); ": 1,
        f"update(mul, {value}, {rank}, {flag}, {queue}); ": 1,
        f"mem[{random.choice('xyzw')}] <- {value}; ": 4,
        f"r <- mem[{random.choice('xyzw')}]; ": 2,
        f"r <- swap({rank}, {flag}, {value}); ": 1,
        f"r <- fetch_add({rank}, {flag}, 1); ": 1,
        f"r <- fetch_add({rank}, {flag}, {random.randint(1, 2)}); if (r {random.choice(RELATIONS)} {value}) "
        f"{{ {_simple(random, nodes)}}} else {{ {_simple(random, nodes)}}} ": 6,
        f"r <- compare_swap({rank}, {flag}, {random.randint(0, 2)}, {value}); ": 2,
        f"await_add({rank}, mem[{flag}] >= {value}, 1); ": 1,
        f"read({random.choice('zw')}, {rank}, {flag}, {queue}); ": 2,
        f"read({flag}, {rank}, {random.choice('zw')}, {queue}); ": 1,
        f"write({random.choice('zw')}, {rank}, {random.choice('zw')}, {queue}); ": 2,
        f"update(add, {value}, {rank}, {random.choice('xzw')}, {queue}); ": 1,
        f"wait({queue}); ": 1,
        f"fence({queue}); ": 1,
        "barrier; ": 0.3,
        f"choose {{ await(mem[{flag}] == {value}); }} or {{ await(mem[y] > {value}); }} ": 1,
    }
    return random.choices(list(ways), list(ways.values()))[0]


def _simple(random: Random, nodes: int) -> str:
    """A command for one side of a comparison, or none."""
    return random.choice(("", "mem[z] <- 1; ", f"notify(set, 2, {random.randrange(nodes)}, x, p); ", "r <- mem[w]; "))
