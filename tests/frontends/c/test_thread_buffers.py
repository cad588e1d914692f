"""Buffers that calls of one thread have while others access them."""

from __future__ import annotations

import pytest

from pgasrob import check
from pgasrob.frontends.lower import parse_c
from tests.frontends.apis.lowering import threads

PROGRAM = """#include <mpi.h>
#include <omp.h>
#include <string.h>
int x[4], y[4], s;
int main(int c, char **v) {{ int p, me; MPI_Request q; MPI_Init_thread(&c, &v, MPI_THREAD_MULTIPLE, &p);
MPI_Comm_rank(MPI_COMM_WORLD, &me);
#pragma omp parallel num_threads(2)
{{ if (omp_get_thread_num()) {{ {other} }}
else {{ MPI_I{call}(x, 2, MPI_INT, me, 0, MPI_COMM_WORLD, &q);
{first} MPI_Wait(&q, MPI_STATUS_IGNORE); }}
{behind} }}
MPI_Finalize(); return 0; }}
"""
RECV = "MPI_Recv(y, 2, MPI_INT, me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
SEND = "MPI_Send(y, 2, MPI_INT, me, 0, MPI_COMM_WORLD);"


def verdict(call: str, other: str, behind: str = "") -> tuple[str | None, set[str]]:
    text = PROGRAM.format(call=call, first=RECV if call == "send" else SEND, other=other, behind=behind)
    found = check(parse_c(text), 1)
    return found.legal, {each.call.rule.code for each in found.illegal_calls}


@pytest.mark.parametrize(
    ("call", "other", "legal"),
    [
        ("send", "x[1] = 3;", "no"),
        ("send", "x[2] = 3;", "yes"),
        ("send", "s = x[1];", "yes"),
        ("send", "memset(x, 0, sizeof x);", "no"),
        ("recv", "s = x[0];", "no"),
        ("recv", "memcpy(y + 2, x + 2, 8);", "yes"),
        ("recv", "x[0] = 1;", "no"),
    ],
)
def test_what_another_thread_may_do(call: str, other: str, legal: str) -> None:
    assert verdict(call, other) == (legal, {"mpi-buffer-in-use"} if legal == "no" else set())


def test_threads_that_are_ordered() -> None:
    """By a barrier behind the wait, by one in front of the call, by a lock."""
    barrier = "\n#pragma omp barrier\n"
    assert verdict("recv", "", f"{barrier} if (omp_get_thread_num()) s = x[0];")[0] == "yes"
    text = PROGRAM.replace("MPI_I{call}", "{barrier} MPI_I{call}")
    text = text.format(call="recv", first=SEND, other="s = x[0];" + barrier, behind="", barrier=barrier)
    assert check(parse_c(text), 1).legal == "yes"


def test_a_request_that_another_thread_completes() -> None:
    """The cell says so only while the call has the buffer; nothing is counted where no other thread looks."""
    text = PROGRAM.replace("MPI_Wait(&q, MPI_STATUS_IGNORE);", "")
    behind = "\n#pragma omp barrier\nif (omp_get_thread_num()) {{ MPI_Wait(&q, MPI_STATUS_IGNORE); {} }}"
    parts = {"call": "send", "first": RECV, "other": ""}
    found = parse_c(text.format(**parts, behind=behind.format("x[0] = 4;")))
    assert check(found, 1).legal == "yes"
    early = behind.replace("MPI_Wait", "x[1] = 9; MPI_Wait").format("")
    assert check(parse_c(text.format(**parts, behind=early)), 1).legal == "no"
    quiet = threads(PROGRAM.format(**parts, behind=""), 1)
    assert not [line for lines in quiet.values() for line in lines if "lent" in line]
