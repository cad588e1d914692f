"""What the nodes and edges of a run's happens-before graph say, for the renderers that leave the layout to others."""

from __future__ import annotations

from pgasrob.diagnostics import visible
from pgasrob.render import english, one_run, words
from pgasrob.render.diagram.folding import Fold, told
from pgasrob.render.diagram.layout import ranks_of
from pgasrob.render.diagram.model import shown
from pgasrob.render.diagram.rows import lane_of
from pgasrob.render.run_json import Edge, Event, Witness
from pgasrob.render.run_table import NEXT
from pgasrob.render.verdict_json import Result


class NoRun(ValueError):
    """There is no run to draw."""


def witness_of(result: Result) -> Witness:
    """The run to draw. Raises :class:`NoRun` where there is none."""
    witness = shown(result)
    if witness is None:
        raise NoRun("there is no run to draw")
    return witness


def label(place: int, witness: Witness) -> list[str]:
    """The lines that an event is shown by: its number and command, what it did, where it stands or whose it is.

    What would not show is made visible; no line holds a newline.
    """
    return [visible(line) for line in _label(place, witness["computation"])]


def _label(place: int, computation: list[Event]) -> list[str]:
    event = computation[place]
    effects = words.effects(event)
    number = NEXT if "access" in event else str(place + 1)
    if event["event"] in words.STEPS:
        name, issue = words.step_name(place, computation), words.issue_of(place, computation)
        return [f"{number}: {name}", *effects, f"of step {issue + 1}"]
    where = [f"line {event['line']}"] if event["line"] else []
    return [f"{number}: {event['command']}", *effects, *where]


def by_lane(witness: Witness, folded: Fold) -> dict[int, list[int]]:
    """The places of the events in the lane of each rank, in the order of the run: the lanes of the diagram."""
    ranks = ranks_of(witness, folded)
    found: dict[int, list[int]] = {rank: [] for rank in ranks}
    lanes = {rank: lane for lane, rank in enumerate(ranks)}
    for place in sorted(folded.kept):
        found[ranks[lane_of(witness["computation"][place], lanes)]].append(place)
    return found


def bands(witness: Witness, folded: Fold) -> list[tuple[str, int | None, int | None]]:
    """What is said of each band, and the places of the events before and behind it."""
    groups = folded.groups
    return [
        (
            told(band, witness["computation"]),
            groups[index - 1][-1] if index else None,
            groups[index + 1][0] if index + 1 < len(groups) else None,
        )
        for index, band in enumerate(groups)
        if band in folded.bands
    ]


def ends(witness: Witness) -> dict[int, list[str]]:
    """How ranks end, where that is what the run shows: the command that faults and why, or what each rank waits for."""
    fault = witness["fault"]
    if fault:
        return {fault["rank"]: [visible(f"line {fault['line']}: {fault['command']}"), visible(fault["reason"])]}
    if not words.stands(witness):
        return {}
    return {each["rank"]: [visible(words.standing(each, witness["standing"]))] for each in witness["standing"]}


def last_issued(rank: int, witness: Witness) -> int | None:
    """The place of the last command of ``rank``; None when it has issued none."""
    events = enumerate(witness["computation"])
    return max(
        (place for place, event in events if event["rank"] == rank and not is_step(place, witness)), default=None
    )


def is_step(place: int, witness: Witness) -> bool:
    return witness["computation"][place]["event"] in words.STEPS


def downwards(edge: Edge) -> tuple[int, int]:
    """The ends of ``edge`` in the order of the run, in which a layout puts them; identity alone may run against it."""
    ends = edge["from"], edge["to"]
    return (min(ends), max(ends)) if edge["relation"] == "id" else ends


def caption(result: Result) -> str:
    """What the drawing shows: ``ring.pgas on 2 nodes: a run on the network that no SC run looks like``."""
    run = witness_of(result)
    title, where = one_run.title(result, run), english.on_nodes(run["nodes"])
    return f"{visible(result['file'])}{where}: {title[0].lower()}{title[1:]}"
