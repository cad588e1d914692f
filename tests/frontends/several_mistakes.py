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
    "outside of functions, and in them": (
        [("PG107", 2), ("PG107", 3), ("PG107", 5), ("PG126", 14), ("PG122", 15)],
        """\
#include <mpi.h>
int left_of(int r, int n) { return (r + n - 1 % n; }
static int total
static double sums[4];
struct cell { int value; int owner };
int main(int argc, char **argv) {
  struct cell c;
  MPI_Win w;
  int me, n;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Win_create(&c, sizeof c, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
  MPI_Win_fence(w);
  c.val = left_of(me, n);
  MPI_Win_free(&w);
  MPI_Finalize();
}
""",
    ),
    "brackets of a function, and one too many": (
        [("PG124", 2), ("PG107", 3), ("PG107", 10), ("PG126", 12)],
        """\
#include <shmem.h>
int data[4], data2[];
static int sum(int *v, int n {
  int s = 0;
  for (int i = 0; i < n; i++) s += v[i];
  return s;
}
int main(void) {
  shmem_init();
  shmem_int_put(data, data, 4, 1));
  shmem_barrier_all();
  int r = sum(data, "4", 1);
  shmem_finalize();
  return r;
}
""",
    ),
    "a bracket of an if": (
        [("PG107", 5), ("PG122", 8), ("PG107", 9), ("PG126", 10)],
        """\
#include <GASPI.h>
#define SEG 0
#define SIZE 64
int main(int argc, char *argv[]) {
  gaspi_rank_t me num;
  gaspi_proc_init(GASPI_BLOCK);
  gaspi_proc_rank(&me);
  gaspi_segment_create(SEG, SIZ, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);
  if (me == 0 {
    gaspi_write(SEG, 0, 1, SEG, 0, 8, 0);
  }
  gaspi_wait(0, GASPI_BLOCK);
  gaspi_proc_term(GASPI_BLOCK);
}
""",
    ),
    "an enumeration that is wrong": (
        [("PG121", 2), ("PG122", 6), ("PG123", 11), ("PG107", 12)],
        """\
#include <mpi.h>
enum kind { RED, GREEN, RED };
int pick(enum kind k) {
  switch (k) {
  case RED: return 1;
  case BLUE: return 2;
  }
  return 0;
}
int main(int argc, char **argv) {
  MPI_Init(&argc &argv);
  int x = pick(GREEN), y = x +;
  MPI_Finalize();
  return y;
}
""",
    ),
    "a bracket of a loop": (
        [("PG107", 5), ("PG123", 6), ("PG126", 7), ("PG122", 7)],
        """\
#include <GASPI.h>
int main(void) {
  gaspi_proc_init(GASPI_BLOCK);
  int i, *q;
  while (i < 3 i++;
  q = 3.0;
  gaspi_notify(0, 0, 1, 0, 1, 0, GASPI_BLOK);
  gaspi_proc_term(GASPI_BLOCK);
}
""",
    ),
    "an unknown type, and its variable as an argument": (
        [("PG122", 2), ("PG126", 6), ("PG125", 7), ("PG123", 8), ("PG107", 10)],
        """\
#include <mpi.h>
inti counter;
int main(int argc, char **argv) {
  MPI_Request r; MPI_Status s;
  MPI_Init(&argc, &argv);
  MPI_Isend(&counter, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &r, &s);
  MPI_Wai(&r, &s);
  s = r;
  MPI_Finalize();
  retrun 0;
}
""",
    ),
    "a bracket of a call": (
        [("PG107", 4), ("PG107", 5), ("PG126", 9), ("PG122", 10)],
        """\
#include <shmem.h>
long flag, turn[2];
void lock(int me) {
  shmem_long_p(&turn[me], 1, 1 - me;
  shmem_long_wait_until(&turn[1 - me] SHMEM_CMP_EQ, 0);
}
int main(void) {
  shmem_init();
  lock();
  flag = undefined_thing;
  shmem_finalize();
}
""",
    ),
    "a bracket and a `;` in one place": (
        [("PG107", 4), ("PG107", 4), ("PG126", 6), ("PG125", 10), ("PG123", 11)],
        """\
#include <mpi.h>
#include <stdlib.h>
#define COUNT 4
int *alloc(int n) { return malloc(n * sizeof(int) }
int main(int argc, char **argv) {
  int me, np, *buf = alloc();
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_sizes(MPI_COMM_WORLD, &np);
  MPI_Win_create(buf, COUNT * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
""",
    ),
    "two `;`, and what stands behind them": (
        [("PG107", 4), ("PG107", 7), ("PG123", 8), ("PG125", 9), ("PG125", 11)],
        """\
#include <shmem.h>
#include <stdio.h>
static long lock = 0;
static int value
int helper(int a, int b);
int main(void) {
  shmem_init()
  shmem_set_lock(lock);
  value += helper(1);
  shmem_clear_lock(&lock);
  print("%d", value);
  shmem_finalize();
}
""",
    ),
    "the header of a loop": (
        [("PG126", 8), ("PG107", 9), ("PG122", 10), ("PG126", 11)],
        """\
#include <mpi.h>
#include <armci.h>
int main(int argc, char **argv) {
  int me, *p[2], v = 7;
  MPI_Init(&argc, &argv);
  ARMCI_Init();
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  ARMCI_Malloc((void **)p, sizeof(int), 1);
  for (int i = 0, i < 2; i++) v += i;
  ARMCI_Put(&v, p[1], sizeof v, rank);
  ARMCI_Fence(1, 2);
  ARMCI_Finalize();
  MPI_Finalize();
}
""",
    ),
    "a `;` before `static`": (
        [("PG107", 4), ("PG123", 7), ("PG122", 8), ("PG123", 9), ("PG126", 13)],
        """\
#include <mpi.h>
typedef unsigned int uint;
typedef struct { uint head, tail; } ring;
uint capacity = 8
static ring *r;
void push(ring *q, uint v) {
  q.head = v;
  r->size = 1;
  return v;
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  push(r);
  MPI_Finalize();
}
""",
    ),
    "a bracket of an array, and what stands behind a `;`": (
        [("PG107", 3), ("PG107", 8), ("PG123", 10), ("PG125", 11)],
        """\
#include <mpi.h>
#include <armci.h>
double vector[8;
int main(int argc, char **argv) {
  void *p[2];
  MPI_Init(&argc, &argv);
  ARMCI_Init();
  ARMCI_Malloc(p, 8)
  double d = vector[0];
  d->x = 1;
  ARMCI_Barier();
  ARMCI_Free(p[0]);
  ARMCI_Finalize();
  MPI_Finalize();
}
""",
    ),
    "a macro with an argument too few": (
        [("PG126", 14), ("PG105", 15), ("PG122", 16), ("PG125", 17), ("PG122", 21)],
        """\
#include <mpi.h>
#include <stdlib.h>
#define LEFT(r, n) (((r) + (n) - 1) % (n))
#define PUT(buf, cnt, to) MPI_Put(buf, cnt, MPI_INT, to, 0, cnt, MPI_INT, win)

int main(int argc, char **argv)
{
    int rank, size, *mem;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    MPI_Win_lock_all(win);
    PUT(mem, 1, LEFT(rank));
    PUT(mem + 1, cout, 0);
    MPI_Win_flush_al(win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return EXIT_SUCCES;
}
""",
    ),
    "a brace that the indentation shows to be missing": (
        [("PG125", 15), ("PG122", 16), ("PG122", 17), ("PG107", 24), ("PG126", 25)],
        """\
/* a counter with a lock */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static uint64_t counter;
static long lock;

static inline uint64_t bump(int pe)
{
  uint64_t old;
  shmem_set_lock(&lock);
  old = shmem_uint64_g(&counter, pe);
  shmem_uint64_p(&counter, old + 1, pe);
  shmem_quit();
  shmem_clear_lock(&lok);
  return odl;
}

int main(void)
{
  shmem_init();
  const int pes = shmem_n_pes();
  for (int k = 0; k < 2; k++) {
    bump(k % pes, 1);
  shmem_barrier_all();
  printf("%lu\\n", (unsigned long)counter);
  shmem_finalize();
  return 0;
}
""",
    ),
    "a brace too many, and a macro call that is not closed": (
        [("PG107", 7), ("PG105", 14), ("PG123", 15), ("PG105", 17), ("PG125", 18)],
        """\
#include <mpi.h>
#include <stdio.h>
#define CHECK(call) if ((call) != MPI_SUCCESS) return 1
static int twice(int x) {
  if (x < 0) {
    return 0;
    }
  }
  return 2 * x;
}
int main(int argc, char **argv) {
  int me, cell;
  MPI_Win win;
  CHECK(MPI_Init(&argc, &argv);
  CHECK(MPI_Comm_rank(MPI_COMM_WORLD, me));

  CHECK(MPI_Win_create(&cell, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win), 0);
  printf("%d\\n", tiwce(me));
  MPI_Finalize();
}
""",
    ),
}
