"""Answers that `pgasrob check` and `repair` give, for the page: a report, the run that it shows, a changed text."""

from __future__ import annotations

import time
from itertools import accumulate
from typing import Any, cast

from pgasrob.batch.answer import about_robustness
from pgasrob.diagnostics import SourceError
from pgasrob.explore.asked_run import AskedRun
from pgasrob.explore.nearest import choices_of
from pgasrob.explore.position import follow
from pgasrob.explore.programs_kept import instance_of
from pgasrob.explore.request_bounds import MOST_CHOICES, MOST_EVENTS
from pgasrob.frontends.lower import CProgram
from pgasrob.program.instance import Instance
from pgasrob.program.program import Program
from pgasrob.render import synchronised_text, words
from pgasrob.render.diagram.folding import fold
from pgasrob.render.explorer import room_of
from pgasrob.render.lines import Line
from pgasrob.render.one_run_text import title
from pgasrob.render.repair_text import repair_lines
from pgasrob.render.result_report import report
from pgasrob.render.run_svg import to_svg
from pgasrob.render.verdict_json import Result, to_json
from pgasrob.repairs import repair
from pgasrob.repairs.read_again import read
from pgasrob.repairs.texts import parts
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import Question, Resources, Synchronisation
from pgasrob.robustness.session import Session
from pgasrob.robustness.verdict import Witness

MOST_ONE_BY_ONE = 40
"""Events of a run that are drawn one by one; of more those that the cycle does not pass are folded."""
NARROW = 60
"""Characters of a report below which a window is one of a phone, and a drawing has short lines."""
MOST_DRAWING = 1_000_000
"""Characters of a drawing."""
MOST_REPORT = 200_000
"""Characters of a report."""


def check(asked: AskedRun, seconds: float, memory: int) -> dict[str, Any]:
    """The verdict on the program of ``asked``, as the page shows it; within such limits. Raises
    :class:`SourceError`."""
    begun = time.monotonic()
    program, instance = instance_of(asked)
    limits = Limits(timeout=max(1.0, seconds - (time.monotonic() - begun)), memory=memory)
    nodes, resources = _nodes(asked, program), Resources(threads=1)
    question = Question(program, nodes, reading=asked.reads.reading, limits=limits, resources=resources)
    verdict = about_robustness(Session(question), Synchronisation())
    if verdict.errors:
        raise SourceError([*verdict.errors])
    result = to_json(verdict)
    found: dict[str, Any] = {
        "headline": "".join(text for text, _ in synchronised_text.headline(result)),
        "kind": _kind(result).replace(" ", "-"),
        "report": _styled(report(result, asked.columns)),
        "repairable": verdict.verdict == "not robust" or (verdict.races is not None and bool(verdict.races.matters)),
        "drawing": "",
        "title": "",
        "run": None,
    }
    for key, run in words.runs(result):
        only, events = cast(Result, {**result, "witness": run, "effect_run": None}), len(run["computation"])
        found["title"] = title(result, run)
        if events <= MOST_EVENTS:
            folded = events > MOST_ONE_BY_ONE
            room = room_of(run, fold(run, folded), "narrow" if asked.columns < NARROW else "wide")
            found["drawing"] = to_svg(only, embedded=True, captions=False, cycle_only=folded, room=room)
        if len(found["drawing"]) > MOST_DRAWING or events > MOST_EVENTS:
            found["drawing"] = ""
            found["title"] += f" ({events} events, too many to draw here)"
        effect_run = verdict.effect.run if verdict.effect else None
        witnesses = {"witness": verdict.witness, words.EFFECT_RUN: effect_run}
        found["run"] = _choices(asked, instance, witnesses.get(key))
        break
    return found


def repaired(asked: AskedRun, seconds: float, memory: int) -> dict[str, Any]:
    """The cheapest repair of the program of ``asked``, as a report and, where there is one, as the changed text. Each
    check has such limits. Raises :class:`SourceError`."""
    instance_of(asked)
    program, parse = read(asked.file, asked.reads.front_end, asked.files)
    limits = Limits(timeout=seconds, memory=memory)
    found = repair(program, parse, [_nodes(asked, program)], max_answers=1, limits=limits)
    if errors := [error for verdict in found.verdicts for error in verdict.errors]:
        raise SourceError(errors)
    text = parts(found.answers[0].text)[0].text if found.answers else None
    return {"state": found.state, "report": _styled(repair_lines(asked.file, found, asked.columns)), "text": text}


def _nodes(asked: AskedRun, program: Program | CProgram) -> int:
    return program.default_count if asked.nodes is None else asked.nodes


def _kind(result: Result) -> str:
    found = result.get("synchronised")
    return synchronised_text.HEADLINES[found["answer"]] if found else result["verdict"]


def _choices(asked: AskedRun, instance: Instance, witness: Witness | None) -> list[str] | None:
    """The choices that lead through ``witness`` in the explorer; None where they are not all there are."""
    if witness is None:
        return None
    computation = witness.run.computation
    if witness.run.instance.program is not instance.program or len(computation) > MOST_CHOICES:
        return None
    chosen = choices_of(instance, computation)
    here, stop = follow(instance, chosen, asked.automatic)
    return None if stop or tuple(here.computation)[: len(computation)] != tuple(computation) else chosen


def _styled(lines: list[Line]) -> list[list[tuple[str, str]]]:
    """Lines of a report, each piece with the class of its style in the page; without the end of a very long one."""
    ends = accumulate(sum(len(text) for text, _ in line) + 1 for line in lines)
    shown = [line for line, end in zip(lines, ends, strict=True) if end <= MOST_REPORT]
    if len(shown) < len(lines):
        shown.append([(f"The last {len(lines) - len(shown)} lines are left out: they are too many for this page.", "")])
    return [[(text, f"said-{style.replace(' ', '-')}" if style else "") for text, style in line] for line in shown]
