"""From `.pgas` text to a program (the design, section 3), or to everything that is wrong with it.

The syntax is in ``grammar.lark``, and ``builder.py`` has what each rule means. Here is the way through the tokens, and
what happens at one that the grammar has no place for: a small repair where the mistake is plain (a semicolon is put in,
a keyword is taken as a name), and otherwise panic mode: an ERROR stands for the statement or declaration, and reading
goes on after the next semicolon or at the next brace.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from contextvars import ContextVar
from copy import copy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pgasrob import file_input
from pgasrob.diagnostics.suggestions import did_you_mean
from pgasrob.program.builder import Builder
from pgasrob.program.declarations import Source
from pgasrob.program.expression_rules import after, at
from pgasrob.program.files import DISK, Files
from pgasrob.program.kept_tables import parser_of
from pgasrob.program.program import Program
from pgasrob.program.report import Report, Stop, short
from pgasrob.program.statements import NOWHERE, Span
from pgasrob.program.vocabulary import KEYWORDS
from pgasrob.stop_points import stop_point

if TYPE_CHECKING:
    from lark import Lark, Token

    from pgasrob.program.habits import Habit

MAX_STACK = 5_000
"""Symbols of unfinished rules; far more than MAX_NESTING needs. A megabyte of `(` is given up early."""

MAX_SKIPPED = 200_000
"""Tokens that are passed over after a mistake: more than the longest declaration has, but not a megabyte of `(`."""

END, ERROR = "$END", "ERROR"
DECLARATIONS = frozenset(("PROGRAM", "MEMORY", "REGISTER", "QUEUE"))
"""What can only start a declaration: `nodes` may as well be part of an expression."""
PUNCTUATION = {
    "SEMICOLON": ";", "RPAR": ")", "RSQB": "]", "RBRACE": "}", "LPAR": "(", "LSQB": "[", "LBRACE": "{", "COMMA": ",",
    "COLON": ":", "EQUALS": "=",
}  # fmt: skip
CLOSERS = ("SEMICOLON", "RPAR", "RSQB", "RBRACE")

# What the parser waits for, in words: where it takes the first terminal, it takes those of the group.
GROUPS = (
    ("NOT", "an expression", ("NAME", "INT", "ME", "NODES", "MEM", "LPAR", "MINUS", "NOT", "ATOMIC", "FETCH_UPDATE")),
    ("ATOMIC", "an operation", ("NAME", "OR", "ATOMIC")),
    ("PLUS", "an operator", (
        "OR_ELSE", "AND_THEN", "BAR", "CARET", "AMPERSAND", "EQUALITY", "RELATION", "SHIFT", "PLUS", "MINUS", "TIMES",
        "QUESTION", "EQUALS", "ARROW", "LSQB")),
    ("EQUALITY", "a comparison", ("EQUALITY", "RELATION", "EQUALS")),
    ("BARRIER", "a statement", (
        "NAME", "MEM", "OPERATION", "UPDATE", "AWAIT", "AWAIT_ADD", "BARRIER", "BUNDLE", "EXIT", "SKIP", "GOTO", "IF",
        "WHILE", "CHOOSE", "LOOP")),
    ("MEMORY", "a declaration", ("PROGRAM", "NODES", "MEMORY", "REGISTER", "QUEUE")),
    ("ARROW", "`<-`", ("ARROW", "EQUALS", "LSQB")),
    ("NAME", "a name", ("NAME",)),
    ("INT", "an integer", ("INT", "MINUS")),
    (END, "the end of the file", (END,)),
)  # fmt: skip
# What to do about a token at the start of a statement.
MISPLACED = {
    "SEMICOLON": "drop it, or write `skip;` for a statement that does nothing",
    "LBRACE": "a block belongs to a process, an `if`, `else`, `while`, `choose`, `or` or `loop`",
    "ELSE": "`else` follows the block of an `if`",
    "OR": "`or` follows the block of a `choose`",
    "ATOMIC": "an atomic gives the old value: `r <- {}(...);`",
    "FETCH_UPDATE": "an atomic gives the old value: `r <- {}(...);`",
}


def parse(text: str, file: str = "<string>") -> Program:
    """The program that ``text`` is; ``file`` is what reports call it, and gives a program without a header its name.

    Raises :class:`pgasrob.diagnostics.SourceError`, with everything that is wrong, when it is none.
    """
    source = Source(file, text.removeprefix("\ufeff"))
    report = Report(source)
    builder = Builder(report)
    with suppress(Stop):
        _check_text(report)
        _Reading(source.text, report, builder).run()
    with suppress(Stop):
        builder.finish()
    report.check()
    return builder.program()


def parse_file(path: str | Path, files: Files = DISK) -> Program:
    """The program in the file ``path``. Raises SourceError when the file cannot be read or is no program."""
    return parse(read_source(path, files), str(path))


def read_text(file: str, files: Files = DISK) -> str:
    """The text of ``file`` as far as it can be read; a file that is no program may still have a header."""
    try:
        return files.read(str(Path(file))).decode(errors="replace")
    except (OSError, ValueError):
        return ""


def read_source(path: str | Path, files: Files = DISK) -> str:
    """The text of the file ``path``. Raises SourceError when it cannot be read or is not UTF-8."""
    try:
        data = files.read(str(path))
    except (OSError, ValueError) as error:  # ValueError: no operating system would take the name
        code, (why, hint) = "PG004" if file_input.is_too_large(error) else "PG001", file_input.why(error)
        _refuse(Source(str(path), ""), code, f"cannot read the file: {why}", hint=hint)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        binary = b"\0" in data
        _refuse(
            Source(str(path), data.decode(errors="replace")),
            "PG002",
            "this is a binary file, not text" if binary else f"byte 0x{data[error.start]:02x} is not UTF-8",
            Span(line, column, line, column + 1),
            "name a source file" if binary else "save the file as UTF-8",
        )


def _refuse(source: Source, code: str, message: str, place: Span = NOWHERE, hint: str = "") -> NoReturn:
    report = Report(source)
    report.add(code, message, place, hint)
    raise report.error() from None


def _check_text(report: Report) -> None:
    """Stop at what is no text before lark sees it."""
    text = report.source.text
    if not text.strip():
        report.stop("PG003", "the file is empty", hint="a program has at least one `process { ... }`")
    if (zero := text.find("\0")) >= 0:
        line, column = text.count("\n", 0, zero) + 1, zero - text.rfind("\n", 0, zero)
        place = Span(line, column, line, column + 1)
        report.stop("PG002", "a zero byte: this is no text", place, "name a source file")


class _Actions:
    """What lark calls for every rule: the action of that name of the builder at work.

    Lark binds its actions once, when the grammar is built, but every text needs a builder of its own.
    """

    def __getattr__(self, rule: str) -> Callable[[list[Any]], Any]:
        if rule not in _RULES:  # lark asks for its auxiliary rules and for terminals too
            raise AttributeError(rule)
        return lambda parts: _builder.get().actions[rule](*parts)


_builder: ContextVar[Builder] = ContextVar("_builder")
_RULES = frozenset(Builder(Report(Source("", ""))).actions)


@cache
def _grammar() -> Lark:
    return parser_of(Path(__file__).with_name("grammar.lark"), _Actions())


class _Reading:
    """One pass over the tokens of ``text``, feeding the parser; ``builder`` gets what the rules build."""

    def __init__(self, text: str, report: Report, builder: Builder) -> None:
        self.report = report
        self.builder, self.scope = builder, builder.scope
        self.parser: Any = _grammar().parse_interactive(text)  # lark's annotations of it are incomplete
        self.tokens = self.lex()
        self.ahead: list[Token] = []  # read already, the next one last
        self.blocks: list[Token] = []  # the braces of the blocks that are open
        self.bare: Token | None = None  # a brace at which reading went on after a mistake
        self.astray = False  # outside all blocks, after something that was no declaration
        self.muffled = False  # after stray characters
        self.keywords_as_names: set[str] = set()
        self.tests_to_come = 0  # of C's `do { ... } while (...);`
        self.done = False

    def run(self) -> None:
        """Read the whole text. Raises :class:`Stop` when that is hopeless."""
        from lark import UnexpectedToken

        self.scope.last = self.peek()
        if self.scope.last.type == END and not self.muffled:
            self.report.stop("PG003", "there is nothing but comments", hint="add `process { ... }`")
        at_work = _builder.set(self.builder)
        try:
            while not self.done:
                stop_point()
                token = self.take()
                try:
                    self.push(token)
                except UnexpectedToken:
                    self.mend(token)
        finally:
            _builder.reset(at_work)

    # Tokens

    def lex(self) -> Iterator[Token]:
        """The tokens of the text, without the characters that belong to none, and then END without end."""
        from lark import Token

        token = None
        for token in self.parser.lexer_thread.lex(self.parser.parser_state):
            if token.type == ERROR:
                self.report_stray(token)
            else:
                yield token
        line, column = (token.end_line, token.end_column) if token else (1, 1)
        while True:
            yield Token(END, "", line=line, column=column, end_line=line, end_column=column)

    def report_stray(self, token: Token) -> None:
        if token.startswith("/*"):
            opening = replace(at(token), end_line=at(token).line, end_column=at(token).column + len("/*"))
            self.report.stop("PG013", "the comment that opens here is never closed", opening, "close it with `*/`")
        if self.muffled:
            return
        self.report.add_stray(token, at(token))
        self.muffled = True

    def take(self) -> Token:
        return self.ahead.pop() if self.ahead else next(self.tokens)

    def peek(self) -> Token:
        self.ahead.append(self.take())
        return self.ahead[-1]

    # Feeding

    def push(self, token: Token) -> None:
        """Feed ``token``; lark raises UnexpectedToken when the grammar has no place for it."""
        self.parser.feed_token(token)
        kind = token.type
        self.done = kind == END
        if kind != "SEMICOLON":
            self.scope.last = token
        if len(self.parser.parser_state.state_stack) > MAX_STACK:
            self.scope.too_deep(token, "brackets, operators or blocks")
        if kind == "LBRACE" and self.at_boundary():
            self.blocks.append(token)
        elif kind == "RBRACE" and self.at_boundary():
            self.blocks.pop()
        elif not self.blocks and (kind in DECLARATIONS or kind in ("NODES", "PROCESS")):
            self.astray = False
        if kind in ("SEMICOLON", "LBRACE", "RBRACE"):
            self.muffled = False

    def put_in(self, terminal: str) -> None:
        """Feed a token that the text lacks, as if it stood with the last one."""
        from lark import Token

        self.push(Token.new_borrow_pos(terminal, PUNCTUATION.get(terminal, ""), self.scope.last))

    def at_boundary(self) -> bool:
        """Whether a statement or declaration may start here. The braces of an initialiser are no boundary."""
        return ERROR in self.parser.choices()

    def would_take(self, *terminals: str) -> bool:
        """Whether the grammar has a place for these next, tried on a copy of the parser that builds nothing."""
        from lark import Token, UnexpectedToken

        trial = self.parser.copy(deepcopy_values=False)
        trial.parser_state.parse_conf = copy(trial.parser_state.parse_conf)
        trial.parser_state.parse_conf.callbacks = {}
        try:
            for terminal in terminals:
                trial.feed_token(Token(terminal, ""))
        except UnexpectedToken:
            return False
        return True

    # Mending

    def mend(self, token: Token) -> None:
        """The grammar has no place for ``token``: say so, and get back to where it makes sense to read on."""
        repairs = (self.take_as_name, self.close_blocks, self.close)
        if not any(repair(token) for repair in repairs):
            self.recover(token)

    def say(self, code: str, message: str, place: Span, hint: str) -> None:
        """Report a mistake, unless it is most likely a consequence of one that was reported."""
        if not (self.muffled or (self.astray and not self.blocks)):
            self.report.add(code, message, place, hint)

    def take_as_name(self, token: Token) -> bool:
        """`register read;`: take the keyword as a name."""
        if token.value not in KEYWORDS or not self.would_take("NAME", self.peek().type):
            return False
        if self.blocks and (token.line != self.scope.last.end_line or self.peek().type in ("ARROW", "EQUALS")):
            return False  # more likely the next statement; and `me <- 1` has a message of its own
        # As the operation of an update it is wrong too, which the rule of that says.
        if token.value not in self.keywords_as_names and not self.would_take("OR", "COMMA"):
            self.keywords_as_names.add(token.value)
            self.say("PG017", f"`{token}` is a keyword, not a name", at(token), "choose another name")
        self.push(token.update(type="NAME"))
        return True

    def close_blocks(self, token: Token) -> bool:
        """The file ends, or the next process begins, inside a block: close it."""
        if not self.blocks or token.type not in (END, "PROCESS"):
            return False
        where = "at the end of the file" if token.type == END else f"before the process on line {token.line}"
        self.say("PG012", "the block that opens here is not closed", at(self.blocks[-1]), f"put a `}}` {where}")
        self.unwind()
        self.put_in(ERROR)
        while self.blocks:
            self.put_in("RBRACE")
        self.push(token)
        return True

    def close(self, token: Token) -> bool:
        """`r <- 1` without its semicolon, or a bracket that is not closed: put in what is missing."""
        if self.at_boundary():
            return False
        # On the same line one token is not enough to tell a forgotten semicolon from two words in a row.
        follows = [token.type] if token.line != self.scope.last.end_line else [token.type, self.peek().type]
        missing = next((closer for closer in CLOSERS if self.would_take(closer, *follows)), None)
        if missing is None:
            return False
        text = PUNCTUATION[missing]
        self.say("PG011", f"missing `{text}`", after(self.scope.last), f"put a `{text}` here")
        self.put_in(missing)
        self.push(token)
        return True

    def recover(self, token: Token) -> None:
        """Give up the statement or declaration that ``token`` is in."""
        expected, last = set(self.parser.accepts()), self.scope.last
        if "SEMICOLON" in expected:
            expected -= {"AS", "MADE_UP"}  # both are optional, and hardly ever what is missing
        from pgasrob.program.habits import habit

        parts = self.unwind()
        first = parts[0] if parts else token
        meant = habit(last, token, self.peek(), expected, self.report.source.text, self.scope.kind)
        word = meant.word if meant else ""
        if self.tests_to_come and token.type == "SEMICOLON" and getattr(first, "type", "") == "WHILE":
            self.tests_to_come -= 1
        elif token.type != "LBRACE" or last is not self.bare:
            self.complain(token, expected, meant)
        declaration = getattr(first, "type", "") in DECLARATIONS
        if not self.blocks and not declaration:
            self.astray = True
        self.put_in(ERROR)
        if word == "do":
            self.tests_to_come += 1
        skipped = self.skip_head(token) if word == "for" else self.skip(token, declaration)
        if declaration or not self.blocks:
            for part in parts + skipped:
                if getattr(part, "type", "") == "NAME":
                    self.builder.forgive(part.value)

    def unwind(self) -> list[Any]:
        """Take the broken statement or declaration off the parser's stack; gives its parts."""
        state = self.parser.parser_state
        parts: list[Any] = []
        while not self.at_boundary():
            stop_point()
            state.state_stack.pop()
            parts.append(state.value_stack.pop())
        return parts[::-1]

    def skip(self, token: Token, declaration: bool) -> list[Token]:
        """Pass over ``token`` and what follows, to where the next statement or declaration may start; gives it."""
        skipped: list[Token] = []
        braces = 0  # open ones of an initialiser
        while token.type != "SEMICOLON":
            stop_point()
            if token.type in (END, "PROCESS") or (not braces and self.resumes_at(token, declaration)):
                self.bare = token
                self.ahead.append(token)
                break
            if declaration and token.type in ("LBRACE", "RBRACE"):
                braces = max(0, braces + (1 if token.type == "LBRACE" else -1))
            skipped.append(token)
            if len(skipped) > MAX_SKIPPED:
                raise Stop
            token = self.take()
        self.muffled = False
        return skipped

    def skip_head(self, token: Token) -> list[Token]:
        """Pass over what stands in parentheses from ``token`` on, or over nothing; gives it."""
        skipped: list[Token] = []
        depth = 0
        while token.type not in (END, "PROCESS", "LBRACE", "RBRACE") and len(skipped) <= MAX_SKIPPED:
            stop_point()
            depth += (token.type == "LPAR") - (token.type == "RPAR")
            if not skipped and not depth:
                break
            skipped.append(token)
            if not depth:
                self.muffled = False
                return skipped
            token = self.take()
        self.ahead.append(token)
        self.muffled = False
        return skipped

    def resumes_at(self, token: Token, declaration: bool) -> bool:
        """Whether the ERROR that stands for a declaration or statement can end before ``token``."""
        if token.type == "LBRACE":
            opens = self.peek().type == "LBRACE" or self.would_take("LBRACE", self.peek().type)
            return opens and not declaration
        return token.type == "RBRACE" if self.blocks else token.type in DECLARATIONS

    # What to say

    def complain(self, token: Token, expected: Collection[str], meant: Habit | None) -> None:
        """Report ``token``, where the grammar would take one of ``expected``; ``meant`` is what it is known for."""
        place, last = at(token), self.scope.last
        starts = "BARRIER" in expected  # a statement
        assigns = ("ARROW", "EQUALS")
        if meant:
            self.say(meant.code, meant.message, meant.place, meant.hint)
        elif token.type == "RBRACE" and not self.blocks:
            self.say("PG012", "this `}` closes nothing", place, "drop it, or look for a `}` too many above")
        elif token.type in DECLARATIONS and starts:
            self.say("PG025", f"`{token}` stands inside a block", place, "move it before the first process")
        elif starts and self.peek().type in assigns:
            self.say("PG053", f"`{short(token)}` is not a register", place, "only registers can be set")
        elif token.type in (*assigns, "COLON") and last in KEYWORDS and last.type not in ("ME", "NODES"):
            self.say("PG017", f"`{last}` is a keyword, not a name", at(last), "choose another name")
        else:
            found = "the end of the file" if token.type == END else f"`{short(token)}`"
            self.say("PG010", f"expected {in_words(expected)}, found {found}", place, self.advice(token, expected))

    def advice(self, token: Token, expected: Collection[str]) -> str:
        """What to do about ``token``, which the grammar has no place for."""
        for word in (token, self.scope.last):
            if word.type == "NAME" and not self.builder.knows(word) and (hint := did_you_mean(word, KEYWORDS, 0.7)):
                return hint
        if "BARRIER" in expected and token.type in MISPLACED:
            return MISPLACED[token.type].format(token)
        if "MEMORY" in expected:
            return "statements stand in a process, `process { ... }`; declarations come before it"
        if expected == {"LPAR"} and self.scope.last.type in ("IF", "WHILE"):
            return f"a condition stands in parentheses, `{self.scope.last} (...) {{ ... }}`"
        if "LBRACE" in expected and "MINUS" not in expected:
            return "a body is a block in braces, `{ ... }`"
        if {"OR", "ATOMIC"} <= set(expected):
            return "the first argument says what is done with the cell, as in `update(add, 1, rank, x, q);`"
        if token.type == "UPDATE" and "MINUS" in expected:
            return f"`{token}` happens later and gives no value; `fetch_update` does, at once"
        if expected == {"MEM"} and self.scope.last.type == "COMMA":
            return "`await_add` tests a cell of memory, `await_add(rank, mem[x] == 0, 1);`"
        if expected == {"MEM"}:
            return "`await` tests a cell of memory, `await(mem[x] == 1);`; to test registers use `assume`"
        if token.type == "LPAR" and "PLUS" in expected:
            return "expressions have no calls"
        return ""


def in_words(terminals: Collection[str]) -> str:
    """``terminals`` as a phrase: "a name, `[` or `;`"."""
    left = set(terminals) - {ERROR}
    if "BARRIER" in left or "MEMORY" in left:  # where something may start, a brace can only continue an ERROR
        left.discard("LBRACE")
    if {"ELSE", "OR"} <= left:  # and so can these two together
        left -= {"ELSE", "OR"}
    if {"NAME", "LBRACE"} <= left:  # behind `process`
        left = left - {"NAME"} | {"thread"}
    words = []
    for marker, phrase, members in GROUPS:
        if marker in left:
            words.append(phrase)
            left.difference_update(members)
    words += sorted(f"`{PUNCTUATION.get(terminal, terminal.lower())}`" for terminal in left)
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))
