"""Finds what a robust program can leave out: each saving by itself, and the set of savings that saves most.

A set of savings that breaks the program is shrunk to a smallest one that does; one call of each such set has to stay.
The cheapest hitting set of these stays, and all other calls can go.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from pgasrob.program.assumptions import Assumption
from pgasrob.program.assumptions import output_order as assumed_of_output
from pgasrob.program.program import Program
from pgasrob.repairs.candidates import Costs
from pgasrob.repairs.cheapest import Cheapest
from pgasrob.repairs.output_order import OutputOrder
from pgasrob.repairs.savings import Saving, savings
from pgasrob.repairs.sc_outcomes import Same
from pgasrob.repairs.verifier import Parse, Tried, Verifier
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.verdict import RaceConsequences, Verdict
from pgasrob.stop_points import stop_point

if TYPE_CHECKING:
    from pgasrob.repairs.verifier import AnyProgram

MOST_CHECKS = 1_000
"""Changed programs that are tried at most."""
MANY = 1_000
State = Literal["thrifty", "can save", "not robust", "unknown", "error"]


@dataclass(frozen=True, slots=True)
class Judged:
    """A saving, and what the program is with it alone."""

    saving: Saving
    tried: Tried

    @property
    def is_safe(self) -> bool:
        return self.tried.violation is None and not self.tried.why


@dataclass(frozen=True, slots=True)
class Thrift:
    """The result: `thrifty` (no call can be left out), `can save`, or why no search took place.

    ``judged``: all savings one by one. ``together``: those that save most together, ``after`` the text with them, which
    is verified too; ``most``: whether no other set saves more. ``same``: how the SC outcomes compare. ``text``: the
    source. ``reason``: why the search ended early. ``assumptions``: those beside what verdicts rest on. ``races``: of
    a robust C program which matter, by node count.
    """

    state: State
    nodes: tuple[int, ...]
    verdicts: tuple[Verdict, ...]
    judged: tuple[Judged, ...] = ()
    together: tuple[Saving, ...] = ()
    after: str = ""
    most: bool = False
    same: Same | None = None
    checks: int = 0
    seconds: float = 0.0
    text: str = ""
    reason: str = ""
    assumptions: tuple[Assumption, ...] = ()
    races: tuple[RaceConsequences, ...] = ()

    @property
    def saved(self) -> int:
        return sum(each.saves for each in self.together)


def thrift(
    program: AnyProgram,
    parse: Parse,
    nodes: Sequence[int],
    costs: Costs | None = None,
    limits: Limits | None = None,
    output_order: OutputOrder = "kept",
) -> Thrift:
    """What can be left out of ``program``, which ``parse`` has read, verified on each of ``nodes``. ``output_order``:
    whether the output of all ranks to one terminal keeps its order."""
    started = time.monotonic()
    verifier = Verifier(program, parse, nodes, limits or Limits(), MOST_CHECKS, output_order)
    found = _Search(verifier, costs or Costs()).run()
    # The core language has neither files nor output.
    is_robust = all(each.verdict == "robust" for each in found.verdicts)
    races = verifier.races if is_robust and not isinstance(program, Program) else ()
    assumed = () if isinstance(program, Program) else (assumed_of_output(output_order == "free"),)
    return replace(
        found,
        assumptions=assumed,
        races=races,
        checks=verifier.checks,
        seconds=time.monotonic() - started,
        text=verifier.statements.text,
    )


class _Search:
    def __init__(self, verifier: Verifier, costs: Costs) -> None:
        self._verifier, self._costs = verifier, costs

    def run(self) -> Thrift:
        verdicts = self._verifier.verdicts
        nothing = Thrift("unknown", self._verifier.nodes, verdicts)
        for state in ("error", "not robust", "unknown"):
            first = next((each for each in verdicts if each.verdict == state), None)
            if first is not None:
                return replace(nothing, state=state, reason=self._verifier.unknown or str(first.reason or ""))
        judged: list[Judged] = []
        for saving in savings(self._verifier.statements, self._costs):
            if limit := self._verifier.limit:
                return replace(nothing, judged=tuple(judged), reason=limit)
            judged.append(Judged(saving, self._try((saving,))))
        safe = [each.saving for each in judged if each.is_safe]
        found = replace(nothing, state="can save" if safe else "thrifty", judged=tuple(judged))
        return self._together(found, safe) if safe else replace(found, most=True)

    def _together(self, found: Thrift, safe: list[Saving]) -> Thrift:
        """The set of ``safe`` savings that saves most and keeps the program robust."""
        stay: Cheapest[Saving] = Cheapest()
        # Of two sets that save the same, prefer the one that leaves out more calls.
        for each in safe:
            stay.add(each, max(each.saves, 1) * MANY + (1 if each.instead else 10))
        for one, other in combinations(safe, 2):
            if any(edit.start < each.end and each.start < edit.end for edit in one.edits for each in other.edits):
                stay.demand((one, other))
        while True:
            stop_point()
            try:
                kept = frozenset(stay.next(self._verifier.seconds_left) or ())
            except TimeoutError:
                return self._greedy(found, safe, self._verifier.limit)
            chosen = tuple(each for each in safe if each not in kept)
            tried = self._try(chosen)
            if tried.violation is None and not tried.why:
                return replace(found, together=chosen, after=tried.text, most=True, same=tried.same)
            if limit := self._verifier.limit:
                return self._greedy(found, safe, limit)
            too_much = self._smallest(chosen)
            stay.demand(too_much)

    def _smallest(self, chosen: Collection[Saving]) -> list[Saving]:
        """A smallest subset of ``chosen`` that breaks the program, as ``chosen`` does."""
        left = list(chosen)
        for each in chosen:
            fewer = [other for other in left if other is not each]
            if self._verifier.limit:
                break
            tried = self._try(fewer)
            if tried.violation is not None or tried.why:
                left = fewer
        return left

    def _greedy(self, found: Thrift, safe: list[Saving], reason: str) -> Thrift:
        """The best single saving, the answer when time is up."""
        best = max(safe, key=lambda each: each.saves)
        tried = next(each.tried for each in found.judged if each.saving == best)
        return replace(found, together=(best,), after=tried.text, same=tried.same, reason=reason)

    def _try(self, chosen: Collection[Saving]) -> Tried:
        edits = [edit for each in chosen for edit in each.edits]
        acts_in_sc = any(each.acts_in_sc for each in chosen)
        return self._verifier.tried(edits, acts_in_sc, loosens="all runs" if acts_in_sc else "network")
