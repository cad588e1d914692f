"""What a C program shows: output, what main returns, and what is computed, or decided, for these alone.

None of this is a command of the calculus. `proofs/polling.md`, section 5, has what it is for.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from pgasrob.frontends.c.code import MAIN, Call, Global, Label, Local, Return, Set, Unit
from pgasrob.frontends.c.control_flow import ENDS
from pgasrob.frontends.c.data_flow import ANY, ERRNO, DataFlow, Thing, WithoutCode
from pgasrob.frontends.c.displayed_values import DisplayedValues, displayed_values
from pgasrob.frontends.c.kept_values import Kept
from pgasrob.frontends.c.liveness import reads
from pgasrob.frontends.c.promoted_objects import promoted
from pgasrob.frontends.c.types import Array, Struct
from pgasrob.frontends.c.values import Address, Code, ObjectId
from pgasrob.program.graphs import reached_by
from pgasrob.program.shown_places import Shown, ShownIn


def shown(unit: Unit, others: WithoutCode, tells: bool = False) -> tuple[Shown | None, DisplayedValues]:
    """Where the functions of ``unit`` show something, of which ``others`` has those that have no code; None: nowhere in
    them. With ``tells`` also what of it is displayed by commands, which is not shown otherwise then."""
    found = _Program(unit, others)
    if tells:
        found.tell()
    return Shown(lambda: tuple(map(found.shown_in, found.flows))) if any(found.places) else None, found.displayed


class _Program:
    """``places``: for each function where it shows something, and main's returns; ``output``: those of them of which
    what they show is not ``displayed``."""

    def __init__(self, unit: Unit, others: WithoutCode) -> None:
        functions = unit.functions
        scalars = {name for name, each in unit.objects.items() if not isinstance(each.type, Array | Struct)}
        initial = [value for each in unit.objects.values() for _, value, _ in each.initial]
        exposed = {str(name) for each in initial if isinstance(each, Address) for name in _names(each.object)}
        ordered = [functions[MAIN], *(each for name, each in functions.items() if name != MAIN)]
        ordered = promoted(ordered, scalars - exposed - {"errno"})
        numbers = {each.name: number for number, each in enumerate(ordered)}
        self.flows = [DataFlow(each, number, numbers, others) for number, each in enumerate(ordered)]
        values = [each.value for flow in self.flows for each in flow.code if isinstance(each, Set)]
        pointed = {each.name for each in (*initial, *values) if isinstance(each, Code)}
        # A function that is called behind main, by atexit.
        self._goes_on = bool(pointed)
        by_pointer = any(name not in numbers and _is_shown(name, others) for name in pointed)
        self.places = [{*_output(flow, by_pointer)} for flow in self.flows]
        self.output, self.displayed = [*self.places], DisplayedValues()
        exposed.update(*(flow.exposed() for flow in self.flows))
        for flow in self.flows:
            flow.aliased = frozenset(exposed)
        steady = frozenset(self._set_once())
        for flow in self.flows:
            flow.steady = steady

    def tell(self) -> None:
        """Display what can be, unless functions are called of which it is not known where."""
        if not self._goes_on:
            kept = {flow.number: Kept(flow, (), (), self._goes_on) for flow in self.flows}
            self.displayed = displayed_values(
                self.flows, self.places, lambda flow, place: kept[flow.number].answers(place)
            )
            self.output = [
                {place for place in places if (flow.function.name, place) not in self.displayed.at}
                for flow, places in zip(self.flows, self.places, strict=True)
            ]

    @cached_property
    def _showing(self) -> set[int]:
        """The functions that show something, or call one that does."""
        calls = [(called, flow.number) for flow in self.flows for each in flow.code for called in flow.called(each)]
        return reached_by(calls, (number for number, found in enumerate(self.output) if found))

    @cached_property
    def _given(self) -> set[Thing]:
        """What is shown, and all that this depends on."""
        return reached_by((edge for flow in self.flows for edge in flow.edges(self.flows)), self._starts())

    def _shows(self, flow: DataFlow) -> set[Label]:
        """Where ``flow`` shows something, or calls a function that does."""
        calling = {place for place, each in enumerate(flow.code) if self._showing.intersection(flow.called(each))}
        return self.output[flow.number] | calling

    def _starts(self) -> Iterator[Thing]:
        for flow in self.flows:
            for (name, _), slots in self.displayed.left.items():
                yield from map(flow.slot, slots if name == flow.function.name else ())
            for place in self._shows(flow):
                yield flow.place(place)
            for place in self.output[flow.number]:
                instruction = flow.code[place]
                yield from map(flow.slot, reads(instruction))
                if isinstance(instruction, Call):
                    yield from flow.given_at(instruction)
                    if instruction.function in ERRNO:
                        yield from ("errno", ANY)
            for each in flow.code:
                for other in self._showing.intersection(flow.called(each)):
                    assert isinstance(each, Call)
                    more = each.arguments[len(self.flows[other].function.parameters) :]
                    yield from map(flow.slot, more)
                    yield from set[str]().union(*map(flow.objects, more))

    def _set_once(self) -> Iterator[str]:
        """The objects that main sets at the beginning, if anybody does."""
        changed = {ANY, *self.flows[0].aliased}
        for flow in self.flows:
            for place, each in enumerate(flow.code):
                if flow.number or flow.repeats(place):
                    changed |= flow.set_at(place)
                if isinstance(each, Call) and place not in self.places[flow.number]:
                    changed |= flow.given_at(each)  # where others may access it
        for flow in self.flows:
            for each in flow.code:
                if isinstance(each, Global | Local) and each.name not in changed:
                    yield each.name

    def shown_in(self, flow: DataFlow) -> ShownIn:
        """Where it shows something, or gives a value to a slot or to an object that is shown."""
        given = {slot for slot in range(len(flow.function.slots)) if flow.slot(slot) in self._given}
        objects = {each for each in self._given if isinstance(each, str)}
        output = {place for place in self.places[flow.number] if not isinstance(flow.code[place], Return)}
        defining = {*flow.defining(given)} - flow.counting
        setting = {place for place in range(len(flow.code)) if objects & flow.set_at(place)}
        kept = Kept(flow, given, objects, self._goes_on)
        return ShownIn(
            tuple(flow.after),
            tuple(flow.function.spans),
            tuple(frozenset(flow.called(each)) for each in flow.code),
            frozenset(output),
            frozenset(output | defining | setting),
            kept.at(defining, setting, self._shows(flow)),
            kept.live,
        )


def _names(id: ObjectId) -> tuple[int | str, ...]:
    return id.number if isinstance(id.number, tuple) else ()


def _is_shown(name: str, others: WithoutCode) -> bool:
    return others.shows(name) or name in ENDS


def _output(flow: DataFlow, by_pointer: bool) -> Iterator[Label]:
    for place, each in enumerate(flow.code):
        if isinstance(each, Call):
            name = each.function
            if _is_shown(name, flow.others) if isinstance(name, str) else by_pointer:
                yield place
        elif isinstance(each, Return) and flow.function.name == MAIN:
            yield place
