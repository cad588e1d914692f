"""GASNet 1.8 (`gasnet.h`) and GASNet-EX (`gasnetex.h`): puts complete on both sides, in no particular order."""

from __future__ import annotations

from functools import partial

from pgasrob.frontends.apis.gasnet import barriers, gasnet_ex, rma, setup, waiting
from pgasrob.frontends.apis.gasnet.header import CONSTANTS, FUNCTIONS, MACROS, TYPES
from pgasrob.frontends.apis.interface import Api

_MESSAGES = "active messages are not modelled: use puts, gets and flags"

API = Api(
    name="gasnet",
    headers=("gasnet.h", "gasnetex.h", "gasnet_tools.h", "gasnet_coll.h"),
    types=TYPES,
    constants=CONSTANTS,
    declaration=FUNCTIONS.declaration,
    handler=partial(setup.LIFE.handler, FUNCTIONS),
    functions=FUNCTIONS.handlers,
    specifications={"": "GASNet 1.8, or GASNet-EX,"},
    unsupported={
        "gasnet_AM*": _MESSAGES,
        "gex_AM_*": _MESSAGES,
        "gex_EP_RegisterHandlers": _MESSAGES,
        "gasnet_coll_*": "write the collective with puts, gets and barriers",
        "gex_Coll_*": "write the collective with puts, gets and barriers",
        "gex_AD_*": "atomic domains are not modelled",
        "gasnett_*": "functions of GASNet's tools are not supported",
        "gex_TM_*": "teams other than the first are not modelled",
    },
    macros=MACROS,
)

__all__ = ["API", "barriers", "gasnet_ex", "rma", "setup", "waiting"]
