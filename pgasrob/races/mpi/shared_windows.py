"""Finds loads and stores in shared windows between which MPI_Win_sync is missing, for the one answer of `check`.

Of two ranks that load and store in a window of MPI_Win_allocate_shared, one behind the other by a barrier, message or
flag, the later one sees what the earlier one has done only where both have synchronised on the window in between
(MPI-4.1, 12.2.3 and 12.5.4). What nothing orders is a race, and found as such.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pgasrob.frontends.apis.mpi.rules import WINDOW_SYNC
from pgasrob.program.assumptions import Kind
from pgasrob.program.illegal_calls import IllegalCall, Opened
from pgasrob.program.reading import DEFAULT_READING
from pgasrob.races.mpi.actions import Action, Execution, ModelRace
from pgasrob.races.mpi.consistency import Orders
from pgasrob.races.mpi.decide import exposed_cells
from pgasrob.races.mpi.execution import NotCovered
from pgasrob.races.mpi.executions import GaveUp, executions
from pgasrob.races.mpi.judgement import without_sync
from pgasrob.races.races_on_counts import LAST_COUNT
from pgasrob.robustness.moves import Rerun, in_two_parts
from pgasrob.robustness.reasons import LeftUndone, Reason, RunsLeftOut, WindowsLeft
from pgasrob.robustness.session import Session
from pgasrob.robustness.verdict import FoundIllegalCall, Verdict, Witness
from pgasrob.semantics.computation import Computation
from pgasrob.semantics.replay import replay

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.program.instance import Instance

LOOKING = "while looking for a missing MPI_Win_sync"
MOST_EXECUTIONS = 1_000
"""So many are looked at: what is missing shows in the first one, and barriers of parts of the ranks give thousands that
differ in nothing but who comes first."""


def with_missing_syncs(session: Session, program: CProgram, counts: Sequence[int], verdict: Verdict) -> Verdict:
    """``verdict`` about ``program``, with the places where MPI_Win_sync is missing on ``counts`` as illegal calls.

    Where all executions were looked at and it is missing nowhere the answer does not rest on `Kind.WINDOW_SYNC` any
    more; where a limit has ended that it is open whether all calls are legal. Of what the memory model does not cover,
    of numbers of nodes that were not looked at, and where there are too many executions, the assumption is left; the
    last of these is said.
    """
    for nodes in counts:
        if verdict.every is not None and nodes > LAST_COUNT:
            break
        looked = _Looked(session, program, nodes)
        ended = session.ended((LOOKING, looked.look)) or looked.ended
        verdict = _with_found(verdict, looked, ended)
        if looked.found:
            break
    return verdict


def _with_found(verdict: Verdict, looked: _Looked, ended: Reason | None) -> Verdict:
    calls = (*verdict.illegal_calls, *looked.found.values())
    if looked.found:
        places = sorted(calls, key=lambda each: (each.call.span.line, each.call.span.column, each.call.rule.code))
        return replace(verdict, legal="no", illegal_calls=tuple(places))
    if ended is not None:
        left = verdict.reason or LeftUndone("it is open whether MPI_Win_sync is missing", ended)
        return replace(verdict, legal="no" if verdict.legal == "no" else "unknown", reason=left)
    if looked.left is not None:
        left = LeftUndone("MPI_Win_sync may be missing where nobody has looked (window-sync is assumed)", looked.left)
        return replace(verdict, reason=verdict.reason or left)
    if looked.covered and verdict.every is None:
        kept = tuple(each for each in verdict.assumptions if each.kind != Kind.WINDOW_SYNC)
        return replace(verdict, assumptions=kept)
    return verdict


class _Looked:
    """What the executions of ``program`` on ``nodes`` nodes have shown: one finding for each place.

    ``covered``: whether the model covers what they do; ``left``: why not all were looked at; ``ended``: why there may
    be others.
    """

    def __init__(self, session: Session, program: CProgram, nodes: int) -> None:
        self._session, self._program, self._nodes = session, program, nodes
        self.found: dict[IllegalCall, FoundIllegalCall] = {}
        self.covered = True
        self.left: Reason | None = None
        self.ended: Reason | None = None

    def look(self) -> None:
        """Look at all executions."""
        marked = self._program.marked(self._nodes)
        instance, count = marked.instantiate(self._nodes, DEFAULT_READING.by_value), 0
        exposed = exposed_cells(instance)
        try:
            for execution in executions(instance, stuck=True):
                count += 1
                if count > MOST_EXECUTIONS:
                    raise GaveUp(f"there are more than {MOST_EXECUTIONS:,}")
                self._session.watch.look_around("executions", 0, f"looking at execution {count}")
                orders = Orders(execution, "unified")
                # A store that may not be seen says more than a load before a store.
                for race in sorted(without_sync(execution, orders, exposed), key=lambda race: not race.first.writes):
                    self._note(instance, orders, race)
        except GaveUp as why:
            self.left = WindowsLeft(str(why))
        except NotCovered:
            self.covered = False
        if self.ended is None and marked.gaps:
            self.ended = RunsLeftOut(marked.gaps)

    def _note(self, instance: Instance, orders: Orders, race: ModelRace) -> None:
        one, other = race.actions
        sides = tuple(_missing(orders, one, other))
        cell = instance.cell_name(min(one.cells & other.cells))
        did = "stored" if one.writes else "loaded"
        earlier, later = ("store" if each.writes else "load" for each in (one, other))
        of_which = f"a {later} {'to' if other.writes else 'of'} {cell}, which rank {one.rank} has {did}"
        places = {BEHIND: f"behind the {earlier}", BEFORE: f"before the {later}", BETWEEN: "in between"}
        lines = {
            BEHIND: f"behind line {one.span.line}",
            BEFORE: f"before line {other.span.line}",
            BETWEEN: "in between",
        }
        sentence = f"{of_which}, without MPI_Win_sync {' and '.join(places[side] for side in sides)}"
        remedy = f"call MPI_Win_sync {' and '.join(lines[side] for side in sides)}, {ORDERED_SO[sides]}"
        call = IllegalCall(WINDOW_SYNC, other.span, sentence, Opened(earlier, one.span), remedy)
        if call not in self.found:
            run = Witness("illegal call", replay(instance, _run_to(instance, orders.execution, other)))
            self.found[call] = FoundIllegalCall(call, other.rank, run)


Side = Literal["behind", "before", "between"]
BEHIND: Side = "behind"
BEFORE: Side = "before"
BETWEEN: Side = "between"
ORDERED_SO: dict[tuple[Side, ...], str] = {
    (BEHIND, BEFORE): "with what orders the two in between",
    (BEHIND,): "before what orders the two",
    (BEFORE,): "behind what orders the two",
    (BETWEEN,): "on both sides of what orders the two",
}


def _missing(orders: Orders, one: Action, other: Action) -> Iterator[Side]:
    """On which sides of what orders them ``one`` and ``other`` are not followed, or led up to, by a call that
    synchronises on the window."""
    calls = orders.execution.synchronisations
    behind = any(
        call.rank == one.rank and orders.co[one.number] >> call.begin & 1 and orders.before(call.done, other.number)
        for call in calls
    )
    before = any(
        call.rank == other.rank
        and orders.co[call.done] >> other.number & 1
        and orders.before(one.number, call.actions[-1])
        for call in calls
    )
    if not behind:
        yield BEHIND
    if not before:
        yield BEFORE
    if behind and before:
        yield BETWEEN


def _run_to(instance: Instance, execution: Execution, action: Action) -> Computation:
    """The run up to the command that makes ``action``."""
    end = next(place for place, actions in enumerate(execution.until) if actions > action.number)
    return in_two_parts(Rerun(instance).words(execution.moves[: end + 1]))[0]
