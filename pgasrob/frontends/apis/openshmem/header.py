"""The names of OpenSHMEM: types, constants, the type names in function names, and the table of functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pgasrob.frontends.apis.interface import Handler
from pgasrob.frontends.apis.prototypes import NAME, Prototypes
from pgasrob.frontends.c.types import INT, LONG, ULONG, CType, Field, Floating, Integer, Opaque, Pointer, Struct
from pgasrob.frontends.c.values import Handle, Known, Value
from pgasrob.program.expressions import IntType

CONTEXT = Opaque("shmem_ctx_t")
TEAM = Opaque("shmem_team_t")
TEAM_CONFIG = Struct("shmem_team_config_t", (Field("num_contexts", INT, 0),), 4, 4)

SESSION_CONFIG = Struct("shmem_ctx_session_config_t", (Field("total_ops", ULONG, 0),), 8, 8)

TYPES: dict[str, CType] = {
    "shmem_ctx_t": CONTEXT,
    "shmem_team_t": TEAM,
    "shmem_team_config_t": TEAM_CONFIG,
    "shmem_ctx_session_config_t": SESSION_CONFIG,
}

INTEGERS = {
    "char": "char",
    "schar": "signed char",
    "short": "short",
    "int": "int",
    "long": "long",
    "longlong": "long long",
    "uchar": "unsigned char",
    "ushort": "unsigned short",
    "uint": "unsigned int",
    "ulong": "unsigned long",
    "ulonglong": "unsigned long long",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long",
    "size": "unsigned long",
    "ptrdiff": "long",
}
"""Type names in function names (1.5, Tables 3 to 10) and the C types, written as prototypes need them."""
FLOATINGS = {"float": "float", "double": "double", "longdouble": "long double"}
ALL = INTEGERS | FLOATINGS
SIZES = (8, 16, 32, 64, 128)

_SPELLED: dict[CType, str] = {Floating(32): "float", Floating(64): "double", Floating(128): "long double"}
for _bits, _name in ((8, "char"), (16, "short"), (32, "int"), (64, "long")):
    _SPELLED[Integer(IntType(_bits, True))] = _name
    _SPELLED[Integer(IntType(_bits, False))] = f"unsigned {_name}"

RELATIONS = ("==", "!=", ">", "<=", "<", ">=")
"""By the values of SHMEM_CMP_EQ and so on, as Open MPI numbers them; the standard leaves the numbers open."""
SIGNAL_OPERATIONS = ("set", "add")


def _constants() -> dict[str, tuple[CType, Value]]:
    numbers: dict[str, int] = {
        "SHMEM_THREAD_SINGLE": 0,
        "SHMEM_THREAD_FUNNELED": 1,
        "SHMEM_THREAD_SERIALIZED": 2,
        "SHMEM_THREAD_MULTIPLE": 3,
        "SHMEM_MAJOR_VERSION": 1,
        "SHMEM_MINOR_VERSION": 5,
        "SHMEM_MAX_NAME_LEN": 256,
        "SHMEM_SIGNAL_SET": 0,
        "SHMEM_SIGNAL_ADD": 1,
        "SHMEM_BARRIER_SYNC_SIZE": 1,
        "SHMEM_BCAST_SYNC_SIZE": 2,
        "SHMEM_COLLECT_SYNC_SIZE": 3,
        "SHMEM_REDUCE_SYNC_SIZE": 3,
        "SHMEM_ALLTOALL_SYNC_SIZE": 1,
        "SHMEM_ALLTOALLS_SYNC_SIZE": 1,
        "SHMEM_SYNC_SIZE": 3,
        "SHMEM_REDUCE_MIN_WRKDATA_SIZE": 1,
        "SHMEM_SYNC_VALUE": -1,
    }
    numbers |= {f"SHMEM_CMP_{name}": index for index, name in enumerate(("EQ", "NE", "GT", "LE", "LT", "GE"))}
    numbers |= {f"_{name}": value for name, value in numbers.items()}
    longs = {
        "SHMEM_CTX_PRIVATE": 1,
        "SHMEM_CTX_SERIALIZED": 2,
        "SHMEM_CTX_NOSTORE": 4,
        "SHMEM_TEAM_NUM_CONTEXTS": 1,
        "SHMEM_CTX_SESSION_BATCH": 1,
        "SHMEM_CTX_SESSION_SAME_AMO": 2,
        "SHMEM_CTX_SESSION_TOTAL_OPS": 1,
        "SHMEM_MALLOC_ATOMICS_REMOTE": 1,
        "SHMEM_MALLOC_SIGNAL_REMOTE": 2,
    }
    return {
        **{name: (INT, Known(value)) for name, value in numbers.items()},
        **{name: (LONG, Known(value)) for name, value in longs.items()},
        "SHMEM_CTX_DEFAULT": (CONTEXT, Handle("context", (0, "world"))),
        "SHMEM_CTX_INVALID": (CONTEXT, Known(0)),
        "SHMEM_TEAM_WORLD": (TEAM, Handle("team", ("world",))),
        "SHMEM_TEAM_SHARED": (TEAM, Handle("team", ("shared",))),
        "SHMEM_TEAM_INVALID": (TEAM, Known(0)),
    }


CONSTANTS = _constants()
MACROS = {f"{prefix}SHMEM_VENDOR_STRING": '"OpenSHMEM"' for prefix in ("", "_")}


@dataclass(slots=True)
class Functions(Prototypes):
    """A table of prototypes with type-generic names as well.

    In a template ``{N}_`` is a type name of a function and ``{C}`` the type that it stands for. Of a function that can
    be told a context ``{ctx}`` stands before the rest of the name, and ``{ctx_t}`` before the parameters.
    """

    generics: dict[str, str] = field(default_factory=dict)
    overloads: dict[tuple[str, int], str] = field(default_factory=dict)
    """Prototypes by name and number of arguments, where two that are not type-generic share a name."""

    def typed(self, template: str, types: dict[str, str], handler: Handler) -> None:
        """One function for every type name, and the generic one (C11), which takes a context as first argument."""
        for text in with_contexts(template):
            for name, spelled in types.items():
                self.add(text.replace("{N}_", f"{name}_").replace("{C}", spelled), handler)
        generic = " ".join(with_contexts(template)[0].replace("{N}_", "").split())
        found = NAME.search(generic)
        assert found is not None
        self.generics[found[1]] = generic
        self.handlers[found[1]] = handler

    def sized(self, template: str, handler: Handler, *, mem: bool) -> None:
        """One function for every size in bits, and ``mem``, which counts bytes, where the template has ``{S}``."""
        for text in with_contexts(template):
            for size in (*(("mem",) if mem else ()), *map(str, SIZES)):
                self.add(text.replace("{S}", size), handler)

    def declaration(self, name: str, types: tuple[CType, ...]) -> str | None:
        if (name, len(types)) in self.overloads:
            return self.overloads[name, len(types)]
        generic = self.generics.get(name)
        if generic is None:
            return self.declarations.get(name)
        target = next((type.to for type in types if isinstance(type, Pointer)), None)
        if target is None or target not in _SPELLED:
            # `shmem_wait` and some others are also functions, on longs.
            return self.declarations.get(name)
        if types[0] == CONTEXT:
            generic = generic.replace("(", "(shmem_ctx_t ctx, ", 1)
        return f"{generic.replace('{C}', _SPELLED[target])};"


def with_contexts(template: str) -> list[str]:
    """The prototype for the default context, and the one that names a context where the template has one."""
    if "{ctx}" not in template:
        return [template]
    return [
        template.replace("{ctx}", "").replace("{ctx_t}", ""),
        template.replace("{ctx}", "ctx_").replace("{ctx_t}", "shmem_ctx_t ctx, "),
    ]


FUNCTIONS = Functions()


def typed(template: str, types: dict[str, str] = ALL) -> Callable[[Handler], Handler]:
    """A decorator: the handler of a function that there is for each of ``types``."""

    def add(handler: Handler) -> Handler:
        FUNCTIONS.typed(template, types, handler)
        return handler

    return add


def sized(template: str, *, mem: bool = True) -> Callable[[Handler], Handler]:
    """A decorator: the handler of a function that there is for each size in bits, and for bytes."""

    def add(handler: Handler) -> Handler:
        FUNCTIONS.sized(template, handler, mem=mem)
        return handler

    return add
