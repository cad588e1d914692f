"""Split barriers of which several are open at once, in calls of MPI: nobody misses one, or gets values of another."""

from __future__ import annotations

import random

import pytest

import pgasrob
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import parse_c

FRAME = """#include <assert.h>
#include <mpi.h>
int main(int argc, char **argv) {
  int me, n, own[9], sum[9]; MPI_Request r[9];
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &me); MPI_Comm_size(MPI_COMM_WORLD, &n);
  for (int i = 0; i < 9; i++) own[i] = (me + 1) * (i + 1);
  BODY
  MPI_Finalize(); return 0;
}"""
BEGIN = "MPI_Iallreduce(&own[{0}], &sum[{0}], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[{0}]);"
END = "MPI_Wait(&r[{0}], MPI_STATUS_IGNORE); assert(sum[{0}] == ({0} + 1) * n * (n + 1) / 2);"


def drawn(seed: int) -> tuple[str, int]:
    """A program whose ranks begin reductions in one order and wait for them at places and in orders of their own."""
    chosen, nodes = random.Random(seed), 2 + seed % 2
    count, ways = chosen.randint(3, 5 - seed % 2), []
    for _ in range(nodes):
        begun, steps = list[int](), list[str]()
        for number in range(count):
            steps.append(BEGIN.format(number))
            begun.append(number)
            while begun and chosen.random() < 0.4:
                steps.append(END.format(begun.pop(chosen.randrange(len(begun)))))
        chosen.shuffle(begun)
        ways.append(" ".join([*steps, *map(END.format, begun)]))
    return " else ".join(f"if (me == {rank}) {{ {way} }}" for rank, way in enumerate(ways)), nodes


@pytest.mark.parametrize("seed", range(30))
def test_reductions_that_are_open_at_once(seed: int) -> None:
    body, nodes = drawn(seed)
    verdict = pgasrob.check(parse_c(FRAME.replace("BODY", body)), nodes=nodes)
    assert (verdict.verdict, verdict.assertions, verdict.deadlock) == ("robust", "hold", False), body


def test_they_wait_for_all() -> None:
    text = FRAME.replace("BODY", f"if (me == 0) {{ {BEGIN.format(0)} {END.format(0)} }}")
    assert pgasrob.check(parse_c(text), nodes=2).deadlock


def test_too_many_are_refused() -> None:
    body = "while (rand()) MPI_Ibarrier(MPI_COMM_WORLD, &r[0]);"
    with pytest.raises(SourceError, match="with 8 others under way"):
        parse_c(f"#include <stdlib.h>\n{FRAME.replace('BODY', body)}").program(2)
