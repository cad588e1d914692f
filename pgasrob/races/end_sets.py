"""The ends of the SC runs after every SC state, and the races by which these differ.

Two commands of different ranks that race and are both next in an SC state *matter* there if the runs that make the one
first and then the other do not end in the same ways as those that make them the other way round: in how they end, in
final values, in values that were read and used, or in assertions that fail (`maximal_runs.End`). Where no race matters
in any state, and nothing else is left to chance, all runs end alike (`proofs/races.md`, section 9).

:class:`AllEnds` is this definition, state by state. :func:`difference_after` looks at the one state to which a known
run leads, and follows one run of those that differ in the order of what is independent: it can show that a race
matters, and not that it does not. :func:`one_end` sees that all SC runs of a program without loops end alike.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Sequence
from itertools import chain, combinations, product
from typing import NamedTuple

from pgasrob.program import core
from pgasrob.program.control import Transition
from pgasrob.program.core import Operands
from pgasrob.program.graphs import components, postorder
from pgasrob.program.instance import Instance, Registers
from pgasrob.races.racing_pairs import Next, Pairs, Places, accesses, places
from pgasrob.robustness.maximal_runs import End, Node, Runs, Viewer, Word
from pgasrob.semantics.sequential import SequentialState
from pgasrob.stop_points import stop_point

ScNode = Node[SequentialState]


class GoesOn(NamedTuple):
    """What is common to the runs that never leave a set of states: the memories that these have."""

    memories: frozenset[tuple[int, ...]]


AnEnd = End | GoesOn


class Step(NamedTuple):
    """A command that ``rank`` makes next, with all that it does, and the node ``after`` it."""

    rank: int
    transition: Transition
    operands: Operands
    word: Word
    after: ScNode


class Difference(NamedTuple):
    """Two SC runs that make the two accesses next after the run ``before`` in both orders, and how these end: in the
    same way where the accesses are atomics that need not exclude each other, so that there are ends beside those of SC
    runs.

    ``places``, ``accesses``: what races. ``one`` has the order of ``accesses``."""

    places: Places
    accesses: tuple[Next, Next]
    before: list[Word]
    one: list[Word]
    other: list[Word]
    ends: tuple[AnEnd, AnEnd]


def steps_at(viewer: Viewer, node: ScNode, rank: int) -> Iterator[Step]:
    """The commands other than barriers that ``rank`` can make next at ``node``."""
    for command, after in viewer.space.made_by(node.state, rank):
        yield Step(rank, *command, viewer.after(node, command.word, after))


def racing(pairs: Pairs, one: Step, other: Step) -> tuple[Next, Next] | None:
    """The first accesses of two commands that race, if there are any."""
    for first in accesses(one.rank, one.transition, one.operands):
        for second in accesses(other.rank, other.transition, other.operands):
            if pairs.race(first, second):
                return first, second
    return None


class AllEnds:
    """All SC states of ``instance``, up to ``most``, and the ends of the runs through each of them.

    ``explore`` yields now and then; ``complete`` says afterwards whether there were no more. ``numbers``: the nodes in
    the order in which they were met.
    """

    def __init__(self, viewer: Viewer, pairs: Pairs, most: int) -> None:
        self._viewer, self._pairs, self._most = viewer, pairs, most
        self._space = viewer.space
        self.numbers: dict[ScNode, int] = {}
        self._nodes: list[ScNode] = []
        self._from: list[tuple[int, Word]] = []
        self._targets: list[list[int]] = []
        self._ends: list[int] = []
        self._known: list[AnEnd] = []
        self._before: dict[tuple[int, int, Registers], int] = {}
        self._commands: list[list[tuple[Transition, Operands]]] = []
        self._racing: dict[tuple[int, int], bool] = {}
        self.complete = False
        self._open = False  # whether some rank goes on by polls that fail now, which are not followed here

    @property
    def states(self) -> int:
        return len(self._nodes)

    def explore(self) -> Iterator[None]:
        """Look at all states, and then for each at the ends that it leads to."""
        if least_states(self._viewer.instance) > self._most:
            return
        self._number(self._viewer.begin(self._space.initial)[0], 0, ())
        at = 0
        while at < len(self._nodes):
            stop_point()
            if len(self._nodes) > self._most:
                return
            node = self._nodes[at]
            self._targets.append(
                [
                    self._number(self._viewer.after(node, word, state), at, word)
                    for word, state in self._space.successors(node.state)
                ]
            )
            at += 1
            yield
        self._gather_ends()
        self.complete = not self._open

    def _number(self, node: ScNode, before: int, word: Word) -> int:
        number = self.numbers.setdefault(node, len(self._nodes))
        if number == len(self._nodes):
            self._nodes.append(node)
            self._from.append((before, word))
        return number

    def _gather_ends(self) -> None:
        """For each node the ends that it leads to, as bits; those on a common cycle lead to the same."""
        component = components(self._targets)
        members: dict[int, list[int]] = {}
        for number, of in enumerate(component):
            members.setdefault(of, []).append(number)
        bits: dict[AnEnd, int] = {}
        found: dict[int, int] = {}
        roots = list(members)
        place = {root: number for number, root in enumerate(roots)}
        leads = [[place[component[to]] for each in own for to in self._targets[each]] for own in members.values()]
        for root in (roots[number] for number in postorder(leads, range(len(roots)))):
            own = members[root]
            targets = {target for number in own for target in self._targets[number]}
            ends = 0
            for target in targets:
                if component[target] != root:
                    ends |= found[component[target]]
            if not targets:
                end: AnEnd | None = self._viewer.end(self._nodes[own[0]])
                self._open |= end is None and not self._viewer.is_wrong_guess(self._nodes[own[0]])
            else:
                going = all(component[target] == root for target in targets)
                end = GoesOn(frozenset(self._nodes[each].state.memory for each in own)) if going else None
            if end is not None:
                ends |= 1 << bits.setdefault(end, len(bits))
            found[root] = ends
        self._ends = [found[of] for of in component]
        self._known = list(bits)

    def differences(self) -> Iterator[Difference | None]:
        """One difference for each two places whose race matters somewhere, in the order of the states; None now and
        then."""
        done: set[Places] = set()
        for number, node in enumerate(self._nodes):
            # Else nothing is left to be decided.
            if self._ends[number].bit_count() > 1 or self._pairs.may_lose_updates:
                for one, other in self._both_next(node):
                    found = racing(self._pairs, one[0], other[0])
                    if found is None or places(*found) in done:
                        continue
                    difference = self._difference(number, found, one, other)
                    if difference is not None:
                        done.add(difference.places)
                        yield difference
            yield None

    def races(self) -> Iterator[tuple[tuple[Next, Next], list[Word]]]:
        """One pair of accesses for each two places that race in some SC state, with a run to where they are next."""
        done: set[Places] = set()
        for number, node in enumerate(self._nodes):
            both = (racing(self._pairs, one[0], other[0]) for one, other in self._both_next(node))
            for found in chain(both, self._between_threads(node)):
                if found is not None and places(*found) not in done:
                    done.add(places(*found))
                    yield found, self._path(number)

    def _between_threads(self, node: ScNode) -> Iterator[tuple[Next, Next]]:
        """The next accesses of two threads of a rank that race, those of awaits that do not hold now among them."""
        home = self._viewer.instance.home
        ways = [self._next_of(rank, node.state) for rank in range(len(home))]
        for one, other in combinations(range(len(ways)), 2):
            if home[one] == home[other] and self._may_race((one, other), (ways[one], ways[other])):
                for made, met in product(self._commands[ways[one]], self._commands[ways[other]]):
                    for two in product(accesses(one, *made), accesses(other, *met)):
                        if self._pairs.race(*two):
                            yield two

    def _both_next(self, node: ScNode) -> Iterator[tuple[list[Step], list[Step]]]:
        """Every two commands of different ranks that can both be next at ``node``, each in all ways that it can go;
        but for those of ranks at which nothing races, which saves making them."""
        made: dict[int, list[list[Step]]] = {}
        ways = [self._next_of(rank, node.state) for rank in range(self._viewer.instance.processes)]
        for ranks in combinations(range(len(ways)), 2):
            if not self._may_race(ranks, (ways[ranks[0]], ways[ranks[1]])):
                continue
            first, second = (made.setdefault(rank, self._made_at(node, rank)) for rank in ranks)
            for one in first:
                for other in second:
                    yield one, other

    def _made_at(self, node: ScNode, rank: int) -> list[list[Step]]:
        """The commands that ``rank`` can make next at ``node``, each in all ways that it can go."""
        commands: dict[tuple[int, int], list[Step]] = {}
        for step in steps_at(self._viewer, node, rank):
            commands.setdefault((step.transition.occurrence, step.transition.variant), []).append(step)
        return list(commands.values())

    def _next_of(self, rank: int, state: SequentialState) -> int:
        """The number of what ``rank`` is before: its commands with their operands, whether or not it can make them."""
        place = rank, state.control[rank], state.registers[rank]
        if place not in self._before:
            self._before[place] = len(self._commands)
            self._commands.append([*self._viewer.instance.evaluated(*place)])
        return self._before[place]

    def _may_race(self, ranks: tuple[int, int], ways: tuple[int, int]) -> bool:
        """Whether some of the commands with these numbers, of two ``ranks``, race."""
        if ways not in self._racing:
            (one, other), (ones, others) = ranks, (self._commands[each] for each in ways)
            self._racing[ways] = any(
                self._pairs.race(first, second)
                for made in ones
                for first in accesses(one, *made)
                for met in others
                for second in accesses(other, *met)
            )
        return self._racing[ways]

    def _difference(
        self, number: int, found: tuple[Next, Next], one: list[Step], other: list[Step]
    ) -> Difference | None:
        forwards, backwards = self._in_order(one, other[0]), self._in_order(other, one[0])
        ends = [self._ends_of(nodes) for nodes in (forwards, backwards)]
        if ends[0] == ends[1] and not self._pairs.may_lose_updates:
            return None
        shown = _shown(self._pairs, found, *map(self._listed, ends))
        if shown is None:
            return None
        first, second = shown
        before = self._path(number)
        return Difference(
            places(*found), found, before,
            before + self._to(forwards, first), before + self._to(backwards, second), (first, second),
        )  # fmt: skip

    def _in_order(self, first: list[Step], second: Step) -> list[tuple[list[Word], ScNode]]:
        """The nodes after ``first`` and the command of ``second``, or after ``first`` alone where that blocks it."""
        return [_both(self._viewer, step, second) for step in first]

    def _ends_of(self, nodes: list[tuple[list[Word], ScNode]]) -> int:
        ends = 0
        for _, node in nodes:
            ends |= self._ends[self.numbers[node]]
        return ends

    def _listed(self, ends: int) -> list[AnEnd]:
        return [end for bit, end in enumerate(self._known) if ends >> bit & 1]

    def _path(self, number: int) -> list[Word]:
        """The words on the way to the node ``number``."""
        words = []
        while number:
            stop_point()
            number, word = self._from[number]
            words.append(word)
        return words[::-1]

    def _to(self, nodes: list[tuple[list[Word], ScNode]], end: AnEnd) -> list[Word]:
        """The words on a way over one of ``nodes`` to ``end``."""
        bit = self._known.index(end)
        words, node = next(each for each in nodes if self._ends[self.numbers[each[1]]] >> bit & 1)
        before: dict[int, tuple[int, Word]] = {}
        start = self.numbers[node]
        waiting = [start]
        for number in waiting:  # breadth-first: a shortest way
            if self._shows(number, end):
                break
            for word, state in self._space.successors(self._nodes[number].state):
                target = self.numbers[self._viewer.after(self._nodes[number], word, state)]
                if target != start and target not in before and self._ends[target] >> bit & 1:
                    before[target] = number, word
                    waiting.append(target)
        way: list[Word] = []
        while number != start:
            stop_point()
            number, word = before[number]
            way.append(word)
        return words + way[::-1]

    def _shows(self, number: int, end: AnEnd) -> bool:
        """Whether a run that has come to the node ``number`` shows ``end``."""
        if isinstance(end, End):
            return not self._targets[number]
        return self._ends[number].bit_count() == 1 and self._nodes[number].state.memory in end.memories


def least_states(instance: Instance) -> int:
    """How many SC states there are at least: processes that can make their first command whatever others do have made
    it or not, each for itself."""
    free = 0
    for rank in range(instance.processes):
        for transition, operands in instance.evaluated(rank, 0, instance.registers):
            if isinstance(operands, core.Assign | core.Transfer) or (
                isinstance(operands, core.Immediate) and operands.condition is None and operands.until is None
            ):
                free += transition.target != 0
                break
    return 1 << free


def most_alike(ones: Sequence[AnEnd], others: Sequence[AnEnd]) -> tuple[AnEnd, AnEnd]:
    """Two different ends that say most shortly how ``ones`` and ``others`` differ: one of each, one not in both."""
    candidates = [
        (one, other)
        for one in ones
        for other in others
        if one != other and (one not in others or other not in ones)
    ]  # fmt: skip
    return min(candidates, key=lambda pair: _distance(*pair))


def _distance(one: AnEnd, other: AnEnd) -> int:
    if isinstance(one, End) and isinstance(other, End):
        values = len(set(one.values) ^ set(other.values)) + len(set(one.failed) ^ set(other.failed))
        return values + 10 * (one.ending != other.ending)
    return 1_000


def one_end(viewer: Viewer, most: int) -> Generator[None, None, bool]:
    """Whether all SC runs end alike, as far as ``most`` states show it; False also where a run may have no end."""
    if viewer.instance.has_loops:
        return False
    runs = Runs.under_sc(viewer)
    runs.begin()
    found = yield from _ends_of(viewer, runs, most)
    return found is not None and len(found) <= 1


def difference_after(
    viewer: Viewer, pairs: Pairs, before: list[Word], commands: tuple[tuple[int, int], tuple[int, int]], most: int
) -> Generator[None, None, Difference | None]:
    """How the SC runs after ``before`` differ by the order of two ``commands`` that are next then, each given by rank
    and occurrence, as far as ``most`` states show it; None too where there are no such runs. They also differ by
    atomics that need not exclude each other.

    Where they do not, or there are more states, the other ranks first go as far as they can: the two commands are next
    all the same, and little is left to be done."""
    try:
        node, _ = Runs.under_sc(viewer).begin(before)
    except ValueError:
        return None
    found = yield from _difference_at(viewer, pairs, node, before, commands, most)
    if found is None:
        words, node = _without(viewer, node, {rank for rank, _ in commands}, most)
        if words:
            found = yield from _difference_at(viewer, pairs, node, before + words, commands, most)
    return found


def _without(viewer: Viewer, node: ScNode, ranks: Collection[int], most: int) -> tuple[list[Word], ScNode]:
    """A run after ``node`` of the other ranks than ``ranks``, to where they wait or have ended, or of ``most``
    commands, and where it leads."""
    words: list[Word] = []
    others = [rank for rank in range(viewer.instance.processes) if rank not in ranks]
    while len(words) < most:
        stop_point()
        step = next((step for rank in others for step in steps_at(viewer, node, rank)), None)
        if step is None:
            break
        words.append(step.word)
        node = step.after
    return words, node


def _difference_at(
    viewer: Viewer, pairs: Pairs, node: ScNode, before: list[Word], commands: Sequence[tuple[int, int]], most: int
) -> Generator[None, None, Difference | None]:
    """As of :func:`difference_after`, of the runs after ``node``, where the run ``before`` leads."""
    (first, _), (second, _) = commands
    for one in steps_at(viewer, node, first):
        for other in steps_at(viewer, node, second):
            if (one.transition.occurrence, other.transition.occurrence) != (commands[0][1], commands[1][1]):
                continue
            found = racing(pairs, one, other)
            if found is None:
                continue
            orders = [_both(viewer, one, other), _both(viewer, other, one)]
            if orders[0][1] == orders[1][1] and not pairs.not_excluding(*found):
                continue
            searches = [Runs.under_sc(viewer) for _ in orders]
            seen = []
            for search, (_, after) in zip(searches, orders, strict=True):
                search.begin_at(after)
                seen.append((yield from _ends_of(viewer, search, most)) or {})
            alike = _shown(pairs, found, *map(list, seen))
            if alike is None:
                continue
            ways = [
                before + words + search.words(known[end])
                for (words, _), search, known, end in zip(orders, searches, seen, alike, strict=True)
            ]
            return Difference(places(*found), found, before, ways[0], ways[1], alike)
    return None


def _both(viewer: Viewer, first: Step, second: Step) -> tuple[list[Word], ScNode]:
    """The node after ``first`` and then ``second``, or after ``first`` alone where that blocks the other."""
    for each in steps_at(viewer, first.after, second.rank):
        if each.transition == second.transition:
            return [first.word, each.word], each.after
    return [first.word], first.after


def _shown(
    pairs: Pairs, found: tuple[Next, Next], ends: list[AnEnd], others: list[AnEnd]
) -> tuple[AnEnd, AnEnd] | None:
    """An end after each order of the accesses ``found`` by which the orders differ: the same one where an update may be
    lost besides. None where they do not, or have no ends."""
    if not (ends and others):
        return None
    if {*ends} != {*others}:
        return most_alike(ends, others)
    return (ends[0], ends[0]) if pairs.not_excluding(*found) else None


def _ends_of(
    viewer: Viewer, runs: Runs[SequentialState], most: int
) -> Generator[None, None, dict[AnEnd, ScNode] | None]:
    """The ends of ``runs``, each with a node at which a run ends so; None where there are more than ``most`` states, or
    it is not known of all whether they are ends."""
    found: dict[AnEnd, ScNode] = {}
    for node, edges in runs.expanded():
        if runs.states > most:
            return None
        end = runs.end(node, bool(edges))
        if end is not None:
            found.setdefault(end, node)
        elif not edges and not viewer.is_wrong_guess(node):
            return None
        yield
    return None if runs.undecided else found
