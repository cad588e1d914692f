"""What tree-sitter is given to read: a text of the same shape as the tokens, in which it cannot guess wrong.

Without knowing which names are types C cannot be parsed: `a * b;` is a product or a declaration, `(a)(b)` a cast or a
call, `f(a * b)` a call or a declaration. tree-sitter guesses. So every type name is written `int` here, every other
name in an expression `(1)`, which can be nothing but a primary expression, and those that are declared, members, tags
and labels stay names (`v`). What they are is read off the tokens, in the order of C's own rules: a name is that of a
type where the innermost scope has it so, unless the declaration at hand has its type already.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from pgasrob.diagnostics import SourceError
from pgasrob.diagnostics.suggestions import did_you_mean
from pgasrob.frontends.c.standard import words
from pgasrob.frontends.c.tokens import Token, error

UNSUPPORTED_TYPES = {
    "_Complex": "complex numbers are not supported",
    "__int128": "integers of 128 bits are not supported",
    "_Atomic": "atomic types are not supported: they are for threads, and a rank is one thread of control here",
}
BASIC = frozenset(
    (*words("void char short int long float double signed unsigned __signed__ __signed"), *UNSUPPORTED_TYPES)
)
KEYWORDS = frozenset(
    words(
        "break case continue default do else enum extern for goto if return sizeof static struct switch typedef union "
        "while _Generic _Static_assert _Alignof offsetof"
    )
)
TYPEOF = frozenset({"typeof", "__typeof__", "__typeof"})
_TAGGED = frozenset({"struct", "union", "enum"})
_CONTROL = frozenset({"if", "while", "for", "switch"})
_BEGINNINGS = frozenset(words("static extern typedef return if for while do switch break continue goto"))
"""Words with which a statement or declaration begins, and that can stand nowhere else but behind a whole one."""
_CALLED = _CONTROL | {"_Generic", "_Static_assert", "_Alignof", "offsetof"}
_INFIX = frozenset(words("/ % | ^ < > <= >= == != && || << >> = += -= *= /= %= &= |= ^= <<= >>= , ->"))
_PREFIX = frozenset(words("+ - * & ! ~"))  # some of them infix too
_BEFORE_CASTS = frozenset({"return", "case", "else", "do", "sizeof"})
_DECLARING = frozenset({"parameters", "declarator", "type", "enumerators"})

Mode = Literal["file", "block", "members", "enumerators", "control", "parameters", "declarator", "type", "expression"]
Part = Literal["start", "declaration", "expression"]


@dataclass(slots=True)
class _Frame:
    """What an open bracket holds, and how far that is: ``part`` says what of a declaration or statement comes next.

    ``end``: how the closing bracket is written. ``declares``: a declaration has begun; ``specified``: it has its type,
    ``named``: and the name of its declarator; ``defines``: it is a typedef. ``choices``: the `?` whose `:` is to come.
    ``measured``: it holds the type of a `sizeof`, `_Alignof` or `offsetof`, and no cast. ``chooses``: what a `_Generic`
    does. ``loops``: the `for`s of the statement at hand, each with a scope.
    """

    mode: Mode
    end: str
    part: Part = "start"
    declares: bool = False
    specified: bool = False
    named: bool = False
    defines: bool = False
    choices: int = 0
    measured: bool = False
    chooses: bool = False
    loops: int = 0

    def begin(self) -> None:
        """Another declaration or statement, parameter or member."""
        self.part, self.choices = ("declaration" if self.mode in _DECLARING else "start"), 0
        self.declares = self.part == "declaration"
        self.specified = self.mode == "enumerators"
        self.named = self.defines = False


@dataclass
class Shapes:
    """Reads ``tokens``; ``types`` are the names of types that no declaration in them gives.

    Afterwards ``leaves`` are the tokens, where those that name a type have the kind `type` and words as `unsigned long
    int` are one, and ``text`` is for tree-sitter. ``wrong``: the first mistake that shows here, and the leaf it is at.
    """

    tokens: Iterable[Token]
    types: Iterable[str]
    leaves: list[Token] = field(default_factory=list)
    text: bytes = b""
    wrong: tuple[SourceError, int] | None = None
    unfinished: int | None = None
    """The leaf behind which a `;` is missing, where that is what is wrong."""

    def __post_init__(self) -> None:
        self.leaves = list(_basic_types(self.tokens))
        self._pieces: list[str] = []
        self._starts: list[int] = []  # where they begin
        self._indices: list[int] = []  # the leaves that they stand for
        self._length = 0
        self._scopes: list[dict[str, bool]] = [dict.fromkeys(self.types, True), {}]
        self._parameters: dict[str, bool] = {}
        self._frames = [_Frame("file", "")]
        self._sizes: set[int] = set()  # where a type in parentheses begins that is the operand of a sizeof
        self._operand = False  # whether what stands before is one
        for index, token in enumerate(self.leaves):
            try:
                self._leaf(index, token)
            except SourceError as wrong:
                self.wrong = wrong, index
                break
        self.text = " ".join(self._pieces).encode()

    def _leaf(self, index: int, token: Token) -> None:
        if token.kind == "sign":
            self._sign(index, token.text)
        elif token.kind == "type":
            self._type(index)
        elif token.kind == "name" and token.text in TYPEOF:
            self._specify(index, "struct v")  # { int v [the expression]; }
        elif token.kind == "name" and token.text not in KEYWORDS:
            self._name(index, token.text)
        elif token.kind == "name":
            self._keyword(index, token.text)
        else:
            self._expression()
            self._primary(index, {"number": "1", "string": '"s"', "character": "'c'"}[token.kind])

    def leaf_at(self, byte: int) -> int:
        """The index of the leaf that the ``byte`` of the text belongs to."""
        return self._indices[bisect_right(self._starts, byte) - 1] if self._indices else 0

    def stands_for_itself(self, byte: int) -> bool:
        """Whether a leaf, or what is put for it, begins with the ``byte`` of the text."""
        place = bisect_left(self._starts, byte)
        return place < len(self._starts) and self._starts[place] == byte

    def _put(self, index: int, text: str) -> None:
        self._starts.append(self._length)
        self._indices.append(index)
        self._pieces.append(text)
        self._length += len(text) + 1

    def _word(self, index: int) -> str:
        return self.leaves[index].text if 0 <= index < len(self.leaves) else ""

    def _kind(self, index: int) -> str:
        return self.leaves[index].kind if 0 <= index < len(self.leaves) else ""

    def _expression(self) -> None:
        """An expression begins here, if nothing has begun."""
        if self._frames[-1].part == "start":
            self._frames[-1].part = "expression"

    def _primary(self, index: int, text: str) -> None:
        """A name or constant in an expression."""
        self._check_operator(index)
        self._put(index, text)
        self._operand = True

    def _in_parentheses(self, index: int) -> bool:
        """Whether the leaf at ``index`` is, in its statement."""
        depth = 0
        while index and depth <= 0 and (before := self.leaves[index := index - 1]).text not in (";", "{", "}"):
            depth += (before.text in ("(", "[")) - (before.text in (")", "]"))
        return depth > 0

    def _check_operator(self, index: int) -> None:
        """That no operand stands before the one at ``index``: `a b` would look like a call."""
        if self._operand and self._frames[-1].part == "expression":
            before, token = self.leaves[index - 1], self.leaves[index]
            if token.first:
                self.unfinished = None if self._in_parentheses(index) else index - 1
                raise error("PG107", f"a `;` is missing after `{before.text}`", before)
            hint = did_you_mean(self._before_parentheses(index - 1), _CONTROL, 0.75)
            raise error("PG107", f"an operator, a comma or a `;` is missing before `{token.text}`", token, hint)

    def _before_parentheses(self, index: int) -> str:
        """The word before the parentheses that close at ``index``, as in `whlie (x) y();`; or nothing."""
        depth = 0
        while index > 0 and (text := self._word(index)) not in (";", "{", "}"):
            depth += (text == ")") - (text == "(")
            index -= 1
            if depth == 0:
                return self._word(index) if text == "(" else ""
        return ""

    # Types and declarations

    def _is_type(self, name: str) -> bool:
        return next((scope[name] for scope in reversed(self._scopes) if name in scope), False)

    def _begins_type(self, index: int) -> bool:
        """Whether a type begins with the token at ``index``, where an expression may stand too."""
        if self._kind(index) != "name":
            return self._kind(index) == "type"
        return self._word(index) in (_TAGGED | TYPEOF) or self._is_type(self._word(index))

    def _specify(self, index: int, text: str) -> None:
        """A type, or the keyword that one begins with."""
        frame = self._frames[-1]
        if frame.part == "expression" and not frame.chooses:
            self._check_operator(index)
            what = self.leaves[index].text
            raise error("PG107", f"`{what}` is a type, and an expression was expected here", self.leaves[index])
        self._operand = False
        if frame.part == "start":
            frame.part, frame.declares = "declaration", True
        frame.specified = True
        self._put(index, text)

    def _type(self, index: int) -> None:
        self.leaves[index] = replace(self.leaves[index], kind="type")
        self._specify(index, "int")

    def _declare(self, name: str) -> None:
        """The declaration at hand declares ``name``."""
        self._frames[-1].named = True
        frame = next(each for each in reversed(self._frames) if each.mode != "declarator")
        if frame.mode == "parameters":
            if self._frames[0].part == "declaration" and len(self._scopes) == 2:
                self._parameters[name] = False
        elif frame.mode not in ("type", "members"):
            self._scopes[-1][name] = frame.defines

    def _name(self, index: int, name: str) -> None:
        frame, before, behind = self._frames[-1], self._word(index - 1), self._word(index + 1)
        labels = frame.part == "start" and frame.mode == "block" and behind == ":"
        if labels or before in (".", "->", "goto") or before in _TAGGED:
            self._put(index, "v")
            self._operand = before in (".", "->")
        elif not frame.specified and frame.part != "expression" and self._is_type(name):
            self._type(index)
        elif frame.part == "start" and not (self._two_names(index) or frame.mode in ("file", "members")):
            frame.part = "expression"
            self._primary(index, "(1)")
        elif frame.part == "expression":
            if self._is_type(name):
                self._type(index)
            else:
                self._check_cast(index, name)
                self._primary(index, "(1)")
        elif not frame.specified and (self._two_names(index) or (behind == "*" and frame.mode != "declarator")):
            self._specify(index, "v")  # an unknown type
        else:
            frame.part, frame.declares = "declaration", True
            self._declare(name)
            self._put(index, "v")

    def _two_names(self, index: int) -> bool:
        """Whether a name follows a name, so that the first can only be a type."""
        return self._kind(index + 1) == "name" and self._word(index + 1) not in KEYWORDS

    def _check_cast(self, index: int, name: str) -> None:
        """That ``name`` is no unknown type in parentheses, as in `(name)x` and `(name *)x`."""
        stars = index + 1
        while self._word(stars) == "*":
            stars += 1
        if self._word(index - 1) != "(" or self._word(stars) != ")" or self._kind(index + 1) != "sign":
            return
        follows = self._kind(stars + 1) in ("number", "string", "character") or (
            self._kind(stars + 1) == "name" and self._word(stars + 1) not in KEYWORDS - {"sizeof"}
        )
        operator = self._word(index - 2)
        callee = operator in (")", "]") or (self._kind(index - 2) == "name" and operator not in _BEFORE_CASTS)
        if stars > index + 1 or (follows and not callee):
            hint = "if it is a type, its typedef, or the header that has it, is missing"
            raise error("PG122", f"unknown type `{name}`", self.leaves[index], hint)

    def _keyword(self, index: int, word: str) -> None:
        frame = self._frames[-1]
        if word in _BEGINNINGS and self.leaves[index].first:
            self._check_operator(index)
        self._operand = False
        if word in _CALLED and self._word(index + 1) != "(":
            raise error("PG107", f"a `(` is missing after `{word}`", self.leaves[index])
        if word in _TAGGED:
            self._specify(index, word)
            return
        if word in ("static", "extern", "typedef"):
            if frame.part == "start":
                frame.part, frame.declares = "declaration", True
            frame.defines |= word == "typedef"
        elif word not in _CONTROL and word not in ("else", "do", "default"):
            self._expression()
        if word == "sizeof" and self._word(index + 1) == "(" and self._begins_type(index + 2):
            end = _closing(self.leaves, index + 1)
            if self._word(end + 1) != "{":
                # In parentheses of its own, since `sizeof (int) * n` is no size of a cast.
                self._put(index, "(")
                self._sizes.add(index + 1)
        self._put(index, word)

    # Signs

    def _sign(self, index: int, text: str) -> None:
        frame = self._frames[-1]
        if frame.part == "expression":
            self._check_operands(index, text)
        called = self._operand
        if text not in ("++", "--"):
            self._operand = False
        match text:
            case "(":
                self._open_parenthesis(index, called)
            case "[":
                self._expression()
                comma = self._has_comma(index)  # then an expression in parentheses, for tree-sitter
                self._push(index, "[ (" if comma else "[", _Frame("expression", ") ]" if comma else "]", "expression"))
            case "{":
                self._open_brace(index)
            case ")" | "]" | "}":
                self._close(index)
            case ";":
                self._put(index, ";")
                self._end_statement(index, frame)
                if frame.mode == "file":
                    self._parameters = {}
            case ",":
                self._put(index, ",")
                if frame.mode in ("parameters", "enumerators"):
                    frame.begin()
                elif frame.declares and not frame.choices:
                    frame.part, frame.named = "declaration", False
            case "?":
                self._put(index, "?")
                self._expression()
                frame.choices += 1
            case ":":
                self._colon(index, frame)
            case "=":
                self._put(index, "=")
                self._expression()
                if frame.part == "declaration":
                    frame.part = "expression"
            case _:
                self._expression()
                self._put(index, text)

    def _end_statement(self, index: int, frame: _Frame) -> None:
        frame.begin()
        if frame.loops and self._word(index + 1) != "else":
            del self._scopes[-frame.loops :]
            frame.loops = 0

    def _check_operands(self, index: int, text: str) -> None:
        """That the sign ``text`` stands where an expression goes on or ends, if it does not begin one."""
        before = self.leaves[index - 1]
        if self._operand or before.kind != "sign":
            return
        after_operator = before.text in _INFIX or before.text in _PREFIX or before.text == "?"
        after_operator &= not (text == "}" and before.text == ",")  # that an initialiser may end with
        if (text in ")];}" and after_operator and self._word(index - 2) != "[") or (text == ")" and before.text == ","):
            raise error("PG107", f"an expression is missing after `{before.text}`", before)
        if text in _INFIX and (after_operator or before.text in "([,"):
            raise error("PG107", f"an expression is missing before `{text}`", self.leaves[index])

    def _colon(self, index: int, frame: _Frame) -> None:
        if frame.mode == "members" and not frame.named:
            self._put(index, "v")  # a bit-field without a name
        self._put(index, ":")
        if frame.choices:
            frame.choices -= 1
        elif frame.mode == "members":
            frame.part = "expression"  # of a bit-field
        elif frame.mode == "block":
            frame.begin()
            if self._word(index + 1) == "}":
                self._put(index, ";")  # a label at the end of a block, as C23 has it

    def _open_parenthesis(self, index: int, called: bool) -> None:
        frame, before = self._frames[-1], self._word(index - 1)
        begins_type = self._begins_type(index + 1)
        if before in TYPEOF and begins_type:
            self._push(index, "{", _Frame("type", "v ; }", "declaration", declares=True))
        elif before in TYPEOF:
            self._push(index, "{ int v [", _Frame("expression", "] ; }", "expression"))
        elif frame.part == "start" and before in _CONTROL:
            self._push(index, "(", _Frame("control", ")"))
            if before == "for":
                self._scopes.append({})
                frame.loops += 1
        elif frame.part == "declaration":
            parameters = frame.named or before == ")" or begins_type or self._word(index + 1) in (")", "...")
            mode: Mode = "type" if frame.mode == "type" else "parameters" if parameters else "declarator"
            inner = _Frame(mode, ")", "declaration", declares=True)
            inner.specified = frame.specified and mode == "declarator"
            self._push(index, "(", inner)
        elif before == "offsetof" or (begins_type and not called):
            inner = _Frame("type", ") )" if index in self._sizes else ")", "declaration", declares=True)
            inner.measured = index in self._sizes or before in ("_Alignof", "offsetof")
            self._push(index, "(", inner)
        else:
            self._expression()
            self._push(index, "(", _Frame("expression", ")", "expression", chooses=before == "_Generic"))

    def _push(self, index: int, text: str, frame: _Frame) -> None:
        self._put(index, text)
        self._frames.append(frame)

    def _open_brace(self, index: int) -> None:
        frame = self._frames[-1]
        if frame.part == "expression" and self._word(index - 1) != "(":
            self._push(index, "{", _Frame("expression", "}", "expression"))  # an initialiser
            return
        if frame.part == "declaration":
            tag = next((word for word in (self._word(index - 1), self._word(index - 2)) if word in _TAGGED), "")
            if tag:
                enum = tag == "enum"
                self._push(index, "{", _Frame("enumerators" if enum else "members", "}"))
                self._frames[-1].begin()
                return
        self._push(index, "{", _Frame("block", "}"))
        self._scopes.append(self._parameters if len(self._frames) == 2 else {})
        self._parameters = {}

    def _close(self, index: int) -> None:
        if len(self._frames) == 1:
            return
        closed = self._frames.pop()
        frame = self._frames[-1]
        self._put(index, closed.end)
        self._operand = closed.mode == "expression" or closed.measured
        match closed.mode:
            case "block":
                del self._scopes[-1 - closed.loops :]
                if frame.part != "expression":
                    self._end_statement(index, frame)
            case "declarator":
                frame.named |= closed.named
            case _:
                pass

    def _has_comma(self, index: int) -> bool:
        """Whether the brackets that open at ``index`` hold a comma, in none that are inside of them."""
        depth = 0
        for token in self.leaves[index : _closing(self.leaves, index)]:
            if token.kind == "sign":
                depth += (token.text in "([{") - (token.text in ")]}")
                if depth == 1 and token.text == ",":
                    return True
        return False


def _basic_types(tokens: Iterable[Token]) -> list[Token]:
    """``tokens`` where words as `unsigned long int` are one, of kind `type`."""
    result: list[Token] = []
    for token in tokens:
        if token.kind != "name" or token.text not in BASIC:
            result.append(token)
        elif result and result[-1].kind == "type":
            result[-1] = replace(result[-1], text=f"{result[-1].text} {token.text}")
        else:
            result.append(replace(token, kind="type"))
    return result


def _closing(tokens: list[Token], position: int) -> int:
    """The place of the bracket that closes the one at ``position``."""
    depth = 0
    for index in range(position, len(tokens)):
        if tokens[index].kind == "sign":
            depth += (tokens[index].text in "([{") - (tokens[index].text in ")]}")
        if depth == 0:
            return index
    return len(tokens)
