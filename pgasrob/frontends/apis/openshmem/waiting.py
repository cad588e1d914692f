"""Waiting for memory to change, and looking whether it has (1.5, sections 9.8 and 9.10)."""

from __future__ import annotations

from collections.abc import Sequence

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_steps import Given, Steps
from pgasrob.frontends.apis.interface import Call, Outcome, Way
from pgasrob.frontends.apis.openshmem.contexts import SIGNAL, Arguments, does, does_typed
from pgasrob.frontends.apis.openshmem.header import INTEGERS, RELATIONS, typed
from pgasrob.frontends.apis.transfers import element, int_type, is_plain, value_at
from pgasrob.frontends.c.layout import shown
from pgasrob.frontends.c.types import INT, ULONG, CType
from pgasrob.frontends.c.values import Address, Known
from pgasrob.program.commands import Assume, Await, Load
from pgasrob.program.expressions import Binary, Expr, Register, constant

NONE = Known((1 << 64) - 1)
"""SIZE_MAX: no element."""
MOST = 6
"""The most elements of which any set may hold: each set is a way of the call."""


def relation(at: Arguments, index: int) -> str:
    """The comparison that an argument names."""
    number = at.known(index)
    if not 0 <= number < len(RELATIONS):
        at.call.fail(
            Wrong.ARGUMENT, f"{number} is not a comparison of OpenSHMEM", "use SHMEM_CMP_EQ, _NE, _GT, _LE, _LT or _GE"
        )
    return tuple(RELATIONS.values())[number]


def _await(at: Arguments, steps: Steps, holds: str, value: Expr) -> None:
    """Wait until argument 0 ``holds`` in relation to ``value``."""
    steps.do(Await(_cell(at, at.symmetric(0), holds, value), holds, value, atomic=shown(at.target(0))))


@does("void shmem_wait_until(long *ivar, int cmp, long cmp_value)")
@does_typed("void shmem_{N}_wait_until({C} *ivar, int cmp, {C} cmp_value)", INTEGERS)
def wait_until(at: Arguments, steps: Steps) -> None:
    value = at.expression(2)
    _await(at, steps, relation(at, 1), value)


@does("void shmem_wait(long *ivar, long cmp_value)")
@does_typed("void shmem_{N}_wait({C} *ivar, {C} cmp_value)", INTEGERS)
def wait(at: Arguments, steps: Steps) -> None:
    """Until it has another value (deprecated in 1.4)."""
    _await(at, steps, "!=", at.expression(1))


@typed("int shmem_{N}_test({C} *ivar, int cmp, {C} cmp_value)", INTEGERS)
def test(call: Call) -> Way:
    at, steps = Arguments(call), Steps(call)
    register, type = call.register("seen"), at.target(0)
    steps.do(Load(register, _cell(at, at.symmetric(0)), atomic=shown(type)))
    seen = call.as_number(register, at.symmetric(0), type)
    holds = Binary(relation(at, 1), seen, at.expression(2), int_type(type))
    return steps.look(holds, Outcome(result=Known(1)), Outcome(result=Known(0)))


# Several elements. Those with a status other than 0 are left out.


class Elements:
    """The elements that a call is about: its arguments are ``(ivars, nelems, [indices,] status, cmp, value)``.

    With one comparison value, or with one for each element (`_vector`).
    """

    def __init__(self, call: Call) -> None:
        self.call = call
        self.at = at = Arguments(call)
        self.base = at.symmetric(0)
        self.type = at.target(0)
        some = "_some" in call.name
        self.indices = at.pointer(2) if some else None
        status = at.given(3 if some else 2)
        self.relation = relation(at, 4 if some else 3)
        self._value = 5 if some else 4
        self._vector = call.name.endswith("_vector")
        self.seen = call.register("seen")
        self.indexes = [index for index in range(at.count(1)) if status is None or not self._left_out(status, index)]
        if some and len(self.indexes) > MOST:
            call.fail(
                Wrong.SIZE_LIMIT,
                f"{call.name} over {len(self.indexes)} elements may find any set of them",
                f"check it with at most {MOST} elements, or wait for one at a time (shmem_wait_until_any)",
            )

    def _left_out(self, status: Address, index: int) -> bool:
        known = self.call.load(element(self.call, status, index, INT), INT)
        if not isinstance(known, Known):
            self.call.fail(
                Wrong.UNKNOWN_LIMIT,
                f"the status array of {self.call.name} is not known here",
                "let the status be constants, or a null pointer",
            )
        return known.value != 0

    def value(self, steps: Steps, index: int) -> Expr:
        if not self._vector:
            return self.at.expression(self._value)
        return value_at(steps, element(self.call, self.at.pointer(self._value), index, self.type), self.type)

    def wait(self, steps: Steps, index: int) -> None:
        """Wait until the condition holds for an element."""
        value = self.value(steps, index)
        steps.do(Await(self._cell(index, value), self.relation, value, atomic=shown(self.type)))

    def look(self, index: int, yes: Way | None, no: Way | None, steps: Steps | None = None) -> Way:
        """Look whether the condition holds for an element, after ``steps``."""
        steps = steps or Steps(self.call)
        value = self.value(steps, index)
        # What a wait sees besides what it has waited for is a part of the wait.
        waits = "_wait_" in self.call.name
        steps.do(Load(self.seen, self._cell(index), atomic=shown(self.type), polling=waits))
        seen = self.call.as_number(self.seen, element(self.call, self.base, index, self.type), self.type)
        return steps.look(Binary(self.relation, seen, value, int_type(self.type)), yes, no)

    def look_at_all(self, indexes: Sequence[int], holds: bool, then: Way) -> Way:
        """``then``, when the condition holds for all elements, or for none."""
        for index in reversed(indexes):
            then = self.look(index, then, None) if holds else self.look(index, None, then)
        return then

    def _cell(self, index: int, value: Expr | None = None) -> Expr:
        return _cell(self.at, element(self.call, self.base, index, self.type), self.relation, value)

    def found(self, indexes: Sequence[int], rest: Sequence[int], steps: Steps | None = None) -> Way:
        """The elements ``indexes`` hold, and those of the ``rest`` that do when they are looked at, after ``steps``.

        Their indices are written, and their number is the result.
        """
        if rest:
            first, *others = rest
            return self.look(first, self.found([*indexes, first], others), self.found(indexes, others), steps)
        assert self.indices is not None
        steps = steps or Steps(self.call)
        for place, index in enumerate(indexes):
            steps.store(element(self.call, self.indices, place, ULONG), Known(index), ULONG)
        return steps.outcome(Known(len(indexes)))

    def found_from(self, place: int) -> Way:
        """Wait for the element at ``place`` of those the call is about, and see which of those after it hold.

        The call may have looked at those before it too early.
        """
        steps, index = Steps(self.call), self.indexes[place]
        self.wait(steps, index)
        return self.found([index], self.indexes[place + 1 :], steps)


_ALL = "({C} *ivars, size_t nelems, const int *status, int cmp, {C} cmp_value)"
_SOME = "({C} *ivars, size_t nelems, size_t *indices, const int *status, int cmp, {C} cmp_value)"
_ALL_VECTOR = _ALL.replace("{C} cmp_value", "{C} *cmp_values")
_SOME_VECTOR = _SOME.replace("{C} cmp_value", "{C} *cmp_values")


@does_typed(f"void shmem_{{N}}_wait_until_all{_ALL}", INTEGERS)
@does_typed(f"void shmem_{{N}}_wait_until_all_vector{_ALL_VECTOR}", INTEGERS)
def wait_until_all(at: Arguments, steps: Steps) -> None:
    elements = Elements(at.call)
    for index in elements.indexes:
        elements.wait(steps, index)


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
def wait_until_some(call: Call) -> list[Way]:
    """At least one element that holds, and those after it that hold when they are looked at then."""
    elements = Elements(call)
    return [elements.found_from(place) for place in range(len(elements.indexes))] or [Outcome(result=Known(0))]


# Tests. One element that holds, or one that does not, is enough for an answer; what else the call has looked at decides
# nothing. A way that finds another answer than its own begins again.


@typed(f"int shmem_{{N}}_test_all{_ALL}", INTEGERS)
@typed(f"int shmem_{{N}}_test_all_vector{_ALL_VECTOR}", INTEGERS)
def test_all(call: Call) -> list[Way]:
    """All hold when they are looked at, one after the other, or one does not."""
    elements = Elements(call)
    if not elements.indexes:
        return [Outcome(result=Known(1))]
    (first, *rest), fails = elements.indexes, Outcome(result=Known(0))
    all_hold = elements.look_at_all(rest, True, Outcome(result=Known(1)))
    return [elements.look(first, all_hold, fails), *(elements.look(index, None, fails) for index in rest)]


@typed(f"size_t shmem_{{N}}_test_any{_ALL}", INTEGERS)
@typed(f"size_t shmem_{{N}}_test_any_vector{_ALL_VECTOR}", INTEGERS)
def test_any(call: Call) -> list[Way]:
    """Any element that holds, as in a wait for any, or none when the call has looked at all."""
    elements = Elements(call)
    if not elements.indexes:
        return [Outcome(result=NONE)]
    first, *rest = elements.indexes
    none = elements.look_at_all(rest, False, Outcome(result=NONE))
    return [elements.look(first, Outcome(result=Known(first)), none), *(_found_one(elements, index) for index in rest)]


@typed(f"size_t shmem_{{N}}_test_some{_SOME}", INTEGERS)
@typed(f"size_t shmem_{{N}}_test_some_vector{_SOME_VECTOR}", INTEGERS)
def test_some(call: Call) -> Way:
    """The elements that hold when they are looked at, one after the other."""
    elements = Elements(call)
    return elements.found((), elements.indexes)


# Signals


@does("uint64_t shmem_signal_fetch(const uint64_t *sig_addr)")
def signal_fetch(at: Arguments, steps: Steps) -> Register:
    register = at.call.register("signal")
    steps.do(Load(register, at.call.cell(at.symmetric(0), 8), atomic=f"{SIGNAL} by signal"))
    return register


@does("uint64_t shmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value)")
def signal_wait_until(at: Arguments, steps: Steps) -> Given:
    """Returns the value that was seen, which need not be the one compared with unless that is for equality."""
    holds, value = relation(at, 1), at.expression(2)
    cell = at.call.number(at.symmetric(0), ULONG, compared=not _is_clear(holds, value, ULONG))
    steps.do(Await(cell, holds, value, atomic=SIGNAL))
    if holds == "==":
        number = constant(value)
        return value if number is None else number
    register = at.call.register("signal")
    steps.do(Load(register, cell, atomic=SIGNAL), Assume(Binary(holds, register, value)))
    return register


def _cell(at: Arguments, address: Address, holds: str = "", value: Expr | None = None) -> Expr:
    """The cell at ``address``, which is compared with ``value`` by ``holds``, if with anything."""
    type = at.target(0)
    return at.call.number(address, type, compared=value is not None and not _is_clear(holds, value, type))


def _is_clear(relation: str, value: Expr, type: CType) -> bool:
    """Whether the comparison is the same with a sign and without."""
    return relation in ("==", "!=") and is_plain(value, type)
