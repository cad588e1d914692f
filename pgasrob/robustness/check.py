"""Deciding one instance: the SC runs, the engine, the run to show, the verdict."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.program.declarations import Declared
from pgasrob.program.files import DISK, Files
from pgasrob.program.instance import Instance
from pgasrob.program.program import DEFAULT_NODES, Program
from pgasrob.program.reading import DEFAULT_READING, Conflicts, FailedPolls, Reading
from pgasrob.robustness.counterexample import Counterexample
from pgasrob.robustness.engine import Settings, is_settled, settled_by, wanted_reductions
from pgasrob.robustness.engines import DEFAULT_ENGINE, ENGINES, attack_engine
from pgasrob.robustness.limits import DEFAULT_SC_STATES, Limits, available_cores
from pgasrob.robustness.reasons import (
    FaultPossible,
    FaultReached,
    InternalError,
    Interruption,
    LeftUndone,
    MemoryLimit,
    NoProgram,
    OutOfMemory,
    Reason,
    RunsLeftOut,
    ScRunsLeft,
    ScStateLimit,
)
from pgasrob.robustness.reduction.elements import Represented, represented
from pgasrob.robustness.reduction.unused import without_unused
from pgasrob.robustness.rests_on import rests_on
from pgasrob.robustness.sc_facts import ScFacts
from pgasrob.robustness.verdict import Answer, Effect, Fault, Hardware, Stats, Verdict, Witness
from pgasrob.robustness.watch import GRACE, LimitReached, Progress, Watch
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.replay import replay
from pgasrob.semantics.sequential import FoundFault

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.robustness.effect import EffectSearch
    from pgasrob.robustness.traces.parts import Found

SC_RUNS, EFFECT = "SC runs", "outcomes"
SHORTEST_FIRST, SHORTEST_FIRST_IN_PYTHON = 20_000, 1_000
"""States of a search for the shortest run that shows a violation: an instant."""
MOST_THREADS = 4

LOWERING, PREPARING = "while lowering the program", "while putting the program on its nodes"
LEAVING_OUT = "while looking for elements that are alike"
SEARCHING, PASSING = "in the {} engine", "in the search of SC runs"
REPLAYING, SHORTENING, MEANING = "while replaying the run", "while shortening the run", "in the search for outcomes"
"""What a check is at, for the reasons when a limit ends it."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a check; ``verdict`` is what was known by then."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__("interrupted")
        self.verdict = verdict


OF_ANOTHER_KIND = {
    (".cpp", ".cc", ".cxx", ".c++", ".C", ".hpp", ".hh", ".hxx"): (
        "C++, which is not read",
        "give it a name that ends in .c where it is C; else record what it does, with `pgasrob build` and "
        "`pgasrob record`, and check the trace",
    ),
    (".f", ".F", ".f90", ".F90", ".f03", ".F03", ".f08", ".F08"): (
        "Fortran, which is not read",
        "record what it does, with `pgasrob build` and `pgasrob record`, and check the trace",
    ),
    (".h",): (
        "a header, where a program is asked for",
        "name the C file with `main` that includes it; headers are looked for beside that, and in the folders of `-I`",
    ),
    ("compile_commands.json",): (
        "a compilation database, where a program is asked for",
        "name it with `--compile-commands`; without a FILE `pgasrob check` takes all programs in it",
    ),
}
"""What files with other endings are that somebody may take for programs, and what to do instead."""


def _refuse_another_kind(path: str) -> None:
    for endings, (what, hint) in OF_ANOTHER_KIND.items():
        if path.endswith(endings):
            raise SourceError([Diagnostic("PG182", what, path, hint=hint)])


def load(path: str | Path, front_end: FrontEnd | None = None, files: Files = DISK) -> Program | CProgram:
    """The program in file ``path`` of ``files``, C when its name ends in `.c`; ``front_end`` says how to read that.

    Raises :class:`~pgasrob.diagnostics.SourceError` when it is none.
    """
    if str(path).endswith(".c"):
        from pgasrob.frontends.lower import load_c

        return load_c(path, front_end, files)
    if str(path).endswith(".litmus"):
        hint = "ask `pgasrob litmus` for its outcomes, or `pgasrob check` whether it is robust"
        raise SourceError([Diagnostic("PG181", "a litmus test, where a program is asked for", str(path), hint=hint)])
    _refuse_another_kind(str(path))
    from pgasrob.program.parser import parse_file

    program: Program = parse_file(Path(path), files)
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
    failed_polls: FailedPolls = DEFAULT_READING.failed_polls,
    conflicts: Conflicts = DEFAULT_READING.conflicts,
    found: Sequence[Found] = (),
    effect: bool = True,
    watch: Watch | None = None,
    instance: Instance | None = None,
) -> Verdict:
    """Decide whether ``program`` on ``nodes`` nodes (its own count, or 2, when None) is robust.

    ``engine`` is one of :data:`ENGINES`; ``heads`` (2, or 4 for the paper's procedure to the letter) is for `product`,
    ``reductions`` (of :data:`~pgasrob.robustness.reduction.REDUCTIONS`; all when None) for `attack`. A large search by
    the kernel uses so many ``threads`` (as there are processors, at most :data:`MOST_THREADS`, when None); the verdict
    and the witness do not depend on it. ``failed_polls`` and ``conflicts`` say how computations are read
    (:class:`~pgasrob.program.reading.Reading`). ``found``: what others have found in the parts of the search of
    `traces`, all of them (:mod:`~pgasrob.robustness.traces.parts`). ``effect``: whether to look for what it means that
    a program is not robust. ``progress`` is called a few times a second. ``watch``: limits that hold already, since the
    program was read, in place of ``limits`` and ``progress``. ``instance``: the program on these nodes, read so, where
    that is there already with what is known of it. A program that has no process for some rank
    gives verdict `error`; a limit that is hit gives `unknown`. Raises :class:`Interrupted` on Ctrl-C, and ValueError
    for an engine that does not exist or has no such heads or reductions.
    """
    if engine not in ENGINES:
        raise ValueError(f"no engine {engine!r}; there is {', '.join(ENGINES)}")
    watch = watch or Watch(limits or Limits(), progress, time.monotonic())
    limits = watch.limits
    settings = Settings(heads, reductions, limits.memory, threads or min(available_cores(), MOST_THREADS), found)
    count = next(count for count in (nodes, program.nodes, DEFAULT_NODES) if count is not None)
    reading = Reading(failed_polls, conflicts)
    units = program.source.units
    nothing = Verdict(program.source.file, program.name, count, engine, "unknown", reading=reading, units=units)

    def prepared() -> tuple[Represented | None, _Check]:
        if not isinstance(program, Program):
            watch.within(LOWERING, lambda: program.program(count))
        placed = program.instantiate(count, reading) if instance is None else instance
        few = None
        if engine == DEFAULT_ENGINE and not placed.program.source.shows_commands:
            few = watch.within(LEAVING_OUT, lambda: represented(placed))
        shown = without_unused(few.instance) if few else placed
        return few, watch.within(SEARCHING.format(engine), lambda: _Check(shown, engine, watch, settings, effect))

    try:
        few, checking = watch.within(PREPARING, prepared)
    except SourceError as error:
        errors = tuple(error.diagnostics)
        return replace(nothing, verdict="error", reason=NoProgram(errors[0].message), errors=errors)
    except LimitReached as limit:
        return replace(nothing, reason=limit.reason)
    except MemoryError as error:
        return replace(nothing, reason=out_of_memory(error, watch))
    except KeyboardInterrupt:
        raise Interrupted(replace(nothing, reason=Interruption())) from None
    verdict = checking.run()
    return replace(verdict, alike=(few.alike, few.kept)) if few else verdict


def _is_for_any_count(program: Declared) -> bool:
    """Whether one block is for all ranks but some that are named; a C program is made for a number of nodes."""
    return program.source.shows_commands and any(process.ranks is None for process in program.processes)


def out_of_memory(error: MemoryError, watch: Watch) -> MemoryLimit | OutOfMemory:
    """Which it was: the caller's limit, of which the kernel tells in bytes, or the end of the memory."""
    if watch.limits.memory is not None and "limit" in str(error):
        return MemoryLimit(watch.limits.memory, watch.latest)
    return OutOfMemory()


class Decision(Enum):
    """What the engine has found."""

    OPEN = "nothing so far, and nothing more when it has ended"
    ROBUST = "that no computation is violating"
    VIOLATION = "a computation that it claims to be violating"


class _Check:
    """One check: its phases one after the other, and the verdict by what is known whenever they end."""

    def __init__(
        self,
        instance: Instance,
        engine: str,
        watch: Watch,
        settings: Settings,
        effect: bool,
    ) -> None:
        self.asks_for_effect = effect
        self.watch = watch
        self.instance = instance
        self.name = engine
        self.limits = watch.limits
        self.settings = settings
        self.engine = ENGINES[engine](instance, settings)
        self.facts = ScFacts(instance, self.engine, settings)
        self.decision = Decision.OPEN
        self.counterexample: Counterexample | None = None
        self.judged: Witness | InternalError | None = None
        self.unjudged: Reason | None = None
        self.unfinished: Reason | None = None
        self.meaning: EffectSearch | None = None
        self.effect: Effect | None = None
        self.fault: tuple[Witness, Fault] | None = None
        self.assertion_run: Witness | None = None
        self.deadlock_run: Witness | None = None
        self.fault_shown = False
        self.hardware: Hardware | None = None
        self.cannot_fault = False

    def run(self) -> Verdict:
        """Go through the phases; a limit that ends the search leaves the facts to be looked at."""
        searching = SEARCHING.format(self.name)
        try:
            ended = self._within_limits((PASSING, self._look_for_near_faults), (searching, self._run_engine))
            if self.counterexample is not None:
                self.unjudged = self._within_limits((REPLAYING, self._judge))
                self.unfinished = ended = self.unjudged or self._within_limits(
                    (SHORTENING, self._shorten), (REPLAYING, self._judge)
                )
            left = self._within_limits((PASSING, lambda: self._learn_what_is_left(ended)))
            self._look_for_an_effect(ended)
        except KeyboardInterrupt:
            raise Interrupted(self._verdict(Interruption())) from None
        return self._verdict(ended or left or self.engine.gave_up)

    def _within_limits(self, *phases: tuple[str, Callable[[], None]], grace: float = 0) -> Reason | None:
        """Go through ``phases``, watched all together; says what ended them early."""

        def all_of_them() -> None:
            for phase, work in phases:
                self.watch.within(phase, work)

        try:
            self.watch.within(phases[0][0], all_of_them, grace)
        except LimitReached as limit:
            return limit.reason
        except MemoryError as error:
            return out_of_memory(error, self.watch)
        return None

    def _judge(self) -> None:
        """Replay the run that the engine has found, or what has become of it."""
        assert self.counterexample is not None
        self.judged = self.counterexample.judged()

    def _look_for_near_faults(self) -> None:
        """Look at the first SC runs, where the engine passes none: a fault near the start ends the check."""
        if not self.facts.passed:
            limits = (DEFAULT_SC_STATES, self.limits.max_sc_states, self.limits.max_states)
            self._explore(min(limit for limit in limits if limit is not None))

    def _run_engine(self) -> None:
        """Ask the engine whether some computation is violating, unless it knows or a fault has ended the check."""
        engine = self.engine
        if self.facts.fault:
            return
        if is_settled(engine):  # what is left are the facts of the SC runs
            self.decision = Decision.ROBUST
            return
        try:
            for _ in engine.run():
                if self.facts.fault:
                    return
                self.watch.look_around(self.name, engine.states, engine.doing)
        except (LimitReached, MemoryError):
            if is_settled(engine):  # it was among the SC runs
                self.decision = Decision.ROBUST
            raise
        if engine.violation:
            self.decision = Decision.VIOLATION
            self.counterexample = Counterexample(self.instance, self.name, engine.violation)
        elif not engine.gave_up:
            self.decision = Decision.ROBUST

    def _shorten(self) -> None:
        """Look for a shorter run that shows the violation, as far as the limits allow."""
        counterexample = self.counterexample
        if counterexample is None:
            return
        if self.name in ("attack", "portfolio", "traces"):
            if wanted_reductions(self.settings):
                self._look_for_a_shorter_run(counterexample)
            else:
                counterexample.has_fewest_commands()
        states = min(self.engine.states, self.limits.max_states or self.engine.states)
        for _ in counterexample.leave_out():
            self.watch.look_around(self.name, states, "leaving out what the violation does not need")

    def _look_for_a_shorter_run(self, counterexample: Counterexample) -> None:
        """Search without reductions for a while: they keep the verdict, but not the shortest run that shows it."""
        plain = attack_engine(self.instance, self.settings._replace(reductions=()))
        most = SHORTEST_FIRST if self.facts.passed else SHORTEST_FIRST_IN_PYTHON
        for _ in plain.run():
            if plain.states > most:
                return
            self.watch.look_around(self.name, plain.states, "for a shorter run")
        if plain.violation:
            counterexample.has_fewest_commands(plain.violation)

    def _learn_what_is_left(self, ended: Reason | None) -> None:
        """Explore SC runs by themselves, as far as the engine has not seen them.

        Only where a fault is all that may change the verdict it takes as long as it takes; else it has a limit of its
        own, in addition to the others. ``ended``: what has ended the phases before, if anything has.
        """
        facts, limits = self.facts, self.limits
        if facts.fault or facts.complete or facts.nothing_to_learn():
            return
        decides = ended is None and self.decision is not Decision.VIOLATION and not facts.cannot_fault()
        limit = None if decides else limits.max_sc_states
        if limit is None or (limits.max_states is not None and limits.max_states <= limit):
            self._explore()
        elif not self._explore(limit):
            raise LimitReached(ScStateLimit(limit))

    def _look_for_an_effect(self, ended: Reason | None) -> None:
        """Look for an outcome that no SC run has, unless ``ended`` has ended the check."""
        judged = self.judged
        if self.facts.fault or not isinstance(judged, Witness) or not self.asks_for_effect:
            return
        ended = ended or self._within_limits((MEANING, lambda: self._search_for_an_effect(judged)))
        if ended is not None:
            if self.meaning is not None:
                self.meaning.ended(ended)
            self.effect = Effect("none found", ended) if self.meaning is None else self.meaning.effect

    def _search_for_an_effect(self, judged: Witness) -> None:
        from pgasrob.robustness.effect import EffectSearch

        self.meaning = meaning = EffectSearch(self.instance, self.name, judged)
        self.effect = meaning.effect
        limits = (self.limits.max_sc_states, self.limits.max_states)
        for _ in meaning.run(*(limit for limit in limits if limit is not None)):
            self.watch.look_around(EFFECT, meaning.states)
        self.judged, self.effect = meaning.witness, meaning.effect

    def _explore(self, most: int | None = None) -> bool:
        """Look at SC runs, at all of them or until there are ``most`` states; whether these were all."""
        for _ in self.facts.explore():
            if most is not None and self.facts.explored >= most:
                return False
            self.watch.look_around(SC_RUNS, self.facts.explored)
        return True

    def _verdict(self, ended: Reason | None) -> Verdict:
        """The verdict by what is known; ``ended``: what has ended the check early."""
        facts, program = self.facts, self.instance.program
        unshown = self._within_limits((REPLAYING, lambda: self._show(ended)), grace=GRACE)
        answer, reason, witness = self._answer(ended) if self.fault_shown else ("unknown", unshown, None)
        if unshown is not None and reason is None:
            reason = LeftUndone("not all that is known is shown", unshown)
        if answer == "robust" and program.gaps:
            answer, reason = "unknown", RunsLeftOut(program.gaps)
        violated, deadlock = self.assertion_run, self.deadlock_run
        complete = facts.complete and not program.gaps and unshown is None
        shown = witness or violated or deadlock
        answers = answer == "robust" or shown is not None
        verdict = Verdict(
            program.source.file,
            program.name,
            self.instance.nodes,
            self.name,
            answer,
            reason,
            stats=Stats(
                self.engine.states,
                self.engine.transitions,
                time.monotonic() - self.watch.started,
                facts.states,
                settled_by(self.engine),
            ),
            witness=shown,
            assertion_run=violated,
            deadlock_run=deadlock,
            communicates=self.instance.communicates,
            polls=self.instance.polls,
            reading=self.instance.reading,
            assumptions=rests_on(self.instance, self.name, answer == "robust") if answers else (),
            effect=self.effect if answer == "not robust" else None,
            units=program.source.units,
            hardware=self.hardware if answer == "robust" else None,
            one_block=answer == "robust" and _is_for_any_count(program),
        )
        if facts.checks_assertions or program.gaps:
            verdict = replace(verdict, assertions="violated" if violated else "hold" if complete else "unknown")
        if facts.checks_deadlock or program.gaps or program.blind_awaits:
            none = complete and not program.blind_awaits
            verdict = replace(verdict, deadlock=True if deadlock else False if none else "unknown")
        return verdict

    def _show(self, ended: Reason | None) -> None:
        """Replay the runs that show what is known, first the one to a fault, by which all else counts for nothing."""
        facts = self.facts
        if facts.fault:
            self.fault = self._fault_witness(facts.fault)
        self.fault_shown = True
        if self.decision is Decision.ROBUST and not self.fault:
            self._look_at_the_hardware()
        if self.counterexample is not None and self.judged is None and self.unjudged is None:
            self._judge()
        if self.decision is Decision.ROBUST and ended is not None:
            self.cannot_fault = facts.cannot_fault()
        self.assertion_run = self._shown("assertion", facts.violated)
        # A rank that has come to a gap goes no further here, and others may wait for it.
        self.deadlock_run = self._shown("deadlock", None if self.instance.program.gaps else facts.deadlock)

    def _look_at_the_hardware(self) -> None:
        """Look for what could make a difference on it."""
        from pgasrob.analysis.hardware import occasions

        if self.instance.communicates:
            found = occasions(self.instance)
            self.hardware = None if found is None else Hardware(found, not self.instance.program.source.shows_commands)

    def _answer(self, ended: Reason | None) -> tuple[Answer, Reason | None, Witness | None]:
        """The answer, why it is none or not the whole one, and the run that shows it."""
        if self.fault:
            witness, fault = self.fault
            return "error", FaultReached(fault.rank, fault.command, fault.reason), witness
        match self.decision:
            case Decision.VIOLATION:
                if isinstance(self.judged, Witness):
                    left = self.unfinished and LeftUndone("the run may be longer than it has to be", self.unfinished)
                    return "not robust", left, self.judged
                return "unknown", self.judged or self.unjudged or ended, None
            case Decision.ROBUST:
                if ended is None:
                    return "robust", None, None
                if self.cannot_fault:
                    return "robust", ScRunsLeft(ended), None
                return "unknown", FaultPossible(ended), None
            case Decision.OPEN:
                return "unknown", ended, None
            case _:
                assert_never(self.decision)

    def _shown(self, shows: str, computation: Computation | None) -> Witness | None:
        return None if computation is None else Witness(shows, replay(self.instance, computation))

    def _fault_witness(self, found: FoundFault) -> tuple[Witness, Fault]:
        fault = Fault.at(self.instance, found.rank, found.transition, found.reason, found.registers)
        return Witness("fault", replay(self.instance, found.run), fault=fault), fault
