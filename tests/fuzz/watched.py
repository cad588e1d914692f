"""Runs inputs in processes that are watched, and says which of them broke something."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import IO, Any, NamedTuple

from pgasrob.cli.exit_codes import UNKNOWN
from tests.fuzz.kinds import MEMORY, ROOT, SECONDS

PATIENCE, LOOK = 120.0, 2.0
"""Seconds without an answer after which a process is ended: it may share its processor with many. So many are
waited for at a time, since there are machines that stand still for minutes."""
AT_MOST = 500
"""Inputs for one process: what it keeps of each must not add up."""
UNBOUNDED = 10.0
"""Seconds that a command may take that has no limit of its own."""
BROKEN = re.compile(r"Traceback \(most recent|internal error|panicked at|Segmentation|Fatal Python", re.IGNORECASE)

LATE = re.compile(r"[\d.]+ s of a processor|no answer after \d+ s")


class Broken(NamedTuple):
    """An input that broke something: its number, the command that got it, what happened, and the end of what the
    command wrote to its standard error."""

    kind: str
    number: int
    arguments: Sequence[str]
    what: str
    err: str = ""


@dataclass
class Tally:
    """How often each exit code was given, and the greatest time and memory."""

    codes: Counter[int] = field(default_factory=Counter)
    seconds: float = 0.0
    bytes: int = 0

    def __str__(self) -> str:
        codes = ", ".join(f"{count:,} of exit code {code}" for code, count in sorted(self.codes.items()))
        return f"{self.codes.total():,} inputs ({codes}); at most {self.seconds:.1f} s, {self.bytes / 1e6:.0f} MB"


@cache
def documented(command: str) -> frozenset[int]:
    """The exit codes in the help of a command; of one that lists none those of success, and errors."""
    from pgasrob.cli import command_named

    text = (command_named(command).epilog or "").partition("Exit code:")[2]
    return frozenset(map(int, re.findall(r"^  (\d+)  ", text, re.MULTILINE))) or frozenset((0, 2, 3))


def fuzz(
    kind: str, numbers: range, seed: int, folder: Path, keep: Path | None = None, tally: Tally | None = None
) -> Iterator[Broken]:
    """The inputs among ``numbers`` that broke something; ``keep``: a folder for them."""
    at = numbers.start
    while at < numbers.stop:
        here = folder / f"{kind}-{at}"
        here.mkdir(parents=True)
        for case, found in _results(kind, seed, range(at, min(numbers.stop, at + AT_MOST)), here):
            at = case["number"] + 1
            what = "; ".join(wrong(case["arguments"], found))
            for attempt in range(3):
                if not LATE.fullmatch(what):
                    break
                # Once more, alone: what else the machine does makes it slow, too.
                alone = folder / f"again-{attempt}-{case['number']}"
                alone.mkdir()
                ((_, found),) = _results(kind, seed, range(case["number"], case["number"] + 1), alone)
                what = "; ".join(wrong(case["arguments"], found))
            if tally is not None and "code" in found:
                tally.codes[found["code"]] += 1
                tally.seconds = max(tally.seconds, found["seconds"])
                tally.bytes = max(tally.bytes, found["bytes"])
            if what:
                if keep is not None:
                    _keep(here, keep / f"{kind}-{case['number']}")
                yield Broken(kind, case["number"], case["arguments"], what, found["err"][-1_500:])
        shutil.rmtree(here)


def _keep(folder: Path, into: Path) -> None:
    shutil.rmtree(into, ignore_errors=True)
    shutil.copytree(folder, into, ignore=shutil.ignore_patterns("*-wal", "*-shm", ".worker"))


def wrong(arguments: Sequence[str], found: dict[str, Any]) -> Iterator[str]:
    if "ended" in found:
        yield found["ended"]
        return
    if BROKEN.search(found["err"]) or BROKEN.search(found["out"]):
        yield "an internal error"
    codes = documented(arguments[0]) if arguments else {0}
    if found["code"] not in codes:
        yield f"exit code {found['code']}"
    alone = found.get("alone", found["code"])
    if alone != found["code"] and UNKNOWN not in (alone, found["code"]):
        yield f"exit code {alone} in a process of its own, and {found['code']} after others"
    limit = SECONDS if "--timeout" in arguments else UNBOUNDED
    if arguments[:1] == ["explain"]:
        limit *= 2  # the time is for the verdict, and again for all that follows
    if found["seconds"] > 2 * limit:
        yield f"{found['seconds']:.1f} s of a processor"
    if found["bytes"] > 2 * MEMORY:
        yield f"{found['bytes'] / 1e6:.0f} MB"
    if not found.get("as_before", True) and found["code"] != 2:
        yield "another result than without the file"


def _passed_on(out: IO[bytes], lines: Queue[bytes]) -> None:
    for line in out:
        lines.put(line)
    lines.put(b"")


def _next(lines: Queue[bytes]) -> bytes:
    for _ in range(round(PATIENCE / LOOK) - 1):
        with suppress(Empty):
            return lines.get(timeout=LOOK)
    return lines.get(timeout=LOOK)


def _results(kind: str, seed: int, numbers: range, folder: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Cases with what came of them, up to the first whose process ended."""
    command = [sys.executable, "-m", "tests.fuzz.worker", kind, str(seed), str(numbers.start), str(len(numbers))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0", "PYTHONFAULTHANDLER": "1"}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with (folder / ".worker").open("wb") as err:
        worker = subprocess.Popen(command, cwd=folder, env=environment, stderr=err, start_new_session=True, **pipes)
    assert worker.stdin is not None and worker.stdout is not None
    lines: Queue[bytes] = Queue()
    Thread(target=_passed_on, args=(worker.stdout, lines), daemon=True).start()
    case: dict[str, Any] | None = None
    late = False
    try:
        while line := _next(lines):
            if case is None:
                case = json.loads(line)
            else:
                yield case, json.loads(line)
                case = None
                worker.stdin.write(b"\n")
                worker.stdin.flush()
    except Empty:
        late = True
    finally:
        worker.kill()
        code = worker.wait()
    said = (folder / ".worker").read_text(errors="replace")
    if case is not None:
        ended = f"no answer after {PATIENCE:g} s" if late else f"the process ended with {code}"
        tail = (folder / ".stderr").read_text(errors="replace")[-1_500:]
        yield case, {"ended": ended, "err": tail + said[-1_000:]}
    elif late or code not in (0, -9):
        raise AssertionError(f"the samples of {kind} cannot be made: {said}")
