"""The code of the C front end run on bytes: slots hold integers, floats, or addresses in one flat memory.

For tests only, and as simple as can be: what it computes is compared with what gcc's programs print.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

from pgasrob.frontends.apis.interface import Api
from pgasrob.frontends.apis.registry import Registry
from pgasrob.frontends.c import code as c
from pgasrob.frontends.c.compiler import compile_unit
from pgasrob.frontends.c.layout import size_of
from pgasrob.frontends.c.types import CType, Floating, Integer
from pgasrob.frontends.c.values import Address, Code, Known, Undefined, Value
from pgasrob.program.expressions import float_value

_DECLARATIONS = {
    "printf": "int printf(const char *format, ...);",
    "malloc": "void *malloc(size_t bytes);",
    "free": "void free(void *pointer);",
    "exit": "void exit(int status);",
    "strlen": "size_t strlen(const char *text);",
    "memset": "void *memset(void *to, int byte, size_t bytes);",
    "memcpy": "void *memcpy(void *to, const void *from, size_t bytes);",
}
LIBC = Api("libc", (), {}, {}, lambda name, types: _DECLARATIONS.get(name), lambda name: None)
REGISTRY = Registry(lambda header: None, lambda: (LIBC,))


class Exit(Exception):
    pass


class Interpreter:
    def __init__(self, text: str) -> None:
        self.unit = compile_unit("test.c", text, REGISTRY)
        self.memory = bytearray(16)
        self.output: list[str] = []
        self.functions = list(self.unit.functions)
        self.strings: dict[str, int] = {}
        self.globals = {name: self.allocate(size_of(each.type)) for name, each in self.unit.objects.items()}
        self.steps = 0
        for name, each in self.unit.objects.items():
            for offset, value, type in each.initial:
                self.store(self.globals[name] + offset, self.number(value, None), type)

    def run(self) -> tuple[str, int]:
        """What the program prints, and what its `main` returns."""
        try:
            status = self.call("main", [])
        except Exit as exit:
            status = exit.args[0]
        return "".join(self.output), status & 255

    def allocate(self, bytes_: int) -> int:
        start = len(self.memory)
        self.memory.extend(bytes(-(-bytes_ // 16) * 16 + 16))
        return start

    def string(self, text: str) -> int:
        if text not in self.strings:
            at = self.strings[text] = self.allocate(len(text) + 1)
            self.memory[at : at + len(text) + 1] = text.encode("latin-1") + b"\0"
        return self.strings[text]

    def number(self, value: Value, type: CType | None) -> int | float:
        match value:
            case Known(number):
                return float_value(number) if isinstance(type, Floating) else number
            case Code(name):
                return -1 - self.functions.index(name)
            case Address(object, offset):
                assert isinstance(offset, int) and isinstance(object.number, tuple)
                name = str(object.number[0])
                return (self.globals[name] if object.kind == "global" else self.string(name)) + offset
            case Undefined():
                return 0
        raise AssertionError(value)

    def load(self, at: int, type: CType) -> int | float:
        size = size_of(type)
        assert 0 < at <= len(self.memory) - size, "wild pointer"
        data = bytes(self.memory[at : at + size])
        if isinstance(type, Floating):
            return float(struct.unpack("<f" if type.bits == 32 else "<d", data)[0])
        return int.from_bytes(data, "little", signed=not isinstance(type, Integer) or type.type.signed)

    def store(self, at: int, value: int | float, type: CType) -> None:
        size = size_of(type)
        assert 0 < at <= len(self.memory) - size, "wild pointer"
        if isinstance(type, Floating):
            value = float_value(value) if isinstance(value, int) else value
            data = struct.pack("<f" if type.bits == 32 else "<d", value)
        else:
            assert isinstance(value, int)
            data = (value & (1 << 8 * size) - 1).to_bytes(size, "little")
        self.memory[at : at + size] = data

    def call(self, name: str, arguments: list[int | float]) -> int | float:
        function = self.unit.functions[name]
        slots: list[int | float] = [0] * len(function.slots)
        for slot, value in zip(function.parameters, arguments, strict=False):
            slots[slot] = value
        objects = {name: self.allocate(size_of(each.type)) for name, each in function.objects.items()}
        at = 0
        while True:
            self.steps += 1
            assert self.steps < 1_000_000, "too many steps"
            instruction = function.code[at]
            at += 1
            match instruction:
                case c.Set(target, value, type):
                    slots[target] = self.number(value, type)
                case c.Move(target, source):
                    slots[target] = slots[source]
                case c.Convert(target, source, _, to):
                    slots[target] = _converted(slots[source], to)
                case c.Unary(target, "!", source):
                    slots[target] = int(not slots[source])
                case c.Unary(target, operator, source, type):
                    slots[target] = _converted(-slots[source] if operator == "-" else ~int(slots[source]), type)
                case c.Binary(target, operator, left, right, type):
                    slots[target] = _computed(operator, slots[left], slots[right], type)
                case c.Offset(target, pointer, index, size, constant):
                    count = constant if index is None else slots[index]
                    slots[target] = slots[pointer] + count * size
                case c.Stride(target, pointer, index, size, sign):
                    slots[target] = slots[pointer] + slots[index] * sign * slots[size]
                case c.Difference(target, left, right, size):
                    slots[target] = (int(slots[left]) - int(slots[right])) // size
                case c.Global(target, name):
                    slots[target] = self.globals[name]
                case c.Local(target, name):
                    slots[target] = objects[name]
                case c.String(target, text):
                    slots[target] = self.string(text)
                case c.Load(target, pointer, type):
                    slots[target] = self.load(int(slots[pointer]), type)
                case c.Store(pointer, source, type):
                    self.store(int(slots[pointer]), slots[source], type)
                case c.Copy(pointer, source, type):
                    to, start, size = int(slots[pointer]), int(slots[source]), size_of(type)
                    self.memory[to : to + size] = self.memory[start : start + size]
                case c.Clear(pointer, size):
                    self.memory[int(slots[pointer]) : int(slots[pointer]) + size] = bytes(size)
                case c.Jump(to):
                    at = to
                case c.Branch(condition, yes, no):
                    at = yes if slots[condition] else no
                case c.LoopHead() | c.Join():
                    pass
                case c.Call(target, called, given):
                    name = called if isinstance(called, str) else self.functions[-1 - int(slots[called])]
                    result = self.dispatch(name, [slots[each] for each in given])
                    if target is not None:
                        slots[target] = result
                case c.Leave(ended):
                    for name in ended:
                        size = size_of(function.objects[name].type)
                        self.memory[objects[name] : objects[name] + size] = b"\x5a" * size
                case c.Return(source):
                    return 0 if source is None else slots[source]

    def dispatch(self, name: str, arguments: list[int | float]) -> int | float:
        if name in self.unit.functions:
            return self.call(name, arguments)
        match name:
            case "printf":
                self.output.append(self.formatted(arguments))
            case "exit":
                raise Exit(arguments[0])
            case "assert":
                assert arguments[0], "the program's assertion"
            case "malloc" | "__alloca":
                return self.allocate(int(arguments[0]))
            case "strlen":
                return len(self.text(int(arguments[0])))
            case "memset":
                to, byte, size = (int(each) for each in arguments)
                self.memory[to : to + size] = bytes([byte & 255]) * size
                return to
            case "memcpy":
                to, start, size = (int(each) for each in arguments)
                self.memory[to : to + size] = self.memory[start : start + size]
                return to
        return 0

    def text(self, at: int) -> str:
        return self.memory[at : self.memory.index(0, at)].decode("latin-1")

    def formatted(self, arguments: list[int | float]) -> str:
        rest = iter(arguments[1:])

        def replaced(match: re.Match[str]) -> str:
            flags, length, kind = match.groups()
            if kind == "%":
                return "%"
            value = next(rest)
            if kind == "s":
                return f"%{flags}s" % self.text(int(value))
            if kind == "c":
                return chr(int(value) & 255)
            if kind in "uxXo":
                value = int(value) & (1 << (64 if length in ("l", "ll", "z") else 32)) - 1
                kind = "d" if kind == "u" else kind
            return f"%{flags}{kind}" % value

        return re.sub(r"%([-+0-9. #]*)(hh|h|ll|l|z|t)?([diuxXocsfgeE%])", replaced, self.text(int(arguments[0])))


def _scalar_at(type: CType, offset: int) -> CType:
    from pgasrob.frontends.c.types import Array, Struct

    while isinstance(type, Array | Struct):
        if isinstance(type, Array):
            type, offset = type.of, offset % size_of(type.of)
        else:
            field = next(each for each in reversed(type.fields) if each.offset <= offset)
            type, offset = field.type, offset - field.offset
    return type


def _converted(value: int | float, to: CType) -> int | float:
    if isinstance(to, Floating):
        return struct.unpack("<f", struct.pack("<f", value))[0] if to.bits == 32 else float(value)
    assert isinstance(to, Integer)
    return to.type.wrap(int(value))


_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "&": lambda a, b: a & b,
    "|": lambda a, b: a | b, "^": lambda a, b: a ^ b, "<<": lambda a, b: a << b, ">>": lambda a, b: a >> b,
    "<": lambda a, b: a < b, ">": lambda a, b: a > b, "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip


def _computed(operator: str, left: int | float, right: int | float, type: CType) -> int | float:
    if operator in ("<", ">", "<=", ">=", "==", "!="):
        return int(_OPERATORS[operator](left, right))  # type: ignore[arg-type]
    if isinstance(type, Floating):
        result = left / right if operator == "/" else _OPERATORS[operator](left, right)  # type: ignore[arg-type]
        return _converted(result, type)
    a, b = int(left), int(right)
    if operator in ("/", "%"):
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return _converted(quotient if operator == "/" else a - quotient * b, type)
    return _converted(_OPERATORS[operator](a, b), type)
