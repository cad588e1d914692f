"""Measures what the searches cost on one program, and shows how the attack search sees one violation.

Every search has its limit here, in states and in seconds, and says whether it has ended.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pgasrob.analysis.placement import DELAYED, NOW
from pgasrob.analysis.waited import updates_waited_for
from pgasrob.program.instance import Instance
from pgasrob.reference.attack import AttackSpace, Found, State
from pgasrob.robustness.cycle_types import CycleTypeAutomata, possible_cycle_types
from pgasrob.robustness.engine import Engine, Violation
from pgasrob.robustness.explanation.reordering import Reordering, commands_in_order, letter_of
from pgasrob.robustness.moves import in_two_parts
from pgasrob.robustness.normal_form import Word
from pgasrob.robustness.product import ProductSearch
from pgasrob.robustness.reasons import Reason
from pgasrob.semantics.accesses import Access, access_of, conflict
from pgasrob.semantics.computation import Computation, Event
from pgasrob.semantics.happens_before import Edge, HappensBefore

MOST_TYPES = 100_000


@dataclass(frozen=True, slots=True)
class Cost:
    """How far a search went: ``ended`` or stopped by its limit, and the violation found, if any."""

    name: str
    states: int
    transitions: int
    seconds: float
    ended: bool
    violation: Violation | None
    gave_up: Reason | None = None


class Share(NamedTuple):
    """How much a search may take."""

    states: int
    seconds: float


def cost(name: str, make: Callable[[], Engine], share: Share) -> tuple[Cost, Engine | None]:
    """Run a search within its ``share``; the search too, None when there was not even the memory to begin."""
    started = time.monotonic()
    try:
        search = make()
        ended = True
        for _ in search.run():
            if search.states > share.states or time.monotonic() - started > share.seconds:
                ended = False
                break
    except MemoryError:
        return Cost(name, 0, 0, time.monotonic() - started, False, None), None
    seconds = time.monotonic() - started
    return Cost(name, search.states, search.transitions, seconds, ended and not search.gave_up, search.violation,
                search.gave_up), search  # fmt: skip


@dataclass(frozen=True, slots=True)
class Product:
    """The paper's procedure: how many cycle types there are in ``total``, how many are ``possible`` (None: too many to
    count) and how many were ``refuted``, the costs with two heads and with four."""

    total: int
    possible: int | None
    refuted: int
    costs: tuple[Cost, ...]


def product(instance: Instance, share: Share) -> Product:
    """What the paper's procedure costs, with a limit of ``share`` for each number of heads."""
    costs, refuted = [], 0
    for heads in (2, 4):
        found, search = cost(f"{heads} heads", lambda heads=heads: ProductSearch(instance, heads), share)  # type: ignore[misc]
        costs.append(found)
        if heads == 2 and isinstance(search, ProductSearch):
            refuted = search.refuted
    return Product(_all_types(instance.processes), _possible_types(instance), refuted, tuple(costs))


def _all_types(nodes: int) -> int:
    """How many cycle types there are: sequences of different ranks up to rotation."""
    total, sequences = 0, 1
    for length in range(1, nodes + 1):
        sequences *= nodes - length + 1
        total += sequences // length
    return total


def _possible_types(instance: Instance) -> int | None:
    automata = CycleTypeAutomata(instance)
    found = 0
    for looks, cycle in enumerate(possible_cycle_types(instance.processes, automata.joined)):
        found += cycle is not None
        if looks > MOST_TYPES:
            return None
    return found


Role = Literal["", "the source", "a further source", "e"]


@dataclass(frozen=True, slots=True)
class SearchStep:
    """A command as the attack search takes it: its events' places in ``Attack.computation``, what it is besides one of
    sigma, and the ranks that are tainted after it."""

    places: tuple[int, ...]
    role: Role
    tainted: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Attack:
    """How the attack search reaches one violation.

    ``computation`` with its ``parts``: sigma without D and e so far as it is not delayed; D, and what is left of e.
    ``source``: the place of the step that was chosen; ``delayed``: the places of D; ``last``: those of e; ``leaving``:
    the place of e's access that conflicts with the source.
    """

    computation: Computation
    parts: tuple[int, ...]
    search_steps: tuple[SearchStep, ...]
    source: int
    delayed: tuple[int, ...]
    last: tuple[int, ...]
    leaving: int


class NoAttack(Exception):
    """The attack search has no such path."""


def attack(instance: Instance, order: Reordering) -> Attack:
    """The path of the attack search along sigma to e (`proofs/two-parts.md`), given the steps that are the sources.

    ``order`` is that of a violating computation. Raises :class:`NoAttack` when the search does not get there.
    """
    sources = _sources(instance, order)
    sigma = order.sigma_run.computation
    commands = [[sigma[place] for place in places] for places in commands_in_order(sigma)]
    path = _Path(AttackSpace(instance))
    for events in commands:
        chosen = next((event for event in events if event in sources), None)
        if chosen is None:
            path.take(events)
        else:
            path.choose(events, chosen)
    path.close([order.computation[place] for place in order.last])
    return path.account()


def _sources(instance: Instance, order: Reordering) -> set[Event]:
    """The step into which the cycle goes from e, and all others like it after e, where e may wait for the cell."""
    edge = _leaving(order)
    chosen = order.computation[edge.target]
    made = access_of(chosen)
    if made is None or not updates_waited_for(instance).has(made):
        return {chosen}
    return {event for event in order.computation[edge.source + 1 :] if event.is_step and access_of(event) == made}


def _leaving(order: Reordering) -> Edge:
    """The conflict by which the cycle leaves e, into a step of an earlier command."""
    for edge in HappensBefore(order.computation).cycle or ():
        if edge.relation == "cf" and edge.source in order.last and edge.target not in order.last:
            return edge
    raise NoAttack("no conflict of the cycle leads out of the last command")


class _Path:
    """A path of the attack search, made command by command."""

    def __init__(self, space: AttackSpace) -> None:
        self._space = space
        self._state: State | Found = space.initial
        self._words: list[Word] = []
        self._roles: list[Role] = []
        self._tainted: list[tuple[int, ...]] = []

    def take(self, events: Sequence[Event]) -> None:
        """A command of sigma that chooses nothing."""
        begun = self._begun(self._state)
        self._move(events, lambda word, after: isinstance(after, State) and self._begun(after) == begun)

    def choose(self, events: Sequence[Event], source: Event) -> None:
        """A command whose step ``source`` is chosen, or is a further source."""
        first = not self._begun(self._state)
        self._move(events, lambda word, after: self._begun(after) and _delays(word, source, first))
        self._roles[-1] = "the source" if first else "a further source"

    def close(self, events: Sequence[Event]) -> None:
        """e."""
        self._move(events, lambda word, after: isinstance(after, Found))
        self._roles[-1] = "e"

    def _move(self, events: Sequence[Event], fits: Callable[[Word, State | Found], bool]) -> None:
        letters = tuple(map(letter_of, events))
        for word, after in self._space.successors(self._state):
            if tuple(letter for _, letter in word) == letters and fits(word, after):
                break
        else:
            raise NoAttack(f"no such move for {events[0].kind} of rank {events[0].rank}")
        self._state = after
        self._words.append(word)
        self._roles.append("")
        bits = after.attack.tainted if isinstance(after, State) and after.attack else 0
        self._tainted.append(tuple(rank for rank in range(self._space.instance.processes) if bits >> rank & 1))

    @staticmethod
    def _begun(state: State | Found) -> bool:
        return isinstance(state, State) and state.attack is not None

    def account(self) -> Attack:
        computation, parts = in_two_parts(self._words)
        search_steps = tuple(
            SearchStep(tuple(places), role, tainted)
            for places, role, tainted in zip(commands_in_order(computation), self._roles, self._tainted, strict=True)
        )
        last = search_steps[-1].places
        begun = next(step for step in search_steps if step.role == "the source")
        source = next(place for place in begun.places if parts[place] == DELAYED)
        made = _access(computation[source])
        leaving = next(
            place
            for place in last
            if parts[place] == NOW and made and (own := _access(computation[place])) and conflict(own, made)
        )
        delayed = tuple(place for place, part in enumerate(parts) if part == DELAYED and place not in last)
        return Attack(computation, parts, search_steps, source, delayed, last, leaving)


def _delays(word: Word, source: Event, first: bool) -> bool:
    """Whether ``source`` is delayed, and if it is to be the ``first``, nothing before it."""
    delayed = [letter.kind for part, letter in word if part == DELAYED]
    return source.kind in (delayed[:1] if first else delayed)


def _access(event: Event) -> Access | None:
    return access_of(event)
