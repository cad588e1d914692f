"""How a run ends, and what its end shows: the values of registers and cells, and the assertions that failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from pgasrob.program import core
from pgasrob.program.commands import Exit
from pgasrob.program.core import Cell
from pgasrob.program.instance import Instance, Memory, Registers
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.sequential import SequentialSpace, SequentialState
from pgasrob.semantics.standstill import Stay
from pgasrob.semantics.state_space import Letter

Ending = Literal["ended", "exited", "deadlock", "stopped", "fault", "cut"]
"""How a run ends. ``ended``: all ranks have ended. Else nothing can happen any more (but that ranks go round loops, in
which nobody changes what another one reads) and nothing is pending, and: ``fault``: a next command of some rank cannot
be evaluated; ``exited``: no fault, and a next command of some rank is an exit, which ends all of them; ``deadlock``:
neither, and some rank is blocked by more than false assumes, or goes round for ever; ``stopped``: none of these.
``cut``: the run was not followed to its end."""
ENDINGS: tuple[Ending, ...] = ("ended", "exited", "deadlock", "stopped", "fault")
"""The endings of a maximal run."""


def ending_of(instance: Instance, control: tuple[int, ...], registers: tuple[Registers, ...], memory: Memory) -> Ending:
    """How a run ends that ends here: nothing is pending and no rank can move, but for polls that fail."""
    space = SequentialSpace(instance)
    state = SequentialState(control, registers, memory)
    return immediate_ending(space, state) or ("deadlock" if space.is_deadlock(state) else "stopped")


def immediate_ending(space: SequentialSpace, state: SequentialState) -> Ending | None:
    """How a run ends here whatever else its ranks might do; None when that is not all that there is to say."""
    if any(True for _ in space.faults(state)):
        return "fault"
    leaving = [automaton.out[at] for automaton, at in zip(space.instance.automata, state.control, strict=True)]
    if not any(leaving):
        return "ended"
    return "exited" if any(isinstance(each.command, Exit) for out in leaving for each in out) else None


def ending_by(stays: Sequence[Stay]) -> Ending:
    """How a run ends in which the ranks stay so, none of them before an exit."""
    how = {stay.how for stay in stays}
    return "deadlock" if how & {"waits", "spins"} else "stopped" if "stopped" in how else "ended"


class Place(NamedTuple):
    """What has a value at the end of a run: a register of a process, or a cell. ``name`` is ``r@0`` or ``a[2]@1``."""

    name: str
    rank: int
    register: int | None
    cell: Cell | None

    def value(self, registers: tuple[Registers, ...], memory: Memory) -> int:
        if self.cell is not None:
            return memory[self.cell]
        assert self.register is not None
        return registers[self.rank][self.register]


@dataclass(frozen=True, slots=True, order=True)
class FailedAssertion:
    """An assert that was false in a run: the rank, its line and its place in the rank's block."""

    rank: int
    line: int
    occurrence: int


def failure(
    instance: Instance, letter: Letter, control: tuple[int, ...], registers: tuple[Registers, ...]
) -> FailedAssertion | None:
    """The failed assertion that ``letter`` issues in this state; None if it holds, or ``letter`` issues no assert, or
    none of which it is certain that it fails."""
    if letter.kind != "assert":
        return None
    rank = letter.rank
    leaving = instance.automata[rank].out[control[rank]]
    transition = next(each for each in leaving if each.occurrence == letter.which)
    claimed = instance.operands(rank, transition, registers[rank])
    assert isinstance(claimed, core.Test)
    return None if claimed.condition or claimed.claim else FailedAssertion(rank, transition.span.line, letter.which)


def with_failure(failed: tuple[FailedAssertion, ...], another: FailedAssertion | None) -> tuple[FailedAssertion, ...]:
    """The assertions ``failed``, in order, and ``another`` if it is one."""
    return failed if another is None or another in failed else tuple(sorted((*failed, another)))


def places(instance: Instance) -> tuple[Place, ...]:
    """All registers, then all cells, each with the ranks beside each other, in the order of declaration."""
    ranks = range(instance.nodes)
    return (
        *(
            Place(f"{name}@{instance.process_name(process)}", process, register, None)
            for register, name in enumerate(instance.program.registers)
            for process in range(instance.processes)
        ),
        *(
            Place(instance.cell_name(rank * instance.size + index), rank, None, rank * instance.size + index)
            for index in range(instance.size)
            for rank in ranks
        ),
    )


def is_sequential(computation: Computation) -> bool:
    """Whether a computation is an SC run: every step directly follows its issue or an earlier step of that."""
    return all(not event.is_step or event.issued == before.issued for before, event in pairwise(computation))
