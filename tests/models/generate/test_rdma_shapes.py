"""The programs of RDMA-TSO are all there are, once each: as many as a slower enumeration of all sequences gives."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from pgasrob.models.generate.programs import Shape
from pgasrob.models.generate.rdma_shapes import COMMON, Bounds, connected, shapes
from pgasrob.models.litmus.instructions import Get, Put, RemoteFence
from pgasrob.models.litmus.litmus_program import Program
from tests.models.generate.brute_force import canonical
from tests.models.strategies import small_programs


def fences_something(program: Program) -> bool:
    """Whether every rfence has an operation before it."""
    for thread in program.threads:
        seen: set[int] = set()
        for item in thread.body:
            if isinstance(item, Get | Put):
                seen.add(program.node_of(item.remote))
            if isinstance(item, RemoteFence) and item.node not in seen:
                return False
    return True


def is_remote(shape: Shape) -> bool:
    return any(kind in ("get", "put") for thread in shape.threads for kind, _ in thread)


@pytest.mark.parametrize(
    ("bounds", "size"),
    [(Bounds(), 3), (Bounds(3, 2, 2), 3), (Bounds(2, 3, 3), 3), pytest.param(Bounds(), 4, marks=pytest.mark.nightly)],
)
def test_there_are_as_many_as_sequences(bounds: Bounds, size: int) -> None:
    expected = Counter(
        sum(len(thread.body) for thread in program.threads)
        for program in small_programs(size, locations=bounds.locations, threads=bounds.threads, nodes=bounds.nodes)
        if fences_something(program)
    )
    for statements in range(1, size + 1):
        found = list(filter(is_remote, shapes(statements, replace(bounds, connected=False))))
        assert len(found) == len(set(found)) == expected[statements]
        assert all(canonical(shape) == shape for shape in found)


def test_connected_programs_are_some_of_them() -> None:
    everything = set(shapes(3, Bounds(connected=False)))
    assert set(shapes(3, Bounds())) == {shape for shape in everything if connected(shape)} < everything


def test_one_thread_on_a_node() -> None:
    some, every = Bounds(alone=True, kinds=COMMON), Bounds(kinds=COMMON)
    assert set(shapes(3, some)) == {shape for shape in shapes(3, every) if len(set(shape.nodes)) == len(shape.nodes)}


def test_threads_that_share_nothing_are_apart() -> None:
    apart = Shape((0, 0), (0, 0), ((("load", (0,)),), (("store", (1,)),)))
    assert not connected(apart)
    assert connected(replace(apart, threads=(apart.threads[0], (("store", (1,)), ("load", (0,))))))
