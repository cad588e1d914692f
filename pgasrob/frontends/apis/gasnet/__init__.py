"""GASNet 1.8 (`gasnet.h`) and GASNet-EX (`gasnetex.h`): puts complete on both sides, in no particular order."""

from __future__ import annotations

from collections import ChainMap

from pgasrob.frontends.apis.gasnet import barriers, gasnet_ex, rma, setup, waiting
from pgasrob.frontends.apis.gasnet.header import CONSTANTS, MACROS, TYPES
from pgasrob.frontends.apis.interface import Api, Handler
from pgasrob.frontends.c.types import CType

gasnet_ex.PROTOTYPES.add("void gex_NBI_BeginAccessRegion(gex_Flags_t flags);", rma.begin_region)
gasnet_ex.PROTOTYPES.add("gex_Event_t gex_NBI_EndAccessRegion(gex_Flags_t flags);", rma.end_region)
_TABLES = tuple(part.PROTOTYPES for part in (setup, rma, waiting, barriers, gasnet_ex))


def _declaration(name: str, types: tuple[CType, ...]) -> str | None:
    return next((text for table in _TABLES if (text := table.declaration(name, types))), None)


def _handler(name: str) -> Handler | None:
    return next((handler for table in _TABLES if (handler := table.handler(name))), None)


_MESSAGES = "active messages are not modelled: use puts, gets and flags"

API = Api(
    name="gasnet",
    headers=("gasnet.h", "gasnetex.h", "gasnet_tools.h", "gasnet_coll.h"),
    types=TYPES,
    constants=CONSTANTS,
    declaration=_declaration,
    handler=_handler,
    specifications={"": "GASNet 1.8, or GASNet-EX,"},
    functions=ChainMap(*(table.handlers for table in _TABLES)),
    unsupported={
        "gasnet_AM*": _MESSAGES,
        "gex_AM_*": _MESSAGES,
        "gex_EP_RegisterHandlers": _MESSAGES,
        "gasnet_coll_*": "write the collective with puts, gets and barriers",
        "gex_Coll_*": "write the collective with puts, gets and barriers",
        "gex_AD_*": "atomic domains are not modelled",
        "gex_TM_*": "teams other than the first are not modelled",
        "gasnet_*": "this function of GASNet is not known",
        "gasnett_*": "this function of GASNet's tools is not known",
        "gex_*": "this function of GASNet-EX is not known",
    },
    macros=MACROS,
)
