"""Reads cells that a rank alone uses, where it stands, as registers (`proofs/every-n.md`, section 2).

A cell is *private* if each access to its address is by a load or a store of a rank's own memory, or is what a put or an
update from memory reads at its issue. So what it holds is known for each place in the program, as for a register, and
not for all of them together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pgasrob.program import core
from pgasrob.program.control import ControlAutomaton
from pgasrob.program.core import Access, Form, Place, Update
from pgasrob.program.expressions import Const, Expr, Register, Symbol
from pgasrob.robustness.every_n.flow import Flow


@dataclass(frozen=True)
class PrivateCells:
    """The registers that take the place of private cells, by their addresses."""

    registers: Mapping[int, int]

    def in_registers(self, automaton: ControlAutomaton) -> ControlAutomaton:
        """``automaton`` with registers in the place of these cells."""
        return automaton.with_edges(lambda edge: (edge.with_form(self._form(edge.form), edge.variant),))

    def _form(self, form: Form) -> Form:
        access = _plain(form)
        address = None if access is None else _own_address(access)
        if address is None or address not in self.registers:
            return form  # or no rank comes there
        own: Expr = Register(f"cell {address}", place := self.registers[address])
        match form:
            case core.Immediate(register=int(register)):
                return core.Assign(register, own)
            case core.Immediate(update=Update(operand=value)) if value is not None:
                return core.Assign(place, value)
            case core.Transfer(update=update):
                changed = Update[Expr]("set", own) if update is None else update._replace(operand=own)
                return replace(form, captured=None, update=changed)
        return form


def private_cells(flows: Iterable[Flow], cells: int, registers: int) -> PrivateCells:
    """The private cells of a program with so many ``registers``, by ``flows`` that are about all ranks on all numbers
    of nodes that are asked about."""
    used: set[int] = set()
    shared: set[int] = set()
    for flow in flows:
        for rank, ranks in enumerate(flow.ranks):
            for state, leaving in enumerate(ranks.automaton.out):
                for form in (each.form for each in leaving if flow.files[rank][state] is not None):
                    for access in core.accesses_of(form):
                        if access is _plain(form) and (address := _own_address(access)) is not None:
                            used.add(address)
                        else:
                            shared |= {*flow.slots(rank, state, access.cell.address)}
    private = [address for address in sorted(used - shared) if 0 <= address < cells]
    return PrivateCells({address: registers + place for place, address in enumerate(private)})


def _plain(form: Form) -> Access[Place] | None:
    """The access of a command to a cell that may be private, if it is."""
    match form:
        case core.Immediate(access, condition=None, update=None):
            return access
        case core.Immediate(access, condition=None, update=Update("set"), register=None):
            return access
        case core.Transfer(captured=access, update=None | Update(operand=None, expected=None)):
            return access
    return None


def _own_address(access: Access[Place]) -> int | None:
    """The address of an access to a cell of the rank's own memory, where it is a number."""
    match access.cell:
        case Place(Const(value) | Symbol(_, value), None):
            return value
    return None
