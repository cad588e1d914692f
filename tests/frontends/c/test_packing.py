"""Packed structs lie in memory as gcc has them."""

from __future__ import annotations

import pytest

import pgasrob
from pgasrob import SourceError
from pgasrob.frontends.c.packing import with_packing
from pgasrob.frontends.c.tokens import Source, tokenise
from pgasrob.frontends.lower import parse_c

PROGRAM = """#include <shmem.h>
#include <assert.h>
#include <stddef.h>
%s
int main(void) { shmem_init(); assert(%s); shmem_finalize(); return 0; }
"""
LAYOUTS = [
    ("#pragma pack(push, 1)\nstruct A { char c; int i; short s; };",
        "sizeof(struct A) == 7 && offsetof(struct A, s) == 5"),
    ("#pragma pack(2)\nstruct A { char c; double d; };", "sizeof(struct A) == 10"),
    ("#pragma pack(push, 1)\n#pragma pack(pop)\nstruct A { char c; int i; };", "sizeof(struct A) == 8"),
    ("#pragma pack(1)\n#pragma pack()\nstruct A { char c; int i; };", "sizeof(struct A) == 8"),
    ("struct A { char c; struct { char d; long l; } in; } __attribute__((packed));",
        "sizeof(struct A) == 17 && offsetof(struct A, in) == 1"),
    ("typedef struct __attribute__((__packed__)) A { char c; union { int i; char b; } u; } E;", "sizeof(E) == 5"),
    ("struct __attribute__((packed)) A { char c; int i; }; struct B { struct A a[3]; char z; int y; };",
        "sizeof(struct B) == 20"),
    ("typedef struct { short s; long l; } __attribute__((packed)) G; struct H { char c; long l; };",
        "sizeof(G) == 10 && sizeof(struct H) == 16"),
    ("struct A { int a __attribute__((aligned(8))); int b; } __attribute__((aligned(16)));",
        "sizeof(struct A) == 16 && offsetof(struct A, b) == 4 && _Alignof(struct A) == 16"),
    ("struct A { char c; int i __attribute__((aligned(16))), j; };",
        "sizeof(struct A) == 32 && offsetof(struct A, i) == 16 && offsetof(struct A, j) == 20"),
    ("struct A { char c; _Alignas(8) volatile char d; char e[3] __attribute__((aligned(4))); };",
        "sizeof(struct A) == 16 && offsetof(struct A, d) == 8 && offsetof(struct A, e) == 12"),
    ("struct A { char c; __attribute__((aligned(8))) char d, e; };",
        "sizeof(struct A) == 24 && offsetof(struct A, d) == 8 && offsetof(struct A, e) == 16"),
    ("struct __attribute__((packed, aligned(4))) A { char c; int i; char d; };",
        "sizeof(struct A) == 8 && offsetof(struct A, i) == 1"),
    ("struct A { char c; } __attribute__((aligned)); typedef struct { long l; } __attribute__((aligned(64))) L;"
        "struct B { char c; L l[2]; };", "sizeof(struct A) == 16 && sizeof(struct B) == 192"),
    ("struct S { long l; }; struct A { char c; struct S s __attribute__((aligned(32))); } __attribute__((packed));"
        "struct B { char c; __attribute__((aligned(16))) struct S s; };",
        "sizeof(struct A) == 64 && offsetof(struct A, s) == 32 && sizeof(struct B) == 32"),
    ("struct A { char c; } __attribute__((aligned(8U))); struct B { char c; } __attribute__((aligned(1 << 3)));"
        "struct C { char c; } __attribute__((aligned(010))); struct D { char c; _Alignas(long) char d; };",
        "sizeof(struct A) == 8 && sizeof(struct B) == 8 && sizeof(struct C) == 8 && sizeof(struct D) == 16"),
    ("struct A { char c; } __attribute__((aligned(2 * sizeof(int)), may_alias));"
        "struct B { char c; int i; } __attribute__((may_alias, packed));",
        "sizeof(struct A) == 8 && sizeof(struct B) == 5"),
    ("static int x[3] __attribute__((aligned(64))), y; static _Alignas(32) char c;",
        "sizeof x == 12 && sizeof y == 4 && sizeof c == 1"),
]  # fmt: skip
"""Checked with gcc 13 on x86-64."""


@pytest.mark.parametrize(("declared", "holds"), LAYOUTS)
def test_members_lie_side_by_side(declared: str, holds: str) -> None:
    assert pgasrob.check(parse_c(PROGRAM % (declared, holds)), 2).assertions in ("hold", None)
    assert pgasrob.check(parse_c(PROGRAM % (declared, f"!({holds})")), 2).assertions == "violated"


def test_a_member_that_is_packed_is_refused() -> None:
    with pytest.raises(SourceError, match="packed"):
        parse_c(PROGRAM % ("struct A { char c; int i __attribute__((packed)); };", "1"))


@pytest.mark.parametrize("how_far", ["3", "sizeof(struct A)", "-8", "1" * 5000])
def test_what_is_no_alignment_is_refused(how_far: str) -> None:
    with pytest.raises(SourceError, match="a power of 2"):
        parse_c(PROGRAM % (f"struct A {{ char c; }}; static int x __attribute__((aligned({how_far})));", "1"))


def test_each_struct_says_how_far_its_members_are_aligned() -> None:
    text = "struct A { struct { int i; } a; } __attribute__((packed)); union B { char c; };"
    kept = with_packing([*tokenise(Source("a.c", text))])
    assert [(each.text, each.most) for each in kept if each.text in ("struct", "union")] == [
        ("struct", 1), ("struct", 0), ("union", 0)
    ]  # fmt: skip
    assert "packed" not in [each.text for each in kept]
