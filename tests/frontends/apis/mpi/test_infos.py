# ruff: noqa: E501
"""What info objects hold."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import parse_c
from tests.frontends.apis.mpi.claims import hold, text_of

MADE = 'MPI_Info_create(&i); MPI_Info_set(i, "one", "first"); MPI_Info_set(i, "two", "2");'


@pytest.mark.parametrize(
    "body",
    [
        'MPI_Info_get(i, "one", 15, text, &flag); assert(flag); assert(!strcmp(text, "first"));',
        'MPI_Info_get(i, "one", 3, text, &flag); assert(!strcmp(text, "fir"));',
        'number = 3; MPI_Info_get_string(i, "one", &number, text, &flag); assert(!strcmp(text, "fi")); assert(number == 6);',
        'MPI_Info_get(i, "three", 15, text, &flag); assert(!flag);',
        'MPI_Info_set(i, "one", "other"); MPI_Info_get(i, "one", 15, text, &flag); assert(!strcmp(text, "other"));',
        'MPI_Info_get_valuelen(i, "one", &number, &flag); assert(flag); assert(number == 5);',
        'MPI_Info_get_nkeys(i, &number); assert(number == 2); MPI_Info_get_nthkey(i, 1, text); assert(!strcmp(text, "two"));',
        'MPI_Info_delete(i, "one"); MPI_Info_get_nkeys(i, &number); assert(number == 1);',
        'MPI_Info_dup(i, &j); MPI_Info_set(i, "one", "x"); MPI_Info_get(j, "one", 9, text, &flag); assert(text[1] == 105);',
        "MPI_Info_free(&i); assert(i == MPI_INFO_NULL); MPI_Info_create(&j); MPI_Info_get_nkeys(j, &number);"
        "assert(number == 0);",
        "MPI_Info_create(&j); MPI_Info_free(&j); MPI_Info_get_nkeys(i, &number); assert(number == 2);",
    ],
)
def test_what_an_object_holds(body: str) -> None:
    hold(MADE + body)


def test_objects_that_are_made_and_freed_leave_nothing() -> None:
    """Else each iteration of a loop would begin in another state."""
    body = (
        'while (1) { MPI_Info_create(&i); MPI_Info_set(i, "k", "v"); MPI_Info_free(&i); MPI_Barrier(MPI_COMM_WORLD); }'
    )
    assert str(parse_c(text_of(body)).program(2).processes[0]).count("Barrier(") == 1


def test_an_unknown_value_is_there() -> None:
    """Its text goes both ways, and the key is there for certain."""
    text = text_of(MADE + 'text[0] = MPI_Wtime() > 1; MPI_Info_set(i, "k", text); MPI_Info_get(i, "k", 8, text, &flag);'
                   "assert(flag); if (text[0] == 5) MPI_Barrier(MPI_COMM_WORLD);")  # fmt: skip
    processes = parse_c(text).program(2).processes
    assert "Assert" not in str(processes[0]) and "Barrier" in str(processes[0])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            'MPI_Info_create(&i); MPI_Info_set(i, "accumulate_ordering", "none");',
            "accumulates that are ordered by `none`",
        ),
        ("text[0] = MPI_Wtime() > 1; MPI_Info_create(&i); MPI_Info_delete(i, text);", "with a key that is not known"),
        ("MPI_Info_create(&i); MPI_Info_get_nthkey(i, 0, text);", "key 0 of 0"),
    ],
)
def test_what_is_refused(body: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        parse_c(text_of(body)).program(2)
