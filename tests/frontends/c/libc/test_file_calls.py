"""Which places calls of the C library read and write."""

from __future__ import annotations

import pytest

from pgasrob.frontends.c.driver import Marks, lower
from pgasrob.frontends.c.libc import file_calls
from pgasrob.frontends.c.libc.library_calls import TABLE
from pgasrob.frontends.lower import parse_c
from pgasrob.program.commands import Mark, Store
from pgasrob.program.expressions import Const
from pgasrob.program.outside_memory import ANY_FILE, EVERYWHERE, TERMINAL, Anything
from pgasrob.program.statements import Do, statements_in

PROGRAM = """#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <err.h>
#include <sys/stat.h>
static long x;
int main(int argc, char **argv) {
  char text[64], s[200]; int n;
  shmem_init();
  BODY
}
"""
Done = tuple[tuple[str, ...], bool]


def done(body: str) -> list[Done]:
    """The places that ``body`` accesses, each with whether it writes there, by rank 0."""
    program = lower(parse_c(PROGRAM.replace("BODY", body)).compiled, 2, "outside")
    commands = (each.command for each in statements_in(program.processes[0].body) if isinstance(each, Do))
    facts = [each.fact for each in commands if isinstance(each, Mark)]
    return [(fact.places, fact.writes) for fact in facts if isinstance(fact, file_calls.Outside)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('printf("a");', [((TERMINAL,), True)]),
        ('puts("a"); putchar(10);', [((TERMINAL,), True)] * 2),
        ('fprintf(stderr, "a"); fputs("a", stdout); fflush(stdout);', [((TERMINAL,), True)] * 3),
        ('write(1, "a", 1); dprintf(2, "a");', [((TERMINAL,), True)] * 2),
        ('fgets(text, 9, stdin);', [((TERMINAL,), True)]),
        ('scanf("%d", &n); getchar(); read(0, text, 1);', [((TERMINAL,), True)] * 2 + [(EVERYWHERE, True)]),
        ('FILE *f = fopen("a", "w"); fprintf(f, "b"); fclose(f);', [(("a",), True)] * 3),
        ('FILE *f = fopen("a", "r+"); if (f) { fwrite(text, 1, 1, f); }', [(("a",), True)] * 2),
        ('FILE *f = fopen("a", "r"); if (f) { fgets(text, 9, f); fclose(f); }', [(("a",), False)] * 3),
        ('sprintf(text, "a.%d", shmem_my_pe()); FILE *f = fopen(text, "w"); fputc(1, f);', [(("a.0",), True)] * 2),
        ('FILE *f = fopen("/dev/null", "w"); fputc(1, f);', []),
        ('FILE *f = fopen("/dev/tty", "w"); fputc(1, f);', [((TERMINAL, "/dev/tty"), True)] * 2),
        ('FILE *f = tmpfile(); fputc(1, f); fclose(f);', []),
        ('FILE *f = fdopen(7, "w"); fputc(1, f);', [((ANY_FILE,), True)]),
        ('int f = open("a", O_RDONLY); read(f, text, 9); close(f);',
         [(("a",), False), ((ANY_FILE,), False), ((ANY_FILE,), True)]),
        ('int f = open("a", O_WRONLY | O_CREAT, 0600); write(f, text, 9);', [(("a",), True), ((ANY_FILE,), True)]),
        ('if (access("a", F_OK) == 0) stat("b", s);', [(("a",), False), (("b",), False)]),
        ('mkdir("a", 0700); unlink("b"); remove("c"); rmdir("a");',
         [((each,), True) for each in ("a", "b", "c", "a")]),
        ('rename("a", "b"); link("a", "c"); symlink("a", "d");',
         [(("a", "b"), True), (("a", "c"), True), (("a", "d"), True)]),
        ('mkfifo("a", 0600); truncate("a", 0); creat("b", 0600);', [(("a",), True), (("a",), True), (("b",), True)]),
        ('system("date"); kill(0, 9);', [(EVERYWHERE, True)] * 2),
        ('FILE *f = popen("sort", "w"); fputs("a", f); pclose(f);', [(EVERYWHERE, True)] * 3),
        ('freopen("a", "w", stdout); printf("b");', [(("a", TERMINAL), True), ((TERMINAL,), True)]),
        ('exit(0);', []), ('exit(1);', [(EVERYWHERE, False)]), ('abort();', [(EVERYWHERE, False)]),
        ('errx(1, "a");', [((TERMINAL,), True), (EVERYWHERE, False)]),
        ('shmem_global_exit(0);', [(EVERYWHERE, False)]),
        ('return 0;', []), ('return 1;', [(EVERYWHERE, False)]), ('return rand();', [(EVERYWHERE, False)]),
        ('getpid(); alarm(1);', []),
        ('sleep(1); time(0); srand(1); snprintf(text, 9, "a"); getenv("A");', []),
    ],
)  # fmt: skip
def test_what_calls_do(body: str, expected: list[Done]) -> None:
    assert done(body) == expected


def test_nothing_is_noted_where_it_is_not_asked_for() -> None:
    program = parse_c(PROGRAM.replace("BODY", 'printf("a"); fopen("a", "w"); abort();')).program(2)
    commands = [each.command for each in statements_in(program.processes[0].body) if isinstance(each, Do)]
    assert not any(isinstance(each, Mark) for each in commands)


@pytest.mark.parametrize("marks", ["none", "outside"])
def test_a_value_that_is_not_known_is_marked_where_that_is_asked_for(marks: Marks) -> None:
    compiled = parse_c(PROGRAM.replace("BODY", "shmem_long_p(&x, 1, 1); x = rand();")).compiled
    commands = (
        each.command for each in statements_in(lower(compiled, 2, marks).processes[0].body) if isinstance(each, Do)
    )
    stored = [each.value for each in commands if isinstance(each, Store)]
    assert stored == [Anything(0) if marks == "outside" else Const(0)]


def test_every_name_is_that_of_a_function() -> None:
    named = {
        *file_calls.AT_TERMINAL, *file_calls.WRITES_STREAM, *file_calls.READS_STREAM, *file_calls.READS_NAME,
        *file_calls.WRITES_NAME, *file_calls.JOINS, *file_calls.ANYTHING, *file_calls.ENDS,
        "open", "fopen", "freopen",
    }  # fmt: skip
    assert named <= TABLE.declarations.keys()


def test_every_function_with_a_stream_or_a_name_of_a_file_is_known() -> None:
    """Those that do not reach the file: they set a buffer, or ask for one's own place in it."""
    own = {
        "setbuf", "setvbuf", "setlinebuf", "fseek", "rewind", "clearerr", "ungetc", "feof", "ferror", "ftell", "fileno",
        "tmpfile", "fdopen", "fcntl", "isatty", "basename",
    }  # fmt: skip
    named = {
        *file_calls.AT_TERMINAL, *file_calls.WRITES_STREAM, *file_calls.READS_STREAM, *file_calls.READS_NAME,
        *file_calls.WRITES_NAME, *file_calls.JOINS, *file_calls.ANYTHING, "open", "fopen", "freopen",
    }  # fmt: skip
    reach = {
        name
        for name, declaration in TABLE.declarations.items()
        if any(word in declaration for word in ("FILE *", "int fd", "*path", "const char *p,"))
    }
    assert reach - own <= named
