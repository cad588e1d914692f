"""Whether a certificate proves that a program is robust."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from pgasrob.certificates.check.closed import Closed
from pgasrob.certificates.check.format import MALFORMED, Certificate, content_hash, read
from pgasrob.certificates.check.infeasible import FoundE, Infeasible, Source, phase_demands
from pgasrob.certificates.check.values import Commands, Values
from pgasrob.program.instance import Instance
from pgasrob.program.reading import Reading


class Instantiable(Protocol):
    """A program, which a node count and a reading make an instance of: in the core language, or in C."""

    def instantiate(self, nodes: int | None, reading: Reading) -> Instance: ...


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

    def __str__(self) -> str:
        found = self.certificate
        if self.reason is not None or found is None:
            return f"refused: {self.reason}"
        read = f"--failed-polls {found.reading.failed_polls} --conflicts {found.reading.conflicts}"
        return f"accepted: robust on {found.nodes} nodes, read with {read} (by {found.kind})"


def examine(program: Instantiable, text: str) -> Answer:
    """Whether the certificate in ``text`` proves that ``program`` is robust.

    Raises :class:`~pgasrob.diagnostics.SourceError` when it is no program on so many nodes.
    """
    try:
        certificate = read(text)
        instance = program.instantiate(certificate.nodes, certificate.reading)
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
        try:
            for demand in asked.demands(source, fixpoint):
                return f"source {source}: {demand} is left out"
        except FoundE:
            return f"source {source}: some command may close a cycle"
    open_sources = [source for source in sources_of(commands) if source not in certificate.sources]
    if not certificate.states and (open_sources or values.may_fault):
        return f"nothing is said of source {open_sources[0]}" if open_sources else "some command may have no value"
    if not certificate.states:
        return None
    closed = Closed(values, commands, lambda *source: source not in certificate.sources)
    return closed.refusal(certificate.states, certificate.expanded)
