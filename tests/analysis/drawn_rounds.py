"""Random programs whose ranks take numbers from a counter in loops, rightly or not, and pass barriers."""

from __future__ import annotations

from random import Random


def drawn_rounds(seed: int) -> str:
    """The text of such a program, of two ranks."""
    random = Random(seed)
    block = "".join(_part(random) for _ in range(random.randint(1, 2)))
    own = block if random.random() < 0.6 else "".join(_part(random) for _ in range(random.randint(1, 2)))
    return f"""nodes 2;
memory x, y, z;
register t, s, i;
queue q;
process 0 {{ {own}}}
process {{ {block}}}
"""


def _part(random: Random) -> str:
    bound, step, cell = random.randint(1, 3), random.choice((1, 1, 1, 2, 0, -1)), random.choice("xxxxy")
    do = random.choice(
        (
            "",
            "",
            "mem[z] <- t; ",
            "write(z, 0, y, q); ",
            "barrier; ",
            "s <- fetch_add(0, x, 1); ",
            "t <- 0; ",
            "s <- mem[z]; ",
        )
    )
    again = random.choice((f"t <- fetch(0, {cell}); ",) * 4 + ("t <- s; ", "t <- s; ", "", "t <- t + 1; "))
    swap = f"s <- compare_swap(0, x, t, t + {step}); "
    test = random.choice((f"t < {bound}",) * 5 + (f"t <= {bound}", f"t != {bound}", f"{bound} > t", f"s < {bound}"))
    return random.choice(
        (
            f"t <- fetch(0, x); while ({test}) {{ {swap}if (s == t) {{ {do}}} {again}}} ",
            f"t <- fetch(0, x); while ({test}) {{ {swap}{again}{do}}} ",
            f"t <- fetch(0, x); while ({test}) {{ t <- compare_swap(0, x, t, t + {step}); {do}}} ",
            f"t <- fetch(0, x); while ({test}) {{ if (s == {bound}) {{ {swap}}} {again}}} ",
            f"while (s != {bound}) {{ if ({test}) {{ {swap}}} t <- fetch(0, x); }} ",
            f"t <- fetch_add(0, x, {step}); while ({test}) {{ {do}t <- fetch_add(0, {cell}, {step}); }} ",
            f"t <- fetch_add(0, x, {step}); while ({test}) {{ {do}s <- fetch_add(0, {cell}, {step}); {again}}} ",
            f"i <- 0; while (i < {bound}) {{ {do}i <- i + 1; }} ",
            f"i <- 0; while (i < {bound}) {{ i <- i + 1; s <- fetch_add(0, {cell}, 1); }} ",
            *("barrier; ",) * 2,
            "if (me == 0) { barrier; } else { skip; barrier; } ",
            f"if (t == {bound}) {{ barrier; }} ",
            "mem[x] <- 1; ",
            "notify(set, 1, 0, y, q); ",
            "await(mem[y] == 0); ",
            "t <- mem[y]; while (!t) { t <- mem[y]; } ",
        )
    )
