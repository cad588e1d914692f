"""sscanf of strings that are known, and of those that are not."""

from __future__ import annotations

import pytest

from pgasrob.api import check
from pgasrob.frontends.lower import parse_c

TEXT = """
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <shmem.h>
int main(void) {
  int a = -9, b = -9; long l = -9; double d = -9; float f = -9; unsigned char c = 9;
  char s[8] = "?", t[8] = "?", k = '?';
  %s
  shmem_init();
  shmem_finalize();
}
"""


@pytest.mark.parametrize(
    "body",
    [
        'assert(sscanf("7 -3", "%d%d", &a, &b) == 2 && a == 7 && b == -3);',
        'assert(sscanf(" 4x5", "%dx%d", &a, &b) == 2 && a == 4 && b == 5);',
        'assert(sscanf("4 x5", "%dx%d", &a, &b) == 1 && a == 4 && b == -9);',
        'assert(sscanf("4 x5", "%d x%d", &a, &b) == 2 && b == 5);',
        'assert(sscanf("", "%d", &a) == -1 && sscanf("  ", "%d", &a) == -1 && sscanf("x", "%d", &a) == 0 && a == -9);',
        'assert(sscanf("12345", "%2d%d", &a, &b) == 2 && a == 12 && b == 345);',
        'assert(sscanf("0x1F 017 12", "%i%i%ld", &a, &b, &l) == 3 && a == 31 && b == 15 && l == 12);',
        'assert(sscanf("ff:300", "%x:%hhu", &a, &c) == 2 && a == 255 && c == 44);',
        'assert(sscanf("1.5e2 .25", "%lf %f", &d, &f) == 2 && d == 150 && f == 0.25f);',
        'assert(sscanf("ab cd", "%s %7s", s, t) == 2 && !strcmp(s, "ab") && !strcmp(t, "cd"));',
        'assert(sscanf("k=v", "%[^=]=%c", s, &k) == 2 && !strcmp(s, "k") && k == \'v\');',
        'assert(sscanf("10%", "%d%%%n", &a, &b) == 1 && a == 10 && b == 3);',
        'assert(sscanf("1 2 3", "%*d %d %*d %d", &a, &b) == 1 && a == 2 && b == -9);',
        'assert(sscanf("a]b", "%[]a]%1s", s, t) == 2 && !strcmp(s, "a]") && !strcmp(t, "b"));',
    ],
)
def test_what_is_read_of_a_known_string_is_known(body: str) -> None:
    verdict = check(parse_c(TEXT.replace("%s", body, 1)), 2)
    assert (verdict.verdict, verdict.assertions) == ("robust", None), verdict.errors
    wrong = check(parse_c(TEXT.replace("%s", body.replace("assert(", "assert(!(").replace(");", "));"), 1)), 2)
    assert wrong.assertions == "violated"


@pytest.mark.parametrize("digits", ["0" * 5_000 + "7", "7" * 5_000])
def test_numbers_of_many_digits(digits: str) -> None:
    """Python refuses to read them."""
    known = "7" if digits.startswith("0") else "LONG_MAX"
    text = f'''#include <limits.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
static char s[8192];
int main(void) {{
  int a;
  assert(strtol("{digits}", 0, 10) == {known} && strtol("-0x{digits}", 0, 16) == (-{known} == -7 ? -7 : LONG_MIN));
  assert(sscanf("{digits}", "%d", &a) == 1 && ({known} != 7 || a == 7));
  assert(sscanf("8", "%{digits}d", &a) == 1 && a == 8);
  s[0] = 'x';
  printf("%.{digits}s", s);
}}'''
    verdict = check(parse_c(text), 1)
    assert (verdict.errors, verdict.assertions) == ((), None)


def test_a_base_that_there_is_not_is_refused() -> None:
    for base in ("1", "37", "-8"):
        verdict = check(parse_c(TEXT.replace("%s", f'l = strtol("12", 0, {base});')), 1)
        assert "base" in verdict.errors[0].message


def test_what_is_read_of_others_is_not() -> None:
    body = 'if (fgets(s, 8, stdin) && sscanf(s, "%d", &a) == 1) assert(a == 3);'
    assert check(parse_c(TEXT.replace("%s", body, 1)), 2).assertions == "unknown"
