"""Many clients at once for `pgasrob serve`: `python -m tests.explore.serve_load --clients 50 --checks 1000`.

Each client has an address of this machine of its own, checks one program after the other, waits when it is asked to,
and compares each verdict with what the head of the program says.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import quantiles

import anyio
import httpx

ROOT = Path(__file__).parents[2]
FILES = (
    *("c/mpi/barrier_halo.c", "c/mpi/request_wait.c", "c/openshmem/message_passing_no_fence.c"),
    *("c/openshmem/message_passing_fence.c", "c/gaspi/gaspi_notify_other_queue.c", "one_to_one/one_to_one.pgas"),
    *("one_to_one/one_to_one_wait.pgas", "store_buffering/store_buffering.pgas", "dekker/dekker.pgas"),
)


@dataclass
class Counted:
    """What became of the checks: ``wrong`` ones, how long right ones took, how often a client was asked to wait, and
    the longest queue that one was in."""

    wrong: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    longest: int = 0


@contextmanager
def served(*options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server on a free port, and its address; it is ended with SIGTERM, which has to do."""
    command = [sys.executable, "-m", "pgasrob", "serve", "--port", "0", *options]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    assert started.stdout
    found = re.search(r"http://\S+", started.stdout.readline())
    assert found
    try:
        yield started, found[0].replace("0.0.0.0", "127.0.0.1")
        started.send_signal(signal.SIGTERM)
        _, said = started.communicate(timeout=30)
        assert (started.returncode, said) == (130, ""), f"exit code {started.returncode}, and it said: {said}"
    finally:
        started.kill()
        started.wait()


async def checks(address: str, clients: int, number: int, seed: int = 0) -> Counted:
    """Have so many ``clients`` make the ``number`` of checks."""
    texts = {name: (ROOT / "programs" / name).read_text() for name in FILES}
    expected = {
        name: "robust" if "not" not in re.findall("// expect: (.*)", text)[0] else "not-robust"
        for name, text in texts.items()
    }
    random, counted = Random(seed), Counted()
    todo = [random.choice(FILES) for _ in range(number)]

    async def one(client: int) -> None:
        transport = httpx.AsyncHTTPTransport(local_address=f"127.0.1.{client + 1}")
        async with httpx.AsyncClient(transport=transport, base_url=address, timeout=300) as asking:
            while todo:
                name, begun = todo.pop(), time.monotonic()
                body = {"text": texts[name], "language": "c" if name.endswith(".c") else "pgas", "columns": 80}
                while True:
                    answer = await asking.post("check", json=body)
                    *before, last = (json.loads(line) for line in answer.text.split("\n"))
                    counted.statuses[answer.status_code] += 1
                    counted.longest = max([counted.longest, *(each["before"] or 0 for each in before)])
                    if "wait" not in last:
                        break
                    await anyio.sleep(last["wait"])
                if last.get("kind") == expected[name]:
                    counted.seconds.append(time.monotonic() - begun)
                else:
                    counted.wrong.append(f"{name}: {last.get('headline') or last}")

    async with anyio.create_task_group() as tasks:
        for client in range(clients):
            tasks.start_soon(one, client)
    return counted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--checks", type=int, default=1_000)
    parser.add_argument("--server", default="", help="options of the server, in one text")
    given = parser.parse_args()
    with served(*given.server.split()) as (started, address):
        begun = time.monotonic()
        counted = anyio.run(checks, address, given.clients, given.checks)
        seconds = time.monotonic() - begun
        sizes = [
            int(re.findall(r"VmHWM:\s+(\d+)", Path(f"/proc/{child}/status").read_text())[0]) // 1024
            for child in Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
        ]
    parts = quantiles(counted.seconds, n=20)
    print(f"{len(counted.seconds)} right, {len(counted.wrong)} wrong {counted.wrong[:5]}; statuses {counted.statuses}")
    print(f"{seconds:.0f} s, {given.checks / seconds:.1f} a second; median {parts[9]:.1f} s, 95 % in {parts[18]:.1f} s")
    print(f"longest queue {counted.longest}; processes had at most {sizes} MB")


if __name__ == "__main__":
    main()
