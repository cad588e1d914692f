"""Whether a change leaves the SC outcomes as they are: the states in which SC runs end, and what is read on the way.

In `.pgas` the registers at the end are part of the outcome. In C variables that only one rank can name are computed
away, and what is read may be printed: so each place that reads has to read the same values as before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from pgasrob.program.instance import Instance
from pgasrob.robustness.maximal_runs import End, Found, Runs, Sight, Viewer

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.program.program import Program

MOST_STATES = {False: 5_000, True: 20_000}
"""SC states of a program up to which ends are compared: where they are known to be the same anyway, and where not."""


@dataclass(frozen=True, slots=True)
class _Ends:
    """How SC runs end; and for each rank, for each of its places in a C source that read, the values read there."""

    states: frozenset[tuple[object, ...]]
    reads: tuple[tuple[frozenset[int], ...], ...]


class Compared(Enum):
    SAME = auto()
    """All SC runs end as before."""
    UNTOUCHED = auto()
    """Not compared, there being too many; but what is inserted does nothing in SC runs, in which nothing is late."""
    DIFFERENT = auto()


@dataclass(frozen=True, slots=True)
class Same:
    """How the SC outcomes of the repaired program compare, with the number of ends or the reason; ``undecided``: they
    may be the same, but there are too many."""

    compared: Compared
    ends: int = 0
    why: str = ""
    undecided: bool = False


class Before:
    """The SC outcomes of ``program``, to compare others with."""

    def __init__(self, program: Program | CProgram) -> None:
        self._program = program
        self._ends: dict[tuple[int, frozenset[str], int], _Ends | None] = {}

    def compared(self, after: Program | CProgram, nodes: Sequence[int], acts_in_sc: bool, reads: bool) -> Same:
        """Whether SC runs of ``after`` end as those of the program do: as to their ending and the cells that both have,
        and what is read, if ``reads`` (another call may read at another place).

        Where there are too many runs, they do unless something that was changed ``acts_in_sc`` runs.
        """
        total, most = 0, MOST_STATES[acts_in_sc]
        for count in nodes:
            first, second = self._program.instantiate(count), after.instantiate(count)
            names = frozenset(_names(first) & _names(second))
            key = count, names, most
            if key not in self._ends:
                self._ends[key] = _ends(first, names, most)
            old = self._ends[key]
            new = None if old is None else _ends(second, names, most)
            if old is None or new is None:
                if not acts_in_sc:
                    return Same(Compared.UNTOUCHED)
                why = f"on {count} nodes there are too many SC runs to see that they end as before"
                return Same(Compared.DIFFERENT, why=why, undecided=True)
            if old.states != new.states or (reads and old.reads != new.reads):
                return Same(Compared.DIFFERENT, why=f"on {count} nodes SC runs end or read otherwise than before")
            total += len(new.states)
        return Same(Compared.SAME, total)


def _names(instance: Instance) -> set[str]:
    """The cells of the program's own that it still has; what a library has for itself may be another afterwards."""
    return set(map(instance.program.cell_name, instance.program.lasting))


def _ends(instance: Instance, names: Collection[str], most: int) -> _Ends | None:
    """How SC runs end, what the cells ``names`` hold then, and what is read of them; None: too many states."""
    runs = Runs.under_sc(Viewer(instance))
    addresses = [address for address in range(instance.size) if instance.program.cell_name(address) in names]
    cells = [rank * instance.size + address for rank in range(instance.nodes) for address in addresses]
    in_c, told = not instance.program.source.shows_commands, frozenset(cells)
    reads: list[dict[int, set[int]]] = [{} for _ in range(instance.nodes)]
    ends = set()
    _, before = runs.begin()
    _note(before, told, reads)
    for seen in runs.explore():
        if runs.states > most:
            return None
        if seen is None:
            continue
        (state, _, _), what = seen
        if isinstance(what, End):
            registers = () if in_c else state.registers
            ends.add((what.ending, registers, *(state.memory[cell] for cell in cells)))
        else:
            _note([what], told, reads)
    read = (tuple(frozenset(values) for _, values in sorted(places.items())) for places in reads)
    return _Ends(frozenset(ends), tuple(read))


def _note(sights: Iterable[Sight], cells: Collection[int], reads: Sequence[dict[int, set[int]]]) -> None:
    """The values that are read of ``cells`` among ``sights``, by rank and command."""
    for sight in sights:
        if isinstance(sight, Found) and sight.read.cell in cells:
            reads[sight.read.rank].setdefault(sight.read.occurrence, set()).add(sight.value)
