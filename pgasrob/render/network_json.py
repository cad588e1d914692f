"""The JSON object of `pgasrob check --network`: the verdict on a program on one network. The text is drawn from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

from pgasrob.models.litmus.expected_outcomes import LitmusTest
from pgasrob.models.networks.robustness import nodes_of
from pgasrob.program.declarations import Source
from pgasrob.program.report import marked
from pgasrob.program.statements import place_of
from pgasrob.render.count_note_json import CountNote, count_note_to_json
from pgasrob.render.litmus_json import ExecutionObject, execution_to_json
from pgasrob.render.shared_json import SCHEMA, Assumption, Error, assumptions_to_json, errors_to_json, unicode_name

if TYPE_CHECKING:
    from pgasrob.models.model_interface import Refusal
    from pgasrob.models.networks.network_verdict import NetworkVerdict


class NetworkRefusal(TypedDict):
    """``file``: where it is not the program's first one."""

    reason: str
    line: int
    column: int
    excerpt: str
    file: NotRequired[str]


class FailingRun(TypedDict):
    """A ``run`` on the network in which an assertion fails, after which its rank does nothing more."""

    rank: int
    line: int
    text: str
    run: ExecutionObject


class Searched(TypedDict):
    """States of a machine, or executions, that were looked at."""

    states: int
    seconds: float


class NetworkResult(TypedDict):
    """The verdict on the program in ``file`` on a ``network``: "robust", "not robust", "unknown", "refused" (the
    network has no counterpart of what ``refusals`` name) or "error".

    ``variant``: what is not as in the network's paper. ``ranks``: threads are ranks of a program, else threads of a
    litmus test. ``remarks``: what one has to know of the translation. ``assertions``: what is known of those of the
    program, null where it has none; ``failed``: one of a program that is not robust. ``witness``: an execution that no
    sequentially consistent one looks like, with a ``cycle`` in po, rf, mo and rb, empty where a value is undefined;
    ``order`` is that of a run. ``commands``: for each event the number of the first instruction of its command, null
    for an initial write.
    """

    schema: int
    file: str
    program: str | None
    nodes: int | None
    network: str
    variant: str
    verdict: str
    reason: str | None
    reason_code: str | None
    limit: str | None
    refusals: list[NetworkRefusal]
    remarks: list[str]
    assertions: Literal["hold", "violated", "unknown"] | None
    ranks: bool
    failed: FailingRun | None
    witness: ExecutionObject | None
    commands: list[int | None]
    assumptions: list[Assumption]
    stats: Searched
    errors: list[Error]
    units: NotRequired[list[str]]
    expected: NotRequired[str | None]
    as_expected: NotRequired[bool]
    count_note: NotRequired[CountNote]


def network_to_json(verdict: NetworkVerdict) -> NetworkResult:
    """``verdict`` as an object that `json.dumps` can write."""
    asked, reason, source = verdict.asked, verdict.reason, verdict.source
    result: NetworkResult = {
        "schema": SCHEMA,
        "file": unicode_name(verdict.file),
        "program": None if verdict.name is None else unicode_name(verdict.name),
        "nodes": verdict.nodes,
        "network": asked.network,
        "variant": asked.variant,
        "verdict": verdict.verdict,
        "reason": None if reason is None else str(reason),
        "reason_code": None if reason is None else reason.code,
        "limit": None if reason is None else reason.option,
        "refusals": [_refusal(each, source) for each in verdict.refusals],
        "remarks": list(verdict.remarks),
        "assertions": verdict.assertions,
        "ranks": verdict.ranks,
        "failed": None,
        "witness": None,
        "commands": [],
        "assumptions": assumptions_to_json(verdict.assumptions),
        "stats": {"states": verdict.states, "seconds": round(verdict.seconds, 4)},
        "errors": errors_to_json(verdict.errors, verdict.file),
    }
    if verdict.count_note:
        result["count_note"] = count_note_to_json(verdict.count_note)
    if verdict.violation is not None:
        run, text = verdict.violation.execution, source or Source(verdict.file, "")
        test = LitmusTest(run.program, (), text, verdict.name or "")
        result["witness"] = execution_to_json(run, test, verdict.violation.cycle)
        result["commands"] = [node and node[1] for node in nodes_of(run)]
        if failed := verdict.failed:
            result["failed"] = {
                "rank": failed.thread,
                "line": failed.span.line,
                "text": text.piece(failed.span),
                "run": execution_to_json(failed.run, test),
            }
    if verdict.units:
        result["units"] = list(map(unicode_name, verdict.units))
    if verdict.compared:
        result["errors"] += errors_to_json(verdict.header_errors, verdict.file)
        result["expected"] = verdict.expected
        result["as_expected"] = verdict.expected == verdict.verdict
    return result


def _refusal(refusal: Refusal, source: Source | None) -> NetworkRefusal:
    span = refusal.span
    found: NetworkRefusal = {
        "reason": refusal.reason,
        "line": int(span.line),
        "column": span.column,
        "excerpt": "" if source is None else marked(source.lines(span.line), span)[3],
    }
    if file := place_of(span.line)[0]:
        found["file"] = unicode_name(file)
    return found


__all__ = ["NetworkRefusal", "NetworkResult", "network_to_json"]
