"""Awaits as tests of their condition: they conflict only with changes that turn the condition (`proofs/waiting.md`, 7).

An await gives no value; what it shows is that its condition holds. So a change of its cell that leaves the condition as
it was may come before or after it. This is how an await is read whose cell and compared value are known from the text,
and whose cell no update may change that commutes with its kind: such updates are in no order, so that none of them is
the one that turns a condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pgasrob.program import core
from pgasrob.program.control import ControlAutomaton
from pgasrob.program.core import Form
from pgasrob.program.expressions import constant


def with_conditional_waits(automata: Sequence[ControlAutomaton]) -> list[ControlAutomaton]:
    """The ``automata`` of all processes, with the accesses of these awaits as :attr:`~core.Access.tests`."""
    forms = [edge.form for automaton in automata for edge in automaton.transitions]
    if not any(map(_may_test, forms)):
        return list(automata)
    updated = set(_updated(forms))

    def read(form: Form) -> Form:
        if isinstance(form, core.Immediate) and _may_test(form) and not {None, _address(form.access)} & updated:
            return replace(form, access=form.access._replace(tests=True))
        return form

    return [each.with_forms(read) for each in automata]


def _may_test(form: Form) -> bool:
    """Whether this is an await of a known cell for a known value."""
    if not isinstance(form, core.Immediate) or form.condition is None:
        return False
    is_await = form.update is None and form.register is None
    return is_await and _address(form.access) is not None and constant(form.condition.value) is not None


def _updated(forms: Iterable[Form]) -> Iterable[int | None]:
    """The addresses that updates change which commute with their kind; None: any."""
    return (_address(made) for form in forms for made in core.accesses_of(form) if made.commutes)


def _address(access: core.Access[core.Place]) -> int | None:
    return constant(access.cell.address)
