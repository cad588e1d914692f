"""How many ranks need names of their own in a program.

Nothing of the proof depends on it: what is named too little for is known less of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import lcm

from pgasrob.program import core
from pgasrob.program.control import ControlAutomaton
from pgasrob.program.core import Form, Role
from pgasrob.program.expressions import MOST_NODES, RELATIONS, Binary, Expr, parts, registers_of
from pgasrob.robustness.every_n.cases import Frame
from pgasrob.robustness.every_n.linear import ANYTHING, RANK, Domain, Linear
from pgasrob.robustness.every_n.values import Values

MOST_AROUND, MOST_ENDS, MOST_MODULUS = 4, 8, 4
MOST_NUMBERED = 16
"""Ranks below this may have blocks of their own."""
_SMALL = 100


def frame_of(
    automata: Iterable[ControlAutomaton], registers: int, numbered: Sequence[int] = (), most: int = MOST_NODES
) -> Frame:
    """The frame for a program with these control automata, on at most ``most`` nodes; the ranks in ``numbered`` have
    blocks of their own."""
    forms = [each.form for automaton in automata for each in automaton.transitions]
    somewhere = Domain(10 * _SMALL, _SMALL, _SMALL, most=most)
    values, file = Values(somewhere, RANK), (ANYTHING,) * registers
    around, ends, modulus = 0, 1, 1

    def linear(expr: Expr) -> Linear | None:
        found = values.of(expr, file)
        return found[0] if found is not None and found[0] == found[1] else None

    for expr in _naming_ranks(forms):
        form = linear(expr)
        if form is None:
            continue
        if form[:2] == (1, 0) and abs(form.c) <= _SMALL:
            around = max(around, abs(form.c))
        else:
            ends = max(ends, _from_an_end(form))
    for form_ in forms:
        for _, expr in core.expressions(form_):
            for part in parts(expr):
                match part:
                    case Binary(symbol, left, right) if symbol in RELATIONS:
                        difference = linear(Binary("-", left, right))
                        if difference is not None and abs(difference.x) == 1:
                            without = difference._replace(x=0)
                            ends = max(ends, _from_an_end(Linear().plus(without, -difference.x)))
                    case Binary("%", left, right):
                        divisor, form = linear(right), linear(left)
                        if divisor and form and form.x and divisor[:2] == (0, 0) and 1 < divisor.c <= MOST_MODULUS:
                            modulus = lcm(modulus, divisor.c)
                    case Binary("&" | "^", left, right):
                        sides = linear(left), linear(right)
                        if Linear(c=1) in sides and any(side and side.x for side in sides):
                            modulus = lcm(modulus, 2)
    ends = max(min(ends, MOST_ENDS), *(rank + 1 for rank in numbered), 1)
    return Frame(min(around, MOST_AROUND), ends, modulus if modulus <= MOST_MODULUS else 1, most)


def _from_an_end(form: Linear) -> int:
    """How many ranks there are up to the one that is ``form``, from the end to which it is near."""
    if form.x or form.n not in (0, 1):
        return 0
    place = form.c if form.n == 0 else -1 - form.c
    return place + 1 if 0 <= place < _SMALL else 0


def _naming_ranks(forms: Sequence[Form]) -> list[Expr]:
    """The expressions for ranks, and those whose values go to registers that they depend on."""
    assigned: dict[int, list[Expr]] = {}
    for form in forms:
        if isinstance(form, core.Assign):
            assigned.setdefault(form.register, []).append(form.value)
    found = [expr for form in forms for role, expr in core.expressions(form) if role is Role.RANK]
    seen: set[int] = set()
    for expr in found:
        for register in registers_of(expr) - seen:
            seen.add(register)
            found += assigned.get(register, [])
    return found
