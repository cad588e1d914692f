"""Robustness on processors with store buffers: `pgasrob check --cpu tso`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pgasrob.analysis.store_buffers import named, store_buffers
from pgasrob.models.store_buffers.run import written_down
from pgasrob.models.store_buffers.search import BufferedSearch
from pgasrob.program.assumptions import Assumption, Kind
from pgasrob.program.program import Program
from pgasrob.program.reading import DEFAULT_READING, Conflicts, FailedPolls, Reading
from pgasrob.robustness.check import PREPARING, Interrupted, check, out_of_memory
from pgasrob.robustness.engines import DEFAULT_ENGINE
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.reasons import InternalError, Interruption, Reason
from pgasrob.robustness.verdict import OnTso, Verdict
from pgasrob.robustness.watch import LimitReached, Watch

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.program.instance import Instance
    from pgasrob.robustness.traces.parts import Found

SEARCHING = "while searching runs with store buffers"
PROCESSOR = "x86"


def check_on_tso(
    program: Program | CProgram,
    nodes: int | None = None,
    engine: str = DEFAULT_ENGINE,
    limits: Limits | None = None,
    *,
    heads: int | None = None,
    reductions: tuple[str, ...] | None = None,
    threads: int | None = None,
    failed_polls: FailedPolls = DEFAULT_READING.failed_polls,
    conflicts: Conflicts = DEFAULT_READING.conflicts,
    found: Sequence[Found] = (),
    effect: bool = True,
    watch: Watch | None = None,
    instance: Instance | None = None,
) -> Verdict:
    """Decide whether ``program`` is robust where each rank's processor has a store buffer, as those of x86 have.

    The parameters are those of :func:`~pgasrob.robustness.check.check`, which decides first: a run without store
    buffers is one with store buffers that are never used, so what is not robust without is not robust. Then it is asked
    whether some load may overtake a store (`analysis.store_buffers`): if none may, the verdict holds as it is. Else all
    runs with store buffers are searched; a limit that is hit gives `unknown`.
    """
    watch = watch or Watch(limits or Limits(), None, time.monotonic())
    verdict = check(
        program, nodes, engine, heads=heads, reductions=reductions, threads=threads, failed_polls=failed_polls,
        conflicts=conflicts, found=found, effect=effect, watch=watch, instance=instance,
    )  # fmt: skip
    if verdict.assumptions:
        with_buffers = Assumption(Kind.PROGRAM_ORDER, (PROCESSOR,))
        verdict = replace(
            verdict,
            assumptions=tuple(
                with_buffers if each.kind is Kind.PROGRAM_ORDER else each for each in verdict.assumptions
            ),
        )
    if verdict.verdict != "robust":
        return verdict
    search: _Search | None = None
    try:
        whole = instance or watch.within(
            PREPARING, lambda: program.instantiate(nodes, Reading(failed_polls, conflicts))
        )
        search = _Search(whole)
        verdict = watch.within(SEARCHING, lambda: search.decide(verdict, watch))
    except LimitReached as limit:
        verdict = _open(verdict, limit.reason, search)
    except MemoryError as error:
        verdict = _open(verdict, out_of_memory(error, watch), search)
    except KeyboardInterrupt:
        raise Interrupted(_timed(_open(verdict, Interruption(), search), watch)) from None
    return _timed(verdict, watch)


def _timed(verdict: Verdict, watch: Watch) -> Verdict:
    """``verdict`` with the seconds of both decisions."""
    return replace(verdict, stats=replace(verdict.stats, seconds=time.monotonic() - watch.started))


class _Search:
    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self.on_tso = OnTso()

    def decide(self, verdict: Verdict, watch: Watch) -> Verdict:
        """``verdict``, which is `robust`, with store buffers."""
        known = store_buffers(self._instance)
        pairs = named(known.pairs, self._instance)
        self.on_tso = OnTso(pairs)
        if not pairs:
            return replace(verdict, on_tso=self.on_tso)
        search = BufferedSearch(self._instance, known)
        for _ in search.run():
            self.on_tso = OnTso(pairs, search.states)
            watch.look_around("store buffers", search.states)
        self.on_tso = OnTso(pairs, search.states)
        if search.found is None:
            return (
                replace(verdict, on_tso=self.on_tso) if search.gave_up is None else _open(verdict, search.gave_up, self)
            )
        run = written_down(self._instance, known, search.found)
        if run is None:
            return _open(verdict, InternalError("store buffers", "has no cycle"), self)
        assumptions = tuple(
            each for each in verdict.assumptions if each.kind.shapes_runs or each.kind is Kind.PROGRAM_ORDER
        )
        return replace(
            verdict,
            verdict="not robust",
            reason=None,
            hardware=None,
            on_tso=replace(self.on_tso, run=run),
            assumptions=assumptions,
        )


def _open(verdict: Verdict, reason: Reason, search: _Search | None) -> Verdict:
    """Not known with store buffers, for a ``reason``."""
    return replace(
        verdict,
        verdict="unknown",
        reason=reason,
        assumptions=(),
        hardware=None,
        on_tso=None if search is None else search.on_tso,
    )
