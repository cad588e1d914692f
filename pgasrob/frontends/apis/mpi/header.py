"""What `mpi.h` declares: types, constants, basic datatypes, operations, functions. Numbers are Open MPI's."""

from __future__ import annotations

from pgasrob.frontends.apis.prototypes import Prototypes, enumerators
from pgasrob.frontends.c import types as c
from pgasrob.frontends.c.layout import size_of, struct_of
from pgasrob.frontends.c.values import NULL, Handle, Known, Value

OPAQUE = {
    name: c.Opaque(f"MPI_{name}")
    for name in ("Comm", "Group", "Win", "Request", "Datatype", "Op", "Info", "Errhandler", "Message", "File")
}
COMM, GROUP, WINDOW, REQUEST = OPAQUE["Comm"], OPAQUE["Group"], OPAQUE["Win"], OPAQUE["Request"]
DATATYPE = OPAQUE["Datatype"]

_OBJECTS = {"Comm": COMM, "Win": WINDOW, "File": OPAQUE["File"]}
_ANY = c.Pointer(c.VOID)


def _handler(of: c.CType) -> c.CType:
    return c.Function(c.VOID, (c.Pointer(of), c.Pointer(c.INT)), variadic=True)


def _copy(of: c.CType) -> c.CType:
    return c.Function(c.INT, (of, c.INT, _ANY, _ANY, _ANY, c.Pointer(c.INT)))


def _delete(of: c.CType) -> c.CType:
    return c.Function(c.INT, (of, c.INT, _ANY, _ANY))


STATUS = struct_of(
    "MPI_Status",
    [*((name, c.INT) for name in ("MPI_SOURCE", "MPI_TAG", "MPI_ERROR", "_cancelled")), ("_ucount", c.ULONG)],
)

TYPES: dict[str, c.CType] = {
    **{type.name: type for type in OPAQUE.values()},
    "MPI_Status": STATUS,
    "MPI_Aint": c.LONG,
    "MPI_Offset": c.LONG,
    "MPI_Count": c.LONG,
    "MPI_Handler_function": _handler(COMM), "MPI_Copy_function": _copy(COMM), "MPI_Delete_function": _delete(COMM),
    **{f"MPI_{name}_errhandler_function": _handler(type) for name, type in _OBJECTS.items()},
    **{f"MPI_{name}_errhandler_fn": _handler(type) for name, type in _OBJECTS.items()},
    **{f"MPI_{name}_copy_attr_function": _copy(type) for name, type in _OBJECTS.items()},
    **{f"MPI_{name}_delete_attr_function": _delete(type) for name, type in _OBJECTS.items()},
}  # fmt: skip

BASIC: dict[str, c.CType] = {
    "BYTE": c.UCHAR, "CHAR": c.CHAR, "SIGNED_CHAR": c.CHAR, "UNSIGNED_CHAR": c.UCHAR, "SHORT": c.SHORT,
    "UNSIGNED_SHORT": c.USHORT,
    "INT": c.INT, "UNSIGNED": c.UINT, "LONG": c.LONG, "UNSIGNED_LONG": c.ULONG, "LONG_LONG": c.LONG,
    "LONG_LONG_INT": c.LONG,
    "UNSIGNED_LONG_LONG": c.ULONG, "FLOAT": c.FLOAT, "DOUBLE": c.DOUBLE, "LONG_DOUBLE": c.LONG_DOUBLE,
    "INT8_T": c.CHAR, "INT16_T": c.SHORT, "INT32_T": c.INT, "INT64_T": c.LONG,
    "UINT8_T": c.UCHAR, "UINT16_T": c.USHORT, "UINT32_T": c.UINT, "UINT64_T": c.ULONG,
    "AINT": c.LONG, "OFFSET": c.LONG, "COUNT": c.LONG, "C_BOOL": c.UCHAR,
}  # fmt: skip
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
    "SUM": "sum", "PROD": "prod", "MIN": "min", "MAX": "max", "BAND": "and", "BOR": "or", "BXOR": "xor",
    "LAND": "land", "LOR": "lor", "LXOR": "lxor", "REPLACE": "replace", "NO_OP": "no_op", "MINLOC": "minloc",
    "MAXLOC": "maxloc",
}  # fmt: skip

BITWISE = {OPERATIONS[name]: f"MPI_{name}" for name in ("BAND", "BOR", "BXOR")}

_NUMBERS = enumerators("""
    SUCCESS = 0, PROC_NULL = -2, ANY_SOURCE = -1, ANY_TAG = -1, UNDEFINED = -32766, ROOT = -4,
    ORDER_C = 0, ORDER_FORTRAN, LOCK_EXCLUSIVE = 1, LOCK_SHARED,
    MODE_NOCHECK = 1, MODE_NOPRECEDE = 2, MODE_NOPUT = 4, MODE_NOSTORE = 8, MODE_NOSUCCEED = 16,
    TAG_UB = 0, HOST, IO, WTIME_IS_GLOBAL, UNIVERSE_SIZE = 5, KEYVAL_INVALID = -1,
    WIN_BASE = 7, WIN_SIZE, WIN_DISP_UNIT, WIN_CREATE_FLAVOR, WIN_MODEL, WIN_UNIFIED = 0, WIN_SEPARATE,
    WIN_FLAVOR_CREATE = 1, WIN_FLAVOR_ALLOCATE, WIN_FLAVOR_DYNAMIC, WIN_FLAVOR_SHARED, COMM_TYPE_SHARED = 0,
    THREAD_SINGLE = 0, THREAD_FUNNELED, THREAD_SERIALIZED, THREAD_MULTIPLE,
    MAX_PROCESSOR_NAME = 256, MAX_ERROR_STRING = 256, MAX_OBJECT_NAME = 64, MAX_INFO_KEY = 36, MAX_INFO_VAL = 256,
    MAX_LIBRARY_VERSION_STRING = 256, VERSION = 3, SUBVERSION = 1,
    ERR_LASTCODE = 92, ERR_OTHER = 16, ERR_RANK = 6, ERR_COUNT = 2, ERR_TYPE = 3, ERR_TAG = 4, ERR_OP = 10,
    ERR_ARG = 13, ERR_WIN = 53, ERR_RMA_RANGE = 55, ERR_RMA_SYNC = 58, ERR_RMA_CONFLICT = 49,
    MODE_CREATE = 1, MODE_RDONLY, MODE_WRONLY = 4, MODE_RDWR = 8, MODE_DELETE_ON_CLOSE = 16,
    MODE_UNIQUE_OPEN = 32, MODE_EXCL = 64, MODE_APPEND = 128, MODE_SEQUENTIAL = 256, SEEK_SET = 600, SEEK_CUR = 602,
    SEEK_END = 604, COMBINER_NAMED = 0, COMBINER_DUP, COMBINER_CONTIGUOUS, COMBINER_VECTOR, COMBINER_HVECTOR = 5,
    COMBINER_INDEXED, COMBINER_HINDEXED = 8, COMBINER_INDEXED_BLOCK, COMBINER_STRUCT = 11, COMBINER_SUBARRAY,
    COMBINER_DARRAY,
    COMBINER_RESIZED = 17, COMBINER_HINDEXED_BLOCK,
    CART = 1, GRAPH, DIST_GRAPH, IDENT = 0, CONGRUENT, SIMILAR, UNEQUAL
""")
MAX_INFO_VALUE = _NUMBERS["MAX_INFO_VAL"]
ORDER_C, THREAD_MULTIPLE = _NUMBERS["ORDER_C"], _NUMBERS["THREAD_MULTIPLE"]
PROC_NULL, ANY_SOURCE, ANY_TAG, UNDEFINED = (
    _NUMBERS[name] for name in ("PROC_NULL", "ANY_SOURCE", "ANY_TAG", "UNDEFINED")
)
TAG_UB, KEYVAL_INVALID = _NUMBERS["TAG_UB"], _NUMBERS["KEYVAL_INVALID"]
CART = _NUMBERS["CART"]
LOCK_EXCLUSIVE, LOCK_SHARED = _NUMBERS["LOCK_EXCLUSIVE"], _NUMBERS["LOCK_SHARED"]
NOCHECK, NOPRECEDE, NOSUCCEED = (_NUMBERS[f"MODE_{name}"] for name in ("NOCHECK", "NOPRECEDE", "NOSUCCEED"))
WIN_BASE, WIN_SIZE, WIN_DISP_UNIT, WIN_CREATE_FLAVOR, WIN_MODEL = range(_NUMBERS["WIN_BASE"], 12)
COMBINERS = {name.removeprefix("COMBINER_"): value for name, value in _NUMBERS.items() if name.startswith("COMBINER_")}
NAMED = 2
"""What datatypes that MPI has made say of whether they are committed."""
IN_PLACE = Handle("in_place")
DUP_FN = Handle("dup_fn")
"""The function that copies an attribute as it is."""


def _constants() -> dict[str, tuple[c.CType, Value]]:
    result: dict[str, tuple[c.CType, Value]] = {
        f"MPI_{name}": (c.INT, Known(value)) for name, value in _NUMBERS.items()
    }
    for name, type in OPAQUE.items():
        result[f"MPI_{name.upper()}_NULL"] = (type, Known(0))
    for name, basic in BASIC.items():
        result[f"MPI_{name}"] = (DATATYPE, Handle("datatype", ((name,), (0,), 0, size_of(basic), (), NAMED)))
    result["MPI_PACKED"] = result["MPI_BYTE"]
    for name, (first, place, extent) in PAIRS.items():
        result[f"MPI_{name}"] = (DATATYPE, Handle("datatype", ((first, "INT"), (0, place), 0, extent, (), NAMED)))
    for name, operation in OPERATIONS.items():
        result[f"MPI_{name}"] = (OPAQUE["Op"], Handle("op", (operation,)))
    for prefix in ("", "COMM_", "WIN_"):
        for word, value in (("NULL_COPY", NULL), ("NULL_DELETE", NULL), ("DUP", DUP_FN)):
            result[f"MPI_{prefix}{word}_FN"] = (_ANY, value)
    status = c.Pointer(STATUS)
    return result | {
        "MPI_COMM_WORLD": (COMM, Handle("comm", ("world",))),
        "MPI_COMM_SELF": (COMM, Handle("comm", ("self",))),
        "MPI_WIN_NULL": (WINDOW, Known(0)),
        "MPI_GROUP_EMPTY": (GROUP, Handle("group", ((),))),
        "MPI_STATUS_IGNORE": (status, NULL),
        "MPI_STATUSES_IGNORE": (status, NULL),
        "MPI_BOTTOM": (c.Pointer(c.VOID), NULL),
        "MPI_IN_PLACE": (c.Pointer(c.VOID), IN_PLACE),
        "MPI_ERRORS_ARE_FATAL": (OPAQUE["Errhandler"], Handle("errhandler", ("fatal",))),
        "MPI_ERRORS_RETURN": (OPAQUE["Errhandler"], Handle("errhandler", ("return",))),
        "MPI_INFO_ENV": (OPAQUE["Info"], Handle("info", ("env",))),
    }


CONSTANTS = _constants()
FUNCTIONS = Prototypes()
_CODED = FUNCTIONS.returning(NULL, "int MPI_")
calls, does, nothing, stores = _CODED.calls, _CODED.does, _CODED.nothing, _CODED.stores
"""Add functions that all return an int, the error code MPI_SUCCESS; their prototypes without `int MPI_`."""
