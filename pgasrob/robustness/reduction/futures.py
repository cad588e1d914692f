"""What a rank may still do from a control state on, ignoring values.

Each analysis is a backwards flow over the control automaton: what may happen at a state is what its commands do
themselves, and what may happen after them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from pgasrob.program.commands import ATOMIC, REMOTE, Command, expressions_of
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.expressions import Expr, constant, registers_of
from pgasrob.program.instance import Instance
from pgasrob.robustness.attack import Touched

WAITED, WAITED_LOCAL, ISSUED, FENCED = 1, 2, 4, 8
"""How a command may use a queue: as wait, wait_local, read or write, fence."""

_USE = {"wait": WAITED, "wait_local": WAITED_LOCAL, "read": ISSUED, "write": ISSUED, "fence": FENCED}
_USES = WAITED | WAITED_LOCAL | ISSUED | FENCED


@dataclass(frozen=True, slots=True)
class Futures:
    """For every rank and control state (``[rank][state]``) what may come from there on.

    - ``before_barrier``: the accesses up to the rank's next barrier, those of the steps of remote commands among them.
    - ``ever``: the accesses, whatever barriers come between.
    - ``barrier_later``: whether a barrier can come.
    - ``live``: the registers that some command may read before it is set.
    - ``queues``: for each queue how it is used (:data:`WAITED` and so on); None stands for a queue that depends on a
      register, which may be any.
    """

    before_barrier: tuple[tuple[Touched, ...], ...]
    ever: tuple[tuple[Touched, ...], ...]
    barrier_later: tuple[tuple[bool, ...], ...]
    live: tuple[tuple[frozenset[int], ...], ...]
    queues: tuple[tuple[dict[int | None, int], ...], ...]


class _Rank(NamedTuple):
    before_barrier: tuple[Touched, ...]
    ever: tuple[Touched, ...]
    barrier_later: tuple[bool, ...]
    live: tuple[frozenset[int], ...]
    queues: tuple[dict[int | None, int], ...]


def futures(instance: Instance) -> Futures:
    """What every rank of ``instance`` may do from each of its control states on."""
    ranks = [_of_rank(instance, rank) for rank in range(instance.nodes)]
    return Futures(
        tuple(rank.before_barrier for rank in ranks),
        tuple(rank.ever for rank in ranks),
        tuple(rank.barrier_later for rank in ranks),
        tuple(rank.live for rank in ranks),
        tuple(rank.queues for rank in ranks),
    )


def _of_rank(instance: Instance, rank: int) -> _Rank:
    automaton, cells = instance.automata[rank], len(instance.memory)
    queues: dict[int | None, int] = {}  # where its uses stand in a set of bits

    def accesses(command: Command) -> int:
        made = possibly_touched(instance, rank, command)
        return made.read | made.written << cells

    def touched(bits: int) -> Touched:
        return Touched(bits & ((1 << cells) - 1), bits >> cells)

    def used(command: Command) -> int:
        if command.kind not in _USE:
            return 0
        queue = constant(expressions_of(command)["queue"])
        return _USE[command.kind] << queues.setdefault(queue, 4 * len(queues))

    def is_barrier(command: Command) -> bool:
        return command.kind == "barrier"

    before_barrier = _backwards(automaton, accesses, forgotten=lambda command: -1 if is_barrier(command) else 0)
    uses = _backwards(automaton, used)
    return _Rank(
        tuple(touched(bits) for bits in before_barrier),
        tuple(touched(bits) for bits in _backwards(automaton, accesses)),
        tuple(bool(bits) for bits in _backwards(automaton, is_barrier)),
        tuple(frozenset(_members(bits)) for bits in _backwards(automaton, _registers_read, forgotten=_register_set)),
        tuple({queue: use for queue, place in queues.items() if (use := bits >> place & _USES)} for bits in uses),
    )


def _backwards(
    automaton: ControlAutomaton,
    made: Callable[[Command], int],
    forgotten: Callable[[Command], int] = lambda command: 0,
) -> list[int]:
    """For each state a set of bits: what its commands have ``made``, and of what may come after them all but what they
    have ``forgotten``; the least such sets."""
    flows = [[_flow(transition, made, forgotten) for transition in leaving] for leaving in automaton.out]
    found = [0] * len(flows)
    changed = True
    while changed:
        changed = False
        for state in reversed(range(len(flows))):  # states are numbered forwards, so most of it is done in one go
            bits = 0
            for own, kept, target in flows[state]:
                bits |= own | found[target] & kept
            if bits != found[state]:
                found[state], changed = bits, True
    return found


def _flow(
    transition: Transition, made: Callable[[Command], int], forgotten: Callable[[Command], int]
) -> tuple[int, int, int]:
    command = transition.command
    return made(command), ~forgotten(command), transition.target


def possibly_touched(instance: Instance, rank: int, command: Command) -> Touched:
    """The accesses that ``command`` of ``rank`` could make, at its issue or in a step.

    Exact for constant addresses and ranks; an operand that depends on a register may be any cell it could name.
    """
    exprs, size = expressions_of(command), instance.size

    def cells(ranks: Iterable[int], address: str) -> int:
        indices = _choices(exprs[address], size)
        return _bits(node * size + index for node in ranks for index in indices)

    if command.kind in REMOTE:
        here, there = cells([rank], "local"), cells(_choices(exprs["rank"], instance.nodes), "remote")
        return Touched(here, there) if command.kind == "write" else Touched(there, here)
    if command.kind in ATOMIC:
        updated = cells(_choices(exprs["rank"], instance.nodes), "address")
        return Touched(updated, updated)
    if "address" in exprs:
        own = cells([rank], "address")
        return Touched(0, own) if command.kind == "store" else Touched(own, 0)
    return Touched()


def _choices(expr: Expr, bound: int) -> range:
    """The values below ``bound`` that ``expr`` may have."""
    value = constant(expr)
    if value is None:
        return range(bound)
    return range(value, value + 1) if 0 <= value < bound else range(0)


def _registers_read(command: Command) -> int:
    return _bits(register for expr in expressions_of(command).values() for register in registers_of(expr))


def _register_set(command: Command) -> int:
    return 1 << command.register.index if hasattr(command, "register") else 0


def _bits(members: Iterable[int]) -> int:
    bits = 0
    for member in members:
        bits |= 1 << member
    return bits


def _members(bits: int) -> Iterable[int]:
    return (member for member in range(bits.bit_length()) if bits >> member & 1)
