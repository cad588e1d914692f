"""The `spin` engine: the attack search asked of SPIN (G. J. Holzmann), by way of `export.promela`.

A second opinion on the attack engine that shares nothing with its search, and a yardstick for its speed. It needs the
programs `spin` and `cc`; compiling a model takes a second and more.

SPIN is run as it is fastest on these models (measured on the halo exchange, the message chain and the ticket lock):
partial-order reduction and statement merging on, as they are by default; `-DSAFETY` since only an assertion is asked
for, no claim and no fairness, so that neither `-DNOCLAIM` nor `-DNOFAIR` changes anything; `-O2`, which `-O3` and
`-march=native` do not beat; no `-DCOLLAPSE`, which pays with time for memory; `-DXUSAFE` has no channels to speed up,
and `-DHC4` is faster but may miss states. The hash table starts small (`-w20`) since SPIN lets it grow.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path

from pgasrob.export.promela import STATE_BYTES, Model, Unsupported, promela_model
from pgasrob.parent_death import ends_with_this
from pgasrob.program.control import Transition
from pgasrob.program.instance import Instance
from pgasrob.robustness.engine import InOnePart, Violation, WithoutFacts
from pgasrob.robustness.moves import Move, Rerun, in_two_parts
from pgasrob.robustness.reasons import DepthBound, NoModel, SpinFailed, SpinOutOfMemory
from pgasrob.scratch_folders import scratch_folder
from pgasrob.semantics.computation import Computation

COMPILE = ("-O2", "-w", "-DSAFETY", "-fwrapv", "-DFREQ=100000")
"""How the verifier is compiled; -fwrapv as integers wrap around, and FREQ says how often it reports its states."""
SEARCH = ("-E", "-n", "-w20")
"""How it is run: a rank may end anywhere, and no list of unreached code."""
DEPTH = 10_000
MOST_DEPTH = 1_000_000_000
"""The first depth that SPIN may search to; it is ten times as much the next time, up to this.

SPIN searches depth-first, and a violation near the start is found in spite of a counter that runs on for ever.
"""
SHORT = 100
"""A violation deeper than this is looked for once more nearer to the start."""
POLL = 0.02
"""Seconds between two looks at a running program."""

TRAIL = "model.pml.trail"

Call = Generator[None, None, tuple[int, str]]
"""A running program: its exit code and all it says, once it has ended."""


class MissingProgram(Exception):
    """A program that the engine calls is not installed."""


class SpinError(Exception):
    """SPIN or the compiler did what they should not; the text has what they said."""


def needed_programs() -> tuple[str, str]:
    """The paths of `spin` and `cc`. Raises :class:`MissingProgram`."""
    found = []
    for name, package in (("spin", "spin"), ("cc", "gcc")):
        path = shutil.which(name)
        if path is None:
            raise MissingProgram(
                f"the spin engine needs `spin` and a C compiler `cc`; cannot find {name}: "
                f"install the Debian package {package}"
            )
        found.append(path)
    return found[0], found[1]


class SpinSearch(WithoutFacts, InOnePart):
    """The search of SPIN for a violation of an instance.

    ``memory_limit`` bounds the bytes that SPIN takes; ``options`` are for the compiler and come last. Attributes:
    ``violation`` once found; ``gave_up``, why there is no answer; ``states``, ``transitions`` and ``vector``, the bytes
    of a state, as SPIN counts them; ``doing``, what it is at, for a progress display; ``depth`` of the last search.
    """

    doing = ""

    def __init__(self, instance: Instance, memory_limit: int | None = None, options: Sequence[str] = ()) -> None:
        self.spin, self.cc = needed_programs()
        self.instance = instance
        self.memory_limit = memory_limit
        self.options = options
        self.depth = DEPTH
        self.states = 0
        self.transitions = 0
        self.vector = 0

    def run(self) -> Iterator[None]:
        """Search, yielding many times a second; when dropped half-way, it leaves no process and no file."""
        try:
            yield from self._run()
        except Unsupported as error:
            self.gave_up = NoModel(str(error))
        except SpinError as error:
            self.gave_up = SpinFailed(str(error))

    def _run(self) -> Iterator[None]:
        self.doing = "writing the model"
        model = promela_model(self.instance, moves=True)
        with scratch_folder() as folder:
            (folder / "model.pml").write_text(model.text, encoding="utf-8")
            yield from self._build(folder, model)
            yield from self._search(folder)
            if (folder / TRAIL).exists() and not self.gave_up:
                self.doing = "reading SPIN's trail"
                code, text = yield from self._call(folder, ["./pan", "-r", f"-m{self.depth}"])
                if "assertion violated" not in text:
                    raise SpinError(f"SPIN's trail does not end in a violation (exit code {code}):\n{text[-1000:]}")
                self.violation = Violation(*computation(self.instance, model, _moves(model, text)))

    def _build(self, folder: Path, model: Model) -> Iterator[None]:
        self.doing = "compiling SPIN's verifier"
        flags = [*COMPILE]
        if model.bytes > STATE_BYTES:
            flags.append(f"-DVECTORSZ={model.bytes}")
        if self.memory_limit is not None:
            flags.append(f"-DMEMLIM={max(self.memory_limit >> 20, 1)}")
        for command in (
            [self.spin, f"-P{self.cc} -E -x c", *model.options, "-a", "model.pml"],
            [self.cc, *flags, *self.options, "-o", "pan", "pan.c"],
        ):
            code, text = yield from self._call(folder, command)
            if code:
                raise SpinError(f"`{' '.join(command)}` ended with exit code {code}:\n{text[-1000:]}")

    def _search(self, folder: Path) -> Iterator[None]:
        """Run the verifier, deeper and deeper until it sees all."""
        while True:
            code, text = yield from self._verify(folder, self.depth)
            if "assertion violated" in text:
                yield from self._shorten(folder, text)
                return
            if "max search depth" in text and "MEMLIM" not in text:
                if self.depth >= MOST_DEPTH:
                    self.gave_up = DepthBound(self.depth)
                    return
                self.depth *= 10
                continue
            # Believed only when SPIN says that it has seen everything.
            if not re.search(r"^State-vector .* errors: 0$", text, re.MULTILINE) or "not completed" in text or code:
                if "MEMLIM" in text or "out of memory" in text or code == -signal.SIGKILL:
                    self.gave_up = SpinOutOfMemory()
                else:
                    raise SpinError(f"SPIN's search ended with exit code {code}:\n{text[-1000:]}")
            return

    def _shorten(self, folder: Path, text: str) -> Iterator[None]:
        """Look for a violation nearer to the start: a run of thousands of commands is no help."""
        trail = (folder / TRAIL).read_bytes()
        found = re.search(r"at depth (\d+)", text)
        depth = SHORT
        while found and depth < int(found[1]):
            _, text = yield from self._verify(folder, depth)
            if "assertion violated" in text:
                return
            depth *= 10
        (folder / TRAIL).write_bytes(trail)

    def _verify(self, folder: Path, depth: int) -> Call:
        """Run the verifier to ``depth``."""
        self.doing = f"searching to depth {depth:,}"
        (folder / TRAIL).unlink(missing_ok=True)
        code, text = yield from self._call(folder, ["./pan", *SEARCH, f"-m{depth}"])
        self._count(text)
        return code, text

    def _count(self, text: str) -> None:
        """Note the states and transitions that the verifier has reported, at its end or on its way."""
        for pattern, name in (
            (r"States=\s*(\S+)", "states"),
            (r"Transitions=\s*(\S+)", "transitions"),
            (r"^\s*(\S+) states, stored", "states"),
            (r"^\s*(\S+) transitions", "transitions"),
            (r"^State-vector (\d+) byte", "vector"),
        ):
            found = re.findall(pattern, text, re.MULTILINE)
            if found:
                setattr(self, name, int(float(found[-1])))

    def _call(self, folder: Path, command: Sequence[str]) -> Call:
        """Run a program in ``folder``; its exit code and all it says are the value of the iteration."""
        output = folder / "output"
        with output.open("wb") as written:
            process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=subprocess.STDOUT,
                # A group of its own: Ctrl-C is for us, and with it we end whatever the program has started.
                start_new_session=True,
                preexec_fn=ends_with_this(signal.SIGKILL),
            )
        try:
            wait = 0.001
            while process.poll() is None:
                time.sleep(wait)
                wait = min(2 * wait, POLL)
                self._count(_tail(output))
                yield
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return process.returncode, output.read_text(encoding="utf-8", errors="replace")


def _tail(path: Path) -> str:
    """The end of a file that grows."""
    with path.open("rb") as file:
        file.seek(max(file.seek(0, os.SEEK_END) - 2_000, 0))
        return file.read().decode(errors="replace")


def _moves(model: Model, text: str) -> Iterator[list[str]]:
    """The moves of a run, as the model has printed them."""
    for line in (*model.before, *text.splitlines()):
        words = line.split()
        if words and words[0] in ("move", "barrier"):
            yield words


def computation(
    instance: Instance, model: Model, moves: Iterable[Sequence[str]]
) -> tuple[Computation, tuple[int, ...]]:
    """The events of a run of ``model``, and the part of each."""
    return in_two_parts(Rerun(instance).words(_taken(instance, model, moves)))


def _taken(instance: Instance, model: Model, moves: Iterable[Sequence[str]]) -> Iterator[Move]:
    arrivals: dict[int, Transition] = {}
    for kind, mover, edge, *rest in moves:
        rank, transition = int(mover), model.edges[int(edge)]
        if kind == "move":
            yield rank, [transition], [int(part) for part in rest[0] if part != "-"]
            continue
        arrivals[rank] = transition
        if len(arrivals) == instance.nodes:
            yield None, [arrivals[rank] for rank in range(instance.nodes)], []
            arrivals.clear()
