"""Where the source shows what no command does: by output, or by what main returns (`proofs/polling.md`, section 5).

Commands do not say what is printed. So that reads may be exchanged, nothing may be shown on the way from the first of
them to the last, nor anything be computed there that is only shown later.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from pgasrob.program.graphs import reached
from pgasrob.program.statements import Span

Function = int
Place = int


@dataclass(frozen=True, slots=True)
class ShownIn:
    """One function: for each place of its code the places after it, the source text there, and the functions that it
    calls; and the places that ``show`` something, or give a value to what is shown."""

    after: tuple[tuple[Place, ...], ...]
    spans: tuple[Span, ...]
    calls: tuple[frozenset[Function], ...]
    shows: frozenset[Place]


@dataclass(frozen=True)
class Shown:
    """The functions of a program, the first of which is main."""

    functions: tuple[ShownIn, ...]
    _known: dict[tuple[frozenset[Span], frozenset[Span]], bool] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def between(self, spans: Collection[Span], others: Collection[Span]) -> bool:
        """Whether something may be shown between two of the commands at ``spans``, without one at ``others``, which
        are commands for sure."""
        key = frozenset(spans), frozenset(others) - frozenset(spans)
        if key not in self._known:
            self._known[key] = self._between(*key)
        return self._known[key]

    def _between(self, spans: frozenset[Span], others: frozenset[Span]) -> bool:
        inside = self._containing({
            number: {place for place, span in enumerate(each.spans) if span in spans}
            for number, each in enumerate(self.functions)
        })  # fmt: skip
        shows = self._containing({number: set(each.shows) for number, each in enumerate(self.functions)})
        for number, each in enumerate(self.functions):
            both = inside[number] & shows[number]
            # A function that has both is followed; that it is called from elsewhere again is taken for such a way.
            if number and inside[number] and shows[number]:
                return True
            if both - {place for place in both if each.calls[place]} or any(
                inside[called] and shows[called] for place in both for called in each.calls[place]
            ):
                return True
            blocked = {place for place, span in enumerate(each.spans) if span in others and not each.calls[place]}
            if self._lie_between(each, inside[number], shows[number] - inside[number], blocked):
                return True
        return False

    def _containing(self, found: dict[Function, set[Place]]) -> dict[Function, set[Place]]:
        """``found``, and the places where functions are called that have some of these."""
        changed = True
        while changed:
            changed = False
            for number, each in enumerate(self.functions):
                for place, called in enumerate(each.calls):
                    if place not in found[number] and any(found[other] for other in called):
                        found[number].add(place)
                        changed = True
        return found

    def _lie_between(self, function: ShownIn, ends: set[Place], shows: set[Place], blocked: set[Place]) -> bool:
        """Whether a way from one of ``ends`` to one of them passes a place that ``shows`` and none that is
        ``blocked``."""

        def onwards(place: int) -> set[int]:
            return set(function.after[place]) - blocked

        passed = reached(ends, onwards) & shows
        back = (reached(function.after[place], onwards) for place in passed)
        return any(not ends.isdisjoint(each) for each in back)
