"""The set of states: it has the initial one, and is closed under the moves, none of which leads to Found.

At a state that says so only the moves of some ranks have to be followed: those that no other rank can come in the way
of before one of these moves (`proofs/certificates.md`, section 4).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from pgasrob.certificates.check.moves import IsSource, Move, Moves, State
from pgasrob.certificates.check.order import Touch, blocks, meets, ways
from pgasrob.certificates.check.values import Commands, File, Values, may_pass, must_hit, waited_for
from pgasrob.program import core
from pgasrob.program.expressions import Fault


class Closed:
    """What is asked of states, by ``values`` that are closed and the ``commands`` with them."""

    def __init__(self, values: Values, commands: Commands, is_source: IsSource) -> None:
        self.instance, self.values = values.instance, values
        self.moves = Moves(self.instance, waited_for(commands), is_source)

    def refusal(self, states: Sequence[State], expanded: Sequence[Sequence[int] | None]) -> str | None:
        """Why the ``states`` are no proof; None when they are.

        ``expanded``: for each the ranks that move there, None for all; no rank where nothing leads to Found.
        """
        place = {state: number for number, state in enumerate(states)}
        if self.moves.initial not in place:
            return "the initial state is missing"
        for number, (state, members) in enumerate(zip(states, expanded, strict=True)):
            if members == () and self.is_hopeless(state):
                continue
            if state.attack is None and self.faults(state):
                return f"in state {number} a command has no value"
            if members is not None and not self.may_go_alone(state, members):
                return f"in state {number} the ranks {list(members)} may not be followed alone"
            goes_on = members is None
            for target, ordinary in self.followed(state, members):
                if target is None:
                    return f"a move from state {number} closes a cycle"
                if target not in place:
                    return f"a move from state {number} leads to no state of the set"
                goes_on = goes_on or (ordinary and place[target] > number)
            if not goes_on:
                return f"in state {number} no move of the ranks {list(members or ())} leads on"
        return None

    def followed(self, state: State, members: Sequence[int] | None) -> Iterator[Move]:
        """The moves of some ranks, None: of all, with the barriers."""
        for rank in range(self.instance.nodes) if members is None else members:
            yield from self.moves.of_rank(state, rank)
        if members is None:
            yield from self.moves.of_barriers(state)

    def faults(self, state: State) -> bool:
        """Whether a rank stands before a command without a value."""
        try:
            for rank, automaton in enumerate(self.instance.automata):
                for transition in automaton.out[state.control[rank]]:
                    self.instance.operands(rank, transition, state.registers[rank])
        except Fault:
            return True
        return False

    def is_hopeless(self, state: State) -> bool:
        """Whether no command that may still come accesses the source's cell in conflict with it."""
        if state.attack is None:
            return False
        source = state.attack.source
        return self._toucher(state, (), {(source.cell, way) for way in ways(source)}) is None

    def may_go_alone(self, state: State, members: Collection[int]) -> bool:
        """Whether no barrier can come before a move of the ``members``, and nobody disturbs them."""
        if not set(members) <= set(range(self.instance.nodes)):
            return False
        leaving = (self.instance.automata[rank].out[state.control[rank]] for rank in members)
        at_barrier = [any(isinstance(each.form, core.Barrier) for each in own) for own in leaving]
        return not all(at_barrier) and self.disturber(state, members) is None

    def disturber(self, state: State, members: Collection[int]) -> int | None:
        """A rank that may access in conflict what the ``members`` are about to access, before one of them moves."""
        return self._toucher(state, members, {touch for rank in members for touch in self._near(state, rank)})

    def _toucher(self, state: State, members: Collection[int], near: set[Touch]) -> int | None:
        """A rank that may make an access in conflict with one of ``near``, while the ``members`` do not move.

        The other ranks are followed up to waits for delayed steps, awaits for what nobody changes, and commands that
        come after D; and up to barriers, unless all ranks may come to one.
        """
        delayed = frozenset() if state.attack is None else state.attack.delayed
        others = set(range(self.instance.nodes)) - set(members)
        todo: list[tuple[int, int, File]] = [(rank, state.control[rank], state.registers[rank]) for rank in others]
        seen, waiting, changed = set(todo), list(todo[:0]), set[int]()
        arrived: dict[int, set[tuple[int, int, File]]] = {}
        while todo:
            rank, at, file = todo.pop()
            for place, transition in enumerate(self.instance.automata[rank].out[at]):
                issued, form = self.values.issue(rank, at, place, file), transition.form
                if issued is None or blocks(state.facts[rank], issued.wait):
                    continue
                if isinstance(form, core.Immediate) and form.may_block:
                    cells = issued.chain[0].cells
                    if not cells & changed and not any(may_pass(form, file, state.memory[cell]) for cell in cells):
                        waiting.append((rank, at, file))
                        continue
                if any(cell in x.cells and meets(x.access, way) for x in issued.chain for cell, way in near):
                    return rank
                if not issued.written <= changed:
                    changed |= issued.written
                    todo, waiting = todo + waiting, []
                if any(must_hit(each, delayed) for each in issued.bound):
                    continue
                behind = {(rank, transition.target, after) for after in issued.files}
                if not all(self.values.has(*each) for each in behind):
                    return rank  # no run comes here
                if isinstance(form, core.Barrier):
                    arrived.setdefault(rank, set()).update(behind)
                    behind = set().union(*arrived.values()) if len(arrived) == self.instance.nodes else set()
                todo += behind - seen
                seen |= behind
        return None

    def _near(self, state: State, rank: int) -> Iterator[Touch]:
        for transition in self.instance.automata[rank].out[state.control[rank]]:
            try:
                operands = self.instance.operands(rank, transition, state.registers[rank])
            except Fault:
                continue
            yield from ((each.cell, way) for each in core.accesses_of(operands) for way in ways(each))
