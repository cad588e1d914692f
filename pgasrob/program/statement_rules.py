"""The grammar actions for processes and statements. See ``builder.py``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pgasrob.diagnostics.suggestions import did_you_mean
from pgasrob.program.commands import (
    BY,
    PLAIN,
    POLLING,
    Accessing,
    Assign,
    Await,
    AwaitAdd,
    Barrier,
    Bundle,
    Command,
    Exit,
    Fence,
    Load,
    Store,
)
from pgasrob.program.core import accesses_of, lower
from pgasrob.program.declarations import Process
from pgasrob.program.expression_rules import Nested, Scope, across, at
from pgasrob.program.expressions import Expr, Register
from pgasrob.program.report import short
from pgasrob.program.statements import Block, Choose, Do, Goto, If, Labelled, Loop, Skip, Span, Statement, While
from pgasrob.program.vocabulary import OPERATIONS, OPERATIONS_OF, updating

if TYPE_CHECKING:
    from lark import Token


CellTest = tuple[Expr, str, Expr]
"""The condition of an await: the address of a cell, a relation, and the value that the cell is compared with."""
Updating = tuple["Token | None", list[Expr]]
"""The operation of an update, None where it is missing, and its other arguments."""


@dataclass(frozen=True, slots=True)
class How:
    """The suffix `as ...` of a command, at ``place``: the words of the type, and the bytes of each access."""

    words: tuple[str, ...]
    bytes: tuple[tuple[int, int], ...]
    place: Span


class StatementRules:
    """The rules of processes and statements."""

    def __init__(self, scope: Scope) -> None:
        self._scope, self._report = scope, scope.report.add
        self.processes: list[Process] = []
        self.lost = False  # something that may have been a process could not be read
        self._ranks: dict[tuple[int, int | None], Token] = {}  # thread and rank (None: those not named) -> where
        self._labels: dict[str, int] = {}  # of the process at hand -> its line
        self._gotos: list[Token] = []
        self._broken = False  # a statement of the process at hand could not be read

    def process(
        self,
        keyword: Token,
        ranks: list[tuple[int, Token]] | None,
        thread: tuple[int, Token] | None,
        body: Nested[Block],
    ) -> None:
        number, last = thread or (0, ranks[-1][1] if ranks else keyword)
        if ranks is None:
            self._claim(number, None, keyword)
        for rank, token in ranks or []:
            self._claim(number, rank, token)
        numbers = tuple(rank for rank, _ in ranks) if ranks else None
        self.processes.append(Process(numbers, body.tree, across(keyword, last), number))
        if not self._broken:
            self._report_unknown_labels()
        self._forget_labels()

    def ranks(self, *ranks: Token) -> list[tuple[int, Token]]:
        return [(self._scope.integer(rank), rank) for rank in ranks]

    def thread(self, word: Token, number: Token) -> tuple[int, Token]:
        if word.value != "thread":
            hint = "write `process 0 thread 1 { ... }` for the second thread of rank 0"
            self._report("PG010", f"expected `thread` or `{{`, found `{short(word.value)}`", at(word), hint)
        return self._scope.integer(number), number

    def broken_item(self, *_: object) -> None:
        self.lost = True
        self._forget_labels()

    def broken(self, _: Token, *blocks: Nested[Block | Statement] | None) -> Nested[Statement]:
        self._broken = True
        return Nested(Skip(), max((block.depth for block in blocks if block), default=0))

    def block(self, brace: Token, *statements: Nested[Statement]) -> Nested[Block]:
        depth = self._scope.deeper(statements, brace, "blocks")
        return Nested(Block(tuple(statement.tree for statement in statements)), depth)

    def labelled(self, label: Token, statement: Nested[Statement]) -> Nested[Statement]:
        name = label.value
        if name in self._labels:
            self._report(
                "PG055",
                f"the label `{name}` is defined twice in this process",
                at(label),
                f"rename one of them; the first is on line {self._labels[name]}",
            )
        self._labels.setdefault(name, label.line or 0)
        return Nested(Labelled(name, statement.tree), statement.depth)

    def load(
        self, target: Token, _: None, mem: Token, address: Nested[Expr], rank: Nested[Expr] | None, how: How | None
    ) -> Nested[Statement]:
        hint = f"to copy a cell, load it into a register `r` first, then `mem[{target}] <- r;`"
        return self._do(target, Load(self._target(target, hint), address.tree, rank.tree if rank else None), how)

    def store(
        self,
        mem: Token,
        address: Nested[Expr],
        rank: Nested[Expr] | None,
        _: None,
        value: Nested[Expr],
        how: How | None,
    ) -> Nested[Statement]:
        return self._do(mem, Store(address.tree, value.tree, rank.tree if rank else None), how)

    def element_store(self, name: Token, index: Nested[Expr], _: None, value: Nested[Expr]) -> Nested[Statement]:
        self._scope.report_element(name, index, at(name), "to store there, write `mem[{address}] <- ...;`")
        return Nested(Skip(), 0)

    def assign(self, target: Token, _: None, value: Nested[Expr]) -> Nested[Statement]:
        hint = f"to store there, write `mem[{target}] <- ...;`"
        return self._do(target, Assign(self._target(target, hint), value.tree))

    def atomic(
        self, target: Token, _: None, name: Token, arguments: list[Nested[Expr]], how: How | None
    ) -> Nested[Statement]:
        register = self._target(target, "the old value goes to a register")
        return self._call(target, name, arguments, how, register)

    def operation(self, name: Token, arguments: list[Nested[Expr]], how: How | None) -> Nested[Statement]:
        return self._call(name, name, arguments, how)

    def atomic_update(self, target: Token, _: None, name: Token, given: Updating, how: How | None) -> Nested[Statement]:
        register = self._target(target, "the old value goes to a register")
        return self._update(target, name, given, how, register=register)

    def update(self, name: Token, given: Updating, how: How | None) -> Nested[Statement]:
        return self._update(name, name, given, how)

    def updating(self, operation: Token | None, *arguments: Nested[Expr]) -> Updating:
        return operation, [argument.tree for argument in arguments]

    def operation_name(self, name: Token) -> Token:
        return name

    def how(self, keyword: Token, words: tuple[str, ...], *ranges: tuple[int, int] | None) -> How:
        return How(words, tuple(each for each in ranges if each), self._scope.here(keyword))

    def access_type(self, *words: Token) -> tuple[str, ...]:
        return tuple(word.value for word in words)

    def byte_range(self, first: Token, _: Token | None, last: Token | None) -> tuple[int, int]:
        return self._scope.integer(first), 1 + self._scope.integer(last or first)

    def cell_test(self, mem: Token, address: Nested[Expr], relation: str, value: Nested[Expr]) -> CellTest:
        return address.tree, relation, value.tree

    def await_memory(self, keyword: Token, test: CellTest, how: How | None) -> Nested[Statement]:
        return self._do(keyword, Await(*test), how)

    def await_add(
        self, keyword: Token, rank: Nested[Expr], test: CellTest, operand: Nested[Expr], how: How | None
    ) -> Nested[Statement]:
        return self._do(keyword, AwaitAdd(rank.tree, *test, operand.tree), how)

    def bundle(self, keyword: Token) -> Nested[Statement]:
        return self._do(keyword, Bundle())

    def barrier(self, keyword: Token, name: Token | None) -> Nested[Statement]:
        return self._do(keyword, Barrier(name.value if name else ""))

    def exit(self, keyword: Token) -> Nested[Statement]:
        return self._do(keyword, Exit())

    def skip(self, keyword: Token) -> Nested[Statement]:
        return Nested(Skip(), 0)

    def goto(self, keyword: Token, label: Token) -> Nested[Statement]:
        self._gotos.append(label)
        return Nested(Goto(label.value), 0)

    def branch(
        self,
        keyword: Token,
        condition: tuple[Expr, Token],
        then: Nested[Block],
        otherwise: Nested[Block | Statement] | None,
    ) -> Nested[Statement]:
        test, end = condition
        if otherwise is None:
            return Nested(If(test, then.tree, None, across(keyword, end)), then.depth)
        if isinstance(otherwise.tree, Block):
            block, depth = otherwise.tree, otherwise.depth
        else:  # `else if`: a block of its own, with nothing else in it
            block, depth = Block((otherwise.tree,)), self._scope.deeper([otherwise], keyword, "`else if`")
        return Nested(If(test, then.tree, block, across(keyword, end)), max(then.depth, depth))

    def while_loop(self, keyword: Token, condition: tuple[Expr, Token], body: Nested[Block]) -> Nested[Statement]:
        test, end = condition
        return Nested(While(test, body.tree, across(keyword, end)), body.depth)

    def choose(self, keyword: Token, *branches: Nested[Block]) -> Nested[Statement]:
        return Nested(Choose(tuple(branch.tree for branch in branches)), max(branch.depth for branch in branches))

    def loop(self, keyword: Token, body: Nested[Block]) -> Nested[Statement]:
        return Nested(Loop(body.tree), body.depth)

    def condition(self, condition: Nested[Expr]) -> tuple[Expr, Token]:
        return condition.tree, self._scope.last

    def arguments(self, *arguments: Nested[Expr] | None) -> list[Nested[Expr]]:
        return [argument for argument in arguments if argument]

    def arrow(self, sign: Token) -> None:
        if sign.value == "=":
            from pgasrob.program.habits import assignment

            hint = assignment(
                self._scope.report.source.text, sign.start_pos or 0, sign.end_pos or 0, "=", self._scope.kind
            )
            self._report("PG018", "`=` does not assign", at(sign), hint)

    def relation(self, sign: Token) -> str:
        return self._scope.comparison(sign)

    # What the rules share

    def _do(self, first: Token, command: Command, how: How | None = None) -> Nested[Statement]:
        done = command if how is None else self._accessing(command, how)
        return Nested(Do(done, self._scope.here(first)), 0)

    def _accessing(self, command: Command, how: How) -> Command:
        """``command`` with its accesses as the suffix ``how`` describes them."""
        words, problem = how.words, ""
        polling = words[0] == POLLING and isinstance(command, Load)
        if polling:
            words = words[1:] or (PLAIN,)
        made = len(accesses_of(lower(command)))
        if not isinstance(command, Accessing):
            problem, hint = f"`{command.kind}` accesses no memory", "drop what stands from `as` on"
        elif words[0] == POLLING:
            problem, hint = f"`{command.kind}` is no load", "only `r <- mem[e]` polls; an `await` does so by itself"
        elif words[0] == BY or words[-1] == BY or words.count(BY) > 1 or (words[0] == PLAIN and len(words) > 1):
            problem, hint = f"`{' '.join(words)}` is no type", "write `as plain`, `as TYPE` or `as TYPE by OPERATION`"
        elif how.bytes and len(how.bytes) != made:
            problem = (
                f"bytes of {len(how.bytes)} access{'es' if len(how.bytes) > 1 else ''}, and `{command.kind}` has {made}"
            )
            hint = "name the bytes of each access in order, `as plain[0-3, 0-3]`, or of none"
        elif any(first >= end for first, end in how.bytes):
            problem, hint = "bytes that end before they begin", "write the first and the last byte, `as plain[0-3]`"
        else:
            changed = replace(command, atomic="" if words == (PLAIN,) else " ".join(words), bytes=how.bytes)
            return replace(changed, polling=True) if polling and isinstance(changed, Load) else changed
        self._report("PG029", problem, how.place, hint)
        return command

    def _call(
        self, first: Token, name: Token, arguments: list[Nested[Expr]], how: How | None, *register: Register
    ) -> Nested[Statement]:
        command, takes = OPERATIONS[name.value]
        given = [argument.tree for argument in arguments]
        if command is Fence and len(given) == 1:
            return self._do(first, Fence(given[0], None), how)
        if len(given) == len(takes):
            return self._do(first, command(*register, *given), how)
        wanted = f"{len(takes)} argument{'s' if len(takes) > 1 else ''}"
        self._report(
            "PG023",
            f"`{name}` takes {'1 or 2 arguments' if command is Fence else wanted}, not {len(given)}",
            self._scope.here(name),
            f"write `{name}({', '.join(takes)})`",
        )
        return Nested(Skip(), 0)

    def _update(
        self, first: Token, name: Token, given: Updating, how: How | None, **register: Register
    ) -> Nested[Statement]:
        """A command whose first argument says what it does with the cell."""
        word, arguments = given
        known = OPERATIONS_OF[name.value]
        if word is None or word.value not in known:
            self._report_operation(name, word, known)
            return Nested(Skip(), 0)
        command, takes, optional = updating(name.value, word.value)
        if len(takes) - optional <= len(arguments) <= len(takes):
            return self._do(first, command(word.value, **register, **dict(zip(takes, arguments, strict=False))), how)
        wanted = f"{len(takes)} or {len(takes) + 1}" if optional else f"{len(takes) + 1}"
        self._report(
            "PG023",
            f"`{name}({word}, ...)` takes {wanted} arguments, not {len(arguments) + 1}",
            self._scope.here(name),
            f"write `{name}({', '.join((word.value, *takes))})`" + "; the result may be left out" * optional,
        )
        return Nested(Skip(), 0)

    def _report_operation(self, name: Token, word: Token | None, known: tuple[str, ...]) -> None:
        """The first argument of ``name`` is missing or no operation."""
        names = f"{', '.join(known[:-1])} or {known[-1]}"
        if word is None:
            self._report("PG028", f"`{name}` does not say what to do", self._scope.here(name), f"begin with {names}")
            return
        likely = did_you_mean(word.value, known)
        hint = f"{likely} `{name}` can {names}" if likely else f"`{name}` can {names}"
        self._report("PG028", f"`{name}` has no operation `{short(word.value)}`", at(word), hint)

    def _claim(self, thread: int, rank: int | None, token: Token) -> None:
        """The process at hand is for this thread of ``rank`` (None: of the ranks that no other block of it names)."""
        first = self._ranks.setdefault((thread, rank), token)
        if first is token:
            return
        which = f" for thread {thread}" if thread else ""
        if rank is None:
            message, hint = f"a second process block without ranks{which}", "name its ranks, or join the two"
        else:
            message = f"rank {rank} already has a process block{which}"
            hint = f"every {'thread' if thread else 'rank'} runs one block"
        code = "PG033" if rank is None else "PG032"
        self._report(code, f"{message}; the first is on line {first.line}", at(token), hint)

    def _target(self, name: Token, hint: str) -> Register:
        """The register that a statement sets; ``hint`` is for a target that is memory."""
        known = self._scope.names.get(name.value)
        if isinstance(known, Register):
            return known
        if known is None:
            self._scope.unknown.append((name, f"declare it: `register {name};`"))
        else:
            kind = self._scope.kind(name.value)
            self._report(
                "PG053",
                f"`{name}` is {kind}, not a register",
                at(name),
                hint if kind == "memory" else "only registers can be set",
            )
        return Register(name.value, 0)

    def _report_unknown_labels(self) -> None:
        for token in self._gotos:
            if token.value not in self._labels:
                self._report(
                    "PG054",
                    f"there is no label `{short(token.value)}` in this process",
                    at(token),
                    did_you_mean(token.value, self._labels) or f"write `{short(token.value)}:` before a statement",
                )

    def _forget_labels(self) -> None:
        self._labels, self._gotos, self._broken = {}, [], False
