"""The exit codes of commands, and which verdict gives which (the design, section 6)."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgasrob.render.memory_model import ModelResult
    from pgasrob.render.network_json import NetworkResult
    from pgasrob.render.verdict_json import RaceResult, Result

ROBUST, NOT_ROBUST, ERROR, UNKNOWN = 0, 1, 2, 3
NO_RACE, RACE = ROBUST, NOT_ROBUST
CRASHED = 70
"""As sysexits.h has it for an error of the software itself."""
INTERNAL_ERROR = "PG190"
"""The code of such an error in results."""
INTERRUPTED = 130
"""As a shell reports a command that Ctrl-C ended."""
BROKEN_PIPE = 141
"""As a shell reports a command whose reader went away."""
GRAVEST_FIRST = (CRASHED, ERROR, UNKNOWN, NOT_ROBUST, ROBUST)


def gravest(codes: Collection[int]) -> int:
    """The exit code of several; that of none is 0."""
    return next((code for code in GRAVEST_FIRST if code in codes), ROBUST)


def is_crash(result: Result | RaceResult | NetworkResult | ModelResult) -> bool:
    """Whether an internal error has ended what was asked, which nobody has expected."""
    return any(error["code"] == INTERNAL_ERROR for error in result.get("errors", ()))


def code_of_verdict(result: Result, expect: bool, strict: bool, outcomes_alone: bool = False) -> int:
    """The exit code that ``result`` alone stands for (the design, section 6).

    ``outcomes_alone``: a violation of which no outcome was found that only the network has counts for nothing.
    """
    verdict = result["verdict"]
    if is_crash(result):
        return CRASHED
    fails = strict and (result["assertions"] == "violated" or result["deadlock"] is True)
    facts = (result["assertions"], result["deadlock"], result.get("faults"))
    leaves_open = strict and not fails and "unknown" in facts
    good = NOT_ROBUST if fails else UNKNOWN if leaves_open else ROBUST
    if not expect:
        found = code_of_lines(result, strict, outcomes_alone)
        return good if found == ROBUST or (found == UNKNOWN and good == NOT_ROBUST) else found
    expected = result.get("expected")
    if expected is None or (verdict == "error" and expected != "error"):
        return ERROR
    if verdict == "unknown":
        return UNKNOWN
    if verdict != expected:
        return NOT_ROBUST
    beside = result.get("synchronised")
    is_open = "expected_synchronised" in result and beside is not None and beside["answer"] == "unknown"
    return good if result["as_expected"] else UNKNOWN if is_open else NOT_ROBUST


def code_of_lines(result: Result, strict: bool = False, outcomes_alone: bool = False) -> int:
    """The exit code by the lines that were asked: 1 where one is not as it should be, else 3 where one is open. What is
    not robust, but harmless, counts with ``strict`` alone."""
    found = result.get("synchronised")
    if not found:
        return {"robust": ROBUST, "not robust": NOT_ROBUST, "unknown": UNKNOWN, "error": ERROR}[result["verdict"]]
    harmless = outcomes_alone and result.get("effect") in ("none found", "none")
    lines = [line for line in found["lines"] if not (harmless and line["line"] == "robust")]
    if any(line["answer"] == "no" or (strict and line["answer"] == "harmless") for line in lines):
        return NOT_ROBUST
    return UNKNOWN if any(line["asked"] and line["answer"] == "unknown" for line in lines) else ROBUST


def code_of_races(result: RaceResult, expect: bool) -> int:
    """The exit code that ``result`` alone stands for."""
    if is_crash(result):
        return CRASHED
    if not expect:
        return {"no race": NO_RACE, "race": RACE, "error": ERROR, "unknown": UNKNOWN}[result["verdict"]]
    expected = result.get("expected")
    if expected is None or (result["verdict"] == "error" and expected != "error"):
        return ERROR
    if result["as_expected"]:
        return NO_RACE
    return UNKNOWN if result["reason"] is not None and result["verdict"] != "error" else RACE


def code_of_network_verdict(result: NetworkResult, expect: bool) -> int:
    """The exit code that the ``result`` on a network alone stands for."""
    verdict = result["verdict"]
    if is_crash(result):
        return CRASHED
    if not expect:
        if result["assertions"] == "violated":
            return NOT_ROBUST
        return {"robust": ROBUST, "not robust": NOT_ROBUST, "unknown": UNKNOWN}.get(verdict, ERROR)
    if result.get("expected") is None or verdict == "error":
        return ERROR
    if verdict == "unknown":
        return UNKNOWN
    return ROBUST if result["as_expected"] else NOT_ROBUST
