"""When MPI may be called: after MPI_Init and before MPI_Finalize (MPI-4.1, 11.2 and 11.4)."""

from __future__ import annotations

from collections.abc import Sequence

from pgasrob.frontends.apis import thread_levels
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.interface import Call, Handler, Way
from pgasrob.frontends.apis.lifetime import Lifetime
from pgasrob.frontends.apis.mpi import epochs, rules
from pgasrob.frontends.apis.mpi.attributes import FREES, delete_all
from pgasrob.frontends.apis.mpi.header import FUNCTIONS, does, stores
from pgasrob.frontends.apis.mpi.requests import live_requests
from pgasrob.frontends.c.types import INT
from pgasrob.program.assumptions import Kind
from pgasrob.program.illegal_calls import Opened

_ANYTIME = (
    "Init Init_thread Initialized Finalized Get_version Get_library_version Info_create Info_set Info_delete Info_get"
    " Info_dup Info_free Info_get_nkeys Info_get_nthkey Info_get_valuelen Info_get_string Error_class Error_string"
)
"""What may be called at any time (11.4.1)."""
LIFE = Lifetime(
    "mpi", rules.NOT_RUNNING, "MPI_Init", "MPI_Init(_thread)?", "MPI_Finalize",
    rf"MPI_(?!({_ANYTIME.replace(' ', '|')})$)\w+",
)  # fmt: skip


def handler(name: str) -> Handler | None:
    """What calls of a function do, with a finding where MPI is not running."""
    found = LIFE.handler(FUNCTIONS, name)
    if found is None or name not in FREES:
        return found

    def handle(call: Call) -> Way | Sequence[Way]:
        delete_all(call)
        return found(call)

    return handle


stores("Initialized(int *flag)", INT, LIFE.has_begun)
stores("Finalized(int *flag)", INT, lambda call: LIFE.ended in call.state)


@does("Init(int *argc, char ***argv)")
def init(call: Call, steps: Steps) -> None:
    earlier = call.state.get(LIFE.ended, call.state.get(LIFE.running))
    if isinstance(earlier, Opened) and LIFE.begins_or_ends(earlier.name):  # else what is wrong has been said of it
        steps.illegal(rules.NOT_RUNNING, f"{call.name} after {earlier.name}", earlier, "initialise MPI once")


@does("Init_thread(int *argc, char ***argv, int required, int *provided)")
def init_thread(call: Call, steps: Steps) -> None:
    init(call, steps)
    call.rests_on(Kind.THREAD_LEVEL, call.name)
    steps.answer(3, call.known(2), INT)
    thread_levels.MPI.ask(steps, call.known(2))


@does("Finalize(void)")
def finalize(call: Call, steps: Steps) -> None:
    """What has been begun has to be complete (11.2.2)."""
    for opened, how in epochs.left_open(call.state):
        steps.illegal(rules.OPEN_AT_END, f"{call.name} {how}", opened)
        break
    for *_, opened in sorted(live_requests(steps), key=lambda each: (each[3].span.line, each[3].span.column))[:1]:
        steps.illegal(rules.OPEN_AT_END, f"{call.name} before the request of {opened.name} is waited for", opened)
