"""The library's answers as JSON, text, files and one-liners; for Jupyter see `jupyter`."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, assert_never, cast

from pgasrob.diagnostics import visible
from pgasrob.models.litmus_answers import Answers
from pgasrob.races.race_verdict import RaceVerdict
from pgasrob.render import english
from pgasrob.render.jupyter import Answered, html, svg
from pgasrob.render.lines import Line, plain
from pgasrob.render.litmus_json import litmus_to_json
from pgasrob.render.litmus_text import litmus_report
from pgasrob.render.one_run_json import simulated_to_json
from pgasrob.render.one_run_text import simulation_report
from pgasrob.render.outcomes_json import outcomes_to_json
from pgasrob.render.outcomes_text import outcomes_report
from pgasrob.render.output_files import UnknownFormat, format_of, write
from pgasrob.render.races_json import races_to_json
from pgasrob.render.repair_text import beside, repair_lines, repair_to_json, repair_to_sarif
from pgasrob.render.result_report import report
from pgasrob.render.run_graph import NoRun
from pgasrob.render.source_places import dumps
from pgasrob.render.synchronised_json import in_brief, synchronised_to_json
from pgasrob.render.verdict_json import RaceResult, Result
from pgasrob.render.verdict_json import to_json as of_verdict
from pgasrob.repairs import Repair
from pgasrob.robustness.verdict import Verdict
from pgasrob.runs.outcomes import Outcomes
from pgasrob.runs.simulate import Simulated
from pgasrob.whole_files import replace_file

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.program.program import Program

__all__ = ["html", "save", "short", "svg", "text", "to_json"]

WIDTH = 80


def to_json(answer: Answered) -> Any:
    """``answer`` as the command prints it in JSON; for a litmus test a list, with an object for each model."""
    match answer:
        case Verdict():
            return of_verdict(answer)
        case RaceVerdict():
            return races_to_json(answer)
        case Outcomes():
            return outcomes_to_json(answer)
        case Simulated():
            return simulated_to_json(answer)
        case Repair():
            return repair_to_json(answer.verdicts[0].file, answer)
        case Answers():
            return [litmus_to_json(answer.file, each) for each in answer.answers]
        case _:
            assert_never(answer)


def text(answer: Answered, width: int = WIDTH) -> str:
    """The report of the command line, without colours."""
    return plain(_report(answer, width)).rstrip("\n")


def _report(answer: Answered, width: int) -> list[Line]:
    if isinstance(answer, Repair):
        return repair_lines(answer.verdicts[0].file, answer, width)
    found = to_json(answer)
    if isinstance(answer, Outcomes):
        return outcomes_report(found, width)
    if isinstance(answer, Simulated):
        return simulation_report(found, width)
    if isinstance(answer, Answers):
        return litmus_report(found, width)
    return report(found, width)


def short(shown: Answered | Program | CProgram) -> str:
    """``shown`` in one line, for the interactive Python."""
    match shown:
        case Verdict():
            on = english.on_nodes("all" if shown.every and shown.nodes is None else shown.nodes)
            file, answer_in_short = shown.file, in_brief(synchronised_to_json(shown), shown.verdict, on)
        case RaceVerdict():
            file, answer_in_short = shown.file, f"{shown.verdict}{english.on_nodes(shown.nodes)}"
        case Outcomes():
            file, count = shown.instance.program.source.file, english.count(len(shown.outcomes), "outcome")
            so_far = "" if shown.complete else " so far"
            answer_in_short = (
                f"{count}{so_far}{english.on_nodes(shown.instance.nodes)}, {len(shown.network_only)} network-only"
            )
        case Simulated():
            instance = shown.run.instance
            file, count = instance.program.source.file, english.count(len(shown.run.events), "event")
            answer_in_short = f"{count}{english.on_nodes(instance.nodes)}, seed {shown.seed}"
        case Repair():
            file, answer_in_short = shown.verdicts[0].file, f"{shown.state} on {english.listed(shown.nodes)} nodes"
        case Answers():
            counts = (f"{len(each.outcomes.found)} in {label}" for label, each in shown.items())
            file, answer_in_short = shown.file, f"outcomes: {', '.join(counts)}"
        case _:
            return f"<{type(shown).__name__} {visible(shown.name or '?')}: {visible(PurePath(shown.source.file).name)}>"
    return f"<{type(shown).__name__} {visible(PurePath(file).name)}: {answer_in_short}>"


def save(answer: Answered, path: str | PathLike[str], cycle_only: bool = False) -> None:
    """Write ``answer`` to the file ``path`` in the format of its ending.

    Raises :class:`~pgasrob.render.output_files.UnknownFormat`, :class:`~pgasrob.render.run_graph.NoRun` where there is
    no run to draw, and OSError.
    """
    name = os.fspath(path)
    format_ = format_of(name)
    if format_.ending == ".txt":
        replace_file(name, text(answer) + "\n")
        return
    found = to_json(answer)
    if format_.ending == ".json":
        replace_file(name, "".join(dumps(each) + "\n" for each in (found if isinstance(found, list) else [found])))
        return
    if isinstance(answer, Outcomes | Answers) or (isinstance(answer, Simulated) and format_.verdicts_only):
        raise UnknownFormat(f"{name!r}: {type(answer).__name__} cannot be {format_.ending}; write .txt or .json")
    if isinstance(answer, Repair):
        if format_.ending == ".sarif":
            replace_file(name, repair_to_sarif(answer))
            return
        found = beside(answer)
    result = cast("Result | RaceResult", found)
    if not format_.can_show(result):
        raise NoRun(f"{name!r}: there is no run to draw; write .txt or .json")
    write([result], name, cycle_only)
