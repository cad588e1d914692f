"""Calls: of APIs, of functions that are assumed pure, and of names that nobody knows."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.code import Call
from pgasrob.frontends.c.types import DOUBLE, INT, LONG, VOID, Pointer
from pgasrob.frontends.lower import parse_c
from pgasrob.frontends.options import FrontEnd
from tests.frontends.c.compiler.net import function, unit


def calls(body: str) -> list[Call]:
    return [each for each in function(body).code if isinstance(each, Call)]


def test_calls_of_an_api_are_converted_as_it_declares_them_for_their_arguments() -> None:
    first, second, third = calls("double d; net_put(p, 2.5, NET_ALL); net_put(&d, n, 'a'); n = net_rank();")
    assert first.types == (Pointer(INT), INT, INT) and first.texts == ("p", "2.5", "NET_ALL")
    assert second.types == (Pointer(DOUBLE), DOUBLE, INT) and second.texts == ("&d", "n", "'a'")
    assert (first.result, third.result) == (VOID, INT)


def test_arguments_are_shown_as_written() -> None:
    macros = "#define N 3\n#define PUT(x) net_put(p, x, 0)\n#define TWICE(x) (2 * x)"
    text = (
        f"#include <net.h>\n{macros}\nvoid f(int *p) {{ net_put(p + N, TWICE(N), (unsigned char) 1); PUT(N + p[1]); }}"
    )
    first, second = (each for each in unit(text).functions["f"].code if isinstance(each, Call))
    assert first.texts == ("p + N", "(2 * 3)", "(unsigned char) 1")
    assert second.texts == ("p", "N + p[1]", "0")


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
        ("shmem.h", "shmem_lon_p(0, 1, 0)", "did you mean `shmem_long_p`?"),
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
    assert found.code == "PG125" and hint in found.hint and "--assume-pure" not in found.hint
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
    assert [(each.code, each.hint) for each in caught.value.diagnostics] == [("PG128", "use net_put")]
