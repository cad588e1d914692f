"""Random programs in C that all ranks execute alike, with numbers that differ by rank: what ranks may do at once."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

SHMEM = {
    "begin": "#include <shmem.h>\n#include <stdio.h>\n#include <stdlib.h>\nstatic int a[4], b[4], done;\n"
    "int main(void) {\n  shmem_init();\n  int me = shmem_my_pe(), n = shmem_n_pes();\n",
    "end": "  shmem_barrier_all();\n  shmem_finalize();\n  return 0;\n}\n",
    "barrier": "shmem_barrier_all();",
    "calls": (
        "shmem_int_p(&a[{e}], {v}, {r});",
        "x = shmem_int_g(&b[{e}], {r});",
        "shmem_int_put(&a[{e}], &own[{e}], 1, {r});",
        "shmem_int_put_nbi(&b[{e}], own, 2, {r});",
        "shmem_int_get(&own[{e}], &a[{e}], 1, {r});",
        "shmem_quiet();",
        "shmem_int_atomic_add(&b[{e}], {v}, {r});",
        "y = shmem_int_atomic_fetch_inc(&a[{e}], {r});",
        "x = shmem_int_atomic_compare_swap(&done, {v}, me + 1, {r});",
    ),
}
MPI = {
    "begin": "#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv) {\n"
    "  int me, n, a[4] = {0}, b[4] = {0}, done = 0;\n  MPI_Win w;\n  MPI_Init(&argc, &argv);\n"
    "  MPI_Comm_rank(MPI_COMM_WORLD, &me);\n  MPI_Comm_size(MPI_COMM_WORLD, &n);\n"
    "  MPI_Win_create(a, sizeof a, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &w);\n"
    "  MPI_Win_lock_all(0, w);\n",
    "end": "  MPI_Win_unlock_all(w);\n  MPI_Win_free(&w);\n  MPI_Finalize();\n  return 0;\n}\n",
    "barrier": "MPI_Win_flush_all(w); MPI_Barrier(MPI_COMM_WORLD);",
    "calls": (
        "MPI_Put(&own[{e}], 1, MPI_INT, {r}, {e}, 1, MPI_INT, w);",
        "MPI_Get(&own[{e}], 1, MPI_INT, {r}, {e}, 1, MPI_INT, w); MPI_Win_flush({r}, w);",
        "MPI_Accumulate(own, 1, MPI_INT, {r}, {e}, 1, MPI_INT, MPI_SUM, w);",
        "MPI_Fetch_and_op(&own[{e}], &y, MPI_INT, {r}, {e}, MPI_SUM, w); MPI_Win_flush_local({r}, w);",
        "MPI_Win_flush({r}, w);",
        "MPI_Win_sync(w);",
        "b[{e}] = a[{e}];",
    ),
}
OWN = (
    "x = {v};",
    "own[{e}] = {v};",
    "x += own[{e}] * me;",
    "y = (me * {k} + x) % n;",
    "q = &own[{e}]; *q += {v};",
    "q = me % 2 ? own : own + 1;",
    "d = me * 0.5 + {k}; x = (int) d;",
    "a[{e}] = {v};",
    'printf("%d %d\\n", x, own[{e}]);',
    "u = rand() % 2; if (u) x = me;",
    "name[{e}] = 'a' + me;",
    "memory = malloc(2 * sizeof(int)); memory[0] = {v}; x = memory[0]; free(memory);",
)
RANKS = ("(me + 1) % n", "(me + n - 1) % n", "0", "n - 1", "me", "me / 2", "(me + y) % n")
ELEMENTS = ("0", "1", "me % 4", "(me + 1) % 4", "i % 4", "3 - me % 2", "(unsigned) y % 4")
VALUES = ("1", "me", "me + 1", "x", "me == 0", "n - me", "10 * me + i", "own[0]", "d > 1.0")
CONDITIONS = ("me == 0", "me < n - 1", "me % 2", "x > 1", "y == me", "own[me % 4]", "n > 2", "me > 0 && own[1]")


def program(seed: int) -> str:
    """The text of the program by ``seed``."""
    random = Random(seed)
    api = random.choice((SHMEM, MPI))
    declared = "  int x = 0, y = 0, i = 0, u = 0, own[4] = {0}, *q = own, *memory;\n  double d = 0;\n  char name[4];\n"
    lines = _statements(random, api, random.randint(4, 10), 0)
    return api["begin"] + declared + "".join(f"  {line}\n" for line in lines) + api["end"]  # type: ignore[operator]


def _statements(random: Random, api: dict[str, object], length: int, depth: int) -> Iterator[str]:
    # Many programs have no branch by rank, so that all go on as one.
    conditions = CONDITIONS if random.random() < 0.3 else ("n > 2", "y == 1", "x > 1000")
    for _ in range(length):
        match random.random():
            case part if part < 0.4:
                yield _filled(random, random.choice(api["calls"]))  # type: ignore[arg-type]
            case part if part < 0.7:
                yield _filled(random, random.choice(OWN))
            case part if part < 0.8 and not depth:
                yield str(api["barrier"])
            case part if part < 0.86 and depth < 2:
                yield f"if ({random.choice(conditions)}) {{"
                yield from _statements(random, api, random.randint(1, 3), depth + 1)
                if random.random() < 0.4:
                    yield "} else {"
                    yield from _statements(random, api, random.randint(1, 2), depth + 1)
                yield "}"
            case _ if depth < 2:
                yield f"for (i = 0; i < {random.choice(('2', 'n', '3', '3 - me % 2'))}; i++) {{"
                yield from _statements(random, api, random.randint(1, 3), depth + 1)
                yield "}"


def _filled(random: Random, template: str) -> str:
    kinds = {"e": ELEMENTS, "v": VALUES, "r": RANKS, "k": ("2", "3", "5")}
    return "".join(
        random.choice(kinds[part[0]]) + part[2:] if part[1:2] == "}" and part[0] in kinds else part
        for part in template.replace("{", "\0").split("\0")
    )
