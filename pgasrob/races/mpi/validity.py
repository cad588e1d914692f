"""Which calls are allowed where (section 3.1).

What a rank alone breaks the front end has found (`frontends.apis.mpi.epochs`), and the run has come to it. What takes
several ranks to tell is found here, by the orders of the execution.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgasrob.frontends.apis.mpi import rules
from pgasrob.program.illegal_calls import IllegalCall
from pgasrob.races.mpi.actions import Misuse
from pgasrob.races.mpi.consistency import Orders


def misuses(orders: Orders) -> Iterator[Misuse]:
    """What is not allowed, in the order of the run."""
    yield from orders.execution.illegal
    yield from _locked_while_exposed(orders)


def _locked_while_exposed(orders: Orders) -> Iterator[Misuse]:
    """3.1 (4), G13: locks and fences of a window are not concurrent."""
    for lock in orders.calls("lock", "lock_all"):
        for fence in orders.calls("fence"):
            if (
                fence.end is not None
                and fence.call.window == lock.call.window
                and not any(orders.ordered(one, other) for one in lock.actions for other in fence.actions)
            ):
                action = orders.execution.actions[lock.begin]
                why = f"{lock.call.name} while another rank is at a fence"
                yield Misuse(action.rank, IllegalCall(rules.LOCKED_AND_EXPOSED, action.span, why))
                return
