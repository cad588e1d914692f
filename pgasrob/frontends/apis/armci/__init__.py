"""ARMCI (`armci.h`), the communication layer of Global Arrays.

Blocking puts and accumulates are ordered to the same process, nonblocking ones are not. Waiting is local, ARMCI_Fence
completes on the other side.
"""

from __future__ import annotations

from collections import ChainMap

from pgasrob.frontends.apis.armci import groups, messages, ordering, rma, setup
from pgasrob.frontends.apis.armci.header import CONSTANTS, TYPES
from pgasrob.frontends.apis.interface import Api, Handler
from pgasrob.frontends.c.types import CType

_TABLES = (
    setup.PROTOTYPES,
    groups.PROTOTYPES,
    messages.PROTOTYPES,
    rma.PROTOTYPES,
    ordering.PROTOTYPES,
)
for _table in _TABLES:
    _table.alias(lambda name: name.replace("ARMCI_", "PARMCI_", 1).replace("armci_", "parmci_", 1))


def _declaration(name: str, types: tuple[CType, ...]) -> str | None:
    return next((text for table in _TABLES if (text := table.declaration(name, types))), None)


def _handler(name: str) -> Handler | None:
    return next((handler for table in _TABLES if (handler := table.handler(name))), None)


API = Api(
    name="armci",
    headers=("armci.h",),
    types=TYPES,
    constants=CONSTANTS,
    declaration=_declaration,
    handler=_handler,
    specifications={"": "ARMCI (as in Global Arrays 5)"},
    functions=ChainMap(*(table.handlers for table in _TABLES)),
    unsupported={
        "armci_msg_rcvany": "receive from a process that is named, with armci_msg_rcv",
        "ARMCI_*": "this function of ARMCI is not known",
        "armci_*": "this function of ARMCI is not known",
    },
)
