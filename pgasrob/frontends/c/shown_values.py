"""What a C program shows: output, what main returns, and what is computed, or decided, for these alone.

None of this is a command of the calculus. `proofs/polling.md`, section 5, has what it is for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pgasrob.frontends.c.code import MAIN, Call, CompiledFunction, Global, Label, Local, Return, Set
from pgasrob.frontends.c.data_flow import ANY, ENDS, DataFlow, Thing
from pgasrob.frontends.c.kept_values import Kept
from pgasrob.frontends.c.liveness import reads
from pgasrob.frontends.c.values import Code
from pgasrob.program.graphs import reached_by
from pgasrob.program.shown_places import Shown, ShownIn


def shown(
    functions: Mapping[str, CompiledFunction], shows: Callable[[str], bool], stores: Callable[[str], int]
) -> Shown | None:
    """Where ``functions`` show something, those that have no code by the names for which ``shows`` holds; None: nowhere
    in them. ``stores``: by how many of their first arguments that are pointers they may set something."""
    found = _Program(functions, lambda name: shows(name) or name in ENDS, stores)
    return Shown(tuple(map(found.shown_in, found.flows))) if any(found.output) else None


class _Program:
    """``output``: for each function the places where it shows something, and main's returns."""

    def __init__(
        self, functions: Mapping[str, CompiledFunction], shows: Callable[[str], bool], stores: Callable[[str], int]
    ) -> None:
        ordered = [functions[MAIN], *(each for name, each in functions.items() if name != MAIN)]
        numbers = {each.name: number for number, each in enumerate(ordered)}
        self.flows = [DataFlow(each, number, numbers, stores) for number, each in enumerate(ordered)]
        self.output = [{*_output(flow, shows)} for flow in self.flows]
        calls = [(called, flow.number) for flow in self.flows for each in flow.code for called in flow.called(each)]
        self._showing = reached_by(calls, (number for number, found in enumerate(self.output) if found))
        self._aliased = {ANY}.union(*(flow.aliased for flow in self.flows))
        self._steady = {*self._set_once()}
        # A function that is called behind main, by atexit.
        self._goes_on = any(
            isinstance(each, Set) and isinstance(each.value, Code) for flow in self.flows for each in flow.code
        )
        self._given = reached_by(self._edges(), self._starts())

    def _shows(self, flow: DataFlow) -> set[Label]:
        """Where ``flow`` shows something, or calls a function that does."""
        calling = {place for place, each in enumerate(flow.code) if self._showing.intersection(flow.called(each))}
        return self.output[flow.number] | calling

    def _starts(self) -> Iterator[Thing]:
        for flow in self.flows:
            for place in self._shows(flow):
                yield flow.place(place)
            for place in self.output[flow.number]:
                instruction = flow.code[place]
                yield from map(flow.slot, reads(instruction))
                if isinstance(instruction, Call):
                    for pointer in flow.pointed(instruction):
                        yield from flow.objects(pointer)

    def _set_once(self) -> Iterator[str]:
        """The objects that main sets at the beginning, if anybody does."""
        changed = set(self._aliased)
        for flow in self.flows:
            for place, each in enumerate(flow.code):
                if flow.number or flow.repeats(place):
                    changed |= flow.set_at(place)
                if isinstance(each, Call) and place not in self.output[flow.number]:
                    changed |= flow.given_at(each)  # where others may access it
        for flow in self.flows:
            for each in flow.code:
                if isinstance(each, Global | Local) and each.name not in changed:
                    yield each.name

    def _edges(self) -> Iterator[tuple[Thing, Thing]]:
        for flow in self.flows:
            yield from flow.edges(self.flows)
        for name in self._aliased:
            yield ANY, name
            yield name, ANY

    def shown_in(self, flow: DataFlow) -> ShownIn:
        """Where it shows something, or gives a value to a slot or to an object that is shown."""
        given = {slot for slot in range(len(flow.function.slots)) if flow.slot(slot) in self._given}
        objects = {each for each in self._given if isinstance(each, str)}
        output = {place for place in self.output[flow.number] if not isinstance(flow.code[place], Return)}
        defining = {*flow.defining(given)} - flow.counting
        setting = {place for place in range(len(flow.code)) if objects & flow.set_at(place)}
        kept = Kept(flow, given, objects, self._steady, self._goes_on)
        return ShownIn(
            tuple(flow.after),
            tuple(flow.function.spans),
            tuple(frozenset(flow.called(each)) for each in flow.code),
            frozenset(output | defining | setting),
            kept.at(defining, setting, self._shows(flow)),
            kept.live,
        )


def _output(flow: DataFlow, shows: Callable[[str], bool]) -> Iterator[Label]:
    for place, each in enumerate(flow.code):
        called = isinstance(each, Call) and isinstance(each.function, str) and shows(each.function)
        if called or (isinstance(each, Return) and flow.function.name == MAIN):
            yield place
