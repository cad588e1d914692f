"""Whether a certificate proves that a program is robust."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

from pgasrob.certificates.check.infeasible import Fixpoint, Infeasible
from pgasrob.certificates.check.names import Case, Frame, case_of, cases, cutoff
from pgasrob.certificates.check.states import Members, States
from pgasrob.certificates.check.values import Source, Values
from pgasrob.diagnostics import SourceError
from pgasrob.program.program import Instantiable
from pgasrob.program.reading import READINGS, Reading

FORMAT = 4
LEAST = 2
"""The first number of nodes when a certificate is about every number."""
MALFORMED = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)


class Part(NamedTuple):
    """Evidence about one number of nodes, or a case of every number: for `Values`, what makes a `Fixpoint` for each
    source that is infeasible, and for `States` the states with the ranks that move there."""

    files: Any
    phases: Any
    back: int
    infeasible: Mapping[Source, tuple[Any, ...]]
    states: Mapping[Any, Members]


class Certificate(NamedTuple):
    """Evidence that a program is robust: one part for a number of ``nodes``; with a ``frame``, for every number, one
    for each below the cutoff of the frame and one for each of its cases."""

    program: str
    nodes: int
    frame: Frame | None
    reading: Reading
    parts: list[Part]


def read(text: str) -> Certificate:
    """The certificate in ``text``. Raises one of :data:`MALFORMED` when it is none.

    Sets are written as ``{"set": elements}``, and mappings as ``{"map": pairs}``. No number is anything but an integer.
    Besides, nothing is checked: what does not belong into a set is of no use.
    """
    found = json.loads(text, object_hook=_made, parse_float=_refuse, parse_constant=_refuse)
    if found["format"] != FORMAT:
        raise ValueError(f"format {found['format']!a}, where {FORMAT} is read")
    nodes, frame, reading = found["nodes"], found["frame"], Reading(found["failed_polls"], found["conflicts"])
    if reading not in READINGS or any(type(each) is not int for each in frame or (nodes,)):
        raise ValueError("it names no node count or no reading")
    return Certificate(found["program"], nodes, frame, reading, [Part(**each) for each in found["parts"]])


def _made(found: dict[str, Any]) -> Any:
    match found:
        case {"set": elements}:
            return frozenset(_frozen(elements))
        case {"map": pairs}:
            return dict(_frozen(pairs))
    return {name: _frozen(value) for name, value in found.items()}


def _frozen(found: Any) -> Any:
    return tuple(map(_frozen, found)) if isinstance(found, list) else found


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text} is no integer")


def subjects(program: Instantiable, nodes: int | None, frame: Frame | None, reading: Reading) -> Iterator[Case]:
    """What there has to be evidence about for so many nodes; with a frame for every number, those below the cutoff and
    the cases from there on."""
    for count in (nodes,) if frame is None else range(LEAST, cutoff(*frame)):
        yield case_of(program.instantiate(count, reading))
    if frame is not None:
        yield from cases(program.for_every_count(), reading, *frame)


class Answer(NamedTuple):
    """Why a certificate is refused, None when it proves that the program is robust; and what it is, as far as known."""

    reason: str | None
    certificate: Certificate | None = None


def examine(program: Instantiable, text: str) -> Answer:
    """Whether the certificate in ``text`` proves that ``program`` is robust."""
    try:
        certificate = read(text)
        about = subjects(program, certificate.nodes, certificate.frame, certificate.reading)
        for number, (part, case) in enumerate(zip(certificate.parts, about, strict=True)):
            reason = _refusal(part, case, certificate.program)
            if reason is not None:
                return Answer(f"in part {number}: {reason}" if certificate.frame else reason, certificate)
        return Answer(None, certificate)
    except SourceError as error:
        return Answer(f"on so many nodes it is no program: {error.diagnostics[0].message}")
    except MALFORMED as error:
        return Answer(f"it is malformed: {type(error).__name__}: {error}")


def _refusal(part: Part, case: Case, about: str) -> str | None:
    if about != case.instance.program.source.digest:
        return "it is about another program, or another version of it"
    if case.instance.program.gaps:
        return "the program stands for more runs than its commands have"
    values = Values(case, part.files, part.phases, part.back)
    for phase, rank, state, file in values.demands():
        return f"rank {rank} comes to control state {state} in phase {phase} with registers {file}, which it leaves out"
    asked, left = Infeasible(values), set(values.sources) - set(part.infeasible)
    for source, commands in values.sources.items():
        for command in commands if source not in left else ():
            for missing in asked.demands(command, source[3], Fixpoint(*part.infeasible[source])):
                return f"source {source} may lead to a violation: {missing} is left out"
    if part.states and not case.rest:
        return States(values, left).refusal(part.states)
    if left:
        return f"nothing is said of source {min(left)}"
    return "some command may have no value" if values.may_fault else None
