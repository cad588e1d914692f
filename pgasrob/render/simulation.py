"""A simulated run: its JSON object, and the readable report that is drawn from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from pgasrob.diagnostics import visible
from pgasrob.render import english, one_run, run_table, text, words
from pgasrob.render.doubles import shown
from pgasrob.render.json import SCHEMA, Error, RunResult, Witness, unicode_name
from pgasrob.render.lines import UNICODE, Glyphs, Line, headline, paragraph
from pgasrob.render.outcomes_json import example_to_json

if TYPE_CHECKING:
    from pgasrob.render.json import Event, Result
    from pgasrob.runs.simulate import Simulated


def simulated_to_json(simulated: Simulated, steps: int | None = None) -> RunResult:
    """``simulated``, which would have been cut after so many ``steps``, as an object that `json.dumps` can write."""
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
    file, nodes = visible(result["file"]), english.on_nodes(result["nodes"] or 0).lstrip()
    if witness is None:
        return paragraph(f"{file}: no run: {result['reason'] or 'the program has errors'}", width, "heading")
    drawn = cast("Result", result)  # a renderer of verdicts needs none to draw a run
    if simulation is None:
        what, title = f"{one_run.kind(drawn)} {nodes}", one_run.title(drawn, witness)
    else:
        what = f"a run {'on the network' if simulation['memory_model'] == 'network' else 'under SC'} {nodes}"
        title = "The run"
    lines = headline(f"{file}: ", [(what, "heading")], width)
    if simulation:
        lines += paragraph(one_run.again(simulation), width, "faint", "  ")
    lines += [[], *text.section(drawn, witness, width, glyphs, title)]
    lines.append([])
    for sentence, style in one_run.closing(drawn, witness):
        lines += paragraph(sentence, width, style)
    return lines + _why(drawn, witness, width, glyphs)


MOST_EVENTS = 200
"""Events of a run up to which the SC run that it looks like is shown, too."""


def _why(result: Result, witness: Witness, width: int, glyphs: Glyphs) -> list[Line]:
    """What has to do with SC: the SC run that it looks like, or that there is none."""
    like = one_run.likeness(result, witness)
    if like is None:
        return []
    lines = paragraph(like[0], width, like[1])
    order = witness["sequential"]
    if order is None or witness["cycle"]:
        return lines
    if len(order["events"]) > MOST_EVENTS:
        return lines + paragraph("It is not shown for its length; --format json has it.", width, "faint", "  ")
    reordered = cast("Witness", {**witness, "computation": order["events"], "cycle": None, "cycle_type": None})
    lines += [[], *paragraph("The SC run that it looks like:", width, "heading")]
    lines += run_table.table(reordered, width, glyphs)
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
