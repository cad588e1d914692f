"""Builds Promela statements as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Lines = list[str]


def branch(condition: Iterable[str], then: Lines, otherwise: Lines) -> Lines:
    """A choice by the disjunction of ``condition``."""
    terms = list(dict.fromkeys(condition))
    if not terms:
        return otherwise
    if not then and not otherwise:
        return []
    return [
        "if",
        f":: {' || '.join(terms)} ->" if then else f":: {' || '.join(terms)}",
        *indented(then),
        ":: else ->" if otherwise else ":: else",
        *indented(otherwise),
        "fi;",
    ]


def indented(lines: Lines, by: int = 1) -> Lines:
    return ["  " * by + line for line in lines]


def set_bits(bits: Iterable[str]) -> Lines:
    """Set some bits, each once."""
    text = " ".join(f"{bit} = 1;" for bit in dict.fromkeys(bits))
    return [text] if text else []


def any_of(terms: Iterable[str]) -> str:
    """The disjunction, which can stand in a conjunction."""
    unique = list(dict.fromkeys(terms))
    return unique[0] if len(unique) == 1 else f"({' || '.join(unique)})"


def alternative(statement: Lines) -> Lines:
    return [f":: {statement[0]}", *(f"   {line}" for line in statement[1:])]


def comment(text: str) -> str:
    """``text`` within a comment of a model."""
    return text.replace("*/", "* /").replace("/*", "/ *")


def wrapped(indent: str, items: Sequence[str], width: int = 110) -> Lines:
    """``items`` in lines of a comment."""
    lines: Lines = []
    for item in items:
        if lines and len(lines[-1]) + len(item) + 2 <= width:
            lines[-1] += f", {item}"
        else:
            lines.append(indent + item)
    return lines


@dataclass(frozen=True, slots=True)
class Option:
    """One way of taking a command: enabled under all ``guards``, then ``body``, in one transition.

    ``private``: it concerns nobody but the rank. ``ends``: the model stops here, with a violation.
    """

    guards: tuple[str, ...]
    body: Lines
    private: bool = False
    ends: bool = False

    @property
    def is_free(self) -> bool:
        """Whether it can belong to the transition before it."""
        return self.private and not self.guards

    def lines(self, after: Lines) -> Lines:
        """As one statement; ``after``: what happens in the same transition."""
        guard = " && ".join(self.guards)
        if self.private and not after:
            return [f"{guard};", *self.body] if guard else self.body or ["skip;"]
        inside = [f"{guard} ->" if guard else "true ->", *self.body, *([] if self.ends else after)]
        return [f"d_step {{ {inside[0]}", *indented(inside[1:]), "};"]
