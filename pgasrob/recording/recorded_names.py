"""What the memory of a recorded run is called: as its variables in the source, where debug information has them."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Hashable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from pgasrob.runtime.record.records import FRAME, Memory, Module, Place, Region
from pgasrob.runtime.record.trace_appendix import Appendix
from pgasrob.runtime.record.traced_variables import Element, Variable

WINDOW = 3
"""The kind of a region that is a window."""


class Called(NamedTuple):
    """The name of a cell, and of what kind its first ``bytes`` are: these are its value."""

    name: str
    bytes: int
    kind: str


class _Known(NamedTuple):
    """What lies at an address: a variable, or memory with elements of a ``type``. ``offset``: how far behind its
    beginning; ``whole``: its bytes; ``of``: which one it is, whatever its name."""

    name: str
    offset: int
    type: int
    whole: int
    pointed_to: bool
    of: Hashable


class Names:
    """Names of memory. What is noted of memory of a rank replaces what was noted of the same addresses before."""

    def __init__(self, appendix: Appendix, ranks: int) -> None:
        self._variables, self._appendix = appendix.variables, appendix
        self._symbols: dict[int, list[tuple[int, int, str]]] = {}
        for module, offset, size, name in sorted(appendix.symbols):
            self._symbols.setdefault(module, []).append((offset, size, name))
        self._noted: list[list[tuple[int, Memory]]] = [[] for _ in range(ranks)]
        self._taken: dict[tuple[str, bool], list[Hashable]] = {}
        self._windows: dict[int, tuple[int, Place]] = {}
        self._elements: dict[Hashable, tuple[int, str]] = {}

    def note(self, rank: int, memory: Memory) -> None:
        """A block or a frame of a rank."""
        of = self._noted[rank]
        end = bisect_right(of, memory.address + memory.bytes - 1, key=itemgetter(0))
        begin = end
        while begin and of[begin - 1][1].address + of[begin - 1][1].bytes > memory.address:
            begin -= 1
        of[begin:end] = []
        insort(of, (memory.address, memory), key=itemgetter(0))

    def note_window(self, identity: int, place: Place) -> None:
        """The call that made a window."""
        self._windows.setdefault(identity, (len(self._windows) + 1, place))

    def note_elements(self, of: Hashable, size: int, type: str) -> None:
        """A call has accessed memory as elements of so many bytes and of that C or MPI type."""
        word = type.lower()
        floating = any(each in word for each in ("float", "double", "real")) and "complex" not in word
        unsigned = "unsigned" in word or "uint" in word or "size" in word
        kind = "float" if floating else "unsigned" if unsigned else "signed"
        self._elements.setdefault(of, (size, kind if size <= 8 else "unknown"))

    def of_region(self, rank: int, region: Region, offset: int, modules: Mapping[int, Module], size: int) -> Called:
        """The name of so many bytes in a region of a ``rank``, which is symmetric or a window."""
        kind = region.kind
        found = self.at(rank, region.address + offset, modules)
        made = self._variables.allocations.get(region.place)
        if found is None and made is not None and made.memory:
            found = _Known(made.memory, offset, made.type, region.bytes, True, (kind, region.identity))
        if found is None:
            name = f"block {region.identity + 1}"
            if kind == WINDOW:
                number, place = self._windows.get(region.identity, (0, Place(0, 0)))
                window = self._variables.allocations.get(place)
                name = window.window if window is not None and window.window else f"window {number}"
            found = _Known(name, offset, 0, 0, True, (kind, region.identity))
        return self._called(found, size)

    def at(self, rank: int, address: int, modules: Mapping[int, Module]) -> _Known | None:
        """What is known of an address of a rank."""
        for number, module in modules.items():
            if module.base <= address < module.base + module.bytes:
                return self._static(number, address - module.base)
        of = self._noted[rank]
        at = bisect_right(of, address, key=itemgetter(0)) - 1
        if at < 0 or address >= of[at][0] + of[at][1].bytes:
            return None
        memory = of[at][1]
        if memory.how == FRAME:
            below = address - memory.address - memory.bytes
            variable = self._within(self._variables.frames.get(memory.place, ()), below)
            if variable is None:
                return None
            function = self._appendix.sites.get(memory.place, ("", 0, ""))[2]
            return _Known(variable.name, below - variable.offset, variable.type, 0, False, (function, variable))
        made = self._variables.allocations.get(memory.place)
        if made is None or not made.memory:
            return None
        return _Known(made.memory, address - memory.address, made.type, memory.bytes, True, memory.place)

    def private(self, rank: int, address: int, modules: Mapping[int, Module], size: int, start: int) -> Called:
        """The name of memory of a rank that is in no region; ``start``: where the operation's buffer begins."""
        found = self.at(rank, address, modules)
        return self._called(found or _Known("buffer", address - start, 0, 0, False, ("buffer", rank, start)), size)

    def static(self, module: int, offset: int, size: int) -> Called:
        """The name of static data of a module."""
        return self._called(
            self._static(module, offset) or _Known("static data", 0, 0, 0, False, (module, offset)), size
        )

    def _within(self, variables: Sequence[Variable], offset: int) -> Variable | None:
        for each in variables:
            if each.offset <= offset < each.offset + max(1, self._variables.size(each.type)):
                return each
        return None

    def _static(self, module: int, offset: int) -> _Known | None:
        known = self._variables.statics.get(module, ())
        at = bisect_right(known, offset, key=lambda each: each.offset) - 1
        if at >= 0 and (found := self._within([known[at]], offset)) is not None:
            return _Known(found.name, offset - found.offset, found.type, 0, False, (module, found.offset))
        symbols = self._symbols.get(module, ())
        at = bisect_right(symbols, offset, key=itemgetter(0)) - 1
        if at >= 0 and offset < symbols[at][0] + symbols[at][1]:
            first, size, name = symbols[at]
            return _Known(name, offset - first, 0, size, False, (module, first))
        return None

    def _called(self, known: _Known, size: int) -> Called:
        base = self._distinct(known)
        whole = self._variables.size(known.type)
        if not known.pointed_to and whole:
            element = self._variables.element(known.type, known.offset)
            return self._named(base, element, size)
        if not whole:  # an element is what is accessed
            each, kind = self._elements.get(known.of, (size, "unknown"))
            read = Called("", each, kind) if each <= size else Called("", min(size, 8), "unknown")
            if known.offset == 0 and (known.whole == each or not (known.whole or known.pointed_to)):
                return read._replace(name=f"*{base}" if known.pointed_to else base)
            number, further = divmod(known.offset, each or 1)
            return read._replace(name=f"{base} (byte {known.offset})" if further else f"{base}[{number}]")
        number, offset = divmod(known.offset, whole)
        element = self._variables.element(known.type, offset)
        if known.whole == whole:
            member = element.path.startswith(".")
            base = f"{base}->{element.path[1:]}" if member else f"*{base}{element.path}"
            return self._named(base, element._replace(path=""), size)
        return self._named(f"{base}[{number}]", element, size)

    def _named(self, base: str, element: Element, size: int) -> Called:
        name, left = f"{base}{element.path}", element.bytes - element.further
        if element.further:
            return Called(
                f"{name} (byte {element.further})", min(size, left, 8) if left > 0 else min(size, 8), "unknown"
            )
        if size < element.bytes or not element.bytes:
            return Called(name, min(size, 8), "unknown")
        return Called(name, min(element.bytes, 8), element.kind)

    def _distinct(self, known: _Known) -> str:
        """The name, with a number where another object has it, too. What a pointer points to has the name of the
        pointer, and something behind it."""
        taken = self._taken.setdefault((known.name, known.pointed_to), [])
        if known.of not in taken:
            taken.append(known.of)
        number = taken.index(known.of) + 1
        return known.name if number == 1 else f"{known.name} ({number})"
