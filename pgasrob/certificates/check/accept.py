"""Reads a certificate, and decides whether it proves that a program is robust."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pgasrob.certificates.check.command_effects import Values
from pgasrob.certificates.check.infeasible import Fixpoint, Infeasible
from pgasrob.certificates.check.names import Case, case_of, cases, cutoff
from pgasrob.certificates.check.states import Look, Source, States
from pgasrob.diagnostics import SourceError
from pgasrob.program.instance import without_threads
from pgasrob.program.program import Instantiable
from pgasrob.program.reading import READINGS, Reading

FORMAT = 6
MALFORMED = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)


def read(text: str) -> dict[str, Any]:
    """The certificate in ``text``: about which ``program``, on how many ``nodes`` (on every number where it has a
    ``frame``), in which ``reading``; and its ``parts``: one for the number of nodes; or one for each below the cutoff
    of the frame, and one for each case. Raises one of :data:`MALFORMED` when it is none.

    Each part has ``files``, ``phases`` and ``back`` for `Values`; for each source that is ``infeasible`` what makes its
    `Fixpoint`; and ``states``, each with the ranks that move there, for `States`. Sets are written as ``{"set":
    elements}``, and mappings as ``{"map": pairs}``. All numbers are integers. Nothing else is checked here: further
    entries have no effect.
    """
    found: dict[str, Any] = json.loads(text, object_hook=_decoded, parse_float=int, parse_constant=int)
    found["reading"] = Reading(found["failed_polls"], found["conflicts"], "value")
    counts = found["frame"] or [found["nodes"]]
    if found["format"] != FORMAT or found["reading"] not in READINGS or any(type(each) is not int for each in counts):
        raise ValueError(f"it is not of format {FORMAT}, or names no node count or no reading")
    if any(type(part[each]) is not dict for part in found["parts"] for each in ("infeasible", "states")):
        raise ValueError("what it says of sources, or states, is no mapping")
    return found


def _decoded(found: dict[str, Any]) -> Any:
    frozen = {name: _frozen(value) for name, value in found.items()}
    return frozenset(frozen["set"]) if "set" in frozen else dict(frozen["map"]) if "map" in frozen else frozen


def _frozen(found: Any) -> Any:
    return tuple(map(_frozen, found)) if isinstance(found, list) else found


def subjects(program: Instantiable, nodes: int | None, frame: Any, reading: Reading) -> Iterator[Case]:
    """The cases that need evidence: the instance on ``nodes`` nodes, or, with a ``frame``, the instances below the
    cutoff and the cases of every number of nodes from there on."""
    for count in (nodes,) if frame is None else range(2, cutoff(*frame)):
        yield case_of(without_threads(program.instantiate(count, reading), "a certificate"))
    if frame is not None:
        yield from cases(program.for_every_count(), reading, *frame)


class Answer(NamedTuple):
    """Why a certificate is refused, None when it proves that the program is robust; and the certificate once it is
    read."""

    reason: str | None
    certificate: dict[str, Any] | None = None


def examine(program: Instantiable, text: str, look: Look = str) -> Answer:
    """Whether the certificate in ``text`` proves that ``program`` is robust; ``look`` is called with the progress."""
    try:
        found = read(text)
        about = subjects(program, found["nodes"], found["frame"], found["reading"])
        for number, (part, case) in enumerate(zip(found["parts"], about, strict=True)):
            if (reason := _refusal(case, look, found["program"], part)) is not None:
                return Answer(f"in part {number}: {reason}" if found["frame"] else reason)
        return Answer(None, found)
    except SourceError as error:
        return Answer(f"on so many nodes it is no program: {error.diagnostics[0].message}")
    except MALFORMED as error:
        return Answer(f"it is malformed: {type(error).__name__}: {error}")


def _refusal(case: Case, look: Look, about: str, part: Mapping[str, Any]) -> str | None:
    """Why ``part``, a part of a certificate, does not prove that ``case`` of the program with the digest ``about`` is
    robust; None if it does."""
    if about != case.instance.program.source.digest:
        return "it is about another program, or another version of it"
    if case.instance.program.gaps:
        return "the program stands for more runs than its commands have"
    values = Values(case, part["files"], part["memory"], part["phases"], part["back"])
    for missing in values.demands():
        return f"{missing} is left out"
    asked, left = Infeasible(values), set[Source]()
    for number, (command, step) in enumerate(sources := values.sources, 1):
        source = (*command.at, step)
        look(f"source {number} of {len(sources)}")
        if source not in part["infeasible"]:
            left.add(source)
            continue
        for lacking in asked.demands(command, step, Fixpoint(*part["infeasible"][source])):
            return f"source {source} may lead to a violation: {lacking} is left out"
    if part["states"] and not case.rest:
        return States(values, left).refusal(part["states"], look)
    if left:
        return f"nothing is said about source {min(left)}"
    return None if all(each.legal for each in values.commands) else "some command may have no value"
