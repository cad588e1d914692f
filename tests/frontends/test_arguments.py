"""The arguments that a C program is started with: who gives them, and what `main` gets."""

from __future__ import annotations

from contextlib import suppress

import pytest

from pgasrob.api import check
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import parse_c
from pgasrob.frontends.options import FrontEnd
from pgasrob.program.assumptions import Kind

TEXT = """
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <shmem.h>
static long x;
int main(int argc, char **argv) {
  assert(%s);
  shmem_init();
  shmem_long_p(&x, 1, 0);
  shmem_finalize();
}
"""


@pytest.mark.parametrize(
    ("header", "arguments", "holds"),
    [
        ("", None, 'argc == 1 && !strcmp(argv[0], "program") && argv[1] == NULL'),
        ("// args: 1 4 4", None, "argc == 4 && atoi(argv[1]) == 1 && strtol(argv[3], NULL, 10) == 4 && !argv[4]"),
        ("/* nodes: 2\n * args: 'a b' -n \"\" */", None, 'argc == 4 && !strcmp(argv[1], "a b") && !argv[3][0]'),
        # What is asked for goes before what the file says.
        ("// args: 1", ("2",), "argc == 2 && atoi(argv[1]) == 2"),
        ("// args: 1", (), "argc == 1"),
        # Arguments may be written to.
        ("", ("k=v",), '(*strchr(argv[1], 61) = 0, !strcmp(argv[1], "k"))'),
    ],
)  # fmt: skip
def test_what_main_gets(header: str, arguments: tuple[str, ...] | None, holds: str) -> None:
    for condition, assertions in ((holds, None), (f"!({holds})", "violated")):
        verdict = check(parse_c(header + TEXT % condition, "<string>", FrontEnd(arguments=arguments)), 2)
        assert (verdict.verdict, verdict.assertions) == ("robust", assertions), verdict.errors


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (None, "the program is started without arguments: argc is 1"),
        ((), "the program is started with no arguments: argc is 1"),
        (("-n", "a b"), "the program is started with the arguments `-n 'a b'`"),
    ],
)
def test_the_verdict_says_with_which_arguments(arguments: tuple[str, ...] | None, said: str) -> None:
    verdict = check(parse_c(TEXT % "argc", "<string>", FrontEnd(arguments=arguments)), 2)
    assert said in [str(each) for each in verdict.assumptions if each.kind is Kind.ARGUMENTS]


def test_what_cannot_be_split_is_an_error() -> None:
    with pytest.raises(SourceError, match="no closing quotation"):
        parse_c("// args: 'a\n" + TEXT % "1")


def test_what_reads_an_argument_that_is_not_there_names_the_option() -> None:
    verdict = check(parse_c(TEXT % "atoi(argv[1]) == 3"), 2)
    assert verdict.verdict == "error" and "--args" in (verdict.errors[0].hint or "")
    assert check(parse_c(TEXT % "atoi(argv[1]) == 3", "a.c", FrontEnd(arguments=("3",))), 2).verdict == "robust"


def test_very_many_blanks_in_a_comment_take_no_longer_than_other_text() -> None:
    """With a try from each blank this would take minutes."""
    blanks = " " * 200_000
    for comment in (f"//{blanks}x", f"// api:{blanks}x", f"/*{blanks}args{blanks}*/", f"// args:{blanks}*"):
        with suppress(SourceError):
            parse_c(f"{comment}\nint main(void) {{ return 0; }}\n")
