"""How the threads of a team share out what stands under directives, where they communicate."""

from __future__ import annotations

import re

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import parse_c
from tests.frontends.apis.lowering import threads

PROGRAM = """#include <shmem.h>
#include <omp.h>
long x, z[16]; int n; double d;
{outside}
int main(void) {{ int p; shmem_init_thread(SHMEM_THREAD_MULTIPLE, &p); int me = shmem_my_pe(); long s = 0;
{body}
z[8] = s; shmem_barrier_all(); shmem_finalize(); return 0; }}
"""
PUT = "shmem_long_p(&z[i], 1, 1 - me);"


def lowered(body: str, outside: str = "") -> dict[tuple[int, int], list[str]]:
    return threads(PROGRAM.format(body=body, outside=outside), 2)


def places(lines: list[str]) -> list[int]:
    return [int(each) for line in lines for each in re.findall(r"update\(set, 1, 1, z\[(\d+)\]", line)]


@pytest.mark.parametrize(
    ("schedule", "loop", "own"),
    [
        ("", "for (int i = 0; i < 5; i++)", [[0, 1, 2], [3, 4]]),
        ("schedule(static, 1)", "for (int i = 0; i < 5; i++)", [[0, 2, 4], [1, 3]]),
        ("schedule(static, 2) nowait", "for (int i = 1; i <= 6; i++)", [[1, 2, 5, 6], [3, 4]]),
        ("", "for (int i = 6; i > 0; i -= 2)", [[6, 4], [2]]),
        ("", "for (int i = 0; i != 3; i++)", [[0, 1], [2]]),
        ("", "for (int i = 3; i < 3; i++)", [[], []]),
    ],
)
def test_iterations_of_a_loop(schedule: str, loop: str, own: list[list[int]]) -> None:
    found = lowered(f"#pragma omp parallel num_threads(2)\n{{\n#pragma omp for {schedule}\n{loop} {PUT}\n}}")
    assert [places(found[0, thread]) for thread in range(2)] == own
    waits = [line for line in found[0, 1] if "barrier" in line and "await" in line]
    assert bool(waits) == ("nowait" not in schedule)


def test_iterations_of_two_loops() -> None:
    loops = "for (int k = 0; k < 2; k++) for (int i = 3 * k; i < 3 * k + 3; i++)"
    text = f"#pragma omp parallel for collapse(2) schedule(static, 1) num_threads(3)\n{loops} {PUT}"
    found = lowered(text)
    assert [places(found[0, thread]) for thread in range(3)] == [[0, 3], [1, 4], [2, 5]]
    with pytest.raises(SourceError, match="depend on the loop around it"):
        lowered(text.replace("schedule(static, 1)", ""))


def test_work_that_is_claimed() -> None:
    loop = "#pragma omp parallel for schedule(dynamic) num_threads(2)\nfor (int i = 0; i < 2; i++) "
    sections = f"#pragma omp parallel sections num_threads(2)\n{{\n#pragma omp section\n{PUT.replace('i]', '0]')}\n"
    for text in (loop + PUT, sections + f"#pragma omp section\n{PUT.replace('i]', '1]')}\n}}"):
        found = lowered(text)
        for thread in range(2):
            assert sorted(set(places(found[0, thread]))) == [0, 1]
            assert [line for line in found[0, thread] if "fetch_add(0, piece_" in line]


def test_blocks_for_one_thread() -> None:
    guarded = f"#pragma omp {{}}\n{PUT.replace('i]', '0]')}\n"
    region = "#pragma omp parallel num_threads(2)\n{{\n{}}}"
    masked = lowered(region.format(guarded.format("masked filter(1)")))
    assert not places(masked[0, 0]) and places(masked[0, 1])
    master = lowered(region.format(guarded.format("master")))
    assert places(master[0, 0]) and not places(master[0, 1])
    single = lowered(region.format(guarded.format("single")))
    assert places(single[0, 0]) and places(single[0, 1])
    assert [line for line in single[0, 1] if line.startswith("first") or "compare_swap" in line]


def test_critical_regions_and_reductions_have_locks() -> None:
    found = lowered("#pragma omp parallel num_threads(2)\n{\n#pragma omp critical (a)\nshmem_quiet();\n}")
    assert [line for line in found[0, 1] if "critical" in line] == [
        "await_add(0, mem[critical_a] == 0, 1);", "mem[critical_a] <- 0;",
    ]  # fmt: skip
    found = lowered("#pragma omp parallel num_threads(2) reduction(max : s)\n{ s = shmem_long_g(&x, 1 - me); }")
    assert "await_add(0, mem[reduction] == 0, 1);" in found[0, 1]


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("\nx += 2;", "fetch_update(add, 0, x, 2) as _Atomic long"),
        ("\n--x;", "fetch_update(add, 0, x, -1) as _Atomic long"),
        ("\nx = x + 1;", "fetch_update(add, 0, x, 1) as _Atomic long"),
        ("write\nx = 3;", "swap(0, x, 3) as _Atomic long"),
        ("read\ns = x;", "mem[x]"),
        ("capture\ns = x++;", "fetch_update(add, 0, x, 1) as _Atomic long"),
        ("\nd += 1;", "await_add(0, mem[atomic] == 0, 1);"),
    ],
)
def test_atomics(text: str, command: str) -> None:
    region = f"{{\n#pragma omp atomic {text}\nshmem_quiet();\n}}"
    found = lowered(f"#pragma omp parallel num_threads(2) private(s)\n{region}")
    assert [line for line in found[0, 1] if command in line], found[0, 1]


def test_a_barrier_at_the_end_of_a_block_and_in_a_function() -> None:
    at_end = lowered("#pragma omp parallel num_threads(2)\n{ shmem_quiet();\n#pragma omp barrier\n}")
    outside = "static void meet(void) {\n#pragma omp barrier\n}"
    in_function = lowered("#pragma omp parallel num_threads(2)\n{ shmem_quiet(); meet(); } meet();", outside)
    assert at_end == in_function and "mem[arrived_2_1] <- 1;" in at_end[0, 1]


def test_regions_that_do_not_communicate_stay_as_they_are() -> None:
    text = "#pragma omp parallel for reduction(+ : s)\nfor (int i = 0; i < 8; i++) s += i;"
    assert list(lowered(text)) == [(0, 0), (1, 0)]
    both = lowered(text + "\n#pragma omp parallel num_threads(2)\nshmem_quiet();")
    assert list(both) == [(0, 0), (0, 1), (1, 0), (1, 1)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#pragma omp parallel\n{\n#pragma omp task\nshmem_quiet();\n}", "a task in `#pragma omp task`"),
        ("#pragma omp parallel if(n)\nshmem_quiet();", "the clause `if`"),
        ("#pragma omp parallel\n{\n#pragma omp for schedule(guided)\nfor (int i = 0; i < 2; i++) shmem_quiet();\n}",
         "`schedule(guided)`"),
        ("#pragma omp parallel\n{\n#pragma omp for schedule(dynamic) nowait\nfor (int i = 0; i < 2; i++) "
         "shmem_quiet();\n}", "`nowait`"),
        ("#pragma omp parallel for lastprivate(s)\nfor (int i = 0; i < 2; i++) { s = i; shmem_quiet(); }",
         "the clause `lastprivate`"),
        ("#pragma omp parallel\n{\n#pragma omp atomic\nx = 2 * x;\nshmem_quiet();\n}", "this form of `atomic`"),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_c(PROGRAM.format(body=text, outside="")).program(2)
    (found,) = caught.value.diagnostics
    assert message in found.message and found.hint and found.line > 5
