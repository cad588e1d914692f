"""Interval analysis: finds an interval for every register at every control state, and for every cell, for all runs.

An operand that depends on a register, an array's element say, then stands for the few cells that it can name instead of
all. The analysis is an abstract interpretation of all ranks at once: it follows a rank's control automaton
with intervals for its registers, and has one interval for each cell for all times, which every write widens.

The result holds for all searches in which reads return what has been written, such as SC runs and the attack search,
and for their states after interchangeable ranks are renamed: the analysis starts from all renamed initial states, and
renaming maps runs to runs (`proofs/reductions.md`, sections 5 and 9).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from heapq import heappop, heappush
from typing import NamedTuple

from pgasrob.analysis.counters import Counting, Limit, Limits, counting, guesses
from pgasrob.analysis.effects import Effect, effect_of, legal, with_register
from pgasrob.analysis.intervals import File, Interval, joined_files, may_fault, value_of, value_within
from pgasrob.analysis.rank_types import Symmetry
from pgasrob.analysis.regions import Location, Regions
from pgasrob.analysis.touched import Touched, touching
from pgasrob.analysis.widening import Widening
from pgasrob.program import core
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.core import Access, Form, Place, Role
from pgasrob.program.expressions import Const, Expr, Register, constant
from pgasrob.program.instance import Instance
from pgasrob.stop_points import stop_point


class Named(NamedTuple):
    """What the operands of a command name at one control state.

    ``possible``: whether it can be issued there at all. The others are ranges within what is legal, empty for operands
    that the command does not have or when it is not possible: ``addresses`` has one for each access, in their order;
    ``rank`` is the rank itself where no operand names one. An await that never succeeds has its operands all the same,
    since it reads its cell.
    """

    possible: bool
    addresses: tuple[range, ...] = ()
    rank: range = range(0)
    queue: range = range(0)


IMPOSSIBLE = Named(False)
GREATEST_VALUE = (1 << 64) - 1
"""An upper bound of all values."""


class Made(NamedTuple):
    """The accesses that a command may make: at its issue, and in each of its steps."""

    at_issue: Touched
    steps: tuple[Touched, ...]


class Ranges:
    """The result of :func:`find_ranges`: intervals of registers and cells, and what follows for operands."""

    def __init__(
        self,
        instance: Instance,
        files: Sequence[Sequence[File | None]],
        memory: Regions,
        classes: Sequence[Sequence[int]],
        limits: Limits,
        effects: Mapping[tuple[int, int], Effect],
    ) -> None:
        # The instance keeps this object (`remembered`); a reference back would be a cycle.
        self._automata = instance.automata
        self._nodes, self._home = instance.nodes, instance.home
        self._size = instance.size
        self._files = files
        self._memory = memory
        self._classes = classes
        self._limits = limits
        self._effects = effects
        self._class_of = {rank: ranks for ranks in classes for rank in ranks}
        self._named: dict[tuple[int, int, int], Named] = {}
        self._made: dict[tuple[int, int, int], Made] = {}
        self._touched: dict[tuple[int, int, int], Touched] = {}

    def reachable(self, rank: int, state: int) -> bool:
        """Whether ``rank`` may reach the control state ``state``."""
        return self._files[rank][state] is not None

    def register(self, rank: int, state: int, index: int) -> Interval | None:
        """The values of a register of ``rank`` at ``state``; None when the rank never reaches it."""
        file = self._files[rank][state]
        return None if file is None else file[index]

    def cell(self, cell: int) -> Interval:
        """The values of a cell of the flat memory."""
        return self._memory.values(*divmod(cell, self._size))

    def cells(self, rank: int, first: int, last: int) -> Interval:
        """The values of the cells of ``rank`` between two addresses of one object, or more."""
        return self._memory.region((rank, rank), (first, last)).values

    def most(self, address: int) -> int:
        """The greatest value of the counter at ``address``; :data:`GREATEST_VALUE` where there is no counter."""
        limit = self._limits.get(address)
        return GREATEST_VALUE if limit is None else limit.most

    def operand(self, rank: int, state: int, expr: Expr) -> Interval | None:
        """The values of ``expr``, an expression of ``rank``, before ``state``; None when it never has one there."""
        file = self._files[rank][state]
        return None if file is None else value_of(expr)(file)

    def may_fault(self, rank: int, state: int, form: Form) -> bool:
        """Whether a command of ``rank`` may fault before ``state``."""
        file = self._files[rank][state]
        if file is None:
            return False
        for role, expr in core.expressions(form):
            if may_fault(expr, file):
                return True
            bound, value = legal(role, self._nodes, self._size), value_of(expr)(file)
            if value is None or (bound is not None and not bound[0] <= value[0] <= value[1] <= bound[1]):
                return True
        return False

    def named(self, rank: int, state: int, transition: Transition) -> Named:
        """What the operands of ``transition`` name, which leaves ``state`` of ``rank``.

        It is the same for interchangeable ranks, up to their names.
        """
        key = rank, state, transition.occurrence
        found = self._named.get(key)
        if found is None:
            place = next(
                place
                for place, leaving in enumerate(self._automata[rank].out[state])
                if leaving.occurrence == transition.occurrence
            )
            group = self._class_of.get(rank, (rank,))
            for other, named in zip(group, self._of_group(group, state, place), strict=True):
                self._named[other, state, transition.occurrence] = named
            found = self._named[key]
        return found

    def touched(self, rank: int, state: int, transition: Transition) -> Touched:
        """The accesses that the command of ``transition`` may make, at its issue or in a step."""
        key = rank, state, transition.occurrence
        found = self._touched.get(key)
        if found is None:
            at_issue, steps = self.made(rank, state, transition)
            found = self._touched[key] = reduce(Touched.joined, steps, at_issue)
        return found

    def made(self, rank: int, state: int, transition: Transition) -> Made:
        """Like :meth:`touched`, but for each access by itself."""
        key = rank, state, transition.occurrence
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._accesses(rank, state, transition)
        return found

    def _accesses(self, rank: int, state: int, transition: Transition) -> Made:
        named, form = self.named(rank, state, transition), transition.form
        accesses, home = core.accesses_of(form), self._home[rank]

        def touched(access: Access[Place], reads: bool, addresses: range) -> Touched:
            cells = self._cells(range(home, home + 1) if access.cell.rank is None else named.rank, addresses)
            return touching(cells, reads, access.writes, access.commutes)

        # What cannot be issued names nothing.
        made = tuple(map(touched, accesses, core.observed(form), named.addresses or [range(0)] * len(accesses)))
        steps = len(core.steps_of(form))
        return Made(made[0] if len(made) > steps else Touched(), made[len(made) - steps :])

    def _cells(self, ranks: range, addresses: range) -> int:
        cells = (1 << len(addresses)) - 1 << addresses.start if addresses else 0
        found = 0
        for rank in ranks if cells else ():
            found |= cells << rank * self._size
        return found

    def _of_group(self, group: Sequence[int], state: int, place: int) -> list[Named]:
        """What the commands at ``place`` of some interchangeable ranks name, or of one rank."""
        transitions = [self._automata[rank].out[state][place] for rank in group]
        forms = [transition.form for transition in transitions]
        found = [self._of_command(rank, state, each) for rank, each in zip(group, transitions, strict=True)]
        named = reduce(_hull, found)
        exprs: list[Expr] = [
            core.target(form) or Const(self._home[rank]) for rank, form in zip(group, forms, strict=True)
        ]
        if not named.rank:
            return found
        if all(constant(expr) is not None for expr in exprs):
            # Literals or the ranks themselves are the same for all of them up to their names.
            targets = [_legal_range(value_of(expr)(()), (0, self._nodes - 1)) for expr in exprs]
        else:
            low, high = closed((named.rank.start, named.rank.stop - 1), 0, self._classes)
            targets = [range(low, high + 1)] * len(group)
            if len(group) > 1 and all(single(one.rank) == rank for rank, one in zip(group, found, strict=True)):
                targets = [one.rank for one in found]
        return [named._replace(rank=target) for target in targets]

    def _of_command(self, rank: int, state: int, transition: Transition) -> Named:
        file, form = self._files[rank][state], transition.form
        if file is None:
            return IMPOSSIBLE
        possible = self._effects[rank, transition.occurrence](file, None) is not None
        if not possible and not (isinstance(form, core.Immediate) and form.may_block):
            return IMPOSSIBLE
        found: dict[Role, list[range]] = {role: [] for role in Role}
        for role, expr in core.expressions(form):
            bound = legal(role, self._nodes, self._size)
            if bound is not None:
                values = value_within(expr, *bound)(file)
                found[role].append(range(0) if values is None else range(values[0], values[1] + 1))
        home = self._home[rank]
        ranks, queues = found[Role.RANK] or [range(home, home + 1)], found[Role.QUEUE] or [range(0)]
        return Named(possible, tuple(found[Role.ADDRESS]), ranks[0], queues[0])


def _hull(one: Named, other: Named) -> Named:
    def hull(first: range, second: range) -> range:
        if first and second:
            return range(min(first.start, second.start), max(first.stop, second.stop))
        return first or second

    addresses = one.addresses or other.addresses
    if one.addresses and other.addresses:
        addresses = tuple(map(hull, one.addresses, other.addresses))
    return Named(one.possible or other.possible, addresses, hull(one.rank, other.rank), hull(one.queue, other.queue))


def single(choices: range) -> int | None:
    """The only one of ``choices``; None when there are none or several."""
    return choices.start if choices.stop - choices.start == 1 else None


def _legal_range(value: Interval | None, legal: Interval) -> range:
    return range(0) if value is None else range(max(value[0], legal[0]), min(value[1], legal[1]) + 1)


def closed(values: Interval, k: int, classes: Sequence[Sequence[int]]) -> Interval:
    """``values`` of a register or cell that holds ranks plus ``k``, with all those that renaming may make of them."""
    low, high = values
    while True:
        stop_point()
        members = [ranks for ranks in classes if any(low <= rank + k <= high for rank in ranks)]
        least = min([low, *(ranks[0] + k for ranks in members)])
        greatest = max([high, *(ranks[-1] + k for ranks in members)])
        if (least, greatest) == (low, high):
            return low, high
        low, high = least, greatest


def find_ranges(instance: Instance, symmetry: Symmetry) -> Ranges:
    """The ranges of ``instance``, also for what ``symmetry`` makes of its states by renaming."""
    limits: dict[int, Limit] = {}
    analysis = _Analysis(instance, limits, symmetry)
    left = {address: iter(guessed) for address, guessed in guesses(instance, analysis.initial).items()}
    wrong: Collection[int] = left.keys()
    while wrong:
        stop_point()
        for address in wrong:
            limits.pop(address, None)
            if (limit := next(left[address], None)) is not None:
                limits[address] = limit
        analysis = _Analysis(instance, limits, symmetry)
        found = analysis.run()
        wrong = analysis.wrong_limits(found)
        if not wrong:
            return found
    return analysis.run()


# The fixpoint


MOST_TRIED = 100_000
"""Commands that are followed to find out whether ranks count again, before the answer is that they may."""


class _Analysis:
    """Follows the automata of all ranks until nothing grows.

    Only at the heads of loops and in memory can intervals grow for ever, so they are widened there. Counters are
    assumed to keep within ``limits``; :meth:`wrong_limits` finds those of which the result does not confirm that.
    """

    def __init__(self, instance: Instance, limits: Limits, found: Symmetry) -> None:
        self.instance = instance
        self.limits = limits
        self.classes = found.classes
        self.widening = Widening(instance.forms)
        size = instance.size
        cells = [instance.memory[address::size] for address in range(size)]
        hulls = [(min(values), max(values)) for values in cells]
        self.initial = self._renamed(hulls, found.cells)
        self.memory = Regions(instance, self.initial, self.widening, limits)
        self.start: File = tuple(self._renamed([(value, value) for value in instance.registers], found.registers))
        self.files: list[list[File | None]] = [[None] * len(automaton.out) for automaton in instance.automata]
        self.grown = [[0] * len(automaton.out) for automaton in instance.automata]
        self.heads = _heads(instance.automata)
        self.effects: dict[tuple[int, int], Effect] = {}
        self.queue: list[Location] = []
        self.queued: set[Location] = set()

    def _renamed(self, values: Sequence[Interval], offsets: Sequence[int | None]) -> list[Interval]:
        """``values`` with all that renaming makes of them; those of type k hold a rank plus k."""
        return [
            found if k is None else closed(found, k, self.classes) for found, k in zip(values, offsets, strict=True)
        ]

    def run(self) -> Ranges:
        for rank in range(self.instance.processes):
            self.files[rank][0] = self.start
            self._push((0, rank))
        while self.queue:
            stop_point()
            place = heappop(self.queue)  # states are numbered forwards, so what comes earlier is done with first
            self.queued.discard(place)
            self._follow(place)
            for stale in self.memory.stale:
                self._push(stale)
            self.memory.stale.clear()
        return Ranges(self.instance, self.files, self.memory, self.classes, dict(self.limits), self.effects)

    # Counters

    def wrong_limits(self, found: Ranges) -> set[int]:
        """The addresses whose limits may be wrong: another command may write there, or a rank may count again."""
        wrong: set[int] = set()
        nodes, size = self.instance.nodes, self.instance.size
        cells = {address: sum(1 << rank * size + address for rank in range(nodes)) for address in self.limits}
        self.tried = 0
        for rank, automaton in enumerate(self.instance.automata if self.limits else ()):
            for state, leaving in enumerate(automaton.out):
                for transition in leaving if found.reachable(rank, state) else ():
                    counts = counting(transition.form)
                    if counts is None or counts.address not in self.limits:
                        changed = found.touched(rank, state, transition).changed
                        wrong.update(address for address, here in cells.items() if here & changed)
                    elif counts.address not in wrong and self._counts_again(rank, state, transition, counts):
                        wrong.add(counts.address)
        return wrong

    def _counts_again(self, rank: int, state: int, transition: Transition, counts: Counting) -> bool:
        """Whether ``rank`` may count again after it has counted at a value from which on it should not."""
        limit = self.limits[counts.address]
        for value in range(limit.once, limit.most - counts.step + 1):
            file = self.files[rank][state]
            assert file is not None, "only what has been reached is asked"
            if counts.expected is not None:
                expected = value_of(counts.expected)(file)
                if expected is None or not expected[0] <= value <= expected[1]:
                    continue
                if isinstance(counts.expected, Register):
                    file = with_register(file, counts.expected.index, (value, value))
            if counts.register is not None:
                file = with_register(file, counts.register, (value, value))
            if self._reaches_count(rank, transition.target, file, counts.address):
                return True
        return False

    def _reaches_count(self, rank: int, start: int, file: File, address: int) -> bool:
        """Whether ``rank`` may reach a command that counts at ``address`` from ``start`` with registers in ``file``."""
        files, grown = {start: file}, dict.fromkeys(self.heads[rank], 0)
        stack = [start]
        while stack:
            stop_point()
            state = stack.pop()
            for transition in self.instance.automata[rank].out[state]:
                self.tried += 1
                if self.tried > MOST_TRIED:
                    return True
                effect = self.effects.get((rank, transition.occurrence))
                after = None if effect is None else effect(files[state], None)
                if after is None:
                    continue
                counts = counting(transition.form)
                if counts is not None and counts.address == address:
                    return True
                known = files.get(transition.target)
                if known is not None:
                    after = joined_files(known, after)
                    if after is known:
                        continue
                    if transition.target in grown:
                        after = self.widening.grown_file(known, after, grown[transition.target])
                        grown[transition.target] += 1
                files[transition.target] = after
                stack.append(transition.target)
        return False

    def _push(self, place: Location) -> None:
        if place not in self.queued:
            self.queued.add(place)
            heappush(self.queue, place)

    def _follow(self, place: Location) -> None:
        state, rank = place
        file = self.files[rank][state]
        assert file is not None, "only what has been reached is followed"
        for transition in self.instance.automata[rank].out[state]:
            key = rank, transition.occurrence
            effect = self.effects.get(key)
            if effect is None:
                effect = self.effects[key] = effect_of(
                    self.memory, self.instance.nodes, self.instance.home[rank], transition.form
                )
            after = effect(file, place)
            if after is not None:
                self._flow(rank, transition.target, after)

    def _flow(self, rank: int, state: int, arriving: File) -> None:
        known = self.files[rank][state]
        if known is not None:
            arriving = joined_files(known, arriving)
            if arriving is known:
                return
            if state in self.heads[rank]:
                arriving = self.widening.grown_file(known, arriving, self.grown[rank][state])
                self.grown[rank][state] += 1
        self.files[rank][state] = arriving
        self._push((state, rank))


def _heads(automata: Sequence[ControlAutomaton]) -> list[frozenset[int]]:
    """For every rank a set of states that cuts all loops: the targets of the back edges of a depth-first search."""
    known: dict[tuple[tuple[int, ...], ...], frozenset[int]] = {}
    found = []
    for automaton in automata:
        shape = tuple(tuple(transition.target for transition in leaving) for leaving in automaton.out)
        if shape not in known:
            known[shape] = _heads_of(shape)
        found.append(known[shape])
    return found


def _heads_of(targets: Sequence[Sequence[int]]) -> frozenset[int]:
    heads: set[int] = set()
    seen, open_states = {0}, {0}
    stack = [(0, iter(targets[0]))]
    while stack:
        stop_point()
        state, rest = stack[-1]
        for target in rest:
            if target in open_states:
                heads.add(target)
            elif target not in seen:
                seen.add(target)
                open_states.add(target)
                stack.append((target, iter(targets[target])))
                break
        else:
            open_states.discard(state)
            stack.pop()
    return frozenset(heads)
