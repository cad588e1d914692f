"""When MPI may be called: after MPI_Init and before MPI_Finalize (MPI-4.1, 11.2 and 11.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.interface import Call, Handler, Outcome, Way
from pgasrob.frontends.apis.mpi import epochs, rules
from pgasrob.frontends.apis.mpi.header import FUNCTIONS, does
from pgasrob.frontends.apis.mpi.requests import live_requests
from pgasrob.frontends.c.types import INT
from pgasrob.program.assumptions import Kind
from pgasrob.program.illegal_calls import Opened

RUNNING, ENDED = "mpi.running", "mpi.ended"
"""Keys of the notes of the call that has initialised MPI, and of the one that has finalised it."""
ANYTIME = frozenset((
    "MPI_Init", "MPI_Init_thread", "MPI_Initialized", "MPI_Finalized", "MPI_Get_version", "MPI_Get_library_version",
    "MPI_Info_create", "MPI_Info_set", "MPI_Info_delete", "MPI_Info_get", "MPI_Info_dup", "MPI_Info_free",
    "MPI_Error_class", "MPI_Error_string",
))  # fmt: skip
"""What may be called at any time (11.4.1)."""


def handler(name: str) -> Handler | None:
    """What calls of a function do, with a finding where MPI is not running."""
    handler = FUNCTIONS.handler(name)
    if handler is None or name in ANYTIME:
        return handler

    def handle(call: Call) -> Way | Sequence[Way]:
        ways = handler(call)
        if RUNNING in call.state and ENDED not in call.state:
            return ways
        return [_not_running(call, way) for way in ([ways] if isinstance(ways, Way) else ways)]

    return handle


def _not_running(call: Call, way: Way) -> Way:
    """The call goes that ``way`` although MPI is not running; of later calls none is a finding."""
    steps, ended = Steps(call), call.state.get(ENDED)
    when = "before MPI_Init" if ended is None else "after MPI_Finalize"
    steps.illegal(rules.NOT_RUNNING, f"{call.name} {when}", cast("Opened | None", ended))
    way = replace(way, statements=(*call.do(*steps.commands), *way.statements))
    if isinstance(way, Outcome):
        way = replace(way, state={RUNNING: steps.opened(), ENDED: None, **way.state})
    return way


@does("Init(int *argc, char ***argv)")
def init(call: Call, steps: Steps) -> None:
    if RUNNING in call.state or ENDED in call.state:
        earlier = cast(Opened, call.state.get(ENDED, call.state.get(RUNNING)))
        steps.illegal(rules.NOT_RUNNING, f"{call.name} after {earlier.name}", earlier, "initialise MPI once")
    steps.note(RUNNING, steps.opened())


@does("Init_thread(int *argc, char ***argv, int required, int *provided)")
def init_thread(call: Call, steps: Steps) -> None:
    init(call, steps)
    call.rests_on(Kind.THREAD_LEVEL, call.name)
    steps.answer(3, call.known(2), INT)


@does("Finalize(void)")
def finalize(call: Call, steps: Steps) -> None:
    """What has been begun has to be complete (11.2.2)."""
    for opened, how in epochs.left_open(call.state):
        steps.illegal(rules.OPEN_AT_END, f"{call.name} {how}", opened)
        break
    for *_, opened in sorted(live_requests(steps), key=lambda each: (each[3].span.line, each[3].span.column))[:1]:
        steps.illegal(rules.OPEN_AT_END, f"{call.name} before the request of {opened.name} is waited for", opened)
    steps.note(ENDED, steps.opened())
