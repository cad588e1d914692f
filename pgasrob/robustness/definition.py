"""The `definition` engine: every computation of X(P, N), and whether its happens-before relation is cyclic.

X(P, N) is the automaton of all computations (`semantics.state_space`). Walking every one of them would visit the same
situation again and again. Two prefixes with the same state of X(P, N) have the same continuations, and these close a
cycle in the same way when the two agree on which command happens before which, for the *live* commands, those that can
still get an edge: the last command of each rank (program order), the commands with pending steps, and for each cell its
last writer and its latest readers and updaters since (conflicts). So the search keeps the state and that relation,
which is exact and not an approximation (`proofs/definition-engine.md`; words: `proofs/glossary.md`). It ends whenever
the pending operations of the program are bounded, loops or not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pgasrob.automata.automaton import Reached
from pgasrob.program.instance import Instance
from pgasrob.robustness.reasons import PendingBound, Reason
from pgasrob.robustness.violation import Violation
from pgasrob.semantics.accesses import access_of
from pgasrob.semantics.computation import POPS, has_steps
from pgasrob.semantics.state_space import Letter, State, StateSpace, computation_of

Command = int
"""A live command, numbered by where it is mentioned first in a `Relation`."""


Way = str
"""How a command has accessed a cell: :data:`WRITTEN`, :data:`READ`, or by which kind of update that commutes."""
WRITTEN, READ = "", "read"


class Relation(NamedTuple):
    """Happens-before between the commands that can still get an edge.

    ``last``: per rank its last command (-1: none yet). ``pending``: per rank the commands of its pending operations, in
    the order of X's state. ``cells``: per cell that has been accessed, its last writer, and the readers and updaters of
    each kind since that happen before no other of them, by ways.
    ``before[c]``: the commands that happen before c, as a bit set.
    """

    last: tuple[Command, ...]
    pending: tuple[tuple[Command, ...], ...]
    cells: tuple[tuple[int, tuple[tuple[Way, tuple[Command, ...]], ...]], ...]
    before: tuple[int, ...]


class _Draft:
    """A relation under change: commands keep their numbers until ``finish`` renumbers those still live."""

    def __init__(self, relation: Relation) -> None:
        self.last = list(relation.last)
        self.pending = [list(commands) for commands in relation.pending]
        self.cells = {cell: dict(ways) for cell, ways in relation.cells}
        self.before = list(relation.before)
        self.cyclic = False

    def new_command(self) -> Command:
        self.before.append(0)
        return len(self.before) - 1

    def edge(self, first: Command, second: Command) -> None:
        """Add ``first`` before ``second``; an edge from a command to itself is none."""
        if first < 0 or first == second or self.before[second] >> first & 1:
            return
        if self.before[first] >> second & 1:
            self.cyclic = True
        gained = self.before[first] | 1 << first
        for command, known in enumerate(self.before):
            if command == second or known >> second & 1:
                self.before[command] = known | gained

    def issue(self, ranks: list[int]) -> Command:
        """A new command, in program order after the last of each of ``ranks`` (all of them for a barrier)."""
        command = self.new_command()
        for rank in ranks:
            self.edge(self.last[rank], command)
            self.last[rank] = command
        return command

    def access(self, command: Command, letter: Letter) -> None:
        """Conflict edges to an access of ``command`` from the accesses since the last write to the cell."""
        made = access_of(letter)
        if made is None:
            return
        way = made.commutes or (WRITTEN if made.writes else READ)
        known = self.cells.setdefault(made.cell, {})
        for other, commands in known.items():
            if way == WRITTEN or other != way:
                for earlier in commands:
                    self.edge(earlier, command)
        if way == WRITTEN:
            # The write is itself the place that later accesses refer to, whether or not it also reads.
            self.cells[made.cell] = {way: (command,)}
        elif command not in known.get(way, ()):
            known[way] = (*known.get(way, ()), command)

    def _latest(self, commands: tuple[Command, ...]) -> tuple[Command, ...]:
        """Those of the commands, which access a cell in one way, that happen before no other of them.

        The others can get no edge that matters: what conflicts with them conflicts with the one after, too. Without
        this, a loop that polls a cell would leave a new reader behind in every round.
        """
        return tuple(
            command for command in commands if not any(self.before[other] >> command & 1 for other in commands)
        )

    def finish(self) -> Relation:
        numbers: dict[Command, Command] = {-1: -1}

        def number(command: Command) -> Command:
            return numbers.setdefault(command, len(numbers) - 1)

        last = tuple(map(number, self.last))
        pending = tuple(tuple(map(number, commands)) for commands in self.pending)
        cells = []
        for cell, ways in sorted(self.cells.items()):
            found = []
            for way, commands in sorted(ways.items()):
                commands = self._latest(commands)
                # Commands of one way have no order among themselves: those mentioned before keep their place.
                known = sorted(numbers[command] for command in commands if command in numbers)
                fresh = [number(command) for command in sorted(set(commands) - numbers.keys())]
                found.append((way, tuple(known + fresh)))
            cells.append((cell, tuple(found)))
        live = [command for command in numbers if command >= 0]
        before = tuple(
            sum(1 << numbers[earlier] for earlier in live if self.before[command] >> earlier & 1) for command in live
        )
        return Relation(last, pending, tuple(cells), before)


DefinitionState = tuple[State, Relation, bool]
"""A state of X(P, N), the relation, and whether happens-before has a cycle already."""


MOST_PENDING = 32
"""Pending operations of one rank up to which the search goes on: with unbounded queues it must end somewhere."""


class HappensBeforeSpace:
    """X(P, N) with the happens-before relation of the computation so far; final are the cyclic ones.

    ``cut`` says whether some state was not expanded because a rank had more than MOST_PENDING operations pending.
    """

    def __init__(self, instance: Instance) -> None:
        self._space = StateSpace(instance)
        self.cut = False
        nodes = instance.nodes
        self.initial: DefinitionState = (
            self._space.initial,
            Relation((-1,) * nodes, ((),) * nodes, (), ()),
            False,
        )

    def is_final(self, state: DefinitionState) -> bool:
        return state[2]

    def successors(self, state: DefinitionState) -> Iterator[tuple[tuple[Letter, ...], DefinitionState]]:
        here, relation, _ = state
        if max(map(len, relation.pending)) > MOST_PENDING:
            self.cut = True
            return
        for word, target in self._space.successors(here):
            draft = _Draft(relation)
            self._extend(draft, word)
            yield word, (target, draft.finish(), draft.cyclic)

    @staticmethod
    def _extend(draft: _Draft, word: tuple[Letter, ...]) -> None:
        kind, rank, _, which, last, _ = word[0]
        if kind in POPS:
            command = draft.pending[rank][which]
            if last:
                del draft.pending[rank][which]
        else:
            command = draft.issue([letter.rank for letter in word])
            if has_steps(kind):
                draft.pending[rank].append(command)
        draft.access(command, word[0])


class _Steps(StateSpace):
    """X(P, N) without new commands: what is left to happen when no rank issues any more."""

    def successors(self, state: State) -> Iterator[tuple[tuple[Letter, ...], State]]:
        for rank in range(self.instance.nodes):
            yield from self._steps(state, rank)


def drain(instance: Instance, path: list[tuple[Letter, ...]], state: State) -> list[tuple[Letter, ...]]:
    """``path`` continued by the pending steps, in an order that X(P, N) allows, so that it is a computation."""
    space = _Steps(instance)
    words = list(path)
    while not space.is_final(state):
        word, state = next(space.successors(state))
        words.append(word)
    return words


class DefinitionSearch:
    """The search for a violating computation of an instance, breadth-first by events.

    Attributes: ``violation`` once found; ``states``, ``transitions``. When ``run`` ends without a violation, the
    instance is robust, unless ``gave_up`` says why the search could not see all computations.
    """

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._space = HappensBeforeSpace(instance)
        self._reached = Reached(self._space)
        self._most_pending = 0
        self.violation: Violation | None = None
        self.gave_up: Reason | None = None

    @property
    def states(self) -> int:
        return len(self._reached)

    @property
    def transitions(self) -> int:
        return self._reached.transitions

    @property
    def doing(self) -> str:
        """What the search is at, for a progress display."""
        return f"up to {self._most_pending} operations pending at a rank"

    def run(self) -> Iterator[None]:
        """Search, yielding after every state, and within one that has very many transitions.

        Ends when a violation is found or all computations have been seen.
        """
        for state in self._reached.expand():
            if self._space.is_final(state):
                words = drain(self._instance, self._reached.path(state), state[0])
                self.violation = Violation(computation_of(words))
                return
            self._most_pending = max(self._most_pending, *map(len, state[1].pending))
            yield
        if self._space.cut:
            self.gave_up = PendingBound(MOST_PENDING)
