"""Sources with several mistakes each, and what is said of them: the code and the line of each, in order."""

from __future__ import annotations

SOURCES: dict[str, tuple[list[tuple[str, int]], str]] = {
    "a semicolon, a name of a call, a type": (
        [("PG107", 4), ("PG122", 5), ("PG125", 7)],
        """\
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, size
  uint23_t x = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rnk(MPI_COMM_WORLD, &rank);
  MPI_Finalize();
  return x + size;
}
""",
    ),
    "numbers and types of arguments": (
        [("PG123", 6), ("PG123", 7), ("PG126", 8), ("PG123", 9)],
        """\
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank; MPI_Win w; double x[4];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Win_create(x, sizeof x, 1, MPI_INFO_NULL, MPI_COMM_WORLD, w);
  MPI_Win_fence(w);
  MPI_Win_free(w);
  MPI_Finalize();
}
""",
    ),
    "two arguments of one call": (
        [("PG122", 6), ("PG123", 7), ("PG123", 7), ("PG122", 8)],
        """\
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank; MPI_Win w;
  MPI_Init(&argc, &argv);
  MPI_Put(rank, undeclared, MPI_INT, 0, 0, 1, MPI_INT, w);
  MPI_Put(rank, 1, MPI_INT, 0, 0, 1, MPI_INT, &w);
  return other;
}
""",
    ),
    "a condition that cannot be read, and what stands below it": (
        [("PG107", 5), ("PG122", 6), ("PG122", 8), ("PG122", 9)],
        """\
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank = 0;
  if (rank == ) {
    rank = first;
  }
  while (rank < second) {
    third++;
  }
  return 0;
}
""",
    ),
    "a name that is used again and again is told once": (
        [("PG122", 6), ("PG125", 9), ("PG122", 11)],
        """\
#include <shmem.h>
#include <stdio.h>
static int flag;
int main(void) {
  shmem_init();
  for (int i = 0; i < count; i++)
    flag += count;
  shmem_int_p(&flag, count, 0);
  shmem_qiuet();
  shmem_qiuet();
  return missing;
}
""",
    ),
    "what is declared wrongly is not unknown": (
        [("PG122", 5), ("PG107", 6), ("PG125", 8)],
        """\
#include <shmem.h>
#include <stdio.h>
static int flag;
int main(void) {
  flaot x = 1, y[3];
  int n = 2
  x = y[0] + n;
  shmem_finalise();
  return x;
}
""",
    ),
    "three functions": (
        [("PG122", 2), ("PG107", 3), ("PG126", 4), ("PG122", 4)],
        """\
#include <shmem.h>
int one(void) { return a; }
int two(void) { return b +; }
int main(void) { shmem_int_g(1); return one() + two() + c; }
""",
    ),
    "names in one expression": (
        [("PG122", 6), ("PG122", 6), ("PG122", 7), ("PG122", 7), ("PG122", 8)],
        """\
#include <shmem.h>
#include <stdio.h>
static int flag;
int main(void) {
  int x = 0;
  x = a + b * x;
  printf("%d", c, d);
  return e;
}
""",
    ),
    "in a switch, a loop and a block": (
        [("PG122", 7), ("PG122", 8), ("PG122", 10), ("PG107", 11)],
        """\
#include <shmem.h>
#include <stdio.h>
static int flag;
int main(void) {
  int x = 0;
  switch (x) {
  case 0: x = a; break;
  default: y = 1;
  }
  do { x = b; } while (x);
  { x = c +; }
  return 0;
}
""",
    ),
    "a member, an operator, an assignment": (
        [("PG122", 6), ("PG123", 7), ("PG125", 8), ("PG123", 9)],
        """\
#include <shmem.h>
struct pair { int one, two; };
int main(void) {
  struct pair p = {0, 0};
  int *q = &p.one;
  p.three = 1;
  p = p + 1;
  shmem_barier_all();
  return *p;
}
""",
    ),
}
