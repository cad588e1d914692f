"""Of elements of memory that are accessed alike, keeps a few that stand for all.

Cells that the rounds of sites (`analysis.sites`) access together are an *element*. Elements that the same sites access,
and nothing else does, are alike: of each stretch of them as many are kept as there are ranks, and the commands of the
others are left out. The instance that is left is robust iff the whole one is, and its runs are those of the whole one
without what was left out: `proofs/reductions.md`, section 10.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pgasrob.analysis.ranges import ranges
from pgasrob.analysis.sites import Site, Walk, sites
from pgasrob.program import core
from pgasrob.program.commands import Assign, Command, map_expressions
from pgasrob.program.control import ControlAutomaton, Transition
from pgasrob.program.expressions import Const, Expr, Register, constant, rewritten, specialise
from pgasrob.program.instance import Instance
from pgasrob.stop_points import stop_point

WORTHWHILE = 16
"""Stretches of alike elements that are not longer are kept."""


@dataclass(frozen=True, slots=True)
class Represented:
    """``instance`` without the elements that others stand for. ``alike``: how many elements there are that others are
    alike to, and how many of them are kept."""

    instance: Instance
    alike: int
    kept: int


def represented(instance: Instance, worthwhile: int | None = None, one_place: bool = False) -> Represented | None:
    """``instance`` with a few elements for all that are alike; None where there is nothing to leave out. With
    ``one_place`` only what stands at one place in the source is alike, so that the pairs of places that race are those
    of the whole."""
    if instance.has_threads:
        return None
    found = [sites(instance, rank, one_place) for rank in range(instance.nodes)]
    families = _Families(instance, found)
    kept = families.kept(WORTHWHILE if worthwhile is None else worthwhile)
    if not kept:
        return None
    automata = tuple(
        _Shortened(instance, rank, {site.start: (site, kept[site]) for site in of_rank if site in kept}).automaton()
        for rank, of_rank in enumerate(found)
    )
    return Represented(instance.with_automata(automata), families.alike, families.left)


@dataclass(frozen=True, slots=True)
class _Group:
    """Cells of one rank, ``step`` addresses apart, that walks go over: from ``first`` to ``last``."""

    rank: int
    first: int
    last: int
    step: int


class _Families:
    """Sites and groups that have cells in common, each family with numbers for its elements.

    ``offset`` of a site or group is what has to be added to a round's or a cell's place in it for the number of its
    element; places of a site are counted along the addresses, whichever way its rounds go.
    """

    def __init__(self, instance: Instance, found: Sequence[Sequence[Site]]) -> None:
        self._instance = instance
        self.alike = self.left = 0
        every = [site for of_rank in found for site in of_rank]
        self._sites = [site for site in every if len({walk.step > 0 for walk in site.walks}) == 1]
        self._groups = self._found_groups()
        self._family: dict[Site | _Group, tuple[Site | _Group, int]] = {}
        self._join()

    def _found_groups(self) -> dict[tuple[int, int, int], list[_Group]]:
        """The groups, by rank, step and the address modulo the step, ascending. What different steps go over together
        is in none."""
        while True:
            stop_point()
            spans: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
            for site in self._sites:
                for walk in site.walks:
                    low, high, step = _span(walk, site.rounds)
                    spans.setdefault((walk.rank, step, low % step), []).append((low, high))
            groups = {key: [_Group(key[0], *span, key[1]) for span in _joined(own)] for key, own in spans.items()}
            mixed = _mixed([group for own in groups.values() for group in own])
            if not mixed:
                return groups
            keeps = [
                site
                for site in self._sites
                if not any(self._group_in(groups, walk, site.rounds) in mixed for walk in site.walks)
            ]
            self._sites = keeps

    def _group_in(self, groups: dict[tuple[int, int, int], list[_Group]], walk: Walk, rounds: int) -> _Group:
        low, _, step = _span(walk, rounds)
        own = groups[walk.rank, step, low % step]
        return own[bisect_right([group.first for group in own], low) - 1]

    def _root(self, member: Site | _Group) -> tuple[Site | _Group, int]:
        """What stands for the family of ``member``, and the offset of the member in it."""
        above = self._family.get(member)
        if above is None:
            return member, 0
        root, offset = self._root(above[0])
        self._family[member] = root, above[1] + offset
        return self._family[member]

    def _join(self) -> None:
        """Find the families; in one in which a cell would have two numbers there are no elements."""
        torn: set[Site | _Group] = set()
        for site in self._sites:
            for walk in site.walks:
                group = self._group_in(self._groups, walk, site.rounds)
                place = (_span(walk, site.rounds)[0] - group.first) // group.step
                (mine, own), (its, there) = self._root(site), self._root(group)
                # The site's place 0 is the group's place `place`.
                if mine != its:
                    self._family[mine] = its, there + place - own
                    if mine in torn:
                        torn.add(its)
                elif own != there + place:
                    torn.add(its)
        torn = {self._root(each)[0] for each in torn}
        self._sites = [site for site in self._sites if self._root(site)[0] not in torn]

    def _fixed(self) -> dict[Site | _Group, set[tuple[int, int]]]:
        """By family the elements, first and last, that commands outside of its sites access."""
        found: dict[Site | _Group, set[tuple[int, int]]] = {}
        within = {(site.rank, id(transition)) for site in self._sites for transition in site.commands}
        for rank, automaton in enumerate(self._instance.automata):
            for state, leaving in enumerate(automaton.out):
                for transition in leaving:
                    if (rank, id(transition)) in within:
                        continue
                    for low, high in self._accessed(rank, state, transition):
                        for owner, first, last in self._by_rank(low, high):
                            self._fix(found, owner, first, last)
        return found

    def _by_rank(self, low: int, high: int) -> Iterable[tuple[int, int, int]]:
        size = self._instance.size
        for owner in range(low // size, high // size + 1):
            yield owner, max(low - owner * size, 0), min(high - owner * size, size - 1)

    def _accessed(self, rank: int, state: int, transition: Transition) -> Iterable[tuple[int, int]]:
        """The cells, first and last, that a command may access."""
        places = [made.cell for made in core.accesses_of(transition.form)]
        known = [(rank if place.rank is None else constant(place.rank), constant(place.address)) for place in places]
        size = self._instance.size
        for owner, address in known:
            if owner is None or address is None:
                cells = ranges(self._instance).touched(rank, state, transition).cells
                if cells:
                    yield (cells & -cells).bit_length() - 1, cells.bit_length() - 1
                return
        for owner, address in known:
            assert owner is not None and address is not None
            if 0 <= owner < self._instance.nodes and 0 <= address < size:
                yield owner * size + address, owner * size + address

    def _fix(self, found: dict[Site | _Group, set[tuple[int, int]]], rank: int, first: int, last: int) -> None:
        for (owner, step, _), groups in self._groups.items():
            if owner != rank:
                continue
            for group in groups:
                low, high = max(first, group.first), min(last, group.last)
                begin, end = -((group.first - low) // step), (high - group.first) // step
                if low <= high and begin <= end:
                    root, offset = self._root(group)
                    found.setdefault(root, set()).add((begin + offset, end + offset))

    def kept(self, worthwhile: int) -> dict[Site, list[int]]:
        """For each site of which rounds are left out those that are kept, in the order of the rounds."""
        most = max(worthwhile, self._instance.nodes)
        if all(site.rounds <= most for site in self._sites):
            return {}
        fixed = self._fixed()
        members: dict[Site | _Group, list[Site]] = {}
        for site in self._sites:
            members.setdefault(self._root(site)[0], []).append(site)
        found: dict[Site, list[int]] = {}
        for root, own in members.items():
            spans = {site: (offset := self._root(site)[1], offset + site.rounds) for site in own}
            fixed_here = fixed.get(root, set())
            ends = {end for span in spans.values() for end in span}
            ends |= {end for first, last in fixed_here for end in (first, last + 1)}
            borders = sorted(ends)
            left_out: list[tuple[int, int]] = []
            for first, end in pairwise(borders):
                alike = end - first
                is_fixed = any(low <= first and end - 1 <= high for low, high in fixed_here)
                if alike > most and not is_fixed:
                    left_out.append((first + self._instance.nodes, end))
                    self.alike += alike
                    self.left += self._instance.nodes
            for site, (begin, end) in spans.items():
                gone = [(low, high) for low, high in left_out if low < end and begin < high]
                if gone:
                    places = _without(begin, end, gone)
                    up, last = site.walks[0].step > 0, site.rounds - 1
                    found[site] = sorted(place - begin if up else last - (place - begin) for place in places)
        return found


def _span(walk: Walk, rounds: int) -> tuple[int, int, int]:
    """The first and the last address of a walk, and how far they are apart, ascending."""
    last = walk.first + walk.step * (rounds - 1)
    return min(walk.first, last), max(walk.first, last), abs(walk.step)


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """``spans`` that overlap as one."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if found and low <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return found


def _mixed(groups: Sequence[_Group]) -> set[_Group]:
    """The groups of ``groups`` that overlap with a group of another step."""
    return {
        each
        for each in groups
        for other in groups
        if each.step != other.step and each.rank == other.rank and each.first <= other.last and other.first <= each.last
    }


def _without(begin: int, end: int, gone: Sequence[tuple[int, int]]) -> list[int]:
    """The numbers from ``begin`` up to ``end`` that are in no span of ``gone``, which are ascending."""
    found: list[int] = []
    for low, high in gone:
        found += range(begin, low)
        begin = max(begin, high)
    return [*found, *range(begin, end)]


class _Shortened:
    """The control automaton of ``rank`` in which ``sites``, by where they begin, have the rounds that are kept, each
    written out."""

    def __init__(self, instance: Instance, rank: int, sites: dict[int, tuple[Site, list[int]]]) -> None:
        self._instance, self._rank = instance, rank
        automaton = instance.automata[rank]
        self._out, self._live = automaton.out, automaton.live
        self._variants = max((each.variant for each in automaton.transitions), default=0)
        self._ends = {start: site.end for start, (site, _) in sites.items()}
        self._written = {start: self._rounds(site, kept) for start, (site, kept) in sites.items()}
        self._numbers: dict[tuple[int, int], int] = {}
        self._states: list[tuple[int, int]] = []

    def automaton(self) -> ControlAutomaton:
        """Its states are those of the whole automaton, with how many commands of a site that begins there are done."""
        self._number(0)
        found: list[tuple[Transition, ...]] = []
        for start, done in self._states:
            row = self._written.get(start)
            if row is None:
                found.append(tuple(each.leading_to(self._number(each.target)) for each in self._out[start]))
            else:
                last = done + 1 == len(row)
                target = self._number(self._ends[start]) if last else self._number(start, done + 1)
                found.append((row[done].leading_to(target),))
        return ControlAutomaton(tuple(found))

    def _number(self, state: int, done: int = 0) -> int:
        number = self._numbers.setdefault((state, done), len(self._states))
        if number == len(self._states):
            self._states.append((state, done))
        return number

    def _rounds(self, site: Site, kept: Sequence[int]) -> list[Transition]:
        if site.counter is None:
            return [site.commands[round] for round in kept]
        found = [self._at(site, round, each) for round in kept for each in site.commands]
        if site.counter in self._live[site.end]:
            last = self._out[site.start][0]
            command = Assign(
                Register(self._instance.program.registers[site.counter], site.counter), Const(site.values[-1])
            )
            found.append(
                Transition(command, 0, last.occurrence, last.span).with_form(core.lower(command), self._variant())
            )
        return found

    def _at(self, site: Site, round: int, transition: Transition) -> Transition:
        """A command as it is in a round of a loop."""

        def known(expr: Expr) -> Expr | None:
            is_counter = isinstance(expr, Register) and expr.index == site.counter
            return Const(site.values[round]) if is_counter else None

        command: Command = map_expressions(
            transition.command,
            lambda expr: specialise(rewritten(expr, known), self._rank, self._instance.nodes),
        )
        # Transfers of one call are one row of a report, iterations of a loop are not.
        turn = 0 if isinstance(transition.form, core.Transfer) else round + 1
        span = replace(transition.span, turn=turn or transition.span.turn)
        written = Transition(command, 0, transition.occurrence, span, transition.last)
        return written.with_form(written.form, self._variant())

    def _variant(self) -> int:
        self._variants += 1
        return self._variants
