"""How the threads of a rank wait for each other, and the numbers of threads."""

from __future__ import annotations

import pytest

from pgasrob import check
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import parse_c
from pgasrob.program.illegal_calls import Illegal
from pgasrob.program.statements import Do, statements_in
from tests.frontends.apis.lowering import threads

PROGRAM = """#include <shmem.h>
#include <omp.h>
#include <pthread.h>
#include <threads.h>
long x, y; omp_lock_t l; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; mtx_t c; pthread_barrier_t b;
static void *work(void *p) {{ {work} return 0; }}
static int work11(void *p) {{ {work} return 0; }}
int main(void) {{ int p; shmem_init_thread(SHMEM_THREAD_MULTIPLE, &p); int me = shmem_my_pe();
{body}
shmem_finalize(); return 0; }}
"""
CREATE = "pthread_t t; pthread_create(&t, 0, work, 0); {} pthread_join(t, 0);"


def lowered(body: str, work: str = "") -> dict[tuple[int, int], list[str]]:
    return threads(PROGRAM.format(body=body, work=work))


def test_barriers_of_a_team_come_in_turns() -> None:
    region = "#pragma omp parallel num_threads(3)\n{ shmem_quiet();\n#pragma omp barrier\n#pragma omp barrier\n}\n"
    found = lowered(region + region)
    signs = [line for line in found[0, 0] if "arrived" in line or "barrier_3" in line]
    assert signs[:6] == [
        "await(mem[arrived_3_1] == 1);", "await(mem[arrived_3_2] == 1);", "mem[barrier_3] <- 1;",
        "await(mem[arrived_3_1] == 0);", "await(mem[arrived_3_2] == 0);", "mem[barrier_3] <- 0;",
    ]  # fmt: skip
    assert signs[6:] == signs[:6]
    assert [line for line in found[0, 2] if "arrived" in line or "barrier_3" in line][:4] == [
        "mem[arrived_3_2] <- 1;", "await(mem[barrier_3] == 1);", "mem[arrived_3_2] <- 0;",
        "await(mem[barrier_3] == 0);",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("lock", "unlock", "cell"),
    [
        ("omp_set_lock(&l);", "omp_unset_lock(&l);", "lock_l_global_l_0"),
        ("pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);", "lock_m_global_m_0"),
        ("mtx_lock(&c);", "mtx_unlock(&c);", "lock_c_global_c_0"),
    ],
)
def test_locks(lock: str, unlock: str, cell: str) -> None:
    body = f"#pragma omp parallel num_threads(2)\n{{ {lock} shmem_quiet(); {unlock} }}"
    found = lowered(body)
    own = [line for line in found[0, 1] if cell in line]
    assert own == [f"await_add(0, mem[{cell}] == 0, 1);", f"mem[{cell}] <- 0;"]
    twice = facts(body.replace(unlock, lock))
    assert len(twice) == 1 and "it waits for itself" in twice[0]
    assert "has not set" in facts(body.replace(lock, ""))[0]


def facts(body: str) -> list[str]:
    program = parse_c(PROGRAM.format(body=body, work="")).program(2)
    commands = (
        each.command for process in program.processes for each in statements_in(process.body) if isinstance(each, Do)
    )
    return sorted({each.fact.sentence for each in commands if isinstance(each, Illegal)})


@pytest.mark.parametrize("take", ["omp_test_lock(&l)", "!pthread_mutex_trylock(&m)", "mtx_trylock(&c) == thrd_success"])
def test_a_lock_that_is_only_tried(take: str) -> None:
    found = lowered(f"#pragma omp parallel num_threads(2)\nif ({take}) shmem_long_p(&x, 1, 1 - me);")
    assert [line for line in found[0, 1] if "compare_swap" in line]
    assert [line for line in found[0, 1] if line.startswith("if")]


def test_numbers_of_threads() -> None:
    body = """y = 100 * omp_get_num_threads() + 10 * omp_get_max_threads() + omp_in_parallel();
omp_set_num_threads(3);
#pragma omp parallel
shmem_long_p(&x, 100 * omp_get_num_threads() + 10 * omp_get_thread_num() + omp_in_parallel(), 1 - me);
"""
    found = lowered(body)
    assert {process for process in found if process[0] == 0} == {(0, 0), (0, 1), (0, 2)}
    assert "update(set, 321, 1, x, 0) as plain;" in found[0, 2]


def test_threads_of_c11_and_barriers_of_posix() -> None:
    found = lowered("thrd_t t; thrd_create(&t, work11, 0); thrd_join(t, 0);", "shmem_quiet();")
    assert "await(mem[thread_1] == 0);" in found[0, 0]
    body = "pthread_barrier_init(&b, 0, 2); " + CREATE.format("pthread_barrier_wait(&b);")
    found = lowered(body, "pthread_barrier_wait(&b);")
    for thread in range(2):
        assert [line for line in found[0, thread] if line.startswith("came <- fetch_add(0, came_")]
        assert [line for line in found[0, thread] if line.startswith("await(mem[sign_")]


@pytest.mark.parametrize(
    ("body", "work", "message"),
    [
        (CREATE.format("pthread_join(t, 0);"), "", "has been joined already"),
        ("pthread_t t; pthread_create(&t, 0, (void *(*)(void *))me, 0);", "", "whose function is not known here"),
        (CREATE.format(""), "pthread_t u; pthread_create(&u, 0, work, 0);", "a thread that another one creates"),
        ("pthread_barrier_wait(&b);", "", "has not been initialised"),
        ("pthread_exit(0);", "", "in the main thread"),
    ],
)
def test_what_is_refused(body: str, work: str, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_c(PROGRAM.format(body=body, work=work)).program(2)
    assert message in caught.value.diagnostics[0].message and caught.value.diagnostics[0].hint


CONDITION = """#include <shmem.h>
#include <pthread.h>
#include <threads.h>
long x; int ready; pthread_mutex_t m; pthread_cond_t c = PTHREAD_COND_INITIALIZER; mtx_t n; cnd_t d;
static void *work(void *p) {{ LOCK WAIT UNLOCK shmem_long_p(&x, 1, 0); return 0; }}
int main(void) {{ int p; pthread_t t, u; shmem_init_thread(SHMEM_THREAD_MULTIPLE, &p);
pthread_create(&t, 0, work, 0); pthread_create(&u, 0, work, 0);
LOCK ready = 1; {signal} UNLOCK pthread_join(t, 0); pthread_join(u, 0);
shmem_finalize(); return 0; }}
"""
POSIX = {"LOCK": "pthread_mutex_lock(&m);", "UNLOCK": "pthread_mutex_unlock(&m);",
         "WAIT": "while (!ready) pthread_cond_wait(&c, &m);"}  # fmt: skip
C11 = {"LOCK": "mtx_lock(&n);", "UNLOCK": "mtx_unlock(&n);", "WAIT": "while (!ready) cnd_wait(&d, &n);"}


def conditions(signal: str, words: dict[str, str]) -> str:
    text = CONDITION.format(signal=signal)
    for word in ("UNLOCK", "LOCK", "WAIT"):
        text = text.replace(word, words[word])
    return text


@pytest.mark.parametrize(
    ("signal", "words", "stuck"),
    [
        ("pthread_cond_broadcast(&c);", POSIX, False),
        ("cnd_signal(&d); cnd_signal(&d);", C11, False),
        ("pthread_cond_signal(&c);", POSIX, True),
        ("cnd_broadcast(0 ? 0 : &d); ready = 0;", C11, True),
        ("", POSIX, True),
    ],
)
def test_condition_variables(signal: str, words: dict[str, str], stuck: bool) -> None:
    assert bool(check(parse_c(conditions(signal, words)), 1).deadlock) == stuck


def test_what_condition_variables_are_in_cells() -> None:
    found = threads(conditions("pthread_cond_signal(&c);", POSIX), 1)
    start = next(place for place, line in enumerate(found[0, 2]) if "condition" in line)
    assert found[0, 2][start : start + 6] == [
        "await_add(0, mem[condition_c_global_c_0] == 0, 1);", "mem[waits_2_c_global_c_0] <- 1;",
        "mem[condition_c_global_c_0] <- 0;", "mem[lock_m_global_m_0] <- 0;", "await(mem[waits_2_c_global_c_0] == 0);",
        "await_add(0, mem[lock_m_global_m_0] == 0, 1);",
    ]  # fmt: skip
    assert len([line for line in found[0, 0] if line.startswith("waits")]) == 2


def test_waits_for_a_condition_that_are_wrong() -> None:
    once = conditions("pthread_cond_signal(&c);", POSIX | {"WAIT": "pthread_cond_wait(&c, &m);"})
    with pytest.raises(SourceError, match="that is in no loop"):
        parse_c(once).program(1)
    bare = check(parse_c(conditions("", POSIX | {"LOCK": "", "UNLOCK": ""})), 1)
    assert {each.call.rule.code for each in bare.illegal_calls} == {"condition-without-mutex"}


RESULTS = """#include <shmem.h>
#include <pthread.h>
long x, y; int in;
static void *work(void *p) {{ shmem_long_p(&x, 1, 0); {work} }}
int main(void) {{ int p; pthread_t t; void *r; shmem_init_thread(SHMEM_THREAD_MULTIPLE, &p);
pthread_create(&t, 0, work, 0); pthread_join(t, &r); {use} shmem_finalize(); return 0; }}
"""


@pytest.mark.parametrize(
    ("work", "use", "line"),
    [
        ("return (void *)3L;", "y = (long)r;", None),
        ("return &y;", "*(long *)r = 7; shmem_long_p(&y, 8, 0);", "mem[y] <- 7;"),
        ("if (x) pthread_exit((void *)1L); return (void *)2L;", "y = (long)r + 5;", "result <- mem[result_1];"),
        ("return (void *)shmem_long_g(&x, 0);", "y = (long)r;", "result <- mem[result_1];"),
    ],
)
def test_results_of_threads(work: str, use: str, line: str | None) -> None:
    found = threads(RESULTS.format(work=work, use=use), 1)[0, 0]
    assert line in found if line else not [each for each in found if "result" in each]


def test_a_result_that_may_point_to_several_variables() -> None:
    with pytest.raises(SourceError, match="the result of a thread is not known here"):
        parse_c(RESULTS.format(work="return x ? &x : &y;", use="y = *(long *)r;")).program(1)


LOCAL = """#include <shmem.h>
#include <pthread.h>
#include <assert.h>
static _Thread_local int mine = 4, other[2] = {{1, 2}}; long x;
static void *work(void *p) {{ assert(mine == 4); mine = 7; other[1] = 9; shmem_long_p(&x, mine, 0); return 0; }}
int main(void) {{ int p; pthread_t t; shmem_init_thread(SHMEM_THREAD_MULTIPLE, &p); mine = 5;
pthread_create(&t, 0, work, 0); pthread_join(t, 0); {then} shmem_finalize(); return 0; }}
"""


def test_thread_local_variables_of_c() -> None:
    """They were taken for variables that all threads share."""
    right, wrong = ("assert(mine == 5 && other[1] == 2);", "assert(mine == 7);")
    assert check(parse_c(LOCAL.format(then=right)), 1).assertions == "hold"
    assert check(parse_c(LOCAL.format(then=wrong)), 1).assertions != "hold"
    with pytest.raises(SourceError, match="thread-local variables of a thread after others"):
        parse_c(LOCAL.format(then="pthread_create(&t, 0, work, 0); pthread_join(t, 0);")).program(1)
