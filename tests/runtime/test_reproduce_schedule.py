"""Turns: the events of a run in their order are the same run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgasrob.api import check
from pgasrob.frontends.lower import CProgram
from pgasrob.render.reproduced import pieces_of
from pgasrob.robustness.load import load
from pgasrob.robustness.verdict import Witness
from pgasrob.runs.simulate import simulate
from pgasrob.runtime.reproduce.rewrite import Rewriting
from pgasrob.runtime.reproduce.schedule import Schedule, Shim, schedule
from pgasrob.runtime.reproduce.wrappers import SYNCHRONISING, collective, holds
from pgasrob.semantics.replay import Run, replay

CORPUS = Path(__file__).parents[2] / "programs" / "c"


class Every(frozenset[str]):
    """All functions of the libraries."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and re.match(r"shmem_|MPI_", name) is not None


def shim(elements: bool) -> Shim:
    return Shim(pieces_of, Every(), holds, elements, collective, SYNCHRONISING)


def followed(name: str) -> tuple[Run, Schedule]:
    """The run that shows what is wrong with a program of the corpus, and its turns, all statements among them."""
    program = load(CORPUS / name)
    verdict = check(program)
    found: Witness | None = verdict.effect.run if verdict.effect is not None else None
    assert found is not None
    text = Rewriting(name, (CORPUS / name).read_text())

    def number(span: object) -> int | None:
        statement = text.statement(span)  # type: ignore[arg-type]
        return None if statement is None else statement.number

    everything = range(len(found.run.events))
    return found.run, schedule(found.run, number, shim(name.startswith("openshmem")), everything)


def in_order(run: Run, turns: Schedule) -> list[int]:
    """The events in the order of the turns. A barrier is where the last rank comes to it; what belongs to no statement
    of which can be told comes directly after what its rank has done before."""
    order: list[int] = []
    arrived: list[int] = []
    untold = {rank: [] for rank in range(run.instance.nodes)}  # type: dict[int, list[int]]
    for place, replayed in enumerate(run.events):
        if place not in turns.of:
            assert replayed.event.cell is None
            untold[replayed.event.rank].append(place)
    for entry in turns.entries:
        for place in sorted(entry.events):
            rank = run.events[place].event.rank
            while entry.kind != "S" and untold[rank] and untold[rank][0] < place:
                order.append(untold[rank].pop(0))
            if run.events[place].event.kind != "barrier":
                order.append(place)
                continue
            arrived.append(place)
            if len(arrived) == run.instance.nodes:
                order += sorted(arrived, key=lambda each: run.events[each].event.rank)
                arrived = []
    return order


@pytest.mark.parametrize(
    "name",
    [
        "openshmem/message_passing_no_fence.c",
        "openshmem/ring_halo_sync.c",
        "openshmem/source_reuse_nbi.c",
        "openshmem/histogram_sync.c",
        "mpi/put_order.c",
        "mpi/spin_lock_early_release.c",
        "mpi/accumulate_two_places.c",
    ],
)
def test_the_turns_are_a_run_with_the_same_memory(name: str) -> None:
    run, turns = followed(name)
    order = in_order(run, turns)
    assert sorted(order) == list(range(len(run.events)))
    again = replay(run.instance, tuple(run.events[place].event for place in order))
    assert again.memory == run.memory and again.registers == run.registers


def test_what_is_late_has_a_turn_of_its_own() -> None:
    _, turns = followed("openshmem/message_passing_no_fence.c")
    kinds = [(entry.rank, entry.kind, entry.name) for entry in turns.entries if entry.kind != "P"]
    late = kinds.index((0, "S", "-"), kinds.index((1, "C", "shmem_int_wait_until")))
    assert kinds[late:] == [(0, "S", "-"), (0, "C", "shmem_finalize"), (1, "C", "shmem_finalize")]
    assert turns.text().splitlines()[0].split()[:3] == [str(turns.entries[0].rank), turns.entries[0].kind, "0"]


def test_statements_that_nobody_else_sees_have_no_turn() -> None:
    run, turns = followed("openshmem/message_passing_no_fence.c")
    program = CORPUS / "openshmem/message_passing_no_fence.c"
    text = Rewriting("x.c", program.read_text())

    def number(span: object) -> int | None:
        statement = text.statement(span)  # type: ignore[arg-type]
        return None if statement is None else statement.number

    few = schedule(run, number, shim(True))
    assert sum(entry.kind == "P" for entry in few.entries) == 1  # the one that prints
    assert sum(entry.kind == "P" for entry in turns.entries) == 2  # and that which sets the source
    assert few.of.keys() < turns.of.keys()


RANDOM = (
    *("openshmem/message_passing_no_fence.c", "openshmem/get_exchange.c", "openshmem/histogram.c"),
    *("openshmem/source_reuse_nbi.c", "openshmem/put_quiet_get.c", "mpi/column_halo.c"),
    *("mpi/fence_halo.c", "mpi/lock_no_flush.c", "mpi/rget.c", "mpi/send_after_put.c"),
)


SEEDS = 12
INTERLEAVED = {"mpi/lock_no_flush.c": 9}
"""Of how many runs the values are the same where a get may arrive between the read and the write of `value++`."""
BETWEEN = """\
#include <shmem.h>
static long x[2], got[2];
int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0)
        shmem_long_get(got, x, 2, 1);
    else
        x[0] = 5;
    shmem_finalize();
    return 0;
}
"""
"""The store may come between the elements of the get, and does then come after it."""


def same_values(program: CProgram, text: str, name: str) -> int:
    """Of how many random runs the turns are a run with the same values; of all they are a run."""
    instance = program.instantiate(None)
    file = Rewriting(name, text)

    def number(span: object) -> int | None:
        statement = file.statement(span)  # type: ignore[arg-type]
        return None if statement is None else statement.number

    same = 0
    for seed in range(SEEDS):
        run = simulate(instance, seed).run
        turns = schedule(run, number, shim(name.startswith("openshmem")), range(len(run.events)))
        order = in_order(run, turns)
        assert sorted(order) == list(range(len(run.events)))
        again = replay(run.instance, tuple(run.events[place].event for place in order))
        same += again.memory == run.memory and again.registers == run.registers
    return same


@pytest.mark.parametrize("name", RANDOM)
def test_turns_of_random_runs(name: str) -> None:
    program = load(CORPUS / name)
    assert isinstance(program, CProgram)
    assert same_values(program, (CORPUS / name).read_text(), name) == INTERLEAVED.get(name, SEEDS)


def test_conflicts_decide_about_what_is_taken_together(tmp_path: Path) -> None:
    file = tmp_path / "between.c"
    file.write_text(BETWEEN)
    program = load(file)
    assert isinstance(program, CProgram)
    assert same_values(program, BETWEEN, "openshmem") == SEEDS
