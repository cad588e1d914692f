"""Whether a certificate proves that a program is robust."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pgasrob.certificates.check.format import MALFORMED, Certificate, content_hash, read
from pgasrob.certificates.check.infeasible import Infeasible, Source, phase_demands
from pgasrob.certificates.check.states import Closed
from pgasrob.certificates.check.values import Commands, Values
from pgasrob.program.instance import Instance
from pgasrob.program.reading import Reading

Instantiate = Callable[[int | None, Reading], Instance]
"""Puts a program on so many nodes, as it is read."""


def sources_of(commands: Commands) -> list[Source]:
    """Every step that may be chosen as the source."""
    return [
        (rank, state, place, step)
        for rank, own in enumerate(commands)
        for state, leaving in enumerate(own)
        for place, command in enumerate(leaving)
        for step in range(len(command.steps) if command.possible else 0)
    ]


class Answer(NamedTuple):
    """Why a certificate is refused, None when it proves that the program is robust; and what it is, as far as known."""

    reason: str | None
    certificate: Certificate | None = None


def examine(instantiate: Instantiate, text: str) -> Answer:
    """Whether the certificate in ``text`` proves that the program is robust that ``instantiate`` puts on nodes.

    Raises :class:`~pgasrob.diagnostics.SourceError` when it is no program on so many nodes.
    """
    try:
        certificate = read(text)
        instance = instantiate(certificate.nodes, certificate.reading)
        if certificate.program != content_hash(instance.program):
            return Answer("it is about another program, or another version of it", certificate)
        if instance.program.gaps:
            return Answer("the program stands for more runs than its commands have", certificate)
        return Answer(_refusal(instance, certificate), certificate)
    except MALFORMED as error:
        return Answer(f"it is malformed: {type(error).__name__}: {error}")


def _refusal(instance: Instance, certificate: Certificate) -> str | None:
    values = Values(instance, certificate.files)
    for rank, state, file in values.demands():
        return f"rank {rank} comes to control state {state} with registers {list(file)}, which it leaves out"
    commands = values.commands()
    for phase, rank, state in phase_demands(commands, certificate.phases, certificate.back):
        return f"rank {rank} comes to control state {state} in phase {phase}, which it leaves out"
    asked = Infeasible(instance, commands, certificate.phases)
    for source, fixpoint in certificate.sources.items():
        if fixpoint.last < 1:
            return "what comes after a barrier has to be told from what comes before"
        for missing in asked.demands(source, fixpoint):
            return f"source {source} may lead to a violation: {missing} is left out"
    open_sources = [source for source in sources_of(commands) if source not in certificate.sources]
    if certificate.states:
        return Closed(values, commands, lambda *source: source not in certificate.sources).refusal(certificate.states)
    if open_sources:
        return f"nothing is said of source {open_sources[0]}"
    return "some command may have no value" if values.may_fault else None
