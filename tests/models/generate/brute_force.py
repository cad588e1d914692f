"""Section 6.1 of the paper on coreRMA once more, by trying everything: slow, and as near to its words as can be."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, permutations, product

from pgasrob.models.generate.conventions import Conventions
from pgasrob.models.generate.programs import ACTIONS, Shape, Statement, renamed
from pgasrob.models.generate.static_order import Action, Actions, actions_of

LETTER = Conventions(observable=False)
"""Only what section 6.1 asks for."""

Pair = tuple[int, int]
Labelled = tuple[str, int, Pair]
"""A rule, the number of its application, and an edge that it puts into hb."""


def canonical(shape: Shape) -> Shape:
    """The least of the programs that differ from ``shape`` in names alone."""
    return min(renamed(shape, order) for order in permutations(range(len(shape.threads))))


def all_shapes(size: int, processes: int, *, own_targets: bool, reads: str) -> set[Shape]:
    """The canonical forms of all programs of at most ``size`` actions."""
    found = set()
    for owners in _owners(size, processes):
        alphabets = [_alphabet(process, owners, processes, own_targets) for process in range(processes)]
        for texts in product(*(_sequences(alphabet, size - len(owners)) for alphabet in alphabets)):
            shape = Shape(owners, tuple(range(processes)), texts)
            mentioned = {place for text in texts for kind, at in text if kind != "flush" for place in at}
            if shape.actions <= size and all(texts) and len(mentioned) == len(owners) and _reads(shape, reads):
                found.add(canonical(shape))
    return found


def _owners(size: int, processes: int) -> Iterator[tuple[int, ...]]:
    for count in range(1, size):
        yield from product(range(processes), repeat=count)


def _alphabet(process: int, owners: tuple[int, ...], processes: int, own_targets: bool) -> list[Statement]:
    mine = [place for place, owner in enumerate(owners) if owner == process]
    targets = [place for place, owner in enumerate(owners) if own_targets or owner != process]
    found: list[Statement] = [("flush", (node,)) for node in range(processes) if own_targets or node != process]
    found += [(kind, (x,)) for kind in ("load", "store") for x in mine]
    found += [("get", (x, z)) for x in mine for z in targets] + [("put", (z, x)) for x in mine for z in targets]
    found += [("rga", (x, z, y)) for x in mine for z in targets for y in mine]
    found += [("cas", (x, z, y, w)) for x in mine for z in targets for y in mine for w in mine]
    return found


def _sequences(alphabet: list[Statement], size: int) -> list[tuple[Statement, ...]]:
    done: list[tuple[Statement, ...]] = []
    open_: list[tuple[tuple[Statement, ...], int]] = [((), size)]
    while open_:
        text, left = open_.pop()
        done.append(text)
        open_ += [((*text, each), left - ACTIONS[each[0]]) for each in alphabet if ACTIONS[each[0]] <= left]
    return done


def _reads(shape: Shape, reads: str) -> bool:
    actions = actions_of(shape)
    for place, writers in enumerate(actions.writers):
        local = sum(actions.actions[reader].kind == "r" for reader in actions.readers[place])
        if reads != "none" and (local < len(writers) or (reads == "exact" and local > len(writers))):
            return False
    return True


def static(actions: tuple[Action, ...], ir_own: bool = True) -> list[Labelled]:
    """Figure 4, rule by rule, over all actions."""
    found: list[tuple[str, list[Pair]]] = []
    numbers = range(len(actions))

    def po(first: int, second: int) -> bool:
        return actions[first].thread == actions[second].thread and first < second

    def same(first: int, second: int) -> bool:
        one, other = actions[first], actions[second]
        return (one.thread, one.statement) == (other.thread, other.statement)

    for a, b in product(numbers, repeat=2):
        one, other = actions[a], actions[b]
        if not po(a, b):
            continue
        if one.remote and other.remote and one.target == other.target and (ir_own or one.target != one.source):
            found.append(("IR", [(a, b)]))
        if one.kind == "flush" and other.kind in ("r", "w"):
            found.append(("F1", [(a, b)]))
        if one.remote and other.kind == "flush" and one.target == other.target:
            found += [("F2", [(each, b)]) for each in numbers if same(each, a)]
        if one.kind == "flush" and other.remote and one.target == other.target:
            found += [("F3", [(a, each)]) for each in numbers if same(each, b)]
        if one.kind in ("r", "w"):
            found.append(("LO", [(a, b)]))
    for first in numbers:
        group = [each for each in numbers if same(each, first)]
        if group[0] == first:
            found += {
                1: [],
                2: [("PG", [(first, first + 1)])],
                3: [("GA", [(first, first + 1), (first + 1, first + 2)])],
                4: [("CAS", [(first, first + 2), (first + 1, first + 2), (first + 2, first + 3)])],
            }[len(group)]
    return [(rule, number, edge) for number, (rule, edges) in enumerate(found) for edge in edges]


def cyclic(edges: set[Pair], size: int) -> bool:
    return any((each, each) in closure(edges, size) for each in range(size))


def closure(edges: set[Pair], size: int) -> set[Pair]:
    reached = set(edges)
    for middle, first, second in product(range(size), repeat=3):
        if (first, middle) in reached and (middle, second) in reached:
            reached.add((first, second))
    return reached


def has_pivot(shape: Shape, rule: str, conventions: Conventions) -> bool:
    """Whether some execution has a cycle in hb, and none without one edge of ``rule`` (of a cas, "CAS")."""
    actions = actions_of(shape, conventions.ir_own)
    size = len(actions.actions)
    fixed = static(actions.actions, conventions.ir_own)
    for order in product(*map(permutations, actions.writers)):
        for source in _sources(actions, conventions):
            edges = list(fixed)
            edges += [("R2", read, (write, read)) for read, write in source.items() if write is not None]
            for read, write in source.items():
                writes = order[_place(actions, read)]
                later = writes if write is None else writes[writes.index(write) + 1 :]
                edges += [("R1", -1 - number, (read, other)) for number, other in enumerate(later) if other != read]
            pairs = [(a, b) for writes in order for at, a in enumerate(writes) for b in writes[at + 1 :]]
            edges += [("WS", number, pair) for number, pair in enumerate(pairs)]
            if not cyclic({edge for _, _, edge in edges}, size):
                continue
            if rule == "WS":
                if any(_pair(edges, pair, source, size) for writes in order for pair in pairwise(writes)):
                    return True
            elif any(
                name == rule and not cyclic({edge for j, (_, _, edge) in enumerate(edges) if j != i}, size)
                for i, (name, _, _) in enumerate(edges)
            ):
                return True
    return False


def _pair(edges: list[Labelled], pair: Pair, source: dict[int, int | None], size: int) -> bool:
    """Whether the order of a pair of writes is a pivot: without it and what R1 makes of it there is no cycle and the
    pair is not ordered."""
    of_pair = {pair} | {(read, pair[1]) for read, write in source.items() if write == pair[0]}
    kept = {edge for name, _, edge in edges if not (name in ("WS", "R1") and edge in of_pair)}
    reached = closure(kept, size)
    return not cyclic(kept, size) and pair not in reached and (pair[1], pair[0]) not in reached


def _place(actions: Actions, read: int) -> int:
    place = actions.actions[read].reads
    assert place is not None
    return place


def _sources(actions: Actions, conventions: Conventions) -> Iterator[dict[int, int | None]]:
    readers = [number for number, action in enumerate(actions.actions) if action.reads is not None]
    choices = [
        [None, *(write for write in actions.writers[_place(actions, read)] if write != read)] for read in readers
    ]
    for chosen in product(*choices):
        source = dict(zip(readers, chosen, strict=True))
        seen = {write for read, write in source.items() if actions.actions[read].kind == "r"}
        if conventions.reads == "none" or conventions.observed == "count" or seen >= set(sum(actions.writers, ())):
            yield source
