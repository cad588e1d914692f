"""Programs with three to five mistakes each, and what is said of them: the code and the line of each, in order."""

from __future__ import annotations

PROGRAMS: tuple[tuple[list[tuple[str, int]], str], ...] = (
    (
        [("PG011", 1), ("PG050", 5), ("PG018", 6), ("PG026", 7)],
        """\
nodes 2
memory x, y;
register r;
process {
  r <- mem[z];
  mem[x] = 1;
  barier;
}
""",
    ),
    (
        [("PG060", 1), ("PG051", 2), ("PG023", 5), ("PG050", 6), ("PG054", 7)],
        """\
memory a[4] = {1, 2, 3, 4, 5};
register r, r;
queue q;
process {
  write(a, 1, a);
  wait(p);
  goto agian;
}
""",
    ),
    (
        [("PG011", 3), ("PG010", 4), ("PG050", 4), ("PG032", 5)],
        """\
memory flag;
register r;
process 0 { mem[flag] <- 1 }
process 1 { await(flag == 1); r <- flg; }
process 0 { skip; }
""",
    ),
    (
        [("PG015", 2), ("PG027", 4), ("PG053", 5), ("PG021", 6)],
        """\
register r;
memory x = 0x10;
process {
  for (r <- 0; r < 3; r <- r + 1) { barrier; }
  x <- 2;
  assert(mem[x] == 1);
}
""",
    ),
    (
        [("PG031", 1), ("PG061", 2), ("PG020", 5), ("PG026", 6)],
        """\
nodes 0;
memory a[0];
register t;
process {
  t <- a[1];
  shmem_put(a, t, 1);
}
""",
    ),
    (
        [("PG010", 1), ("PG010", 4), ("PG010", 5), ("PG011", 6)],
        """\
memory x y;
register r;
process {
  loop { r <- r + ; }
  if r == 1 { skip; }
  choose { skip; } or { barrier }
}
""",
    ),
    (
        [("PG063", 2), ("PG062", 3), ("PG051", 5), ("PG023", 6), ("PG050", 6)],
        """\
program two;
program three;
memory big[100000];
register q;
queue q;
process { wait(q, 1); r <- 1; }
""",
    ),
    (
        [("PG026", 4), ("PG023", 5), ("PG028", 6), ("PG018", 7)],
        """\
memory lock;
register old;
process {
  old <- compare_swp(lock, 0, 1, me);
  old <- fetch_add(lock, 1);
  update(inc, lock, 1, 0);
  while (old = 0) { skip; }
}
""",
    ),
    (
        [("PG014", 1), ("PG055", 5), ("PG018", 6), ("PG016", 7)],
        """\
memory größe;
register r;
process {
  l: skip;
  l: skip;
  r := 4;
  r <- 4294967296;
}
""",
    ),
    (
        [("PG021", 4), ("PG025", 5), ("PG027", 7)],
        """\
memory x;
register r;
process {
  r <- (mem[x] + 1) * 2;
  register s;
  fence(0, 1);
  return;
}
""",
    ),
)
