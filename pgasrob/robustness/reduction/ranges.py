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
    Assert,
    Assign,
    Assume,
    Await,
    AwaitAdd,
    Command,
    CompareSwap,
    Fetch,
    FetchAdd,
    FetchUpdate,
    Load,
    Notify,
    Put,
    Read,
    Signal,
    Store,
    Swap,
    Update,
    UpdateFrom,
    Write,
    expressions_of,
)
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.expressions import Binary, Conditional, Const, Expr, IntType, Register, Unary, constant
from pgasrob.program.instance import Instance
from pgasrob.robustness.attack import Touched
from pgasrob.robustness.reduction.chains import FAR, chain_of, is_place
from pgasrob.robustness.reduction.intervals import (
    File,
    Interval,
    Value,
    bounds,
    joined,
    joined_files,
    limiting,
    may_be_related,
    may_fault,
    narrowing,
    operation,
    related_to,
    value_of,
    wrapped,
)
from pgasrob.semantics.accesses import Access

PLAIN = 32
"""Times that what is known of a loop's head or of cells grows before it is widened to constants of the program."""
LATE = 2 * PLAIN
"""The same before it is widened to the range of a type."""


class Named(NamedTuple):
    """What the operands of a command name at one control state.

    ``possible``: whether it can be issued there at all. The others are ranges within what is legal, empty for operands
    that the command does not have or when it is not possible: ``address`` is the local one of a transfer, ``remote``
    the other, ``expected`` and ``result`` those of a deferred atomic; ``rank`` is the rank itself where no operand
    names one. An await that is never over has its operands all the same: it looks at its cell.
    """

    possible: bool
    address: range = range(0)
    remote: range = range(0)
    rank: range = range(0)
    queue: range = range(0)
    expected: range = range(0)
    result: range = range(0)

    def cells(self, place: str) -> range:
        """The addresses that the operand ``place`` of a command names."""
        match place:
            case "expected":
                return self.expected
            case "result":
                return self.result
            case "remote":
                return self.remote
        return self.address


IMPOSSIBLE = Named(False)


class Made(NamedTuple):
    """The accesses that a command may make: at its issue, and in each of its steps."""

    at_issue: Touched
    steps: tuple[Touched, ...]


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
        self._made: dict[tuple[int, int, int], Made] = {}

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
            legal = _legal(command, name, self._nodes, self._size)
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
        at_issue, steps = self.made(rank, state, transition)
        return reduce(Touched.joined, steps, at_issue)

    def made(self, rank: int, state: int, transition: Transition) -> Made:
        """The same, told apart by accesses: each of them is made to one of the cells given."""
        key = rank, state, transition.occurrence
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._accesses(rank, state, transition)
        return found

    def _accesses(self, rank: int, state: int, transition: Transition) -> Made:
        named, chain = self.named(rank, state, transition), chain_of(transition.command)

        def touched(place: str, access: Access) -> Touched:
            ranks = named.rank if place in FAR else range(rank, rank + 1)
            cells = self._cells(ranks, named.cells(place))
            return Touched(cells if access.reads else 0, cells if access.writes else 0)

        return Made(
            touched(*chain.at_issue) if chain.at_issue else Touched(),
            tuple(touched(place, step.access) for place, step in chain.steps),
        )

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
        if not possible and not isinstance(command, Await | AwaitAdd):
            return IMPOSSIBLE
        found = {"rank": range(rank, rank + 1)}
        for name, expr in expressions_of(command).items():
            legal = _legal(command, name, self._nodes, self._size)
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


def _legal(command: Command, name: str, nodes: int, size: int) -> Interval | None:
    """The values of the operand ``name`` with which ``command`` does not fault; None: all."""
    if not is_place(command, name):
        return None
    match name:
        case "rank":
            return 0, nodes - 1
        case "queue":
            return 0, _LAST_QUEUE
    return 0, size - 1


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


_DOUBLE = IntType(64, True)
"""What doubles are kept as."""


class _Widening:
    """Lets intervals grow in steps that come to an end: as they do, then to constants of the program, then to the
    bounds of types."""

    def __init__(self, commands: Sequence[Command]) -> None:
        values, types = {0, 1}, {IntType(32, True)}
        for command in commands:
            types.add(getattr(command, "type", IntType(32, True)))
            if getattr(command, "operation", "").endswith("."):
                types.add(_DOUBLE)
            for expr in expressions_of(command).values():
                for part in _parts(expr):
                    if isinstance(part, Unary | Binary):
                        of_doubles = part.operator.endswith(".") or part.operator in ("float", "float32")
                        types.add(_DOUBLE if of_doubles else part.type)
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
        (name, value_of(expr), limiting(expr), bound)
        for name, expr in exprs.items()
        if (bound := _legal(command, name, nodes, memory.size)) is not None
    ]
    inner = _inner_effect(memory, rank, command)

    def effect(file: File, place: Place | None) -> File | None:
        # Behind it the operands are known to be legal, or it would have faulted.
        named = {}
        after = file
        for name, value, limit, (low, high) in legal:
            found = value(file)
            if found is None or found[1] < low or high < found[0]:
                return None
            named[name] = max(found[0], low), min(found[1], high)
            if found[0] < low or high < found[1]:
                limited = limit(after, low, high)
                if limited is None:
                    return None
                after = limited
        return inner(after, named, place)

    return effect


_Places = dict[str, Interval]
_Inner = Callable[[File, _Places, Place | None], File | None]


def _inner_effect(memory: _Memory, rank: int, command: Command) -> _Inner:
    """The effect over a file in which operands are legal; those that are places are given by name."""
    here = rank, rank
    match command:
        case Load(register, _) | Fetch(register, _, _):

            def load(file: File, named: _Places, place: Place | None) -> File | None:
                return _set(file, register, _read(memory.region(named.get("rank", here), named["address"]), place))

            return load
        case Store(_, stored):
            value = value_of(stored)

            def store(file: File, named: _Places, place: Place | None) -> File | None:
                values = value(file)
                if values is not None and place is not None:
                    memory.write(memory.region(here, named["address"]), values)
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
            return _await(memory, here, relation, compared, None)
        case AwaitAdd(_, _, relation, compared, operand):
            return _await(memory, here, relation, compared, (value_of(operand), command.type))
        case FetchAdd() | FetchUpdate() | Swap() | CompareSwap():
            return _atomic(memory, command)
        case Read() | Write() | Put():
            return _transfer(memory, here, command)
        case Update() | UpdateFrom() | Notify() | Signal():
            return _deferred(memory, here, command)
    return lambda file, named, place: file


def _transfer(memory: _Memory, here: Interval, command: Command) -> _Inner:
    def effect(file: File, named: _Places, place: Place | None) -> File | None:
        source, destination = memory.region(here, named["local"]), memory.region(named["rank"], named["remote"])
        if command.kind == "read":
            source, destination = destination, source
        values = _read(source, place)
        if place is not None:
            memory.write(destination, values)
        return file

    return effect


def _await(
    memory: _Memory, here: Interval, relation: str, compared: Expr, adding: tuple[Value, IntType] | None
) -> _Inner:
    """An await; ``adding``: what it adds to the cell, and the type that it does that in."""
    value, limit = value_of(compared), limiting(compared)
    mirrored = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(relation, relation)

    def effect(file: File, named: _Places, place: Place | None) -> File | None:
        region = memory.region(named.get("rank", here), named["address"])
        held, other = _read(region, place), value(file)
        if other is None or not may_be_related(relation, held, other):
            return None
        after = limit(file, *related_to(mirrored, other, held))
        if adding is None or after is None:
            return after
        amount, type = adding[0](after), adding[1]
        if amount is not None and place is not None:
            old = related_to(relation, held, other)
            memory.write(region, wrapped(old[0] + amount[0], old[1] + amount[1], type))
        return None if amount is None else after

    return effect


def _atomic(memory: _Memory, command: FetchAdd | FetchUpdate | Swap | CompareSwap) -> _Inner:
    operands = [value_of(expr) for name, expr in expressions_of(command).items() if name not in ("rank", "address")]
    register = command.register
    match command:
        case FetchAdd():
            update = _updating("add", command.type)
        case FetchUpdate():
            update = _updating(command.operation, command.type)
        case Swap():
            update = _updating("set", _DOUBLE)
        case CompareSwap():
            update = _updating("compare_swap", _DOUBLE)

    def effect(file: File, named: _Places, place: Place | None) -> File | None:
        region = memory.region(named["rank"], named["address"])
        old = _read(region, place)
        values = [values for operand in operands if (values := operand(file)) is not None]
        if len(values) < len(operands):
            return None
        if place is not None and (new := update(old, values[-1], values[0])) is not None:
            memory.write(region, new)
        return _set(file, register, old)

    return effect


def _deferred(memory: _Memory, here: Interval, command: Update | UpdateFrom | Notify | Signal) -> _Inner:
    """A deferred atomic, a notification or a signal."""
    exprs, update = expressions_of(command), _updating(command.operation, command.type)
    values = {name: value_of(expr) for name, expr in exprs.items() if not is_place(command, name)}

    def effect(file: File, named: _Places, place: Place | None) -> File | None:
        region = memory.region(named["rank"], named["remote"])
        old = _read(region, place)
        known = {name: found for name, value in values.items() if (found := value(file)) is not None}
        if len(known) < len(values):
            return None
        known |= {
            name: _read(memory.region(here, named[name]), place) for name in ("local", "expected") if name in named
        }
        if place is not None:
            operand = known.get("value", known.get("local", _ZERO))
            new = update(old, operand, known.get("expected", _ZERO))
            if new is not None:
                memory.write(region, new)
            if "result" in named:
                memory.write(memory.region(here, named["result"]), old)
        return file

    return effect


_ZERO = (0, 0)
_Updating = Callable[[Interval, Interval, Interval], Interval | None]


def _updating(name: str, type: IntType) -> _Updating:
    """What an atomic writes to a cell, by the values of the cell, the operand and what is expected; None: nothing, or
    what the cell held."""
    match name:
        case "set":
            return lambda old, operand, expected: operand
        case "fetch":
            return lambda old, operand, expected: None
        case "compare_swap":
            return lambda old, operand, expected: operand if may_be_related("==", old, expected) else None
        case "min":
            return lambda old, operand, expected: (min(old[0], operand[0]), min(old[1], operand[1]))
        case "max":
            return lambda old, operand, expected: (max(old[0], operand[0]), max(old[1], operand[1]))
        case "min." | "max.":
            return lambda old, operand, expected: operand
    compute = operation(_OPERATOR[name])
    return lambda old, operand, expected: compute(old, operand, type)


_OPERATOR = {"add": "+", "mul": "*", "and": "&", "or": "|", "xor": "^", "add.": "+.", "mul.": "*."}


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
