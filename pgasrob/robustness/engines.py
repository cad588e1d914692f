"""The table of engines by name, with the function that makes each."""

from __future__ import annotations

from collections.abc import Callable

from pgasrob import twins
from pgasrob.program.instance import Instance
from pgasrob.robustness.engine import Engine, Settings, wanted_reductions

DEFAULT_ENGINE = "portfolio"


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
    settings.only("attack", "reductions")
    return twins.attack_search(instance, wanted_reductions(settings), settings.memory, settings.threads)


def _traces(instance: Instance, settings: Settings) -> Engine:
    """One run for all its reorderings."""
    settings.only("traces")
    return twins.trace_search(instance, settings.memory, settings.threads, elsewhere=settings.elsewhere)


def _portfolio(instance: Instance, settings: Settings) -> Engine:
    """Traces and attack in turns: what settles most at once, first."""
    from pgasrob.robustness.portfolio import PortfolioSearch

    settings.only("portfolio", "reductions")
    if settings.reductions is not None:
        return attack_engine(instance, settings)  # of which they are
    return PortfolioSearch(instance, settings)


def _spin(instance: Instance, settings: Settings) -> Engine:
    """The model checker SPIN, which has to be installed."""
    from pgasrob.robustness.spin import SpinSearch

    settings.only("spin")
    return SpinSearch(instance, settings.memory)


BY_VALUE = frozenset(("attack", "product", "spin"))
"""The engines that read waits by value whatever is asked for: they may find what is no violation by condition."""
ENGINES: dict[str, Callable[[Instance, Settings], Engine]] = {
    "portfolio": _portfolio,
    "attack": attack_engine,
    "product": _product,
    "definition": _definition,
    "traces": _traces,
    "spin": _spin,
}
"""The engines by name. What the first line of its docstring says of each stands in the help of `--engine`."""
