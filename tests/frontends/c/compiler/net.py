"""An API for tests of the compiler, and texts compiled with it."""

from __future__ import annotations

from pgasrob.frontends.apis.interface import Api
from pgasrob.frontends.apis.registry import Registry
from pgasrob.frontends.c.code import CompiledFunction, Unit
from pgasrob.frontends.c.compiler import compile_unit
from pgasrob.frontends.c.types import DOUBLE, INT, LONG, CType, Opaque, Pointer
from pgasrob.frontends.c.values import Handle, Known
from tests.frontends.c.interpreter import LIBC, Interpreter


def declaration(name: str, types: tuple[CType, ...]) -> str | None:
    """An API with a function that is generic in its first argument."""
    match name, types:
        case "net_put", (Pointer(to), *_):
            word = {INT: "int", LONG: "long", DOUBLE: "double"}.get(to, "void")
            return f"void net_put({word} *to, {word} value, int rank);"
        case "net_rank", _:
            return "int net_rank(void)"
        case "net_start", _:
            return "net_handle net_start(const void *from, size_t bytes);"
    return None


NET = Api(
    "net",
    ("net.h",),
    {"net_handle": Opaque("net_handle")},
    {"NET_ALL": (INT, Known(-1)), "NET_SIZE": (INT, Known(8)), "NET_NONE": (Opaque("net_handle"), Handle("none"))},
    declaration,
    lambda name: None,
    {"net_get*": "use net_put"},
)
REGISTRY = Registry(lambda header: NET if header == "net.h" else None, lambda: (LIBC,))


def unit(text: str, **options: object) -> Unit:
    return compile_unit("x.c", text, REGISTRY, **options)  # type: ignore[arg-type]


def function(body: str, before: str = "") -> CompiledFunction:
    return unit(f"#include <net.h>\n{before}\nvoid f(int n, int *p) {{ {body} }}").functions["f"]


def printed(body: str, before: str = "") -> str:
    """What a program prints, by the interpreter of the tests: ``body`` is that of `main`."""
    return Interpreter(f"{before}\nint main(void) {{ {body} return 0; }}").run()[0]
