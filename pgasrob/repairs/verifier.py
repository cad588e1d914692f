"""Checks changed texts: they must be robust on all node counts, and in nothing else worse than the source."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol

from pgasrob.diagnostics import SourceError
from pgasrob.diagnostics.internal_error import internal_error
from pgasrob.program.assumptions import Kind
from pgasrob.program.illegal_calls import IllegalCall
from pgasrob.program.program import Program
from pgasrob.program.statements import Span
from pgasrob.races.consequences import race_consequences
from pgasrob.repairs.collective_calls import NEW, Answer, reached_alike
from pgasrob.repairs.edits import Edit, Origins, Overlap, applied
from pgasrob.repairs.output_order import Loosens, OutputOrder, Watched
from pgasrob.repairs.sc_outcomes import Before, Compared, Places, Same
from pgasrob.repairs.source_statements import Statements
from pgasrob.robustness.check import check
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import Question, Robustness
from pgasrob.robustness.reasons import InternalError
from pgasrob.robustness.session import Session
from pgasrob.robustness.stopping import until_limit
from pgasrob.robustness.verdict import RaceConsequences, Verdict
from pgasrob.robustness.watch import Watch

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram

    AnyProgram = Program | CProgram


class Parse(Protocol):
    """Reads a changed text as the source was read."""

    def __call__(self, text: str) -> AnyProgram: ...


@dataclass(frozen=True, slots=True)
class Tried:
    """The check of a changed text: its ``violation`` where it is not robust, else ``why`` it is refused, "" when it is
    not.

    ``undecided``: a limit left it open; ``in_sc``: the reason is about SC runs. ``same``: how its SC outcomes compare.
    ``shows``: a run on the network in which files or output are seen otherwise. ``forbidden``: the edit that has
    brought a call that its library does not allow there. ``crashed``: an internal error left it open.
    """

    text: str
    why: str = ""
    violation: Verdict | None = None
    undecided: bool = False
    in_sc: bool = False
    same: Same | None = None
    shows: Verdict | None = None
    forbidden: Edit | None = None
    crashed: bool = False


class Verifier:
    """Checks changes of ``program``. ``verdicts`` are those of the source, by node count; ``checks`` counts the changed
    texts. The time limit is for all together, the others for each check. ``against_races``: what is looked for leaves
    no race that matters, and SC runs that end as some of the source do."""

    def __init__(
        self,
        program: AnyProgram,
        parse: Parse,
        nodes: Sequence[int],
        limits: Limits,
        max_checks: int,
        output_order: OutputOrder = "kept",
    ) -> None:
        self._parse, self._limits, self._max_checks = parse, limits, max_checks
        self.against_races = False
        self._started = time.monotonic()
        self._ends = None if limits.timeout is None else self._started + limits.timeout
        self.nodes = tuple(nodes)
        self.statements = Statements.of(program)
        self._program = program
        self.verdicts = tuple(self._check(program, each) for each in self.nodes)
        self._outcomes = Before(program, _places(self.statements.text, ()))
        self._watched: Watched | None = None
        if not isinstance(program, Program):
            self._watched = Watched(program, self.statements, output_order, self._check)
        self.checks = 0

    @cached_property
    def races(self) -> tuple[RaceConsequences, ...]:
        """Which races of the source, which is robust, matter, by node count."""
        try:
            return tuple(map(partial(self._races, self._program), self.verdicts))
        except Exception as error:
            return (RaceConsequences("unknown", reason=self._crash(error)),)

    def races_with(self, edits: Collection[Edit]) -> tuple[RaceConsequences, ...]:
        """The same of the source with ``edits``, which is robust; () where a limit leaves that open."""
        watch = self._watch()
        try:
            with until_limit(memory=True):
                return watch.within("while looking for races", lambda: self._races_with(edits))
        except Exception as error:
            return (RaceConsequences("unknown", reason=self._crash(error)),)
        return ()

    def _races_with(self, edits: Collection[Edit]) -> tuple[RaceConsequences, ...]:
        program = self._parse(applied(self.statements.text, edits))
        return tuple(self._races(program, self._check(program, each)) for each in self.nodes)

    @property
    def limit(self) -> str:
        """The limit that was hit, as a clause of a sentence; "" for none."""
        if self.checks >= self._max_checks:
            return f"{self.checks} changed programs were tried"
        if self._ends is not None and time.monotonic() >= self._ends:
            return f"the time limit of {self._limits.timeout:g} s was reached after {self.checks} changed programs"
        return ""

    @property
    def seconds_left(self) -> float | None:
        """Until the time limit, None without one."""
        return None if self._ends is None else max(self._ends - time.monotonic(), 0)

    @property
    def unknown(self) -> str:
        """Why it is not known whether the source is robust; "" where it is."""
        reasons = (str(each.reason) for each in self.verdicts if each.verdict == "unknown")
        return next((self.limit or reason for reason in reasons), "")

    def tried(
        self,
        edits: Collection[Edit],
        acts_in_sc: bool,
        marks: Collection[Edit] | None = None,
        loosens: Loosens = "nothing",
    ) -> Tried:
        """Check the source with ``edits``; ``acts_in_sc``: whether these may change its SC runs; ``marks``: if there
        are collective calls among them, insertions on the way to these (:mod:`pgasrob.repairs.collective_calls`);
        ``loosens``: where they may take order away."""
        self.checks += 1
        watch = self._watch()
        try:
            with until_limit(memory=True) as stopped:
                return watch.within("while trying a change", lambda: self._tried(edits, acts_in_sc, marks, loosens))
            return Tried("", str(stopped.reason), undecided=True)
        except Exception as error:  # the other changes have their answers all the same
            return Tried("", f"not tried: {self._crash(error)}", undecided=True, crashed=True)

    def _crash(self, error: Exception) -> InternalError:
        return InternalError(internal_error(error, "").message)

    def _tried(
        self, edits: Collection[Edit], acts_in_sc: bool, marks: Collection[Edit] | None, loosens: Loosens
    ) -> Tried:
        try:
            text = applied(self.statements.text, edits)
        except Overlap:
            return Tried("", "two of the changes are of the same call")
        try:
            program = self._parse(text)
        except SourceError as error:
            return Tried(text, f"it is no program any more: {error.diagnostics[0].message}")
        for nodes, before in zip(self.nodes, self.verdicts, strict=True):
            after = self._check(program, nodes)
            if acts_in_sc and (why := _worse_in_sc(before, after)):
                return Tried(text, why, in_sc=True)
            if after.verdict == "not robust":
                return Tried(text, violation=after)
            for call in after.illegal_calls:
                if not self._was_there(call.call, before, text, edits):
                    why = f"on {nodes} nodes a call is not allowed: {call.call}"
                    return Tried(text, why, forbidden=_edit_at(call.call.span, text, edits))
            if why := _worse(before, after):
                return Tried(text, why, undecided=after.verdict == "unknown" or after.faults == "unknown")
            if self.against_races and (open_ := self._open_races(program, after)):
                return open_
        if self.against_races:
            same = self._outcomes.among(program, self.nodes, _places(text, edits))
        else:
            inserts = all(edit.start == edit.end for edit in edits)
            places = _places(text, edits) if acts_in_sc else None  # else SC runs are those that there were
            same = self._outcomes.compared(program, self.nodes, acts_in_sc, acts_in_sc or inserts, places=places)
        if same.compared is Compared.DIFFERENT:
            return Tried(text, same.why, None, same.undecided, in_sc=True, same=same)
        if marks is not None and (answer := self._alike(edits, marks)) != "alike":
            why = "it is not known whether" if answer == "unknown" else "not"
            return Tried(
                text, f"{why} all ranks reach it in the same branches and rounds", None, answer == "unknown", True
            )
        if self._watched is not None and not isinstance(program, Program):
            for nodes in self.nodes:
                shown = self._watched.compared(program, text, edits, nodes, loosens)
                if shown.why:
                    return Tried(text, shown.why, None, shown.undecided, False, same, shown.violation)
        return Tried(text, same=same)

    def _races(self, program: AnyProgram, verdict: Verdict) -> RaceConsequences:
        return race_consequences(self._session(program, verdict.nodes), verdict)

    def _open_races(self, program: AnyProgram, after: Verdict) -> Tried | None:
        """Why it is not known of ``program`` that no race matters; None where it is."""
        races = self._races(program, after)
        if races.answer in ("none", "harmless"):
            return None
        if races.answer == "matters":
            return Tried("", f"on {after.nodes} nodes a race changes the result all the same", in_sc=True)
        return Tried("", f"on {after.nodes} nodes {races.reason}", undecided=True, in_sc=True)

    def _was_there(self, call: IllegalCall, before: Verdict, text: str, edits: Collection[Edit]) -> bool:
        """Whether the source has broken the same rule in the place that the ``call`` in ``text`` had there."""
        source, changed = _places(self.statements.text, ()), _places(text, edits)
        known = {(each.call.rule, source(each.call.span)) for each in before.illegal_calls}
        return (call.rule, changed(call.span)) in known

    def _alike(self, edits: Collection[Edit], marks: Collection[Edit]) -> Answer:
        """Whether all ranks reach the collective calls of ``edits`` alike, on all node counts."""
        try:
            text = applied(self.statements.text, [*edits, *marks])
            program = self._parse(text)
            instances = [program.instantiate(count) for count in self.nodes]
        except (SourceError, Overlap):
            return "unknown"
        places, origins = Statements(text, []), Origins([*edits, *marks])
        numbers = {each: number for number, each in enumerate(sorted(set(marks)))}

        def mark(span: Span) -> int | None:
            edit = origins.edit(places.offset(span.line, span.column)) if span.line else None
            return None if edit is None else numbers.get(edit, NEW)

        found = [reached_alike(each, mark) for each in instances]
        return next((each for each in found if each != "alike"), "alike")

    def _check(self, program: AnyProgram, nodes: int) -> Verdict:
        session = self._session(program, nodes)
        found = check(session)
        if not isinstance(program, Program) and found.legal and program.rests_on(Kind.WINDOW_SYNC, nodes):
            from pgasrob.races.mpi.shared_windows import with_missing_syncs

            found = with_missing_syncs(session, program, [nodes], found)
        without_run = found.verdict == "not robust" and found.witness is None
        # A violation of which a limit has left no run says nothing about what would mend it.
        return replace(found, verdict="unknown") if without_run else found

    def _session(self, program: AnyProgram, nodes: int | None) -> Session:
        asked = Question(program, nodes, Robustness(effect=False), limits=self._limits)
        return Session(asked, watch=self._watch())

    def _watch(self) -> Watch:
        """The limits of a check: of time there is what is left, and of memory as much as for any other."""
        return Watch(self._limits, None, self._started)


def _places(text: str, edits: Collection[Edit]) -> Places:
    """Where pieces of ``text``, which ``edits`` have given, were before them."""
    statements, origins = Statements(text, []), Origins(edits)

    def place(span: Span) -> int | None:
        return origins.kept(statements.offset(span.line, span.column)) if span.line else 0

    return place


def _edit_at(span: Span, text: str, edits: Collection[Edit]) -> Edit | None:
    """The edit that the piece of ``text`` is of, None where it was there before."""
    return Origins(edits).edit(Statements(text, []).offset(span.line, span.column)) if span.line else None


def _worse(before: Verdict, after: Verdict) -> str:
    """Why ``after``, which has no violation, is not as good as ``before``; "" when it is."""
    where = f"on {after.nodes} nodes"
    if after.verdict == "error":
        return (
            f"{where} it is no program: {after.reason}" if after.errors else f"{where} there is a fault: {after.reason}"
        )
    if after.verdict == "unknown":
        return f"{where} it is not known whether it is robust: {after.reason}"
    if why := _worse_in_sc(before, after):
        return why
    if after.faults == "unknown" and before.faults != "unknown":
        return f"{where} it is not known whether there is a fault"
    if before.deadlock is False and after.deadlock == "unknown":
        return f"{where} it is not known whether there is a deadlock"
    if before.assertions == "hold" and after.assertions == "unknown":
        return f"{where} it is not known whether the assertions hold"
    return ""


def _worse_in_sc(before: Verdict, after: Verdict) -> str:
    """A fault, deadlock or failed assertion of SC runs that was not there before; "" for none."""
    if after.deadlock is True and before.deadlock is not True:
        return f"on {after.nodes} nodes there is a deadlock that was not there before"
    if after.assertions == "violated" and before.assertions != "violated":
        return f"on {after.nodes} nodes an assertion fails in an SC run that held before"
    return ""
