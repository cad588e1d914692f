"""What `shmem.h` declares: types, constants, and functions, many of them once for every C type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pgasrob.frontends.apis.interface import Handler
from pgasrob.frontends.apis.prototypes import NAME, Prototypes, enumerators
from pgasrob.frontends.c.types import INT, LONG, ULONG, CType, Field, Floating, Integer, Opaque, Pointer, Struct
from pgasrob.frontends.c.values import Handle, Known, Value
from pgasrob.program.expressions import IntType

CONTEXT, TEAM = Opaque("shmem_ctx_t"), Opaque("shmem_team_t")
TYPES: dict[str, CType] = {
    "shmem_ctx_t": CONTEXT,
    "shmem_team_t": TEAM,
    "shmem_team_config_t": Struct("shmem_team_config_t", (Field("num_contexts", INT, 0),), 4, 4),
    "shmem_ctx_session_config_t": Struct("shmem_ctx_session_config_t", (Field("total_ops", ULONG, 0),), 8, 8),
}

_FIXED_SIZES = {"8": "signed char", "16": "short", "32": "int", "64": "long"}
INTEGERS = {
    "char": "char", "schar": "signed char", "short": "short", "int": "int", "long": "long", "longlong": "long long",
    "uchar": "unsigned char", "ushort": "unsigned short", "uint": "unsigned int", "ulong": "unsigned long",
    "ulonglong": "unsigned long long",
    **{f"int{bits}": name for bits, name in _FIXED_SIZES.items()},
    **{f"uint{bits}": f"unsigned {name.removeprefix('signed ')}" for bits, name in _FIXED_SIZES.items()},
    "size": "unsigned long", "ptrdiff": "long",
}  # fmt: skip
"""Type names in function names (1.5, Tables 3 to 10) and the C types, written as prototypes need them."""
ALL = INTEGERS | {"float": "float", "double": "double", "longdouble": "long double"}
SIZES = (8, 16, 32, 64, 128)

_SPELLED: dict[CType, str] = {Floating(32): "float", Floating(64): "double", Floating(128): "long double"}
for _bits, _name in ((8, "char"), (16, "short"), (32, "int"), (64, "long")):
    _SPELLED[Integer(IntType(_bits, True))] = _name
    _SPELLED[Integer(IntType(_bits, False))] = f"unsigned {_name}"

RELATIONS = {"EQ": "==", "NE": "!=", "GT": ">", "LE": "<=", "LT": "<", "GE": ">="}
"""What SHMEM_CMP_EQ and so on mean, as Open MPI numbers them; the standard leaves the numbers open."""
SIGNAL_OPERATIONS = ("set", "add")

_INTS = enumerators("""
    THREAD_SINGLE, THREAD_FUNNELED, THREAD_SERIALIZED, THREAD_MULTIPLE,
    MAJOR_VERSION = 1, MINOR_VERSION = 5, MAX_NAME_LEN = 256, SIGNAL_SET = 0, SIGNAL_ADD,
    BARRIER_SYNC_SIZE = 1, BCAST_SYNC_SIZE = 2, COLLECT_SYNC_SIZE = 3, REDUCE_SYNC_SIZE = 3, ALLTOALL_SYNC_SIZE = 1,
    ALLTOALLS_SYNC_SIZE = 1, SYNC_SIZE = 3, REDUCE_MIN_WRKDATA_SIZE = 1, SYNC_VALUE = -1
""") | {f"CMP_{name}": index for index, name in enumerate(RELATIONS)}
_LONGS = enumerators("""
    CTX_PRIVATE = 1, CTX_SERIALIZED = 2, CTX_NOSTORE = 4, TEAM_NUM_CONTEXTS = 1,
    CTX_SESSION_BATCH = 1, CTX_SESSION_SAME_AMO = 2, CTX_SESSION_TOTAL_OPS = 1,
    MALLOC_ATOMICS_REMOTE = 1, MALLOC_SIGNAL_REMOTE = 2
""")
CONSTANTS: dict[str, tuple[CType, Value]] = {
    **{f"{prefix}SHMEM_{name}": (INT, Known(value)) for name, value in _INTS.items() for prefix in ("", "_")},
    **{f"SHMEM_{name}": (LONG, Known(value)) for name, value in _LONGS.items()},
    "SHMEM_CTX_DEFAULT": (CONTEXT, Handle("context", (0, "world"))),
    "SHMEM_CTX_INVALID": (CONTEXT, Known(0)),
    "SHMEM_TEAM_WORLD": (TEAM, Handle("team", ("world",))),
    "SHMEM_TEAM_SHARED": (TEAM, Handle("team", ("shared",))),
    "SHMEM_TEAM_INVALID": (TEAM, Known(0)),
}
MACROS = {f"{prefix}SHMEM_VENDOR_STRING": '"OpenSHMEM"' for prefix in ("", "_")}


@dataclass(slots=True)
class Functions(Prototypes):
    """A table of prototypes with type-generic names as well.

    In a template ``{N}_`` is a type name of a function and ``{C}`` the type that it stands for. Where a function can
    take a context, ``{ctx}`` precedes the rest of its name and ``{ctx_t}`` before its parameters.
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
        target = next((type.to for type in types if isinstance(type, Pointer)), None)
        if generic is None or target is None or target not in _SPELLED:
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
