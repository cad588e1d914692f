"""A simulated run: its JSON object, and the readable report that is drawn from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict, cast

from pgasrob.diagnostics import visible
from pgasrob.render import text, words
from pgasrob.render.json import SCHEMA, Error, Witness, unicode_name
from pgasrob.render.lines import UNICODE, Glyphs, Line, paragraph
from pgasrob.render.outcomes import final_values
from pgasrob.render.outcomes_json import example_to_json

if TYPE_CHECKING:
    from pgasrob.render.json import Event, Result
    from pgasrob.semantics.endings import Ending
    from pgasrob.semantics.simulate import Bias, Simulated


class Simulation(TypedDict):
    """How a run was simulated, and how it ended.

    ``seed`` and ``bias`` make the same run again. ``sequential``: whether the run is an SC run, event by event.
    ``final`` has the values of all registers and cells at the end, as ``r@0`` and ``a[2]@1``.
    """

    memory_model: Literal["network", "sc"]
    seed: int
    bias: Bias
    ending: Ending
    events: int
    sequential: bool
    final: dict[str, int]


class RunResult(TypedDict):
    """A simulated run, in the form of a :class:`~pgasrob.render.json.Result` so that it can be drawn like one.

    It has no verdict: one run says nothing of the others. ``witness`` shows "run", and has a ``cycle`` when no SC run
    looks like it.
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
    stats: dict[str, float]
    witness: Witness | None
    assertion_run: None
    deadlock_run: None
    errors: list[Error]
    simulation: Simulation | None


def simulated_to_json(simulated: Simulated) -> RunResult:
    """``simulated`` as an object that `json.dumps` can write."""
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
        "final": {place.name: place.value(run.registers, run.memory) for place in places(run.instance)},
    }
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


def simulation_report(result: RunResult, width: int = 80, glyphs: Glyphs = UNICODE) -> list[Line]:
    """``result`` in lines of at most ``width`` characters: the run, how it ends, whether an SC run looks like it."""
    witness, simulation = result["witness"], result.get("simulation")
    count = result["nodes"] or 0
    file, nodes = visible(result["file"]), f"on {count} node{'s' * (count != 1)}"
    if witness is None:
        return paragraph(f"{file}: no run: {result['reason'] or 'the program has errors'}", width, "heading")
    if simulation is None:  # the example of an outcome
        return [[(f"{file}: a run {nodes}", "heading")], [], *text.section(_drawn(result), witness, width, glyphs)]
    where = "on the network" if simulation["memory_model"] == "network" else "under SC"
    lines: list[Line] = [[(f"{file}: a run {where} {nodes}", "heading")]]
    lines += [*paragraph(_again(simulation), width, "faint", "  "), []]
    lines += text.section(_drawn(result), witness, width, glyphs, "The run")
    lines.append([])
    for sentence, style in _end(witness, simulation, count):
        lines += paragraph(sentence, width, style)
    return lines + _why(witness, simulation, width, glyphs)


def _drawn(result: RunResult) -> Result:
    """``result`` for a renderer of verdicts, which needs none to draw a run."""
    return cast("Result", result)


def _again(simulation: Simulation) -> str:
    options = f"--seed {simulation['seed']}"
    if simulation["memory_model"] == "network" and simulation["bias"] != "even":
        options += f" --bias {simulation['bias']}"
    return f"{options} gives this run again."


MOST_EVENTS = 200
"""Events of a run up to which the SC run that it looks like is shown, too."""
ENDS = {
    "ended": ("All ranks have ended.", ""),
    "deadlock": ("The run ends in a deadlock.", "bad"),
    "stopped": ("The run ends before an assume that is false.", "open"),
    "fault": ("The run ends before a command that cannot be evaluated.", "bad"),
    "cut": ("The run was cut here: --steps sets how long it may be. What was pending has been completed.", "open"),
}


def _end(witness: Witness, simulation: Simulation, nodes: int) -> list[tuple[str, str]]:
    """How the run ends, what it leaves, and which assertions fail in it."""
    found = [ENDS[simulation["ending"]]]
    failing = [place for place, event in enumerate(witness["computation"]) if event["holds"] is False]
    for place in failing[:3]:
        event = witness["computation"][place]
        found.append(
            (f"The assertion of rank {event['rank']} in line {event['line']} fails (step {place + 1}).", "bad")
        )
    if len(failing) > 3:
        found.append((f"So do {len(failing) - 3} more.", "bad"))
    if not failing and any(event["holds"] for event in witness["computation"]):
        found.append(("Every assertion that it passes holds.", "good"))
    if simulation["final"]:
        found.append((f"At its end {final_values(simulation['final'], nodes, True)}.", ""))
    return found


def _why(witness: Witness, simulation: Simulation, width: int, glyphs: Glyphs) -> list[Line]:
    """What has to do with SC: the SC run that it looks like, or that there is none."""
    if simulation["memory_model"] == "sc":
        return []
    if witness["cycle"]:
        return paragraph(
            "No SC run looks like this one: its happens-before relation has the cycle above.", width, "bad"
        )
    if simulation["sequential"]:
        return paragraph("It is an SC run: every step directly follows its issue.", width, "good")
    lines = paragraph(
        "It looks like an SC run, for its happens-before relation has no cycle: the same commands in another "
        "order, each with its steps directly behind it, read the same values and end in the same way.",
        width,
        "good",
    )
    order = witness["sequential"]
    if order is None:
        return lines
    if len(order["events"]) > MOST_EVENTS:
        return lines + paragraph("It is not shown for its length; --format json has it.", width, "faint", "  ")
    like = cast("Witness", {**witness, "computation": order["events"], "cycle": None, "cycle_type": None})
    lines += [[], *paragraph("The SC run that it looks like:", width, "heading")]
    lines += text.table(like, width, glyphs)
    moved = _moved(order["places"], order["events"])
    return lines + (paragraph(moved, width, "faint", "  ") if moved else [])


def _moved(places: list[int], events: list[Event]) -> str:
    """Which steps of the run stand where here."""
    shown = [
        f"step {place + 1} is step {number} here"
        for number, (place, event) in enumerate(zip(places, events, strict=True), 1)
        if place + 1 != number and event["event"] in words.STEPS
    ]
    return f"Of the run above, {', '.join(shown[:8])}{', ...' * (len(shown) > 8)}." if shown else ""
