"""Deciding one instance: the SC runs, the engine, the replay of its witness, the verdict."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from pgasrob.diagnostics import SourceError
from pgasrob.program.commands import show
from pgasrob.program.instance import Instance
from pgasrob.program.program import DEFAULT_NODES, Program
from pgasrob.robustness.verdict import Fault, Stats, Verdict, Witness
from pgasrob.robustness.violation import Violation
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import ReplayError, replay
from pgasrob.semantics.sequential import SequentialFacts

DEFAULT_ENGINE = "product"
DEFAULT_MAX_STATES = 1_000_000
SC_FIRST = 50_000
"""SC states looked at before the engine starts: nearly always all of them, and never for long."""
LOOK_AROUND = 0.05
"""Seconds between two looks at the limits."""


class Engine(Protocol):
    """A search that can be run piece by piece.

    When ``run`` ends without a violation the instance is robust, unless ``gave_up`` says why that is not known.
    """

    violation: Violation | None
    gave_up: str | None

    @property
    def states(self) -> int: ...
    @property
    def transitions(self) -> int: ...
    @property
    def doing(self) -> str: ...
    def run(self) -> Iterator[None]: ...


def _definition(instance: Instance, heads: int | None) -> Engine:
    from pgasrob.robustness.definition import DefinitionSearch

    if heads is not None:
        raise ValueError("only the product engine has heads")
    return DefinitionSearch(instance)


def _product(instance: Instance, heads: int | None) -> Engine:
    from pgasrob.robustness.product import HEADS, ProductSearch

    return ProductSearch(instance, HEADS if heads is None else heads)


def _attack(instance: Instance, heads: int | None) -> Engine:
    from pgasrob.robustness import native
    from pgasrob.robustness.attack import AttackSearch

    if heads is not None:
        raise ValueError("only the product engine has heads")
    # The same search twice: in Rust where the extension has been built, else in Python.
    return native.NativeSearch(instance) if native.available() else AttackSearch(instance)


ENGINES: dict[str, Callable[[Instance, int | None], Engine]] = {
    "product": _product,
    "attack": _attack,
    "definition": _definition,
}


@dataclass(frozen=True, slots=True)
class Limits:
    """When to give up with verdict `unknown`: stored states (engine and SC runs each), wall-clock seconds."""

    max_states: int | None = DEFAULT_MAX_STATES
    timeout: float | None = None

    def __post_init__(self) -> None:
        if self.max_states is not None and self.max_states < 1:
            raise ValueError(f"a limit of {self.max_states} states; it takes 1 or more, or None")
        if self.timeout is not None and not self.timeout > 0:
            raise ValueError(f"a time limit of {self.timeout} s; it takes more than 0, or None")


@dataclass(frozen=True, slots=True)
class Progress:
    """A snapshot of a running search for a display: which phase, states so far, seconds, what the phase is at."""

    phase: str
    states: int
    seconds: float
    doing: str


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a check; ``verdict`` is what was known by then."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__("interrupted")
        self.verdict = verdict


class _LimitReached(Exception):
    pass


def load(path: str | Path) -> Program:
    """The program in file ``path``. Raises :class:`~pgasrob.diagnostics.SourceError` when it is none."""
    from pgasrob.program.parser import parse_file

    program: Program = parse_file(Path(path))
    return program


def check(
    program: Program,
    nodes: int | None = None,
    engine: str = DEFAULT_ENGINE,
    limits: Limits = Limits(),
    progress: Callable[[Progress], None] | None = None,
    heads: int | None = None,
) -> Verdict:
    """Decide whether ``program`` on ``nodes`` nodes (its own count, or 2, when None) is robust.

    ``engine`` is one of :data:`ENGINES`; ``heads`` (2, or 4 for the paper's procedure to the letter) is for `product`.
    ``progress`` is called a few times a second. A program that has no process for some rank gives verdict `error`; a
    limit that is hit gives `unknown`. Raises :class:`Interrupted` on Ctrl-C, and ValueError for an engine that does not
    exist or heads that it does not have.
    """
    if engine not in ENGINES:
        raise ValueError(f"no engine {engine!r}; there is {', '.join(ENGINES)}")
    count = next(count for count in (nodes, program.nodes, DEFAULT_NODES) if count is not None)
    try:
        instance = program.instantiate(count)
    except SourceError as error:
        return Verdict(
            program.source.file,
            program.name,
            count,
            engine,
            "error",
            error.diagnostics[0].message,
            errors=tuple(error.diagnostics),
        )
    return _Check(instance, engine, limits, progress, heads).run()


class _Check:
    """One check in progress."""

    def __init__(
        self,
        instance: Instance,
        engine: str,
        limits: Limits,
        progress: Callable[[Progress], None] | None,
        heads: int | None,
    ) -> None:
        self.instance = instance
        self.name = engine
        self.engine = ENGINES[engine](instance, heads)
        self.facts = SequentialFacts(instance)
        self.limits = limits
        self.progress = progress
        self.started = self.looked = time.monotonic()

    def run(self) -> Verdict:
        facts, engine = self.facts, self.engine
        excluded = False
        try:
            exploring = facts.explore()
            self._pursue(exploring, "SC runs", until=min(SC_FIRST, self.limits.max_states or SC_FIRST))
            if not facts.fault:
                self._pursue(engine.run(), self.name)
            excluded = not engine.violation and not engine.gave_up
            if not facts.fault and not engine.violation:
                self._pursue(exploring, "SC runs")
        except _LimitReached as limit:
            # The engine has ended when only the SC runs are too many.
            prefix = "no computation is violating, but a fault cannot be excluded: " if excluded else ""
            return self._verdict(f"{prefix}{limit}")
        except MemoryError:
            return self._verdict("out of memory")
        except KeyboardInterrupt:
            raise Interrupted(self._verdict("interrupted")) from None
        return self._verdict(engine.gave_up)

    def _pursue(self, search: Iterator[None], phase: str, until: int | None = None) -> None:
        """Run ``search`` to its end, or until the SC runs have ``until`` states, within the limits."""
        for _ in search:
            if until is not None and self.facts.states >= until:
                return
            states = self.facts.states if phase == "SC runs" else self.engine.states
            if self.limits.max_states is not None and states > self.limits.max_states:
                raise _LimitReached(f"the limit of {self.limits.max_states:,} states was reached")
            now = time.monotonic()
            if now - self.looked < LOOK_AROUND:
                continue
            self.looked = now
            elapsed = now - self.started
            if self.limits.timeout is not None and elapsed > self.limits.timeout:
                raise _LimitReached(f"the time limit of {self.limits.timeout:g} s was reached")
            if self.progress:
                doing = self.engine.doing if phase != "SC runs" else ""
                self.progress(Progress(phase, states, elapsed, doing))

    def _verdict(self, limit: str | None) -> Verdict:
        facts, program = self.facts, self.instance.program
        witness: Witness | None = None
        if facts.fault:
            answer, witness = "error", self._fault_witness()
            assert witness.fault is not None
            reason: str | None = f"rank {witness.fault.rank} faults at {witness.fault.command}: {witness.fault.reason}"
        elif self.engine.violation:
            answer, reason, witness = self._judge(self.engine.violation)
        elif limit is not None:
            answer, reason = "unknown", limit
        else:
            answer, reason = "robust", None
        violated = self._shown("assertion", facts.violated)
        deadlock = self._shown("deadlock", facts.deadlock)
        verdict = Verdict(
            program.source.file,
            program.name,
            self.instance.nodes,
            self.name,
            answer,  # type: ignore[arg-type]
            reason,
            stats=Stats(
                self.engine.states,
                self.engine.transitions,
                time.monotonic() - self.started,
                facts.states,
            ),
            witness=witness or violated or deadlock,
            assertion_run=violated,
            deadlock_run=deadlock,
        )
        if facts.checks_assertions:
            verdict = replace(verdict, assertions="violated" if violated else "hold" if facts.complete else "unknown")
        if facts.checks_deadlock:
            verdict = replace(verdict, deadlock=True if deadlock else False if facts.complete else "unknown")
        return verdict

    def _judge(self, violation: Violation) -> tuple[str, str | None, Witness | None]:
        """Replay what the engine claims; only a complete computation with a cycle makes the program not robust."""
        try:
            run = replay(self.instance, violation.computation)
        except ReplayError as error:
            return (
                "unknown",
                f"internal error, please report it: the {self.name} engine's run does not replay: {error}",
                None,
            )
        cycle = HappensBefore(run.computation).cycle
        if not run.complete or cycle is None:
            missing = "a happens-before cycle" if run.complete else "the end of its operations"
            return "unknown", f"internal error, please report it: the {self.name} engine's run lacks {missing}", None
        witness = Witness("violation", run, cycle, violation.parts, violation.marks, violation.cycle_type)
        return "not robust", None, witness

    def _shown(self, shows: str, computation: Computation | None) -> Witness | None:
        return None if computation is None else Witness(shows, replay(self.instance, computation))

    def _fault_witness(self) -> Witness:
        found = self.facts.fault
        assert found is not None
        names = self.instance.program.registers
        span = found.transition.span
        return Witness(
            "fault",
            replay(self.instance, found.run),
            fault=Fault(
                found.rank,
                show(found.transition.command),
                span.line,
                span.column,
                found.reason,
                dict(zip(names, found.registers, strict=True)),
            ),
        )
