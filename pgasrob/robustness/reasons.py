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
    """A reason; ``str`` gives its sentence, without a capital or a full stop."""

    code: ClassVar[str]

    @property
    def option(self) -> Option | None:
        """The option that sets the limit that was reached; None when that was no limit."""
        return None

    @abstractmethod
    def __str__(self) -> str: ...


# --- Limits that the caller sets -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StateLimit(Reason):
    code = "state-limit"
    option = "max-states"
    states: int

    def __str__(self) -> str:
        return f"the limit of {self.states:,} states was reached"


@dataclass(frozen=True, slots=True)
class ScStateLimit(Reason):
    """The limit of a search for the facts of the SC runs alone."""

    code = "sc-state-limit"
    option = "max-sc-states"
    states: int

    def __str__(self) -> str:
        return f"the limit of {self.states:,} SC states was reached"


@dataclass(frozen=True, slots=True)
class TimeLimit(Reason):
    code = "time-limit"
    option = "timeout"
    seconds: float

    def __str__(self) -> str:
        return f"the time limit of {self.seconds:g} s was reached"


@dataclass(frozen=True, slots=True)
class MemoryLimit(Reason):
    code = "memory-limit"
    option = "memory-limit"
    size: int

    def __str__(self) -> str:
        return f"the memory limit of {size_text(self.size)} was reached"


# --- What else ends a check before its end ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OutOfMemory(Reason):
    code = "out-of-memory"

    def __str__(self) -> str:
        return "out of memory"


@dataclass(frozen=True, slots=True)
class Interruption(Reason):
    code = "interrupted"

    def __str__(self) -> str:
        return "interrupted"


@dataclass(frozen=True, slots=True)
class WorkerDied(Reason):
    """The process that checked it is gone; ``how`` completes the sentence."""

    code = "worker-died"
    how: str

    def __str__(self) -> str:
        return f"the process that checked it {self.how}"


# --- Why an engine gives up ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PendingBound(Reason):
    """The bound of the `definition` engine on what can be pending."""

    code = "pending-bound"
    operations: int

    def __str__(self) -> str:
        return f"more than {self.operations} operations can be pending at a rank"


@dataclass(frozen=True, slots=True)
class NoModel(Reason):
    code = "no-model"
    why: str

    def __str__(self) -> str:
        return f"no model for SPIN: {self.why}"


@dataclass(frozen=True, slots=True)
class DepthBound(Reason):
    """The depth to which the `spin` engine goes at most."""

    code = "depth-bound"
    depth: int

    def __str__(self) -> str:
        return f"SPIN's search ended at depth {self.depth:,}"


@dataclass(frozen=True, slots=True)
class SpinOutOfMemory(Reason):
    code = "spin-out-of-memory"

    def __str__(self) -> str:
        return "SPIN ran out of memory"


@dataclass(frozen=True, slots=True)
class SpinFailed(Reason):
    """SPIN or the compiler did what they should not; ``said`` has what they said."""

    code = "spin-failed"
    said: str

    def __str__(self) -> str:
        return self.said


# --- What a verdict is about -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FaultReached(Reason):
    """An SC run reaches a command that cannot be evaluated."""

    code = "fault"
    rank: int
    command: str
    why: str

    def __str__(self) -> str:
        return f"rank {self.rank} faults at {self.command}: {self.why}"


@dataclass(frozen=True, slots=True)
class NoProgram(Reason):
    """The text is no program, or none on so many nodes."""

    code = "no-program"
    message: str

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class FaultPossible(Reason):
    """No computation is violating, but not all SC runs were seen, and one of them may fault."""

    code = "fault-possible"
    because: Reason

    @property
    def option(self) -> Option | None:
        return self.because.option

    def __str__(self) -> str:
        return f"no computation is violating, but a fault cannot be excluded: {self.because}"


@dataclass(frozen=True, slots=True)
class ScRunsLeft(Reason):
    """The program is robust; what the SC runs that were not seen would show is not known."""

    code = "sc-runs-left"
    because: Reason

    @property
    def option(self) -> Option | None:
        return self.because.option

    def __str__(self) -> str:
        return f"not all sequentially consistent runs were seen: {self.because}"


@dataclass(frozen=True, slots=True)
class RunsLeftOut(Reason):
    """What was looked at is not violating, but the program stands for more runs than were looked at."""

    code = "runs-left-out"
    gaps: tuple[str, ...]

    def __str__(self) -> str:
        return f"not all runs were looked at: {'; '.join(self.gaps)}"


@dataclass(frozen=True, slots=True)
class AnyValue(Reason):
    """These memory objects hold what nothing in the program decides, so there are more outcomes than are listed."""

    code = "any-value"
    objects: tuple[str, ...]

    def __str__(self) -> str:
        return f"any value may be in {', '.join(self.objects)}"


@dataclass(frozen=True, slots=True)
class InternalError(Reason):
    """An engine claims a violation that its run does not show."""

    code = "internal-error"
    engine: str
    run: str

    def __str__(self) -> str:
        return f"internal error, please report it: the {self.engine} engine's run {self.run}"
