"""Calls that an API forbids where they stand: its rules, and what breaks one.

A front end that sees a call break a rule adds an :class:`Illegal` to the program at that
place and goes on; where it depends on values whether the rule is broken, with the condition that has to hold. It is
found like an assertion that fails: when some SC run comes to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pgasrob.program.commands import Assert
from pgasrob.program.statements import NOWHERE, Span
from pgasrob.program.value_classes import record


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of an API.

    ``code``: its name in JSON and SARIF, `mpi-no-epoch`. ``sentence`` says what the rule demands, ``section`` where
    the specification says so ("MPI-4.1, 12.5"), ``remedy`` how programs that break it are mended in general.
    """

    code: str
    sentence: str
    section: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Opened:
    """The call that opened an epoch, took a lock, or freed an object: its name and place. Equal by the name alone, so
    that an API may note it for a rank: ways to one place that differ in nothing else are joined."""

    name: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class IllegalCall:
    """A call at ``span`` that breaks ``rule``; ``sentence`` says what the call does wrong, ``opened`` is the earlier
    call that makes it so, if there is one. Findings are equal by their rule and place."""

    rule: Rule
    span: Span
    sentence: str = field(compare=False)
    opened: Opened | None = field(default=None, compare=False)
    remedy: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.sentence} ({self.rule.section})"


@record
class Illegal(Assert):
    """Claims that the library call at this place is allowed; ``fact`` says what is wrong where the condition does not
    hold. It is no assertion of the program."""

    fact: IllegalCall


@dataclass(frozen=True, slots=True)
class OpenAssertion:
    """An assertion of the program at ``span`` that looks at an unknown value of which not all is known there: a run in
    which it is false may be none of the program."""

    span: Span


@record
class Doubtful(Assert):
    """An assertion of the program that is false for some unknown values, which perhaps no run has."""

    fact: OpenAssertion


Claim = IllegalCall | OpenAssertion | None
"""What an assert claims that is false: that a call is allowed, an assertion of which that is not certain, or (None) one
of the program."""
