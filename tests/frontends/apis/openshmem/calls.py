"""The program in which the tests of OpenSHMEM make calls."""

from __future__ import annotations

from tests.frontends.apis.lowering import processes

PRELUDE = """#include <shmem.h>
#include <stdint.h>
#include <stddef.h>
static int x, y, a[8], b[8];
static long l, la[8], lb[8], lock;
static double d, da[4];
static uint64_t sig;
static unsigned int u;
static short sh;
static char ca[8], cb[8];
int main(void) { shmem_init(); int me = shmem_my_pe(), n = shmem_n_pes(); long v = 3; (void)me; (void)n; (void)v;
%s
return 0; }"""


def lowered(call: str, nodes: int = 2) -> str:
    """What ``call`` becomes on rank 0."""
    return " ".join(processes(PRELUDE.replace("%s", call), nodes)[0])
