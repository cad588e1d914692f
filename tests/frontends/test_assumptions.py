"""What the front end of C takes for granted is noted where it does so, with the line, and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from pgasrob.cli import cli
from pgasrob.frontends.lower import parse_c
from pgasrob.frontends.options import FrontEnd
from pgasrob.program.assumptions import Assumption, Kind
from pgasrob.program.statements import Line

SHMEM, MPI, GASPI, GASNET, ARMCI, GPI = "<shmem.h>", "<mpi.h>", "<GASPI.h>", "<gasnet.h>", "<armci.h>", "<GPI.h>"
EVERY_C = {kind for kind in Kind if kind.scope == "C"}
LINE = 12
"""The line in which the body of a program stands."""


@dataclass(frozen=True)
class Case:
    """``body`` needs the assumption, ``without`` does nearly the same and does not; ``also``: what both need else."""

    kind: Kind
    body: str
    without: str
    about: tuple[str, ...] = ()
    header: str = SHMEM
    also: frozenset[Kind] = frozenset()
    lines: tuple[int, ...] = (LINE,)


def program(body: str, header: str, main: str = "void") -> str:
    """A text whose ``body`` stands in line `LINE`."""
    includes = [
        f"#include {name}" for name in ("<assert.h>", "<signal.h>", "<stdio.h>", "<stdlib.h>", "<time.h>", header)
    ]
    text = [*includes, "static long x, y, pSync[9];" + " MPI_Win w;" * (header == MPI)]
    text += ["int compute(int);", "static void handler(void) {}", f"int main({main})", "{", body, "return 0; }"]
    assert text.index(body) == LINE - 1
    return "\n".join(text)


def assumed(
    body: str, header: str = SHMEM, main: str = "void", nodes: int = 2, **options: object
) -> dict[Kind, Assumption]:
    front_end = FrontEnd(pure=("compute",), **options)  # type: ignore[arg-type]
    found = parse_c(program(body, header, main), "test.c", front_end).program(nodes).assumptions
    assert len({each.kind for each in found}) == len(found)
    return {each.kind: each for each in found}


WINDOW = frozenset((Kind.CREATION_WAITS, Kind.UNIFIED_WINDOWS))
RANK = "gaspi_rank_t r; gaspi_proc_rank(&r);"
GRID = "MPI_Comm c; int dims[1] = {1};"
CREATE = "MPI_Win_create(&x, 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &w);"
TEAM = "SHMEM_TEAM_WORLD"
SEGMENT = "gaspi_segment_create(0, 64, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED);"
DMA = 'startGPI(0, 0, "", 64);'
CASES = [
    Case(Kind.UNKNOWN_VALUES, "x = rand();", "x = abs(-3);", ("rand() (0 to 2147483647)",)),
    Case(Kind.UNKNOWN_VALUES, "x = time(0);", "x = 1;", ("time() (from 0 on)",)),
    Case(
        Kind.UNKNOWN_MEMORY, "x = rand(); shmem_long_put(&y, &x, 1, 1);", "rand(); shmem_long_put(&y, &x, 1, 1);",
        ("x", "y"), also=frozenset((Kind.UNKNOWN_VALUES,)), lines=(),
    ),
    Case(Kind.PARTS, "shmem_long_p(&x, 1, 1); ((int *)&x)[1] = 2;", "shmem_long_p(&x, 1, 1); x = 2;", ("x",)),
    Case(Kind.ASSUMED_PURE, "x = compute(2);", "x = 2;", ("compute()",)),
    Case(Kind.SEPARATE_MEMORY, "long *p = shmem_ptr(&x, 1);", "long *p = &x;", ("shmem_ptr",)),
    Case(
        Kind.SEPARATE_MEMORY, "x = shmem_team_n_pes(SHMEM_TEAM_SHARED);", f"x = shmem_team_n_pes({TEAM});",
        ("SHMEM_TEAM_SHARED",),
    ),
    Case(
        Kind.SEPARATE_MEMORY,
        "MPI_Comm c; MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c);",
        "MPI_Comm c; MPI_Comm_dup(MPI_COMM_WORLD, &c);",
        ("MPI_Comm_split_type",), MPI, frozenset((Kind.NOT_SYNCHRONISING,)),
    ),
    Case(Kind.ATOMIC_TO_ALL, "shmem_long_atomic_add(&x, 1, 1);", "shmem_long_atomic_set(&x, 1, 1);",
         ("shmem_long_atomic_add",)),
    Case(Kind.ATOMIC_TO_ALL, "y = shmem_long_atomic_fetch_inc(&x, 1);", "y = shmem_long_g(&x, 1);",
         ("shmem_long_atomic_fetch_inc",)),
    Case(Kind.ATOMIC_TO_ALL, "shmem_long_p(&x, 1, 1); __sync_fetch_and_add(&x, 1);", "shmem_long_p(&x, 1, 1); x++;",
         ("__sync_fetch_and_add",)),
    Case(Kind.ATOMIC_TO_ALL, f"{CREATE} MPI_Fetch_and_op(&x, &y, MPI_LONG, 1, 0, MPI_REPLACE, w);",
         f"{CREATE} MPI_Fetch_and_op(&x, &y, MPI_LONG, 1, 0, MPI_NO_OP, w);", ("MPI_Fetch_and_op",), MPI, WINDOW),
    Case(Kind.EPOCHS_WAIT, f"{CREATE} MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w);", f"{CREATE} MPI_Win_lock_all(0, w);",
         ("MPI_Win_lock",), MPI, WINDOW),
    Case(Kind.EPOCHS_WAIT, f"{CREATE} MPI_Group g; MPI_Win_get_group(w, &g); MPI_Win_start(g, 0, w);",
         f"{CREATE} MPI_Group g; MPI_Win_get_group(w, &g); MPI_Win_post(g, 0, w);", ("MPI_Win_start",), MPI, WINDOW),
    Case(Kind.MODES_HOLD, f"{CREATE} MPI_Win_fence(MPI_MODE_NOSTORE, w);", f"{CREATE} MPI_Win_fence(0, w);",
         ("MPI_Win_fence",), MPI, WINDOW | {Kind.FENCE_BARRIER}),
    Case(Kind.FENCE_BARRIER, f"{CREATE} MPI_Win_fence(0, w);", f"{CREATE} MPI_Barrier(MPI_COMM_WORLD);", (), MPI,
         WINDOW),
    Case(Kind.UNIFIED_WINDOWS, CREATE, "MPI_Comm c; MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &c);", (), MPI,
         frozenset((Kind.CREATION_WAITS,))),
    Case(Kind.WINDOW_SYNC, "int *p; MPI_Win_allocate_shared(8, 8, MPI_INFO_NULL, MPI_COMM_SELF, &p, &w);",
         "int *p; MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_SELF, &p, &w); MPI_Comm c;"
         "MPI_Comm_split_type(MPI_COMM_SELF, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c);",
         ("MPI_Win_allocate_shared",), MPI, WINDOW | {Kind.ALLOCATION, Kind.SEPARATE_MEMORY}),
    Case(Kind.BUFFERED_SENDS, "MPI_Send(&x, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD);",
         "MPI_Ssend(&x, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD);", ("MPI_Send",), MPI),
    Case(Kind.NOT_SYNCHRONISING, "MPI_Bcast(&x, 1, MPI_LONG, 0, MPI_COMM_WORLD);",
         "MPI_Bcast(&x, 1, MPI_LONG, 0, MPI_COMM_SELF);", ("MPI_Bcast",), MPI),
    Case(Kind.THREADS_INDEPENDENT, "x = omp_get_num_threads();", "x = 1;", ("omp_get_num_threads()",), MPI),
    Case(Kind.BOUNDED_LEAD, "while (rand()) MPI_Bcast(&x, 1, MPI_LONG, 0, MPI_COMM_WORLD);",
         "for (int i = 0; i < 60; i++) MPI_Bcast(&x, 1, MPI_LONG, 0, MPI_COMM_WORLD); (void)rand();",
         ("MPI_Bcast",), MPI, frozenset((Kind.UNKNOWN_VALUES, Kind.NOT_SYNCHRONISING))),
    Case(Kind.CREATION_WAITS, "MPI_Comm c; MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &c);",
         "MPI_Comm c; MPI_Comm_dup(MPI_COMM_SELF, &c);", ("MPI_Comm_split",), MPI),
    Case(Kind.CREATION_WAITS, "void *all[2]; ARMCI_Malloc(all, 8);", "void *own = ARMCI_Malloc_local(8);",
         ("ARMCI_Malloc",), ARMCI, frozenset((Kind.ALLOCATION,))),
    Case(Kind.SAME_ADDRESSES, "gasnet_put(1 - gasnet_mynode(), &x, &y, 8);", "gasnet_put(gasnet_mynode(), &x, &y, 8);",
         (), GASNET),
    Case(Kind.WORK_ARRAYS, "shmem_barrier(0, 0, 2, pSync);", f"shmem_team_sync({TEAM});", ("shmem_barrier",)),
    Case(Kind.NOT_CALLED, "atexit(handler);", "handler();", ("atexit",)),
    Case(Kind.NOT_CALLED, "signal(SIGINT, handler);", "", ("signal",)),
    Case(Kind.FIXED_ANSWERS, "int v, s; MPI_Get_version(&v, &s);", "int v; MPI_Comm_size(MPI_COMM_WORLD, &v);",
         ("MPI_Get_version",), MPI),
    Case(Kind.FIXED_ANSWERS, "gaspi_number_t n; gaspi_queue_size_max(&n);", "gaspi_rank_t n; gaspi_proc_num(&n);",
         ("gaspi_queue_size_max",), GASPI),
    Case(Kind.FIXED_ANSWERS, "x = getpagesize();", "x = 4096;", ("getpagesize",)),
    Case(Kind.UNKNOWN_VALUES, "x = getpid();", "x = shmem_my_pe();", ("getpid()",)),
    Case(Kind.FIXED_ANSWERS, "gaspi_queue_id_t q; gaspi_queue_create(&q, GASPI_BLOCK);",
         "gaspi_group_t g; gaspi_group_create(&g);", ("gaspi_queue_create",), GASPI),
    Case(Kind.FIXED_ANSWERS, "x = waitDmaGPI(GPIQueue0);", "x = getRankGPI();", ("waitDmaGPI",), GPI),
    Case(Kind.FIXED_ANSWERS, "x = openDMARequestsGPI(GPIQueue0);", "x = getNodeCountGPI();",
         ("openDMARequestsGPI",), GPI),
    Case(Kind.QUEUE_ROOM, f"{SEGMENT} gaspi_write(0, 0, 0, 0, 8, 8, 0, GASPI_BLOCK);", SEGMENT, ("gaspi_write",), GASPI,
         frozenset((Kind.ALLOCATION,))),
    Case(Kind.QUEUE_ROOM, f"{SEGMENT} gaspi_notify(0, 0, 0, 1, 0, GASPI_BLOCK);", SEGMENT, ("gaspi_notify",), GASPI,
         frozenset((Kind.ALLOCATION,))),
    Case(Kind.QUEUE_ROOM, f"{DMA} writeDmaGPI(0, 8, 8, 0, GPIQueue0);", DMA, ("writeDmaGPI",), GPI,
         frozenset((Kind.ALLOCATION,))),
    Case(Kind.RANKS_KEPT, f"{GRID} MPI_Cart_create(MPI_COMM_WORLD, 1, dims, dims, 1, &c);",
         f"{GRID} MPI_Cart_create(MPI_COMM_WORLD, 1, dims, dims, 0, &c);", ("MPI_Cart_create",), MPI,
         frozenset((Kind.NOT_SYNCHRONISING,))),
    Case(Kind.THREAD_LEVEL, "int level; shmem_init_thread(SHMEM_THREAD_SINGLE, &level);", "shmem_init();",
         ("shmem_init_thread",)),
    Case(Kind.HINTS, "shmem_ctx_t c; shmem_ctx_create(SHMEM_CTX_NOSTORE, &c);",
         "shmem_ctx_t c; shmem_ctx_create(0, &c);", ("shmem_ctx_create",)),
    Case(Kind.HINTS, 'MPI_Info i; MPI_Info_create(&i); MPI_Info_set(i, "no_locks", "true");',
         "MPI_Info i; MPI_Info_create(&i);", ("MPI_Info_set",), MPI),
    Case(Kind.HINTS, "MPI_Pcontrol(1);", "", ("MPI_Pcontrol",), MPI),
    Case(Kind.HINTS, "shmem_pcontrol(1);", "shmem_init();", ("shmem_pcontrol",)),
    Case(Kind.HINTS, f"shmem_team_config_t k; shmem_team_t t; shmem_team_split_strided({TEAM}, 0, 1, 2, &k, 1, &t);",
         f"shmem_team_t t; shmem_team_split_strided({TEAM}, 0, 1, 2, 0, 0, &t);", ("shmem_team_split_strided",),
         also=frozenset((Kind.NOT_SYNCHRONISING,))),
    Case(Kind.HINTS, "gaspi_config_t k; gaspi_config_set(k);", "gaspi_proc_init(GASPI_BLOCK);", ("gaspi_config_set",),
         GASPI),
    Case(Kind.HINTS, "ARMCI_Set_shm_limit(1);", "ARMCI_Init();", ("ARMCI_Set_shm_limit",), ARMCI),
    Case(Kind.HINTS, "gasnet_set_waitmode(GASNET_WAIT_BLOCK);", "gasnet_AMPoll();", ("gasnet_set_waitmode",), GASNET),
    Case(Kind.ARGUMENTS, 'x = getopt(0, 0, "n:");', "x = -1;", ()),
    Case(Kind.ENVIRONMENT, 'x = getenv("N") != 0;', "x = 0;", ()),
    Case(Kind.ENDS_ALL_RANKS, "shmem_global_exit(1);", "exit(1);", ("shmem_global_exit",)),
    Case(Kind.KILLED_RANK, f"{RANK} gaspi_proc_kill(1 - r, GASPI_BLOCK);", f"{RANK} gaspi_proc_kill(r, GASPI_BLOCK);",
         ("gaspi_proc_kill",), GASPI),
    Case(Kind.ASSERT_GOES_ON, "shmem_long_p(&x, 1, 1); assert(x);", "shmem_long_p(&x, 1, 1); assert(1);", ()),
    Case(Kind.FREED_MEMORY, "free(malloc(8));", "malloc(8);", ("free",), also=frozenset((Kind.ALLOCATION,))),
    Case(Kind.FREED_MEMORY, "shmem_free(shmem_malloc(8));", "shmem_malloc(8);", ("shmem_free",),
         also=frozenset((Kind.ALLOCATION,))),
    Case(Kind.ALLOCATION, "long *p = shmem_malloc(8);", "long *p = shmem_malloc(0);", ("shmem_malloc",)),
    Case(Kind.NO_EFFECT, 'printf("%d", 1);', "abs(1);", ("printf",)),
    Case(Kind.NO_EFFECT, "shmem_udcflush();", "", ("shmem_udcflush",)),
    Case(Kind.NO_EFFECT, "gaspi_statistic_verbosity_level(1);", "", ("gaspi_statistic_verbosity_level",), GASPI),
    Case(Kind.UNKNOWN_VALUES, "unsigned long v; gaspi_statistic_counter_get(0, 0, &v);", "unsigned long v = 0;",
         ("gaspi_statistic_counter_get() (from 0 on)",), GASPI),
    Case(Kind.BUFFERED_SENDS, "armci_msg_snd(1, &x, 8, 0);", "", ("armci_msg_snd",), ARMCI),
    Case(Kind.SEPARATE_MEMORY, "x = ARMCI_Same_node(1);", "x = armci_msg_nproc();", ("ARMCI_Same_node",), ARMCI),
    Case(Kind.SEPARATE_MEMORY, "gaspi_rank_t n; gaspi_proc_local_num(&n);", "gaspi_rank_t n; gaspi_proc_num(&n);",
         ("gaspi_proc_local_num",), GASPI),
]  # fmt: skip
ELSEWHERE = {
    Kind.UNREAD_HEADERS, Kind.UNREAD_FUNCTIONS, Kind.REDUCTION_ORDER, Kind.SAME_RANKS, Kind.SHARED_MEMORY,
    Kind.OUTPUT_ORDER, Kind.MODEL_CHECKER, Kind.WAITING_ALIKE, Kind.THREADS_COMPLETE, Kind.THREADS_SERIALIZED,
    Kind.GUIDED_CHUNKS, Kind.TASKS_AT_ONCE, Kind.WAITS,
}  # fmt: skip
"""Those that no call needs by itself."""


def test_every_kind_that_a_construct_needs_has_a_program() -> None:
    assert {case.kind for case in CASES} | ELSEWHERE == {kind for kind in Kind if kind.scope == "construct"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind.value}: {case.body[-30:]}")
def test_a_construct_needs_it_and_what_is_like_it_does_not(case: Case) -> None:
    found = assumed(case.body, case.header)
    assert found.keys() == EVERY_C | case.also | {case.kind}
    assert found[case.kind] == Assumption(case.kind, case.about, case.lines)
    assert assumed(case.without, case.header).keys() == EVERY_C | case.also


def test_a_program_without_an_api_promises_nothing_about_calls() -> None:
    assert assumed("x = 1;", "<stddef.h>").keys() == EVERY_C - {Kind.SPECIFICATION, Kind.CALLS_ALLOWED}


@pytest.mark.parametrize(
    ("body", "header"),
    [
        (f"{CREATE} void *base; int flag; MPI_Win_get_attr(w, MPI_WIN_SIZE, &base, &flag);", MPI),
        ("armci_msg_bcast(&x, 8, 0);", ARMCI),
        ("shmem_set_lock(&x);", SHMEM),
    ],
)
def test_what_the_front_end_keeps_for_itself_is_not_asked_for(body: str, header: str) -> None:
    assert Kind.ALLOCATION not in assumed(body, header)


def test_names_and_lines_of_all_places_are_there() -> None:
    found = assumed('x = rand();\nif (x) printf("%d", 1);\nputs(""); y = rand();')
    assert found[Kind.NO_EFFECT] == Assumption(Kind.NO_EFFECT, ("printf", "puts"), (LINE + 1, LINE + 2))
    assert found[Kind.UNKNOWN_VALUES].lines == (LINE, LINE + 2)


def test_what_is_never_called_needs_nothing() -> None:
    assert assumed("if (0) x = rand();").keys() == EVERY_C


def test_only_the_last_pass_over_the_program_counts() -> None:
    """The first pass does not know yet that every rank has taken part, so that something else happens there."""
    text = "MPI_Comm c; MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &c); int n; MPI_Comm_size(c, &n); if (n < 2) x = rand();"
    assert Kind.UNKNOWN_VALUES not in assumed(text, MPI)


def test_parameters_of_main() -> None:
    assert assumed("", main="int argc, char **argv")[Kind.ARGUMENTS] == Assumption(Kind.ARGUMENTS)


def test_headers_that_are_not_read() -> None:
    found = assumed("", "<numa.h>")[Kind.UNREAD_HEADERS]
    assert found == Assumption(Kind.UNREAD_HEADERS, ("<numa.h>",), (6,))


def test_what_a_header_rests_on_has_its_line_there(tmp_path: Path) -> None:
    (tmp_path / "mine.h").write_text("\n\n#include <numa.h>\n")
    text = '#include <shmem.h>\n#include "mine.h"\nint main(void) { return 0; }\n'
    found = {each.kind: each for each in parse_c(text, str(tmp_path / "test.c")).program(2).assumptions}
    line = Line(3, str(tmp_path / "mine.h"), "mine.h")
    assert found[Kind.UNREAD_HEADERS] == Assumption(Kind.UNREAD_HEADERS, ("<numa.h>",), (line,))


def test_macros_of_the_command_line() -> None:
    assert assumed("")[Kind.SIZES].about == ()
    assert assumed("", defines=(("N", "4"), ("FAST", "1")))[Kind.SIZES].about == ("-D N=4", "-D FAST=1")


def test_specifications_and_dialects() -> None:
    assert assumed("", GASPI)[Kind.SPECIFICATION].about == ("GASPI 17.1",)
    assert assumed("", GASPI, dialects=("gaspi-1.01",))[Kind.SPECIFICATION].about == ("GASPI 1.01",)
    assert assumed("", dialects=("gaspi-1.01",))[Kind.SPECIFICATION].about == ("OpenSHMEM 1.5",)


def test_the_order_of_floating_point_sums() -> None:
    """Of three it matters which are added first, of two it does not, nor of integers, nor of a maximum."""

    def reduced(type: str, operation: str, nodes: int) -> Assumption | None:
        text = f"static {type} s, d; shmem_{type}_{operation}_reduce({TEAM}, &d, &s, 1);"
        return assumed(text, nodes=nodes).get(Kind.REDUCTION_ORDER)

    assert reduced("double", "sum", 3) == Assumption(Kind.REDUCTION_ORDER, ("shmem_double_sum_reduce",), (LINE,))
    assert reduced("float", "prod", 3) is not None
    others = [("double", "sum", 2), ("long", "sum", 3), ("double", "max", 3)]
    assert not any(reduced(*each) for each in others)


def test_several_apis() -> None:
    assert Kind.SAME_RANKS not in assumed("", MPI)
    text = "#include <mpi.h>\n#include <shmem.h>\nint main(void) { return 0; }\n"
    both = {each.kind: each for each in parse_c(text, "test.c").program(2).assumptions}
    assert both[Kind.SAME_RANKS].about == ("MPI 4.0", "OpenSHMEM 1.5")


def test_every_api_names_what_it_is_read_off() -> None:
    from pgasrob.frontends.apis.registry import API_MODULES, api_of

    for header in API_MODULES:
        api = api_of(header)
        assert api is not None and api.specifications[""]


def test_a_generated_header_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "x.c").write_text('#include "config.h"\n#include <shmem.h>\nint main(void) { return 0; }\n')
    file = str(tmp_path / "x.c")
    result = CliRunner().invoke(cli, ["check", "--define-missing-config", "--assumptions", file])
    assert "the text does not depend on macros of <config.h>" in " ".join(result.output.split())
    assert CliRunner().invoke(cli, ["check", file]).exit_code == 2
    found = parse_c(Path(file).read_text(), file, FrontEnd(empty_configs=True)).program(2).assumptions
    assert [each.lines for each in found if each.kind is Kind.UNREAD_HEADERS] == [(1,)]
