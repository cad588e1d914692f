"""How computations are read: whether failed polls are events, and which updates conflict."""

from __future__ import annotations

from itertools import product, starmap
from typing import Literal, NamedTuple, get_args

FailedPolls = Literal["wait", "count"]
Conflicts = Literal["commuting", "all"]


class Reading(NamedTuple):
    """What counts as an event, and what as a conflict (the design, section 2: polls, updates that commute).

    ``failed_polls``: a read after which the rank only comes back and reads again is no event ("wait"), or is one
    ("count"). ``conflicts``: updates of one kind that fetch nothing do not conflict ("commuting"), or do ("all").
    """

    failed_polls: FailedPolls = "wait"
    conflicts: Conflicts = "commuting"


DEFAULT_READING = Reading()
LITERAL_READING = Reading("count", "all")
"""Every command is an event, and two accesses to a cell of which one writes conflict (the paper, section 3)."""
READINGS = tuple(starmap(Reading, product(get_args(FailedPolls), get_args(Conflicts))))
"""All readings."""
