"""What engines have in common: how they are run, what they are told, what they learn of the SC runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pgasrob.diagnostics.suggestions import did_you_mean
from pgasrob.robustness.reasons import Reason
from pgasrob.robustness.violation import Violation
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.sequential import FoundFault

if TYPE_CHECKING:
    from pgasrob.robustness.traces.parts import Found


class Search(Protocol):
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


class Engine(Search, Protocol):
    """A search for a violation.

    When ``run`` ends without one the instance is robust, unless ``gave_up`` says why that is not known.
    """

    violation: Violation | None


class Facts(Protocol):
    """What is known of the SC runs so far, as :class:`~pgasrob.semantics.sequential.SequentialFacts` has it."""

    checks_assertions: bool
    checks_deadlock: bool

    @property
    def fault(self) -> FoundFault | None: ...
    @property
    def violated(self) -> Computation | None: ...
    @property
    def deadlock(self) -> Computation | None: ...
    @property
    def complete(self) -> bool: ...
    @property
    def states(self) -> int: ...
    def explore(self) -> Iterator[None]: ...


def settled_by(engine: Engine) -> str:
    """Which part of ``engine`` has decided, where it has several."""
    return getattr(engine, "settled_by", "")


def is_settled(engine: Engine) -> bool:
    """Whether ``engine`` knows before it has run that there is no violation: no step can be the source of one."""
    return getattr(engine, "settled", False)


def facts_of(engine: Engine) -> Facts | None:
    """What ``engine`` learns of the SC runs that it passes, going on at a fault; None when it passes none."""
    return getattr(engine, "facts", None)


class Settings(NamedTuple):
    """What an engine can be told; it refuses what it does not have. ``memory``: the bytes that it may store.
    ``threads``: how many it may use. ``found``: what others have found in all parts, for the traces."""

    heads: int | None = None
    reductions: Collection[str] | None = None
    memory: int | None = None
    threads: int = 1
    found: Sequence[Found] = ()

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
