"""The shape of the code: loops, joins, calls, places, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.apis.interface import Api
from pgasrob.frontends.apis.registry import Registry
from pgasrob.frontends.c.code import Branch, Call, CompiledFunction, Join, LoopHead, Move, Set, Unit
from pgasrob.frontends.c.compiler import compile_unit
from pgasrob.frontends.c.liveness import live_slots
from pgasrob.frontends.c.types import DOUBLE, INT, LONG, VOID, Array, CType, Opaque, Pointer
from pgasrob.frontends.c.values import Handle, Known
from pgasrob.frontends.lower import parse_c
from pgasrob.frontends.options import FrontEnd
from tests.frontends.c.interpreter import LIBC


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


def calls(body: str) -> list[Call]:
    return [each for each in function(body).code if isinstance(each, Call)]


def leaving(body: str) -> list[int]:
    """How many loops each branch leaves."""
    return [len(each.leaves) for each in function(body).code if isinstance(each, Branch)]


@pytest.mark.parametrize(
    ("body", "loops", "leaves"),
    [
        ("while (n) n--;", 1, [1]),
        ("for (;;) if (n) break;", 1, [1]),
        ("for (;;) if (n) n--; else return;", 1, [1]),
        ("do n--; while (n);", 1, [1]),
        ("do { if (n) break; n++; } while (0);", 0, [0]),
        ("while (*p) { if (n) continue; n++; }", 1, [1, 0]),
        ("while (n && *p) ;", 1, [1, 1]),
        ("while (n || *p) ;", 1, [0, 1]),
        ("while (n) while (*p) if (n > 3) goto out; else n++; out: ;", 2, [1, 1, 2]),
        ("while (n) { while (*p) if (n > 3) break; }", 2, [1, 1, 1]),
        ("again: n++; if (n < 4) goto again;", 1, [1]),
        ("if (n) goto end; n++; end: ;", 0, [0]),
        ("while (n) switch (*p) { case 1: return; case 2: n--; }", 1, [1, 1, 0]),
    ],
)
def test_branches_say_which_loops_they_leave(body: str, loops: int, leaves: list[int]) -> None:
    assert sum(isinstance(each, LoopHead) for each in function(body).code) == loops
    assert leaving(body) == leaves


@pytest.mark.parametrize("body", ["if (n) n++;", "n = n ? 1 : *p;", "n = n && *p;", "switch (n) { case 1: n++; }"])
def test_branches_come_together_at_a_join(body: str) -> None:
    assert any(isinstance(each, Join) for each in function(body).code)


def test_calls_of_an_api_are_converted_as_it_declares_them_for_their_arguments() -> None:
    first, second, third = calls("double d; net_put(p, 2.5, NET_ALL); net_put(&d, n, 'a'); n = net_rank();")
    assert first.types == (Pointer(INT), INT, INT) and first.texts == ("p", "2.5", "NET_ALL")
    assert second.types == (Pointer(DOUBLE), DOUBLE, INT) and second.texts == ("&d", "n", "'a'")
    assert (first.result, third.result) == (VOID, INT)


def test_results_go_straight_to_the_variable() -> None:
    code = function("int x = net_rank(); n = net_rank(); net_rank();")
    names = [code.slots[each.target].name for each in code.code if isinstance(each, Call) and each.target is not None]
    assert names == ["x", "n", None]


def test_types_and_constants_of_an_api() -> None:
    found = unit("#include <net.h>\nint cells[NET_SIZE];\n#if NET_SIZE > 4 && defined(NET_ALL)\nint yes;\n#endif\n")
    assert found.objects["cells"].type == Array(INT, 8) and "yes" in found.objects
    code = function("net_handle h = NET_NONE; h = net_start(p, sizeof *p); if (h == NET_NONE) n = 1;")
    assert Handle("none") in [each.value for each in code.code if isinstance(each, Set)]
    with pytest.raises(SourceError, match="unknown type `net_handle`"):
        unit("net_handle h;")


def test_arguments_are_shown_as_written() -> None:
    macros = "#define N 3\n#define PUT(x) net_put(p, x, 0)\n#define TWICE(x) (2 * x)"
    text = (
        f"#include <net.h>\n{macros}\nvoid f(int *p) {{ net_put(p + N, TWICE(N), (unsigned char) 1); PUT(N + p[1]); }}"
    )
    first, second = (each for each in unit(text).functions["f"].code if isinstance(each, Call))
    assert first.texts == ("p + N", "(2 * 3)", "(unsigned char) 1")
    assert second.texts == ("p", "N + p[1]", "0")


def test_instructions_have_the_place_of_their_call_or_assignment() -> None:
    found = unit(
        "#include <net.h>\nint f(int n) {\n  n = 2 *\n    net_rank();\n  if (n > 3)\n    return 1;\n  return 2;\n}"
    )
    code = found.functions["f"]
    places = {type(each).__name__: (span.line, span.column) for each, span in zip(code.code, code.spans, strict=True)}
    assert places["Call"] == (4, 5) and places["Branch"] == (5, 7)
    (call,) = (span for each, span in zip(code.code, code.spans, strict=True) if isinstance(each, Call))
    assert (call.line, call.column, call.end_line, call.end_column) == (4, 5, 4, 15)


def test_names_that_are_assumed_pure() -> None:
    with pytest.raises(SourceError, match="--assume-pure compute"):
        unit("int f(void) { return compute(1, 2.5f); }")
    found = unit("int f(void) { return compute(1, 2.5f); }", pure=frozenset({"compute"}))
    (call,) = (each for each in found.functions["f"].code if isinstance(each, Call))
    assert (call.function, call.types, call.result) == ("compute", (INT, DOUBLE), INT)
    declared = unit("double compute(long); double f(void) { return compute(1); }", pure=frozenset({"compute"}))
    (call,) = (each for each in declared.functions["f"].code if isinstance(each, Call))
    assert (call.types, call.result) == ((LONG,), DOUBLE)


@pytest.mark.parametrize(
    ("include", "call", "hint"),
    [
        ("", "shmem_init()", "is `#include <shmem.h>` missing?"),
        ("", "shmem_lon_p(0, 1, 0)", "did you mean `shmem_long_p`? is `#include <shmem.h>` missing?"),
        ("shmem.h", "shmem_lon_p(0, 1, 0)", "did you mean `shmem_long_p`? the functions of <shmem.h>"),
        ("GASPI.h", "gaspi_wriet(0)", "did you mean `gaspi_write`?"),
        ("", "MPI_Wim_fence(0)", "did you mean `MPI_Win_fence`? is `#include <mpi.h>` missing?"),
        ("", "ARMCI_Barier()", "did you mean `ARMCI_Barrier`? is `#include <armci.h>` missing?"),
        ("", "gasnet_put_bluk(0)", "did you mean `gasnet_put_bulk`? is `#include <gasnet.h>` missing?"),
        ("", "bariierGPI()", "did you mean `barrierGPI`? is `#include <GPI.h>` missing?"),
    ],
)
def test_a_name_like_those_of_an_api(include: str, call: str, hint: str) -> None:
    """It is never told to be assumed pure, and to do so is refused: what it does would be left out in silence."""
    text = f"#include <{include}>\n" if include else ""
    text += f"int main(void) {{ {call}; return 0; }}\n"
    with pytest.raises(SourceError) as caught:
        parse_c(text)
    (found,) = caught.value.diagnostics
    assert found.code in ("PG125", "PG160") and hint in found.hint and "--assume-pure" not in found.hint
    name = call.partition("(")[0]
    with pytest.raises(SourceError) as caught:
        parse_c(text, options=FrontEnd(pure=("compute", name)))
    (found,) = caught.value.diagnostics
    assert found.code == "PG162" and f"`{name}` cannot be assumed to be pure" in found.message


def test_names_that_only_look_like_those_of_an_api() -> None:
    for name in ("compute", "my_rank", "num_steps", "start_timer", "mpi_error", "shmemory", "_norm"):
        parse_c(f"int main(void) {{ return {name}(); }}", options=FrontEnd(pure=(name,))).instantiate()


def test_what_an_api_does_not_support_is_an_error_with_its_advice() -> None:
    with pytest.raises(SourceError) as caught:
        function("net_get_all(p);")
    assert [(each.code, each.hint) for each in caught.value.diagnostics] == [("PG160", "use net_put")]


def test_headers_that_are_not_read_are_named_when_something_is_missing() -> None:
    assert unit("#include <numa.h>\nint x;").unread == (("numa.h", 1),)
    for text in ("foo_t x;", "int f(void) { return FOO; }", "int f(void) { return foo(); }"):
        with pytest.raises(SourceError) as caught:
            unit(f"#include <numa.h>\n{text}")
        assert "numa.h" in caught.value.diagnostics[0].hint


def test_errors_in_an_included_file_name_it(tmp_path: Path) -> None:
    (tmp_path / "mine.h").write_text("\nstatic int f(void) { return missing; }\n")
    file = tmp_path / "x.c"
    with pytest.raises(SourceError) as caught:
        compile_unit(str(file), '#include "mine.h"\n', REGISTRY)
    (found,) = caught.value.diagnostics
    assert (Path(found.file).name, found.line, found.column) == ("mine.h", 2, 29)


def test_several_mistakes_are_reported_at_once() -> None:
    with pytest.raises(SourceError) as caught:
        unit("int f(void) { return a; }\nint g(void) { return b; }\nint h(void) { return 1; }")
    assert [each.line for each in caught.value.diagnostics] == [1, 2]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("union u { int a; float b; } x = {1, 2};", "PG123"),
        ("struct s { int a : 3; } x;", "PG120"),
        ("struct s { int : 0; int a; } x;", "PG120"),
        ("struct __attribute__((packed)) s { char c; int a; } x;", "PG120"),
        ("_Complex double x;", "PG120"),
        ("__int128 x;", "PG120"),
        ("_Atomic int x;", "PG120"),
        ('void f(void) { __asm__("nop"); }', "PG120"),
        ("void f(int n, ...) { va_list l; va_arg(l, int); }", "PG120"),
        ("int f(int n, int a[n][n]) { return 0; }", "PG124"),
        ("int f(a) int a; { return a; }", "PG120"),
        ("extern int x; int f(void) { return x; }", "PG122"),
        ("int f(void) { struct s x; return 0; }", "PG122"),
        ("int x[] ;", "PG124"),
        ("void x;", "PG121"),
        ("int f(void) { break; }", "PG121"),
        ("int f(void) { continue; }", "PG121"),
        ("int f(int x) { switch (x) { case 1: case 1: ; } }", "PG121"),
        ("int f(int x) { switch (x) { case x: ; } }", "PG124"),
        ("int f(void) { return 1", "PG107"),
        ("int f(void) { return (1; }", "PG107"),
        ("int f(void) { 1 = 2; }", "PG107"),
        ("int f(void) { int x; return (&x) = 0; }", "PG123"),
        ("int f(void) { return \"a\" * 2; }", "PG123"),
        ("void f(void) {} int g(void) { return f() + 1; }", "PG123"),
        ("int f(int a); int g(void) { return f(1); }", "PG125"),
        ("int f(int a) { return 0; } int g(void) { return f(); }", "PG126"),
        ("_Static_assert(sizeof(int) == 8, \"int\");", "PG103"),
        ("wchar_t c = L'x';", "PG106"),
        ("int main(void) x { return 0; }", "PG107"),
        ("int else(void) { return 0; }", "PG107"),
        ("int x @ 3;", "PG101"),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, code: str) -> None:
    with pytest.raises(SourceError) as caught:
        unit(text)
    assert code in [each.code for each in caught.value.diagnostics]


def test_liveness() -> None:
    found = unit("int f(int n) { int s = 0; while (n > 0) { s += n; n--; } return s; }").functions["f"]
    live = live_slots(found)
    head = next(index for index, each in enumerate(found.code) if isinstance(each, LoopHead))
    assert {found.slots[slot].name for slot in live[head]} == {"n", "s"}
    assert live[0] == frozenset(found.parameters)
    assert not any(isinstance(each, Move) for each in found.code)
