"""Finds in the text of a region of OpenMP which accesses of its threads race, and in which iterations.

A race that is found is one: both accesses are made wherever the first is, and nothing orders them (OpenMP 5.2, 1.4.1).
Where that cannot be said of an access its line is left as one that is not checked.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgasrob.frontends.c.compiler.canonical_loops import CanonicalLoop
from pgasrob.frontends.c.compiler.scopes import Context
from pgasrob.frontends.c.compiler.thread_accesses import ONE_THREAD, Access, Accesses, Part, Polynomial, difference
from pgasrob.frontends.c.openmp import OPERATORS, Directive
from pgasrob.frontends.c.syntax_tree import Node


@dataclass(frozen=True, slots=True)
class Race:
    """``access`` races with one of another thread; in an iteration of ``loop`` if there is one that is one of
    ``shifts`` away from its own, in the variable of the loop. What is wrong, and what would help."""

    access: Access
    sentence: str
    remedy: str
    loop: CanonicalLoop | None = None
    shifts: tuple[int, ...] = ()


@dataclass(slots=True)
class Races:
    """The races of the ``accesses`` in the region of ``directive``, by the statements in which they are; ``unchecked``:
    the nodes of accesses of which that is not known."""

    context: Context
    directive: Directive
    accesses: Accesses
    loop: CanonicalLoop | None

    def found(self) -> tuple[list[Race], list[Node]]:
        races: list[Race] = []
        unchecked = [*self.accesses.unknown]
        named: set[str] = set()
        for first in self.accesses.found:
            if not first.writes or first.name in named:
                continue
            others = [each for each in self.accesses.found if each.name == first.name]
            blind = self.accesses.synchronises or (self.loop is None and self.accesses.spins)
            if blind or (first.path and any(each.writes and not each.path for each in others)):
                unchecked.append(first.node)  # what orders them is not followed, or it is through a pointer set here
                continue
            answers = [self._between(first, other) for other in others]
            of_first = {each.shifts: each for each in answers if isinstance(each, Race)}
            if of_first:
                races += of_first.values()
                if first.sure and any(len(shifts) != 1 for shifts in of_first):
                    named.add(first.name)  # no run has only another one
            elif None in answers:
                unchecked.append(first.node)
        return races, unchecked

    def _between(self, first: Access, other: Access) -> Race | bool | None:
        """The race of the two; False where there is none; None where it is not known."""
        if first.guard & other.guard:
            return False
        if self.loop is not None:
            return self._in_loop(first, other, self.loop)
        sections = "sections" in self.directive.leaves
        if sections:
            if first.phase == other.phase:
                return False
        elif first.phase != other.phase:
            return False if ONE_THREAD not in first.guard | other.guard else None
        elif self.accesses.calls and ONE_THREAD in first.guard | other.guard:
            return None  # there may be a barrier in what is called
        elif not first.sure and ONE_THREAD not in first.guard:
            return None
        same = self._distance(first, other, None)
        if same is None or not other.sure:
            return None
        return self._race(first, other) if same == () else False

    def _in_loop(self, first: Access, other: Access, loop: CanonicalLoop) -> Race | bool | None:
        distance = self._distance(first, other, loop.name)
        if distance is None:
            return None
        if isinstance(distance, bool) or distance == (0,):
            return False
        if not distance:
            distance = (loop.step, -loop.step) if loop.step else ()
        if not distance or not loop.step:
            return None
        if distance[0] % loop.step:
            return False
        if not other.sure or not self._fixed(loop):
            return None
        return self._race(first, other, loop, distance)

    def _fixed(self, loop: CanonicalLoop) -> bool:
        """Whether the bounds of ``loop`` mean the same in its body, and to compute them changes nothing."""
        bounds = [self.accesses.polynomial(each, set()) for each in (loop.lower, loop.upper)]
        return None not in bounds

    def _distance(self, first: Access, other: Access, variable: str | None) -> tuple[int, ...] | bool | None:
        """How far from the iteration of ``first`` that is in which ``other`` accesses the same memory: one number, none
        where it is any; False where it is no iteration, None where it is not known."""
        if len(first.path) != len(other.path):
            # A whole struct and a part of it; an element of an array that is a part of one is not looked for.
            return None
        found = [self._parts_apart(first, other, each, variable) for each in zip(first.path, other.path, strict=True)]
        numbers = {each for each in found if not isinstance(each, bool | None)}
        if any(each is False for each in found) or len(numbers) > 1:
            return False
        if 0 in numbers:
            return (0,)
        return None if None in found else tuple(numbers)

    def _parts_apart(
        self, first: Access, other: Access, parts: tuple[Part, Part], variable: str | None
    ) -> int | bool | None:
        """As `_apart`, of two members or indices."""
        one, two = parts
        if isinstance(one, Node) and isinstance(two, Node):
            return self._apart(first, other, (one, two), variable)
        if one == two:
            return True
        return False if isinstance(one, str) and isinstance(two, str) and "*" not in one + two else None

    def _apart(
        self, first: Access, other: Access, indices: tuple[Node, Node], variable: str | None
    ) -> int | bool | None:
        """By how much the ``variable`` differs where the ``indices`` are equal; True: by anything; False: they never
        are; None: it is not known."""
        both = {each.name for each in first.loops if each in other.loops}
        names = both | ({variable} if variable else set())
        one, two = (self.accesses.polynomial(each, names) for each in indices)
        if one is None or two is None:
            return None
        rest = difference(_without(one, variable), _without(two, variable))
        factors, others = _factors(one, variable), _factors(two, variable)
        if factors != others:
            return None
        own = {name for names in (*one, *two) for name in names if name in both}
        if not factors:
            return True if not rest else False if set(rest) == {()} and not own else None
        if not rest:
            return None if own else 0  # with a variable of an inner loop rows may overlap
        if rest.keys() != factors.keys():
            return None
        ratios = {divmod(rest[key], factors[key]) for key in factors}
        if len(ratios) != 1:
            return None
        quotient, left = ratios.pop()
        return (False if set(factors) == {()} else None) if left else quotient

    # What is said of it

    def _race(
        self, first: Access, other: Access, loop: CanonicalLoop | None = None, shifts: tuple[int, ...] = ()
    ) -> Race:
        text, line = self.context.text(first.node), self.context.span(other.node).line
        who = "another section" if "sections" in self.directive.leaves else "another thread"
        who = "an iteration of another thread" if loop is not None else who
        does = "write" if other.writes and not other.reads else "read and write" if other.writes else "read"
        where = "it here, too" if other.node is first.node else f"`{self.context.text(other.node)}` in line {line}"
        sentence = (
            f"`{text}` is written in the region of `{self.directive.shown}` in line {self.directive.pragma.span.line}, "
            f"while {who} may {does} {where}"
        )
        return Race(first, sentence, self._remedy(first), loop, shifts)

    def _remedy(self, first: Access) -> str:
        name = first.name
        if first.path:
            return "let each thread write elements of its own, or give the accesses `atomic` or `critical`"
        operator = first.operator.removesuffix("=")
        of_name = [each for each in self.accesses.found if each.name == name]
        if operator in OPERATORS and all(each.operator.removesuffix("=") == operator for each in of_name):
            if "sections" in self.directive.leaves or self.loop is not None:
                return f"add reduction({operator}:{name})"
        elif of_name[0].writes and not of_name[0].reads and of_name[0].sure:
            return f"add private({name}), or declare `{name}` inside"
        return f"give the accesses to `{name}` `atomic` or `critical`"


def _without(of: Polynomial, variable: str | None) -> Polynomial:
    return {names: factor for names, factor in of.items() if variable not in names}


def _factors(of: Polynomial, variable: str | None) -> Polynomial:
    """What ``variable`` is multiplied with; what has it twice counts as another name."""
    found: Polynomial = {}
    for names, factor in of.items():
        if variable in names:
            left = list(names)
            left.remove(variable)
            found[tuple(left)] = factor
    return found
