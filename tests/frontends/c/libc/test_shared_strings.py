"""Library functions that read or write strings and memory through pointers, where other ranks may write there: every
byte is an access. The functions of the table are the readers, or overwriters, of a message that a put brings."""

from __future__ import annotations

import re

import pytest

from pgasrob import check
from pgasrob.api import race as races
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.libc.library_calls import TABLE
from pgasrob.frontends.c.libc.reads import STRING, UNUSED, parameters
from pgasrob.frontends.c.library import LIBRARY
from pgasrob.frontends.lower import parse_c
from pgasrob.frontends.options import FrontEnd
from pgasrob.program.statements import Do, statements_in
from tests.support import examples, is_nightly

PROGRAM = """
#include <shmem.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>
static char text[8]; static int flag; static char b[8]; static int got;
static void report(const char *format, ...) {{ va_list l; va_start(l, format); vprintf(format, l); va_end(l); }}
int main(void) {{
  shmem_init();
  if (shmem_my_pe() == 0) {{
    shmem_putmem(text, "12345", 6, 1); {fence}
    shmem_int_p(&flag, 1, 1);
  }} else {{
    shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
    {use}
  }}
  shmem_finalize();
}}
"""
ACCESSES = [
    'printf("%s", text);', 'printf(text);', 'printf("%d %.*s %p", 7, 3, text, text);', 'printf("%8s", text + 2);',
    "puts(text);", "fputs(text, stdout);", 'fprintf(stderr, "%-4s|", text);', 'dprintf(1, "%.2s", text);',
    "perror(text);", "fwrite(text, 2, 3, stdout);", "write(1, text, 6);", "got = strlen(text);",
    "got = strnlen(text, 3);", 'got = strcmp(text, "12");', 'got = strncmp("123", text, 3);',
    'got = strcasecmp(text, "1A");', 'got = strncasecmp(text, "1A", 2);', 'got = strcoll("x", text);',
    "got = atoi(text);", "got = atol(text + 1);", "strcpy(b, text);", "strdup(text);",
    'sprintf(b, "%s", text);', 'snprintf(b, 4, "%s", text);', 'sscanf(text, "%d", &got);', 'fopen(text, "r");',
    "memcpy(b, text, 6);", 'got = memcmp(text, "123456", 6);', "setenv(text, text, 1);", "remove(text);",
    # These write to it.
    'strcpy(text, "xy");', 'strncpy(text, "xy", 8);', 'sprintf(text, "%d", 77);', 'snprintf(text, 8, "%d", 77);',
    "fgets(text, 8, stdin);", "fread(text, 1, 8, stdin);", "read(0, text, 8);", 'scanf("%7s", text);',
    "rand_r((unsigned *)text);", "memset(text, 9, 6);", "gethostname(text, 8);",
]  # fmt: skip
REFUSED = [
    "strchr(text, '3');", 'strstr(text, "3");', 'strspn(text, "3");', "memchr(text, '3', 6);",
    "strtol(text, NULL, 10);",
    "strtod(text, NULL);", "atof(text);", 'strtok(text, "3");', "strncpy(b, text, 3);", "strncat(b, text, 3);",
    "strndup(text, 3);", "stpcpy(b, text);", "strcat(text, b);", "strcat(b, text);",
    'printf("%d", text);', 'printf("%n", (int *)text);',
    "setvbuf(stdout, text, _IOFBF, 8);", 'report("%s", text);', 'printf("%2$s", 1, text);', 'printf("%ls", text);',
    "putenv(text);",
]  # fmt: skip


def program(use: str, fence: str = "") -> str:
    return PROGRAM.format(use=use, fence=fence)


@pytest.mark.parametrize("use", ACCESSES)
def test_each_byte_that_a_function_accesses_is_an_access(use: str) -> None:
    source = program(use)
    without = parse_c(source)
    assert check(without, 2).verdict == "not robust"
    lines = [number for number, line in enumerate(source.splitlines(), 1) if "shmem_putmem" in line or use in line]
    assert tuple(lines) in {each.lines for each in races(without, 2, all_=True).races}
    fenced = parse_c(program(use, "shmem_fence();"))
    assert check(fenced, 2).verdict == "robust"


@pytest.mark.parametrize("use", REFUSED)
def test_what_cannot_be_said_is_refused(use: str) -> None:
    verdict = check(parse_c(program(use)), 2)
    assert verdict.verdict == "error"
    (error,) = verdict.errors
    codes = {"report": "PG143", "strchr": "PG140", "strtol": "PG140", "printf": "PG160"}
    assert error.code == (codes.get(use.partition("(")[0], "PG165"))
    assert "other ranks access" in error.message or "not known here" in error.message


POINTERS = [
    (name, index)
    for name in sorted(TABLE.declarations)
    if not name.startswith("__")
    for index, each in enumerate(parameters(name))
    if "*" in each and not each.startswith("FILE") and "(*" not in each
]
ONLY_ADDRESSES = {(name, index) for name, places in UNUSED.items() for index in places}
TABLE_PROGRAM = """
#include <shmem.h>
HEADERS
static char text[400]; static int flag; static char own[400];
int main(void) {
  shmem_init(); int (*order)(const void *, const void *) = 0;
  if (shmem_my_pe() == 0) { shmem_putmem(text, "12345", 6, 1); shmem_int_p(&flag, 1, 1); }
  else {
    shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
    USE
  }
}
"""


def call_of(name: str, at: int) -> str:
    """A call of a function of the table with the memory that is put to as one of its pointers."""

    def argument(index: int, declared: str) -> str:
        if index == at:
            return "(void *)text"
        if declared.startswith(STRING):
            return '"%s"' if name.endswith(("printf", "scanf")) else '"1"'
        if "(*" in declared:
            return "order"
        return "stdin" if declared.startswith("FILE") else "(void *)own" if "*" in declared else "6"

    given = [argument(index, each) for index, each in enumerate(parameters(name)) if each != "..."]
    return f"{name}({', '.join(given)});"


def test_every_pointer_of_the_table_is_followed_or_refused_or_only_an_address() -> None:
    assert len(POINTERS) > 130
    headers = "\n".join(f"#include <{each}>" for each in LIBRARY.headers if each not in ("tgmath.h", "complex.h"))
    told = {"accessed": 0, "refused": 0, "only an address": 0}
    for name, index in POINTERS[:: examples(3, nightly=1)]:
        text = TABLE_PROGRAM.replace("USE", call_of(name, index)).replace("HEADERS", headers)
        line = next(at for at, each in enumerate(text.splitlines(), 1) if "(void *)text" in each)
        try:
            process = parse_c(text).program(2).processes[1]
        except SourceError as refused:
            if refused.diagnostics[0].code not in ("PG140", "PG142", "PG143", "PG165"):
                raise
            told["refused"] += 1
            continue
        commands = [each.command for each in statements_in(process.body) if isinstance(each, Do)
                    and each.span.line == line]  # fmt: skip
        followed = any(re.search(r"\btext\[", str(each)) for each in commands)
        assert followed != ((name, index) in ONLY_ADDRESSES), (name, index)
        told["accessed" if followed else "only an address"] += 1
    accessed, refused, addresses = (129, 110, 10) if is_nightly() else (40, 37, 6)
    assert told == {"accessed": accessed, "refused": refused, "only an address": addresses}


MERGED = """
#include <shmem.h>
#include <stdio.h>
static char text[8]; static int flag;
int main(void) {
  shmem_init();
  if (shmem_my_pe() == 0) {
    shmem_putmem(text, "hello", 6, 1); shmem_int_p(&flag, 1, 1);
  }
  else {
    const char *p = text;
    if (shmem_int_g(&flag, 1) != 1) p = "none";
    printf("%s", p);
  }
}
"""


def test_which_string_is_printed_is_kept_where_ways_come_together() -> None:
    assert check(parse_c(MERGED), 2).verdict == "not robust"
    assert check(parse_c(MERGED.replace("p = text;", "p = text + 6;")), 2).verdict == "robust"


NEIGHBOURS = """
#include <shmem.h>
#include <stdio.h>
static char text[4];
int main(void) {
  shmem_init(); char *theirs = shmem_ptr(text, 0);
  if (shmem_my_pe() == 0) text[0] = 'a'; else if (theirs) USE
}
"""


@pytest.mark.parametrize("use", ["puts(theirs);", "fwrite(theirs, 1, 3, stdout);", 'printf("%.1s", theirs);'])
def test_strings_of_neighbours_are_read_there(use: str) -> None:
    program = parse_c(NEIGHBOURS.replace("USE", use), options=FrontEnd(shared_memory="all"))
    assert races(program, 2).verdict == "race"
    elsewhere = NEIGHBOURS.replace("USE", use.replace("theirs", "theirs + 1").replace("3", "2"))
    assert races(parse_c(elsewhere, options=FrontEnd(shared_memory="all")), 2).verdict == "no race"


RECORD = """
#include <shmem.h>
#include <stdio.h>
#include <string.h>
static struct { int n; char name[8]; double d; } record; static int flag;
int main(void) {
  shmem_init();
  if (shmem_my_pe() == 0) {
    record.n = 4; strcpy(record.name, "abc"); record.d = 1;
    shmem_putmem(&record, &record, sizeof record, 1); FENCE
    shmem_int_p(&flag, 1, 1);
  } else {
    shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
    USE
  }
}
"""


@pytest.mark.parametrize("use", ["puts(record.name);", "fwrite(&record, sizeof record, 1, stdout);"])
def test_members_are_read_where_they_lie(use: str) -> None:
    with_use = RECORD.replace("USE", use)
    assert check(parse_c(with_use.replace("FENCE", "")), 2).verdict == "not robust"
    assert check(parse_c(with_use.replace("FENCE", "shmem_fence();")), 2).verdict == "robust"


RESULTS = """
#include <shmem.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
static char text[12], copy[12]; static int flag;
int main(void) {
  shmem_init();
  if (shmem_my_pe() == 0) {
    shmem_putmem(text, "TEXT", 11, 1); shmem_fence(); shmem_int_p(&flag, 1, 1);
  } else {
    shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
    USE
  }
}
"""


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("hello", "strlen(text) == 5"), ("hello", "strnlen(text, 3) == 3"), ("", "strlen(text) == 0"),
        ("hello", 'strcmp(text, "hello") == 0'), ("hello", 'strcmp(text, "help") < 0'),
        ("hello", 'strcmp("he", text) < 0'), ("hello", 'strncmp(text, "help", 3) == 0'),
        ("\\\\xff", 'strcmp(text, "a") > 0'), ("HeLLo", 'strcasecmp(text, "hEllO") == 0'),
        ("HeLLo", 'strncasecmp(text, "help", 4) < 0'), ("[", 'strcasecmp(text, "a") < 0'),
        ("hello", "strlen(strcpy(copy, text)) == 5"), ("hello", "strlen(strdup(text)) == 5"),
        (" \\\\t-042x", "atoi(text) == -42"), ("+7 8", "atol(text) == 7"), ("12-3", "atoi(text) == 12"),
        ("- 5", "atoi(text) == 0"), ("x5", "atoi(text) == 0"),
    ],
)  # fmt: skip
def test_what_is_read_gives_the_result(text: str, held: str) -> None:
    source = RESULTS.replace("TEXT", text.replace("\\\\", "\\") + "\\0" * 11)
    assert check(parse_c(source.replace("USE", f"assert({held});")), 2).assertions == "hold"
    assert check(parse_c(source.replace("USE", f"assert(!({held}));")), 2).assertions == "violated"


OF_APIS = {
    "gaspi": """
#include <GASPI.h>
int main(void) {
  gaspi_rank_t me; gaspi_pointer_t p; gaspi_proc_init(GASPI_BLOCK); gaspi_proc_rank(&me);
  gaspi_segment_create(0, 64, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED); gaspi_segment_ptr(0, &p);
  char *text = p;
  if (me == 0) { text[0] = 'a'; gaspi_write(0, 0, 1, 0, 8, 8, 0, GASPI_BLOCK); } else { USE }
}
""",
    "mpi": """
#include <mpi.h>
int main(void) {
  int me; char *text; MPI_Win win; MPI_Info info; MPI_Init(0, 0); MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Win_allocate(16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &text, &win); MPI_Info_create(&info);
  if (me == 0) { MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win); MPI_Put("b", 1, MPI_CHAR, 1, 8, 1, MPI_CHAR, win);
    MPI_Win_unlock(1, win); } else { USE }
}
""",
}


@pytest.mark.parametrize(
    ("api", "use"),
    [
        ("gaspi", 'gaspi_printf("%s", text + 8);'), ("gaspi", 'gaspi_printf_to(0, "%s", text + 8);'),
        ("mpi", "MPI_Win_set_name(win, text + 8);"), ("mpi", "MPI_Comm_set_name(MPI_COMM_WORLD, text + 8);"),
        ("mpi", 'MPI_Info_set(info, "key", text + 8);'), ("mpi", "MPI_Type_set_name(MPI_INT, text + 8);"),
    ],
)  # fmt: skip
def test_strings_that_calls_of_an_api_take_are_read(api: str, use: str) -> None:
    assert races(parse_c(OF_APIS[api].replace("USE", use)), 2).verdict == "race"
    assert races(parse_c(OF_APIS[api].replace("USE", use.replace("text + 8", '"8"'))), 2).verdict == "no race"
