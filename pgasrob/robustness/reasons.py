"""Why a verdict is what it is: data, each kind with its sentence and its code in JSON.

Whoever has to know what ended a search asks for the class of a reason, or in JSON for ``reason_code`` and ``limit``;
the sentences are for people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pgasrob.robustness.limits import size_text

Option = Literal["max-states", "timeout", "memory-limit", "max-sc-states"]
"""The options of `pgasrob check` that set a limit."""


class Reason:
    """A reason; ``str`` gives its sentence, without a capital or a full stop.

    Reasons are equal when they say the same. That stands here, and the classes below have their fields alone from
    `dataclass`: every check imports them, and whole dataclasses take five times as long to make.
    """

    code: ClassVar[str]
    sentence: ClassVar[str]
    """With the names of fields in braces."""

    @property
    def option(self) -> Option | None:
        """The option that sets the limit that was reached; None when that was no limit."""
        return None

    def __str__(self) -> str:
        return self.sentence.format(**vars(self))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class Because(Reason):
    """What has come of another reason, and of the limit of that."""

    because: Reason

    @property
    def option(self) -> Option | None:
        return self.because.option


# --- Limits that the caller sets -------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class StateLimit(Reason):
    code = "state-limit"
    option = "max-states"
    sentence = "the limit of {states:,} states was reached"
    states: int


@dataclass(eq=False, repr=False)
class ScStateLimit(Reason):
    """The limit of a search for the facts of the SC runs alone."""

    code = "sc-state-limit"
    option = "max-sc-states"
    sentence = "the limit of {states:,} SC states was reached"
    states: int


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
    sentence = "out of memory"


@dataclass(eq=False, repr=False)
class Interruption(Reason):
    code = "interrupted"
    sentence = "interrupted"


@dataclass(eq=False, repr=False)
class NotAsked(Reason):
    """Nobody wanted to know."""

    code = "not-asked"
    sentence = "it was not asked"


@dataclass(eq=False, repr=False)
class WorkerDied(Reason):
    """The process that checked it is gone; ``how`` completes the sentence."""

    code = "worker-died"
    sentence = "the process that checked it {how}"
    how: str


# --- Why an engine gives up ------------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class PendingBound(Reason):
    """The bound of the `definition` engine on what can be pending."""

    code = "pending-bound"
    sentence = "more than {operations} operations can be pending at a rank"
    operations: int


@dataclass(eq=False, repr=False)
class RunTooLong(Reason):
    """The bound of the `traces` engine on the length of a run."""

    code = "run-too-long"
    sentence = "a run has more than {events:,} commands; some may have no end"
    events: int


@dataclass(eq=False, repr=False)
class TooManyUpdates(Reason):
    """The `traces` engine has not tried all ways in which updates of one cell may be missing when somebody waits."""

    code = "too-many-updates"
    sentence = "there are too many ways in which updates of a cell may be missing when somebody waits for it"


@dataclass(eq=False, repr=False)
class NoModel(Reason):
    code = "no-model"
    sentence = "no model for SPIN: {why}"
    why: str


@dataclass(eq=False, repr=False)
class DepthBound(Reason):
    """The depth to which the `spin` engine goes at most."""

    code = "depth-bound"
    sentence = "SPIN's search ended at depth {depth:,}"
    depth: int


@dataclass(eq=False, repr=False)
class SpinOutOfMemory(Reason):
    code = "spin-out-of-memory"
    sentence = "SPIN ran out of memory"


@dataclass(eq=False, repr=False)
class SpinFailed(Reason):
    """SPIN or the compiler did what they should not; ``said`` has what they said."""

    code = "spin-failed"
    sentence = "{said}"
    said: str


# --- What a verdict is about -----------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class FaultReached(Reason):
    """An SC run reaches a command that cannot be evaluated."""

    code = "fault"
    sentence = "rank {rank} faults at {command}: {why}"
    rank: int
    command: str
    why: str


@dataclass(eq=False, repr=False)
class NoProgram(Reason):
    """The text is no program, or none on so many nodes."""

    code = "no-program"
    sentence = "{message}"
    message: str


@dataclass(eq=False, repr=False)
class FaultPossible(Because):
    """No computation is violating, but not all SC runs were seen, and one of them may fault."""

    code = "fault-possible"
    sentence = "no computation is violating, but a fault cannot be excluded: {because}"
    because: Reason


@dataclass(eq=False, repr=False)
class ScRunsLeft(Because):
    """The program is robust; what the SC runs that were not seen would show is not known."""

    code = "sc-runs-left"
    sentence = "not all sequentially consistent runs were seen: {because}"
    because: Reason


@dataclass(eq=False, repr=False)
class LeftUndone(Because):
    """The verdict stands; ``what`` is missing of what would be told besides."""

    code = "left-undone"
    sentence = "{what}: {because}"
    what: str
    because: Reason


@dataclass(eq=False, repr=False)
class NotProved(Reason):
    """There is no proof for every number of nodes; ``why``: what is in its way."""

    code = "not-proved"
    sentence = "not proved for every number of nodes: {why}"
    why: str


@dataclass(eq=False, repr=False)
class CountLeft(Because):
    """Of every number of nodes ``nodes`` is left open."""

    code = "count-left"
    sentence = "on {nodes} nodes: {because}"
    nodes: int
    because: Reason


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
    sentence = "the search for outcomes ended after {states:,} states"
    states: int


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
    sentence = "internal error, please report it: the {engine} engine's run {run}"
    engine: str
    run: str


def would_be_the_same(reason: Reason | None) -> bool:
    """Whether what has been left out for ``reason`` would be left out again: not where it was the machine or the user
    that ended the search."""
    by_chance = (MemoryLimit, OutOfMemory, Interruption, WorkerDied, SpinOutOfMemory, SpinFailed, InternalError)
    if isinstance(reason, Because) and not would_be_the_same(reason.because):
        return False
    return not isinstance(reason, by_chance)
