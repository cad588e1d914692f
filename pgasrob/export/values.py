"""Which values registers and cells may have: what a model checker needs to choose types, and to list operands.

A set of values is kept as long as it is small. Registers are followed along control, memory is not; that is enough for
counters of loops, tickets and flags.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import product
from math import prod

from pgasrob.program.commands import ATOMIC, REMOTE, Command, expressions_of
from pgasrob.program.control import Transition
from pgasrob.program.core import Cell
from pgasrob.program.expressions import (
    INT32,
    RELATIONS,
    Binary,
    Conditional,
    Const,
    Evaluator,
    Expr,
    Fault,
    IntType,
    Register,
    Symbol,
    Unary,
    evaluator,
    registers_of,
)
from pgasrob.program.instance import Instance

MANY = 256
"""A set with more values than a byte has is any value: nobody gains by the list."""
PAIRS = 2_048
"""Combinations of operands tried one by one."""

Values = frozenset[int] | None
"""The values that something may have; None: any."""
BOOLEAN: Values = frozenset((0, 1))


def united(*sets: Values) -> Values:
    """The union."""
    known: set[int] = set()
    for values in sets:
        if values is None:
            return None
        known |= values
    return frozenset(known) if len(known) <= MANY else None


def possible(expr: Expr, registers: Sequence[Values]) -> Values:
    """The values that ``expr`` may have when the registers have some of theirs; faults have none."""
    match expr:
        case Const(value) | Symbol(_, value):
            return frozenset((value,))
        case Register(_, index):
            return registers[index]
        case Conditional(condition, then, otherwise):
            test = possible(condition, registers)
            branches = []
            if test is None or test - {0}:
                branches.append(possible(then, registers))
            if test is None or 0 in test:
                branches.append(possible(otherwise, registers))
            return united(*branches)
        case Unary(symbol, operand, type):
            values = possible(operand, registers)
            if values is None:
                return BOOLEAN if symbol == "!" else None
            return _having(_unary(symbol, type), ((value,) for value in values))
        case Binary("&&" | "||"):
            return BOOLEAN
        case Binary(symbol, left, right, type):
            return _combined(symbol, type, possible(left, registers), possible(right, registers))
    raise ValueError(f"{expr} must be specialised for a rank")


@lru_cache(maxsize=10_000)
def _combined(symbol: str, type: IntType, left: Values, right: Values) -> Values:
    if left is not None and right is not None and len(left) * len(right) <= PAIRS:
        return united(_having(_binary(symbol, type), product(left, right)))
    if symbol.rstrip(".") in RELATIONS:
        return BOOLEAN
    if symbol == "&":
        for mask in (left, right):
            if mask and min(mask) >= 0 and max(mask) < MANY:
                return frozenset(range(max(mask) + 1))
    if symbol == "%" and right:
        most = max(map(abs, right)) - 1
        if 2 * most < MANY:
            return frozenset(range(-most, most + 1))
    return None


def _having(compute: Evaluator, files: Iterable[tuple[int, ...]]) -> frozenset[int]:
    """The values that ``compute`` has for some files; faults have none."""
    found = set()
    for file in files:
        try:
            found.add(compute(file))
        except Fault:
            continue
    return frozenset(found)


@cache
def _unary(symbol: str, type: IntType) -> Evaluator:
    return evaluator(Unary(symbol, Register("", 0), type))


@cache
def _binary(symbol: str, type: IntType) -> Evaluator:
    return evaluator(Binary(symbol, Register("", 0), Register("", 1), type))


def _refined(condition: Expr, registers: tuple[Values, ...]) -> tuple[Values, ...] | None:
    """The registers after an assume; None when it cannot hold."""
    mentioned = sorted(registers_of(condition))
    held = _holding(condition, tuple((index, registers[index]) for index in mentioned))
    if held is None:
        return None
    after = list(registers)
    for index, values in zip(mentioned, held, strict=True):
        after[index] = values
    return tuple(after)


@lru_cache(maxsize=10_000)
def _holding(condition: Expr, known: tuple[tuple[int, Values], ...]) -> tuple[Values, ...] | None:
    """Of the values of some registers those with which ``condition`` may hold; None when it cannot."""
    listed = [values for _, values in known if values is not None]
    if len(listed) < len(known) or prod(map(len, listed)) > PAIRS:
        return tuple(values for _, values in known)
    run = evaluator(condition)
    file = [0] * (1 + max((index for index, _ in known), default=0))
    held: list[set[int]] = [set() for _ in known]
    holds = False
    for choice in product(*listed):
        for (index, _), value in zip(known, choice, strict=True):
            file[index] = value
        try:
            if not run(file):
                continue
        except Fault:
            continue
        holds = True
        for values, value in zip(held, choice, strict=True):
            values.add(value)
    return tuple(map(frozenset, held)) if holds else None


@dataclass
class _Contents:
    """What a cell may hold: what is put there, and what fetch_adds make of that.

    A fetch_add that no loop repeats adds once; by those it does not count up for ever.
    """

    put: Values
    added_once: dict[tuple[int, int], Values] = field(default_factory=dict)
    added: Values = frozenset()

    @property
    def values(self) -> Values:
        if self.added is None or self.added - {0}:
            return None
        found = self.put
        for amounts in self.added_once.values():
            if found is None or amounts is None:
                return None
            found = united(found, frozenset(INT32.wrap(old + amount) for old in found for amount in amounts))
        return found


class PossibleValues:
    """The values of registers and cells in the SC runs of ``instance``, the attack search's sigma among them.

    ``cells``: per cell. ``registers(rank, state)``: the register file before the commands that leave a control state,
    None when the rank cannot get there. Both may be more than what really happens.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self._contents = [_Contents(frozenset((value,))) for value in instance.memory]
        self.cells: list[Values] = [contents.values for contents in self._contents]
        self._files: list[dict[int, tuple[Values, ...]]] = [
            {0: tuple(frozenset((value,)) for value in instance.registers)} for _ in instance.automata
        ]
        self._repeated = [_repeated(automaton.out) for automaton in instance.automata]
        while True:
            before = list(self.cells), [dict(files) for files in self._files]
            for rank in range(instance.nodes):
                self._follow(rank)
            if (self.cells, self._files) == before:
                break

    def registers(self, rank: int, state: int) -> tuple[Values, ...] | None:
        return self._files[rank].get(state)

    def choices(self, rank: int, state: int, expr: Expr, bound: int | None = None) -> list[int] | None:
        """The values of ``expr``, those of 0..``bound`` - 1; None when there are too many."""
        file = self._files[rank].get(state)
        values = possible(expr, file) if file is not None else frozenset[int]()
        if values is None:
            return None if bound is None else list(range(bound))
        return sorted(value for value in values if value >= 0 and (bound is None or value < bound))

    def targets(self, rank: int, state: int, command: Command) -> Iterator[tuple[int, Cell]]:
        """(rank, cell) for every place that the remote side of ``command``, or its one access, may be."""
        exprs = expressions_of(command)
        name = "remote" if command.kind in REMOTE else "address"
        ranks = self.choices(rank, state, exprs["rank"], self.instance.nodes) if "rank" in exprs else [rank]
        addresses = self.choices(rank, state, exprs[name], self.instance.size)
        assert ranks is not None and addresses is not None
        yield from ((node, node * self.instance.size + index) for node in ranks for index in addresses)

    def locals(self, rank: int, state: int, command: Command) -> list[Cell]:
        """The cells that the local side of a read or write may be."""
        addresses = self.choices(rank, state, expressions_of(command)["local"], self.instance.size)
        assert addresses is not None
        return [rank * self.instance.size + index for index in addresses]

    def _follow(self, rank: int) -> None:
        """Follow the control of ``rank`` until nothing changes, given what the cells may hold."""
        automaton, files = self.instance.automata[rank], self._files[rank]
        pending = list(files)
        while pending:
            state = pending.pop()
            for transition in automaton.out[state]:
                after = self._after(rank, state, transition)
                if after is None:
                    continue
                known = files.get(transition.target)
                joined = after if known is None else tuple(map(united, known, after))
                if joined != known:
                    files[transition.target] = joined
                    pending.append(transition.target)

    def _after(self, rank: int, state: int, transition: Transition) -> tuple[Values, ...] | None:
        """The registers after a command, None when it always faults or never holds; what it does to cells is noted."""
        command, file = transition.command, self._files[rank][state]
        exprs, kind = expressions_of(command), command.kind
        if kind == "assume":
            return _refined(exprs["condition"], file)
        if kind == "assign":
            return _with(file, command, possible(exprs["value"], file))
        if kind in REMOTE:
            here, there = self.locals(rank, state, command), [cell for _, cell in self.targets(rank, state, command)]
            sources, destinations = (here, there) if kind == "write" else (there, here)
            self._put(destinations, united(*(self.cells[cell] for cell in sources)))
            return file
        if "address" not in exprs:
            return file
        cells = [cell for _, cell in self.targets(rank, state, command)]
        held = united(*(self.cells[cell] for cell in cells))
        if kind == "store":
            self._put(cells, possible(exprs["value"], file))
        elif kind in ATOMIC:
            if kind == "fetch_add":
                self._add(cells, possible(exprs["operand"], file), rank, transition.occurrence)
            else:
                self._put(cells, possible(exprs["value" if kind == "swap" else "new"], file))
        return file if kind in ("store", "await") else _with(file, command, held)

    def _put(self, cells: Iterable[Cell], values: Values) -> None:
        for cell in cells:
            contents = self._contents[cell]
            contents.put = united(contents.put, values)
            self.cells[cell] = contents.values

    def _add(self, cells: Iterable[Cell], amounts: Values, rank: int, occurrence: int) -> None:
        for cell in cells:
            contents = self._contents[cell]
            if occurrence in self._repeated[rank]:
                contents.added = united(contents.added, amounts)
            else:
                known = contents.added_once.get((rank, occurrence), frozenset())
                contents.added_once[rank, occurrence] = united(known, amounts)
            self.cells[cell] = contents.values


def _with(file: tuple[Values, ...], command: Command, values: Values) -> tuple[Values, ...] | None:
    if values is not None and not values:
        return None  # what has no value faults
    index = command.register.index  # type: ignore[union-attr]  # only commands that set one come here
    return (*file[:index], values, *file[index + 1 :])


def reachable(out: Sequence[Sequence[Transition]]) -> list[frozenset[int]]:
    """For every control state those that can be reached from it, itself among them."""
    found = []
    for start in range(len(out)):
        seen, stack = {start}, [start]
        while stack:
            for transition in out[stack.pop()]:
                if transition.target not in seen:
                    seen.add(transition.target)
                    stack.append(transition.target)
        found.append(frozenset(seen))
    return found


def _repeated(out: Sequence[Sequence[Transition]]) -> frozenset[int]:
    """The occurrences of commands that a run may issue more than once."""
    after = reachable(out)
    sources: dict[int, set[int]] = {}
    for state, leaving in enumerate(out):
        for transition in leaving:
            sources.setdefault(transition.occurrence, set()).add(state)
    return frozenset(
        transition.occurrence
        for leaving in out
        for transition in leaving
        if after[transition.target] & sources[transition.occurrence]
    )
