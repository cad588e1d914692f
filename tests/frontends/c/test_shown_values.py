"""What C programs show: nothing of it may depend on which of several flags a rank sees first, or the reads are events
(`proofs/polling.md`, section 5)."""

from __future__ import annotations

import pytest

import pgasrob
from pgasrob.frontends.lower import parse_c
from pgasrob.reference.attack_search import AttackSearch
from pgasrob.robustness.reduction import REDUCTIONS

ROUNDS = """#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static long flag[3];
static int order[3];
static int there(int i) { return shmem_long_test(&flag[i], SHMEM_CMP_EQ, 1); }
%(before)s
int main(void) {
    shmem_init();
    int me = shmem_my_pe(), k = 0, first = -1, tries = 0;
    (void)k; (void)first; (void)tries;
    if (me == 1) {
        for (int i = 0; i < 3; i++) shmem_long_p(&flag[i], 1, 0);
    } else {
        int left = 3, done[3] = {0, 0, 0};
        while (left > 0) {
            %(round)s
            for (int i = 2; i >= 0; i--)
                if (!done[i] && there(i)) { done[i] = 1; left--; %(seen)s }
        }
        %(after)s
    }
    shmem_finalize();
    %(end)s
    return 0;
}
"""


POLL = """#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long a, b;
static int tries, noted, verbose;
static char text[8];
%(before)s
int main(void) {
    shmem_init();
    int me = shmem_my_pe(), s = 0, t = 0, log[2] = {0, 0};
    long x = 0, y = 0;
    (void)s; (void)t; (void)log;
    if (me == 1) {
        shmem_long_p(&a, 1, 0);
        shmem_long_p(&b, 1, 0);
    } else {
        %(start)s
        while (!(x && y)) {
            %(first)s
            y = shmem_long_atomic_fetch(&b, 0);
            x = shmem_long_atomic_fetch(&a, 0);
            %(round)s
        }
        %(after)s
    }
    shmem_finalize();
    %(end)s
    return 0;
}
"""
"""No SC run sees b and then not a. Where nobody hears of it, the loop waits for both."""


def is_violated(template: str = ROUNDS, **parts: str) -> bool:
    text = template % {**dict.fromkeys(("before", "start", "first", "round", "seen", "after", "end"), ""), **parts}
    search = AttackSearch(parse_c(text).program(2).instantiate(), REDUCTIONS)
    for _ in search.run():
        pass
    return search.violation is not None


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"after": 'puts("all there");'},
        {"after": 'if (me == 0) printf("rank %d\\n", me);', "end": 'printf("rank %d ends\\n", me);'},
        {"seen": "first = i;"},  # nobody asks
        {"seen": "usleep(10);"},
        {"round": "tries++;", "after": 'printf("%d rounds\\n", tries);'},
        {"seen": "order[left] = i;", "after": "(void)order;"},
    ],
    ids=str,
)
def test_what_is_shown_is_the_same_in_any_order(parts: dict[str, str]) -> None:
    assert not is_violated(**parts)


@pytest.mark.parametrize(
    "parts",
    [
        {"seen": 'printf("%d is there\\n", i);'},
        {"seen": 'puts("one more");'},  # a round with two lines is another one than two rounds with one
        {"round": 'puts("not yet");'},
        {"before": 'static void tell(int i) { printf("%d\\n", i); }', "seen": "tell(i);"},
        {"seen": "k = k * 3 + i;", "after": 'printf("%d\\n", k);'},
        {"seen": "k = k * 3 + i;", "end": 'printf("%d\\n", k);'},
        {"seen": "if (first < 0) first = i;", "end": 'printf("%d\\n", first);'},
        {"seen": "if (first < 0) first = i;", "end": 'if (first == 2) puts("2 came first");'},
        {"seen": "if (first < 0) first = i;", "end": "return first;"},
        {"seen": "if (first < 0) first = i;", "end": "exit(first);"},
        {"seen": "order[left] = i;", "end": 'printf("%d\\n", order[0]);'},
        {"seen": "if (left == 2) tries++;", "end": 'printf("%d\\n", tries);'},
        {
            "before": "static int last(int i, int of) { return of < 0 ? i : of; }",
            "seen": "first = last(i, first);",
            "end": 'printf("%d\\n", first);',
        },
        {
            "before": 'static void tell(int i) { printf("%d\\n", i); }',
            "seen": "if (first < 0) first = i;",
            "end": "tell(first);",
        },
        {
            "before": "#include <string.h>\nstatic char text[8];",
            "seen": 'strcat(text, i == 2 ? "c" : "x");',
            "end": "puts(text);",
        },
        {"seen": "if (first < 0) first = i;", "after": "k = first == 2 ? 7 : 8;", "end": 'printf("%d\\n", k);'},
    ],
    ids=str,
)
def test_where_it_is_not_the_reads_are_events(parts: dict[str, str]) -> None:
    assert is_violated(**parts)


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"after": 'printf("%ld %ld\\n", x, y);', "end": "return x + y;"},
        {"round": 'puts("waiting");'},
        {"round": "s++;", "after": 'printf("%d rounds\\n", s);'},
        {"round": 's++; if (s % 100 == 0) printf("[%d] waiting since %d rounds\\n", me, s);'},
        {"round": 'if (me == 0) puts("waiting");'},
        {"start": "verbose = 1;", "round": 'if (verbose) puts("waiting");'},
        {"before": 'static void waits(int me) { if (verbose) printf("[%d] waits\\n", me); }', "round": "waits(me);"},
        {"round": "s = y && !x;", "after": 'printf("%d\\n", s);'},  # of the last round
        {"round": "if (y && !x) s = 1;"},  # nobody asks
        {"round": "if (y && !x) s = 1;", "after": 's = 0; printf("%d\\n", s);'},
        {"round": "s = 0; for (int i = 0; i < 2; i++) s += i;", "after": 'printf("%d\\n", s);'},
        {"round": "t = (int)(x + y);", "after": 'printf("%d of %d\\n", t, 2);'},
        {"before": "#include <time.h>", "round": 'if (time(NULL) > 99) fprintf(stderr, "slow\\n");'},
        {"round": "putchar(46); if (++s == 10) { putchar(10); s = 0; }"},
        {"round": 'for (int i = 0; i < 3; i++) printf("%d\\n", i);'},
        {"round": "if (x > 1) shmem_global_exit(2);", "after": 'printf("%d\\n", me);'},
        {"first": "shmem_getmem(&y, &b, sizeof y, 0);", "after": 'printf("%ld\\n", y);'},
    ],
    ids=str,
)
def test_a_round_that_leaves_nothing_behind_is_a_failed_poll(parts: dict[str, str]) -> None:
    assert not is_violated(POLL, **parts)


@pytest.mark.parametrize(
    "parts",
    [
        {"round": "if (y && !x) s = 1;", "after": 'printf("%d\\n", s);'},
        {"round": "if (y && !x) s = 1;", "end": "return s;"},
        {"round": "if (y && !x) s = 1;", "end": "exit(s);"},
        {"round": "if (y && !x) s = 1;", "after": 'if (s) puts("b"); else puts("a");'},
        {"round": "s |= y && !x;", "after": "t = s;", "end": 'printf("%d\\n", t + 1);'},
        {"round": "if (y && !x) log[1] = 1;", "after": 'printf("%d\\n", log[1]);'},
        {"round": "if (y && !x) noted = 1;", "after": 'printf("%d\\n", noted);'},
        {"round": "if (y && !x) tries++;", "after": 'printf("%d\\n", tries);'},
        {"round": 'if (y && !x) strcpy(text, "b");', "after": "puts(text);"},
        {"round": 'if (y && !x) puts("b");'},
        {"round": 'printf("%ld %ld\\n", y, x);'},
        {"first": "if (log[0]) s = 1;", "round": "log[0] = y && !x;", "end": "return s;"},
        {"round": "t = y && !x;", "first": "if (t) s = 1;", "after": 'printf("%d\\n", s);'},
        {"round": "if (y && !x) t = 1;", "after": 's = t ? 2 : 1; printf("%d\\n", s);'},
        {"before": "static void note(int seen) { if (seen) noted = 1; }", "round": "note(y && !x);",
         "end": "return noted;"},
        {"before": 'static void tell(int seen) { if (seen) puts("b"); }', "round": "tell(y && !x);"},
        {"before": 'static void tell(long at) { at = shmem_long_atomic_fetch(&b, 0); printf("%ld\\n", at); }',
         "round": "tell(0);"},
        {"before": "static int kept(int s, long y, long x) { return y && !x ? 1 : s; }", "round": "s = kept(s, y, x);",
         "after": 'printf("%d\\n", s);'},
        {"before": 'static void tell(int s) { printf("%d\\n", s); }', "round": "if (y && !x) s = 1;",
         "after": "tell(s);"},
        {"before": "static int shown(int s) { return s + 1; }", "round": "if (y && !x) s = 1;",
         "after": 'printf("%d\\n", shown(s));'},
        {"before": 'static void last(void) { printf("%d\\n", noted); }', "start": "atexit(last);",
         "round": "if (y && !x) noted = 1;"},
        {"round": "if (y && !x) s = 1;", "end": "if (s) shmem_global_exit(s);"},
        {"round": "if (y && !x) s = 1;", "end": "fwrite(&s, sizeof s, 1, stderr);"},
        {"round": "for (int i = 0; i < (y && !x); i++) s++;", "after": 'printf("%d\\n", s);'},
        {"round": "int n = 1 + (y && !x); do { s++; } while (--n);", "after": 'printf("%d\\n", s);'},
        {"round": 'for (const char *p = y && !x ? "x" : ""; *p; p++) s++;', "after": 'printf("%d\\n", s);'},
        {"round": 'for (int i = 0; i < (y && !x); i++) puts("b");'},
        {"round": "if (y) { if (x) break; s = 1; }", "after": 'printf("%d\\n", s);'},
        {"round": 'if (y) { if (x) break; puts("b"); }'},
        {"round": "if (!y) continue; if (x) break; s = 1;", "after": 'printf("%d\\n", s);'},
        {"start": "while (!y) y = shmem_long_atomic_fetch(&b, 0); while (!x) { x = shmem_long_atomic_fetch(&a, 0); "
                  "if (!x) s = 1; }", "after": 'printf("%d\\n", s);'},
        {"start": "while (!y) y = shmem_long_atomic_fetch(&b, 0); while (1) { x = shmem_long_atomic_fetch(&a, 0); "
                  "if (x) break; s = 1; }", "after": 'printf("%d\\n", s);'},
        {"start": "int *where = &noted;", "round": "if (y && !x) *where = 1;", "after": 'printf("%d\\n", noted);'},
        {"before": "static int *where = &noted;", "round": "if (y && !x) *where = 1;", "end": "return noted;"},
        {"start": 'strcpy(text, "xy"); char *p = strchr(text, 120);', "round": "if (y && !x) *p = 97;",
         "after": "puts(text);"},
        {"before": "#include <stdint.h>\nstatic uintptr_t where;", "start": "where = (uintptr_t)&noted;",
         "round": "if (y && !x) *(int *)where = 1;", "end": "return noted;"},
        {"start": "int (*out)(const char *, ...) = printf;", "round": "if (y && !x) s = 1;",
         "after": 'out("%d\\n", s);'},
        {"before": "#include <stdarg.h>\nstatic void tell(const char *form, ...)\n"
                   "{ va_list list; va_start(list, form); vprintf(form, list); va_end(list); }",
         "round": "if (y && !x) s = 1;", "after": 'tell("%d\\n", s);'},
        {"round": "if (y && !x) __atomic_store_n(&s, 1, __ATOMIC_SEQ_CST);", "after": 'printf("%d\\n", s);'},
        {"before": "#include <errno.h>", "round": "if (y && !x) errno = 7;", "after": 'perror("x");'},
        {"before": 'static void first(void) { puts("b"); }\nstatic void second(void) { puts("a"); }',
         "round": "if (y && !x) s = 1;", "after": "void (*tell)(void) = s ? first : second; tell();"},
    ],
    ids=str,
)  # fmt: skip
def test_one_that_leaves_what_is_shown_later_is_none(parts: dict[str, str]) -> None:
    assert is_violated(POLL, **parts)


def poll(**parts: str) -> str:
    return POLL % {**dict.fromkeys(("before", "start", "first", "round", "after", "end"), ""), **parts}


def test_what_earlier_rounds_leave_is_compared_where_it_can_be_told() -> None:
    """What is read last, and memory, are as in SC runs."""
    verdict = pgasrob.check(parse_c(poll(round="if (y && !x) s = 1;", end="return s;")), nodes=2)
    assert verdict.verdict == "not robust" and verdict.effect is not None
    assert verdict.effect.kind == "outcome" and verdict.by_display
    verdict = pgasrob.check(parse_c(poll(round="if (y && !x) text[0] = 1;", after="puts(text);")), nodes=2)
    assert verdict.verdict == "not robust" and verdict.effect is not None
    assert verdict.effect.kind == "none found" and "earlier rounds" in str(verdict.effect.reason)


def test_no_race_is_said_to_change_nothing_there() -> None:
    """SC runs show by whom the race has been won. (An atomic read of one's own memory is a look, and no race.)"""
    one = LATE % "if (!x) s = 1;"
    verdict = pgasrob.check(parse_c(one.replace("shmem_long_atomic_fetch(&a, 0)", "a")), nodes=2)
    assert verdict.verdict == "robust" and verdict.races is not None
    assert verdict.races.answer == "unknown" and "earlier rounds" in str(verdict.races.reason)
    for text in (one, LATE % ""):
        verdict = pgasrob.check(parse_c(text), nodes=2)
        assert verdict.races is not None and verdict.races.answer == "none"


LATE = """#include <shmem.h>
#include <stdio.h>
static long a;
int main(void) {
    shmem_init();
    long x = 0;
    int s = 0;
    if (shmem_my_pe() == 1)
        shmem_long_p(&a, 1, 0);
    else
        while (!x) { x = shmem_long_atomic_fetch(&a, 0); %s }
    shmem_finalize();
    return s;
}
"""


EXCHANGE = """#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank, one = 1, seen = 0, late = 0, *shared;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &win);
    shared[0] = shared[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPI_Put(&one, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
    MPI_Win_flush(1 - rank, win);
    MPI_Accumulate(&one, 1, MPI_INT, 1 - rank, 1, 1, MPI_INT, MPI_REPLACE, win);
    do {
        MPI_Fetch_and_op(NULL, &seen, MPI_INT, rank, 1, MPI_NO_OP, win);
        MPI_Win_flush(rank, win);
        %s
    } while (!seen);
    printf("%%d %%d %%d\\n", seen, late, shared[0]);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
}
"""


@pytest.mark.parametrize(("round", "violated"), [("", False), ("if (!seen) late = 1;", True), ("late++;", False)])
def test_the_value_of_the_only_flag_may_be_shown(round: str, violated: bool) -> None:
    search = AttackSearch(parse_c(EXCHANGE % round).program(2).instantiate(), REDUCTIONS)
    for _ in search.run():
        pass
    assert (search.violation is not None) is violated
