"""Addresses that are computed with as integers: rounded to a power of two, as buffers of benchmarks are."""

from __future__ import annotations

import pytest

from pgasrob import check
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import parse_c

PROGRAM = """
#include <stdint.h>
#include <assert.h>
static char buffer[8192 + 256];
int main(void) {
  unsigned long size = %s;
  char *p = buffer + 5, *q;
  %s
}
"""


@pytest.mark.parametrize("size", ["16", "4096"])
@pytest.mark.parametrize(
    "rounded",
    [
        "q = (char *)(((unsigned long)p + (size - 1)) / size * size);",
        "q = (char *)((((uintptr_t)p) + size - 1) & ~(uintptr_t)(size - 1));",
        "q = (char *)(size * ((size - 1 + (unsigned long)p) / size));",
        "q = (char *)((unsigned long)p / size * size + size);",
        "q = (char *)((unsigned long)p & -size) + size;",
    ],
)
def test_an_address_is_rounded(size: str, rounded: str) -> None:
    for claim, expected in ((f"q == buffer + {size}", None), (f"q == buffer + {size} + 1", "violated")):
        found = check(parse_c(PROGRAM % (size, f"{rounded} assert({claim});")), 1)
        assert (found.verdict, found.assertions) == ("robust", expected)


@pytest.mark.parametrize(
    "computed",
    ["(unsigned long)p / size", "(unsigned long)p / 12 * 12", "(unsigned long)p / size * 8", "(unsigned long)p & 256"],
)
def test_what_depends_on_where_memory_lies_is_refused(computed: str) -> None:
    with pytest.raises(SourceError, match=r"pointers|address"):
        parse_c(PROGRAM % ("64", f"unsigned long n = {computed}; if (n + 1 == 7) buffer[n] = 1;")).program(1)
