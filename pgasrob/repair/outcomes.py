"""Whether a repair leaves the SC outcomes as they are: the states in which SC runs end."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from pgasrob.program.instance import Instance
from pgasrob.repair.candidates import Candidate
from pgasrob.semantics.endings import ending_of
from pgasrob.semantics.sequential import SequentialSpace

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.program.program import Program

MOST_STATES = 5_000
"""SC states of each program up to which ends are compared."""


class Compared(Enum):
    SAME = auto()
    """All SC runs end as before."""
    UNTOUCHED = auto()
    """Not compared, there being too many; but what is inserted does nothing in SC runs, in which nothing is late."""
    DIFFERENT = auto()


@dataclass(frozen=True, slots=True)
class Same:
    """How the SC outcomes of the repaired program compare, with the number of ends or the reason."""

    compared: Compared
    ends: int = 0
    why: str = ""


def compared(
    before: Program | CProgram, after: Program | CProgram, nodes: Sequence[int], chosen: Collection[Candidate]
) -> Same:
    """Whether SC runs of ``after`` end as those of ``before`` do: as to their ending and the cells that both have."""
    total = 0
    for count in nodes:
        first, second = before.instantiate(count), after.instantiate(count)
        names = _names(first) & _names(second)
        old, new = _ends(first, names), _ends(second, names)
        if old is None or new is None:
            if all(each.kind != "barrier" for each in chosen):
                return Same(Compared.UNTOUCHED)
            return Same(
                Compared.DIFFERENT, why=f"on {count} nodes there are too many SC runs to see that they end alike"
            )
        if old != new:
            return Same(Compared.DIFFERENT, why=f"on {count} nodes SC runs end otherwise than before")
        total += len(new)
    return Same(Compared.SAME, total)


def _names(instance: Instance) -> set[str]:
    """The cells of the program's own; what a library has for itself may be another afterwards."""
    return {
        instance.program.cell_name(address)
        for memory in instance.program.memory
        if not memory.made_up
        for address in range(memory.address, memory.address + memory.cells)
    }


def _ends(instance: Instance, names: Collection[str]) -> frozenset[tuple[object, ...]] | None:
    """How SC runs end, and what the cells ``names`` hold then; None: too many states."""
    space = SequentialSpace(instance)
    program = instance.program
    addresses = [address for address in range(program.cells) if program.cell_name(address) in names]
    cells = [rank * program.cells + address for rank in range(instance.nodes) for address in addresses]
    seen, stack, ends = {space.initial}, [space.initial], set()
    while stack:
        state = stack.pop()
        moves = [after for _, after in space.successors(state)]
        if not moves:
            ends.add((ending_of(instance, *state), *(state.memory[cell] for cell in cells)))
        for after in moves:
            if after not in seen:
                if len(seen) >= MOST_STATES:
                    return None
                seen.add(after)
                stack.append(after)
    return frozenset(ends)
