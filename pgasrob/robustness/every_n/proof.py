"""The result of proving robustness on every number of nodes: a proof, or the obstacles to one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pgasrob.program.assumptions import Assumption
from pgasrob.program.control import Transition
from pgasrob.program.core import Transfer
from pgasrob.program.count_note import CountNote, Only
from pgasrob.program.expressions import MOST_NODES
from pgasrob.program.statements import Span, place_of

MOST_OPEN = 8
"""The most obstacles that are reported; there may be more."""


LEAST = 2
"""The least number of nodes that anything is said about."""
Kind = Literal["step", "fault", "program", "limit"]


@dataclass(frozen=True)
class CommandText:
    """A command of the program, as ``text`` in its source."""

    text: str
    transition: Transition

    @property
    def span(self) -> Span:
        return self.transition.span

    def event(self, number: int) -> str:
        """What the command does in its step ``number``."""
        form = self.transition.form
        match form.steps[number].kind if isinstance(form, Transfer) else "step":
            case "popa" | "popd":
                return "reads what it transfers"
            case "popc":
                return "brings its value"
            case _:
                return "takes effect"

    def __str__(self) -> str:
        file, line = place_of(self.span.line)
        return f"`{self.text}` in line {line}{f' of {file}' if file else ''}" if line else f"`{self.text}`"


@dataclass(frozen=True)
class Obstacle:
    """Why there is no proof.

    - "step": an attack could not be excluded that begins with a step of ``source``, ``number`` of its steps before it,
      where the source's rank is that of ``case``, and ends with ``closing``, a command of ``rank``;
    - "fault": ``source``, a command of ``rank``, may fault: ``text``;
    - "program": proofs are not about such programs: ``text``;
    - "limit": it takes too long: ``text``.
    """

    kind: Kind
    text: str = ""
    case: str = ""
    source: CommandText | None = None
    number: int = 0
    rank: str = ""
    closing: CommandText | None = None

    def __str__(self) -> str:
        if self.kind == "step" and self.source and self.closing:
            return (
                f"could not exclude that {self.source} of {self.case} {self.source.event(self.number)} only after "
                f"{self.closing} of {self.rank}"
            )
        if self.kind == "fault" and self.source:
            return f"could not exclude that {self.source} of {self.rank} faults: {self.text}"
        return self.text


@dataclass(frozen=True)
class Claim:
    """Something that holds in all SC runs on all numbers of nodes that a proof is about, unless it is ``open``: why
    that is not known. ``place``: the assertion or call that it is about, or the command before which ranks may be
    stuck."""

    open: str = ""
    place: CommandText | None = None

    @property
    def holds(self) -> bool:
        return not self.open


@dataclass
class Proof:
    """What has been found: a proof for the numbers of nodes from ``cutoff`` to ``most`` if there are no ``obstacles``.

    ``cases``: where the source's rank is, each with the number of steps that were looked at there. ``assumptions``:
    those of the program that it is about. ``views``: it rests on what is known of two ranks at once. ``assertions``:
    what is known of each from ``cutoff`` on. ``deadlock``: whether there is known to be none; None where nothing waits.
    ``legal``: for each call that breaks a rule of its API where it stands, whether no run comes to it. ``only``: in
    place of a cutoff, the numbers of nodes on which the program does more than leave at once, which are to be checked.
    ``too_few``: why the program is in error on 2 nodes and meant for more: it is asked about ``least`` and more then.
    ``nothing``: why nothing is checked of the program on any number of nodes.
    """

    cutoff: int | None = None
    most: int = MOST_NODES
    cases: list[tuple[str, int]] = field(default_factory=list)
    obstacles: list[Obstacle] = field(default_factory=list)
    assumptions: tuple[Assumption, ...] = ()
    views: bool = False
    assertions: list[Claim] = field(default_factory=list)
    deadlock: Claim | None = None
    legal: list[Claim] = field(default_factory=list)
    only: Only | None = None
    too_few: CountNote | None = None
    nothing: CountNote | None = None

    @property
    def least(self) -> int:
        """The first number of nodes that is asked about: on one node programs are mostly not meant to communicate, and
        often fault."""
        return LEAST if self.too_few is None or self.too_few.further is None else self.too_few.further

    @property
    def holds(self) -> bool:
        return (self.cutoff is not None or self.only is not None) and not self.obstacles

    def is_about(self, nodes: int) -> bool:
        """Whether it is one that on so many nodes there is no violating computation and no fault."""
        return self.holds and self.cutoff is not None and self.cutoff <= nodes <= self.most

    @property
    def settles_facts(self) -> bool:
        """Whether nothing is left to be looked for there."""
        return self.all_hold and self.all_legal and self.no_deadlock

    @property
    def all_hold(self) -> bool:
        """Whether all assertions hold there."""
        return all(claim.holds for claim in self.assertions)

    @property
    def all_legal(self) -> bool:
        """Whether no run comes to an illegal call there."""
        return all(claim.holds for claim in self.legal)

    @property
    def no_deadlock(self) -> bool:
        """Whether there is no deadlock there."""
        return self.deadlock is None or self.deadlock.holds
