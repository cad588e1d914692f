"""The attack search and the facts of the SC runs, by the native kernel.

Same states, same order, same answers as `robustness.attack` and `semantics.sequential`, which are the reference. The
kernel says which moves it took; what events they are, is found out here by running them once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgasrob.automata.multiheaded import comp
from pgasrob.program.control import Transition
from pgasrob.program.expressions import Fault
from pgasrob.program.instance import Instance, Operands, Registers
from pgasrob.robustness.attack import DELAYED, NOW, PIECE
from pgasrob.robustness.normal_form import Letter, numbered, remote_word
from pgasrob.robustness.tables import tables
from pgasrob.robustness.violation import Violation
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.effect import execute
from pgasrob.semantics.sequential import FoundFault
from pgasrob.semantics.steps import steps_of

Move = tuple[int | None, list[int], list[int]]
"""What the kernel tells of a move: rank, transition, parts of its steps; for a barrier None and the transition of every
rank."""
Word = tuple[tuple[int, Letter], ...]


def available() -> bool:
    """Whether the kernel has been built."""
    try:
        import pgasrob._kernel  # noqa: F401
    except ImportError:
        return False
    return True


class _Kernel:
    """A search of the kernel, and its moves understood."""

    def __init__(self, instance: Instance, attack: bool, memory_limit: int | None) -> None:
        from pgasrob._kernel import Search

        self.instance = instance
        self.tables = tables(instance)
        self.search = Search(self.tables, attack=attack, memory_limit=memory_limit)

    def reason(self, rank: int, transition: Transition, registers: Registers) -> str:
        """Why the command of ``transition`` cannot be evaluated."""
        try:
            self.instance.operands(rank, transition, registers)
        except Fault as fault:
            return str(fault)
        raise AssertionError("the kernel reports a fault where there is none")

    def computation(self, moves: Sequence[Move]) -> tuple[Computation, tuple[int, ...]]:
        """The events of a run, and the part of each."""
        words = list(self._words(moves))
        # comp sorts by part and keeps the order within one, so it can carry the parts along.
        joined = comp([(part, (part, event)) for part, event in numbered(words)], DELAYED)
        return tuple(event for _, event in joined), tuple(part for part, _ in joined)

    def _words(self, moves: Sequence[Move]) -> Iterator[Word]:
        instance = self.instance
        registers = [instance.registers] * instance.nodes
        memory = instance.memory
        for mover, taken, parts in moves:
            transitions = [self.tables.edges[number] for number in taken]
            if mover is None:
                yield tuple(
                    (NOW, Letter("barrier", rank, None, transition.occurrence))
                    for rank, transition in enumerate(transitions)
                )
                continue
            operands = instance.operands(mover, transitions[0], registers[mover])
            yield self._word(mover, transitions[0], operands, parts)
            if DELAYED not in parts:
                after = execute(operands, registers[mover], memory)
                assert after is not None, "the kernel took a move that is not enabled"
                registers[mover], memory = after

    @staticmethod
    def _word(rank: int, transition: Transition, operands: Operands, parts: Sequence[int]) -> Word:
        if steps_of(operands):
            return remote_word(rank, transition, operands, parts)
        return ((NOW, Letter(operands.kind, rank, operands.cell, transition.occurrence)),)


class NativeFacts:
    """What is true of the SC runs, with what :class:`~pgasrob.semantics.sequential.SequentialFacts` has and does.

    By itself it searches the SC runs. As the ``facts`` of a :class:`NativeSearch` it learns from that search, and
    ``explore`` is for nobody to call.
    """

    def __init__(self, instance: Instance, memory_limit: int | None = None, kernel: _Kernel | None = None) -> None:
        self._kernel = kernel or _Kernel(instance, attack=False, memory_limit=memory_limit)
        self._search = self._kernel.search
        self.checks_assertions: bool = self._search.checks_assertions
        self.checks_deadlock: bool = self._search.checks_deadlock
        # A fact does not change once it is known, so its run is worked out once.
        self._fault: FoundFault | None = None
        self._violated: Computation | None = None
        self._deadlock: Computation | None = None

    @property
    def complete(self) -> bool:
        return self._search.sc_complete

    @property
    def states(self) -> int:
        return self._search.sc_states

    @property
    def transitions(self) -> int:
        return self._search.sc_transitions

    @property
    def fault(self) -> FoundFault | None:
        if self._fault is None and (told := self._search.fault) is not None:
            moves, rank, number, registers = told
            transition = self._kernel.tables.edges[number]
            reason = self._kernel.reason(rank, transition, tuple(registers))
            run, _ = self._kernel.computation(moves)
            self._fault = FoundFault(rank, transition, reason, tuple(registers), run)
        return self._fault

    @property
    def violated(self) -> Computation | None:
        if self._violated is None and (told := self._search.violated) is not None:
            moves, rank, number = told
            self._violated, _ = self._kernel.computation([*moves, (rank, [number], [])])
        return self._violated

    @property
    def deadlock(self) -> Computation | None:
        if self._deadlock is None and (moves := self._search.deadlock) is not None:
            self._deadlock, _ = self._kernel.computation(moves)
        return self._deadlock

    def explore(self) -> Iterator[None]:
        """Look at some more states per iteration; ends at a fault or when all SC runs have been seen."""
        while not self._search.run(PIECE):
            yield


class NativeSearch:
    """The attack search of an instance, with what :class:`~pgasrob.robustness.attack.AttackSearch` has and does.

    ``facts`` are those of the SC runs that the search has passed. A fault does not end it: ``facts.fault`` is for the
    caller to look at. ``memory_limit`` bounds the bytes of what is stored; beyond it ``run`` raises MemoryError.
    """

    def __init__(self, instance: Instance, memory_limit: int | None = None) -> None:
        self._kernel = _Kernel(instance, attack=True, memory_limit=memory_limit)
        self._search = self._kernel.search
        self.facts = NativeFacts(instance, kernel=self._kernel)
        self.violation: Violation | None = None
        self.gave_up: str | None = None  # finitely many states: it gives up only when its caller does

    @property
    def states(self) -> int:
        return self._search.states

    @property
    def transitions(self) -> int:
        return self._search.transitions

    @property
    def memory(self) -> int:
        """Bytes of all that the kernel stores."""
        return self._search.memory

    @property
    def doing(self) -> str:
        """What the search is at, for a progress display."""
        return ""

    def run(self) -> Iterator[None]:
        """Search, yielding after every piece; ends when a violation is found or there is none."""
        while not self._search.run(PIECE):
            yield
        moves = self._search.violation
        if moves is not None:
            self.violation = Violation(*self._kernel.computation(moves))
