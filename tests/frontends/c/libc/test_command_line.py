"""getopt on known arguments: what it says, and how it moves them, as a program linked with the GNU C library has it."""

from __future__ import annotations

import pytest

from pgasrob.api import check
from pgasrob.frontends.lower import parse_c
from pgasrob.frontends.options import FrontEnd

TEXT = r"""
#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <shmem.h>
static int flag;
static const struct option all[] = {{"alpha", no_argument, NULL, 'A'}, {"beta", required_argument, &flag, 7},
                                    {"alp", optional_argument, NULL, 'C'}, {"gamma", no_argument, &flag, 9}, {0}};
int main(int argc, char **argv) {
  char log[400] = "";
  int c, index = 0;
  opterr = 0;
  while ((c = CALL) != -1) {
    sprintf(log + strlen(log), "%c", c ? c == 1 ? '.' : c : '0' + flag);
    if (c == '?' || c == ':') sprintf(log + strlen(log), "(%d)", optopt);
    if (optarg) sprintf(log + strlen(log), "=%s", optarg);
    strcat(log, " ");
  }
  for (int i = optind; i < argc; i++) sprintf(log + strlen(log), "%s ", argv[i]);
  assert(!strcmp(log, EXPECTED));
  shmem_init();
  shmem_finalize();
  return 0;
}
"""
SHORT = 'getopt(argc, argv, "%s")'
LONG = 'getopt_long(argc, argv, "ab:", all, &index)'
ONLY = 'getopt_long_only(argc, argv, "ab:", all, &index)'


@pytest.mark.parametrize(
    ("call", "arguments", "said"),
    [
        (SHORT % "ab:c::", "", ""),
        (SHORT % "ab:c::", "-a -b 4 -c -cx", "a b=4 c c=x "),
        # Several letters in one argument, the last of which has one of its own.
        (SHORT % "ab:c::", "-aab4 -ab", "a a b=4 a ?(98) "),
        (SHORT % ":ab:", "-z -b", "?(122) :(98) "),
        # What is no option goes behind the options, up to `--`; with `+` nothing is moved, with `-` all are options.
        (SHORT % "ab:", "x -a y - -b 4 -- -a z", "a b=4 x y - -a z "),
        (SHORT % "+ab:", "-a x -a", "a x -a "),
        (SHORT % "-ab:", "x -a -- y", ".=x a y "),
        # Words: in full, or as much as says which; with flags, which get the value; with and without arguments.
        (LONG, "--alpha --alp=3 --alp --beta 4 --b=5", "A C=3 C 7=4 7=5 "),
        (LONG, "--al --g=1 --nope --beta", "?(0) ?(9) ?(0) ?(7) "),
        (LONG, "x --gamma -a y", "9 a x y "),
        (ONLY, "-alpha -a -beta 4 -b5 -gamma", "A a 7=4 b=5 9 "),
    ],
)
def test_what_getopt_says_of_known_arguments(call: str, arguments: str, said: str) -> None:
    for expected, holds in ((said, True), (said + "!", False)):
        front_end = FrontEnd(
            defines=(("CALL", call), ("EXPECTED", f'"{expected}"')), arguments=tuple(arguments.split())
        )
        verdict = check(parse_c(TEXT, "<string>", front_end), 2)
        assert (verdict.verdict, verdict.assertions) == ("robust", None if holds else "violated"), verdict.errors


def test_arguments_that_are_not_known_are_refused() -> None:
    text = TEXT.replace("opterr = 0;", "char word[9]; fgets(word, 9, stdin); argv[0] = word;")
    verdict = check(parse_c(text, "<string>", FrontEnd(defines=(("CALL", LONG), ("EXPECTED", '""')))), 2)
    assert "arguments that are not known here" in verdict.errors[0].message


def test_a_second_pass_begins_again_where_optind_says() -> None:
    twice = TEXT.replace("opterr = 0;", 'opterr = 0; while (getopt(argc, argv, "ab:") != -1) ; optind = 1;')
    front_end = FrontEnd(
        defines=(("CALL", SHORT % "ab:"), ("EXPECTED", '"a b=4 x "')), arguments=("-a", "x", "-b", "4")
    )
    assert check(parse_c(twice, "<string>", front_end), 2).assertions is None
