"""The theory on one program: what the paper's definitions and lemmas are for it, computed step by step.

Nothing here is a fixed text; all is worked out for the program: a computation, its last command e, sigma, the normal
form, the path of Y(P, N), the marked word and the runs of the automata Z on it, what the searches cost and what the
attack search did. The sentences are in `render.explanation`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from pgasrob.program import core
from pgasrob.program.bits import members
from pgasrob.program.expressions import Expr
from pgasrob.program.instance import Instance, refuse_threads
from pgasrob.program.reading import DEFAULT_READING, Reading
from pgasrob.robustness.check import check
from pgasrob.robustness.engine import Settings
from pgasrob.robustness.engines import ENGINES
from pgasrob.robustness.explanation.example_runs import delayed_run, round_robin, without_unneeded_commands
from pgasrob.robustness.explanation.marked_word import Marking, PairRun, mark, pair_runs
from pgasrob.robustness.explanation.reordering import Generated, Reordering, generate, reorder
from pgasrob.robustness.explanation.searches import Attack, Cost, Product, Share, attack, cost, product
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.product import ProductSearch
from pgasrob.robustness.question import EngineChoice, Question
from pgasrob.robustness.session import Session
from pgasrob.robustness.stages import Graph, control
from pgasrob.robustness.verdict import Verdict
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.happens_before import Edge, HappensBefore
from pgasrob.semantics.replay import Run, replay

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.program.program import Program

Origin = Literal["delayed run", "product", "check"]
MOST_STATES, SECONDS = 20_000, 6.0
"""What the searches of an explanation may take unless given."""
MOST_FIRST = 5_000
"""States in which the product may find the computation to explain; else it is that of the check."""
ALL, PLAIN, DEFINITION = "attack", "attack --no-reduction", "definition"


@dataclass(frozen=True, slots=True)
class Settled:
    """What is known before the attack search begins: of ``steps`` that commands can have, ``choosable`` may be worth
    choosing as the source. ``nothing_to_search``: that settles it, and the SC runs have nothing to show either."""

    steps: int
    choosable: int
    nothing_to_search: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """The theory on ``instance``, whose ``verdict`` is given.

    ``control``: the control automata. ``run``: a computation, violating when the program is not robust, with the
    ``cycle`` of its happens-before relation; ``origin``: a run that delays much, or the violation ``found`` by
    the product or by the check, its ranks taking turns. ``order``: e, sigma and the normal form; ``path``: how
    Y(P, N) generates that. ``marked`` and ``pairs``: the marked word and the runs of Z; None and empty without a
    cycle. ``product``, ``costs``: what the searches cost, ``settled`` what is known before. ``attack``: the path
    of the attack search to this violation. ``run`` and what follows from it is None when there is nothing to run
    or no verdict. ``tests``: whether some waits are read by condition elsewhere; here all are read by value.
    """

    verdict: Verdict
    instance: Instance
    control: list[Graph]
    run: Run | None = None
    cycle: tuple[Edge, ...] | None = None
    origin: Origin = "check"
    found: Computation = ()
    order: Reordering | None = None
    path: list[Generated] = field(default_factory=list)
    marked: Marking | None = None
    pairs: list[PairRun] = field(default_factory=list)
    product: Product | None = None
    attack: Attack | None = None
    costs: list[Cost] = field(default_factory=list)
    settled: Settled | None = None
    tests: bool = False
    share: Share = field(default_factory=lambda: Share(MOST_STATES, SECONDS))


def explain(
    program: Program | CProgram,
    nodes: int | None = None,
    max_states: int = MOST_STATES,
    timeout: float = SECONDS,
    searches: bool = True,
    simplify: Callable[[Expr], Expr] = lambda expr: expr,
    reading: Reading = DEFAULT_READING,
) -> Explanation:
    """Explain ``program`` on ``nodes`` nodes (its default count when None).

    ``max_states`` is for every search by itself, ``timeout`` for the verdict, and again for all that follows;
    ``searches``: whether the engines are compared; ``simplify`` is applied to the guards of the control automata.
    Raises :class:`~pgasrob.diagnostics.SourceError` when the program does not exist on so many nodes.
    """
    count = program.default_count if nodes is None else nodes
    tests = program.instantiate(count, reading).tests
    reading = reading.by_value  # as the theory has it that is explained
    instance = program.instantiate(count, reading)
    refuse_threads(instance.program, "an explanation")
    limits = Limits(max_states=max(max_states, 1), timeout=timeout)
    # Of the attack search, since its states are what is explained.
    verdict = check(Session(Question(program, count, reading=reading, engine=EngineChoice(ALL), limits=limits)))
    share = Share(max_states, timeout / 8)
    found = Explanation(verdict, instance, control(instance, simplify).graphs, tests=tests, share=share)
    if verdict.verdict == "robust":
        found = _theory(found, delayed_run(instance), "delayed run")
    elif verdict.verdict == "not robust" and verdict.witness:
        first = Share(min(MOST_FIRST, max_states), timeout / 4)
        violation = cost("", lambda: ProductSearch(instance), first)[0].violation
        claimed = violation.computation if violation else verdict.witness.run.computation
        found = replace(found, found=claimed)
        found = _theory(found, round_robin(without_unneeded_commands(claimed)), "product" if violation else "check")
    return _searched(found) if searches and verdict.verdict in ("robust", "not robust") else found


def _theory(found: Explanation, computation: Computation, origin: Origin) -> Explanation:
    """``found`` with what there is to say about one computation, which may be empty."""
    if not computation:
        return found
    instance = found.instance
    order, run = reorder(instance, computation), replay(instance, computation)
    found = replace(
        found,
        origin=origin,
        run=run,
        cycle=HappensBefore.of(run).cycle,
        order=order,
        path=generate(instance, order.normal_form, order.parts, order.heads),
    )
    cycle = HappensBefore.of(order.run).cycle
    if cycle is None:
        return found
    marked = mark(order.normal_form, cycle)
    return replace(found, marked=marked, pairs=pair_runs(instance, marked), attack=attack(instance, order))


def _searched(found: Explanation) -> Explanation:
    from pgasrob.robustness.definition import DefinitionSearch

    instance, share = found.instance, found.share
    costs = [
        cost(ALL, lambda: ENGINES["attack"](instance, Settings()), share)[0],
        cost(PLAIN, lambda: ENGINES["attack"](instance, Settings(reductions=())), share)[0],
        cost(DEFINITION, lambda: DefinitionSearch(instance), share)[0],
    ]
    return replace(found, product=product(instance, share), costs=costs, settled=_settled(instance))


def _settled(instance: Instance) -> Settled:
    from pgasrob.robustness.reduction.infeasibility import choosable, is_settled

    worth = choosable(instance)
    edges = [
        (rank, transition)
        for rank, automaton in enumerate(instance.automata)
        for leaving in automaton.out
        for transition in leaving
    ]
    # Several edges can be one command.
    steps = {(rank, edge.occurrence): len(core.steps_of(edge.form)) for rank, edge in edges}
    left = {
        (rank, edge.occurrence, step) for (rank, edge), bits in zip(edges, worth, strict=True) for step in members(bits)
    }
    return Settled(sum(steps.values()), len(left), is_settled(instance, worth))
