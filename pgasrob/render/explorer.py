"""The explorer: a run as one self-contained HTML page, stepped through by keyboard or touch.

The page holds the JSON object of the verdict, sentences about its events, the diagrams and a script that works out
memory, registers and queues after every step. It loads nothing and is drawn from the JSON object alone.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import TypedDict, cast

from pgasrob.diagnostics import visible
from pgasrob.render import english, one_run_text, synchronised_text, verdict_text, words
from pgasrob.render.allowed import allowed
from pgasrob.render.diagram.folding import Fold, fold
from pgasrob.render.diagram.run_layout import ranks_of
from pgasrob.render.double_values import as_texts
from pgasrob.render.effect_runs import clause
from pgasrob.render.lines import plain
from pgasrob.render.page import filled, framed, part
from pgasrob.render.result_report import report
from pgasrob.render.run_json import Event, Witness
from pgasrob.render.run_svg import to_svg
from pgasrob.render.source_places import dumps
from pgasrob.render.variables import Variable, variables
from pgasrob.render.verdict_json import Result

SCRIPTS = ("terms.js", "state.js", "panels.js", "variables.js", "drawing.js", "fitting.js", "explorer.js")
"""The script in the order of its parts; they become one."""
ROOMS = {"wide": (40, 28, 26, 24), "narrow": (26, 16, 14, 14)}
"""Characters on a line of a box by the number of lanes, the last for all larger ones: on a wide screen, on a phone."""
MOST_NARROW = 200
"""Rows of a drawing up to which there is one for a phone, too."""
AS_WIDE_AS_THE_PAGE = 1_000
"""The width of a report that the page wraps."""
NO_SC_ORDER = "No SC order is known for this run."
NONE_THERE_IS = "There is none: no SC run looks like this one, for its happens-before relation has the cycle."
AN_SC_RUN = "This is a sequentially consistent (SC) run itself: every step directly follows its issue."


class Step(TypedDict):
    """An event in words: what happens, what it reads and changes, why it may happen now, and its name if it is a step
    of an operation."""

    name: str
    what: str
    effects: list[str]
    why: str


class SequentialWords(TypedDict):
    """The SC order in words, with the places between which the command that it lacks would have to come: after
    ``after`` and before ``before``, null where it lacks none."""

    sentence: str
    without: str | None
    after: int | None
    before: int | None
    effects: list[list[str]]


class RunWords(TypedDict):
    """What the page says about a run that its JSON object does not.

    ``rows`` are the steps to go by, each the place of its first event and their number: a barrier is one. ``cycle`` is
    a sentence per edge, beginning with the edge ``first`` of the object's. ``closing`` are lines to show, each with its
    style and the place of the event from which on; the page opens at the one at ``closes``.
    """

    run: str
    title: str
    initially: str
    rows: list[tuple[int, int]]
    steps: list[Step]
    cycle: list[str]
    first: int
    closes: int
    closing: list[tuple[str, str, int]]
    sequential: SequentialWords
    variables: list[Variable]


def to_html(result: Result, *, cycle_only: bool = False) -> str:
    """``result`` as a page; without a run, the page gives the verdict and what else is known.

    ``cycle_only``: all diagrams fold what the cycle does not pass into bands. Each step can be gone to.
    """
    runs = list(words.runs(result))
    about = [run_words(result, key, run) for key, run in runs]
    script = "\n".join(part(name) for name in SCRIPTS) if runs else ""
    events = runs[0][1]["computation"] if runs else []
    has_steps = any(event["event"] in words.STEPS for event in events)
    values = {
        "heading": html.escape(_program(result)),
        "verdict": html.escape(_verdict(result)),
        "further": "".join(f' <span class="verdict error">{sentence}</span>' for sentence in _further(result)),
        "kind": _kind(result).replace(" ", "-"),
        "file": html.escape(visible(result["file"])),
        "sentences": "".join(
            f'<p class="{style}">{html.escape(sentence)}</p>' for sentence, style in _sentences(result)
        ),
        "repair": _repair(result),
        "finding": html.escape(_finding(result)),
        "report": html.escape(plain(report(result, AS_WIDE_AS_THE_PAGE)) if not runs else ""),
        "steps": html.escape(" ".join(verdict_text.steps_in(events)) if has_steps else ""),
        "script": script,
        "result": embedded(as_texts({**without_further(result), **dict(runs)})),
        "about": embedded(about),
        "diagrams": "".join(_diagram(result, number, run, cycle_only) for number, (_, run) in enumerate(runs)),
    }
    values["name"] = filled(part("name.html"), values)
    body = filled(part("page.html" if runs else "verdict.html"), values)
    return framed(f"{_program(result)}: {_verdict(result)}", part("style.css"), body, script)


def without_further(result: Result) -> dict[str, object]:
    """``result`` without the runs that have no place of their own on the page."""
    left: dict[str, object] = {**result, "effect_run": None}
    left.pop("consequences", None)
    calls = [{**call, "run": None} for call in result.get("illegal_calls", [])]
    return left | ({"illegal_calls": calls} if calls else {})


def _repair(result: Result) -> str:
    """A panel with the repair; "" where there is none."""
    repair = result.get("repair")
    if repair is None:
        return ""
    styles = {"+": "good", "-": "bad", "@": "faint"}
    lines = "".join(
        f'<span class="{styles.get(line[:1], "")}">{html.escape(visible(line))}</span>\n'
        for line in repair["diff"].splitlines()[2:]
    )
    sentence = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(visible(repair["told"])))
    return filled(part("repair.html"), {"sentence": sentence, "diff": lines})


def embedded(value: object) -> str:
    """``value`` as JSON that can stand in a script element: nothing in it can end the element or a line of script."""
    escaped = dumps(value, separators=(",", ":"))  # ASCII, so U+2028 and lone surrogates are escaped already
    return escaped.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def run_words(result: Result, key: str, run: Witness) -> RunWords:
    computation = run["computation"]
    cycle = words.from_conflict(run["cycle"] or [], computation)
    closes = max((max(edge["from"], edge["to"]) for edge in cycle), default=len(computation) - 1)
    rows = [(places[0], len(places)) for places in words.rows(computation)]
    why = allowed(computation, run["complete"])
    return {
        "run": key,
        "title": one_run_text.title(result, run),
        "initially": verdict_text.initially(run),
        "rows": rows,
        "steps": [
            {
                "name": words.step_name(place, computation) if event["event"] in words.STEPS else "",
                "what": english.capital(words.phrase(place, computation)),
                "effects": [] if "access" in event else _effects(event),
                "why": why[place],
            }
            for place, event in enumerate(computation)
        ],
        "cycle": words.cycle(cycle, computation),
        "first": (run["cycle"] or []).index(cycle[0]) if cycle else 0,
        "closes": closes,
        "closing": [*((*line, closes) for line in _closing(result, run)), *_effect(result, run, closes)],
        "sequential": _sequential(run),
        "variables": variables(run),
    }


def _effects(event: Event) -> list[str]:
    return [effect.replace(" -> ", " → ") for effect in words.effects(event)]


def _closing(result: Result, run: Witness) -> list[tuple[str, str]]:
    """What the run shows at its end, or where its cycle closes, with styles."""
    standing = [(line, "") for line in _standing(run)]
    if run["shows"] == "run":
        fault = [(words.fault(result["file"], run["fault"]), "bad")] if run["fault"] else []
        first, *rest = one_run_text.closing(result, run) or [("The run ends here.", "")]
        return [*fault, first, *(standing if words.stands(run) else []), *rest]
    if run["fault"]:
        return [(words.fault(result["file"], run["fault"]), "bad")]
    match run["shows"]:
        case "violation":
            start = words.from_conflict(run["cycle"] or [], run["computation"])[0]["from"]
            return [(f"The cycle is closed: step {start + 1} would have to come before itself.", "bad")]
        case "assertion":
            return [("The assertion fails.", "bad")]
        case "race":
            return [("Either of the two accesses may come first: they race.", "bad")]
        case "deadlock":
            return [("No rank can move any more, and not all have ended.", "bad"), *standing]
    return [("The run ends here.", "")]


def _effect(result: Result, run: Witness, closes: int) -> Iterator[tuple[str, str, int]]:
    """What the run of a violation shows at the last event in which its effect is to be seen, and where its cycle
    ``closes`` before that."""
    detail = result.get("effect_detail")
    if "effect" not in run or not detail:
        return
    places, last = run["effect"]["places"], len(run["computation"]) - 1
    at = last if not places or run["effect"]["ending"] is not None or detail["failed"] is not None else places[-1]
    if at > closes:
        yield f"The run goes on to what no SC run does, in step {at + 1}.", "", closes
    yield f"What no SC run does: {clause(detail)}.", "bad", max(at, closes)
    if words.stands(run):
        yield from ((line, "", max(at, closes)) for line in _standing(run))


def _standing(run: Witness) -> list[str]:
    return [f"Rank {rank['rank']} {words.standing(rank, run['standing'])}." for rank in run["standing"]]


def _sequential(run: Witness) -> SequentialWords:
    """The SC order of ``run`` in words."""
    order = run["sequential"]
    found: SequentialWords = {"sentence": AN_SC_RUN, "without": None, "after": None, "before": None, "effects": []}
    if order is None:
        if run["shows"] == "run":
            found["sentence"] = NONE_THERE_IS if run["cycle"] else AN_SC_RUN if _is_sequential(run) else NO_SC_ORDER
        elif run["shows"] == "violation":
            found["sentence"] = NO_SC_ORDER
        return found
    found["effects"] = [_effects(event) for event in order["events"]]
    outside = sorted(order["places"])
    covered = len(outside) + len(order["without"])
    this = "this run" if covered == len(run["computation"]) else f"steps 1 to {covered} of this run"
    if not order["without"]:
        return {**found, "sentence": f"An SC run with the same happens-before relation as {this}."}
    computation = run["computation"]
    command = f"the {words.name(computation[order['without'][0]])} of step {order['without'][0] + 1}"
    found["sentence"] = f"An SC run with the same happens-before relation as {this} without {command}."
    found["without"] = english.capital(command)
    for edge in run["cycle"] or ():
        if edge["relation"] != "id" and edge["from"] in outside and edge["to"] in order["without"]:
            found["after"] = edge["from"]
        if edge["relation"] != "id" and edge["from"] in order["without"] and edge["to"] in outside:
            found["before"] = edge["to"]
    return found


def _is_sequential(run: Witness) -> bool:
    """Whether every step directly follows its issue or another step of that."""
    events = run["computation"]
    operations = [(event["rank"], event["operation"]) for event in events]
    return all(
        event["event"] not in words.STEPS or operations[place] == operations[place - 1]
        for place, event in enumerate(events)
    )


def _program(result: Result) -> str:
    return visible(result["program"] or re.split(r"[/\\]", result["file"])[-1])


def _verdict(result: Result) -> str:
    if result["verdict"]:
        return "".join(text for text, _ in synchronised_text.headline(result))
    return one_run_text.kind(result) + english.on_nodes(result["nodes"])


def _kind(result: Result) -> str:
    """The verdict by which the answer is coloured: a robust program may have been asked for more."""
    found = result.get("synchronised")
    return synchronised_text.HEADLINES[found["answer"]] if found else result["verdict"] or "run"


def _further(result: Result) -> list[str]:
    """What is wrong beside what the headline says: a failing assertion, a deadlock."""
    fails, deadlock = result["assertions"] == "violated", result["deadlock"] is True
    if result["engine"] == "run" and result["witness"]:
        fails, deadlock = one_run_text.wrong(result, result["witness"])
    found = result.get("synchronised")
    said = [line["line"] for line in found["lines"]] if found else []
    return ["an assertion fails"] * (fails and "assertions" not in said) + ["deadlock"] * (
        deadlock and "progress" not in said
    )


def _sentences(result: Result) -> list[tuple[str, str]]:
    """What is known, in sentences with styles; the runs they refer to are on the same page."""
    reason = [(result["reason"], "")] if result["reason"] else []
    if result["engine"] == "run" and result["witness"]:
        return [*reason, *one_run_text.sentences(result, result["witness"])]
    if about_races := cast("dict[str, list[tuple[str, str]]]", result).get("race_sentences"):
        return [*reason, *about_races]
    return [*reason, *((sentence.replace(" (below)", ""), style) for sentence, style in verdict_text.sentences(result))]


def _finding(result: Result) -> str:
    """What is wrong, in a sentence or two; "" where nothing is."""
    wrong = (sentence for sentence, style in _sentences(result) if style == "bad")
    return words.diagnosis(result["witness"]) or next(wrong, "")


def room_of(run: Witness, folded: Fold, size: str) -> int:
    """The characters on a line of a box of ``run``, for a window of the ``size`` that :data:`ROOMS` names."""
    rooms = ROOMS[size]
    return rooms[min(len(ranks_of(run, folded)), len(rooms)) - 1]


def _diagram(result: Result, number: int, run: Witness, cycle_only: bool) -> str:
    """The drawings of ``run``, of which the page shows one at a time: with all events or with the cycle alone, in lines
    for a wide window or for a narrow one."""
    only: Result = {**result, "witness": run, "effect_run": None}
    whole, folded = fold(run, False), fold(run, True)
    if not folded.bands:
        views = {"full": whole}
    else:
        views = {"folded": folded} if cycle_only else {"full": whole, "folded": folded}
    found: list[str] = []
    for view, each in views.items():
        for size in ROOMS:
            if size == "narrow" and len(each.groups) > MOST_NARROW:
                continue  # nobody reads so many on a phone, and the page would grow by them
            drawn = to_svg(
                only, embedded=True, captions=False, cycle_only=view == "folded", room=room_of(run, each, size)
            )
            hidden = " hidden" * bool(number or found)
            found.append(f'<div class="drawing" data-run="{number}" data-view="{view} {size}"{hidden}>{drawn}</div>')
    return "".join(found)
