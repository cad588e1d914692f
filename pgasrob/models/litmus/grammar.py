"""The grammar of litmus texts, read by recursive descent.

    text         = locations "::" thread { "||" thread } { expectation }
    locations    = { NAME "@" INT [ "=" [-] INT ] [","] }
    thread       = INT ":" statements
    statements   = { statement ";" | block } [ statement ]
    block        = "choose" "{" statements "}" "or" "{" statements "}" ... | "loop" [INT] "{" statements "}"
    statement    = place "=" value | call | "mfence" | "rfence" "(" INT ")" | "poll" "(" INT ")" | "flush" "(" INT ")"
                 | "assume" "(" expression ")" | "skip"
    value        = expression | call
    call         = "get" "(" place ")" | "put" "(" place "," expression ")" | "rga" "(" place "," place ")"
                 | "cas" "(" place "," place "," place ")" | "CAS" "(" place "," expression "," expression ")"
                 | "rcas" "(" place "," expression "," expression ")" | "rfaa" "(" place "," expression ")"
    place        = NAME [".n"] [ "^" INT [".n"] ]
    expectation  = ("allowed" | "forbidden") [ model { "," model } ":" ] ( values | "otherwise" )
    model        = WORD { WORD }
    values       = { NAME "=" ( [-] INT | "T" ) [","] }

Expressions have C's operators; `||` outside of parentheses begins the next thread, and `^` after a declared location
names its node. After a mistake reading goes on after the statement, declaration or line that has it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from pgasrob.diagnostics.suggestions import closest
from pgasrob.models.litmus.expected_outcomes import VARIANTS
from pgasrob.models.litmus.expression_reading import Expressions, Lost, across, after
from pgasrob.models.litmus.litmus_program import UNDEFINED, Value
from pgasrob.models.litmus.litmus_tokens import Token
from pgasrob.models.litmus.litmus_words import ARGUMENTS, FORMS, GIVES, HABITS, HEADS, KEYWORDS
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
from pgasrob.program.expressions import INT32
from pgasrob.program.report import Report, short
from pgasrob.program.statements import Span
from pgasrob.stop_points import stop_point

UNKNOWN_NODE = -1
"""Of a thread whose node could not be read."""


class Reading(Expressions):
    """One pass over the tokens of a text."""

    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self.braces: list[Token] = []

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
            stop_point()
            if self.word(*HEADS):
                try:
                    lines.append(self.line())
                except Lost:
                    self.skip(lambda token: token.text in HEADS or self.likely_head())
            else:
                self.astray(lines)
        return Text(tuple(locations), tuple(threads), tuple(lines), tuple(self.mentions))

    def astray(self, lines: list[Line]) -> None:
        """Report the tokens where a thread or a line of expectations should begin, and skip them."""
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
            stop_point()
            self.take()

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
        return Declared(name.text, node, initial, across(name, self.last))

    def value(self) -> int:
        negative = self.taken("-") is not None
        number = self.integer("an integer")
        return INT32.wrap(-number if negative else number)

    # Threads

    def thread(self) -> ThreadText:
        first, node = self.next, 0
        if first.kind == "integer" and self.ahead(1).is_sign(":"):
            self.take()
            node = self.report.integer(first.text, first.span)
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
        return ThreadText(node, self.statements(), across(first, self.last))

    def ends_statements(self) -> bool:
        token = self.next
        if token.kind == "end" or token.is_sign("}"):
            return True
        return not self.braces and (token.is_sign("||") or self.word(*HEADS) or self.likely_head())

    def likely_head(self) -> bool:
        """Whether the next token is a misspelled `allowed` or `forbidden`, before a name or a model."""
        token = self.next
        if token.kind != "name" or token.text in KEYWORDS or self.ahead(1).kind != "name":
            return False
        return closest(token.text, HEADS, 0.75) is not None

    def statements(self) -> Part:
        found: list[Set | Call | Choice | Repeat] = []
        while not self.ends_statements():
            stop_point()
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
            self.report.add("PG171", "missing `;`", after(self.last), "statements are set apart by `;`")
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
            stop_point()
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
        return Set(target, value, across(first, self.last))

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
            self.lose("PG175", message, across(word, self.last), f"write {FORMS[word.text]}")
        if target is None and word.text in GIVES - {"CAS"}:
            hint = f"write {FORMS[word.text]}"
            self.lose("PG175", f"what `{word.text}` gives goes to a location", across(word, self.last), hint)
        return Call(word.text, tuple(arguments), target, across(first, self.last))

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
        what = "how often the loop runs at most, `loop 3 { ... }`, or its body, `loop { ... }`"
        most = None if self.next.is_sign("{") else self.integer(what)
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
            return Line(False, models, None, across(head, self.last))
        values: list[tuple[str, Value, Span]] = []
        while self.next.kind == "name" and self.next.text not in HEADS:
            values.append(self.expected_value())
            self.taken(",")
        if not values:
            self.expected("the values of an outcome, `a=0 b=1`")
        self.end_line("the next value, ")
        return Line(head.text == "allowed", models, tuple(values), across(head, self.last))

    def end_line(self, what: str) -> None:
        self.taken(";")
        if self.next.kind != "end" and not self.word(*HEADS):
            self.expected(f"{what}`allowed` or `forbidden`")

    def names_models(self) -> bool:
        """Whether there is a `:` in this line before any value."""
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
                found.append((words[0], tuple(words[1:]), across(first, self.last)))
            if not self.taken(","):
                break
        self.need(":")
        return tuple(found)

    @staticmethod
    def variant(words: list[str], model: str) -> bool:
        """Whether the words after a comma belong to the model before it: `corerma vpi, without IR`."""
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
        return name.text, value, across(name, self.last)


def _count(number: int) -> str:
    return f"{number} argument{'s' * (number != 1)}" if number else "no arguments"
