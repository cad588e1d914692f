"""Compares the SC outcomes of two programs: the states in which SC runs end, and the values read on the way.

In `.pgas` the registers at the end are part of the outcome. In C, variables that only one rank can name are computed
away, and values that are read may be printed: so each place must read the same values as before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from pgasrob.analysis.futures import futures
from pgasrob.program.instance import Instance
from pgasrob.program.statements import Span
from pgasrob.robustness.maximal_runs import End, Found, Runs, Sight, Viewer

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.program.program import Program

Places = Callable[[Span], Hashable]
"""Where in the source a piece of the program is, or of the source that it was made of by edits."""
MOST_STATES = {False: 5_000, True: 20_000}
"""SC states up to which ends are compared, by whether the change acts in SC runs: if not, they are the same anyway."""


@dataclass(frozen=True, slots=True)
class _Ends:
    """How SC runs end; for each rank, for each of its places in a C source that read, the values read there; and the
    same for each of the cells that it reads, by their numbers among those compared."""

    states: frozenset[tuple[object, ...]]
    reads: tuple[tuple[frozenset[int], ...], ...]
    cells: dict[tuple[int, int], frozenset[int]]

    def same_reads(self, other: _Ends, by_place: bool) -> bool:
        """Whether both read the same values ``by_place``, or else of all cells that both read."""
        if by_place:
            return self.reads == other.reads
        return all(other.cells.get(of, values) == values for of, values in self.cells.items())

    def include(self, other: _Ends) -> bool:
        """Whether the other runs all end as some of these do, and read at each place what some of these do."""
        ranks = zip(self.reads, other.reads, strict=True)
        reads = all(len(mine) == len(theirs) and all(map(frozenset.issuperset, mine, theirs)) for mine, theirs in ranks)
        return self.states >= other.states and reads


class Compared(Enum):
    SAME = auto()
    """All SC runs end as before."""
    UNTOUCHED = auto()
    """Too many to compare; but the inserted calls have no effect in SC runs, where operations complete at once."""
    FEWER = auto()
    """All SC runs end as some did before."""
    DIFFERENT = auto()


@dataclass(frozen=True, slots=True)
class Same:
    """How the SC outcomes of the repaired program compare, with the number of ends or the reason; ``undecided``: they
    are too many to tell; ``before``: how many there were, where there may be fewer."""

    compared: Compared
    ends: int = 0
    why: str = ""
    undecided: bool = False
    before: int = 0


class Before:
    """The SC outcomes of ``program``, to compare others with. ``places``: where its commands are."""

    def __init__(self, program: Program | CProgram, places: Places | None = None) -> None:
        self._program, self._places = program, places
        self._instances: dict[int, Instance] = {}
        self._ends: dict[tuple[int, frozenset[str], frozenset[str], int, bool, bool], _Ends | None] = {}

    def _begun(self, count: int) -> Instance:
        """The program on ``count`` nodes."""
        if count not in self._instances:
            self._instances[count] = self._program.instantiate(count)
        return self._instances[count]

    def missing(self, after: Program | CProgram, nodes: Sequence[int]) -> set[str]:
        """The cells of the program that ``after`` lacks, and that :meth:`compared` ignores."""
        return {name for count in nodes for name in _lasting(self._begun(count)) - _lasting(after.instantiate(count))}

    def compared(
        self,
        after: Program | CProgram,
        nodes: Sequence[int],
        acts_in_sc: bool,
        reads: bool,
        registers: bool = True,
        places: Places | None = None,
    ) -> Same:
        """Whether SC runs of ``after`` end as those of the program do: as to their ending and the cells that both have.

        What is read is compared if ``reads``, for another call may read at another place: place by place where
        something that was changed ``acts_in_sc`` runs, else by the cells, since what is waited for may be computed
        away. Where there are too many runs, they do unless something acts in them. ``registers``: of `.pgas` programs
        these are compared, too, which have to be the same then. ``places``: where commands of ``after`` were before the
        change, None for those that are new; if given, ranks that never end have to stand where they stood.
        """
        total, most = 0, MOST_STATES[acts_in_sc]
        for count in nodes:
            old, new = self._both(after, count, most, registers, places)
            if old is None or new is None:
                return _too_many(count) if acts_in_sc else Same(Compared.UNTOUCHED)
            if old.states != new.states or (reads and not old.same_reads(new, by_place=acts_in_sc)):
                return Same(Compared.DIFFERENT, why=f"on {count} nodes SC runs end or read otherwise than before")
            total += len(new.states)
        return Same(Compared.SAME, total)

    def among(self, after: Program | CProgram, nodes: Sequence[int], places: Places) -> Same:
        """Whether all SC runs of ``after`` end as some of the program do, and read at each place what some do;
        ``places`` as in :meth:`compared`."""
        total = before = 0
        for count in nodes:
            old, new = self._both(after, count, MOST_STATES[True], True, places)
            if old is None or new is None:
                return _too_many(count)
            if not old.include(new):
                return Same(Compared.DIFFERENT, why=f"on {count} nodes an SC run ends or reads as none did before")
            total, before = total + len(new.states), before + len(old.states)
        return Same(Compared.FEWER, total, before=before)

    def _both(
        self, after: Program | CProgram, count: int, most: int, registers: bool, places: Places | None
    ) -> tuple[_Ends | None, _Ends | None]:
        """How SC runs of the program and of ``after`` end on ``count`` nodes."""
        first, second = self._begun(count), after.instantiate(count)
        names, read = frozenset(_lasting(first) & _lasting(second)), frozenset(_own(first) & _own(second))
        key = count, names, read, most, registers, places is not None
        if key not in self._ends:
            self._ends[key] = _ends(first, names, read, most, registers, places and self._places)
        old = self._ends[key]
        return old, None if old is None else _ends(second, names, read, most, registers, places)


def _too_many(count: int) -> Same:
    why = f"on {count} nodes there are too many SC runs to see that they end as before"
    return Same(Compared.DIFFERENT, why=why, undecided=True)


def _lasting(instance: Instance) -> set[str]:
    """The cells of the program's own variables that it may access, and whose values at the end count."""
    return _names(instance, instance.program.lasting)


def _own(instance: Instance) -> set[str]:
    """The same with those that are given back before the end, which may have been read."""
    return _names(instance, instance.program.own)


def _names(instance: Instance, addresses: Collection[int]) -> set[str]:
    """Those of ``addresses`` that the program may access. Cells of a library may change with the calls, and variables
    of C may be computed away."""
    program = instance.program
    if program.source.shows_commands:
        return set(map(program.cell_name, addresses))
    accessed = [each[0].cells for each in futures(instance).ever]
    return {
        program.cell_name(address)
        for address in addresses
        if any(cells >> (rank * instance.size + address) & 1 for cells in accessed for rank in range(instance.nodes))
    }


def _ends(
    instance: Instance,
    names: Collection[str],
    read_names: Collection[str],
    most: int,
    with_registers: bool,
    places: Places | None,
) -> _Ends | None:
    """How SC runs end, where the ranks stand then, what the cells ``names`` hold, and what is read of ``read_names``;
    None: too many states."""
    runs = Runs.under_sc(Viewer(instance))
    cells, may_be_read = (_cells(instance, some) for some in (names, read_names))
    in_c, numbers = not instance.program.source.shows_commands, {cell: at for at, cell in enumerate(may_be_read)}
    reads: list[dict[int, set[int]]] = [{} for _ in range(instance.processes)]
    of_cells: dict[tuple[int, int], set[int]] = {}
    ends = set()

    def note(sights: Iterable[Sight]) -> None:
        for sight in sights:
            if isinstance(sight, Found) and sight.read.cell in numbers:
                reads[sight.read.rank].setdefault(sight.read.occurrence, set()).add(sight.value)
                of_cells.setdefault((sight.read.rank, numbers[sight.read.cell]), set()).add(sight.value)

    _, before = runs.begin()
    note(before)
    for seen in runs.explore():
        if runs.states > most:
            return None
        if seen is None:
            continue
        (state, _, _), what = seen
        if isinstance(what, End):
            registers = () if in_c or not with_registers else state.registers
            stand = () if places is None else _standing(instance, state.control, places)
            ends.add((what.ending, stand, registers, *(state.memory[cell] for cell in cells)))
        else:
            note([what])
    read = (tuple(frozenset(values) for _, values in sorted(places.items())) for places in reads)
    return _Ends(frozenset(ends), tuple(read), {of: frozenset(values) for of, values in of_cells.items()})


def _cells(instance: Instance, names: Collection[str]) -> list[int]:
    addresses = [address for address in range(instance.size) if instance.program.cell_name(address) in names]
    return [rank * instance.size + address for rank in range(instance.nodes) for address in addresses]


def _standing(instance: Instance, control: tuple[int, ...], places: Places) -> tuple[frozenset[Hashable], ...]:
    """For each rank the places of its next commands, none for a rank that has ended."""
    return tuple(
        frozenset(places(edge.span) for edge in automaton.out[at])
        for automaton, at in zip(instance.automata, control, strict=True)
    )
