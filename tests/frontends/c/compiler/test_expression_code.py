"""Expressions: names of an API."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.code import Set
from pgasrob.frontends.c.types import INT, Array
from pgasrob.frontends.c.values import Handle
from tests.frontends.c.compiler.net import function, unit


def test_types_and_constants_of_an_api() -> None:
    found = unit("#include <net.h>\nint cells[NET_SIZE];\n#if NET_SIZE > 4 && defined(NET_ALL)\nint yes;\n#endif\n")
    assert found.objects["cells"].type == Array(INT, 8) and "yes" in found.objects
    code = function("net_handle h = NET_NONE; h = net_start(p, sizeof *p); if (h == NET_NONE) n = 1;")
    assert Handle("none") in [each.value for each in code.code if isinstance(each, Set)]
    with pytest.raises(SourceError, match="unknown type `net_handle`"):
        unit("net_handle h;")
