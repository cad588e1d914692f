"""The interface of engines: what each can be asked to do, and what it reports of the violation and of the SC runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.diagnostics.suggestions import did_you_mean
from pgasrob.program import core
from pgasrob.program.illegal_calls import Claim
from pgasrob.program.instance import Instance
from pgasrob.robustness.reasons import Reason
from pgasrob.robustness.turns import Counted
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.sequential import FoundFault

if TYPE_CHECKING:
    from pgasrob.robustness.cycle_types import CycleType
    from pgasrob.robustness.trace_parts import Elsewhere

T = TypeVar("T", bound="Traced")

MANY_PASS = (
    "the `traces` engine knows threads where one of each rank alone passes barriers, with nothing else to do there"
)
PIECE = 256
"""States that a search of states looks at before it lets its caller look around."""
SEARCHING, PASSING = "in the {} engine", "in the search of SC runs"
"""What a check is at, for the reasons when a limit ends it."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A computation that an engine claims to be violating, before it has been replayed and judged.

    ``parts`` gives for each event the part of the normal form it lies in, ``marks`` its marks, ``cycle_type`` the type
    that accepted it; None when the engine knows nothing of them.
    """

    computation: Computation
    parts: tuple[int, ...] | None = None
    marks: tuple[frozenset[str], ...] | None = None
    cycle_type: CycleType | None = None


class Stepwise(Protocol):
    """A search that can be run piece by piece. ``gave_up``: why it has ended without having seen all; ``doing``: what
    it is at, for a progress display."""

    gave_up: Reason | None

    @property
    def states(self) -> int: ...
    @property
    def transitions(self) -> int: ...
    @property
    def doing(self) -> str: ...
    def run(self) -> Iterator[None]: ...


class Facts(Protocol):
    """What is known of the SC runs so far, as :class:`~pgasrob.semantics.sequential.SequentialFacts` has it."""

    checks_deadlock: bool

    @property
    def fault(self) -> FoundFault | None: ...
    @property
    def failed(self) -> Mapping[Claim, Computation]: ...
    @property
    def deadlock(self) -> Computation | None: ...
    @property
    def complete(self) -> bool: ...
    @property
    def states(self) -> int: ...
    def explore(self, most: int | None = None) -> Iterator[None]:
        """Look at some more of the SC runs per iteration, until it has looked at more than ``most`` states in all."""


class JoinedFacts:
    """What several searches know of the SC runs; of what more than one knows, what the first of ``sources`` says."""

    @property
    def sources(self) -> Sequence[Facts]:
        raise NotImplementedError

    @property
    def fault(self) -> FoundFault | None:
        return next((facts.fault for facts in self.sources if facts.fault), None)

    @property
    def failed(self) -> Mapping[Claim, Computation]:
        return {claim: run for facts in reversed(self.sources) for claim, run in facts.failed.items()}

    @property
    def deadlock(self) -> Computation | None:
        return next((facts.deadlock for facts in self.sources if facts.deadlock is not None), None)

    @property
    def complete(self) -> bool:
        return any(facts.complete for facts in self.sources)

    @property
    def states(self) -> int:
        return max((facts.states for facts in self.sources), default=0)


class Engine(Stepwise, Protocol):
    """A search for a violation.

    When ``run`` ends without one the instance is robust, unless ``gave_up`` says why that is not known.
    """

    violation: Violation | None

    @property
    def states_at_work(self) -> int:
        """The states of the part that is at work, where it has parts, for the limit of states is for each of them."""

    @property
    def facts(self) -> Facts | None:
        """What it learns of the SC runs that it passes, going on at a fault; None when it passes none."""

    @property
    def settled(self) -> bool:
        """Whether it knows before it has run that there is no violation: no step can be the source of one."""

    @property
    def settled_by(self) -> str:
        """Which part of it has decided, empty where it has no parts."""


class TraceEngine(Engine, Protocol):
    """The `traces` engine, native or in Python."""

    @property
    def facts(self) -> Facts: ...
    @property
    def traces(self) -> int: ...
    @property
    def effort(self) -> int:
        """The events that have been looked at, on the way and in whole traces, and the commands tried there."""

    @property
    def undecided_sources(self) -> list[int] | None:
        """The sources that are left to other engines, by transition, as bits; None: all."""


class InOnePart:
    """What engines answer that have no parts, have found nothing yet, and do not say what they are at."""

    settled_by = ""
    violation: Violation | None = None
    gave_up: Reason | None = None  # one with finitely many states gives up only when its caller does

    @property
    def doing(self) -> str:
        return ""

    @property
    def states_at_work(self: Counted) -> int:
        return self.states


class Traced(Protocol):
    """What goes through runs, one of every trace: the kernel, or :class:`~pgasrob.reference.exploration.Exploration`.
    ``events``: those looked at so far."""

    @property
    def events(self) -> int: ...
    @property
    def traces(self) -> int: ...


class TraceByTrace(Generic[T]):
    """A search that looks at one run of every trace, which ``exploration`` goes through."""

    gave_up: Reason | None = None

    def __init__(self, exploration: T) -> None:
        self.exploration = exploration

    @property
    def states(self) -> int:
        return self.exploration.events + 1

    @property
    def transitions(self) -> int:
        return self.exploration.events

    @property
    def traces(self) -> int:
        return self.exploration.traces

    @property
    def doing(self) -> str:
        return f"{self.traces:,} traces"


class WithoutFacts:
    """What engines answer that know nothing before they have run, and learn nothing of the SC runs."""

    facts = None
    settled = False


def until(search: Facts, pieces: Iterator[None], most: int | None) -> Iterator[None]:
    """``pieces`` of the ``search``, until it has looked at more than ``most`` states in all."""
    for _ in pieces:
        if most is not None and search.states > most:
            return
        yield


def knows_traces(instance: Instance) -> bool:
    """Whether it can be followed trace by trace: who passes a barrier is certain, for one thread of each rank alone
    passes any, and has nothing else to do there."""
    if not instance.has_threads:
        return True
    before = [
        [out for out in automaton.out if any(isinstance(each.form, core.Barrier) for each in out)]
        for automaton in instance.automata
    ]
    passing = instance.by_rank([[bool(own)] for own in before])
    return all(len(out) == 1 for own in before for out in own) and all(sum(own) <= 1 for own in passing)


def refuse_unknown_to_traces(instance: Instance) -> None:
    """Raises :class:`SourceError` where it cannot be followed trace by trace."""
    if not knows_traces(instance):
        hint = "take another engine, as the default one does"
        raise SourceError([Diagnostic("PG038", MANY_PASS, instance.program.source.file, hint=hint)])


def longest_run(instance: Instance) -> int:
    """Events of a run beyond which it is taken to have no end if its ranks come back to where they have been."""
    return 100_000 + 1_000 * instance.processes


class Settings(NamedTuple):
    """What an engine can be asked to do; it refuses what it does not have. ``memory``: the bytes that it may store.
    ``threads``: how many it may use. ``max_states``: how many states each of its parts may look at, where it has parts;
    else whoever runs it looks at that. ``elsewhere``: other processes that go through parts of it."""

    heads: int | None = None
    reductions: Collection[str] | None = None
    memory: int | None = None
    threads: int = 1
    max_states: int | None = None
    elsewhere: Elsewhere | None = None

    def only(self, engine: str, *known: str) -> None:
        """Refuse all but the settings ``known`` to ``engine``."""
        if self.heads is not None and "heads" not in known:
            raise ValueError(f"only the product engine has heads, {engine} has none")
        if self.reductions is not None and "reductions" not in known:
            raise ValueError(f"only the attack engine has reductions, {engine} has none")


def wanted_reductions(settings: Settings) -> Collection[str]:
    """The names of the reductions to use."""
    from pgasrob.robustness.reduction import REDUCTIONS

    if settings.reductions is None:
        return REDUCTIONS
    for name in settings.reductions:
        if name not in REDUCTIONS:
            hint = did_you_mean(name, REDUCTIONS)
            raise ValueError(f"no reduction {name!r}; there is {', '.join(REDUCTIONS)}{hint and '; '}{hint}")
    return settings.reductions
