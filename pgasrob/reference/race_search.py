"""SC runs in which an operation does all its steps or stops for good after some.

Up to two of them stop by choice, just before the steps that race, or one where the other access is a rank's next one.
Others stop because completion rules put their steps after one that has stopped, and waits for these block. Nothing is
delayed by conflicts, so that every such run is a run of X(P, N) as it is; and what is next is compared.

It is the attack search (`reference.attack`) without the cycle: the step chosen is the *source*, the first of the two,
and stays pending; nothing is tainted. All races of a robust program are found so, and when a program is not robust, so
is a conflict of the source with an access that is next. Therefore: no such conflict, no other run of X; else what was
not found is not there if the program is robust (`proofs/races.md`).

This is the readable reference, which the kernel follows state for state (`races.native_races`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import reduce
from itertools import combinations

from pgasrob.analysis.placement import DELAYED, NOW, fenced, lower_bounds, wait_is_over
from pgasrob.analysis.touched import Touched
from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Operands
from pgasrob.program.expressions import Fault
from pgasrob.program.instance import Instance
from pgasrob.races.found import FoundRace, found_fault, found_race, has_awaits
from pgasrob.races.racing_pairs import Kinds, Next, Pairs, Places, accesses, next_at_issue, places, step
from pgasrob.reference.attack import Attack, Edge, Found, State, moved, transferred
from pgasrob.reference.liveness_reduction import has_ended
from pgasrob.reference.reduced_search import Exploration
from pgasrob.robustness.normal_form import Word, word_of, word_of_barrier
from pgasrob.robustness.reasons import Reason
from pgasrob.semantics.accesses import conflict
from pgasrob.semantics.effect import Transferred, issue
from pgasrob.semantics.sequential import FoundFault
from pgasrob.semantics.state_space import behind


class StoppingSpace:
    """The runs as an automaton. States are those of the attack search, of which the attack has a source alone."""

    def __init__(self, instance: Instance, kinds: Kinds) -> None:
        self.instance, self._kinds = instance, kinds
        nodes = instance.processes
        self.initial: State | Found = State(
            (0,) * nodes, (instance.registers,) * nodes, instance.memory, ((),) * nodes, None
        )

    def moves(self, state: State, rank: int) -> Iterator[Edge]:
        """The edges by commands of ``rank``, barriers left out."""
        for transition, operands in self.instance.evaluated(rank, state.control[rank], state.registers[rank]):
            if isinstance(operands, core.Transfer):
                yield from self._remote(state, rank, transition, operands)
            elif wait_is_over(state.placement[rank], operands):
                after = issue(operands, state.registers[rank], state.memory)
                if after is not None:
                    placement = fenced(state.placement[rank], operands)
                    word = word_of(rank, transition, operands)
                    yield word, moved(state, rank, transition, after, placement, state.attack)

    def barriers(self, state: State) -> Iterator[Edge]:
        """The edges by barriers."""
        for arrivals in self.instance.barriers(state.control):
            yield word_of_barrier(self.instance, arrivals), state._replace(control=behind(state.control, arrivals))

    def _remote(self, state: State, rank: int, transition: Transition, operands: Transferred) -> Iterator[Edge]:
        """A command with steps, all that may happen or, by choice, some."""
        going = self.going(state, rank, operands)
        yield self._issued(state, rank, transition, operands, going, state.attack)
        if state.attack is None:
            for place in range(len(operands.steps)):
                source = step(rank, transition, operands, place)
                attack = Attack(source.access, tainted=0, kind=self._kinds.of(source))
                yield self._issued(state, rank, transition, operands, place, attack)

    def going(self, state: State, rank: int, operands: Transferred) -> int:
        """How many steps of a new operation completion rules allow now."""
        bounds = lower_bounds(self.instance, state.placement[rank], operands)
        return bounds.index(DELAYED) if DELAYED in bounds else len(bounds)

    def _issued(
        self, state: State, rank: int, transition: Transition, operands: Transferred, going: int, attack: Attack | None
    ) -> Edge:
        parts = [NOW] * going + [DELAYED] * (len(operands.steps) - going)
        return transferred(self.instance, state, rank, transition, operands, parts, attack)


class RaceSearch(Exploration):
    """The races of an instance; a :class:`~pgasrob.races.found.RaceSearch`. ``reductions`` are names of
    :data:`~pgasrob.robustness.reduction.REDUCTIONS`, of which infeasibility does nothing here."""

    gave_up: Reason | None = None
    doing = ""

    def __init__(self, instance: Instance, strict: bool = False, reductions: Collection[str] = ()) -> None:
        self._pairs = Pairs(instance, strict)
        self._kinds = Kinds(self._pairs, instance)
        self._stopping = StoppingSpace(instance, self._kinds)
        super().__init__(instance, self._stopping, reductions, self._counting_for_awaits)
        self.races: dict[Places, FoundRace] = {}
        self.fault: FoundFault | None = None
        # Where the next command of another rank is an await, persistent sets keep races alone.
        self.needs_robust = not strict and "persistent" in reductions and has_awaits(instance)

    def run(self) -> Iterator[None]:
        """Search, yielding after every state; ends at a fault or when all have been seen."""
        self._begin()
        while self._frontier:
            state = self._frontier.popleft()
            assert isinstance(state, State)
            self._look_at(state)
            if self.fault:
                return
            self._expand(state)
            yield

    def _look_at(self, state: State) -> None:
        going = [rank for rank in range(self._instance.processes) if not has_ended(self._instance, state, rank)]
        before = {
            rank: next_at_issue(self._instance, rank, state.control[rank], state.registers[rank]) for rank in going
        }
        if state.attack is None:
            self._look_for_a_fault(state)
            if self.fault:
                return
            for one, other in combinations([each for rank in going for each in before[rank]], 2):
                if one.rank != other.rank and self._pairs.race(one, other):
                    self._note(places(one, other), state, [], [one, other])
            return
        source = self._kinds.step(state.attack.kind, state.attack.source.cell)
        for rank in going:
            for each in before[rank]:
                if self._meets(source, each):
                    self._note(places(source, each), state, [], [each])
            for transition, operands in self._instance.evaluated(rank, state.control[rank], state.registers[rank]):
                if isinstance(operands, core.Transfer):
                    for place in range(self._stopping.going(state, rank, operands)):
                        each = step(rank, transition, operands, place)
                        if self._meets(source, each):
                            parts = [NOW] * place + [DELAYED] * (len(operands.steps) - place)
                            last = word_of(rank, transition, operands, parts)
                            self._note(places(source, each), state, [last], [])

    def _counting_for_awaits(self, rank: int, transition: Transition, operands: Operands) -> Touched:
        """What may race, of the accesses of a command, with an await."""
        made = accesses(rank, transition, operands)
        return reduce(Touched.adding, (each.access for each in made if self._pairs.counts_for_awaits(each)), Touched())

    def _meets(self, source: Next, other: Next) -> bool:
        """Whether the two race; notes a conflict that is no race."""
        race = self._pairs.race(source, other)
        self.needs_robust |= not race and conflict(source.access, other.access)
        return race

    def _note(self, where: Places, state: State, last: list[Word], before: Sequence[Next]) -> None:
        """Note a race at ``where``: after the way to ``state`` and ``last``, with ranks ``before`` their next
        accesses."""
        if where in self.races:
            return
        words, ranks = self._path(state)
        last = [self._normaliser.renamed(word, ranks) for word in last]
        self.races[where] = found_race(
            self._instance, [*words, *last], [(ranks[each.rank], each.transition.occurrence) for each in before]
        )

    def _look_for_a_fault(self, state: State) -> None:
        for rank, automaton in enumerate(self._instance.automata):
            for transition in automaton.out[state.control[rank]]:
                try:
                    self._instance.operands(rank, transition, state.registers[rank])
                except Fault:
                    words, ranks = self._path(state)
                    self.fault = found_fault(self._instance, words, ranks[rank], transition.occurrence)
                    return
