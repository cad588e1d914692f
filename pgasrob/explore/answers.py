"""Answers the page's requests, as JSON: where a run stands, the nearest violation from there, verdict and repair.

Answers are found in processes of their own (`answer_processes`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pgasrob.diagnostics import SourceError
from pgasrob.diagnostics.internal_error import internal_error
from pgasrob.explore import no_files
from pgasrob.explore.asked_run import AskedRun
from pgasrob.explore.checked import check, repaired
from pgasrob.explore.nearest import choices, choices_of, nearest
from pgasrob.explore.position import follow
from pgasrob.explore.position_json import position_to_json
from pgasrob.explore.programs_kept import forget_if_larger, instance_of
from pgasrob.explore.request_bounds import MOST_ANSWER
from pgasrob.render import english
from pgasrob.render.shared_json import errors_to_json
from pgasrob.render.source_places import dumps

Answer = tuple[int, str]
"""The status of HTTP, and JSON."""


def answer(what: str, asked: AskedRun, seconds: float, memory: int) -> Answer:
    """What :data:`ANSWERS` has under ``what``, for the run of ``asked``; the diagnostics where its text is no
    program, or where an error of the explorer itself has ended it. ``seconds``, bytes of ``memory``: when it gives up
    by itself, where it can."""
    if asked.reads.alone:
        no_files.from_now_on()
    forget_if_larger(memory // 2)
    try:
        status, text = 200, dumps(ANSWERS[what](asked, seconds, memory))
    except SourceError as error:
        status, text = 422, dumps({"errors": errors_to_json(error.diagnostics, asked.file)})
    except (MemoryError, RecursionError):
        raise
    except Exception as error:
        status, text = 500, dumps({"errors": errors_to_json((internal_error(error, asked.file),), asked.file)})
    if len(text) > MOST_ANSWER:
        refused = f"the answer has {len(text):,} characters, and at most {MOST_ANSWER:,} are sent; try fewer nodes"
        return 503, dumps({"refused": refused})
    return status, text


def _position(asked: AskedRun, *limits: object) -> dict[str, Any]:
    _, instance = instance_of(asked)
    return dict(position_to_json(*follow(instance, asked.run, asked.automatic)))


def _violation(asked: AskedRun, *limits: object) -> dict[str, Any]:
    """The choices from where the run stands to the nearest violation, or what is known of there being none."""
    program, instance = instance_of(asked)
    here, _stop = follow(instance, asked.run, asked.automatic)
    found = nearest(program, here)
    states = english.count(found.states, "state")
    if found.way is not None:
        sentence = "This run is a violation already."
        if found.way:
            sentence = f"{english.count(len(found.way), 'more step')} to a violation, the fewest there are."
        return {"found": True, "choices": choices(here, found.way), "sentence": sentence}
    if found.robust:
        sentence = "None, proved: the program is robust, so no run of it is a violation."
    elif found.proved:
        sentence = f"None, proved: all continuations of this run were looked at ({states})."
    else:
        sentence = f"None within the limit: {states} were looked at from here, and there are more."
    elsewhere = None
    if found.elsewhere is not None:
        elsewhere = choices_of(here.instance, found.elsewhere)
        sentence += " From the start there is one."
    return {"found": False, "proved": found.proved, "sentence": sentence, "elsewhere": elsewhere}


ANSWERS: dict[str, Callable[[AskedRun, float, int], dict[str, Any]]] = {
    "position": _position,
    "violation": _violation,
    "check": check,
    "repair": repaired,
}
"""The answers, by the last part of the address."""
