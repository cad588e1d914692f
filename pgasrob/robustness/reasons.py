"""Why a verdict is what it is: data, each kind with its sentence and its code in JSON.

Whoever has to know what ended a search asks for the class of a reason, or in JSON for ``reason_code`` and ``limit``;
the sentences are for people.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, dataclass_transform

from pgasrob.robustness.limits import size_text

Option = Literal["max-states", "timeout", "memory-limit", "max-sc-states"]
"""The options of `pgasrob check` that set a limit."""


@dataclass_transform(eq_default=False)
class Reason:
    """A reason; ``str`` gives its sentence, without a capital or a full stop.

    Each kind names its ``code``, its ``sentence`` with fields in braces, and the ``limit`` that was reached, if it was
    one; its annotations are its fields, as of a dataclass. Whole dataclasses would do, but every command makes these
    classes, and a dataclass takes five times as long to make. Reasons are equal when they say the same.
    """

    code: ClassVar[str]
    sentence: ClassVar[str]
    limit: ClassVar[Option | None]
    fields: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls, *, code: str, sentence: str, limit: Option | None = None) -> None:
        cls.code, cls.sentence, cls.limit = code, sentence, limit
        cls.fields = tuple(cls.__annotations__)

    def __init__(self, *values: object, **named: object) -> None:
        given = {**dict(zip(self.fields, values, strict=False)), **named}
        for name in self.fields:
            setattr(self, name, given[name] if name in given else getattr(type(self), name))

    @property
    def option(self) -> Option | None:
        """The option that sets the limit that was reached, here or ``because`` of another reason; None without one."""
        because: Reason | None = getattr(self, "because", None)
        return self.limit if because is None else because.option

    def __str__(self) -> str:
        return self.sentence.format(**vars(self)).rstrip()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


# --- Limits that the caller sets -------------------------------------------------------------------------------------


class StateLimit(Reason, code="state-limit", limit="max-states", sentence="the limit of {states:,} states was reached"):
    states: int


class ScStateLimit(
    Reason, code="sc-state-limit", limit="max-sc-states", sentence="the limit of {states:,} SC states was reached"
):
    """The limit of a search for the facts of the SC runs alone."""

    states: int


class TimeLimit(
    Reason, code="time-limit", limit="timeout", sentence="the time limit of {seconds:g} s was reached {phase}"
):
    """``phase``: what the check was at, as the end of the sentence: "while reading the program"; "" where unknown."""

    seconds: float
    phase: str = ""


class MemoryLimit(
    Reason, code="memory-limit", limit="memory-limit", sentence="the memory limit of {size} was reached {phase}"
):
    """``phase`` as in :class:`TimeLimit`; ``size`` in bytes."""

    size: int
    phase: str = ""

    def __str__(self) -> str:
        return self.sentence.format(size=size_text(self.size), phase=self.phase).rstrip()


# --- What else ends a check before its end ---------------------------------------------------------------------------


class OutOfMemory(Reason, code="out-of-memory", sentence="out of memory"):
    pass


class Interruption(Reason, code="interrupted", sentence="interrupted"):
    pass


class NotAsked(Reason, code="not-asked", sentence="it was not asked"):
    pass


class WorkerDied(Reason, code="worker-died", sentence="the process that checked it {how}"):
    """The process that checked it has ended; ``how`` completes the sentence."""

    how: str


# --- Why an engine gives up ------------------------------------------------------------------------------------------


class PendingBound(Reason, code="pending-bound", sentence="more than {operations} operations can be pending at a rank"):
    """The bound of the `definition` engine on what can be pending."""

    operations: int


class RunTooLong(Reason, code="run-too-long", sentence="a run has more than {events:,} commands; some may have no end"):
    """The bound of the `traces` engine on the length of a run."""

    events: int


class TooManyUpdates(
    Reason,
    code="too-many-updates",
    sentence="there are too many ways in which updates of a cell may be missing when somebody waits for it",
):
    """The `traces` engine has not tried all ways in which updates of one cell may be missing when somebody waits."""


class WaitsByValue(
    Reason,
    code="waits-by-value",
    sentence="what the {engine} engine found is a violation only if waits are read by value (--waits value); "
    "--engine traces reads them by condition",
):
    """An engine that reads waits by value has found a run that is no violation where they are read by condition."""

    engine: str


class BuffersByValue(
    Reason,
    code="buffers-by-value",
    sentence="with store buffers waits are read by value, and so the program is not robust (--waits value shows a run)",
):
    """Robust by condition without store buffers, but not by value, as the search with store buffers has it."""


class NoModel(Reason, code="no-model", sentence="no model for SPIN: {why}"):
    why: str


class DepthBound(Reason, code="depth-bound", sentence="SPIN's search ended at depth {depth:,}"):
    """The depth to which the `spin` engine goes at most."""

    depth: int


class SpinOutOfMemory(Reason, code="spin-out-of-memory", sentence="SPIN ran out of memory"):
    pass


class SpinFailed(Reason, code="spin-failed", sentence="{said}"):
    """SPIN or the compiler did what they should not; ``said`` is their output."""

    said: str


# --- What a verdict is about -----------------------------------------------------------------------------------------


class FaultReached(Reason, code="fault", sentence="rank {rank} faults at {command}: {why}"):
    """An SC run reaches a command that cannot be evaluated."""

    rank: int
    command: str
    why: str


class NoProgram(Reason, code="no-program", sentence="{message}"):
    """The text is no program, or none on so many nodes."""

    message: str


class FaultPossible(Reason, code="fault-possible", sentence="a fault cannot be excluded: {because}"):
    """The program is robust, but not all SC runs were seen, and one of them may fault."""

    because: Reason


class ScRunsLeft(Reason, code="sc-runs-left", sentence="not all sequentially consistent runs were seen: {because}"):
    """The program is robust; what the SC runs that were not seen would show is not known."""

    because: Reason


class LeftUndone(Reason, code="left-undone", sentence="{what}: {because}"):
    """The verdict stands; ``what`` says which part of the report is missing."""

    what: str
    because: Reason


class NotProved(Reason, code="not-proved", sentence="not proved for every number of nodes: {why}"):
    """There is no proof for every number of nodes; ``why``: what is in its way."""

    why: str


class CountLeft(Reason, code="count-left", sentence="on {nodes} nodes: {because}"):
    """Of every number of nodes ``nodes`` is left open."""

    nodes: int
    because: Reason


class RacesOnCounts(
    Reason,
    code="races-on-counts",
    sentence="it is not proved for every number of nodes that no race changes the result{looked}",
):
    """That no race matters is not proved for every number of nodes; ``looked``: of which it is known, or how to ask."""

    looked: str

    @classmethod
    def of(cls, counts: Sequence[int]) -> RacesOnCounts:
        """``counts``: the numbers of nodes on which none matters."""
        if not counts:
            return cls("; -n 2..4 asks about some")
        on = str(counts[0]) if len(counts) == 1 else f"{counts[0]}..{counts[-1]}"
        return cls(f": on {on} none does, and -n asks about others")


class WaitingLeft(
    Reason,
    code="waiting-left",
    sentence="not all runs were looked at in which calls wait for other ranks that may do so: {because}",
):
    """No run gets stuck in which calls wait for no more than they have to; where they wait for more that is open."""

    because: Reason


class NothingChecked(Reason, code="nothing-checked", sentence="nothing was checked: {why}"):
    """No rank comes to any of the calls by which ranks communicate."""

    why: str


class RunsLeftOut(Reason, code="runs-left-out", sentence="not all runs were looked at: {gaps}"):
    """What was looked at is not violating, but the program stands for more runs than were looked at."""

    gaps: tuple[str, ...]

    def __str__(self) -> str:
        return self.sentence.format(gaps="; ".join(self.gaps))


class ValueForgotten(
    Reason,
    code="value-forgotten",
    sentence="the assertion in line {line} fails only for unknown values of which not all is known there",
):
    """An assertion fails only for values that perhaps no run has."""

    line: int


class ValuesSetFree(
    Reason,
    code="values-set-free",
    sentence="it is not known whether {what} is one of the program: it goes a way in line {line} by a value that ranks "
    "may share, as if each had a value of its own",
):
    """A run that shows something goes ways of several ranks, perhaps by one value that allows no two of them."""

    what: str
    line: int


class NoValuesKnown(
    Reason,
    code="no-values-known",
    sentence="it is not known whether {what} is one of the program: no values were found for which all conditions "
    "hold together by which it goes its way in line {line}",
):
    """A run that shows something goes a way by conditions that perhaps no values satisfy."""

    what: str
    line: int


class OthersPending(
    Reason,
    code="others-pending",
    sentence="it is not known whether {what} is one of the program: behind the wait in line {line} an operation is "
    "pending that another thread of the rank has issued before",
):
    """A run that shows something rests on a wait of one thread that may be one for the operations of others, too."""

    what: str
    line: int


class EffectLimit(Reason, code="effect-limit", sentence="the search for outcomes ended after {states:,} states"):
    """The bound of the search for what a violation means."""

    states: int


class ConsequencesLimit(
    Reason,
    code="consequences-limit",
    sentence="not all SC states were looked at in which the order of two accesses may matter, but {states:,} at most",
):
    """The bound of the search for races that matter."""

    states: int


class WindowsLeft(Reason, code="windows-left", sentence="not all executions with shared windows were looked at: {why}"):
    """Whether MPI_Win_sync is missing was not looked at to the end."""

    why: str


class AnyValue(Reason, code="any-value", sentence="any value may be in {objects}"):
    """These memory objects hold what nothing in the program decides, so there are more outcomes than are listed."""

    objects: tuple[str, ...]

    def __str__(self) -> str:
        return self.sentence.format(objects=", ".join(self.objects))


class InternalError(Reason, code="internal-error", sentence="{message}"):
    """An exception that should not have been raised, with the ``message`` of its diagnostic; or an engine claims a
    violation that its run does not show."""

    message: str

    @classmethod
    def of_run(cls, engine: str, run: str) -> InternalError:
        """``run``: what is wrong with the run of the ``engine``."""
        return cls(f"internal error, please report it: the {engine} engine's run {run}")


def would_be_the_same(reason: Reason | None) -> bool:
    """Whether another check would leave the same out for ``reason``: not where the machine or the user ended it."""
    by_chance = (MemoryLimit, OutOfMemory, Interruption, WorkerDied, SpinOutOfMemory, SpinFailed, InternalError)
    if reason is None or isinstance(reason, by_chance):
        return reason is None
    return would_be_the_same(getattr(reason, "because", None))
