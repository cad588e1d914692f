"""The engines by name, how each is made, and what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple, Protocol

from pgasrob.diagnostics.suggestions import did_you_mean
from pgasrob.program.instance import Instance
from pgasrob.robustness.reasons import Reason
from pgasrob.robustness.violation import Violation
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.sequential import FoundFault

DEFAULT_ENGINE = "portfolio"


class Engine(Protocol):
    """A search that can be run piece by piece.

    When ``run`` ends without a violation the instance is robust, unless ``gave_up`` says why that is not known.
    """

    violation: Violation | None
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
    ``threads``: how many it may use."""

    heads: int | None = None
    reductions: Collection[str] | None = None
    memory: int | None = None
    threads: int = 1

    def only(self, engine: str, *known: str) -> None:
        """Refuse all but the settings ``known`` to ``engine``."""
        if self.heads is not None and "heads" not in known:
            raise ValueError(f"only the product engine has heads, {engine} has none")
        if self.reductions is not None and "reductions" not in known:
            raise ValueError(f"only the attack engine has reductions, {engine} has none")


def _definition(instance: Instance, settings: Settings) -> Engine:
    """Every computation, one by one."""
    from pgasrob.robustness.definition import DefinitionSearch

    settings.only("definition")
    return DefinitionSearch(instance)


def _product(instance: Instance, settings: Settings) -> Engine:
    """The paper's procedure, with automata."""
    from pgasrob.robustness.product import HEADS, ProductSearch

    settings.only("product", "heads")
    return ProductSearch(instance, HEADS if settings.heads is None else settings.heads)


def attack_engine(instance: Instance, settings: Settings) -> Engine:
    """One search without cycle types."""
    from pgasrob.robustness import native

    settings.only("attack", "reductions")
    wanted = wanted_reductions(settings)
    # The same search twice: in Rust where the extension has been built, else in Python.
    if native.available():
        return native.NativeSearch(instance, wanted, settings.memory, settings.threads)
    native.warn_of_a_missing_kernel()
    from pgasrob.robustness.attack_search import AttackSearch

    return AttackSearch(instance, wanted)


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


def _traces(instance: Instance, settings: Settings) -> Engine:
    """One run for all its reorderings."""
    from pgasrob.robustness import native

    settings.only("traces")
    if native.available():
        from pgasrob.robustness.traces.native import NativeTraceSearch

        return NativeTraceSearch(instance, memory_limit=settings.memory)
    native.warn_of_a_missing_kernel()
    from pgasrob.robustness.traces.search import TraceSearch

    return TraceSearch(instance)


def _portfolio(instance: Instance, settings: Settings) -> Engine:
    """Traces and attack in turns: what settles most at once, first."""
    from pgasrob.robustness import native
    from pgasrob.robustness.portfolio import PortfolioSearch

    settings.only("portfolio", "reductions")
    if settings.reductions is not None:
        return attack_engine(instance, settings)  # of which they are
    if not native.available():
        native.warn_of_a_missing_kernel()
    return PortfolioSearch(instance, settings)


def _spin(instance: Instance, settings: Settings) -> Engine:
    """The model checker SPIN, which has to be installed."""
    from pgasrob.robustness.spin import SpinSearch

    settings.only("spin")
    return SpinSearch(instance, settings.memory)


ENGINES: dict[str, Callable[[Instance, Settings], Engine]] = {
    "portfolio": _portfolio,
    "attack": attack_engine,
    "product": _product,
    "definition": _definition,
    "traces": _traces,
    "spin": _spin,
}
"""The engines by name. What the first line of its docstring says of each stands in the help of `--engine`."""
