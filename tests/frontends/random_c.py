"""Random one-sided programs, each written twice: in the calculus, straight from what the calls of OpenSHMEM promise,
and in C, in a random disguise.

A program is drawn as abstract statements. `to_pgas` writes them with the templates of `OPERATIONS`, which are read off
the specification and share nothing with the front end. `to_c` writes the same statements with calls, and hides them:
cells are variables, members, elements or allocated, reached directly, through pointers, tables and functions; values
pass through variables, macros, functions and ternaries; statements move into functions, loops that run once, switches
and branches, beside dead code; branches on loaded values become ternaries, switches, gotos and returned values.

The verdicts of the two must agree, and so must what is said of assertions and deadlocks (`compare`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pgasrob
from pgasrob import Limits, Verdict

# Abstract programs

REGISTERS = ("r0", "r1", "r2")
CELLS = ("x", "y", "z", "f", "own")
"""Data, a flag, and a cell that no other rank accesses."""


@dataclass(frozen=True, slots=True)
class Operation:
    """How an operation is written in both languages.

    ``{a}`` is a cell here (in C its address), ``{b}`` one at the target ``{pe}``; ``{v}`` and ``{w}`` are values,
    ``{r}`` is a register, ``{k}`` a constant that memory is compared with by ``{rel}`` (C: ``{cmp}``). ``{at}`` is x or
    y and ``{to}`` a rank, as the register ``index`` says. ``{N}`` is the name of the type of cells and ``{T}`` the
    type, ``{ctx}`` and ``{c}`` name the context in C, ``{q}`` its queue.
    """

    weight: int
    pgas: str
    c: str


OPERATIONS = {
    "put": Operation(4, "put({a}, {pe}, {b}, {q});", "shmem_{ctx}{N}_put({c}{b}, {a}, 1, {pe});"),
    "put_nbi": Operation(6, "write({a}, {pe}, {b}, {q});", "shmem_{ctx}{N}_put_nbi({c}{b}, {a}, 1, {pe});"),
    "p": Operation(6, "mem[tmp] <- {v}; put(tmp, {pe}, {b}, {q});", "shmem_{ctx}{N}_p({c}{b}, {v}, {pe});"),
    "put_local": Operation(
        2,
        "mem[tmp] <- {v}; put(tmp, {pe}, {b}, {q});",
        "{{ {T} source = {v}; shmem_{ctx}{N}_put({c}{b}, &source, 1, {pe}); source = 7; }}",
    ),
    "put_two": Operation(
        2,
        "put({a}, {pe}, {b}, {q}); put({a} + 1, {pe}, {b} + 1, {q});",
        "shmem_{ctx}{N}_put({c}{b}, {a}, 2, {pe});",
    ),
    "put_two_nbi": Operation(
        2,
        "write({a}, {pe}, {b}, {q}); write({a} + 1, {pe}, {b} + 1, {q});",
        "shmem_{ctx}{N}_put_nbi({c}{b}, {a}, 2, {pe});",
    ),
    "get_two": Operation(
        1,
        "read({a}, {pe}, {b}, fresh); read({a} + 1, {pe}, {b} + 1, fresh); wait(fresh);",
        "shmem_{ctx}{N}_get({c}{a}, {b}, 2, {pe});",
    ),
    "load_at": Operation(3, "{r} <- mem[{at}];", "{r} = *({at});"),
    "store_at": Operation(2, "mem[{at}] <- {v};", "*({at}) = {v};"),
    "put_at": Operation(2, "put({a}, {pe}, {at}, {q});", "shmem_{ctx}{N}_put({c}{at}, {a}, 1, {pe});"),
    "put_nbi_from": Operation(2, "write({at}, {pe}, {b}, {q});", "shmem_{ctx}{N}_put_nbi({c}{b}, {at}, 1, {pe});"),
    "p_to": Operation(2, "mem[tmp] <- {v}; put(tmp, {to}, {b}, {q});", "shmem_{ctx}{N}_p({c}{b}, {v}, {to});"),
    "fetch_add_to": Operation(
        1, "{r} <- fetch_add({to}, {b}, {v});", "{r} = shmem_{ctx}{N}_atomic_fetch_add({c}{b}, {v}, {to});"
    ),
    "get": Operation(2, "read({a}, {pe}, {b}, fresh); wait(fresh);", "shmem_{ctx}{N}_get({c}{a}, {b}, 1, {pe});"),
    "g": Operation(
        5, "read(tmp, {pe}, {b}, fresh); wait(fresh); {r} <- mem[tmp];", "{r} = shmem_{ctx}{N}_g({c}{b}, {pe});"
    ),
    "get_local": Operation(
        2,
        "read(tmp, {pe}, {b}, fresh); wait(fresh); {r} <- mem[tmp];",
        "{{ {T} found[2]; shmem_{ctx}{N}_get({c}found + 1, {b}, 1, {pe}); {r} = found[1]; }}",
    ),
    "get_nbi": Operation(3, "read({a}, {pe}, {b}, {q});", "shmem_{ctx}{N}_get_nbi({c}{a}, {b}, 1, {pe});"),
    "fence": Operation(3, "fence({q});", "shmem_{ctx}fence({last});"),
    "quiet": Operation(4, "wait({q});", "shmem_{ctx}quiet({last});"),
    "store": Operation(4, "mem[{a}] <- {v};", "*({a}) = {v};"),
    "load": Operation(8, "{r} <- mem[{a}];", "{r} = *({a});"),
    "copy": Operation(2, "old <- mem[{a}]; mem[{b}] <- old;", "*({b}) = *({a});"),
    "memmove": Operation(1, "old <- mem[{a}]; mem[{b}] <- old;", "memmove({b}, {a}, sizeof({T}));"),
    "increment": Operation(2, "old <- mem[{a}]; mem[{a}] <- old + {v};", "*({a}) += {v};"),
    "p_of": Operation(
        2,
        "old <- mem[{a}]; mem[tmp] <- old + 1; put(tmp, {pe}, {b}, {q});",
        "shmem_{ctx}{N}_p({c}{b}, *({a}) + 1, {pe});",
    ),
    "get_then_put": Operation(
        1,
        "{r} <- fetch({pe}, {b}); mem[{a}] <- {r} == {k};",
        "*({a}) = ({r} = shmem_{N}_g({b}, {pe})) == {k};",
    ),
    "load_there": Operation(0, "{r} <- mem[{b} @ {pe}];", "{r} = *({T} *)shmem_ptr({b}, {pe});"),
    "store_there": Operation(0, "mem[{b} @ {pe}] <- {v};", "*({T} *)shmem_ptr({b}, {pe}) = {v};"),
    "copy_there": Operation(
        0,
        "old <- mem[{b} @ {pe}]; mem[{a}] <- old;",
        "memcpy({a}, shmem_ptr({b}, {pe}), sizeof({T}));",
    ),
    "wait_until": Operation(0, "await(mem[{a}] {rel} {k});", "shmem_{N}_wait_until({a}, {cmp}, {k});"),
    "test": Operation(1, "{r} <- mem[{a}]; {r} <- {r} {rel} {k};", "{r} = shmem_{N}_test({a}, {cmp}, {k});"),
    "fetch": Operation(2, "{r} <- fetch({pe}, {b});", "{r} = shmem_{ctx}{N}_atomic_fetch({c}{b}, {pe});"),
    "fetch_add": Operation(
        3, "{r} <- fetch_add({pe}, {b}, {v});", "{r} = shmem_{ctx}{N}_atomic_fetch_add({c}{b}, {v}, {pe});"
    ),
    "fetch_inc": Operation(1, "{r} <- fetch_add({pe}, {b}, 1);", "{r} = shmem_{N}_atomic_fetch_inc({b}, {pe});"),
    "fetch_or": Operation(
        1, "{r} <- fetch_update(or, {pe}, {b}, {v});", "{r} = shmem_{N}_atomic_fetch_or({b}, {v}, {pe});"
    ),
    "swap": Operation(2, "{r} <- swap({pe}, {b}, {v});", "{r} = shmem_{N}_atomic_swap({b}, {v}, {pe});"),
    "compare_swap": Operation(
        2, "{r} <- compare_swap({pe}, {b}, {w}, {v});", "{r} = shmem_{N}_atomic_compare_swap({b}, {w}, {v}, {pe});"
    ),
    "add": Operation(2, "update(add, {v}, {pe}, {b}, {q});", "shmem_{ctx}{N}_atomic_add({c}{b}, {v}, {pe});"),
    "inc": Operation(1, "update(add, 1, {pe}, {b}, {q});", "shmem_{ctx}{N}_atomic_inc({c}{b}, {pe});"),
    "set": Operation(2, "update(set, {v}, {pe}, {b}, {q});", "shmem_{ctx}{N}_atomic_set({c}{b}, {v}, {pe});"),
    "xor": Operation(1, "update(xor, {v}, {pe}, {b}, {q});", "shmem_{ctx}{N}_atomic_xor({c}{b}, {v}, {pe});"),
    "fetch_add_nbi": Operation(
        2,
        "update(add, {v}, {pe}, {b}, {q}, {a});",
        "shmem_{ctx}{N}_atomic_fetch_add_nbi({c}{a}, {b}, {v}, {pe});",
    ),
    "fetch_nbi": Operation(
        1, "update_from(fetch, {pe}, {b}, {q}, {a});", "shmem_{ctx}{N}_atomic_fetch_nbi({c}{a}, {b}, {pe});"
    ),
    "compare_swap_nbi": Operation(
        1,
        "update(compare_swap, {v}, {w}, {pe}, {b}, {q}, {a});",
        "shmem_{ctx}{N}_atomic_compare_swap_nbi({c}{a}, {b}, {w}, {v}, {pe});",
    ),
    "put_signal": Operation(
        2,
        "bundle; put({a}, {pe}, {b}, {q}); signal(set, {k}, {pe}, sig, {q});",
        "shmem_{ctx}{N}_put_signal({c}{b}, {a}, 1, &sig, {k}, SHMEM_SIGNAL_SET, {pe});",
    ),
    "put_signal_nbi": Operation(
        2,
        "bundle; write({a}, {pe}, {b}, {q}); signal(add, {k}, {pe}, sig, {q});",
        "shmem_{ctx}{N}_put_signal_nbi({c}{b}, {a}, 1, &sig, {k}, SHMEM_SIGNAL_ADD, {pe});",
    ),
    "signal_wait": Operation(0, "await(mem[sig] {rel} {k});", "shmem_signal_wait_until(&sig, {cmp}, {k});"),
    "assign": Operation(2, "{r} <- {v};", "{r} = {v};"),
    "assert": Operation(2, "assert({v});", "assert({v});"),
    "barrier_all": Operation(0, "wait(q); barrier;", "shmem_barrier_all();"),
    "sync_all": Operation(0, "barrier;", "shmem_sync_all();"),
}
THERE = {"load": "load_there", "store": "store_there", "copy": "copy_there", "fence": "quiet"}
"""What ranks that share memory do instead: the order of puts and stores that a fence gives is not supported."""
LOOKS = ("load", "load_there", "g", "get_local", "fetch")
"""Operations that a loop may repeat until they find something."""
COMPARISONS = {"==": "SHMEM_CMP_EQ", "!=": "SHMEM_CMP_NE", ">=": "SHMEM_CMP_GE", ">": "SHMEM_CMP_GT"}


@dataclass(frozen=True, slots=True)
class Expr:
    """A constant, or with ``left`` a register, a sum or comparison of one and a constant or the register ``right``."""

    constant: int
    left: str | None = None
    operator: str = ""
    right: str | None = None

    @property
    def pgas(self) -> str:
        if self.left is None:
            return str(self.constant)
        return f"({self.left} {self.operator} {self.right or self.constant})" if self.operator else self.left


@dataclass(frozen=True, slots=True)
class Do:
    """An operation; what its templates do not name has no meaning."""

    name: str
    here: str = "x"
    there: str = "x"
    pe: int = 0
    value: Expr = Expr(1)
    other: Expr = Expr(0)
    register: str = "r0"
    relation: str = "=="
    constant: int = 1
    context: int = 0
    index: str = "r0"


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Repeat:
    """``body`` so many times."""

    count: int
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Poll:
    """``look`` until ``condition`` does not hold any more; with ``most`` at most so often, counted in ``counter``.

    After every look the registers ``swapped`` change their values.
    """

    look: Do
    condition: Expr
    most: int = 0
    counter: str | None = None
    swapped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Critical:
    """``body`` while holding the lock."""

    body: tuple[Statement, ...]


Statement = Do | If | Repeat | Poll | Critical


@dataclass(frozen=True, slots=True)
class Drawn:
    """A program: what every rank does, and what its cells hold at first."""

    ranks: tuple[tuple[Statement, ...], ...]
    initial: tuple[int, ...]


def draw(random: Random) -> Drawn:
    """A random program, small enough to be decided at once."""
    if random.random() < 0.2:
        return _draw_computing(random)
    if random.random() < 0.2:
        program = draw(random)
        return replace(program, ranks=tuple(_sharing(random, body) for body in program.ranks))
    nodes = random.choice((2, 2, 2, 3))
    most = {2: 4, 3: 2}[nodes]
    ranks: list[tuple[Statement, ...]] = [()] * nodes
    careful = random.choice((0.0, 0.2, 0.6))
    for phase in range(random.choice((1, 1, 1, 2))):
        meeting = Do(random.choice(("barrier_all", "barrier_all", "sync_all")))
        for rank in range(nodes):
            body = _block(random, nodes, random.randint(1, most), careful, 2)
            ranks[rank] += ((meeting,) if phase else ()) + body
    if random.random() < 0.4:
        ranks = _passing_a_message(random, ranks)
    if random.random() < 0.5:
        rank = random.randrange(nodes)
        ranks[rank] += (Do("assert", value=_comparison(random)),)
    return Drawn(tuple(ranks), tuple(random.choice((0, 0, 1)) if random.random() < 0.5 else 0 for _ in CELLS))


def _sharing(random: Random, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """``body`` with loads and stores of other ranks' memory."""

    def changed(statement: Statement) -> Statement:
        match statement:
            case Do(name) if name in THERE and (name == "fence" or random.random() < 0.7):
                return replace(statement, name=THERE[name])
            case If(_, then, otherwise):
                return replace(statement, then=_sharing(random, then), otherwise=_sharing(random, otherwise))
            case Repeat(_, inner) | Critical(inner):
                return replace(statement, body=_sharing(random, inner))
            case Poll(look):
                return replace(statement, look=changed(look))
        return statement

    return tuple(map(changed, body))


def _draw_computing(random: Random) -> Drawn:
    """A rank that computes with what another one puts, and is asked for the outcome or passes it on."""
    puts = tuple(Do("p", there=random.choice("xy"), value=Expr(random.randint(1, 2))) for _ in range(2))
    body = _computation(random, random.randint(3, 7), 2)
    outcome = random.choice(REGISTERS)
    if random.random() < 0.4:
        meeting = Do("barrier_all")
        body += (Do("p", there="z", pe=1, value=Expr(0, outcome)), meeting)
        puts += (meeting, Do("load", here="z"))
        ask = Do("assert", value=Expr(random.randint(0, 4), "r0", "!="))
        return Drawn((body, (*puts, ask)), (0,) * len(CELLS))
    ask = Do("assert", value=Expr(random.randint(0, 4), outcome, random.choice(("!=", "<"))))
    return Drawn(((*body, ask), puts), (0,) * len(CELLS))


def _computation(random: Random, length: int, depth: int) -> tuple[Statement, ...]:
    """Loads and what is computed from them, in branches and loops."""
    found: list[Statement] = []
    for _ in range(length):
        chance, register, test = random.random(), random.choice(REGISTERS), _comparison(random)
        change = Do("assign", value=_value(random), register=register)
        look = Do("load", random.choice("xxy"), register=random.choice(REGISTERS))
        if chance < 0.25:
            found.append(look)
        elif chance < 0.5 or not depth:
            found.append(change)
        elif chance < 0.7:
            found.append(If(test, (Do("assign", value=Expr(1, register, "+"), register=register),)))
        elif chance < 0.85:
            then = _computation(random, random.randint(1, 3), depth - 1)
            found.append(If(test, then, _computation(random, random.randint(0, 2), depth - 1)))
        elif chance < 0.93:
            inner = If(test, _computation(random, 1, 0))
            found.append(Repeat(random.choice((2, 3, 5)), (look, inner, change)))
        else:
            found.append(_poll(random, look))
    return tuple(found)


def _poll(random: Random, look: Do) -> Poll:
    condition = Expr(random.randint(0, 1), look.register, random.choice(("==", "!=")))
    most = random.choice((0, 1, 2, 3, 6))
    free = tuple(register for register in REGISTERS if register != look.register)
    counter = random.choice((None, *free)) if most else None
    return Poll(look, condition, most, counter, free if counter is None and random.random() < 0.5 else ())


def _passing_a_message(random: Random, ranks: list[tuple[Statement, ...]]) -> list[tuple[Statement, ...]]:
    """The last rank waits for a flag that the first one sets at its end."""
    last = len(ranks) - 1
    order: tuple[Statement, ...] = random.choice(((), (Do("fence"),), (Do("quiet"),)))
    if random.random() < 0.3:
        give = Do("put_signal" if random.random() < 0.5 else "put_signal_nbi", "y", random.choice("xz"), last)
        take = Do("signal_wait", relation=random.choice(("==", ">=", "!=")), constant=random.choice((1, 0)))
        take = replace(take, constant=0 if take.relation == "!=" else 1)
    else:
        give = Do(random.choice(("p", "set", "inc", "add", "put_local", "fetch_inc")), there="f", pe=last)
        take = Do("wait_until", here="f", relation=random.choice(("!=", ">=", ">")), constant=0)
        take = replace(take, constant=1) if take.relation == ">=" else take
    ranks = list(ranks)
    ranks[0] += (*order, give)
    ranks[last] = (take, *ranks[last])
    return ranks


def _block(random: Random, nodes: int, length: int, careful: float, depth: int) -> tuple[Statement, ...]:
    found: list[Statement] = []
    while len(found) < length:
        chance = random.random()
        if depth and chance < 0.16:
            then = _block(random, nodes, random.randint(1, 2), careful, depth - 1)
            otherwise = _block(random, nodes, 1, careful, depth - 1) if random.random() < 0.4 else ()
            if random.random() < 0.3:  # if (r == 0) s++
                register = random.choice(REGISTERS)
                then, otherwise = (Do("assign", value=Expr(1, register, "+"), register=register),), ()
            found += [_look(random, nodes, condition := _comparison(random)), If(condition, then, otherwise)]
        elif depth and chance < 0.22:
            if random.random() < 0.5:
                found.append(Repeat(2, _block(random, nodes, 1, careful, 0)))
            else:  # a count of what is found, and other values that branches change
                test, register = _comparison(random), random.choice(REGISTERS)
                change = Do("assign", value=Expr(1, register, "+"), register=register)
                other = Do("assign", value=_value(random), register=random.choice(REGISTERS))
                look = _look(random, nodes, test)
                found.append(Repeat(random.choice((2, 3, 6)), (look, If(test, (change,)), other)))
        elif depth and chance < 0.28:
            found.append(_poll(random, _look(random, nodes, _comparison(random))))
        elif depth == 2 and chance < 0.32:
            found.append(Critical(_block(random, nodes, random.randint(1, 2), careful, 0)))
        else:
            found.append(_operation(random, nodes))
            if random.random() < careful:
                found.append(Do(random.choice(("quiet", "quiet", "fence"))))
    return tuple(found)


def _comparison(random: Random) -> Expr:
    right = random.choice(REGISTERS) if random.random() < 0.2 else None
    return Expr(random.randint(0, 2), random.choice(REGISTERS), random.choice(("==", "!=", "<", ">", "<=")), right)


def _look(random: Random, nodes: int, condition: Expr) -> Do:
    assert condition.left is not None
    name = random.choice(LOOKS)
    return Do(name, random.choice("xyz"), random.choice("xyz"), random.randrange(nodes), register=condition.left)


def _value(random: Random) -> Expr:
    if random.random() < 0.6:
        return Expr(random.randint(1, 3))
    right = random.choice(REGISTERS) if random.random() < 0.2 else None
    return Expr(random.randint(0, 2), random.choice(REGISTERS), random.choice(("", "+", "==", "!=", "^", "|")), right)


def _operation(random: Random, nodes: int) -> Do:
    name = random.choices(list(OPERATIONS), [each.weight for each in OPERATIONS.values()])[0]
    here, there = random.choice(("x", "x", "y", "y", "z", "own")), random.choice("xxyyz")
    if "_two" in name:
        here, there = random.choice("xy"), random.choice("xy")
    return Do(
        name, here, there, random.randrange(nodes), _value(random), Expr(random.randint(0, 1)),
        random.choice(REGISTERS), random.choice(list(COMPARISONS)), random.randint(0, 2),
        int(random.random() < 0.1), random.choice(REGISTERS),
    )  # fmt: skip


# In the calculus


def to_pgas(program: Drawn) -> str:
    """The program in the calculus."""
    cells = [f"{name} = {value}" for name, value in zip(CELLS, program.initial, strict=True)]
    lines = [
        f"nodes {len(program.ranks)};",
        f"memory {', '.join(cells)}, sig, lock, tmp;",
        f"register {', '.join(REGISTERS)}, old;",
        "queue q unordered, other unordered, fresh unordered;",
    ]
    for rank, body in enumerate(program.ranks):
        lines += [f"process {rank} {{", *_pgas(body, "  "), "  wait(q); barrier;", "}"]
    return "\n".join(lines) + "\n"


def _pgas(body: Sequence[Statement], indent: str) -> Iterator[str]:
    for statement in body:
        match statement:
            case Do():
                yield indent + _pgas_operation(statement)
            case If(condition, then, otherwise):
                yield f"{indent}if ({condition.pgas}) {{"
                yield from _pgas(then, indent + "  ")
                yield f"{indent}}} else {{"
                yield from _pgas(otherwise, indent + "  ")
                yield f"{indent}}}"
            case Repeat(count, inner):
                yield from _pgas(inner * count, indent)
            case Poll(look, condition, most, counter):
                once = _pgas_operation(look)
                if statement.swapped:
                    one, two = statement.swapped
                    once += f" old <- {one}; {one} <- {two}; {two} <- old;"
                if counter:
                    once += f" {counter} <- {counter} + 1;"
                    yield f"{indent}{counter} <- 0;"
                if most:
                    yield from (f"{indent}if ({condition.pgas}) {{ {once}" for _ in range(most))
                    yield indent + "}" * most
                else:
                    yield f"{indent}{once}"
                    yield f"{indent}while ({condition.pgas}) {{ {once} }}"
            case Critical(inner):
                yield f"{indent}await_add(0, mem[lock] == 0, 1);"
                yield from _pgas(inner, indent)
                yield f"{indent}wait(q); old <- swap(0, lock, 0);"


def _pgas_operation(do: Do) -> str:
    return OPERATIONS[do.name].pgas.format(
        a=do.here, b=do.there, pe=do.pe, v=do.value.pgas, w=do.other.pgas, r=do.register, rel=do.relation,
        k=do.constant, q="other" if do.context else "q", at=f"x + ({do.index} & 1)", to=f"{do.index} % nodes",
    )  # fmt: skip


# In C

TYPES = {"int": "int", "long": "long", "longlong": "long long", "uint64": "uint64_t"}


def to_c(program: Drawn, random: Random) -> str:
    """The program in C, in the disguise that ``random`` chooses."""
    return _Writer(program, random).text()


class _Writer:
    """Writes one program. ``scope`` says how a register is written where the text at hand stands."""

    def __init__(self, program: Drawn, random: Random) -> None:
        self.program = program
        self.random = random
        self.nodes = len(program.ranks)
        self.name, self.type = random.choice(list(TYPES.items()))
        layouts = ["array", "struct", "matrix"]
        if not any(program.initial):
            layouts.append("heap")
        if " + 1, " not in to_pgas(program):  # two elements at once
            layouts.append("plain")
        self.layout = random.choice(layouts)
        self.aliases = random.random() < 0.5
        self.registers = random.choice(("local", "local", "static", "array", "struct"))
        self.numbers = 0
        self.functions: list[str] = []
        self.scope: dict[str, str] = {}
        self.rank = 0
        self.outlined = 0

    def text(self) -> str:
        random = self.random
        dispatch = random.choice(("inline", "functions", "switch", "table"))
        main: list[str] = []
        blocks = []
        for rank, body in enumerate(self.program.ranks):
            self.rank, self.scope = rank, self._scope()
            written = [*self._declared(), *self._body(body)]
            if dispatch in ("functions", "table"):
                name = f"rank{rank}"
                self.functions.append(self._function(f"static void {name}(void)", written))
                written = [f"{name}();"]
            blocks.append(_indented(written))
        main += ["shmem_init();", *self._setup(), *self._prologue()]
        if dispatch == "table":
            names = ", ".join(f"rank{rank}" for rank in range(self.nodes))
            main += [f"static void (*const code[])(void) = {{{names}}};", "code[me]();"]
        elif dispatch == "switch":
            main.append("switch (me) {")
            for rank, block in enumerate(blocks):
                main += [f"case {rank}: {{", *block, "    break;", "}"]
            main.append("}")
        else:
            for rank, block in enumerate(blocks):
                main += [f"{'else ' * (rank > 0)}if (me == {rank}) {{", *block, "}"]
        main += ["shmem_finalize();", "return 0;"]
        head = [
            "#include <assert.h>",
            "#include <shmem.h>",
            "#include <stdint.h>",
            "#include <string.h>",
            "",
            *self._globals(),
            "",
        ]
        whole = [*head, *self.functions, "int main(void)", "{", *_indented(main), "}"]
        return f"// nodes: {self.nodes}\n// shared-memory: all\n" + "\n".join(whole) + "\n"

    # Declarations

    def _globals(self) -> list[str]:
        initial, type = self.program.initial, self.type
        values = ", ".join(map(str, initial))
        lines = ["static uint64_t sig;", "static long lock;", "static shmem_ctx_t context;"]
        match self.layout:
            case "plain":
                lines += [f"static {type} {name} = {value};" for name, value in zip(CELLS, initial, strict=True)]
                lines.append(f"static {type} *const cells[] = {{{', '.join('&' + name for name in CELLS)}}};")
            case "array":
                lines.append(f"static {type} cells[{len(CELLS)}] = {{{values}}};")
            case "struct":
                members = " ".join(f"{type} {name};" for name in CELLS)
                lines.append(f"static struct cells {{ char pad; {members} }} cells = {{9, {values}}};")
            case "matrix":
                rows = ", ".join(
                    f"{{{', '.join(map(str, initial[row : row + 2]))}}}" for row in range(0, len(CELLS), 2)
                )
                lines.append(f"static {type} cells[3][2] = {{{rows}}};")
            case "heap":
                lines.append(f"static {type} *cells;")
        if self.registers == "static":
            lines.append(f"static long {', '.join(REGISTERS)};")
        ways = "".join(f"    case {index}: return {self._plain(name)};\n" for index, name in enumerate(CELLS[:-1]))
        lines += [
            "#define THREE 3",
            "#define PLUS(a, b) ((a) + (b))",
            "struct pair { long first, second; };",
            "static long same(long value) { return value; }",
            "static long larger(long a, long b) { if (a > b) return a; return b; }",
            f"static {type} *at(int index)\n{{\n    switch (index) {{",
            f"{ways}    default: return {self._plain(CELLS[-1])};\n    }}\n}}",
        ]
        return lines

    def _setup(self) -> list[str]:
        lines = []
        if self.layout == "heap":
            allocate = f"shmem_calloc({len(CELLS)}, sizeof({self.type}))"
            lines.append(f"cells = {allocate};")
        create = "shmem_ctx_create(0, &context)"
        lines.append(self.random.choice((f"{create};", f"if ({create} != 0) return 1;")))
        return lines

    def _prologue(self) -> list[str]:
        """What every function begins with."""
        lines = ["int me = shmem_my_pe(), n = shmem_n_pes();"]
        if self.aliases:
            lines += [f"{self.type} *p_{name} = {self._plain(name)};" for name in CELLS]
        return lines

    def _scope(self) -> dict[str, str]:
        match self.registers:
            case "array":
                return {name: f"reg[{index}]" for index, name in enumerate(REGISTERS)}
            case "struct":
                return {name: f"reg.{name}" for name in REGISTERS}
            case _:
                return {name: name for name in REGISTERS}

    def _declared(self) -> list[str]:
        match self.registers:
            case "local":
                return [f"long {' = 0, '.join(REGISTERS)} = 0;"]
            case "array":
                return [f"long reg[{len(REGISTERS)}] = {{0}};"]
            case "struct":
                return [f"struct {{ long {', '.join(REGISTERS)}; }} reg = {{0}};"]
            case _:
                return []

    def _function(self, head: str, body: Sequence[str]) -> str:
        return "\n".join([head, "{", *_indented([*self._prologue(), *body]), "}", ""])

    # Cells, ranks and values

    def _plain(self, cell: str) -> str:
        """The address of a cell, straight."""
        index = CELLS.index(cell)
        match self.layout:
            case "plain":
                return f"&{cell}"
            case "struct":
                return f"&cells.{cell}"
            case "matrix":
                return f"&cells[{index // 2}][{index % 2}]"
            case _:
                return f"&cells[{index}]"

    def _cell(self, cell: str) -> str:
        index = CELLS.index(cell)
        ways = [self._plain(cell)] * 2 + [f"at({self._number(index)})", f"(n > 1 ? {self._plain(cell)} : 0)"]
        if self.aliases:
            ways += [f"p_{cell}", f"(&p_{cell}[0])", f"(p_{cell} + (n - {self.nodes}))"]
        match self.layout:
            case "plain":
                ways.append(f"cells[{self._number(index)}]")
            case "array" | "heap":
                ways += [f"(cells + {self._number(index)})", f"&cells[{self._number(index)}]"]
            case "matrix":
                ways.append(f"(&cells[0][0] + {self._number(index)})")
            case "struct":
                ways.append(f"&(&cells)->{cell}")
        return self.random.choice(ways)

    def _place(self, register: str) -> str:
        """The address of x or y, as ``register`` says."""
        index = f"{self._read(register)} {self.random.choice(('& 1', '% 2'))}"
        ways = [f"at({index})", f"({index} ? {self._cell('y')} : {self._cell('x')})"]
        if self.layout in ("array", "heap"):
            ways.append(f"&cells[{index}]")
        if self.layout == "matrix":
            ways.append(f"&cells[0][{index}]")
        return self.random.choice(ways)

    def _number(self, value: int) -> str:
        """A known number."""
        ways = [str(value)] * 3 + [f"(me + {value - self.rank})", f"({value + 1} - 1)", f"(n - {self.nodes - value})"]
        ways += [f"(me == {self.rank} ? {value} : {value + 5})", f"(int)same({value})"]
        if value == 3:
            ways.append("THREE")
        return self.random.choice(ways)

    def _pe(self, pe: int) -> str:
        ways = [str(pe), str(pe), f"(me + {(pe - self.rank) % self.nodes}) % n", self._number(pe)]
        if pe == self.nodes - 1:
            ways.append("n - 1")
        if pe == self.rank:
            ways.append("me")
        return self.random.choice(ways)

    def _value(self, expr: Expr) -> str:
        if expr.left is None:
            return self._number(expr.constant)
        left = self._read(expr.left)
        if not expr.operator:
            return left
        right = self._read(expr.right) if expr.right else self._number(expr.constant)
        if expr.operator == "+":
            return self.random.choice((f"{left} + {right}", f"PLUS({left}, {right})", f"({right} + {left})"))
        if expr.operator in ("^", "|"):
            return f"({left} {expr.operator} {right})"
        plain = f"{left} {expr.operator} {right}"
        opposite = {"==": "!=", "!=": "==", "<": ">=", ">": "<=", "<=": ">"}[expr.operator]
        ways = [plain, plain, f"!({left} {opposite} {right})", f"({plain} ? 1 : 0)", f"({plain} && n > 1)"]
        return f"({self.random.choice(ways)})"

    def _read(self, register: str) -> str:
        name = self.scope[register]
        ways = [name] * 4 + [f"same({name})", f"(*&{name})", f"({name} + 0)", f"({name} | {name})"]
        ways += [f"larger({name}, {name})", f"(me == {self.rank} ? {name} : 5)", f"((struct pair){{4, {name}}}).second"]
        return self.random.choice(ways)

    # Statements

    def _fresh(self, what: str) -> str:
        self.numbers += 1
        return f"{what}{self.numbers}"

    def _body(self, body: Sequence[Statement]) -> list[str]:
        lines: list[str] = []
        index = 0
        while index < len(body):
            count = self.random.randint(1, 3)
            part = body[index : index + count]
            index += count
            if self.outlined < 3 and self.random.random() < 0.25:
                lines += self._outlined(part)
                continue
            for statement in part:
                lines += self._disguised(statement)
        return lines

    def _outlined(self, part: Sequence[Statement]) -> list[str]:
        """The statements as a function of its own, which gets the registers by their addresses."""
        self.outlined += 1
        name, scope = self._fresh("part"), self.scope
        if self.registers == "static":
            arguments = parameters = ""
        else:
            parameters = ", ".join(f"long *{register}" for register in REGISTERS)
            arguments = ", ".join(f"&{scope[register]}" for register in REGISTERS)
            self.scope = {register: f"(*{register})" for register in REGISTERS}
        body = self._body(part)
        self.scope = scope
        self.functions.append(self._function(f"static void {name}({parameters or 'void'})", body))
        return [f"{name}({arguments});"]

    def _disguised(self, statement: Statement) -> list[str]:
        written = self._written(statement)
        block = _indented(written)
        match self.random.randrange(14):
            case 0:
                return ["do {", *block, "} while (0);"]
            case 1:
                name = self._fresh("i")
                return [f"for (int {name} = 0; {name} < 1; {name}++) {{", *block, "}"]
            case 2:
                dead = self._dead()
                return [f"if (me != {self.rank}) {dead}", "else {", *block, "}"]
            case 3:
                label = self._fresh("past")
                return [f"goto {label};", self._dead(), f"{label}: {{", *block, "}"]
            case 4:
                return [f"switch (n) {{ case 7: {self._dead()} break; case {self.nodes}: {{", *block, "} }"]
            case 5:
                name = self._fresh("i")
                return [f"int {name} = {self._number(2)};", f"while ({name}-- > 1) {{", *block, "}"]
            case 6:
                return [f"if ({self._read('r0')} < 0) {self._dead()}", *written]
            case _:
                return written

    def _dead(self) -> str:
        """A statement that is never reached."""
        store = f"*({self._cell('x')}) = 9;"
        return self.random.choice(("shmem_quiet();", "shmem_barrier_all();", store, "assert(0);"))

    def _written(self, statement: Statement) -> list[str]:
        match statement:
            case Do():
                return self._operation(statement)
            case If():
                return self._if(statement)
            case Repeat(count, body):
                return self._repeat(count, body)
            case Poll():
                return self._poll(statement)
            case Critical(body):
                return ["shmem_set_lock(&lock);", *self._body(body), "shmem_clear_lock(&lock);"]

    def _operation(self, do: Do) -> list[str]:
        before: list[str] = []
        value = self._value(do.value)
        if self.random.random() < 0.25:
            name = self._fresh("value")
            before = [f"long {name} = {value};"]
            value = name
        template = OPERATIONS[do.name].c
        target = self.scope[do.register]
        if template.startswith("{r} = ") and self.random.random() < 0.3:
            target = self._fresh("found")
            before.append(f"long {target};")
        line = template.format(
            a=self._cell(do.here), b=self._cell(do.there), pe=self._pe(do.pe), v=value, w=self._value(do.other),
            r=target, cmp=COMPARISONS[do.relation], k=self._number(do.constant), N=self.name, T=self.type,
            ctx="ctx_" * do.context, c="context, " * do.context, last="context" * do.context,
            at=self._place(do.index), to=f"{self._read(do.index)} % n",
        )  # fmt: skip
        after = [f"{self.scope[do.register]} = {target};"] if target != self.scope[do.register] else []
        lines = [*before, line, *after]
        return ["{", *_indented(lines), "}"] if before else lines

    def _if(self, statement: If) -> list[str]:
        condition, then, otherwise = statement.condition, statement.then, statement.otherwise
        match then, otherwise:
            case (Do("assign", value=value, register=register),), () if self.random.random() < 0.7:
                target, test = self.scope[register], self._value(condition)
                new = self._value(value)
                ways = [
                    f"if ({test}) {target} = {new};",
                    f"{target} = {test} ? {new} : {target};",
                    f"if (!{test}) ; else {target} = {new};",
                    f"{test} && (({target} = {new}), 1);",
                    f"{target} = ((long[]){{{target}, {new}}})[{test}];",
                ]
                if value == Expr(1, register, "+"):
                    ways += [f"{target} += {test};", f"if ({test}) {target}++;", f"if ({test}) ++{target};"]
                return [self.random.choice(ways)]
        yes, no = _indented(self._body(then)), _indented(self._body(otherwise))
        test = self._value(condition)
        assert condition.left is not None
        match self.random.randrange(7):
            case 0:
                return [f"if (!{test}) {{", *no, "} else {", *yes, "}"]
            case 1:
                name = self._fresh("test")
                return [f"long {name} = {test};", f"if ({name}) {{", *yes, "}", f"if (!{name}) {{", *no, "}"]
            case 2 if condition.operator == "==" and not condition.right:
                head = f"switch ({self._read(condition.left)}) {{"
                return [head, "default: {", *no, "    break; }", f"case {condition.constant}: {{", *yes, "} }"]
            case 3:
                label, end = self._fresh("no"), self._fresh("end")
                lines = [f"if (!{test}) goto {label};", "{", *yes, "}", f"goto {end};"]
                return [*lines, f"{label}: {{", *no, "}", f"{end}: ;"]
            case 4:
                name = self._fresh("test")
                lines = [f"int {name} = 2;", f"if ({test}) {name} = 1;"]
                return [*lines, f"if ({name} == 1) {{", *yes, "} else {", *no, "}"]
            case 5 if not otherwise:
                return [f"while ({test}) {{", *yes, "    break; }"]
            case _:
                return [f"if ({test}) {{", *yes, *(["} else {", *no] if otherwise else []), "}"]

    def _repeat(self, count: int, body: Sequence[Statement]) -> list[str]:
        inner, name = _indented(self._body(body)), self._fresh("i")
        match self.random.randrange(4):
            case 0:
                return [f"for (int {name} = 0; {name} < {count}; {name}++) {{", *inner, "}"]
            case 1:
                return [f"int {name} = {count};", f"while ({name}) {{", *inner, f"    {name}--; }}"]
            case 2:
                return [f"int {name} = 0;", "do {", *inner, f"}} while (++{name} < n + {count - self.nodes});"]
            case _:
                return [f"for (int {name} = n; {name} > {self.nodes - count}; --{name}) {{", *inner, "}"]

    def _poll(self, poll: Poll) -> list[str]:
        once, test = self._operation(poll.look), self._value(poll.condition)
        if poll.swapped:
            one, two = (self.scope[register] for register in poll.swapped)
            name = self._fresh("kept")
            once += self.random.choice((
                [f"long {name} = {one};", f"{one} = {two};", f"{two} = {name};"],
                [f"struct pair {name} = {{{two}, {one}}};", f"{one} = {name}.first;", f"{two} = {name}.second;"],
            ))  # fmt: skip
        look = _indented(once)
        if not poll.most:
            match self.random.randrange(4):
                case 0:
                    return ["do {", *look, f"}} while ({test});"]
                case 1:
                    return ["for (;;) {", *look, f"    if (!{test}) break;", "}"]
                case 2:
                    label = self._fresh("again")
                    return [f"{label}: {{", *look, "}", f"if ({test}) goto {label};"]
                case _:
                    return ["{", *look, "}", f"while ({test}) {{", *look, "}"]
        name = self._fresh("tries")
        counter = self.scope[poll.counter] if poll.counter else name
        if poll.counter and self.random.random() < 0.5:
            declared, final = f"int {name};", [f"{counter} = {name};"]
            counter = name
        else:
            declared, final = f"int {name} = 0;", []
        match self.random.randrange(3):
            case 0:
                loop = [f"for ({counter} = 0; {counter} < {poll.most} && {test}; {counter}++) {{", *look, "}"]
            case 1:
                last = f"    if (++{counter} >= {poll.most}) break;"
                loop = [f"{counter} = 0;", f"while ({test}) {{", *look, last, "}"]
            case _:
                head = f"for ({counter} = 0; {counter} != {poll.most}; {counter} += 1) {{"
                loop = [head, f"    if (!{test}) break;", *look, "}"]
        return [declared, *loop, *final]


def _indented(lines: Sequence[str]) -> list[str]:
    return ["    " + line for line in lines]


# Comparing


@dataclass(frozen=True, slots=True)
class Compared:
    """What was found out about a program written twice; ``difference`` is empty when they agree."""

    pgas: str
    c: str
    left: Verdict
    right: Verdict

    @property
    def decided(self) -> bool:
        return "unknown" not in (self.left.verdict, self.right.verdict)

    @property
    def difference(self) -> str:
        found = []
        if self.decided and self.left.verdict != self.right.verdict:
            found.append(f"verdict: .pgas {self.left.verdict}, C {self.right.verdict}")
        facts = [(each.assertions, each.deadlock) for each in (self.left, self.right)]
        if not any("unknown" in pair for pair in facts):
            violated = [pair[0] == "violated" for pair in facts]
            if violated[0] != violated[1]:
                found.append(f"assertions: .pgas {facts[0][0]}, C {facts[1][0]}")
            # A rank that looks for ever at what no other rank can change has ended in C, so that the others may wait
            # for it; in the calculus it goes on looking.
            if facts[0][1] != facts[1][1] and not (facts[1][1] and "while" in self.pgas):
                found.append(f"deadlock: .pgas {facts[0][1]}, C {facts[1][1]}")
        return "; ".join(found)

    @property
    def report(self) -> str:
        return f"{self.difference}\n--- .pgas\n{self.pgas}\n--- C\n{self.c}"


LIMITS = Limits(max_states=60_000, timeout=60, memory=500_000_000)


def compare(pgas: str, c: str, limits: Limits = LIMITS) -> Compared:
    """Check both texts as the command line does."""
    with tempfile.TemporaryDirectory() as folder:
        verdicts = []
        for name, text in (("program.pgas", pgas), ("program.c", c)):
            path = Path(folder, name)
            path.write_text(text)
            verdicts.append(pgasrob.check(pgasrob.load(path), limits=limits, threads=1, effect=False))
    return Compared(pgas, c, *verdicts)


def smaller(program: Drawn) -> Iterator[Drawn]:
    """Programs with a statement less, or with less of one."""
    for rank, body in enumerate(program.ranks):
        for less in _smaller(body):
            yield replace(program, ranks=(*program.ranks[:rank], less, *program.ranks[rank + 1 :]))
    for index, value in enumerate(program.initial):
        if value:
            yield replace(program, initial=(*program.initial[:index], 0, *program.initial[index + 1 :]))


def _smaller(body: tuple[Statement, ...]) -> Iterator[tuple[Statement, ...]]:
    for index, statement in enumerate(body):
        before, after = body[:index], body[index + 1 :]
        yield (*before, *after)
        match statement:
            case If(condition, then, otherwise):
                yield (*before, *then, *after)
                yield from ((*before, If(condition, less, otherwise), *after) for less in _smaller(then))
                yield from ((*before, If(condition, then, less), *after) for less in _smaller(otherwise))
            case Repeat(count, inner):
                yield (*before, *inner, *after)
                yield from ((*before, Repeat(count, less), *after) for less in _smaller(inner))
            case Poll(look):
                yield (*before, look, *after)
            case Critical(inner):
                yield (*before, *inner, *after)
                yield from ((*before, Critical(less), *after) for less in _smaller(inner))
            case Do():
                pass


def shrunk(
    program: Drawn, seed: int, fails: Callable[[Drawn, int], bool], disguises: int = 6, rounds: int = 100
) -> tuple[Drawn, int]:
    """A smaller program, and the seed of a disguise of it, that ``fails`` too."""
    for _ in range(rounds):
        for candidate in smaller(program):
            found = next((each for each in (seed, *range(disguises)) if fails(candidate, each)), None)
            if found is not None:
                program, seed = candidate, found
                break
        else:
            break
    return program, seed
