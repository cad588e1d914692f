"""Lists of handles or events, and tests: for GASNet 1.8 and GASNet-EX alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, combinations

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_arguments import limited, target
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.gasnet import queues
from pgasrob.frontends.apis.gasnet.header import FUNCTIONS, HANDLE, INVALID, NOT_READY, OK
from pgasrob.frontends.apis.gasnet.rma import IMPLICIT_KINDS
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.c.types import Opaque
from pgasrob.frontends.c.values import Known, Value

MOST = 6
"""The most handles of which any set may be complete: each set is a way of the call."""
Waiter = Callable[[Steps, Value, str], None]
"""Waits for one handle or event, given with its text."""
ListHandler = Callable[..., Outcome | Sequence[Outcome]]
"""Handles a call with a list of handles or events, by their ``type`` and the ``waiter`` for one."""


def wait_handle(steps: Steps, handle: Value, text: str) -> None:
    queues.wait_once(steps, handle, text)


def tested(complete: Outcome) -> Sequence[Outcome]:
    """The outcomes of a test: `GASNET_OK` with what a wait does, or "not ready" at any time. Where nothing is to be
    waited for a test always succeeds."""
    if not complete.statements:
        return [complete]
    return [complete, Outcome(result=Known(NOT_READY))]


def listed(call: Call, type: Opaque) -> list[Value]:
    """The handles in the array of argument 0, as many as argument 1 says."""
    array, found = target(call, 0), []
    for place in range(limited(call, call.known(1), "handles")):
        handle = call.load(call.moved(array, 8 * place), type)
        if handle is None:
            call.fail(
                Wrong.UNKNOWN_LIMIT,
                f"{call.texts[0]}[{place}] is not known here",
                "keep handles in memory that only this rank uses",
            )
        found.append(handle)
    return found


def wait_list(call: Call, type: Opaque, waiter: Waiter, places: Sequence[int]) -> Outcome:
    """Wait for the handles at ``places`` of the list, which are invalid then."""
    steps, handles, array = Steps(call), listed(call, type), target(call, 0)
    for place in places:
        waiter(steps, handles[place], f"{call.texts[0]}[{place}]")
        steps.store(call.moved(array, 8 * place), INVALID, type)
    return steps.outcome(OK)


def wait_all(call: Call, type: Opaque, waiter: Waiter) -> Outcome:
    return wait_list(call, type, waiter, range(limited(call, call.known(1), "handles")))


def wait_some(call: Call, type: Opaque, waiter: Waiter) -> Sequence[Outcome]:
    """At least one of the valid handles, in any number."""
    handles = listed(call, type)
    valid = [place for place, handle in enumerate(handles) if handle != INVALID]
    if len(valid) > MOST:
        call.fail(
            Wrong.SIZE_LIMIT,
            f"{call.name} over {len(valid)} handles may complete any set of them",
            f"check it with at most {MOST} handles, or wait for all of them",
        )
    sizes = range(1, len(valid) + 1) if valid else range(1)
    choices = chain.from_iterable(combinations(valid, size) for size in sizes)
    return [wait_list(call, type, waiter, places) for places in choices]


def test_all(call: Call, type: Opaque, waiter: Waiter) -> Sequence[Outcome]:
    return tested(wait_all(call, type, waiter))


def test_some(call: Call, type: Opaque, waiter: Waiter) -> Sequence[Outcome]:
    outcomes = wait_some(call, type, waiter)
    if any(outcome.statements for outcome in outcomes):
        return [*outcomes, Outcome(result=Known(NOT_READY))]
    return outcomes


LISTS: dict[str, ListHandler] = {
    "wait_syncnb_all": wait_all,
    "wait_syncnb_some": wait_some,
    "try_syncnb_all": test_all,
    "try_syncnb_some": test_some,
}
for _name, _handler in LISTS.items():
    _result = "int" if _name.startswith("try") else "void"
    FUNCTIONS.add(
        f"{_result} gasnet_{_name}(gasnet_handle_t *handles, size_t number)",
        partial(_handler, type=HANDLE, waiter=wait_handle),
    )


@FUNCTIONS.calls("int gasnet_try_syncnb(gasnet_handle_t handle)")
def try_handle(call: Call) -> Sequence[Outcome]:
    steps = Steps(call)
    wait_handle(steps, call.arguments[0], call.texts[0])
    return tested(steps.outcome(OK))


def _try_implicit(call: Call, kinds: tuple[str, ...]) -> Sequence[Outcome]:
    steps = Steps(call)
    queues.complete_implicit(steps, kinds)
    return tested(steps.outcome(OK))


for _name, _kinds in IMPLICIT_KINDS.items():
    FUNCTIONS.add(f"int gasnet_try_syncnbi_{_name}(void)", partial(_try_implicit, kinds=_kinds))
