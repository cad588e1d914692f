"""What memory held in the recorded run: byte by byte, in the order in which the recorded commands took effect.

Values are for people: no answer depends on them. What is not known, such as what a library wrote that is not recorded,
is said to be unknown.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from pgasrob.program import commands
from pgasrob.program.expressions import Expr, IntType, float_bits, float_value
from pgasrob.program.unknown_value import UNKNOWN, Unknown
from pgasrob.recording.events import Recorded, value_of
from pgasrob.stop_points import stop_point

PAGE = 4096
_FLOATING = ("float", "double", "real")
_READING = (commands.Load, commands.Await, commands.Fetch, commands.Barrier, commands.Bundle, commands.Fence)


class Real(int):
    """The bits of a double, which is computed with as a double, on either side of bits that have been computed."""

    def __add__(self, other: int) -> int:
        return Real(float_bits(float_value(self) + float_value(other)))

    def __mul__(self, other: int) -> int:
        return Real(float_bits(float_value(self) * float_value(other)))

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other: int) -> bool:
        return float_value(self) < float_value(other)

    def __gt__(self, other: int) -> bool:
        return float_value(self) > float_value(other)


def typed(raw: int, size: int, kind: str) -> int:
    """The value of so many bytes, which ``raw`` has as an unsigned number: of a "float" as the bits of a double, of an
    "unsigned" one as it is, of others with its sign."""
    if isinstance(raw, Unknown):
        return raw
    raw &= (1 << 8 * size) - 1
    if kind == "float" and size in (4, 8):
        number = struct.unpack("<f" if size == 4 else "<d", raw.to_bytes(size, "little"))[0]
        return Real(float_bits(number))
    if kind == "unsigned" or not size:
        return raw
    return IntType(8 * size, True).wrap(raw)


class Held:
    """What the memory of each rank holds, at addresses as those of `Lowering`; nothing is known in the beginning."""

    def __init__(self) -> None:
        self._pages: dict[tuple[int, int], tuple[bytearray, bytearray]] = {}

    def _parts(self, rank: int, address: int, size: int) -> Iterable[tuple[tuple[int, int], int, int, int]]:
        """Of each page its key, from where to where in it, and how far that is from the address."""
        done = 0
        while done < size:
            page, start = divmod(address + done, PAGE)
            end = min(PAGE, start + size - done)
            yield (rank, page), start, end, done
            done += end - start

    def write(self, rank: int, address: int, data: bytes) -> None:
        for key, start, end, done in self._parts(rank, address, len(data)):
            values, known = self._pages.setdefault(key, (bytearray(PAGE), bytearray(PAGE)))
            values[start:end] = data[done : done + end - start]
            known[start:end] = b"\1" * (end - start)

    def forget(self, rank: int, address: int, size: int) -> None:
        for key, start, end, _ in self._parts(rank, address, size):
            if key in self._pages:
                self._pages[key][1][start:end] = bytes(end - start)

    def read(self, rank: int, address: int, size: int) -> bytes | None:
        """None where a byte of it is not known."""
        found = b""
        for key, start, end, _ in self._parts(rank, address, size):
            values, known = self._pages.get(key, (b"", b""))
            if not known or not all(known[start:end]):
                return None
            found += values[start:end]
        return found

    def agrees(self, rank: int, address: int, data: bytes) -> bool:
        """Whether ``data`` is no other than what is known."""
        for key, start, end, done in self._parts(rank, address, len(data)):
            values, known = self._pages.get(key, (b"", b""))
            if not known:
                continue
            for place in range(start, end):
                if known[place] and values[place] != data[done + place - start]:
                    return False
        return True

    def number(self, rank: int, address: int, size: int) -> int:
        found = self.read(rank, address, size)
        return UNKNOWN if found is None else int.from_bytes(found, "little")

    def _put(self, rank: int, address: int, size: int, value: int) -> None:
        if isinstance(value, Unknown):
            self.forget(rank, address, size)
        else:
            self.write(rank, address, (value & (1 << 8 * size) - 1).to_bytes(size, "little"))

    def _copy(self, source: tuple[int, int], target: tuple[int, int], size: int) -> None:
        found = self.read(*source, size)
        if found is None:
            self.forget(*target, size)
        else:
            self.write(*target, found)

    # Commands

    def go_on(self, events: Sequence[Recorded]) -> None:
        """What the ``events``, whose addresses count bytes, do to the memory."""
        for event in events:
            if isinstance(event.command, _READING):
                continue
            stop_point()
            self._do(event)

    def _do(self, event: Recorded) -> None:
        rank, command, sizes = event.rank, event.command, event.sizes
        match command:
            case commands.Store(address, value, to):
                owner = rank if to is None else value_of(to)
                self._put(owner, value_of(address), sizes[0], value_of(value))
            case commands.Write(local, to, remote) | commands.Put(local, to, remote):
                self._copy((rank, value_of(local)), (value_of(to), value_of(remote)), sizes[0])
            case commands.Read(local, to, remote):
                self._copy((value_of(to), value_of(remote)), (rank, value_of(local)), sizes[0])
            case commands.Update() | commands.UpdateFrom():
                self._update(event, command)
            case commands.Swap(_, owner, address, value):
                self._put(value_of(owner), value_of(address), sizes[0], value_of(value))
            case commands.CompareSwap(_, owner, address, expected, new):
                at = value_of(owner), value_of(address), sizes[0]
                self._put(*at, _if_equal(self.number(*at), value_of(expected), value_of(new), sizes[0]))
            case commands.FetchUpdate() | commands.FetchAdd():
                at = value_of(command.rank), value_of(command.address), sizes[0]
                operation = command.operation if isinstance(command, commands.FetchUpdate) else "add"
                operand = value_of(command.operand)
                self._put(*at, _updated(operation, self.number(*at), operand, sizes[0], command.atomic))

    def _update(self, event: Recorded, command: commands.Update | commands.UpdateFrom) -> None:
        rank, size = event.rank, event.sizes[0]
        at = value_of(command.rank), value_of(command.remote)
        old = self.number(*at, size)
        if isinstance(command, commands.Update):
            operand, expected = value_of(command.value), _number(command.expected)
        else:
            operand = UNKNOWN if command.local is None else self.number(rank, value_of(command.local), size)
            expected = UNKNOWN if command.expected is None else self.number(rank, value_of(command.expected), size)
        if command.result is not None:
            self._put(rank, value_of(command.result), size, old)
        if command.operation == "compare_swap":
            self._put(*at, size, _if_equal(old, expected, operand, size))
        elif command.operation != "fetch":
            self._put(*at, size, _updated(command.operation, old, operand, size, command.atomic))


def _number(expr: Expr | None) -> int:
    return UNKNOWN if expr is None else value_of(expr)


def _if_equal(old: int, expected: int, operand: int, size: int) -> int:
    if isinstance(old, Unknown) or isinstance(expected, Unknown):
        return UNKNOWN
    return operand if (old ^ expected) & (1 << 8 * size) - 1 == 0 else old


def _updated(operation: str, old: int, operand: int, size: int, of: str) -> int:
    """What an update leaves, as a number without a sign; unknown where it is not clear how the type computes."""
    if operation == "set":
        return operand
    floating = any(word in of.lower() for word in _FLOATING)
    if (
        isinstance(old, Unknown)
        or isinstance(operand, Unknown)
        or (floating and operation not in ("add", "min", "max"))
    ):
        return UNKNOWN
    kind = "float" if floating else "unsigned" if "unsigned" in of.lower() or "uint" in of.lower() else "signed"
    one, other = typed(old, size, kind), typed(operand, size, kind)
    match operation:
        case "add":
            new = one + other
        case "mul":
            new = one * other
        case "and":
            new = one & other
        case "or":
            new = one | other
        case "xor":
            new = one ^ other
        case "min":
            new = min(one, other)
        case "max":
            new = max(one, other)
        case _:
            return UNKNOWN
    if kind == "float":
        packed = struct.pack("<f" if size == 4 else "<d", float_value(new))
        return int.from_bytes(packed, "little")
    return new
