"""Awaits as tests of their condition: they conflict only with changes that turn the condition (`proofs/waiting.md`, 7).

An await gives no value; what it shows is that its condition holds. So a change of its cell that leaves the condition as
it was may come before or after it. This is how an await is read of a known cell that no update may change which
commutes with its kind: such updates are in no order, so that none of them is the one that turns a condition. Engines
have to know all conditions from the start. So what the cell is compared with has to be a constant, or made of registers
that only get values of this kind.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pgasrob.program import core
from pgasrob.program.commands import Load, TestedAdd
from pgasrob.program.comparisons import KnownCells, branches, compared
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.core import Form
from pgasrob.program.declarations import Declared
from pgasrob.program.expressions import Expr, Fault, constant, evaluator, registers_of
from pgasrob.program.tested_adds import with_tested_adds

MOST_SITUATIONS = 4_000
"""Control states with values of registers that are looked at to find the values that an await compares with."""
MOST_VALUES = 64

Values = tuple[tuple[int, int], ...]
"""Registers with what they hold."""


def with_conditional_waits(
    automata: Sequence[ControlAutomaton], program: Declared, nodes: int
) -> list[ControlAutomaton]:
    """The ``automata`` of all processes of ``program`` on so many ``nodes``, with what these awaits compare with as
    :attr:`~pgasrob.program.core.Access.tests`, and with tested adds."""
    forms = [edge.form for automaton in automata for edge in automaton.transitions]
    updated = (constant(made.cell.address) for form in forms for made in core.accesses_of(form) if made.commutes)
    known = KnownCells(nodes, program.cells, frozenset(updated), program.shown)

    def read(automaton: ControlAutomaton) -> ControlAutomaton:
        automaton = _with_tested_polls(automaton, known)
        awaits = [edge.form for edge in automaton.transitions if _may_test(edge.form, known)]
        compared = _compared(automaton, awaits, len(program.registers))
        return automaton.with_forms(lambda form: _testing(form, compared.get(form, ()))) if compared else automaton

    return [with_tested_adds(read(each), known) for each in automata]


def only_compared(automata: Iterable[ControlAutomaton]) -> list[str]:
    """The registers, in alphabetical order, that get a value in ``automata`` which is read only as it is compared."""
    edges = (edge for automaton in automata for edge in automaton.transitions)
    tests = (edge.command for edge in edges if isinstance(edge.form, core.Immediate) and edge.form.access.tests)
    return sorted({test.register.name for test in tests if isinstance(test, Load | TestedAdd)})


def _with_tested_polls(automaton: ControlAutomaton, known: KnownCells) -> ControlAutomaton:
    """``automaton`` with its polls as tests that bring a value which is only compared, as they wait for it."""
    return automaton.with_edges(lambda edge: (_tested_poll(automaton, edge, known),))


def _tested_poll(automaton: ControlAutomaton, edge: Transition, known: KnownCells) -> Transition:
    form = edge.form
    if not isinstance(form, core.Immediate) or form.until is None or form.condition is not None or form.until.gathers:
        return edge
    register = form.register
    if register is None or not known.has(form.access.cell):
        return edge
    wanted, ways = compared(form.until.holds, register), branches(automaton, edge.target, register)
    if wanted is None or ways is None or wanted not in (each for each, _ in ways) or known.shows(edge):
        return edge
    tests = replace(form, access=form.access._replace(tests=(wanted.value,)))
    return edge.with_form(tests, edge.variant)


def _testing(form: Form, values: Collection[int]) -> Form:
    if not values or not isinstance(form, core.Immediate):
        return form
    return replace(form, access=form.access._replace(tests=tuple(sorted(values))))


def _may_test(form: Form, known: KnownCells) -> bool:
    """Whether this is an await of a ``known`` cell."""
    if not isinstance(form, core.Immediate) or form.condition is None or form.update or form.register is not None:
        return False
    return known.has(form.access.cell)


def _compared(automaton: ControlAutomaton, awaits: Iterable[Form], registers: int) -> Mapping[Form, set[int]]:
    """The values that each of ``awaits`` may compare its cell with; without those of which they are not known."""
    found: dict[Form, set[int]] = {}
    counted: dict[Form, frozenset[int]] = {}
    assigned = _assigned(automaton)
    for form in awaits:
        assert isinstance(form, core.Immediate) and form.condition is not None
        value = constant(form.condition.value)
        needed = _needed(registers_of(form.condition.value), assigned)
        if value is not None:
            found[form] = {value}
        elif needed is not None:
            counted[form] = needed
    if not counted:
        return found
    tracked = frozenset[int]().union(*counted.values())
    for state, values in _situations(automaton, tracked, registers):
        file = [0] * registers
        for register, held in values:
            file[register] = held
        for form in (edge.form for edge in automaton.out[state] if edge.form in counted):
            assert isinstance(form, core.Immediate) and form.condition is not None
            compared = _value(form.condition.value, file)
            if compared is not None:
                found.setdefault(form, set()).add(compared)
    return {form: values for form, values in found.items() if len(values) <= MOST_VALUES}


def _assigned(automaton: ControlAutomaton) -> Mapping[int, list[Expr | None]]:
    """What is assigned to each register; None: what a cell holds."""
    found: dict[int, list[Expr | None]] = {}
    for form in (edge.form for edge in automaton.transitions):
        register = core.register_set(form)
        if register is not None:
            found.setdefault(register, []).append(form.value if isinstance(form, core.Assign) else None)
    return found


def _needed(registers: Iterable[int], assigned: Mapping[int, list[Expr | None]]) -> frozenset[int] | None:
    """The ``registers`` and those that they are computed from; None where one gets what a cell holds."""
    needed, waiting = set[int](), list(registers)
    while waiting:
        register = waiting.pop()
        if register in needed:
            continue
        needed.add(register)
        for value in assigned.get(register, ()):
            if value is None:
                return None
            waiting += registers_of(value)
    return frozenset(needed)


def _situations(automaton: ControlAutomaton, tracked: frozenset[int], registers: int) -> Iterator[tuple[int, Values]]:
    """The control states with all values of the ``tracked`` registers that a rank may have there; nothing where there
    are too many."""
    begin = 0, tuple((register, 0) for register in sorted(tracked))
    found, waiting = {begin}, [begin]
    while waiting:
        state, values = waiting.pop()
        file = [0] * registers
        for register, held in values:
            file[register] = held
        for edge in automaton.out[state]:
            form, after = edge.form, values
            if isinstance(form, core.Test) and form.blocks and registers_of(form.condition) <= tracked:
                if _value(form.condition, file) == 0:
                    continue
            elif isinstance(form, core.Assign) and form.register in tracked:
                new = _value(form.value, file)
                if new is None:
                    continue
                after = tuple((register, new if register == form.register else old) for register, old in values)
            if (edge.target, after) not in found:
                found.add((edge.target, after))
                waiting.append((edge.target, after))
        if len(found) > MOST_SITUATIONS:
            return
    yield from found


def _value(expr: Expr, file: Sequence[int]) -> int | None:
    """The value of ``expr``; None where it faults, so that the rank goes no further."""
    try:
        return evaluator(expr)(file)
    except Fault:
        return None
