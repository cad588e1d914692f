"""Certificates as JSON: what is in them, read without trust."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from itertools import chain, product
from typing import Any, NamedTuple, NoReturn, get_args

from pgasrob.certificates.check.infeasible import Fixpoint, Phase, Source, Way
from pgasrob.certificates.check.states import Attack, State
from pgasrob.certificates.check.values import Files
from pgasrob.program import core
from pgasrob.program.declarations import Declared
from pgasrob.program.reading import Conflicts, FailedPolls, Reading

FORMAT = 3
MALFORMED = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)


Frame = tuple[int, int]
"""How many ranks have names around the source's, and at each of the ends."""


class Part(NamedTuple):
    """Evidence about one number of nodes, or a case of every number: ``files`` for `Values`, ``phases`` with the number
    of the one that follows the last, a `Fixpoint` for each source that is infeasible, ``states`` for the other sources,
    each with the ranks that move there (None: all)."""

    files: Sequence[Sequence[Files]]
    phases: list[Phase]
    back: int
    sources: dict[Source, Fixpoint]
    states: list[tuple[State, tuple[int, ...] | None]]


class Certificate(NamedTuple):
    """Evidence that a program is robust: one part for a number of ``nodes``; where that is None, for every number, one
    for each below the cutoff of the ``frame`` and one for each of its cases."""

    program: str
    nodes: int | None
    frame: Frame | None
    reading: Reading
    version: str
    parts: list[Part]


def content_hash(program: Declared) -> str:
    """The hash of the texts that a program was read from."""
    source = program.source
    texts = [source.text, *(text for _, text in sorted(source.others.items()))]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()


def read(text: str) -> Certificate:
    """The certificate in ``text``. Raises one of :data:`MALFORMED` when it is none.

    What is written again and again is so once, as ``{"+": it}``, and ``{"=": n}`` stands for the one with number n. No
    number is anything but an integer. Besides, nothing is checked: what does not belong into a set is of no use.
    """
    shared: list[Any] = []

    def resolved(found: dict[str, Any]) -> Any:
        shared.extend(_frozen(found[mark]) for mark in found if mark == "+")
        return shared[found["="]] if "=" in found else shared[-1] if "+" in found else found

    found = json.loads(text, object_hook=resolved, parse_float=_refuse, parse_constant=_refuse)
    if found["format"] != FORMAT:
        raise ValueError(f"format {found['format']!a}, where {FORMAT} is read")
    reading = Reading(found["failed_polls"], found["conflicts"])
    nodes, frame = (None, tuple(found["frame"])) if found["nodes"] == "all" else (found["nodes"], None)
    known = reading in product(get_args(FailedPolls), get_args(Conflicts))
    if not known or any(type(each) is not int for each in frame or (nodes,)):
        raise ValueError("it names no node count or no reading")
    parts = [_part(**{name: _frozen(value) for name, value in each.items()}) for each in found["parts"]]
    return Certificate(found["program"], nodes, frame, reading, found["version"], parts)


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text} is no integer")


def _frozen(found: Any) -> Any:
    return tuple(map(_frozen, found)) if isinstance(found, list) else found


def _part(registers: Any, phases: Any, back: int, infeasible: Any, states: Any) -> Part:
    files = [[Files(frozenset(unknown), frozenset(files)) for unknown, files in own] for own in registers]
    places: list[Phase] = [list(map(frozenset, phase)) for phase in phases]
    sources = {at: _fixpoint(*rest) for at, *rest in infeasible}
    return Part(files, places, back, sources, [(_state(*each), members) for *each, members in states])


def _fixpoint(last: int, done: Any, made: Any, places: Any) -> Fixpoint:
    ways = {at: {Way(frozenset(facts), frozenset(delayed)) for facts, delayed in found} for at, *found in places}
    first, second = ({(cell, way): set(ranks) for cell, way, ranks in each} for each in (done, made))
    return Fixpoint(last, first, second, ways)


def _state(control: Any, registers: Any, memory: Any, facts: Any, attack: Any) -> State:
    begun = None
    if attack is not None:
        source, tainted, done, delayed = attack
        begun = Attack(core.Access(*source), *map(frozenset, (tainted, done, delayed)))
    return State(control, registers, tuple(chain(*memory)), tuple(map(frozenset, facts)), begun)
