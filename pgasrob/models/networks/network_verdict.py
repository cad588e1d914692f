"""The verdict on a program on a network: read, translated, decided, compared with what the file says of itself."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.models.litmus.litmus_parser import parse_file as parse_litmus
from pgasrob.models.litmus.litmus_program import Program
from pgasrob.models.model_interface import Refusal, Refused
from pgasrob.models.networks.counterparts import CORERMA
from pgasrob.models.networks.robustness import Found, Violation, by_executions, by_runs
from pgasrob.models.networks.to_litmus import Network, Translation, translate
from pgasrob.program.assumptions import Assumption, Kind
from pgasrob.program.expectation import read_expectation
from pgasrob.program.files import DISK
from pgasrob.program.parser import read_text
from pgasrob.program.program import DEFAULT_NODES
from pgasrob.program.reading import DEFAULT_READING, Reading
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.load import load
from pgasrob.robustness.reasons import InternalError, NoProgram, Reason, StateLimit
from pgasrob.robustness.rests_on import rests_on
from pgasrob.robustness.session import PREPARING, READING
from pgasrob.robustness.stopping import until_limit
from pgasrob.robustness.watch import Watch

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.declarations import Source
    from pgasrob.program.program import Program as PgasProgram

Verdict = Literal["robust", "not robust", "unknown", "refused", "error"]

LITMUS = ".litmus"
SEARCHING = "while looking for a violation"
MOST_EXECUTIONS = 20_000
"""Executions of a program without loops that are looked at before its runs are gone through instead."""
NOT_OF_NETWORKS = frozenset((Kind.PROGRAM_ORDER, Kind.ONE_COPY))
"""What a verdict on a network does not take for granted: the model has store buffers, and queue pairs."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked: a network, with what is not as in its paper, as an expectation has it ("no-pcie")."""

    network: Network
    pcie: bool = True
    placed: bool = False

    @property
    def variant(self) -> str:
        return " ".join(("no-pcie",) * (not self.pcie) + ("placed",) * self.placed)

    @property
    def line(self) -> str:
        """How a line of expectation begins: "rdma-tso no-pcie"."""
        return f"{self.network} {self.variant}".strip()


@dataclass(frozen=True)
class NetworkVerdict:
    """What is known of ``file`` on so many ``nodes`` of a network.

    ``program`` is what was decided: of a program of ``ranks`` its translation, with ``copies`` and ``remarks`` as that
    has them. ``refusals``: why nothing can be said. ``reason``: why the verdict is `unknown` or `error`. ``expected``:
    what the file says, None when nothing, under ``compared``.
    """

    file: str
    asked: Asked
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
    copies: frozenset[str] = frozenset()
    remarks: tuple[str, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    units: tuple[str, ...] = ()
    states: int = 0
    seconds: float = 0.0
    compared: bool = False
    expected: str | None = None
    header_errors: tuple[Diagnostic, ...] = field(default=())


def decide(program: Program, asked: Asked, watch: Watch | None = None, copies: frozenset[str] = frozenset()) -> Found:
    """Whether ``program`` is robust. Raises :class:`Refused`, and LimitReached of ``watch``.

    Of a program without loops the executions are looked at, and on RDMA-TSO a run is looked for where one is violating:
    it shows an order. Others are decided by their runs.
    """
    if asked.network == CORERMA:
        from pgasrob.models.corerma import CoreRma

        return by_executions(CoreRma(), program, watch, copies)
    from pgasrob.models.rdma_tso import RdmaTso

    model = RdmaTso(pcie=asked.pcie, placed=asked.placed)
    found = None
    if program.bounded:
        found = by_executions(model, program, watch, copies, MOST_EXECUTIONS)
        if found.violation is None and not isinstance(found.reason, StateLimit):
            return found
    runs = by_runs(model.machine(program), watch, copies)
    if found is not None and found.violation is not None and runs.violation is None:
        if runs.reason is None:
            why = "has no violation, but an execution has"
            return Found(None, InternalError("search over runs", why), runs.states)
        return found
    return replace(runs, states=runs.states + (found.states if found else 0))


def verdicts(
    files: Sequence[str],
    asked: Asked,
    nodes: Sequence[int] | None = None,
    limits: Limits | None = None,
    front_end: FrontEnd | None = None,
    reading: Reading = DEFAULT_READING,
    expect: bool = False,
) -> Iterator[NetworkVerdict]:
    """The verdict on every file at every node count (its own where none is given; a litmus test has one alone)."""
    for file in files:
        for place, count in enumerate(nodes or (None,)):
            verdict = _verdict(file, asked, count, limits or Limits(), front_end, reading)
            yield _compared(verdict) if expect else verdict
            if file.endswith(LITMUS) or (verdict.nodes is None and place == 0):
                break


def _verdict(
    file: str, asked: Asked, nodes: int | None, limits: Limits, front_end: FrontEnd | None, reading: Reading
) -> NetworkVerdict:
    started = time.monotonic()
    watch = Watch(limits, None, started)
    known = NetworkVerdict(file, asked, "unknown")
    try:
        with until_limit(memory=True) as stopped:
            if file.endswith(LITMUS):
                known, translated = watch.within(READING, lambda: _litmus(known))
            else:
                program = watch.within(READING, lambda: load(file, front_end))
                known = replace(known, nodes=nodes or program.nodes or DEFAULT_NODES)
                known, translated = watch.within(PREPARING, lambda: _program_of_ranks(known, program, reading))
            found = watch.within(
                SEARCHING, lambda: decide(translated.program, asked, watch, translated.copies), looks=True
            )
            verdict: Verdict = "not robust" if found.violation else "unknown" if found.reason else "robust"
            known = replace(known, verdict=verdict, reason=found.reason, violation=found.violation, states=found.states)
        if stopped.reason is not None:
            known = replace(known, reason=stopped.reason)
    except SourceError as error:
        problems = tuple(error.diagnostics)
        known = replace(known, verdict="error", reason=NoProgram(problems[0].message), errors=problems)
    except Refused as refused:
        known = replace(
            refused.known if isinstance(refused, _RefusedHere) else known, verdict="refused", refusals=refused.refusals
        )
    return replace(known, seconds=time.monotonic() - started)


def _litmus(known: NetworkVerdict) -> tuple[NetworkVerdict, Translation]:
    test = parse_litmus(Path(known.file), DISK)
    program = test.program
    nodes = len({location.node for location in program.locations} | {thread.node for thread in program.threads})
    return replace(known, name=test.name, nodes=nodes, source=test.source, program=program), Translation(program)


def _program_of_ranks(
    known: NetworkVerdict, program: PgasProgram | CProgram, reading: Reading
) -> tuple[NetworkVerdict, Translation]:
    assert known.nodes is not None
    instance = program.instantiate(known.nodes, reading)
    of = instance.program
    resting = tuple(each for each in rests_on(instance, "", True) if each.kind not in NOT_OF_NETWORKS)
    known = replace(known, name=of.name, source=of.source, assumptions=resting, units=of.source.units)
    known = replace(known, ranks=True)
    asked = known.asked
    try:
        translated = translate(instance, asked.network, pcie=asked.pcie, placed=asked.placed)
    except Refused as refused:
        raise _RefusedHere(refused.refusals, known) from None
    known = replace(known, program=translated.program, remarks=translated.remarks, copies=translated.copies)
    return known, translated


class _RefusedHere(Refused):
    """Refused, with what is known by then."""

    def __init__(self, refusals: tuple[Refusal, ...], known: NetworkVerdict) -> None:
        super().__init__(refusals)
        self.known = known


def _compared(verdict: NetworkVerdict) -> NetworkVerdict:
    """With what the file says of itself."""
    try:
        expectation = read_expectation(read_text(verdict.file), verdict.file)
    except SourceError as error:
        return replace(verdict, compared=True, header_errors=tuple(error.diagnostics))
    expected = expectation.network_at(verdict.asked.line, verdict.nodes) if expectation else None
    return replace(verdict, compared=True, expected=expected)
