"""The states of an attack: the moves (m1) to (m4) of `proofs/attack.md`, section 2, and what is asked of their set.

It has the initial state, and is closed under the moves, none of which leads to Found. At a state that says so only the
moves of some ranks have to be followed: those that no other rank can come in the way of before one of these moves
(`proofs/certificates.md`, section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from pgasrob.certificates.check.order import Facts, Touched, after, blocks, hits, late, put, ways
from pgasrob.certificates.check.values import Command, Commands, File, Reach, Values, may_hit, must_hit, waited_for
from pgasrob.program import core
from pgasrob.program.expressions import Fault
from pgasrob.program.instance import Instance, Memory, Registers
from pgasrob.semantics.accesses import conflict
from pgasrob.semantics.effect import execute


class Attack(NamedTuple):
    """(a, T, t, d)."""

    source: core.Access[int]
    tainted: frozenset[int]
    done: Touched
    delayed: Touched


class State(NamedTuple):
    """Control, registers, memory and order of delayed steps, and the attack once there is one."""

    control: tuple[int, ...]
    registers: tuple[Registers, ...]
    memory: Memory
    facts: tuple[Facts, ...]
    attack: Attack | None


Move = tuple[State | None, bool]
"""Where a move leads, None: to Found; and whether it is ordinary, no choice of a source or further source."""
Issue = tuple[int, int, core.Operands]
"""A rank, the control state behind its command, and the operands."""
IsSource = Callable[[int, int, int, int], bool]
"""Whether a step may be the source: rank, control state, place of the transition there, number of the step."""


class Moves:
    """The moves of ``instance``. ``waited_for``: the cells for whose values some command may wait. ``is_source``: which
    steps are chosen; the others must be known to lead to no Found."""

    def __init__(self, instance: Instance, waited_for: frozenset[int], is_source: IsSource) -> None:
        self.instance, self.waited_for, self.is_source = instance, waited_for, is_source
        nodes = instance.nodes
        self.initial = State((0,) * nodes, (instance.registers,) * nodes, instance.memory, (frozenset(),) * nodes, None)

    def of_barriers(self, state: State) -> Iterator[Move]:
        """(m4)"""
        attack = state.attack and state.attack._replace(tainted=frozenset(range(self.instance.nodes)))
        for arrivals in self.instance.barriers(state.control):
            control = tuple(arrival.target for arrival in arrivals)
            yield state._replace(control=control, attack=attack), True

    def of_rank(self, state: State, rank: int) -> Iterator[Move]:
        """(m1) to (m3') by commands of ``rank``."""
        for place, transition in enumerate(self.instance.automata[rank].out[state.control[rank]]):
            if isinstance(transition.form, core.Barrier):
                continue
            try:
                operands = self.instance.operands(rank, transition, state.registers[rank])
            except Fault:
                continue
            if blocks(state.facts[rank], operands) or execute(operands, state.registers[rank], state.memory) is None:
                continue
            steps, issue = core.steps_of(operands), (rank, transition.target, operands)
            if state.attack is None:
                yield self._moved(state, issue, len(steps), None), True
                for step in range(len(steps)):
                    if self.is_source(rank, state.control[rank], place, step):
                        begun = Attack(steps[step].access, frozenset((rank,)), frozenset(), frozenset())
                        yield self._moved(state, issue, step, begun), False
            else:
                yield from self._in_attack(state, state.attack, issue)

    def _in_attack(self, state: State, attack: Attack, issue: Issue) -> Iterator[Move]:
        rank, _, operands = issue
        chain, steps, source = core.accesses_of(operands), core.steps_of(operands), attack.source
        bound = len(chain) - len(steps)
        is_late = late(self.instance, state.facts[rank], operands)
        in_done = [hits(access, attack.done) for access in chain]
        in_delayed = [hits(access, attack.delayed) for access in chain]
        for place, access in enumerate(chain):  # (m2)
            if any(is_late[: place + 1 - bound] if place >= bound else ()):
                break
            first = max(place + 1, bound)
            enters = rank in attack.tainted or any(in_done) or any(in_delayed[first:])
            if conflict(access, source) and enters:
                yield None, False
        if any(in_delayed[:bound]):
            return
        first = next((n for n in range(len(steps)) if is_late[n] or in_delayed[bound + n]), len(steps))  # (m3)
        yield self._moved(state, issue, first, attack), True
        for step in range(first):  # (m3')
            if steps[step].access == source and source.commutes and source.cell in self.waited_for:
                joined = attack._replace(tainted=attack.tainted | {rank})
                yield self._moved(state, issue, step, joined), False

    def _moved(self, state: State, issue: Issue, first: int, attack: Attack | None) -> State:
        """After a command of sigma, the steps of which from ``first`` on are delayed."""
        rank, target, operands = issue
        done = execute(operands, state.registers[rank], state.memory, first)
        assert done is not None, "it has been asked whether it is enabled"
        chain, now = core.accesses_of(operands), first - len(core.steps_of(operands))
        if attack and (rank in attack.tainted or any(hits(each, attack.done | attack.delayed) for each in chain)):
            happened, later = chain[: len(chain) + now], chain[len(chain) + now :]
            attack = attack._replace(
                tainted=attack.tainted | {rank},
                done=attack.done.union((each.cell, way) for each in happened for way in ways(each)),
                delayed=attack.delayed.union((each.cell, way) for each in later for way in ways(each)),
            )
        control, registers = put(state.control, rank, target), put(state.registers, rank, done[0])
        facts = put(state.facts, rank, after(self.instance, state.facts[rank], operands, first))
        return State(control, registers, done[1], facts, attack)


class Closed:
    """What is asked of states, by ``values`` that are closed and the ``commands`` with them."""

    def __init__(self, values: Values, commands: Commands, is_source: IsSource) -> None:
        self.instance, self.values = values.instance, values
        self.moves = Moves(self.instance, waited_for(values.case, commands), is_source)

    def refusal(self, states: Sequence[tuple[State, Sequence[int] | None]]) -> str | None:
        """Why the ``states`` are no proof; None when they are.

        Beside each are the ranks that move there, None for all; no rank where nothing leads to Found.
        """
        place = {state: number for number, (state, _) in enumerate(states)}
        if self.moves.initial not in place:
            return "the initial state is missing"
        for number, (state, members) in enumerate(states):
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
        return any(issued is None for rank in range(self.instance.nodes) for issued in self._issues(state, rank))

    def _issues(self, state: State, rank: int) -> list[Command | None]:
        """What the commands are that a rank stands before, of which all is known."""
        at, registers = state.control[rank], state.registers[rank]
        return [self.values.issue(rank, at, n, registers) for n, _ in enumerate(self.instance.automata[rank].out[at])]

    def is_hopeless(self, state: State) -> bool:
        """Whether no command that may still come accesses the source's cell in conflict with it."""
        if state.attack is None:
            return False
        source, cells = state.attack.source, frozenset((state.attack.source.cell,))
        return self._toucher(state, (), [Reach(source, cells, cells, source.cell)]) is None

    def may_go_alone(self, state: State, members: Collection[int]) -> bool:
        """Whether no barrier can come before a move of the ``members``, and nobody disturbs them."""
        if not set(members) <= set(range(self.instance.nodes)):
            return False
        leaving = (self.instance.automata[rank].out[state.control[rank]] for rank in members)
        at_barrier = [any(isinstance(each.form, core.Barrier) for each in own) for own in leaving]
        return not all(at_barrier) and self.disturber(state, members) is None

    def disturber(self, state: State, members: Collection[int]) -> int | None:
        """A rank that may access in conflict what the ``members`` are about to access, before one of them moves."""
        issues = (issued for rank in members for issued in self._issues(state, rank) if issued)
        return self._toucher(state, members, [each for issued in issues for each in issued.chain])

    def _toucher(self, state: State, members: Collection[int], near: Sequence[Reach]) -> int | None:
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
                if issued is None or blocks(state.facts[rank], issued.operands):
                    continue
                if isinstance(form, core.Immediate) and form.may_block:
                    cells = issued.chain[0].cells
                    if not cells & changed and not any(
                        self.values.may_pass(rank, form, file, state.memory[cell]) for cell in cells
                    ):
                        waiting.append((rank, at, file))
                        continue
                if any(may_hit(each, other) for each in issued.chain for other in near):
                    return rank
                if not issued.written <= changed:
                    changed |= issued.written
                    todo, waiting = todo + waiting, []
                if delayed and any(must_hit(each, delayed) for each in issued.bound):
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
