"""Which threads of a rank may call an API at all: the thread level that the program has asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.c.values import Handle, Known, Value
from pgasrob.program.illegal_calls import Opened, Rule

SINGLE, FUNNELED, SERIALIZED, MULTIPLE = range(4)


@dataclass(frozen=True, slots=True)
class Levels:
    """The levels of the API ``name``, whose calls begin with ``calls``; those of them that any thread may make at any
    time are ``free``. ``prefix``: of the names of the levels."""

    name: str
    calls: str
    free: str
    prefix: str
    section: str

    @property
    def key(self) -> str:
        """The key of the level in what the API remembers."""
        return f"{self.name}.thread level"

    def ask(self, steps: Steps, level: int) -> None:
        """The program asks for a ``level``, and gets it."""
        steps.note(self.key, (level, steps.opened()))

    def granted(self, notes: Mapping[str, object]) -> tuple[int, Opened | None]:
        """The level, and the call that has asked for it."""
        return cast("tuple[int, Opened | None]", notes.get(self.key, (SINGLE, None)))

    def shown(self, level: int) -> str:
        return f"{self.prefix}_{('SINGLE', 'FUNNELED', 'SERIALIZED', 'MULTIPLE')[level]}"

    @property
    def off_main(self) -> Rule:
        return Rule(
            f"{self.name}-thread-off-main",
            f"below {self.shown(SERIALIZED)} only the main thread makes calls",
            self.section,
            f"ask for {self.shown(SERIALIZED)}, or let the main thread make the call",
        )

    @property
    def at_once(self) -> Rule:
        return Rule(
            f"{self.name}-threads-at-once",
            f"below {self.shown(MULTIPLE)} no two threads of a process are in calls at the same time",
            self.section,
            f"ask for {self.shown(MULTIPLE)}, or put the calls into one critical region",
        )


MPI = Levels(
    "mpi", "P?MPI_", "P?MPI_(Wtime|Wtick|Initialized|Finalized|Query_thread|Is_thread_main|Get_(library_)?version)$",
    "MPI_THREAD", "MPI-4.1, 11.6.2",
)  # fmt: skip
SHMEM = Levels(
    "shmem", "p?shmem_", "p?shmem_(query_(thread|initialized|finalized)|info_get_\\w+)$", "SHMEM_THREAD",
    "OpenSHMEM 1.5, 9.2",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Alone:
    """Calls of which a rank makes one at a time with the same object, whatever its thread level is: the functions that
    ``calls`` matches, and the kinds of handles that may be that object. Where they have none it is the memory at their
    first argument, or all ranks."""

    calls: str
    handles: tuple[str, ...]
    rule: Rule


_ORDERED = "let one thread make it, or order the threads by a barrier or a lock"
ALONE = (
    Alone(
        "P?MPI_(Barrier|Bcast|(All)?[Rr]educe\\w*|(Ex)?[Ss]can|(All)?[Gg]atherv?|Scatterv?|Alltoall[vw]?"
        "|Comm_(dup|split|create|free)|Win_(create|allocate|allocate_shared|create_dynamic|free|fence))$",
        ("window", "comm"),
        Rule("mpi-collectives-at-once", "one thread of a process at a time is in a collective of a communicator or "
             "of a window", "MPI-4.1, 11.6.2", _ORDERED),
    ),
    Alone(
        "p?shmem_(barrier_all|sync_all|barrier|sync|team_sync|\\w*(broadcast|collect|alltoalls?|reduce|to_all)\\w*)$",
        ("team",),
        Rule("shmem-collectives-at-once", "one thread of a PE at a time is in a collective of a team",
             "OpenSHMEM 1.5, 9.2", _ORDERED),
    ),
    Alone(
        "p?shmem_set_lock$", (),
        Rule("shmem-locks-at-once", "one thread of a PE at a time asks for a lock", "OpenSHMEM 1.5, 9.12", _ORDERED),
    ),
)  # fmt: skip
EPOCHS_AT_ONCE = Rule(
    "mpi-epochs-at-once", "the access epochs of a process at a target are one after the other, whichever threads "
    "open them", "MPI-4.1, 12.5", _ORDERED,
)  # fmt: skip
_EPOCHS = {"lock": 1, "lock_all": 1, "start": 1, "unlock": -1, "unlock_all": -1, "complete": -1}


def epoch(name: str, arguments: Sequence[Value]) -> tuple[int, int | None, str] | None:
    """Of a function ``name`` that opens an access epoch (1) or closes one (-1): which of it, the target (None: any),
    and the window; None of others, and where these are not known."""
    way = _EPOCHS.get(re.sub(r"^P?MPI_Win_", "", name), 0) if "MPI_Win_" in name else 0
    window = next((each for each in arguments if isinstance(each, Handle) and each.kind == "window"), None)
    if not way or window is None:
        return None
    target = arguments[0 if way < 0 else 1] if name.endswith("lock") else None
    if target is not None and not isinstance(target, Known):
        return None
    return way, None if target is None else target.value, str(window.data[0])


SERIALIZED_CONTEXT = "serialized"
"""The kind of context that the last part of its handle says, with the thread that has made it."""
IN_CONTEXT = Alone(
    "p?shmem_", ("context",),
    Rule("shmem-context-serialized", "one thread of a PE at a time uses a context with SHMEM_CTX_SERIALIZED",
         "OpenSHMEM 1.5, shmem_ctx_create",
         "make the context without SHMEM_CTX_SERIALIZED, or put the calls into one critical region"),
)  # fmt: skip


def alone(name: str, arguments: Sequence[Value] = ()) -> Alone | None:
    """What a call of the function ``name`` needs to be alone with, if anything."""
    for each in arguments:
        if isinstance(each, Handle) and isinstance(last := each.data[-1], tuple) and last[0] == SERIALIZED_CONTEXT:
            return IN_CONTEXT
    return next((each for each in ALONE if re.match(each.calls, name)), None)


def levels_of(name: str) -> Levels | None:
    """The levels by which the function ``name`` may be called; None where every thread may always call it."""
    found = next((each for each in (MPI, SHMEM) if re.match(each.calls, name)), None)
    return None if found is None or re.match(found.free, name) else found


def knows_threads(name: str) -> bool:
    """Whether it is known what the function ``name`` does where several threads of a rank call functions of its API."""
    return re.match("P?MPI_|p?shmemx?_|p?gaspi_", name) is not None


__all__ = [
    "ALONE",
    "EPOCHS_AT_ONCE",
    "MPI",
    "MULTIPLE",
    "SERIALIZED",
    "SHMEM",
    "Alone",
    "alone",
    "knows_threads",
    "levels_of",
]
