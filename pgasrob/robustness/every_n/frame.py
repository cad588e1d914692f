"""Decides how many ranks of a program get names of their own in the proof for every number of nodes.

No proof depends on that: with too few names less is known, so less is proved.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from math import ceil, lcm

from pgasrob.program import core
from pgasrob.program.control import ControlAutomaton
from pgasrob.program.core import Form, Role
from pgasrob.program.expressions import (
    MOST_NODES,
    RELATIONS,
    Binary,
    Expr,
    Symbol,
    is_growing,
    names_me_or_nodes,
    parts,
    registers_of,
)
from pgasrob.robustness.every_n.linear import ANYTHING, RANK, Domain, Linear
from pgasrob.robustness.every_n.rank_cases import Frame
from pgasrob.robustness.every_n.symbolic_values import File, Values
from pgasrob.stop_points import stop_point

MOST_AROUND, MOST_ENDS, MOST_MODULUS = 4, 8, 8
MOST_NUMBERED = 16
"""Ranks below this may have blocks of their own."""
_SMALL = 100


def frame_of(
    automata: Iterable[ControlAutomaton], registers: int, numbered: Sequence[int] = (), most: int = MOST_NODES
) -> Frame:
    """The frame for a program with these control automata, on at most ``most`` nodes; the ranks in ``numbered`` have
    blocks of their own."""
    forms = [each.form for automaton in automata for each in automaton.transitions]
    given = [expr for form in forms for _, expr in core.expressions(form)]
    every = [part for expr in dict.fromkeys(given) for part in parts(expr) if names_me_or_nodes(part)]
    places, file = _naming_places(forms), (ANYTHING,) * registers
    modulus = _modulus(every, file, most)
    around, ends = 0, max([1, *(rank + 1 for rank in numbered)])
    for values in _somewhere(modulus, most):
        for expr in places:
            form = _linear(values, expr, file)
            if form is None:
                continue
            if form[:2] == (1, 0) and -_SMALL <= form.c <= _SMALL:
                around = max(around, abs(int(form.c)))
            else:
                ends = max(ends, min(_from_an_end(form), MOST_ENDS))
        for part in every:
            match part:
                case Binary(symbol, left, right) if symbol in RELATIONS:
                    difference = _linear(values, Binary("-", left, right), file)
                    if difference is not None and difference.x:
                        limit = difference._replace(x=0).over(-difference.x)
                        ends = max(ends, min(_from_an_end(limit), MOST_ENDS))
    around = min(around, MOST_AROUND)
    return Frame(around, max(ends, around), modulus, most)


def _linear(values: Values, expr: Expr, file: File) -> Linear | None:
    found = values.of(expr, file)
    return found[0] if found is not None and found[0] == found[1] else None


def _somewhere(modulus: int, most: int) -> list[Values]:
    """Ranks that are far from both ends, one for each remainder."""
    remainders = product(range(modulus), range(modulus))
    return [Values(Domain(10 * _SMALL, _SMALL, _SMALL, modulus, x, n, most), RANK) for x, n in remainders]


def _modulus(exprs: Iterable[Expr], file: File, most: int) -> int:
    """By what ranks have to be divided, so that their quotients, remainders and last bits are known."""
    modulus, known = 0, 1
    while modulus != known:
        stop_point()
        modulus = known
        (values, *_) = _somewhere(modulus, most)
        for expr in exprs:
            match expr:
                case Binary("%" | "/" | ">>" | "&" | "|" | "^" as symbol, left, right):
                    for one, other in ((left, right), (right, left)):
                        form, by = _linear(values, one, file), _linear(values, other, file)
                        if form and by and form.x and by[:2] == (0, 0):
                            needed = _divisor(symbol, int(by.c))
                            for part in form[:2]:
                                step = Fraction(part) / needed
                                if lcm(known, step.denominator) <= MOST_MODULUS:
                                    known = lcm(known, step.denominator)
    return modulus


def _divisor(symbol: str, value: int) -> int:
    """By what a rank has to be divided for an operation with ``value``; 1 for operations that are not looked at."""
    if symbol in ("%", "/"):
        return max(value, 1)
    places = value if symbol == ">>" else (value if value >= 0 else ~value).bit_length()
    return 1 << places if 0 <= places < MOST_MODULUS else 1


def _from_an_end(form: Linear) -> int:
    """How many ranks there are from the nearer end up to the rank ``form``."""
    if form.x or form.n not in (0, 1):
        return 0
    place = ceil(form.c if form.n == 0 else -1 - form.c)
    return place + 1 if 0 <= place < _SMALL else 0


def _naming_places(forms: Sequence[Form]) -> list[Expr]:
    """The expressions for ranks, and for elements of memory that grows with their number, and those whose values go to
    registers that they depend on."""
    assigned: dict[int, list[Expr]] = {}
    for form in forms:
        if isinstance(form, core.Assign):
            assigned.setdefault(form.register, []).append(form.value)
    found = [expr for form in forms for role, expr in core.expressions(form) if role is Role.RANK]
    addresses = (expr for form in forms for role, expr in core.expressions(form) if role is Role.ADDRESS)
    for part in (part for expr in addresses for part in parts(expr)):
        match part:
            case Binary("+", Symbol() as first, index) if is_growing(first):
                found.append(index)
    seen: set[int] = set()
    for expr in found:
        for register in registers_of(expr) - seen:
            seen.add(register)
            found += assigned.get(register, [])
    return found
