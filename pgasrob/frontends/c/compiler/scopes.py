"""Scopes (what each name of a C file means) and the state that the compilers of one file share."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, count

from pgasrob.diagnostics import MAX_ERRORS, Diagnostic, SourceError
from pgasrob.diagnostics.suggestions import closest, did_you_mean
from pgasrob.frontends.apis.interface import Api
from pgasrob.frontends.c.code import Label, Leave, Need, Object, Slot, Unit
from pgasrob.frontends.c.standard import MACROS, MACROS_OF, STRUCTS, TYPE_WORDS
from pgasrob.frontends.c.syntax_tree import Node
from pgasrob.frontends.c.tokens import Source, Token, error_at, expansion
from pgasrob.frontends.c.types import Array, CType, Function, Pointer, Struct
from pgasrob.frontends.c.values import Known
from pgasrob.program.statements import Span


@dataclass(frozen=True, slots=True)
class TypeName:
    type: CType


@dataclass(frozen=True, slots=True)
class Constant:
    """An enumerator."""

    value: int


@dataclass(frozen=True, slots=True)
class GlobalVariable:
    """``name`` in `Unit.objects`."""

    name: str
    type: CType


@dataclass(frozen=True, slots=True)
class FunctionName:
    name: str
    type: Function


@dataclass(frozen=True, slots=True)
class SlotVariable:
    slot: Slot
    type: CType


@dataclass(frozen=True, slots=True)
class LocalVariable:
    """``name`` in `CompiledFunction.objects`."""

    name: str
    type: CType


@dataclass(frozen=True, slots=True)
class SizedVariable:
    """An array whose length is known when it is declared: ``slot`` holds its address."""

    slot: Slot
    type: Array


Symbol = TypeName | Constant | GlobalVariable | FunctionName | SlotVariable | LocalVariable | SizedVariable


class Scope:
    """A block: names, and tags of structs and enums, each with its own space; ``objects`` live until it is left."""

    __slots__ = ("names", "objects", "outer", "tags")

    def __init__(self, outer: Scope | None = None) -> None:
        self.outer = outer
        self.names: dict[str, Symbol] = {}
        self.objects: dict[str, None] = {}
        self.tags: dict[str, str] = {}  # to the unique tags of `Context.structs`; "enum" for enums

    def outwards(self) -> Iterator[Scope]:
        """This block and those around it."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def find(self, name: str) -> Symbol | None:
        found = self.names.get(name)
        return found if found is not None or self.outer is None else self.outer.find(name)

    def find_tag(self, tag: str) -> str | None:
        found = self.tags.get(tag)
        return found if found is not None or self.outer is None else self.outer.find_tag(tag)

    def all_names(self) -> Iterator[str]:
        return (name for scope in self.outwards() for name in scope.names)


@dataclass(slots=True)
class Target:
    """A label of the program. ``loops``: a `goto` after it names it. ``forward``: one before it does. Once it is
    ``placed``, ``head`` is that of the loop that begins there, and ``scopes`` are the blocks around it; ``leaving``:
    the jumps to it before that, each with the blocks around the jump."""

    label: Label
    loops: bool
    forward: bool
    placed: bool = False
    head: tuple[int, int] | None = None
    scopes: list[Scope] = field(default_factory=list)
    leaving: list[tuple[int, Leave, dict[Scope, tuple[str, ...]]]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Body:
    """What must be known of a function's body before its code is made: variables whose address is taken, and labels."""

    addressed: set[str] = field(default_factory=set)
    targets: dict[str, Target] = field(default_factory=dict)


_DECLARATIONS: dict[tuple[object, ...], tuple[Sequence[Api], Function]] = {}
"""By the text and the APIs (kept, so that no other gets their `id`): files of one command ask for the same ones."""


@dataclass(slots=True)
class Context:
    """The state of the compilation of a file: its tokens, its APIs, the structs by unique tag, what it gives.

    ``api_like``: the API whose functions have names like a given one, included or not. ``read_declaration``: the type
    of the function that a declaration of one of the APIs, as text, declares. ``unread``: the headers that are not read,
    as written.
    """

    tokens: list[Token]
    apis: Sequence[Api]
    api_like: Callable[[str], Api | None]
    read_declaration: Callable[[str, str, Sequence[Api]], Function]
    unread: str
    pure: frozenset[str]
    unit: Unit
    file_scope: Scope
    elsewhere: bool = False
    """Whether functions and variables that are declared only may be defined in other files."""
    structs: dict[str, Struct] = field(default_factory=lambda: dict(STRUCTS))
    defined: set[str] = field(default_factory=set)
    declared_only: set[str] = field(default_factory=set)
    """Variables that are `extern` and defined in another file."""
    loops: int = 0
    written: dict[str, Api] = field(default_factory=dict)
    """The functions that the program uses and that an API has written in C."""
    pragmas: set[int] = field(default_factory=set)
    """The `id` of the directives of OpenMP that statements have been compiled under."""
    threadprivate: set[str] = field(default_factory=set)
    communicating: frozenset[str] = frozenset()
    """The functions that a call of communicates."""
    has_teams: bool = False
    """Whether there are regions of OpenMP in which a rank communicates."""

    found: list[Diagnostic] | None = None
    """What is wrong in the function that is compiled, so far; None where the first mistake ends it."""
    mistaken: set[str] = field(default_factory=set)
    """Names that are not declared since the declaration is wrong, or of which it has been said that they are not."""

    # Mistakes

    def note(self, wrong: SourceError) -> None:
        """Go on after a mistake, as long as there are few of them; else raises ``wrong``."""
        if self.found is None:
            raise wrong
        self.found += (each for each in wrong.diagnostics if each not in self.found)
        if len(self.found) >= MAX_ERRORS:
            raise SourceError(self.found)

    def once(self, name: str, wrong: SourceError) -> SourceError:
        """``wrong``, which is about ``name``; an error that says nothing where something has been said of it."""
        if name in self.mistaken:
            return SourceError([])
        if self.found is not None:
            self.mistaken.add(name)
        return wrong

    # Places

    def token(self, node: Node) -> Token:
        return self.tokens[node.first]

    def aligned(self, first: int, last: int) -> int:
        """How far what these tokens declare is aligned at least, by what they say; 0 if they do not say."""
        return max((each.least for each in self.tokens[first : last + 1]), default=0)

    def word(self, node: Node) -> str:
        return self.tokens[node.first].text

    def span(self, node: Node) -> Span:
        opening, closing = self.tokens[node.first], self.tokens[node.last]
        first, last = opening.span, closing.span if closing.source is opening.source else opening.span
        start = min((first.line, first.column), (last.line, last.column))
        end = max((first.end_line, first.end_column), (last.end_line, last.end_column))
        return Span(*start, *end)

    def text(self, node: Node) -> str:
        """The piece of source as written where it stands in one piece in the file, else its tokens."""
        tokens = self.tokens[node.first : node.last + 1][:400]
        start, end, source = tokens[0].span, tokens[-1].span, tokens[0].source
        if start.line == end.end_line and all(_as_written(token, source) for token in tokens):
            return source.line(start.line)[start.column - 1 : end.end_column - 1]
        return "".join((" " if token.space and index else "") + token.text for index, token in enumerate(tokens))

    def error(self, code: str, message: str, node: Node, hint: str = "") -> SourceError:
        first, last = self.tokens[node.first], self.tokens[node.last]
        end = last.span if last.source is first.source else None
        if end is not None and (end.end_line, end.end_column) < (first.span.end_line, first.span.end_column):
            end = first.span
        return error_at(code, message, first.span, first.source, hint, end, expansion(self.tokens, node.first))

    def inside(self, node: Node) -> Node:
        """The expression in the parentheses of ``node``."""
        while node.type == "parenthesized_expression":
            if len(node.children) != 1:
                raise self.error("PG107", "an expression was expected in these parentheses", node)
            node = node.children[0]
        return node

    def unique(self, name: str, taken: Container[str], node: Node) -> str:
        """``name``, with the line where it is ``taken``, and with a number where that is."""
        line = f"{name}@{self.token(node).span.line}"
        names = chain((name, line), (f"{line}.{number}" for number in count(2)))
        return next(each for each in names if each not in taken)

    # Types

    def complete(self, type: CType) -> CType:
        """``type`` with its members where it is a struct that is complete by now."""
        if isinstance(type, Struct):
            return self.structs.get(type.tag, type)
        return type

    def defined_type(self, type: CType, node: Node) -> CType:
        """`complete`, for a type whose members must be known if it is a struct."""
        type = self.complete(type)
        if isinstance(type, Struct) and type.tag not in self.structs and not type.fields:
            raise self.error("PG122", f"`struct {type.tag}` has no definition", node)
        return type

    def need_length(self, type: CType, node: Node) -> None:
        if isinstance(type, Array) and type.length is None:
            raise self.error("PG124", "the length of this array is not given", node)

    def pointed(self, type: CType) -> CType:
        """A pointer to a struct with the struct's members."""
        if isinstance(type, Pointer) and isinstance(type.to, Struct):
            return Pointer(self.complete(type.to))
        return type

    # Other files

    def need(self, name: str, type: CType, missing: SourceError) -> None:
        """Another file has to define the function or variable ``name``. Raises ``missing`` when there is none."""
        if not self.elsewhere:
            raise missing
        self.unit.needs.setdefault(name, Need(type, missing))

    def has_function(self, name: str) -> bool:
        """Whether this file defines the function ``name``, or an API has it."""
        return name in self.defined or any(name in api.functions for api in self.apis)

    # APIs

    def api_type(self, name: str) -> CType | None:
        return next((api.types[name] for api in self.apis if name in api.types), None)

    def variable(self, name: str) -> GlobalVariable | None:
        """The variable ``name`` of an API's headers, which the program need not declare."""
        found = next((api.variables[name] for api in self.apis if name in api.variables), None)
        if found is None:
            return None
        type, value = found
        self.declared_only.discard(name)
        initial = ((0, Known(value), type),) if value else ()
        self.unit.objects[name] = Object(name, type, initial)
        return GlobalVariable(name, type)

    def declaration(self, name: str, types: tuple[CType, ...]) -> Function | None:
        """The type of an API's function for arguments of these types."""
        for api in self.apis:
            text = api.declaration(name, types)
            if text is not None:
                if f"{name}(" in api.source:
                    self.written[name] = api
                key = (text, *map(id, self.apis))
                if key not in _DECLARATIONS:
                    _DECLARATIONS[key] = self.apis, self.read_declaration(text, name, self.apis)
                return _DECLARATIONS[key][1]
        return None

    def declared(self, name: str) -> str | None:
        """How an API declares its function ``name``, if it has one type for all arguments."""
        if name in self.defined:
            return None
        return next((text for api in self.apis if (text := api.declaration(name, ())) is not None), None)

    def unsupported(self, name: str) -> str | None:
        """The hint of an API for its function ``name``, which it knows and does not support. Where not all names are
        known, one that is much like that of a supported function is misspelled."""
        for api in self.apis:
            for pattern, hint in api.unsupported.items():
                if pattern == name:
                    return hint
                if pattern.endswith("*") and name.startswith(pattern[:-1]):
                    known = name in api.further if api.further else closest(name, api.functions, 0.88) is None
                    return hint if known else None
        return None

    def unknown(self, what: str, node: Node, scope: Scope) -> SourceError:
        """The error for the unknown ``what`` that ``node`` names."""
        word = self.word(node)
        if scope.find(word) is not None:
            return self.error("PG122", f"`{word}` is no {what}", node)
        if word in self.mistaken:
            return SourceError([])
        known = [*scope.all_names(), *(name for api in self.apis for name in (*api.constants, *api.types))]
        known += [*MACROS, *chain.from_iterable(MACROS_OF.values()), *(TYPE_WORDS if what == "type" else ())]
        hints = [did_you_mean(word, known, 0.75)]
        if self.unread:
            hints.append(f"it may come from {self.unread}, which is not read: put its definition here")
        hint = " ".join(filter(None, hints))
        if not hint and what == "type":
            hint = "its typedef, or the header that has it, is missing"
        if not hint and word.isupper():
            hint = f"if it is a macro that the build defines: -D {word}=VALUE"
        return self.once(word, self.error("PG122", f"unknown {what} `{word}`", node, hint))


def _as_written(token: Token, source: Source) -> bool:
    """Whether the text at the place of ``token`` is the token, or the name of a macro that gives it."""
    if token.source is not source or token.span.line != token.span.end_line:
        return False
    line = source.line(token.span.line)
    return token.direct or line[token.span.column - 1 : token.span.end_column - 1].isidentifier()
