"""Answers the page's requests, as JSON: where a run stands, and the choices to the nearest violation from there.

Answers are found in processes of their own (`answer_processes`), which keep the programs that they have read last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.diagnostics.internal_error import internal_error
from pgasrob.explore.asked_run import AskedRun
from pgasrob.explore.nearest import choices, choices_of, nearest
from pgasrob.explore.position import Position, Stop, follow
from pgasrob.explore.position_json import position_to_json
from pgasrob.explore.request_bounds import MOST_NODES
from pgasrob.frontends.lower import CProgram
from pgasrob.program.files import Overlay
from pgasrob.program.program import Program
from pgasrob.render import english
from pgasrob.render.shared_json import errors_to_json
from pgasrob.render.source_places import dumps
from pgasrob.robustness.load import load

if TYPE_CHECKING:
    from pgasrob.frontends.options import FrontEnd
    from pgasrob.program.instance import Instance
    from pgasrob.program.reading import Reading

Answer = tuple[int, str]
"""The status of HTTP, and JSON."""


def answer(what: str, asked: AskedRun) -> Answer:
    """What :data:`ANSWERS` has under ``what``, for the run of ``asked``; the diagnostics where its text is no
    program, or where an error of the explorer itself has ended it."""
    try:
        program, instance = _instance(asked)
        here, stop = follow(instance, asked.run, asked.automatic)
        return 200, dumps(ANSWERS[what](program, here, stop))
    except SourceError as error:
        return 422, dumps({"errors": errors_to_json(error.diagnostics, asked.file)})
    except (MemoryError, RecursionError):
        raise
    except Exception as error:
        return 500, dumps({"errors": errors_to_json((internal_error(error, asked.file),), asked.file)})


def _violation(program: Program | CProgram, here: Position, _: Stop | None) -> dict[str, Any]:
    """The choices from ``here`` to the nearest violation, or what is known of there being none."""
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


ANSWERS: dict[str, Callable[[Program | CProgram, Position, Stop | None], dict[str, Any]]] = {
    "position": lambda program, here, stop: position_to_json(here, stop),
    "violation": _violation,
}
"""The answers, by the last part of the address."""


@dataclass(frozen=True, eq=False)
class _Kept:
    """A program as a key of a cache: compared by identity, for what it was read from is a key already."""

    program: Program | CProgram


@lru_cache(maxsize=8)
def _read(file: str, text: str, front_end: FrontEnd) -> _Kept:
    return _Kept(load(file, front_end, Overlay({file: text})))


@lru_cache(maxsize=8)
def _instantiated(kept: _Kept, nodes: int | None, reading: Reading) -> Instance:
    return kept.program.instantiate(nodes, reading)


def _instance(asked: AskedRun) -> tuple[Program | CProgram, Instance]:
    """The program of ``asked``, and its instance. Raises :class:`SourceError`."""
    kept = _read(asked.file, asked.text, asked.front_end)
    instance = _instantiated(kept, asked.nodes, asked.reading)
    if instance.processes > MOST_NODES:
        what = "threads" if instance.has_threads else "nodes"
        message, hint = f"{instance.processes} {what} are too many to look at", f"take at most {MOST_NODES}"
        raise SourceError([Diagnostic("PG031", message, asked.file, hint=hint)])
    return kept.program, instance
