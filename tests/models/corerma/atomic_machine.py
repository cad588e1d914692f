"""coreRMA programs of atomic accesses as an operational model: one memory, and a partial order of each process'
actions.

An action may take effect when all those have that a rule orders before it whatever is read (IR, GA, CAS-F, CAS-T, F1,
F2, F3, PG, LO). A read gives the last value written. If all accesses are atomic these runs are the consistent
executions (`proofs/models.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pgasrob.models.corerma import order_rules as rules
from pgasrob.models.corerma.consistent_executions import Frame, Settings
from pgasrob.models.corerma.program_actions import FORMS, Action, actions_of
from pgasrob.models.litmus.litmus_program import Program
from pgasrob.models.model_interface import Refusal, Refused
from pgasrob.models.operational import Access, Begun, Machine, Option, Queue, Result, fixed
from pgasrob.models.operational import Step as Letter
from pgasrob.program.bits import members
from pgasrob.program.expressions import Fault

NETWORK = frozenset(("IR", "VPI", "F1", "F2", "F3"))
"""The rules that can be left out. Without any other rule a write could take effect before its value is known."""


class Local(NamedTuple):
    """``issued``: whether the process has issued its actions, all at once, since nothing that it issues depends on what
    it reads. ``done``: the actions that have taken effect, as bits. ``held``: the slots that are still needed, with
    their values."""

    issued: bool
    done: int
    held: tuple[tuple[int, int], ...]


def machine(program: Program, settings: Settings | None = None) -> Machine[Local]:
    """The machine of ``program``; ``settings`` may leave out rules of :data:`NETWORK`. Raises :class:`Refused`, also
    where an access is not atomic."""
    settings = settings or Settings()
    if unknown := set(settings.without) - NETWORK:
        raise ValueError(f"the machine cannot be without {', '.join(sorted(unknown))}")
    FORMS.require(program)
    actions = actions_of(program)
    if refused := tuple(
        Refusal("the machine has atomic accesses alone", action.span) for action in actions.actions if not action.atomic
    ):
        raise Refused(refused)
    frame = Frame(actions, settings)
    constant = frozenset(number for number, writers in enumerate(actions.writers_of) if not writers & ~actions.initial)
    processes = [_Process(frame, thread, constant) for thread in range(len(program.threads))]
    return Machine(program, processes, constant)


class _Process:
    def __init__(self, frame: Frame, thread: int, constant: frozenset[int]) -> None:
        actions = frame.actions
        program = actions.program
        own = actions.threads[thread]
        self._actions = [actions.actions[number] for number in own]
        self._thread, self._size = thread, len(actions.actions)
        self._constant = constant
        self._before = dict.fromkeys(own, 0)
        pairs = [pair for of_rule in frame.static.values() for pair in of_rule]
        pairs += [pair for statement in frame.cas for pair in rules.cas(statement)]
        for first, second in pairs:
            if second in self._before:
                self._before[second] |= 1 << first
        self._all = sum(1 << number for number in own)
        self._of = actions.step_to
        self._registers = actions.registers[thread]
        self._known = {slot: value for slot, value in actions.constants.items() if slot >= 2 * self._size}
        self._instructions = [edges[0][0] for edges in program.threads[thread].graph.out if edges]
        # The reads whose values must be known for what an action writes, and at the end.
        self._needed = {number: actions.reads_for(self._size + number) for number in own}
        self._kept = 0
        for register in self._registers:
            self._kept |= actions.reads_for(register)
        self.initial = Local(False, 0, ())

    def options(self, local: Local) -> tuple[bool, Sequence[Option]]:
        if not local.issued:
            word = tuple(self._issues())
            return True, [fixed(Result(word, Local(True, 0, ())))]
        found = []
        for action in self._actions:
            if not local.done >> action.number & 1 and not self._before[action.number] & ~local.done:
                option = self._option(local, action)
                if action.kind == "flush" or (action.wloc is None and action.rloc in self._constant):
                    # Its effect does not depend on other actions, and only later actions of the process depend on it.
                    return True, [option]
                found.append(option)
        return False, found

    def _issues(self) -> list[Letter]:
        waiting: dict[int, list[Begun]] = {}
        for action in self._actions:
            begun = Begun(action.kind, action.location, _queue(action))
            waiting.setdefault(action.statement, []).append(begun)
        return [
            Letter(self._thread, "issue", instruction, tuple(waiting.get(place, ())))
            for place, instruction in enumerate(self._instructions)
        ]

    def _option(self, local: Local, action: Action) -> Option:
        def then(*read: int) -> Result:
            held = dict(local.held)
            if read:
                held[action.number] = read[0]
            value = None
            if action.wloc is not None:
                value = self._value(held, self._size + action.number)
            done = local.done | 1 << action.number
            access = Access(_queue(action), 0, action.location, read[0] if read else None, value)
            word = (Letter(self._thread, action.kind, None, (), (access,)),)
            writes = () if action.wloc is None or value is None else ((action.wloc, value),)
            return Result(word, Local(True, done, self._still(held, done)), writes)

        return Option(() if action.rloc is None else (action.rloc,), then)

    def _still(self, held: dict[int, int], done: int) -> tuple[tuple[int, int], ...]:
        needed = self._kept
        for number in members(self._all & ~done):
            needed |= self._needed[number]
        return tuple((slot, value) for slot, value in sorted(held.items()) if needed >> slot & 1)

    def _value(self, held: dict[int, int], slot: int) -> int:
        """The value of ``slot``, which is kept in ``held``."""
        if slot in held:
            return held[slot]
        step = self._of.get(slot)
        if step is None:
            return self._known[slot]
        try:
            value = step.compute([self._value(held, source) for source in step.sources])
        except Fault as fault:
            raise Refused((Refusal(f"an execution faults: {fault}", step.span),)) from None
        assert isinstance(value, int)
        held[slot] = value
        return value

    def finished(self, local: Local) -> bool:
        return local.issued and local.done == self._all

    def registers(self, local: Local) -> tuple[int, ...]:
        held = dict(local.held)
        return tuple(self._value(held, slot) for slot in self._registers)


def _queue(action: Action) -> Queue:
    """A queue for each action, since ``_Process`` decides which of them may take effect first."""
    return "cpu", action.number
