"""Litmus tests: programs with expectations of their outcomes; compares these with the outcomes of a model."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from pgasrob.models.litmus.litmus_program import Outcome, Program, Value
from pgasrob.program.declarations import Source
from pgasrob.program.statements import NOWHERE, Span

VARIANTS: dict[str, tuple[str, ...]] = {
    "rdma-tso": ("no-pcie", "placed", "glob"),
    "corerma": ("vpi", "hb-least", "no-repair", "local-order-text"),
    "sc": ("split",),
    "tso": (),
    "pgas": ("unordered",),
}
"""The models that a line may name, with the words for what may differ from the stock model; beside these there is
`without` and rules, for the models that have rules."""
OPTIONS = frozenset(word for words in VARIANTS.values() for word in words)
"""All these words; no rule is called so."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """A line such as ``allowed rdma-tso no-pcie: a=0 b=0``: some run has these ``values``, or no run has them.

    ``models``: for which models, each with its variant ("" for the stock model); empty for every model and variant.
    ``values``: empty for ``forbidden otherwise``: no outcome but those that other lines allow.
    """

    allowed: bool
    values: tuple[tuple[str, Value], ...]
    models: tuple[tuple[str, str], ...] = ()
    span: Span = NOWHERE

    @property
    def otherwise(self) -> bool:
        return not self.values

    def concerns(self, model: str, variant: str = "") -> bool:
        """Whether the line is about this model with this variant."""
        wanted = (model, settings(variant))
        return not self.models or any((name, settings(words)) == wanted for name, words in self.models)

    def __str__(self) -> str:
        models = ", ".join(f"{name} {variant}".strip() for name, variant in self.models)
        values = " ".join(f"{name}={value}" for name, value in self.values) or "otherwise"
        return f"{'allowed' if self.allowed else 'forbidden'} {f'{models}: ' if models else ''}{values}"


@dataclass(frozen=True)
class LitmusTest:
    """A program, and the lines of expectations in the order of the text. ``name``: the file's, without its ending."""

    program: Program
    expectations: tuple[Expectation, ...]
    source: Source
    name: str

    @property
    def models(self) -> tuple[tuple[str, str], ...]:
        """The models and variants that its lines name, each once, in the order of the text."""
        return tuple(dict.fromkeys(pair for line in self.expectations for pair in line.models))


@dataclass(frozen=True, slots=True)
class Compared:
    """Whether one line ``holds``: None when it is about another model or variant, or when the limit of a search leaves
    it open. ``outcomes``: those that have the values of the line; for ``forbidden otherwise`` those that no line
    allows."""

    expectation: Expectation
    holds: bool | None
    outcomes: tuple[Outcome, ...] = ()

    @property
    def line(self) -> int:
        """Its line in the file."""
        return self.expectation.span.line


def settings(variant: str) -> frozenset[str]:
    """The settings that a variant consists of: "vpi, without IR GA" has `vpi`, `without IR` and `without GA`."""
    found, without = set(), False
    for word in variant.replace(",", " ").split():
        if word == "without":
            without = True
        else:
            without = without and word not in OPTIONS
            found.add(f"without {word}" if without else word)
    return frozenset(found)


def has(program: Program, outcome: Outcome, values: tuple[tuple[str, Value], ...]) -> bool:
    """Whether ``outcome`` of ``program`` has these values, of all names or of some."""
    found = dict(zip(program.names, outcome, strict=True))
    return all(found[name] == value for name, value in values)


def compare(
    test: LitmusTest, model: str, variant: str, outcomes: Collection[Outcome], *, complete: bool = True
) -> tuple[Compared, ...]:
    """Whether each line of ``test`` holds when ``model`` with ``variant`` ("" for the stock model) has these
    ``outcomes``; not ``complete``: it may have others."""
    concerned = [line for line in test.expectations if line.concerns(model, variant)]
    allowed = [line.values for line in concerned if line.allowed]
    compared = []
    for line in test.expectations:
        if line not in concerned:
            compared.append(Compared(line, None))
            continue
        if line.otherwise:
            found = [each for each in outcomes if not any(has(test.program, each, values) for values in allowed)]
        else:
            found = [each for each in outcomes if has(test.program, each, line.values)]
        holds = bool(found) == line.allowed
        settled = complete or bool(found)
        compared.append(Compared(line, holds if settled else None, tuple(found)))
    return tuple(compared)
