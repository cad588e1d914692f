# ruff: noqa: E501
"""MPI, `messages`: what calls lower to on rank 0, read against API_SEMANTICS line by line."""

from __future__ import annotations

import pytest

import pgasrob
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import parse_c
from tests.frontends.apis.mpi.calls import lowered
from tests.frontends.apis.mpi.claims import checked, hold, text_of

CALLS = {
    "if (me == 0) MPI_Send(a, 1, MPI_INT, 1, 5, MPI_COMM_WORLD); else MPI_Recv(b, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &st);": "barrier; of_4_messages_under_way <- mem[mpi_world_tag_5_0_1_full_0]; mem[mpi_world_tag_5_0_1_message_0_0] <- 0; mem[mpi_world_tag_5_0_1_full_0] <- 1 / (of_4_messages_under_way == 0);",
    "if (me == 1) MPI_Send(a, 1, MPI_INT, 0, 5, MPI_COMM_WORLD); else { int k; MPI_Recv(b, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &st); MPI_Get_count(&st, MPI_INT, &k); a[k] = st.MPI_SOURCE; }": "barrier; await_add(1, mem[mpi_world_tag_5_1_0_full_0] == 1, 0); message <- fetch(1, mpi_world_tag_5_1_0_message_0_0); await_add(1, mem[mpi_world_tag_5_1_0_full_0] == 1, -1); mem[b[0]] <- message;",
    "MPI_Sendrecv(&me, 1, MPI_INT, 1 - me, 0, &x, 1, MPI_INT, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);": "barrier; of_4_messages_under_way <- mem[mpi_world_tag_0_0_1_full_0]; mem[mpi_world_tag_0_0_1_message_0_0] <- 0; mem[mpi_world_tag_0_0_1_full_0] <- 1 / (of_4_messages_under_way == 0); await_add(1, mem[mpi_world_tag_0_1_0_full_0] == 1, 0); message <- fetch(1, mpi_world_tag_0_1_0_message_0_0); await_add(1, mem[mpi_world_tag_0_1_0_full_0] == 1, -1); mem[x] <- message;",
}

ERRORS = {
    "if (me == 1) MPI_Ssend(a, 3, MPI_INT, 0, 5, MPI_COMM_WORLD); else MPI_Recv(b, 2, MPI_INT, 1, 5, MPI_COMM_WORLD, &st);": "MPI_Recv of 2 elements where 3 are sent with tag 5",
    "if (me == 1) { MPI_Ssend(a, 1, MPI_INT, 0, 5, MPI_COMM_WORLD); MPI_Ssend(a, 2, MPI_INT, 0, 5, MPI_COMM_WORLD); } else { MPI_Recv(b, 2, MPI_INT, 1, 5, MPI_COMM_WORLD, &st); MPI_Recv(b, 2, MPI_INT, 1, 5, MPI_COMM_WORLD, &st); }": "MPI_Recv of 2 elements where 1 are sent with tag 5, and other messages have other lengths",
}


@pytest.mark.parametrize(("call", "expected"), CALLS.items())
def test_call(call: str, expected: str) -> None:
    assert lowered(call) == expected


@pytest.mark.parametrize(("call", "expected"), ERRORS.items())
def test_error(call: str, expected: str) -> None:
    with pytest.raises(SourceError, match=expected):
        lowered(call)


@pytest.mark.parametrize("receive", ["MPI_Recv(b, 3, MPI_INT, 1, 5, MPI_COMM_WORLD, &st);",
                                     "MPI_Irecv(b, 3, MPI_INT, 1, 5, MPI_COMM_WORLD, &r); MPI_Wait(&r, &st);"])  # fmt: skip
def test_a_message_may_be_shorter_than_the_buffer(receive: str) -> None:
    """What is behind it stays as it is, and the status says how much has come."""
    body = f"""{{ MPI_Status st; MPI_Request r; int k, a[2] = {{4, 5}}, b[3] = {{7, 8, 9}};
    if (me == 1) MPI_Send(a, 2, MPI_INT, 0, 5, MPI_COMM_WORLD); else {{ {receive} MPI_Get_count(&st, MPI_INT, &k);
    assert(k == COUNT && b[1] == 5 && b[2] == LAST); }} }}"""
    right = body.replace("COUNT", "2").replace("LAST", "9")
    assert checked(right, nodes=2) == ("robust", "hold")
    for wrong in (right.replace("k == 2", "k == 3"), right.replace("b[2] == 9", "b[2] == 5")):
        assert checked(wrong, nodes=2)[1] == "violated"


def test_packed_data_may_have_room_behind_it() -> None:
    body = """{ char p[40]; int at = 0, i = 0; double d = 0; if (me == 1) { i = 5; d = 2.5;
    MPI_Pack(&i, 1, MPI_INT, p, 40, &at, MPI_COMM_WORLD); MPI_Pack(&d, 1, MPI_DOUBLE, p, 40, &at, MPI_COMM_WORLD);
    MPI_Send(p, at, MPI_PACKED, 0, 5, MPI_COMM_WORLD); } else {
    MPI_Recv(p, 40, MPI_PACKED, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Unpack(p, 40, &at, &i, 1, MPI_INT, MPI_COMM_WORLD); MPI_Unpack(p, 40, &at, &d, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    assert(i == 5 && d == 2.5); } }"""
    assert checked(body, nodes=2) == ("robust", "hold")
    assert checked(body.replace("d == 2.5", "d == 2.25"), nodes=2)[1] == "violated"


SENT = "MPI_Status st; int a[3] = {4, 5, 6}, b[3]; if (me == 1) MPI_Send(a, 3, MPI_INT, 0, 5, MPI_COMM_WORLD);"
SEEN = """MPI_Get_count(&st, MPI_INT, &number); assert(number == 3); assert(st.MPI_SOURCE == 1 && st.MPI_TAG == 5);
MPI_Recv(b, number, MPI_INT, st.MPI_SOURCE, st.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE); assert(b[1] == 5);"""


@pytest.mark.parametrize("source", ["1", "MPI_ANY_SOURCE"])
@pytest.mark.parametrize(
    "probe",
    [
        "MPI_Probe(SOURCE, 5, MPI_COMM_WORLD, &st);",
        "MPI_Probe(SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);",
        "for (flag = 0; !flag;) MPI_Iprobe(SOURCE, 5, MPI_COMM_WORLD, &flag, &st);",
    ],
)
def test_a_message_is_found_and_stays(probe: str, source: str) -> None:
    body = f"{SENT} else if (me == 0) {{ {probe.replace('SOURCE', source)} SEEN }}"
    assert checked(body.replace("SEEN", SEEN), nodes=3) == ("robust", "hold")
    assert checked(body.replace("SEEN", SEEN.replace("number == 3", "number == 2")), nodes=3)[1] == "violated"
    # The sender's loads and stores before are ordered before what comes after.
    window = "int data[1]; MPI_Win_create(data, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w); MPI_Win_lock_all(0, w);"
    put = f"if (me == 1) {{ MPI_Put(&n, 1, MPI_INT, 0, 0, 1, MPI_INT, w); MPI_Win_flush(0, w); }} {body}"
    ended = " MPI_Barrier(MPI_COMM_WORLD); MPI_Win_unlock_all(w);"
    read = put.replace("SEEN", f"a[0] = data[0]; {SEEN}") + ended
    assert checked(window + read, nodes=2)[0] == "robust"
    assert checked(window + read.replace("MPI_Win_flush(0, w);", ""), nodes=2)[0] == "not robust"


def test_a_probe_for_a_message_that_never_comes() -> None:
    body = "MPI_Status st; MPI_Barrier(MPI_COMM_WORLD);"
    body += "if (me == 0) { MPI_Iprobe(1, 5, MPI_COMM_WORLD, &flag, &st); assert(!flag); } MPI_Barrier(MPI_COMM_WORLD);"
    assert checked(body)[1] == "hold"
    blocked = parse_c(text_of("MPI_Status st; if (me == 0) MPI_Probe(1, 5, MPI_COMM_WORLD, &st);"))
    assert pgasrob.check(blocked, nodes=2).deadlock


def test_an_iprobe_may_miss_what_has_been_sent() -> None:
    body = f"{SENT.replace('MPI_Send', 'MPI_Bsend')} MPI_Barrier(MPI_COMM_WORLD); if (me == 0) {{ MPI_Iprobe(1, 5, MPI_COMM_WORLD, &flag, &st);"
    assert checked(f"{body} assert(flag); MPI_Recv(b, 3, MPI_INT, 1, 5, MPI_COMM_WORLD, &st); }}")[1] == "violated"


PACKED = """char buf[64], c1 = 7, c2 = 0; int at = 0, a[2] = {1, 2}, b[2]; double x = 2.5, e = 0;
MPI_Pack_size(2, MPI_INT, MPI_COMM_WORLD, &number); assert(number == 8);
MPI_Pack(a, 2, MPI_INT, buf, 64, &at, MPI_COMM_WORLD); MPI_Pack(&x, 1, MPI_DOUBLE, buf, 64, &at, MPI_COMM_WORLD);
MPI_Pack(&c1, 1, MPI_CHAR, buf, 64, &at, MPI_COMM_WORLD); assert(at == 17);"""
UNPACKED = """at = 0; MPI_Unpack(FROM, 64, &at, b, 2, MPI_INT, MPI_COMM_WORLD); assert(at == 8);
MPI_Unpack(FROM, 64, &at, &e, 1, MPI_DOUBLE, MPI_COMM_WORLD); MPI_Unpack(FROM, 64, &at, &c2, 1, MPI_CHAR, MPI_COMM_WORLD);
assert(b[0] == 1 && b[1] == 2 && e == 2.5 && c2 == 7);"""


def test_what_is_packed_is_unpacked() -> None:
    hold(PACKED + UNPACKED.replace("FROM", "buf"))
    moved = f"""static char there[64]; {PACKED} MPI_Win_create(there, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    MPI_Win_fence(0, w); if (me == 0) MPI_Put(buf, at, MPI_PACKED, 1, 0, at, MPI_PACKED, w); MPI_Win_fence(0, w);
    if (me == 1) {{ {UNPACKED.replace("FROM", "there")} }} MPI_Win_fence(0, w);"""
    assert checked(moved) == ("robust", "hold")
    assert checked(moved.replace("c2 == 7", "c2 == 8"))[1] == "violated"


def test_a_position_must_be_known() -> None:
    with pytest.raises(SourceError, match="at a position that is not known here"):
        parse_c(text_of("int at = MPI_Wtime() > 1; MPI_Pack(&me, 1, MPI_INT, &n, 4, &at, MPI_COMM_WORLD);")).program(2)
