"""What a caller wants to know about a program, with which engine, and how much machine it may take."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pgasrob.program.files import DISK, Files
from pgasrob.program.program import Program
from pgasrob.program.reading import DEFAULT_READING, Reading
from pgasrob.robustness.engine import Settings
from pgasrob.robustness.engines import DEFAULT_ENGINE
from pgasrob.robustness.limits import Limits, available_cores
from pgasrob.robustness.load import load
from pgasrob.robustness.verdict import LINES, LineName

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.robustness.trace_parts import Elsewhere

FACTS: tuple[LineName, ...] = ("legal", "progress", "assertions")
"""What counts beside robustness where it is found to be bad."""
MOST_THREADS = 4
"""Threads of a large search by the kernel, unless the caller says how many."""


@dataclass(frozen=True, slots=True)
class Robustness:
    """Whether a program is robust; ``effect``: where it is not, also what that means for its outcomes."""

    effect: bool = True


@dataclass(frozen=True, slots=True)
class Synchronisation:
    """Whether a program is correctly synchronised, by these ``lines``; None: what is asked of its language.

    Of C that is all of them, of the core language that it is robust: deadlocks and assertions that fail are facts
    beside it, which count where they are found. ``effect`` as of :class:`Robustness`.
    """

    lines: tuple[LineName, ...] | None = None
    effect: bool = True

    def of(self, c_program: bool) -> tuple[tuple[LineName, ...], tuple[LineName, ...]]:
        """The lines that are asked of a program, and further ones that count where the answer is bad."""
        if self.lines is not None:
            return self.lines, ()
        return (LINES, ()) if c_program else (("robust",), FACTS)


@dataclass(frozen=True, slots=True)
class RobustnessOnTso(Synchronisation):
    """The same where each processor has a store buffer, as those of x86 have."""


@dataclass(frozen=True, slots=True)
class RobustnessOnEveryCount(Synchronisation):
    """The same on every number of nodes at once. As not all lines can be proved of C, those beside robustness are facts
    there, too."""

    def of(self, c_program: bool) -> tuple[tuple[LineName, ...], tuple[LineName, ...]]:
        if self.lines is not None:
            return self.lines, ()
        return ("robust",), (*FACTS, "races") if c_program else FACTS


@dataclass(frozen=True, slots=True)
class Races:
    """Whether a program has a race.

    ``strict``: an await and a value that arrives are one. ``every``: all races, one for each pair of places in the
    source, else the first found. ``robustness``: in a batch, robustness is asked "first" and as a whole, or "after"
    this question and without its effect, or "never". ``engine`` is one of `races.race_check.RACE_ENGINES`.
    """

    strict: bool = False
    every: bool = False
    robustness: Literal["first", "after", "never"] = "first"
    engine: str = "search"


@dataclass(frozen=True, slots=True)
class RobustnessOnNetwork:
    """Whether a program or a litmus test is robust on a real network, with what is not as in the paper on it."""

    network: Literal["corerma", "rdma-tso"]
    pcie: bool = True
    placed: bool = False
    glob: bool = False

    @property
    def variant(self) -> str:
        """What is not as in the paper, as an expectation has it: "no-pcie"."""
        return " ".join(("no-pcie",) * (not self.pcie) + ("placed",) * self.placed + ("glob",) * self.glob)

    @property
    def line(self) -> str:
        """How a line of expectation begins: "rdma-tso no-pcie"."""
        return f"{self.network} {self.variant}".strip()


AboutRobustness = Robustness | Synchronisation
Asked = AboutRobustness | RobustnessOnNetwork | Races


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """The engine ``name`` of :data:`~pgasrob.robustness.engines.ENGINES`.

    ``heads`` (2, or 4 for the paper's procedure to the letter) is for `product`, ``reductions`` (of
    :data:`~pgasrob.robustness.reduction.REDUCTIONS`; all when None) for `attack`.
    """

    name: str = DEFAULT_ENGINE
    heads: int | None = None
    reductions: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class Resources:
    """How much machine: ``threads`` of a large search by the kernel (as there are processors, at most
    :data:`MOST_THREADS`, when None), and ``jobs`` at a time of a batch. Those are done by the workers of the Dask
    scheduler at the address ``cluster``, if there is one; with ``worker_memory`` a check may take the share of a
    worker's memory there, and not what the limits say. ``elsewhere``: processes that go through parts of a large check.
    No answer depends on any of this."""

    threads: int | None = None
    jobs: int = 1
    cluster: str | None = None
    worker_memory: bool = False
    elsewhere: Elsewhere | None = None


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """A program that has not been read: ``front_end`` says how, should it be C."""

    path: str
    front_end: FrontEnd | None = None
    files: Files = DISK

    def load(self) -> Program | CProgram:
        """The program. Raises :class:`~pgasrob.diagnostics.SourceError` where there is none."""
        return load(self.path, self.front_end, self.files)


@dataclass(frozen=True, slots=True)
class Question:
    """What is ``asked`` about ``program`` on ``nodes`` nodes (:func:`node_count` when None), and with what."""

    program: Program | CProgram | ProgramFile
    nodes: int | None = None
    asked: Asked = field(default_factory=Robustness)
    reading: Reading = DEFAULT_READING
    engine: EngineChoice = field(default_factory=EngineChoice)
    limits: Limits = field(default_factory=Limits)
    resources: Resources = field(default_factory=Resources)

    @property
    def file(self) -> str:
        """The file of the program, or what it is called in its place."""
        return self.program.path if isinstance(self.program, ProgramFile) else self.program.source.file

    @property
    def name(self) -> str | None:
        """What the program is called, once it has been read."""
        return None if isinstance(self.program, ProgramFile) else self.program.name

    @property
    def units(self) -> tuple[str, ...]:
        """The further files of the program, once it has been read."""
        return () if isinstance(self.program, ProgramFile) else self.program.source.units

    @property
    def effect(self) -> bool:
        """Whether it is asked what a violation means for outcomes."""
        return getattr(self.asked, "effect", False)

    @property
    def threads(self) -> int:
        """The threads that one search may use."""
        return self.resources.threads or min(available_cores(), MOST_THREADS)

    @property
    def settings(self) -> Settings:
        """What the engine is made with."""
        engine = self.engine
        limits = self.limits
        return Settings(
            engine.heads, engine.reductions, limits.memory, self.threads, limits.max_states, self.resources.elsewhere
        )


def node_count(nodes: int | None, program: Program | CProgram) -> int:
    """``nodes``, or the program's own count, or 2; a C program that is not meant for 2 nodes may be for a few more."""
    return program.default_count if nodes is None else nodes
