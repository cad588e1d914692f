"""What `GASPI.h` declares: types and constants, with the sizes and numbers that GPI-2 gives them; and functions."""

from __future__ import annotations

from pgasrob.frontends.apis.prototypes import Prototypes, enumerators
from pgasrob.frontends.c import types as c
from pgasrob.frontends.c.layout import struct_of
from pgasrob.frontends.c.values import UNDEFINED, Known, Value

BLOCK = 2**64 - 1
SUCCESS, TIMEOUT = 0, 1
ERRORS = (
    "ERR_EMFILE", "ERR_ENV", "ERR_SN_PORT", "ERR_CONFIG", "ERR_NOINIT", "ERR_INITED", "ERR_NULLPTR", "ERR_INV_SEGSIZE",
    "ERR_INV_SEG", "ERR_INV_GROUP", "ERR_INV_RANK", "ERR_INV_QUEUE", "ERR_INV_LOC_OFF", "ERR_INV_REM_OFF",
    "ERR_INV_COMMSIZE", "ERR_INV_NOTIF_VAL", "ERR_INV_NOTIF_ID", "ERR_INV_NUM", "ERR_INV_SIZE", "ERR_MANY_SEG",
    "ERR_MANY_GRP", "QUEUE_FULL", "ERR_UNALIGN_OFF", "ERR_ACTIVE_COLL", "ERR_DEVICE", "ERR_SN", "ERR_MEMALLOC",
)  # fmt: skip
"""What calls of GPI-2 return that fail, from 2 on."""
QUEUES = 8
"""How many queues there are before the program creates any (GPI-2's default)."""

# Integer typedefs, by what they are in GPI-2's GASPI.h.
INTEGERS: dict[c.CType, str] = {
    c.CHAR: "char",
    c.UCHAR: "uchar group_t queue_id_t segment_id_t",
    c.SHORT: "short",
    c.USHORT: "ushort rank_t notification_id_t",
    c.INT: "int return_t network_t operation_t datatype_t qp_state_t topology_t memory_description_t"
    " statistic_argument_t",
    c.UINT: "uint number_t notification_t statistic_counter_t",
    c.LONG: "long",
    c.ULONG: "ulong timeout_t size_t alloc_t offset_t atomic_value_t cycles_t",
    c.FLOAT: "float time_t",
    c.DOUBLE: "double",
    c.Pointer(c.VOID): "pointer_t const_pointer_t state_t reduce_operation_t",
    c.Pointer(c.UCHAR): "state_vector_t",
    c.Pointer(c.CHAR): "string_t",
}

CONFIGURATION: dict[str, tuple[c.CType, int]] = {
    "logger": (c.UINT, 0), "sn_port": (c.UINT, 12121), "net_info": (c.UINT, 0), "netdev_id": (c.INT, -1),
    "mtu": (c.UINT, 0),
    "port_check": (c.UINT, 1), "user_net": (c.UINT, 0), "network": (c.INT, 2), "queue_depth": (c.UINT, 1024),
    "queue_size_max": (c.UINT, 1024), "queue_num": (c.UINT, QUEUES), "group_max": (c.UINT, 32),
    "segment_max": (c.UINT, 32),
    "transfer_size_max": (c.ULONG, 1 << 30), "notification_num": (c.UINT, 65536),
    "passive_queue_size_max": (c.UINT, 1024),
    "passive_transfer_size_max": (c.UINT, 65536), "allreduce_buf_size": (c.ULONG, 4096),
    "allreduce_elem_max": (c.UINT, 255),
    "build_infrastructure": (c.INT, 1),
}  # fmt: skip
"""The fields of `gaspi_config_t` and what `gaspi_config_get` finds in them."""

CONFIG = struct_of("gaspi_config", [(name, type) for name, (type, _) in CONFIGURATION.items()])

TYPES: dict[str, c.CType] = {
    **{f"gaspi_{name}": type for type, names in INTEGERS.items() for name in names.split()},
    "gaspi_config_t": CONFIG,
}


_ENUMERATIONS = (
    "ERROR = -1, SUCCESS, TIMEOUT",
    ", ".join(f"{name} = {number}" for number, name in enumerate(ERRORS, 2)),
    f"ERR_MANY_Q_REQS = {2 + ERRORS.index('QUEUE_FULL')}",
    "OP_MIN, OP_MAX, OP_SUM",
    "TYPE_INT, TYPE_UINT, TYPE_FLOAT, TYPE_DOUBLE, TYPE_LONG, TYPE_ULONG",
    "STATE_HEALTHY, STATE_CORRUPT",
    "MEM_UNINITIALIZED, MEM_INITIALIZED",
    "ALLOC_DEFAULT",
    "TOPOLOGY_NONE, TOPOLOGY_STATIC, TOPOLOGY_DYNAMIC",
    "IB, ROCE, ETHERNET, GEMINI, ARIES",
    "STATISTIC_ARGUMENT_NONE, STATISTIC_ARGUMENT_RANK",
    "MAX_NODES = 65536, MAX_GROUPS = 32, MAX_MSEGS = 32, MAX_QP = 16, MAX_QSIZE = 4096, MAX_NOTIFICATION = 65536",
    "MAJOR_VERSION = 17, MINOR_VERSION = 1, REVISION = 0",
)
_NUMBERS = {name: number for text in _ENUMERATIONS for name, number in enumerators(text).items()}
CONSTANTS: dict[str, tuple[c.CType, Value]] = {
    **{f"GASPI_{name}": (c.INT, Known(number)) for name, number in _NUMBERS.items()},
    "GASPI_GROUP_ALL": (c.UCHAR, Known(0)),
    "GASPI_BLOCK": (c.ULONG, Known(BLOCK)),
    "GASPI_TEST": (c.ULONG, Known(0)),
}
FUNCTIONS = Prototypes("gaspi_return_t ", Known(SUCCESS))
OTHERS = FUNCTIONS.returning(UNDEFINED)
"""The functions that return no `gaspi_return_t`."""
