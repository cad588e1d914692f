"""The syntax tree of preprocessed C, by tree-sitter-c.

Without knowing which names are types C cannot be parsed: `(a)(b)` is a cast or a call. tree-sitter guesses; here it
never has to. It is given a text of the same shape in which every type name is `int` and every other name `v`, and in
which parentheses around an expression that begins with a name are doubled, so that they cannot be those of a cast. What
the leaves are is then read off the tokens.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from pgasrob.frontends.c.literals import string
from pgasrob.frontends.c.standard import TYPES, words
from pgasrob.frontends.c.tokens import Source, Token, error, unreadable
from pgasrob.program.statements import NOWHERE

if TYPE_CHECKING:
    from tree_sitter import Parser, Tree, TreeCursor

MAX_NESTING = 200
MAX_DEPTH = 1_200

_BASIC = frozenset(words("void char short int long float double signed unsigned __signed__ __signed"))
_DROPPED = frozenset(
    words(
        "const volatile restrict register inline auto _Noreturn _Thread_local __thread __extension__ __inline "
        "__inline__ __restrict __restrict__ __const __const__ __volatile__ __volatile"
    )
)
_BRACKETED = frozenset({"__attribute__", "__attribute", "_Alignas", "__declspec"})
_ASSEMBLER = frozenset({"asm", "__asm__", "__asm"})
_UNSUPPORTED = {
    "_Complex": "complex numbers are not supported",
    "__int128": "integers of 128 bits are not supported",
    "_Atomic": "atomic types are not supported: they are for threads, and a rank is one thread of control here",
    "va_arg": "`va_arg` is not supported: what a function with `...` gets beyond its parameters is not known",
    "__builtin_va_arg": "`va_arg` is not supported",
}
_KEYWORDS = frozenset(
    words(
        "break case continue default do else enum extern for goto if return sizeof static struct switch typedef union "
        "while _Generic _Static_assert _Alignof offsetof"
    )
)
TYPEOF = frozenset({"typeof", "__typeof__", "__typeof"})
_NAMES = ("identifier", "field_identifier", "type_identifier", "statement_identifier")
_NO_TYPE_AFTER = frozenset({".", "->", "struct", "union", "enum", "goto", "*"})
_TYPE_BEFORE = frozenset({"*", "(", ")", ",", "[", ":"})


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
    """``tokens``: those the tree is about (type names of several words are one, of kind `type`)."""

    root: Node
    tokens: list[Token]
    source: Source


def parse(tokens: Iterable[Token], source: Source, types: Iterable[str] = ()) -> Parsed:
    """The syntax tree; ``types`` are names of types beside those of the standard and the program's own."""
    leaves = _with_types(_without_attributes(list(tokens)), {*TYPES, "_Bool", "va_list", *types})
    _check_brackets(leaves)
    pieces, starts, ends = _rendered(leaves)
    tree = _parser().parse(pieces)
    if tree.root_node.has_error:
        raise _syntax_error(tree, leaves, starts, source)
    return Parsed(_converted(tree, leaves, starts, ends), leaves, source)


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
        token = tokens[position]
        position += 1
        if token.kind == "string":
            start = position - 1
            while position < len(tokens) and tokens[position].kind == "string":
                position += 1
            result.append(token if position == start + 1 else _joined(tokens[start:position]))
        elif token.kind == "stray":
            raise unreadable(token)
        elif token.text in _DROPPED:
            pass
        elif token.text in _BRACKETED:
            position = _closing(tokens, position, token)
        elif token.text in _ASSEMBLER:
            position = _assembler(tokens, position, token)
        elif token.kind == "name" and token.text in _UNSUPPORTED:
            raise error("PG120", _UNSUPPORTED[token.text], token)
        else:
            result.append(token)
    return result


def _closing(tokens: list[Token], position: int, start: Token) -> int:
    """The place behind the brackets that open at ``position``."""
    if position >= len(tokens) or tokens[position].text != "(":
        raise error("PG107", f"`{start.text}` needs parentheses behind it", start)
    depth = 0
    for index in range(position, len(tokens)):
        text = tokens[index].text
        depth += (text == "(") - (text == ")")
        if start.text.startswith("__attribute") and text in ("packed", "__packed__"):
            hint = "leave it away: the layout then is the ordinary one"
            raise error("PG120", "packed structs are not supported", tokens[index], hint)
        if depth == 0:
            return index + 1
    raise error("PG107", "this bracket is not closed", tokens[position])


def _assembler(tokens: list[Token], position: int, start: Token) -> int:
    """Behind an assembler statement that has no instructions (a barrier for the compiler)."""
    while position < len(tokens) and tokens[position].text in ("volatile", "__volatile__", "goto", "inline"):
        position += 1
    end = _closing(tokens, position, start)
    if tokens[position + 1].kind != "string" or string(tokens[position + 1]).strip():
        raise error("PG120", "assembler is not supported", start, hint="write it in C")
    return end


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


def _with_types(tokens: list[Token], types: set[str]) -> list[Token]:
    """``tokens`` where those that name a type have the kind `type`, and words as `unsigned long int` are one."""
    result: list[Token] = []
    position = 0
    coming: dict[int, list[str]] = {}
    while position < len(tokens):
        token = tokens[position]
        if token.kind != "name":
            types.update(coming.get(position, ()))
            result.append(token)
        elif token.text in _BASIC:
            words = [token.text]
            while position + 1 < len(tokens) and tokens[position + 1].text in _BASIC:
                position += 1
                words.append(tokens[position].text)
            result.append(replace(token, kind="type", text=" ".join(words)))
        elif token.text == "typedef":
            end, names = _declared(tokens, position)
            coming.setdefault(end, []).extend(names)
            result.append(token)
        elif token.text in types and _names_type(result, tokens, position):
            result.append(replace(token, kind="type"))
        else:
            result.append(token)
        position += 1
    return result


def _names_type(before: list[Token], tokens: list[Token], position: int) -> bool:
    """Whether the name at ``position``, that of a type, means it, and not a member or variable of the same name."""
    following = tokens[position + 1] if position + 1 < len(tokens) else None
    if following is None or (following.kind != "name" and following.text not in _TYPE_BEFORE):
        return False
    if following.text in _KEYWORDS and following.text not in ("static", "extern", "typedef", "struct"):
        return False
    if not before:
        return True
    last = before[-1]
    if last.text in _NO_TYPE_AFTER or last.kind == "type":
        return False
    if last.text == "}":
        return following.text != "," and following.text != "["
    return last.kind != "name" or last.text in _KEYWORDS


def _declared(tokens: list[Token], position: int) -> tuple[int, list[str]]:
    """Where the typedef at ``position`` ends, and the names that it declares."""
    names: list[str] = []
    braces = brackets = 0
    end = position + 1
    while end < len(tokens):
        token = tokens[end]
        text = token.text
        if text == ";" and braces <= 0:
            break
        braces += (text == "{") - (text == "}")
        following = tokens[end + 1].text if end + 1 < len(tokens) else ""
        if braces == 0:
            if text in "([" and token.kind == "sign":
                if text == "(" and following == "*" and brackets == 0:
                    inner = end + 1
                    while inner < len(tokens) and tokens[inner].text in ("*", "("):
                        inner += 1
                    if inner < len(tokens) and tokens[inner].kind == "name":
                        names.append(tokens[inner].text)
                brackets += 1
            elif text in ")]" and token.kind == "sign":
                brackets -= 1
            elif token.kind == "name" and brackets == 0 and following in (";", ",", "[", "("):
                names.append(text)
        end += 1
    return end, names


def _check_brackets(tokens: list[Token]) -> None:
    """Every bracket has its partner, and they do not nest too deeply."""
    opened: list[Token] = []
    pairs = {")": "(", "]": "[", "}": "{"}
    for token in tokens:
        if token.kind != "sign":
            continue
        if token.text in ("(", "[", "{"):
            opened.append(token)
            if len(opened) > MAX_NESTING:
                raise error("PG108", f"brackets nest more than {MAX_NESTING} levels deep", token)
        elif token.text in pairs:
            if not opened:
                raise error("PG107", f"`{token.text}` closes nothing", token)
            if opened[-1].text != pairs[token.text]:
                other = opened[-1]
                raise error("PG107", f"`{token.text}` does not close `{other.text}` of line {other.span.line}", token)
            opened.pop()
    if opened:
        raise error("PG107", f"this `{opened[-1].text}` is not closed", opened[-1])


def _rendered(tokens: list[Token]) -> tuple[bytes, dict[int, int], dict[int, int]]:
    """A text of the same shape, and which token begins and ends at which byte."""
    pieces: list[str] = []
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    length = 0

    def put(index: int, text: str) -> None:
        nonlocal length
        starts[length] = index
        length += len(text)
        ends[length] = index
        pieces.append(text)
        length += 1

    opened: list[str] = []
    closed = ""
    for index, token in enumerate(tokens):
        if token.text == "(":
            kind = _parenthesis(tokens, index, closed)
            opened.append(kind)
            put(index, "{ int v [" if kind == "typeof" else "(")
            if kind == "doubled":
                put(index, "(")
        elif token.text == ")":
            closed = opened.pop() if opened else ""
            put(index, "] ; }" if closed == "typeof" else ")")
            if closed == "doubled":
                put(index, ")")
        else:
            if token.text == "}" and index and tokens[index - 1].text == ":":
                put(index - 1, ";")  # a label at the end of a block, as C23 has it
            put(index, _shape(token))
    return " ".join(pieces).encode(), starts, ends


def _shape(token: Token) -> str:
    match token.kind:
        case "type":
            return "int"
        case "number":
            return "1"
        case "string":
            return '"s"'
        case "character":
            return "'c'"
        case "name" if token.text in TYPEOF:
            return "struct v"  # { int v [the expression]; }
        case "name" if token.text not in _KEYWORDS:
            return "v"
        case _:
            return token.text


def _parenthesis(tokens: list[Token], index: int, closed: str) -> str:
    """What the parenthesis that opens at ``index`` is for: call, control, type, typeof, doubled, or group."""
    before = tokens[index - 1] if index else None
    inside = tokens[index + 1] if index + 1 < len(tokens) else None
    if before is not None:
        if before.kind == "type":
            return "call"
        if before.kind == "name":
            if before.text in ("if", "while", "for", "switch"):
                return "control"
            if before.text in TYPEOF:
                return "typeof"
            if before.text not in ("return", "sizeof", "case", "else", "do", "goto"):
                return "call"
        if before.text == "]" or (before.text == ")" and closed not in ("type", "control")):
            return "call"
    if inside is not None and (inside.kind == "type" or inside.text in {"struct", "union", "enum", *TYPEOF}):
        return "type"
    if inside is not None and inside.kind == "name" and inside.text not in _KEYWORDS:
        return "doubled"
    return "group"


def _syntax_error(tree: Tree, tokens: list[Token], starts: dict[int, int], source: Source) -> Exception:
    """The error for the first place that tree-sitter could not read."""
    if not tokens:
        return error("PG107", "syntax error", Token("sign", "", NOWHERE, source))
    cursor = tree.walk()
    found: tuple[int, int, bool, str] | None = None  # length, byte, missing, type
    pending = True
    while pending:
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
    index = next((starts[at] for at in range(byte, byte + 8) if at in starts), len(tokens) - 1)
    token = tokens[index]
    if (last := _unfinished(tokens, index)) is not None:
        return error("PG107", f"a `;` is missing after `{last.text}`", last)
    if missing:
        return error("PG107", f"syntax error: `{kind}` is missing before `{token.text}`", token)
    unknown = ""
    if token.kind == "name" and token.text not in _KEYWORDS and index + 1 < len(tokens):
        following = tokens[index + 1]
        if following.kind == "name" or following.text == "*":
            unknown = f"is `{token.text}` a type? Then its typedef, or the header that has it, is missing"
    return error("PG107", f"syntax error at `{token.text}`", token, unknown)


def _unfinished(tokens: list[Token], index: int) -> Token | None:
    """The token at the end of a line, near the one at ``index``, that a statement seems to end with."""
    for position in range(max(index - 2, 0), min(index + 30, len(tokens) - 1)):
        token, following = tokens[position], tokens[position + 1]
        if not following.first or following.kind not in ("name", "type"):
            continue
        if token.kind in ("number", "string", "character") or (token.kind == "name" and token.text not in _KEYWORDS):
            return token
        if token.text == "]" or (token.text == ")" and _closes_call(tokens, position)):
            return token
    return None


def _closes_call(tokens: list[Token], position: int) -> bool:
    depth = 0
    while position > 0:
        depth += (tokens[position].text == ")") - (tokens[position].text == "(")
        if depth == 0:
            return tokens[position - 1].kind == "name" and tokens[position - 1].text not in _KEYWORDS
        position -= 1
    return False


def _converted(tree: Tree, tokens: list[Token], starts: dict[int, int], ends: dict[int, int]) -> Node:
    """The tree as `Node`s, without its punctuation."""
    last = max(len(tokens) - 1, 0)
    root = Node("translation_unit", 0, last)
    cursor: TreeCursor = tree.walk()
    stack = [root]
    if not cursor.goto_first_child():
        return root
    while True:
        here = cursor.node
        assert here is not None
        name = cursor.field_name
        node = Node(here.type, starts.get(here.start_byte, 0), ends.get(here.end_byte, last))
        parent = stack[-1]
        if node.type in _NAMES and tokens[node.first].text in _KEYWORDS - {"default", "_Static_assert"}:
            raise error("PG107", f"`{tokens[node.first].text}` is a keyword, not a name", tokens[node.first])
        if here.is_named:
            parent.children.append(node)
        if name is not None:
            parent.fields.setdefault(name, []).append(node)
        if len(stack) > MAX_DEPTH:
            raise error("PG108", f"the program nests more than {MAX_DEPTH} levels deep here", tokens[node.first])
        if cursor.goto_first_child():
            stack.append(node)
            continue
        while not cursor.goto_next_sibling():
            cursor.goto_parent()
            stack.pop()
            if not stack[1:] and cursor.depth == 0:
                return root
