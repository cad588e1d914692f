"""What memory held, byte by byte, against dictionaries of bytes; and values of types."""

from __future__ import annotations

import random
import struct

from pgasrob.program import commands
from pgasrob.program.expressions import Const, IntType, Register, float_value
from pgasrob.program.unknown_value import UNKNOWN, Unknown
from pgasrob.recording.events import Recorded
from pgasrob.recording.recorded_values import Held, Real, typed
from tests.support import examples

REGISTER = Register("r", 0)
QUEUE = Const(0)


def test_types() -> None:
    assert typed(0xFFFFFFFF, 4, "signed") == typed(0xFFFFFFFF, 4, "unknown") == -1
    assert typed(0xFFFFFFFF, 4, "unsigned") == 0xFFFFFFFF and typed(0x1234, 1, "signed") == 0x34
    for size, form in ((4, "<f"), (8, "<d")):
        raw = int.from_bytes(struct.pack(form, -2.5), "little")
        value = typed(raw, size, "float")
        assert isinstance(value, Real) and float_value(value) == -2.5
        more = IntType(64, True).wrap(value + typed(raw, size, "float"))
        assert float_value(more) == -5.0 and float_value(min(value, more)) == -5.0
        assert float_value(IntType(64, True).wrap(more + value)) == -7.5 and float_value(max(more, value)) == -2.5
    assert isinstance(typed(UNKNOWN, 4, "signed"), Unknown)


def test_copies_stores_and_updates_as_bytes() -> None:
    """Against a dictionary: near the border of a page, with values that are not known."""
    base = 4096 - 16
    for seed in range(examples(60, nightly=2_000)):
        chance = random.Random(seed)
        held, known = Held(), dict[tuple[int, int], int]()
        for _ in range(40):
            rank, other, size = chance.randrange(2), chance.randrange(2), chance.choice((1, 2, 4, 8))
            here, there = base + chance.randrange(24), base + chance.randrange(24)
            value = chance.choice((chance.randrange(1 << 64), -1, UNKNOWN))
            source, target = [(rank, here + k) for k in range(size)], [(other, there + k) for k in range(size)]
            command: commands.Command
            match chance.randrange(5):
                case 0:
                    command = commands.Store(Const(there), Const(value), Const(other))
                    data = None if isinstance(value, Unknown) else (value % (1 << 8 * size)).to_bytes(size, "little")
                case 1:
                    command = commands.Write(Const(here), Const(other), Const(there), QUEUE)
                    data = bytes(known[each] for each in source) if known.keys() >= set(source) else None
                case 2:  # here and there are the other way round
                    command = commands.Read(Const(there), Const(rank), Const(here), QUEUE)
                    data = bytes(known[each] for each in source) if known.keys() >= set(source) else None
                    rank, target = other, target
                case 3:
                    command = commands.Update("add", Const(value), Const(other), Const(there), QUEUE, atomic="long")
                    old = [known.get(each) for each in target]
                    data = None
                    if None not in old and not isinstance(value, Unknown):
                        sum = int.from_bytes(bytes(each or 0 for each in old), "little") + value
                        data = (sum % (1 << 8 * size)).to_bytes(size, "little")
                case _:
                    command = commands.Load(REGISTER, Const(there))
                    target, data = [], None
            held.go_on([Recorded(rank, command, sizes=(size, size))])
            for k, each in enumerate(target):
                known.pop(each, None)
                if data is not None:
                    known[each] = data[k]
        for rank in range(2):
            for at in range(base, base + 32):
                found = held.read(rank, at, 1)
                assert (None if found is None else found[0]) == known.get((rank, at)), (seed, rank, at)


def test_what_agrees() -> None:
    held = Held()
    held.write(0, 4, b"ab")
    assert held.agrees(0, 2, b"xxabxx") and not held.agrees(0, 4, b"aa") and held.agrees(1, 4, b"aa")
    held.forget(0, 4, 1)
    assert held.agrees(0, 4, b"zb") and held.read(0, 4, 2) is None and held.number(0, 5, 1) == ord("b")
