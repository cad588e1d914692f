"""The attack search and the facts of the SC runs, by the native kernel.

Same states, same order, same answers as `reference.attack` and `semantics.sequential`, which are the reference. The
kernel says which moves it took; what events they are, is found out here by running them once more.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from pgasrob.analysis.addresses_without_effect import with_fixed_addresses
from pgasrob.program.expressions import Fault
from pgasrob.program.illegal_calls import Claim
from pgasrob.program.instance import Instance
from pgasrob.robustness.engine import PIECE, InOnePart, Violation, until
from pgasrob.robustness.kernel_tables import Tables, tables
from pgasrob.robustness.moves import KernelMove, Move, Rerun, in_two_parts
from pgasrob.robustness.normal_form import Word
from pgasrob.robustness.reduction import REDUCTIONS
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.sequential import FoundFault, assumes_are_guesses

if TYPE_CHECKING:
    from pgasrob._kernel import Search
    from pgasrob.robustness.trace_parts import DividedTraces

LARGE, LARGE_PIECE = 16_384, 2_048
"""From so many states on pieces are larger, so that threads have enough to do."""
MANY_NODES = 16
"""From so many nodes on pieces are smaller: to look at a state takes the longer the more ranks there are."""


def piece(states: int, nodes: int) -> int:
    """States for the kernel to look at before it lets its caller look around, after so many."""
    usual = PIECE if states < LARGE else LARGE_PIECE
    return max(1, usual * MANY_NODES // max(nodes, MANY_NODES))


class Decoder:
    """Decodes what the kernel reports of ``instance``, which it knows as ``tables``."""

    def __init__(self, instance: Instance, tables: Tables) -> None:
        self._instance, self._tables, self.claims = instance, tables, tables.claims
        sizes = (len(automaton.transitions) for automaton in instance.automata)
        self._first = [0, *accumulate(sizes)]
        """The number of each process's first transition."""

    def violation(self, moves: Sequence[KernelMove]) -> Violation:
        """The events of a run, and the part of each."""
        return Violation(*in_two_parts(self.words(moves)))

    def words(self, moves: Sequence[KernelMove]) -> list[Word]:
        """The events of each move of a run, with their parts."""
        return list(Rerun(self._instance).words(self._moves(moves)))

    def computation(self, moves: Sequence[KernelMove]) -> Computation:
        """The events of a run."""
        return self.violation(moves).computation

    def fault(self, moves: Sequence[KernelMove], rank: int, number: int) -> FoundFault:
        """The fault of the command of ``rank`` with the transition ``number`` after a run."""
        transition, rerun = self._tables.edges[number], Rerun(self._instance)
        for _ in rerun.words(self._moves(moves)):
            pass
        registers = rerun.registers[rank]
        try:
            self._instance.operands(rank, transition, registers)
        except Fault as fault:
            return FoundFault(rank, transition, str(fault), fault.code, registers, self.computation(moves))
        raise AssertionError("the kernel reports a fault where there is none")

    def _moves(self, moves: Sequence[KernelMove]) -> Iterator[Move]:
        for rank, taken, parts in moves:
            passing = [bisect_right(self._first, number) - 1 for number in taken] if rank is None else parts
            yield rank, [self._tables.edges[number] for number in taken], passing


class DecodedFacts:
    """The first fault and deadlock that ``search``, of the kernel, has met, and the first failure of each claim, each
    with a run.

    A fact does not change once it is known, so its run is worked out once.
    """

    def __init__(self, search: Search | DividedTraces, decoder: Decoder) -> None:
        self._reports, self._decoder = search, decoder
        self.checks_deadlock: bool = search.checks_deadlock
        self._fault: FoundFault | None = None
        self._failed: dict[Claim, Computation] = {}
        self._deadlock: Computation | None = None

    @property
    def fault(self) -> FoundFault | None:
        if self._fault is None and (found := self._reports.fault) is not None:
            self._fault = self._decoder.fault(*found)
        return self._fault

    @property
    def failed(self) -> Mapping[Claim, Computation]:
        if len(self._failed) < self._reports.failures:
            for number, moves, rank, transition in self._reports.failed:
                claim = self._decoder.claims[number]
                if claim not in self._failed:
                    self._failed[claim] = self._decoder.computation([*moves, (rank, [transition], [])])
        return self._failed

    @property
    def deadlock(self) -> Computation | None:
        if self._deadlock is None and (moves := self._reports.deadlock) is not None:
            self._deadlock = self._decoder.computation(moves)
        return self._deadlock


class NativeFacts(DecodedFacts):
    """What is true of the SC runs, with what :class:`~pgasrob.semantics.sequential.SequentialFacts` has and does.

    By itself it searches the SC runs. As the ``facts`` of a :class:`NativeSearch` it learns from that search; then
    ``explore`` is for those alone who do not run that, since it is ``settled``.
    """

    nothing_to_search = False

    def __init__(
        self,
        instance: Instance,
        reductions: Collection[str] = (),
        memory_limit: int | None = None,
        threads: int = 1,
        sources: Sequence[int] | None = None,
        *,
        attack: bool = False,
    ) -> None:
        from pgasrob._kernel import Search

        compiled = tables(instance, reductions, sources)
        if not attack and "liveness" in reductions:
            # Moves are those of the instance, transition by transition; only for the search are they made simpler.
            compiled = replace(tables(with_fixed_addresses(instance), reductions, sources), edges=compiled.edges)
        self.search = Search(
            compiled,
            attack=attack,
            guesses=assumes_are_guesses(instance),
            reductions=[name for name in reductions if name != "infeasibility"],
            memory_limit=memory_limit,
            threads=threads,
        )
        self.decoder, self._nodes = Decoder(instance, compiled), instance.processes
        super().__init__(self.search, self.decoder)

    @property
    def complete(self) -> bool:
        return self.nothing_to_search or self.search.sc_complete

    @property
    def states(self) -> int:
        return 0 if self.nothing_to_search else self.search.sc_states

    @property
    def transitions(self) -> int:
        return self.search.sc_transitions

    def explore(self, most: int | None = None) -> Iterator[None]:
        """Look at some more states per iteration; ends at a fault, when all SC runs have been seen, or more than
        ``most`` states."""
        return until(self, self._pieces(), most)

    def _pieces(self) -> Iterator[None]:
        while not self.search.run(piece(self.search.states, self._nodes)):
            yield


class NativeSearch(InOnePart):
    """The attack search of an instance, with what :class:`~pgasrob.reference.attack_search.AttackSearch` has and does.

    ``facts`` are those of the SC runs that the search has passed. A fault does not end it: ``facts.fault`` is for the
    caller to look at. ``settled``: no step can be the source, so that there is no violation, and what is searched are
    SC runs alone. ``memory_limit`` bounds the bytes of what is stored; beyond it ``run`` raises MemoryError.
    ``reductions`` are names of :data:`pgasrob.robustness.reduction.REDUCTIONS`; none: the plain search. With several
    ``threads`` a large search takes less time and finds the same, state for state. ``sources``: what infeasibility has
    left, if that is known: by transition, the steps that may be the source, as bits.
    """

    def __init__(
        self,
        instance: Instance,
        reductions: Collection[str] = REDUCTIONS,
        memory_limit: int | None = None,
        threads: int = 1,
        sources: Sequence[int] | None = None,
    ) -> None:
        self.settled = nothing_to_search = False
        if "infeasibility" in reductions:
            from pgasrob.robustness.reduction.infeasibility import choosable, is_settled

            sources = choosable(instance) if sources is None else sources
            self.settled = not any(sources)
            nothing_to_search = is_settled(instance, sources)
            if nothing_to_search:  # so nothing is worked out for a search
                reductions = ()
        self.facts = NativeFacts(instance, reductions, memory_limit, threads, sources, attack=True)
        self.facts.nothing_to_search = nothing_to_search
        self._search = self.facts.search

    @property
    def states(self) -> int:
        return 0 if self.facts.nothing_to_search else self._search.states

    @property
    def transitions(self) -> int:
        return self._search.transitions

    @property
    def memory(self) -> int:
        """Bytes of all that the kernel stores."""
        return self._search.memory

    def run(self) -> Iterator[None]:
        """Search, yielding after every piece; ends when a violation is found or there is none.

        Where no attack can begin and the SC runs have nothing to show, there is nothing to search.
        """
        if self.facts.nothing_to_search:
            return
        yield from self.facts.explore()
        if (moves := self._search.violation) is not None:
            self.violation = self.facts.decoder.violation(moves)
