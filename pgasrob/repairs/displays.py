"""Compares what is seen of two programs outside of memory: files, and the terminal that all ranks write to.

What somebody sees of a place (`program.outside_memory`) in a run is its *display*: the calls that write there, in
their order, each with the values that its rank has read since its last one, for these may be written; and where one
rank reads the place, its reading calls among them. An edited program must have no display that the program has not
(`proofs/repair.md`). Displays are compared as languages: calls are the letters, and a set of states of the program
follows the edited one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from pgasrob.analysis.futures import futures
from pgasrob.program.core import Cell
from pgasrob.program.instance import Instance
from pgasrob.program.outside_memory import Place
from pgasrob.program.statements import Span
from pgasrob.robustness.maximal_runs import Found, Node, Read, Runs, S, Viewer, Word
from pgasrob.stop_points import stop_point

MOST_STATES = 20_000
"""Of one program, as far as its displays are compared."""
NOWHERE = 1 << 40
"""The address of a place that a program does not access."""
MOST_UNREAD = 100
"""Values that a rank reads between two calls: in a loop that is not known in number, there is no end of them."""
MOST_WORK = 300_000
"""States in the sets that are made to compare displays."""


WRITES = frozenset(("store", "popb", "popc", "fetch_add", "fetch_update", "swap", "compare_swap", "await_add"))
"""The kinds of events that write."""
DEEPEST = 4
"""Transfers, one after the other, through which it is followed who has stored what one brings."""
Writer = tuple[object, ...]
"""Who has stored a value: the rank, where, and for a transfer who has stored what it brings; () at the beginning."""
COMMUTING: Writer = ("updates",)


class Reading(NamedTuple):
    """A value that a rank has read: where, from which cell, and who has stored it where that counts."""

    site: int
    cell: str
    value: int
    writer: Writer = ()


class Letter(NamedTuple):
    """A call of ``rank`` at ``site``, which ``writes`` to the place or reads there; and if it writes, what its rank has
    read since it wrote there before. At ``rank`` -1 a run has ended."""

    rank: int
    site: int
    writes: bool
    read: tuple[Reading, ...] = ()


END = Letter(-1, 0, writes=False)
Unread = tuple[tuple[Reading, ...], ...]
"""What each rank has read since it wrote to the place."""
At = tuple[int, Unread] | None
"""Where a run is, None at its end."""


class Move(NamedTuple):
    """An edge to the node ``to``, by a command of ``rank``: the cell of the place that it accesses, None for none, and
    what it reads."""

    to: int
    rank: int
    site: int
    place: int | None
    writes: bool
    read: tuple[Reading, ...]


class TooMany(Exception):
    """There are too many states to compare displays."""


class _Onlooker(Viewer):
    """Looks at runs on their way alone: nothing counts at their end. ``watched``: the cells of which it counts who has
    stored what they hold; ``sites``: where the commands of each rank are."""

    def __init__(self, instance: Instance, watched: Collection[int], sites: Mapping[tuple[int, int], int]) -> None:
        super().__init__(instance)
        self._watched, self._sites = watched, sites
        self._numbers: dict[Writer, int] = {}
        self._writers: list[Writer] = []

    def after(self, node: Node[S], word: Word, state: S) -> Node[S]:
        return Node(state, (), self._stored(node, word) if self._watched else ())

    def writer(self, node: Node[S], cell: Cell) -> Writer:
        """Who has stored what ``cell`` holds at ``node``."""
        return next((self._writers[number] for read, number in node.found if read.cell == cell), ())

    def _stored(self, node: Node[S], word: Word) -> tuple[tuple[Read, int], ...]:
        """The number of the writer of each cell, after ``word``."""
        stored = {read.cell: number for read, number in node.found}
        source: Writer = ()
        site = self._sites.get((word[0].rank, word[0].which), 0)
        for letter in word:
            if letter.cell is None or self.instance.index(letter.cell) not in self._watched:
                continue
            if letter.kind not in WRITES:
                source = self._writers[stored[letter.cell]] if letter.cell in stored else ()
                continue
            writer = COMMUTING if letter.commutes else (letter.rank, site, *source[: 2 * DEEPEST])
            if writer not in self._numbers:
                self._numbers[writer] = len(self._writers)
                self._writers.append(writer)
            stored[letter.cell] = self._numbers[writer]
        return tuple((Read(0, 0, cell), number) for cell, number in sorted(stored.items()))


class Seen:
    """The runs of ``instance`` with ``places`` as they are seen: under SC, or ``on_the_network``. ``site``: where a
    span of its text is in the text that others are compared with. ``names``: the cells whose values count; ``writers``:
    so does who has stored them, in SC runs.

    Raises :class:`TooMany`.
    """

    def __init__(
        self,
        instance: Instance,
        places: Sequence[Place],
        site: Callable[[Span], int],
        names: Collection[str],
        on_the_network: bool,
        writers: bool = False,
    ) -> None:
        self.instance, self.places = instance, places
        self._names = {address for address in instance.program.own if instance.program.cell_name(address) in names}
        self._places = {place.address for place in places}
        self._sites: dict[tuple[int, int], tuple[int, bool]] = {}
        for rank, automaton in enumerate(instance.automata):
            for edge in automaton.transitions:
                self._sites[rank, edge.occurrence] = site(edge.span), edge.command.kind == "store"
        self.controls: list[tuple[int, ...]] = []
        self.moves: list[list[Move]] = []
        self.ends: set[int] = set()
        sites = {command: site for command, (site, _) in self._sites.items()}
        viewer = _Onlooker(instance, self._names if writers and not on_the_network else (), sites)
        if on_the_network:
            self._explore(Runs.on_the_network(viewer), viewer)
        else:
            self._explore(Runs.under_sc(viewer), viewer)

    def _explore(self, runs: Runs[S], viewer: _Onlooker) -> None:
        numbers: dict[Node[S], int] = {}

        def number(node: Node[S]) -> int:
            if node not in numbers:
                numbers[node] = len(numbers)
                self.controls.append(node.state.control)
                self.moves.append([])
            return numbers[node]

        first, _ = runs.begin()
        number(first)
        for node, edges in runs.expanded():
            if runs.states > MOST_STATES:
                raise TooMany
            at = number(node)
            for word, after, sights in edges:
                read = tuple(
                    Reading(
                        self._sites[found.rank, found.occurrence][0],
                        self.instance.cell_name(found.cell),
                        value,
                        viewer.writer(node, found.cell),
                    )
                    for found, value in (each for each in sights if isinstance(each, Found))
                    if self.instance.index(found.cell) in self._names
                )
                self.moves[at].append(self._move(word, number(after), read))
            if not edges and viewer.end(node) is not None:
                self.ends.add(at)

    def _move(self, word: Word, to: int, read: tuple[Reading, ...]) -> Move:
        first = word[0]
        place = first.cell if first.cell in self._places else None
        site, writes = self._sites.get((first.rank, first.which), (0, False))
        return Move(to, first.rank, site, place, writes, read)


def accessors(instance: Instance, place: Place) -> tuple[frozenset[int], frozenset[int]]:
    """The ranks that may write to ``place``, and those that may read there."""
    found = [of[0] for of in futures(instance).ever]
    writing = frozenset(rank for rank, made in enumerate(found) if made.changed >> place.address & 1)
    return writing, frozenset(rank for rank, made in enumerate(found) if made.used >> place.address & 1)


class _Display:
    """The automaton of the displays of ``place`` as ``reader`` sees them."""

    def __init__(self, seen: Seen, place: Place, reader: int | None) -> None:
        self._seen, self._reader = seen, reader
        # By its name: the cells of two programs may have other addresses.
        self._address = next((each.address for each in seen.places if each.name == place.name), NOWHERE)
        self._ever = futures(seen.instance).ever
        self._made: dict[At, tuple[list[At], list[tuple[Letter, At]]]] = {}
        self._after: dict[frozenset[At], dict[Letter, frozenset[At]]] = {}
        self.work = 0
        self.initial: At = 0, ((),) * seen.instance.processes

    def steps(self, at: At) -> tuple[list[At], list[tuple[Letter, At]]]:
        """Where a run may go from ``at`` without a letter, and by which letters."""
        if at not in self._made:
            self._made[at] = self._steps(at)
        return self._made[at]

    def _steps(self, at: At) -> tuple[list[At], list[tuple[Letter, At]]]:
        silent: list[At] = []
        letters: list[tuple[Letter, At]] = []
        if at is None:
            return silent, letters
        node, unread = at
        for move in self._seen.moves[node]:
            read = unread[move.rank] + move.read
            if move.place == self._address and move.writes:
                letter = Letter(move.rank, move.site, True, read)
                letters.append((letter, (move.to, self._unread(unread, move, ()))))
            elif move.place == self._address and move.rank == self._reader:
                letter = Letter(move.rank, move.site, False)
                letters.append((letter, (move.to, self._unread(unread, move, read))))
            else:
                silent.append((move.to, self._unread(unread, move, read)))
        if node in self._seen.ends:
            letters.append((END, None))
        return silent, letters

    def _unread(self, unread: Unread, move: Move, read: tuple[Reading, ...]) -> Unread:
        """What each rank has read when it writes to the place next; nothing where it cannot any more."""
        if not self._ever[move.rank][self._seen.controls[move.to][move.rank]].changed >> self._address & 1:
            read = ()
        if len(read) > MOST_UNREAD:
            raise TooMany
        if read == unread[move.rank]:
            return unread
        return (*unread[: move.rank], read, *unread[move.rank + 1 :])

    def closed(self, some: Collection[At]) -> frozenset[At]:
        """All that is reached from ``some`` without a letter."""
        found, stack = set(some), list(some)
        while stack:
            stop_point()
            for after in self.steps(stack.pop())[0]:
                if after not in found:
                    found.add(after)
                    stack.append(after)
            if self.work + len(found) > MOST_WORK:
                raise TooMany
        self.work += len(found)
        return frozenset(found)

    def after(self, some: frozenset[At]) -> dict[Letter, frozenset[At]]:
        """Where the closed set ``some`` leads by each letter."""
        if some not in self._after:
            reached: dict[Letter, set[At]] = defaultdict(set)
            for at in some:
                for letter, to in self.steps(at)[1]:
                    reached[letter].add(to)
            self._after[some] = {letter: self.closed(to) for letter, to in reached.items()}
        return self._after[some]


class Difference(NamedTuple):
    """What comes next in a display that is new, and what may come there in the displays that there were."""

    place: Place
    new: Letter
    old: tuple[Letter, ...]


def first_difference(new: Seen, old: Seen) -> Difference | None:
    """A display of ``new`` that ``old`` has not. Raises :class:`TooMany`."""
    for place in new.places:
        readers = accessors(new.instance, place)[1]
        for reader in (*sorted(readers), *[None] * (not readers)):
            found = _difference(_Display(new, place, reader), _Display(old, place, reader))
            if found is not None:
                return Difference(place, *found)
    return None


def _difference(new: _Display, old: _Display) -> tuple[Letter, tuple[Letter, ...]] | None:
    begin = new.initial, old.closed([old.initial])
    met, stack = {begin}, [begin]
    while stack:
        stop_point()
        at, before = stack.pop()
        silent, letters = new.steps(at)
        found = [(after, before) for after in silent]
        for letter, after in letters:
            followed = old.after(before)
            if letter not in followed:
                return letter, tuple(sorted(followed))
            found.append((after, followed[letter]))
        for each in found:
            if each not in met:
                met.add(each)
                stack.append(each)
        if len(met) > MOST_WORK:
            raise TooMany
    return None
