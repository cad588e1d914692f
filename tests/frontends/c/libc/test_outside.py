"""What the operating system and the machine answer is not known: it goes both ways where it decides something."""

from __future__ import annotations

import pytest

import pgasrob
from pgasrob.frontends.lower import parse_c
from pgasrob.program.assumptions import Kind

SHMEM = """#include <shmem.h>
#include <unistd.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <math.h>
#include <locale.h>
#include <sys/stat.h>
static int x, y, first; static double d; char text[256]; int n; struct timespec t; void *frames[4]; struct stat s;
int main(void) { shmem_init(); int peer = 1 - shmem_my_pe(), r; shmem_int_p(&first, 1, peer);
if (%s) { shmem_int_p(&x, 1, peer); r = y; shmem_int_p(&y, 1, peer); r = x; (void)r; }
shmem_finalize(); return 0; }"""
MPI = """#include <mpi.h>
static int x[2]; char text[256]; int n;
int main(int argc, char **argv) { MPI_Init(&argc, &argv); int me, one = 1, r; MPI_Win w;
MPI_Comm_rank(MPI_COMM_WORLD, &me); MPI_Win_create(x, 8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w); MPI_Win_lock_all(0, w);
MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD);
if (%s) { MPI_Put(&one, 1, MPI_INT, 1 - me, me, 1, MPI_INT, w); r = x[1 - me]; (void)r; }
MPI_Win_unlock_all(w); MPI_Win_free(&w); MPI_Finalize(); return 0; }"""
GASPI = """#include <GASPI.h>
char text[16]; float speed; gaspi_uchar socket;
int main(void) { gaspi_proc_init(GASPI_BLOCK); gaspi_rank_t me; gaspi_proc_rank(&me); int r; gaspi_pointer_t p;
gaspi_segment_create(0, 64, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED); gaspi_segment_ptr(0, &p);
volatile int *x = p; gaspi_notify(0, 1 - me, 5, 1, 0, GASPI_BLOCK);
if (%s) { x[0] = 1; gaspi_write(0, 0, 1 - me, 0, 8 + 8 * me, 4, 0, GASPI_BLOCK); r = x[2 + 2 * (1 - me)]; (void)r; }
gaspi_proc_term(GASPI_BLOCK); return 0; }"""

ANSWERS = {
    "getpid()": (SHMEM, "== 999", "< 1"),
    "gettid()": (SHMEM, "== 999", "< 1"),
    "getppid()": (SHMEM, "== 1", "< 0"),
    'stat(text, &s)': (SHMEM, "== 0", "> 0"),
    "(fstat(0, &s), s.st_size)": (SHMEM, "== 77", "!= s.st_size"),
    "(lstat(text, &s), S_ISDIR(s.st_mode))": (SHMEM, "== 1", "> 1"),
    "(long)getuid()": (SHMEM, "== 0", "< 0"),
    "(long)geteuid()": (SHMEM, "== 0", "< 0"),
    "(long)getgid()": (SHMEM, "== 0", "< 0"),
    "(long)getegid()": (SHMEM, "== 0", "< 0"),
    "sched_getcpu()": (SHMEM, "== 0", "< 0"),
    "isatty(0)": (SHMEM, "== 0", "> 1"),
    "(long)alarm(3)": (SHMEM, "== 0", "< 0"),
    "fcntl(0, 3)": (SHMEM, "== 0", "< 0"),
    "get_nprocs()": (SHMEM, "== 1", "< 1"),
    "sysconf(_SC_NPROCESSORS_ONLN)": (SHMEM, "== 1", "< -1"),
    "backtrace(frames, 4)": (SHMEM, "== 0", "> 4"),
    "(clock_getres(CLOCK_MONOTONIC, &t), t.tv_nsec)": (SHMEM, "== 1", "< 0"),
    "strcmp(strerror(2), \"no file\")": (SHMEM, "== 0", None),
    "ctime(NULL)[0]": (SHMEM, "== 'M'", "> 127"),
    "setlocale(LC_ALL, \"C\")": (SHMEM, "== NULL", None),
    "(MPI_Get_processor_name(text, &n), text[0])": (MPI, "== 'a'", "> 127"),
    "(MPI_Get_processor_name(text, &n), n)": (MPI, "== 3", "> 255"),
    "(MPI_Get_library_version(text, &n), text[5])": (MPI, "== 'M'", "> 127"),
    "(MPI_Error_string(1, text, &n), text[0])": (MPI, "== 0", "> 127"),
    "MPI_Wtick()": (MPI, "> 0.001", None),
    "(gaspi_cpu_frequency(&speed), speed)": (GASPI, "> 1000", None),
    "(gaspi_numa_socket(&socket), socket)": (GASPI, "== 1", "> 255"),
    "(gaspi_machine_type(text), text[0])": (GASPI, "== 'x'", "> 127"),
}  # fmt: skip
"""What is asked, in which program, a condition that may hold or not, and one that cannot hold."""


def verdict(program: str, condition: str) -> str:
    return pgasrob.check(parse_c(program % condition), 2).verdict


@pytest.mark.parametrize("asked", ANSWERS)
def test_an_answer_goes_both_ways(asked: str) -> None:
    program, may_hold, never = ANSWERS[asked]
    assert verdict(program, f"{asked} {may_hold}") == "not robust"
    assert verdict(program, f"!({asked} {may_hold})") == "not robust"
    if never is not None:
        assert verdict(program, f"{asked} {never}") == "robust"


@pytest.mark.parametrize("asked", ANSWERS)
def test_the_verdict_says_that_any_answer_may_come(asked: str) -> None:
    kinds = {each.kind for each in parse_c(ANSWERS[asked][0] % asked).instantiate(2).program.assumptions}
    assert Kind.UNKNOWN_VALUES in kinds
    assert Kind.FIXED_ANSWERS not in kinds


def test_the_size_of_a_page_is_known() -> None:
    assert verdict(SHMEM, "getpagesize() != 4096 || sysconf(_SC_PAGESIZE) != 4096") == "robust"


@pytest.mark.parametrize(
    ("sent", "test", "holds"),
    [
        ("NAN", "isnan(d)", True), ("NAN", "isinf(d)", False), ("NAN", "isfinite(d)", False),
        ("INFINITY", "isnan(d)", False), ("INFINITY", "isinf(d)", True), ("-INFINITY", "isinf(d)", True),
        ("INFINITY", "isfinite(d)", False), ("-2.5", "signbit(d)", True), ("2.5", "signbit(d)", False),
        ("-2.5", "isfinite(d)", True), ("-2.5", "isnan(d)", False),
    ],
)  # fmt: skip
def test_what_kind_of_number_was_sent(sent: str, test: str, holds: bool) -> None:
    """These functions are computed of a value that only the run knows."""
    text = SHMEM.replace("if (%s)", f"shmem_double_p(&d, {sent}, peer); shmem_barrier_all(); if (%s)")
    assert verdict(text, test) == ("not robust" if holds else "robust")
    assert verdict(text, f"!{test}") == ("robust" if holds else "not robust")
