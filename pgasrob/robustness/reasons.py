"""Why a verdict is what it is: data, each kind with its sentence and its code in JSON.

Whoever has to know what ended a search asks for the class of a reason, or in JSON for ``reason_code`` and ``limit``;
the sentences are for people.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

from pgasrob.robustness.limits import size_text

Option = Literal["max-states", "timeout", "memory-limit", "max-sc-states"]
"""The options of `pgasrob check` that set a limit."""


class Reason(ABC):
    """A reason; ``str`` gives its sentence, without a capital or a full stop.

    Reasons are equal when they say the same. That stands here, and the classes below have their fields alone from
    `dataclass`: every check imports them, and whole dataclasses take five times as long to make.
    """

    code: ClassVar[str]

    @property
    def option(self) -> Option | None:
        """The option that sets the limit that was reached; None when that was no limit."""
        return None

    @abstractmethod
    def __str__(self) -> str: ...

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


# --- Limits that the caller sets -------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class StateLimit(Reason):
    code = "state-limit"
    option = "max-states"
    states: int

    def __str__(self) -> str:
        return f"the limit of {self.states:,} states was reached"


@dataclass(eq=False, repr=False)
class ScStateLimit(Reason):
    """The limit of a search for the facts of the SC runs alone."""

    code = "sc-state-limit"
    option = "max-sc-states"
    states: int

    def __str__(self) -> str:
        return f"the limit of {self.states:,} SC states was reached"


@dataclass(eq=False, repr=False)
class TimeLimit(Reason):
    """``phase``: what the check was at, as the end of the sentence: "while reading the program"; "" where unknown."""

    code = "time-limit"
    option = "timeout"
    seconds: float
    phase: str = ""

    def __str__(self) -> str:
        return f"the time limit of {self.seconds:g} s was reached {self.phase}".rstrip()


@dataclass(eq=False, repr=False)
class MemoryLimit(Reason):
    """``phase`` as in :class:`TimeLimit`."""

    code = "memory-limit"
    option = "memory-limit"
    size: int
    phase: str = ""

    def __str__(self) -> str:
        return f"the memory limit of {size_text(self.size)} was reached {self.phase}".rstrip()


# --- What else ends a check before its end ---------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class OutOfMemory(Reason):
    code = "out-of-memory"

    def __str__(self) -> str:
        return "out of memory"


@dataclass(eq=False, repr=False)
class Interruption(Reason):
    code = "interrupted"

    def __str__(self) -> str:
        return "interrupted"


@dataclass(eq=False, repr=False)
class NotAsked(Reason):
    """Nobody wanted to know."""

    code = "not-asked"

    def __str__(self) -> str:
        return "it was not asked"


@dataclass(eq=False, repr=False)
class WorkerDied(Reason):
    """The process that checked it is gone; ``how`` completes the sentence."""

    code = "worker-died"
    how: str

    def __str__(self) -> str:
        return f"the process that checked it {self.how}"


# --- Why an engine gives up ------------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class PendingBound(Reason):
    """The bound of the `definition` engine on what can be pending."""

    code = "pending-bound"
    operations: int

    def __str__(self) -> str:
        return f"more than {self.operations} operations can be pending at a rank"


@dataclass(eq=False, repr=False)
class RunTooLong(Reason):
    """The bound of the `traces` engine on the length of a run."""

    code = "run-too-long"
    events: int

    def __str__(self) -> str:
        return f"a run has more than {self.events:,} commands; some may have no end"


@dataclass(eq=False, repr=False)
class TooManyUpdates(Reason):
    """The `traces` engine has not tried all ways in which updates of one cell may be missing when somebody waits."""

    code = "too-many-updates"

    def __str__(self) -> str:
        return "there are too many ways in which updates of a cell may be missing when somebody waits for it"


@dataclass(eq=False, repr=False)
class NoModel(Reason):
    code = "no-model"
    why: str

    def __str__(self) -> str:
        return f"no model for SPIN: {self.why}"


@dataclass(eq=False, repr=False)
class DepthBound(Reason):
    """The depth to which the `spin` engine goes at most."""

    code = "depth-bound"
    depth: int

    def __str__(self) -> str:
        return f"SPIN's search ended at depth {self.depth:,}"


@dataclass(eq=False, repr=False)
class SpinOutOfMemory(Reason):
    code = "spin-out-of-memory"

    def __str__(self) -> str:
        return "SPIN ran out of memory"


@dataclass(eq=False, repr=False)
class SpinFailed(Reason):
    """SPIN or the compiler did what they should not; ``said`` has what they said."""

    code = "spin-failed"
    said: str

    def __str__(self) -> str:
        return self.said


# --- What a verdict is about -----------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class FaultReached(Reason):
    """An SC run reaches a command that cannot be evaluated."""

    code = "fault"
    rank: int
    command: str
    why: str

    def __str__(self) -> str:
        return f"rank {self.rank} faults at {self.command}: {self.why}"


@dataclass(eq=False, repr=False)
class NoProgram(Reason):
    """The text is no program, or none on so many nodes."""

    code = "no-program"
    message: str

    def __str__(self) -> str:
        return self.message


@dataclass(eq=False, repr=False)
class FaultPossible(Reason):
    """No computation is violating, but not all SC runs were seen, and one of them may fault."""

    code = "fault-possible"
    because: Reason

    @property
    def option(self) -> Option | None:
        return self.because.option

    def __str__(self) -> str:
        return f"no computation is violating, but a fault cannot be excluded: {self.because}"


@dataclass(eq=False, repr=False)
class ScRunsLeft(Reason):
    """The program is robust; what the SC runs that were not seen would show is not known."""

    code = "sc-runs-left"
    because: Reason

    @property
    def option(self) -> Option | None:
        return self.because.option

    def __str__(self) -> str:
        return f"not all sequentially consistent runs were seen: {self.because}"


@dataclass(eq=False, repr=False)
class LeftUndone(Reason):
    """The verdict stands; ``what`` is missing of what would be told besides."""

    code = "left-undone"
    what: str
    because: Reason

    @property
    def option(self) -> Option | None:
        return self.because.option

    def __str__(self) -> str:
        return f"{self.what}: {self.because}"


@dataclass(eq=False, repr=False)
class NotProved(Reason):
    """There is no proof for every number of nodes; ``why``: what is in its way."""

    code = "not-proved"
    why: str

    def __str__(self) -> str:
        return f"not proved for every number of nodes: {self.why}"


@dataclass(eq=False, repr=False)
class CountLeft(Reason):
    """Of every number of nodes ``nodes`` is left open."""

    code = "count-left"
    nodes: int
    because: Reason

    @property
    def option(self) -> Option | None:
        return self.because.option

    def __str__(self) -> str:
        return f"on {self.nodes} nodes: {self.because}"


@dataclass(eq=False, repr=False)
class RunsLeftOut(Reason):
    """What was looked at is not violating, but the program stands for more runs than were looked at."""

    code = "runs-left-out"
    gaps: tuple[str, ...]

    def __str__(self) -> str:
        return f"not all runs were looked at: {'; '.join(self.gaps)}"


@dataclass(eq=False, repr=False)
class EffectLimit(Reason):
    """The bound of the search for what a violation means."""

    code = "effect-limit"
    states: int

    def __str__(self) -> str:
        return f"the search for outcomes ended after {self.states:,} states"


@dataclass(eq=False, repr=False)
class AnyValue(Reason):
    """These memory objects hold what nothing in the program decides, so there are more outcomes than are listed."""

    code = "any-value"
    objects: tuple[str, ...]

    def __str__(self) -> str:
        return f"any value may be in {', '.join(self.objects)}"


@dataclass(eq=False, repr=False)
class InternalError(Reason):
    """An engine claims a violation that its run does not show."""

    code = "internal-error"
    engine: str
    run: str

    def __str__(self) -> str:
        return f"internal error, please report it: the {self.engine} engine's run {self.run}"


def would_be_the_same(reason: Reason | None) -> bool:
    """Whether what has been left out for ``reason`` would be left out again: not where it was the machine or the user
    that ended the search."""
    by_chance = (MemoryLimit, OutOfMemory, Interruption, WorkerDied, SpinOutOfMemory, SpinFailed, InternalError)
    return reason is None or (not isinstance(reason, by_chance) and would_be_the_same(getattr(reason, "because", None)))
