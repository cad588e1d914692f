"""The C library: of known values what gcc's programs compute, of others no more than C says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pgasrob import check
from pgasrob.frontends.lower import parse_c
from pgasrob.program.assumptions import Kind
from tests.frontends.c.against_gcc import by_gcc, folded

STRINGS = r"""
#define _GNU_SOURCE
#include <string.h>
#include <strings.h>
#include <errno.h>
#include <limits.h>
#include <ctype.h>
static int sign(int x) { return (x > 0) - (x < 0); }
static void show(const char *s) { long h = 7; for (; s && *s; s++) h = h * 31 + *s; emit(s ? h : -1); }
int main(void) {
  char path[64] = "/usr/local/bin/prog", text[64], *p, *q, *save; const char *s = "a=1,b=22;;c";
  emit(strchr(path, '/') - path); emit(strrchr(path, '/') - path); emit(strchr(path, 'z') == NULL);
  emit(strchr(path, 0) - path);
  emit(strstr(path, "local") - path); emit(strstr(path, "") - path); emit(strstr(path, "locals") == NULL);
  emit(strspn(s, "a=1,")); emit(strcspn(s, ";")); emit(strpbrk(s, ";,") - s); emit(strpbrk(s, "xyz") == NULL);
  emit((char *)memchr(s, 'b', 5) - s); emit(memchr(s, 'b', 3) == NULL); emit(strnlen(s, 4)); emit(strlen(s));
  emit(sign(strcmp("abc", "abd"))); emit(sign(strncmp("abc", "abd", 2))); emit(sign(strcasecmp("ABC", "abd")));
  strcpy(text, s); for (p = strtok(text, ",;"); p; p = strtok(NULL, ",;")) show(p); show(text);
  strcpy(text, s); for (p = strtok_r(text, ";", &save); p; p = strtok_r(NULL, ";", &save)) show(p);
  strcpy(text, "ab"); strncat(text, "cdef", 2); show(text); strncpy(text, "xy", 4); emit(text[3]);
  show(strcat(text, "z"));
  emit(stpcpy(text, "four") - text); q = strdup(path); show(q); q[0] = 'X'; show(path); show(strndup(path, 4)); free(q);
  emit(atoi("  -42x")); emit(atol("9999999999")); emit_double(atof("1.5e3x")); emit_double(atof("none"));
  emit(strtol("0x1Fz", &p, 0)); emit(*p); emit(strtol("077", NULL, 0)); emit(strtol("-ff", &p, 16)); emit(*p);
  emit(strtol("99999999999999999999", NULL, 10)); emit(strtol("-99999999999999999999", NULL, 10));
  emit(strtol("zz", &p, 10));
  emit(*p); emit(strtoul("-1", NULL, 10)); emit_double(strtod("2.5rest", &p)); show(p); emit(strtol("0x", &p, 16));
  show(p);
  emit(sprintf(text, "%d|%5d|%-4d|%04d|%x|%X|%o|%u", 42, -7, 3, 5, 255, 255, 8, -1)); show(text);
  emit(sprintf(text, "%s %c%% %ld %lu %hhd", "ab", 'c', 1L << 40, ~0UL, 300)); show(text);
  emit(sprintf(text, "%.2f %8.3e %g %5.1f|", 3.14159, 12345.678, 0.0001, -2.25)); show(text);
  emit(snprintf(text, 4, "%s", "longer")); show(text); emit(snprintf(NULL, 0, "%d-%d", 10, 20)); emit(isxdigit('g'));
  emit(isdigit('7') != 0); emit(isspace('\t') != 0); emit(toupper('q')); emit(tolower('Q')); emit(ispunct('!') != 0);
  emit(sign(memcmp("abc", "abd", 3))); emit(memcmp("abc", "abd", 2)); errno = 5; emit(errno); errno = 0; emit(EINVAL);
  char *grown = malloc(4); strcpy(grown, "abc"); grown = realloc(grown, 16); strcat(grown, "def"); show(grown);
  return 0;
}
"""
NUMBERS = r"""
#include <math.h>
#include <float.h>
int main(void) {
  double x[] = {2.5, -2.5, 3.5, 0.49999999999999994, -0.5, 1e300, -7.75, 0.0};
  for (int i = 0; i < 8; i++) { emit_double(floor(x[i])); emit_double(ceil(x[i])); emit_double(round(x[i]));
    emit_double(trunc(x[i])); emit_double(rint(x[i])); emit_double(fabs(x[i])); emit_double(fmod(x[i], 2)); }
  emit_double(sqrt(2)); emit_double(sqrtf(2)); emit_double(pow(2, 0.5)); emit_double(pow(-2, 3));
  emit_double(pow(0, -1));
  emit_double(log(0)); emit_double(exp(1000)); emit_double(exp(-1000)); emit_double(-log(0));
  emit_double(fmin(NAN, 3)); emit_double(fmax(2, NAN)); emit_double(copysign(3, -0.0)); emit_double(hypot(3, 4));
  emit(lround(-2.5)); emit(lrint(2.5)); emit(isnan(NAN)); emit(isinf(INFINITY) != 0); emit(signbit(-0.0) != 0);
  emit(abs(-3)); emit(labs(-4L)); emit(__builtin_popcount(255)); emit(__builtin_ctzl(8)); emit(__builtin_clz(1));
  emit_double(fdim(3, 1)); emit_double(sqrtl(9.0L)); emit(sizeof(sqrtl(9))); emit_double(DBL_EPSILON);
  return 0;
}
"""
SORTING = r"""
typedef struct { int key; double value; } item;
static int up(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int down(const void *a, const void *b) { return -up(a, b); }
static int by_value(const void *a, const void *b) { const item *x = a, *y = b;
  return x->value < y->value ? -1 : x->value > y->value; }
int main(void) {
  int a[] = {5, -2, 9, 9, 0, 3}, n = sizeof a / sizeof *a, key = 9, *found; qsort(a, n, sizeof *a, up);
  for (int i = 0; i < n; i++) emit(a[i]);
  found = bsearch(&key, a, n, sizeof(int), up); emit(found != NULL && *found == 9); key = 4;
  emit(bsearch(&key, a, n, sizeof(int), up) == NULL); qsort(a + 1, 3, sizeof *a, down); emit(a[1]); emit(a[3]);
  item items[4] = {{1, 2.5}, {2, -1}, {3, 9}, {4, 0}}; qsort(items, 4, sizeof(item), by_value);
  for (int i = 0; i < 4; i++) { emit(items[i].key); emit_double(items[i].value); } qsort(a, 0, 4, up);
  return 0;
}
"""
PROGRAMS = {"strings": STRINGS, "numbers": NUMBERS, "sorting": SORTING}


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
@pytest.mark.parametrize("name", PROGRAMS)
def test_known_values_are_those_of_gcc(name: str, tmp_path: Path) -> None:
    assert folded(PROGRAMS[name], [0, 0]) == by_gcc(PROGRAMS[name], [0, 0], tmp_path)


PRELUDE = """
#include <shmem.h>
#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <unistd.h>
static long x; static double d; static char text[8];
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int by_time(const void *a, const void *b) { return *(const double *)a < *(const double *)b ? -1 : 1; }
int main(int argc, char **argv) { shmem_init(); int me = shmem_my_pe(); %s shmem_barrier_all(); }
"""


@pytest.mark.parametrize(
    ("body", "assertions"),
    [
        # Options are not given, and what getopt tells through variables is there.
        (
            """static struct option all[] = {{"n", required_argument, 0, 'n'}, {0, 0, 0, 0}}; int c, n = 3;
            while ((c = getopt_long(argc, argv, "n:", all, NULL)) != -1) switch (c) {
              case 'n': n = atoi(optarg); break; case '?': fprintf(stderr, "%c", optopt); default: exit(1); }
            assert(n == 3 && optind == 1 && optarg == NULL); optind = 5; assert(optind == 5);""",
            "hold",
        ),
        ('extern int optind, opterr; extern char *optarg; opterr = 0; assert(optind == 1 && !opterr && !optarg);',
         "hold"),
        ('errno = 0; long v = strtol("12", NULL, 10); assert(!errno && v == 12); assert(getpagesize() == 4096);',
         "hold"),
        ('char *name = strrchr(argv[0], \'/\'); name = name ? name + 1 : argv[0]; assert(name == argv[0]);', "hold"),
        # What is read may be anything, and may not be there; whether a run reads what makes an assertion fail is open.
        ('FILE *f = fopen("data", "r"); assert(f != NULL);', "violated"),
        ('FILE *f = fopen("log", "w"); assert(f != NULL); fprintf(f, "%d", me); fclose(f);', "hold"),
        ('int n = 5; if (sscanf(getenv("N") ? "1" : "2", "%d", &n) == 1) assert(n == 2);', "hold"),
        ('char line[20]; int n = 1; if (fgets(line, 20, stdin)) n = atoi(line); assert(n == 1);', "unknown"),
        ('double v[3] = {0}; size_t n = fread(v, 8, 3, stdin); assert(n <= 3); if (v[1] == v[1]) assert(v[1] == 0);',
         "unknown"),
        ('struct utsname u; uname(&u); assert(strcmp(u.nodename, "host") == 0);', "unknown"),
        ('char host[8]; gethostname(host, 8); int same = host[0] == host[0]; assert(same);', "hold"),
        ('char s[8]; memset(s, 1, 8); FILE *f = tmpfile(); fread(s + 2, 1, 2, f); assert(s[1] == 1 && s[4] == 1);',
         "hold"),
        ('static int w; w = rand(); char *b = (char *)&w; b[0] = 1; assert(b[0] == 1); assert(b[1] == 0);', "unknown"),
        # Functions of what other ranks decide are computed, but for some.
        ("d = me; shmem_barrier_all(); double v = shmem_double_g(&d, 1); assert(exp(v) > 2);", "hold"),
        ("d = me; shmem_barrier_all(); double v = shmem_double_g(&d, 1); assert(hypot(v, v) > 1);", "unknown"),
        ("d = me + 0.5; shmem_barrier_all(); double v = shmem_double_g(&d, 1); assert(floor(v) == 1 && ceil(v) == 2);",
         "hold"),
        ("d = me - 2.5; shmem_barrier_all(); double v = shmem_double_g(&d, 0);"
         "assert(floor(v) == -3 && trunc(v) == -2);",
         "hold"),
        # Sorting: what is known, and what takes part of nobody knows what.
        ('int a[3] = {3, 1, 2}; qsort(a, 3, sizeof(int), compare); assert(a[0] == 1 && a[2] == 3);', "hold"),
        ('double t[40]; for (int i = 0; i < 40; i++) { struct timeval n; gettimeofday(&n, 0); t[i] = n.tv_usec; }'
         'qsort(t, 40, sizeof(double), by_time); assert(t[0] == t[39]);', "unknown"),
        # Messages of text.
        ('char s[8]; snprintf(s, 8, "to %d", me); if (!me) shmem_putmem(text, s, strlen(s) + 1, 1);'
         'shmem_barrier_all();'
         'assert(!me || !memcmp(text, "to 0", 5));', "hold"),
        ('char s[8] = "abc"; memset(text, 0, 8); shmem_barrier_all(); if (!me) shmem_putmem(text, s, 4, 1);'
         'shmem_barrier_all(); assert(!me || memcmp(text, "abd", 4) < 0);', "unknown"),
        ('signal(SIGTERM, SIG_DFL); alarm(60); char *p = realloc(NULL, 4); p[0] = 3; p = realloc(p, 9);'
         'assert(p[0] == 3);',
         "hold"),
    ],
)  # fmt: skip
def test_what_a_program_may_see(body: str, assertions: str) -> None:
    verdict = check(parse_c(PRELUDE.replace("%s", body)), 2)
    assert verdict.verdict in ("robust", "not robust"), verdict.errors
    # Where all of them are decided while the program is lowered there is nothing left to check.
    assert verdict.assertions == assertions or (assertions == "hold" and verdict.assertions is None)


def test_what_is_not_known_is_said() -> None:
    verdict = check(parse_c(PRELUDE.replace("%s", "char s[9]; fgets(s, 9, stdin); if (s[0] == 'x') x = 1;")), 2)
    assert any("fgets()" in str(each) for each in verdict.assumptions if each.kind is Kind.UNKNOWN_VALUES)


@pytest.mark.parametrize(
    ("call", "verdict"),
    [
        ("strlen(b) == 4", "error"),
        ('strcmp(b, "abcx") == 0', "error"),
        ("strlen(strcpy(c, b)) == 4", "error"),
        ('memcmp(b, "abcxy", 5) == 0', "error"),
        ("strnlen(b, 4) == 4", "robust"),
        ('strncmp(b, "abcxy", 4) == 0', "robust"),
        ("strncpy(c, b, 4)[3] == 'x'", "robust"),
        ("strndup(b, 4)[4] == 0", "robust"),
    ],
)
def test_a_string_without_an_end(call: str, verdict: str) -> None:
    text = "#include <shmem.h>\n#include <assert.h>\n#include <string.h>\nint main(void) {\n"
    found = check(parse_c(f"{text}char b[4] = \"abc\", c[9]; b[3] = 'x'; assert({call}); }}"), 1)
    assert (found.verdict, found.assertions == "violated") == (verdict, False)


def test_aligned_memory_may_have_elements_for_every_rank() -> None:
    """Where the number of ranks is not known, as `malloc`."""
    text = """
        #include <shmem.h>
        #include <stdlib.h>
        int main(void) {
          shmem_init();
          long *a = shmem_malloc(shmem_n_pes() * sizeof *a), *b;
          MEMORY
          b[shmem_my_pe()] = 1;
          shmem_long_put(&a[shmem_my_pe()], &b[shmem_my_pe()], 1, 0);
          shmem_finalize();
        }"""
    aligned = "if (posix_memalign((void **)&b, 64, shmem_n_pes() * sizeof *b)) return 1;"
    one, other = (
        [(a.name, a.each, a.more) for a in parse_c(text.replace("MEMORY", memory)).for_every_count().growing]
        for memory in (aligned, "b = malloc(shmem_n_pes() * sizeof *b);")
    )
    assert one == other and len(one) == 2


def test_the_environment_is_not_changed() -> None:
    """What is read of it behind that would be something else."""
    text = '#include <stdlib.h>\nint main(void) {{ setenv("A", "1", 1); {} }}'
    assert check(parse_c(text.format("")), 1).verdict == "robust"
    (error,) = check(parse_c(text.format('return getenv("A") != 0;')), 1).errors
    assert error.message == "`getenv` in a program that calls `setenv`"
