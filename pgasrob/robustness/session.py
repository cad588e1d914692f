"""Takes a question through typed stages to its answer; the one place where limits and Ctrl-C end it.

    Question ── load ──> Loaded ── place ──> Placed ── the decision of what is asked ──> verdict

`check` goes on from `Placed` through `Decided` and `Judged`, `races.race_check` through a search for races.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pgasrob.diagnostics import Diagnostic, SourceError
from pgasrob.program import core
from pgasrob.program.instance import Instance
from pgasrob.program.program import Program
from pgasrob.program.reading import Reading
from pgasrob.robustness.question import ProgramFile, Question, node_count
from pgasrob.robustness.reasons import Interruption, NoProgram, Reason
from pgasrob.robustness.reduction.elements import represented
from pgasrob.robustness.reduction.unused import without_unused
from pgasrob.robustness.stopping import until_limit
from pgasrob.robustness.watch import Progress, Watch

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.robustness.every_n.proof import Proof

T = TypeVar("T")

READING = "while reading the program"
LOWERING, PREPARING = "while lowering the program", "while putting the program on its nodes"
LEAVING_OUT = "while looking for elements that are alike"
PROVING = "while looking for a proof for every number of nodes"
"""What a question is at, for the reason when a limit ends it."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C before the answer was there; ``verdict`` is what was known by then."""

    def __init__(self, verdict: Any) -> None:
        super().__init__("interrupted")
        self.verdict = verdict


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a stage has no result; ``errors``: what is wrong with a text that is no program."""

    reason: Reason
    errors: tuple[Diagnostic, ...] = ()

    def applied(self, verdict: T) -> T:
        """``verdict``, which knows nothing yet, for this reason."""
        changes = {"verdict": "error", "errors": self.errors} if self.errors else {}
        return replace(verdict, reason=self.reason, **changes)  # type: ignore[type-var]  # a verdict is a dataclass


@dataclass(frozen=True, slots=True)
class Loaded:
    """A program that has been read, with the number of nodes that it is asked about."""

    program: Program | CProgram
    nodes: int


@dataclass(frozen=True, slots=True)
class Placed:
    """A program on its nodes. ``shown`` is what engines search: ``whole``, or where elements of memory are accessed
    alike the program with only a few of each; ``alike``: how many there are, and how many were kept."""

    whole: Instance
    shown: Instance
    alike: tuple[int, int] | None = None


class Session:
    """A question, the watch that holds it to its limits, and the instance that further questions can go on with.

    ``watch``: limits that hold already, since the program was read, in place of a new one with this ``progress``.
    ``instance``: the program on its nodes, where that is there already with what is known of it.
    """

    def __init__(
        self,
        question: Question,
        progress: Callable[[Progress], None] | None = None,
        watch: Watch | None = None,
        instance: Instance | None = None,
    ) -> None:
        given = question.program
        # A limit that ends all else still names the node count; for C it may take some time to choose one.
        known = given.default_count if isinstance(given, Program) else getattr(given, "nodes", None)
        if question.nodes is None and known is not None:
            question = replace(question, nodes=known)
        self.question = question
        self.watch = watch or Watch(question.limits, progress, time.monotonic())
        self._instances = {} if instance is None else {(instance.nodes, instance.reading): instance}
        self._proofs: dict[Reading, Proof] = {}

    def asking(self, question: Question) -> Session:
        """A session for another ``question`` about the same program, within the same limits and with its instance."""
        session = Session(question, watch=self.watch)
        session._instances, session._proofs = self._instances, self._proofs
        return session

    @property
    def tells(self) -> bool:
        """Whether the commands of the program tell what it shows."""
        program = self.question.program
        return not isinstance(program, Program | ProgramFile) and program.compiled.tells

    def goes_on_as(self, other: Session) -> None:
        """Be about the program of ``other`` from now on, with its instance and the limits that there were."""
        self.question = replace(other.question, limits=self.question.limits)
        self._instances, self._proofs = other._instances, other._proofs

    # The stages

    def load(self) -> Loaded:
        """Read the program, unless that is done, and note it in the question. Raises :class:`SourceError`."""
        program = self.question.program
        if isinstance(program, ProgramFile):
            program = self.watch.within(READING, program.load)
        loaded = program
        nodes = self.watch.within(LOWERING, lambda: node_count(self.question.nodes, loaded))
        self.question = replace(self.question, program=program, nodes=nodes)
        return Loaded(program, nodes)

    def instance(self, loaded: Loaded, reading: Reading | None = None) -> Instance:
        """The program on its nodes. Raises :class:`SourceError` where it is none there."""
        program, nodes, read_so = loaded.program, loaded.nodes, reading or self.question.reading
        if not isinstance(program, Program):
            self.watch.within(LOWERING, lambda: program.program(nodes))
        if (nodes, read_so) not in self._instances:
            for other in [key for key in self._instances if key[0] != nodes]:
                del self._instances[other]  # the counts are asked about one after the other
            known = self._instances.get((nodes, read_so._replace(waits="condition")))
            if known is None or _waits_matter(known):
                known = program.instantiate(nodes, read_so)
            self._instances[nodes, read_so] = known
        return self._instances[nodes, read_so]

    def place(self, whole: Instance, few: bool, one_place: bool = False) -> Placed:
        """``whole`` as it is searched: with ``few`` of the elements that are accessed alike, if it is a C program."""
        if few and not whole.program.source.shows_commands:
            found = self.watch.within(LEAVING_OUT, lambda: represented(whole, one_place=one_place))
            if found is not None:
                return Placed(whole, without_unused(found.instance), (found.alike, found.kept))
        return Placed(whole, whole)

    def proof(self, most_open: int = 1) -> Proof:
        """What is proved of the program on every number of nodes, or why nothing is, ``most_open`` obstacles; it is
        looked for once, so who wants to show more of these asks first."""
        from pgasrob.robustness.every_n.program_proof import program_proof

        program, reading = self.load().program, self.question.reading
        if reading not in self._proofs:
            look = partial(self.watch.look_around, "proof for every number of nodes", 0)
            self._proofs[reading] = self.watch.within(PROVING, lambda: program_proof(program, reading, look, most_open))
        return self._proofs[reading]

    # What ends them early

    def attempt(self, phase: str, work: Callable[[], T]) -> T | Failed:
        """What ``work`` gives, watched in this ``phase``, or why it has come to nothing."""
        return self.caught(lambda: self.watch.within(phase, work))

    def caught(self, work: Callable[[], T]) -> T | Failed:
        """What ``work`` gives, or why it has come to nothing: an error in the text, or a limit."""
        try:
            return self._limited(work)
        except SourceError as error:
            errors = tuple(error.diagnostics)
            return Failed(NoProgram(errors[0].message), errors)

    def ended(self, *phases: tuple[str, Callable[[], None]], grace: float = 0) -> Reason | None:
        """Go through ``phases``, watched all together; the limit that ended them early."""

        def all_of_them() -> None:
            for phase, work in phases:
                self.watch.within(phase, work)

        found = self._limited(lambda: self.watch.within(phases[0][0], all_of_them, grace))
        return found.reason if isinstance(found, Failed) else None

    def _limited(self, work: Callable[[], T]) -> T | Failed:
        with until_limit(self.watch, memory=True) as stopped:
            return work()
        assert stopped.reason is not None, "else there is a result"
        return Failed(stopped.reason)

    @contextmanager
    def interruptible(self, known: Callable[[Reason], object]) -> Iterator[None]:
        """A context in which Ctrl-C raises :class:`Interrupted`, with the verdict by what is ``known`` then."""
        try:
            yield
        except KeyboardInterrupt:
            raise Interrupted(known(Interruption())) from None


def _waits_matter(instance: Instance) -> bool:
    """Whether it may make a difference how waits are read, and what atomics fetch."""
    made = [form for form in instance.forms if isinstance(form, core.Immediate)]
    return any(form.condition or form.until or (form.update and form.register is not None) for form in made)
