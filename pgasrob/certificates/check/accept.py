"""Whether a certificate proves that a program is robust."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from pgasrob.certificates.check.format import MALFORMED, Certificate, Frame, Part, content_hash, read
from pgasrob.certificates.check.infeasible import Infeasible, Source, phase_demands
from pgasrob.certificates.check.names import Case, case_of, cases, cutoff
from pgasrob.certificates.check.states import Closed
from pgasrob.certificates.check.values import Commands, Values
from pgasrob.diagnostics import SourceError
from pgasrob.program.instance import Instance
from pgasrob.program.program import Program
from pgasrob.program.reading import Reading

LEAST = 2
"""The first number of nodes when a certificate is about every number."""


class Instantiable(Protocol):
    """A program that can be put on so many nodes, or be left with ``me`` and ``nodes`` as symbols."""

    def instantiate(self, nodes: int | None, reading: Reading, /) -> Instance: ...
    def for_every_count(self) -> Program: ...


def subjects(program: Instantiable, nodes: int | None, frame: Frame | None, reading: Reading) -> Iterator[Case]:
    """What there has to be evidence about for so many nodes; with a frame for every number, those below the cutoff and
    the cases from there on."""
    for count in (nodes,) if frame is None else range(LEAST, cutoff(*frame)):
        yield case_of(program.instantiate(count, reading))
    if frame is not None:
        yield from cases(program.for_every_count(), reading, *frame)


def sources_of(case: Case, commands: Commands) -> list[Source]:
    """Every step that may be chosen as the source; where there is a rest it is one of the first name."""
    return [
        (rank, state, place, step)
        for rank, own in enumerate(commands[:1] if case.rest else commands)
        for state, leaving in enumerate(own)
        for place, command in enumerate(leaving)
        for step in range(len(command.steps) if command.possible else 0)
    ]


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
    if about != content_hash(case.instance.program):
        return "it is about another program, or another version of it"
    if case.instance.program.gaps:
        return "the program stands for more runs than its commands have"
    values = Values(case, part.files)
    for rank, state, file in values.demands():
        return f"rank {rank} comes to control state {state} with registers {list(file)}, which it leaves out"
    commands = values.commands()
    for phase, rank, state in phase_demands(commands, part.phases, part.back):
        return f"rank {rank} comes to control state {state} in phase {phase}, which it leaves out"
    asked = Infeasible(case, commands, part.phases)
    for source, fixpoint in part.sources.items():
        if fixpoint.last < 1:
            return "what comes after a barrier has to be told from what comes before"
        for missing in asked.demands(source, fixpoint):
            return f"source {source} may lead to a violation: {missing} is left out"
    open_sources = [source for source in sources_of(case, commands) if source not in part.sources]
    if part.states and not case.rest:
        return Closed(values, commands, lambda *source: source not in part.sources).refusal(part.states)
    if open_sources:
        return f"nothing is said of source {open_sources[0]}"
    return "some command may have no value" if values.may_fault else None
