"""The JSON object of `pgasrob outcomes`, from which its text is written; the types below are its schema."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

from pgasrob.render.count_note_json import CountNote, count_note_to_json
from pgasrob.render.double_values import Double, value
from pgasrob.render.process_numbers import numbered
from pgasrob.render.run_json import Witness, witness_to_json
from pgasrob.render.shared_json import SCHEMA, Error, unicode_name
from pgasrob.semantics.endings import Ending, places

if TYPE_CHECKING:
    from pgasrob.program.instance import Instance
    from pgasrob.runs.outcomes import Outcome, Outcomes
    from pgasrob.semantics.computation import Computation


class Column(TypedDict):
    """A register of a rank or a cell: ``name`` is ``r@0`` or ``a[2]@1``."""

    name: str
    rank: int
    kind: Literal["register", "cell"]


class Failed(TypedDict):
    """An assertion that is false in a run."""

    rank: int
    line: int


class OutcomeRow(TypedDict):
    """An outcome: how its runs end, the values at their end by name, the assertions that fail in them.

    ``row`` counts from 1. ``sc_runs`` and ``network_runs`` say how many runs have it, null: not known; SC runs are
    among those on the network. ``network_only``: no SC run has it, null: not known. ``example`` is a shortest run, an
    SC run if there is one, and then without a cycle; null when it was not asked for.
    """

    row: int
    ending: Ending
    values: dict[str, int]
    failed: list[Failed]
    sc_runs: int | None
    network_runs: int | None
    network_only: bool | None
    example: Witness | None


class PossibleFault(TypedDict):
    """A command that cannot be evaluated in a state that some run passes (``in_sc``: some SC run, null: not known)."""

    rank: int
    line: int
    reason: str
    in_sc: bool | None


class OutcomesStats(TypedDict):
    sc_states: int
    network_states: int
    seconds: float


class OutcomesResult(TypedDict):
    """The outcomes of a program at one node count.

    ``complete``: all runs were seen, else ``reason`` says why not; ``sc_complete``: at least all SC runs. ``columns``
    are what ``values`` are of, some of the registers and cells when they were ``chosen``; ``doubles`` are those of
    which the values are the bits of doubles. ``network_only`` is how many outcomes are so, null when that is not known.
    ``left_out``: lines of commands at which a process may end instead, by an empty branch; runs that do so are not
    counted. ``polls``: whether `check` has reads that are no events when they fail; here all are. ``only_compares``:
    whether `check` reads some values only as far as they are compared; here they count. A text that is no
    program has ``errors`` and no nodes.
    """

    schema: int
    file: str
    program: str | None
    nodes: int | None
    engine: Literal["outcomes"]
    complete: bool
    sc_complete: bool
    reason: str | None
    chosen: bool
    columns: list[Column]
    doubles: list[str]
    outcomes: list[OutcomeRow]
    sc_runs: int | None
    network_runs: int | None
    network_only: int | None
    faults: list[PossibleFault]
    left_out: list[int]
    polls: bool | None
    only_compares: bool | None
    stats: OutcomesStats
    errors: list[Error]
    count_note: NotRequired[CountNote]


def outcomes_to_json(found: Outcomes, examples: Collection[int] | None = None) -> OutcomesResult:
    """``found`` as an object that `json.dumps` can write, with example runs for the rows ``examples`` (None: all)."""
    program = found.instance.program
    unknown = not found.complete or any(outcome.network_only is None for outcome in found.outcomes)
    result: OutcomesResult = {
        **no_outcomes(program.source.file, [], None if found.reason is None else str(found.reason)),
        "program": unicode_name(program.name),
        "nodes": found.instance.nodes,
        "complete": found.complete,
        "sc_complete": found.sc_complete,
        "chosen": len(found.places) < len(places(found.instance)),
        "columns": [
            {"name": place.name, "rank": place.rank, "kind": "cell"}
            if place.register is None
            else {"name": place.name, "rank": numbered(found.instance, place.rank), "kind": "register"}
            for place in found.places
        ],
        "doubles": [place.name for place in found.places if isinstance(value(place.name, 0, program.doubles), Double)],
        "outcomes": [
            _row(found, row, outcome, examples is None or row in examples)
            for row, outcome in enumerate(found.outcomes, 1)
        ],
        "sc_runs": found.sc_runs,
        "network_runs": found.network_runs,
        "network_only": None if unknown else len(found.network_only),
        "faults": [
            {
                "rank": numbered(found.instance, fault.rank),
                "line": fault.line,
                "reason": fault.reason,
                "in_sc": fault.in_sc,
            }
            for fault in found.faults
        ],
        "left_out": list(found.left_out),
        "polls": found.polls,
        "only_compares": found.only_compares,
        "stats": {
            "sc_states": found.sc_states,
            "network_states": found.network_states,
            "seconds": round(found.seconds, 4),
        },
    }
    if program.count_note:
        result["count_note"] = count_note_to_json(program.count_note)
    return result


def no_outcomes(file: str, errors: list[Error], reason: str | None = None) -> OutcomesResult:
    """The object of a text that is no program, or of a program whose outcomes cannot be listed."""
    return {
        "schema": SCHEMA,
        "file": unicode_name(file),
        "program": None,
        "nodes": None,
        "engine": "outcomes",
        "complete": False,
        "sc_complete": False,
        "reason": reason,
        "chosen": False,
        "columns": [],
        "doubles": [],
        "outcomes": [],
        "sc_runs": None,
        "network_runs": None,
        "network_only": None,
        "faults": [],
        "left_out": [],
        "polls": None,
        "only_compares": None,
        "stats": {"sc_states": 0, "network_states": 0, "seconds": 0.0},
        "errors": errors,
    }


def example_to_json(instance: Instance, computation: Computation) -> Witness:
    """A maximal run of ``instance`` as an object."""
    from pgasrob.runs.shown import shown

    witness = witness_to_json(shown(instance, computation))
    assert witness is not None
    return witness


def _row(found: Outcomes, row: int, outcome: Outcome, shown: bool) -> OutcomeRow:
    doubles = found.instance.program.doubles
    return {
        "row": row,
        "ending": outcome.ending,
        "values": {
            place.name: value(place.name, number, doubles)
            for place, number in zip(found.places, outcome.values, strict=True)
        },
        "failed": [{"rank": numbered(found.instance, each.rank), "line": each.line} for each in outcome.failed],
        "sc_runs": outcome.sc_runs,
        "network_runs": outcome.network_runs,
        "network_only": outcome.network_only,
        "example": example_to_json(found.instance, outcome.example) if shown else None,
    }
