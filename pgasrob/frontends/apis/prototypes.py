"""The functions of an API as a table: C prototypes, each with the handler of its calls."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from pgasrob.frontends.apis.call_steps import Given, Steps, as_value
from pgasrob.frontends.apis.interface import Call, Handler, Outcome
from pgasrob.frontends.c.types import CType
from pgasrob.frontends.c.values import UNDEFINED, Value
from pgasrob.program.assumptions import Kind

H = TypeVar("H", bound=Handler)
Doing = Callable[[Call, Steps], Given | None]
"""Adds what a call does to the steps; what the call returns, None where the table says that."""
D = TypeVar("D", bound=Doing)
Answer = Given | Callable[[Call], Given]
"""What a call answers: always the same, or by the call."""
NAME = re.compile(r"(\w+)\s*\(")


@dataclass(slots=True)
class Prototypes:
    """Declarations and handlers by function name, which `Api` asks for by :meth:`declaration` and :meth:`handler`.

    Every method that adds functions takes ``prototypes``, C declarations with a semicolon between them. ``before``
    stands in front of each in the C header (`int MPI_`). ``result``: what a call returns if nothing else is said.
    """

    before: str = ""
    result: Value = UNDEFINED
    declarations: dict[str, str] = field(default_factory=dict)
    handlers: dict[str, Handler] = field(default_factory=dict)

    def returning(self, result: Value, before: str = "") -> Prototypes:
        """This table for functions with another result type and another beginning of their declarations."""
        return Prototypes(before, result, self.declarations, self.handlers)

    def calls(self, prototypes: str) -> Callable[[H], H]:
        """A decorator: the function handles calls of ``prototypes``."""

        def add(handler: H) -> H:
            self.add(prototypes, handler)
            return handler

        return add

    def does(self, prototypes: str) -> Callable[[D], D]:
        """A decorator: the same for a function that adds to the steps of the call's only outcome."""

        def add(doing: D) -> D:
            def handler(call: Call) -> Outcome:
                steps = Steps(call)
                result = doing(call, steps)
                return steps.outcome(self.result if result is None else result)

            self.add(prototypes, handler)
            return doing

        return add

    def nothing(self, prototypes: str, rests_on: Kind | None = None) -> None:
        """Functions without an effect on what the program does, if an assumption holds (``rests_on``)."""
        self.returns(prototypes, self.result, rests_on)

    def returns(self, prototypes: str, answer: Answer, rests_on: Kind | None = None) -> None:
        """Functions that return ``answer`` and do nothing else."""

        def handler(call: Call) -> Outcome:
            return Outcome(result=_answered(call, answer, rests_on))

        self.add(prototypes, handler)

    def stores(self, prototypes: str, type: CType, answer: Answer, rests_on: Kind | None = None) -> None:
        """Functions that store ``answer``, a ``type``, through their last pointer argument, unless that is null."""
        for text in _each(prototypes):
            parameters = text.partition("(")[2].split(",")
            last = max(index for index, parameter in enumerate(parameters) if "*" in parameter)

            def handler(call: Call, index: int = last) -> Outcome:
                steps = Steps(call)
                steps.answer(index, _answered(call, answer, rests_on), type)
                return steps.outcome(self.result)

            self.add(text, handler)

    def add(self, prototypes: str, handler: Handler) -> None:
        for text in _each(prototypes):
            declaration = self.before + text
            name = NAME.search(declaration)
            assert name is not None, declaration
            self.declarations[name[1]] = f"{declaration};"
            self.handlers[name[1]] = handler

    def alias(self, rename: Callable[[str], str]) -> None:
        """Give every function so far a second name (that of a profiling interface)."""
        for name, text in list(self.declarations.items()):
            other = rename(name)
            self.declarations[other] = text.replace(f"{name}(", f"{other}(", 1).replace(f"{name} (", f"{other}(", 1)
            self.handlers[other] = self.handlers[name]

    def declaration(self, name: str, types: tuple[CType, ...]) -> str | None:
        return self.declarations.get(name)

    def handler(self, name: str) -> Handler | None:
        return self.handlers.get(name)


def _each(prototypes: str) -> list[str]:
    """The prototypes one by one, each in one line."""
    return [" ".join(text.split()) for text in prototypes.split(";") if text.strip()]


def _answered(call: Call, answer: Answer, rests_on: Kind | None) -> Value:
    if rests_on is not None:
        call.rests_on(rests_on, call.name)
    return as_value(answer(call) if callable(answer) else answer)


def enumerators(text: str) -> dict[str, int]:
    """The names that C's enumerators ``text`` give (`SUCCESS = 0, TIMEOUT`), and their numbers."""
    numbers: dict[str, int] = {}
    following = 0
    for each in text.split(","):
        name, _, number = each.partition("=")
        numbers[name.strip()] = int(number) if number else following
        following = numbers[name.strip()] + 1
    return numbers
