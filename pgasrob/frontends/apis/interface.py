"""How an API is described to the C front end, and what its calls may ask of the machine.

An :class:`Api` knows names: types, constants, functions with their declarations. A function has a handler, which is
called each time the machine comes to a call of it, with everything that is known there, and answers with what the call
does: statements of the calculus, a result, and what is known afterwards.

The machine runs once for every rank, with all that is known folded; it may run again when it has learned something that
holds for the whole program (that an object must lie in cells, how large a cell is, what another rank has published).
So handlers must not keep anything themselves: what an API remembers of a rank is `Call.state`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, Protocol

from pgasrob.frontends.c.symbolic import Extent
from pgasrob.frontends.c.types import CType
from pgasrob.frontends.c.values import UNDEFINED, Address, Known, ObjectId, Value
from pgasrob.program.assumptions import Kind
from pgasrob.program.expressions import Const, Expr, Me, Nodes, Register
from pgasrob.program.statements import Span, Statement


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call does.

    First ``statements`` (put together with :meth:`Call.do`), then ``stores`` (address, value, C type) as assignments
    through pointers, then ``result`` is what the call gives, and ``state`` replaces what it names in the API's state.
    ``ends``: the rank does nothing more (`exit`, `shmem_global_exit`). ``after``: statements behind the stores.
    """

    statements: tuple[Statement, ...] = ()
    result: Value = UNDEFINED
    stores: tuple[tuple[Address, Value, CType], ...] = ()
    state: Mapping[str, Hashable] = field(default_factory=dict)
    ends: bool = False
    after: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Look:
    """A call looks at memory before it goes on: ``statements`` read, and then it does ``yes`` or ``no``, as
    ``condition`` over the registers that they set holds or not.

    None: what has been seen is not the answer that this way of the call was to give, and the call is made again, with
    another way or this one. Such a look has no effect, and reading it off a loop that comes back to where it was is
    what the calculus does (`program.polls`): the way is open only when its answer is the right one.
    """

    statements: tuple[Statement, ...]
    condition: Expr
    yes: Way | None
    no: Way | None


Way = Outcome | Look


@dataclass(frozen=True, slots=True)
class Exposed:
    """Memory of a rank that is part of a ``window``: ``bytes`` from ``begin`` on."""

    window: str
    begin: Address
    bytes: int


class Call(Protocol):
    """One call at one place of a run, and the services of the machine for it."""

    @property
    def name(self) -> str: ...
    @property
    def arguments(self) -> tuple[Value, ...]: ...
    @property
    def types(self) -> tuple[CType, ...]:
        """The types of the arguments as passed: pointers tell what they point to."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The arguments as written, for messages and names."""

    @property
    def span(self) -> Span: ...
    @property
    def symbolic(self) -> bool:
        """Whether one machine does what every rank does, on every number of nodes. What is an expression then may be a
        number on one of them."""

    @property
    def rank(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    @property
    def me(self) -> Const | Me:
        """The rank in commands and results. `rank` is an error where the program is made for every number of nodes,
        and so is `nodes`: what a call does has to be the same then."""

    @property
    def count(self) -> Const | Nodes:
        """The number of nodes in commands and results."""

    @property
    def everyone(self) -> tuple[int, ...]:
        """All ranks. Where their number is not known it can be compared and handed on, and nothing else."""

    def among(self, members: tuple[int, ...]) -> bool:
        """Whether the rank is one of ``members``."""

    def may_be(self, index: int, value: int) -> bool:
        """Whether argument ``index``, an integer, may be ``value``, as far as is known."""

    def number_needed(self, what: str) -> NoReturn:
        """``what`` is another thing on every number of nodes, or on every rank."""

    def at_most(self, nodes: int) -> None:
        """More nodes than this the API does not have."""

    @property
    def dialects(self) -> frozenset[str]:
        """What `--api` names: `gaspi-1.01` and the like."""

    @property
    def state(self) -> Mapping[str, Hashable]:
        """What APIs have noted on this rank so far, by names that begin with the API's; empty at the beginning."""

    # Arguments

    def known(self, index: int) -> int:
        """Argument ``index``, an integer that must be known here; an error in the program otherwise (with file:line,
        which argument, and that a constant per rank is needed)."""

    def extent(self, index: int) -> int | Extent:
        """The same for a number of bytes to allocate, which may depend on the number of nodes."""

    def expression(self, index: int) -> Expr:
        """Argument ``index``, an integer (or a double's bits) that need not be known."""

    def try_each(self, index: int) -> None:
        """Make the call for each value that argument ``index`` may have, when it is an unknown value (a random number),
        of which no command can say that it is this one."""

    def pointer(self, index: int, *, of_others: bool = False) -> Address | None:
        """Argument ``index``, a pointer; None when it is null. An error when it is no object's address, and, unless
        ``of_others``, when it is one in another rank's memory: `cell` says nothing of the owner."""

    def value_expression(self, value: Value) -> Expr: ...

    # Memory

    def size_of(self, type: CType) -> int: ...

    def moved(self, address: Address, bytes: int) -> Address:
        """``address`` ``bytes`` further on."""

    def element(self, address: Address, index: Expr, size: int) -> Address:
        """``address`` ``index`` elements of ``size`` bytes further on."""

    def cell(self, address: Address, size: int) -> Expr:
        """The address in the calculus (on the owner's node) of the scalar of ``size`` bytes at ``address``. From then
        on the object lies in cells, for the whole program."""

    def number(self, address: Address, type: CType, *, compared: bool = False) -> Expr:
        """The cell of the number at ``address``, which the call reads, sets or updates as one of ``type``.
        ``compared``: with another number, so that what the cell holds has to be one of that type."""

    def as_number(self, register: Register, address: Address, type: CType) -> Expr:
        """``register``, which has been read from the `number` at ``address``, as one of ``type``."""

    def paired_cells(self, first: Address, second: Address, bytes: int, element: int | None) -> list[tuple[Expr, Expr]]:
        """The cells that a transfer of ``bytes`` bytes between two regions copies to each other, by address.

        ``element``: the size of the elements when the call says it, else the cells are as large as other accesses to
        the objects allow (at most 8 bytes). Both objects lie in cells from then on.
        """

    def walked_cells(
        self, first: Address, second: Address, bytes: int, element: int | None
    ) -> tuple[Register, int, Expr, Expr] | None:
        """The same for a long transfer, as a loop goes over them: a register, the count of the elements, and the cells
        as the register counts from 0 to there. None where they have to be named one by one: there are few, or they are
        of several sizes. Both objects are indexed from then on."""

    def load(self, address: Address, type: CType) -> Value | None:
        """The scalar at ``address`` when it is known without an access, else None."""

    def allocate(
        self,
        kind: str,
        bytes: int | Extent,
        name: str | None = None,
        key: tuple[int | str, ...] | None = None,
        *,
        to: Address | None = None,
        asked_for: bool = True,
    ) -> Address:
        """A new object of this run, kind ``heap`` (each rank's own count), ``symmetric`` (the same count on every rank
        that allocates in the same order) or ``segment`` (as well; a table or a number leads there). ``name`` is for
        display; None: the variable at ``to``, or that the result goes to.

        With a ``key`` it is the object ``ObjectId(kind, key)``, whichever rank asks, as large as the largest request;
        ranks may name it whether or not they have asked (a GASPI segment is known by its number).
        ``asked_for``: the program asks for memory, which may fail; else the front end alone needs the object."""

    def own_element(self, memory: Address, table: Address, rank: str) -> None:
        """Each rank finds ``memory`` in its element of the table of pointers that begins at ``table``. It is named so,
        where no variable points to it: by the first variable that has got the rank, or ``rank`` where there is none."""

    def fill_table(self, table: Address, entry: int, fields: tuple[tuple[int, Address | Known], ...]) -> None:
        """Where the program is made for every number of nodes: put ``fields``, values of 8 bytes by their offsets, into
        the entry of each rank, of ``entry`` bytes, of a table that has such an entry for each rank. An address is put
        there as one in the memory of that rank."""

    def gets_rank(self, to: Address | None = None) -> None:
        """The variable at ``to``, or that the result goes to, gets the rank that the call is made on."""

    def internal(self, kind: str, *key: int | str, bytes: int = 8, initial: int = 0, name: str) -> Address:
        """An object of the API itself, the same cells whoever asks with the same kind and key, one copy on every
        node, e.g. ``call.internal("lock", number, name="lock")``. It is one cell unless ``bytes`` is a larger
        multiple of 8."""

    def clock(self, most: int | None = None) -> Value:
        """A time, ``most`` at most: nothing in the program decides it."""

    # Across ranks

    def publish(self, key: str, value: Hashable, *, by_all: bool = False) -> None:
        """Let other ranks know a fact of this rank that does not change during a run (the base of its window).
        ``by_all``: where the program is made for every number of nodes, it is needed to be one of every rank."""

    def published(self, rank: int, key: str) -> Hashable | None:
        """What ``rank`` has published under ``key``; None as long as that is not known, and then the machine will run
        again once it is."""

    def own_fact(self, key: str) -> Hashable | None:
        """What this rank has published under ``key``; where the program is made for every number of nodes, what any
        has: for facts that collect what is ever done, or that a collective call needs to be the same on all."""

    def all_facts(self, key: str) -> list[Hashable]:
        """What any of the ranks have published under ``key``."""

    def neighbours(self, about: str = "", *, of: int | None = None) -> range:
        """The ranks whose memory this one, or ``of``, reaches by loads and stores, itself among them: pointers with
        such an `Address.owner` may be followed, and a load or store through them is one event on the owner's cells. The
        call rests on it then (``about``, or its name)."""

    # What commands do not tell

    @property
    def marked(self) -> bool:
        """Whether the program is to be marked with what its calls are."""

    def expose(self, part: Exposed) -> None:
        """Let it be known which memory of this rank is part of a window. Where calls are marked, all that is accessed
        there lies in cells."""

    # Building

    def queue(self, *key: int | str, name: str) -> Const:
        """The unordered queue of that key (the first part names the API's notion), created on first use."""

    def fifo_queue(self, *key: int | str, name: str) -> Const: ...

    def register(self, hint: str = "result") -> Register:
        """A register for a value that this call gets. Values that outlive the call are moved by the machine."""

    def do(self, *commands: object) -> tuple[Statement, ...]:
        """Commands (or statements) of the calculus as statements that carry the source position of the call."""

    # What the outcome rests on

    def rests_on(self, kind: Kind, *about: str) -> None:
        """The outcome is what the call does as far as an assumption holds; ``about`` fills its sentence."""

    # Errors

    def fail(self, message: str, hint: str) -> NoReturn:
        """Report an error in the program or something unsupported at this call: ``message`` says what, ``hint`` what
        would make it checkable."""


Handler = Callable[[Call], Way | Sequence[Way]]
"""Several ways: any of them may happen, which is not known (`test` may answer 0 or wait and answer 1)."""


@dataclass(frozen=True, slots=True)
class Api:
    """One API.

    ``headers``: the names of includes that choose it (`shmem.h`). ``types``: its typedef names. ``constants``: names
    that stand for a value of a type (macros of its headers too). ``declaration``: for a function name and the types of
    the arguments at a call (arrays decayed, not converted) the C declaration that the call is compiled with, e.g.
    ``void shmem_int_p(int *dest, int value, int pe);``, None when the API has no such function; type-generic names
    choose by the types. ``handler``: the same for what it does; None for a name that the API has and the front end
    does not support: then the call is an error with the text of ``unsupported``.
    """

    name: str
    headers: tuple[str, ...]
    types: Mapping[str, CType]
    constants: Mapping[str, tuple[CType, Value]]
    declaration: Callable[[str, tuple[CType, ...]], str | None]
    handler: Callable[[str], Handler | None]
    unsupported: Mapping[str, str] = field(default_factory=dict)
    """Functions (or beginnings of names, with a ``*``) that are known and not supported, with what to do instead."""
    output: frozenset[str] = frozenset()
    """Functions that only read their arguments, and memory by pointers among them (`printf`): numbers that are computed
    for them alone decide nothing."""
    macros: Mapping[str, str] = field(default_factory=dict)
    """Macros of its headers that are code: what stands behind `#define` (`GASNET_BLOCKUNTIL(cond)`), and its text."""
    variables: Mapping[str, tuple[CType, int]] = field(default_factory=dict)
    """Variables of its headers, which programs may set: their types, and what they hold at the beginning."""
    source: str = ""
    """Functions that are written in C, since they call functions of the program."""
    functions: Collection[str] = ()
    """The names of its functions, for what is spelled like one of them."""
    specifications: Mapping[str, str] = field(default_factory=dict)
    """What its calls are read off, by dialect; under "" where no dialect is chosen."""


__all__ = ["Address", "Api", "Call", "Handler", "Look", "ObjectId", "Outcome", "Way"]
