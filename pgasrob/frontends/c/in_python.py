"""The text of a loop of C as a Python function (:mod:`pgasrob.frontends.c.known_loops`)."""

from __future__ import annotations

from typing import Any

from pgasrob.frontends.c import code
from pgasrob.frontends.c.arithmetic import LONG, WORD
from pgasrob.frontends.c.code import CompiledFunction, Label, Slot
from pgasrob.frontends.c.contents import PAGE
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.liveness import live_slots, reads, successors
from pgasrob.frontends.c.types import CType, Floating, Integer, Pointer
from pgasrob.frontends.c.values import Known
from pgasrob.program.expressions import RELATIONS, IntType, float_value

DEEPEST = 40
"""Levels of Python's blocks."""


def kind_of(type: CType) -> str | None:
    """What turns a value of ``type`` into what the functions compute with."""
    match type:
        case Integer():
            return "number"
        case Floating():
            return "real"
        case Pointer():
            return "place"
    return None


class Writer:
    """The text of the function for one loop. The variable of slot 7 is `s7` for a number, `p7` and `o7` for the object
    and the offset of a pointer; `b` is where the run goes on next, `n` how many more heads of loops may be passed."""

    def __init__(self, function: CompiledFunction, head: Label, ranges: dict[Label, Label]) -> None:
        self.function = function
        self.code = function.code
        self.ranges = ranges
        self.head, self.end = head, ranges[head]
        self.live = [*live_slots(function), frozenset[Slot]()]
        self.lines: list[str] = []
        self.constants: dict[str, Any] = {}
        self.known: dict[Slot, str] = {}  # constants, in a block
        inside = range(head, self.end + 1)
        targets = [to for place in inside for to in successors(self.code, place) if to != place + 1]
        self.sources = {each: targets.count(each) for each in targets}
        branches = (code.Branch, code.Jump, code.Return)
        self.leaders = {head, *self.sources, *(place + 1 for place in inside if isinstance(self.code[place], branches))}
        self.assigned = {slot for place in inside if (slot := getattr(self.code[place], "target", None)) is not None}
        self.sites = [place for place in inside if isinstance(self.code[place], code.Load | code.Store)]

    def text(self) -> str:
        needed = self.live[self.head] & {slot for each in self.code[self.head : self.end + 1] for slot in reads(each)}
        self._line(0, "def run(memory, slots, n):")
        self._line(1, f"b = {self.head}")
        for slot in sorted(self.assigned - needed):
            if kind := self._kind(slot):
                self._line(1, f"p{slot} = o{slot} = None" if kind == "place" else f"s{slot} = None")
        for slot in sorted(needed):
            self._enter(slot)
        for site in self.sites:
            self._line(1, f"x{site} = None")
        for each in self.code[self.head : self.end + 1]:
            if isinstance(each, code.Global | code.Local | code.String):
                self._line(1, f"g{each.target} = None")
        for head in self.ranges:
            self._line(1, f"k{head} = 0")
        self._loop(self.head, 1)
        return "\n".join(self.lines) + "\n"

    def _line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def _kind(self, slot: Slot) -> str | None:
        return kind_of(self.function.slots[slot].type)

    def _enter(self, slot: Slot) -> None:
        """What is in a slot becomes a variable."""
        kind = self._kind(slot)
        if kind is None:
            self._line(1, "return None")
            return
        name = f"{'p' if kind == 'place' else 's'}{slot}"
        self._line(1, f"{name} = {kind}(slots[{slot}])")
        self._line(1, f"if {name} is None: return None")
        if kind == "place":
            self._line(1, f"o{slot} = {name}.offset; {name} = {name}.object")

    def _leave(self, depth: int, to: Label) -> None:
        """The variables that are still needed go back to their slots, and the machine goes on at ``to``."""
        for slot in sorted(self.assigned & self.live[min(to, len(self.code))]):
            match self._kind(slot):
                case "number":
                    self._line(depth, f"if s{slot} is not None: slots[{slot}] = Known(s{slot})")
                case "real":
                    self._line(depth, f"if s{slot} is not None: slots[{slot}] = Known(float_bits(s{slot}))")
                case "place":
                    self._line(depth, f"if p{slot} is not None: slots[{slot}] = Address(p{slot}, o{slot})")
        counts = "".join(f", k{head}" for head in [*self.ranges][1:])
        self._line(depth, f"return {to}, n{counts}")

    # Control

    def _loop(self, head: Label, depth: int) -> None:
        """The loop that begins at ``head``. Its blocks stand one below the other, each under the condition that it is
        the next one; going back begins anew at the top."""
        end = self.ranges[head]
        self._line(depth, "while True:")
        place, below = head, None
        while place <= end:
            if place != head and place in self.ranges:
                self._line(depth + 1, f"if {place} <= b <= {self.ranges[place]}:")
                self._loop(place, depth + 2)
                place, below = self.ranges[place] + 1, None
                continue
            if below is None:
                self._line(depth + 1, f"if b == {place}:")
            place, below = self._block(place, head, below or depth + 2)
        self._line(depth + 1, f"if not {head} <= b <= {end}: break")

    def _block(self, place: Label, head: Label, depth: int) -> tuple[Label, int | None]:
        """The block at ``place`` in the loop of ``head``: where the next one begins, and how deep it goes on there when
        that is the only way to it; else None."""
        self.known = {}
        while True:
            match self.code[place]:
                case code.Jump(to):
                    self._go(to, head, depth)
                    return place + 1, None
                case code.Branch(condition, yes, no) if self._kind(condition) == "number":
                    return self._branch(self._number(condition), place, yes, no, head, depth)
                case code.LoopHead():
                    self._line(depth, "if n <= 0:")
                    self._leave(depth + 1, place)
                    self._line(depth, f"n -= 1; k{place} += 1")
                case code.Join():
                    pass
                case instruction:
                    if not self._compute(place, instruction, depth):
                        self._leave(depth, place)
                        return next(after for after in range(place + 1, self.end + 2) if self._begins(after)), None
            place += 1
            if self._begins(place):
                self._go(place, head, depth)
                return place, None

    def _begins(self, place: Label) -> bool:
        return place in self.leaders or place > self.end

    def _branch(
        self, condition: str, place: Label, yes: Label, no: Label, head: Label, depth: int
    ) -> tuple[Label, int | None]:
        following = place + 1
        only = following not in self.sources and following not in self.ranges and following <= self.ranges[head]
        if only and depth < DEEPEST and (yes == following) != (no == following):
            self._line(depth, f"if not ({condition}):" if yes == following else f"if {condition}:")
            if self._go(no if yes == following else yes, head, depth + 1):
                return following, depth
            self._line(depth, "else:")
            return following, depth + 1
        self._line(depth, f"if {condition}:")
        self._go(yes, head, depth + 1)
        self._line(depth, "else:")
        self._go(no, head, depth + 1)
        return following, None

    def _go(self, to: Label, head: Label, depth: int) -> bool:
        """Go to ``to`` from a block of the loop of ``head``. Whether what stands below in the block is not run."""
        if not self.head <= to <= self.end:
            self._leave(depth, to)
        elif to == head:
            self._line(depth, f"b = {to}; continue")
        elif not head <= to <= self.ranges[head]:
            self._line(depth, f"b = {to}; break")
        else:
            self._line(depth, f"b = {to}")
            return False
        return True

    # Values

    def _number(self, slot: Slot) -> str:
        return self.known.get(slot, f"s{slot}")

    def _set(self, slot: Slot, value: str, depth: int) -> None:
        self.known.pop(slot, None)
        self._line(depth, f"s{slot} = {value}")

    def _constant(self, value: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return name

    def _compute(self, place: Label, instruction: code.Instruction, depth: int) -> bool:
        """An instruction that sets a slot or stores; False for one that only the machine can do."""
        match instruction:
            case code.Set(target, Known(value)) if self._kind(target) == "number":
                self._set(target, str(value), depth)
                self.known[target] = f"({value})"
            case code.Set(target, Known(value)) if self._kind(target) == "real":
                self._set(target, self._constant(float_value(value)), depth)
            case code.Move(target, source) if self._kind(target) == self._kind(source) is not None:
                self._move(target, source, depth)
            case code.Convert(target, source, of, to) if self._are(of, source) and self._are(to, target):
                return self._convert(place, instruction, depth)
            case code.Unary(target, _, source, type) if self._are(type, source) and self._kind(source) != "place":
                self._unary(instruction, depth)
            case code.Binary(_, _, left, right, type) if self._are(type, left, right) and self._kind(left) != "place":
                self._binary(place, instruction, depth)
            case code.Offset(target, pointer, index, size, by) if self._kind(target) == self._kind(pointer) == "place":
                if index is not None and self._kind(index) != "number":
                    return False
                moved = str(LONG.wrap(by) * size) if index is None else f"{self._index(index)} * {size}"
                self._line(depth, f"o{target} = o{pointer} + {moved}; p{target} = p{pointer}")
            case code.Difference(target, left, right, size) if (
                size and self._kind(left) == self._kind(right) == "place"
            ):
                self._unless(f"p{left} is p{right}", place, depth)
                self._set(target, f"(o{left} - o{right}) // {size}", depth)
            case code.Global(target) | code.Local(target) | code.String(target) if self._kind(target) == "place":
                found = f"address(memory, {self._constant(instruction)})"
                self._line(depth, f"if g{target} is None: g{target} = {found}")
                self._line(depth, f"p{target} = g{target}; o{target} = 0")
            case code.Leave(names):
                self._unless(f"ended(memory, {self._constant(names)})", place, depth)
                if self.sites:
                    self._line(depth, " = ".join([*(f"x{site}" for site in self.sites), "None"]))
            case code.Load(target, pointer, type) if self._kind(pointer) == "place" and self._are(type, target):
                self._load(place, instruction, depth)
            case code.Store(pointer, source, type) if self._kind(pointer) == "place" and self._are(type, source):
                return self._store(place, instruction, depth)
            case _:
                return False
        return True

    def _are(self, type: CType, *slots: Slot) -> bool:
        """Whether what is in ``slots`` is of the kind of ``type``, which can be computed with."""
        kind = kind_of(type)
        return kind is not None and all(self._kind(slot) == kind for slot in slots)

    def _move(self, target: Slot, source: Slot, depth: int) -> None:
        if self._kind(target) == "place":
            self._line(depth, f"p{target} = p{source}; o{target} = o{source}")
        else:
            self._set(target, self._number(source), depth)

    def _unless(self, condition: str, place: Label, depth: int) -> None:
        """The machine does the instruction at ``place`` when ``condition`` does not hold."""
        self._line(depth, f"if not ({condition}):")
        self._leave(depth + 1, place)

    def _index(self, slot: Slot) -> str:
        type, index = self.function.slots[slot].type, self._number(slot)
        assert isinstance(type, Integer)
        return index if type.type != WORD else f"({index} if {index} < {1 << 63} else {index} - {1 << 64})"

    def _wrap(self, slot: Slot, type: IntType, depth: int) -> None:
        """What has been computed into ``slot`` is brought into the range of ``type``."""
        low, high = type.range
        wrapped = f"s{slot} & {high}" if not type.signed else f"(s{slot} + {-low} & {high - low}) + {low}"
        self._line(depth, f"if not {low} <= s{slot} <= {high}: s{slot} = {wrapped}")

    def _convert(self, place: Label, convert: code.Convert, depth: int) -> bool:
        target, source = convert.target, convert.source
        value = self._number(source)
        match convert.of, convert.to:
            case Pointer(), Pointer():
                self._move(target, source, depth)
            case ((Integer() | Floating()), Integer(_, True)):
                self._set(target, f"1 if {value} else 0", depth)
            case Integer(narrow), Integer(wide):
                self._set(target, value, depth)
                if not (wide.range[0] <= narrow.range[0] and narrow.range[1] <= wide.range[1]):
                    self._wrap(target, wide, depth)
            case Floating(), Integer(type):
                self._checked(target, f"truncated({value}, {self._constant(type)})", place, depth)
            case Integer(), Floating(bits):
                self._set(target, f"single(float({value}))" if bits == 32 else f"float({value})", depth)
            case Floating() as of, Floating(bits) as to:
                self._set(target, f"single({value})" if bits == 32 and of != to else value, depth)
            case _:
                return False
        return True

    def _checked(self, target: Slot, value: str, place: Label, depth: int) -> None:
        """``value``, where C has one."""
        self._line(depth, f"t = {value}")
        self._unless("t is not None", place, depth)
        self._set(target, "t", depth)

    def _unary(self, unary: code.Unary, depth: int) -> None:
        value = self._number(unary.source)
        if unary.operator == "!":
            self._set(unary.target, f"0 if {value} else 1", depth)
            return
        self._set(unary.target, f"{unary.operator}{value}", depth)
        if isinstance(unary.type, Integer):
            self._wrap(unary.target, unary.type.type, depth)

    def _binary(self, place: Label, binary: code.Binary, depth: int) -> None:
        target, operator, type = binary.target, binary.operator, binary.type
        left, right = self._number(binary.left), self._number(binary.right)
        if operator in RELATIONS:
            self._set(target, f"1 if {left} {operator} {right} else 0", depth)
        elif isinstance(type, Floating):
            value = f"divided({left}, {right})" if operator == "/" else f"{left} {operator} {right}"
            self._set(target, f"single({value})" if type.bits == 32 else value, depth)
        elif isinstance(type, Integer) and operator in ("/", "%", "<<", ">>"):
            self._checked(target, f"computed({left}, {right}, {self._constant(type.type)}, '{operator}')", place, depth)
        elif isinstance(type, Integer):
            self._set(target, f"{left} {operator} {right}", depth)
            if operator in ("+", "-", "*"):
                self._wrap(target, type.type, depth)

    # Memory

    def _scalar(self, site: Label, pointer: Slot, type: CType, depth: int) -> None:
        """The row for the scalar at ``pointer``, which lies there and is no cell."""
        size, write = size_of(type), isinstance(self.code[site], code.Store)
        self._line(depth, f"if p{pointer} is not x{site}:")
        loads = [each for each in self.sites if isinstance(self.code[each], code.Load)]
        if write and loads:
            # What has been read so far may not be the contents that are changed now.
            self._line(depth + 1, " = ".join([*(f"x{each}" for each in loads), "None"]))
        found = f"scalars(memory, p{pointer}, o{pointer}, {self._constant(type)}, {write})"
        names = ", ".join(f"{each}{site}" for each in "rlahmwvu")
        self._line(depth + 1, f"{names} = {found}")
        self._line(depth + 1, f"x{site} = p{pointer}")
        inside = f"0 <= o{pointer} <= l{site}" + (f" and not o{pointer} & {size - 1}" if size > 1 else "")
        apart = f"(not h{site} or h{site}.isdisjoint(range(o{pointer}, o{pointer} + {size})))"
        self._unless(f"{inside} and {apart}", site, depth)
        self._line(depth, f"i = o{pointer} >> {size.bit_length() - 1}; a{site}[i] = 1")

    def _load(self, place: Label, load: code.Load, depth: int) -> None:
        target, pointer, type = load.target, load.pointer, load.type
        self._scalar(place, pointer, type, depth)
        if isinstance(type, Pointer):
            self._line(depth, f"t = pointer(m{place}, o{pointer})")
            self._unless("t is not None", place, depth)
            self._line(depth, f"p{target} = t.object; o{target} = t.offset")
            return
        self._line(depth, f"t = r{place}[i]")
        self._line(depth, "if t is None:")
        self._line(depth + 1, f"t = unset(m{place}, o{pointer}, {self._constant(type)})")
        self._unless("t is not None", place, depth + 1)
        if isinstance(type, Integer) and type.boolean:
            self._set(target, "1 if t else 0", depth)
            return
        self._set(target, "t", depth)
        if isinstance(type, Integer):
            self._wrap(target, type.type, depth)

    def _store(self, place: Label, store: code.Store, depth: int) -> bool:
        pointer, type = store.pointer, store.type
        if isinstance(type, Pointer):
            return False
        self._scalar(place, pointer, type, depth)
        alone = f"r{place}[i] is None and (v{place} or len(u{place}) > 1)"
        self._line(depth, f"if {alone}: m{place}.clear(o{pointer}, {size_of(type)})")
        self._line(depth, f"r{place}[i] = {self._number(store.source)}; w{place}[o{pointer} >> {PAGE}] = 1")
        return True
