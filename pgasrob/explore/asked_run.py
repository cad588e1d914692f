"""Reads a request: the program on some nodes that it is about, and the run of it up to now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pgasrob.explore.request_bounds import MOST_CHOICES, MOST_NODES, MOST_TEXT
from pgasrob.frontends.options import FrontEnd
from pgasrob.program.reading import Reading


@dataclass(frozen=True, slots=True)
class AskedRun:
    """The program ``text``, read as if it were in ``file``, on ``nodes`` nodes (its own count when None), and a run.

    ``run``: the choices so far; ``automatic``: local commands happen by themselves.
    """

    file: str
    text: str
    nodes: int | None
    run: tuple[str, ...]
    automatic: bool
    front_end: FrontEnd
    reading: Reading


class Refused(Exception):
    """A request that is not answered: the status of HTTP and why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


def asked_run(asked: Any, names: dict[str, str], front_end: FrontEnd, reading: Reading) -> AskedRun:
    """Check the JSON value ``asked`` of a request. ``names``: the file name of a text by its language. Raises
    :class:`Refused`."""
    if not isinstance(asked, dict):
        raise Refused(400, "the body is no JSON object")
    text, language, nodes = asked.get("text"), asked.get("language"), asked.get("nodes")
    run, automatic = asked.get("run", []), asked.get("automatic", True)
    if not isinstance(text, str):
        raise Refused(400, "`text` is no text of a program")
    if len(text) > MOST_TEXT:
        raise Refused(413, f"the program has {len(text):,} characters; the explorer takes at most {MOST_TEXT:,}")
    if not isinstance(language, str) or language not in names:
        raise Refused(400, f"`language` is none of {', '.join(names)}")
    if nodes is not None and (type(nodes) is not int or not 1 <= nodes <= MOST_NODES):
        raise Refused(400, f"`nodes` is no number from 1 to {MOST_NODES}")
    if not isinstance(run, list) or not all(isinstance(choice, str) and len(choice) <= 40 for choice in run):
        raise Refused(400, "`run` is no list of choices")
    if len(run) > MOST_CHOICES:
        raise Refused(413, f"the run has {len(run):,} choices; the explorer takes at most {MOST_CHOICES}")
    if type(automatic) is not bool:
        raise Refused(400, "`automatic` is neither true nor false")
    return AskedRun(names[language], text, nodes, tuple(run), automatic, front_end, reading)
