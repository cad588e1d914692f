"""What names mean, and what the errors say about unknown ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.compiler import compile_unit
from tests.frontends.c.compiler.net import REGISTRY, unit


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
