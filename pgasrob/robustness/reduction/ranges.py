"""Ranges: an interval for every register at every control state, and for every cell, that no run leaves.

With them an operand that depends on a register, an array's element say, stands for the few cells that it can name and
not for all. The analysis is an abstract interpretation of all ranks at once: a rank's control automaton is followed
with intervals for its registers, and cells are known by one interval for all times, which every write widens.

It holds for whatever runs in some order and reads what has been written, the SC runs and the attack search among them,
and also for what renaming interchangeable ranks makes of their states: it starts from all renamed initial states, and
renaming maps runs to runs (`proofs/reductions.md`, sections 5 and 9).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from heapq import heappop, heappush
from typing import NamedTuple
from weakref import WeakKeyDictionary

from pgasrob.program.commands import (
    ATOMIC,
    REMOTE,
    Assert,
    Assign,
    Assume,
    Await,
    Command,
    CompareSwap,
    FetchAdd,
    Load,
    Store,
    Swap,
    expressions_of,
)
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.expressions import Binary, Conditional, Const, Expr, IntType, Register, Unary, constant
from pgasrob.program.instance import Instance
from pgasrob.robustness.attack import Touched
from pgasrob.robustness.reduction.intervals import (
    File,
    Interval,
    bounds,
    joined,
    joined_files,
    limiting,
    may_be_related,
    may_fault,
    narrowing,
    related_to,
    value_of,
    wrapped,
)

PLAIN = 32
"""Times that what is known of a loop's head or of cells grows before it is widened to constants of the program."""
LATE = 2 * PLAIN
"""The same before it is widened to the range of a type."""


class Named(NamedTuple):
    """What the operands of a command name at one control state.

    ``possible``: whether it can be issued there at all. The others are ranges within what is legal, empty for operands
    that the command does not have or when it is not possible: ``address`` is the local one of a transfer, ``remote``
    the other; ``rank`` is the rank itself where no operand names one. An await that is never over has its operands all
    the same: it looks at its cell.
    """

    possible: bool
    address: range = range(0)
    remote: range = range(0)
    rank: range = range(0)
    queue: range = range(0)


IMPOSSIBLE = Named(False)


class Ranges:
    """What :func:`ranges` finds out."""

    def __init__(
        self,
        instance: Instance,
        files: Sequence[Sequence[File | None]],
        memory: _Memory,
        classes: Sequence[Sequence[int]],
    ) -> None:
        # The instance itself is what this is remembered by, so it is not to be kept from here.
        self._automata = instance.automata
        self._nodes = instance.nodes
        self._size = instance.size
        self._files = files
        self._memory = memory
        self._classes = classes
        self._class_of = {rank: ranks for ranks in classes for rank in ranks}
        self._named: dict[tuple[int, int, int], Named] = {}

    def reachable(self, rank: int, state: int) -> bool:
        """Whether ``rank`` may come to the control state ``state``."""
        return self._files[rank][state] is not None

    def register(self, rank: int, state: int, index: int) -> Interval | None:
        """The values of a register of ``rank`` before ``state``; None when it never stands there."""
        file = self._files[rank][state]
        return None if file is None else file[index]

    def cell(self, cell: int) -> Interval:
        """The values of a cell of the flat memory."""
        return self._memory.values(*divmod(cell, self._size))

    def operand(self, rank: int, state: int, expr: Expr) -> Interval | None:
        """The values of ``expr``, an expression of ``rank``, before ``state``; None when it never has one there."""
        file = self._files[rank][state]
        return None if file is None else value_of(expr)(file)

    def may_fault(self, rank: int, state: int, command: Command) -> bool:
        """Whether ``command`` of ``rank`` may fault before ``state``."""
        file = self._files[rank][state]
        if file is None:
            return False
        for name, expr in expressions_of(command).items():
            if may_fault(expr, file):
                return True
            legal = _legal(name, self._nodes, self._size)
            value = value_of(expr)(file)
            if value is None or (legal is not None and not legal[0] <= value[0] <= value[1] <= legal[1]):
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
        kind, named = transition.command.kind, self.named(rank, state, transition)
        here = self._cells(range(rank, rank + 1), named.address)
        if kind in REMOTE:
            there = self._cells(named.rank, named.remote)
            return Touched(here, there) if kind == "write" else Touched(there, here)
        if kind in ATOMIC:
            updated = self._cells(named.rank, named.address)
            return Touched(updated, updated)
        return Touched(0, here) if kind == "store" else Touched(here, 0)

    def _cells(self, ranks: range, addresses: range) -> int:
        cells = (1 << len(addresses)) - 1 << addresses.start if addresses else 0
        found = 0
        for rank in ranks if cells else ():
            found |= cells << rank * self._size
        return found

    def _of_group(self, group: Sequence[int], state: int, place: int) -> list[Named]:
        """What the commands at ``place`` of some interchangeable ranks name, or of one rank."""
        commands = [self._automata[rank].out[state][place].command for rank in group]
        found = [self._of_command(rank, state, command) for rank, command in zip(group, commands, strict=True)]
        named = reduce(_hull, found)
        exprs = [
            expressions_of(command).get("rank", Const(rank)) for rank, command in zip(group, commands, strict=True)
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

    def _of_command(self, rank: int, state: int, command: Command) -> Named:
        file = self._files[rank][state]
        if file is None:
            return IMPOSSIBLE
        possible = _effect(self._memory, self._nodes, rank, command)(file, None) is not None
        if not possible and not isinstance(command, Await):
            return IMPOSSIBLE
        found = {"rank": range(rank, rank + 1)}
        for name, expr in expressions_of(command).items():
            legal = _legal(name, self._nodes, self._size)
            if legal is not None:
                found["address" if name == "local" else name] = _legal_range(value_of(expr)(file), legal)
        return Named(possible, **found)


def _hull(one: Named, other: Named) -> Named:
    return Named(
        one.possible or other.possible,
        *(
            range(min(first.start, second.start), max(first.stop, second.stop)) if first and second else first or second
            for first, second in zip(one[1:], other[1:], strict=True)
        ),
    )


def single(choices: range) -> int | None:
    """The only one of ``choices``; None when there are none or several."""
    return choices.start if choices.stop - choices.start == 1 else None


_LAST_QUEUE = 1 << 64


def _legal(name: str, nodes: int, size: int) -> Interval | None:
    """The values of the operand ``name`` with which a command does not fault; None: all."""
    match name:
        case "address" | "local" | "remote":
            return 0, size - 1
        case "rank":
            return 0, nodes - 1
        case "queue":
            return 0, _LAST_QUEUE
    return None


def _legal_range(value: Interval | None, legal: Interval) -> range:
    return range(0) if value is None else range(max(value[0], legal[0]), min(value[1], legal[1]) + 1)


def closed(values: Interval, k: int, classes: Sequence[Sequence[int]]) -> Interval:
    """``values`` of a register or cell that holds ranks plus ``k``, with all those that renaming may make of them."""
    low, high = values
    while True:
        members = [ranks for ranks in classes if any(low <= rank + k <= high for rank in ranks)]
        least = min([low, *(ranks[0] + k for ranks in members)])
        greatest = max([high, *(ranks[-1] + k for ranks in members)])
        if (least, greatest) == (low, high):
            return low, high
        low, high = least, greatest


_known: WeakKeyDictionary[Instance, Ranges] = WeakKeyDictionary()


def ranges(instance: Instance) -> Ranges:
    """The ranges of ``instance``; the same object when asked again."""
    found = _known.get(instance)
    if found is None:
        found = _known[instance] = _Analysis(instance).run()
    return found


# Memory


class _Region:
    """Cells that are accessed together: some addresses at one rank or at all.

    ``values``: what one of the cells may hold. ``written``: what has been written to some cell of the region as such.
    ``readers``: the places whose commands read it. ``meeting``: the regions that have a cell in common with it.
    """

    __slots__ = ("grown", "meeting", "readers", "values", "written")

    def __init__(self, values: Interval) -> None:
        self.values = values
        self.written: Interval | None = None
        self.grown = 0
        self.readers: set[tuple[int, int]] = set()
        self.meeting: list[_Region] = [self]


class _Memory:
    """What is known of cells, by regions.

    A single cell is a region. Wider ones are rounded up to whole arrays, and to all ranks, so that there are few: what
    is written to one element that is not certain may be in every element anyway.
    """

    def __init__(self, instance: Instance, initial: Sequence[Interval], widening: _Widening) -> None:
        self.stale: set[tuple[int, int]] = set()  # places that read what has changed
        self.size = instance.size
        self._nodes = instance.nodes
        self._initial = initial
        self._widening = widening
        self._first: list[int] = []  # for every address the first and the last of its array
        self._last: list[int] = []
        for object in instance.program.memory:
            self._first += [object.address] * object.cells
            self._last += [object.address + object.cells - 1] * object.cells
        self._regions: dict[tuple[int, int, int], _Region] = {}  # by rank, -1 for all; first and last address
        self._of_rank: dict[int, list[tuple[int, int, _Region]]] = {}

    def region(self, ranks: Interval, addresses: Interval) -> _Region:
        """The region that stands for cells at ``ranks`` with ``addresses``."""
        first, last = addresses
        if first != last:
            first, last = self._first[first], self._last[last]
        rank = ranks[0] if ranks[0] == ranks[1] else -1
        found = self._regions.get((rank, first, last))
        return self._new(rank, first, last) if found is None else found

    def _new(self, rank: int, first: int, last: int) -> _Region:
        values = self._initial[first]
        for initial in self._initial[first + 1 : last + 1]:
            values = joined(values, initial)
        region = _Region(values)
        near = self._of_rank if rank == -1 else {here: self._of_rank.get(here, []) for here in (rank, -1)}
        for others in near.values():
            for start, end, other in others:
                if start <= last and first <= end:
                    region.meeting.append(other)
                    other.meeting.append(region)
                    if other.written is not None:
                        region.values = joined(region.values, other.written)
        self._regions[rank, first, last] = region
        self._of_rank.setdefault(rank, []).append((first, last, region))
        return region

    def write(self, region: _Region, values: Interval) -> None:
        """Some of ``values`` may be written to a cell of ``region``."""
        known = region.written
        if known is not None:
            if known[0] <= values[0] and values[1] <= known[1]:
                return
            values = self._widening.grown(known, joined(known, values), region.grown)
        region.written = values
        region.grown += 1
        for met in region.meeting:
            if values[0] < met.values[0] or met.values[1] < values[1]:
                met.values = joined(met.values, values)
                self.stale |= met.readers

    def values(self, rank: int, address: int) -> Interval:
        """What a cell may hold."""
        return self.region((rank, rank), (address, address)).values


class _Widening:
    """Lets intervals grow in steps that come to an end: as they do, then to constants of the program, then to the
    bounds of types."""

    def __init__(self, commands: Sequence[Command]) -> None:
        values, types = {0, 1}, {IntType(32, True)}
        for command in commands:
            if isinstance(command, FetchAdd):
                types.add(command.type)
            for expr in expressions_of(command).values():
                for part in _parts(expr):
                    if isinstance(part, Unary | Binary):
                        types.add(part.type)
                    elif (value := constant(part)) is not None:
                        values |= {value - 1, value, value + 1}
        # No type is wider than the widest, and where neither constants nor types give a bound nothing can come.
        widest = max(type.bits for type in types)
        ends = {bound for type in types for bound in bounds(type)}
        ends |= {*bounds(IntType(widest, True)), *bounds(IntType(widest, False))}
        self._ends = sorted({0, *ends, min(values), max(values)})
        self._constants = sorted(values | ends)

    def grown(self, old: Interval, new: Interval, times: int) -> Interval:
        """``new``, which contains ``old``, or more; ``times`` is how often it has grown before."""
        if times < PLAIN:
            return new
        steps = self._constants if times < LATE else self._ends
        low, high = new
        if low < old[0]:
            low = steps[max(bisect_right(steps, low) - 1, 0)] if low >= steps[0] else low
        if high > old[1]:
            high = steps[bisect_left(steps, high)] if high <= steps[-1] else high
        return low, high

    def grown_file(self, old: File, new: File, times: int) -> File:
        if times < PLAIN:
            return new
        return tuple(
            two if one is two or one == two else self.grown(one, two, times) for one, two in zip(old, new, strict=True)
        )


def _parts(expr: Expr) -> Iterator[Expr]:
    yield expr
    match expr:
        case Unary(_, operand):
            yield from _parts(operand)
        case Binary(_, left, right):
            yield from _parts(left)
            yield from _parts(right)
        case Conditional(condition, then, otherwise):
            yield from _parts(condition)
            yield from _parts(then)
            yield from _parts(otherwise)


# Commands

Place = tuple[int, int]
"""A control state and a rank."""
Effect = Callable[[File, Place | None], File | None]
"""What a command makes of a file, and writes to memory; None when it cannot be issued. The place, if any, is entered as
a reader of what is read; without one nothing is written either."""


def _effect(memory: _Memory, nodes: int, rank: int, command: Command) -> Effect:
    exprs = expressions_of(command)
    legal = [
        (value_of(expr), limiting(expr), bound)
        for name, expr in exprs.items()
        if (bound := _legal(name, nodes, memory.size)) is not None
    ]
    inner = _inner_effect(memory, rank, command)

    def effect(file: File, place: Place | None) -> File | None:
        # Behind it the operands are known to be legal, or it would have faulted.
        named = []
        after = file
        for value, limit, (low, high) in legal:
            found = value(file)
            if found is None or found[1] < low or high < found[0]:
                return None
            named.append((max(found[0], low), min(found[1], high)))
            if found[0] < low or high < found[1]:
                limited = limit(after, low, high)
                if limited is None:
                    return None
                after = limited
        return inner(after, named, place)

    return effect


_Inner = Callable[[File, list[Interval], Place | None], File | None]


def _inner_effect(memory: _Memory, rank: int, command: Command) -> _Inner:
    """The effect over a file in which operands are legal; these are given in the order of the syntax."""
    here = rank, rank
    match command:
        case Load(register, _):

            def load(file: File, named: list[Interval], place: Place | None) -> File | None:
                return _set(file, register, _read(memory.region(here, named[0]), place))

            return load
        case Store(_, stored):
            value = value_of(stored)

            def store(file: File, named: list[Interval], place: Place | None) -> File | None:
                values = value(file)
                if values is not None and place is not None:
                    memory.write(memory.region(here, named[0]), values)
                return None if values is None else file

            return store
        case Assign(register, assigned):
            value = value_of(assigned)
            return lambda file, named, place: None if (new := value(file)) is None else _set(file, register, new)
        case Assume(condition):
            narrow = narrowing(condition, True)
            return lambda file, named, place: narrow(file)
        case Assert(condition):
            value = value_of(condition)
            return lambda file, named, place: None if value(file) is None else file
        case Await(_, relation, compared):
            return _await(memory, here, relation, compared)
        case FetchAdd() | Swap() | CompareSwap():
            return _atomic(memory, command)
    if command.kind not in REMOTE:
        return lambda file, named, place: file

    def transfer(file: File, named: list[Interval], place: Place | None) -> File | None:
        local, target, remote, _ = named
        source, destination = memory.region(here, local), memory.region(target, remote)
        if command.kind == "read":
            source, destination = destination, source
        values = _read(source, place)
        if place is not None:
            memory.write(destination, values)
        return file

    return transfer


def _await(memory: _Memory, here: Interval, relation: str, compared: Expr) -> _Inner:
    value, limit = value_of(compared), limiting(compared)
    mirrored = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(relation, relation)

    def effect(file: File, named: list[Interval], place: Place | None) -> File | None:
        held, other = _read(memory.region(here, named[0]), place), value(file)
        if other is None or not may_be_related(relation, held, other):
            return None
        return limit(file, *related_to(mirrored, other, held))

    return effect


def _atomic(memory: _Memory, command: FetchAdd | Swap | CompareSwap) -> _Inner:
    operands = [value_of(expr) for name, expr in expressions_of(command).items() if name not in ("rank", "address")]
    register = command.register
    type = command.type if isinstance(command, FetchAdd) else None

    def effect(file: File, named: list[Interval], place: Place | None) -> File | None:
        target, address = named
        region = memory.region(target, address)
        old = _read(region, place)
        values = [values for operand in operands if (values := operand(file)) is not None]
        if len(values) < len(operands):
            return None
        if place is not None:
            new = values[-1]
            if type is not None:
                memory.write(region, wrapped(old[0] + new[0], old[1] + new[1], type))
            elif len(values) == 1 or may_be_related("==", old, values[0]):
                memory.write(region, new)
        return _set(file, register, old)

    return effect


def _read(region: _Region, place: Place | None) -> Interval:
    if place is not None:
        region.readers.add(place)
    return region.values


def _set(file: File, register: Register, values: Interval) -> File:
    index = register.index
    return (*file[:index], values, *file[index + 1 :])


# The fixpoint


class _Analysis:
    """Follows the automata of all ranks until nothing grows.

    What can grow for ever grows at the heads of loops or in memory, so it is widened there.
    """

    def __init__(self, instance: Instance) -> None:
        from pgasrob.robustness.reduction.symmetry import symmetry

        found = symmetry(instance)
        self.instance = instance
        self.classes = found.classes
        commands = list(
            {
                id(transition.command): transition.command
                for automaton in instance.automata
                for transition in automaton.transitions
            }.values()
        )
        self.widening = _Widening(commands)
        size = instance.size
        initial = [_hull_of(instance.memory[address::size]) for address in range(size)]
        self.memory = _Memory(instance, self._renamed(initial, found.cells), self.widening)
        self.start: File = tuple(self._renamed([(value, value) for value in instance.registers], found.registers))
        self.files: list[list[File | None]] = [[None] * len(automaton.out) for automaton in instance.automata]
        self.grown = [[0] * len(automaton.out) for automaton in instance.automata]
        self.heads = _heads(instance.automata)
        self.effects: dict[tuple[int, int], Effect] = {}
        self.queue: list[Place] = []
        self.queued: set[Place] = set()

    def _renamed(self, values: Sequence[Interval], offsets: Sequence[int | None]) -> list[Interval]:
        """``values`` with all that renaming makes of them; those of type k hold a rank plus k."""
        return [
            found if k is None else closed(found, k, self.classes) for found, k in zip(values, offsets, strict=True)
        ]

    def run(self) -> Ranges:
        for rank in range(self.instance.nodes):
            self.files[rank][0] = self.start
            self._push((0, rank))
        while self.queue:
            place = heappop(self.queue)  # states are numbered forwards, so what comes earlier is done with first
            self.queued.discard(place)
            self._follow(place)
            for stale in self.memory.stale:
                self._push(stale)
            self.memory.stale.clear()
        return Ranges(self.instance, self.files, self.memory, self.classes)

    def _push(self, place: Place) -> None:
        if place not in self.queued:
            self.queued.add(place)
            heappush(self.queue, place)

    def _follow(self, place: Place) -> None:
        state, rank = place
        file = self.files[rank][state]
        assert file is not None, "only what has been reached is followed"
        for transition in self.instance.automata[rank].out[state]:
            key = rank, transition.occurrence
            effect = self.effects.get(key)
            if effect is None:
                effect = self.effects[key] = _effect(self.memory, self.instance.nodes, rank, transition.command)
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


def _hull_of(values: Sequence[int]) -> Interval:
    return min(values), max(values)


def _heads(automata: Sequence[ControlAutomaton]) -> list[frozenset[int]]:
    """For every rank states of which each loop has one: where a walk comes back to what it has not left yet."""
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
