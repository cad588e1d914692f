"""The marks and the cycle type of a violating computation (the paper, Lemma 13 and section 5.3), and the runs of the
automata Z on the marked word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pgasrob.program.instance import Instance
from pgasrob.robustness.cycle_types import CycleType, CycleTypeAutomata, PairAutomaton
from pgasrob.robustness.explanation.reordering import letter_of
from pgasrob.robustness.marked_normal_form import ENTER, LEAVE, Marked, Marks
from pgasrob.robustness.marking import marks_of
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.happens_before import Edge


class Visit(NamedTuple):
    """Where a cycle enters and leaves a rank: places of events a and d with a <->* b ->*po c <->* d."""

    enter: int
    leave: int


@dataclass(frozen=True, slots=True)
class Marking:
    """``visits``: those of the cycle, in its order, of different ranks, that of the least rank first; ``marks``: of
    each event."""

    computation: Computation
    visits: tuple[Visit, ...]
    marks: tuple[Marks, ...]

    @property
    def cycle_type(self) -> CycleType:
        return tuple(self.computation[visit.enter].rank for visit in self.visits)

    @property
    def word(self) -> tuple[Marked, ...]:
        """The marked word, a letter per event."""
        return tuple(Marked(letter_of(event), mark) for event, mark in zip(self.computation, self.marks, strict=True))


def mark(computation: Computation, cycle: Sequence[Edge]) -> Marking:
    """The marks that a ``cycle`` of ``computation`` gives, every rank being entered and left at most once."""
    marks, cycle_type = marks_of(cycle, computation)
    where = {(computation[place].rank, name): place for place, carried in enumerate(marks) for name in carried}
    return Marking(computation, tuple(Visit(where[rank, ENTER], where[rank, LEAVE]) for rank in cycle_type), marks)


class PairStep(NamedTuple):
    """A letter that a Z does not ignore: the place of its event, the symbol it is read as, the states around it."""

    place: int
    symbol: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class PairRun:
    """The run of Z for two neighbouring ranks on a marked word; ``accepts`` when it ends in "joined"."""

    automaton: PairAutomaton
    steps: tuple[PairStep, ...]
    accepts: bool


def pair_runs(instance: Instance, marked: Marking) -> list[PairRun]:
    """The runs of the automata Z of ``marked``'s cycle type on its word, one per pair of neighbouring ranks."""
    automata = CycleTypeAutomata(instance)
    return [_pair_run(automata.pair(*pair), marked) for pair in automata.neighbours(marked.cycle_type)]


def _pair_run(automaton: PairAutomaton, marked: Marking) -> PairRun:
    delta, state = automaton.transitions(), "start"
    steps: list[PairStep] = []
    for place, letter in enumerate(marked.word):
        symbol = automaton.read(letter)
        if symbol is None:
            continue
        target = delta[state].get(symbol)
        if target is None:
            return PairRun(automaton, tuple(steps), False)
        steps.append(PairStep(place, symbol, state, target))
        state = target
    return PairRun(automaton, tuple(steps), state == "joined")
