"""Bodies of programs with claims about what calls answer, which the front end knows: `assert`s that hold are no
commands, and one that does not hold is an assert of 0."""

from __future__ import annotations

import re

import pgasrob
from pgasrob.frontends.lower import parse_c
from pgasrob.program import commands
from pgasrob.program.expressions import Const
from pgasrob.program.statements import Do, statements_in

FRAME = """#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <mpi.h>
DECLARED
int main(int argc, char **argv) {
  int me, n, flag, number; MPI_Win w; int *p; MPI_Comm c, d; MPI_Info i, j; char text[16];
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &me); MPI_Comm_size(MPI_COMM_WORLD, &n);
  BODY
  return 0;
}"""
CLAIM = re.compile(r"\bassert\((.*?)\);")


def text_of(body: str, declared: str = "") -> str:
    return FRAME.replace("DECLARED", declared).replace("BODY", body)


def _false(text: str, nodes: int) -> int:
    """How many claims of ``text`` are false on some rank."""
    program = parse_c(text).program(nodes)
    found = (each for process in program.processes for each in statements_in(process.body) if isinstance(each, Do))
    asserts = [each for each in found if isinstance(each.command, commands.Assert)]
    assert all(each.command == commands.Assert(Const(0)) for each in asserts), asserts
    return len({each.span for each in asserts})


def hold(body: str, declared: str = "", nodes: int = 2) -> None:
    """Every claim holds on all ranks that come to it, and some rank does: the negated one is false there."""
    text = text_of(body, declared)
    assert not _false(text, nodes)
    negated, claims = CLAIM.subn(r"assert(!(\1));", text)
    assert _false(negated, nodes) == claims > 0


def checked(body: str, declared: str = "", nodes: int = 2) -> tuple[str, str | None]:
    """The verdict, and what is known of the claims."""
    verdict = pgasrob.check(parse_c(text_of(body, declared)), nodes=nodes)
    assert not verdict.deadlock, verdict
    return verdict.verdict, verdict.assertions
