"""Answers questions about a trace file (robustness, races, MUST-RMA), segment by segment, as verdicts."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pgasrob import file_input, twins
from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.diagnostics.internal_error import internal_error
from pgasrob.program import core
from pgasrob.program.declarations import Source
from pgasrob.program.program import Program
from pgasrob.program.reading import DEFAULT_READING, Reading
from pgasrob.program.statements import place_of
from pgasrob.races.race_verdict import RaceVerdict
from pgasrob.races.racing_pairs import Next, Pairs
from pgasrob.recording import must_rma
from pgasrob.recording.events import Recorded, Recording
from pgasrob.recording.lowering import Lowering
from pgasrob.recording.memory_places import NotSupported
from pgasrob.recording.native_recordings import NativeExact, ShownRace, Undecided
from pgasrob.recording.recorded_calls import Instruction
from pgasrob.recording.recorded_legality import Legality
from pgasrob.recording.straight import NoRun
from pgasrob.recording.streamed import Found, scan
from pgasrob.recording.trace_segments import Known, Segment, in_cells, segments
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.load import load
from pgasrob.robustness.moves import NotEnabled
from pgasrob.robustness.question import Races
from pgasrob.robustness.reasons import InternalError, LeftUndone, NoProgram, OutOfMemory, Reason, TooManyUpdates
from pgasrob.robustness.stopping import until_limit
from pgasrob.robustness.verdict import RECORDED, Answer, FoundIllegalCall, RaceConsequences, Stats, Verdict, Witness
from pgasrob.robustness.watch import LimitReached, Watch
from pgasrob.runtime.record.records import TraceError
from pgasrob.runtime.record.trace_appendix import Appendix
from pgasrob.runtime.record.trace_reader import ENDED_FULL, ENDED_STOPPED, Trace
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.race import Race
from pgasrob.semantics.replay import ReplayError, replay

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd

SUFFIX = ".pgastrace"
SIMULATED_SEED, MOST_SIMULATED = 0, 10_000
"""The seed, and the most commands, of the simulated run of a program that stands in for a recorded one."""
NOT_ALL = "further calls and accesses were not looked at"
GOING_THROUGH = "while going through the trace"
MOST_NAMED = 3
"""Pairs of lines that a sentence names."""
BETWEEN_LOOKS = 256
"""Commands between two looks at the limits."""


class NotReadable(Reason, code="not-readable", sentence="{why}"):
    """Something in the recording has no known meaning, so there is no answer."""

    why: str


class NoKernel(
    Reason,
    code="no-kernel",
    sentence="recorded traces need the native kernel: install Rust and install pgasrob again",
):
    pass


class TooMuch(Reason, code="too-much", sentence="too many events depend on steps that nothing waits for"):
    pass


class OtherValues(
    Reason,
    code="other-values",
    sentence="the recorded order does not give the values that ranks waited for, so no run can be shown: {why}",
):
    """The run that an answer is about could not be made again."""

    why: str


class RecordedRaces(
    Reason,
    code="recorded-races",
    sentence="a recording does not tell whether races change the result: {named} (`pgasrob race` has the runs)",
):
    """Accesses in these pairs of lines, as ``named`` in the sentence, race in the recorded run."""

    named: str

    @classmethod
    def of(cls, pairs: Sequence[tuple[int, int]]) -> RecordedRaces:
        named = [f"lines {_line(one)} and {_line(other)}" for one, other in pairs[:MOST_NAMED]]
        named += [f"{len(pairs) - MOST_NAMED} more pairs"] * (len(pairs) > MOST_NAMED)
        return cls(", ".join(named))


def _line(number: int) -> str:
    file, line = place_of(number) if not isinstance(number, Instruction) else ("", number)
    return f"{line} of {file}" if file else str(line)


class RecordedTrace:
    """A trace file. Raises :class:`TraceError` for what is none, and OSError.

    ``events``: how many commands have been gone through, which ``watch`` counts as states.
    """

    def __init__(self, path: str, watch: Watch | None = None) -> None:
        self.path, self._watch = path, watch
        self._trace = Trace(Path(path), self._look)
        self.nodes = self._trace.ranks
        self._appendix = self._trace.appendix or Appendix()
        lines = Counter(file for file, line, _ in self._appendix.sites.values() if line)
        first, *others = [file for file, _ in lines.most_common()] or [""]
        self._texts = {file: self._appendix.source(file) for file in others}
        self.source = Source(first or path, self._appendix.source(first), shows_commands=False, others=self._texts)
        match self._trace.about:
            case {"command": [str(command), *_]} if command.isprintable():
                self.program = Path(command).name
            case _:
                self.program = Path(path).name
        self.events = 0
        self._legality: Legality | None = None
        self._error: NotSupported | TraceError | None = None

    def _look(self) -> None:
        if self._watch is not None:
            self._watch.look_around("recorded", self.events)

    def scan(self, reading: Reading, *, attacks: bool = False, strict: bool = False) -> Found | None:
        """Which segments have to be looked at closely; None: all. Raises :class:`LimitReached`."""
        if not twins.reads_traces():
            return None
        found = scan(self._trace, self.source, self.program, self._watch, reading, attacks, strict)
        if found is not None:
            self._legality = found.lowering.legality
        return found

    def segments(self, found: Found | None = None, attacks: Callable[[], bool] = lambda: False) -> Iterator[Recording]:
        """The recording, segment by segment: of what was ``found`` in it those with new races and, while ``attacks``
        are looked for, those where one may hide. Raises :class:`NotSupported` and :class:`TraceError` behind what could
        be read."""
        for log in self._trace.logs():
            if log.thread:
                raise NotSupported(f"rank {log.rank} has several threads, of whose order nothing is recorded")
        lowering = Lowering(self._trace, self.source, self._texts, self.program)
        if found is None:
            self._legality = lowering.legality
        for number, events in enumerate(segments(self._lowered(lowering), self.nodes)):
            wanted = None if found is None else found.fresh | (found.attacked if attacks() else set())
            if wanted is not None and number > max(wanted, default=-1):
                break
            if wanted is None or number in wanted:
                segment = Segment(self.nodes, lowering.queues, events, list(lowering.next_commands()), lowering.made_up)
                yield in_cells(
                    self.program, self.source, segment, Known(lowering.memory.called_at, lowering.memory.held.number)
                )
            lowering.memory.held.go_on(events)
        if found is not None:
            self.events = found.events
            return
        if self._error is not None:
            raise self._error
        if self._trace.ended == ENDED_FULL:
            raise NotSupported("the trace is full, and what came after was not recorded: record with a larger --limit")
        if self._trace.ended == ENDED_STOPPED:
            raise NotSupported("recording stopped before the program, and what came after is not known")
        if self._trace.forks:
            raise NotSupported("ranks forked, and what their child processes did is not recorded")
        cut = [rank for rank in range(self.nodes) if rank not in lowering.ended]
        if cut:
            raise NotSupported(
                f"rank {', '.join(map(str, cut))} crashed or was ended, and what would have come after is not known"
            )

    @property
    def illegal_calls(self) -> tuple[FoundIllegalCall, ...] | None:
        """The calls so far that are not allowed; None where nobody looks, as the program does not use MPI."""
        if self._legality is None:
            return None
        found = sorted(self._legality.found.items(), key=lambda each: (each[0].span.line, each[0].rule.code))
        return tuple(FoundIllegalCall(call, rank) for call, rank in found)

    def _lowered(self, lowering: Lowering) -> Iterator[Recorded]:
        """The commands up to what cannot be read: what comes before has its answers."""
        try:
            for event in lowering.events():
                self.events += 1
                if self.events % BETWEEN_LOOKS == 0:
                    self._look()
                yield event
        except (NotSupported, TraceError) as error:
            self._error = error


@dataclass
class _GoneThrough:
    """A trace file that was gone through: ``trace``, once it is open, and why there is no answer or not the whole."""

    trace: RecordedTrace | None = None
    reason: Reason | None = None
    errors: tuple[Diagnostic, ...] = ()


def _go_through(path: str, watch: Watch, look: Callable[[RecordedTrace], None]) -> _GoneThrough:
    """Have ``look`` go through the trace in the file, until a limit of ``watch``."""
    gone = _GoneThrough()
    try:
        with until_limit() as stopped:
            gone.trace = trace = watch.within(GOING_THROUGH, lambda: RecordedTrace(path, watch))
            if twins.missing_kernel():
                stopped.reason = NoKernel()
            else:
                watch.within(GOING_THROUGH, lambda: look(trace))
        gone.reason = stopped.reason
    except (TraceError, OSError) as error:
        gone.reason, gone.errors = NoProgram(str(error)), (_diagnostic(path, error),)
    except NotSupported as error:
        gone.reason = NotReadable(str(error))
    except MemoryError:
        gone.reason = OutOfMemory()
    except Exception as error:
        gone.errors = (internal_error(error, path),)
        gone.reason = InternalError(gone.errors[0].message)
    return gone


def check_trace(
    path: str, reading: Reading = DEFAULT_READING, limits: Limits | None = None, started: float | None = None
) -> Verdict:
    """Whether a happens-before cycle hides in the runs that a trace file stands for, whether its calls are legal, and
    whether accesses race in these runs; `unknown` where a limit is hit.

    States, which ``limits`` count, are the recorded commands here; its time counts from when it ``started``
    (`time.monotonic`).
    """
    watch = Watch(limits or Limits(), None, time.monotonic() if started is None else started)
    looked = _Looked(reading, watch)
    gone = _go_through(path, watch, looked.look)
    answer = Verdict(path, None, None, RECORDED, "unknown", gone.reason, reading=reading, errors=gone.errors)
    if gone.trace is not None:
        answer = replace(answer, program=gone.trace.program, nodes=gone.trace.nodes)
    if gone.trace is None or (gone.reason is not None and looked.violation is None):
        return replace(answer, verdict="error" if gone.errors else "unknown")
    illegal = gone.trace.illegal_calls
    found: Answer = "unknown" if looked.reason else "robust"
    return replace(
        answer,
        verdict="not robust" if looked.violation else found,
        reason=gone.reason and LeftUndone(NOT_ALL, gone.reason) if looked.violation else looked.reason,
        witness=looked.violation,
        errors=(),
        stats=_stats(gone.trace, watch),
        legal=None if illegal is None else "no" if illegal else "unknown" if gone.reason else "yes",
        illegal_calls=illegal or (),
        facts=("legal", "races"),
        races=looked.consequences(gone.reason),
    )


def _stats(trace: RecordedTrace | None, watch: Watch) -> Stats:
    events = trace.events if trace else 0
    return Stats(events, events, time.monotonic() - watch.started)


@dataclass
class _Looked:
    """What has been found in a trace: the first ``violation``, or the ``reason`` for which it is not known whether
    there is one, and a race for each two lines."""

    reading: Reading
    watch: Watch
    violation: Witness | None = None
    reason: Reason | None = None
    races: dict[tuple[int, int], Race] = field(default_factory=dict)
    races_left: Reason | None = None

    def look(self, trace: RecordedTrace) -> None:
        found = trace.scan(self.reading, attacks=True)
        for recording in trace.segments(found, lambda: self.violation is None):
            exact = twins.recorded_answers(recording, self.reading)
            if self.violation is None:
                self._look_for_a_cycle(exact)
            if exact.has_commuting_updates:
                exact = twins.recorded_answers(recording, _racing(self.reading))
            self.races_left = _note_races(exact, self.watch, False, self.races) or self.races_left

    def _look_for_a_cycle(self, exact: NativeExact) -> None:
        if not _look(exact, self.watch, attacks=True):
            self.reason = self.reason or TooMuch()
            return

        def show() -> None:
            shown = exact.attack()
            if shown is not None:
                run = replay(shown.instance, shown.run)
                self.violation = Witness("violation", run, HappensBefore.of(run).cycle)

        try:
            _with_values(exact, show)
        except Undecided:
            self.reason = self.reason or TooManyUpdates()
        except (NoRun, NotEnabled, ReplayError) as error:
            self.reason = self.reason or OtherValues(str(error))

    def consequences(self, ended: Reason | None) -> RaceConsequences:
        """A recording has no values of memory, so it does not tell whether a race matters, but that there is none."""
        left = RecordedRaces.of(tuple(self.races)) if self.races else self.races_left or ended
        return RaceConsequences("none" if left is None else "unknown", reason=left)


def _racing(reading: Reading) -> Reading:
    """To happens-before updates that commute have no conflict, and yet some race."""
    return Reading(reading.failed_polls, "all", "value")


def _look(exact: NativeExact, watch: Watch, *, races: bool = False, attacks: bool = False) -> bool:
    """Have the kernel look within the time that is left. Raises :class:`LimitReached` where that is up."""
    timeout = watch.limits.timeout
    until = None if timeout is None else watch.started + timeout
    done = exact.look(races, attacks, None if until is None else until - time.monotonic())
    if not done and until is not None and time.monotonic() > until:
        raise LimitReached(watch.late())
    return done


def _with_values(exact: NativeExact, show: Callable[[], None]) -> None:
    """Show runs with the values that memory had; where these do not let ranks pass what they passed, without."""
    try:
        show()
    except (NoRun, NotEnabled, ReplayError):
        if not exact.forget_values():
            raise
        show()


def _note_races(exact: NativeExact, watch: Watch, strict: bool, races: dict[tuple[int, int], Race]) -> Reason | None:
    """Add the races of a recording to ``races``; why these may not be all, None where they are."""
    left = None if _look(exact, watch, races=True) else TooMuch()

    def show() -> None:
        for shown in exact.races():
            watch.look_around("recorded", 0)
            race = race_of(shown, strict)
            races.setdefault(race.lines, race)

    try:
        _with_values(exact, show)
    except (NoRun, NotEnabled, ReplayError) as error:
        return left or OtherValues(str(error))
    return left


def trace_races(
    path: str,
    asked: Races,
    reading: Reading = DEFAULT_READING,
    limits: Limits | None = None,
) -> RaceVerdict:
    """The races in the runs that a trace file stands for, one for each pair of lines, or just one if no more are asked
    for. ``limits`` are as for :func:`check_trace`."""
    watch = Watch(limits or Limits(), None, time.monotonic())
    races: dict[tuple[int, int], Race] = {}
    reason: Reason | None = None

    def look(trace: RecordedTrace) -> None:
        nonlocal reason
        for recording in trace.segments(trace.scan(_racing(reading), strict=asked.strict)):
            exact = twins.recorded_answers(recording, _racing(reading), asked.strict)
            reason = _note_races(exact, watch, asked.strict, races) or reason
            if races and not asked.every:
                return

    gone = _go_through(path, watch, look)
    answer = RaceVerdict(
        path, None, None, RECORDED, "unknown", strict=asked.strict, reading=reading, errors=gone.errors
    )
    if gone.trace is not None:
        answer = replace(answer, program=gone.trace.program, nodes=gone.trace.nodes)
    reason = gone.reason or reason
    if isinstance(reason, NoKernel) or (gone.errors and not races):
        return replace(answer, verdict="error" if gone.errors else "unknown", reason=reason)
    verdict: Literal["race", "no race", "unknown"] = "race" if races else "no race" if reason is None else "unknown"
    if races:
        reason = LeftUndone(NOT_ALL, reason) if gone.errors and reason else reason if asked.every else None
    found = replace(answer, verdict=verdict, races=tuple(races.values()), reason=reason, errors=())
    return replace(found, stats=_stats(gone.trace, watch))


def race_of(shown: ShownRace, strict: bool) -> Race:
    """The race that was found, with its run, replayed."""
    instance = shown.shown.instance
    run = replay(instance, shown.shown.run)
    pairs = Pairs(instance, strict)
    accesses, sides = [], []
    for (rank, index, place), step in zip(shown.sides, shown.steps, strict=True):
        (transition,) = instance.automata[rank].out[index]
        made = core.accesses_of(instance.operands(rank, transition, instance.registers))[place]
        side = Next(rank, transition, place, made, at_issue=not step)
        accesses.append(replace(pairs.racing(side, index if step else None), occurrence=index))
        sides.append(side)
    return Race(pairs.kind(sides[0], sides[1]), (accesses[0], accesses[1]), run)


def trace_alarms(path: str, watch: Watch | None = None) -> Iterator[must_rma.Alarm]:
    """What MUST-RMA reports of the order in a trace file. Raises :class:`TraceError`, :class:`NotSupported` and, at a
    limit of ``watch``, :class:`LimitReached`."""
    for recording in RecordedTrace(path, watch).segments():
        yield from must_rma.alarms(recording, watch)


def alarm_lines(
    path: str, nodes: int | None, front_end: FrontEnd | None, reading: Reading, limits: Limits, spent: float = 0.0
) -> tuple[list[tuple[int, int]], str | None]:
    """The pairs of lines that MUST-RMA reports of one order of events: that in the trace file ``path``, or that of a
    simulated run of the program there; and why these may not be all. ``spent``: seconds of the time limit that are
    over. Raises :class:`SourceError`."""
    watch = Watch(limits, None, time.monotonic() - spent)

    def work() -> None:
        if path.endswith(SUFFIX):
            lines.update((alarm.lines, None) for alarm in trace_alarms(path, watch))
            return
        from pgasrob.recording.simulated import recorded, sc_run

        loaded = load(path, front_end)
        count = nodes or loaded.default_count
        program = loaded if isinstance(loaded, Program) else loaded.program(count)
        instance = program.instantiate(count, reading.by_value)
        run = recorded(instance, sc_run(instance, SIMULATED_SEED, MOST_SIMULATED))
        lines.update((alarm.lines, None) for alarm in must_rma.alarms(run, watch))

    lines: dict[tuple[int, int], None] = {}
    try:
        with until_limit() as stopped:
            watch.within(GOING_THROUGH, work)
        reason = None if stopped.reason is None else str(stopped.reason)
    except (TraceError, NotSupported, OSError) as error:
        reason = str(error)
    except SourceError:
        raise
    except Exception as error:
        reason = internal_error(error, path).message
    return list(lines), reason


def _diagnostic(path: str, error: Exception) -> Diagnostic:
    if isinstance(error, OSError):
        what, hint = file_input.why(error)
        return Diagnostic("PG001", f"cannot read the file: {what}", path, hint=hint)
    return Diagnostic("PG001", str(error), path)
