"""Programs of which every SC run ends in a deadlock, and programs of which only some do."""

from __future__ import annotations

import pytest

from pgasrob.api import check
from pgasrob.frontends.lower import parse_c
from pgasrob.program.parser import parse
from pgasrob.robustness import always_stuck
from pgasrob.robustness.always_stuck import every_run_is_stuck

WAIT = "await(mem[x] == 1);"
C = """
#include <shmem.h>
#include <stdlib.h>
int x, y;
int main(void) {{
    shmem_init();
    if (shmem_my_pe() == 0 && ({})) shmem_int_wait_until(&x, SHMEM_CMP_EQ, 1);
    shmem_finalize();
    return 0;
}}
"""


def asked(text: str) -> bool:
    program = parse_c(text) if "#include" in text else parse(text)
    found = every_run_is_stuck(program.instantiate(2), lambda states: None)
    assert check(program, 2).always_stuck == found
    return found


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (WAIT, "skip;", True),
        (WAIT, WAIT, True),
        (f"mem[y] <- 1; {WAIT}", "mem[y] <- 2;", True),
        (f"r <- mem[y]; if (r) {{ {WAIT} }}", "skip;", False),  # it never waits
        (f"choose {{ mem[y] <- 1; }} or {{ mem[y] <- 2; {WAIT} }}", "skip;", False),
        (f"r <- mem[y]; if (r == 0) {{ {WAIT} }}", "skip;", True),
        (f"r <- mem[y]; if (r == 0) {{ {WAIT} }}", "put(one, 0, y, q);", False),
        ("barrier;", "skip;", True),
        (WAIT, "loop { mem[y] <- s; s <- 1 - s; }", True),  # nobody reads what rank 1 goes on to change
        (WAIT, "loop { mem[y] <- s; s <- 2 - s; put(y, 0, x, q); wait(q); }", False),  # rank 0 reads it
        (
            WAIT,  # it may go on for ever, or end
            "choose { mem[y] <- 3; } or { mem[y] <- 2; loop { mem[y] <- s; s <- 2 - s; put(y, 0, x, q); wait(q); } }",
            False,
        ),
        (WAIT, "assume(0);", True),
        ("assume(0);", "assume(0);", False),  # both are stopped by the program's will
        (f"choose {{ mem[y] <- 1; exit; }} or {{ mem[y] <- 2; {WAIT} }}", "skip;", False),
        ("s <- 1; while (s != 0) { s <- compare_swap(0, f, 0, 1); }", "skip;", False),
    ],
)
def test_every_run_or_some(first: str, second: str, expected: bool) -> None:
    head = "memory x, y, f, one = 1; register r, s; queue q;"
    assert asked(f"{head} process 0 {{ {first} }} process 1 {{ {second} }}") == expected


@pytest.mark.parametrize(("condition", "expected"), [("1", True), ("y == 0", True), ("rand() % 2", False)])
def test_c(condition: str, expected: bool) -> None:
    """Where something is not known the front end guesses, and wrong guesses are no runs."""
    assert asked(C.format(condition)) == expected


def test_of_many_states_it_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"memory x, y; process 0 {{ mem[y] <- 1; mem[y] <- 2; {WAIT} }} process 1 {{ mem[y] <- 1; }}"
    assert asked(text)
    monkeypatch.setattr(always_stuck, "MOST", 3)
    assert not asked(text)
