"""SPIN as a yardstick: builds `pan` from an exported model, runs it and reads what it says of itself.

The model and the options are those of the engine `spin` (:mod:`pgasrob.robustness.spin`), but `pan` is timed without
`spin -a` and without the compiler.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.bench.processes import Process, run

DEPTH, MOST_DEPTH = 100_000, 100_000_000
"""The depth of the search stack, and how far it is made ten times as deep when it was too small."""
STATE_BYTES = 1_024
"""The size of a state that SPIN is prepared for unless told otherwise."""
MEGABYTE = 1 << 20


class NoSpin(Exception):
    """Why there is nothing to compare with."""


@dataclass(frozen=True, slots=True)
class Account:
    """What `pan` says of its search.

    ``vector`` is the state vector in bytes, before its compression. ``memory`` are the bytes for states, compressed and
    with their list elements, and those of the hash table, which grows; the search stack is left out.
    """

    seconds: float
    states: int
    transitions: int
    errors: int
    complete: bool
    vector: int
    memory: float

    @property
    def stored(self) -> float:
        """Bytes per stored state."""
        return self.memory / max(self.states, 1)


def options() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the compiler and `pan` are given."""
    try:
        from pgasrob.robustness.spin import COMPILE, SEARCH
    except ImportError:
        raise NoSpin("there is no export to Promela") from None
    return COMPILE, SEARCH


def build(program: Path, nodes: int, folder: Path, memory_limit: int) -> Path:
    """The model checker of ``program`` on ``nodes`` nodes, made in ``folder``."""
    flags = [*options()[0], f"-DMEMLIM={memory_limit >> 20}"]
    spin, cc = shutil.which("spin"), shutil.which("cc")
    if not spin or not cc:
        raise NoSpin("spin or cc is not installed")
    root = Path(__file__).parents[2]
    model = run([sys.executable, "-m", "tests.bench.worker", str(program), str(nodes), "--model"], folder=root)
    if model.code:
        raise NoSpin(f"export: {_last(model.errors)}")
    told = json.loads(model.output)
    (folder / "model.pml").write_text(told["text"], encoding="utf-8")
    if told["bytes"] > STATE_BYTES:
        flags.append(f"-DVECTORSZ={told['bytes']}")
    for command in ((spin, f"-P{cc} -E -x c", "-a", "model.pml"), (cc, *flags, "-o", "pan", "pan.c")):
        made = run(command, folder=folder)
        if made.code:
            raise NoSpin(f"{Path(command[0]).name}: {_last(made.errors or made.output)}")
    return folder / "pan"


def check(pan: Path, time_limit: float) -> tuple[Process, Account]:
    """Run `pan`, with a deeper stack where it asks for one."""
    depth = DEPTH
    while True:
        process = run((str(pan), *options()[1], f"-m{depth}"), time_limit, folder=pan.parent)
        if "max search depth" not in process.output or depth >= MOST_DEPTH:
            return process, read(process.output)
        depth *= 10


def read(text: str) -> Account:
    """What a run of `pan` printed, be it to the end or until it was interrupted."""
    return Account(
        seconds=_number(r"elapsed time ([\d.e+]+) seconds", text),
        states=int(_number(r"([\d.e+]+) states, stored", text)),
        transitions=int(_number(r"([\d.e+]+) transitions", text)),
        errors=int(_number(r"errors: (\d+)", text)),
        complete="not completed" not in text and "max search depth" not in text,
        vector=int(_number(r"State-vector (\d+) byte", text)),
        memory=MEGABYTE * _number(r"([\d.]+)\s+actual memory usage for states", text)
        + MEGABYTE * _number(r"([\d.]+)\s+memory used for hash table", text),
    )


def _number(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    if not found:
        raise NoSpin(f"pan: {_last(text) or 'no output'}")
    return float(found[1])


def _last(text: str) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
