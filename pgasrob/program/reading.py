"""How computations are read: whether failed polls are events, which updates conflict, and what waits read."""

from __future__ import annotations

from itertools import product, starmap
from typing import Literal, NamedTuple, get_args

FailedPolls = Literal["wait", "count"]
Conflicts = Literal["commuting", "all"]
Waits = Literal["condition", "value"]


class Reading(NamedTuple):
    """What counts as an event, and what as a conflict (the design, section 2: polls, updates that commute).

    ``failed_polls``: a read after which the rank only comes back and reads again is no event ("wait"), or is one
    ("count"). ``conflicts``: updates of one kind that fetch nothing do not conflict ("commuting"), or do ("all").
    ``waits``: an await conflicts with changes of its cell that turn its condition, and atomics conflict as far as what
    they fetch tells ("condition"); or awaits conflict with all changes, and atomics with all accesses ("value").
    """

    failed_polls: FailedPolls = "wait"
    conflicts: Conflicts = "commuting"
    waits: Waits = "condition"

    @property
    def by_value(self) -> Reading:
        """The same with waits read by value: what is robust so is robust in either reading."""
        return self._replace(waits="value")


DEFAULT_READING = Reading()
LITERAL_READING = Reading("count", "all", "value")
"""Every command is an event, and two accesses to a cell of which one writes conflict (the paper, section 3)."""
READINGS = tuple(starmap(Reading, product(get_args(FailedPolls), get_args(Conflicts), get_args(Waits))))
"""All readings."""
