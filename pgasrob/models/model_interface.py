"""The interface of memory models: outcomes, an execution for each, and refusals of what a model does not know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from pgasrob.models.litmus.litmus_program import Outcome, Program, Value
from pgasrob.program.statements import NOWHERE, Span
from pgasrob.robustness.reasons import Reason
from pgasrob.robustness.watch import Watch


@dataclass(frozen=True, slots=True)
class Event:
    """An event: a node of an execution graph.

    ``thread``: the number of its thread from 0, None for an initial write. ``operation``: events of one command have
    the same number, that of its first instruction among those of the thread that are executed, from 0. ``kind``: the
    model's name of it (lR, nrW, er, flush...). ``location``: its number, where it accesses one. ``towards``: the remote
    node of its operation, where the model says so (a poll has no location, but the queue pair of a node).
    """

    thread: int | None
    operation: int
    kind: str
    location: int | None = None
    reads: Value | None = None
    writes: Value | None = None
    span: Span = NOWHERE
    towards: int | None = None


Pairs = frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Execution:
    """An execution graph: events, and relations on their numbers by name: po (of events), rf, mo and rb in every model,
    and the model's own (ippo, ib, hb...). Of po, mo and partial orders a model gives the immediate pairs or all of
    them, whichever shows more; of rf and rb all.

    ``order``: for a run of a machine the events in the order in which they took effect; empty for an axiomatic model.
    """

    program: Program
    events: tuple[Event, ...]
    relations: Mapping[str, Pairs]
    outcome: Outcome
    order: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """An instruction that a model does not know, or a program that it has no meaning for; ``reason`` is a clause:
    "coreRMA has no poll: flush(2) waits for all operations to node 2"."""

    reason: str
    span: Span = NOWHERE


class Refused(Exception):
    """The model does not know the program."""

    def __init__(self, refusals: tuple[Refusal, ...]) -> None:
        super().__init__("; ".join(dict.fromkeys(refusal.reason for refusal in refusals)))
        self.refusals = refusals


@dataclass(frozen=True, slots=True)
class Outcomes:
    """All outcomes of a program in a model, each with an execution that has it; with a ``reason``, only those found
    before a limit was hit."""

    found: Mapping[Outcome, Execution]
    reason: Reason | None = None
    states: int = 0
    """States of a machine, or executions, that were looked at."""


class Model(Protocol):
    """A memory model whose options are chosen."""

    @property
    def name(self) -> str:
        """The name in `--model`: "rdma-tso"."""
        ...

    @property
    def semantics(self) -> str | None:
        """Which of several equal semantics it has, as in `--semantics`; None where there is only one."""
        ...

    @property
    def variant(self) -> str:
        """The options in which it differs from its paper ("no-pcie", "without IR"); empty for the stock model."""
        ...

    def refusals(self, program: Program) -> tuple[Refusal, ...]:
        """What it does not know of ``program``; empty where it knows all of it."""
        ...

    def outcomes(self, program: Program, watch: Watch | None = None) -> Outcomes:
        """All outcomes. Raises :class:`Refused`."""
        ...


@runtime_checkable
class Axiomatic(Model, Protocol):
    """A model whose outcomes are those of consistent executions, for programs without unbounded loops."""

    def executions(self, program: Program, watch: Watch | None = None) -> Iterator[Execution]:
        """All consistent executions. Raises :class:`Refused`, and LimitReached of ``watch``."""
        ...

    def forbidden(self, program: Program, outcome: Mapping[str, Value]) -> Forbidden | None:
        """Why no consistent execution has the values of ``outcome``; None when one has."""
        ...


@dataclass(frozen=True, slots=True)
class Forbidden:
    """Why an outcome is forbidden.

    ``rules``: the smallest sets of rules without which some execution has it; a rule is named as `--without` takes it.
    ``execution``: an execution with that outcome that would be consistent without the first of these sets, and
    ``cycle`` the events of a cycle in it, edge by edge with the name of the relation and of the rule that it is by.
    Where no execution has the outcome whatever is left out (a value that is never written), there are no rules.
    """

    rules: tuple[frozenset[str], ...] = ()
    execution: Execution | None = None
    cycle: tuple[CycleEdge, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class CycleEdge:
    source: int
    target: int
    relation: str
    rule: str
