"""The two readings of each of three rules of the calculus, and the updates that commute."""

from __future__ import annotations

from dataclasses import dataclass

from .operations import Operation

COMMUTING = frozenset({"add", "and", "or", "xor", "min", "max"})
UPDATING_LATER = frozenset({"update", "update_from", "notify", "signal"})


@dataclass(frozen=True, slots=True)
class Reading:
    """`failed_polls`: "wait", and a failed read is disabled; "count", and it is an event like any other.
    `conflicts`: "commuting", and equal updates that fetch nothing are independent; "all", and they conflict.
    `waits`: "condition", and an await conflicts only with what turns its condition; "value", and with every write."""

    failed_polls: str = "wait"
    conflicts: str = "commuting"
    waits: str = "condition"

    def __post_init__(self) -> None:
        if self.failed_polls not in ("wait", "count") or self.conflicts not in ("commuting", "all"):
            raise ValueError(f"no reading: {self}")

    def commutes(self, operation: Operation, step: str) -> str | None:
        """What the step does to its cell, if it commutes with others that do the same."""
        counts = (
            self.conflicts == "commuting"
            and step == "popb"
            and operation.kind in UPDATING_LATER
            and operation.update in COMMUTING
            and "popc" not in operation.steps
        )
        return operation.update if counts else None


DEFAULT = Reading()
READINGS = tuple(
    Reading(polls, conflicts, waits)
    for polls in ("wait", "count")
    for conflicts in ("commuting", "all")
    for waits in ("condition", "value")
)
