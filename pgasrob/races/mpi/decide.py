"""Decides the status of a program in the memory model, from all its executions (section 3.1)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.diagnostics.internal_error import internal_error
from pgasrob.program.assumptions import Kind
from pgasrob.program.core import Cell
from pgasrob.program.expectation import read_expectation
from pgasrob.program.instance import Instance
from pgasrob.program.parser import read_text
from pgasrob.program.reading import DEFAULT_READING
from pgasrob.races.mpi.actions import MemoryModel, Misuse, ModelRace
from pgasrob.races.mpi.execution import NotCovered
from pgasrob.races.mpi.executions import GaveUp, executions
from pgasrob.races.mpi.judgement import Drawn, ModelVerdict, Status, judge
from pgasrob.robustness.check import check
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.load import load
from pgasrob.robustness.question import Question, Robustness
from pgasrob.robustness.session import Session

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.frontends.options import FrontEnd


def decide(
    program: CProgram, model: MemoryModel, nodes: int | None = None, *, all: bool = False, timeout: float | None = None
) -> ModelVerdict:
    """The status of ``program``, which is in C and uses MPI, on ``nodes`` nodes in ``model``.

    ``all``: find all races, not only those of the first execution that has some. ``timeout``: seconds. What the model
    does not cover, and what is too large, gives `unknown` with the reason, a program that is none gives `error`;
    nothing is raised.
    """
    file = program.source.file
    try:
        marked = program.marked(nodes)
        instance = marked.instantiate(marked.nodes, DEFAULT_READING.by_value)
        note = program.program(marked.nodes).count_note
    except SourceError as error:
        return ModelVerdict(file, program.name, nodes, model, "error", errors=tuple(error.diagnostics))
    found, begun = _Found(), time.monotonic()
    reason = None if marked.exposed else "it makes no window of MPI"
    try:
        for execution in executions(instance, timeout) if marked.exposed else ():
            if execution.shared and model == "separate":
                name, span = execution.shared
                raise NotCovered(name, span, "MPI says what they mean in the unified model alone (MPI-4.1, 12.2.3)")
            found.add(judge(execution, model, exposed_cells(instance)))
            if found.status == "undefined" and not all:
                break
    except GaveUp as why:
        reason = str(why)
    except NotCovered as what:
        reason = f"line {what.span.line}: the model does not cover {what.what}; {what.hint}"
    if reason is None and marked.gaps:
        reason = marked.gaps[0]
    if reason is None and found.status != "undefined":
        reason = _beyond(program, marked.nodes, found, None if timeout is None else begun + timeout - time.monotonic())
    # What of assumptions is about one copy of windows does not hold in the separate model, and is not needed there.
    rests_on = tuple(each for each in marked.assumptions if model == "unified" or each.kind != Kind.UNIFIED_WINDOWS)
    status: Status = "unknown" if reason is not None and found.status != "undefined" else found.status
    return ModelVerdict(
        file, marked.name, marked.nodes, model, status, tuple(found.races.values()), tuple(found.misuses.values()),
        found.shown, found.count, reason, assumptions=rests_on, instance=instance, count_note=note,
    )  # fmt: skip


def decide_file(
    file: str, model: MemoryModel, nodes: int | None, front_end: FrontEnd, *, every: bool = False,
    timeout: float | None = None,
) -> ModelVerdict:  # fmt: skip
    """The status of the program in ``file``: `error` where there is none in C. ``every`` as ``all`` of `decide`."""
    from pgasrob.frontends.lower import CProgram

    try:
        program = load(file, front_end)
        if isinstance(program, CProgram):
            return decide(program, model, nodes, all=every, timeout=timeout)
    except SourceError as error:
        return ModelVerdict(file, None, None, model, "error", errors=tuple(error.diagnostics))
    except Exception as error:
        return ModelVerdict(file, None, None, model, "error", errors=(internal_error(error, file),))
    hint = "give a C program that uses MPI"
    problem = Diagnostic("PG182", "memory models of MPI are about C programs", file, hint=hint)
    return ModelVerdict(file, None, None, model, "error", errors=(problem,))


def expected_status(verdict: ModelVerdict) -> str | None:
    """The status that the header of the program of ``verdict`` expects there; None where it says nothing."""
    expectation = read_expectation(read_text(verdict.file), verdict.file)
    return None if expectation is None else expectation.status_at(verdict.model, verdict.nodes)


def _beyond(program: CProgram, nodes: int | None, found: _Found, seconds: float | None) -> str | None:
    """Why the executions that were looked at may not be all, None where they are.

    They are those of runs in which each operation is done at once. Where reads have their values from what comes before
    them by (23) there are no others. But accumulates are defined without being ordered, and so are loads that poll: of
    programs with those it is asked whether each run on the network looks like one of these runs.
    """
    if not found.unordered:
        return None
    if seconds is not None and seconds <= 0:
        return "the time is up"
    question = Question(program, nodes, Robustness(effect=False), limits=Limits(timeout=seconds))
    verdict = check(Session(question))
    if verdict.verdict == "robust":
        return None
    if verdict.verdict == "not robust":
        return (
            "the executions that look like sequentially consistent runs have no race, but by its accumulates the "
            "program has others (`pgasrob check` shows one), of which nothing is known"
        )
    return f"nothing is known of runs that are not sequentially consistent: {verdict.reason}"


def exposed_cells(instance: Instance) -> dict[tuple[str, int], frozenset[Cell]]:
    """The cells that each rank has in each window."""
    return {
        (window, rank): frozenset(rank * instance.size + cell for cell in cells)
        for (window, rank), cells in instance.program.exposed.items()
    }


class _Found:
    """What the executions so far have shown: ``shown`` is the first that is undefined, or eventual, else the last."""

    def __init__(self) -> None:
        self.races: dict[object, ModelRace] = {}
        self.misuses: dict[object, Misuse] = {}
        self.status: Status = "defined"
        self.shown: Drawn | None = None
        self.count = 0
        self.unordered = False

    def add(self, drawn: Drawn) -> None:
        self.count += 1
        atomics = any(operation.call.kind not in ("put", "get") for operation in drawn.execution.operations)
        self.unordered = self.unordered or atomics or bool(drawn.eventual)
        for race in drawn.races:
            places = frozenset((each.span, each.kind, bool(each.writes)) for each in (race.first, race.second))
            self.races.setdefault(places, race)
        for misuse in drawn.misuses:
            self.misuses.setdefault(misuse.call, misuse)
        gravity: tuple[Status, ...] = ("defined", "eventual", "undefined")
        if gravity.index(drawn.status) > gravity.index(self.status) or self.status == "defined":
            self.status, self.shown = drawn.status, drawn
