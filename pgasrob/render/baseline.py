"""Findings of an earlier SARIF log, recognised by their fingerprints, so that only new ones count."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from functools import reduce
from typing import Any, cast

from pgasrob.render.result_forms import R
from pgasrob.render.sarif import FINGERPRINT, NOT_ROBUST, artifact, findings
from pgasrob.render.synchronised_json import SynchronisedLine
from pgasrob.render.verdict_json import RaceResult, Result
from pgasrob.robustness.verdict import LineName

Object = dict[str, Any]


RULE_OF_LINE: dict[LineName, str] = {
    "progress": "deadlock",
    "assertions": "failing-assertion",
    "robust": NOT_ROBUST,
    "races": "race-that-matters",
}
"""The rule of the findings by which a line is not as it should be; illegal calls have those of their API."""


class BadBaseline(ValueError):
    """A text that is no SARIF log by this tool; the message says why not."""


class Baseline:
    """The findings in the SARIF log ``text``. Raises :class:`BadBaseline`."""

    def __init__(self, text: str) -> None:
        try:
            runs = [run for run in json.loads(text)["runs"] if run["tool"]["driver"]["name"] == "pgasrob"]
            self._known: dict[str, Object] = {
                found["partialFingerprints"][FINGERPRINT]: found
                for run in runs
                for found in run.get("results", [])
                if found.get("baselineState") != "absent"
            }
            for found in self._known.values():  # `compared` asks where it is, and writes it again, further inside
                hash(_uri(found))
                json.dumps(reduce(lambda inside, _: {"": inside}, range(50), found), ensure_ascii=False).encode()
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise BadBaseline(
                "no SARIF log that this version of pgasrob has written; "
                "`pgasrob check FILE... --witness old.sarif` writes one"
            ) from None
        if not runs:
            raise BadBaseline("a SARIF log of another tool")

    def knows(self, finding: Object) -> bool:
        """Whether ``finding`` is in the earlier log; that a verdict is unknown is no finding."""
        return finding.get("partialFingerprints", {}).get(FINGERPRINT) in self._known

    def without_known(self, result: R) -> R:
        """``result`` without its findings that the earlier log has, for the exit code."""
        new = [found for found in findings(result) if not self.knows(found)]
        rules = {found["ruleId"] for found in new}
        left = cast(dict[str, Any], dict(result))
        if result["verdict"] == "error" and not new and any(map(self.knows, findings(result))):
            left["verdict"] = "no race" if "races" in result and "assertions" not in result else "robust"
        if result["verdict"] == "not robust" and NOT_ROBUST not in rules:
            left["verdict"] = "robust"
        if result["verdict"] == "race" and "race" not in rules:
            left["verdict"] = "no race"
        if left.get("assertions") == "violated" and "failing-assertion" not in rules:
            left["assertions"] = "hold"
        if left.get("deadlock") is True and "deadlock" not in rules:
            left["deadlock"] = False
        if left.get("synchronised"):
            lines = [
                {**line, "answer": "yes"} if _is_known(result, line, rules) else line
                for line in left["synchronised"]["lines"]
            ]
            left["synchronised"] = {**left["synchronised"], "lines": lines}
        return cast(R, left)

    def number_known(self, result: Result | RaceResult) -> int:
        """How many findings of ``result`` the earlier log has."""
        return sum(map(self.knows, findings(result)))

    def compared(self, log: str, files: Sequence[str]) -> str:
        """``log``, a SARIF log of ``files``, with each finding marked as new, unchanged or absent since."""
        whole = json.loads(log)
        (run,) = whole["runs"]
        addresses = {artifact(file)["uri"] for file in files}
        there = {found["partialFingerprints"][FINGERPRINT] for found in run["results"]}
        for found in run["results"]:
            found["baselineState"] = "unchanged" if self.knows(found) else "new"
        for print_, found in self._known.items():
            if print_ not in there and _uri(found) in addresses:
                gone = {key: value for key, value in found.items() if key != "ruleIndex"}
                run["results"].append({**gone, "baselineState": "absent"})
        return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _uri(finding: Object) -> str:
    """The file that a finding is in."""
    found: str = finding["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    return found


def _is_known(result: R, line: SynchronisedLine, rules: Collection[str]) -> bool:
    """Whether ``line`` is bad, and none of the new findings is by its rule."""
    if line["line"] == "legal":
        broken = {call["rule"] for call in cast(dict[str, Any], result).get("illegal_calls", [])}
        return line["answer"] == "no" and broken.isdisjoint(rules)
    return line["answer"] in ("no", "harmless") and RULE_OF_LINE[line["line"]] not in rules
