"""The grammar of litmus texts, read by recursive descent.

    text         = locations "::" thread { "||" thread } { expectation }
    locations    = { NAME "@" INT [ "=" [-] INT ] [","] }
    thread       = INT ":" statements
    statements   = { statement ";" | block } [ statement ]
    block        = "choose" "{" statements "}" "or" "{" statements "}" ... | "loop" INT "{" statements "}"
    statement    = place "=" value | call | "mfence" | "rfence" "(" INT ")" | "poll" "(" INT ")" | "flush" "(" INT ")"
                 | "assume" "(" expression ")" | "skip"
    value        = expression | call
    call         = "get" "(" place ")" | "put" "(" place "," expression ")" | "rga" "(" place "," place ")"
                 | "cas" "(" place "," place "," place ")" | "CAS" "(" place "," expression "," expression ")"
    place        = NAME [".n"] [ "^" INT [".n"] ]
    expectation  = ("allowed" | "forbidden") [ model { "," model } ":" ] ( values | "otherwise" )
    model        = WORD { WORD }
    values       = { NAME "=" ( [-] INT | "T" ) [","] }

Expressions have C's operators; `||` outside of parentheses begins the next thread, and `^` behind a location that is
declared names its node.
After a mistake reading goes on behind the statement, declaration or line that it is in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NoReturn

from pgasrob.diagnostics.suggestions import closest, did_you_mean
from pgasrob.models.litmus.expectation import VARIANTS
from pgasrob.models.litmus.program import UNDEFINED, Value
from pgasrob.models.litmus.syntax import (
    Call,
    Choice,
    Declared,
    Line,
    Mention,
    Operand,
    Part,
    Repeat,
    Set,
    Text,
    ThreadText,
)
from pgasrob.models.litmus.tokens import Token, tokens
from pgasrob.program.expressions import INT32, PRECEDENCE, Binary, Conditional, Const, Expr, Symbol, Unary
from pgasrob.program.report import Report, short
from pgasrob.program.statements import Span

MAX_NESTING = 80
"""Levels of brackets, operators and blocks: what walks an expression or block must not run out of stack."""
MAX_INTEGER = 2**31
UNKNOWN_NODE = -1
"""Of a thread whose node could not be read."""

ARGUMENTS = {
    "get": ("remote location",),
    "put": ("remote location", "what is put"),
    "rga": ("remote location", "operand"),
    "cas": ("remote location", "expected", "new"),
    "CAS": ("location", "expected", "new"),
    "poll": ("node",),
    "rfence": ("node",),
    "flush": ("node",),
    "assume": ("condition",),
    "mfence": (),
    "skip": (),
}
"""The words that begin a statement or give a value, and what they take."""
GIVES = frozenset(("get", "rga", "cas", "CAS"))
"""Those of them that give a value."""
HEADS = ("allowed", "forbidden")
KEYWORDS = frozenset((*ARGUMENTS, *HEADS, "choose", "or", "loop", "otherwise"))
FORMS = {
    "get": "`x = get(z^2)`",
    "put": "`put(z^2, x)`",
    "rga": "`x = rga(z^2, y)`",
    "cas": "`x = cas(z^2, y, w)`",
    "CAS": "`a = CAS(x, 0, 1)`",
    "poll": "`poll(2)`",
    "rfence": "`rfence(2)`",
    "flush": "`flush(2)`",
    "assume": "`assume(a == 1)`",
    "mfence": "`mfence`",
    "skip": "`skip`",
}
HABITS = {
    "if": "write `choose { assume(a == 1); ... } or { assume(a != 1); ... }`",
    "while": "loops are bounded: `loop 3 { ... }` runs its body at most 3 times",
    "else": "the blocks of `choose` are set apart by `or`",
    "for": "loops are bounded: `loop 3 { ... }` runs its body at most 3 times",
    "fence": "`mfence` drains the store buffer, `rfence(2)` orders operations to node 2",
    "wait": "`poll(2)` waits for the oldest operation to node 2 (RDMA-TSO), `flush(2)` for all (coreRMA)",
    "barrier": "no model of litmus tests has barriers; `assume` makes a thread wait for a value",
    "exists": "outcomes are named by `allowed a=1 b=0` and `forbidden a=1 b=0`",
    "expect": "outcomes are named by `allowed a=1 b=0` and `forbidden a=1 b=0`",
}
_BINARY = {symbol: level for level, symbols in enumerate(PRECEDENCE, start=1) for symbol in symbols}


class Lost(Exception):
    """The statement, declaration or line cannot be read; the report says why."""


class Reading:
    """One pass over the tokens of a text."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.tokens = tokens(report)
        self.at = 0
        self.mentions: list[Mention] = []
        self.located: set[str] = set()  # names that are declared
        self.depth = 0
        self.brackets = 0
        self.braces: list[Token] = []
        self.compares = False  # within `assume`, where `=` is taken for `==`

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def ahead(self, count: int) -> Token:
        return self.tokens[min(self.at + count, len(self.tokens) - 1)]

    @property
    def last(self) -> Token:
        return self.tokens[max(self.at - 1, 0)]

    def take(self) -> Token:
        token = self.next
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def taken(self, *signs: str) -> Token | None:
        return self.take() if self.next.is_sign(*signs) else None

    def word(self, *words: str) -> bool:
        return self.next.kind == "name" and self.next.text in words

    # Mistakes

    def lose(self, code: str, message: str, span: Span, hint: str = "") -> NoReturn:
        self.report.add(code, message, span, hint)
        raise Lost

    def expected(self, what: str, hint: str = "") -> NoReturn:
        """What stands here is not ``what``."""
        token = self.next
        if token.is_sign(":=", "<-"):
            hint = "write `=`"
        elif token.is_sign("|"):
            hint = "threads are set apart by `||`, without a blank in it"
        elif token.is_sign("."):
            hint = "`.n` behind a location makes its access non-atomic"
        elif token.kind == "name" and token.text in HABITS:
            hint = HABITS[token.text]
        found = "the end of the file" if token.kind == "end" else f"`{short(token.text)}`"
        self.lose("PG170", f"expected {what}, found {found}", token.span, hint)

    def need(self, sign: str, hint: str = "") -> Token:
        return self.taken(sign) or self.expected(f"`{sign}`", hint)

    def close(self, sign: str, opening: Token) -> None:
        """Take the closing bracket of ``opening``, or say that it is missing and go on as if it stood there."""
        if not self.taken(sign):
            message = f"missing `{sign}` for the `{opening.text}` in line {opening.span.line}"
            self.report.add("PG171", message, _after(self.last), f"put a `{sign}` here")

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_NESTING:
            message = f"more than {MAX_NESTING} nested brackets, operators or blocks"
            self.report.stop("PG022", message, self.next.span, "split the expression over several registers")

    # The text

    def text(self) -> Text:
        if len(self.tokens) == 1:
            self.report.stop("PG003", "there is nothing but comments", hint="a test is `x@1=0 :: 1: x = 1 || 1: a = x`")
        locations = self.locations()
        threads = [self.thread()]
        while self.taken("||"):
            threads.append(self.thread())
        lines: list[Line] = []
        while self.next.kind != "end":
            if self.word(*HEADS):
                try:
                    lines.append(self.line())
                except Lost:
                    self.skip(lambda token: token.text in HEADS or self.likely_head())
            else:
                self.astray(lines)
        return Text(tuple(locations), tuple(threads), tuple(lines), tuple(self.mentions))

    def astray(self, lines: list[Line]) -> None:
        """Something stands where a thread or a line of expectations may begin."""
        try:
            if self.next.is_sign("}"):
                self.lose("PG171", "this `}` closes nothing", self.next.span, "drop it, or look for one too many above")
            if lines:
                hint = self.hint_for(self.next, HEADS)
                self.expected("`allowed` or `forbidden`", hint or "threads stand before the lines of expectations")
            self.expected("`||` with the next thread, `allowed` or `forbidden`", self.hint_for(self.next, HEADS))
        except Lost:
            self.take()
            self.skip(lambda token: token.is_sign("||") or token.text in HEADS or self.likely_head())
        while not lines and self.taken("||"):
            self.thread()

    def skip(self, ends: Callable[[Token], bool]) -> None:
        while self.next.kind != "end" and not ends(self.next):
            self.take()

    def hint_for(self, token: Token, words: Iterable[str]) -> str:
        return did_you_mean(token.text, words, 0.6) if token.kind == "name" else ""

    # Declarations

    def locations(self) -> list[Declared]:
        found: list[Declared] = []
        while not self.taken("::"):
            token = self.next
            if found and self.taken(":"):
                self.report.add("PG170", "expected `::`, found `:`", token.span, "two colons end the locations")
                break
            if token.kind == "end":
                hint = "locations stand before it, threads behind: `x@1=0 :: 1: x = 1 || 1: a = x`"
                self.report.stop("PG170", "expected `::`, found the end of the file", token.span, hint)
            try:
                if token.kind == "integer" and self.ahead(1).is_sign(":"):
                    self.report.add(
                        "PG170", "expected `::` before the first thread", token.span, "put `::` behind the locations"
                    )
                    break
                found.append(self.location())
            except Lost:
                self.skip(self.may_begin_location)
            self.taken(",")
        return found

    def may_begin_location(self, token: Token) -> bool:
        if token.kind == "name":
            return self.ahead(1).is_sign("@")
        return token.is_sign("::") or (token.kind == "integer" and self.ahead(1).is_sign(":"))

    def location(self) -> Declared:
        name = self.next
        if name.kind != "name":
            self.expected("a location with its node, `x@1=0`, or `::`")
        if name.text in KEYWORDS:
            self.report.add("PG017", f"`{name.text}` is a keyword, not a name", name.span, "choose another name")
        if name.text.startswith("$"):
            hint = "names with `$` are registers that no outcome shows"
            self.report.add("PG014", f"`{short(name.text)}` cannot be a location", name.span, hint)
        self.take()
        self.located.add(name.text)
        node, initial = UNKNOWN_NODE, 0
        if self.taken("@"):
            try:
                node = self.integer("the number of a node", "nodes are integers: `x@1=0`")
            except Lost:
                if self.next.kind == "name" and not self.ahead(1).is_sign("@"):
                    self.take()
        elif self.next.is_sign("[", "("):
            self.expected("`@`", "locations are single cells: `x0@1, x1@1`")
        else:
            with suppress(Lost):
                self.expected("`@`", f"the node of a location stands behind it: `{short(name.text)}@1=0`")
            if not (self.next.is_sign("=", ",") or self.next.kind == "name"):
                raise Lost
        if self.taken("="):
            initial = self.value()
        if not (self.next.is_sign(",", "::", ":") or self.next.kind in ("name", "end", "integer")):
            self.expected("`,` and the next location, or `::`")
        return Declared(name.text, node, initial, _across(name, self.last))

    def value(self) -> int:
        negative = self.taken("-") is not None
        number = self.integer("an integer")
        return INT32.wrap(-number if negative else number)

    def integer(self, what: str, hint: str = "") -> int:
        token = self.next
        if token.kind != "integer":
            self.expected(what, hint)
        self.take()
        return self.number(token)

    def number(self, token: Token) -> int:
        """The value of an integer token; 0 for one that is none or too large, which is reported."""
        if not token.text.isdigit():
            hint = "integers are decimal digits, nothing else"
            self.report.add("PG015", f"`{short(token.text)}` is not an integer", token.span, hint)
            return 0
        significant = token.text.lstrip("0") or "0"
        # The length comes first: int() refuses to read thousands of digits.
        if len(significant) > len(str(MAX_INTEGER)) or int(significant) > MAX_INTEGER:
            hint = f"values have 32 bits; the largest integer that can be written is {MAX_INTEGER}"
            self.report.add("PG016", f"{short(token.text)} is above 2^31", token.span, hint)
            return 0
        return int(significant)

    # Threads

    def thread(self) -> ThreadText:
        first, node = self.next, 0
        if first.kind == "integer" and self.ahead(1).is_sign(":"):
            node = self.number(self.take())
            self.take()
        else:
            hint = "each thread begins with the number of its node: `1: x = 1`"
            if self.last.is_sign("||") and not (first.kind == "name" and self.ahead(1).is_sign(":")):
                hint += "; the operator `||` stands in parentheses"
            with suppress(Lost):
                self.expected("the node of a thread and `:`", hint)
            node = UNKNOWN_NODE
            if first.kind == "name" and self.ahead(1).is_sign(":"):  # P0: ...
                self.take(), self.take()
        return ThreadText(node, self.statements(), _across(first, self.last))

    def ends_statements(self) -> bool:
        token = self.next
        if token.kind == "end" or token.is_sign("}"):
            return True
        return not self.braces and (token.is_sign("||") or self.word(*HEADS) or self.likely_head())

    def likely_head(self) -> bool:
        """Whether a misspelled `allowed` or `forbidden` stands here, before a name or a model."""
        token = self.next
        if token.kind != "name" or token.text in KEYWORDS or self.ahead(1).kind != "name":
            return False
        return closest(token.text, HEADS, 0.75) is not None

    def statements(self) -> Part:
        found: list[Set | Call | Choice | Repeat] = []
        while not self.ends_statements():
            if self.taken(";"):
                continue
            depth, before = self.depth, self.at
            try:
                statement = self.statement()
                found.append(statement)
                if not isinstance(statement, Choice | Repeat):
                    self.end_statement()
            except Lost:
                self.depth, self.brackets, self.compares = depth, 0, False
                self.recover(before)
        return tuple(found)

    def end_statement(self) -> None:
        """A statement ends with `;`, or where its block or thread ends."""
        if self.ends_statements() or self.taken(";"):
            return
        token = self.next
        if token.kind == "name" and (token.span.line != self.last.span.line or self.may_be_statement()):
            self.report.add("PG171", "missing `;`", _after(self.last), "statements are set apart by `;`")
            return
        if token.is_sign("||", "|", ":") or (token.kind == "integer" and self.ahead(1).is_sign(":")):
            self.expected("`;`", "threads are set apart by `||`, `1: x = 1 || 2: a = z`")
        self.expected("`;`" if self.last.is_sign(")") else "an operator or `;`")

    def may_be_statement(self) -> bool:
        return self.next.text in KEYWORDS or self.ahead(1).is_sign("=", "^", ".n", "(")

    def recover(self, before: int) -> None:
        """Pass over the rest of the statement that began at the token ``before``."""
        if self.at == before and not self.next.is_sign("{"):
            self.take()
        depth = 0
        while self.next.kind != "end":
            if not depth and (self.ends_statements() or self.next.is_sign(";")):
                break
            if self.word(*HEADS):
                break
            depth += self.next.is_sign("{") - self.next.is_sign("}")
            self.take()

    def statement(self) -> Set | Call | Choice | Repeat:
        token = self.next
        if token.kind != "name":
            if token.is_sign("{"):
                self.expected("a statement", "a block belongs to `choose`, `or` or `loop`")
            self.expected("a statement")
        match token.text:
            case "choose":
                return self.choice()
            case "loop":
                return self.repeat()
            case "or":
                self.expected("a statement", "`or` follows the block of a `choose`")
            case word if word in ARGUMENTS:
                return self.call(None)
        if token.text in HABITS and not self.ahead(1).is_sign("="):
            self.expected("a statement")
        if self.ahead(1).is_sign("("):
            self.unknown_call(token)
        target = self.place("a statement")
        if not self.taken("="):
            hint = self.hint_for(token, KEYWORDS) if self.last is token else ""
            if self.next.is_sign("=="):
                hint = "write `=` to store, or `assume(...)` to wait for a value"
            self.expected("`=`", hint)
        return self.set(target, token)

    def unknown_call(self, token: Token) -> NoReturn:
        hint = self.hint_for(token, ARGUMENTS) or HABITS.get(token.text, "")
        forms = ", ".join(word for word in ARGUMENTS if ARGUMENTS[word])
        self.lose("PG173", f"unknown statement `{short(token.text)}`", token.span, hint or f"there are {forms}")

    def set(self, target: Mention, first: Token) -> Set | Call:
        token = self.next
        if token.kind == "name" and token.text in ARGUMENTS:
            if token.text not in GIVES:
                hint = f"it is a statement of its own, {FORMS[token.text]}"
                self.lose("PG175", f"`{token.text}` gives no value", token.span, hint)
            return self.call(target, first)
        if token.kind == "name" and self.ahead(1).is_sign("("):
            self.unknown_call(token)
        value = self.operand()
        return Set(target, value, _across(first, self.last))

    def call(self, target: Mention | None, first: Token | None = None) -> Call:
        word = self.take()
        first = first or word
        arguments: list[Operand] = []
        names = ARGUMENTS[word.text]
        if opening := self.taken("("):
            self.brackets += 1
            self.compares = word.text == "assume"
            while not self.next.is_sign(")"):
                arguments.append(self.operand())
                if not self.taken(","):
                    break
            self.brackets -= 1
            self.compares = False
            if not self.next.is_sign(")", ";", "||", "}") and self.next.kind != "end":
                self.expected("an operator, `,` or `)`" if arguments else "`)`")
            self.close(")", opening)
        elif names:
            self.expected("`(`", f"write {FORMS[word.text]}")
        if len(arguments) != len(names):
            takes = _count(len(names)) + (f" ({', '.join(names)})" if names else "")
            message = f"`{word.text}` takes {takes}, and gets {len(arguments)}"
            self.lose("PG175", message, _across(word, self.last), f"write {FORMS[word.text]}")
        if target is None and word.text in GIVES - {"CAS"}:
            hint = f"write {FORMS[word.text]}"
            self.lose("PG175", f"what `{word.text}` gives goes to a location", _across(word, self.last), hint)
        return Call(word.text, tuple(arguments), target, _across(first, self.last))

    def choice(self) -> Choice:
        word = self.take()
        branches = [self.block()]
        while self.word("or"):
            self.take()
            branches.append(self.block())
        if len(branches) == 1:
            hint = "write `choose { ... } or { ... }`; a branch may be empty"
            self.report.add("PG170", "`choose` has one branch alone", word.span, hint)
        return Choice(tuple(branches))

    def repeat(self) -> Repeat:
        word = self.take()
        most = self.integer("how often the loop runs at most, `loop 3 { ... }`")
        body = self.block()
        return Repeat(most, body, word.span)

    def block(self) -> Part:
        opening = self.need("{", "a body is a block in braces, `{ ... }`")
        self.deeper()
        self.braces.append(opening)
        body = self.statements()
        self.braces.pop()
        self.depth -= 1
        self.close("}", opening)
        return body

    # Places and expressions

    def place(self, what: str = "a location", remote: bool = True) -> Mention:
        """A name where a value is read or written. Unless it may be ``remote``, a `^` behind it is the operator."""
        name = self.next
        if name.kind != "name" or name.text in KEYWORDS:
            hint = "" if name.kind != "name" else f"`{name.text}` is a keyword; choose another name"
            self.expected(what, hint)
        self.take()
        atomic = self.taken(".n") is None
        node = None
        if remote and self.taken("^"):
            node = self.integer("the number of a node")
            atomic = self.taken(".n") is None and atomic
        return Mention(name.text, _across(name, self.last), node, atomic)

    def operand(self) -> Operand:
        first, count = self.next, len(self.mentions)
        expr, _ = self.expression()
        mention = self.mentions[count] if isinstance(expr, Symbol) and self.mentions[count:] else None
        return Operand(expr, mention, _across(first, self.last))

    def expression(self) -> tuple[Expr, int]:
        """An expression and its depth."""
        condition, depth = self.binary(1)
        if not self.next.is_sign("?"):
            return condition, depth
        self.take()
        self.deeper()
        self.brackets += 1
        yes, first = self.expression()
        self.brackets -= 1
        self.need(":")
        no, second = self.expression()
        self.depth -= 1
        return Conditional(condition, yes, no), self.checked(max(depth, first, second) + 1)

    def checked(self, depth: int) -> int:
        if depth > MAX_NESTING:
            message = f"more than {MAX_NESTING} nested operators"
            self.report.stop("PG022", message, self.last.span, "split the expression over several registers")
        return depth

    def binary(self, level: int) -> tuple[Expr, int]:
        self.deeper()
        left, depth = self.prefixed()
        while (symbol := self.operator()) and _BINARY[symbol] >= level:
            self.take()
            right, other = self.binary(_BINARY[symbol] + 1)
            left, depth = Binary(symbol, left, right), self.checked(max(depth, other) + 1)
        self.depth -= 1
        return left, depth

    def operator(self) -> str | None:
        """The binary operator that stands here: `||` in parentheses alone, `=` for `==` in an `assume`."""
        token = self.next
        if token.kind != "sign" or (token.text == "||" and not self.brackets):
            return None
        if token.text == "=" and self.compares:
            return "=="
        return token.text if token.text in _BINARY else None

    def prefixed(self) -> tuple[Expr, int]:
        token = self.next
        if not token.is_sign("-", "!", "~"):
            return self.primary()
        self.take()
        self.deeper()
        literal = self.next.kind == "integer"
        operand, depth = self.prefixed()
        self.depth -= 1
        # A minus before a literal is part of the number, so that every constant has one way to be written.
        if token.text == "-" and literal and isinstance(operand, Const):
            return Const(INT32.wrap(-operand.value)), depth
        return Unary(token.text, operand), self.checked(depth + 1)

    def primary(self) -> tuple[Expr, int]:
        token = self.next
        if token.kind == "integer":
            self.take()
            return Const(INT32.wrap(self.number(token))), 0
        if opening := self.taken("("):
            self.brackets += 1
            inner = self.expression()
            self.brackets -= 1
            if not self.next.is_sign(")", ";", "||", "}", ",") and self.next.kind != "end":
                self.expected("an operator or `)`")
            self.close(")", opening)
            return inner
        if token.kind == "name" and token.text in ARGUMENTS:
            hint = f"put what it gives in a location or register first: {FORMS[token.text]}"
            if token.text not in GIVES:
                hint = f"it is a statement of its own, {FORMS[token.text]}"
            self.lose("PG175", f"`{token.text}` cannot be part of an expression", token.span, hint)
        if token.kind == "name" and token.text not in KEYWORDS and self.ahead(1).is_sign("("):
            self.unknown_call(token)
        mention = self.place("an expression", remote=token.text in self.located)
        self.mentions.append(mention)
        return Symbol(mention.name, len(self.mentions) - 1), 0

    # Expectations

    def line(self) -> Line:
        head = self.take()
        models = self.models() if self.names_models() else ()
        if self.word("otherwise"):
            self.take()
            if head.text == "allowed":
                hint = "`forbidden otherwise` says that no more is allowed than what is listed"
                self.lose("PG170", "`otherwise` goes with `forbidden`", self.last.span, hint)
            self.end_line("")
            return Line(False, models, None, _across(head, self.last))
        values: list[tuple[str, Value, Span]] = []
        while self.next.kind == "name" and self.next.text not in HEADS:
            values.append(self.expected_value())
            self.taken(",")
        if not values:
            self.expected("the values of an outcome, `a=0 b=1`")
        self.end_line("the next value, ")
        return Line(head.text == "allowed", models, tuple(values), _across(head, self.last))

    def end_line(self, what: str) -> None:
        self.taken(";")
        if self.next.kind != "end" and not self.word(*HEADS):
            self.expected(f"{what}`allowed` or `forbidden`")

    def names_models(self) -> bool:
        """Whether a `:` stands in this line before any value does."""
        ahead = 0
        while True:
            token = self.ahead(ahead)
            if token.is_sign(":"):
                return True
            if token.kind == "end" or token.is_sign("=") or token.text in (*HEADS, "otherwise"):
                return False
            ahead += 1

    def models(self) -> tuple[tuple[str, tuple[str, ...], Span], ...]:
        found: list[tuple[str, tuple[str, ...], Span]] = []
        while True:
            first = self.next
            words = []
            while self.next.kind == "name":
                words.append(self.hyphenated())
            if not words:
                self.expected("the name of a model")
            if found and words[0] not in VARIANTS and self.variant(words, found[-1][0]):
                name, before, start = found.pop()
                found.append((name, (*before, *words), start))
            else:
                found.append((words[0], tuple(words[1:]), _across(first, self.last)))
            if not self.taken(","):
                break
        self.need(":")
        return tuple(found)

    @staticmethod
    def variant(words: list[str], model: str) -> bool:
        """Whether what stands behind a comma goes on about the model before it: `corerma vpi, without IR`."""
        return words[0] == "without" or words[0] in VARIANTS.get(model, ())

    def hyphenated(self) -> str:
        """A word that may have hyphens and dots in it: rdma-tso, oppo.G9."""
        word = self.take().text
        while self.next.is_sign("-", ".") and self.ahead(1).kind in ("name", "integer"):
            word += self.take().text + self.take().text
        return word

    def expected_value(self) -> tuple[str, Value, Span]:
        name = self.take()
        if self.taken("=="):
            self.report.add("PG170", "expected `=`, found `==`", self.last.span, "write `a=0`")
        elif not self.taken("="):
            self.expected("`=`", f"an outcome is written as `{short(name.text)}=0`")
        value: Value
        if self.word(UNDEFINED):
            self.take()
            value = UNDEFINED
        elif self.next.is_sign("-") or self.next.kind == "integer":
            value = self.value()
        else:
            self.expected("an integer, or `T` for the undefined value")
        return name.text, value, _across(name, self.last)


def _across(first: Token, last: Token) -> Span:
    start = first.span
    end = last.span if (last.span.line, last.span.column) >= (start.line, start.column) else start
    return Span(start.line, start.column, end.end_line, end.end_column)


def _after(token: Token) -> Span:
    line, column = token.span.end_line, token.span.end_column
    return Span(line, column, line, column + 1)


def _count(number: int) -> str:
    return f"{number} argument{'s' * (number != 1)}" if number else "no arguments"
