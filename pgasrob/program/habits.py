"""Recognises what users of C, OpenSHMEM, GASPI or MPI type by habit, and says what to write instead.

The parser asks here when the grammar has no place for a token; :func:`assignment` is also for the rules of statements.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgasrob.diagnostics.suggestions import closest
from pgasrob.program.commands import ATOMICS
from pgasrob.program.expression_rules import across, at
from pgasrob.program.report import short
from pgasrob.program.statements import Span
from pgasrob.program.vocabulary import OPERATIONS, OPERATIONS_OF, updating

if TYPE_CHECKING:
    from lark import Token

BARE = ("barrier", "bundle", "exit", "skip")
COMMANDS = (*OPERATIONS, *OPERATIONS_OF, "await", "await_add", *BARE)
WORDS = (*COMMANDS, "goto", "if", "while", "loop", "choose")
STATEMENTS = {
    "for": "use `while (...) { ... }`, or `loop { ... }` to repeat any number of times",
    "do": "use `while (...) { ... }`, or `again:` before the body and `if (...) { goto again; }` after it",
    "break": "leave the loop with `goto done;` and put the label after it, `done: skip;`",
    "continue": "use `goto next;` and put the label at the end of the body, `next: skip;`",
    "return": "use `goto end;` and put the label at the end of the process, `end: skip;`",
    "switch": "use `if (...) { ... } else if (...) { ... }`",
}  # fmt: skip
LOCK = "build it: take a lock with `compare_swap` in a `while` or wait for it with `await`, give it back with `swap`"
# The calls of other interfaces, by the parts of their names.
CALLS = (
    (r"compare|cswap|cas", "compare_swap"),
    (r"swap|exchange|xchg", "swap"),
    (r"fetch|fadd|finc|atomic|amo|rmw", "fetch_add"),
    (r"wait_?until|wait_?for|notify_wait|poll", "await"),
    (r"accumulate|acc|update", "update"),
    (r"notify", "notify"),
    (r"signal", "signal"),
    (r"quiet|flush|wait|complete", "wait"),
    (r"barrier|sync", "barrier"),
    (r"fence", "fence"),
    (r"i?put|p|send|store|write", "write"),
    (r"i?get|g|recv|load|read", "read"),
)
OPERATORS = ("PLUS", "MINUS", "TIMES", "AMPERSAND", "BAR", "CARET", "SHIFT")
TARGET = re.compile(r"(?:\bmem\s*\[\s*(?P<address>[^\[\]]*?)\s*\]|\b(?P<name>[A-Za-z_]\w*))\s*\Z", re.ASCII)
NAME = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)", re.ASCII)
VALUE = re.compile(r"[ \t]*(?P<value>[^;{}\n]*?)\s*(?=[;}\n]|\Z)")
MOST = 60
"""Characters on either side of an assignment that a hint is made from."""


@dataclass(frozen=True, slots=True)
class Habit:
    """A diagnostic: code, message, place, hint. ``word`` is the statement that does not exist, or ""."""

    code: str
    message: str
    place: Span
    hint: str
    word: str = ""


def habit(
    last: Token, token: Token, following: Token, expected: Collection[str], text: str, kind: Callable[[str], str]
) -> Habit | None:
    """What was probably meant with ``token``, which stands in ``text`` between ``last`` and ``following``.

    ``expected`` is what the grammar has a place for, ``kind`` says what a name was declared as.
    """
    in_expression = "PLUS" in expected
    target = "ARROW" in expected and not in_expression  # something to assign to, or the name of a call
    if last.type == "NAME" and not kind(last):
        if target and last in STATEMENTS:
            return Habit("PG027", f"there is no `{last}`", at(last), STATEMENTS[last], str(last))
        if token.type == "LPAR" and target:
            return Habit("PG026", f"there is no command `{short(last)}`", at(last), _command_hint(last))
        if token.type == "LPAR" and in_expression and (meant := _meant(last)):
            return Habit("PG026", f"there is no command `{short(last)}`", at(last), _written(meant))
        if token.type in ("SEMICOLON", "RBRACE") and target:
            return Habit("PG026", f"there is no command `{short(last)}`", at(last), _command_hint(last))
    if last.type in ("BUNDLE", "EXIT", "SKIP") and token.type == "LPAR":
        return Habit("PG023", f"`{last}` takes no parentheses", at(token), f"write `{last};`")
    if last.type == "LPAR" and token.type == "RPAR" and set(expected) == {"NAME"}:  # only behind `barrier`
        return Habit("PG023", "there is no name between the parentheses", at(token), "write `barrier;`")
    if last.type == "COLON" and token.type == "EQUALS" and _touch(last, token):
        return _assignment(last, token, ":=", text, kind)
    if target and token.type in OPERATORS and _touch(token, following):
        if following.type == "EQUALS":
            return _assignment(token, following, f"{token}=", text, kind)
        if token in ("+", "-") and following == token:
            return _assignment(token, following, f"{token}{token}", text, kind)
    if "BARRIER" in expected and token in ("+", "-") and following == token and _touch(token, following):
        return _assignment(token, following, f"{token}{token}", text, kind)
    return None


def assignment(text: str, start: int, end: int, sign: str, kind: Callable[[str], str]) -> str:
    """How to write the assignment whose ``sign`` stands in ``text`` from ``start`` to ``end``."""
    before, after = text[max(0, start - MOST) : start], text[end : end + MOST]
    left, right = TARGET.search(before), VALUE.match(after)
    if sign in ("++", "--"):
        left, value = left or NAME.match(after), "1"
    else:
        value = right["value"] if right else ""
    if not left or not value or "//" in value or "/*" in value:
        return "write `<-` to assign, load or store"
    found = left.groupdict()
    cell = found["name"] or found.get("address", "")
    in_memory = not found["name"] or kind(cell) == "memory"
    target = f"mem[{cell}]" if in_memory else cell
    if sign in ("=", ":="):
        if kind(value) == "memory":
            return f"write `{f'r <- mem[{value}]; {target} <- r' if in_memory else f'{target} <- mem[{value}]'}`"
        return f"write `{target} <- {value}`"
    operator = sign[0] if sign in ("++", "--") else sign[:-1]
    operand = value if re.fullmatch(r"\w+", value) else f"({value})"
    if in_memory:
        return f"load it into a register first, `r <- {target}; {target} <- r {operator} {operand}`"
    return f"write `{target} <- {target} {operator} {operand}`"


def _assignment(first: Token, last: Token, sign: str, text: str, kind: Callable[[str], str]) -> Habit:
    hint = assignment(text, first.start_pos or 0, last.end_pos or 0, sign, kind)
    return Habit("PG018", f"there is no `{sign}`", across(first, last), hint)


def _touch(first: Token, second: Token) -> bool:
    return first.end_pos == second.start_pos


def _meant(name: str) -> str | None:
    """The command that ``name`` was probably meant to be: a slip of the pen, or the call of another interface."""
    if very_close := closest(name, WORDS, 0.8):
        return very_close
    lowered = name.lower()
    for pattern, command in CALLS:
        if re.search(rf"(?:\A|_)(?:{pattern})(?:\Z|_|\d|mem|nbi)", lowered):
            return command
    return closest(name, WORDS)


def _command_hint(name: str) -> str:
    if re.search(r"(?:\A|_)(?:un)?(?:lock|mutex)(?:\Z|_)", name.lower()):
        return LOCK
    meant = _meant(name)
    return _written(meant) if meant else f"the commands are {', '.join(COMMANDS)}"


def _written(command: str) -> str:
    """The question whether ``command`` was meant, and how it is written."""
    question = f"did you mean `{command}`?"
    if command in OPERATIONS:
        target = "r <- " if command in ATOMICS else ""
        return f"{question} write `{target}{command}({', '.join(OPERATIONS[command][1])});`"
    if command in OPERATIONS_OF:
        target = "r <- " if command in ATOMICS else ""
        _, takes, optional = updating(command, "add")
        return f"{question} write `{target}{command}(add, {', '.join(takes[: len(takes) - optional])});`"
    if command == "await":
        return f"{question} write `await(mem[address] == value);`"
    if command == "await_add":
        return f"{question} write `await_add(rank, mem[address] == value, operand);`"
    return f"{question} write `{command};`" if command in BARE else question
