"""Library functions that read or write strings and memory through pointers, where other ranks may write there: every
byte is an access. The functions of the table are the readers, or overwriters, of a message that a put brings."""

from __future__ import annotations

import pytest

from pgasrob import check
from pgasrob.frontends.lower import parse_c
from pgasrob.races.decide import races

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
    "memset(text, 9, 6);", "gethostname(text, 8);",
]  # fmt: skip
REFUSED = [
    "strchr(text, '3');", 'strstr(text, "3");', 'strspn(text, "3");', "memchr(text, '3', 6);",
    "strtol(text, NULL, 10);",
    "strtod(text, NULL);", "atof(text);", 'strtok(text, "3");', "strncpy(b, text, 3);", "strncat(b, text, 3);",
    "strndup(text, 3);", "stpcpy(b, text);", "strcat(text, b);", "strcat(b, text);", "rand_r((unsigned *)text);",
    "clock_getres(0, (struct timespec *)text);", 'printf("%d", text);', 'printf("%n", (int *)text);',
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
    assert error.code == ("PG143" if use.startswith("report") else "PG160")
    assert "other ranks access" in error.message or "not known here" in error.message
