"""Follows two ranks at once, with the contents of the cells that they wait for (`proofs/every-n.md`, section 4).

Two ranks are followed step by step, as in a program of two. Of the others it is known what they may write while each of
the two is where it is. So a flag that is raised, taken down and raised again is another one each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations_with_replacement
from typing import NamedTuple

from pgasrob.program import core
from pgasrob.program.core import Place
from pgasrob.program.expressions import MOST_NODES
from pgasrob.robustness.every_n.linear import NODES, Linear, Value, exactly, number
from pgasrob.robustness.every_n.named_commands import Ranks, Target
from pgasrob.robustness.every_n.symbolic_values import constant
from pgasrob.robustness.every_n.unfold import MOST_READ, Unfolded
from pgasrob.robustness.reduction.abstract_commands import Access, Command, Commands
from pgasrob.robustness.reduction.pairwise import BeforeBarrier, Happened, States
from pgasrob.stop_points import stop_point

MOST_MET = 50_000
"""States of two ranks that are kept, in all."""
MANY_TIMES = 3
"""As often as this, or more often."""

FIRST, SECOND = -1, -2
"""Whose memory a cell is in, where the first or the second rank has a name that is not its own alone."""


class _Cell(NamedTuple):
    """The cell ``address`` of the rank named ``where``, or of one of the two."""

    where: int
    address: int


class _Pair(NamedTuple):
    """The names of two different ranks."""

    first: int
    second: int


Held = int | tuple[int, int]
"""What a cell holds; of one that counts what each of the two has added since it was last set."""


class _State(NamedTuple):
    """The control states of the two, and the contents of the cells."""

    first: int
    second: int
    held: tuple[Held, ...]


class _Effect(NamedTuple):
    """What access number ``access`` of a command may turn the contents of the cell in ``place`` into; ``sure``: it is
    made, and to this cell."""

    access: int
    place: int
    becomes: Callable[[Held], Sequence[Held]]
    sure: bool


class _Check(NamedTuple):
    """A command reads ``value`` from the cell in ``place``; ``numbers``: the numbers among these that the cell may
    hold, where it does not count."""

    place: int
    value: Value
    numbers: frozenset[int]


class _Move(NamedTuple):
    """A command of the rank with this name, which leaves ``state``."""

    name: int
    state: int
    command: Command
    checks: Sequence[_Check]
    effects: Sequence[_Effect]


class TooMany(Exception):
    """More than `MOST_MET` states of two ranks."""


class PairStates:
    """The pairs of states that two ranks of a case may be in.

    Raises :class:`TooMany`.
    """

    def __init__(self, unfolded: Unfolded, ranks: Ranks, commands: Commands, initial: Sequence[int]) -> None:
        self._unfolded, self._ranks, self._commands, self._initial = unfolded, ranks, commands, initial
        self._names = range(len(commands.of))
        self._memory = [_numbers(unfolded, value) for value in unfolded.memory]
        self._counters = self._cells_that_count()
        self._cells = {
            pair: self._cells_of(pair)
            for pair in map(_Pair._make, combinations_with_replacement(self._names, 2))
            if pair.first != pair.second or pair.first in commands.many
        }
        # For each name, state and other name the states of that one; any where the two keep no cell.
        self._met: list[list[list[States]]] = [
            [[0 if self._keeps(rank, other) else -1 for other in self._names] for _ in of]
            for rank, of in enumerate(commands.of)
        ]
        # For a rank of a name in a state, another name, and a cell: how often that one may have added then.
        self._most: dict[tuple[int, int, int, _Cell], int] = {}
        self._left = MOST_MET
        self.found: dict[_Pair, dict[tuple[int, int], dict[tuple[Held, ...], None]]] = {
            pair: {} for pair in self._cells
        }
        self.moves = cache(self._moves)
        self.outside = {pair: [*self._moves_of_others(pair)] for pair in self._cells}
        self._fresh: list[tuple[_Pair, _State]] = []
        # Which moves of others there are while the two are at these states.
        self._writing: dict[tuple[_Pair, int, int], set[int]] = {}
        # What is to be looked at again when others may have added more while a rank is at some state.
        self._blocked: dict[tuple[int, int], list[tuple[_Pair, _State]]] = {}
        self._run()

    def _keeps(self, rank: int, other: int) -> bool:
        """Whether two ranks keep some cell, and are followed together."""
        return bool(self._cells.get(_Pair(min(rank, other), max(rank, other))))

    def may_be_at_once(self, rank: int, state: int, other: int, at: int) -> bool:
        """Whether a rank may be at ``state`` while another one is ``at`` some state."""
        return bool(self._met[rank][state][other] >> at & 1)

    # Cells

    def _cells_that_count(self) -> set[_Cell]:
        """The cells of single ranks that only count: everyone adds 1 to them, or sets them to what they held first."""
        adding: set[_Cell] = set()
        others: set[_Cell] = set()
        for rank, state, place, _ in self._all_moves():
            form = self._form(rank, state, place)
            for step, cell, value in self._unfolded.writes(rank, state, form):
                where, sure = self._where(rank, state, cell)
                for each in where:
                    if not sure:
                        others.add(each)
                    elif self._adds_one(rank, state, form, step):
                        adding.add(each)
                    elif not (_sets(form) and value == exactly(number(self._initial[each.address]))):
                        others.add(each)
        # Contents that are kept number by number need no counter. From a small number on, a few times as many as there
        # are nodes may be added before a cell wraps around, in any type.
        return {
            cell
            for cell in adding - others
            if cell.where >= 0 and not self._memory[cell.address] and 0 <= self._initial[cell.address] <= MOST_NODES
        }

    def _form(self, rank: int, state: int, place: int) -> core.Form:
        return self._unfolded.ranks[rank].automaton.out[state][place].form

    def _adds_one(self, rank: int, state: int, form: core.Form, step: int) -> bool:
        if not isinstance(form, core.Immediate | core.Transfer):
            return False
        update = form.update
        if update is None or update.operation != "add" or update.operand is None or update.type.bits < 32:
            return False
        value = self._unfolded.operand(rank, state, update.operand)
        if isinstance(form, core.Transfer) and form.steps[step - (form.captured is not None)].kind != "popb":
            return False
        return value is not None and constant(value) == 1

    def _where(self, rank: int, state: int, cell: Place) -> tuple[list[_Cell], bool]:
        """The cells that an access may be to, with -1 for the memory of ranks that have no names of their own, and
        whether it is to this one for certain."""
        target = self._ranks.place(rank, state, cell)
        slots = self._unfolded.slots(rank, state, cell.address)
        names = [FIRST if each in self._commands.many else each for each in target.names]
        return [_Cell(each, address) for each in names for address in slots], (self._is_one(target, slots))

    def _is_one(self, target: Target, slots: Sequence[int]) -> bool:
        """Whether an access is to one cell for certain; what grows has many in one slot."""
        return (target.single or target.own) and len(slots) == 1 and slots[0] < self._unfolded.layout.cells

    def _cells_of(self, pair: _Pair) -> list[_Cell]:
        """The cells whose contents are kept: those that one of the two reads in a way that matters, and that the other
        one accesses too."""
        read, accessed = [dict[_Cell, None](), dict[_Cell, None]()], [set[_Cell](), set[_Cell]()]
        for side, name in enumerate(pair):
            for rank, state, place, _ in self._all_moves():
                if rank != name:
                    continue
                form = self._form(rank, state, place)
                for access in core.accesses_of(form):
                    cells, sure = self._at(pair, side, rank, state, access.cell)
                    accessed[side] |= set(cells)
                    if sure and self._matters(rank, state, place):
                        read[side] |= dict.fromkeys(
                            each for each in cells if len(self._memory[each.address]) > 1 or each in self._counters
                        )
        return list(dict.fromkeys(cell for side in (0, 1) for cell in read[side] if cell in accessed[1 - side]))

    def _matters(self, rank: int, state: int, place: int) -> bool:
        """Whether a command reads at its issue, and where its rank goes depends on the value."""
        if self._unfolded.read[rank][state][place] is None:
            return False
        origin = self._unfolded.origins[rank][state][place]
        targets = {
            command.target if command.possible else None
            for number_, command in enumerate(self._commands.of[rank][state])
            if self._unfolded.origins[rank][state][number_] == origin
        }
        form = self._form(rank, state, place)
        return len(targets) > 1 or (isinstance(form, core.Immediate) and form.may_block)

    def _at(self, pair: _Pair, side: int | None, rank: int, state: int, place: Place) -> tuple[list[_Cell], bool]:
        """The cells that an access of one of the two, or of another rank, may be to, if there are names for
        them, and whether it is to this one for certain."""
        target = self._ranks.place(rank, state, place)
        slots = self._unfolded.slots(rank, state, place.address)
        where: list[int] = []
        for name in target.names:
            if name not in self._commands.many:
                where.append(name)
            elif target.own:
                where += [] if side is None else [(FIRST, SECOND)[side]]
            else:
                where += [each for each, other in zip((FIRST, SECOND), pair, strict=True) if other == name]
        sure = self._is_one(target, slots)
        return [_Cell(each, address) for each in where for address in slots], sure

    # Moves

    def _all_moves(self) -> Iterator[tuple[int, int, int, Command]]:
        for rank, of in enumerate(self._commands.of):
            for state, leaving in enumerate(of):
                for place, command in enumerate(leaving):
                    if command.possible:
                        yield rank, state, place, command

    def _moves(self, pair: _Pair, side: int, state: int) -> list[_Move]:
        """The commands that one of the two may issue."""
        rank = pair[side]
        return [
            self._move_of(pair, side, rank, state, place)
            for place, command in enumerate(self._commands.of[rank][state])
            if command.possible
        ]

    def _moves_of_others(self, pair: _Pair) -> Iterator[_Move]:
        """The commands of other ranks that may write to the cells of the two."""
        for rank, state, place, _ in self._all_moves():
            if rank not in pair or rank in self._commands.many:
                move = self._move_of(pair, None, rank, state, place)
                if move.effects:
                    yield move

    def _move_of(self, pair: _Pair, side: int | None, rank: int, state: int, place: int) -> _Move:
        command, kept = self._commands.of[rank][state][place], self._cells[pair]
        form = self._form(rank, state, place)
        checks: list[_Check] = []
        value = self._unfolded.read[rank][state][place]
        if isinstance(form, core.Immediate) and value is not None:
            cells, sure = self._at(pair, side, rank, state, form.access.cell)
            if sure and side is not None:
                checks = [
                    _Check(kept.index(cell), value, self._within(rank, value, cell)) for cell in cells if cell in kept
                ]
        effects = []
        for step, cell, _ in self._unfolded.writes(rank, state, form):
            cells, sure = self._at(pair, side, rank, state, cell)
            sure = sure and command.at_issue is not None and step == 0
            for each in cells:
                if each in kept:
                    becomes = self._becomes(each, side, rank, state, form, step)
                    effects.append(_Effect(step, kept.index(each), becomes, sure))
        return _Move(rank, state, command, checks, effects)

    def _becomes(
        self, cell: _Cell, side: int | None, rank: int, state: int, form: core.Form, step: int
    ) -> Callable[[Held], Sequence[Held]]:
        """The contents of a cell after an access, by its contents before."""
        if cell in self._counters:
            if not self._adds_one(rank, state, form, step):
                return lambda _: ((0, 0),)

            def counted(held: Held) -> Sequence[Held]:
                assert isinstance(held, tuple), "of a cell that counts it is known who has added"
                added = [min(each + (place == side), MANY_TIMES) for place, each in enumerate(held)]
                return ((added[0], added[1]),)

            return counted
        known = {
            held: self._becomes_of_number(cell, rank, state, form, step, held) for held in self._memory[cell.address]
        }
        return lambda held: known[held]  # type: ignore[index]

    def _becomes_of_number(
        self, cell: _Cell, rank: int, state: int, form: core.Form, step: int, held: int
    ) -> Sequence[int]:
        found = [
            new
            for number_, _, value in self._unfolded.writes(rank, state, form, (step, exactly(number(held))))
            if number_ == step
            for new in self._within(rank, value, cell)
        ]
        return found if self._is_written(rank, state, form, held) else sorted({*found, held})

    def _is_written(self, rank: int, state: int, form: core.Form, held: int) -> bool:
        """Whether a command that updates a cell with these contents at its issue does write."""
        update = form.update if isinstance(form, core.Immediate) else None
        if update is None or update.operation in ("set", "add"):
            return update is not None
        if update.operation != "compare_swap" or update.expected is None:
            return False
        expected = self._unfolded.operand(rank, state, update.expected)
        return expected is not None and constant(expected) == held

    def _within(self, rank: int, value: Value, cell: _Cell) -> frozenset[int]:
        """The numbers that a cell may hold and that are among the values of a rank."""
        values = self._unfolded.values[rank]
        return frozenset(
            each for each in self._memory[cell.address] if values.may_be("==", value, exactly(number(each)))
        )

    # The least set that is closed

    def _run(self) -> None:
        for pair, cells in self._cells.items():
            if not cells:
                continue
            held = tuple((0, 0) if cell in self._counters else self._initial[cell.address] for cell in cells)
            self._add(pair, _State(0, 0, held))
        while self._fresh or self._let_others_write():
            while self._fresh:
                stop_point()
                pair, state = self._fresh.pop()
                for new in self._successors(pair, state):
                    self._add(pair, new)

    def _add(self, pair: _Pair, state: _State) -> None:
        first, second, held = state
        found = self.found[pair].setdefault((first, second), {})
        if held in found:
            return
        self._left -= 1
        if self._left < 0:
            raise TooMany
        found[held] = None
        self._fresh.append((pair, state))
        self._met[pair.first][first][pair.second] |= 1 << second
        self._met[pair.second][second][pair.first] |= 1 << first
        for cell, each in zip(self._cells[pair], held, strict=True):
            if isinstance(each, tuple):
                for one, at, other in ((0, first, 1), (1, second, 0)):
                    key = pair[one], at, pair[other], cell
                    if each[other] > self._most.get(key, 0):
                        self._most[key] = each[other]
                        self._fresh += self._blocked.pop(key[:2], ())

    def _let_others_write(self) -> bool:
        """Add the writes of other ranks that have become possible; whether there is a new state."""
        for pair, found in self.found.items():
            for (first, second), held in list(found.items()):
                writing = self._writing.setdefault((pair, first, second), set())
                for number_, move in enumerate(self.outside[pair]):
                    if (
                        number_ not in writing
                        and self.may_be_at_once(pair.first, first, move.name, move.state)
                        and self.may_be_at_once(pair.second, second, move.name, move.state)
                    ):
                        writing.add(number_)
                        for each in list(held):
                            for new in written(move.effects, each):
                                self._add(pair, _State(first, second, new))
        return bool(self._fresh)

    def _successors(self, pair: _Pair, state: _State) -> Iterator[_State]:
        first, second, held = state
        moves = self.moves(pair, 0, first), self.moves(pair, 1, second)
        for move in moves[0]:
            if isinstance(move.command.operands, core.Barrier):
                for other in moves[1]:
                    if isinstance(other.command.operands, core.Barrier):
                        yield _State(move.command.target, other.command.target, held)
            elif self._may_go(pair, move, state):
                for new in written(move.effects, held):
                    yield _State(move.command.target, second, new)
        for move in moves[1]:
            if not isinstance(move.command.operands, core.Barrier) and self._may_go(pair, move, state):
                for new in written(move.effects, held):
                    yield _State(first, move.command.target, new)
        for number_ in self._writing.get((pair, first, second), ()):
            for new in written(self.outside[pair][number_].effects, held):
                yield _State(first, second, new)

    def _may_go(self, pair: _Pair, move: _Move, state: _State) -> bool:
        """Whether a move is possible; if too little has been added for it, it is looked at again when that becomes
        more."""
        if self.may_read(pair, move, state.held):
            return True
        if any(isinstance(state.held[check.place], tuple) for check in move.checks):
            self._blocked.setdefault((move.name, move.state), []).append((pair, state))
        return False

    def may_read(self, pair: _Pair, move: _Move, held: Sequence[Held]) -> bool:
        """Whether the cells may hold the values that a command reads."""
        return all(self._may_hold(pair, move, check, held[check.place]) for check in move.checks)

    def _may_hold(self, pair: _Pair, move: _Move, check: _Check, held: Held) -> bool:
        if isinstance(held, int):
            return held in check.numbers
        domain, (low, high) = self._unfolded.values[move.name].domain, check.value
        cell = self._cells[pair][check.place]
        most = None if MANY_TIMES in held else self._most_of_others(pair, move, cell)
        if most is None:
            return True  # it may wrap around
        least = number(self._initial[cell.address] + held[0] + held[1])
        return domain.range(high.minus(least))[1] >= 0 and domain.range(least.plus(most).minus(low))[1] >= 0

    def _most_of_others(self, pair: _Pair, reader: _Move, cell: _Cell) -> Linear | None:
        """How much all ranks but the two may have added to a cell when ``reader`` is in its state."""
        most, many = number(0), 0
        for name in self._names:
            added = self._most.get((reader.name, reader.state, name, cell), 0)
            if name in self._commands.many:
                many = max(many, added)
            elif name not in pair:
                most = most.shifted(added)
            if added == MANY_TIMES and (name not in pair or name in self._commands.many):
                return None
        single = len(self._names) - len(self._commands.many)
        named = single + sum(each in self._commands.many for each in pair)
        return most.plus(NODES.shifted(-named), many)

    # After the source

    def before_barrier(
        self, states_of_others: Sequence[set[int]], source: int, delayed: Callable[[Access], bool], happened: Happened
    ) -> BeforeBarrier:
        """Where the other ranks, which begin in ``states_of_others``, may be and what all ranks may issue until a
        barrier comes, after the choice of the ``source`` in this state of the first rank. ``happened``: what that has
        done without delay, for certain or perhaps. ``delayed``: whether an access must hit what is delayed."""
        return _BeforeBarrier(self, states_of_others, source, delayed, happened).found()


class _BeforeBarrier:
    """What :meth:`PairStates.before_barrier` answers, found as the least set that is closed."""

    def __init__(
        self,
        pairs: PairStates,
        states_of_others: Sequence[set[int]],
        source: int,
        delayed: Callable[[Access], bool],
        happened: Happened,
    ) -> None:
        self._pairs, self._delayed = pairs, delayed
        self._of = [pair for pair in pairs._cells if pair.first == 0]
        self._issued: set[int] = set()
        self._found: dict[_Pair, dict[tuple[int, tuple[Held, ...]], None]] = {
            pair: {
                (second, each): None
                for (first, second), held in pairs.found[pair].items()
                if first == source and second in states_of_others[pair.second]
                for each in held
            }
            if pairs._cells[pair]
            else {(second, ()): None for second in states_of_others[pair.second]}
            for pair in self._of
        }
        self._by_source = {
            pair: [
                effect._replace(sure=False)
                for state in range(len(pairs._commands.of[0]))
                for move in pairs.moves(pair, 0, state)
                for effect in move.effects
                if (id(move.command), effect.access) in happened
            ]
            for pair in self._of
        }
        self._changed = True

    def found(self) -> BeforeBarrier:
        while self._changed:
            stop_point()
            self._changed = False
            for pair in self._of:
                self._close(pair)
        states_of_others: list[set[int]] = [set() for _ in self._pairs._names]
        for pair, found in self._found.items():
            states_of_others[pair.second] |= {state for state, _ in found}
        return BeforeBarrier(states_of_others, self._issued | self._by_first())

    def _by_first(self) -> set[int]:
        """The commands of the first rank that the contents of cells allow, whichever other rank is looked at."""
        pairs = self._pairs
        return {
            id(moves[0].command)
            for state in range(len(pairs._commands.of[0]))
            for moves in zip(*(pairs.moves(pair, 0, state) for pair in self._of), strict=True)
            if all(
                any(pairs.may_read(pair, move, held) for _, held in self._found[pair])
                for pair, move in zip(self._of, moves, strict=True)
            )
        }

    def _close(self, pair: _Pair) -> None:
        found = self._found[pair]
        left = list(found)
        while left:
            stop_point()
            state, held = left.pop()
            for new in self._successors(pair, state, held):
                if new not in found:
                    found[new] = None
                    left.append(new)
                    self._changed = True

    def _successors(self, pair: _Pair, state: int, held: tuple[Held, ...]) -> Iterator[tuple[int, tuple[Held, ...]]]:
        pairs = self._pairs
        for move in pairs.moves(pair, 1, state):
            command = move.command
            if isinstance(command.operands, core.Barrier) or not pairs.may_read(pair, move, held):
                continue
            if id(command) not in self._issued:
                self._issued.add(id(command))
                self._changed = True
            if command.at_issue is None or not self._delayed(command.at_issue):
                for new in written(move.effects, held):
                    yield command.target, new
        for effect in self._by_source[pair]:
            for new in written([effect], held):
                yield state, new
        for move in pairs.outside[pair]:
            if id(move.command) in self._issued and pairs.may_be_at_once(pair.second, state, move.name, move.state):
                for new in written(move.effects, held):
                    yield state, new


def written(effects: Sequence[_Effect], held: tuple[Held, ...]) -> list[tuple[Held, ...]]:
    """The possible contents of cells after some accesses, one after the other."""
    found = [held]
    for effect in effects:
        new = [
            (*each[: effect.place], value, *each[effect.place + 1 :])
            for each in found
            for value in effect.becomes(each[effect.place])
        ]
        found = new if effect.sure else list(dict.fromkeys([*found, *new]))
    return found


def _sets(form: core.Form) -> bool:
    """Whether a command that writes at its issue does so whatever the contents of the cell."""
    return not isinstance(form, core.Immediate) or (form.update is not None and form.update.operation == "set")


def _numbers(unfolded: Unfolded, value: Value) -> Sequence[int]:
    """The possible contents of a cell, where these are few; else nothing."""
    low, high = unfolded.ranks[0].name.domain.span(value)
    return range(low, high + 1) if high - low < MOST_READ else ()
