"""The answer for one program and node count, with the runs that show it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from pgasrob.diagnostics import Diagnostic
from pgasrob.display import Result
from pgasrob.program.commands import show
from pgasrob.program.count_note import CountNote
from pgasrob.program.reading import DEFAULT_READING, Reading

if TYPE_CHECKING:
    from pgasrob.analysis.hardware import Occasion
    from pgasrob.analysis.store_buffers import Pair
    from pgasrob.program.assumptions import Assumption
    from pgasrob.program.control import Transition
    from pgasrob.program.illegal_calls import IllegalCall
    from pgasrob.program.instance import Instance, Registers
    from pgasrob.robustness.cycle_types import CycleType
    from pgasrob.robustness.every_n.proof import Proof
    from pgasrob.robustness.maximal_runs import At
    from pgasrob.robustness.reasons import Reason
    from pgasrob.semantics.computation import Event
    from pgasrob.semantics.endings import Ending, FailedAssertion
    from pgasrob.semantics.happens_before import Edge
    from pgasrob.semantics.race import Race
    from pgasrob.semantics.replay import Run
    from pgasrob.semantics.sc_order import SequentialOrder

Answer = Literal["robust", "not robust", "unknown", "error"]
Assertions = Literal["hold", "violated", "unknown"]
Deadlock = bool | Literal["unknown"]
LineName = Literal["legal", "progress", "assertions", "faults", "robust", "races"]
LINES: tuple[LineName, ...] = ("legal", "progress", "assertions", "faults", "robust", "races")
"""What a program has to be to be correctly synchronised: it makes no call that its API forbids, no run gets stuck, its
assertions hold, no command faults (else it is in error), it is robust, and how its SC runs end depends on no race. A
line each in reports."""
Legal = Literal["yes", "no", "unknown"]
Faults = Literal["none", "unknown"]


@dataclass(frozen=True, slots=True)
class Witness:
    """A replayed run and what it shows.

    ``shows``: "violation", "fault", "assertion", "deadlock", "illegal call", "race" (`race_verdict`), or "run" for a
    simulated one.
    A violation has its happens-before ``cycle``; when the engine works with normal forms also the part of each event
    (1..), its marks and the cycle type. For a fault, ``fault`` says which command of which rank cannot be evaluated and
    why. ``sequential``: the SC run that it looks like, without the last command e where there is a cycle; None when it
    is one itself. ``irreducible``: whether no proper subsequence is a violating computation; None: not known.
    """

    shows: str
    run: Run
    cycle: tuple[Edge, ...] | None = None
    parts: tuple[int, ...] | None = None
    marks: tuple[frozenset[str], ...] | None = None
    cycle_type: CycleType | None = None
    fault: Fault | None = None
    sequential: SequentialOrder | None = None
    irreducible: bool | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """The command that cannot be evaluated: its rank, text and place, the reason and its code, the registers of the
    rank by name. ``length``: how wide it is, 0 where it is longer than its line."""

    rank: int
    command: str
    line: int
    column: int
    length: int
    reason: str
    code: str
    registers: dict[str, int]

    @classmethod
    def at(
        cls, instance: Instance, rank: int, transition: Transition, why: tuple[str, str], registers: Registers
    ) -> Fault:
        """The fault of ``rank`` at the command of ``transition``, where it has these ``registers``; ``why``: the reason
        and its code."""
        span = transition.span
        named = dict(zip(instance.program.registers, registers, strict=True))
        length = span.end_column - span.column if span.end_line == span.line else 0
        return cls(rank, show(transition.command), span.line, span.column, length, *why, named)


@dataclass(frozen=True, slots=True)
class FoundIllegalCall:
    """A ``call`` that its API forbids where it stands, and the SC run in which ``rank`` comes to it, its last event."""

    call: IllegalCall
    rank: int
    run: Witness | None = None


@dataclass(frozen=True, slots=True)
class BufferedEvent:
    """An event of a run on processors with store buffers.

    ``how``: it is the "issue" of a command, that of a store that goes into the buffer ("buffered"), or its reaching
    memory ("drain"), or a "step" of a transfer. ``event`` has the cell that the command or step accesses. ``read`` and
    ``written``: the values; ``source``: the place in the run of the store in the own buffer that is read.
    """

    event: Event
    how: Literal["issue", "buffered", "drain", "step"]
    read: int | None = None
    written: int | None = None
    source: int | None = None


@dataclass(frozen=True, slots=True)
class BufferedRun:
    """A run with store buffers, and a cycle of its happens-before relation as edges between places in it."""

    instance: Instance
    events: tuple[BufferedEvent, ...]
    cycle: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class OnTso:
    """What store buffers (x86-TSO) add to a program that is robust without them.

    ``overtaken``: the stores and loads for which they may matter, found from the text; without any they
    add nothing. ``states`` of the search that has decided whether they do, if there was one, and the ``run`` that it
    has found.
    """

    overtaken: tuple[Pair, ...] = ()
    states: int = 0
    run: BufferedRun | None = None


@dataclass(frozen=True, slots=True)
class Hardware:
    """By what a robust program may not be so on the hardware: the ``occasions`` that its text gives. ``library``: it
    communicates through one, which takes care of some of them. ``threads``: its ranks have several."""

    occasions: tuple[Occasion, ...]
    library: bool = False
    threads: bool = False


@dataclass(frozen=True, slots=True)
class CheckedCount:
    """The answer for a number of nodes, with what is known of assertions and deadlocks there."""

    nodes: int
    verdict: Answer
    assertions: Assertions | None
    deadlock: Deadlock | None


@dataclass(frozen=True, slots=True)
class EveryCount:
    """What is known of every number of nodes: the ``proof`` for all from some on, if there is one, and the answers for
    the numbers that were ``checked`` one by one, ascending."""

    proof: Proof
    checked: tuple[CheckedCount, ...]


RECORDED = "recorded"
"""In place of an engine: the answer is about the runs that a recorded one stands for, and no others."""

EffectKind = Literal["outcome", "assertion", "none found", "none"]
"""`none`: all runs were looked at; `none found`: a limit has ended that."""


@dataclass(frozen=True, slots=True)
class EndValue:
    """A value that a run on the network has: at its end the register or cell ``name`` (``r@0``, ``a[2]@1``), or what
    the command ``occurrence`` of ``rank`` has read from the cell ``name`` last.

    ``in_sc``: the values that SC runs have there, in order; empty where it takes several values together to tell.
    """

    name: str
    rank: int
    value: int
    in_sc: tuple[int, ...] = ()
    occurrence: int | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """What a violation means: whether some run on the network has an outcome that no SC run has.

    ``run``, for "outcome" and "assertion", is such a run: it fails ``assertion``, or comes to ``place``, or has all of
    ``values``, with the ``ending`` and just the ``failed`` assertions where known. For "none found" ``reason``
    says why it is not known that there is none. ``sc_states`` and ``network_states`` were looked at.
    """

    kind: EffectKind
    reason: Reason | None = None
    sc_states: int = 0
    network_states: int = 0
    run: Witness | None = None
    values: tuple[EndValue, ...] = ()
    ending: Ending | None = None
    failed: tuple[FailedAssertion, ...] | None = None
    place: At | None = None
    assertion: FailedAssertion | None = None

    @property
    def by_reads(self) -> bool:
        """Whether the outcome is one of what commands have read, or of which come next, beside what memory holds."""
        return self.place is not None or any(each.occurrence is not None for each in self.values)


BY_A_PROOF = "a proof"
"""What has settled a question that was not settled by a search."""


@dataclass(frozen=True, slots=True)
class Stats:
    """What the search cost: states and transitions of the engine, SC states beside it, wall-clock seconds.

    ``settled_by``: the part of the portfolio that has decided, empty where none has or there are no parts. For the
    traces, states are the places to which their runs come.
    """

    states: int = 0
    transitions: int = 0
    seconds: float = 0.0
    sequential_states: int = 0
    settled_by: str = ""


@dataclass(frozen=True, slots=True)
class ConsequentialRace:
    """A race that decides how SC runs end.

    ``differs``: what ends differently, in words: "x@1 is 1 or 2", "the assertion in line 9 holds or fails". ``runs``:
    two SC runs, one for each order of the two accesses, that end differently so. ``by_reads``: what commands have read
    is all that differs.
    """

    race: Race
    differs: tuple[str, ...]
    runs: tuple[Run, Run]
    by_reads: bool = False


@dataclass(frozen=True, slots=True)
class RaceConsequences:
    """Whether how SC runs end depends on the order in which racing accesses come.

    ``answer``: "none" (there is no race), "harmless" (no race decides anything), "matters", or "unknown".
    ``reason``: why that is unknown, or why the lists may not be whole. ``left_out``: how many races that matter are not
    listed, as their runs are too large.
    """

    answer: Literal["none", "harmless", "matters", "unknown"]
    matters: tuple[ConsequentialRace, ...] = ()
    harmless: tuple[Race, ...] = ()
    reason: Reason | None = None
    stats: Stats = field(default_factory=Stats)
    left_out: int = 0

    def without_runs(self) -> RaceConsequences:
        """The same without its races, which have runs."""
        return replace(self, matters=(), harmless=(), left_out=self.left_out + len(self.matters))


@dataclass(frozen=True, slots=True, repr=False)
class Verdict(Result):
    """The answer for one program at one node count, or about all.

    ``reason``: why there is no answer, or not the whole one; its ``str`` is a sentence.
    ``assertions`` and ``deadlock`` are about SC runs; for a robust program they hold for every run on the network.
    ``faults``: whether it is known of a robust program that no run reaches a fault; where that is not known, each run
    looks like an SC run as far as it goes. None for any other answer; where an SC run reaches one it is `error`.
    ``witness`` is the run to show first; ``assertion_run`` and ``deadlock_run`` show those facts whenever they are so.
    ``legal``: whether all calls are allowed where SC runs come to them, as far as the rules of the API are checked
    (`frontends/apis/*/rules.py`); None for a program in the core language. ``illegal_calls``: those that are not, in
    the order of the source, one for each rule and place.
    ``errors`` is non-empty for a text that is no program. ``communicates``: whether some rank has a command that may
    access the memory of another one. ``polls``: whether some read is no event when it fails. ``reading``: which polls
    and conflicts count. ``assumptions``: what the answer rests on; where that is not `robust`, what the run that is
    shown rests on; none where there is no run.
    ``effect``: what it means that the program is not robust; None for any other answer, and where it was not asked.
    ``units``: the further files of the program, without headers. ``alike``: how many elements of memory a few others
    stand for, and how many these are; runs are those of the program without what is done to the rest.
    ``on_tso``: what store buffers add, where that was asked for and the program is robust without them. ``hardware``:
    by what a robust program may not be so on the hardware; None where that was not looked at. ``one_block``: it is
    robust, and one block is for all ranks but some that are named, so it is for any number of nodes. ``proved_from``:
    it is robust as that is proved of every number of nodes from this one on. ``every``: what is known of every
    number of nodes, where that was asked for; with ``nodes`` None the verdict is about all of them, and so are the
    facts: of those that were checked alone ``every`` has them. ``always_stuck``: whether it is known that every SC
    run ends in a deadlock.
    ``asked``: the lines of whether it is correctly synchronised that were asked, and ``facts``: further ones that
    count where the answer is bad (:mod:`~pgasrob.robustness.synchronisation`). ``races``: whether how SC runs end
    depends on races, where that was asked. ``count_note``: why the program is not
    meant for this number of nodes, or that it was chosen. ``by_display``: it is about the program whose commands tell
    what it shows (:mod:`~pgasrob.robustness.telling`). ``strict_waits``: the deadlock that is shown is one in
    which calls wait for others that may do so and need not, in these lines (:mod:`~pgasrob.robustness.strict_waits`).
    """

    file: str
    program: str | None
    nodes: int | None
    engine: str
    verdict: Answer
    reason: Reason | None = None
    assertions: Assertions | None = None
    deadlock: Deadlock | None = None
    faults: Faults | None = None
    stats: Stats = field(default_factory=Stats)
    witness: Witness | None = None
    assertion_run: Witness | None = None
    deadlock_run: Witness | None = None
    always_stuck: bool = False
    legal: Legal | None = None
    illegal_calls: tuple[FoundIllegalCall, ...] = ()
    errors: tuple[Diagnostic, ...] = ()
    communicates: bool | None = None
    polls: bool | None = None
    reading: Reading = DEFAULT_READING
    assumptions: tuple[Assumption, ...] = ()
    effect: Effect | None = None
    units: tuple[str, ...] = ()
    alike: tuple[int, int] | None = None
    on_tso: OnTso | None = None
    hardware: Hardware | None = None
    one_block: bool = False
    proved_from: int | None = None
    every: EveryCount | None = None
    asked: tuple[LineName, ...] = ("robust",)
    facts: tuple[LineName, ...] = ()
    races: RaceConsequences | None = None
    count_note: CountNote | None = None
    by_display: bool = False
    strict_waits: Assumption | None = None

    @property
    def harmless(self) -> bool:
        """Whether it is not robust, and known all the same that every run on the network ends as some SC run does. What
        is known of one number of nodes does not answer a question about all."""
        known = self.effect is not None and self.effect.kind == "none"
        return self.verdict == "not robust" and known and self.every is None
