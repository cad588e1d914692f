"""What several events of one call did, in a few words."""

from __future__ import annotations

from typing import Any

import pytest

from pgasrob.render.summary import effects, folded, folded_of_ranks


def event(kind: str, **more: Any) -> Any:
    found: dict[str, Any] = {"event": kind, "rank": 0, "address": None, "read": None, "written": None}
    return found | {"register": None, "holds": None, "line": 1} | more


def reads(name: str, value: int, kind: str = "load") -> Any:
    return event(kind, address={"rank": 1, "index": 0, "name": name}, read=value)


def writes(name: str, before: int, after: int, kind: str = "store") -> Any:
    address = {"rank": 1, "index": 0, "name": name}
    return event(kind, address=address, written={"cell": f"{name}@1", "before": before, "after": after})


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([reads("x", 1), reads("x", 1)], ["reads x@1 = 1"]),
        ([reads("x", 1), reads("x", 2)], ["reads x@1 = 1, then 2"]),
        ([reads("a[0]", 7, "popa"), reads("a[1]", 7, "popa")], ["a[0..1]@1 = 7"]),
        ([reads("a[0]", 7, "popa"), reads("a[1]", 8, "popa")], ["a[0..1]@1 = {7, 8}"]),
        ([writes("x", 0, 1), writes("x", 1, 2)], ["x@1: 0 -> 2"]),
        ([writes("x", 1, 1), writes("y", 0, 1)], ["x@1 stays 1", "y@1: 0 -> 1"]),
        ([event("assert", holds=True), event("assert", holds=False)], ["FAILS"]),
        ([event("assume", truth=True), event("assume", truth=False)], ["is false"]),
    ],
)
def test_effects(events: list[Any], words: list[str]) -> None:
    assert effects(events) == words


def test_folded_events_are_counted() -> None:
    assert folded([event("load", line=15), event("load", line=31)]) == "2 events in lines 15-31"
    assert folded([event("load", line=0)]) == "1 event"
    two = [event("load", line=3), event("load", rank=1, line=0), event("load", rank=1, line=4)]
    assert folded_of_ranks(two) == "1 event of rank 0 in line 3, 2 of rank 1 in line 4"
    many = [event("load", rank=rank, line=3) for rank in range(5)]
    assert folded_of_ranks(many) == "5 events of 5 ranks in line 3"
