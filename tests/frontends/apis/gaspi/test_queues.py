"""Full queues of GASPI, and what GPI-2 has beside the standard."""

from __future__ import annotations

import pytest

import pgasrob
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import parse_c
from pgasrob.frontends.options import FrontEnd

PROGRAM = """#include <GASPI.h>
#include <GASPI_Ext.h>
#include <assert.h>
#define CHECK(f) do { gaspi_return_t const r = f; if (r != GASPI_SUCCESS) gaspi_printf("%%d", r); } while (0)
#define POST(f) while ((r = (f)) == GASPI_QUEUE_FULL) { CHECK(gaspi_wait(0, GASPI_BLOCK)); } assert(r == GASPI_SUCCESS)
int main(void) {
  gaspi_rank_t me, n, local;
  gaspi_number_t count, most;
  gaspi_notification_id_t id;
  gaspi_notification_t value;
  gaspi_segment_id_t next;
  gaspi_return_t r;
  gaspi_pointer_t at;
  CHECK(gaspi_proc_init(GASPI_BLOCK));
  CHECK(gaspi_proc_rank(&me));
  CHECK(gaspi_proc_num(&n));
  CHECK(gaspi_segment_create(0, 64, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  CHECK(gaspi_segment_ptr(0, &at));
  volatile int *x = at;
  %s
  CHECK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  CHECK(gaspi_proc_term(GASPI_BLOCK));
  return 0;
}"""


def checked(body: str, shared: str | None = None) -> pgasrob.Verdict:
    return pgasrob.check(parse_c(PROGRAM.replace("%s", body), options=FrontEnd(shared_memory=shared)), 2)


SENDS = "if (me == 0) { x[0] = 7; POST(%s); %s } else { %s }"
RECEIVES = """CHECK(gaspi_notify_waitsome(0, 0, 1, &id, GASPI_BLOCK)); CHECK(gaspi_notify_reset(0, id, &value));
assert(x[1] == 7);"""


@pytest.mark.parametrize(
    ("post", "then", "expected"),
    [
        ("gaspi_write_notify(0, 0, 1, 0, 4, 4, 0, 1, 0, GASPI_BLOCK)", "", "robust"),
        ("gaspi_write(0, 0, 1, 0, 4, 4, 0, GASPI_BLOCK)", "POST(gaspi_notify(0, 1, 0, 1, 0, GASPI_BLOCK));", "robust"),
        # Another queue is not ordered behind it.
        ("gaspi_write(0, 0, 1, 0, 4, 4, 0, GASPI_BLOCK)", "POST(gaspi_notify(0, 1, 0, 1, 1, GASPI_BLOCK));",
         "not robust"),
        # What is posted may be read until it is waited for.
        ("gaspi_write_notify(0, 0, 1, 0, 4, 4, 0, 1, 0, GASPI_BLOCK)", "x[0] = 8;", "not robust"),
        ("gaspi_write_notify(0, 0, 1, 0, 4, 4, 0, 1, 0, GASPI_BLOCK)", "gaspi_wait(0, GASPI_BLOCK); x[0] = 8;",
         "robust"),
    ],
)  # fmt: skip
def test_the_idiom_for_full_queues(post: str, then: str, expected: str) -> None:
    body = SENDS
    for part in (post, then, RECEIVES):
        body = body.replace("%s", part, 1)
    found = checked(body)
    assert (found.verdict, found.deadlock) == (expected, False)
    assert found.assertions == ("hold" if expected == "robust" else found.assertions)


@pytest.mark.parametrize(
    ("before", "claim"),
    [
        ("", "GASPI_QUEUE_FULL == 23 && GASPI_ERR_INV_SEG == 10 && GASPI_ERR_MEMALLOC == 28 && GASPI_ERR_EMFILE == 2"),
        ("gaspi_queue_size_max(&most); gaspi_queue_size(0, &count);", "count < most"),
        ("gaspi_segment_avail_local(&next);", "next == 1"),
        ("gaspi_proc_local_rank(&local); gaspi_proc_local_num(&n);", "local == 0 && n == 1"),
        ("gaspi_proc_ping(1, GASPI_BLOCK); pgaspi_proc_rank(&local);", "local == me"),
    ],
)
def test_extensions(before: str, claim: str) -> None:
    assert checked(f"{before} assert({claim});").assertions is None
    assert checked(f"{before} assert(!({claim}));").assertions == "violated"


def test_ranks_of_a_node() -> None:
    body = "gaspi_proc_local_rank(&local); gaspi_proc_local_num(&n); assert(local == me && n == 2);"
    assert checked(body, "all").assertions is None


LARGER = """#include <GASPI.h>
int main(void) {
  gaspi_rank_t me; gaspi_proc_init(GASPI_BLOCK); gaspi_proc_rank(&me);
  gaspi_segment_create(0, me == LARGE ? 64 : 8, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
  if (me == 1) { gaspi_write(0, 0, 0, 0, 32, 4, 0, GASPI_BLOCK); gaspi_wait(0, GASPI_BLOCK); }
  gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
  gaspi_proc_term(GASPI_BLOCK); return 0;
}
"""


def test_segments_are_as_large_as_their_ranks_have_made_them() -> None:
    parse_c(LARGER.replace("LARGE", "0")).instantiate(2)
    with pytest.raises(SourceError, match="bytes 32 to 35 of segment 0 of rank 0, which has 8 bytes"):
        parse_c(LARGER.replace("LARGE", "1")).instantiate(2)
    assert pgasrob.check(parse_c(LARGER.replace("LARGE", "0")), 2).verdict != "error"
