"""How an API is described to the C front end, and what the handlers of its calls may ask of the machine.

An :class:`Api` knows names: types, constants, functions with their declarations. The machine calls the handler of a
function each time a rank comes to a call of it. The handler sees all that is known there, and answers with what the
call does: statements of the calculus, a result, and what the API remembers of the rank.

The machine runs once for every rank, with all known values folded. It runs again when it learns something that holds
for the whole program: that an object must lie in cells, how large a cell is, what another rank has published. So
handlers keep nothing themselves: what an API remembers of a rank is in `Call.state`.

For a check of all node counts the machine runs once for all ranks (`Call.symbolic`). Then numbers of ranks and nodes
are expressions, and a call has to do the same on every rank.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Hashable, Mapping, Sequence
from dataclasses import field
from typing import NoReturn, Protocol

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.c.symbolic import Extent
from pgasrob.frontends.c.together import Bringing
from pgasrob.frontends.c.types import CType
from pgasrob.frontends.c.values import UNDEFINED, Address, Known, ObjectId, Value
from pgasrob.program.assumptions import Kind
from pgasrob.program.commands import Command
from pgasrob.program.expressions import Const, Expr, Me, Nodes, Register
from pgasrob.program.illegal_calls import Rule
from pgasrob.program.outside_memory import Outside
from pgasrob.program.statements import Span, Statement
from pgasrob.program.value_classes import record


@record
class Outcome:
    """What a call does.

    First ``statements`` (made by :meth:`Call.do`), then ``stores`` (address, value, C type) as assignments through
    pointers, then the statements ``after`` them. The call returns ``result``. ``state`` replaces entries of the API's
    state, and takes those away for which it has None. ``ends``: the rank does nothing more (`exit`,
    `shmem_global_exit`). ``brought``: the unknown values that a collective has brought.
    """

    statements: tuple[Statement, ...] = ()
    result: Value = UNDEFINED
    stores: tuple[tuple[Address, Value, CType], ...] = ()
    state: Mapping[str, Hashable] = field(default_factory=dict)
    ends: bool = False
    after: tuple[Statement, ...] = ()
    brought: Bringing | None = None


@record
class Look:
    """A call that looks at memory before it goes on: ``statements`` read, and then the call goes the way ``yes`` or
    ``no``, by ``condition`` over the registers that they set.

    None in place of a way: the call is made again, as it has seen another answer than this way gives. Such a look has
    no effect. To the calculus it is a loop that returns to where it was (`program.polls`): the way is open only when
    its answer is the right one.
    """

    statements: tuple[Statement, ...]
    condition: Expr
    yes: Way | None
    no: Way | None


Way = Outcome | Look


@record
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
        """The types of the arguments as passed: a pointer's type names what it points to."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The arguments as written, for messages and names."""

    @property
    def span(self) -> Span: ...
    @property
    def symbolic(self) -> bool:
        """Whether the machine lowers for all ranks and node counts at once. An expression may then be a number on one
        of them."""

    @property
    def rank(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    @property
    def me(self) -> Const | Me:
        """The rank in commands and results. (`rank` and `nodes` are errors when lowering for all node counts.)"""

    @property
    def count(self) -> Const | Nodes:
        """The number of nodes in commands and results."""

    @property
    def everyone(self) -> tuple[int, ...]:
        """All ranks. Where their number is not known this can only be compared and passed on."""

    def among(self, members: tuple[int, ...]) -> bool:
        """Whether the rank is one of ``members``."""

    def may_be(self, index: int, value: int) -> bool:
        """Whether argument ``index``, an integer, may be ``value``, as far as is known."""

    def number_needed(self, what: str) -> NoReturn:
        """Stop lowering for all node counts: ``what`` differs by rank or node count."""

    def at_most(self, nodes: int) -> None:
        """The API supports at most so many nodes."""

    @property
    def in_open_loop(self) -> bool:
        """Whether the call is made in a loop of which it is not known how often it is passed."""

    @property
    def dialects(self) -> frozenset[str]:
        """What `--api` names: `gaspi-1.01` and the like."""

    @property
    def state(self) -> Mapping[str, Hashable]:
        """The notes that APIs keep about this rank, by keys that begin with the API's name; empty at the beginning."""

    # Arguments

    def known(self, index: int) -> int:
        """Argument ``index``, an integer that must be known here. An error in the program otherwise: it says where,
        which argument, and that a constant per rank is needed."""

    def extent(self, index: int) -> int | Extent:
        """Argument ``index``, a number of bytes to allocate that must be known but for the number of nodes."""

    def expression(self, index: int) -> Expr:
        """Argument ``index``, an integer (or a double's bits) that need not be known."""

    def try_each(self, index: int) -> None:
        """Make the call once for each value that argument ``index`` may have, if that is unknown (a random number)."""

    def pointer(self, index: int, *, of_others: bool = False) -> Address | None:
        """Argument ``index``, a pointer; None when it is null. An error when it is no object's address. An error, too,
        when it points to another rank's memory, unless ``of_others``: `cell` says nothing of the owner."""

    def value_expression(self, value: Value) -> Expr: ...

    # Memory

    def size_of(self, type: CType) -> int: ...

    def moved(self, address: Address, bytes: int) -> Address:
        """``address`` plus ``bytes``."""

    def element(self, address: Address, index: Expr, size: int) -> Address:
        """``address`` plus ``index`` elements of ``size`` bytes."""

    def cell(self, address: Address, size: int) -> Expr:
        """The address in the calculus (on the owner's node) of the scalar of ``size`` bytes at ``address``. From then
        on the object lies in cells, for the whole program."""

    def number(self, address: Address, type: CType, *, compared: bool = False) -> Expr:
        """The cell of the number at ``address``, which the call reads, sets or updates as a ``type``. ``compared``:
        with another number, so that the cell has to hold a number of that type."""

    def taken_apart(self, address: Address, value: Expr, type: CType) -> list[tuple[Expr, Expr]]:
        """The cells of the scalar at ``address``, which need not be set at once, each with what it gets where that
        becomes ``value``, a number of ``type``."""

    def put_together(self, address: Address, type: CType) -> tuple[list[tuple[Expr, Register]], Expr]:
        """The cells of the scalar at ``address``, which need not be read at once, each with a register, and what it is
        as a number of ``type`` when these have been read."""

    def reading(self, register: Register, address: Address, type: CType) -> tuple[Command, ...]:
        """The commands that load the integer at ``address`` into ``register`` where it is a part of a larger scalar in
        a cell; none where it is not."""

    def as_number(self, register: Register, address: Address, type: CType) -> Expr:
        """``register``, which was read from the `number` at ``address``, as a ``type``."""

    def paired_cells(self, first: Address, second: Address, bytes: int, element: int | None) -> list[tuple[Expr, Expr]]:
        """The pairs of cells that a transfer of ``bytes`` bytes between two regions copies to each other, by address.

        ``element``: the size of the elements if the call says it; else the cells are as large as other accesses to the
        objects allow, at most 8 bytes. Both objects lie in cells from then on.
        """

    def scalars_in(self, address: Address, bytes: int) -> tuple[tuple[int, CType], ...]:
        """The scalars that the program accesses among ``bytes`` bytes from ``address`` on, and the bytes between them,
        by their places."""

    def walked_cells(
        self, first: Address, second: Address, bytes: int, element: int | None
    ) -> tuple[Register, int, Expr, Expr] | None:
        """The cells of a long transfer, as `paired_cells` has them, for a loop: a register, the number of elements, and
        the two cells of the element that the register counts. None where the cells are few, or of several sizes, and
        have to be named one by one."""

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
        """A new object of this run. Its kind is ``heap`` (numbered by each rank), ``symmetric`` (numbered alike on all
        ranks that allocate in the same order) or ``segment`` (as symmetric, found by a table or a number). ``name`` is
        for display: by default that of the variable at ``to``, or of the one that the result goes to.

        With a ``key`` it is the object ``ObjectId(kind, key)``, whichever rank asks, as large as the largest request.
        Ranks may name it whether or not they have asked (a GASPI segment is known by its number). ``asked_for``: the
        program asks for the memory, so that this may fail; else only the front end needs the object."""

    def own_element(self, memory: Address, table: Address, rank: str) -> None:
        """Each rank finds ``memory`` in its own element of the table of pointers at ``table``. Unless a variable points
        there, the memory is named after that element, with the first variable that holds the rank, or ``rank``."""

    def fill_table(self, table: Address, entry: int, fields: tuple[tuple[int, Address | Known], ...]) -> None:
        """When lowering for all node counts: put ``fields``, values of 8 bytes by their offsets, into the entry of each
        rank, of ``entry`` bytes, in ``table``. An address becomes one in the memory of that rank."""

    def gets_rank(self, to: Address | None = None) -> None:
        """The variable at ``to``, or the one that the result goes to, gets the number of the calling rank."""

    def internal(self, kind: str, *key: int | str, bytes: int = 8, initial: int = 0, name: str) -> Address:
        """An object of the API itself, to which it may give pointers: the same for all ranks that ask with the same
        kind and key, one copy on every node. ``bytes`` is a multiple of 8."""

    def own_cell(self, kind: str, *key: int | str, name: str) -> Expr:
        """A cell of the API's own, e.g. ``call.own_cell("lock", number, name="lock")``, which only its commands access:
        the same for all ranks that ask with the same kind and key, one on every node."""

    @property
    def thread(self) -> int:
        """Which thread of its rank makes the call, the first one being 0."""

    @property
    def thread_id(self) -> tuple[int, int]:
        """The same, so that threads that are created one after the other differ."""

    def clock(self, most: int | None = None) -> Value:
        """A time, ``most`` at most, which nothing in the program decides."""

    def unknown_in(self, cells: Sequence[Expr], type: CType, own: Expr | None = None) -> Expr | None:
        """An unknown value of ``type``, if one may be in any of ``cells``, which comes of its ``own``, too."""

    def become_unknown(self, cells: Sequence[Expr]) -> None:
        """Any value may be in ``cells`` from now on, for what this call makes of those there is not computed."""

    # Across ranks

    def questions(self, group: str) -> tuple[Expr, ...]:
        """What the next collective that brings values to ``group`` is asked of them."""

    def answer(self, group: str, asked: Expr, values: Sequence[Expr | None]) -> Expr:
        """An answer to ``asked`` for the next collective that brings ``values`` to ``group``: the one that is known, or
        any."""

    @property
    def slots(self) -> int | None:
        """In how many sets of cells a collective lays out what it moves, if not in as many as it needs."""

    def lays(self, cell: Expr, value: Expr) -> None:
        """This rank lays out ``value`` in ``cell``, which is the API's own."""

    def laid(self, rank: int, cell: Expr, register: Register) -> Expr:
        """What ``rank`` has laid out in ``cell``, of which ``register`` has been loaded: a number where it is known."""

    def arrived(self, cells: Sequence[Expr]) -> None:
        """Other ranks have written ``cells`` of this rank, once this call has waited."""

    def held(self, cell: Expr, register: Register) -> Expr:
        """What this rank has in ``cell``, of which ``register`` has been loaded: a number where it is known and such
        numbers are looked for."""

    def note_at(self, rank: int, key: str) -> None:
        """Note at ``rank`` that this rank does to it what ``key`` says."""
        ...

    def noted(self, key: str) -> tuple[int, ...]:
        """The ranks that have noted so at this one; there may be more later, and then the machine runs again."""
        ...

    def noted_by(self, rank: int, key: str) -> tuple[int, ...]:
        """The ranks at which ``rank`` has noted so, in the same way."""
        ...

    def publish(self, key: str, value: Hashable, *, by_all: bool = False) -> None:
        """Let other ranks know a fact of this rank that does not change during a run (the base of its window).
        ``by_all``: when lowering for all node counts, the fact has to hold for every rank."""

    def published(self, rank: int, key: str) -> Hashable | None:
        """What ``rank`` has published under ``key``. None as long as that is not known; then the machine runs again
        once it is."""

    def published_here(self, key: str) -> Hashable | None:
        """The same of the rank itself."""
        ...

    def own_fact(self, key: str) -> Hashable | None:
        """What this rank has published under ``key``; when lowering for all node counts, what any rank has. For facts
        that collect what is ever done, or that a collective call needs to be the same on all ranks."""

    def all_facts(self, key: str) -> list[Hashable]:
        """What any of the ranks have published under ``key``."""

    def neighbours(self, about: str = "", *, of: int | None = None) -> range:
        """The ranks whose memory this one (or ``of``) reaches by loads and stores, itself included. Pointers with such
        an `Address.owner` may be followed: a load or store through them is one event on the owner's cells. The verdict
        rests on it, and names the call, or ``about``."""

    @property
    def strict(self) -> bool:
        """Whether calls wait for others wherever their specification allows it, and not only where it demands that."""

    # Marks, which say more of a call than its commands do

    @property
    def marked(self) -> bool:
        """Whether the program is to be marked with its calls."""

    def outside(self, done: Outside) -> None:
        """Note what the call does to files and the terminal, where the program is to be marked with that."""

    def may_be_illegal(self, rule: Rule, sentence: str) -> None:
        """Leave open whether the call breaks ``rule``, for what says so is not known without a number of nodes."""

    def expose(self, part: Exposed) -> None:
        """Record which memory of this rank is part of a window. Where calls are marked, all that is accessed there lies
        in cells."""

    def contiguous(self, memory: Address, parts: Sequence[tuple[int, int]]) -> None:
        """Let the memory that each rank has in the object of ``memory`` lie behind that of the one before: ``parts``
        are ranks with their bytes. What is beyond one rank's part is then another's."""

    # Building

    def queue(self, *key: int | str, name: str) -> Const:
        """The unordered queue of that key, made on first use. The first part of the key is the API's name."""

    def fifo_queue(self, *key: int | str, name: str) -> Const: ...

    def register(self, hint: str = "result") -> Register:
        """A register for a value that this call gets. The machine moves values that outlive the call."""

    def do(self, *commands: object) -> tuple[Statement, ...]:
        """Commands (or statements) of the calculus as statements that carry the source position of the call."""

    def rests_on(self, kind: Kind, *about: str) -> None:
        """Record that the outcome is right only if an assumption holds; ``about`` completes its sentence."""

    def nowhere(self, why: str, code: Wrong = Wrong.BOUNDS) -> Const:
        """An address that no cell has: a command that accesses it is in error, and reports say ``why``."""

    def fail(self, code: Wrong, message: str, hint: str) -> NoReturn:
        """Report an error in the program, or a limit, by its ``code``, at this call: ``message`` says what, ``hint``
        what to do."""


Handler = Callable[[Call], Way | Sequence[Way]]
"""Several ways: any of them may happen (`test` may answer 0, or wait and answer 1)."""


@record
class Api:
    """One API, with the names of its headers, types, constants and functions."""

    name: str
    headers: tuple[str, ...]
    """The includes that choose it (`shmem.h`)."""
    types: Mapping[str, CType]
    """By their typedef names."""
    constants: Mapping[str, tuple[CType, Value]]
    """Names that stand for a value of a type, macros of its headers among them."""
    declaration: Callable[[str, tuple[CType, ...]], str | None]
    """For the name of a function and the types of the arguments at a call (arrays decayed, not converted): the C
    declaration that the call is compiled with, e.g. ``void shmem_int_p(int *dest, int value, int pe);``. None when the
    API has no such function. Type-generic names choose by the types."""
    handler: Callable[[str], Handler | None]
    """For the name of a function: what its calls do. None for a name that the API has and the front end does not
    support: then the call is an error with the text of ``unsupported``."""
    unsupported: Mapping[str, str] = field(default_factory=dict)
    """Functions (or beginnings of names, with a ``*``) that are known and not supported, with what to do instead."""
    further: frozenset[str] = frozenset()
    """All names that the beginnings in ``unsupported`` stand for, where these are known."""
    output: frozenset[str] = frozenset()
    """Functions that only read their arguments, and memory that these point to (`printf`): numbers that are computed
    only for them decide nothing."""
    idle: frozenset[str] = frozenset()
    """Those of them that show nothing (`usleep`)."""
    shows: Container[str] = frozenset()
    """Others that show something, in files (`fwrite`)."""
    macros: Mapping[str, str] = field(default_factory=dict)
    """Macros of its headers that are code (`GASNET_BLOCKUNTIL(cond)`), and their texts."""
    variables: Mapping[str, tuple[CType, int]] = field(default_factory=dict)
    """Variables of its headers, which programs may set: their types and first values."""
    source: str = ""
    """Functions that are written in C, since they call functions of the program."""
    functions: Collection[str] = ()
    """The names of its functions, for errors about names that are spelled like one of them."""
    specifications: Mapping[str, str] = field(default_factory=dict)
    """The documents that its calls follow, by dialect; under "" where no dialect is chosen."""


__all__ = ["Address", "Api", "Call", "Handler", "Look", "ObjectId", "Outcome", "Way"]
