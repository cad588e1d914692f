"""The code that C functions are compiled to, and that the machine runs: instructions over slots, with jumps.

A slot holds a parameter, a local variable or an intermediate value of one call. Variables whose address is taken,
arrays and structs are objects in memory instead, and `Local` gives their address. Every expression has been taken apart
into instructions in the order of C's evaluation (left to right where C leaves it open), so that each touches memory at
most once; `&&`, `||` and `?:` are jumps. All conversions are explicit.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.tokens import Token
from pgasrob.frontends.c.types import CType
from pgasrob.frontends.c.values import Value
from pgasrob.frontends.options import Macros
from pgasrob.program.declarations import Source
from pgasrob.program.statements import NOWHERE, Span
from pgasrob.program.value_classes import record

MAIN = "main"
"""The function in which every rank begins."""
Slot = int
Label = int
"""The place of an instruction in its function."""


@record
class Set:
    """target := a constant of type ``type``: a number, a function (Code), the null pointer, a constant of an API."""

    target: Slot
    value: Value
    type: CType


@record
class Move:
    """target := source, of the same type."""

    target: Slot
    source: Slot


@record
class Convert:
    """target := source converted from type ``of`` to type ``to`` (C11, 6.3)."""

    target: Slot
    source: Slot
    of: CType
    to: CType


@record
class Unary:
    """target := operator source, operator one of ``- ~ !``; ``type`` is that of the source (`!` gives an int)."""

    target: Slot
    operator: str
    source: Slot
    type: CType


@record
class Binary:
    """target := left operator right, on integers, floats, or pointers (comparisons only), both of type ``type``; a
    shift has its right side converted to int. Comparisons give an int."""

    target: Slot
    operator: str
    left: Slot
    right: Slot
    type: CType


@record
class Offset:
    """target := pointer + index * size, in bytes; ``index`` is a slot, or None for the constant ``constant`` * size."""

    target: Slot
    pointer: Slot
    index: Slot | None
    size: int
    constant: int = 0


@record
class Stride:
    """target := pointer + index * sign elements, of as many bytes as the slot ``size`` says."""

    target: Slot
    pointer: Slot
    index: Slot
    size: Slot
    sign: int


@record
class Difference:
    """target := (left - right) / size for two pointers into one object, a long."""

    target: Slot
    left: Slot
    right: Slot
    size: int


@record
class Global:
    """target := the address of the global or static object ``name`` (unique names, see `Unit.objects`)."""

    target: Slot
    name: str


@record
class Local:
    """target := the address of the local object ``name`` of this call (see `Function.objects`)."""

    target: Slot
    name: str


@record
class String:
    """target := the address of a string literal."""

    target: Slot
    text: str


@record
class Load:
    """target := what ``pointer`` points to, a scalar of type ``type``."""

    target: Slot
    pointer: Slot
    type: CType


@record
class Store:
    """What ``pointer`` points to := source, a scalar of type ``type``."""

    pointer: Slot
    source: Slot
    type: CType


@record
class Copy:
    """Copy a struct (or array) of type ``type``, both sides given by pointers."""

    pointer: Slot
    source: Slot
    type: CType


@record
class Clear:
    """The object that ``pointer`` points to, of ``size`` bytes, is all zero (an initialiser that leaves parts out)."""

    pointer: Slot
    size: int


@record
class Jump:
    to: Label


@record
class Branch:
    """Jump by whether the int, pointer or integer in ``condition`` is zero. ``leaves``: the loops (numbers of
    `LoopHead`) that one of the two branches leaves."""

    condition: Slot
    yes: Label
    no: Label
    leaves: tuple[int, ...] = ()


@record
class LoopHead:
    """Every iteration of a loop, also one made with `goto`, passes here before its condition."""

    loop: int


@record
class Join:
    """The branches of an `if`, `switch`, `?:`, `&&` or `||` come together here."""


@record
class Call:
    """target := function(arguments). ``function`` is a name, or the slot of a pointer to one. ``types`` are those of
    the arguments as passed (after the conversions of a prototype, or the default promotions), ``result`` the type that
    the call has in the source (VOID when it is not known: then the API knows). ``texts``: the arguments as written."""

    target: Slot | None
    function: str | Slot
    arguments: tuple[Slot, ...]
    types: tuple[CType, ...]
    result: CType
    texts: tuple[str, ...] = ()


@record
class Leave:
    """The life of local ``objects`` ends: the block that declares them is left, by its end or by a jump."""

    objects: tuple[str, ...]


@record
class Return:
    source: Slot | None


Instruction = (
    Set | Move | Convert | Unary | Binary | Offset | Stride | Difference | Global | Local | String | Load | Store | Copy
    | Clear | Jump | Branch | LoopHead | Join | Call | Leave | Return
)  # fmt: skip


@record
class Object:
    """A variable in memory: global, static, or a local one that is addressed, an array or a struct.

    ``initial``: for globals and statics the scalars of the initialiser by their offset in bytes, with their types; the
    rest is zero. ``of_thread``: each thread has one of its own.
    """

    name: str  # unique: a static of a function is `function.name`
    type: CType
    initial: tuple[tuple[int, Value, CType], ...] = ()
    span: Span = NOWHERE
    of_thread: bool = False


@record
class Variable:
    """A slot: ``name`` is None for an intermediate value."""

    name: str | None
    type: CType


@record
class Region:
    """The code from ``first`` up to ``last`` belongs to a directive of OpenMP, which is ``name`` at ``span``.
    ``parallel``: other threads of a team may execute it, too, and ``several``: nothing in the text keeps
    them from it. ``unchecked``: lines with accesses of which it is not known whether
    they race with those of other threads."""

    first: int
    last: int
    name: str
    span: Span
    parallel: bool
    several: bool
    unchecked: tuple[int, ...] = ()
    own: frozenset[str] | None = None
    """The objects that each thread has for itself, where the threads are processes; None where they are not."""

    def __str__(self) -> str:
        lines = [str(each) for each in self.unchecked]
        lists = f"{', '.join(lines[:-1])} and {lines[-1]}" if lines[1:] else "".join(lines)
        more = f", not checked in line{'s' if lines[1:] else ''} {lists}" if lines else ""
        return f"`{self.name}` in line {self.span.line}{more}"


@dataclass(slots=True)
class CompiledFunction:
    """``parameters``: the slots that arguments go to (parameters in memory are stored by the code at the beginning).
    ``spans`` stand beside ``code``, one for each instruction: the smallest piece of source that is a whole call,
    assignment or condition. ``lasting``: those of the ``objects`` that live until it returns. ``sized``: local arrays
    whose lengths are found when they are declared, which end as objects do, and the slots with their addresses.
    ``regions``: those of OpenMP, inner ones first."""

    name: str
    parameters: tuple[Slot, ...]
    result: CType
    slots: list[Variable]
    objects: dict[str, Object]
    code: list[Instruction]
    spans: list[Span]
    lasting: tuple[str, ...] = ()
    sized: dict[str, Slot] = field(default_factory=dict)
    regions: tuple[Region, ...] = ()


@record
class Need:
    """A function or variable that a file uses and another one has to define; ``missing``: the error when none does."""

    type: CType
    missing: SourceError


@dataclass(slots=True)
class Unit:
    """A C file: ``headers`` are the names of the APIs' headers that it includes, in order, ``unread`` those of the
    system that are not read, with their lines; ``macros`` are those of the command line.

    ``statics``: the functions and objects that other files cannot name; ``needs``: what they have to define;
    ``broken``: functions of which there is no code, and why; that matters where they are called. ``texts``:
    the files that were read for it, by their paths: headers and, where several units are linked, ``units``. ``tokens``:
    those that it was parsed from.
    """

    file: str
    text: str
    headers: tuple[str, ...]
    unread: tuple[tuple[str, int], ...] = ()
    macros: Macros = ()
    functions: dict[str, CompiledFunction] = field(default_factory=dict)
    objects: dict[str, Object] = field(default_factory=dict)
    statics: set[str] = field(default_factory=set)
    needs: dict[str, Need] = field(default_factory=dict)
    broken: dict[str, SourceError] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    units: tuple[str, ...] = ()
    tokens: tuple[Token, ...] = ()

    @property
    def source(self) -> Source:
        """The texts, for excerpts in reports."""
        return Source(self.file, self.text, False, self.texts, self.units)
