"""Leaves out memory that no command accesses, if all commands say which cells they access."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pgasrob.program import core
from pgasrob.program.commands import Command, UpdateFrom, expressions_of
from pgasrob.program.control import Transition
from pgasrob.program.core import Access, Form, Place
from pgasrob.program.declarations import Declared, MemoryObject
from pgasrob.program.expressions import Const, Expr, Symbol, constant
from pgasrob.program.instance import Instance

ADDRESSES = frozenset(("address", "local", "remote", "result"))
"""The fields of commands that are addresses; of an update from memory what it expects is one, too."""


def without_unused(instance: Instance) -> Instance:
    """``instance`` with only the cells that some rank accesses, under the same names; itself where that is not
    known."""
    used: set[int] = set()
    for form in instance.forms:
        for made in core.accesses_of(form):
            address = constant(made.cell.address)
            if address is None or address >= instance.size:
                return instance
            used.add(address)
    program: Declared = instance.program
    moves: dict[int, int] = {}
    memory: list[MemoryObject] = []
    for object in program.memory:
        kept = [address for address in range(object.address, object.address + object.cells) if address in used]
        if kept:
            first = len(moves)
            moves.update((address, first + place) for place, address in enumerate(kept))
            memory.append(_part(program, object, kept, first))
    if len(moves) == instance.size:
        return instance
    automata = tuple(automaton.with_edges(lambda each: (_moved(each, moves),)) for automaton in instance.automata)
    return instance.with_automata(automata, replace(program, memory=tuple(memory)))


def _part(program: Declared, object: MemoryObject, kept: list[int], address: int) -> MemoryObject:
    if len(kept) == object.cells:
        return replace(object, address=address)
    names = tuple(program.cell_name(each) for each in kept)
    in_order = [*range(object.address, object.address + len(kept))] == kept
    return replace(
        object,
        address=address,
        size=len(kept),
        initial=tuple(object.initial[each - object.address] for each in kept),
        elements=() if in_order and not object.elements else names,
    )


def _moved(transition: Transition, moves: Mapping[int, int]) -> Transition:
    command = _command(transition.command, moves)
    moved = Transition(command, transition.target, transition.occurrence, transition.span, transition.last)
    return moved.with_form(_form(transition.form, moves), transition.variant)


def _command(command: Command, moves: Mapping[int, int]) -> Command:
    addresses = ADDRESSES | {"expected"} if isinstance(command, UpdateFrom) else ADDRESSES
    changed: dict[str, Any] = {
        name: _address(expr, moves) for name, expr in expressions_of(command).items() if name in addresses
    }
    return replace(command, **changed) if changed else command


def _form(form: Form, moves: Mapping[int, int]) -> Form:
    if isinstance(form, core.Immediate):
        return replace(form, access=_access(form.access, moves))
    if isinstance(form, core.Transfer):
        steps = tuple(step._replace(access=_access(step.access, moves)) for step in form.steps)
        return replace(form, steps=steps, captured=form.captured and _access(form.captured, moves))
    return form


def _access(access: Access[Place], moves: Mapping[int, int]) -> Access[Place]:
    return access._replace(cell=access.cell._replace(address=_address(access.cell.address, moves)))


def _address(expr: Expr, moves: Mapping[int, int]) -> Expr:
    match expr:
        case Symbol(name, value):
            return Symbol(name, moves.get(value, value))
        case Const(value):
            return Const(moves.get(value, value))
        case _:
            return expr
