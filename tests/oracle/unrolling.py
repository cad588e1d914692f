"""Polls unrolled: loop-free programs in which each poll may fail a bounded number of times.

A `Poll` stands for a wait for a cell. It is written as an await, as a loop, or as so many looks in a row, the last of
which must succeed; in the last form every look is an event, and the failed ones are taken out of each computation
before it is judged. Which looks fail is known by the way they were written down, and nothing of `polling` is used.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from .expressions import Expr, Name, compare, op
from .polls_and_updates import Generator
from .precedence import Precedence, key
from .readings import Reading
from .semantics import Machine, Run
from .syntax import (
    Assign,
    Assume,
    Await,
    Block,
    Choose,
    Fence,
    Fetch,
    If,
    Load,
    Loop,
    Program,
    Statement,
    Wait,
    WaitLocal,
    While,
    blocks,
    numbered,
    statements,
)

OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
MEANWHILE = "other"
"""The register of what a poll reads beside the cell it waits for."""


@dataclass(frozen=True, slots=True)
class Poll(Statement):
    """Waits until the cell stands in the relation to the value. No other statement uses `register`."""

    exprs: ClassVar = ("rank",)
    register: str
    cell: str
    rank: Expr | None  # None: a cell of the rank's own
    relation: str
    value: int
    meanwhile: Statement | None = None  # quiet, after each failed look
    at_the_head: bool = False  # how the loop is written

    @property
    def look(self) -> Statement:
        cell = Name(self.cell)
        return Load(self.register, cell) if self.rank is None else Fetch(self.register, self.rank, cell)

    @property
    def succeeded(self) -> Expr:
        return op(self.relation, self.register, self.value)

    @property
    def failed(self) -> Expr:
        return op(OPPOSITE[self.relation], self.register, self.value)

    @property
    def failing(self) -> int:
        return next(value for value in (0, 1) if not compare(self.relation, value, self.value))

    def awaited(self) -> Block:
        return (Await(self.cell, self.relation, self.value),)

    def looped(self) -> Block:
        """With something meanwhile the first look must be one of the loop: else it is followed by more than looks."""
        if self.meanwhile is None and not self.at_the_head:
            return (self.look, While(self.failed, (self.look,)))
        rest = () if self.meanwhile is None else (If(self.failed, (self.meanwhile,)),)
        return (Assign(self.register, self.failing), While(self.failed, (self.look, *rest)))

    def unrolled(self, times: int) -> Block:
        if times == 1:
            return (self.look, Assume(self.succeeded))
        rest = () if self.meanwhile is None else (self.meanwhile,)
        return (self.look, If(self.failed, (*rest, *self.unrolled(times - 1))))


def with_polls(program: Program, written: Callable[[Poll], Block]) -> Program:
    """`program` with each poll as `written`."""

    def block(body: Block) -> Block:
        return tuple(each for statement in body for each in found(statement))

    def found(statement: Statement) -> Block:
        match statement:
            case Poll():
                return written(statement)
            case If(then=then, otherwise=otherwise):
                inner = None if otherwise is None else block(otherwise)
                return (replace(statement, then=block(then), otherwise=inner),)
            case While(body=body) | Loop(body=body):
                return (replace(statement, body=block(body)),)
            case Choose(branches=branches):
                return (replace(statement, branches=tuple(map(block, branches))),)
        return (statement,)

    return replace(program, processes=tuple(replace(each, body=block(each.body)) for each in program.processes))


def polls(program: Program) -> list[Poll]:
    return [each for process in program.processes for each in statements(process.body) if isinstance(each, Poll)]


def is_violating_unrolled(program: Program, times: int, conflicts: str, most: int = 20_000) -> tuple[bool | None, bool]:
    """Whether some computation of the unrolled program is violating after its failed looks are taken out of it (None:
    `most` runs do not tell), and whether there was a failed look in any that was looked at."""
    waits = {poll.register: poll for poll in polls(program)}
    unrolled = numbered(with_polls(program, lambda poll: poll.unrolled(times)))
    looks = {
        each.line: each.register
        for process in unrolled.processes
        for each in statements(process.body)
        if isinstance(each, Load | Fetch) and (each.register in waits or each.register == MEANWHILE)
    }
    machine = Machine(unrolled, None, Reading("count", conflicts))
    assert not any(blocks(each) for body in machine.bodies for each in statements(body) if isinstance(each, While))

    def counts(after: Run) -> bool:
        """Whether the last event of `after` is none of a failed iteration."""
        event = after.history[-1]
        if event.is_step or event.line not in looks:
            return True
        poll = waits.get(looks[event.line])
        if poll is None:
            return False
        value = after.registers[event.rank][machine.register_index[poll.register]]
        return compare(poll.relation, value, poll.value)

    start = (machine.initial(), Precedence.empty(len(machine.homes)))
    unread, seen, failed = [start], {key(*start)}, False
    while unread:
        if len(seen) > most:
            return None, failed
        run, precedence = unread.pop()
        for after in machine.successors(run):
            new = after.history[len(run.history) :]
            kept = len(new) > 1 or counts(after)
            failed |= not kept
            then = precedence.extended(new) if kept else precedence
            if then.cyclic:
                return True, failed
            name = key(after, then)
            if name not in seen:
                seen.add(name)
                unread.append((after, then))
    return False, failed


class WithPolls(Generator):
    """The random programs of polls and updates, with a `Poll` for each of their polls and no other loops."""

    def program(self) -> Program:
        self.polls = 0
        found = super().program()
        names = tuple(f"p{number}" for number in range(self.polls))
        return replace(found, registers=(*found.registers, *names, MEANWHILE))

    def poll(self, cell: str, there: Expr | int | None) -> list[Statement]:
        relation, value = self.pick((("!=", 0), ("==", 1), (">", 0), (">=", 2)), (6, 3, 1, 1))
        elsewhere = self.look(MEANWHILE, *self.polled())
        meanwhile = self.pick((None, elsewhere, Wait("q"), Fence("q"), WaitLocal("q")), (6, 2, 1, 1, 1))
        name = f"p{self.polls}"
        self.polls += 1
        after: list[Statement] = [Load("s", "x")] if self.chance(1, 3) else []
        return [Poll(name, cell, there, relation, value, meanwhile, self.chance(1, 2)), *after]


def random_program(seed: int, kind: str | None = None) -> Program:
    """The program of `seed`, with polls to be written in one way or another."""
    return WithPolls(random.Random(seed).randrange, kind).program()
