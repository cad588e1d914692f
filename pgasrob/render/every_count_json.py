"""The part of the JSON object of a verdict about every number of nodes (`check --nodes all`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pgasrob.program.count_note import Only as FoundOnly
    from pgasrob.robustness.every_n.proof import Claim as FoundClaim
    from pgasrob.robustness.every_n.proof import CommandText
    from pgasrob.robustness.every_n.proof import Obstacle as FoundObstacle
    from pgasrob.robustness.verdict import CheckedCount


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


class Only(TypedDict):
    """The ``counts`` alone on which the program does more than leave at once, by the condition ``text`` at that
    place."""

    counts: list[int]
    line: int
    column: int
    text: str


def only_to_json(only: FoundOnly) -> Only:
    """The numbers of nodes to which a check of their number restricts the program."""
    span = only.span
    return {"counts": list(only.counts), "line": span.line, "column": span.column, "text": only.text}


def counts_to_json(checked: Sequence[CheckedCount]) -> list[Count]:
    """The numbers of nodes that were checked one by one."""
    return [
        {"nodes": each.nodes, "verdict": each.verdict, "assertions": each.assertions, "deadlock": each.deadlock}
        for each in checked
    ]


def obstacles_to_json(obstacles: Sequence[FoundObstacle]) -> list[Obstacle]:
    """What is in the way of a proof."""
    return [
        {
            "kind": each.kind,
            "sentence": str(each),
            "case": each.case or None,
            "source": _place(each.source),
            "number": each.number if each.kind == "step" else None,
            "rank": each.rank or None,
            "closing": _place(each.closing),
        }
        for each in obstacles
    ]


def _place(known: CommandText | None) -> Place | None:
    if known is None:
        return None
    return {"command": known.text, "line": known.span.line, "column": known.span.column}


def claim_to_json(claim: FoundClaim) -> Claim:
    return {"open": claim.open or None, "place": _place(claim.place)}
