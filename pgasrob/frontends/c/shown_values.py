"""What a C program shows: output, what main returns, and what is computed, or decided, for these alone.

None of this is a command of the calculus. `proofs/polling.md`, section 5, has what it is for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from pgasrob.frontends.c.code import (
    MAIN,
    Branch,
    Call,
    Clear,
    CompiledFunction,
    Copy,
    Global,
    Instruction,
    Label,
    Load,
    Local,
    Offset,
    Return,
    Slot,
    Store,
    Stride,
    String,
)
from pgasrob.frontends.c.liveness import COMPUTES, reads, successors
from pgasrob.frontends.c.types import Pointer
from pgasrob.program.graphs import components, dominators, reached_by
from pgasrob.program.shown_places import Shown, ShownIn

ENDS = ("exit", "_exit", "_Exit", "quick_exit")
"""Functions whose arguments are shown as those of output are."""
ANY = "?"
"""The name of an object of which it is not said here which one it is."""


def shown(functions: Mapping[str, CompiledFunction], shows: Callable[[str], bool]) -> Shown | None:
    """Where ``functions`` show something, those that have no code by the names for which ``shows`` holds; None: nowhere
    in them."""
    ordered = [functions[MAIN], *(each for name, each in functions.items() if name != MAIN)]
    numbers = {each.name: number for number, each in enumerate(ordered)}
    found = [_Function(each, lambda name: shows(name) or name in ENDS) for each in ordered]
    objects = set[str]().union(*(each.shown_objects for each in found))
    made = tuple(each.shown_in(numbers, objects) for each in found)
    return Shown(made) if any(each.shows for each in made) else None


class _Function:
    def __init__(self, function: CompiledFunction, shows: Callable[[str], bool]) -> None:
        self.function, self.code = function, function.code
        self.after = [successors(self.code, place) for place in range(len(self.code))]
        self.output = [
            place
            for place, each in enumerate(self.code)
            if (isinstance(each, Call) and isinstance(each.function, str) and shows(each.function))
            or (isinstance(each, Return) and function.name == MAIN)
        ]

    @cached_property
    def _sources(self) -> list[tuple[Slot, Slot]]:
        """Slots, each with one of those that its values are computed of."""
        computing = (each for each in self.code if isinstance(each, COMPUTES))
        return [(each.target, source) for each in computing for source in reads(each)]

    @cached_property
    def _given(self) -> set[Slot]:
        """The slots on whose values it depends what is shown."""
        decides = (place for place in self._deciding(self.output) if isinstance(self.code[place], Branch))
        return reached_by(
            self._sources, {slot for place in (*self.output, *decides) for slot in reads(self.code[place])}
        )

    def _deciding(self, places: Iterable[Label]) -> set[Label]:
        """``places``, and those at which it is decided whether the run comes to one of them (Ferrante, Ottenstein,
        Warren: The program dependence graph)."""
        before: list[list[Label]] = [[] for _ in self.code]
        for place, targets in enumerate(self.after):
            for target in targets:
                before[target].append(place)
        above = dominators(before, [place for place, targets in enumerate(self.after) if not targets])
        edges = [
            (place, branch)
            for branch, targets in enumerate(self.after)
            if len(targets) > 1
            for place in set[Label]().union(*(_up(target, above) for target in targets)) - _up(branch, above)
        ]
        return reached_by(edges, places)

    @property
    def shown_objects(self) -> set[str]:
        """The objects in memory on whose values it depends what is shown."""
        found = set[str]()
        for place, each in enumerate(self.code):
            if isinstance(each, Load) and each.target in self._given:
                found |= self._objects(each.pointer)
            elif place in self.output and isinstance(each, Call):
                pointers = (
                    slot for slot, type in zip(each.arguments, each.types, strict=False) if isinstance(type, Pointer)
                )
                found |= set[str]().union(*map(self._objects, pointers))
        return found

    def _objects(self, pointer: Slot) -> set[str]:
        """The objects that ``pointer`` may point into; none for a literal."""
        found, slots = set[str](), [pointer]
        for slot in slots:
            defining = [self.code[place] for place in self._defining({slot})]
            if not defining or slot in self.function.parameters:
                return {ANY}
            for each in defining:
                match each:
                    case Global(_, name) | Local(_, name):
                        found.add(name)
                    case String():
                        pass
                    case Offset(_, inner) | Stride(_, inner):
                        slots += [inner] if inner not in slots else []
                    case _ if isinstance(each, COMPUTES):
                        slots += [source for source in reads(each) if source not in slots]
                    case _:
                        return {ANY}
        return found

    def shown_in(self, numbers: Mapping[str, int], objects: set[str]) -> ShownIn:
        """Where it shows something, or gives a value to a slot or to one of the ``objects`` that is shown."""
        rounds = {slot for slot in self._given if self._counts_rounds(reached_by(self._sources, [slot]))}
        places = {place for place in self.output if not isinstance(self.code[place], Return)}
        places.update(self._defining(self._given - rounds))
        for place, each in enumerate(self.code):
            if isinstance(each, Store | Copy | Clear):
                to = self._objects(each.pointer)
                if objects and (objects & to or ANY in objects | to):
                    places.add(place)
        calls = tuple(_called(each, numbers) for each in self.code)
        return ShownIn(tuple(self.after), tuple(self.function.spans), calls, frozenset(places))

    def _counts_rounds(self, slots: set[Slot]) -> bool:
        """Whether the values of ``slots`` depend on nothing but how often loops have gone round: as with polls, nobody
        counts how often a rank has looked in vain."""
        above, loop = dominators(self.after, [0]), components(self.after)
        read = [place for place, each in enumerate(self.code) if slots & set(reads(each))]
        for place in self._defining(slots):
            inside = {other for other, number in enumerate(loop) if number == loop[place]}
            # Each round has to pass it; or it comes before everything that uses it.
            goes_round = len(inside) > 1
            ends = [other for other in inside if min(inside) in self.after[other]] if goes_round else read
            passed = all(place in _up(end, above) for end in ends) and (ends or not goes_round)
            if not isinstance(self.code[place], COMPUTES) or not passed:
                return False
        return not slots & set(self.function.parameters)

    @cached_property
    def _places(self) -> Mapping[Slot, Sequence[Label]]:
        """For each slot the places that give it a value."""
        found: dict[Slot, list[Label]] = {}
        for place, each in enumerate(self.code):
            if (target := getattr(each, "target", None)) is not None:
                found.setdefault(target, []).append(place)
        return found

    def _defining(self, slots: Iterable[Slot]) -> Iterator[Label]:
        """The places that give one of ``slots`` a value."""
        return (place for slot in slots for place in self._places.get(slot, ()))


def _called(instruction: Instruction, numbers: Mapping[str, int]) -> frozenset[int]:
    """The functions that ``instruction`` may call."""
    if not isinstance(instruction, Call):
        return frozenset()
    if not isinstance(instruction.function, str):
        return frozenset(numbers.values())
    return frozenset({numbers[instruction.function]} if instruction.function in numbers else ())


def _up(place: Label, above: list[Label | None]) -> set[Label]:
    """``place`` and what dominates it."""
    found: set[Label] = set()
    at: Label | None = place
    while at is not None:
        found.add(at)
        at = above[at]
    return found
