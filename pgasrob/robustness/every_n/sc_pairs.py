"""Follows two ranks at once through the SC runs on every number of nodes: where they may be, and what they read there
(`proofs/every-n.md`, section 8).

In an SC run every access happens when its command is issued. So a cell holds what was written to it last, and by some
rank; if that has come to a place, it is known which of its writes may be its last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import NamedTuple

from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Form, Place
from pgasrob.program.expressions import Expr
from pgasrob.program.graphs import following
from pgasrob.robustness.every_n.flow import EXACT_GROWTHS
from pgasrob.robustness.every_n.known import Known, with_register
from pgasrob.robustness.every_n.linear import ANYTHING, Value, exactly, number
from pgasrob.robustness.every_n.named_commands import Ranks, Rules
from pgasrob.robustness.every_n.rank_cases import Case
from pgasrob.robustness.every_n.symbolic_values import File
from pgasrob.robustness.every_n.unfold import Unfolded
from pgasrob.robustness.reduction.pairwise import States
from pgasrob.stop_points import stop_point

MOST_LOOKS = 40_000
"""Commands that pairs follow in all cases together. A command is followed again whenever more is known before it, and
once for each write whose value it may read."""
MOST_ROUNDS = 8
"""Rounds in which the values of registers are restricted by what pairs show, and the pairs searched anew."""
UNWRITTEN = 1
"""In place of a write: a rank has written nothing to a cell."""
_ALWAYS = frozenset(("set", *core.COMMUTING)) - {"min", "max"}
"""The updates that write whatever a cell held."""


_NOTHING_WRITTEN: Mapping[int, States] = {UNWRITTEN: -1}


class TooManyPairs(Exception):
    """More than `MOST_LOOKS` commands would have to be followed."""


@dataclass(frozen=True)
class _Write:
    """A write by a command of ``rank`` before ``state`` to one of ``cells``. ``covers``: it is certain, and to the only
    cell of these, so that it replaces the value there. ``bit`` stands for it in a set of writes."""

    rank: int
    state: int
    cells: int
    value: Value
    covers: bool
    bit: int


@dataclass(frozen=True)
class Edge:
    """A command that may be issued, and leads to ``target``. ``read``: the values that it reads at its issue from one
    of ``cells``, if there are any, and from ``cell`` for certain (-1: it is not known from which); ``writes``: in their
    order."""

    target: int
    form: Form
    cells: int
    cell: int
    read: Value | None
    writes: tuple[_Write, ...]


class _Last(NamedTuple):
    """Which writes of a rank to ``cell`` may be its last one ``at`` each state, and the ``states`` of each."""

    cell: int
    at: list[int]
    states: dict[int, States]


Meanwhile = tuple[States, ...]
"""For each name where its ranks may be; that of a single rank, seen by itself, is left out and has some bit."""


class ScPairs(Known):
    """What is known of pairs of ranks of a case in SC runs, from ``unfolded`` automata in which no read fails.

    ``meanwhile``: for each name, state and other name where that one may be at once; for the rest also where another
    rank of the same part may be. ``edges``: the commands that may be issued, by name and state. Raises
    :class:`TooManyPairs`.
    """

    def __init__(self, case: Case, unfolded: Unfolded, initial: Sequence[int], rules: Rules, looks: int = 0) -> None:
        files = [list(each) for each in unfolded.files]
        super().__init__(unfolded.ranks, unfolded.values, unfolded.layout, initial, unfolded.memory, files)
        self.looks = looks
        self.names = range(len(case.names))
        self.many = frozenset(number for number, name in enumerate(case.names) if name.rest)
        self._initial = [exactly(number(value)) for value in initial]
        self._read, self._settled = unfolded.read, unfolded.settled
        self._located = Ranks(case, self, (), rules, polls_wait=False)
        self._following: dict[tuple[int, int], list[States]] = {}
        self.meanwhile: list[list[list[States]]] = []
        self._writes: list[_Write] = []
        self._last: dict[tuple[int, int], _Last] = {}
        self._followed: dict[tuple[int, States, int], States] = {}
        self._known_held: dict[tuple[int, int, Place], Value] = {}
        self._known_matching: dict[tuple[int, int, Value], list[tuple[Value, _Write | None, bool]]] = {}
        self._search()

    def refine(self) -> bool:
        """Restrict the values of registers by what is known of pairs, and search the pairs anew; whether more is known
        now."""
        files = [self._files_of(rank) for rank in self.names]
        before = self.files, [each.value for each in self._writes]
        self.files = files
        self._known_held.clear()
        self._search()
        return before != (self.files, [each.value for each in self._writes])

    def others(self, rank: int) -> list[int]:
        """The names of ranks other than one of ``rank``."""
        return [each for each in self.names if each != rank or each in self.many]

    # Values

    def held(self, rank: int, state: int, place: Place) -> Value:
        """The values that a command before ``state`` may find, restricted to those that may have been written last."""
        key = rank, state, place
        if key not in self._known_held:
            whole, cells = super().held(rank, state, place), self.cells(rank, state, place)
            settled = self._settled.held(rank, state, place)
            last = self._last_held(rank, state, whole, cells) if self.meanwhile and not settled else whole
            self._known_held[key] = settled or last
        return self._known_held[key]

    def _last_held(self, rank: int, state: int, whole: Value, cells: int) -> Value:
        domain, found = self.ranks[rank].name.domain, None
        for value, _ in self.last_written(rank, state, cells, whole, self.at(rank, state)):
            found = value if found is None else domain.joined(found, value)
        return whole if found is None else self._meet(rank, whole, found) or whole

    def _meet(self, rank: int, one: Value, other: Value) -> Value | None:
        """The intersection of two intervals, or more; None when it is empty."""
        domain = self.ranks[rank].name.domain
        low = other[0] if domain.always(one[0], other[0]) else one[0]
        high = other[1] if domain.always(other[1], one[1]) else one[1]
        return None if domain.range(high.minus(low))[1] < 0 else (low, high)

    def _seen_by(self, rank: int, writer: int, value: Value) -> Value:
        """A value of ``writer`` as another rank sees it: x is the same for the two when both are names of one rank."""
        if rank in self.many or writer in self.many:
            return self.ranks[writer].name.domain.without_rank(value)
        return value

    def _located_at(self, rank: int, state: int, place: Place) -> tuple[int, bool]:
        """The cells of names that a place may be, as bits, and whether it is a single one of a single rank."""
        cells, certain = self._located.located(rank, state, place)
        return cells & (1 << len(self.names) * len(self.memory)) - 1, certain

    def cells(self, rank: int, state: int, place: Place) -> int:
        """The cells of names that a place may be, as bits."""
        return self._located_at(rank, state, place)[0]

    def is_own(self, rank: int, state: int, place: Place) -> bool:
        """Whether a place is surely in the rank's own memory."""
        return self._located.place(rank, state, place).own

    def _files_of(self, rank: int) -> list[File | None]:
        """The values of registers, by what is known of pairs so far."""
        old, out = self.files[rank], self.ranks[rank].automaton.out
        new: list[File | None] = [old[0], *[None] * (len(old) - 1)]
        times, queue = [0] * len(old), [0]
        while queue:
            stop_point()
            state = queue.pop()
            for place, transition in enumerate(out[state]):
                file, target = new[state], transition.target
                limit = old[target]
                after = None if file is None or limit is None else self._after(rank, state, place, transition, file)
                if after is None or limit is None:
                    continue
                after = tuple(whole if whole == ANYTHING else value for value, whole in zip(after, limit, strict=True))
                joined = self.values[rank].either(new[target], after)
                if joined != new[target]:
                    times[target] += 1
                    new[target] = limit if times[target] > EXACT_GROWTHS else joined
                    queue.append(target)
        return new

    def _after(self, rank: int, state: int, place: int, transition: Transition, file: File) -> File | None:
        """The registers after a command; None if it cannot be issued, or does not lead there."""
        form, found = transition.form, self.legal(rank, file, transition.form)
        if found is None:
            return None
        match form:
            case core.Assign(register, assigned):
                return with_register(found, register, self.values[rank].of(assigned, file))
            case core.Immediate(access) if access.reads:
                value = self._brings(rank, state, place, form)
                if value is None or not self._is_awaited(rank, form, value, file):
                    return None
                return found if form.register is None else with_register(found, form.register, value)
        return found

    def _brings(self, rank: int, state: int, place: int, form: core.Immediate[Place, Expr]) -> Value | None:
        """The values that a read may yield on this way."""
        read = self._read[rank][state][place]
        return None if read is None else self._meet(rank, read, self.held(rank, state, form.access.cell))

    def _is_awaited(self, rank: int, form: core.Immediate[Place, Expr], value: Value, file: File) -> bool:
        if form.condition is None:
            return True
        awaited = self.values[rank].of(form.condition.value, file)
        return awaited is not None and self.values[rank].may_be(form.condition.relation, value, awaited)

    # Pairs

    def _search(self) -> None:
        """Find all pairs of states that are possible with the values that are known."""
        edges, writes = self._commands()
        self._known_held.clear()
        self.edges, self._writes = edges, writes
        self._of_cell: dict[int, list[_Write]] = {}
        self._writing: dict[int, set[int]] = {}
        for write in writes:
            for cell in members(write.cells):
                self._of_cell.setdefault(cell, []).append(write)
                self._writing.setdefault(cell, set()).add(write.rank)
        for known in (self._known_matching, self._last, self._following, self._followed):
            known.clear()
        self._taken = [[list[Edge]() for _ in of] for of in edges]
        self.meanwhile = [[[0] * len(of) for _ in self.names] for of in edges]
        self._users: dict[tuple[int, int], set[tuple[int, int]]] = {}
        self._readers: dict[int, set[tuple[int, int]]] = {}
        self._queue = {(rank, 0): None for rank in self.names}
        self._later: dict[tuple[int, int], None] = {}  # what is looked at again once all else has been
        for rank in self.names:
            for other in self.others(rank):
                self.meanwhile[rank][other][0] = 1
        while self._queue or self._later:
            stop_point()
            if not self._queue:
                self._queue, self._later = self._later, {}
            rank, state = next(iter(self._queue))
            del self._queue[rank, state]
            for edge in self.edges[rank][state]:
                for found in self._leads(rank, state, edge):
                    self.looks += 1
                    if self.looks > MOST_LOOKS:
                        raise TooManyPairs
                    if _may_be(rank, found):
                        self._take(rank, state, edge)
                        self._add(rank, edge.target, found)
        self.files = [
            [file if _may_be(rank, self.at(rank, state)) else None for state, file in enumerate(files)]
            for rank, files in enumerate(self.files)
        ]

    def _commands(self) -> tuple[list[list[list[Edge]]], list[_Write]]:
        """The commands that may be issued, and their writes."""
        found: list[list[list[Edge]]] = []
        every: list[_Write] = []
        for rank in self.names:
            out = self.ranks[rank].automaton.out
            found.append([[] for _ in out])
            for state, file in enumerate(self.files[rank]):
                for place, transition in enumerate(out[state] if file is not None else ()):
                    target, form = transition.target, transition.form
                    if file is None or self.files[rank][target] is None:
                        continue
                    if self._after(rank, state, place, transition, file) is None:
                        continue
                    cells, sure, read = 0, False, None
                    if isinstance(form, core.Immediate) and form.access.reads:
                        cells, sure = self._located_at(rank, state, form.access.cell)
                        read = self._brings(rank, state, place, form)
                    writes = []
                    finds = None if read is None else (0, read)
                    for access, cell, value in self.writes(rank, state, form, finds):
                        where, certain = self._located_at(rank, state, cell)
                        covers = certain and (_always_writes(form, access) or self._swaps(rank, state, form, read))
                        writes.append(_Write(rank, state, where, value, covers, 2 << len(every)))
                        every.append(writes[-1])
                    found[rank][state].append(
                        Edge(target, form, cells, cells.bit_length() - 1 if sure else -1, read, tuple(writes))
                    )
        return found, every

    def _swaps(self, rank: int, state: int, form: Form, read: Value | None) -> bool:
        """Whether a command compares and swaps, and has read what it expects."""
        update = form.update if isinstance(form, core.Immediate) else None
        if read is None or update is None or update.operation != "compare_swap" or update.expected is None:
            return False
        return read[0] == read[1] and read == self.operand(rank, state, update.expected)

    def at(self, rank: int, state: int) -> Meanwhile:
        """The states of the others when one rank is at ``state``."""
        of = self.meanwhile[rank]
        return tuple(of[other][state] if other != rank or rank in self.many else 1 for other in self.names)

    def _add(self, rank: int, state: int, found: Meanwhile) -> None:
        for other in self.others(rank):
            new = found[other] & ~self.meanwhile[rank][other][state]
            if new:
                self.meanwhile[rank][other][state] |= new
                self._enqueue(rank, state)
                for at in members(new):
                    self.meanwhile[other][rank][at] |= 1 << state
                    self._enqueue(other, at)

    def _take(self, rank: int, state: int, edge: Edge) -> None:
        """Note that an edge may be taken, by which other writes may be the last ones."""
        taken = self._taken[rank][state]
        if not any(each is edge for each in taken):
            taken.append(edge)
            for (by, _), last in self._last.items():
                if by == rank:
                    self._pass_on(rank, last, state)

    def _enqueue(self, rank: int, state: int) -> None:
        self._queue[rank, state] = None
        self._later.update(dict.fromkeys(self._users.get((rank, state), ())))

    def _leads(self, rank: int, state: int, edge: Edge) -> Iterator[Meanwhile]:
        """The possible states of others once ``rank`` has issued a command, one for each value that it may have
        read."""
        now = self.at(rank, state)
        if isinstance(edge.form, core.Barrier):
            yield tuple(
                self._after_barrier(other, edge.form.name, states) if other != rank or rank in self.many else 1
                for other, states in enumerate(now)
            )
        elif edge.cells:
            assert edge.read is not None, "it reads something"
            for _, found in self.last_written(rank, state, edge.cells, edge.read, now):
                yield found
        else:
            yield now

    def _after_barrier(self, rank: int, name: str, states: States) -> States:
        passed = (
            1 << edge.target
            for state in members(states)
            for edge in self.edges[rank][state]
            if isinstance(edge.form, core.Barrier) and edge.form.name == name
        )
        return reduce(or_, passed, 0)

    def last_written(
        self, rank: int, state: int, cells: int, read: Value, now: Meanwhile
    ) -> Iterator[tuple[Value, Meanwhile]]:
        """The values of ``read`` that one of ``cells`` may hold when ``rank`` is at ``state`` and others are ``now``,
        by who wrote last: each with the states of the others that this leaves."""
        size = len(self.memory)
        for cell in members(cells):
            self._readers.setdefault(cell, set()).add((rank, state))
            if cell // size in self.many:
                yield read, now
                continue
            for value, write, own in self._matching(rank, cell, read):
                if write is None:
                    if not self._with_last(rank, cell, UNWRITTEN) >> state & 1:
                        continue
                    found = tuple(
                        states
                        if other == rank and rank not in self.many
                        else states & self._with_last(other, cell, UNWRITTEN)
                        for other, states in enumerate(now)
                    )
                    if _may_be(rank, found):
                        yield value, found
                else:
                    then = self._after_write(rank, state, cell, write, own, now)
                    if then is not None:
                        yield value, then

    def _matching(self, rank: int, cell: int, read: Value) -> list[tuple[Value, _Write | None, bool]]:
        """The values of a cell that may be among those that ``rank`` has ``read``, each with what has written it (None:
        nothing has), and whether the rank itself has."""
        key = rank, cell, read
        if key not in self._known_matching:
            values, found = self.values[rank], list[tuple[Value, _Write | None, bool]]()
            found.append((self._initial[cell % len(self.memory)], None, False))
            for write in self._of_cell.get(cell, ()):
                if write.rank == rank:
                    found.append((write.value, write, True))
                if write.rank != rank or rank in self.many:
                    found.append((self._seen_by(rank, write.rank, write.value), write, False))
            self._known_matching[key] = [each for each in found if values.may_be("==", read, each[0])]
        return self._known_matching[key]

    def _after_write(
        self, rank: int, state: int, cell: int, write: _Write, own: bool, now: Meanwhile
    ) -> Meanwhile | None:
        """Those states of others among ``now`` that remain if ``write``, of the rank itself or of another one, was the
        last one to ``cell``; None: it cannot be."""
        by, last = write.rank, self._with_last(write.rank, cell, write.bit)
        self._users.setdefault((by, write.state), set()).add((rank, state))
        then = self.at(by, write.state)
        if own:
            if not last >> state & 1:
                return None
        elif not last & now[by] or not self._follow(rank, then[rank], cell) >> state & 1:
            return None
        found = []
        for other, states in enumerate(now):
            if other == rank and rank not in self.many:
                found.append(1)
            elif own or other != by:
                found.append(states & self._follow(other, then[other], cell))
            else:
                also = self._follow(other, then[other], cell) if by in self.many else 0
                found.append(states & (last | also))
        return tuple(found) if _may_be(rank, found) else None

    def _follow(self, rank: int, states: States, cell: int) -> States:
        """The states that may follow one of ``states``, and these, while the rank does not write to ``cell``."""
        if (rank, states, cell) not in self._followed:
            after = self._after_each(rank, cell)
            self._followed[rank, states, cell] = reduce(or_, (after[state] for state in members(states)), 0)
        return self._followed[rank, states, cell]

    def _after_each(self, rank: int, cell: int) -> list[States]:
        writes = rank in self._writing.get(cell, ())
        key = rank, cell if writes else -1
        if key not in self._following:
            edges = self.edges[rank]
            self._following[key] = following(
                [[each.target for each in of if not (writes and _replaces(each, cell))] for of in edges]
            )
        return self._following[key]

    def _with_last(self, rank: int, cell: int, write: int) -> States:
        """The states in which ``write`` may be the last one of ``rank``."""
        if rank not in self._writing.get(cell, ()):
            return _NOTHING_WRITTEN.get(write, 0)
        if (rank, cell) not in self._last:
            states = len(self.edges[rank])
            last = self._last[rank, cell] = _Last(cell, [UNWRITTEN, *[0] * (states - 1)], {UNWRITTEN: 1})
            for state in range(states):
                self._pass_on(rank, last, state)
        return self._last[rank, cell].states.get(write, 0)

    def _still_last(self, rank: int, cell: int, read: Value) -> int:
        """Those writes of a rank, or that nothing has been written, that may have been the last ones of all ranks when
        it has ``read`` one of these values: behind that it is not, unless the rank writes again."""
        values, found = self.values[rank], 0
        if values.may_be("==", read, self._initial[cell % len(self.memory)]):
            found |= UNWRITTEN
        for write in self._of_cell.get(cell, ()):
            if write.rank == rank and values.may_be("==", read, write.value):
                found |= write.bit
        return found

    def _pass_on(self, rank: int, last: _Last, state: int) -> None:
        """Pass on which write may be the last one from a state to those behind it."""
        queue, more = [state], False
        while queue:
            stop_point()
            state = queue.pop()
            for edge in self._taken[rank][state]:
                latest = last.at[state]
                if edge.cell == last.cell and edge.read is not None:
                    latest &= self._still_last(rank, last.cell, edge.read)
                for write in edge.writes:
                    if write.cells >> last.cell & 1:
                        latest = write.bit | (0 if write.covers else latest)
                new = latest & ~last.at[edge.target]
                if new:
                    more = True
                    last.at[edge.target] |= new
                    queue.append(edge.target)
                    for bit in members(new):
                        last.states[1 << bit] = last.states.get(1 << bit, 0) | 1 << edge.target
        if more:
            self._later.update(dict.fromkeys(self._readers.get(last.cell, ())))


def _replaces(edge: Edge, cell: int) -> bool:
    """Whether a command is certain to write to ``cell``."""
    return any(write.covers and write.cells >> cell & 1 for write in edge.writes)


def _may_be(rank: int, meanwhile: Sequence[States]) -> bool:
    """Whether ``rank`` may be where others are ``meanwhile``: each other name has a rank, which is in some state.
    Another rank of its own part of the rest need not exist."""
    return all(states for other, states in enumerate(meanwhile) if other != rank)


def _always_writes(form: Form, access: int) -> bool:
    """Whether an access writes whatever the cell held."""
    match form:
        case core.Immediate(update=update):
            return update is not None and update.operation in _ALWAYS
        case core.Transfer(update=update):
            step = form.steps[access - int(form.captured is not None)]
            return step.kind != "popb" or update is None or update.operation in _ALWAYS
    return False


def members(states: States) -> Iterator[int]:
    """The members of a set, ascending: as in `program.bits`, and faster where there are few of them."""
    while states:
        stop_point()
        last = states & -states
        yield last.bit_length() - 1
        states ^= last
