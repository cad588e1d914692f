"""The status of a program: of all its executions (section 3.1: "all possible executions")."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pgasrob.diagnostics import SourceError
from pgasrob.races.mpi.execution import NotCovered, execution_of
from pgasrob.races.mpi.findings import MemoryModel, Misuse, ModelRace
from pgasrob.races.mpi.status import Drawn, judge
from pgasrob.races.mpi.verdict import ModelVerdict, Status
from pgasrob.robustness.traces.exploration import Exploration
from pgasrob.semantics.sequential import SequentialSpace, SequentialState

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram

MOST_EVENTS = 2_000
"""Of an execution; one that goes on is taken to have no end."""
MOST_EXECUTIONS = 10_000


def decide(
    program: CProgram,
    model: MemoryModel,
    nodes: int | None = None,
    *,
    all: bool = False,
    timeout: float | None = None,
    without: frozenset[str] = frozenset(),
) -> ModelVerdict:
    """The status of ``program``, which is in C and uses MPI, on ``nodes`` nodes in ``model``.

    ``all``: find all races, not only those of the first execution that has some. ``timeout``: seconds. ``without``:
    names of rules to leave out. What the model does not cover gives `unknown` with the reason, and a program that is
    none gives `error`; nothing is raised.
    """
    file = program.source.file
    try:
        marked = program.marked(nodes)
        instance = marked.instantiate(marked.nodes)
    except SourceError as error:
        return ModelVerdict(file, program.name, nodes, model, "error", errors=tuple(error.diagnostics))
    exposed = {
        (window, rank): frozenset(rank * instance.size + cell for cell in cells)
        for (window, rank), cells in marked.exposed.items()
    }
    begun = time.monotonic()
    races: dict[object, ModelRace] = {}
    misuses: dict[object, Misuse] = {}
    eventual, shown, last, count = False, None, None, 0
    space = SequentialSpace(instance)

    def verdict(status: Status, reason: str | None = None) -> ModelVerdict:
        drawn: Drawn | None = shown or last
        return ModelVerdict(
            file, marked.name, marked.nodes, model, status, tuple(races.values()), tuple(misuses.values()), drawn,
            count, reason, assumptions=marked.assumptions,
        )  # fmt: skip

    if not exposed:
        return verdict("unknown", "no window of MPI is made")
    exploration = Exploration(instance)
    for trace in exploration.run():
        reason = None
        if exploration.faults:
            rank, transition, fault, _ = exploration.faults[0]
            reason = f"rank {rank} faults in line {transition.span.line}: {fault}"
        elif exploration.gave_up or exploration.length > MOST_EVENTS or count >= MOST_EXECUTIONS:
            reason = f"there are more than {MOST_EXECUTIONS:,} executions, or some of more than {MOST_EVENTS:,} events"
        elif timeout is not None and time.monotonic() - begun > timeout:
            reason = f"the time is up ({timeout:g} s)"
        if reason is not None:
            return verdict("undefined" if races or misuses else "unknown", reason)
        if trace is None:
            continue
        ended, waits = _end(space, exploration.state)
        if not ended and not waits:
            continue
        if space.is_deadlock(exploration.state):
            return verdict("undefined" if races or misuses else "unknown", "the ranks can wait for each other for ever")
        count += 1
        try:
            last = judge(execution_of(instance, trace.events), model, exposed, without, ended=ended)
        except NotCovered as what:
            return verdict("unknown", f"line {what.span.line}: the model does not cover {what.what}; {what.hint}")
        eventual = eventual or bool(last.eventual)
        for race in last.races:
            races.setdefault(_places(race), race)
        for misuse in last.misuses:
            misuses.setdefault((misuse.span, misuse.message), misuse)
        if (races or misuses) and shown is None:
            shown = last
            if not all:
                break
    if races or misuses:
        return verdict("undefined")
    if marked.gaps:
        return verdict("unknown", marked.gaps[0])
    return verdict("eventual" if eventual else "defined")


def _end(space: SequentialSpace, state: SequentialState) -> tuple[bool, bool]:
    """Whether all ranks have ended, and whether those that have not wait or poll: else a guess of the front end was
    wrong, and there is no such execution."""
    automata = space.instance.automata
    left = [leaving for at, of in zip(state.control, automata, strict=True) if (leaving := of.out[at])]
    return not left, all(any(each.command.kind != "assume" for each in leaving) for leaving in left)


def _places(race: ModelRace) -> object:
    return frozenset((each.span, each.kind, bool(each.writes)) for each in (race.first, race.second))
