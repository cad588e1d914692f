"""The report of any result that a file may hold: a verdict, an answer about races, or a single run."""

from __future__ import annotations

from typing import cast

from pgasrob.render.lines import UNICODE, Glyphs, Line
from pgasrob.render.one_run_json import RunResult
from pgasrob.render.one_run_text import simulation_report
from pgasrob.render.races_json import is_about_races
from pgasrob.render.races_text import race_report, with_races
from pgasrob.render.verdict_json import RaceResult, Result


def report(result: Result | RaceResult, width: int = 80, glyphs: Glyphs = UNICODE, full: bool = False) -> list[Line]:
    """The report of ``result`` in lines of at most ``width`` characters (a long line of the source may be longer).

    ``full``: with every event of the runs that show the verdict.
    """
    if is_about_races(result):
        return race_report(result, width, glyphs, full=full)
    if result["engine"] == "run":
        return simulation_report(cast(RunResult, result), width, glyphs)
    return with_races(cast(Result, result), width, glyphs, full=full)
