"""<math.h>, <ctype.h> and functions on bits, of numbers that only the run knows."""

from __future__ import annotations

import random
import string
from collections import Counter
from collections.abc import Callable, Mapping
from ctypes import c_float

import pytest

from pgasrob import Verdict, check
from pgasrob.frontends.lower import parse_c
from pgasrob.program.float_functions import FUNCTIONS, FUNCTIONS_OF_TWO, applied
from pgasrob.robustness.reasons import NoValuesKnown
from tests.support import examples

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
    claims += [f"{name}({none}) == y" for name in ("fmin", "fmax") for none in ("y, NAN", "NAN, y", "y, z", "z, y")]
    claims += [f"lround(y) == {int(applied('round', number))}", f"lrint(y) == {int(applied('rint', number))}"]
    root = c_float(applied("sqrt", c_float(abs(number)).value)).value
    claims.append(f"sqrtf(fabsf(y)) == {root!r}")
    asserts = "".join(f"assert({claim}); " for claim in claims)
    found = verdict(
        "double", number, f"if (shmem_my_pe() == 1) {{ double z = y * INFINITY - y * INFINITY; {asserts} }}"
    )
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
        ("(shmem_my_pe() == 0 && hypot(z, z) > 2)", "unknown"),
        ("(shmem_my_pe() == 0 && z + hypot(z, z) > 2)", "unknown"),
        ("(shmem_my_pe() == 0 && hypot(z, rand()) > 2)", True),
    ],
)
def test_ranks_that_have_one_number_take_the_same_branches(condition: str, deadlock: object) -> None:
    """What is not computed may be the same on both, and is not known of one."""
    found = verdict("double", 3.0, f"shmem_double_p(&other, 4.0, 0); {BARRIER} double z = shmem_double_g(&x, 1);"
                                   f" if ({condition}) {BARRIER}")  # fmt: skip
    assert (found.verdict, found.deadlock) == ("robust", deadlock)
    assert isinstance(found.reason, NoValuesKnown) == (deadlock == "unknown")


Computed = Callable[[float, float], float]
REDUCED = """#include <shmem.h>
#include <math.h>
static double w, v, all, work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long sync[SHMEM_REDUCE_SYNC_SIZE];
int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) sync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    shmem_double_p(&w, me ? OTHER : FIRST, 1 - me);
    shmem_barrier_all();
    v = w;
    shmem_double_sum_to_all(&all, &v, 1, 0, 0, 2, work, sync);
    if (me == 0) { if (HERE) shmem_barrier_all(); } else { if (THERE) shmem_barrier_all(); }
    shmem_finalize();
}
"""


def random_term(pick: random.Random, depth: int) -> tuple[str, Computed]:
    """A term of C, and what it is of the rank's own number and the sum."""
    if depth == 0:
        number = pick.choice((0.5, 2.0, 1.25))
        return pick.choice([("all", lambda v, all: all), ("v", lambda v, all: v), (str(number), lambda v, all: number)])
    one, of_one = random_term(pick, depth - 1)
    other, of_other = random_term(pick, depth - 1)
    match pick.randrange(4):
        case 0:
            return f"({one} + {other})", lambda v, all: of_one(v, all) + of_other(v, all)
        case 1:
            name = pick.choice((*FUNCTIONS_OF_TWO, "fmin", "hypot"))
            return f"{name}({one}, {other})", lambda v, all: applied(name, of_one(v, all), of_other(v, all))
    name = pick.choice((*FUNCTIONS, "floor", "fabs", "cbrt"))
    return f"{name}({one})", lambda v, all: applied(name, of_one(v, all))


def test_random_terms_of_numbers_that_were_reduced() -> None:
    """There is a deadlock where the ranks differ about a condition, as Python computes it, and nowhere else."""
    pick, seen = random.Random(3), Counter[tuple[bool, object]]()
    for _ in range(examples(25, nightly=500)):
        first, other = (round(pick.uniform(0, 9), 2) for _ in range(2))
        here, computed_here = random_term(pick, 2)
        there, computed_there = (here, computed_here) if pick.random() < 0.5 else random_term(pick, 2)
        least = pick.choice((0.5, 1.0, 2.0))
        differ = (computed_here(other, first + other) > least) != (computed_there(first, first + other) > least)
        text = REDUCED.replace("OTHER", str(other)).replace("FIRST", str(first))
        text = text.replace("(HERE)", f"({here} > {least})").replace("(THERE)", f"({there} > {least})")
        seen[differ, check(parse_c(text, "test.c"), 2, effect=False).deadlock] += 1
    assert not seen[True, False] and not seen[False, True]
    assert (
        seen[True, True] and seen[False, False] > seen[False, "unknown"] and seen[True, True] >= seen[True, "unknown"]
    )


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
