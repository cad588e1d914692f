"""Which slots and objects the values in a compiled function are computed of, and by which branches it decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from pgasrob.frontends.c.code import (
    Branch,
    Call,
    Clear,
    CompiledFunction,
    Copy,
    Difference,
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
from pgasrob.frontends.c.control_flow import ControlFlow
from pgasrob.frontends.c.liveness import COMPUTES, reads
from pgasrob.frontends.c.standard import words
from pgasrob.frontends.c.types import CType, Pointer
from pgasrob.program.graphs import Node, components, reached, reached_by

Thing = tuple[Literal["slot", "place", "function"], int, int] | str
"""A slot of a function, whether its run comes to a place, whether it is called (by the number of the function), or an
object in memory by its name. Objects that cannot be kept apart have one name."""
ANY = "?"
"""The name of an object of which it is not said here which one it is."""
CLOCKS = frozenset(words("time clock rand random MPI_Wtime omp_get_wtime"))
"""Functions whose results may be any, whatever others do."""
ERRNO = ("perror", "err", "warn")
"""Functions that show what went wrong last."""

BRINGS = {
    "get": 0, "MPI_Get": 0, "MPI_Rget": 0, "MPI_Fetch_and_op": 1, "MPI_Test": 1, "MPI_Iprobe": 0, "waitsome": 0,
    "notify_reset": 0, "fetch_add": 0, "ARMCI_Get": 1, "ARMCI_Rmw": 0,
}  # fmt: skip
"""Parts of the names of functions that set what one of their pointers points to, whatever was there, and which."""


def brought_by(function: str | Slot) -> int | None:
    """By which of its pointers ``function`` sets something and nothing else, if that is known."""
    if not isinstance(function, str) or "acc" in function:
        return None
    return next((number for part, number in BRINGS.items() if part in function), None)


@dataclass(frozen=True, slots=True)
class WithoutCode:
    """What functions do that have no code: whether they ``show`` something; by how many of their first pointers they
    may ``store`` something; whether they may ``access`` what other ranks set."""

    shows: Callable[[str], bool]
    stores: Callable[[str], int]
    accesses: Callable[[str], bool]


class DataFlow(ControlFlow):
    """The function with this ``number``; ``numbers`` are those of all that have code. ``aliased``: the objects that a
    pointer of unknown origin may point to, which are one for it; ``steady``: those that are set once and for all."""

    def __init__(
        self, function: CompiledFunction, number: int, numbers: Mapping[str, int], others: WithoutCode
    ) -> None:
        super().__init__(function.code)
        self.function, self.number = function, number
        self._numbers, self.others = numbers, others
        self.aliased = frozenset[str]()
        self.steady = frozenset[str]()
        self._waits: dict[frozenset[Label], bool] = {}
        self._varying: dict[tuple[int | None, bool], set[Thing]] = {}

    def waits(self, loop: frozenset[Label]) -> bool:
        """Whether rounds of ``loop`` may read what other ranks set."""
        if loop not in self._waits:
            self._waits[loop] = any(self._accesses(self.code[place]) for place in loop)
        return self._waits[loop]

    def _accesses(self, instruction: Instruction) -> bool:
        match instruction:
            case Load(_, pointer):
                return not self.objects(pointer) <= self.function.objects.keys()
            case Call(_, str(name)):
                return name in self._numbers or self.others.accesses(name)
        return isinstance(instruction, Call)

    def target(self, place: Label) -> Slot:
        """The slot that is set at ``place``, where one is."""
        slot: Slot = self.code[place].target  # type: ignore[union-attr, assignment]
        return slot

    @cached_property
    def _places(self) -> Mapping[Slot, Sequence[Label]]:
        found: dict[Slot, list[Label]] = {}
        for place, each in enumerate(self.code):
            if (target := getattr(each, "target", None)) is not None:
                found.setdefault(target, []).append(place)
        return found

    @cached_property
    def _readers(self) -> Mapping[Slot, Sequence[Label]]:
        found: dict[Slot, list[Label]] = {}
        for place, each in enumerate(self.code):
            for slot in reads(each):
                found.setdefault(slot, []).append(place)
        return found

    def defining(self, slots: Iterable[Slot]) -> Iterator[Label]:
        """The places that give one of ``slots`` a value."""
        return (place for slot in slots for place in self._places.get(slot, ()))

    @cached_property
    def sources(self) -> list[tuple[Slot, Slot]]:
        """Slots, each with one of those that its values are computed of."""
        computing = (each for each in self.code if isinstance(each, (*COMPUTES, Offset, Stride, Difference)))
        return [(each.target, source) for each in computing for source in reads(each)]

    def _deciding_for(self, at: Label, branch: Label) -> tuple[bool, bool]:
        """What ``branch`` decides about ``at`` for who goes round a loop in which both are: by whether the round comes
        to the branch, and by its condition. Each round may come by ``at``; and where each comes by a place at which a
        loop is left that waits for others, who goes on in it has not left it, however often."""
        loop = next((each for each in self.loops if at in each and branch in each), None)
        if loop is None:
            return True, True
        leaves = not loop.issuperset(self.after[branch])
        if leaves and not self.waits(loop):
            return True, True
        if self.passes(loop, at):
            return False, False
        return True, not (leaves and self.passes(loop, branch))

    @cached_property
    def determined(self) -> list[tuple[Thing, Thing]]:
        """Slots and places, each with a slot or place that it is determined by: what a slot holds, and whether a round
        comes to a place."""
        found = [(self.slot(source), self.slot(target)) for target, source in self.sources]
        for at, branches in enumerate(self.deciding):
            for branch in branches:
                by_place, by_condition = self._deciding_for(at, branch)
                found += [(self.place(branch), self.place(at))] * by_place
                found += [(self.slot(slot), self.place(at)) for slot in reads(self.code[branch])] * by_condition
            if isinstance(load := self.code[at], Load):
                found.append((self.slot(load.pointer), self.slot(load.target)))
            if getattr(self.code[at], "target", None) is not None and not self._comes_first(at):
                found.append((self.place(at), self.slot(self.target(at))))
        return found

    def _comes_first(self, place: Label) -> bool:
        """Whether whoever reads the slot that is set at ``place`` has come by there."""
        return all(self.comes_by(at, place) for at in self._readers.get(self.target(place), ()))

    def varying(self, number: int | None, arguments: bool = False) -> set[Thing]:
        """The slots and places of which it may depend on what is read in the component of this ``number`` what they
        hold, and whether a round comes there; None: in all of the function, or on its ``arguments``."""
        key = number, arguments
        if key not in self._varying:
            region = range(len(self.code)) if number is None else self.together[number]
            starts = [self.slot(self.target(place)) for place in region if self._brings(place)]
            if arguments:
                starts += map(self.slot, self.function.parameters)
            self._varying[key] = reached_by(self.determined, starts)
        return self._varying[key]

    def _brings(self, place: Label) -> bool:
        """Whether a slot gets something at ``place`` that is not computed of other slots."""
        match self.code[place]:
            case Global(_, name) | Local(_, name):
                return name not in self.steady
            case Load(_, pointer):
                return not self.objects(pointer) <= self.steady
            case String() | Offset() | Stride() | Difference():
                return False
            case Call(target, function):
                return target is not None and function not in CLOCKS
            case each:
                return getattr(each, "target", None) is not None and not isinstance(each, COMPUTES)

    @cached_property
    def counting(self) -> frozenset[Label]:
        """The places that give slots values that depend on nothing but how often loops have gone round: as with polls,
        nobody counts how often a rank has looked in vain. A variable that is set to a constant counts nothing."""
        return frozenset(
            place
            for slot, places in self._places.items()
            if self.function.slots[slot].name is None or slot in self.made_of_themselves
            for place in places
            if self.slot(slot) not in self.varying(*((self.component[place],) if self.repeats(place) else (None, True)))
        )

    @cached_property
    def made_of_themselves(self) -> set[Slot]:
        """The slots whose values are made of their own former values, or of those of such slots."""
        after: list[list[Slot]] = [[] for _ in self.function.slots]
        for target, source in self.sources:
            after[source].append(target)
        sizes = Counter(found := components(after))
        themselves = (slot for slot, targets in enumerate(after) if sizes[found[slot]] > 1 or slot in targets)
        return reached(themselves, after.__getitem__)

    def pointed(self, call: Call) -> list[Slot]:
        """The arguments that are pointers."""
        return [slot for slot, type in zip(call.arguments, call.types, strict=False) if isinstance(type, Pointer)]

    def objects(self, pointer: Slot) -> set[str]:
        """The objects that ``pointer`` may point into; none for a literal."""
        found, slots = set[str](), [pointer]
        for slot in slots:
            defining = [self.code[place] for place in self.defining({slot})]
            if not defining or slot in self.function.parameters:
                found.add(ANY)
            for each in defining:
                match each:
                    case Global(_, name) | Local(_, name):
                        found.add(ANY if name in self.aliased else name)
                    case String():
                        pass
                    case Offset(_, inner) | Stride(_, inner):
                        slots += [inner] if inner not in slots else []
                    case Call() if not self.called(each):  # it may be one of the arguments
                        found.add(ANY)
                        slots += [source for source in each.arguments if source not in slots]
                    case _ if isinstance(each, COMPUTES):
                        slots += [source for source in reads(each) if source not in slots]
                    case _:
                        found.add(ANY)
        return found

    def called(self, instruction: Instruction) -> Collection[int]:
        """The functions with code that ``instruction`` may call."""
        if not isinstance(instruction, Call):
            return ()
        if not isinstance(instruction.function, str):
            return self._numbers.values()
        return [self._numbers[instruction.function]] if instruction.function in self._numbers else ()

    def exposed(self) -> set[str]:
        """The objects whose addresses the function stores, returns, or gives to one that has code or may store them."""
        found = set[str]()
        for each in self.code:
            match each:
                case Store(_, source):
                    found |= self.objects(source)
                case Return(source) if source is not None:
                    found |= self.objects(source)
                case Call() if self.called(each) or any(_leads_to_pointer(type) for type in each.types):
                    found |= set[str]().union(*map(self.objects, each.arguments))
        return found

    def given_at(self, call: Call) -> set[str]:
        """The objects to which arguments of ``call`` point."""
        return set[str]().union(*map(self.objects, self.pointed(call)))

    def set_at(self, place: Label) -> set[str]:
        """The objects that are set at ``place`` by the function itself, or by one without code."""
        match self.code[place]:
            case Store(pointer) | Copy(pointer) | Clear(pointer):
                return self.objects(pointer)
            case Call(_, str(name)) as call if name not in self._numbers:
                pointers, at = self.pointed(call), brought_by(name)
                stored = pointers[: self.others.stores(name)] if at is None else pointers[at : at + 1]
                return set[str]().union(*map(self.objects, stored))
            case Call(_, int()) as call:
                return self.given_at(call)
        return set()

    def slot(self, slot: Slot) -> Thing:
        return "slot", self.number, slot

    def place(self, place: Label) -> Thing:
        return "place", self.number, place

    def edges(self, others: Sequence[DataFlow]) -> Iterator[tuple[Thing, Thing]]:
        """Things, each with one that it depends on."""
        yield from ((self.slot(target), self.slot(source)) for target, source in self.sources)
        # How often a loop goes round decides what it counts, which nobody asks for.
        for at, branches in enumerate(self.deciding):
            yield from ((self.place(at), self.place(each)) for each in branches if at not in self.counting)
        for place, each in enumerate(self.code):
            here, target = self.place(place), getattr(each, "target", None)
            if target is not None:
                yield self.slot(target), here
            yield here, ("function", self.number, 0)
            for name in self.set_at(place):
                yield name, here
                yield from ((name, self.slot(source)) for source in reads(each))
            match each:
                case Branch(condition):
                    yield here, self.slot(condition)
                case Load(_, pointer):
                    assert target is not None
                    yield self.slot(target), self.slot(pointer)
                    yield from ((self.slot(target), name) for name in self.objects(pointer))
                case Copy(pointer, source):
                    yield from _pairs(self.objects(pointer), self.objects(source))
                case Call():
                    yield from self._call(place, each, others)

    def _call(self, place: Label, call: Call, others: Sequence[DataFlow]) -> Iterator[tuple[Thing, Thing]]:
        objects = self.given_at(call)
        yield from _pairs(self.set_at(place), objects)
        if not isinstance(call.function, str):
            yield self.place(place), self.slot(call.function)
        for other in (others[number] for number in self.called(call)):
            yield ("function", other.number, 0), self.place(place)
            for parameter, argument in zip(other.function.parameters, call.arguments, strict=False):
                yield other.slot(parameter), self.slot(argument)
            for end, each in enumerate(other.code):
                if isinstance(each, Return) and call.target is not None:
                    yield self.slot(call.target), other.place(end)
                    yield from ((self.slot(call.target), other.slot(source)) for source in reads(each))
        if call.target is not None and not self.called(call):
            yield from ((self.slot(call.target), self.slot(argument)) for argument in call.arguments)
            yield from ((self.slot(call.target), name) for name in objects)


def _leads_to_pointer(type: CType) -> bool:
    return isinstance(type, Pointer) and isinstance(type.to, Pointer)


def _pairs(targets: Iterable[Node], sources: Collection[Node]) -> Iterator[tuple[Node, Node]]:
    return ((target, source) for target in targets for source in sources)
