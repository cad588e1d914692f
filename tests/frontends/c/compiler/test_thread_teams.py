"""How the threads of a team share out what stands under directives, where they communicate."""

from __future__ import annotations

import re

import pytest

from pgasrob import check
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import parse_c
from pgasrob.program.assumptions import Kind
from pgasrob.program.illegal_calls import Illegal
from pgasrob.program.statements import Do, Statement, statements_in
from tests.frontends.apis.lowering import threads

PROGRAM = """#include <shmem.h>
#include <omp.h>
long x, z[16]; int n; double d; static long own = 3, kept[2];
#pragma omp threadprivate(own)
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


@pytest.mark.parametrize(("clause", "claims"), [("dynamic", 4), ("guided", 3), ("guided, 2", 2), ("guided, 4", 1)])
def test_claims_that_get_smaller(clause: str, claims: int) -> None:
    """Of four iterations two threads take 2, 1 and 1 where they are guided."""
    loop = f"#pragma omp parallel for schedule({clause}) num_threads(2)\nfor (int i = 0; i < 4; i++) {PUT}"
    found = lowered(loop)[0, 0]
    assert len([line for line in found if "fetch_add(0, piece_" in line]) == claims
    assert sorted(set(places(found))) == [0, 1, 2, 3]
    program = parse_c(PROGRAM.format(body=loop, outside="")).program(2)
    assert ("guided" in clause) == (Kind.GUIDED_CHUNKS in {each.kind for each in program.assumptions})


def test_many_iterations_that_are_claimed() -> None:
    """The loop is kept, and which piece is which is not known."""
    loop = "#pragma omp parallel for schedule(dynamic, 2) num_threads(2)\nfor (int i = 0; i < 9; i++) "
    assert len(lowered(loop + PUT)[0, 0]) < 90
    with pytest.raises(SourceError, match="whose order decides"):
        lowered(loop + "{ shmem_ctx_t c; shmem_ctx_create(0, &c); if (n == i) shmem_ctx_destroy(c); }")


def test_loops_without_a_barrier_are_counted_in_cells_of_their_own() -> None:
    loop = "#pragma omp for schedule(dynamic) nowait\nfor (int i = 0; i < 1; i++) shmem_quiet();"
    text = f"#pragma omp parallel num_threads(2)\nfor (int k = 0; k < TIMES; k++)\n{{\n{loop}\n}}"
    found = lowered(text.replace("TIMES", "3"))[0, 0]
    cells = [cell for line in found for cell in re.findall(r"fetch_add\(0, piece_\d+_\d+_(\d)", line)]
    assert cells == ["0", "1", "2"] and not [line for line in found if line.startswith("mem[piece")]
    with pytest.raises(SourceError, match="more than 64 times"):
        lowered(text.replace("TIMES", "66"))


@pytest.mark.parametrize(
    ("clauses", "who"),
    [("", [1]), ("schedule(static, 1)", [1]), ("schedule(static, 2)", [1]), ("schedule(dynamic)", [0, 1])],
)
def test_the_last_iteration_gives_its_value(clauses: str, who: list[int]) -> None:
    loop = "for (int i = 0; i < 4; i++) { s = 10 * i; shmem_quiet(); }"
    found = lowered(f"#pragma omp parallel for num_threads(2) lastprivate(s) {clauses}\n{loop}")
    stores = [[line for line in found[0, each] if re.match(r"mem\[main.s\] <- [1-9]", line)] for each in range(2)]
    assert stores == [["mem[main.s] <- 30;"] if each in who else [] for each in range(2)]


def test_the_last_section_gives_its_value() -> None:
    sections = "".join(f"#pragma omp section\n{{ s = {each}; shmem_quiet(); }}\n" for each in (1, 2))
    found = lowered(f"#pragma omp parallel sections num_threads(2) lastprivate(s)\n{{\n{sections}}}")
    assert {line for line in found[0, 1] if "mem[main.s] <-" in line} == {"mem[main.s] <- 2;"}


@pytest.mark.parametrize(
    ("clauses", "threads"),
    [
        ("if(n > 1)", 1), ("if(parallel: me < 2 && n == 0)", 2), ("num_threads(me + 3 - me)", 3),
        ("num_threads(2) if(0)", 1), ("num_threads(sizeof(long) / 4) if(1)", 2),
    ],
)  # fmt: skip
def test_how_many_threads_a_team_has(clauses: str, threads: int) -> None:
    found = lowered(f"#pragma omp parallel {clauses}\nshmem_quiet();")
    assert [thread for rank, thread in found if not rank] == [*range(threads)]


NESTED = """#pragma omp parallel num_threads(2)
{ z[8 + omp_get_thread_num()] = 1;
g();
#pragma omp barrier
shmem_long_p(&z[omp_get_thread_num()], 1, 1 - me); }"""
INNER = """static void g(void) {
#pragma omp parallel num_threads(2)
{
#pragma omp barrier
shmem_long_p(&z[4 + omp_get_thread_num() + omp_get_num_threads()], 1, 1);
#pragma omp single
shmem_long_p(&z[6], 1, 1); } }"""


def test_a_team_in_a_team_has_one_thread() -> None:
    found = lowered(NESTED, INNER)
    assert list(found) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    for thread in range(2):
        assert places(found[0, thread])[:3] == [5, 6, thread]
        assert len([line for line in found[0, thread] if "arrived_2" in line]) == 1


def test_a_region_in_a_team_is_one_thread_where_its_threads_would_race() -> None:
    inner = "#pragma omp parallel\nz[8] += x;"
    text = f"#pragma omp parallel num_threads(2)\n{{ shmem_quiet();\n#pragma omp master\n{{\n{inner}\n}}\n}}"
    program = parse_c(PROGRAM.format(body=text, outside="")).program(2)
    assert not [each for process in program.processes for each in statements_in(process.body) if is_illegal(each)]
    program = parse_c(PROGRAM.format(body=text + "\n" + inner, outside="")).program(2)
    assert [each for process in program.processes for each in statements_in(process.body) if is_illegal(each)]


TASKS = """#pragma omp parallel num_threads(2)
{ long v = 1;
#pragma omp single
{
#pragma omp task
{ v += 4; shmem_long_p(&z[0], v, 1 - me); }
v = 2;
#pragma omp task IF
{ long w = x; shmem_long_p(&z[1], v, 1 - me); z[10] = w; }
WAIT
v = 9; z[9] = v;
} }"""


def test_tasks_are_threads_that_are_waited_for() -> None:
    """Each has values of when it was created; a thread of the team waits for them at a taskwait or a barrier."""
    found = lowered(TASKS.replace("WAIT", "").replace("IF", ""))
    assert [thread for rank, thread in found if not rank] == [0, 1, 2, 3]
    assert [line for line in found[0, 2] if "update(set, 5, 1, z[0]" in line]
    assert [line for line in found[0, 3] if "update(set, 2, 1, z[1]" in line]
    for text, first in (("", "mem[z[9]] <- 9;"), ("\n#pragma omp taskwait\n", "await(mem[thread_2] == 0);")):
        lines = lowered(TASKS.replace("WAIT", text).replace("IF", ""))[0, 1]
        waits = [line for line in lines if line in ("await(mem[thread_2] == 0);", "mem[z[9]] <- 9;")]
        assert waits[0] == first and len(waits) == 2


def test_a_task_that_is_not_deferred() -> None:
    found = lowered(TASKS.replace("WAIT", "").replace("IF", "if(n)"))
    assert [thread for rank, thread in found if not rank] == [0, 1, 2]
    assert [line for line in found[0, 0] if "update(set, 2, 1, z[1]" in line]
    alone = lowered(TASKS.replace("WAIT", "").replace("IF", "").replace("num_threads(2)", "num_threads(1)"))
    assert list(alone) == [(0, 0), (1, 0)]


@pytest.mark.parametrize(("between", "stuck"), [("", False), ("\n#pragma omp taskwait\n", True)])
def test_tasks_run_beside_each_other(between: str, stuck: bool) -> None:
    text = f"""#pragma omp parallel num_threads(2)
{{
#pragma omp master
{{
#pragma omp task
shmem_long_wait_until(&x, SHMEM_CMP_EQ, 1);
{between}
#pragma omp task
shmem_long_p(&x, 1, 0);
}} }}"""
    assert bool(check(parse_c(PROGRAM.format(body=text, outside="")), 1).deadlock) == stuck


def test_tasks_of_two_regions_and_of_functions() -> None:
    """A thread that has executed one executes another one, also where a function makes them."""
    region = "#pragma omp parallel num_threads(2)\n{\n#pragma omp single\ng(me);\n}\n"
    outside = "static void g(int me) {\n#pragma omp task\n{ shmem_long_p(&z[0], 1, 1 - me); shmem_quiet(); }\n}"
    text = PROGRAM.format(body=region + region, outside=outside)
    assert check(parse_c(text), 2).verdict == "robust"
    found = lowered(region + region, outside)
    assert [thread for rank, thread in found if not rank] == [0, 1, 2]
    assert places(found[0, 2]) and not places(found[0, 0])


def test_variables_that_each_thread_has_for_itself() -> None:
    """Those of the further threads are kept from one region to the next."""
    region = "#pragma omp parallel num_threads(2)\n{{ {} shmem_quiet(); }}\n"
    found = lowered(
        "own = 4;\n"
        + region.format("own += omp_get_thread_num() + 1;")
        + region.format("shmem_long_p(&z[omp_get_thread_num()], own, 1 - me);")
    )
    assert [line for line in found[0, 0] if "update(set, 5, 1, z[0]" in line]
    own = [line for line in found[0, 1] if "own" in line]
    assert own == ["t <- mem[own_thread1];", "mem[own_thread1] <- t + 2;", "t <- mem[own_thread1];"]


def is_illegal(statement: Statement) -> bool:
    return isinstance(statement, Do) and isinstance(statement.command, Illegal)


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


@pytest.mark.parametrize(
    ("region", "counted", "forks"),
    [
        ("{\n#pragma omp critical\nx += 1;\n}", 2, True),
        ("{\n#pragma omp atomic\nx++;\n}", 2, True),
        ("{ if (n == 0) {\n#pragma omp critical\n{ x = x + 2; }\n} }", 4, True),
        ("{ long mine = omp_get_thread_num() * 0 + 5;\n#pragma omp critical\nx = mine;\n}", 5, False),
        ("{\n#pragma omp single\n{\n#pragma omp critical\nx += 1;\n}\n}", 1, False),
        ("{\n#pragma omp for\nfor (int i = 0; i < 3; i++) {\n#pragma omp atomic\nx += 1;\n}\n}", 3, False),
    ],
)
def test_regions_that_count_their_threads_are_teams(region: str, counted: int, forks: bool) -> None:
    text = f"#pragma omp parallel num_threads(2)\n{region}\nassert(x == NUMBER);"
    text = PROGRAM.replace("#include <omp.h>", "#include <assert.h>\n#include <omp.h>").format(body=text, outside="")
    assert len(threads(text.replace("NUMBER", "9"), 2)) == (4 if forks else 2)
    for number, answer in ((counted, "hold"), (counted + 1, "violated")):
        found = check(parse_c(text.replace("NUMBER", str(number))).program(2))
        assert (found.assertions or "hold") == answer


def test_regions_that_do_not_communicate_stay_as_they_are() -> None:
    text = "#pragma omp parallel for reduction(+ : s)\nfor (int i = 0; i < 8; i++) s += i;"
    assert list(lowered(text)) == [(0, 0), (1, 0)]
    both = lowered(text + "\n#pragma omp parallel num_threads(2)\nshmem_quiet();")
    assert list(both) == [(0, 0), (0, 1), (1, 0), (1, 1)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#pragma omp parallel\n{\n#pragma omp taskgroup\nshmem_quiet();\n}", "`taskgroup`"),
        ("#pragma omp parallel\n{\n#pragma omp task\n{ shmem_quiet();\n#pragma omp task\nshmem_quiet();\n}\n}",
         "a task that a task makes"),
        ("#pragma omp parallel\n{\n#pragma omp task\n{ shmem_quiet(); x = omp_get_thread_num(); }\n}",
         "`omp_get_thread_num` in a task"),
        ("#pragma omp parallel\n{\n#pragma omp task\n{ shmem_quiet(); own = 1; }\n}", "`own`, which each thread has"),
        ("#pragma omp parallel\n{ long v[2];\n#pragma omp task\n{ v[0] = 1; shmem_quiet(); }\n}", "`v` is copied for"),
        ("#pragma omp parallel\n{ long v = 1;\n#pragma omp task shared(v)\n{ v = 1; shmem_quiet(); }\n}",
         "`v`, which a thread of the team has for itself"),
        ("#pragma omp parallel\n{ long v = shmem_long_g(&x, me);\n#pragma omp task\nz[0] = v;\n}", "a task is given"),
        ("#pragma omp parallel\n{\n#pragma omp master\n{\n" + 8 * "#pragma omp task\nshmem_quiet();\n" + "}\n}",
         "more than 7 tasks at once"),
        ("#pragma omp parallel\n{\n#pragma omp for schedule(runtime)\nfor (int i = 0; i < 2; i++) shmem_quiet();\n}",
         "`schedule(runtime)`"),
        ("#pragma omp parallel\n{\n#pragma omp atomic\nx = 2 * x;\nshmem_quiet();\n}", "this form of `atomic`"),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_c(PROGRAM.format(body=text, outside="")).program(2)
    (found,) = caught.value.diagnostics
    assert message in found.message and found.hint and found.line > 5
