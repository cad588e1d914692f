"""The engines by name, and how each is made."""

from __future__ import annotations

from collections.abc import Callable

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
    from pgasrob.robustness import native

    settings.only("attack", "reductions")
    wanted = wanted_reductions(settings)
    # The same search twice: in Rust where the extension has been built, else in Python.
    if native.available():
        return native.NativeSearch(instance, wanted, settings.memory, settings.threads)
    native.warn_of_a_missing_kernel()
    from pgasrob.robustness.attack_search import AttackSearch

    return AttackSearch(instance, wanted)


def _traces(instance: Instance, settings: Settings) -> Engine:
    """One run for all its reorderings."""
    from pgasrob.robustness.traces.parts import PartsSearch, trace_search

    settings.only("traces")
    if settings.found:
        return PartsSearch(instance, settings.found, settings.memory)
    return trace_search(instance, settings.memory)


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
