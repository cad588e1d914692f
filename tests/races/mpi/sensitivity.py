"""The model without one of its rules, to see that each of them matters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from pgasrob.races.mpi.actions import Edge, Execution
from pgasrob.races.mpi.consistency import ORDERED, RULES, UNIFIED, shared
from tests.oracle.mpi_model import Program, Statement
from tests.races.mpi.random_programs import random_program

NAMED = tuple(rule.__name__ for rule in (*ORDERED, *RULES, *UNIFIED) if rule is not shared)
"""The rules that have names of their own."""


def _without(*kinds: tuple[str, str]) -> Callable[[Execution], Execution]:
    def changed(execution: Execution) -> Execution:
        actions = execution.actions
        kept = [edge for edge in execution.coso if (actions[edge[0]].kind, actions[edge[1]].kind) not in kinds]
        return replace(execution, coso=kept)

    return changed


def _without_locks(execution: Execution) -> Execution:
    return replace(execution, so=list(_kept(execution, lambda one, other: "unlock" not in one)))


def _without_messages(execution: Execution) -> Execution:
    return replace(execution, so=list(_kept(execution, lambda one, other: one != "")))


def _kept(execution: Execution, keep: Callable[[str, str], bool]) -> Iterator[Edge]:
    """The pairs of synchronisation order that are kept, by the calls that both are part of ("" for others)."""
    actions = execution.actions
    calls = {}
    for each in execution.synchronisations:
        inside = range(each.done, each.end or len(actions))
        calls |= {number: each.call.kind for number in inside if actions[number].origin == each.rank}
    for one, other in execution.so:
        if keep(calls.get(one, ""), calls.get(other, "")):
            yield one, other


STRUCTURE: dict[str, Callable[[Execution], Execution]] = {
    "D1: what is complete has happened": _without(("vac", "done")),
    "D2: vac before vas": _without(("vac", "vas")),
    "D3: buffers until completion": _without(("buffer read", "done"), ("buffer write", "done")),
    "D3: the source before vac": _without(("buffer read", "vac")),
    "D3: vac before the result": _without(("vac", "buffer write")),
    "D6: vac before wait": _without(("vac", "external")),
    "3.2.2: vas after its call": _without(("begin", "vas")),
    "3.2.2: vas before the end of its call": _without(("vas", "done")),
    "3.2.2: vac after its call": _without(("issue", "vac")),
    "(12), (16), (17)": _without(("issue", "done")),
    "3.2.5: unlock so lock": _without_locks,
    "3: matched messages": _without_messages,
}
"""What `execution` finds in the calls, one part left out."""


IMPLIED = {"matching_fences", "matching_posts", "(12), (16), (17)"}
"""Rules that the paper has, and that follow from the others as far as races go (`proofs/mpi-model.md`): accesses that
conflict are at one process, and the fences, posts and waits of that process order them already."""

S = Statement
TELLING: dict[str, Program] = {
    # The result of the second accumulate has arrived, so the first one has been done.
    "accumulates": [
        [
            S("lock_all"), S("acc", 1, "x", "a", op="sum"), S("gacc", 1, "x", "a", "b", "sum"), S("flush_local", 1),
            S("send", 1, number=1), S("unlock_all"),
        ],
        [S("recv", 0, number=1), S("load", cell="x")],
    ],
    # A flag that is raised and polled by atomics.
    "fetches": [
        [
            S("lock_all"),
            S("put", 1, "y", "a"),
            S("flush", 1),
            S("acc", 1, "x", "a", op="replace"),
            S("unlock_all"),
        ],
        [S("lock_all"), S("ragpoll", 1, "x"), S("load", cell="y"), S("unlock_all")],
    ],
    "stores": [
        [S("lock", 0, op="exclusive"), S("store", cell="x"), S("unlock", 0), S("send", 1, number=1)],
        [S("recv", 0, number=1), S("lock", 0, op="exclusive"), S("get", 0, "x", "a"), S("unlock", 0)],
    ],
    # What is put has been seen, so its source has been read.
    "D3: the source before vac": [
        [
            S("lock_all"), S("put", 1, "x", "a"), S("recv", 1, number=1), S("win_sync"), S("store", cell="a"),
            S("unlock_all"),
        ],
        [S("poll", cell="x"), S("send", 0, number=1)],
    ],
}  # fmt: skip
TELLING["3.2.2: vas after its call"] = TELLING["stores"]
SEEDS = {
    "polls": 462, "fences": 20, "general": 105, "locks": 133, "locks_after_remote": 133, "buffers": 29, "virtual": 77,
    "win_sync": 32, "issued_after": 92, "one_copy": 1, "D1: what is complete has happened": 19,
    "D2: vac before vas": 77, "D3: buffers until completion": 1, "D3: vac before the result": 75,
    "D6: vac before wait": 105, "3.2.2: vas before the end of its call": 77, "3.2.2: vac after its call": 9,
    "3.2.5: unlock so lock": 133, "3: matched messages": 32,
}  # fmt: skip
"""Of random programs, for the others."""
TELLING |= {rule: random_program(seed) for rule, seed in SEEDS.items()}
