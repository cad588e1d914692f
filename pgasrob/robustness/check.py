"""Deciding one instance: the SC runs, the engine, the replay of its witness, the verdict."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pgasrob.diagnostics import SourceError
from pgasrob.diagnostics.suggestions import did_you_mean
from pgasrob.program.instance import Instance
from pgasrob.program.program import DEFAULT_NODES, Program
from pgasrob.robustness.limits import Limits, available_cores, size_text
from pgasrob.robustness.verdict import Fault, Stats, Verdict, Witness
from pgasrob.robustness.violation import Violation
from pgasrob.robustness.watch import LimitReached, Progress, Watch
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import ReplayError, replay
from pgasrob.semantics.sc_order import sequential_order
from pgasrob.semantics.sequential import FoundFault, SequentialFacts

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.robustness.shrink import Shrinking

DEFAULT_ENGINE = "attack"
SC_RUNS = "SC runs"
SC_FIRST = 50_000
"""SC states looked at for the sake of the facts alone: nearly always all of them, and never for long."""
SHORTEST_FIRST, SHORTEST_FIRST_IN_PYTHON = 20_000, 1_000
"""States of a search for the shortest run that shows a violation: an instant."""
MOST_THREADS = 4


class Facts(Protocol):
    """What is known of the SC runs so far, as :class:`~pgasrob.semantics.sequential.SequentialFacts` has it."""

    checks_assertions: bool
    checks_deadlock: bool

    @property
    def fault(self) -> FoundFault | None: ...
    @property
    def violated(self) -> Computation | None: ...
    @property
    def deadlock(self) -> Computation | None: ...
    @property
    def complete(self) -> bool: ...
    @property
    def states(self) -> int: ...
    def explore(self) -> Iterator[None]: ...


class Engine(Protocol):
    """A search that can be run piece by piece.

    When ``run`` ends without a violation the instance is robust, unless ``gave_up`` says why that is not known. An
    engine that passes SC runs on its way has what it learns of them as ``facts``, and goes on at a fault.
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


class Settings(NamedTuple):
    """What an engine can be told; it refuses what it does not have. ``memory``: the bytes that it may store.
    ``threads``: how many it may use."""

    heads: int | None = None
    reductions: Collection[str] | None = None
    memory: int | None = None
    threads: int = 1

    def only(self, engine: str, *known: str) -> None:
        """Refuse all but the settings ``known`` to ``engine``."""
        if self.heads is not None and "heads" not in known:
            raise ValueError(f"only the product engine has heads, {engine} has none")
        if self.reductions is not None and "reductions" not in known:
            raise ValueError(f"only the attack engine has reductions, {engine} has none")


def _definition(instance: Instance, settings: Settings) -> Engine:
    """Every computation, one by one."""
    from pgasrob.robustness.definition import DefinitionSearch

    settings.only("definition")
    return DefinitionSearch(instance)


def _product(instance: Instance, settings: Settings) -> Engine:
    """The paper's procedure, with automata."""
    from pgasrob.robustness.product import HEADS, ProductSearch

    settings.only("product", "heads")
    return ProductSearch(instance, HEADS if settings.heads is None else settings.heads)


def _attack(instance: Instance, settings: Settings) -> Engine:
    """One search without cycle types."""
    from pgasrob.robustness import native

    settings.only("attack", "reductions")
    wanted = _wanted(settings)
    # The same search twice: in Rust where the extension has been built, else in Python.
    if native.available():
        return native.NativeSearch(instance, wanted, settings.memory, settings.threads)
    from pgasrob.robustness.attack_search import AttackSearch

    return AttackSearch(instance, wanted)


def _wanted(settings: Settings) -> Collection[str]:
    """The names of the reductions to use."""
    from pgasrob.robustness.reduction import REDUCTIONS

    if settings.reductions is None:
        return REDUCTIONS
    for name in settings.reductions:
        if name not in REDUCTIONS:
            hint = did_you_mean(name, REDUCTIONS)
            raise ValueError(f"no reduction {name!r}; there is {', '.join(REDUCTIONS)}{hint and '; '}{hint}")
    return settings.reductions


def _spin(instance: Instance, settings: Settings) -> Engine:
    """The model checker SPIN, which has to be installed."""
    from pgasrob.robustness.spin import SpinSearch

    settings.only("spin")
    return SpinSearch(instance, settings.memory)


ENGINES: dict[str, Callable[[Instance, Settings], Engine]] = {
    "attack": _attack,
    "product": _product,
    "definition": _definition,
    "spin": _spin,
}
"""The engines by name. What the first line of its docstring says of each stands in the help of `--engine`."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a check; ``verdict`` is what was known by then."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__("interrupted")
        self.verdict = verdict


def load(path: str | Path, front_end: FrontEnd | None = None) -> Program | CProgram:
    """The program in file ``path``, C when its name ends in `.c`; ``front_end`` says how to read that.

    Raises :class:`~pgasrob.diagnostics.SourceError` when it is none.
    """
    if str(path).endswith(".c"):
        from pgasrob.frontends.lower import load_c

        return load_c(path, front_end)
    from pgasrob.program.parser import parse_file

    program: Program = parse_file(Path(path))
    return program


def check(
    program: Program | CProgram,
    nodes: int | None = None,
    engine: str = DEFAULT_ENGINE,
    limits: Limits | None = None,
    progress: Callable[[Progress], None] | None = None,
    heads: int | None = None,
    reductions: Collection[str] | None = None,
    threads: int | None = None,
) -> Verdict:
    """Decide whether ``program`` on ``nodes`` nodes (its own count, or 2, when None) is robust.

    ``engine`` is one of :data:`ENGINES`; ``heads`` (2, or 4 for the paper's procedure to the letter) is for `product`,
    ``reductions`` (of :data:`~pgasrob.robustness.reduction.REDUCTIONS`; all when None) for `attack`. A large search by
    the kernel uses so many ``threads`` (as there are processors, at most :data:`MOST_THREADS`, when None); the verdict
    and the witness do not depend on it. ``progress`` is called a few times a second. A program that has no process for
    some rank gives verdict `error`; a limit that is hit gives `unknown`. Raises :class:`Interrupted` on Ctrl-C, and
    ValueError for an engine that does not exist or has no such heads or reductions.
    """
    if engine not in ENGINES:
        raise ValueError(f"no engine {engine!r}; there is {', '.join(ENGINES)}")
    started = time.monotonic()
    limits = limits or Limits()
    settings = Settings(heads, reductions, limits.memory, threads or min(available_cores(), MOST_THREADS))
    count = next(count for count in (nodes, program.nodes, DEFAULT_NODES) if count is not None)
    nothing = Verdict(program.source.file, program.name, count, engine, "unknown")
    try:
        instance = program.instantiate(count)
        checking = _Check(instance, engine, limits, progress, settings, started)
    except SourceError as error:
        found = tuple(error.diagnostics)
        return replace(nothing, verdict="error", reason=found[0].message, errors=found)
    except MemoryError as error:
        return replace(nothing, reason=_out_of_memory(error, limits))
    except KeyboardInterrupt:
        raise Interrupted(replace(nothing, reason="interrupted")) from None
    return checking.run()


def _out_of_memory(error: MemoryError, limits: Limits) -> str:
    """Which it was: the caller's limit, of which the kernel tells in bytes, or the end of the memory."""
    reached = limits.memory is not None and "limit" in str(error)
    return f"the memory limit of {size_text(limits.memory or 0)} was reached" if reached else "out of memory"


class _Known(NamedTuple):
    """The facts of the SC runs, from wherever they were learnt."""

    fault: FoundFault | None
    violated: Computation | None
    deadlock: Computation | None
    complete: bool
    states: int


class _Check:
    """One check in progress."""

    def __init__(
        self,
        instance: Instance,
        engine: str,
        limits: Limits,
        progress: Callable[[Progress], None] | None,
        settings: Settings,
        started: float,
    ) -> None:
        self.started = started
        self.watch = Watch(limits, progress, started)
        self.instance = instance
        self.name = engine
        self.limits = limits
        self.settings = settings
        self.engine = ENGINES[engine](instance, settings)
        brought: Facts | None = getattr(self.engine, "facts", None)
        self.brings_facts = brought is not None
        self.facts: Facts = SequentialFacts(instance) if brought is None else brought
        self.beside: Facts | None = None
        self.excluded = False
        """Whether the engine has ended without a violation, so that there is none."""
        self.fewest = False
        """Whether its violation is of the plain attack search, so that there is none with fewer commands."""
        self.shrinking: Shrinking | None = None

    def run(self) -> Verdict:
        try:
            ended = self._within_limits(self._search)
            beside = self._within_limits(self._look_beside)
        except KeyboardInterrupt:
            raise Interrupted(self._verdict("interrupted")) from None
        return self._verdict(ended or beside or self.engine.gave_up)

    def _within_limits(self, work: Callable[[], None]) -> str | None:
        """Do ``work``; says what ended it early."""
        try:
            work()
        except LimitReached as limit:
            return str(limit)
        except MemoryError as error:
            return _out_of_memory(error, self.limits)
        return None

    def _search(self) -> None:
        """The engine, and the SC runs before and after it as far as it does not see to them."""
        facts, engine = self.facts, self.engine
        exploring = facts.explore()
        if not self.brings_facts:
            self._explore(exploring, facts, self._sc_first)
        if not facts.fault:
            self._run_engine()
        if not facts.fault and not engine.violation and not (self.excluded and self._nothing_to_learn()):
            self._explore(exploring, facts)

    def _run_engine(self) -> None:
        engine = self.engine
        for _ in engine.run():
            if self.facts.fault:
                return
            self.watch.look_around(self.name, engine.states, engine.doing)
        self.excluded = not engine.violation and not engine.gave_up
        if not engine.violation:
            return
        if self.name == "attack":
            if _wanted(self.settings):
                self._look_for_a_shorter_run()
            else:
                self.fewest = True
        self._leave_out(engine.violation)

    def _look_for_a_shorter_run(self) -> None:
        """Search without reductions for a while: they keep the verdict, but not the shortest run that shows it."""
        plain = _attack(self.instance, self.settings._replace(reductions=()))
        most = SHORTEST_FIRST if self.brings_facts else SHORTEST_FIRST_IN_PYTHON
        for _ in plain.run():
            if plain.states > most:
                return
            self.watch.look_around(self.name, plain.states, "for a shorter run")
        if plain.violation:
            self.engine.violation = plain.violation
            self.fewest = True

    def _leave_out(self, violation: Violation) -> None:
        """Leave out of the violation what it does not need, as far as the limits allow."""
        from pgasrob.robustness.shrink import Shrinking

        self.shrinking = Shrinking(self.instance, violation)
        states = min(self.engine.states, self.limits.max_states or self.engine.states)
        for _ in self.shrinking.run():
            self.watch.look_around(self.name, states, "leaving out what the violation does not need")

    def _look_beside(self) -> None:
        """Explore the first SC runs by themselves when the engine has ended before it had seen them.

        So what is told of assertions, deadlocks and faults of a small program is all there is, whatever the engine.
        """
        if not self.brings_facts or self.facts.complete or self.facts.fault or self._nothing_to_learn():
            return
        from pgasrob.robustness.native import NativeFacts

        self.beside = NativeFacts(self.instance, _wanted(self.settings), self.limits.memory)
        self._explore(self.beside.explore(), self.beside, self._sc_first)

    @property
    def _sc_first(self) -> int:
        return min(SC_FIRST, self.limits.max_states or SC_FIRST)

    def _explore(self, exploring: Iterator[None], facts: Facts, until: int | None = None) -> None:
        """Look at SC runs, at all of them or until there are ``until`` states."""
        for _ in exploring:
            if until is not None and facts.states >= until:
                return
            self.watch.look_around(SC_RUNS, facts.states)

    def _nothing_to_learn(self) -> bool:
        """Whether the SC runs have nothing that could be told of them."""
        return not self.facts.checks_assertions and not self.facts.checks_deadlock and self._cannot_fault()

    def _cannot_fault(self) -> bool:
        from pgasrob.analysis.faults import cannot_fault

        return cannot_fault(self.instance)

    def _known(self) -> _Known:
        sources = [self.facts] if self.beside is None else [self.beside, self.facts]
        fault = next((facts.fault for facts in sources if facts.fault), None)
        return _Known(
            fault,
            next((facts.violated for facts in sources if facts.violated is not None), None),
            next((facts.deadlock for facts in sources if facts.deadlock is not None), None),
            # What comes after a fault is not looked at.
            fault is None and any(facts.complete for facts in sources),
            max(facts.states for facts in sources),
        )

    def _verdict(self, limit: str | None) -> Verdict:
        known, program = self._known(), self.instance.program
        witness: Witness | None = None
        reason: str | None = None
        if known.fault:
            answer, witness = "error", self._fault_witness(known.fault)
            assert witness.fault is not None
            reason = f"rank {witness.fault.rank} faults at {witness.fault.command}: {witness.fault.reason}"
        elif self.engine.violation:
            answer, reason, witness = self._judge(self.engine.violation)
        elif limit is None:
            answer = "robust"
        elif self.excluded and self._cannot_fault():
            answer, reason = "robust", f"not all sequentially consistent runs were seen: {limit}"
        else:
            # The engine has ended when only the SC runs are too many.
            prefix = "no computation is violating, but a fault cannot be excluded: " if self.excluded else ""
            answer, reason = "unknown", f"{prefix}{limit}"
        violated = self._shown("assertion", known.violated)
        deadlock = self._shown("deadlock", known.deadlock)
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
                known.states,
            ),
            witness=witness or violated or deadlock,
            assertion_run=violated,
            deadlock_run=deadlock,
            communicates=self.instance.communicates,
        )
        if self.facts.checks_assertions:
            verdict = replace(verdict, assertions="violated" if violated else "hold" if known.complete else "unknown")
        if self.facts.checks_deadlock:
            verdict = replace(verdict, deadlock=True if deadlock else False if known.complete else "unknown")
        return verdict

    def _judge(self, violation: Violation) -> tuple[str, str | None, Witness | None]:
        """Replay what the engine claims; only a complete computation with a cycle makes the program not robust.

        It is shown without what it does not need.
        """
        small, irreducible = self.shrinking.found if self.shrinking else (violation, None)
        irreducible = irreducible or self.fewest or None
        witness = self._replayed(violation, irreducible if small is violation else None)
        if isinstance(witness, str):
            return "unknown", f"internal error, please report it: the {self.name} engine's run {witness}", None
        if small is not violation:
            smaller = self._replayed(small, irreducible)
            witness = witness if isinstance(smaller, str) else smaller
        return "not robust", None, witness

    def _replayed(self, violation: Violation, irreducible: bool | None) -> Witness | str:
        """The witness that ``violation`` is, or what is wrong with it."""
        try:
            run = replay(self.instance, violation.computation)
        except ReplayError as error:
            return f"does not replay: {error}"
        cycle = HappensBefore(run.computation).cycle
        if not run.complete or cycle is None:
            return f"lacks {'a happens-before cycle' if run.complete else 'the end of its operations'}"
        marks, cycle_type = violation.marks, violation.cycle_type
        if marks is None and self.engine.violation is not None and self.engine.violation.marks is not None:
            from pgasrob.robustness.marking import marks_of

            marks, cycle_type = marks_of(cycle, run.computation)
        return Witness(
            "violation",
            run,
            cycle,
            violation.parts,
            marks,
            cycle_type,
            sequential=sequential_order(self.instance, run.computation),
            irreducible=irreducible,
        )

    def _shown(self, shows: str, computation: Computation | None) -> Witness | None:
        return None if computation is None else Witness(shows, replay(self.instance, computation))

    def _fault_witness(self, found: FoundFault) -> Witness:
        fault = Fault.at(self.instance, found.rank, found.transition, found.reason, found.registers)
        return Witness("fault", replay(self.instance, found.run), fault=fault)
