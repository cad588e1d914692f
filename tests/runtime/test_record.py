"""Programs are built to record, run, and their traces say what they did: calls, accesses, lines, also after a crash."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from pgasrob.recording.recorded_answers import check_trace
from pgasrob.runtime.interposed import declarations, functions
from pgasrob.runtime.record import build, mpi, openshmem, records, trace, trace_reader
from pgasrob.runtime.record.records import Access, Call, End, Kind, Operation
from pgasrob.runtime.record.trace_reader import Trace
from tests.runtime.recorded import PROGRAMS, built, pgasrob, told, traced
from tests.tools import needs

EXPECTED = Path(__file__).parent / "expected"
SOURCES = Path(records.__file__).parent
WHERE = "pgasrob: up to its last full record only: rank "

openshmem_is_there = needs("oshcc")
mpi_is_there = needs("mpicc")


@openshmem_is_there
def test_each_openshmem_call_is_recorded_once_with_its_operands(tmp_path: Path) -> None:
    path, said, code = traced(built("oshcc", PROGRAMS / "openshmem_calls.c", tmp_path), 2)
    assert code == 0, said
    assert told(path, 0) == (EXPECTED / "openshmem_calls.txt").read_text().splitlines()
    assert "2 ranks, 61 calls" in said


@mpi_is_there
def test_each_mpi_call_is_recorded_once_with_its_operands(tmp_path: Path) -> None:
    path, said, code = traced(built("mpicc", PROGRAMS / "mpi_calls.c", tmp_path), 2)
    assert code == 0, said
    assert told(path, 0) == (EXPECTED / "mpi_calls.txt").read_text().splitlines()
    assert "2 ranks, 102 calls" in said
    # The other end of the message of line 47, which took it from any sender under any tag.
    other = told(path, 1)
    received = other.index("48: MPI_Recv MPI_INT group=#5 rank=-1 tag=-1 address=taken bytes=4")
    assert other[received + 1] == "    -> 0 5 4"


@openshmem_is_there
def test_every_function_of_openshmem_is_described() -> None:
    found = functions(["oshcc"], "openshmem")
    unknown = {one.name for one in found if "pgasrob_not_known" in (openshmem.body(one) or "")}
    assert len(found) > 800 and unknown == {"shmemx_alltoall_global_nb"}


def test_functions_of_later_openshmem() -> None:
    """Open MPI 4 has those of 1.4 alone: of these the C is looked at and not run."""
    text = """
        void shmem_long_put_signal_nbi(long *dest, const long *source, size_t n, uint64_t *at, uint64_t v, int how,
            int pe);
        void shmem_long_atomic_fetch_add_nbi(long *fetch, long *dest, long value, int pe);
        uint64_t shmem_signal_wait_until(uint64_t *at, int cmp, uint64_t value);
        void shmem_long_wait_until_all(long *list, size_t n, const int *status, int cmp, long value);
        int shmem_team_my_pe(shmem_team_t team);
    """
    put, fetch, wait, several, silent = (openshmem.body(one) for one in declarations(text, ("shmem_",)))
    assert put is not None and fetch is not None and wait is not None and several is not None and silent is None
    assert (
        'pgasrob_transfer(OP_PUT_SIGNAL, CALL_NONBLOCKING, "shmem_long_put_signal_nbi", "long", HERE, 0, '
        "(struct side){dest, 1}, (struct side){source, 1}, sizeof *dest, n, pe, 0, "
        "(const word[]){(word)at, v, how == SHMEM_SIGNAL_SET ? UPDATE_SET : UPDATE_ADD});"
    ) in put
    assert 'pgasrob_atomic(0 | CALL_FETCHING | CALL_NONBLOCKING, "shmem_long_atomic_fetch_add_nbi", "long"' in fetch
    assert "dest, sizeof *dest, UPDATE_ADD, pgasrob_value(&value, sizeof value), 0, fetch, pe);" in fetch
    assert "pgasrob_wait(OP_WAIT_UNTIL" in wait and "return result;" in wait
    assert 'pgasrob_not_known("shmem_long_wait_until_all", "the function is not described", HERE);' in several


@mpi_is_there
def test_what_of_mpi_is_not_described_is_known() -> None:
    found = [one for one in functions(["mpicc"], "mpi") if not one.name.startswith("MPI_T_")]
    unknown = {one.name[4:] for one in found if '"the function is not described"' in (mpi.body(one) or "")}
    files = {name for name in unknown if re.fullmatch(r"File_i?(read|write)\w*", name)}
    neighbours = {name for name in unknown if re.fullmatch(r"I?[Nn]eighbor_\w+", name)}
    assert unknown - files - neighbours == {
        *("Comm_accept", "Comm_connect", "Comm_disconnect", "Comm_idup", "Comm_join", "Comm_spawn"),
        *("Comm_spawn_multiple", "Grequest_complete", "Grequest_start", "Improbe", "Imrecv", "Intercomm_create"),
        *("Intercomm_merge", "Mprobe", "Mrecv", "Pack", "Pack_external", "Reduce_local", "Sendrecv_replace", "Unpack"),
        *("Unpack_external", "Request_get_status"),
    }
    assert len(files) >= 20 and len(neighbours) == 10


def accesses_of_loops(n: int) -> list[tuple[str, int]]:
    """What ``loops.c`` loads and stores, by elements, up to its last two statements."""
    found = [("store", i) for i in range(n)]
    for i in range(1, n):
        found += [("load", i), ("load", 2 * i), ("store", i)]
    found += [("load", i) for i in reversed(range(n))]
    found += [("load", i * 7919 % n) for i in range(n)]
    for i in range(5):
        for j in range(n):
            found += [("load", j * 5 + i), ("store", i * n + j)]
    return found + [("store", i) for i in range(0, n, 3)]


@mpi_is_there
def test_runs_are_the_accesses_of_the_loops(tmp_path: Path) -> None:
    program = built("mpicc", PROGRAMS / "loops.c", tmp_path, "-O1")
    runs = 0
    for n in (1, 3, 8, 100):
        path, said, code = traced(program, 1, arguments=(str(n),))
        assert code == 0, said
        with Trace(path) as read:
            (log,) = read.logs()
            everything = [record for record in log if isinstance(record, Access)]
            (window,) = [record for record in log if isinstance(record, records.Region)]
            runs += sum(first & 0xFF == Kind.RUN for _, _, first, _ in log.spans())
            lines = read.lines()
        plain = [one for one in everything if one.kind in (Kind.LOAD, Kind.STORE)]
        assert [(one.kind.name.lower(), (one.address - window.address) // 4) for one in plain] == accesses_of_loops(n)
        assert {one.bytes for one in plain} == {4}
        assert {lines[one.place][1] for one in plain} <= {14, 15, 16, 17, 19, 21}
        copies = [(one.kind, one.address - window.address, one.bytes) for one in everything if one.kind > Kind.STORE]
        assert sorted(copies[:2]) == [(Kind.LOAD_RANGE, 0, 24), (Kind.STORE_RANGE, 24, 24)]
        assert copies[2:] == [(Kind.LOAD_RANGE, 48, 40), (Kind.STORE_RANGE, 40, 40)]
    assert runs > 15


@openshmem_is_there
def test_a_killed_program_leaves_what_it_did(tmp_path: Path) -> None:
    """More than one chunk, so that the last one is cut off in its middle."""
    program = built("oshcc", PROGRAMS / "killed.c", tmp_path)
    path, said, code = traced(program, 2, arguments=("5000",))
    assert code == 2 and "pgasrob: the program failed (exit code 137)" in said and f"{WHERE}0, 1\n" in said
    with Trace(path) as read:
        assert read.ended == trace.ENDED_BADLY and read.exit_code == 137
        killed = [record for log in read.logs() if log.rank == 1 for record in log]
        puts = [
            record.named()["value"] for record in killed if isinstance(record, Call) and record.function[-2:] == "_p"
        ]
        stores = [record.value for record in killed if isinstance(record, Access)]
        assert puts == stores == list(range(1, 5001))
        assert not any(isinstance(record, End) for record in killed)
        (waiting,) = [list(log)[-1] for log in read.logs() if log.rank == 0]
        assert isinstance(waiting, Call) and waiting.operation is Operation.COLLECTIVE
        del killed


@openshmem_is_there
def test_time_and_room_are_limited(tmp_path: Path) -> None:
    program = built("oshcc", PROGRAMS / "killed.c", tmp_path)
    for seconds in ("1.5", "30"):  # on a busy machine it may have hardly begun after the first, or not at all
        path, said, code = traced(program, 2, "--timeout", seconds, "--limit", "1M", arguments=("0",))
        if "the trace is full" in said:
            break
    assert code == 3 and f"pgasrob: the program was ended after {seconds} s" in said
    assert "the trace is full (`pgasrob record --limit` allows more)" in said
    assert "pgasrob: the trace was full before the program ended; --limit allows more" in said
    with Trace(path) as read:
        assert read.ended == trace_reader.ENDED_FULL and path.stat().st_size < 1_100_000
        puts = [
            record.named()["value"] for log in read.logs() for record in log
            if isinstance(record, Call) and record.operation is Operation.PUT
        ]  # fmt: skip
        assert len(puts) > 1000 and puts == list(range(1, len(puts) + 1))


@mpi_is_there
def test_the_program_goes_on_when_the_trace_is_full(tmp_path: Path) -> None:
    path, said, code = traced(built("mpicc", PROGRAMS / "full.c", tmp_path), 2, "--limit", "512K", "--timeout", "60")
    assert code == 3 and "pgasrob: the trace was full before the program ended" in said and "the program" in said
    assert "was ended" not in said and "failed" not in said
    with Trace(path) as read:
        stores = [record.value for log in read.logs() for record in log if isinstance(record, Access)]
    assert len(stores) > 1000 and stores == list(range(len(stores)))


@mpi_is_there
def test_the_program_goes_on_when_there_is_no_room_on_the_disk(tmp_path: Path) -> None:
    """As large as a file may be is the trace, up to its last full records, and the lines that fit in no more."""
    path, said, code = traced(built("mpicc", PROGRAMS / "large_files.c", tmp_path), 2)
    assert code == 3 and said.count("no room for the trace (File too large); the rest of the run is not recorded") == 2
    assert "pgasrob: recording stopped before the program ended" in said and "failed" not in said
    with Trace(path) as read:
        assert read.ended == trace_reader.ENDED_STOPPED and path.stat().st_size < 310_000
        for log in read.logs():
            stores = [record.value for record in log if isinstance(record, Access)]
            assert len(stores) > 1000 and stores == list(range(len(stores)))
    check = check_trace(str(path))
    assert (check.verdict, str(check.reason)) == (
        "unknown", "recording stopped before the program, and what came after is not known",
    )  # fmt: skip
    whole = path.read_bytes()
    path.write_bytes(whole[:40] + bytes(16) + whole[56 : int.from_bytes(whole[40:48], "little")])  # no appendix
    size = path.stat().st_size
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({size + 1000},) * 2)\n"
    script = f"from pathlib import Path\nfrom pgasrob.runtime.record.trace import finish\n{limited}"
    finished = subprocess.run(
        [sys.executable, "-B", "-c", f"{script}print(finish(Path({str(path)!r})).nameless)"],
        capture_output=True,
        text=True,
    )
    assert finished.stdout == "File too large\n", finished.stderr
    with Trace(path) as read:
        assert read.appendix is None and path.stat().st_size <= size and trace.look(read).accesses > 1000


@openshmem_is_there
def test_a_child_of_a_fork_is_not_recorded_and_it_is_said(tmp_path: Path) -> None:
    path, said, code = traced(built("oshcc", PROGRAMS / "forks.c", tmp_path), 2)
    assert code == 0 and said.count("pgasrob: rank 0 forks: what the child process does is not recorded\n") == 1
    assert "pgasrob: what a process that ranks forked did is not recorded\n" in said
    with Trace(path) as read:
        stores = [record.value for log in read.logs() for record in log if isinstance(record, Access)]
        assert stores == [1, 3] and read.forks == 1 and trace.look(read).ended == {0, 1}
    check = check_trace(str(path))
    assert check.verdict == "unknown" and "ranks forked" in str(check.reason)


@openshmem_is_there
def test_lines_of_a_file_with_blanks_in_its_path(tmp_path: Path) -> None:
    folder = tmp_path / "a b (discriminator 1)"
    folder.mkdir()
    source = folder / "no_fence.c"
    shutil.copy(Path(__file__).parents[2] / "programs/c/openshmem/message_passing_no_fence.c", source)
    path, said, code = traced(built("oshcc", source, tmp_path), 2)
    assert code == 0, said
    with Trace(path) as read:
        found = {(file, line) for file, line, _ in read.lines().values()}
    assert {(str(source), line) for line in (17, 21)} <= found and {file for file, _ in found} == {str(source)}


@mpi_is_there
def test_threads_are_told_and_freed_buffers_left_alone(tmp_path: Path) -> None:
    path, said, code = traced(built("mpicc", PROGRAMS / "threads.c", tmp_path, "-pthread"), 1)
    assert code == 0 and "pgasrob: more than one thread made accesses or calls" in said, said
    with Trace(path) as read:
        found = {log.thread: [one.value for one in log if isinstance(one, Access)] for log in read.logs()}
    assert found == {0: [7, 6], 1: [7]}  # 6: when it is freed, if not before, the value of the buffer is written


@mpi_is_there
def test_failed_polls_are_written_once(tmp_path: Path) -> None:
    program = built("mpicc", PROGRAMS / "polls.c", tmp_path)
    run = pgasrob("record", "-n", "2", "-o", tmp_path / "run.pgastrace", "--", program)
    assert run.returncode == 0 and int(run.stdout.split()[0]) > 2, run.stderr
    tests = "18: MPI_Test asked=1 waits=0"
    assert told(tmp_path / "run.pgastrace", 0)[2:-3] == [
        "16: MPI_Irecv MPI_INT flags=17 group=1 rank=1 tag=4 address=own bytes=4 request=#1",
        *(tests, "    ->"),
        *(tests, "    -> #1 1 4 4"),
    ]


@needs("mpifort")
def test_fortran(tmp_path: Path) -> None:
    path, said, code = traced(built("mpifort", PROGRAMS / "halo.f90", tmp_path), 2)
    assert code == 0, said
    lines = told(path, 0)
    (put,) = [line for line in lines if "MPI_Put" in line]
    assert put.startswith("16: MPI_Put MPI_DOUBLE_PRECISION flags=1 rank=1 remote=8 blocks=1 block=8")
    half = 4602678819172646912
    assert f"18: load shared_+8 8 = {half}" in lines and "19: load shared_+16 8 = 0" in lines


@needs("oshc++")
def test_cxx(tmp_path: Path) -> None:
    path, said, code = traced(built("oshc++", PROGRAMS / "counter.cpp", tmp_path), 2)
    assert code == 0, said
    lines = told(path, 0)
    added = "27: shmem_long_atomic_fetch_add long flags=2 rank=1 remote=heap+8 "
    assert [line for line in lines if "heap" in line] == [
        "    region 1: 1 heap+0 32 identity=0",
        "25: store heap+0 8 = 3", "25: store heap+8 8 = 3", "25: store heap+16 8 = 3", "25: store heap+24 8 = 3",
        next(line for line in lines if line.startswith(added)),
        "28: store atomic heap+0 8 = 3",
        "29: load_range heap+0 16", "29: store_range heap+16 16",
        "11: shmem_free address=heap+0",
    ]  # fmt: skip


def test_the_numbers_of_the_format_are_those_of_the_runtime() -> None:
    text = (SOURCES / "format.h").read_text()
    for prefix, of in (("KIND_", Kind), ("OP_", Operation)):
        numbers = {name: int(value, 0) for name, value in re.findall(rf"\b{prefix}(\w+) = (\w+)", text)}
        assert numbers == {one.name: one.value for one in of}
    assert set(records.OPERANDS) == set(Operation)
    assert f'"{trace_reader.MAGIC.decode()}"' in text and f"PGASROB_VERSION {trace_reader.VERSION}\n" in text
    manual = (SOURCES.parent / "FORMAT.md").read_text()
    rows = {int(number) for number in re.findall(r"^\| (\d+) \| [a-z]", manual, re.MULTILINE)}
    assert set(map(int, Operation)) <= rows


def test_what_is_missing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*arguments: str | Path) -> str:
        run = pgasrob(*arguments)
        assert run.returncode == 2 and "Traceback" not in run.stderr
        return run.stderr

    not_recording = str(Path(sys.executable).resolve())
    assert "does not record: build it with `pgasrob build -- oshcc ...`" in refused("record", "--", not_recording)
    assert "there is no program ./nothing" in refused("record", "--", "./nothing")
    assert "there is no oshpgas on the PATH (Debian" in refused("build", "--", "oshpgas", "x.c")
    assert "cat is no compiler wrapper of OpenSHMEM or MPI" in refused("build", "--", "cat", "x.c")
    with pytest.raises(records.TraceError, match="is no trace of `pgasrob record`"):
        Trace(Path(__file__))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "there is no mpicc on the PATH (Debian and Ubuntu: apt-get install openmpi-bin" in refused(
        "build", "--", "mpicc", "x.c"
    )


@mpi_is_there
def test_options_that_exclude_recording_are_refused() -> None:
    for option in ("-fsanitize=address", "-static"):
        run = pgasrob("build", "--", "mpicc", option, "x.c")
        assert run.returncode == 2 and f"{option} and recording exclude each other" in run.stderr


@mpi_is_there
def test_an_object_and_a_library_of_the_program_record_too(tmp_path: Path) -> None:
    """Compiled apart, and a shared library of the program's own, whose lines are its own."""
    (tmp_path / "part.c").write_text("void store(long *at) {\n    at[1] = 5;\n}\n")
    (tmp_path / "main.c").write_text(
        "#include <mpi.h>\nvoid store(long *at);\nint main(int c, char **v) {\n    MPI_Init(&c, &v);\n    long *a;\n"
        "    MPI_Win w;\n    MPI_Win_allocate(16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &a, &w);\n    a[0] = 4;\n"
        "    store(a);\n    MPI_Win_free(&w);\n    MPI_Finalize();\n}\n"
    )
    for arguments in (
        ("-c", tmp_path / "main.c", "-o", tmp_path / "main.o"),
        ("-shared", "-fPIC", tmp_path / "part.c", "-o", tmp_path / "libpart.so"),
        (tmp_path / "main.o", tmp_path / "libpart.so", "-o", tmp_path / "main"),
    ):
        made = pgasrob("build", "--", "mpicc", "-O2", *arguments)
        assert made.returncode == 0, made.stderr
    path, said, code = traced(tmp_path / "main", 1)
    assert code == 0, said
    with Trace(path) as read:
        lines = read.lines()
        (log,) = read.logs()
        found = [(record, lines[record.place]) for record in log if isinstance(record, Access)]
        assert [(Path(file).name, line, one.value) for one, (file, line, _) in found] == [
            ("main.c", 8, 4),
            ("part.c", 2, 5),
        ]


def test_the_options_of_the_program_need_no_dashes_before_them(tmp_path: Path) -> None:
    found = pgasrob("record", tmp_path / "absent", "--verbose", "-x")
    assert found.returncode == 2 and "there is no program" in found.stderr


@pytest.mark.parametrize("damage", ["a bit", "cut", "gone", "new", "no digests", "empty digests"])
def test_a_damaged_runtime_in_the_cache_is_compiled_again(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be linked into the program."""
    made: list[Path] = []

    def compile(c_compiler: str, library: str, sources: dict[str, str], into: Path) -> None:
        made.append(into)
        (into / "mark.o").write_bytes(b"one object")
        (into / "trace.o").write_bytes(b"another one")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(build, "generated", lambda *_: {})
    monkeypatch.setattr(build, "_compile", compile)
    kept = build.runtime("true", "mpi")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert build.runtime("true", "mpi") == kept and len(made) == 1
    files = {path.name: path.read_bytes() for path in kept.iterdir()}
    if damage == "new":
        (kept / "more.o").write_bytes(b"")
    elif damage in ("gone", "no digests"):
        (kept / ("trace.o" if damage == "gone" else build.DIGESTS)).unlink()
    elif damage == "empty digests":
        (kept / build.DIGESTS).write_bytes(b"")
    else:
        (kept / "mark.o").write_bytes({"a bit": b"ona object", "cut": b"one ob"}[damage])
    with pytest.warns(UserWarning, match=r"record-\w+ is damaged: the recording runtime is compiled again"):
        assert build.runtime("true", "mpi") == kept
    assert {path.name: path.read_bytes() for path in kept.iterdir()} == files and len(made) == 2
