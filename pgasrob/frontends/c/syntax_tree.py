"""The syntax tree of preprocessed C, by tree-sitter-c, which is given a text that it cannot misread (see `shapes`)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from pgasrob.diagnostics import MAX_ERRORS, Diagnostic, SourceError, in_order
from pgasrob.frontends.c.brackets import with_brackets
from pgasrob.frontends.c.literals import string
from pgasrob.frontends.c.old_style import with_prototypes
from pgasrob.frontends.c.packing import with_packing
from pgasrob.frontends.c.shapes import KEYWORDS, UNSUPPORTED_TYPES, Shapes
from pgasrob.frontends.c.standard import TYPES, words
from pgasrob.frontends.c.tokens import Source, Token, error, expansion, nesting, unreadable
from pgasrob.program.statements import NOWHERE
from pgasrob.stop_points import stop_point

if TYPE_CHECKING:
    from tree_sitter import Parser, Tree, TreeCursor

MAX_DEPTH = 1_200

_DROPPED = frozenset(
    words(
        "const volatile restrict register inline auto _Noreturn _Thread_local __thread __extension__ __inline "
        "__inline__ __restrict __restrict__ __const __const__ __volatile__ __volatile"
    )
)
_REFUSED = {
    "packed": (
        "members that are packed are",
        "pack the whole struct",
    ),
    "constructor": ("functions that run before `main` are", "call it at the beginning of `main`"),
    "destructor": ("functions that run behind `main` are", "call it at the end of `main`"),
    "cleanup": ("functions that run at the end of a scope are", "call it there"),
    "vector_size": ("vectors are", "use an array, or a loop over the elements"),
    "mode": ("types by the mode of the machine are", "use the types of <stdint.h>"),
}
"""Attributes that change what a program does, by their name without underscores; and what to do instead."""
_BRACKETED = frozenset({"__attribute__", "__attribute", "_Alignas", "__declspec"})
_ASSEMBLER = frozenset({"asm", "__asm__", "__asm"})
UNSUPPORTED = {
    **UNSUPPORTED_TYPES,
    "va_arg": "`va_arg` is not supported: what a function with `...` gets beyond its parameters is not known",
    "__asm__": "assembler is not supported",
}
"""Words that stand for a whole construct, or begin a type, which is an error where it is compiled."""
_NAMES = ("identifier", "field_identifier", "type_identifier", "statement_identifier")


@dataclass(slots=True)
class Node:
    """A node of the tree; ``first`` and ``last`` are the indices of its tokens."""

    type: str
    first: int
    last: int
    children: list[Node] = field(default_factory=list)
    fields: dict[str, list[Node]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Node:
        return self.fields[name][0]

    def get(self, name: str) -> Node | None:
        found = self.fields.get(name)
        return found[0] if found else None


@dataclass(frozen=True, slots=True)
class Parsed:
    """``tokens``: those the tree is about (type names of several words are one, of kind `type`). ``broken``: functions
    whose bodies cannot be read, and why; in the tree they are empty, or without the statements that cannot be read.
    ``mistaken``: the names in these, by function. ``thread_locals``: the variables that each thread has for itself.
    ``wrong``: mistakes outside of functions and of brackets, which have been mended to read on."""

    root: Node
    tokens: list[Token]
    source: Source
    broken: dict[str, SourceError] = field(default_factory=dict)
    thread_locals: frozenset[str] = frozenset()
    mistaken: dict[str, set[str]] = field(default_factory=dict)
    wrong: tuple[Diagnostic, ...] = ()


def parse(tokens: Iterable[Token], source: Source, types: Iterable[str] = ()) -> Parsed:
    """The syntax tree; ``types`` are names of types beside those of the standard and the program's own.

    Raises :class:`SourceError` for what is wrong outside of the bodies of functions, where that cannot be mended.
    """
    tokens = list(tokens)
    own = frozenset(_thread_locals(tokens))
    kept = with_prototypes(_with_pragmas(_without_attributes(with_packing(tokens))))
    kept, wrong = with_brackets(kept)
    known = {*TYPES, "_Bool", "va_list", *types}
    broken: dict[str, SourceError] = {}
    while (place := next((place for place, each in enumerate(kept) if each.kind in UNREADABLE), None)) is not None:
        why = unreadable(kept[place])
        body = next((each for each in _bodies(kept) if each.has(place)), None)
        if body is None:
            raise SourceError(in_order([*wrong, *why.diagnostics]))
        broken[body.name] = why
        kept = _without(kept, [body])
    mistaken, mended = defaultdict[str, set[str]](set), Counter[str]()
    while True:
        read = _read(kept, known, source)
        if isinstance(read, Parsed):
            return replace(read, broken=broken, thread_locals=own, mistaken=mistaken, wrong=tuple(wrong))
        body = next((each for each in _bodies(read.tokens) if each.has(read.place)), None)
        if body is not None and mended[body.name] < MOST_MENDED:
            mended[body.name] += 1
            before = broken[body.name].diagnostics if body.name in broken else []
            broken[body.name] = SourceError([*before, *read.wrong.diagnostics])
            kept = _mended(read, body, mistaken[body.name])
            continue
        try:
            kept = _without_what_is_wrong(read, known, source, broken)
        except SourceError as found:
            wrong += found.diagnostics
            whole = _Body("", -1, len(read.tokens))
            can_mend = len(wrong) < MAX_ERRORS and (read.unfinished is not None or _is_outside(read))
            kept = _mended(read, whole, mistaken[""]) if can_mend else kept
            # Without a type, what follows would be read in another way.
            if not can_mend or "typedef" in mistaken[""]:
                inside = [each for of in broken.values() for each in of.diagnostics]
                raise SourceError(in_order([*wrong, *inside])) from None


MOST_MENDED = 20
"""So many mistakes of one function are mended, to look for the next ones, before it is left out as a whole."""


def _is_outside(found: _Mistake) -> bool:
    """Whether the mistake is in no brackets."""
    return sum(map(nesting, found.tokens[: found.place])) == 0


def _mended(found: _Mistake, body: _Body, mistaken: set[str]) -> list[Token]:
    """The tokens of ``found`` with the `;` that is missing; or without the statement that cannot be read, of which the
    names are ``mistaken`` from then on."""
    tokens = found.tokens
    if found.unfinished is not None:
        end = tokens[found.unfinished]
        return [*tokens[: found.unfinished + 1], replace(end, kind="sign", text=";"), *tokens[found.unfinished + 1 :]]
    first, last, depth = body.first + 1, body.last, 0
    for place in range(first, body.last):
        text = tokens[place].text if tokens[place].kind == "sign" else ""
        if depth == 0 and text in (";", "{", "}"):
            if place >= found.place:
                last = place
                break
            first = place + 1
        depth = max(0, depth + (text in ("(", "[")) - (text in (")", "]")))
    keeps_last = last == body.last or tokens[last].text in ("{", "}")
    cut = tokens[first : last if keeps_last else last + 1]
    mistaken |= {each.text for each in cut if each.kind != "sign"}
    # A statement without a mistake stands there instead, so that what belongs to an `if` or `else` still does.
    return [*tokens[:first], replace(tokens[first], kind="sign", text=";"), *tokens[first + len(cut) :]]


def _thread_locals(tokens: list[Token]) -> Iterator[str]:
    """The variables that are declared with `_Thread_local`."""
    for place, token in enumerate(tokens):
        if token.text not in ("_Thread_local", "__thread"):
            continue
        depth = 0
        for before, after in pairwise(tokens[place:]):
            if depth == 0 and before.kind == "name" and after.text in ("=", ",", ";", "["):
                yield before.text
            depth += nesting(after)
            if after.text == ";" and depth == 0:
                break


def expression(tokens: Sequence[Token], source: Source, start: int) -> tuple[Node, list[Token]]:
    """The tree of ``tokens``, which are an expression, and the tokens that it is about, which are counted from
    ``start`` on."""
    first, last = replace(tokens[0], parts=()), replace(tokens[-1], parts=())
    signs = [replace(first, kind="name", text=each) for each in ("int", "expression")]
    signs += [replace(first, kind="sign", text=each) for each in ("=", "(")]
    found = _read([*signs, *tokens, *(replace(last, kind="sign", text=each) for each in (")", ";"))], set(), source)
    if isinstance(found, _Mistake):
        raise found.wrong
    value = found.root.children[0]["declarator"]["value"]
    pending, moved = [value], set[int]()
    while pending:
        node = pending.pop()
        if id(node) not in moved:
            moved.add(id(node))
            node.first, node.last = node.first + start, node.last + start
            pending += [*node.children, *(each for of in node.fields.values() for each in of)]
    return value, found.tokens


def _with_pragmas(tokens: list[Token]) -> list[Token]:
    """``tokens`` without the pragmas of OpenMP, each of which goes to the token behind it."""
    kept: list[Token] = []
    pragmas: tuple[Token, ...] = ()
    for token in tokens:
        if token.kind == "omp":
            pragmas += (token,)
        elif pragmas:
            kept.append(replace(token, parts=pragmas))
            pragmas = ()
        else:
            kept.append(token)
    return kept


UNREADABLE = ("stray", "pragma")
"""Kinds of tokens that no program may have where it is compiled."""


@dataclass(frozen=True, slots=True)
class _Mistake:
    """What is ``wrong``, and at which of the ``tokens``. ``unfinished``: that behind which a `;` is missing."""

    wrong: SourceError
    place: int
    tokens: list[Token]
    unfinished: int | None = None


@dataclass(frozen=True, slots=True)
class _Body:
    """The body of the function ``name``: the places of the brackets around it."""

    name: str
    first: int
    last: int

    def has(self, place: int) -> bool:
        return self.first < place <= self.last


def _read(tokens: list[Token], types: set[str], source: Source) -> Parsed | _Mistake:
    """The tree of ``tokens``, or the first mistake that shows."""
    shapes = Shapes(tokens, types)
    if shapes.wrong is not None:
        return _Mistake(*shapes.wrong, shapes.leaves, shapes.unfinished)
    tree = _parser().parse(shapes.text)
    if tree.root_node.has_error:
        wrong, place, unfinished = _syntax_error(tree, shapes, source)
        return _Mistake(wrong, place, shapes.leaves, unfinished)
    return Parsed(_converted(tree, shapes), shapes.leaves, source)


def _without_what_is_wrong(
    found: _Mistake, types: set[str], source: Source, broken: dict[str, SourceError]
) -> list[Token]:
    """The tokens of ``found`` without the body of a function that has a mistake, which is noted in ``broken``. Raises
    what is wrong where that is outside of bodies.

    A mistake may show behind the function that has it, so the one in which it shows is read by itself, and then all.
    """
    tokens, bodies = found.tokens, [*_bodies(found.tokens)]
    if isinstance(_read(_without(tokens, bodies), types, source), Parsed):
        for body in sorted(bodies, key=lambda body: not body.has(found.place)):
            alone = _read(_without(tokens, [each for each in bodies if each is not body]), types, source)
            if isinstance(alone, _Mistake):
                broken[body.name] = found.wrong if body.has(found.place) else alone.wrong
                return _without(tokens, [body])
    raise found.wrong


def _without(tokens: list[Token], bodies: Sequence[_Body]) -> list[Token]:
    """``tokens`` with nothing in these ``bodies``, which are in their order."""
    kept, begin = [], 0
    for body in bodies:
        kept += tokens[begin : body.first + 1]
        begin = body.last
    return kept + tokens[begin:]


def _bodies(tokens: list[Token]) -> Iterator[_Body]:
    """The bodies of the functions that are defined."""
    opened: list[int] = []
    pair = (0, 0)
    for place, token in enumerate(tokens):
        if token.kind == "sign" and token.text in ("(", "[", "{"):
            opened.append(place)
        elif token.kind == "sign" and token.text in (")", "]", "}"):
            first = opened.pop()
            if opened:
                continue
            begins, ends = pair
            if token.text == "}" and ends == first - 1 and begins and tokens[begins - 1].kind == "name":
                yield _Body(tokens[begins - 1].text, first, place)
            pair = (first, place) if token.text == ")" else (0, 0)


@cache
def _parser() -> Parser:
    import tree_sitter_c
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_c.language()))


def _without_attributes(tokens: list[Token]) -> list[Token]:
    """Without what does not matter to what a program does, strings that stand side by side put together."""
    result: list[Token] = []
    position = 0
    while position < len(tokens):
        stop_point()
        token = tokens[position]
        position += 1
        if token.kind == "string":
            start = position - 1
            while position < len(tokens) and tokens[position].kind == "string":
                position += 1
            result.append(token if position == start + 1 else _joined(tokens[start:position]))
        elif token.text in _DROPPED:
            pass
        elif token.text in _BRACKETED:
            position = _closing(tokens, position, token)
        elif token.text in _ASSEMBLER:
            position, instructions = _assembler(tokens, position, token)
            if instructions:
                result.append(replace(token, text="__asm__"))
        elif token.text in ("va_arg", "__builtin_va_arg", "_Atomic") and token.kind == "name":
            result.append(replace(token, text=token.text.removeprefix("__builtin_")))
            if position < len(tokens) and tokens[position].text == "(":
                position = _closing(tokens, position, token)
        else:
            result.append(token)
    return result


def _closing(tokens: list[Token], position: int, start: Token) -> int:
    """The place after the brackets that open at ``position``."""
    if position >= len(tokens) or tokens[position].text != "(":
        raise error("PG107", f"`{start.text}` needs parentheses after it", start)
    depth = 0
    for index in range(position, len(tokens)):
        text = tokens[index].text
        depth += (text == "(") - (text == ")")
        refused = _REFUSED.get(text.strip("_")) if start.text.startswith("__attribute") else None
        if refused is not None and tokens[index].kind == "name":
            raise error("PG120", f"{refused[0]} not supported", tokens[index], refused[1])
        if depth == 0:
            return index + 1
    raise error("PG107", "this bracket is not closed", tokens[position])


def _assembler(tokens: list[Token], position: int, start: Token) -> tuple[int, bool]:
    """The place behind an assembler statement, and whether it has instructions, and is no barrier for the compiler."""
    while position < len(tokens) and tokens[position].text in ("volatile", "__volatile__", "goto", "inline"):
        position += 1
    end = _closing(tokens, position, start)
    return end, tokens[position + 1].kind != "string" or bool(string(tokens[position + 1]).strip())


def _joined(tokens: list[Token]) -> Token:
    """Strings that stand side by side, as one."""
    text = "".join(
        char if " " <= char <= "~" and char not in '"\\' else f"\\{ord(char):03o}"
        for token in tokens
        for char in string(token)
    )
    first, last = tokens[0], tokens[-1]
    span = replace(first.span, end_line=last.span.end_line, end_column=last.span.end_column)
    if last.source is not first.source or (span.end_line, span.end_column) <= (span.line, span.column):
        span = first.span
    return replace(first, text=f'"{text}"', span=span, direct=all(token.direct for token in tokens))


def _syntax_error(tree: Tree, shapes: Shapes, source: Source) -> tuple[SourceError, int, int | None]:
    """The error for the first place that tree-sitter could not read, the index of the token there, and that of the one
    behind which a `;` is missing."""
    tokens = shapes.leaves
    if not tokens:
        return error("PG107", "syntax error", Token("sign", "", NOWHERE, source)), 0, None
    cursor = tree.walk()
    found: tuple[int, int, bool, str] | None = None  # length, byte, missing, type
    pending = True
    while pending:
        stop_point()
        node = cursor.node
        assert node is not None
        if node.is_missing or node.is_error:
            candidate = (node.end_byte - node.start_byte, node.start_byte, node.is_missing, node.type)
            found = candidate if found is None or candidate[:2] < found[:2] else found
        if node.has_error and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                pending = False
                break
    _, byte, missing, kind = found or (0, 0, False, "")
    index = shapes.leaf_at(byte + 1)
    token, notes = tokens[index], expansion(tokens, index)
    if (last := _unfinished(tokens, index)) is not None:
        return error("PG107", f"a `;` is missing after `{last.text}`", last), index, tokens.index(last)
    if missing:
        wrong = error("PG107", f"syntax error: `{kind}` is missing before `{token.text}`", token, notes=notes)
        return wrong, index, index - 1 if kind == ";" and token.text == "}" and index else None
    unknown = ""
    if token.kind == "name" and token.text not in KEYWORDS and index + 1 < len(tokens):
        following = tokens[index + 1]
        if following.kind == "name" or following.text == "*":
            unknown = f"is `{token.text}` a type? Then its typedef, or the header that has it, is missing"
    return error("PG107", f"syntax error at `{token.text}`", token, unknown, notes=notes), index, None


def _unfinished(tokens: list[Token], index: int) -> Token | None:
    """The token at the end of a line, near the one at ``index``, that a statement seems to end with."""
    for position in range(max(index - 2, 0), min(index + 30, len(tokens) - 1)):
        token, following = tokens[position], tokens[position + 1]
        if not following.first or following.kind not in ("name", "type"):
            continue
        if token.kind in ("number", "string", "character") or (token.kind == "name" and token.text not in KEYWORDS):
            return token
        if token.text == "]" or (token.text == ")" and _closes_call(tokens, position)):
            return token
    return None


def _closes_call(tokens: list[Token], position: int) -> bool:
    depth = 0
    while position > 0:
        depth += (tokens[position].text == ")") - (tokens[position].text == "(")
        if depth == 0:
            return tokens[position - 1].kind == "name" and tokens[position - 1].text not in KEYWORDS
        position -= 1
    return False


def _converted(tree: Tree, shapes: Shapes) -> Node:
    """The tree as `Node`s, without its punctuation."""
    tokens = shapes.leaves
    last = max(len(tokens) - 1, 0)
    root = Node("translation_unit", 0, last)
    cursor: TreeCursor = tree.walk()
    stack = [root]
    if not cursor.goto_first_child():
        return root
    while True:
        stop_point()
        here = cursor.node
        assert here is not None
        name = cursor.field_name
        node = Node(here.type, shapes.leaf_at(here.start_byte), shapes.leaf_at(max(here.start_byte, here.end_byte - 1)))
        is_name = node.type == "parenthesized_expression" and tokens[node.first].text != "(" and node.first == node.last
        if is_name:
            node.type = "identifier"
        parent = stack[-1]
        named = node.type in _NAMES and shapes.stands_for_itself(here.start_byte)
        if named and tokens[node.first].text in KEYWORDS - {"default", "_Static_assert"}:
            raise error("PG107", f"`{tokens[node.first].text}` is a keyword, not a name", tokens[node.first])
        if here.is_named:
            parent.children.append(node)
        if name is not None:
            parent.fields.setdefault(name, []).append(node)
        if len(stack) > MAX_DEPTH:
            raise error("PG108", f"the program nests more than {MAX_DEPTH} levels deep here", tokens[node.first])
        if not is_name and cursor.goto_first_child():
            stack.append(node)
            continue
        while not cursor.goto_next_sibling():
            cursor.goto_parent()
            _mend(stack.pop())
            if not stack[1:] and cursor.depth == 0:
                return root


_POSTFIX = {"update_expression": "argument", "subscript_expression": "argument", "field_expression": "argument",
            "call_expression": "function"}  # fmt: skip
_PREFIX = {"unary_expression": "argument", "pointer_expression": "argument", "update_expression": "argument",
           "cast_expression": "value", "sizeof_expression": "value"}  # fmt: skip
"""Where such an expression has its operand."""


def _mend(node: Node) -> None:
    """`- x ++` is taken for `(- x) ++`: move the operator after it to where it belongs."""
    outer = _POSTFIX.get(node.type, "")
    inner = node.get(outer)
    if inner is None or inner.first != node.first or inner.type not in _PREFIX:
        return
    before = _PREFIX[inner.type]
    operand = inner[before]
    if operand.first == inner.first:
        return
    children = [operand if each is inner else each for each in node.children]
    moved = Node(node.type, operand.first, node.last, children, {**node.fields, outer: [operand]})
    node.type, node.children = inner.type, [moved if each is operand else each for each in inner.children]
    node.fields = {**inner.fields, before: [moved]}
    _mend(moved)
