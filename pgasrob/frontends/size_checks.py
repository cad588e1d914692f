"""The numbers of nodes on which a C program goes on behind the checks of their number at its beginning, where these are
a few: on all others every rank leaves, which is proved for all of them at once.

The machine executes the program with `me` and `nodes` as symbols. Up to the first branch on anything but the number of
nodes all ranks do the same. A way from there on which no rank communicates and each ends is that of all ranks on the
numbers of nodes that take it: nobody changes what another one reads, so what is known of it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pgasrob.frontends.c.branching import Branch
from pgasrob.frontends.c.calls import MachineCall
from pgasrob.frontends.c.compiled import Compiled
from pgasrob.frontends.c.facts import Facts
from pgasrob.frontends.c.machine import Machine
from pgasrob.frontends.c.problem import Problem, TryAgain
from pgasrob.frontends.c.symbolic import Path, Rank, is_of_count
from pgasrob.frontends.c.world import World
from pgasrob.frontends.fitting_counts import FEWEST, MOST, named_ranks
from pgasrob.program import core
from pgasrob.program.commands import Assert
from pgasrob.program.count_note import Only
from pgasrob.program.expressions import (
    RELATIONS,
    Binary,
    Expr,
    Me,
    Nodes,
    Unary,
    constant,
    names_me_or_nodes,
    specialise,
)
from pgasrob.program.instance import MAX_NODES
from pgasrob.program.statements import Do, Span, Statement, statements_in

MOST_BRANCHES = 64
"""That are followed: the checks stand at the beginning."""


def only_counts(compiled: Compiled) -> Only | None:
    """The numbers of nodes on which the program does more than leave, where there are a few and that is known of all
    others; else None."""
    search = _Search(compiled)
    leaving = search.leaving()
    if not leaving:
        return None
    counts = _others(leaving, search.machine.world.most_nodes)
    if not counts:
        return None
    span = search.spans[leaving[-1]]
    waits = any(search.ways[path].waits for path in leaving)
    return Only(tuple(counts), span, compiled.unit.source.piece(span), waits)


def leaving_paths(compiled: Compiled) -> dict[Path, bool]:
    """The ways on which every rank leaves at once, by conditions on the number of nodes alone, each with whether it
    may have to wait before."""
    search = _Search(compiled)
    return {path: search.ways[path].waits for path in search.leaving()}


@dataclass(slots=True)
class _Way:
    """What is known of a way that begins with some conditions, at the node ``begins``: whether it ``branches`` on
    anything else, comes to a barrier, ``awaits`` a value, and does more than leave."""

    begins: str
    branches: bool = False
    barrier: bool = False
    awaits: bool = False
    goes_on: bool = False

    @property
    def waits(self) -> bool:
        """Whether a rank may wait for others that do not come, or that set nothing."""
        return self.awaits or (self.branches and self.barrier)


@dataclass(slots=True)
class _Search:
    """Follows the ways of the program from its beginning."""

    compiled: Compiled
    ways: dict[Path, _Way] = field(default_factory=dict)
    spans: dict[Path, Span] = field(default_factory=dict)
    owners: dict[str, Path] = field(default_factory=dict)
    """The nodes that have been written, each with the conditions on its way."""
    ended: set[str] = field(default_factory=set)
    """Those with which the rank ends."""
    machine: Machine = field(init=False)

    def leaving(self) -> list[Path]:
        """The ways on which every rank leaves at once."""
        self._run()
        return [path for path in self.ways if self._leaves(path)]

    def _run(self) -> None:
        """Follow all ways, unless there are too many."""
        world = World(self.compiled, None, Facts())
        world.begin()
        self.machine = machine = Machine(world, Rank(Me()), MachineCall)
        try:
            machine.begin()
        except Problem:  # there is no beginning
            return
        todo: list[tuple[Branch, Path]] = [(machine.branching.pending.pop(), ())]
        for _ in range(MOST_BRANCHES):
            if not todo:
                return
            branch, path = todo.pop()
            way = self.ways.setdefault(path, _Way(branch.label))
            if not way.goes_on:
                todo += self._follow(branch, path, way)
        for path in {path for _, path in todo}:
            self.ways.setdefault(path, _Way("")).goes_on = True

    def _follow(self, branch: Branch, path: Path, way: _Way) -> Iterator[tuple[Branch, Path]]:
        """Execute one ``branch``; the branches from its end."""
        machine, writer = self.machine, self.machine.writer
        written, ends = set(writer.nodes) - {branch.label}, len(machine.parts.agreements.ends)
        try:
            machine.execute(branch)
        except (Problem, TryAgain):
            machine.branching.pending.clear()
            way.goes_on = True
            return
        after, machine.branching.pending[:] = list(machine.branching.pending), []
        written |= {each.label for each in after}
        new = [label for label in writer.nodes if label not in written]
        self.owners.update(dict.fromkeys(new, path))
        statements = [each for label in new for each in writer.nodes[label].statements]
        way.goes_on = way.goes_on or _does_more(statements)
        forms = [core.lower(each.command) for each in statements_in(statements) if isinstance(each, Do)]
        way.barrier = way.barrier or any(isinstance(form, core.Barrier) for form in forms)
        way.awaits = way.awaits or any(isinstance(form, core.Immediate) and form.may_block for form in forms)
        if len(machine.parts.agreements.ends) > ends:
            self.ended.add(writer.node.label)
        node = writer.node
        if not way.branches and node.condition is not None and is_of_count(node.condition) and len(after) == 2:
            for each in after:
                further = (*path, (node.condition, each.label == node.goes_to[0]))
                self.ways[further] = _Way(each.label, goes_on=way.goes_on)
                self.spans[further] = node.span
                yield each, further
            return
        way.branches = way.branches or len(after) > 1
        yield from ((each, path) for each in after)

    def _leaves(self, path: Path) -> bool:
        """Whether on the way that begins with ``path`` every rank comes to an end and does nothing else before."""
        way, nodes, known = self.ways[path], self.machine.writer.nodes, dict[str, bool]()

        def ends(label: str) -> bool:
            """Whether all ways from ``label`` on end."""
            if label not in known:
                known[label] = False  # for a loop
                after = nodes[label].goes_to
                owner = self.ways.get(self.owners.get(label, ()))  # of another way where the two come together
                fine = owner is not None and not owner.goes_on
                known[label] = fine and (all(map(ends, after)) if after else label in self.ended)
            return known[label]

        return not way.goes_on and ends(way.begins)


def _does_more(statements: Sequence[Statement]) -> bool:
    """Whether there is an access to the memory of another rank among ``statements``, or a claim about the program."""
    for each in statements_in(statements):
        if isinstance(each, Do) and (isinstance(each.command, Assert) or any(True for _ in named_ranks(each.command))):
            return True
    return False


def _others(leaving: Sequence[Path], most: int) -> list[int]:
    """The numbers of nodes, from :data:`FEWEST` to ``most``, that take none of the ways in ``leaving``; none where
    these are many, or the conditions are no comparisons with constants."""
    bounds: set[int] = {FEWEST, most}
    for path in leaving:
        for condition, _ in path:
            found = _bounds(condition, most)
            if found is None:
                return []
            bounds |= {each + by for each in found for by in (-1, 0, 1)}
    places = sorted(each for each in bounds if FEWEST <= each <= most)
    counts: list[int] = []
    for place, following in zip(places, [*places[1:], most + 1], strict=True):
        # Between two places that follow each other no condition changes.
        if not any(_takes(path, place) for path in leaving):
            counts += range(place, min(following, place + MOST + 1))
        if len(counts) > MOST or (counts and counts[-1] > MAX_NODES):
            return []
    return counts


def _takes(path: Path, count: int) -> bool:
    """Whether the conditions of ``path`` are as it says on ``count`` nodes."""
    return all(bool(constant(specialise(condition, 0, count))) == holds for condition, holds in path)


def _bounds(condition: Expr, most: int) -> set[int] | None:
    """The constants with which ``condition`` compares the number of nodes; None where it does something else."""
    match condition:
        case Binary("&&" | "||", left, right):
            one, two = _bounds(left, most), _bounds(right, most)
            return None if one is None or two is None else one | two
        case Unary("!", operand):
            return _bounds(operand, most)
        case Binary(symbol, left, right) if symbol in RELATIONS:
            for number, other in ((_plain(left, most), right), (_plain(right, most), left)):
                value = None if names_me_or_nodes(other) else constant(specialise(other, 0, FEWEST))
                if isinstance(number, Nodes) and value is not None:
                    return {value}
    return None


def _plain(expr: Expr, most: int) -> Expr:
    """``expr`` without casts to types that hold all numbers of nodes."""
    while isinstance(expr, Unary) and expr.operator == "cast" and expr.type.wrap(most) == most:
        expr = expr.operand
    return expr
