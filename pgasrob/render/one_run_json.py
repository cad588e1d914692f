"""The JSON object of one run without a verdict: a simulated run, or the example of an outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

from pgasrob.render.count_note_json import CountNote, count_note_to_json
from pgasrob.render.double_values import shown
from pgasrob.render.outcomes_json import OutcomesResult, example_to_json
from pgasrob.render.run_json import Witness
from pgasrob.render.shared_json import SCHEMA, Error, Stats, unicode_name

if TYPE_CHECKING:
    from pgasrob.runs.simulate import Bias, Simulated
    from pgasrob.semantics.endings import Ending


class Simulation(TypedDict):
    """How a run was simulated, and how it ended.

    ``seed``, ``bias`` and ``steps``, at which it would have been cut, make the same run again. ``sequential``: whether
    the run is an SC run, event by event. ``final`` has the values of all registers and cells at the end, as ``r@0`` and
    ``a[2]@1``.
    """

    memory_model: Literal["network", "sc"]
    seed: int
    bias: Bias
    ending: Ending
    events: int
    sequential: bool
    final: dict[str, int]
    steps: NotRequired[int]


class Example(TypedDict):
    """The outcome whose example a run is, as :class:`~pgasrob.render.outcomes_json.OutcomeRow` has it.

    ``chosen``: ``values`` has some of the registers and cells alone.
    """

    row: int
    ending: Ending
    values: dict[str, int]
    chosen: bool
    network_only: bool | None


class RunResult(TypedDict):
    """One run, in the form of a :class:`Result` so that it can be drawn like one.

    It has no verdict: one run says nothing of the others. ``witness`` shows "run", and has a ``cycle`` when no SC run
    looks like it. ``simulation`` is null, and ``outcome`` is there, for the example of an outcome.
    """

    schema: int
    file: str
    program: str | None
    nodes: int | None
    engine: Literal["run"]
    verdict: None
    reason: str | None
    assertions: None
    deadlock: None
    communicates: None
    stats: Stats
    witness: Witness | None
    assertion_run: None
    deadlock_run: None
    errors: list[Error]
    simulation: Simulation | None
    outcome: NotRequired[Example | None]
    count_note: NotRequired[CountNote]


def simulated_to_json(simulated: Simulated, steps: int | None = None) -> RunResult:
    """``simulated`` as an object that `json.dumps` can write; ``steps``: where the run would have been cut."""
    from pgasrob.semantics.endings import places

    run = simulated.run
    program = run.instance.program
    found = no_run(program.source.file, [])
    found["program"] = unicode_name(program.name)
    found["nodes"] = run.instance.nodes
    found["witness"] = example_to_json(run.instance, run.computation)
    found["simulation"] = {
        "memory_model": "network" if simulated.network else "sc",
        "seed": simulated.seed,
        "bias": simulated.bias,
        "ending": simulated.ending,
        "events": len(run.events),
        "sequential": simulated.is_sequential,
        "final": shown(
            {place.name: place.value(run.registers, run.memory) for place in places(run.instance)}, program.doubles
        ),
    }
    if steps is not None and found["simulation"]:
        found["simulation"]["steps"] = steps
    if program.count_note:
        found["count_note"] = count_note_to_json(program.count_note)
    return found


def no_run(file: str, errors: list[Error], reason: str | None = None) -> RunResult:
    """The object of a text that is no program, or of a search that has not found the run that was wanted."""
    return {
        "schema": SCHEMA,
        "file": unicode_name(file),
        "program": None,
        "nodes": None,
        "engine": "run",
        "verdict": None,
        "reason": reason,
        "assertions": None,
        "deadlock": None,
        "communicates": None,
        "stats": {"states": 0, "transitions": 0, "seconds": 0.0, "sc_states": 0},
        "witness": None,
        "assertion_run": None,
        "deadlock_run": None,
        "errors": errors,
        "simulation": None,
    }


def example_result(result: OutcomesResult, row: int) -> RunResult:
    """The example of ``row`` by itself, to be drawn."""
    drawn = no_run(result["file"], [])
    drawn["program"], drawn["nodes"] = result["program"], result["nodes"]
    outcome = result["outcomes"][row - 1]
    drawn["witness"] = outcome["example"]
    drawn["outcome"] = {
        "row": row,
        "ending": outcome["ending"],
        "values": outcome["values"],
        "chosen": result["chosen"],
        "network_only": outcome["network_only"],
    }
    return drawn
