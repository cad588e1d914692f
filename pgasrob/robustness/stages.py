"""The automata of each stage of the paper's decision procedure on one instance: counts, and graphs while they are
small."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from pgasrob.automata.automaton import Automaton, Reached
from pgasrob.program.commands import Assume, Command, expressions_of, show
from pgasrob.program.expressions import Const, Expr, Symbol
from pgasrob.program.instance import Instance
from pgasrob.robustness.cycle_types import CycleType, CycleTypeAutomata, cycle_types
from pgasrob.robustness.normal_form import NormalForm
from pgasrob.semantics.state_space import StateSpace
from pgasrob.stop_points import stop_point

LARGEST_GRAPH = 150
"""States up to which a stage comes with a graph: more cannot be read."""
LARGEST_COUNT = 20_000
"""States after which counting stops and says "at least"."""
MOST_CYCLE_TYPES = 1000


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph to draw: node labels by number (0 is where it starts), the final ones, and labelled edges."""

    title: str
    nodes: list[str]
    finals: frozenset[int]
    edges: list[tuple[int, int, str]]


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: its title, its counts by name (in a useful order), its graphs, remarks on what was left out."""

    title: str
    counts: list[tuple[str, str]]
    graphs: list[Graph] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def control(instance: Instance, simplify: Callable[[Expr], Expr] = lambda expr: expr) -> Stage:
    """The control automata of all ranks; ``simplify`` is applied to the guards before they are shown."""
    graphs: list[Graph] = []
    counts: list[tuple[str, str]] = []
    shared: dict[tuple[tuple[str, ...], tuple[tuple[int, int, str], ...]], list[int]] = {}
    for rank, automaton in enumerate(instance.automata):
        edges = [
            (source, edge.target, _shown(instance, edge.command, simplify))
            for source, leaving in enumerate(automaton.out)
            for edge in leaving
        ]
        counts.append((f"rank {instance.process_name(rank)}", f"{len(automaton.out)} states, {len(edges)} transitions"))
        shared.setdefault((tuple(map(str, range(len(automaton.out)))), tuple(edges)), []).append(rank)
    for (nodes, alike), ranks in shared.items():
        title = (
            f"control automaton of rank{'s' if len(ranks) > 1 else ''} {', '.join(map(instance.process_name, ranks))}"
        )
        graphs.append(Graph(title, list(nodes), frozenset(range(len(nodes))), list(alike)))
    return Stage("control automata", counts, graphs)


def state_space(instance: Instance) -> Stage:
    """X(P, N); its queues are unbounded, so counting ends at :data:`LARGEST_COUNT` states."""
    return _explored("state-space automaton X(P, N)", StateSpace(instance), lambda letter: _event(instance, letter))


def normal_form(instance: Instance, heads: int = 2) -> Stage:
    """Y(P, N) with ``heads`` heads."""

    def letter(headed: Any) -> str:
        head, event = headed
        return f"{head}:{_event(instance, event)}"

    return _explored(f"normal-form automaton Y(P, N), {heads} heads", NormalForm(instance, heads), letter)


def cycle_type_automata(instance: Instance) -> Stage:
    """The cycle types of N ranks, and the automaton Z of every pair of ranks that something can join."""
    automata = CycleTypeAutomata(instance)
    graphs, possible, total = [], 0, 0
    remarks: list[str] = []
    least = ""
    for cycle in cycle_types(instance.processes):
        stop_point()
        if total == MOST_CYCLE_TYPES:
            least = "at least "
            remarks.append(f"only the first {MOST_CYCLE_TYPES} cycle types were looked at")
            break
        total += 1
        possible += all(automata.joined(*pair) for pair in automata.neighbours(cycle))
    pairs = [(source, target) for source in range(instance.processes) for target in range(instance.processes)]
    joined = [automata.pair(*pair) for pair in pairs]
    joined = [pair for pair in joined if pair.pairs or pair.identity]
    name = instance.process_name
    for pair in joined:
        delta = pair.transitions()
        numbers = {state: number for number, state in enumerate(delta)}
        edges = [
            (numbers[state], numbers[target], symbol)
            for state, moves in delta.items()
            for symbol, target in moves.items()
        ]
        title = f"Z from rank {name(pair.source)} to rank {name(pair.target)}"
        graphs.append(Graph(title, list(delta), frozenset([numbers["joined"]]), edges))
    counts = [
        ("cycle types", f"{least}{total}, of which {least}{possible} possible"),
        ("pairs of ranks", f"{len(pairs)}, of which {len(joined)} share a cell or a barrier"),
        *((f"Z {name(pair.source)} -> {name(pair.target)}", f"{len(pair.transitions())} states") for pair in joined),
    ]
    return Stage("cycle types", counts, graphs, remarks)


def cycle_type(instance: Instance, cycle: CycleType) -> Stage:
    """Z^cyc of one cycle type, minimal, over the letters of E x M that it does not ignore.

    The engines leave this intersection to the search. Raises ValueError when ``cycle`` is no cycle type.
    """
    if not cycle or len(set(cycle)) < len(cycle) or not set(cycle) <= set(range(instance.processes)):
        raise ValueError(f"a cycle type is a sequence of different ranks, each of 0..{instance.processes - 1}")
    title = f"Z of the cycle type {' '.join(map(instance.process_name, cycle))}"
    automata = CycleTypeAutomata(instance)
    pairs = [automata.pair(*pair) for pair in automata.neighbours(cycle)]
    if not all(pair.pairs or pair.identity for pair in pairs):
        return Stage(title, [("states", "0")], remarks=["neighbouring ranks share neither a cell nor a barrier"])
    most = prod(len(pair.transitions()) for pair in pairs)
    if most > LARGEST_COUNT:
        return Stage(title, [], remarks=[f"not intersected: up to {most} states"])
    automaton = automata.automaton(cycle)
    states = [automaton.initial_state]
    numbers = {automaton.initial_state: 0}
    for state in states:
        stop_point()
        for _, target in sorted(automaton.transitions[state].items()):
            if numbers.setdefault(target, len(states)) == len(states):
                states.append(target)
    edges = [
        (number, numbers[target], symbol)
        for state, number in numbers.items()
        for symbol, target in sorted(automaton.transitions[state].items())
    ]
    counts = [
        ("states", str(len(states))),
        ("letters", str(len(automaton.input_symbols))),
        ("transitions", str(len(edges))),
    ]
    if len(states) > LARGEST_GRAPH:
        return Stage(title, counts, remarks=[f"no graph: more than {LARGEST_GRAPH} states cannot be read"])
    finals = frozenset(numbers[state] for state in states if state in automaton.final_states)
    return Stage(title, counts, [Graph(title, [str(number) for number in range(len(states))], finals, edges)])


STAGES: dict[str, Callable[[Instance], Stage]] = {
    "control": control,
    "state-space": state_space,
    "normal-form": normal_form,
    "cycle-types": cycle_type_automata,
}


def _explored(title: str, automaton: Automaton[Any, Any], letter: Callable[[Any], str]) -> Stage:
    reached: Reached[Hashable, Any] = Reached(automaton)
    for _ in reached.expand():
        stop_point()
        if len(reached) > LARGEST_COUNT:
            break
    prefix = "" if reached.complete else "at least "
    states = list(reached)
    finals = sum(automaton.is_final(state) for state in states)
    counts = [
        ("states", f"{prefix}{len(states)}, of which {prefix}{finals} final"),
        ("transitions", f"{prefix}{reached.transitions}"),
    ]
    if not reached.complete:
        return Stage(
            title, counts, remarks=[f"counting stopped after {LARGEST_COUNT} states; there may be no end to it"]
        )
    if len(states) > LARGEST_GRAPH:
        return Stage(title, counts, remarks=[f"no graph: more than {LARGEST_GRAPH} states cannot be read"])
    numbers = {state: number for number, state in enumerate(states)}
    return Stage(
        title,
        counts,
        [
            Graph(
                title,
                [str(number) for number in range(len(states))],
                frozenset(numbers[state] for state in states if automaton.is_final(state)),
                list(_edges(automaton, numbers, letter)),
            )
        ],
    )


def _edges(
    automaton: Automaton[Any, Any], numbers: dict[Hashable, int], letter: Callable[[Any], str]
) -> Iterator[tuple[int, int, str]]:
    for state, number in numbers.items():
        for word, target in automaton.successors(state):
            yield number, numbers[target], " ".join(map(letter, word))


def _event(instance: Instance, letter: Any) -> str:
    cell = "" if letter.cell is None else f" {instance.cell_name(letter.cell)}"
    return f"{letter.kind}{letter.rank}{cell}"


def _shown(instance: Instance, command: Command, simplify: Callable[[Expr], Expr]) -> str:
    """``command`` with its guard simplified and its constant addresses as the names of their cells."""
    if isinstance(command, Assume):
        return show(Assume(simplify(command.condition)))
    named: dict[str, Any] = {
        field: Symbol(instance.program.cell_name(expr.value), expr.value)
        for field, expr in expressions_of(command).items()
        if field in ("address", "local", "remote") and isinstance(expr, Const)
    }
    return show(replace(command, **named))
