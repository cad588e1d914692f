"""A compiled C program, and what is known of its functions before it is executed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pgasrob.frontends.apis.interface import Api, Handler
from pgasrob.frontends.c.code import Call, CompiledFunction, Jump, Label, Unit
from pgasrob.frontends.c.counted_loops import CountedLoop, counted_loop
from pgasrob.frontends.c.data_flow import WithoutCode
from pgasrob.frontends.c.displayed_values import DisplayedValues
from pgasrob.frontends.c.known_loops import KnownLoop, translated
from pgasrob.frontends.c.liveness import Looked, live_slots, looked_at, successors
from pgasrob.frontends.c.needed import needed_slots
from pgasrob.frontends.c.shown_values import shown
from pgasrob.frontends.options import NO_SHARED_MEMORY
from pgasrob.program.shown_places import Shown

ATOMIC = ("__sync_", "__atomic_", "atomic_")
SYMMETRIC = ("shmem", "pshmem")
"""How functions begin that access cells by what their arguments point to, unless they get something."""
LIBRARY = "C"
"""The name of the API that the library of C is."""
MANY = 100
"""More than functions have arguments."""


@dataclass
class Compiled:
    """The code of a program named ``name``, the APIs that it calls in their ``dialects``, and what it is lowered with:
    the functions that are assumed to be ``pure``, which ranks share memory, the ``arguments`` that it is started with,
    None where nobody gave any, whether its commands tell what it shows, and whether its calls are ``strict`` (as of
    :class:`~pgasrob.frontends.apis.interface.Call`). What is found of functions is kept for all
    numbers of nodes that the program is lowered for."""

    unit: Unit
    apis: Sequence[Api]
    name: str
    dialects: frozenset[str] = frozenset()
    pure: frozenset[str] = frozenset()
    shared_memory: str = NO_SHARED_MEMORY
    arguments: tuple[str, ...] | None = None
    tells: bool = False
    strict: bool = False
    _handlers: dict[str, Handler | None] = field(default_factory=dict, init=False, repr=False)
    _live: dict[str, list[int]] = field(default_factory=dict, init=False, repr=False)
    _looked: dict[str, Looked] = field(default_factory=dict, init=False, repr=False)
    _names: dict[str, list[str]] = field(default_factory=dict, init=False, repr=False)
    _loop_ends: dict[str, dict[int, int]] = field(default_factory=dict, init=False, repr=False)
    _known_loops: dict[tuple[str, Label], KnownLoop | None] = field(default_factory=dict, init=False, repr=False)

    _counted_loops: dict[tuple[str, Label], CountedLoop | None] = field(default_factory=dict, init=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        # Loops that are translated to Python cannot be pickled; they are found again.
        given = self.unit, self.apis, self.name, self.dialects, self.pure, self.shared_memory
        return Compiled, (*given, self.arguments, self.tells, self.strict)

    @property
    def given_arguments(self) -> tuple[str, ...]:
        """The arguments as a shell reads them, in one text; nothing where nobody gave any."""
        return () if self.arguments is None else (shlex.join(self.arguments),)

    def handler(self, name: str) -> Handler | None:
        """What the first API that knows the function ``name`` does at a call of it."""
        if name not in self._handlers:
            found = (api.handler(name) for api in self.apis)
            self._handlers[name] = next((each for each in found if each is not None), None)
        return self._handlers[name]

    def is_of_library(self, name: str) -> bool:
        """Whether it is a function of the library of C."""
        return next((api.name for api in self.apis if api.handler(name) is not None), "") == LIBRARY

    def is_output(self, name: str) -> bool:
        """Whether a call of the function does nothing with its arguments, so that they need not be chosen for it."""
        return _is_output(self.apis, name)

    @property
    def shown(self) -> Shown | None:
        """Where the program shows something, and whatever of that it does not display by commands."""
        return self._shown_and_displayed[0]

    @property
    def displayed(self) -> DisplayedValues:
        """What the program displays by commands."""
        return self._shown_and_displayed[1]

    @cached_property
    def _shown_and_displayed(self) -> tuple[Shown | None, DisplayedValues]:
        return shown(self.unit, _without_code(self.apis), self.tells)

    def live_slots(self, function: CompiledFunction) -> list[int]:
        """The live slots at every place of ``function`` and at its end, as the bits of an integer."""
        found = self._live.get(function.name)
        if found is None:
            sets = live_slots(function)
            displayed = self.displayed.slots(function.name) if self.tells else ()
            counts = needed_slots(function, self.is_output, displayed)
            found = self._live[function.name] = [*(sum(1 << slot for slot in each & counts) for each in sets), 0]
        return found

    def looked_at(self, function: CompiledFunction) -> Looked:
        """The slots of ``function`` at whose values it looks, at every place and at its end."""
        found = self._looked.get(function.name)
        if found is None:
            found = self._looked[function.name] = looked_at(function, self.is_output)
        return found

    def has_calls_from(self, function: CompiledFunction, place: int) -> bool:
        """Whether there is a call from ``place`` on in the text of ``function``."""
        return any(isinstance(each, Call) for each in function.code[place:])

    def loops(self, function: CompiledFunction) -> dict[int, int]:
        """Where the loops of ``function`` begin, each with the last place from which it goes back there."""
        found = self._loop_ends.get(function.name)
        if found is None:
            found = self._loop_ends[function.name] = {}
            for place in range(len(function.code)):
                found.update((to, place) for to in successors(function.code, place) if to <= place)
        return found

    def known_loop(self, function: CompiledFunction, head: Label) -> KnownLoop | None:
        """The loop that begins at ``head`` as a function of Python, if it can be one."""
        key = function.name, head
        if key not in self._known_loops:
            self._known_loops[key] = translated(function, head)
        return self._known_loops[key]

    def counted_loop(self, function: CompiledFunction, head: Label) -> CountedLoop | None:
        """The loop that begins at ``head``, if it is certain how often it is passed."""
        key = function.name, head
        if key not in self._counted_loops:
            end = self.loops(function).get(head)
            if end is None or not isinstance(function.code[end], Jump):
                self._counted_loops[key] = None
            else:
                self._counted_loops[key] = counted_loop(function, head, end, self.unit.functions)
        return self._counted_loops[key]

    @cached_property
    def named(self) -> frozenset[str]:
        """The names of the registers of all variables of the source."""
        return frozenset(
            name
            for function in self.unit.functions.values()
            for variable, name in zip(function.slots, self.slot_names(function), strict=True)
            if variable.name is not None
        )

    def slot_names(self, function: CompiledFunction) -> list[str]:
        """The names of the registers for the slots of ``function``: `x` in main, elsewhere `f.x`."""
        names = self._names.get(function.name)
        if names is None:
            names = self._names[function.name] = []
            prefix = "" if function.name == "main" else f"{function.name}."
            taken: set[str] = set()
            for slot, variable in enumerate(function.slots):
                name = prefix + (f"t{slot}" if variable.name is None else variable.name)
                names.append(f"{name}_{slot}" if name in taken else name)
                taken.add(names[-1])
        return names


def _is_output(apis: Sequence[Api], name: str) -> bool:
    return any(name in api.output for api in apis)


def _without_code(apis: Sequence[Api]) -> WithoutCode:
    """What is known of the functions of ``apis``."""

    def shows(name: str) -> bool:
        return any(name in api.shows or (name in api.output and name not in api.idle) for api in apis)

    def stores(name: str) -> int:
        if _is_output(apis, name):
            return 0
        if name.startswith(ATOMIC):
            return 0 if "load" in name else 1
        if name.startswith(SYMMETRIC):
            return 1 if "get" in name else MANY if "some" in name else 0
        return MANY

    def accesses(name: str) -> bool:
        return name.startswith(ATOMIC) or LIBRARY not in (api.name for api in apis if api.handler(name) is not None)

    return WithoutCode(shows, stores, accesses)
