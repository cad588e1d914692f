"""What `gasnet.h` and `gasnetex.h` declare: types, constants, macros, functions."""

from __future__ import annotations

from pgasrob.frontends.apis.prototypes import Prototypes, enumerators
from pgasrob.frontends.c.layout import struct_of
from pgasrob.frontends.c.types import INT, UCHAR, UINT, ULONG, VOID, CType, Opaque, Pointer
from pgasrob.frontends.c.values import NULL, Handle, Known, Value

OK, NOT_READY = 0, 10004
INVALID = NULL
"""The handle or event of nothing: what is complete already."""
SEGMENT_SIZE = 1 << 20
"""What `gasnet_getMaxLocalSegmentSize` returns."""

ANYTHING = Pointer(VOID)
SEGINFO = struct_of("gasnet_seginfo", [("addr", ANYTHING), ("size", ULONG)])
HANDLERENTRY = struct_of("gasnet_handlerentry", [("index", UCHAR), ("fnptr", ANYTHING)])
HANDLE, EVENT = Opaque("gasnet_handle_t"), Opaque("gex_Event_t")

TYPES: dict[str, CType] = {
    **{
        name: Opaque(name)
        for name in (
            "gasnet_valget_handle_t", "gasnet_token_t", "gasnet_hsl_t", "gex_Client_t", "gex_EP_t", "gex_TM_t",
            "gex_Segment_t",
        )
    },
    "gasnet_handle_t": HANDLE, "gex_Event_t": EVENT,
    "gasnet_node_t": UINT, "gasnet_register_value_t": ULONG, "gasnet_handler_t": UCHAR, "gasnet_handlerarg_t": INT,
    "gasnet_seginfo_t": SEGINFO, "gasnet_handlerentry_t": HANDLERENTRY,
    "gex_Rank_t": UINT, "gex_Flags_t": UINT, "gex_EC_t": UINT, "gex_RMA_Value_t": ULONG,
}  # fmt: skip

NOW, DEFER, GROUP = (Handle("gasnet.local", (when,)) for when in ("now", "defer", "group"))
"""When a put of GASNet-EX has read its source: at return, with the whole operation, or with its own implicit set."""
PUTS, GETS, LOCAL = 1, 2, 4
"""The bits of `gex_EC_t`: which implicit operations, and their local side."""

ANONYMOUS, MISMATCH = 1, 2
"""The flags of a barrier."""
BARRIER_MISMATCH = 10005

_NUMBERS = enumerators(f"""
    GASNET_OK, GASNET_ERR_NOT_INIT = 10001, GASNET_ERR_BAD_ARG, GASNET_ERR_RESOURCE, GASNET_ERR_NOT_READY = {NOT_READY},
    GASNET_ERR_BARRIER_MISMATCH = {BARRIER_MISMATCH},
    GASNET_BARRIERFLAG_ANONYMOUS = {ANONYMOUS}, GASNET_BARRIERFLAG_MISMATCH = {MISMATCH},
    GASNET_WAIT_SPIN = 0, GASNET_WAIT_BLOCK, GASNET_WAIT_SPINBLOCK,
    GASNET_PAGESIZE = 4096, GASNET_ALIGNED_SEGMENTS = 1, GASNET_MAXNODES = 65536, GASNET_SEGMENT_FAST = 1,
    GEX_EC_ALL = {PUTS | GETS}, GEX_EC_PUT = {PUTS}, GEX_EC_GET = {GETS}, GEX_EC_LC = {LOCAL}
""")
CONSTANTS: dict[str, tuple[CType, Value]] = {
    **{name: (INT, Known(number)) for name, number in _NUMBERS.items()},
    "GASNET_INVALID_HANDLE": (HANDLE, INVALID),
    "GASNET_HSL_INITIALIZER": (Opaque("gasnet_hsl_t"), NULL),
    "GEX_EVENT_INVALID": (EVENT, INVALID),
    "GEX_EVENT_NO_OP": (EVENT, Handle("gasnet.no_op")),
    "GEX_EVENT_NOW": (Pointer(EVENT), NOW),
    "GEX_EVENT_DEFER": (Pointer(EVENT), DEFER),
    "GEX_EVENT_GROUP": (Pointer(EVENT), GROUP),
    "GEX_RANK_INVALID": (UINT, Known(2**32 - 1)),
}
MACROS = {
    "GASNET_BLOCKUNTIL(condition)": "do { while (!(condition)) gasnet_AMPoll(); } while (0)",
    "GASNET_BEGIN_FUNCTION()": "",
}
FUNCTIONS = Prototypes()
