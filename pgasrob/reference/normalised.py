"""What is stored for a state: local commands merged, what is dead forgotten, interchangeable ranks in order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from pgasrob.analysis.futures import Futures
from pgasrob.program.instance import Instance
from pgasrob.reference.attack import State
from pgasrob.reference.liveness_reduction import Liveness
from pgasrob.reference.merging import merged
from pgasrob.robustness.normal_form import Letter, Word

Order = tuple[int, ...]
"""For every rank the one whose place it takes."""


class Normalised(NamedTuple):
    """``state`` is None when the attack can lead nowhere. ``word`` holds the events of the commands that were merged,
    by ranks that have the places they had before; after it, ranks change places as ``order`` says."""

    word: Word
    state: State | None
    order: Order


class Normaliser:
    """Normalises the states of an instance, as some of the reductions demand; ``races``: of a search for races."""

    def __init__(self, instance: Instance, futures: Futures, reductions: Collection[str], races: bool = False) -> None:
        self._instance = instance
        self._merging = "merging" in reductions
        self._liveness: Liveness | None = None
        self._same: Order = tuple(range(instance.processes))
        # What ranks have to do with values is asked for only when it is needed: it costs an analysis of the program.
        registers: Sequence[int | None] = [None] * len(instance.registers)
        cells: Sequence[int | None] = [None] * instance.size
        self._symmetry = None
        if "symmetry" in reductions:
            from pgasrob.analysis.symmetry import symmetry

            self._symmetry = symmetry(instance)
            registers, cells = self._symmetry.registers, self._symmetry.cells
        if "liveness" in reductions:
            dead_registers, dead_cells = tuple(map(_dead, registers)), tuple(map(_dead, cells))
            self._liveness = Liveness(instance, futures, dead_registers, dead_cells * instance.nodes, races)

    def normalised(self, state: State, moved: Iterable[int]) -> Normalised:
        """What is stored for ``state``, which has been reached by a move of the ranks ``moved``."""
        word: Word = ()
        if self._merging:
            word, state = merged(self._instance, state, moved)
        if self._liveness is not None:
            alive = self._liveness.reduced(state)
            if alive is None:
                return Normalised(word, None, self._same)
            state = alive
        if self._symmetry is None or not self._symmetry.classes:
            return Normalised(word, state, self._same)
        from pgasrob.reference.renaming import representative

        return Normalised(word, *representative(self._instance, self._symmetry, state))

    def renamed(self, word: Word, ranks: Sequence[int]) -> Word:
        """The events of ``word`` when ``ranks`` has the real rank in every place."""
        barrier = sorted(
            ((part, self._real(letter, ranks)) for part, letter in word if letter.kind == "barrier"),
            key=lambda each: each[1].rank if each[1].home is None else each[1].home,
        )
        return (*barrier, *((part, self._real(letter, ranks)) for part, letter in word if letter.kind != "barrier"))

    def _real(self, letter: Letter, ranks: Sequence[int]) -> Letter:
        cell = letter.cell
        if cell is not None and self._symmetry is not None and self._instance.index(cell) in self._symmetry.moving:
            cell = ranks[self._instance.owner(cell)] * self._instance.size + self._instance.index(cell)
        return letter._replace(rank=ranks[letter.rank], cell=cell)


def _dead(holds: int | None) -> int:
    """The value of a dead register or cell: one that stands for no rank, when it ``holds`` ranks plus a number."""
    return 0 if holds is None else holds - 1
