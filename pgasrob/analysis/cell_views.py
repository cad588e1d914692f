"""What a process knows of one cell at a control state."""

from __future__ import annotations

from typing import NamedTuple

from pgasrob.analysis.intervals import Interval
from pgasrob.analysis.shared_cells import grown
from pgasrob.analysis.value_sets import NONE, Values, common, united

NO_LINK = -1
UNKNOWN_QUEUE = -1


class View(NamedTuple):
    """The values of a cell by what the process has done and seen itself; beside these it has those that others write.

    ``base``: these values, without those that operations of the process write that may be on their way, in the queues
    ``pending``. ``link``: a register that holds what the cell held when it was read, since when the process has not
    written there, or :data:`NO_LINK`. ``fresh``: a queue in which there is an operation that writes the cell, and the
    values that the process has written there otherwise since its issue.
    """

    base: Values
    link: int = NO_LINK
    pending: frozenset[int] = frozenset()
    fresh: tuple[int, Values] | None = None

    def joined(self, other: View, bound: Interval) -> View:
        """What holds where one of the two does; all values lie within ``bound``."""
        if self == other:
            return self
        fresh = None
        if self.fresh is not None and other.fresh is not None and self.fresh[0] == other.fresh[0]:
            fresh = self.fresh[0], grown(self.fresh[1], other.fresh[1], bound)
        link = self.link if self.link == other.link else NO_LINK
        return View(grown(self.base, other.base, bound), link, self.pending | other.pending, fresh)

    def seen(self, values: Values) -> View:
        """Behind a command that has found one of ``values`` in the cell."""
        return self._replace(base=values)

    def written(self, values: Values, surely: bool) -> View:
        """Behind a command of the process that leaves one of ``values`` there, if ``surely`` it is this cell."""
        fresh = self.fresh and (self.fresh[0], values if surely else united(self.fresh[1], values))
        return View(values if surely else united(self.base, values), NO_LINK, self.pending, fresh)

    def sent(self, queue: int, surely: bool) -> View:
        """Behind a command in ``queue`` a step of which may write the cell, or ``surely`` does."""
        fresh = (queue, NONE) if surely and queue != UNKNOWN_QUEUE else self.fresh
        return self._replace(pending=self.pending | {queue}, fresh=fresh)

    def waited(self, queue: int, sent: Values) -> View:
        """Behind a wait for ``queue``; ``sent``: what operations of the process write there."""
        if queue not in self.pending:
            return self
        base, fresh = self.base, self.fresh
        if fresh is not None and fresh[0] == queue:
            base, fresh = fresh[1], None
        return View(united(base, sent), NO_LINK, self.pending - {queue}, fresh)

    def loaded(self, register: int | None) -> View:
        """Behind a command that sets ``register``."""
        return self._replace(link=NO_LINK) if self.link == register else self

    def narrowed(self, registers: tuple[Values, ...]) -> View:
        """The same, if registers hold these values."""
        return self if self.link == NO_LINK else self._replace(base=common(self.base, registers[self.link]))
