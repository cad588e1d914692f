"""The arguments of a macro call. A call that is wrong is mended, so that the rest of the file is read, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pgasrob.diagnostics import Diagnostic
from pgasrob.frontends.c.tokens import Token, error, nesting
from pgasrob.stop_points import stop_point


@dataclass(frozen=True, slots=True)
class Macro:
    """``parameters`` None: object-like. The last one of a ``variadic`` macro takes all further arguments."""

    name: str
    parameters: tuple[str, ...] | None
    variadic: bool
    body: tuple[Token, ...]


def arguments_of(
    macro: Macro, name: Token, stack: list[Token]
) -> tuple[dict[str, list[Token]], Token, Sequence[Diagnostic]]:
    """The arguments of the call of ``macro`` at ``name`` by parameter, the closing bracket, and what is wrong.

    ``stack`` has the tokens behind the name, the next one last; those of the call are taken from it. For an argument
    that is missing the name of the macro is put in: what is said of it is no second mistake.
    """
    assert macro.parameters is not None
    names, wrong = macro.parameters, list[Diagnostic]()
    end = _end(stack)
    if end is None:
        wrong += error("PG105", f"the arguments of the macro `{macro.name}` are not closed", name).diagnostics
        end = _before_semicolon(stack)
        stack.insert(end, replace(stack[end], kind="sign", text=")", first=False))
    found: list[list[Token]] = [[]]
    level = 0
    for token in reversed(stack[end + 1 : -1]):
        stop_point()
        level = max(level + nesting(token), 0)
        gathers = macro.variadic and len(found) >= len(names)
        if token.text == "," and level == 0 and not gathers:
            found.append([])
        else:
            found[-1].append(token)
    closing = stack[end]
    del stack[end:]
    if not names and found == [[]]:
        found = []
    if macro.variadic and len(found) == len(names) - 1:
        found.append([])
    if len(found) != len(names):
        takes = f"takes {len(names)} argument{'s' * (len(names) != 1)}"
        wrong += error("PG105", f"the macro `{macro.name}` {takes}, not {len(found)}", name).diagnostics
        missing = replace(name, hidden=name.hidden | {macro.name})
        found += [[missing] for _ in names[len(found) :]]
    return dict(zip(names, found, strict=False)), closing, wrong


def _end(stack: list[Token]) -> int | None:
    """Where the call is closed whose opening bracket is the last of ``stack``."""
    level = 0
    for place in range(len(stack) - 2, -1, -1):
        stop_point()
        token = stack[place]
        if token.text == ")" and level == 0:
            return place
        level = max(level + nesting(token), 0)
    return None


def _before_semicolon(stack: list[Token]) -> int:
    """Where the closing bracket is put in that is missing: before the first `;` of no block."""
    level = 0
    for place in range(len(stack) - 2, -1, -1):
        token = stack[place]
        if token.text in (";", "{", "}") and level == 0:
            return place + 1
        level += (token.text == "{") - (token.text == "}")
    return 0
