"""ARMCI (`armci.h`), the communication layer of Global Arrays.

Blocking puts and accumulates are ordered to the same process, nonblocking ones are not. Waiting is local, ARMCI_Fence
completes on the other side.
"""

from __future__ import annotations

from functools import partial

from pgasrob.frontends.apis.armci import collectives, groups, ordering, rma, setup
from pgasrob.frontends.apis.armci.header import CONSTANTS, FUNCTIONS, TYPES
from pgasrob.frontends.apis.interface import Api

FUNCTIONS.alias(lambda name: name.replace("ARMCI_", "PARMCI_", 1).replace("armci_", "parmci_", 1))

API = Api(
    name="armci",
    headers=("armci.h",),
    types=TYPES,
    constants=CONSTANTS,
    declaration=FUNCTIONS.declaration,
    handler=partial(setup.LIFE.handler, FUNCTIONS),
    functions=FUNCTIONS.handlers,
    specifications={"": "ARMCI (as in Global Arrays 5)"},
    unsupported={
        "armci_msg_rcvany": "receive from a process that is named, with armci_msg_rcv",
    },
)

__all__ = ["API", "collectives", "groups", "ordering", "rma", "setup"]
