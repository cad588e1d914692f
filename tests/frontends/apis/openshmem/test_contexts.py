"""What OpenSHMEM says of teams and contexts that are none, and of memory that is allocated again."""

from __future__ import annotations

import pytest

import pgasrob
from pgasrob.frontends.lower import parse_c

PROGRAM = """#include <shmem.h>
#include <assert.h>
#include <stddef.h>
static int x;
int main(void) {
  shmem_init();
  int me = shmem_my_pe();
  shmem_ctx_t c = SHMEM_CTX_DEFAULT;
  shmem_team_t t = SHMEM_TEAM_WORLD;
  shmem_team_config_t config;
  %s
  if (me < 2) shmem_barrier_all();
}"""


@pytest.mark.parametrize(
    ("before", "claim"),
    [
        # 1.5, section 9.5.2: the context that is not made is none.
        ("", "shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &c) != 0"),
        ("shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &c);", "c == SHMEM_CTX_INVALID"),
        ("shmem_team_create_ctx(SHMEM_TEAM_WORLD, 0, &c);", "c != SHMEM_CTX_INVALID && c != SHMEM_CTX_DEFAULT"),
        # 9.5.4
        ("", "shmem_ctx_get_team(SHMEM_CTX_INVALID, &t) != 0"),
        ("shmem_ctx_get_team(SHMEM_CTX_INVALID, &t);", "t == SHMEM_TEAM_INVALID"),
        ("t = SHMEM_TEAM_INVALID;", "shmem_ctx_get_team(c, &t) == 0 && shmem_team_n_pes(t) == 2"),
        # 9.5.3, 9.11.1 and 9.11.2: nothing is done.
        ("c = SHMEM_CTX_INVALID; shmem_ctx_fence(c); shmem_ctx_quiet(c); shmem_ctx_destroy(c);", "1"),
        # 9.4: teams that are none
        ("", "shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1 && shmem_team_n_pes(SHMEM_TEAM_INVALID) == -1"),
        ("", "shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD) == -1"),
        ("", "shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_INVALID) == -1"),
        ("", "shmem_team_translate_pe(SHMEM_TEAM_WORLD, 1, SHMEM_TEAM_WORLD) == 1"),
        ("", "shmem_team_get_config(SHMEM_TEAM_INVALID, 0, &config) != 0"),
        ("", "shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &t) != 0"),
        ("shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &t);", "t == SHMEM_TEAM_INVALID"),
        ("", "shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, NULL, 0, &t, NULL, 0, &t) != 0"),
        ("", "shmem_team_ptr(SHMEM_TEAM_INVALID, &x, 0) == NULL"),
        ("shmem_team_destroy(SHMEM_TEAM_INVALID);", "1"),
        # 1.6: sessions and what is known of the library
        (
            "shmem_ctx_session_config_t k = {4}; shmem_ctx_session_start(c, SHMEM_CTX_SESSION_BATCH, &k,"
            " SHMEM_CTX_SESSION_TOTAL_OPS); shmem_ctx_session_stop(c);",
            "k.total_ops == 4 && sizeof k == 8",
        ),
        ("int done; shmem_query_finalized(&done);", "!done && SHMEM_VENDOR_STRING != NULL"),
        ("int done; shmem_finalize(); shmem_query_finalized(&done);", "done"),
        # 9.3: what the old memory holds is there, as far as it fits
        ("int *p = shmem_malloc(8); p[1] = 7; p = shmem_realloc(p, 16);", "p[1] == 7"),
        ("int *p = shmem_realloc(NULL, 8); p[0] = 3; p = shmem_realloc(p, 4);", "p[0] == 3"),
        ("int *p = shmem_malloc(8);", "shmem_realloc(p, 0) == NULL"),
    ],
)
def test_handles_and_memory(before: str, claim: str) -> None:
    def checked(claim: str) -> pgasrob.Verdict:
        return pgasrob.check(parse_c(PROGRAM.replace("%s", f"{before} assert({claim});")), 2)

    found = checked(claim)
    assert (found.verdict, found.deadlock) == ("robust", False)
    assert found.assertions in (None, "hold")
    assert checked(f"!({claim})").assertions == "violated"


def test_memory_is_allocated_again_by_all() -> None:
    """What others have put into the old memory is there before it is copied, and nobody puts into the new one before
    that."""
    body = """
    int *p = shmem_malloc(4);
    if (me == 0) shmem_int_p(p, 5, 1);
    p = shmem_realloc(p, 8);
    if (me == 0) shmem_int_p(p, p[0] + 6, 1);
    shmem_barrier_all();
    if (me == 1) assert(p[0] == 6);
    """
    found = pgasrob.check(parse_c(PROGRAM.replace("%s", body)), 2)
    assert (found.verdict, found.assertions) == ("robust", "hold")
