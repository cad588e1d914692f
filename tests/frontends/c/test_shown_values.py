"""What C programs show: nothing of it may depend on which of several flags a rank sees first, or the reads are events
(`proofs/polling.md`, section 5)."""

from __future__ import annotations

import pytest

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


def is_violated(**parts: str) -> bool:
    text = ROUNDS % {"before": "", "round": "", "seen": "", "after": "", "end": "", **parts}
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
    ],
    ids=str,
)
def test_where_it_is_not_the_reads_are_events(parts: dict[str, str]) -> None:
    assert is_violated(**parts)
