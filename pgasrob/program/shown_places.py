"""Where the source shows what no command does: by output, or by what main returns (`proofs/polling.md`).

Commands do not say what is printed. So that reads may be exchanged, nothing may be shown on the way from the first of
them to the last, nor anything be computed there that is only shown later; and a round of reads that may be left out
leaves nothing behind that is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from pgasrob.program.graphs import reached
from pgasrob.program.statements import Span

Function = int
Place = int
Value = int | str
"""A slot of the function at hand, or an object by its name."""
OUTPUT = "(output)"
"""All that has been shown so far."""


@dataclass(frozen=True, slots=True)
class ShownIn:
    """One function: for each place of its code the places after it, the source text there, and the functions that it
    calls; the places of ``outputs``, and all that ``show`` something, or give a value to what is shown. ``keeps``: the
    values that a round of a loop gives to what is shown, or what it shows that another one does not; ``live``: for each
    place the values that may be shown as they are there."""

    after: tuple[tuple[Place, ...], ...]
    spans: tuple[Span, ...]
    calls: tuple[frozenset[Function], ...]
    outputs: frozenset[Place]
    shows: frozenset[Place]
    keeps: Mapping[Place, frozenset[Value]]
    live: tuple[frozenset[Value], ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """What gives functions that are known."""

    functions: tuple[ShownIn, ...]

    def __call__(self) -> tuple[ShownIn, ...]:
        return self.functions


class Shown:
    """The functions of a program, the first of which is main: what is asked for the first time something is asked, for
    of most programs nothing is."""

    def __init__(self, functions: Callable[[], tuple[ShownIn, ...]]) -> None:
        self._functions = functions
        self._known: dict[tuple[frozenset[Span], frozenset[Span], frozenset[Span] | None, bool], bool] = {}

    @cached_property
    def functions(self) -> tuple[ShownIn, ...]:
        return self._functions()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shown) and self.functions == other.functions

    def __reduce__(self) -> tuple[type[Shown], tuple[Callable[[], tuple[ShownIn, ...]]]]:
        return Shown, (_Found(self.functions),)

    @cached_property
    def giving(self) -> frozenset[Span]:
        """Where the source shows something, or gives a value to what is shown, or to what decides about it."""
        return frozenset(each.spans[place] for each in self.functions for place in each.shows)

    def between(self, spans: Collection[Span], others: Collection[Span]) -> bool:
        """Whether something may be shown between two of the commands at ``spans``, without one at ``others``, which
        are commands for sure."""
        return self._once(frozenset(spans), frozenset(others), None)

    def kept(
        self, round: Collection[Span], back: Collection[Span], others: Collection[Span], outputs: bool = False
    ) -> bool:
        """Whether a way from where the next command is one of ``back`` to there, by commands of the ``round`` and none
        at ``others``, may leave something behind that is shown, or show something that not every way does; with
        ``outputs`` also what every way shows."""
        return self._once(frozenset(round), frozenset(others), frozenset(back), outputs)

    def _once(
        self, spans: frozenset[Span], others: frozenset[Span], back: frozenset[Span] | None, outputs: bool = False
    ) -> bool:
        key = spans, others - spans, back, outputs
        if key not in self._known:
            functions = enumerate(self.functions)
            if back is None:
                shows = {number: set(each.shows) for number, each in functions}
            else:
                shows = self._keeping(back)
                for number, each in functions if outputs else ():
                    shows[number] |= each.outputs
            self._known[key] = self._between(spans, others - spans, shows)
        return self._known[key]

    def _keeping(self, back: frozenset[Span]) -> dict[Function, set[Place]]:
        """The places that give a value to what may be shown as it is where the next command is one of ``back``."""
        at = self._at(back)
        begins = {number: self._entries(number, at[number]) for number in at}
        # Where a function is called that has such a command, arguments have been read.
        calling = {number: found - at[number] for number, found in self._containing(at).items()}
        everywhere = not any(begins.values())
        live = {
            number: self._live(number, begins[number] | {to for place in calling[number] for to in each.after[place]})
            for number, each in enumerate(self.functions)
        }
        objects = {each for values in live.values() for each in values if isinstance(each, str)}
        return {
            number: {place for place, values in each.keeps.items() if everywhere or values & (live[number] | objects)}
            for number, each in enumerate(self.functions)
        }

    def _entries(self, number: Function, places: set[Place]) -> set[Place]:
        """Those of ``places`` at which a command begins that stands there."""
        after = self.functions[number].after
        inner = {to for place in places for to in after[place] if to in places}
        outer = {to for place, targets in enumerate(after) if place not in places for to in targets}
        return (places - inner) | (places & outer) or places

    def _live(self, number: Function, places: Iterable[Place]) -> set[Value]:
        return set[Value]().union(*(self.functions[number].live[place] for place in places))

    def _at(self, spans: frozenset[Span]) -> dict[Function, set[Place]]:
        return {
            number: {place for place, span in enumerate(each.spans) if span in spans}
            for number, each in enumerate(self.functions)
        }

    def _between(self, spans: frozenset[Span], others: frozenset[Span], showing: dict[Function, set[Place]]) -> bool:
        inside, shows = self._containing(self._at(spans)), self._containing(showing)
        if not any(inside.values()):
            return any(showing.values())
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
