"""Infers which registers and cells hold ranks: a type system that shows which ranks are interchangeable.

A value is a scalar, or the number of a rank plus a constant k: a lock word that holds ``me + 1`` and 0 for nobody has
k = 1. When ranks are renamed, values of the second kind are renamed with them, so a program may do no more with such a
value than copy it, add a constant, compare it for equality with another one of the same k, and name a rank with it.
Types are inferred by unification. Registers, addresses and ``me`` are variables, an expression is a variable plus a
constant, literals or a scalar, and what must have one type is unified. So the variables that end up in one class with
``me`` hold ranks, at a constant distance each, and when that class must hold scalars there is no symmetry.

A literal fits every type, but one that stands for a rank says that rank's name, which can then not be exchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Protocol, assert_never

from pgasrob.analysis.common_blocks import common_blocks
from pgasrob.program import commands, core
from pgasrob.program.commands import map_expressions
from pgasrob.program.control import Transition, build
from pgasrob.program.core import Form, Place
from pgasrob.program.deciding import Command, Deciding
from pgasrob.program.expressions import (
    INT32,
    Binary,
    Conditional,
    Const,
    Expr,
    IntType,
    Me,
    Register,
    Symbol,
    Unary,
    constant,
    faults_inside,
    rewritten,
    specialise,
)
from pgasrob.program.instance import Instance
from pgasrob.semantics.accesses import possible_accesses

FARTHEST = 1 << 20
"""The greatest absolute value of k. With a greater one a sum that wraps around might be mistaken for a rank."""

Typed = tuple[int, int] | frozenset[int] | None
"""The type of an expression: that of a variable plus a constant; one of some literals; None: a scalar."""

_ME = 0
_MY_RANK = (_ME, 0)


@dataclass(frozen=True, slots=True)
class RankTypes:
    """The result of type inference.

    ``registers``, ``cells``: for every register and every address k when it holds a rank plus k, else None. ``moving``:
    the addresses whose cells belong to the rank they lie on, ascending. ``fixed``: the ranks that the program calls by
    their number. ``targets``: whether fences, notifications and the writes they order name ranks by value.
    """

    registers: tuple[int | None, ...]
    cells: tuple[int | None, ...]
    moving: tuple[int, ...]
    fixed: frozenset[int]
    targets: bool


@dataclass(frozen=True, slots=True)
class Symmetry:
    """Which ranks are interchangeable, and which cells and values are renamed with them.

    - ``classes``: the ranks that can be exchanged for each other, each class ascending with two or more; () for none.
    - ``moving``: the addresses whose cells belong to the rank they lie on and move with it, ascending.
    - ``registers``, ``cells``: for every register and every address k when it holds a rank plus k, else None.
    - ``targets``: whether the targets of unordered queues in a placement are ranks that are renamed.
    """

    classes: tuple[tuple[int, ...], ...]
    moving: tuple[int, ...]
    registers: tuple[int | None, ...]
    cells: tuple[int | None, ...]
    targets: bool


def rank_types(instance: Instance, every_value: bool = False, known: Known | None = None) -> RankTypes | None:
    """The types of ``instance``, or None when ranks are computed with.

    Values that decide nothing are ignored unless ``every_value`` is set. ``known`` bounds addresses; without it an
    address that depends on registers may be any.
    """
    deciding = deciding_values(instance, known)
    if every_value:
        deciding.registers, deciding.cells = [set(range(len(instance.registers)))], -1
    inference = _Inference(instance, deciding)
    for form, addresses in _forms(instance, known):
        inference.add(form, addresses)
    return inference.types()


def deciding_values(instance: Instance, known: Known | None = None) -> Deciding:
    """The registers, and the addresses as a bit set, whose values may decide something at some rank."""
    return Deciding(_commands(chain(_forms(instance, known), _polls(instance))), 1)


def _polls(instance: Instance) -> Iterator[tuple[Form, list[range]]]:
    """The reads that may fail, with the conditions of their polls, which the text of a process does not have."""
    for form in instance.forms if instance.polls else ():
        if isinstance(form, core.Immediate) and form.until is not None:
            yield form, [_addresses_of(instance, form.access.cell.address)]


class Known(Protocol):
    """What is known of the operands of commands (`range_analysis.Ranges`)."""

    def named(self, rank: int, state: int, transition: Transition) -> Addresses:
        """What the operands of a transition name that leaves a control state of ``rank``."""


class Addresses(Protocol):
    """For each access of a command the addresses that it may have."""

    @property
    def addresses(self) -> Sequence[range]: ...


def _commands(forms: Iterable[tuple[Form, list[range]]]) -> Iterator[Command]:
    """The commands as if of one rank, with the addresses that they use and change."""
    for form, addresses in forms:
        used = changed = 0
        for access, observed, found in zip(core.accesses_of(form), core.observed(form), addresses, strict=True):
            cells = (1 << len(found)) - 1 << found.start if found else 0
            used |= cells if observed else 0
            changed |= cells if access.writes else 0
        yield Command(0, form, used, changed)


def _forms(instance: Instance, known: Known | None) -> Iterator[tuple[Form, list[range]]]:
    """The commands of the processes that some rank runs, ``me`` kept as a register that does not exist; with the
    addresses that each of their accesses may have."""

    def kept(command: commands.Command) -> commands.Command:
        return map_expressions(command, lambda expr: specialise(_me_as_register(expr), 0, instance.nodes))

    processes = common_blocks(instance)
    others = [rank for process in processes for rank in process.ranks or ()]
    for process in processes:
        ranks = [
            rank
            for rank in (process.ranks or range(instance.nodes))
            if rank < instance.nodes and (process.ranks is not None or rank not in others)
        ]
        if process.ranks is None or ranks:
            forms = {transition.occurrence: transition.form for transition in build(process.body, kept).transitions}
            met = None if known is None else _addresses(instance, known, ranks)
            for occurrence, form in forms.items():
                found = [_addresses_of(instance, access.cell.address) for access in core.accesses_of(form)]
                yield form, found if met is None else met.get(occurrence, [range(0)] * len(found))


def _addresses_of(instance: Instance, address: Expr) -> range:
    """The addresses that an expression may be, by its text."""
    value = constant(address)
    if value is None:
        return range(instance.size)
    return range(value, value + 1) if 0 <= value < instance.size else range(0)


def _addresses(instance: Instance, known: Known, ranks: Iterable[int]) -> dict[int, list[range]]:
    """For each command that some of ``ranks`` may issue, by its occurrence, the addresses of its accesses."""
    met: dict[int, list[range]] = {}
    for rank in ranks:
        for state, leaving in enumerate(instance.automata[rank].out):
            for transition in leaving:
                named = list(known.named(rank, state, transition).addresses)
                before = met.get(transition.occurrence)
                if named:
                    met[transition.occurrence] = named if before is None else list(map(_hull, before, named))
    return met


def _hull(one: range, other: range) -> range:
    return range(min(one.start, other.start), max(one.stop, other.stop)) if one and other else one or other


def _me_as_register(expr: Expr) -> Expr:
    return rewritten(expr, lambda part: Register("me", _ME - 1) if isinstance(part, Me) else None)


def _keeps_ranks(type: IntType) -> bool:
    """Whether a rank plus a constant is itself in ``type``, and nothing else becomes one in it.

    What does not fit 32 bits wraps around to something far from all ranks, if it wraps at all.
    """
    return type.signed and type.bits >= INT32.bits


class _Inference:
    """Unifies the types of variables: ``me``, then the registers, then the addresses.

    The variables of a class differ by constants. ``_parent`` holds for each variable another one of its class and the
    distance to it.
    """

    def __init__(self, instance: Instance, deciding: Deciding) -> None:
        self.instance = instance
        self._deciding = deciding
        self._addresses: Iterator[range] = iter(())
        self.first_address = 1 + len(instance.registers)
        variables = self.first_address + instance.size
        self._parent = [(variable, 0) for variable in range(variables)]
        self._scalar = [False] * variables  # of the variable that stands for its class
        self._offsets: list[tuple[int, int]] = []  # expressions that are a variable plus a constant
        self._literals: list[tuple[int, int]] = []  # literals that are used as a variable
        self._moving: set[int] = set()
        self._named: list[tuple[int, list[int]]] = []  # ranks given by number, and the addresses accessed there
        self._targets_named: set[int] = set()  # ranks given by number where placements remember the target
        self._targets = False
        self._any_address = [*range(self.first_address, variables)]
        self._given_to_all: set[Typed] = set()  # what goes to an address that may be any

    def types(self) -> RankTypes | None:
        """The types of the variables, by the commands added so far; None when ranks are computed with."""
        me, distance = self._find(_ME)
        if self._scalar[me]:
            return None

        def plus(variable: int) -> int | None:
            root, offset = self._find(variable)
            return offset - distance if root == me else None

        for variable, offset in self._offsets:
            k = plus(variable)
            if k is not None and abs(k + offset) > FARTHEST:
                return None
        instance = self.instance
        initial = [(self.first_address + instance.index(cell), value) for cell, value in enumerate(instance.memory)]
        literals = self._literals + initial
        if any(INT32.wrap(value) != value and plus(variable) is not None for variable, value in literals):
            return None  # a sum with it may wrap around to a rank
        fixed = {
            value - k for variable, value in (*self._literals, *self._constants()) if (k := plus(variable)) is not None
        }
        fixed.update(rank for rank, addresses in self._named if not self._moving.isdisjoint(addresses))
        if self._targets:
            fixed.update(self._targets_named)
        return RankTypes(
            tuple(plus(variable) for variable in range(1, self.first_address)),
            tuple(plus(self.first_address + address) for address in range(instance.size)),
            tuple(sorted(self._moving)),
            frozenset(rank for rank in fixed if 0 <= rank < instance.nodes),
            self._targets,
        )

    def _constants(self) -> Iterator[tuple[int, int]]:
        """The variables and values of cells that no rank writes, which count as literals.

        A state need not record such a cell, so its value must be the same when ranks are renamed.
        """
        instance = self.instance
        written = {
            made.cell for rank in range(instance.nodes) for made in possible_accesses(instance, rank) if made.writes
        }
        for cell, value in enumerate(instance.memory):
            if cell not in written:
                yield self.first_address + instance.index(cell), value

    # Commands

    def add(self, form: Form, addresses: Iterable[range]) -> None:
        """Unify all that must have one type for ``form``, whose accesses are to ``addresses``."""
        self._addresses = iter(addresses)
        match form:
            case core.Assign(register, value):
                if self._decides(form, []):
                    self._give([self._register(register)], self.typed(value))
            case core.Test(condition):
                self._condition(condition)
            case core.Immediate(access, compared, update, loaded):
                cells = self._accessed(access.cell)
                if access.cell.rank is not None:
                    self._rank(access.cell.rank, cells)
                if compared is not None:
                    other = self.typed(compared.value)
                    if compared.relation in ("==", "!="):
                        self._give(cells, other)
                    else:
                        self._make_scalar(other)
                        self._give(cells, None)
                if self._decides(form, cells):
                    if loaded is not None:
                        self._give(cells, (self._register(loaded), 0))
                    self._update(update, cells)
            case core.Transfer(rank, queue, _, _, update):
                self._make_scalar(self.typed(queue))
                cells = []
                for access in core.accesses_of(form):
                    found = self._accessed(access.cell)
                    if access.cell.rank is not None:
                        self._rank(rank, found)
                    cells += found
                self._target(queue, rank)
                if self._decides(form, cells):
                    # Operands are copied as the result is, and where the operation computes all are scalars.
                    self._same(cells)
                    self._update(update, cells)
            case core.Wait(queue):
                self._make_scalar(self.typed(queue))
            case core.Fence(queue, to):
                self._make_scalar(self.typed(queue))
                if to is not None:
                    self._rank(to, [])
                    self._target(queue, to)
            case core.Bundle() | core.Barrier():
                pass
            case _:
                assert_never(form)

    def _decides(self, form: Form, cells: list[int]) -> bool:
        """Whether it matters what values a command leaves in its register and in ``cells``, or whether it faults."""
        return (
            core.register_set(form) in self._deciding.registers[0]
            or any(self._deciding.cells >> cell - self.first_address & 1 for cell in cells)
            or any(faults_inside(expr) for _, expr in core.expressions(form))
        )

    def _register(self, index: int) -> int:
        return 1 + index

    def _cells(self, address: Expr) -> list[int]:
        """The addresses that ``address``, that of the next access, may be, as variables."""
        self._make_scalar(self.typed(address))
        return [self.first_address + found for found in next(self._addresses)]

    def _accessed(self, place: Place) -> list[int]:
        """The cells, as variables, that an access may be to; those of the rank's own memory move with it."""
        cells = self._cells(place.address)
        if place.rank is None and len(self._moving) < self.instance.size:
            self._moving.update(cell - self.first_address for cell in cells)
        return cells

    def _rank(self, rank: Expr, cells: list[int]) -> None:
        """``rank`` names the rank at which one of ``cells`` is accessed."""
        addresses = [cell - self.first_address for cell in cells]
        value = constant(rank)
        if value is not None:
            self._named.append((value, addresses))
        else:
            self._join(self.typed(rank), _MY_RANK)
            self._moving.update(addresses)

    def _update(self, update: core.Update[Expr] | None, cells: list[int]) -> None:
        """``cells`` are updated, if there is an ``update``: replaced by operands, or computed with."""
        if update is None:
            return
        operands = [self.typed(expr) for expr in (update.operand, update.expected) if expr is not None]
        if update.operation in ("set", "compare_swap", "fetch"):
            for operand in operands:
                self._give(cells, operand)
        else:
            self._make_scalar(*operands)
            self._give(cells, None)

    def _same(self, variables: list[int]) -> None:
        """What one of ``variables`` holds may be copied to another one."""
        for first, second in pairwise(variables):
            self._unify((first, 0), (second, 0))

    def _target(self, queue: Expr, rank: Expr) -> None:
        """Note that a placement may remember ``rank`` as the target of a write, fence or notification in ``queue``."""
        number, value = constant(queue), constant(rank)
        if number is not None and not self.instance.is_unordered(number) and not self.instance.notifies_everywhere:
            return
        if value is None:
            self._targets = True
        else:
            self._targets_named.add(value)

    def _give(self, variables: list[int], type: Typed) -> None:
        """A value of ``type`` goes to one of ``variables``, or is compared with one."""
        if variables == self._any_address:
            if type in self._given_to_all:
                return  # done before; for large arrays it takes long
            self._given_to_all.add(type)
        for variable in variables:
            self._join(type, (variable, 0))

    # Expressions

    def typed(self, expr: Expr) -> Typed:
        """The type of ``expr``."""
        match expr:
            case Const(value) | Symbol(_, value):
                return frozenset((value,))
            case Register(_, index):
                return self._offset(1 + index, 0)
            case Unary("!", operand):
                self._condition(operand)
                return None
            case Unary("cast", operand, type) if _keeps_ranks(type):
                inner = self.typed(operand)
                return frozenset(map(type.wrap, inner)) if isinstance(inner, frozenset) else inner
            case Unary(_, operand):
                self._make_scalar(self.typed(operand))
                return None
            case Binary("&&" | "||", left, right):
                self._condition(left)
                self._condition(right)
                return None
            case Binary("==" | "!=", left, right):
                self._join(self.typed(left), self.typed(right))
                return None
            case Binary("+" | "-" as symbol, left, right, type) if _keeps_ranks(type):
                return self._sum(symbol, self.typed(left), self.typed(right))
            case Binary(_, left, right):
                self._make_scalar(self.typed(left), self.typed(right))
                return None
            case Conditional(condition, then, otherwise):
                self._condition(condition)
                return self._join(self.typed(then), self.typed(otherwise))
        raise AssertionError("me and nodes have been replaced")

    def _condition(self, expr: Expr) -> None:
        """``expr`` is compared with 0."""
        self._join(self.typed(expr), frozenset((0,)))

    def _sum(self, symbol: str, left: Typed, right: Typed) -> Typed:
        if isinstance(left, frozenset) and symbol == "+":
            left, right = right, left
        if isinstance(left, tuple) and isinstance(right, frozenset) and len(right) == 1:
            (value,) = right
            variable, offset = left
            return self._offset(variable, offset + (value if symbol == "+" else -value))
        self._make_scalar(left, right)
        return None

    def _offset(self, variable: int, offset: int) -> Typed:
        self._offsets.append((variable, offset))
        return variable, offset

    # Unification

    def _join(self, first: Typed, second: Typed) -> Typed:
        """Unify two types and return the common one."""
        if isinstance(first, frozenset):
            return first | second if isinstance(second, frozenset) else self._used(first, second)
        if isinstance(second, frozenset):
            return self._used(second, first)
        if first is None or second is None:
            self._make_scalar(first, second)
            return None
        self._unify(first, second)
        return first

    def _used(self, literals: frozenset[int], type: tuple[int, int] | None) -> Typed:
        """Note that the literals are used as values of ``type``, and return that."""
        if type is not None:
            variable, offset = type
            self._literals += [(variable, value - offset) for value in literals]
        return type

    def _make_scalar(self, *types: Typed) -> None:
        for type in types:
            if isinstance(type, tuple):
                self._scalar[self._find(type[0])[0]] = True

    def _unify(self, first: tuple[int, int], second: tuple[int, int]) -> None:
        root, distance = self._find(first[0])
        other, other_distance = self._find(second[0])
        apart = distance + first[1] - other_distance - second[1]
        if root != other:
            self._parent[other] = (root, apart)
            self._scalar[root] |= self._scalar[other]
        elif apart:
            # The variable equals itself plus a constant, so its values are no ranks.
            self._scalar[root] = True

    def _find(self, variable: int) -> tuple[int, int]:
        """The representative of the class of ``variable``, and by how much ``variable`` exceeds it."""
        distance = 0
        while self._parent[variable][0] != variable:
            variable, step = self._parent[variable]
            distance += step
        return variable, distance
