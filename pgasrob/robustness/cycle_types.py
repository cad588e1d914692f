"""Cycle types and the finite automata Z that recognise them (the paper, section 5.3).

A cycle type is a sequence of different ranks. Z^{i,j} accepts marked computations in which a conflict or barrier
identity leads from the `leave` event of rank i to the `enter` event of rank j; Z^cyc is the intersection of the Z of
neighbouring ranks. An automaton over all of E x M would be large and mostly say "ignore", so each Z is an automata-lib
DFA over the few letters that matter to it, and :class:`~pgasrob.automata.acceptor.Acceptor` maps events to these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from typing import TYPE_CHECKING

from pgasrob.automata.acceptor import Acceptor
from pgasrob.program.instance import Instance
from pgasrob.robustness.marked_normal_form import ENTER, LEAVE, UNMARKED, Marked
from pgasrob.robustness.normal_form import Letter
from pgasrob.semantics.accesses import Access, access_of, conflict, possible_accesses
from pgasrob.semantics.computation import EventKind

if TYPE_CHECKING:
    from automata.fa.dfa import DFA

CycleType = tuple[int, ...]

LEAVE_BARRIER, ENTER_BARRIER = "leave barrier", "enter barrier"
NEW_BARRIER = "new barrier"
BOTH = "enter and leave in one rank's cycle"


def cycle_types(nodes: int) -> Iterator[CycleType]:
    """All cycle types over ranks 0..nodes-1, shortest first, one of each set of rotations (smallest rank first)."""
    for length in range(1, nodes + 1):
        for ranks in combinations(range(nodes), length):
            first, *rest = ranks
            for order in permutations(rest):
                yield (first, *order)


def possible_cycle_types(nodes: int, joined: Callable[[int, int], bool]) -> Iterator[CycleType | None]:
    """The cycle types whose neighbouring ranks are all ``joined``, shortest first, each once as in :func:`cycle_types`.

    Most ranks share nothing with most others, so this walks the graph of those that do instead of all permutations.
    None is yielded now and then while nothing is found, for a caller with limits to look at.
    """

    def paths(path: CycleType, length: int) -> Iterator[CycleType | None]:
        if len(path) == length:
            yield path if joined(path[-1], path[0]) else None
            return
        for rank in range(path[0] + 1, nodes):
            if rank not in path:
                if joined(path[-1], rank):
                    yield from paths((*path, rank), length)
                else:
                    yield None

    for length in range(1, nodes + 1):
        for first in range(nodes - length + 1):
            yield from paths((first,), length)


@dataclass(frozen=True)
class PairAutomaton:
    """Z^{source, target}: from the `leave` event of rank ``source`` to the `enter` event of rank ``target``.

    ``leaves`` and ``enters`` are the accesses that the two ranks can make at all; ``barriers`` says whether the program
    has any. ``name`` gives a cell its name in the symbols. ``homes``: the ranks of both, where they are threads.
    """

    source: int
    target: int
    leaves: frozenset[Access]
    enters: frozenset[Access]
    barriers: bool
    name: Callable[[int], str]
    homes: tuple[int, int]

    @property
    def identity(self) -> bool:
        """Whether the pair can be joined by a barrier; not within one rank: of its threads one alone passes it."""
        return self.barriers and self.homes[0] != self.homes[1]

    @cached_property
    def pairs(self) -> list[tuple[Access, Access]]:
        """The conflicts that can join the two ranks: a leaving and an entering access."""
        entering: dict[int, list[Access]] = {}
        for made in self.enters:
            entering.setdefault(made.cell, []).append(made)
        return sorted(
            (leaving, other)
            for leaving in self.leaves
            for other in entering.get(leaving.cell, ())
            if conflict(leaving, other)
        )

    def symbol(self, mark: str, made: Access) -> str:
        return f"{mark} {self.name(made.cell)} {mode(made)}"

    def read(self, letter: Marked) -> str | None:
        """The symbol of a marked event, None when it does not concern this pair."""
        event, marks = letter
        leaves = event.rank == self.source and LEAVE in marks
        enters = event.rank == self.target and ENTER in marks
        if leaves and enters:
            return BOTH
        if leaves or enters:
            made = access_of(event)
            if made is None:
                return LEAVE_BARRIER if leaves else ENTER_BARRIER
            return self.symbol(LEAVE if leaves else ENTER, made)
        # Barriers are N events in rank order, so one of rank 0 says that a new barrier begins.
        first = event.kind == "barrier" and (event.rank if event.home is None else event.home) == 0
        return NEW_BARRIER if self.identity and first else None

    def transitions(self) -> dict[str, dict[str, str]]:
        """The transition function, partial: what is missing rejects."""
        start, done = "start", "joined"
        delta: dict[str, dict[str, str]] = {start: {}, done: {}}
        for leaving, entering in self.pairs:
            left = self.symbol("left", leaving)
            delta[start][self.symbol(LEAVE, leaving)] = left
            delta.setdefault(left, {})[self.symbol(ENTER, entering)] = done
        if self.identity:
            # Within one barrier the event of the smaller rank comes first, whichever way the edge is walked.
            first, second = (
                (LEAVE_BARRIER, ENTER_BARRIER) if self.homes[0] < self.homes[1] else (ENTER_BARRIER, LEAVE_BARRIER)
            )
            delta[start][first] = "in barrier"
            delta["in barrier"] = {second: done}
            for state, moves in delta.items():
                if state != "in barrier":
                    moves[NEW_BARRIER] = state
        return delta

    def automaton(self) -> DFA:
        """Z^{source, target} as an automata-lib DFA."""
        return _dfa(self.transitions(), "start", {"joined"})

    def acceptor(self) -> Acceptor[Marked]:
        """Z^{source, target} for the intersection: the same table, without the cost of importing automata-lib."""
        return Acceptor.from_table("start", {"joined"}, self.transitions(), self.read)


def some_conflict(letter: Marked) -> str | None:
    """The symbol "conflict" of a marked event that accesses a cell, which is what makes a cycle a violation."""
    return "conflict" if letter.marks and letter.event.cell is not None else None


CONFLICT = {"none": {"conflict": "some"}, "some": {"conflict": "some"}}


def conflict_automaton() -> DFA:
    """Some marked event accesses a cell.

    Without it a barrier that is entered on one rank and left on another would count as a cycle, made of identity edges
    alone (the design, section 2; the paper's (CYC) read literally accepts it).
    """
    return _dfa(CONFLICT, "none", {"some"})


class CycleTypeAutomata:
    """The pair automata of an instance, made once and shared by all cycle types."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._accesses = [possible_accesses(instance, rank) for rank in range(instance.processes)]
        # A barrier happens only when all ranks arrive, so a rank without one rules out all of them.
        edges = instance.by_rank([automaton.transitions for automaton in instance.automata])
        self._barriers = all(any(edge.command.kind == "barrier" for edge in own) for own in edges)
        self._acceptors: dict[tuple[int, int], Acceptor[Marked]] = {}
        self._joined: dict[tuple[int, int], bool] = {}

    def pair(self, source: int, target: int) -> PairAutomaton:
        return PairAutomaton(
            source,
            target,
            self._accesses[source],
            self._accesses[target],
            self._barriers,
            self._instance.cell_name,
            (self._instance.home[source], self._instance.home[target]),
        )

    def neighbours(self, cycle: CycleType) -> list[tuple[int, int]]:
        """The pairs of neighbouring ranks of ``cycle``, the last with the first included."""
        return [(rank, cycle[(index + 1) % len(cycle)]) for index, rank in enumerate(cycle)]

    def joined(self, source: int, target: int) -> bool:
        """Whether some edge can lead from rank ``source`` to rank ``target``: else Z of the pair is empty."""
        known = self._joined.get((source, target))
        if known is None:
            pair = self.pair(source, target)
            known = self._joined[source, target] = pair.identity or bool(pair.pairs)
        return known

    def acceptors(self, cycle: CycleType) -> list[Acceptor[Marked]]:
        """Finite automata whose intersection is Z^cyc."""
        found = []
        for source, target in self.neighbours(cycle):
            acceptor = self._acceptors.get((source, target))
            if acceptor is None:
                acceptor = self._acceptors[source, target] = self.pair(source, target).acceptor()
            found.append(acceptor)
        if self._barriers and len(cycle) > 1:
            found.append(Acceptor.from_table("none", {"some"}, CONFLICT, some_conflict))
        return found

    def letters(self, cycle: CycleType) -> dict[str, Marked]:
        """The letters of E x M that Z^cyc does not ignore, one for all that it reads alike, by a readable name."""
        found: dict[str, Marked] = {}
        marks = [frozenset((ENTER,)), frozenset((LEAVE,)), frozenset((ENTER, LEAVE))]
        for rank in sorted(cycle):
            for made in sorted(self._accesses[rank]):
                kind = _KIND[made.reads, made.writes]
                for mark in marks:
                    name = f"{rank}: {' and '.join(sorted(mark))} {self._instance.cell_name(made.cell)} {mode(made)}"
                    found[name] = Marked(Letter(kind, rank, made.cell, -1, made.commutes), mark)
        if self._barriers:
            for rank in sorted({0, *cycle}):
                for mark in [*([UNMARKED] if rank == 0 else []), *(marks if rank in cycle else [])]:
                    name = " ".join([f"{rank}:", *sorted(mark), "barrier"])
                    found[name] = Marked(Letter("barrier", rank, None, -1), mark)
        return found

    def automaton(self, cycle: CycleType) -> DFA:
        """Z^cyc as one automata-lib DFA over `letters`: the intersection that the engine leaves to the search."""
        letters = self.letters(cycle)
        parts = [self.pair(*pair) for pair in self.neighbours(cycle)]
        result = _lifted(parts[0].transitions(), "start", {"joined"}, parts[0].read, letters)
        for part in parts[1:]:
            result &= _lifted(part.transitions(), "start", {"joined"}, part.read, letters)
        if self._barriers and len(cycle) > 1:
            result &= _lifted(CONFLICT, "none", {"some"}, some_conflict, letters)
        return result


_KIND: dict[tuple[bool, bool], EventKind] = {(True, False): "load", (False, True): "store", (True, True): "swap"}
"""An event kind that makes an access that reads, that writes."""


def mode(made: Access) -> str:
    """The way in which ``made`` accesses its cell, in the names of letters."""
    return made.commutes or ("r" if made.reads else "") + ("w" if made.writes else "")


def _lifted(
    transitions: dict[str, dict[str, str]],
    initial: str,
    finals: set[str],
    read: Callable[[Marked], str | None],
    letters: dict[str, Marked],
) -> DFA:
    """A DFA over ``letters`` that reads each of them through ``read`` and ignores those that it maps to None."""
    lifted: dict[str, dict[str, str]] = {}
    for state, moves in transitions.items():
        lifted[state] = {}
        for name, letter in letters.items():
            symbol = read(letter)
            target = state if symbol is None else moves.get(symbol)
            if target is not None:
                lifted[state][name] = target
    return _dfa(lifted, initial, finals, set(letters))


def _dfa(
    transitions: dict[str, dict[str, str]], initial: str, finals: set[str], symbols: set[str] | None = None
) -> DFA:
    from automata.fa.dfa import DFA

    symbols = symbols or {symbol for moves in transitions.values() for symbol in moves}
    return DFA(
        states=set(transitions),
        input_symbols=symbols,
        transitions=transitions,
        initial_state=initial,
        final_states=finals,
        allow_partial=True,
    )
