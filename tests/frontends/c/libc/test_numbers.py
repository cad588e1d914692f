"""<math.h>, <ctype.h> and functions on bits, of numbers that only the run knows."""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Mapping
from ctypes import c_float

import pytest

from pgasrob import Verdict, check
from pgasrob.frontends.lower import parse_c
from pgasrob.program.float_functions import FUNCTIONS, FUNCTIONS_OF_TWO, applied
from pgasrob.robustness.reasons import ValuesSetFree

PROGRAM = """#include <shmem.h>
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <strings.h>
static TYPE x, other;
int main(void) {
    shmem_init();
    if (shmem_my_pe() == 0) shmem_NAME_p(&x, VALUE, 1);
    shmem_barrier_all();
    TYPE y = x;
    BODY
    shmem_finalize();
}
"""


def verdict(type: str, value: object, body: str) -> Verdict:
    name = type.replace("unsigned long", "ulong")
    text = PROGRAM.replace("TYPE", type).replace("NAME", name).replace("VALUE", str(value)).replace("BODY", body)
    return check(parse_c(text, "test.c"), 2, effect=False)


NUMBERS = (0.3, -0.7, -1e3)


@pytest.mark.parametrize("number", NUMBERS)
def test_functions_of_doubles(number: float) -> None:
    """Of two of them it is the first one."""
    claims = []
    for name in (*FUNCTIONS, *FUNCTIONS_OF_TWO):
        of_two = name in FUNCTIONS_OF_TWO
        value = applied(name, *((number, 1.75) if of_two else (number,)))
        called = f"{name}(y{', 1.75' * of_two})"
        claims.append(
            f"{called} != {called}" if value != value else f"{called} == {value!r}".replace("inf", "INFINITY")
        )
    claims += [f"lround(y) == {int(applied('round', number))}", f"lrint(y) == {int(applied('rint', number))}"]
    root = c_float(applied("sqrt", c_float(abs(number)).value)).value
    claims.append(f"sqrtf(fabsf(y)) == {root!r}")
    asserts = "".join(f"assert({claim}); " for claim in claims)
    found = verdict("double", number, f"if (shmem_my_pe() == 1) {{ {asserts} }}")
    assert (found.verdict, found.assertions) == ("robust", "hold")
    assert verdict("double", number, "if (shmem_my_pe() == 1) assert(exp(y) > 20);").assertions == "violated"


COUNTS: Mapping[str, Callable[[int, int], int]] = {
    "popcount": lambda value, bits: value.bit_count(),
    "parity": lambda value, bits: value.bit_count() % 2,
    "ctz": lambda value, bits: f"{value:b}"[::-1].index("1"),
    "clz": lambda value, bits: bits - len(f"{value:b}"),
    "ffs": lambda value, bits: f"{value:b}"[::-1].index("1") + 1,
}


def test_functions_of_bits() -> None:
    pick = random.Random(1)
    for value in (1, 0x80000000, 0xFFFFFFFF, pick.getrandbits(31) + 1, pick.getrandbits(63) + 1):
        calls = [(f"{name}l", count(value, 64)) for name, count in COUNTS.items()]
        calls += [(name, count(value, 32)) for name, count in COUNTS.items() if value < 1 << 32]
        claims = "".join(f"assert(__builtin_{name}(y) == {count}); " for name, count in calls)
        found = verdict("unsigned long", f"{value}UL", f"if (shmem_my_pe()) {{ {claims} }}")
        assert found.assertions == "hold"
    assert verdict("unsigned long", 0, "assert(ffs(y) + __builtin_popcount(y) == 0);").assertions == "hold"


def test_classes_of_characters() -> None:
    """As Python has them, in ASCII."""
    classes = {
        "isdigit": string.digits, "isupper": string.ascii_uppercase, "islower": string.ascii_lowercase,
        "isalpha": string.ascii_letters, "isalnum": string.ascii_letters + string.digits,
        "isxdigit": string.hexdigits, "isspace": " \t\n\v\f\r", "isblank": " \t", "ispunct": string.punctuation,
        "isgraph": string.punctuation + string.ascii_letters + string.digits,
        "isprint": " " + string.punctuation + string.ascii_letters + string.digits,
        "iscntrl": "".join(map(chr, (*range(32), 127))),
    }  # fmt: skip
    for known, answer in ((False, "hold"), (True, None)):
        for code in map(ord, "\0\t\n\x1f !/09:@AFGZ[`afgz{~\x7f"):
            text, y = chr(code), str(code) if known else "y"
            claims = [f"!!{name}({y}) == {int(text in some)}" for name, some in classes.items()]
            claims += [f"toupper({y}) == {ord(text.upper())}", f"tolower({y}) == {ord(text.lower())}"]
            asserts = "".join(f"assert({claim}); " for claim in claims)
            if known or code in b"\t AFz~\x7f":
                assert verdict("int", code, f"if (shmem_my_pe()) {{ {asserts} }}").assertions == answer


BARRIER = "shmem_barrier_all();"


@pytest.mark.parametrize(
    ("condition", "deadlock"),
    [
        ("sqrt(z) > 1", False),
        ("sqrt(z) > 4", False),
        ("pow(exp(z), 2) > 3", False),
        ("sqrt(z) > shmem_my_pe() + 1", True),
        ("__builtin_popcount(z) == 2", False),
        ("isdigit((int) z + 48)", False),
        ("hypot(z, z) > 2", "unknown"),
        ("(shmem_my_pe() == 0 && hypot(z, z) > 2)", True),
    ],
)
def test_ranks_that_have_one_number_take_the_same_branches(condition: str, deadlock: object) -> None:
    """What is not computed may be the same on both."""
    found = verdict("double", 3.0, f"shmem_double_p(&other, 4.0, 0); {BARRIER} double z = shmem_double_g(&x, 1);"
                                   f" if ({condition}) {BARRIER}")  # fmt: skip
    assert (found.verdict, found.deadlock) == ("robust", deadlock)
    assert isinstance(found.reason, ValuesSetFree) == (deadlock == "unknown")


def test_strings_of_several_ranks_may_be_the_same() -> None:
    text = """#include <mpi.h>
    #include <stdio.h>
    #include <string.h>
    int main(int argc, char **argv) {
        MPI_Init(&argc, &argv); int rank; MPI_Comm_rank(MPI_COMM_WORLD, &rank); char line[8];
        READ fgets(line, 8, stdin);
        if (WHO strcmp(line, "go") == 0) MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize(); }"""
    both = check(parse_c(text.replace("READ", "").replace("WHO", ""), "test.c"), 2)
    one = check(parse_c(text.replace("READ", "").replace("WHO", "rank == 0 &&"), "test.c"), 2)
    assert (both.deadlock, one.deadlock) == ("unknown", True)
