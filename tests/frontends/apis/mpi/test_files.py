"""Files: the buffers of what is written are read where the calls stand, and those of what is read may hold anything."""

from __future__ import annotations

import pytest

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import parse_c
from pgasrob.program.assumptions import Kind
from tests.frontends.apis.mpi.claims import checked, hold, text_of

OPENED = """MPI_File f; MPI_Status s;
MPI_File_open(MPI_COMM_WORLD, "out", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f);
MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);"""
WRITES = ["_at(f, 8 * me, {})", "_at_all(f, 0, {})", "(f, {})", "_all(f, {})", "_shared(f, {})", "_ordered(f, {})"]


@pytest.mark.parametrize("call", WRITES)
def test_what_is_written_is_read(call: str) -> None:
    write = f"MPI_File_write{call.format('p, 2, MPI_INT, &s')};"
    body = f"""{OPENED} MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w); MPI_Win_fence(0, w);
    if (me == 0) {{ MPI_Put(&n, 1, MPI_INT, 1, 0, 1, MPI_INT, w); MPI_Put(&n, 1, MPI_INT, 1, 1, 1, MPI_INT, w); }}
    FENCE {write} MPI_Win_fence(0, w); MPI_File_close(&f);"""
    assert checked(body.replace("FENCE", "MPI_Win_fence(0, w);"))[0] == "robust"
    assert checked(body.replace("FENCE", "MPI_Barrier(MPI_COMM_WORLD);"))[0] == "not robust"


def test_what_calls_answer() -> None:
    hold(
        f"""{OPENED} MPI_File_write(f, &me, 1, MPI_INT, &s); MPI_Get_count(&s, MPI_INT, &number); assert(number == 1);
        MPI_File_sync(f); MPI_File_seek(f, 0, MPI_SEEK_SET); MPI_File_close(&f); assert(f == MPI_FILE_NULL);"""
    )


def test_opening_is_collective_and_does_not_wait() -> None:
    """A rank that does not open makes the others meet in another barrier than its own."""
    opened = 'if (me) MPI_File_open(MPI_COMM_WORLD, "x", MPI_MODE_WRONLY, MPI_INFO_NULL, &f);'
    body = f"MPI_File f; {opened} MPI_Barrier(MPI_COMM_WORLD);"
    barriers = [str(each) for each in parse_c(text_of(body)).program(2).processes]
    assert "after MPI_File_open" in barriers[1] and "after" not in barriers[0]


@pytest.mark.parametrize("call", WRITES)
def test_what_is_read_is_unknown(call: str) -> None:
    read = f"MPI_File_read{call.format('x, 2, MPI_INT, &s')};"
    body = f"""static int x[3] = {{1, 1, 1}}; {OPENED} {read} MPI_Get_count(&s, MPI_INT, &number); assert(number == 2);
    assert(x[2] == 1); MPI_File_close(&f); LOOK"""
    assert checked(body.replace("LOOK", "")) == ("robust", None)
    assert checked(body.replace("LOOK", "assert(x[1] == 1);"))[1] not in (None, "hold")
    noted = parse_c(text_of(body.replace("LOOK", ""))).program(2).assumptions
    assert any(each.kind is Kind.UNKNOWN_VALUES and "MPI_File_read" in str(each) for each in noted)


def test_what_lies_between_the_elements_of_a_type_is_kept() -> None:
    body = f"""static int x[4] = {{1, 1, 1, 1}}; {OPENED} MPI_Datatype t; MPI_Type_vector(2, 1, 2, MPI_INT, &t);
    MPI_Type_commit(&t); MPI_File_read(f, x, 1, t, &s); assert(x[1] == 1 && x[3] == 1); LOOK MPI_Offset size;
    MPI_File_get_size(f, &size); MPI_File_close(&f);"""
    assert checked(body.replace("LOOK", "")) == ("robust", None)
    assert checked(body.replace("LOOK", "assert(x[2] == 1);"))[1] not in (None, "hold")


def test_what_is_refused() -> None:
    with pytest.raises(SourceError, match="only those that open, close, read and write at once"):
        parse_c(text_of(f"{OPENED} MPI_File_iread(f, &me, 1, MPI_INT, &s);")).program(2)
    with pytest.raises(SourceError, match="a file that is not known here"):
        parse_c(text_of("MPI_File f = (MPI_File)(long)&n; MPI_File_close(&f);")).program(2)
