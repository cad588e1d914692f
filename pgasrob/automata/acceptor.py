"""Finite automata as the right-hand side of an intersection: small, explicit, possibly nondeterministic.

An automaton over a huge alphabet seldom cares about most letters. An acceptor reads a letter as one of its few symbols,
or not at all: a letter that it ignores leaves it where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic

from pgasrob.automata.automaton import Letter
from pgasrob.stop_points import stop_point

if TYPE_CHECKING:
    from automata.fa.fa import FA

AcceptorState = Hashable
Symbol = str


@dataclass(frozen=True)
class Acceptor(Generic[Letter]):
    """A finite automaton without silent edges.

    ``read`` maps a letter to a symbol, None for a letter to ignore. A symbol without an entry in ``delta`` blocks.
    """

    initial: AcceptorState
    finals: frozenset[AcceptorState]
    delta: Mapping[AcceptorState, Mapping[Symbol, frozenset[AcceptorState]]]
    read: Callable[[Letter], Symbol | None]

    @classmethod
    def from_table(
        cls,
        initial: AcceptorState,
        finals: Iterable[AcceptorState],
        transitions: Mapping[Any, Mapping[Symbol, Any]],
        read: Callable[[Letter], Symbol | None],
    ) -> Acceptor[Letter]:
        """A deterministic acceptor from its transition function, which may be partial."""
        delta = {
            state: {symbol: frozenset((target,)) for symbol, target in moves.items()}
            for state, moves in transitions.items()
        }
        return cls(initial, frozenset(finals), delta, read)

    @classmethod
    def of(cls, automaton: FA, read: Callable[[Letter], Symbol | None]) -> Acceptor[Letter]:
        """An automata-lib DFA (partial or not) or NFA without silent edges, as an acceptor."""

        def targets(target: Any) -> frozenset[AcceptorState]:
            return target if isinstance(target, frozenset) else frozenset((target,))

        transitions: Mapping[Any, Mapping[str, Any]] = automaton.transitions
        delta = {
            state: {symbol: targets(target) for symbol, target in transitions.get(state, {}).items()}
            for state in automaton.states
        }
        if any("" in moves for moves in delta.values()):
            raise ValueError("an acceptor has no silent edges; eliminate them first (NFA.eliminate_lambda)")
        return cls(automaton.initial_state, frozenset(automaton.final_states), delta, read)

    def step(self, state: AcceptorState, symbol: Symbol) -> frozenset[AcceptorState]:
        return self.delta.get(state, {}).get(symbol, frozenset())

    @cached_property
    def states(self) -> frozenset[AcceptorState]:
        """All states, those without transitions included."""
        targets = {target for moves in self.delta.values() for found in moves.values() for target in found}
        return frozenset((self.initial, *self.finals, *self.delta, *targets))

    @cached_property
    def reaches(self) -> dict[AcceptorState, frozenset[AcceptorState]]:
        """For each state the states reachable from it, itself included."""
        return {state: self._closure(state) for state in self.states}

    @cached_property
    def hopeful(self) -> frozenset[AcceptorState]:
        """The states from which a final state is reachable."""
        return frozenset(state for state, reached in self.reaches.items() if reached & self.finals)

    def _closure(self, state: AcceptorState) -> frozenset[AcceptorState]:
        seen, stack = {state}, [state]
        while stack:
            stop_point()
            for targets in self.delta.get(stack.pop(), {}).values():
                stack += targets - seen
                seen |= targets
        return frozenset(seen)
