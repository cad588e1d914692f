"""Random expressions and programs as the parser would build them: every name is declared, and means what it says."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar

from hypothesis import strategies as st

from pgasrob.program.commands import (
    Accessing,
    Assert,
    Assign,
    Assume,
    Await,
    AwaitAdd,
    Barrier,
    Bundle,
    Command,
    CompareSwap,
    Exit,
    Fence,
    Fetch,
    FetchAdd,
    FetchUpdate,
    Load,
    Notify,
    Put,
    Read,
    Signal,
    Store,
    Swap,
    Update,
    UpdateFrom,
    Wait,
    WaitLocal,
    Write,
)
from pgasrob.program.core import accesses_of, lower
from pgasrob.program.declarations import MemoryObject, Process, Queue, Source
from pgasrob.program.expressions import (
    LEVEL,
    RELATIONS,
    Binary,
    Conditional,
    Const,
    Expr,
    Me,
    Nodes,
    Register,
    Symbol,
    Unary,
)
from pgasrob.program.program import Program
from pgasrob.program.statements import (
    NOWHERE,
    Block,
    Choose,
    Do,
    Goto,
    If,
    Labelled,
    Loop,
    Skip,
    Span,
    Statement,
    While,
)

T = TypeVar("T")

REGISTERS = (Register("r", 0), Register("s", 1), Register("value_2", 2))
MEMORY = (("x", None), ("a", 3), ("_b", 1), ("mem2", None))
QUEUES = ("q", "ring")
LABELS = ("again", "end")

INTEGERS = st.one_of(
    st.integers(-4, 40), st.sampled_from((-(2**31), 2**31 - 1, -(2**31) + 1, 2**30)), st.integers(-(2**31), 2**31 - 1)
)


def without_spans(tree: T) -> T:
    """``tree`` with every span replaced by NOWHERE, and every source by an empty one."""
    if isinstance(tree, Span):
        return NOWHERE  # type: ignore[return-value]
    if isinstance(tree, Source):
        return Source("", "")  # type: ignore[return-value]
    if isinstance(tree, tuple):
        return tuple(map(without_spans, tree))  # type: ignore[return-value]
    if is_dataclass(tree) and not isinstance(tree, type):
        return replace(tree, **{field.name: without_spans(getattr(tree, field.name)) for field in fields(tree)})
    return tree


def symbols() -> list[Symbol]:
    """The memory of MEMORY and the queues of QUEUES, with the addresses and ids that the order gives them."""
    addresses = []
    address = 0
    for name, size in MEMORY:
        addresses.append(Symbol(name, address))
        address += size or 1
    return addresses + [Symbol(name, number) for number, name in enumerate(QUEUES)]


@cache  # making a strategy takes longer than drawing from it
def expressions(leaves: st.SearchStrategy[Expr] | None = None, most: int = 12) -> st.SearchStrategy[Expr]:
    """Expressions over constants, the names above, `me` and `nodes`."""
    if leaves is None:
        leaves = st.one_of(
            INTEGERS.map(Const), st.sampled_from([*REGISTERS, *symbols()]), st.sampled_from([Me(), Nodes()])
        )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(Binary, st.sampled_from(sorted(LEVEL)), inner, inner),
            st.builds(Unary, st.sampled_from("-!~"), inner),
            st.builds(Conditional, inner, inner, inner),
        ),
        max_leaves=most,
    )


@cache
def commands_by_kind() -> dict[type[Command], st.SearchStrategy[Command]]:
    """The commands of every kind that have a text: an update for doubles has none."""
    some = expressions(most=5)
    registers, flags = st.sampled_from(REGISTERS), st.booleans()
    result = st.none() | some
    place = (some, some, some, result)
    simple = st.sampled_from(("set", "add", "and", "or", "xor", "mul", "min", "max"))
    compare, fetch, told = st.just("compare_swap"), st.just("fetch"), st.sampled_from(("set", "add"))
    relations = st.sampled_from(sorted(RELATIONS))
    return {
        Load: st.builds(Load, registers, some, result),
        Store: st.builds(Store, some, some, result),
        Assign: st.builds(Assign, registers, some),
        Assume: st.builds(Assume, some),
        Assert: st.builds(Assert, some),
        Read: st.builds(Read, some, some, some, some),
        Write: st.builds(Write, some, some, some, some),
        Put: st.builds(Put, some, some, some, some),
        Update: st.builds(Update, simple, some, *place, located=flags)
        | st.builds(Update, compare, some, *place, some, flags),
        UpdateFrom: st.builds(UpdateFrom, simple, some, *place, located=flags)
        | st.builds(UpdateFrom, compare, some, *place, some, flags)
        | st.builds(UpdateFrom, fetch, st.none(), *place, located=flags),
        Notify: st.builds(Notify, told, some, some, some, some, flags),
        Bundle: st.builds(Bundle),
        Signal: st.builds(Signal, told, some, some, some, some),
        Barrier: st.builds(Barrier, st.sampled_from(("", "a", "b"))),
        Exit: st.builds(Exit),
        Wait: st.builds(Wait, some),
        WaitLocal: st.builds(WaitLocal, some),
        Fence: st.builds(Fence, some, st.none() | some),
        Await: st.builds(Await, some, relations, some),
        AwaitAdd: st.builds(AwaitAdd, some, some, relations, some, some),
        Fetch: st.builds(Fetch, registers, some, some),
        FetchUpdate: st.builds(FetchUpdate, simple, registers, some, some, some),
        FetchAdd: st.builds(FetchAdd, registers, some, some, some),
        Swap: st.builds(Swap, registers, some, some, some),
        CompareSwap: st.builds(CompareSwap, registers, some, some, some, some),
    }


@st.composite
def commands(draw: st.DrawFn) -> Command:
    """Every command there is that has a text, with accesses of any kind."""
    command = draw(st.one_of(*commands_by_kind().values()))
    if not isinstance(command, Accessing) or draw(st.booleans()):
        return command
    made = len(accesses_of(lower(command)))
    places = st.tuples(st.integers(0, 7), st.integers(1, 8)).map(lambda each: (each[0], sum(each)))
    changed = replace(
        command,
        atomic=draw(st.sampled_from(("", "int", "unsigned long", "MPI_INT by sum", "T by signal or swap"))),
        bytes=draw(st.just(()) | st.tuples(*[places] * made)),
    )
    return replace(changed, polling=draw(st.booleans())) if isinstance(changed, Load) else changed


SPANS = st.builds(Span, st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), st.integers(1, 9))


@cache
def statements(labels: tuple[str, ...]) -> st.SearchStrategy[Statement]:
    """Statements in which every goto goes to one of ``labels``, and no label stands."""
    jumps = [st.sampled_from(labels).map(Goto)] if labels else []
    simple = st.one_of(st.builds(Do, commands(), SPANS), st.just(Skip()), *jumps)

    def nested(inner: st.SearchStrategy[Statement]) -> st.SearchStrategy[Statement]:
        block = st.lists(inner, max_size=3).map(lambda body: Block(tuple(body)))
        condition = expressions(most=3)
        return st.one_of(
            st.builds(If, condition, block, st.none() | block, SPANS),
            st.builds(While, condition, block, SPANS),
            st.lists(block, min_size=1, max_size=3).map(lambda branches: Choose(tuple(branches))),
            st.builds(Loop, block),
        )

    return st.recursive(simple, nested, max_leaves=8)


@st.composite
def bodies(draw: st.DrawFn) -> Block:
    """Blocks with up to two labels, each of them once."""
    labels = LABELS[: draw(st.integers(0, len(LABELS)))]
    labelled: list[Statement] = [Labelled(label, draw(statements(labels))) for label in labels]
    return Block(tuple(draw(st.permutations([*labelled, *draw(st.lists(statements(labels), max_size=4))]))))


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Programs that declare all of the names above, with random sizes of what they hold, and any processes."""
    memory: list[MemoryObject] = []
    for name, size in MEMORY:
        cells = size or 1
        initial = draw(st.lists(INTEGERS, min_size=cells, max_size=cells))
        address = sum(each.cells for each in memory)
        memory.append(MemoryObject(name, address, size, tuple(initial), draw(SPANS), draw(st.booleans())))
    queues = [Queue(name, number, draw(st.booleans()), draw(SPANS)) for number, name in enumerate(QUEUES)]
    ranks: list[Any] = draw(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=3), max_size=2))
    flat = [rank for group in ranks for rank in group]
    groups = [tuple(group) for group in ranks] if len(set(flat)) == len(flat) else []
    named: list[tuple[int, ...] | None] = [*groups, *([None] if not groups or draw(st.booleans()) else [])]
    return Program(
        draw(st.sampled_from(("p", "one_to_one", "_"))),
        draw(st.none() | st.integers(1, 1024)),
        tuple(memory),
        tuple(register.name for register in REGISTERS),
        tuple(queues),
        tuple(Process(ranks, draw(bodies()), draw(SPANS)) for ranks in draw(st.permutations(named))),
    )
