"""Checks a set of attack states: that it is closed under the moves (m1) to (m4) of `proofs/attack.md`, section 2.

The set must have the initial state, and no move may lead to Found. A state may list some ranks whose moves alone are
followed: no other rank may be able to disturb them before one of them moves (`proofs/certificates.md`, section 4).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from pgasrob.certificates.check.command_effects import Command, Facts, Known, Touched, Values, may_hit, touches
from pgasrob.program import core
from pgasrob.program.instance import Memory, Registers
from pgasrob.semantics.effect import execute, issue, put


class State(NamedTuple):
    """Control, registers, memory, order of delayed steps; and the attack, of which all is empty before it begins: the
    access of the source, T, t and d."""

    control: tuple[int, ...]
    registers: tuple[Registers, ...]
    memory: Memory
    facts: tuple[Facts, ...]
    source: Touched = frozenset()
    tainted: frozenset[int] = frozenset()
    done: Touched = frozenset()
    delayed: Touched = frozenset()


Look = Callable[[str], object]
"""Called with a description of what is being checked."""
Source = tuple[int, int, int, int]
"""Rank, control state, place of the transition there, number of the step."""


class States:
    """Checks the states of a certificate, given ``values`` that are closed. The steps that are chosen are ``sources``;
    the others must be known to lead to no Found."""

    def __init__(self, values: Values, sources: Collection[Source]) -> None:
        self.values, self.instance, self.sources = values, values.instance, sources
        count, instance = values.instance.nodes, values.instance
        self.initial = State((0,) * count, (instance.registers,) * count, instance.memory, (frozenset(),) * count)

    def refusal(self, listed: Mapping[tuple[Any, ...], Sequence[int] | None], look: Look) -> str | None:
        """Why the ``listed`` states are no proof; None when they are one. ``look`` is called with the position."""
        states = {self._state(*each): members for each, members in listed.items()}
        number = {state: place for place, state in enumerate(states)}
        if self.initial not in number:
            return "the initial state is missing"
        for state, members in states.items():
            look(f"state {number[state]} of {len(states)}")
            if not state.source and self.faults(state):
                return f"in state {number[state]} a command has no value"
            if members is not None and not self.may_go_alone(state, members):
                return f"in state {number[state]} the ranks {list(members)} may not be followed alone"
            leads_on = not members
            for target in self.followed(state, members):
                if target is None:
                    return f"a move from state {number[state]} closes a cycle"
                if target not in number:
                    return f"a move from state {number[state]} leads to no state of the set"
                ordinary = bool(target.source) == bool(state.source)
                leads_on = leads_on or (number[target] > number[state] and ordinary)
            if not leads_on:
                return f"in state {number[state]} no move of the ranks {list(members or ())} leads on"
        return None

    def _state(self, control: Any, registers: Any, changed: Any, *rest: Any) -> State:
        """A state as it is listed, with the cells of memory that have changed, and what they hold."""
        memory = dict(enumerate(self.instance.memory)) | dict(changed)
        return State(control, registers, tuple(memory.values()), *rest)

    # Moves

    def followed(self, state: State, members: Sequence[int] | None) -> Iterator[State | None]:
        """The states to which the moves of some ranks lead, with None for Found; ranks None: all, and barriers (m4)."""
        for rank in range(self.instance.nodes) if members is None else members:
            yield from self.of_rank(state, rank)
        for arrivals in self.instance.barriers(state.control) if members is None else ():
            tainted = frozenset(range(self.instance.nodes) if state.source else ())
            yield state._replace(control=tuple(arrival.target for _, arrival in arrivals), tainted=tainted)

    def of_rank(self, state: State, rank: int) -> Iterator[State | None]:
        """(m1) to (m3') by commands of ``rank``."""
        made = state.done | state.delayed
        known = Known(state.source, rank in state.tainted, state.done, made, state.delayed, state.facts[rank])
        for command in self.before(state, rank):
            if command.is_barrier or not self._may_issue(state, command):
                continue
            if state.source:
                if known.closes(command):
                    yield None
                for first, reached in known.goes_on(command):
                    yield self._moved(state, command, first, state.source if reached else None)
            else:
                yield self._moved(state, command, len(command.steps))
                for number, step in enumerate(command.steps):
                    if (*command.at, number) in self.sources:
                        yield self._moved(state, command, number, step.touches)

    def _moved(self, state: State, command: Command, first: int, source: Touched | None = None) -> State:
        """After a command, whose steps from ``first`` on are delayed; with a ``source`` it is part of the attack."""
        rank, registers = command.at[0], state.registers[command.at[0]]
        done = execute(self.instance.operands(rank, command.transition, registers), registers, state.memory, first)
        assert done is not None, "it has been asked whether it is enabled"
        attack = state[4:]
        if source is not None:
            now, later = touches(command.bound + command.steps[:first]), touches(command.steps[first:])
            attack = source, state.tainted | {rank}, state.done | now, state.delayed | later
        control, files = put(state.control, rank, command.transition.target), put(state.registers, rank, done[0])
        return State(control, files, done[1], put(state.facts, rank, command.after(state.facts[rank], first)), *attack)

    def before(self, state: State, rank: int) -> list[Command]:
        """The next commands of a rank."""
        return self.values.issued(rank, state.control[rank], state.registers[rank])

    # What is looked ahead

    def faults(self, state: State) -> bool:
        """Whether the next command of a rank has no value."""
        return not all(each.legal for rank in range(self.instance.nodes) for each in self.before(state, rank))

    def may_go_alone(self, state: State, members: Collection[int]) -> bool:
        """Whether no barrier can come before a move of the ``members``, and nobody disturbs them; where there are none,
        whether nothing leads from an attack to Found."""
        standing = (self.before(state, rank) for rank in members)
        begins = any(not any(each.is_barrier for each in own) for own in standing) if members else bool(state.source)
        return begins and set(members) <= set(range(self.instance.nodes)) and self.disturber(state, members) is None

    def disturber(self, state: State, members: Collection[int]) -> int | None:
        """A rank that may make an access in conflict with the next accesses of the ``members`` (without members: with
        that of the source) before one of them moves; None if no rank may.

        The other ranks are followed up to waits for delayed steps, awaits for what nobody changes, and commands that
        come after D; and up to barriers, unless all ranks may come to one.
        """
        chains = (each.chain for rank in members for each in self.before(state, rank))
        near = touches(each for chain in chains for each in chain) if members else state.source
        others = set(range(self.instance.nodes)) - set(members)
        todo: list[tuple[int, int, Any]] = [(rank, state.control[rank], state.registers[rank]) for rank in others]
        seen, waiting, changed = set(todo), list(todo[:0]), set[int]()
        arrived: dict[int, set[tuple[int, int, Any]]] = defaultdict(set)
        while todo:
            rank, at, file = todo.pop()
            for command in self.values.issued(rank, at, file):
                if not self._may_issue(state, command, changed):
                    waiting.append((rank, at, file))
                    continue
                after = {(rank, command.transition.target, file) for file in command.left}
                # The evidence covers only register files of runs; with any other one the rank may do anything.
                known = all(file in self.values.files[rank][at][1] for _, at, file in after)
                if not known or may_hit(command.chain, near):
                    return rank
                written = {cell for each in command.chain for cell, way in each.touches if way != "r"}
                if not written <= changed:
                    changed |= written
                    todo, waiting = todo + waiting, []
                if any(each.must_hit(state.delayed) for each in command.bound):
                    continue
                if command.is_barrier:
                    arrived[rank] |= after
                    after = set().union(*arrived.values()) if len(arrived) == self.instance.nodes else set()
                todo += after - seen
                seen |= after
        return None

    def _may_issue(self, state: State, command: Command, changed: Collection[int] = ()) -> bool:
        """Whether a command may be enabled where cells hold what they do in ``state``, but for those ``changed``."""
        rank, form, file = command.at[0], command.transition.form, cast(Registers, command.file)
        if not command.left or command.waits(state.facts[rank]):
            return False
        if not isinstance(form, core.Immediate) or not form.may_block or command.chain[0].cell in changed:
            return True
        unknown = any(file[register] is None for register in core.registers_read(form))
        return unknown or issue(self.instance.operands(rank, command.transition, file), file, state.memory) is not None
