"""Ranks that are executed at once do what each of them does by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgasrob.frontends.c import by_rank, values
from pgasrob.frontends.c.by_rank import KEPT, NoteByRank, Notes, notes_at, on_rank, together
from pgasrob.frontends.c.types import INT
from pgasrob.frontends.c.values import Address, AddressByRank, Known, KnownByRank, ObjectId, known_of
from pgasrob.frontends.c.world import MOST_ALONE, Classes
from pgasrob.frontends.lower import load_c, parse_c
from pgasrob.program.commands import Put
from pgasrob.program.corpus import corpus
from pgasrob.program.expressions import Apart, Const, ConstByRank, Register, Symbol, alike
from pgasrob.program.statements import Do
from tests.frontends.executed_apart import Lowered, lowered
from tests.frontends.spmd_c import program
from tests.support import examples, sampled

BATCHES = 2
NODES = 3, 4, 5, 8


def _programs(seeds: range) -> Iterator[tuple[int, Lowered]]:
    """One by one, for what is wrong is wrong in the first ones."""
    found = ((seed, lowered(parse_c(program(seed)).compiled, NODES[seed % len(NODES)])) for seed in seeds)
    return ((seed, each) for seed, each in found if each is not None)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_programs(batch: int) -> None:
    at_once = 0
    for seed, each in _programs(range(batch, examples(18, 5_000), BATCHES)):
        assert each.text == each.apart, program(seed)
        assert not each.learned, program(seed)
        at_once += each.together > 1
    assert at_once


def test_numbers_that_differ_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the first rank's number taken for all, programs would be others."""
    monkeypatch.setattr(values, "alike", lambda values: values[0])
    with pytest.raises(AssertionError):
        test_random_programs(0)


@pytest.mark.parametrize("file", sampled(sorted((corpus() / "c").rglob("*.c")), 12), ids=lambda file: file.name)
def test_the_corpus(file: Path) -> None:
    found = lowered(load_c(file).compiled, 4)
    assert found is None or (found.text == found.apart and not found.learned)


def test_threads_are_forked_by_one_rank() -> None:
    found = lowered(load_c(corpus() / "c" / "mpi" / "hybrid_ssend_critical.c").compiled, 2)
    assert found is not None and found.classes == [(0,), (1,)] and found.text == found.apart


CLASSES = {
    "openshmem/ring_halo.c": 2,
    "openshmem/pipeline.c": 3,
    "openshmem/transpose.c": 1,
    "openshmem/stencil.c": 16,
    "mpi/barrier_halo.c": 1,
    "gasnet/gasnet_stencil.c": 3,
    "armci/armci_flag.c": 3,
}
"""Into how many classes sixteen ranks are parted."""


def test_how_many_run_at_once() -> None:
    found = {each: lowered(load_c(corpus() / "c" / each).compiled, 16) for each in CLASSES}
    assert {each: len(one.classes) for each, one in found.items() if one is not None} == CLASSES
    assert all(one is not None and one.text == one.apart for one in found.values())


WINDOWS = """#include <mpi.h>
int a[8], x;
int main(int argc, char **argv) {
  int me, n;
  MPI_Win w;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Win_create(a + me, 16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
  MPI_Win_fence(0, w);
  MPI_Put(&me, 1, MPI_INT, (me + 1) % n, 1, 1, MPI_INT, w);
  MPI_Win_fence(0, w);
  if (me == 1)
    x = a[2];
  MPI_Win_free(&w);
  MPI_Finalize();
  return 0;
}
"""


def test_what_is_published_is_of_one_rank() -> None:
    found = lowered(parse_c(WINDOWS).compiled, 4)
    assert found is not None and found.text == found.apart and found.together


# Values


def test_who_asks_for_the_number_sends_ranks_apart() -> None:
    number, constant = known_of([1, 2, 2]), ConstByRank((Const(1), Const(2), Const(2)))
    assert isinstance(number, KnownByRank)
    assert known_of([3, 3, 3]) == Known(3)
    for ask in (lambda: number.value, lambda: number == Known(2), lambda: constant.value, lambda: hash(constant)):
        with pytest.raises(Apart):
            ask()
    cell = Symbol("a", 1)
    with pytest.raises(Apart):
        assert ConstByRank((cell, Symbol("b", 2))) == cell
    assert number != Known(3)
    assert Known(3) != number
    assert number == known_of([1, 2, 2])
    with pytest.raises(Apart) as apart:
        assert number == Known(2)
    assert apart.value.values == (False, True, True)
    assert alike([4, 4]) == 4


def test_pointers_that_differ() -> None:
    here, there = Address(ObjectId("global", ("a",)), 0), Address(ObjectId("global", ("a",)), 4)
    both = together([here, there])
    assert isinstance(both, AddressByRank)
    assert both.object == here.object
    assert both.owner is None
    with pytest.raises(Apart):
        assert both.offset
    assert [on_rank(both, place) for place in range(2)] == [here, there]


def test_what_ranks_do_is_put_together() -> None:
    queue, cell = Const(0), Symbol("a", 0)
    one, other = (Do(Put(cell, Const(rank), Symbol(name, at), queue)) for rank, name, at in ((1, "a", 0), (2, "b", 1)))
    both = together([(one, INT), (other, INT)])
    command = both[0].command
    assert isinstance(command.rank, ConstByRank)
    assert command.rank.numbers == (1, 2)
    assert command.local is cell
    assert both[1] is INT
    for found in ([(one,), (one, other)], [one, cell], [Register("x", 0), Register("y", 1)], ["x", "y"]):
        with pytest.raises(Apart):
            together(found)


def test_notes() -> None:
    found = together([{"a": 1, "b": 2}, {"a": 1, "b": None}, {"a": 1}])
    assert found == {"a": 1, "b": NoteByRank((2, None, KEPT))}
    kept = found["b"].onto(7)
    assert kept == NoteByRank((2, None, 7))
    notes = {"a": 1, "b": kept}
    assert [notes_at(notes, place) for place in range(3)] == [{"a": 1, "b": 2}, {"a": 1}, {"a": 1, "b": 7}]
    of_all = notes_at(notes, None)
    assert isinstance(of_all, Notes)
    assert of_all.get("a") == 1
    assert "a" in of_all and "c" not in of_all
    for look in (lambda: of_all.get("b"), lambda: of_all["b"], lambda: "b" in of_all, lambda: of_all.items()):
        with pytest.raises(Apart):
            look()
    assert "b" in notes_at({"b": NoteByRank((1, 2))}, None)
    with pytest.raises(Apart):
        together([{by_rank.LENT: 1}, {by_rank.LENT: 2}])


def test_classes() -> None:
    classes = Classes()
    classes.begin(10)
    classes.part(tuple(range(10)), [rank == 0 for rank in range(10)])
    assert classes.of == [(0,), tuple(range(1, 10))]
    classes.part(tuple(range(1, 10)), [rank % 2 for rank in range(1, 10)])
    assert Counter(map(len, classes.of)) == {1: 1, 4: 1, 5: 1}
    classes.part((1, 3, 5, 7, 9), range(5))
    assert len(classes.of) == 10
    classes = Classes()
    classes.begin(20)
    for place in range(MOST_ALONE + 1):
        ranks = classes.of[-1]
        assert len(ranks) == 20 - place
        classes.part(ranks, [each == ranks[0] for each in ranks])
    assert len(classes.of) == 20
