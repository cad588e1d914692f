"""Waiting for memory to change, and looking whether it has (1.5, sections 9.8 and 9.10)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain, combinations

from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.apis.openshmem.arguments import Arguments
from pgasrob.frontends.apis.openshmem.names import FUNCTIONS, INTEGERS, NEGATED, RELATIONS, typed
from pgasrob.frontends.apis.transfers import Steps, element, int_type, value_at
from pgasrob.frontends.c.types import INT, ULONG, CType
from pgasrob.frontends.c.values import Address, Known
from pgasrob.program.commands import Assume, Await, Load
from pgasrob.program.expressions import Binary, Expr, constant

NONE = Known((1 << 64) - 1)
"""SIZE_MAX: no element."""
MOST = 6
"""With more elements there are too many sets of them that may have been seen to hold."""


def relation(call: Call, at: Arguments, index: int) -> str:
    number = at.known(index)
    if not 0 <= number < len(RELATIONS):
        call.fail(f"{number} is no comparison of OpenSHMEM", "use SHMEM_CMP_EQ, _NE, _GT, _LE, _LT or _GE")
    return RELATIONS[number]


@typed("void shmem_{N}_wait_until({C} *ivar, int cmp, {C} cmp_value)", INTEGERS)
def wait_until(call: Call) -> Outcome:
    at, steps = Arguments(call), Steps(call)
    steps.do(Await(_cell(at, at.pointer(0)), relation(call, at, 1), at.expression(2)))
    return steps.outcome()


@typed("void shmem_{N}_wait({C} *ivar, {C} cmp_value)", INTEGERS)
def wait(call: Call) -> Outcome:
    """Until it has another value (deprecated in 1.4)."""
    at, steps = Arguments(call), Steps(call)
    steps.do(Await(_cell(at, at.pointer(0)), "!=", at.expression(1)))
    return steps.outcome()


FUNCTIONS.add("void shmem_wait(long *ivar, long cmp_value)", wait)
FUNCTIONS.add("void shmem_wait_until(long *ivar, int cmp, long cmp_value)", wait_until)


@typed("int shmem_{N}_test({C} *ivar, int cmp, {C} cmp_value)", INTEGERS)
def test(call: Call) -> list[Outcome]:
    at = Arguments(call)
    cell, holds, value = _cell(at, at.pointer(0)), relation(call, at, 1), at.expression(2)
    return [
        Outcome(call.do(Await(cell, holds, value)), Known(1)),
        Outcome(call.do(Await(cell, NEGATED[holds], value)), Known(0)),
    ]


# Several elements. Those with a status other than 0 are left out.


class Elements:
    """The elements that a call is about: its arguments are ``(ivars, nelems, [indices,] status, cmp, value)``.

    With one comparison value, or with one for each element (`_vector`).
    """

    def __init__(self, call: Call) -> None:
        self.call = call
        self.at = at = Arguments(call)
        self.base = at.pointer(0)
        self.type = at.target(0)
        some = "_some" in call.name
        self.indices = at.pointer(2) if some else None
        status = at.given(3 if some else 2)
        self.relation = relation(call, at, 4 if some else 3)
        self._value = 5 if some else 4
        self.vector = call.name.endswith("_vector")
        self.indexes = [index for index in range(at.count(1)) if status is None or not self._left_out(status, index)]

    def _left_out(self, status: Address, index: int) -> bool:
        known = self.call.load(element(self.call, status, index, INT), INT)
        if not isinstance(known, Known):
            self.call.fail(
                f"the status array of {self.call.name} is not known here",
                "let the status be constants, or a null pointer",
            )
        return known.value != 0

    def value(self, steps: Steps, index: int) -> Expr:
        if not self.vector:
            return self.at.expression(self._value)
        return value_at(steps, element(self.call, self.at.pointer(self._value), index, self.type), self.type)

    def wait(self, steps: Steps, index: int, holds: bool = True) -> None:
        """Wait until the condition holds for an element, or fails.

        In a choice of outcomes only the first step may wait: a rank that has chosen would wait for ever for what is
        not to come, where the call would have gone on otherwise.
        """
        steps.do(Await(self._cell(index), self._relation(holds), self.value(steps, index)))

    def look(self, steps: Steps, indexes: Iterable[int], holding: Collection[int]) -> None:
        """Look at elements one after the other, without waiting: the condition holds for those in ``holding`` alone."""
        for index in indexes:
            value, register = self.value(steps, index), self.call.register("seen")
            relation = self._relation(index in holding)
            steps.do(Load(register, self._cell(index)), Assume(Binary(relation, register, value, int_type(self.type))))

    def _cell(self, index: int) -> Expr:
        return _cell(self.at, element(self.call, self.base, index, self.type))

    def _relation(self, holds: bool) -> str:
        return self.relation if holds else NEGATED[self.relation]

    def subsets(self) -> Iterable[tuple[int, ...]]:
        if len(self.indexes) > MOST:
            self.call.fail(
                f"{self.call.name} over {len(self.indexes)} elements may find any set of them",
                f"check it with at most {MOST} elements, or wait for one at a time (shmem_wait_until_any)",
            )
        return chain.from_iterable(combinations(self.indexes, size) for size in range(1, len(self.indexes) + 1))

    def found(self, steps: Steps, indexes: Sequence[int]) -> Outcome:
        """The outcome with the indices written and their number as the result."""
        assert self.indices is not None
        for place, index in enumerate(indexes):
            steps.store(element(self.call, self.indices, place, ULONG), Known(index), ULONG)
        return steps.outcome(Known(len(indexes)))


_ALL = "({C} *ivars, size_t nelems, const int *status, int cmp, {C} cmp_value)"
_SOME = "({C} *ivars, size_t nelems, size_t *indices, const int *status, int cmp, {C} cmp_value)"
_ALL_VECTOR = _ALL.replace("{C} cmp_value", "{C} *cmp_values")
_SOME_VECTOR = _SOME.replace("{C} cmp_value", "{C} *cmp_values")


@typed(f"void shmem_{{N}}_wait_until_all{_ALL}", INTEGERS)
@typed(f"void shmem_{{N}}_wait_until_all_vector{_ALL_VECTOR}", INTEGERS)
def wait_until_all(call: Call) -> Outcome:
    elements, steps = Elements(call), Steps(call)
    for index in elements.indexes:
        elements.wait(steps, index)
    return steps.outcome()


@typed(f"size_t shmem_{{N}}_wait_until_any{_ALL}", INTEGERS)
@typed(f"size_t shmem_{{N}}_wait_until_any_vector{_ALL_VECTOR}", INTEGERS)
def wait_until_any(call: Call) -> list[Outcome]:
    """Any element that holds; which one is not promised."""
    elements = Elements(call)
    if not elements.indexes:
        return [Outcome(result=NONE)]
    return [_found_one(elements, index) for index in elements.indexes]


def _found_one(elements: Elements, index: int) -> Outcome:
    steps = Steps(elements.call)
    elements.wait(steps, index)
    return steps.outcome(Known(index))


@typed(f"size_t shmem_{{N}}_wait_until_some{_SOME}", INTEGERS)
@typed(f"size_t shmem_{{N}}_wait_until_some_vector{_SOME_VECTOR}", INTEGERS)
def wait_until_some(call: Call) -> list[Outcome]:
    """At least one element that holds, and those behind it that do when they are looked at after that.

    What is before the first one may have been looked at too early.
    """
    elements = Elements(call)
    if not elements.indexes:
        return [Outcome(result=Known(0))]
    outcomes = []
    for subset in elements.subsets():
        steps = Steps(call)
        elements.wait(steps, subset[0])
        elements.look(steps, (index for index in elements.indexes if index > subset[0]), subset)
        outcomes.append(elements.found(steps, subset))
    return outcomes


@typed(f"int shmem_{{N}}_test_all{_ALL}", INTEGERS)
@typed(f"int shmem_{{N}}_test_all_vector{_ALL_VECTOR}", INTEGERS)
def test_all(call: Call) -> list[Outcome]:
    elements, steps = Elements(call), Steps(call)
    elements.look(steps, elements.indexes, elements.indexes)
    outcomes = [steps.outcome(Known(1))]
    for index in elements.indexes:
        steps = Steps(call)
        elements.wait(steps, index, holds=False)
        outcomes.append(steps.outcome(Known(0)))
    return outcomes


@typed(f"size_t shmem_{{N}}_test_any{_ALL}", INTEGERS)
@typed(f"size_t shmem_{{N}}_test_any_vector{_ALL_VECTOR}", INTEGERS)
def test_any(call: Call) -> list[Outcome]:
    elements = Elements(call)
    steps = Steps(call)
    elements.look(steps, elements.indexes, ())
    return [*(_found_one(elements, index) for index in elements.indexes), steps.outcome(NONE)]


@typed(f"size_t shmem_{{N}}_test_some{_SOME}", INTEGERS)
@typed(f"size_t shmem_{{N}}_test_some_vector{_SOME_VECTOR}", INTEGERS)
def test_some(call: Call) -> list[Outcome]:
    """The elements that hold when they are looked at, one after the other."""
    elements = Elements(call)
    outcomes = []
    for subset in ((), *elements.subsets()):
        steps = Steps(call)
        elements.look(steps, elements.indexes, subset)
        outcomes.append(elements.found(steps, subset))
    return outcomes


# Signals


@FUNCTIONS.calls("uint64_t shmem_signal_fetch(const uint64_t *sig_addr)")
def signal_fetch(call: Call) -> Outcome:
    at, steps = Arguments(call), Steps(call)
    register = call.register("signal")
    steps.do(Load(register, call.cell(at.pointer(0), 8)))
    return steps.outcome(register)


@FUNCTIONS.calls("uint64_t shmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value)")
def signal_wait_until(call: Call) -> Outcome:
    """Gives the value that was seen, which is another one than the value compared with unless that is for equality."""
    at, steps = Arguments(call), Steps(call)
    cell, holds, value = call.cell(at.pointer(0), 8), relation(call, at, 1), at.expression(2)
    steps.do(Await(cell, holds, value))
    if holds == "==":
        number = constant(value)
        return steps.outcome(value if number is None else Known(number))
    register = call.register("signal")
    steps.do(Load(register, cell), Assume(Binary(holds, register, value)))
    return steps.outcome(register)


def _cell(at: Arguments, address: Address) -> Expr:
    type: CType = at.target(0)
    return at.call.cell(address, at.call.size_of(type))
