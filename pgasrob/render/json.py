"""The JSON object of a verdict: the output contract of the design, section 6, and the hub of all renderers.

Every other renderer draws from this object alone, so it holds what a drawing needs: source text, initial memory, what
each event read and wrote, where each rank stands at the end. The types below are its schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict, TypeVar

from pgasrob.analysis.hardware import Difference
from pgasrob.diagnostics import visible
from pgasrob.program.assumptions import scope
from pgasrob.program.commands import Barrier, show
from pgasrob.program.core import accesses_of, at_issue
from pgasrob.program.expressions import Fault as NoValue
from pgasrob.program.reading import Conflicts, FailedPolls
from pgasrob.program.statements import Line
from pgasrob.races.verdict import RaceKind
from pgasrob.render.calls import Calls, gives_status, pieces
from pgasrob.render.diagnosis import Diagnosis
from pgasrob.render.doubles import shown, value
from pgasrob.render.hardware import HardwareDifference, hardware_to_json
from pgasrob.render.store_buffers import OnTso, on_tso_to_json
from pgasrob.render.written import WrittenCommands
from pgasrob.robustness.diagnosis import late_operations
from pgasrob.robustness.reasons import FaultReached
from pgasrob.robustness.verdict import RECORDED
from pgasrob.semantics.happens_before import HappensBefore

if TYPE_CHECKING:
    from pgasrob.diagnostics import Diagnostic
    from pgasrob.program import assumptions as kinds
    from pgasrob.program.control import Transition
    from pgasrob.program.core import Cell
    from pgasrob.program.instance import Instance
    from pgasrob.robustness import verdict as library
    from pgasrob.robustness.batch import Checked
    from pgasrob.robustness.every_n.proof import Claim as _Claim
    from pgasrob.robustness.every_n.proof import CommandText
    from pgasrob.robustness.verdict import EffectKind
    from pgasrob.runs.simulate import Bias
    from pgasrob.semantics.endings import Ending
    from pgasrob.semantics.happens_before import Edge as CycleEdge
    from pgasrob.semantics.replay import Change as CellChange
    from pgasrob.semantics.replay import ReplayedEvent, Run
    from pgasrob.semantics.sc_order import SequentialOrder

T = TypeVar("T")

SCHEMA = 1
FAULT_CODE = "PG040"


class Address(TypedDict):
    """A cell: the rank on whose node it lies, its address there and its name (``x`` or ``a[2]``).

    ``made_up``: it stands for something within a library.
    """

    rank: int
    index: int
    name: str
    made_up: NotRequired[bool]


class InitialCell(Address):
    value: int


class Written(TypedDict):
    """A cell (``y@1``) before and after an event; both values are equal when a write changes nothing."""

    cell: str
    before: int
    after: int


class RegisterChange(TypedDict):
    """``temporary``: the register is no variable of the source. ``variable``: what it is called there, if not so."""

    name: str
    temporary: NotRequired[bool]
    variable: NotRequired[str]
    before: int
    after: int


class Queue(TypedDict):
    id: int
    name: str
    unordered: bool


class Event(TypedDict):
    """An event and what it did.

    ``command`` is its command or, for a step, that of its operation: as written, with `me` and `nodes` folded into the
    numbers. ``target`` is the remote rank of an operation and of its steps, or the rank of a fence; ``holds`` is for
    an assert. ``part`` (from 1) and ``marks`` ("enter", "leave") are null when the engine knows no normal form.
    Of a C program alone: ``call`` is the call that it comes from, null for what the program does by itself, and
    ``piece`` is one number for all that its rank does in one execution of a call, assignment or condition. ``truth``
    is there for a condition without a call.

    ``access`` is there where the event is one of two accesses that race, after their run: what it would do.
    """

    event: str
    rank: int
    operation: int
    address: Address | None
    line: int
    column: int
    end_line: int
    end_column: int
    command: str
    read: int | None
    written: Written | None
    register: RegisterChange | None
    queue: Queue | None
    target: int | None
    holds: bool | None
    part: int | None
    marks: list[str] | None
    call: NotRequired[str | None]
    piece: NotRequired[int]
    truth: NotRequired[bool]
    access: NotRequired[Literal["read", "write", "read and write"]]


Edge = TypedDict("Edge", {"from": int, "to": int, "relation": str})
"""An edge of happens-before between two places of the computation: "po", "cf" or "id"; where two accesses race, a
picture has "race" between them."""


class Sequential(TypedDict):
    """An SC run with the happens-before relation of a computation, without its last command e where that has a cycle.

    ``places[i]`` is the place in the computation of ``events[i]``, which says what it reads and writes in the SC run.
    ``without`` has the places of the events of e.
    """

    without: list[int]
    places: list[int]
    events: list[Event]


class LateOperation(TypedDict):
    """An operation on the cycle that is late, and what it lacks, as two sentences and by places in the computation.

    ``issue`` issues it, ``step`` is the step that is late, ``ahead`` the access that should come after it, ``next`` the
    event of its rank by which the cycle goes on. ``missing``: "local completion", "completion" or "order"; ``between``
    complete or order operations, and not this one.
    """

    sentences: str
    issue: int
    step: int
    ahead: int
    next: int
    missing: str
    between: list[int]


class Fault(TypedDict):
    """The command that cannot be evaluated, why, and the registers of its rank by name; ``code`` is PG040."""

    code: str
    rank: int
    command: str
    line: int
    column: int
    reason: str
    registers: dict[str, int]


class NextCommand(TypedDict):
    """A command that a rank stands before; ``value`` is what the cell it would access holds, ``barrier`` the name of a
    barrier."""

    event: str
    command: str
    line: int
    column: int
    address: Address | None
    value: int | None
    barrier: NotRequired[str]


class Standing(TypedDict):
    """Where a rank stands at the end of a run; it has ended when there is no next command."""

    rank: int
    ended: bool
    next: list[NextCommand]
    registers: dict[str, int]


class Witness(TypedDict):
    """A run and what it shows ("violation", "fault", "assertion", "deadlock", "race", or "run" when it was simulated).

    ``happens_before`` is the whole relation: "po" from each issued event to the next one of its rank, "cf" between
    conflicting accesses, "id" between neighbouring events of a command; the po edges of ``cycle`` may skip commands.
    ``late`` says what the cycle comes down to, the most important operation first.
    ``irreducible``: whether no proper subsequence is a violating computation (null: not known). ``sequential`` is null
    for an SC run. ``memory`` holds the initial values of all cells of all ranks (registers begin with 0), ``standing``
    where each rank is at the end. ``doubles`` are the memory objects and registers whose values are the bits of
    doubles: in this package each is a :class:`pgasrob.render.doubles.Double`, which prints as its number.
    ``temporaries`` are the registers that are no variables of the source, which reports leave out. ``source`` is the
    text of the first file, ``sources`` those of the others by their paths.
    """

    shows: str
    nodes: int
    computation: list[Event]
    happens_before: list[Edge]
    cycle: list[Edge] | None
    cycle_type: list[int] | None
    complete: bool
    irreducible: bool | None
    sequential: Sequential | None
    memory: list[InitialCell]
    registers: list[str]
    doubles: NotRequired[list[str]]
    temporaries: NotRequired[list[str]]
    standing: list[Standing]
    fault: Fault | None
    source: str
    sources: NotRequired[dict[str, str]]
    late: NotRequired[list[LateOperation]]


class Stats(TypedDict):
    """States and transitions of the engine, states of the SC runs beside it, wall-clock seconds; which part of the
    portfolio has decided: infeasibility, traces or attack."""

    states: int
    transitions: int
    seconds: float
    sc_states: int
    settled_by: NotRequired[str]


class Error(TypedDict):
    """A finding about the source text; line 0 when it concerns the file as a whole. ``notes``: how the place comes into
    the program, from a header or macro."""

    code: str
    message: str
    line: int
    column: int
    length: int
    excerpt: str
    hint: str
    notes: NotRequired[list[str]]


class Assumption(TypedDict):
    """What a verdict rests on: its code (`program/assumptions.py`), a sentence, and the lines of the source that need
    it, where they are known. ``scope``: what needs it, "every" verdict, every one on "C", or a "construct"."""

    code: str
    text: str
    lines: list[int]
    scope: str


class EffectValue(TypedDict):
    """A value of a run on the network: what the register or cell ``name`` (``r@0``, ``a[2]@1``) of ``rank`` holds at
    its end or, with a ``line``, what ``command`` of ``rank`` there has read last from the cell ``name``.

    ``in_sc``: the values that it has in SC runs; empty where it takes all of several values to tell them apart.
    ``copies``: as for a place, of those that read the same cell. ``made_up``: it is something within a library.
    """

    name: str
    rank: int
    value: int
    in_sc: list[int]
    line: int | None
    command: str | None
    copies: int | None
    made_up: NotRequired[bool]


class EffectPlace(TypedDict):
    """A command that some rank comes to, or an assertion that it fails. ``ended``: it ends behind that command.

    ``copies``: the commands that come from the same place of the source, by iterations and calls that are written out.
    """

    rank: int
    line: int
    column: int
    command: str
    copies: int
    ended: NotRequired[bool]


class EffectDetail(TypedDict):
    """What a run on the network has that no SC run has, or what was looked at for one.

    There is such a run: it fails ``assertion``, or comes to ``place``, or has all of ``values``, with the ``ending``
    and all of the assertions ``failed`` that it fails where these are not null. Else all of them are null or empty, and
    ``exhaustive`` says whether there is none; if not, ``reason`` and ``reason_code`` say why not. ``sc_states`` and
    ``network_states`` were looked at.
    """

    values: list[EffectValue]
    ending: Ending | None
    failed: list[EffectPlace] | None
    place: EffectPlace | None
    assertion: EffectPlace | None
    exhaustive: bool
    reason: str | None
    reason_code: str | None
    sc_states: int
    network_states: int


class RepairBeside(TypedDict):
    """A repair to be shown beside the run: what it does, and its `diff -u`."""

    told: str
    diff: str


class Change(TypedDict):
    """``text`` instead of what stands from line and column up to the end line and column; all count from 1."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class Fix(TypedDict):
    """A repair: what it does, in a sentence, and by which changes of the source."""

    told: str
    edits: list[Change]


class Orders(TypedDict):
    """What orders operations: what it does (`robustness/suspects.py`), the call or command, and where it stands."""

    does: str
    command: str
    line: int
    column: int


class WhyInOrder(TypedDict):
    """Why the accesses in ``lines`` are in order, in ``sentences``; ``answer`` is of `robustness/why.py`.

    ``orders`` has for each way in which the program would not be robust any more what has been taken away for it, and
    ``without`` what could happen then. ``checks`` were made.
    """

    lines: list[int]
    answer: str
    sentences: list[str]
    orders: list[list[Orders]]
    without: list[str]
    checks: int


class Place(TypedDict):
    """A command as written, and where it stands."""

    command: str
    line: int
    column: int


class Obstacle(TypedDict):
    """What is in the way of a proof for every number of nodes, in a sentence too.

    ``kind``: "step", when it could not be excluded that a step of the command ``source`` (``number`` of its steps come
    before it), where its rank is that of ``case``, is late for ``closing``, a command of ``rank``; "fault", when
    ``source`` may fault on ``rank``; "program", when proofs are not about such programs; "limit".
    """

    kind: Literal["step", "fault", "program", "limit"]
    sentence: str
    case: str | None
    source: Place | None
    number: int | None
    rank: str | None
    closing: Place | None


class ProofCase(TypedDict):
    """Where the rank of the source is, and for how many steps it was asked whether they can be one."""

    source: str
    steps: int


class Count(TypedDict):
    """What a check of this number of nodes says."""

    nodes: int
    verdict: Literal["robust", "not robust", "unknown", "error"]
    assertions: Literal["hold", "violated", "unknown"] | None
    deadlock: bool | Literal["unknown"] | None


class Claim(TypedDict):
    """Something that holds in all runs on all numbers of nodes that a proof is about if it is not ``open``, which says
    why that is not known. ``place``: the assertion that it is about, or the command before which ranks may be stuck."""

    open: str | None
    place: Place | None


class Alike(TypedDict):
    """``elements`` of memory are accessed alike, and ``shown`` of them are in the runs that are looked at."""

    elements: int
    shown: int


class Result(TypedDict):
    """One program at one node count. ``expected`` and ``as_expected`` are there when a header was compared, ``why`` and
    ``races`` when they were asked for.

    ``reason`` is a sentence; ``reason_code`` says of what kind it is (`robustness/reasons.py`), and ``limit`` which
    option of `pgasrob check` sets the limit that was reached, if one was. ``assumptions``: of a robust program all that
    the verdict rests on, else what the runs that are shown rest on.

    ``nodes`` is "all" for an answer about every number of nodes. Where that was asked for, ``proved`` says whether
    there is a proof for all from ``cutoff`` to ``most_nodes``, by ``cases``, ``views`` whether it rests on what is
    known of two ranks at once (`proofs/every-n.md`, section 4), ``obstacles`` what is in its way, and ``checked``
    has the numbers that were checked one by one. ``assertions`` and ``deadlock`` are about all numbers then too:
    ``assertions_beyond`` (each assertion) and ``deadlock_beyond`` (that there is none) say what is known of those from
    ``cutoff`` on, where there is a proof. ``one_block``: the program is for any number of nodes.

    ``effect``, for "not robust" alone: whether some run on the network has an outcome, or fails an assertion, that no
    SC run has or fails. ``effect_run`` is such a run, often longer than the ``witness``, which it begins with
    unless no such witness is small. ``units``: the further files of the program, without headers. ``on_tso``: with
    `--cpu tso`, what store buffers add, where the program is robust without them. ``hardware``: of a
    robust program that communicates, what RDMA and x86 do otherwise than the calculus where that could matter; None
    where that was not looked at (a larger program, a limit). ``fixes``: repairs, where they were asked for.
    """

    schema: int
    file: str
    units: NotRequired[list[str]]
    program: str | None
    nodes: int | Literal["all"] | None
    engine: str
    verdict: Literal["robust", "not robust", "unknown", "error"]
    reason: str | None
    reason_code: NotRequired[str | None]
    limit: NotRequired[str | None]
    assertions: Literal["hold", "violated", "unknown"] | None
    deadlock: bool | Literal["unknown"] | None
    communicates: bool | None
    polls: NotRequired[bool | None]
    alike: NotRequired[Alike]
    failed_polls: NotRequired[FailedPolls]
    conflicts: NotRequired[Conflicts]
    assumptions: NotRequired[list[Assumption]]
    effect: NotRequired[EffectKind | None]
    effect_detail: NotRequired[EffectDetail | None]
    stats: Stats
    witness: Witness | None
    assertion_run: Witness | None
    deadlock_run: Witness | None
    effect_run: NotRequired[Witness | None]
    errors: list[Error]
    expected: NotRequired[str | None]
    as_expected: NotRequired[bool]
    repair: NotRequired[RepairBeside]
    fixes: NotRequired[list[Fix]]
    why: NotRequired[WhyInOrder]
    races: NotRequired[RaceResult]
    on_tso: NotRequired[OnTso]
    hardware: NotRequired[list[HardwareDifference] | None]
    one_block: NotRequired[bool]
    proved: NotRequired[bool]
    cutoff: NotRequired[int | None]
    most_nodes: NotRequired[int]
    views: NotRequired[bool]
    cases: NotRequired[list[ProofCase]]
    obstacles: NotRequired[list[Obstacle]]
    checked: NotRequired[list[Count]]
    assertions_beyond: NotRequired[list[Claim]]
    deadlock_beyond: NotRequired[Claim | None]


class RacingAccess(Event):
    """One of two accesses that are both next after the run of a race: the event that it would be there.

    ``access`` is what it would do to the ``cell`` (``x@1``), ``atomic`` the type in which it is atomic, null if it is
    plain. ``pending``: it is a step of an operation that has been issued; else its rank stands before the command.
    """

    cell: str
    atomic: str | None
    pending: bool


class Race(Witness):
    """Two accesses that race, in the order of the source, and the run that leads to them; ``lines`` are theirs.

    ``computation`` is an SC run in which some operations stop before their last steps; it ``shows`` "race".
    """

    kind: RaceKind
    lines: list[int]
    accesses: list[RacingAccess]


class RaceResult(TypedDict):
    """The answer about races for one program at one node count: a :class:`Result` of another
    question, whose keys of the same name mean the same.

    ``races`` has one race for each pair of lines, or the first one found alone unless all were asked for (``all``).
    Where ``reason`` is not null and the verdict is "race", there may be more. ``strict``: an await and a value that
    arrives count as a race. ``robustness`` answers the other question, if it was asked beside this one. ``witness`` is
    the run to a fault, where that makes it an error. ``expected`` is "none", "1 pair", "3 pairs" or "error".
    ``must_rma``: the pairs of lines that MUST-RMA reports, where that was asked for.
    """

    schema: int
    file: str
    units: NotRequired[list[str]]
    program: str | None
    nodes: int | None
    engine: str
    verdict: Literal["race", "no race", "unknown", "error"]
    reason: str | None
    reason_code: str | None
    limit: str | None
    strict: bool
    all: bool
    races: list[Race]
    failed_polls: FailedPolls
    conflicts: Conflicts
    assumptions: list[Assumption]
    stats: Stats
    errors: list[Error]
    expected: NotRequired[str | None]
    as_expected: NotRequired[bool]
    robustness: NotRequired[Result | None]
    witness: NotRequired[Witness | None]
    alike: NotRequired[Alike]
    must_rma: NotRequired[list[list[int]]]


class Simulation(TypedDict):
    """How a run was simulated, and how it ended.

    ``seed``, ``bias`` and ``steps``, at which it would have been cut, make the same run again. ``sequential``: whether
    the run is an SC run, event by event. ``final`` has the values of all registers and cells at the end, as ``r@0`` and
    ``a[2]@1``.
    """

    memory_model: Literal["network", "sc"]
    seed: int
    bias: Bias
    ending: Ending
    events: int
    sequential: bool
    final: dict[str, int]
    steps: NotRequired[int]


class Example(TypedDict):
    """The outcome whose example a run is, as :class:`~pgasrob.render.outcomes_json.OutcomeRow` has it.

    ``chosen``: ``values`` has some of the registers and cells alone.
    """

    row: int
    ending: Ending
    values: dict[str, int]
    chosen: bool
    network_only: bool | None


class RunResult(TypedDict):
    """One run, in the form of a :class:`Result` so that it can be drawn like one.

    It has no verdict: one run says nothing of the others. ``witness`` shows "run", and has a ``cycle`` when no SC run
    looks like it. ``simulation`` is null, and ``outcome`` is there, for the example of an outcome.
    """

    schema: int
    file: str
    program: str | None
    nodes: int | None
    engine: Literal["run"]
    verdict: None
    reason: str | None
    assertions: None
    deadlock: None
    communicates: None
    stats: Stats
    witness: Witness | None
    assertion_run: None
    deadlock_run: None
    errors: list[Error]
    simulation: Simulation | None
    outcome: NotRequired[Example | None]


def stats_to_json(stats: library.Stats) -> Stats:
    """What a search cost."""
    found: Stats = {
        "states": stats.states,
        "transitions": stats.transitions,
        "seconds": round(stats.seconds, 4),
        "sc_states": stats.sequential_states,
    }
    if stats.settled_by:
        found["settled_by"] = stats.settled_by
    return found


def to_json(verdict: library.Verdict) -> Result:
    """``verdict`` as an object that `json.dumps` can write."""
    witness = witness_to_json(verdict.witness)
    found: Result = {
        "schema": SCHEMA,
        "file": unicode_name(verdict.file),
        "program": None if verdict.program is None else unicode_name(verdict.program),
        "nodes": verdict.nodes,
        "engine": verdict.engine,
        "verdict": verdict.verdict,
        "reason": _reason(verdict, witness),
        "reason_code": None if verdict.reason is None else verdict.reason.code,
        "limit": None if verdict.reason is None else verdict.reason.option,
        "assertions": verdict.assertions,
        "deadlock": verdict.deadlock,
        "communicates": verdict.communicates,
        "polls": verdict.polls,
        "failed_polls": verdict.reading.failed_polls,
        "conflicts": verdict.reading.conflicts,
        "assumptions": assumptions_to_json(verdict.assumptions),
        "effect": None if verdict.effect is None else verdict.effect.kind,
        "effect_detail": None
        if verdict.effect is None or verdict.witness is None
        else _effect(verdict.effect, verdict.witness.run.instance),
        "stats": stats_to_json(verdict.stats),
        "witness": witness,
        "assertion_run": witness_to_json(verdict.assertion_run),
        "deadlock_run": witness_to_json(verdict.deadlock_run),
        "effect_run": None if verdict.effect is None else witness_to_json(verdict.effect.run),
        "errors": errors_to_json(verdict.errors, verdict.file),
    }
    if verdict.units:
        found["units"] = list(map(unicode_name, verdict.units))
    if verdict.alike:
        found["alike"] = {"elements": verdict.alike[0], "shown": verdict.alike[1]}
    if verdict.on_tso:
        found["on_tso"] = on_tso_to_json(verdict.on_tso)
    if verdict.hardware:
        found["hardware"] = [
            each
            for each in hardware_to_json(verdict.hardware)
            if not (verdict.on_tso and each["difference"] == Difference.STORE_BUFFER.value)
        ]
    elif verdict.verdict == "robust" and verdict.communicates and verdict.engine != RECORDED:
        found["hardware"] = None
    if verdict.one_block:
        found["one_block"] = True
    if verdict.every:
        _add_every_count(found, verdict.every)
    return found


def _add_every_count(result: Result, every: library.EveryCount) -> None:
    """Say what is known of every number of nodes."""
    proof = every.proof
    if result["nodes"] is None:
        result["nodes"] = "all"
    result["proved"] = proof.holds
    result["cutoff"] = proof.cutoff
    result["most_nodes"] = proof.most
    result["views"] = proof.views
    result["cases"] = [{"source": source, "steps": steps} for source, steps in proof.cases]
    result["checked"] = [
        {"nodes": each.nodes, "verdict": each.verdict, "assertions": each.assertions, "deadlock": each.deadlock}
        for each in every.checked
    ]
    if proof.holds:
        result["assertions_beyond"] = [_claim(each) for each in proof.assertions]
        result["deadlock_beyond"] = None if proof.deadlock is None else _claim(proof.deadlock)
    result["obstacles"] = [
        {
            "kind": each.kind,
            "sentence": str(each),
            "case": each.case or None,
            "source": _place(each.source),
            "number": each.number if each.kind == "step" else None,
            "rank": each.rank or None,
            "closing": _place(each.closing),
        }
        for each in proof.obstacles
    ]


def _place(known: CommandText | None) -> Place | None:
    if known is None:
        return None
    return {"command": known.text, "line": known.span.line, "column": known.span.column}


def _claim(claim: _Claim) -> Claim:
    return {"open": claim.open or None, "place": _place(claim.place)}


def assumptions_to_json(assumptions: Iterable[kinds.Assumption]) -> list[Assumption]:
    return [
        {"code": each.kind.value, "text": str(each), "lines": list(each.lines), "scope": scope(each.kind)}
        for each in assumptions
    ]


def _effect(effect: library.Effect, instance: Instance) -> EffectDetail:
    texts = WrittenCommands(instance)

    def place(rank: int, edge: Transition, reads: bool = False) -> EffectPlace:
        text, line, column = texts.text(rank, edge.occurrence), edge.span.line, edge.span.column
        alike = {
            each.occurrence
            for each in instance.automata[rank].transitions
            if each.command.kind == edge.command.kind
            and (each.span.line, each.span.column) == (line, column)
            and not (reads and accesses_of(each.form) != accesses_of(edge.form))
        }
        return {"rank": rank, "line": line, "column": column, "command": text, "copies": len(alike)}

    def at(rank: int, occurrence: int, reads: bool = False) -> EffectPlace:
        edges = instance.automata[rank].transitions
        return place(rank, next(edge for edge in edges if edge.occurrence == occurrence), reads)

    def value_of(each: library.EndValue) -> EffectValue:
        doubles = instance.program.doubles
        read = None if each.occurrence is None else at(each.rank, each.occurrence, reads=True)
        found: EffectValue = {
            "name": each.name,
            "rank": each.rank,
            "value": value(each.name, each.value, doubles),
            "in_sc": [value(each.name, other, doubles) for other in each.in_sc],
            "line": read and read["line"],
            "command": read and read["command"],
            "copies": read and read["copies"],
        }
        made_up = any(
            each.name.rpartition("@")[0] == memory.name for memory in instance.program.memory if memory.made_up
        )
        return {**found, "made_up": True} if made_up else found

    reached: EffectPlace | None = None
    if effect.place is not None and effect.run is not None:
        rank, control = effect.place
        leaving = instance.automata[rank].out[control]
        last = [event.occurrence for event in effect.run.run.computation if event.rank == rank and not event.is_step]
        reached = {**(place(rank, leaving[0]) if leaving else at(rank, last[-1])), "ended": not leaving}
    return {
        "values": [value_of(each) for each in effect.values],
        "ending": effect.ending,
        "failed": None if effect.failed is None else [at(each.rank, each.occurrence) for each in effect.failed],
        "place": reached,
        "assertion": None if effect.assertion is None else at(effect.assertion.rank, effect.assertion.occurrence),
        "exhaustive": effect.reason is None,
        "reason": None if effect.reason is None else str(effect.reason),
        "reason_code": None if effect.reason is None else effect.reason.code,
        "sc_states": effect.sc_states,
        "network_states": effect.network_states,
    }


def unicode_name(name: str) -> str:
    """``name`` as it is, the bytes that are not UTF-8 escaped: many a reader of JSON refuses a lone surrogate."""
    return "".join(visible(char) if "\ud800" <= char <= "\udfff" else char for char in name)


def checked_to_json(checked: Checked) -> Result:
    """The verdict of ``checked`` and, where it was compared with the program's header, how that went."""
    result = to_json(checked.verdict)
    if checked.compared:
        result["errors"] += errors_to_json(checked.header_errors, checked.file)
        result["expected"] = checked.expected
        result["as_expected"] = checked.verdict.verdict == checked.expected
    return result


def _reason(verdict: library.Verdict, witness: Witness | None) -> str | None:
    """The reason of ``verdict``, with the command of a fault as written."""
    reason = verdict.reason
    if isinstance(reason, FaultReached) and witness and witness["fault"]:
        reason = replace(reason, command=witness["fault"]["command"])
    return None if reason is None else str(reason)


def errors_to_json(diagnostics: Iterable[Diagnostic], file: str) -> list[Error]:
    """The findings about a program whose first file is ``file``."""
    return [_error(diagnostic, file) for diagnostic in diagnostics]


def witness_to_json(witness: library.Witness | None) -> Witness | None:
    if witness is None:
        return None
    run = witness.run
    instance = run.instance
    texts = WrittenCommands(instance)
    parts, marks = witness.parts or (), witness.marks or ()
    found: Witness = {
        "shows": witness.shows,
        "nodes": instance.nodes,
        "computation": _events(run, texts, parts, marks),
        "happens_before": [_edge(*edge) for edge in HappensBefore(run.computation).edges],
        "cycle": None if witness.cycle is None else [_edge(*edge) for edge in witness.cycle],
        "cycle_type": None if witness.cycle_type is None else list(witness.cycle_type),
        "complete": run.complete,
        "irreducible": witness.irreducible,
        "sequential": None if witness.sequential is None else _sequential(witness.sequential, texts, parts, marks),
        "memory": [_initial_cell(_address(instance, cell), value) for cell, value in enumerate(instance.memory)],
        "registers": list(instance.program.registers),
        "doubles": sorted(instance.program.doubles),
        "temporaries": instance.program.temporaries,
        "standing": [_standing(run, rank, texts) for rank in range(instance.nodes)],
        "fault": None if witness.fault is None else _fault(witness.fault, run, texts),
        "source": instance.program.source.text,
    }
    if instance.program.source.others:
        found["sources"] = dict(instance.program.source.others)
    if witness.cycle is not None:
        found["late"] = _late(run, witness.cycle)
    mark(found)
    return found


def _late(run: Run, cycle: Sequence[CycleEdge]) -> list[LateOperation]:
    diagnosis = Diagnosis(run)
    return [
        {
            "sentences": diagnosis.sentences(late),
            "issue": late.issue,
            "step": late.step,
            "ahead": late.ahead,
            "next": late.next,
            "missing": late.missing,
            "between": list(late.between),
        }
        for late in late_operations(run, cycle)
    ]


def mark(run: Witness) -> None:
    """Have every value in ``run`` of what its ``doubles`` name shown as a double."""
    doubles = frozenset(run.get("doubles", ()))
    if not doubles:
        return
    for event in (*run["computation"], *(run["sequential"]["events"] if run["sequential"] else ())):
        mark_event(event, doubles)
    for cell in run["memory"]:
        cell["value"] = value(cell["name"], cell["value"], doubles)
    for rank in run["standing"]:
        rank["registers"] = shown(rank["registers"], doubles)
        for command in rank["next"]:
            if command["value"] is not None and command["address"]:
                command["value"] = value(command["address"]["name"], command["value"], doubles)
    if run["fault"]:
        run["fault"]["registers"] = shown(run["fault"]["registers"], doubles)


def mark_event(event: Event, doubles: frozenset[str]) -> None:
    """Have every value in ``event`` of what ``doubles`` name shown as a double."""
    address, written, register = event["address"], event["written"], event["register"]
    if event["read"] is not None and address:
        event["read"] = value(address["name"], event["read"], doubles)
    for name, change in ((written and written["cell"], written), (register and register["name"], register)):
        if name and change:
            change["before"] = value(name, change["before"], doubles)
            change["after"] = value(name, change["after"], doubles)


def _events(run: Run, texts: WrittenCommands, parts: Sequence[int], marks: Sequence[frozenset[str]]) -> list[Event]:
    """The events of ``run``; ``parts`` and ``marks`` are empty when they are not known."""
    commands = {
        event.issued: texts.text(event.rank, event.occurrence) for event in run.computation if not event.is_step
    }
    unknown = (None,) * len(run.events)
    found = [
        event_to_json(run.instance, replayed, commands[replayed.event.issued], part, mark)
        for replayed, part, mark in zip(run.events, parts or unknown, marks or unknown, strict=True)
    ]
    if not run.instance.program.source.shows_commands:
        calls = Calls(run.instance, texts)
        called = {event.issued: calls.of(event) for event in run.computation if not event.is_step}
        for replayed, told, piece in zip(run.events, found, pieces(run), strict=True):
            event = replayed.event
            call, change = called[event.issued], told["register"]
            told["call"], told["piece"] = call, piece
            if event.kind == "assume" and replayed.span.holds is not None and calls.called(event) is None:
                told["truth"] = replayed.span.holds
            if change and call and gives_status(call):
                told["register"] = {**change, "temporary": True}
    return found


def _sequential(
    order: SequentialOrder, texts: WrittenCommands, parts: Sequence[int], marks: Sequence[frozenset[str]]
) -> Sequential:
    def placed(values: Sequence[T]) -> list[T]:
        return [values[place] for place in order.places] if values else []

    events = _events(order.run, texts, placed(parts), placed(marks))
    return {"without": list(order.without), "places": list(order.places), "events": events}


def event_to_json(
    instance: Instance,
    replayed: ReplayedEvent,
    command: str,
    part: int | None = None,
    marks: frozenset[str] | None = None,
) -> Event:
    event, span = replayed.event, replayed.span
    return {
        "event": event.kind,
        "rank": event.rank,
        "operation": event.operation,
        "address": None if event.cell is None else _address(instance, event.cell),
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "command": command,
        "read": replayed.read,
        "written": None if replayed.cell_change is None else _written(replayed.cell_change),
        "register": None if replayed.register_change is None else _register_change(instance, replayed.register_change),
        "queue": None if replayed.queue is None else _queue(instance, replayed.queue),
        "target": replayed.target,
        "holds": replayed.holds,
        "part": part,
        "marks": None if marks is None else sorted(marks),
    }


def _address(instance: Instance, cell: Cell) -> Address:
    index = instance.index(cell)
    found: Address = {"rank": instance.owner(cell), "index": index, "name": instance.program.cell_name(index)}
    memory = instance.program.object_at(index)
    return {**found, "made_up": True} if memory is not None and memory.made_up else found


def _initial_cell(address: Address, value: int) -> InitialCell:
    return {"rank": address["rank"], "index": address["index"], "name": address["name"], "value": value}


def _written(change: CellChange) -> Written:
    return {"cell": change.name, "before": change.before, "after": change.after}


def _register_change(instance: Instance, change: CellChange) -> RegisterChange:
    found: RegisterChange = {"name": change.name, "before": change.before, "after": change.after}
    variable = instance.program.variables.get(change.name, change.name)
    if variable is None:
        return {**found, "temporary": True}
    return found if variable == change.name else {**found, "variable": variable}


def _queue(instance: Instance, queue: int) -> Queue:
    return {"id": queue, "name": instance.program.queue_name(queue), "unordered": instance.is_unordered(queue)}


def _edge(source: int, target: int, relation: str) -> Edge:
    return {"from": source, "to": target, "relation": relation}


def _fault(fault: library.Fault, run: Run, texts: WrittenCommands) -> Fault:
    return {
        "code": FAULT_CODE,
        "rank": fault.rank,
        "command": _faulting_command(fault, run, texts),
        "line": fault.line,
        "column": fault.column,
        "reason": fault.reason,
        "registers": fault.registers,
    }


def _faulting_command(fault: library.Fault, run: Run, texts: WrittenCommands) -> str:
    """The command at which ``run`` faults, as written; ``fault`` has it specialised, as the control automaton does."""
    for transition in run.instance.automata[fault.rank].out[run.control[fault.rank]]:
        span = transition.span
        if (show(transition.command), span.line, span.column) == (fault.command, fault.line, fault.column):
            return texts.text(fault.rank, transition.occurrence)
    return fault.command


def _standing(run: Run, rank: int, texts: WrittenCommands) -> Standing:
    leaving = run.instance.automata[rank].out[run.control[rank]]
    names = run.instance.program.registers
    return {
        "rank": rank,
        "ended": not leaving,
        "next": [_next_command(run, rank, transition, texts) for transition in leaving],
        "registers": dict(zip(names, run.registers[rank], strict=True)),
    }


def _next_command(run: Run, rank: int, transition: Transition, texts: WrittenCommands) -> NextCommand:
    try:
        made = at_issue(run.instance.operands(rank, transition, run.registers[rank]))
    except NoValue:
        made = None
    found: NextCommand = {
        "event": transition.command.kind,
        "command": texts.text(rank, transition.occurrence),
        "line": transition.span.line,
        "column": transition.span.column,
        "address": None if made is None else _address(run.instance, made.cell),
        "value": None if made is None else run.memory[made.cell],
    }
    if isinstance(transition.command, Barrier):
        found["barrier"] = transition.command.name
    return found


def _error(diagnostic: Diagnostic, file: str) -> Error:
    line, other = diagnostic.line, diagnostic.file
    found: Error = {
        "code": diagnostic.code,
        "message": diagnostic.message,
        "line": line if other == file or not line else Line(line, other, other),
        "column": diagnostic.column,
        "length": diagnostic.length,
        "excerpt": diagnostic.excerpt,
        "hint": diagnostic.hint,
    }
    return {**found, "notes": list(diagnostic.notes)} if diagnostic.notes else found
