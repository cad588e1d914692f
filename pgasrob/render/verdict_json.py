"""The JSON objects of `pgasrob check` and `pgasrob race`, section 6 of the design. All other output is drawn from them.

Both types are here because each may hold the other; `races_json` makes that of races.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

from pgasrob.analysis.hardware import Difference
from pgasrob.program.reading import Conflicts, FailedPolls, Waits
from pgasrob.render.count_note_json import CountNote, count_note_to_json
from pgasrob.render.effect_json import EffectDetail, effect_to_json
from pgasrob.render.effect_runs import title_runs
from pgasrob.render.every_count_json import (
    Claim,
    Count,
    Obstacle,
    Only,
    ProofCase,
    claim_to_json,
    counts_to_json,
    obstacles_to_json,
    only_to_json,
)
from pgasrob.render.finding_json import FindingInBrief
from pgasrob.render.hardware_text import HardwareDifference, hardware_to_json
from pgasrob.render.illegal_calls_json import IllegalCall, illegal_calls_to_json
from pgasrob.render.one_race_json import Race
from pgasrob.render.run_json import Witness, witness_to_json
from pgasrob.render.shared_json import (
    SCHEMA,
    Alike,
    Assumption,
    Error,
    Stats,
    assumptions_to_json,
    errors_to_json,
    stats_to_json,
    unicode_name,
)
from pgasrob.render.store_buffers_text import OnTso, on_tso_to_json
from pgasrob.render.strict_waits_json import StrictWait, strict_waits_to_json
from pgasrob.render.synchronised_json import (
    Consequences,
    Synchronised,
    consequences_to_json,
    synchronised_to_json,
)
from pgasrob.robustness.reasons import FaultReached
from pgasrob.robustness.synchronisation import as_expected_in_headers, synchronised
from pgasrob.robustness.verdict import RECORDED, EffectKind, Legal

if TYPE_CHECKING:
    from pgasrob.batch.job import Checked
    from pgasrob.robustness import verdict as library


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


class Result(TypedDict):
    """One program at one node count. ``expected`` and ``as_expected`` are there when a header was compared,
    ``expected_synchronised`` (``no (stuck, race)``) where that says whether the program is correctly synchronised,
    ``why`` and ``races`` when they were asked for.

    ``reason`` is a sentence; ``reason_code`` says of what kind it is (`robustness/reasons.py`), and ``limit`` which
    option of `pgasrob check` sets the limit that was reached, if one was. ``faults``: whether it is known of a robust
    program that no run reaches a fault. ``assumptions``: of a robust program all that
    the verdict rests on, else what the runs that are shown rest on.

    ``nodes`` is "all" for an answer about every number of nodes. Where that was asked for, ``proved`` says whether
    there is a proof for all from ``cutoff`` to ``most_nodes``, by ``cases``, ``views`` whether it rests on what is
    known of two ranks at once (`proofs/every-n.md`, section 4), ``obstacles`` what is in its way, and ``checked``
    has the numbers that were checked one by one. ``assertions`` and ``deadlock`` are about all numbers then too:
    ``assertions_beyond`` (each assertion) and ``deadlock_beyond`` (that there is none) say what is known of those from
    ``cutoff`` on, where there is a proof. ``one_block``: the program is for any number of nodes. ``proved_from``:
    no search has decided, but a proof for all numbers of nodes from that one on. ``deadlock_kind``, of the deadlock
    that is shown: some rank goes round a loop for ever ("spins"), or all that have not ended wait
    ("blocked").

    ``deadlock_by``: the calls at which ranks wait in the deadlock that is shown, and need not by their specification;
    left out where it is one whatever calls do that may wait.
    ``always_stuck``: it is known that every SC run ends in a deadlock.
    ``legal``: whether all calls are allowed where SC runs come to them; ``illegal_calls``: those that are not, one for
    each rule and place, in the order of the source.

    ``effect``, for "not robust" alone: whether some run on the network has an outcome, or fails an assertion, that no
    SC run has or fails. "none": all runs were looked at, and none has; "none found": a limit ended that.
    ``effect_run`` is such a run, often longer than the ``witness``, which it begins with unless no such witness is
    small: then it has the cycle of that. ``units``: the further files of the program, without headers. ``on_tso``: with
    `--cpu tso`, what store buffers add, where the program is robust without them. ``hardware``: of a
    robust program that communicates, what RDMA and x86 do otherwise than the calculus where that could matter; None
    where that was not looked at (a larger program, a limit). ``fixes``: repairs, where they were asked for.
    ``only``: the numbers of nodes on which it does more than leave at once, if these are a few.
    ``least``: it is in error on fewer nodes, and nothing is said of them.
    ``count_note``: why the program is not meant for this number of nodes, or why that was chosen.

    ``synchronised``: whether the program is correctly synchronised, None where it is in error; ``consequences``: on
    which races depends how SC runs end, where that was asked. ``findings``: what is wrong, with a place and a sentence
    each, added when the object is printed.
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
    always_stuck: NotRequired[bool]
    deadlock_kind: NotRequired[Literal["blocked", "spins"] | None]
    deadlock_by: NotRequired[list[StrictWait]]
    legal: NotRequired[Legal | None]
    illegal_calls: NotRequired[list[IllegalCall]]
    faults: NotRequired[Literal["none", "unknown"] | None]
    communicates: bool | None
    polls: NotRequired[bool | None]
    alike: NotRequired[Alike]
    failed_polls: NotRequired[FailedPolls]
    conflicts: NotRequired[Conflicts]
    waits: NotRequired[Waits]
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
    expected_synchronised: NotRequired[str]
    repair: NotRequired[RepairBeside]
    fixes: NotRequired[list[Fix]]
    why: NotRequired[WhyInOrder]
    races: NotRequired[RaceResult]
    on_tso: NotRequired[OnTso]
    hardware: NotRequired[list[HardwareDifference] | None]
    one_block: NotRequired[bool]
    proved_from: NotRequired[int]
    synchronised: NotRequired[Synchronised | None]
    consequences: NotRequired[Consequences]
    proved: NotRequired[bool]
    cutoff: NotRequired[int | None]
    most_nodes: NotRequired[int]
    views: NotRequired[bool]
    cases: NotRequired[list[ProofCase]]
    obstacles: NotRequired[list[Obstacle]]
    checked: NotRequired[list[Count]]
    assertions_beyond: NotRequired[list[Claim]]
    deadlock_beyond: NotRequired[Claim | None]
    count_note: NotRequired[CountNote]
    only: NotRequired[Only]
    least: NotRequired[int]
    findings: NotRequired[list[FindingInBrief]]


class RaceResult(TypedDict):
    """The answer about races for one program at one node count: a :class:`Result` of another
    question, whose keys of the same name mean the same.

    ``races`` has one race for each pair of lines, or the first one found alone unless all were asked for (``all``).
    Where ``reason`` is not null and the verdict is "race", there may be more. ``strict``: an await and a value that
    arrives count as a race. ``robustness`` answers the other question, if it was asked beside this one. ``witness`` is
    the run to a fault, where that makes it an error. ``expected`` is "none", "1 pair", "3 pairs" or "error".
    ``must_rma``: the pairs of lines that MUST-RMA reports, where that was asked for; ``must_rma_reason``: why these may
    not be all.
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
    waits: NotRequired[Waits]
    assumptions: list[Assumption]
    stats: Stats
    errors: list[Error]
    expected: NotRequired[str | None]
    as_expected: NotRequired[bool]
    robustness: NotRequired[Result | None]
    witness: NotRequired[Witness | None]
    alike: NotRequired[Alike]
    must_rma: NotRequired[list[list[int]]]
    must_rma_reason: NotRequired[str]
    count_note: NotRequired[CountNote]
    findings: NotRequired[list[FindingInBrief]]


def deadlock_kind(run: Witness | None) -> Literal["blocked", "spins"] | None:
    """Of which kind the deadlock is to which ``run`` leads."""
    if run is None:
        return None
    return "spins" if any(rank.get("loop") for rank in run["standing"]) else "blocked"


def _effect_detail(verdict: library.Verdict) -> EffectDetail | None:
    if verdict.effect is None or verdict.witness is None:
        return None
    return effect_to_json(verdict.effect, verdict.witness.run.instance)


def to_json(verdict: library.Verdict) -> Result:
    """``verdict`` as an object that `json.dumps` can write."""
    witness, deadlock_run = witness_to_json(verdict.witness), witness_to_json(verdict.deadlock_run)
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
        "always_stuck": verdict.always_stuck,
        "deadlock_kind": deadlock_kind(deadlock_run),
        "legal": verdict.legal,
        "illegal_calls": illegal_calls_to_json(verdict.illegal_calls),
        "faults": verdict.faults,
        "communicates": verdict.communicates,
        "polls": verdict.polls,
        "failed_polls": verdict.reading.failed_polls,
        "conflicts": verdict.reading.conflicts,
        "waits": verdict.reading.waits,
        "assumptions": assumptions_to_json(verdict.assumptions),
        "effect": None if verdict.effect is None else verdict.effect.kind,
        "effect_detail": _effect_detail(verdict),
        "stats": stats_to_json(verdict.stats),
        "witness": witness,
        "assertion_run": witness_to_json(verdict.assertion_run),
        "deadlock_run": deadlock_run,
        "effect_run": None if verdict.effect is None else witness_to_json(verdict.effect.run),
        "errors": errors_to_json(verdict.errors, verdict.file),
    }
    title_runs(witness, found["effect_run"], found["effect_detail"])
    if verdict.units:
        found["units"] = list(map(unicode_name, verdict.units))
    if verdict.alike:
        found["alike"] = {"elements": verdict.alike[0], "shown": verdict.alike[1]}
    if verdict.on_tso:
        found["on_tso"] = on_tso_to_json(verdict.on_tso)
    if verdict.hardware:
        known = {Difference.STORE_BUFFER.value} if verdict.on_tso else set()
        if verdict.races and verdict.races.answer in ("none", "matters"):
            # A write that may come into an atomic races with it: nothing does, or the line about races says more.
            known.add(Difference.MIXED_ATOMICS.value)
        found["hardware"] = [each for each in hardware_to_json(verdict.hardware) if each["difference"] not in known]
    elif verdict.verdict == "robust" and verdict.communicates and verdict.engine != RECORDED:
        found["hardware"] = None
    if verdict.strict_waits:
        found["deadlock_by"] = strict_waits_to_json(verdict.strict_waits, deadlock_run)
    found["synchronised"] = synchronised_to_json(verdict)
    if verdict.races:
        found["consequences"] = consequences_to_json(verdict.races)
    _add_counts(found, verdict)
    return found


def _add_counts(result: Result, verdict: library.Verdict) -> None:
    """Say in ``result`` what is known of other numbers of nodes."""
    if verdict.one_block:
        result["one_block"] = True
    if verdict.proved_from is not None:
        result["proved_from"] = verdict.proved_from
    if verdict.every:
        _add_every_count(result, verdict.every)
    if verdict.count_note:
        result["count_note"] = count_note_to_json(verdict.count_note)


def _add_every_count(result: Result, every: library.EveryCount) -> None:
    """Say in ``result`` what is known of every number of nodes."""
    proof = every.proof
    if result["nodes"] is None:
        result["nodes"] = "all"
    result["proved"] = proof.holds
    result["cutoff"] = proof.cutoff
    result["most_nodes"] = proof.most
    result["views"] = proof.views
    result["cases"] = [{"source": source, "steps": steps} for source, steps in proof.cases]
    result["checked"] = counts_to_json(every.checked)
    if proof.holds:
        result["assertions_beyond"] = [claim_to_json(each) for each in proof.assertions]
        result["deadlock_beyond"] = None if proof.deadlock is None else claim_to_json(proof.deadlock)
    result["obstacles"] = obstacles_to_json(proof.obstacles)
    if proof.too_few is not None:
        result["least"] = proof.least
    if proof.only is not None:
        result["only"] = only_to_json(proof.only)


def checked_to_json(checked: Checked) -> Result:
    """The verdict of ``checked`` and, where it was compared with the program's header, how that went."""
    result = to_json(checked.verdict)
    if checked.compared:
        result["errors"] += errors_to_json(checked.header_errors, checked.file)
        result["expected"] = checked.expected
        result["as_expected"] = checked.verdict.verdict == checked.expected
        found = synchronised(checked.verdict)
        if checked.expected_synchronised and found:
            result["expected_synchronised"] = checked.expected_synchronised
            result["as_expected"] &= as_expected_in_headers(found) == checked.expected_synchronised
    return result


def _reason(verdict: library.Verdict, witness: Witness | None) -> str | None:
    """The reason of ``verdict``, with the command of a fault as written."""
    reason = verdict.reason
    if isinstance(reason, FaultReached) and witness and witness["fault"]:
        reason = FaultReached(witness["fault"]["rank"], witness["fault"]["command"], reason.why)
    return None if reason is None else str(reason)
