"""Control automata: what a process may issue next (the paper, section 2.2).

A control automaton has no silent edges. Its states are built as in the follow automaton of a regular expression: a
state is the set of the commands that may come next, so `choose`, `loop`, `skip` and `goto` commit to nothing before
the next command. A state in which nothing may come next has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain

from pgasrob.program.commands import Assume, Command
from pgasrob.program.core import Form, lower
from pgasrob.program.expressions import Expr, Unary, constant
from pgasrob.program.graphs import components, reached, reached_by
from pgasrob.program.statements import (
    Block,
    Body,
    Choose,
    Do,
    FlowGraph,
    Goto,
    If,
    Labelled,
    Loop,
    Skip,
    Span,
    Statement,
    While,
)
from pgasrob.program.value_classes import record


@record
class Transition:
    """An edge of a control automaton: issue ``command`` and go to ``target``.

    ``occurrence`` numbers the command's place in its process block. Edges that leave different states for the same
    place share it, and from one state it says which edge was taken. ``form`` is the command's core form; edges of one
    occurrence may differ in it, and then in ``variant``, which numbers its forms. ``last``: the process may end after
    it, whether or not commands are left.
    """

    command: Command
    target: int
    occurrence: int
    span: Span
    last: bool = field(repr=False, compare=False, default=False)
    form: Form = field(init=False, repr=False, compare=False)
    variant: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "form", lower(self.command))

    def with_form(self, form: Form, variant: int = 0) -> Transition:
        """The same edge with a form that says more or less of the command."""
        changed = copy(self)
        object.__setattr__(changed, "form", form)
        object.__setattr__(changed, "variant", variant)
        return changed

    def leading_to(self, target: int) -> Transition:
        """The same edge to another control state."""
        changed = copy(self)
        object.__setattr__(changed, "target", target)
        return changed


@dataclass(frozen=True)
class ControlAutomaton:
    """``out[state]`` holds the transitions that leave a state; the initial state is 0, every state is final."""

    out: tuple[tuple[Transition, ...], ...]

    @property
    def transitions(self) -> list[Transition]:
        return [transition for leaving in self.out for transition in leaving]

    @cached_property
    def live(self) -> tuple[frozenset[int], ...]:
        """For each state the registers that are live there."""
        # Where programs without polls are run, nobody asks.
        from pgasrob.program.live_registers import live_registers

        return live_registers(self.out)

    @cached_property
    def goes_round(self) -> tuple[bool, ...]:
        """For each state whether its transitions may lead back to it."""
        successors = [[edge.target for edge in leaving] for leaving in self.out]
        found, inside = components(successors), set[int]()
        for state, targets in enumerate(successors):
            inside |= {found[state]} if any(found[target] == found[state] for target in targets) else set()
        return tuple(each in inside for each in found)

    def with_forms(self, change: Callable[[Form], Form]) -> ControlAutomaton:
        """The same automaton with another form of every command."""
        return self.with_edges(lambda edge: (edge.with_form(change(edge.form)),))

    def with_edges(self, change: Callable[[Transition], Iterable[Transition]]) -> ControlAutomaton:
        """The same automaton with what ``change`` makes of every edge in its place."""
        return ControlAutomaton(tuple(tuple(chain.from_iterable(map(change, leaving))) for leaving in self.out))


class TooManyWays(Exception):
    """Raised where control automata would have too many transitions to be of use."""


class Ways:
    """A budget of ways from one command to the next: control automata may have ``left`` more.

    A way leads to a place in the program; places between statements count. Without `choose` and `loop` there are a few
    for every command, but where n statements in a row can be left out there are about n * n.
    """

    def __init__(self, left: int) -> None:
        self.left = left

    def take(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise TooManyWays


class _Graph:
    """The flow graph of a process, with silent edges, which :class:`Builder` removes."""

    def __init__(self, body: Body, ways: Ways | None = None) -> None:
        self.ways = ways
        self.silent: list[list[int]] = []
        self.issues: list[list[int]] = []  # node -> occurrences
        self.occurrences: list[tuple[Command, Span, int]] = []  # command, where, node after it
        self.labels: dict[str, int] = {}
        self.ending: set[int] | None = None  # the nodes from which silent edges lead to the end, once they are known
        self.start, self.end = self.node(), self.node()
        if isinstance(body, FlowGraph):
            self.add_pieces(body)
        else:
            self.add_block(body, self.start, self.end)

    def node(self) -> int:
        self.silent.append([])
        self.issues.append([])
        return len(self.silent) - 1

    def issue(self, start: int, command: Command, span: Span, end: int) -> None:
        self.issues[start].append(len(self.occurrences))
        self.occurrences.append((command, span, end))

    def label(self, name: str) -> int:
        if name not in self.labels:
            self.labels[name] = self.node()
        return self.labels[name]

    def branch(self, start: int, condition: Expr, span: Span, ways: Sequence[int], turned: bool = False) -> None:
        yes, no = ways
        self.issue(start, Assume(condition), replace(span, holds=not turned), yes)
        self.issue(start, Assume(Unary("!", condition)), replace(span, holds=turned), no)

    def add_pieces(self, graph: FlowGraph) -> None:
        self.silent[self.start].append(self.label(graph.pieces[0].label))
        for piece in graph.pieces:
            last = self.node()
            self.add_block(Block(piece.statements), self.label(piece.label), last)
            ways = [self.label(each) for each in piece.goes_to] or [self.end]
            if piece.condition is None:
                self.silent[last] += ways
            else:
                self.branch(last, piece.condition, piece.span, ways, piece.turned)

    def add_block(self, block: Block, start: int, end: int) -> None:
        for statement in block.statements[:-1]:
            after = self.node()
            self.add(statement, start, after)
            start = after
        if block.statements:
            self.add(block.statements[-1], start, end)
        else:
            self.silent[start].append(end)

    def add(self, statement: Statement, start: int, end: int) -> None:
        match statement:
            case Do(command, span):
                self.issue(start, command, span, end)
            case Skip():
                self.silent[start].append(end)
            case Goto(label):
                self.silent[start].append(self.label(label))
            case Labelled(label, inner):
                target = self.label(label)
                self.silent[start].append(target)
                self.add(inner, target, end)
            case If(condition, then, otherwise, span):
                yes, no = self.node(), self.node()
                self.branch(start, condition, span, (yes, no))
                self.add_block(then, yes, end)
                self.add_block(otherwise or Block(()), no, end)
            case While(condition, body, span):
                head, inside = self.node(), self.node()
                self.silent[start].append(head)
                self.branch(head, condition, span, (inside, end))
                self.add_block(body, inside, head)
            case Choose(branches):
                for branch in branches:
                    first = self.node()
                    self.silent[start].append(first)
                    self.add_block(branch, first, end)
            case Loop(body):
                head, inside = self.node(), self.node()
                self.silent[start].append(head)
                self.silent[head] += [inside, end]
                self.add_block(body, inside, head)

    def next_occurrences(self, node: int) -> tuple[int, ...]:
        """The occurrences that may be issued at ``node`` after any number of silent edges, in source order."""
        reached = self.reached(node)
        return tuple(sorted({occurrence for each in reached for occurrence in self.issues[each]}))

    def may_end(self, node: int) -> bool:
        """Whether the process may end at ``node``, after silent edges alone."""
        if self.ending is None:
            before = ((end, start) for start, ends in enumerate(self.silent) for end in ends)
            self.ending = reached_by(before, [self.end])
        return node in self.ending

    def reached(self, node: int) -> set[int]:
        """The nodes that any number of silent edges lead to."""
        seen = reached([node], self.silent.__getitem__)
        if self.ways:
            self.ways.take(len(seen))
        return seen


Shape = list[list[tuple[int, int]]]
"""For each control state the transitions that leave it, each as its occurrence and its target."""


class Builder:
    """Builds the control automata of ``body`` for many ranks, whose commands may differ.

    Ranks for which the same assumes are false have automata of one shape, which is found once; the ``ways`` that it has
    count for each of them.
    """

    def __init__(self, body: Body, ways: Ways | None = None) -> None:
        self._graph = _Graph(body, ways)
        self._ways = ways
        self._shapes: dict[frozenset[int], tuple[Shape, int]] = {}
        self._transitions: dict[tuple[int, int], Transition] = {}

    def build(self, change: Callable[[Command], Command]) -> ControlAutomaton:
        """The control automaton with ``change`` (partial evaluation, say) applied to every command.

        An assume that is constantly false is left out unless it stands among false assumes alone: a rank that can only
        stand there is blocked by it, which is not the same as having ended. Raises :class:`TooManyWays` when there are
        not enough ways left for the automaton.
        """
        commands = [change(command) for command, _, _ in self._graph.occurrences]
        shape = self._shape(
            frozenset(
                occurrence
                for occurrence, command in enumerate(commands)
                if isinstance(command, Assume) and constant(command.condition) == 0
            )
        )
        return ControlAutomaton(
            tuple(
                tuple(self._transition(commands[occurrence], target, occurrence) for occurrence, target in leaving)
                for leaving in shape
            )
        )

    def _transition(self, command: Command, target: int, occurrence: int) -> Transition:
        """The transition of ``occurrence`` to ``target``: one object for all ranks that have the same command."""
        known = self._transitions.get((occurrence, target))
        if known is None or known.command is not command:
            _, span, after = self._graph.occurrences[occurrence]
            known = Transition(command, target, occurrence, span, self._graph.may_end(after))
            self._transitions[occurrence, target] = known
        return known

    def _shape(self, false: frozenset[int]) -> Shape:
        if false in self._shapes:
            shape, count = self._shapes[false]
            if self._ways:
                self._ways.take(count)
            return shape
        before = self._ways.left if self._ways else 0
        shape = self._shape_without(false)
        self._shapes[false] = shape, before - self._ways.left if self._ways else 0
        return shape

    def _shape_without(self, false: frozenset[int]) -> Shape:
        graph = self._graph
        numbers: dict[tuple[int, ...], int] = {}
        queue: list[tuple[int, ...]] = []

        @cache  # many transitions lead to one node, and each question takes a walk through the graph
        def state_at(node: int) -> int:
            occurrences = graph.next_occurrences(node)
            alive = tuple(occurrence for occurrence in occurrences if occurrence not in false)
            issued = alive or occurrences
            if issued not in numbers:
                numbers[issued] = len(queue)
                queue.append(issued)
            return numbers[issued]

        state_at(graph.start)
        return [[(occurrence, state_at(graph.occurrences[occurrence][2])) for occurrence in state] for state in queue]


def build(
    body: Body, change: Callable[[Command], Command] = lambda command: command, ways: Ways | None = None
) -> ControlAutomaton:
    """The control automaton of ``body``, as :meth:`Builder.build` makes it."""
    return Builder(body, ways).build(change)


def commands_of(body: Body) -> list[tuple[Command, Span]]:
    """The commands of ``body`` as they are written, each with its place in the text, indexed by occurrence."""
    return [(command, span) for command, span, _ in _Graph(body).occurrences]


def may_be_left_out(body: Body) -> tuple[Span, ...]:
    """The places of the commands that a process may leave out by ending before them.

    Control automata do not record that a process may end there: computations may end anywhere.
    """
    graph = _Graph(body)
    nodes = {graph.start, *(after for _, _, after in graph.occurrences)}
    found = {
        graph.occurrences[occurrence][1]
        for node in nodes
        if graph.may_end(node)
        for occurrence in graph.next_occurrences(node)
    }
    return tuple(sorted(found, key=lambda span: (span.line, span.column)))
