"""Checks on a cluster of two worker processes: what comes, in which order, whatever happens to one of them."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pgasrob.batch.cluster import ClusterError, client
from pgasrob.batch.cluster.client import check_on_cluster
from pgasrob.batch.job import Checked, Job, Task, tasks
from pgasrob.batch.side_by_side import convert_all
from pgasrob.cli import cli
from pgasrob.render.verdict_json import checked_to_json
from pgasrob.robustness import trace_parts as parts
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import EngineChoice, Resources
from pgasrob.robustness.reasons import Interruption, Reason, StateLimit, WorkerDied
from pgasrob.robustness.watch import Progress, unwatched
from tests.cli.commands import QUIET
from tests.support import check_all

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
ROOT = Path(__file__).parents[2]

FAKE = """
import os, signal, time
from pathlib import Path
from pgasrob.robustness.engine import InOnePart, WithoutFacts
from pgasrob.robustness.engines import ENGINES
from pgasrob.robustness import trace_parts as parts

parts.LARGE, parts.CHUNK = 2_000, 500
FOLDER = Path({folder!r})

def go_through(begin, part, tell, found=parts.go_through):
    (FOLDER / f"part.{{os.getppid()}}.{{os.getpid()}}").touch()
    if (FOLDER / "kill").exists():
        (FOLDER / "kill").unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        (FOLDER / "kill the worker").rename(FOLDER / f"lost.{{os.getppid()}}.{{os.getpid()}}")
    except FileNotFoundError:
        pass
    else:
        tell([])
        os.kill(os.getppid(), signal.SIGKILL)
    while (FOLDER / "stay").exists():
        time.sleep(0.01)
    return found(begin, part, tell)

parts.go_through = go_through

def slowly(going, effort, found=parts.Going.on):
    while going.given and (FOLDER / "meet").exists() and not list(FOLDER.glob("part.*")):
        time.sleep(0.01)
    time.sleep(0.005 * bool(going.given))
    return found(going, effort)

parts.Going.on = slowly

class Fake(WithoutFacts, InOnePart):
    \"\"\"An engine that does to its process or its worker what the name of the program says.\"\"\"

    states = transitions = 0
    doing = ""
    violation = gave_up = None

    def __init__(self, instance, settings):
        self.name = instance.program.name

    def run(self):
        if self.name != "fine":
            (FOLDER / f"{{self.name}}.{{os.getppid()}}.{{os.getpid()}}").touch()
        if self.name == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.name == "kills":
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(60)
        elif self.name == "raises":
            raise ValueError("something is wrong")
        while self.name == "waits" and not (FOLDER / "go").exists():
            time.sleep(0.01)
            self.states += 1
            yield
        yield

ENGINES["fake"] = Fake
"""
"""Every Python of the cluster reads this first, so that it is there in the processes in which checks run."""

CONTENDED = """program contended; nodes 4; memory x, y, z; register r, s; queue q;
process {
  r <- fetch_add(0, x, 1);
  s <- r;
  r <- fetch_add(1, x, r);
  r <- fetch_add(0, y, r);
  assert(r != 3);
}
"""
"""Many traces, and an assertion that fails in some."""
MANY_STATES = Limits(max_states=None)
RARE = "if (me != 0 || s == 3) { write(x, (me + 1) % nodes, z, q); r <- mem[z]; }"
"""A cycle through all ranks, when rank 0 came last."""


def told(checked: Checked) -> tuple[str, int | None, str, Reason | None]:
    return checked.file, checked.verdict.nodes, checked.verdict.verdict, checked.verdict.reason


FINE = ("fine.pgas", 2, "robust", None)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A cluster of two worker processes; ``folder`` is where the fake engine meets its test."""
    folder, modules = tmp_path_factory.mktemp("fake"), tmp_path_factory.mktemp("modules")
    (modules / "sitecustomize.py").write_text(FAKE.format(folder=str(folder)))
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
        env={"PYTHONPATH": f"{modules}{os.pathsep}{ROOT}"},
    ) as made:
        made.folder, made.modules = folder, modules
        yield made


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cluster: Any) -> Any:
    """The cluster, and programs for the fake engine in a folder that the workers are not in."""
    monkeypatch.chdir(tmp_path)
    for name in ("fine", "killed", "kills", "raises", "waits"):
        Path(f"{name}.pgas").write_text(f"program {name}; process {{ }}")
    for left in cluster.folder.iterdir():
        left.unlink()
    return cluster


def check_fakes(cluster: Any, *names: str, limits: Limits | None = None, watch: Any = unwatched) -> Iterator[Any]:
    resources = Resources(cluster=cluster.scheduler_address)
    job = Job((2,), engine=EngineChoice("fake"), limits=limits or Limits(timeout=600), resources=resources)
    return convert_all([f"{name}.pgas" for name in names], job, told, watch)


def at(address: str) -> Job:
    """Work for the cluster at ``address``."""
    return Job(resources=Resources(cluster=address))


def wait_for(found: Callable[[], Any]) -> Any:
    until = time.monotonic() + 300
    while not (what := found()):
        assert time.monotonic() < until, "it does not come"
        time.sleep(0.02)
    return what


def began(cluster: Any, name: str) -> list[tuple[int, int]]:
    """The processes that have begun with the program: of the worker, and of the check."""
    found = sorted(cluster.folder.glob(f"{name}.*"), key=lambda path: path.stat().st_mtime_ns)
    return [(int(path.suffixes[-2][1:]), int(path.suffixes[-1][1:])) for path in found]


def alive(process: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def on(cluster: Any, job: Job) -> Job:
    return replace(job, resources=replace(job.resources, cluster=cluster.scheduler_address))


def test_a_cluster_says_what_one_process_says(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order given; the workers see none of the files."""
    monkeypatch.chdir(tmp_path)
    for path in sorted((ROOT / "programs/one_to_one").glob("*.pgas")):
        Path(path.name).write_bytes(path.read_bytes())
    Path("no_utf8.pgas").write_bytes(b"// expect: error\n\xff")
    Path("none.pgas").write_text("process {")
    folder = Path("deep/er")
    folder.mkdir(parents=True)
    (folder / "mine.h").write_text('#define WAIT shmem_quiet()\r\n#include "../other.h"\r\n')
    Path("deep/other.h").write_text("extern long data;\n")
    (folder / "put.c").write_text("""// expect: robust
#include <shmem.h>
#define HEADER "mine.h"
#include HEADER
#ifdef ABSENT
#include "absent.h"
#endif
long data;
int main(void) {
  shmem_init();
  shmem_long_p(&data, 1, (shmem_my_pe() + 1) % shmem_n_pes());
  WAIT;
  shmem_barrier_all();
  return (int)data;
}
""")
    Path("absent.c").write_text('#include "absent.h"\n#include <shmem.h>\nint main(void) { absent(); }\n')
    files = [*sorted(map(str, tmp_path.rglob("*.pgas"))), "missing.pgas", "deep/er/put.c", "absent.c", "."]
    job = Job((2, 3), expect=True)
    alone = [checked_to_json(checked) for checked in check_all(files, job)]
    shared = list(check_on_cluster(tasks(files, job), on(cluster, job), checked_to_json))
    assert [{**result, "stats": None} for result in shared] == [{**result, "stats": None} for result in alone]
    assert {result["verdict"] for result in alone} == {"robust", "not robust", "error"}
    assert [result["verdict"] for result in alone if result["file"] == "deep/er/put.c"] == ["robust"] * 2


def test_the_job_of_a_killed_worker_is_done_again(fakes: Any) -> None:
    """All results come in their order, as if nothing had happened."""

    def kill() -> None:
        ((worker, _),) = wait_for(lambda: began(fakes, "waits"))
        os.kill(worker, signal.SIGKILL)
        wait_for(lambda: len(began(fakes, "waits")) == 2)
        (fakes.folder / "go").touch()

    killer = threading.Thread(target=kill)
    killer.start()
    found = list(check_fakes(fakes, "fine", "waits", *["fine"] * 4))
    killer.join()
    assert found == [FINE, ("waits.pgas", 2, "robust", None), *[FINE] * 4]
    (first, check), (second, _) = began(fakes, "waits")
    assert first != second
    wait_for(lambda: not alive(check))  # nobody wants to know any more


def test_a_job_that_kills_its_workers_ends_as_unknown(fakes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fakes.scheduler, "allowed_failures", 0)
    reason = WorkerDied("was lost with its worker, as often as the scheduler allows")
    assert list(check_fakes(fakes, "kills")) == [("kills.pgas", 2, "unknown", reason)]
    assert len(began(fakes, "kills")) == 1
    assert list(check_fakes(fakes, "fine")) == [FINE]


def test_a_check_that_dies_costs_one_result_and_no_worker(fakes: Any) -> None:
    reason = WorkerDied("was ended by SIGKILL, as happens when memory runs out")
    found = list(check_fakes(fakes, "fine", "killed", "fine"))
    assert found == [FINE, ("killed.pgas", 2, "unknown", reason), FINE]
    ((worker, _),) = began(fakes, "killed")
    assert alive(worker)


def test_a_large_exploration_is_handed_out_in_parts(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its results stand where they belong, and are those of one process, to the count of states; though a process dies
    that goes through a part."""
    monkeypatch.chdir(tmp_path)
    for left in cluster.folder.iterdir():
        left.unlink()
    for flag in ("kill", "meet"):
        (cluster.folder / flag).touch()
    monkeypatch.setattr(parts, "LARGE", 2_000)
    monkeypatch.setattr(parts, "CHUNK", 500)
    Path("many.pgas").write_text(CONTENDED)
    Path("broken.pgas").write_text(CONTENDED.replace("assert(r != 3);", RARE))
    Path("few.pgas").write_text("process { barrier; }")
    job = Job(engine=EngineChoice("traces"), limits=Limits(max_states=None))
    todo = tasks(["few.pgas", "many.pgas", "broken.pgas", "few.pgas"], job)
    alone = [checked_to_json(checked) for checked in check_all([task.file for task in todo], job)]
    read = client.read_source

    def read_and_edit(file: str, recorder: Any) -> str:
        """Whoever reads it again reads something else, in the middle of the job."""
        text = read(file, recorder)
        if file != "few.pgas":
            Path(file).write_text("process {")
        return text

    monkeypatch.setattr(client, "read_source", read_and_edit)
    shared = list(check_on_cluster(todo, on(cluster, job), checked_to_json))
    for result in (*shared, *alone):
        assert result["stats"]
        result["stats"]["seconds"] = 0
    assert shared == alone
    assert [result["verdict"] for result in shared] == ["robust", "robust", "not robust", "robust"]
    assert shared[1]["assertions"] == "violated"
    assert not (cluster.folder / "kill").exists() and began(cluster, "part")


@pytest.fixture
def divided(fakes: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The cluster, and a program whose check is divided soon, which shows that some assertion fails."""
    monkeypatch.setattr(parts, "LARGE", 2_000)
    monkeypatch.setattr(parts, "CHUNK", 500)
    Path("many.pgas").write_text(CONTENDED)
    (fakes.folder / "meet").touch()
    wait_for(lambda: len(fakes.scheduler.workers) == 2)  # one may have been lost
    return fakes


def check_divided(cluster: Any, limits: Limits = MANY_STATES, watch: Any = unwatched) -> Iterator[Any]:
    resources = Resources(cluster=cluster.scheduler_address)
    job = Job(engine=EngineChoice("traces"), limits=limits, resources=resources)
    return convert_all(["many.pgas"], job, told, watch)


@pytest.mark.nightly
def test_the_parts_of_a_lost_worker_are_gone_through_by_others(divided: Any) -> None:
    (divided.folder / "kill the worker").touch()
    assert list(check_divided(divided)) == [("many.pgas", 4, "robust", None)]
    ((lost, part),) = began(divided, "lost")
    assert not alive(lost)
    wait_for(lambda: not alive(part))


@pytest.mark.nightly
def test_what_ends_a_check_while_others_are_at_its_parts_ends_them(divided: Any) -> None:
    """Ctrl-C, and a limit of states that is reached here while they stay where they are."""
    (divided.folder / "stay").touch()

    @contextmanager
    def watch(title: str) -> Iterator[Any]:
        wait_for(lambda: began(divided, "part"))
        os.kill(os.getpid(), signal.SIGINT)
        yield None

    found: list[Any] = []
    with pytest.raises(KeyboardInterrupt):
        found.extend(check_divided(divided, watch=watch))
    assert found == [("many.pgas", 4, "unknown", Interruption())]
    at_work = began(divided, "part")
    wait_for(lambda: not any(alive(part) for _, part in at_work))
    limit = Limits(max_states=3_000)
    assert list(check_divided(divided, limit)) == [("many.pgas", 4, "unknown", StateLimit(3_000))]
    at_work = began(divided, "part")
    wait_for(lambda: not any(alive(part) for _, part in at_work))
    (divided.folder / "stay").unlink()
    assert list(check_divided(divided)) == [("many.pgas", 4, "robust", None)]


def test_an_internal_error_is_the_result_of_one_file(fakes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def copies(self: Any, file: str) -> Any:
        if file == "none.pgas":
            raise IndexError("here")
        return copying(self, file)

    copying = client._Jobs._copies
    monkeypatch.setattr(client._Jobs, "_copies", copies)
    found = list(check_fakes(fakes, "fine", "raises", "none", "fine"))
    assert [each[2] for each in found] == ["robust", "error", "error", "robust"]
    assert [str(each[3]) for each in found[1:3]] == [
        "internal error: ValueError: something is wrong", "internal error: IndexError: here",
    ]  # fmt: skip


def test_ctrl_c_ends_the_checks_and_tells_what_is_known(fakes: Any) -> None:
    """It comes when one check is at work and the other one has ended."""
    news: set[str] = set()

    @contextmanager
    def watch(title: str) -> Iterator[Any]:
        yield lambda progress: note(f"{progress.phase} {title}")
        note(f"end {title}")

    def note(what: str) -> None:
        news.add(what)
        if {"fake [1/2] waits.pgas, 2 nodes", "end [2/2] fine.pgas, 2 nodes"} <= news and "interrupted" not in news:
            news.add("interrupted")
            os.kill(os.getpid(), signal.SIGINT)

    found = []
    with pytest.raises(KeyboardInterrupt):
        found.extend(check_fakes(fakes, "waits", "fine", watch=watch))
    assert found == [("waits.pgas", 2, "unknown", Interruption()), FINE]
    ((worker, check),) = began(fakes, "waits")
    wait_for(lambda: not alive(check))
    assert alive(worker)
    assert list(check_fakes(fakes, "fine", "fine")) == [FINE] * 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_limits_hold_on_the_workers_and_progress_is_told(fakes: Any) -> None:
    titles: list[str] = []
    ended: list[str] = []
    seen: list[Progress] = []

    @contextmanager
    def watch(title: str) -> Iterator[Any]:
        titles.append(title)
        yield seen.append
        ended.append(title)

    found = list(check_fakes(fakes, "waits", "fine", limits=Limits(max_states=200), watch=watch))
    assert found == [("waits.pgas", 2, "unknown", StateLimit(200)), FINE]
    assert sorted(titles) == sorted(ended) == ["[1/2] waits.pgas, 2 nodes", "[2/2] fine.pgas, 2 nodes"]
    assert "fake" in {snapshot.phase for snapshot in seen}


def test_a_check_has_its_share_of_the_workers_memory(cluster: Any) -> None:
    """Unless the limits say what it has."""
    from distributed import Client

    from pgasrob.batch.cluster.child import Request
    from pgasrob.batch.cluster.worker import with_own_memory

    def limit(own: bool, threads: int) -> int | None:
        from distributed import get_worker

        job = Job(limits=Limits(memory=7), resources=Resources(worker_memory=own))
        request = Request(job, Task("", None, "", True), told)
        worker = get_worker()
        worker.state.nthreads, before = threads, worker.state.nthreads
        try:
            return with_own_memory(request, worker).job.limits.memory
        finally:
            worker.state.nthreads = before

    with Client(cluster.scheduler_address, set_as_default=False) as asking:
        assert asking.submit(limit, False, 1).result() == 7
        whole, half = (asking.submit(limit, True, threads).result() for threads in (1, 2))
    assert half == whole // 2 > 7


@pytest.mark.parametrize("other", [{"version": "0.0.9"}, {"sources": "0123456789ab"}, {"kernel": -1}])
def test_a_worker_with_another_pgasrob_is_refused(
    fakes: Any, monkeypatch: pytest.MonkeyPatch, other: dict[str, Any]
) -> None:
    mine = client.build()._replace(**other)
    monkeypatch.setattr(client, "build", lambda: mine)
    with pytest.raises(ClusterError, match=r"a worker has pgasrob .*, but here it is pgasrob .* on all machines"):
        list(check_fakes(fakes, "fine"))


def test_a_cluster_without_pgasrob_is_told_so(fakes: Any, tmp_path: Path) -> None:
    """And its scheduler and its worker outlive the job."""
    hides = "import sys; sys.modules['pgasrob'] = None; from distributed.cli.dask_{0} import main; main(sys.argv[1:])"

    def start(what: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", hides.format(what), *arguments, "--no-dashboard"]
        return subprocess.Popen(command, stderr=subprocess.DEVNULL)

    told_where = tmp_path / "scheduler.json"
    processes = [start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(told_where))]
    try:
        address = json.loads(wait_for(lambda: told_where.exists() and told_where.read_text()))["address"]
        processes.append(start("worker", address, "--no-nanny", "--nthreads", "1"))
        for _ in range(2):
            with pytest.raises(ClusterError, match="a worker has no pgasrob"):
                list(check_on_cluster([Task("fine.pgas", 2, "", True)], at(address), told))
        assert [process.poll() for process in processes] == [None, None]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_clusters_that_are_not_there(fakes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    patient = client.CONNECT
    monkeypatch.setattr(client, "CONNECT", 0.5)
    with pytest.raises(ClusterError, match=r"no Dask scheduler at tcp://127.0.0.1:1 .* starts one"):
        list(check_on_cluster([], at("tcp://127.0.0.1:1"), told))
    with pytest.raises(ClusterError, match="no Dask scheduler at nonsense://x"):
        list(check_on_cluster([], at("nonsense://x"), told))
    monkeypatch.setattr(client, "CONNECT", patient)
    worker = next(iter(fakes.scheduler.workers))
    with pytest.raises(ClusterError, match=r"no Dask scheduler at .* \(what is there is a Worker\)"):
        list(check_on_cluster([], at(worker), told))
    with pytest.raises(ClusterError, match=r"no Dask scheduler at tls://.* \(TLS expects.*takes certificates that"):
        list(check_on_cluster([], at(fakes.scheduler_address.replace("tcp", "tls")), told))
    monkeypatch.setattr(client, "CONNECT", 0.5)
    silence = pytest.raises(ClusterError, match=r"no Dask scheduler at .* \(TimeoutError\)")
    with socket.create_server(("127.0.0.1", 0)) as silent, silence:
        list(check_on_cluster([], at(f"tcp://127.0.0.1:{silent.getsockname()[1]}"), told))
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"pip install 'pgasrob\[cluster\]'"):
        list(check_fakes(fakes, "fine"))


def test_without_workers_nothing_waits_for_ever(fakes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """None at all; then one that is lost and has no successor, by a job that goes down with it; then no scheduler."""
    monkeypatch.setattr(client, "PATIENCE", 0.5)
    monkeypatch.setattr(client, "LOOK", 0.2)
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=logging.CRITICAL) as empty:
        with pytest.raises(ClusterError, match=r"has no workers; `dask worker tcp://.*` starts one"):
            list(check_fakes(empty, "fine"))
        environment = {**os.environ, "PYTHONPATH": f"{fakes.modules}{os.pathsep}{ROOT}"}
        command = [sys.executable, "-m", "distributed.cli.dask_worker", empty.scheduler_address, "--no-nanny"]
        worker = subprocess.Popen(
            [*command, "--nthreads", "1", "--no-dashboard"], env=environment, stderr=subprocess.DEVNULL
        )
        try:
            wait_for(lambda: empty.scheduler.workers)
            assert list(check_fakes(empty, "fine")) == [FINE]
            found = list(check_fakes(empty, "kills", "fine"))
        finally:
            worker.kill()
            worker.wait()
        lost = WorkerDied("is lost with all workers of the cluster")
        assert found == [("kills.pgas", 2, "unknown", lost), ("fine.pgas", 2, "unknown", lost)]


def test_the_command_line(fakes: Any) -> None:
    def run(*arguments: str) -> Any:
        return CliRunner().invoke(cli, ["check", *arguments])

    address = fakes.scheduler_address
    program = str(ROOT / "programs/one_to_one/one_to_one.pgas")
    shared = run(program, "--cluster", address, "-n", "2..3", "--witness", "{name}-{nodes}.json")
    assert (shared.exit_code, shared.stdout.count("not robust")) == (
        1,
        run(program, "-n", "2..3").stdout.count("not robust"),
    )
    assert sorted(path.name for path in Path().glob("*.json")) == ["one_to_one-2.json", "one_to_one-3.json"]
    as_json = run(program, "--cluster", address, "--format", "json", "--expect")
    assert as_json.exit_code == 0 and '"expected": "not robust"' in as_json.stdout
    refused = run(program, "--cluster", address, "--jobs", "2")
    assert refused.exit_code == 2 and "--jobs is for this machine" in refused.stderr
    refused = run(program, "--cluster", address, "--engine", "spin")
    assert refused.exit_code == 2 and "works on this machine alone" in refused.stderr
    for nowhere in ("nonsense://x", ""):
        refused = run(program, "--cluster", nowhere)
        assert refused.exit_code == 2 and f"no Dask scheduler at {nowhere}" in refused.stderr


# TLS

TLS = "DASK_DISTRIBUTED__COMM__TLS__"
"""How the manual has it that certificates are given."""


def certificate(folder: Path, name: str) -> tuple[str, str]:
    """The files of a certificate that is its own authority, and of its key."""
    cert, key = str(folder / f"{name}.pem"), str(folder / f"{name}.key")
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        ["openssl", "req", "-x509", *kind, "-keyout", key, "-out", cert, *names], capture_output=True, check=True
    )
    return cert, key


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
@pytest.mark.nightly
def test_a_scheduler_with_tls_answers_those_with_a_certificate_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cert, key = certificate(tmp_path, "own")
    other = certificate(tmp_path, "other")
    parties = {
        f"tls_{party}_{what}": file
        for party in ("scheduler", "worker", "client")
        for what, file in (("cert", cert), ("key", key))
    }
    secured = distributed.Security(tls_ca_file=cert, require_encryption=True, **parties)
    program = ROOT / "programs/one_to_one/one_to_one_wait.pgas"

    environment = {f"{TLS}CA_FILE": cert, f"{TLS}CLIENT__CERT": cert, f"{TLS}CLIENT__KEY": key}
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        dashboard_address=None,
        silence_logs=logging.CRITICAL,
        security=secured,
        protocol="tls",
        host="127.0.0.1",
        env={"PYTHONPATH": str(ROOT)},
    ) as made:
        address = made.scheduler_address
        assert address.startswith("tls://127.0.0.1:")
        answered = subprocess.run(
            [sys.executable, "-m", "pgasrob", "check", str(program), "--brief", "--cluster", address],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT), **environment}, capture_output=True, text=True,
            check=False, timeout=600,
        )  # fmt: skip
        assert (answered.returncode, answered.stderr) == (0, QUIET) and "robust on 2 nodes" in answered.stdout
        monkeypatch.setattr(client, "CONNECT", 1.0)
        refused = pytest.raises(
            ClusterError, match=r"no Dask scheduler at tls://.*takes certificates that the scheduler"
        )
        for authority, mine in ((cert, other), (other[0], (cert, key))):
            given = {"ca-file": authority, "client.cert": mine[0], "client.key": mine[1]}
            settings = {f"distributed.comm.tls.{name}": file for name, file in given.items()}
            with dask.config.set(settings), refused:  # as the variables set them
                list(check_on_cluster([], at(address), told))
        with pytest.raises(ClusterError, match="no Dask scheduler at tcp://"):
            list(check_on_cluster([], at(address.replace("tls", "tcp")), told))
