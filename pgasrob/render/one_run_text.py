"""Makes the report of one run without a verdict: a simulated run, or the example of an outcome.

It says how the run was made, how it ends, its final values, and whether an SC run looks like it. All formats use these
sentences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from pgasrob.diagnostics import visible
from pgasrob.render import english, run_table, verdict_text, words
from pgasrob.render.lines import UNICODE, Glyphs, Line, headline, paragraph, paragraphs
from pgasrob.render.outcomes_text import LOWERED, final_values
from pgasrob.render.source_places import is_lowered

if TYPE_CHECKING:
    from pgasrob.render.one_run_json import RunResult, Simulation
    from pgasrob.render.run_json import Event, Witness
    from pgasrob.render.verdict_json import Result
    from pgasrob.semantics.endings import Ending

MOST_FAILING = 3
"""Failing assertions of which each has a sentence."""
USUAL_STEPS = 1_000
"""The events of a run at which `pgasrob run` cuts it by itself."""
ENDS: dict[Ending, tuple[str, str]] = {
    "ended": ("All ranks have ended.", ""),
    "exited": ("A rank ends the run of all; here the others have gone on as long as they could.", ""),
    "deadlock": ("The run ends in a deadlock.", "bad"),
    "stopped": ("The run ends before an assume that is false.", "open"),
    "fault": ("The run ends before a command that cannot be evaluated.", "bad"),
    "cut": ("The run was cut here: --steps sets how long it may be. What was pending has been completed.", "open"),
}
ENDINGS: dict[Ending, str] = {
    "ended": "",
    "exited": "that a rank ends for all",
    "deadlock": "that ends in a deadlock",
    "stopped": "that ends before an assume that is false",
    "fault": "that ends before a command that cannot be evaluated",
    "cut": "that was cut",
}
"""The clause about the ending in a title."""


def kind(result: Result) -> str:
    """The kind of run in ``result``, which has no verdict: ``a simulated run``, ``a run with outcome 2``."""
    run = cast("RunResult", result)
    if run.get("simulation"):
        return "a simulated run"
    outcome = run.get("outcome")
    return f"a run with outcome {outcome['row']}" if outcome else "a run"


def title(result: Result, witness: Witness) -> str:
    """A title for the run ``witness`` of ``result``: ``A simulated run (seed 3) that ends in a deadlock``."""
    if witness["shows"] != "run":
        return words.title(witness)
    run = cast("RunResult", result)
    simulation, outcome = run.get("simulation"), run.get("outcome")
    found = "A run"
    if simulation:
        sc = "SC " * (simulation["memory_model"] == "sc")
        found = f"A simulated {sc}run (seed {simulation['seed']})"
    elif outcome:
        found = "An SC run" if outcome["network_only"] is False else "A run on the network"
        found += f" with outcome {outcome['row']}"
    ending = ENDINGS[_ending(run)]
    clauses = ["that no SC run looks like"] * bool(witness["cycle"]) + [ending] * bool(ending)
    lines = sorted({event["line"] for event in witness["computation"] if event["holds"] is False})
    if len(lines) == 1:
        fails = f", in which the assertion in line {lines[0]} fails"
    else:
        fails = f", in which assertions fail in {english.ranks(lines).replace('rank', 'line', 1)}" if lines else ""
    return " ".join([found, *filter(None, [" and ".join(clauses)])]) + fails


def _ending(run: RunResult) -> Ending:
    """How the run ends; "ended" where that is not known."""
    how = run.get("simulation") or run.get("outcome")
    return how["ending"] if how else "ended"


def wrong(result: Result, witness: Witness) -> tuple[bool, bool]:
    """Whether an assertion fails in the run, and whether it ends in a deadlock."""
    fails = any(event["holds"] is False for event in witness["computation"])
    return fails, _ending(cast("RunResult", result)) == "deadlock"


def closing(result: Result, witness: Witness) -> list[tuple[str, str]]:
    """Sentences on how the run ends, which assertions fail in it, and its final values, with styles."""
    run = cast("RunResult", result)
    how = run.get("simulation") or run.get("outcome")
    found = [ENDS[_ending(run)]] if how else []
    failing = [place for place, event in enumerate(witness["computation"]) if event["holds"] is False]
    for place in failing[:MOST_FAILING]:
        event = witness["computation"][place]
        found.append(
            (f"The assertion of rank {event['rank']} in line {event['line']} fails (step {place + 1}).", "bad")
        )
    if len(failing) > MOST_FAILING:
        found.append((f"So do {len(failing) - MOST_FAILING} more.", "bad"))
    if not failing and any(event["holds"] for event in witness["computation"]):
        found.append(("Every assertion that it passes holds.", "good"))
    if run.get("simulation"):
        values, everything = (run["simulation"] or {"final": {}})["final"], True
    else:
        outcome = run.get("outcome")
        values, everything = (outcome["values"], not outcome["chosen"]) if outcome else ({}, True)
    if values:
        found.append((f"At its end {final_values(values, witness['nodes'], everything)}.", ""))
        registers = {name for name in values if name.rpartition("@")[0] in witness["registers"]}
        if is_lowered(result["file"]) and registers:
            found.append((LOWERED, "open"))
    return found


def likeness(result: Result, witness: Witness, cycle: str = "the cycle above") -> tuple[str, str] | None:
    """Whether an SC run looks like the run, with a style; None where it was simulated under SC, or is not known."""
    run = cast("RunResult", result)
    simulation = run.get("simulation")
    if simulation and simulation["memory_model"] == "sc":
        return None
    if witness["cycle"]:
        return f"No SC run looks like this one: its happens-before relation has {cycle}.", "bad"
    if witness["sequential"]:
        return (
            "It looks like an SC run, for its happens-before relation has no cycle: the same commands in another "
            "order, each with its steps directly behind it, read the same values and end in the same way.",
            "good",
        )
    if (simulation and simulation["sequential"]) or run.get("outcome"):
        return "It is an SC run: every step directly follows its issue.", "good"
    return None


def sentences(result: Result, witness: Witness) -> list[tuple[str, str]]:
    """The sentences about the run other than its events, for a page or a picture; empty for a run with a verdict."""
    if witness["shows"] != "run":
        return []
    simulation = cast("RunResult", result).get("simulation")
    found = closing(result, witness)
    like = likeness(result, witness, "a cycle")
    found += [like] if like else []
    return [*found, (again(simulation), "faint")] if simulation else found


def again(simulation: Simulation) -> str:
    """A sentence with the options of `pgasrob run` that give the run again."""
    options = ["--sc"] if simulation["memory_model"] == "sc" else []
    options.append(f"--seed {simulation['seed']}")
    if simulation["memory_model"] == "network" and simulation["bias"] != "even":
        options.append(f"--bias {simulation['bias']}")
    steps = simulation.get("steps", USUAL_STEPS)
    if steps != USUAL_STEPS:
        options.append(f"--steps {steps}")
    return f"{' '.join(options)} gives this run again."


def simulation_report(result: RunResult, width: int = 80, glyphs: Glyphs = UNICODE) -> list[Line]:
    """``result`` in lines of at most ``width`` characters: the run, how it ends, whether an SC run looks like it."""
    witness, simulation = result["witness"], result.get("simulation")
    file, nodes = visible(result["file"]), english.on_nodes(result["nodes"] or 0).lstrip()
    if witness is None:
        return paragraph(f"{file}: no run: {result['reason'] or 'the program has errors'}", width, "heading")
    drawn = cast("Result", result)  # a renderer of verdicts needs none to draw a run
    if simulation is None:
        what, heading = f"{kind(drawn)} {nodes}", title(drawn, witness)
    else:
        what = f"a run {'on the network' if simulation['memory_model'] == 'network' else 'under SC'} {nodes}"
        heading = "The run"
    lines = headline(f"{file}: ", [(what, "heading")], width)
    if simulation:
        lines += paragraph(again(simulation), width, "faint", "  ")
    lines += [[], *verdict_text.section(drawn, witness, width, glyphs, heading)]
    return [*lines, [], *paragraphs(closing(drawn, witness), width, ""), *_why(drawn, witness, width, glyphs)]


MOST_EVENTS = 200
"""Events of a run up to which the SC run that it looks like is shown, too."""


def _why(result: Result, witness: Witness, width: int, glyphs: Glyphs) -> list[Line]:
    """Lines about the SC run that it looks like, or the sentence that there is none."""
    like = likeness(result, witness)
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
    """The sentence on which steps of the run have another number in the SC run."""
    shown = [
        f"step {place + 1} is step {number} here"
        for number, (place, event) in enumerate(zip(places, events, strict=True), 1)
        if place + 1 != number and event["event"] in words.STEPS
    ]
    return f"Of the run above, {', '.join(shown[:8])}{', ...' * (len(shown) > 8)}." if shown else ""
