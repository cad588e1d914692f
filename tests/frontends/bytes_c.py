"""Random programs that access the same bytes in several sizes, and what they do to a memory that is bytes and nothing
else.

Two ranks have a symmetric buffer and one of their own each. In every phase, which ends with a barrier that completes
what was issued, each makes one access: a put or get of any length, of bytes or typed, a load, store, copy or fill
of any size anywhere, an atomic. `Memory` does the same to arrays of bytes, and knows which accesses of a phase touch a
common byte. It shares nothing with the front end.

The program ends with loads of all sizes that are asserted to be what these bytes say. Where no phase has two accesses
of a common byte, these have to hold, and hold no more when one is changed; and there has to be a race where one does,
and none where none does (`compare`)."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import pgasrob
from pgasrob import Limits
from pgasrob.frontends.lower import parse_c

SIZE = 24
"""Bytes of each buffer."""
TYPES = {
    "schar": (1, "signed char"), "short": (2, "short"), "int": (4, "int"), "long": (8, "long"), "float": (4, "float"),
    "double": (8, "double"),
}  # fmt: skip
"""Of each name in calls of OpenSHMEM: the size, and the type in C."""
FORMATS = {"schar": "<b", "short": "<h", "int": "<i", "long": "<q", "float": "<f", "double": "<d"}
BUFFERS = ("shared", "own")
FIRST = {"shared": bytes(range(1, SIZE + 1)), "own": bytes(range(101, 101 + SIZE))}
"""What they hold at the beginning."""
HEAD = """#include <shmem.h>
#include <assert.h>
#include <string.h>
static union {{ char c[{size}]; long l[{words}]; }} shared_ = {{{{{shared}}}}}, own_ = {{{{{own}}}}};
#define shared shared_.c
#define own own_.c
int main(void) {{
  shmem_init(); int me = shmem_my_pe();
"""


@dataclass(frozen=True, slots=True)
class Access:
    """The bytes that an access touches: from ``first`` to ``last`` of a buffer of ``rank``."""

    rank: int
    buffer: str
    first: int
    last: int
    writes: bool
    atomic: str = ""

    def meets(self, other: Access) -> bool:
        """Whether the two touch a common byte, one of them writes, and they are no atomics of one type."""
        place = (self.rank, self.buffer) == (other.rank, other.buffer)
        overlap = max(self.first, other.first) < min(self.last, other.last)
        return place and overlap and (self.writes or other.writes) and not (self.atomic and self.atomic == other.atomic)


@dataclass(slots=True)
class Memory:
    """The bytes of both ranks."""

    bytes: dict[tuple[int, str], bytearray] = field(
        default_factory=lambda: {(rank, name): bytearray(FIRST[name]) for rank in range(2) for name in BUFFERS}
    )
    accesses: list[Access] = field(default_factory=list)

    def read(self, rank: int, buffer: str, at: int, size: int, atomic: str = "") -> bytes:
        self.accesses.append(Access(rank, buffer, at, at + size, False, atomic))
        return bytes(self.bytes[rank, buffer][at : at + size])

    def write(self, rank: int, buffer: str, at: int, data: bytes, atomic: str = "") -> None:
        self.accesses.append(Access(rank, buffer, at, at + len(data), True, atomic))
        self.bytes[rank, buffer][at : at + len(data)] = data


class Programs:
    """Draws programs."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.used: Counter[str] = Counter()
        """How often each kind of access has been drawn."""

    def _place(self, size: int) -> int:
        """Where ``size`` bytes may lie: mostly where a scalar of that size would."""
        step = size if size in (2, 4, 8) and self.random.random() < 0.6 else 1
        return step * self.random.randrange((SIZE - size) // step + 1)

    def _value(self, type: str) -> tuple[str, bytes]:
        """A number as C has it, and its bytes."""
        if type in ("float", "double"):
            number = self.random.choice((0.5, -1.5, 3.25, 1024.0))
            return f"{number}{'f' if type == 'float' else ''}", struct.pack(FORMATS[type], number)
        size = TYPES[type][0]
        number = self.random.choice((1, -2, 0x0102030405060708, 0x7F6E5D4C3B2A1908, self.random.getrandbits(63)))
        number = ((number + (1 << 8 * size - 1)) & ((1 << 8 * size) - 1)) - (1 << 8 * size - 1)
        if number == -(1 << 8 * size - 1):
            number += 1
        return f"{number}{'L' if type == 'long' else ''}", struct.pack(FORMATS[type], number)

    def access(self, memory: Memory, me: int) -> str:
        """One access of rank ``me``, done to ``memory``, in C."""
        kinds = [each for each in dir(self) if each.startswith("do_")]
        kind = self.random.choice(kinds)
        self.used[kind.removeprefix("do_")] += 1
        done = getattr(self, kind)(memory, me)
        assert isinstance(done, str)
        return done

    def _type(self) -> tuple[str, int, str]:
        name = self.random.choice(list(TYPES))
        return name, *TYPES[name]

    def _source(self, me: int, to: int) -> str:
        """The buffer that a put is from; source and destination may not overlap."""
        return "own" if to == me else self.random.choice(BUFFERS)

    def do_store(self, memory: Memory, me: int) -> str:
        name, size, c = self._type()
        buffer, at, (text, data) = self.random.choice(BUFFERS), self._place(size), self._value(name)
        memory.write(me, buffer, at, data)
        return f"*({c} *)({buffer} + {at}) = {text};"

    def do_move(self, memory: Memory, me: int) -> str:
        name, size, c = self._type()
        of, to = self.random.choice(BUFFERS), self.random.choice(BUFFERS)
        at, goal = self._place(size), self._place(size)
        data = memory.read(me, of, at, size)
        (number,) = struct.unpack(FORMATS[name], data)
        if number != number:  # there is one NaN
            c = {4: "int", 8: "long"}[size]
        memory.write(me, to, goal, data)
        return f"*({c} *)({to} + {goal}) = *({c} *)({of} + {at});"

    def do_copy(self, memory: Memory, me: int) -> str:
        of, to, size = self.random.choice(BUFFERS), self.random.choice(BUFFERS), self.random.randint(1, SIZE)
        at, goal = self._place(size), self._place(size)
        memory.write(me, to, goal, memory.read(me, of, at, size))
        return f"memmove({to} + {goal}, {of} + {at}, {size});"

    def do_fill(self, memory: Memory, me: int) -> str:
        buffer, size, byte = self.random.choice(BUFFERS), self.random.randint(1, SIZE), self.random.choice((0, 7, 255))
        at = self._place(size)
        memory.write(me, buffer, at, bytes([byte]) * size)
        return f"memset({buffer} + {at}, {byte}, {size});"

    def do_putmem(self, memory: Memory, me: int) -> str:
        size, to = self.random.randint(1, SIZE), self.random.randrange(2)
        of = self._source(me, to)
        at, goal = self._place(size), self._place(size)
        memory.write(to, "shared", goal, memory.read(me, of, at, size))
        return f"shmem_putmem{self.random.choice(('', '_nbi'))}(shared + {goal}, {of} + {at}, {size}, {to});"

    def do_getmem(self, memory: Memory, me: int) -> str:
        size, of = self.random.randint(1, SIZE), self.random.randrange(2)
        at, goal = self._place(size), self._place(size)
        memory.write(me, "own", goal, memory.read(of, "shared", at, size))
        return f"shmem_getmem(own + {goal}, shared + {at}, {size}, {of});"

    def do_put(self, memory: Memory, me: int) -> str:
        name, size, c = self._type()
        count = self.random.randint(1, min(3, SIZE // size))
        to = self.random.randrange(2)
        of = self._source(me, to)
        at, goal = self._place(size * count), self._place(size * count)
        memory.write(to, "shared", goal, memory.read(me, of, at, size * count))
        return f"shmem_{name}_put(({c} *)(shared + {goal}), ({c} *)({of} + {at}), {count}, {to});"

    def do_p(self, memory: Memory, me: int) -> str:
        name, size, c = self._type()
        to, at, (text, data) = self.random.randrange(2), self._place(size), self._value(name)
        memory.write(to, "shared", at, data)
        return f"shmem_{name}_p(({c} *)(shared + {at}), {text}, {to});"

    def do_g(self, memory: Memory, me: int) -> str:
        name, size, c = self.random.choice([(each, *TYPES[each]) for each in ("schar", "short", "int", "long")])
        of, at, goal = self.random.randrange(2), self._place(size), self._place(size)
        memory.write(me, "own", goal, memory.read(of, "shared", at, size))
        return f"*({c} *)(own + {goal}) = shmem_{name}_g(({c} *)(shared + {at}), {of});"

    def do_atomic(self, memory: Memory, me: int) -> str:
        name, size, c = self.random.choice([(each, *TYPES[each]) for each in ("int", "long")])
        to, at = self.random.randrange(2), size * self.random.randrange(SIZE // size)
        (held,) = struct.unpack(FORMATS[name], memory.read(to, "shared", at, size, c))
        number = (held + 3 + (1 << 8 * size - 1)) % (1 << 8 * size) - (1 << 8 * size - 1)
        memory.write(to, "shared", at, struct.pack(FORMATS[name], number), c)
        return f"shmem_{name}_atomic_add(({c} *)(shared + {at}), 3, {to});"

    def program(self) -> Drawn:
        """A program of some phases, the last of which may have a race."""
        memory, lines, phases, races = Memory(), list[str](), self.random.randint(1, 4), False
        for _ in range(phases):
            texts, made = [], []
            for rank in range(2):
                memory.accesses = []
                texts.append(self.access(memory, rank) if self.random.random() < 0.75 else ";")
                made.append(memory.accesses)
            lines.append(
                f"  if (me == 0) {{ {texts[0]} }} else if (me == 1) {{ {texts[1]} }}\n  shmem_barrier_all();\n"
            )
            if any(one.meets(other) for one in made[0] for other in made[1]):
                races = True
                break
        checks = []
        for _ in range(self.random.randint(1, 4)):
            name, size, c = self.random.choice([(each, *TYPES[each]) for each in ("schar", "short", "int", "long")])
            rank, buffer, at = self.random.randrange(2), self.random.choice(BUFFERS), self._place(size)
            (number,) = struct.unpack(FORMATS[name], memory.read(rank, buffer, at, size))
            checks.append((f"if (me == {rank}) assert(*({c} *)({buffer} + {at}) == ", f"({number + 1}L - 1)", ");"))
        return Drawn(
            HEAD.format(size=SIZE, words=SIZE // 8, **{each: ", ".join(map(str, FIRST[each])) for each in BUFFERS})
            + "".join(lines),
            checks,
            races,
            [self.random.randrange(len(checks))],
        )


@dataclass(frozen=True, slots=True)
class Drawn:
    """A program without its end, the assertions that are to follow, whether two accesses meet, and which assertions are
    changed to see them fail."""

    text: str
    checks: list[tuple[str, str, str]]
    races: bool
    changed: Sequence[int]

    def source(self, wrong: int | None = None) -> str:
        """The program; with a check that is ``wrong``, if given."""
        lines = [f"  {a}{f'(({b}) ^ 1)' if place == wrong else b}{c}\n" for place, (a, b, c) in enumerate(self.checks)]
        return f"{self.text}{''.join(lines)}  shmem_finalize(); return 0;\n}}\n"


def compare(drawn: Drawn, found: Counter[str]) -> None:
    """That the front end says of the program what its bytes do; ``found`` counts what it was."""
    limits = Limits(timeout=20)
    source = drawn.source()
    raced = pgasrob.race(parse_c(source), 2, limits=limits)
    if str(raced.verdict) == "error":
        assert "at once" in str(raced.reason) or "need it whole" in str(raced.reason), f"{raced.reason}\n{source}"
        assert "atomic" in source, f"refused: {raced.reason}\n{source}"
        found["refused"] += 1
        return
    if str(raced.verdict) == "unknown":
        found["open"] += 1
        return
    assert (str(raced.verdict) == "race") == drawn.races, f"{raced.verdict}, but it {drawn.races=}\n{source}"
    found["race" if drawn.races else "no race"] += 1
    if drawn.races:
        return
    right = pgasrob.check(parse_c(source), 2, limits=limits)
    assert right.verdict == "robust" and right.assertions in ("hold", None), f"{right}\n{source}"
    for place in drawn.changed:
        wrong = pgasrob.check(parse_c(drawn.source(place)), 2, limits=limits)
        assert wrong.assertions == "violated", f"{wrong}\n{drawn.source(place)}"
