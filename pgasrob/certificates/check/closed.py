"""The set of states: it has the initial one, and is closed under the moves, none of which leads to Found.

At a state that says so only the moves of some ranks have to be followed: those that no other rank can come in the way
of before its next barrier (`proofs/certificates.md`, section 4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgasrob.certificates.check.moves import IsSource, Move, Moves, State
from pgasrob.certificates.check.order import Touched, blocks, hits, ways
from pgasrob.certificates.check.values import Command, Values
from pgasrob.program import core
from pgasrob.program.expressions import Fault

Outlook = tuple[list[core.Access[int]], Touched, bool]


class Closed:
    """What is asked of states, by ``values`` that are closed and the ``commands`` with them."""

    def __init__(self, values: Values, commands: list[list[list[Command]]], is_source: IsSource) -> None:
        self.instance = values.instance
        self.moves = Moves(self.instance, waited_for(values, commands), is_source)
        self.futures = [self._futures(rank, own) for rank, own in enumerate(commands)]

    def _futures(self, rank: int, commands: list[list[Command]]) -> list[Touched]:
        """For every control state of a rank what it may access up to its next barrier."""
        found: list[Touched] = [frozenset()] * len(commands)
        changed = True
        while changed:
            changed = False
            for state in reversed(range(len(commands))):
                own = found[state].union(
                    (cell, way) for each in commands[state] for one in each.chain for cell in one.cells
                    for way in ways(one.access)
                )  # fmt: skip
                passed = (each for each in commands[state] if each.possible and not _is_barrier(each))
                own = own.union(*(found[each.target] for each in passed))
                if own != found[state]:
                    found[state], changed = own, True
        return found

    def faults(self, state: State) -> bool:
        """Whether a rank stands before a command without a value."""
        for rank, automaton in enumerate(self.instance.automata):
            for transition in automaton.out[state.control[rank]]:
                try:
                    self.instance.operands(rank, transition, state.registers[rank])
                except Fault:
                    return True
        return False

    def outlook(self, state: State, rank: int) -> Outlook:
        """What a rank is about to access, all up to its next barrier, and whether it may stand before one."""
        near: list[core.Access[int]] = []
        far: set[tuple[int, str]] = set()
        leaving = self.instance.automata[rank].out[state.control[rank]]
        for transition in leaving:
            if isinstance(transition.form, core.Barrier):
                continue
            try:
                operands = self.instance.operands(rank, transition, state.registers[rank])
            except Fault:
                continue
            accesses = core.accesses_of(operands)
            bound = accesses[: len(accesses) - len(core.steps_of(operands))]
            near += accesses
            far.update((each.cell, way) for each in accesses for way in ways(each))
            delayed = frozenset() if state.attack is None else state.attack.delayed
            if not blocks(state.facts[rank], operands) and not any(
                hits(self.instance, each, delayed) for each in bound
            ):
                far |= self.futures[rank][transition.target]
        return near, frozenset(far), any(isinstance(each.form, core.Barrier) for each in leaving)

    def undisturbed(self, state: State, members: Sequence[int]) -> bool:
        """Whether nobody else can access what the ``members`` are about to access before one of these moves, and no
        barrier can come."""
        if not set(members) <= set(range(self.instance.nodes)):
            return False
        outlooks = [self.outlook(state, rank) for rank in range(self.instance.nodes)]
        if all(outlooks[rank][2] for rank in members):
            return False
        others = [outlook for rank, outlook in enumerate(outlooks) if rank not in members]
        return not any(self.disturbs(other, outlooks[rank]) for rank in members for other in others)

    def disturbs(self, other: Outlook, own: Outlook) -> bool:
        """Whether a rank may access what another one is about to access."""
        return any(hits(self.instance, access, other[1]) for access in own[0])

    def refusal(self, states: Sequence[State], expanded: Sequence[Sequence[int] | None]) -> str | None:
        """Why the ``states`` are no proof; None when they are. ``expanded``: for each the ranks that move there, None
        for all."""
        place = {state: number for number, state in enumerate(states)}
        if self.moves.initial not in place:
            return "the initial state is missing"
        for number, (state, members) in enumerate(zip(states, expanded, strict=True)):
            if state.attack is None and self.faults(state):
                return f"in state {number} a command has no value"
            if members is not None and not self.undisturbed(state, members):
                return f"in state {number} the ranks {list(members)} may not be followed alone"
            goes_on = members is None
            for move in self._followed(state, members):
                if move.target is None:
                    return f"a move from state {number} closes a cycle"
                if move.target not in place:
                    return f"a move from state {number} leads to no state of the set"
                goes_on = goes_on or (move.ordinary and place[move.target] > number)
            if not goes_on:
                return f"in state {number} no move of the ranks {list(members or ())} leads on"
        return None

    def _followed(self, state: State, members: Sequence[int] | None) -> Iterator[Move]:
        for rank in range(self.instance.nodes) if members is None else members:
            yield from self.moves.of_rank(state, rank)
        if members is None:
            yield from self.moves.of_barriers(state)


def waited_for(values: Values, commands: list[list[list[Command]]]) -> frozenset[int]:
    """The cells for whose values some command may wait."""
    return frozenset(
        cell
        for automaton, own in zip(values.instance.automata, commands, strict=True)
        for leaving, known in zip(automaton.out, own, strict=True)
        for transition, command in zip(leaving, known, strict=True)
        if isinstance(transition.form, core.Immediate) and transition.form.may_block
        for cell in command.bound[0].cells
    )


def _is_barrier(command: Command) -> bool:
    return isinstance(command.ordered, core.Barrier)
