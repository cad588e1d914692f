"""Attributes, and the functions of the program that delete them."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import parse_c
from pgasrob.program.assumptions import Kind
from tests.frontends.apis.mpi.claims import checked, hold, text_of

DECLARED = """
static int last, calls, key, other, extra;
static int gone(MPI_Comm c, int k, void *value, void *state) {
  calls++; last = last * 10 + *(int *)value; if (state) *(int *)state += k == key; return MPI_SUCCESS; }
static int lost(MPI_Win w, int k, void *value, void *state) { calls += 100; free(value); return MPI_SUCCESS; }
static int grows(MPI_Comm c, int k, void *state, void *value, void *copy, int *flag) {
  calls += 10; extra += state == &other; int *p = malloc(4); *p = *(int *)value + 1; *(int **)copy = p; *flag = *p != 3;
  return MPI_SUCCESS; }
static MPI_Comm_delete_attr_function *by_pointer = gone;
static int one = 1, two = 2, three = 3;
"""
MADE = """int *got = 0; MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, gone, &key, &extra);
MPI_Comm_create_keyval(MPI_COMM_DUP_FN, by_pointer, &other, NULL);
MPI_Comm_dup(MPI_COMM_WORLD, &c); MPI_Comm_set_attr(c, key, &one); MPI_Comm_set_attr(c, other, &two);"""


@pytest.mark.parametrize(
    "body",
    [
        "MPI_Comm_get_attr(c, key, &got, &flag); assert(flag); assert(got == &one); assert(!calls);",
        "MPI_Comm_get_attr(MPI_COMM_WORLD, key, &got, &flag); assert(!flag); assert(!got);",
        "MPI_Comm_set_attr(c, key, &three); assert(calls == 1); assert(last == 1); assert(extra == 1);"
        "MPI_Comm_get_attr(c, key, &got, &flag); assert(*got == 3);",
        "MPI_Comm_delete_attr(c, other); assert(last == 2); MPI_Comm_get_attr(c, other, &got, &flag); assert(!flag);"
        "assert(calls == 1); assert(!extra);",
        "MPI_Comm_free(&c); assert(last == 21); assert(calls == 2); assert(extra == 1); assert(c == MPI_COMM_NULL);",
        "MPI_Comm_dup(c, &d); MPI_Comm_get_attr(d, key, &got, &flag); assert(!flag);"
        "MPI_Comm_get_attr(d, other, &got, &flag); assert(*got == 2); MPI_Comm_free(&d); assert(last == 2);",
        # A function of the program says what the copy is, and that there is none where the value is 2.
        "MPI_Comm_create_keyval(grows, gone, &number, &other); MPI_Comm_set_attr(c, number, &three);"
        "MPI_Comm_dup(c, &d); assert(calls == 10); assert(extra == 1); MPI_Comm_get_attr(d, number, &got, &flag);"
        "assert(flag); assert(*got == 4); MPI_Comm_get_attr(c, number, &got, &flag); assert(*got == 3);"
        "MPI_Comm_get_attr(d, other, &got, &flag); assert(*got == 2); MPI_Comm_set_attr(c, number, &two);"
        "MPI_Comm_dup(c, &d); MPI_Comm_get_attr(d, number, &got, &flag); assert(!flag); assert(calls == 21);",
        # Of several each has its own.
        "int more; MPI_Comm_create_keyval(grows, gone, &number, 0); MPI_Comm_create_keyval(grows, gone, &more, 0);"
        "MPI_Comm_set_attr(c, number, &three); MPI_Comm_set_attr(c, more, &one); MPI_Comm_dup(c, &d);"
        "MPI_Comm_get_attr(d, number, &got, &flag); assert(*got == 4); MPI_Comm_get_attr(d, more, &got, &flag);"
        "assert(flag); assert(*got == 2); assert(calls == 20);",
        "MPI_Comm_set_attr(MPI_COMM_SELF, key, &three); MPI_Finalize(); assert(last == 3); assert(calls == 1);",
        "MPI_Comm_free_keyval(&other); assert(other == MPI_KEYVAL_INVALID); MPI_Comm_free(&c); assert(last == 21);",
        "int again; MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &again, NULL);"
        "assert(again != key); assert(again != other); MPI_Comm_set_attr(c, again, &three); MPI_Comm_free(&c);"
        "assert(last == 21); MPI_Comm_free_keyval(&again); MPI_Comm_free_keyval(&key);",
        "MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, lost, &key, NULL); p = malloc(8); *p = 4;"
        "MPI_Win_create(&extra, 4, 4, MPI_INFO_NULL, c, &w); MPI_Win_set_attr(w, key, p);"
        "MPI_Win_get_attr(w, key, &got, &flag); assert(*got == 4); MPI_Win_get_attr(w, MPI_WIN_BASE, &got, &flag);"
        "assert(got == &extra); MPI_Win_free(&w); assert(calls == 100); MPI_Win_free_keyval(&key);",
    ],
)
def test_what_attributes_are_and_when_they_are_deleted(body: str) -> None:
    hold(MADE + body, DECLARED)


def test_keys_and_attributes_of_a_loop_leave_nothing() -> None:
    body = """while (1) { MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, gone, &number, &extra);
    last = calls = extra = 0;
    MPI_Comm_set_attr(MPI_COMM_WORLD, number, &one); MPI_Comm_delete_attr(MPI_COMM_WORLD, number);
    MPI_Comm_free_keyval(&number); MPI_Barrier(MPI_COMM_WORLD); last = calls = extra = 0; }"""
    assert str(parse_c(text_of(body, DECLARED)).program(2).processes[0]).count("Barrier(") == 1


def test_what_a_callback_does_is_part_of_the_run() -> None:
    """Here it puts, and nothing orders that before the load of the other rank."""
    declared = """static MPI_Win of; static int source = 7, memory[2], key;
    static int puts_(MPI_Comm c, int k, void *value, void *state) {
      MPI_Put(&source, 1, MPI_INT, 1, 0, 1, MPI_INT, of); MPI_Put(&source, 1, MPI_INT, 1, 1, 1, MPI_INT, of);
      return MPI_SUCCESS; }"""
    body = """MPI_Win_create(memory, 8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &of); MPI_Win_lock_all(0, of);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, puts_, &key, NULL);
    if (me == 0) { MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL); MPI_Comm_delete_attr(MPI_COMM_SELF, key); FLUSH }
    MPI_Barrier(MPI_COMM_WORLD); if (me) assert(memory[0] == 7); MPI_Barrier(MPI_COMM_WORLD); MPI_Win_unlock_all(of);"""
    assert checked(body.replace("FLUSH", "MPI_Win_flush(1, of);"), declared) == ("robust", "hold")
    assert checked(body.replace("FLUSH", ""), declared)[0] == "not robust"


def test_error_handlers_are_not_called() -> None:
    declared = (
        "static void bad(MPI_Comm *c, int *code, ...) { nobody(); } static MPI_Comm_errhandler_function *f = bad;"
    )
    body = """MPI_Errhandler e, g; MPI_Comm_create_errhandler(f, &e); MPI_Comm_set_errhandler(MPI_COMM_WORLD, e);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &g); MPI_Errhandler_free(&e); assert(e == MPI_ERRHANDLER_NULL);
    MPI_Errhandler_create(bad, &g); MPI_Errhandler_set(MPI_COMM_SELF, g);"""
    hold(body, declared)
    noted = {each.kind: each for each in parse_c(text_of(body, declared)).program(2).assumptions}
    assert noted[Kind.NOT_CALLED].about == ("MPI_Comm_create_errhandler", "MPI_Errhandler_create")
    assert noted[Kind.UNREAD_FUNCTIONS].about == ("bad()",)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("MPI_Comm_set_attr(c, 17, NULL);", "a key that the program has not made"),
        ("MPI_Comm_create_keyval(copies, gone, &key, NULL); MPI_Comm_set_attr(c, key, NULL); MPI_Comm_dup(c, &d);",
         "the copy of an attribute is is not known at MPI_Comm_dup"),
        ("MPI_Comm_create_keyval(copies, wrong, &key, NULL); MPI_Comm_set_attr(c, key, NULL); MPI_Comm_free(&c);",
         "the function `nobody` is not known"),
        ("MPI_Comm_set_attr(c, key, &extra + (MPI_Wtime() > 1));", "argument 3 of MPI_Comm_set_attr is not known here"),
    ],
)  # fmt: skip
def test_what_is_refused(body: str, message: str) -> None:
    declared = (
        DECLARED
        + """static int copies(MPI_Comm c, int k, void *e, void *in, void *out, int *flag) {
      *flag = MPI_Wtime() > 1; return 0; }
    static int wrong(MPI_Comm c, int k, void *v, void *e) { return nobody(); }"""
    )
    with pytest.raises(SourceError, match=message):
        parse_c(text_of(MADE + body, declared)).program(2)
