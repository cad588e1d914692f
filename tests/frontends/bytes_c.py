"""Random programs that access the same bytes in several sizes, and what they do to a memory that is bytes and nothing
else.

A fragment has two ranks with a symmetric buffer and one of their own each, of one of several declared types. In every
phase, which ends with a barrier that completes what was issued, each makes one access: a put or get of any length, of
bytes or typed, a load, store, copy or fill of any size anywhere, an atomic. `Memory` does the same to arrays of bytes,
and knows which accesses of a phase touch a common byte. It shares nothing with the front end.

A fragment ends with loads of all sizes that are asserted to be what these bytes say, or not to be. A program has
several fragments, which have nothing to do with each other but their barriers. Each access stands in a line of its
own."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from random import Random

TYPES = {
    "schar": (1, "signed char"), "short": (2, "short"), "int": (4, "int"), "long": (8, "long"), "float": (4, "float"),
    "double": (8, "double"),
}  # fmt: skip
"""Of each name in calls of OpenSHMEM: the size, and the type in C."""
FORMATS = {"schar": "<b", "short": "<h", "int": "<i", "long": "<q", "float": "<f", "double": "<d"}
INTEGERS = ("schar", "short", "int", "long")
BUFFERS = ("shared", "own")
SIZES = (8, 16, 16, 24, 24, 40, 72)
"""Bytes that buffers may have."""
DECLARED = ("union", "union", "schar", "short", "int", "long", "float", "double", "struct", "zeros")
"""How they may be declared."""
STRUCT = "struct {{ int a; short b; signed char c, d; }} {name}_[{count}] = {{{values}}};"


@dataclass(frozen=True, slots=True)
class Access:
    """The bytes that an access touches: from ``first`` to ``last`` of a buffer of ``rank``. ``kind``: what accesses
    it, for `mixes`."""

    rank: int
    buffer: str
    first: int
    last: int
    writes: bool
    atomic: str = ""
    kind: str = ""

    def overlaps(self, other: Access) -> bool:
        """Whether the two touch a common byte."""
        place = (self.rank, self.buffer) == (other.rank, other.buffer)
        return place and max(self.first, other.first) < min(self.last, other.last)

    def meets(self, other: Access) -> bool:
        """Whether the two touch a common byte, one of them writes, and they are no atomics of one type."""
        alike = self.atomic and self.atomic == other.atomic
        return self.overlaps(other) and (self.writes or other.writes) and not alike


@dataclass(slots=True)
class Memory:
    """The bytes of both ranks, ``first`` at the beginning, and the accesses to them since they were looked at."""

    first: dict[str, bytes]
    bytes: dict[tuple[int, str], bytearray] = field(init=False)
    accesses: list[Access] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.bytes = {(rank, name): bytearray(self.first[name]) for rank in range(2) for name in BUFFERS}

    def read(self, rank: int, buffer: str, at: int, size: int, kind: str, atomic: str = "") -> bytes:
        self.accesses.append(Access(rank, buffer, at, at + size, False, atomic, kind))
        return bytes(self.bytes[rank, buffer][at : at + size])

    def write(self, rank: int, buffer: str, at: int, data: bytes, kind: str, atomic: str = "") -> None:
        self.accesses.append(Access(rank, buffer, at, at + len(data), True, atomic, kind))
        self.bytes[rank, buffer][at : at + len(data)] = data


@dataclass(frozen=True, slots=True)
class Check:
    """An assertion of ``rank`` that a load gives ``value``, or that it does not, where it is to fail."""

    rank: int
    load: str
    value: str
    fails: bool

    @property
    def text(self) -> str:
        return f"assert({self.load} {'!=' if self.fails else '=='} {self.value});"


@dataclass(frozen=True, slots=True)
class Fragment:
    """What is declared, what each rank does in each phase, whether that is a race, the checks behind the last phase,
    which are none where one has a race; how sizes met in one object; and whether an atomic has a part of what others
    have, so that it may be refused."""

    declared: str
    phases: list[tuple[str, str]]
    races: list[bool]
    checks: list[Check]
    mixes: frozenset[str]
    torn: bool


def torn(accesses: Sequence[Access]) -> bool:
    """Whether a call, or an operation, has a part of what an atomic has, or of what has been moved from or to there;
    or one takes a float, which may lie beside integers."""
    moved = [
        (one, other)
        for one, other in pairwise(accesses)
        if one.kind == other.kind and one.kind.startswith(("bytes", "copy", "struct", "put")) and other.writes
    ]
    found = {(each.buffer, each.first, each.last) for each in accesses if each.atomic}
    known = set[tuple[str, int, int]]()
    while known != found:
        known = set(found)
        for pair in moved:
            for here, there in (pair, pair[::-1]):
                shift = there.first - here.first
                inside = ((a, b) for of, a, b in known if of == here.buffer and here.first <= a and b <= here.last)
                found |= {(there.buffer, a + shift, b + shift) for a, b in inside}
    calls = [each for each in accesses if each.kind.startswith(("bytes", "put", "atomic"))]
    parts = {(each.buffer, each.first, each.last) for each in calls}
    return any(each.kind == "atomic float" for each in accesses) or any(
        of == other and max(a, first) < min(b, last) and not (first <= a and b <= last)
        for of, a, b in found
        for other, first, last in parts | found
    )


def mixes(accesses: Sequence[Access]) -> Iterator[str]:
    """In which ways ``accesses`` of other bytes meet, or of other types."""
    for one, other in combinations(dict.fromkeys(accesses), 2):
        if one.overlaps(other):
            kinds = sorted((one.kind, other.kind))
            if (one.first, one.last) != (other.first, other.last) or ("float" in kinds) != ("double" in kinds):
                yield f"{kinds[0]}/{kinds[1]}"


class Fragments:
    """Draws fragments. ``atomics``: whether there are atomics; ``reached``: whether a rank may load and store the
    memory of the other one, by `shmem_ptr`."""

    def __init__(self, seed: int, atomics: bool = True, reached: bool = False) -> None:
        self.random = Random(seed)
        self.kinds = [each for each in dir(self) if each.startswith("do_")]
        if not atomics:
            self.kinds = [each for each in self.kinds if "atomic" not in each]
        if not reached:
            self.kinds = [each for each in self.kinds if "reached" not in each]
        self.used: Counter[str] = Counter()
        """How often each kind of access has been drawn."""

    def drawn(self, name: str) -> Fragment:
        """A fragment whose variables begin with ``name``. It ends with the first phase in which two accesses meet."""
        self.size, self.places = self.random.choice(SIZES), list[int]()
        self.names = {buffer: f"{name}{buffer}" for buffer in BUFFERS}
        made = [self._declared(self.names["shared"], 1), self._declared(self.names["own"], 101)]
        declared, first = "".join(text for text, _ in made), {each: made[at][1] for at, each in enumerate(BUFFERS)}
        memory, phases, races, every = Memory(first), [], [], list[Access]()
        for _ in range(self.random.randint(1, 4)):
            made, texts = [], []
            for rank in range(2):
                memory.accesses = []
                texts.append(self._access(memory, rank) if self.random.random() < 0.75 else ";")
                made.append(memory.accesses)
                every += memory.accesses
            phases.append((texts[0], texts[1]))
            races.append(any(one.meets(other) for one in made[0] for other in made[1]))
            if races[-1]:
                break
        memory.accesses = []
        checks = [] if races[-1] else [self._check(memory) for _ in range(self.random.randint(1, 4))]
        met = frozenset(mixes((*every, *memory.accesses)))
        return Fragment(declared, phases, races, checks, met, torn(every))

    def _declared(self, name: str, start: int) -> tuple[str, bytes]:
        """A declaration, and the bytes that it gives."""
        declared, first = self.random.choice(DECLARED), bytes(range(start, start + self.size))
        if declared == "union":
            values, words = ", ".join(map(str, first)), self.size // 8
            text = f"union {{ char c[{self.size}]; long l[{words}]; }} {name}_ = {{{{{values}}}}};"
        elif declared == "zeros":
            first, text = bytes(self.size), f"char {name}_[{self.size}];"
        elif declared == "struct":
            rows = [", ".join(map(str, each)) for each in struct.iter_unpack("<ihbb", first)]
            text = STRUCT.format(name=name, count=len(rows), values=", ".join(f"{{{each}}}" for each in rows))
        elif declared in ("float", "double"):
            size, c = TYPES[declared]
            floats = [0.5 * (start + each) for each in range(self.size // size)]
            first = struct.pack(f"<{len(floats)}{FORMATS[declared][1]}", *floats)
            text = f"{c} {name}_[{len(floats)}] = {{{', '.join(map(str, floats))}}};"
        else:
            size, c = TYPES[declared]
            numbers = [f"{each}L" for (each,) in struct.iter_unpack(FORMATS[declared], first)]
            text = f"{c} {name}_[{self.size // size}] = {{{', '.join(numbers)}}};"
        return f"static {text}\n#define {name} ((char *)&{name}_)\n", first

    def _place(self, size: int) -> int:
        """Where ``size`` bytes may lie: often where others begin, mostly where a scalar of that size would."""
        used = [each for each in self.places if each + size <= self.size]
        if used and self.random.random() < 0.4:
            return self.random.choice(used)
        step = min(size & -size, 8) if not size & 1 and self.random.random() < 0.6 else 1
        self.places.append(step * self.random.randrange((self.size - size) // step + 1))
        return self.places[-1]

    def _length(self) -> int:
        return self.random.choice(
            (self.random.randint(1, self.size), self.random.randint(1, 8), 8, max(8, self.size // 16 * 8))
        )

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

    def _access(self, memory: Memory, me: int) -> str:
        """One access of rank ``me``, done to ``memory``, in C."""
        kind = self.random.choice(self.kinds)
        self.used[kind.removeprefix("do_")] += 1
        done = getattr(self, kind)(memory, me)
        assert isinstance(done, str)
        return done

    def _check(self, memory: Memory) -> Check:
        name, size, c = self._type()
        rank, buffer, at = self.random.randrange(2), self.random.choice(BUFFERS), self._place(size)
        (number,) = struct.unpack(FORMATS[name], memory.read(rank, buffer, at, size, name))
        if name in INTEGERS:
            value = f"({number + 1}L - 1)" if number < (1 << 63) - 1 else f"{number}L"
        elif abs(number) < 1e30 and number == float(str(number)):
            value = f"{number}{'f' if name == 'float' else ''}"
        else:
            return self._check(memory)  # written otherwise in C
        return Check(rank, f"*({c} *)({self.names[buffer]} + {at})", value, self.random.random() < 0.5)

    def _type(self, types: Sequence[str] = tuple(TYPES)) -> tuple[str, int, str]:
        name = self.random.choice(types)
        return name, *TYPES[name]

    def _source(self, me: int, to: int) -> str:
        """The buffer that a put is from; source and destination may not overlap."""
        return "own" if to == me else self.random.choice(BUFFERS)

    def do_store(self, memory: Memory, me: int) -> str:
        name, size, c = self._type()
        buffer, at, (text, data) = self.random.choice(BUFFERS), self._place(size), self._value(name)
        memory.write(me, buffer, at, data, name)
        return f"*({c} *)({self.names[buffer]} + {at}) = {text};"

    def do_reached_store(self, memory: Memory, me: int) -> str:
        name, size, c = self._type()
        to, at, (text, data) = self.random.randrange(2), self._place(size), self._value(name)
        memory.write(to, "shared", at, data, name)
        return f"*({c} *)((char *)shmem_ptr({self.names['shared']}, {to}) + {at}) = {text};"

    def do_move(self, memory: Memory, me: int) -> str:
        name, size, c = self._type()
        of, to = self.random.choice(BUFFERS), self.random.choice(BUFFERS)
        at, goal = self._place(size), self._place(size)
        data = memory.read(me, of, at, size, name)
        (number,) = struct.unpack(FORMATS[name], data)
        if number != number:  # there is one NaN
            c = {4: "int", 8: "long"}[size]
        memory.write(me, to, goal, data, name)
        return f"*({c} *)({self.names[to]} + {goal}) = *({c} *)({self.names[of]} + {at});"

    def do_copy(self, memory: Memory, me: int) -> str:
        of, to, size = self.random.choice(BUFFERS), self.random.choice(BUFFERS), self._length()
        at, goal = self._place(size), self._place(size)
        memory.write(me, to, goal, memory.read(me, of, at, size, "copy"), "copy")
        return f"memmove({self.names[to]} + {goal}, {self.names[of]} + {at}, {size});"

    def do_struct(self, memory: Memory, me: int) -> str:
        of, to, (text, size) = (
            *self.random.choice((BUFFERS, BUFFERS[::-1])),
            self.random.choice((("{ int a; char b; }", 8), ("{ short a, b, c; }", 6), ("{ char a[5]; }", 5))),
        )
        at, goal = self._place(size), self._place(size)
        memory.write(me, to, goal, memory.read(me, of, at, size, "struct"), "struct")
        return f"struct s{text}; *(struct s *)({self.names[to]} + {goal}) = *(struct s *)({self.names[of]} + {at});"

    def do_fill(self, memory: Memory, me: int) -> str:
        buffer, size, byte = self.random.choice(BUFFERS), self._length(), self.random.choice((0, 7, 255))
        at = self._place(size)
        memory.write(me, buffer, at, bytes([byte]) * size, "fill")
        return f"memset({self.names[buffer]} + {at}, {byte}, {size});"

    def do_fill_and_copy(self, memory: Memory, me: int) -> str:
        return f"{self.do_fill(memory, me)} {self.do_copy(memory, me)}"

    def do_reached_load(self, memory: Memory, me: int) -> str:
        name, size, c = self._type(INTEGERS)
        of, at, goal = self.random.randrange(2), self._place(size), self._place(size)
        memory.write(me, "own", goal, memory.read(of, "shared", at, size, name), name)
        own, shared = self.names["own"], self.names["shared"]
        return f"*({c} *)({own} + {goal}) = *({c} *)((char *)shmem_ptr({shared}, {of}) + {at});"

    def do_loop(self, memory: Memory, me: int) -> str:
        name, size, c = self._type(INTEGERS)
        count = self.random.randint(1, self.size // size)
        buffer, at = self.random.choice(BUFFERS), self._place(size * count)
        memory.write(me, buffer, at, b"".join(struct.pack(FORMATS[name], each) for each in range(count)), name)
        memory.accesses[-1:] = [
            Access(me, buffer, place, place + size, True, "", name) for place in range(at, at + size * count, size)
        ]
        return f"for (int i = 0; i < {count}; i++) (({c} *)({self.names[buffer]} + {at}))[i] = i;"

    def do_putmem(self, memory: Memory, me: int) -> str:
        size, to = self._length(), self.random.randrange(2)
        of = self._source(me, to)
        at, goal = self._place(size), self._place(size)
        memory.write(to, "shared", goal, memory.read(me, of, at, size, "bytes"), "bytes")
        call = f"shmem_putmem{self.random.choice(('', '_nbi'))}"
        return f"{call}({self.names['shared']} + {goal}, {self.names[of]} + {at}, {size}, {to});"

    def do_getmem(self, memory: Memory, me: int) -> str:
        size, of = self._length(), self.random.randrange(2)
        at, goal = self._place(size), self._place(size)
        memory.write(me, "own", goal, memory.read(of, "shared", at, size, "bytes"), "bytes")
        return f"shmem_getmem({self.names['own']} + {goal}, {self.names['shared']} + {at}, {size}, {of});"

    def do_put(self, memory: Memory, me: int) -> str:
        name, size, c = self._type()
        count = self.random.randint(1, min(3, self.size // size))
        to = self.random.randrange(2)
        of = self._source(me, to)
        at, goal = self._place(size * count), self._place(size * count)
        memory.write(to, "shared", goal, memory.read(me, of, at, size * count, f"put of {name}"), f"put of {name}")
        shared, source = self.names["shared"], self.names[of]
        return f"shmem_{name}_put(({c} *)({shared} + {goal}), ({c} *)({source} + {at}), {count}, {to});"

    def do_p(self, memory: Memory, me: int) -> str:
        name, size, c = self._type()
        to, at, (text, data) = self.random.randrange(2), self._place(size), self._value(name)
        memory.write(to, "shared", at, data, f"put of {name}")
        return f"shmem_{name}_p(({c} *)({self.names['shared']} + {at}), {text}, {to});"

    def do_g(self, memory: Memory, me: int) -> str:
        name, size, c = self._type(INTEGERS)
        of, at, goal = self.random.randrange(2), self._place(size), self._place(size)
        memory.write(me, "own", goal, memory.read(of, "shared", at, size, f"put of {name}"), name)
        return f"*({c} *)({self.names['own']} + {goal}) = shmem_{name}_g(({c} *)({self.names['shared']} + {at}), {of});"

    def do_atomic_add(self, memory: Memory, me: int) -> str:
        name, size, c = self._type(("int", "long"))
        to, at = self.random.randrange(2), size * self.random.randrange(self.size // size)
        self.places.append(at)
        (held,) = struct.unpack(FORMATS[name], memory.read(to, "shared", at, size, f"atomic {name}", c))
        number = (held + 3 + (1 << 8 * size - 1)) % (1 << 8 * size) - (1 << 8 * size - 1)
        memory.write(to, "shared", at, struct.pack(FORMATS[name], number), f"atomic {name}", c)
        return f"shmem_{name}_atomic_add(({c} *)({self.names['shared']} + {at}), 3, {to});"

    def do_atomic_swap(self, memory: Memory, me: int) -> str:
        name, size, c = self._type(("int", "long", "float", "double"))
        to, at, goal = self.random.randrange(2), size * self.random.randrange(self.size // size), self._place(size)
        self.places.append(at)
        text, data = self._value(name)
        held = memory.read(to, "shared", at, size, f"atomic {name}", c)
        (number,) = struct.unpack(FORMATS[name], held)
        memory.write(to, "shared", at, data, f"atomic {name}", c)
        call = f"shmem_{name}_atomic_swap(({c} *)({self.names['shared']} + {at}), {text}, {to})"
        if number != number:
            return f"{call};"
        memory.write(me, "own", goal, held, name)
        return f"*({c} *)({self.names['own']} + {goal}) = {call};"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A program of some ``fragments``."""

    fragments: Sequence[Fragment]
    reached: bool = False

    @property
    def phases(self) -> int:
        return max(len(each.phases) for each in self.fragments)

    def source(self) -> str:
        """The program. ``line`` says where its accesses and checks stand."""
        lines = ["/* shared-memory: all */" if self.reached else "", "#include <shmem.h>", "#include <assert.h>"]
        lines += ["#include <string.h>", *"".join(each.declared for each in self.fragments).splitlines()]
        lines += ["int main(void) {", "shmem_init(); int me = shmem_my_pe();"]
        for phase in range(self.phases):
            for rank in range(2):
                lines.append(f"if (me == {rank}) {{")
                lines += [
                    f"{{ {each.phases[phase][rank] if phase < len(each.phases) else ';'} }}" for each in self.fragments
                ]
                lines.append("}")
            lines.append("shmem_barrier_all();")
        lines += [f"if (me == {check.rank}) {check.text}" for each in self.fragments for check in each.checks]
        return "\n".join((*lines, "shmem_finalize(); return 0; }", ""))

    @property
    def _first(self) -> int:
        """The line behind `shmem_init`."""
        return 7 + sum(each.declared.count("\n") for each in self.fragments)

    def line(self, fragment: int, phase: int, rank: int) -> int:
        """Where what ``rank`` does in a phase of a fragment stands."""
        count = len(self.fragments)
        return self._first + phase * (2 * (count + 2) + 1) + rank * (count + 2) + 1 + fragment

    def checks(self) -> dict[int, Check]:
        """The checks, by their lines."""
        first = self._first + self.phases * (2 * (len(self.fragments) + 2) + 1)
        return dict(enumerate((check for each in self.fragments for check in each.checks), first))
