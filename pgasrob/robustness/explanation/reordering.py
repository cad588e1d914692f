"""The last command e, sigma, and the normal form of one computation (the paper, section 4; `proofs/normal-form.md`).

All of it is about a computation that is not violating without its last command: a shortest violating one, or one of a
robust program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgasrob.analysis.placement import Placement
from pgasrob.program.instance import Instance
from pgasrob.robustness.normal_form import HEADS, Letter, NormalForm
from pgasrob.semantics.computation import Computation, Event
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import Run, replay
from pgasrob.semantics.sc_order import last_command, sc_places


@dataclass(frozen=True, slots=True)
class Moved:
    """An event that overtakes others in the normal form: its place in the computation and in the normal form, and the
    places in the computation of those others. Where it is overtaken too, it need not come earlier than before."""

    place: int
    to: int
    overtaken: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reordering:
    """A computation and its normal form.

    ``last``: the places of the events of e in the computation. ``segments``: the places of tau_1, tau_2, ..., between
    and around them. ``sigma``: the places of the events without e in the order of an SC run with the same
    happens-before relation, ``sigma_run`` that run. ``places``: the computation in normal form, by places; ``parts``:
    the part of each of its events, of ``heads`` in all; ``run`` the normal form replayed.
    """

    computation: Computation
    last: tuple[int, ...]
    segments: tuple[tuple[int, ...], ...]
    sigma: tuple[int, ...]
    sigma_run: Run
    places: tuple[int, ...]
    parts: tuple[int, ...]
    run: Run
    heads: int

    @property
    def normal_form(self) -> Computation:
        return self.run.computation

    @property
    def moved(self) -> list[Moved]:
        """What overtakes something, in the order of the normal form."""
        found = []
        for to, place in enumerate(self.places):
            overtaken = tuple(sorted(later for later in self.places[to + 1 :] if later < place))
            if overtaken:
                found.append(Moved(place, to, overtaken))
        return found


def reorder(instance: Instance, computation: Computation) -> Reordering:
    """``computation``, which must not be empty nor violating without its last command, and its normal form (Lemma 8).

    The parts are (sigma | tau_1) e, (sigma | tau_2) e', ..., where e', ... are the steps of e. Raises
    :class:`~pgasrob.semantics.replay.ReplayError` when the computation is none.
    """
    last = last_command(computation)
    steps = [place for place in last if computation[place].is_step]
    issue = [place for place in last if place not in steps]
    starts, ends = (-1, issue[-1], *steps), (issue[0], *steps, len(computation))
    segments = tuple(tuple(range(start + 1, end)) for start, end in zip(starts, ends, strict=True))
    left = [place for place in range(len(computation)) if place not in last]
    ordered = sc_places(HappensBefore(tuple(computation[place] for place in left)))
    assert ordered is not None, "without its last command the computation is not violating"
    sigma = tuple(left[place] for place in ordered)
    places: list[int] = []
    parts: list[int] = []
    for part, segment in enumerate(segments, 1):
        own = issue if part == 1 else steps[part - 2 : part - 1]
        piece = [*(place for place in sigma if place in segment), *own]
        places += piece
        parts += [part] * len(piece)
    return Reordering(
        computation,
        last,
        segments,
        sigma,
        replay(instance, tuple(computation[place] for place in sigma)),
        tuple(places),
        tuple(parts),
        replay(instance, tuple(computation[place] for place in places)),
        max(HEADS, len(segments)),
    )


@dataclass(frozen=True, slots=True)
class Generated:
    """A command, or a barrier of all ranks, as Y(P, N) generates it: its events' places in the normal form with their
    heads, and the placement of its rank's steps that Y remembers afterwards (None for a barrier)."""

    events: tuple[tuple[int, int], ...]
    rank: int | None
    placement: Placement | None


class NotGenerated(Exception):
    """Y(P, N) has no path for what ought to be a normal form."""


def generate(instance: Instance, normal_form: Computation, parts: Sequence[int], heads: int) -> list[Generated]:
    """The path of Y(P, N) with ``heads`` heads along which it generates ``normal_form`` (Lemma 12).

    Raises :class:`NotGenerated` when there is none.
    """
    automaton = NormalForm(instance, heads)
    state = automaton.initial
    found = []
    for places in commands_in_order(normal_form):
        word = tuple((parts[place], letter_of(normal_form[place])) for place in places)
        successor = next((target for generated, target in automaton.successors(state) if generated == word), None)
        if successor is None:
            raise NotGenerated(f"Y(P, N) does not generate {word}")
        state = successor
        first = normal_form[places[0]]
        alone = first.kind != "barrier"
        found.append(
            Generated(
                tuple((parts[place], place) for place in places),
                first.rank if alone else None,
                state.placement[first.rank] if alone else None,
            )
        )
    return found


def letter_of(event: Event) -> Letter:
    """``event`` as a letter of Y(P, N)."""
    return Letter(event.kind, event.rank, event.cell, event.occurrence, event.commutes, event.home)


def commands_in_order(computation: Computation) -> list[list[int]]:
    """The places of the events of each command, a barrier being one, in the order in which they are issued."""
    found: dict[object, list[int]] = {}
    barriers: dict[int, int] = {}
    for place, event in enumerate(computation):
        key: object = event.issued
        if event.kind == "barrier":
            barriers[event.rank] = barriers.get(event.rank, 0) + 1
            key = ("barrier", barriers[event.rank])
        found.setdefault(key, []).append(place)
    return list(found.values())
