"""Makes the verdict on a program on a network: reads its file, translates, decides, compares with what is expected."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.diagnostics.internal_error import internal_error
from pgasrob.models.litmus.litmus_parser import parse_file as parse_litmus
from pgasrob.models.litmus.litmus_program import Program
from pgasrob.models.model_interface import Refusal, Refused
from pgasrob.models.networks.assertions import FailingRun, failing_assertion
from pgasrob.models.networks.counterparts import CORERMA
from pgasrob.models.networks.robustness import Found, Violation, by_executions, by_normal_forms, by_runs
from pgasrob.models.networks.to_litmus import Translation, translate
from pgasrob.models.rdma_tso import RdmaTso
from pgasrob.program.assumptions import Assumption, Kind
from pgasrob.program.count_note import CountNote
from pgasrob.program.declarations import Source
from pgasrob.program.expectation import read_expectation
from pgasrob.program.files import DISK
from pgasrob.program.instance import Instance
from pgasrob.program.parser import read_text
from pgasrob.robustness.check import check
from pgasrob.robustness.free_ways import WHAT_RUNS_SHOW, first_free_way
from pgasrob.robustness.question import ProgramFile, Question, RobustnessOnNetwork, Synchronisation
from pgasrob.robustness.reasons import (
    InternalError,
    NothingChecked,
    Reason,
    RunsLeftOut,
    StateLimit,
    ValuesSetFree,
)
from pgasrob.robustness.rests_on import rests_on
from pgasrob.robustness.session import PREPARING, READING, Failed, Loaded, Session
from pgasrob.robustness.verdict import Assertions
from pgasrob.robustness.watch import Watch, Watcher, unwatched

Verdict = Literal["robust", "not robust", "unknown", "refused", "error"]

LITMUS = ".litmus"
SEARCHING = "while looking for a violation"
SEARCHING_ASSERTIONS = "while looking for an assertion that fails"
MOST_EXECUTIONS = 20_000
"""Executions of a program without loops that are looked at; if there are more, its runs are searched instead."""
MOST_FOR_A_RUN = 10_000
"""States of the search for a run, where an execution is known to be a violation."""
NOT_OF_NETWORKS = frozenset((Kind.PROGRAM_ORDER, Kind.ONE_COPY))
"""Assumptions that a verdict on a network does not need, since the model has store buffers and queue pairs."""


@dataclass(frozen=True)
class NetworkVerdict:
    """The verdict on ``file`` on ``nodes`` nodes of a network.

    ``program`` is the litmus program that was decided; where the file has a program of ranks (``ranks``) it is the
    translation, which also gives ``remarks``. ``refusals``: why there is no verdict. ``reason``: why the
    verdict is `unknown` or `error`. ``assertions``: whether those of the program hold, None where it has none;
    ``failed``: one that does not, in a run on the network that looks like no sequentially consistent one. ``expected``:
    the verdict that the file expects, None when it says none, where ``compared``.
    """

    file: str
    asked: RobustnessOnNetwork
    verdict: Verdict
    name: str | None = None
    nodes: int | None = None
    reason: Reason | None = None
    refusals: tuple[Refusal, ...] = ()
    errors: tuple[Diagnostic, ...] = ()
    source: Source | None = None
    program: Program | None = None
    violation: Violation | None = None
    ranks: bool = False
    remarks: tuple[str, ...] = ()
    assertions: Assertions | None = None
    failed: FailingRun | None = None
    assumptions: tuple[Assumption, ...] = ()
    units: tuple[str, ...] = ()
    states: int = 0
    seconds: float = 0.0
    compared: bool = False
    expected: str | None = None
    header_errors: tuple[Diagnostic, ...] = field(default=())
    count_note: CountNote | None = None


def decide(
    program: Program, asked: RobustnessOnNetwork, watch: Watch | None = None, *, of_ranks: bool = False
) -> Found:
    """Whether ``program`` is robust, a program ``of_ranks`` or a litmus test. Raises :class:`Refused`, and LimitReached
    of ``watch``.

    A program without loops is decided by its executions; on RDMA-TSO, where one is a violation, a run that is one is
    searched, for a run shows an order of events. Programs with loops, and those with too many executions, are decided
    by runs in normal form, which count wherever their threads end: those of ranks do anyway, litmus tests with loops
    do, and one without loops is robust if it is so.
    """
    if asked.network == CORERMA:
        from pgasrob.models.corerma import CoreRma

        return by_executions(CoreRma(), program, watch)
    model = _rdma_tso(asked)
    if not program.bounded:
        return by_normal_forms(program, model, watch)
    found = by_executions(model, program, watch, MOST_EXECUTIONS)
    if found.violation is None:
        if not isinstance(found.reason, StateLimit):
            return found
        normal = by_normal_forms(program, model, watch)
        if normal.violation is None or of_ranks:
            return replace(normal, states=found.states + normal.states)
    runs = by_runs(model.machine(program), watch, None if found.violation is None else MOST_FOR_A_RUN)
    if found.violation is not None and runs.violation is None:
        if runs.reason is None:
            why = "has no violation, but an execution has"
            return Found(None, InternalError.of_run("search over runs", why), runs.states)
        if not of_ranks or runs.reason != StateLimit(MOST_FOR_A_RUN):
            return found
        normal = by_normal_forms(program, model, watch)
        return found if normal.violation is None else normal
    return replace(runs, states=runs.states + found.states)


def _rdma_tso(asked: RobustnessOnNetwork) -> RdmaTso:
    return RdmaTso(pcie=asked.pcie, placed=asked.placed, atomics="glob" if asked.glob else "hca")


def verdicts(
    files: Sequence[str],
    question: Question,
    nodes: Sequence[int] | None = None,
    expect: bool = False,
    watch: Watcher = unwatched,
) -> Iterator[NetworkVerdict]:
    """The verdicts on each file at each node count (the file's own where none is given; a litmus test has only one).

    Each file replaces the program of ``question``. ``expect``: verdicts are compared with those that the files expect.
    ``watch`` is given the file as a title.
    """
    assert isinstance(question.program, ProgramFile)
    for file in files:
        for place, count in enumerate(nodes or (None,)):
            one = replace(question, program=replace(question.program, path=file), nodes=count)
            with watch(file) as progress:
                verdict = network_verdict(Session(one, progress))
            yield _compared(verdict) if expect else verdict
            if file.endswith(LITMUS) or (verdict.nodes is None and place == 0):
                break


def network_verdict(session: Session) -> NetworkVerdict:
    """Decide whether the program or litmus test in the file of ``session`` is robust on a network."""
    deciding = _Deciding(session)
    try:
        failed = session.caught(deciding.run)
        known = failed.applied(deciding.known) if isinstance(failed, Failed) else deciding.known
    except Refused as refused:
        known = replace(deciding.known, verdict="refused", refusals=refused.refusals)
    except Exception as error:
        found = internal_error(error, session.question.file)
        known = replace(deciding.known, verdict="error", reason=InternalError(found.message), errors=(found,))
    return replace(known, seconds=time.monotonic() - session.watch.started)


class _Deciding:
    """The stages of one decision; ``known``: the verdict with all that is known so far."""

    def __init__(self, session: Session) -> None:
        asked = session.question.asked
        assert isinstance(asked, RobustnessOnNetwork)
        self._session, self._asked = session, asked
        self.known = NetworkVerdict(session.question.file, asked, "unknown")
        self._instance: Instance | None = None

    def run(self) -> None:
        watch = self._session.watch
        if self.known.file.endswith(LITMUS):
            translated = watch.within(READING, self._litmus)
        else:
            loaded = self._session.load()
            self.known = replace(self.known, nodes=loaded.nodes)
            translated = watch.within(PREPARING, lambda: self._program_of_ranks(loaded))
        search = partial(self._search, translated.program)
        found = watch.within(SEARCHING, search, looks=True)
        note, reason = self.known.count_note, found.reason
        if reason is None and note is not None and note.nothing:
            reason = NothingChecked(note.why_nothing())
        verdict: Verdict = "not robust" if found.violation else "unknown" if reason else "robust"
        self.known = replace(self.known, verdict=verdict, reason=reason, violation=found.violation, states=found.states)
        instance = self._instance
        if instance is not None and instance.has_assertions and verdict in ("robust", "not robust"):
            self._assertions(instance, translated.program)

    def _search(self, program: Program) -> Found:
        """Whether ``program`` is robust, where its runs are known to be those of the file (`robustness.free_ways`)."""
        instance = self._instance
        deciding = partial(decide, asked=self._asked, watch=self._session.watch, of_ranks=self.known.ranks)
        found = deciding(program)
        if instance is None:
            return found
        if found.violation is None:
            gaps = instance.program.gaps
            return replace(found, reason=RunsLeftOut(gaps)) if gaps and found.reason is None else found
        line = first_free_way(instance)
        if line is None:
            return found
        again = deciding(self._translated(instance, free_ways=False).program)
        states = found.states + again.states
        if again.violation is None:
            doubt = ValuesSetFree(WHAT_RUNS_SHOW["violation"], line)
            return Found(None, again.reason or doubt, states)
        return replace(again, states=states)

    def _assertions(self, instance: Instance, program: Program) -> None:
        """Whether the assertions hold: in sequentially consistent runs if all runs look like these."""
        session = self._session
        if self.known.verdict == "robust":
            asked = Synchronisation(("assertions",), effect=False)
            of_sc_runs = check(session.asking(replace(session.question, asked=asked)))
            self.known = replace(self.known, assertions=of_sc_runs.assertions or "unknown")
        elif self._asked.network != CORERMA and not self._has_doubts(instance):
            search = partial(failing_assertion, instance, program, _rdma_tso(self._asked), session.watch)
            try:
                sought = session.watch.within(SEARCHING_ASSERTIONS, search, looks=True)
            except Refused:  # an expression without a value, in runs that the search for a violation has not come to
                return
            if sought.failed is not None:
                self.known = replace(self.known, assertions="violated", failed=sought.failed)
            elif sought.reason is None and not sought.left_out:
                self.known = replace(self.known, assertions="hold")

    def _has_doubts(self, instance: Instance) -> bool:
        """Whether not all runs of ``instance`` are those of the program, or not all assertions known."""
        return bool(instance.open_assertions or instance.program.gaps) or first_free_way(instance) is not None

    def _litmus(self) -> Translation:
        test = parse_litmus(Path(self.known.file), DISK)
        program = test.program
        nodes = len({location.node for location in program.locations} | {thread.node for thread in program.threads})
        self.known = replace(self.known, name=test.name, nodes=nodes, source=test.source, program=program)
        return Translation(program)

    def _program_of_ranks(self, loaded: Loaded) -> Translation:
        self._instance = instance = self._session.instance(loaded)
        of = instance.program
        self.known = replace(
            self.known,
            name=of.name,
            source=of.source,
            assumptions=tuple(each for each in rests_on(instance, "", True) if each.kind not in NOT_OF_NETWORKS),
            units=of.source.units,
            count_note=of.count_note,
            ranks=True,
            assertions="unknown" if instance.has_assertions else None,
        )
        translated = self._translated(instance)
        self.known = replace(self.known, program=translated.program, remarks=translated.remarks)
        return translated

    def _translated(self, instance: Instance, free_ways: bool = True) -> Translation:
        asked = self._asked
        return translate(instance, asked.network, pcie=asked.pcie, placed=asked.placed, free_ways=free_ways)


def _compared(verdict: NetworkVerdict) -> NetworkVerdict:
    """``verdict`` with the verdict that the file expects."""
    try:
        expectation = read_expectation(read_text(verdict.file), verdict.file)
    except SourceError as error:
        return replace(verdict, compared=True, header_errors=tuple(error.diagnostics))
    expected = expectation.network_at(verdict.asked.line, verdict.nodes) if expectation else None
    return replace(verdict, compared=True, expected=expected)
