"""Finds the shortest programs with an outcome that one model allows and another one forbids.

The programs consist of statements that both models know; symmetric programs are tried once. RDMA-TSO and coreRMA have
no common form of waiting for completion: a poll waits for the oldest operation, a flush for all of them. With ``waits``
programs may also have a statement "wait for all operations to this node". It is written as `flush(n)` for a model that
has flushes, and else as a poll for every operation that has not been waited for; the two programs differ in nothing
else. (This does not preserve meaning: a polled put need not be placed, a flushed one is.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from pgasrob.models.generate.programs import Shape, Statement, plainest
from pgasrob.models.generate.rdma_shapes import COMMON, PROCESSOR, RDMA_TSO, Bounds, shapes
from pgasrob.models.litmus.expected_outcomes import Expectation, LitmusTest
from pgasrob.models.litmus.litmus_printer import printed
from pgasrob.models.litmus.litmus_program import Outcome, Program
from pgasrob.models.model_interface import Model
from pgasrob.models.model_table import label, variant_of
from pgasrob.program.declarations import Source

KINDS: dict[str, tuple[str, ...]] = {
    "rdma-tso": RDMA_TSO,
    "corerma": (*COMMON, "flush"),
    "sc": (*RDMA_TSO, "flush"),
    "tso": PROCESSOR,
    "pgas": (*COMMON, "CAS", "mfence", "poll", "flush"),
}
"""The statements tried for each model. A model may still refuse a program of these."""
ONE_THREAD_A_NODE = ("corerma", "pgas")


@dataclass(frozen=True)
class Distinguishing:
    """A program, spelled for ``first`` (``program``) and for ``second`` (``other``), and the outcomes that only
    ``first`` has."""

    first: Model
    second: Model
    shape: Shape
    program: Program
    other: Program
    outcomes: frozenset[Outcome]

    @property
    def name(self) -> str:
        names = "-not-".join(label(model).replace(" ", "-") for model in (self.first, self.second))
        return f"{names}-{self.shape.statements}"

    def tests(self, name: str = "") -> list[LitmusTest]:
        """The test; two of them when the models spell the program differently."""
        name = name or self.name
        lines = {True: self._lines(self.first, True), False: self._lines(self.second, False)}
        if self.program == self.other:
            return [LitmusTest(self.program, (*lines[True], *lines[False]), Source(f"{name}.litmus", ""), name)]
        return [
            LitmusTest(program, expected, Source(f"{name}-{model.name}.litmus", ""), f"{name}-{model.name}")
            for program, expected, model in (
                (self.program, lines[True], self.first),
                (self.other, lines[False], self.second),
            )
        ]

    def _lines(self, model: Model, allowed: bool) -> tuple[Expectation, ...]:
        concerned = ((model.name, variant_of(model)),)
        return tuple(
            Expectation(allowed, tuple(zip(self.program.names, outcome, strict=True)), concerned)
            for outcome in sorted(self.outcomes, key=str)
        )

    def text(self, name: str = "") -> list[str]:
        """The text of each of :meth:`tests`."""
        head = f"// {label(self.first)} allows what {label(self.second)} does not\n"
        return [head + printed(test) for test in self.tests(name)]


def bounds_for(first: Model, second: Model, bounds: Bounds, waits: bool = False) -> Bounds:
    """``bounds`` with the statements that both models know; with ``waits`` also "wait for all operations to a node"."""
    known, other = KINDS[first.name], KINDS[second.name]
    kinds = [kind for kind in known if kind in other]
    if waits:
        kinds = [kind for kind in kinds if kind not in ("poll", "flush")] + ["wait"]
    return replace(
        bounds,
        kinds=tuple(kinds),
        nodes=bounds.nodes if {"get", "put"} & set(kinds) else 1,
        alone=bounds.alone or first.name in ONE_THREAD_A_NODE or second.name in ONE_THREAD_A_NODE,
    )


def spelled(shape: Shape, model: Model) -> Shape:
    """The program in the spelling of ``model``, which has a form of its own for "wait"."""
    flushes = "flush" in KINDS[model.name]
    threads = []
    for thread in shape.threads:
        found: list[Statement] = []
        pending: dict[int, int] = {}
        for kind, operands in thread:
            if kind in ("get", "put"):
                node = shape.owners[operands[1 if kind == "get" else 0]]
                pending[node] = pending.get(node, 0) + 1
            if kind != "wait":
                found.append((kind, operands))
            elif flushes:
                found.append(("flush", operands))
            else:
                found += [("poll", operands)] * pending.pop(operands[0], 0)
        threads.append(tuple(found))
    return replace(shape, threads=tuple(threads))


def distinguish(
    first: Model,
    second: Model,
    size: int,
    bounds: Bounds,
    waits: bool = False,
    note: Callable[[int, int], None] | None = None,
) -> Iterator[Distinguishing]:
    """Programs of up to ``size`` statements with an outcome that the one model has and the other has not, in either
    direction, by size and then plain ones first."""
    within = bounds_for(first, second, bounds, waits)
    models = (first, second)
    looked = found = 0
    for exactly in range(1, size + 1):
        for shape in sorted(shapes(exactly, within), key=plainest):
            looked += 1
            if note is not None:
                note(looked, found)
            initial = tuple(range(len(shape.owners)))
            programs = [spelled(shape, model).litmus(initial) for model in models]
            if any(model.refusals(program) for model, program in zip(models, programs, strict=True)):
                continue
            has = [frozenset(model.outcomes(program).found) for model, program in zip(models, programs, strict=True)]
            for one, other in ((0, 1), (1, 0)):
                if more := has[one] - has[other]:
                    found += 1
                    yield Distinguishing(models[one], models[other], shape, programs[one], programs[other], more)
