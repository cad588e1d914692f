"""Datatypes, addresses, dynamic and shared windows, and collectives with blocks: verdicts derived by hand."""

from __future__ import annotations

import pytest

import pgasrob
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import parse_c
from pgasrob.frontends.options import FrontEnd
from pgasrob.robustness.verdict import Verdict

FRAME = """#include <assert.h>
#include <stdlib.h>
#include <mpi.h>
int a[4][4], b[4][4];
int main(int argc, char **argv) {{
    int me, n, v = 0, size, at[2] = {{0, 3}}, flag, result;
    MPI_Win w;
    MPI_Datatype t, u, s;
    MPI_Aint low, extent, place[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int i = 0; i < 16; i++) ((int *) b)[i] = 16 * me + i + 1;
    {}
    MPI_Finalize();
}}
"""
WINDOW = "MPI_Win_create(a, sizeof a, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w); MPI_Win_fence(0, w);"
PUT = "if (me == 0) MPI_Put({}, 1, t, 1, 0, 1, {}, w); MPI_Win_fence(0, w); if (me == 1) "


def checked(body: str, shared: str = "none") -> Verdict:
    options = FrontEnd(shared_memory=shared)
    return pgasrob.check(parse_c(FRAME.format(body), options=options), nodes=2)  # type: ignore[arg-type]


def put(make: str, claim: str, to: str = "t", source: str = "b") -> str:
    """A put of one item of the type that ``make`` makes, and what is then at its target."""
    return f"{make} MPI_Type_commit(&t); {WINDOW} {PUT.format(source, to)} assert({claim});"


SUB = (
    "int all[2] = {{4, 4}}, part[2] = {{2, 3}}, first[2] = {{1, 0}};"
    "MPI_Type_create_subarray(2, all, part, first, {}, {}"
)
PAIR = "struct { double value; int index; } in = {1.5 * (1 - me), me}, out;"

HOLDS = {
    "hvector": put("MPI_Type_create_hvector(2, 1, 16, MPI_INT, &t);",
                   "a[0][0] == 1 && a[1][0] == 5 && a[0][1] == 0"),
    "indexed_block": put("MPI_Type_create_indexed_block(2, 2, at, MPI_INT, &t);",
                         "a[0][1] == 2 && a[0][2] == 0 && a[0][3] == 4 && a[1][0] == 5"),
    "of bytes that do not lie together": put(
        "at[1] = 8; MPI_Type_create_indexed_block(2, 4, at, MPI_BYTE, &t);",
        "a[0][0] == 1 && a[0][1] == 0 && a[0][2] == 3"),
    "subarray": put(SUB.format("MPI_ORDER_C", "MPI_INT, &t);"),
                    "a[1][0] == 5 && a[2][2] == 11 && a[0][0] == 0 && a[1][3] == 0 && a[3][0] == 0"),
    "in the order of Fortran": put(SUB.format("MPI_ORDER_FORTRAN", "MPI_INT, &t);"),
                                   "a[0][1] == 2 && a[2][2] == 11 && a[0][0] == 0 && a[0][3] == 0 && a[3][1] == 0"),
    "struct": put("int one[2] = {1, 1}; MPI_Datatype kinds[2] = {MPI_INT, MPI_UNSIGNED}; place[0] = 4; place[1] = 12;"
                  "MPI_Type_create_struct(2, one, place, kinds, &t);",
                  "a[0][0] == 0 && a[0][1] == 2 && a[0][2] == 0 && a[0][3] == 4"),
    "resized and dup": put("MPI_Type_create_resized(MPI_INT, 0, 16, &u); MPI_Type_contiguous(2, u, &s);"
                           "MPI_Type_dup(s, &t);", "a[0][0] == 1 && a[1][0] == 5 && a[0][1] == 0"),
    "a lower bound that is not 0": put("int two[1] = {2}, one[1] = {1}; MPI_Type_indexed(1, one, two, MPI_INT, &u);"
                                       "MPI_Type_contiguous(2, u, &t);",
                                       "a[0][2] == 3 && a[0][3] == 4 && a[1][2] == 0"),
    "absolute addresses": put("int one[2] = {1, 1}; MPI_Get_address(&b[0][0], &place[0]);"
                              "MPI_Get_address(&b[2][1], &place[1]);"
                              "MPI_Type_create_hindexed(2, one, place, MPI_INT, &t);"
                              "MPI_Type_contiguous(2, MPI_INT, &u); MPI_Type_commit(&u);",
                              "a[0][0] == 1 && a[0][1] == 10", "u", "MPI_BOTTOM"),
    "what a type was made of": """int i, c, d; MPI_Datatype named = MPI_DOUBLE; MPI_Type_commit(&named);
        MPI_Type_get_envelope(named, &i, &c, &d, &flag); assert(i + c + d == 0 && flag == MPI_COMBINER_NAMED);
        assert(named == MPI_DOUBLE); MPI_Type_dup(MPI_DOUBLE, &t); assert(t != MPI_DOUBLE);""",
    **{
        f"what MPI_Type_{made} makes": f"""int one[3] = {{1, 1, 1}}, two[3] = {{2, 2, 2}}, no[3] = {{0, 0, 0}}, i, c, d;
        MPI_Aint bytes[3] = {{0, 8, 16}}; MPI_Datatype kinds[3] = {{MPI_INT, MPI_INT, MPI_CHAR}};
        MPI_Type_{made}({arguments}, &t); MPI_Type_commit(&t); MPI_Type_get_envelope(t, &i, &c, &d, &flag);
        assert(i == {numbers[0]}); assert(c == {numbers[1]}); assert(d == {numbers[2]});
        assert(flag == MPI_COMBINER_{made.removeprefix("create_").upper()});"""
        for made, arguments, *numbers in (  # the numbers of the table in 5.1.13
            ("dup", "MPI_INT", 0, 0, 1), ("contiguous", "3, MPI_INT", 1, 0, 1), ("vector", "3, 1, 2, MPI_INT", 3, 0, 1),
            ("create_hvector", "3, 1, 8, MPI_INT", 2, 1, 1), ("indexed", "3, one, two, MPI_INT", 7, 0, 1),
            ("create_hindexed", "3, one, bytes, MPI_INT", 4, 3, 1), ("create_struct", "3, one, bytes, kinds", 4, 3, 3),
            ("create_indexed_block", "3, 1, two, MPI_INT", 5, 0, 1), ("create_resized", "MPI_INT, 0, 8", 0, 2, 1),
            ("create_hindexed_block", "3, 1, bytes, MPI_INT", 2, 3, 1),
            ("create_subarray", "3, two, one, no, MPI_ORDER_C, MPI_INT", 11, 0, 1),
        )
    },
    "sizes and extents": SUB.format("MPI_ORDER_C", "MPI_INT, &t);") + """
        MPI_Type_size(t, &size); MPI_Type_get_extent(t, &low, &extent); assert(size == 24 && low == 0 && extent == 64);
        MPI_Type_get_true_extent(t, &low, &extent); assert(low == 16 && extent == 28);
        MPI_Type_size(MPI_DOUBLE_INT, &size); MPI_Type_extent(MPI_DOUBLE_INT, &extent);
        assert(size == 12 && extent == 16);""",
    "differences of addresses": """MPI_Get_address(&b[0][0], &place[0]); MPI_Get_address(&b[1][2], &place[1]);
        assert(place[1] - place[0] == 24 && MPI_Aint_diff(place[1], place[0]) == 24);
        assert(MPI_Aint_add(place[0], 24) == place[1]);""",
    "the least and where it is": PAIR + """MPI_Allreduce(&in, &out, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
        assert(out.value == 0 && out.index == 1);
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD); assert(out.index == 0);""",
    "the first of equal ones": "int in[2] = {7, 5 - me}, out[2];"
        "MPI_Allreduce(in, out, 1, MPI_2INT, MPI_MAXLOC, MPI_COMM_WORLD); assert(out[0] == 7 && out[1] == 4);",
    "blocks of different lengths": """int counts[2] = {1, 2}, from[2] = {0, 2}, all[4] = {0, 0, 0, 0};
        MPI_Gatherv(b, 1 + me, MPI_INT, all, counts, from, MPI_INT, 0, MPI_COMM_WORLD);
        if (me == 0) assert(all[0] == 1 && all[1] == 0 && all[2] == 17 && all[3] == 18);
        MPI_Scatterv(b, counts, from, MPI_INT, all, 1 + me, MPI_INT, 0, MPI_COMM_WORLD);
        assert(all[0] == (me ? 3 : 1)); if (me) assert(all[1] == 4);
        MPI_Allgatherv(b, 1 + me, MPI_INT, all, counts, from, MPI_INT, MPI_COMM_WORLD);
        assert(all[0] == 1 && all[2] == 17 && all[3] == 18);
        MPI_Reduce_scatter(b, all, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        assert(all[0] == (me ? 20 : 18));""",
    "groups": """MPI_Group world, turned, one; int order[2] = {1, 0}, found[2];
        MPI_Comm_group(MPI_COMM_WORLD, &world); MPI_Group_incl(world, 2, order, &turned);
        MPI_Group_translate_ranks(turned, 2, order, world, found); assert(found[0] == 0 && found[1] == 1);
        MPI_Group_compare(world, turned, &result); assert(result == MPI_SIMILAR);
        MPI_Group_incl(world, 1, order, &one); MPI_Group_difference(world, one, &turned);
        MPI_Group_size(turned, &size); assert(size == 1);""",
    "any tag is the one that is sent": """MPI_Status st; if (me) MPI_Send(&me, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
        else { MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
            assert(v == 1 && st.MPI_TAG == 7 && st.MPI_SOURCE == 1); }""",
    "some of several requests": WINDOW + """MPI_Request r[2]; int done = 0, got, which[2];
        for (int i = 0; i < 2; i++) MPI_Rput(&b[i], 1, MPI_INT, 1 - me, i, 1, MPI_INT, w, &r[i]);
        while (done < 2) { MPI_Waitsome(2, r, &got, which, MPI_STATUSES_IGNORE); assert(got > 0); done += got; }
        b[0][0] = 0; MPI_Waitsome(2, r, &got, which, MPI_STATUSES_IGNORE); assert(got == MPI_UNDEFINED);
        MPI_Win_fence(0, w); assert(a[0][0] == 16 * (1 - me) + 1 && a[0][1] == 16 * (1 - me) + 5);""",
    "no operation has no operand": WINDOW + """int old[2]; a[0][0] = 3; MPI_Win_fence(0, w);
        MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, old, 2, MPI_INT, me, 0, 2, MPI_INT, MPI_NO_OP, w);
        MPI_Win_fence(0, w); assert(old[0] == 3);""",
}  # fmt: skip


@pytest.mark.parametrize("case", HOLDS)
def test_what_is_claimed_holds(case: str) -> None:
    verdict = checked(HOLDS[case])
    assert verdict.verdict == "robust" and verdict.deadlock in (False, None) and verdict.assertions in ("hold", None)


DYNAMIC = """int *mine = malloc(8); mine[1] = 0; MPI_Aint address, all[2];
MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w);
MPI_Win_attach(w, mine, 8); MPI_Get_address(mine, &address);
MPI_Allgather(&address, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
MPI_Win_lock_all(0, w);
if (me == 0) {{ v = 5; MPI_Put(&v, 1, MPI_INT, 1, {}, 1, MPI_INT, w); {} }}
MPI_Barrier(MPI_COMM_WORLD); if (me == 1) assert(mine[1] == 5); MPI_Win_unlock_all(w);"""
SHARED = """MPI_Comm near; int *mine, *theirs;
MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, near, &mine, &w); MPI_Win_lock_all(0, w); *mine = 0;
MPI_Barrier(MPI_COMM_WORLD); MPI_Comm_size(near, &size);
if (size == 2) {{ MPI_Win_shared_query(w, 1 - me, &extent, &flag, &theirs); v = me + 1; {} MPI_Barrier(near);
    assert(*mine == 2 - me); }}
MPI_Win_unlock_all(w);"""
BY_PUT = "MPI_Put(&v, 1, MPI_INT, 1 - me, 0, 1, MPI_INT, w); "


ROW = """int *mine; MPI_Info info; MPI_Info_create(&info); {}
MPI_Win_allocate_shared(4 * (me + 1), 4, {}, MPI_COMM_WORLD, &mine, &w); MPI_Win_lock_all(0, w);
if (me == 0) {{{{ mine[0] = 1; mine[1] = 2; mine[2] = 3; }}}}
MPI_Win_sync(w); MPI_Barrier(MPI_COMM_WORLD); MPI_Win_sync(w);
if (me == 1) assert(mine[0] == 2 && mine[1] == 3 && mine[-1] == {}); MPI_Win_unlock_all(w);"""
NONCONTIG = 'MPI_Info_set(info, "alloc_shared_noncontig", "{}");'


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (ROW.format("", "MPI_INFO_NULL", 1), ("robust", "hold")),
        (ROW.format("", "MPI_INFO_NULL", 2), ("robust", "violated")),
        (ROW.format("", "info", 1), ("robust", "hold")),
        (ROW.format(NONCONTIG.format("false"), "info", 1), ("robust", "hold")),
        (ROW.format(NONCONTIG.format("true"), "info", 1), ("error", "unknown")),
        (ROW.format(NONCONTIG.format("true"), "MPI_INFO_NULL", 1), ("robust", "hold")),
        (ROW.format("", "MPI_INFO_NULL", 1).replace("mine[2] = 3", "mine[3] = 3"), ("error", "unknown")),  # beyond all
    ],
)
def test_parts_of_shared_windows_lie_in_a_row(body: str, expected: tuple[str, str]) -> None:
    """MPI-4.1, 12.2.3: unless alloc_shared_noncontig is set the memory of consecutive ranks is contiguous."""
    verdict = checked(body.replace("{{", "{").replace("}}", "}"), "all")
    assert (verdict.verdict, verdict.assertions) == expected, verdict


@pytest.mark.parametrize(
    ("body", "shared", "expected"),
    [
        (DYNAMIC.format("MPI_Aint_add(all[1], 4)", "MPI_Win_flush(1, w);"), "none", ("robust", "hold")),
        (DYNAMIC.format("all[1] + sizeof(int)", ""), "none", ("not robust", "hold")),
        (SHARED.format("*theirs = v;"), "all", ("robust", "hold")),
        (SHARED.format("*theirs = v + 1;"), "all", ("robust", "violated")),
        (SHARED.format(BY_PUT + "MPI_Win_flush(1 - me, w);"), "all", ("robust", "hold")),
        (SHARED.format(BY_PUT), "all", ("not robust", "hold")),
        (SHARED.format("*theirs = v + 1;"), "none", ("robust", None)),  # every rank is alone
    ],
)
def test_dynamic_and_shared_windows(body: str, shared: str, expected: tuple[str, str]) -> None:
    verdict = checked(body, shared)
    assert (verdict.verdict, verdict.assertions) == expected


OTHER = """MPI_Win x; MPI_Win_create(&v, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &x); MPI_Win_lock_all(0, x);
if (me == 0) {{ MPI_Put(&b[0][0], 1, MPI_INT, 1, 0, 1, MPI_INT, x); MPI_Win_flush(1, x); }}
MPI_Win_fence({}, w); if (me == 1) assert(v == 1); MPI_Win_unlock_all(x);"""
EPOCHS = """for (int i = 1; i < 6; i++) {{ a[0][0] = i; MPI_Win_fence(MPI_MODE_NOPRECEDE, w);
    {} MPI_Get(&v, 1, MPI_INT, 1 - me, 0, 1, MPI_INT, w); MPI_Win_fence({}, w); assert(v == i); }}"""
CREATE = "MPI_Win_create(a, sizeof a, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w);"


@pytest.mark.parametrize(
    ("body", "assertions", "deadlock"),
    [
        (OTHER.format("0"), "hold", False),
        (OTHER.format("MPI_MODE_NOPRECEDE"), "violated", None),
        (EPOCHS.format("", "MPI_MODE_NOSUCCEED"), "hold", False),
        (EPOCHS.format("MPI_Win_fence(MPI_MODE_NOPRECEDE, w);", "0"), "hold", False),
        ("if (me) MPI_Win_fence(MPI_MODE_NOPRECEDE, w); MPI_Barrier(MPI_COMM_WORLD);", None, True),
        ("MPI_Win_fence(me ? MPI_MODE_NOPRECEDE : 0, w);", None, True),
    ],
)
def test_a_fence_that_ends_no_epoch_is_no_barrier(body: str, assertions: str | None, deadlock: bool | None) -> None:
    """Who accesses a window waits for its owner's fence, and nobody else has to; all may."""
    verdict = checked(CREATE + body)
    assert (verdict.verdict, verdict.assertions) == ("robust", assertions)
    assert verdict.deadlock is deadlock or deadlock is None


def test_an_address_to_which_nothing_is_attached_is_a_fault() -> None:
    verdict = checked(DYNAMIC.format("all[1] + 8", "MPI_Win_flush(1, w);"))
    assert verdict.verdict == "error" and verdict.witness is not None and verdict.witness.fault is not None


ERRORS = {
    f"MPI_Type_contiguous(2, MPI_INT, &t); {WINDOW} {PUT.format('b', 't')};": "t is used by MPI_Put and has not been",
    f"t = MPI_INT; {WINDOW} if (me == 0) MPI_Get(b, 1, t, 1, 16, 1, t, w);":
        "accesses bytes 64 to 67 of the window w, which has 64 bytes there",
    f"t = MPI_CHAR; {WINDOW} if (me == 0) MPI_Put(b, 5, t, 1, 15, 5, t, w);": "accesses bytes 60 to 64 of the window w",
    "MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w); if (me) MPI_Put(b, 1, MPI_INT, 0, 64, 1, MPI_INT, w);":
        "accesses memory of the window w, that is not attached there",
    "int *p; MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w);": "which share no memory",
    f"{WINDOW} MPI_Accumulate(b, 1, MPI_2INT, 0, 0, 1, MPI_2INT, MPI_MINLOC, w);": "updates two elements at once",
    "MPI_Send(&v, 1, MPI_INT, 1 - me, 3, MPI_COMM_WORLD); MPI_Send(&v, 1, MPI_INT, 1 - me, 4, MPI_COMM_WORLD);"
    "MPI_Recv(&v, 1, MPI_INT, 1 - me, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);": "with the tags 3, 4",
    SUB.replace("{{1, 0}}", "{{3, 0}}").format("MPI_ORDER_C", "MPI_INT, &t);"): "the part has to lie in the whole",
}  # fmt: skip


@pytest.mark.parametrize("body", ERRORS)
def test_what_is_wrong_is_an_error(body: str) -> None:
    with pytest.raises(SourceError) as error:
        parse_c(FRAME.format(body)).program(2)
    assert ERRORS[body] in str(error.value)
