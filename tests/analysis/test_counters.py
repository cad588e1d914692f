"""Counters go as far as they are said to go, and what breaks a condition of theirs has no limit."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from pgasrob import check
from pgasrob.analysis.ranges import ranges
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.reference.attack import AttackSpace, State
from tests.support import examples, instance

DECLARATIONS = "memory next, data, out[4]; register i, j, n; queue q;"
NO_LIMIT = (1 << 64) - 1

DRAW = "i <- fetch_add(0, next, 1);"
LOOP = f"{DRAW} while (i < 4) {{ mem[data] <- i; {DRAW} }}"
SWAP = "i <- fetch(0, next); j <- compare_swap(0, next, i, i + 1);"
RETRY = f"{SWAP} while (i != j) {{ i <- j; j <- compare_swap(0, next, i, i + 1); }}"


def limit(block: str, nodes: int = 3, declarations: str = DECLARATIONS) -> int:
    return ranges(instance(block, nodes=nodes, declarations=declarations)).most(0)


@pytest.mark.parametrize(
    ("block", "most"),
    [
        (DRAW, 3),  # a ticket for each rank
        (DRAW.replace("1);", "5);"), 15),
        (LOOP, 7),  # 4, and a ticket too many for each rank
        (LOOP.replace("i < 4", "i <= 4"), 8),
        (LOOP.replace("i < 4", "!(i >= 4)"), 7),
        (LOOP.replace("i < 4", "4 > i"), 7),
        (LOOP.replace("1);", "2);"), 11),  # 3 + 2, and 2 for each rank
        (f"i <- 1; {LOOP}", 7),
        (RETRY, 3),
        ("j <- compare_swap(0, next, 0, 1); while (i != j) { i <- j; j <- compare_swap(0, next, i, i + 1); }", 3),
        ("j <- compare_swap(0, next, 0, 1); j <- compare_swap(0, next, 1, 2);", 6),
        ("j <- compare_swap(0, next, 1, 0);", NO_LIMIT),
        (f"{RETRY} mem[data] <- i; n <- mem[next];", 3),
        (RETRY.replace("i + 1", "i + 4"), 12),
        (f"{DRAW} {DRAW}", 6),  # each command once
        # Three more at rank 0, and one by a neighbour.
        (f"{DRAW} if (i == 2) {{ {DRAW} }} i <- fetch_add((me + 1) % nodes, next, 1);", 7),
        ("i <- fetch_add((me + 1) % nodes, next, 1); i <- fetch_add(me, next, 4);", 5),
        (f"loop {{ {DRAW} }}", NO_LIMIT),
        (f"{LOOP} {DRAW}", NO_LIMIT),
        (LOOP.replace("i < 4", "i != 4"), NO_LIMIT),  # who draws 5 goes on
        (LOOP.replace("mem[data] <- i;", "if (i == 3) { i <- 9; }"), 7),
        (f"{DRAW} while (i < 4) {{ {DRAW} i <- i - 1; }}", 8),
        (f"{DRAW} while (i < 4) {{ {DRAW} i <- 0; }}", NO_LIMIT),
        (f"{DRAW} while (n < 4) {{ {DRAW} n <- n + 1; }}", NO_LIMIT),  # it is another register that ends the loop
        (f"{LOOP} mem[next] <- 0;", NO_LIMIT),  # it goes down
        (f"{LOOP} write(data, 0, next, q);", NO_LIMIT),
        (f"{LOOP} update(add, 1, 0, next, q);", NO_LIMIT),  # by a command with steps
        (f"{LOOP} n <- fetch_add(0, next, -1);", NO_LIMIT),
        (f"{LOOP} n <- swap(0, next, 0);", NO_LIMIT),
        (f"{LOOP} n <- compare_swap(0, next, 7, 0);", NO_LIMIT),
        (f"{LOOP} n <- mem[data]; mem[next + n] <- 1;", NO_LIMIT),  # perhaps there
        (f"{LOOP} n <- mem[data]; mem[out + (n & 1)] <- 1;", 7),
        (f"{RETRY} {SWAP}", NO_LIMIT),
        (RETRY.replace("i + 1", "n + 1"), NO_LIMIT),  # it puts down what it has not found
    ],
)
def test_how_far_a_counter_goes(block: str, most: int) -> None:
    assert limit(block) == most


def test_what_a_counter_begins_with_counts() -> None:
    assert limit(DRAW, declarations=DECLARATIONS.replace("next", "next = 10")) == 13
    assert limit(LOOP, declarations=DECLARATIONS.replace("next", "next = 10")) == 13
    assert limit(LOOP, declarations=DECLARATIONS.replace("next", "next = 2")) == 7


def test_a_number_that_has_been_drawn_stays_within_its_array() -> None:
    declarations = "memory next, out[4], data; register i, j, n; queue q;"
    program = instance(f"{DRAW} mem[out + i] <- 1;", nodes=4, declarations=declarations)
    found = ranges(program)
    (store,) = program.automata[0].out[1]
    assert found.named(0, 1, store).addresses == (range(1, 5),)


# Against what is reached

PIECES = (
    DRAW, DRAW, "mem[data] <- i;", "n <- mem[data];", "if (i < 3) {{ {0} }}", "while (i < 3) {{ {1} {0} }}",
    "while (i < 2) {{ {0} }}", "while (n < 2) {{ {0} n <- n + 1; }}", "i <- fetch(0, next);",
    "j <- compare_swap(0, next, i, i + 1);", "while (i != j) {{ i <- j; j <- compare_swap(0, next, i, i + 1); }}",
    "n <- fetch_add(1, next, 2);", "mem[out + (i & 3)] <- 1;", "n <- fetch_add((me + 1) % nodes, next, 1);",
    "write(data, 0, out, q);", "wait(q);", "barrier;", "i <- n;", "assume(i < 3);",
)  # fmt: skip


def random_program(seed: int) -> Instance:
    choose = random.Random(seed)
    nodes = choose.randint(1, 3)

    def statement() -> str:
        return choose.choice(PIECES).format(DRAW, choose.choice(("", "mem[data] <- i;", "n <- i;", DRAW)))

    def block() -> str:
        return " ".join(statement() for _ in range(choose.randint(1, 4)))

    blocks = [block()] * nodes if choose.random() < 0.6 else [block() for _ in range(nodes)]
    processes = " ".join(f"process {rank} {{ {text} }}" for rank, text in enumerate(blocks))
    start = choose.choice(("", " = 1"))
    return parse(f"{DECLARATIONS.replace('next', 'next' + start)} nodes {nodes}; {processes}").instantiate()


def test_no_counter_exceeds_its_limit() -> None:
    """In the states of the attack search; and every limit is the one of what is met, or not much greater."""
    seen: Counter[str] = Counter()
    for seed in range(examples(100, nightly=30_000)):
        program = random_program(seed)
        most = ranges(program).most(0)
        seen["limited" if most < NO_LIMIT else "not"] += 1
        space = AttackSpace(program)
        assert isinstance(space.initial, State)
        states, met = [space.initial], {space.initial}
        for state in states:
            for _, target in space.successors(state):
                if isinstance(target, State) and target not in met and len(states) < 400:
                    met.add(target)
                    states.append(target)
        highest = max(max(state.memory[:: program.size]) for state in states)
        assert highest <= most
        if most < NO_LIMIT:
            seen["reached"] += highest == most
    assert seen["limited"] > 25 and seen["not"] > 25 and seen["reached"] > seen["limited"] // 4, seen


@pytest.mark.parametrize("address", ["-1", "data + 6", "6"])
def test_what_lies_outside_of_memory_is_no_counter(address: str) -> None:
    """An update there is a fault, or in dead code nothing at all."""
    update = f"i <- fetch_add(0, {address}, 1);"
    assert check(instance(update, declarations=DECLARATIONS).program, 2).verdict == "error"
    dead = check(instance(f"j <- 1; if (j > 1) {{ {update} }}", declarations=DECLARATIONS).program, 2)
    assert dead.verdict == "robust"
