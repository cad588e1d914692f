"""The names of MPI: types, constants, basic datatypes, operations. Values that programs see are Open MPI's."""

from __future__ import annotations

from collections.abc import Callable

from pgasrob.frontends.apis.interface import Handler
from pgasrob.frontends.apis.prototypes import Prototypes
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.types import (
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    LONG_DOUBLE,
    SHORT,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    VOID,
    CType,
    Field,
    Integer,
    Opaque,
    Pointer,
    Struct,
)
from pgasrob.frontends.c.values import NULL, Handle, Known, Value
from pgasrob.program.expressions import IntType

OPAQUE = {
    name: Opaque(f"MPI_{name}")
    for name in ("Comm", "Group", "Win", "Request", "Datatype", "Op", "Info", "Errhandler", "Message")
}
COMM, GROUP, WINDOW, REQUEST = OPAQUE["Comm"], OPAQUE["Group"], OPAQUE["Win"], OPAQUE["Request"]
DATATYPE = OPAQUE["Datatype"]

STATUS = Struct(
    "MPI_Status",
    (
        Field("MPI_SOURCE", INT, 0),
        Field("MPI_TAG", INT, 4),
        Field("MPI_ERROR", INT, 8),
        Field("_cancelled", INT, 12),
        Field("_ucount", ULONG, 16),
    ),
    24,
    8,
)

TYPES: dict[str, CType] = {
    **{type.name: type for type in OPAQUE.values()},
    "MPI_Status": STATUS,
    "MPI_Aint": LONG,
    "MPI_Offset": LONG,
    "MPI_Count": LONG,
}

INT8, INT16, INT32, INT64 = (Integer(IntType(bits, True)) for bits in (8, 16, 32, 64))
UINT8, UINT16, UINT32, UINT64 = (Integer(IntType(bits, False)) for bits in (8, 16, 32, 64))

BASIC: dict[str, CType] = {
    "BYTE": UCHAR,
    "CHAR": CHAR,
    "SIGNED_CHAR": INT8,
    "UNSIGNED_CHAR": UCHAR,
    "SHORT": SHORT,
    "UNSIGNED_SHORT": USHORT,
    "INT": INT,
    "UNSIGNED": UINT,
    "LONG": LONG,
    "UNSIGNED_LONG": ULONG,
    "LONG_LONG": LONG,
    "LONG_LONG_INT": LONG,
    "UNSIGNED_LONG_LONG": ULONG,
    "FLOAT": FLOAT,
    "DOUBLE": DOUBLE,
    "LONG_DOUBLE": LONG_DOUBLE,
    "INT8_T": INT8,
    "INT16_T": INT16,
    "INT32_T": INT32,
    "INT64_T": INT64,
    "UINT8_T": UINT8,
    "UINT16_T": UINT16,
    "UINT32_T": UINT32,
    "UINT64_T": UINT64,
    "AINT": LONG,
    "OFFSET": LONG,
    "COUNT": LONG,
    "C_BOOL": UCHAR,
}
"""The C types of basic datatypes."""
SYNONYMS = {"LONG_LONG_INT": "LONG_LONG"}
"""Second names of basic datatypes."""
PAIRS = {
    "2INT": ("INT", 4, 8),
    "SHORT_INT": ("SHORT", 4, 8),
    "FLOAT_INT": ("FLOAT", 4, 8),
    "LONG_INT": ("LONG", 8, 16),
    "DOUBLE_INT": ("DOUBLE", 8, 16),
}
"""The datatypes of a value with an int: of which type the value is, where the int lies, and the extent."""

OPERATIONS = {
    "SUM": "sum",
    "PROD": "prod",
    "MIN": "min",
    "MAX": "max",
    "BAND": "and",
    "BOR": "or",
    "BXOR": "xor",
    "LAND": "land",
    "LOR": "lor",
    "LXOR": "lxor",
    "REPLACE": "replace",
    "NO_OP": "no_op",
    "MINLOC": "minloc",
    "MAXLOC": "maxloc",
}

ORDER_C, ORDER_FORTRAN = 0, 1
PROC_NULL, ANY_SOURCE, ANY_TAG, UNDEFINED = -2, -1, -1, -32766
LOCK_EXCLUSIVE, LOCK_SHARED = 1, 2
NOPRECEDE, NOSUCCEED = 2, 16
IN_PLACE = Handle("in_place")
WORLD = Handle("comm", ("world",))

_NUMBERS = {
    "SUCCESS": 0,
    "PROC_NULL": PROC_NULL,
    "ANY_SOURCE": ANY_SOURCE,
    "ANY_TAG": ANY_TAG,
    "UNDEFINED": UNDEFINED,
    "ROOT": -4,
    "ORDER_C": ORDER_C,
    "ORDER_FORTRAN": ORDER_FORTRAN,
    "MODE_NOCHECK": 1,
    "MODE_NOPRECEDE": NOPRECEDE,
    "MODE_NOPUT": 4,
    "MODE_NOSTORE": 8,
    "MODE_NOSUCCEED": NOSUCCEED,
    "LOCK_EXCLUSIVE": LOCK_EXCLUSIVE,
    "LOCK_SHARED": LOCK_SHARED,
    "TAG_UB": 0,
    "HOST": 1,
    "IO": 2,
    "WTIME_IS_GLOBAL": 3,
    "UNIVERSE_SIZE": 5,
    "KEYVAL_INVALID": -1,
    "WIN_BASE": 7,
    "WIN_SIZE": 8,
    "WIN_DISP_UNIT": 9,
    "WIN_CREATE_FLAVOR": 10,
    "WIN_MODEL": 11,
    "WIN_UNIFIED": 0,
    "WIN_SEPARATE": 1,
    "WIN_FLAVOR_CREATE": 1,
    "WIN_FLAVOR_ALLOCATE": 2,
    "WIN_FLAVOR_DYNAMIC": 3,
    "WIN_FLAVOR_SHARED": 4,
    "COMM_TYPE_SHARED": 0,
    "THREAD_SINGLE": 0,
    "THREAD_FUNNELED": 1,
    "THREAD_SERIALIZED": 2,
    "THREAD_MULTIPLE": 3,
    "MAX_PROCESSOR_NAME": 256,
    "MAX_ERROR_STRING": 256,
    "MAX_OBJECT_NAME": 64,
    "MAX_INFO_KEY": 36,
    "MAX_INFO_VAL": 256,
    "MAX_LIBRARY_VERSION_STRING": 256,
    "VERSION": 3,
    "SUBVERSION": 1,
    "ERR_LASTCODE": 92,
    "ERR_OTHER": 16,
    "ERR_RANK": 6,
    "ERR_COUNT": 2,
    "ERR_TYPE": 3,
    "ERR_TAG": 4,
    "ERR_OP": 10,
    "ERR_ARG": 13,
    "ERR_WIN": 53,
    "ERR_RMA_RANGE": 55,
    "ERR_RMA_SYNC": 58,
    "ERR_RMA_CONFLICT": 49,
    "IDENT": 0,
    "CONGRUENT": 1,
    "SIMILAR": 2,
    "UNEQUAL": 3,
}


def _constants() -> dict[str, tuple[CType, Value]]:
    result: dict[str, tuple[CType, Value]] = {f"MPI_{name}": (INT, Known(value)) for name, value in _NUMBERS.items()}
    for name, type in OPAQUE.items():
        result[f"MPI_{name.upper()}_NULL"] = (type, Known(0))
    for name, basic in BASIC.items():
        result[f"MPI_{name}"] = (DATATYPE, Handle("datatype", ((name,), (0,), 0, size_of(basic), 1)))
    for name, (first, place, extent) in PAIRS.items():
        result[f"MPI_{name}"] = (DATATYPE, Handle("datatype", ((first, "INT"), (0, place), 0, extent, 1)))
    for name, operation in OPERATIONS.items():
        result[f"MPI_{name}"] = (OPAQUE["Op"], Handle("op", (operation,)))
    status = Pointer(STATUS)
    return result | {
        "MPI_COMM_WORLD": (COMM, WORLD),
        "MPI_COMM_SELF": (COMM, Handle("comm", ("self",))),
        "MPI_WIN_NULL": (WINDOW, Known(0)),
        "MPI_GROUP_EMPTY": (GROUP, Handle("group", ((),))),
        "MPI_STATUS_IGNORE": (status, NULL),
        "MPI_STATUSES_IGNORE": (status, NULL),
        "MPI_BOTTOM": (Pointer(VOID), NULL),
        "MPI_IN_PLACE": (Pointer(VOID), IN_PLACE),
        "MPI_ERRORS_ARE_FATAL": (OPAQUE["Errhandler"], Handle("errhandler", ("fatal",))),
        "MPI_ERRORS_RETURN": (OPAQUE["Errhandler"], Handle("errhandler", ("return",))),
        "MPI_INFO_ENV": (OPAQUE["Info"], Handle("info", ("env",))),
    }


CONSTANTS = _constants()
FUNCTIONS = Prototypes()


def calls(prototypes: str) -> Callable[[Handler], Handler]:
    """A decorator: the handler of functions that all give an int, the error code; without `MPI_` and `int`."""

    def add(handler: Handler) -> Handler:
        for prototype in prototypes.split(";"):
            if prototype.strip():
                FUNCTIONS.add(f"int MPI_{prototype.strip()}", handler)
        return handler

    return add
