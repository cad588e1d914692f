"""Why coreRMA forbids an outcome: the smallest sets of rules without which some execution has it, and a cycle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from pgasrob.models.corerma import order_rules as rules
from pgasrob.models.corerma.consistent_executions import Candidate, Frame
from pgasrob.models.corerma.execution_graphs import execution_of
from pgasrob.models.corerma.order_rules import RULES, Pair
from pgasrob.models.corerma.outcome_search import Wanted, outcomes
from pgasrob.models.litmus.litmus_program import UNDEFINED
from pgasrob.models.model_interface import CycleEdge, Forbidden
from pgasrob.models.relations import Rows, joined, shortest_path
from pgasrob.program.bits import members
from pgasrob.stop_points import stop_point

Rules = frozenset[str]
SHOWN_FIRST = (*(rule for rule in RULES if rule not in ("R1", "R2", "C", "no-C", "WS")), "WS", "R1", "R2", "C", "no-C")
"""The order in which sets of one size are reported: rules of the network before those that every memory has."""


def explained(frame: Frame, wanted: Wanted) -> Forbidden | None:
    """Why no execution of ``frame`` has the values ``wanted``; None when one has.

    It has all minimal sets of rules without which there is one, the smaller sets first. Each further rule about hb
    forbids more. This does not hold of C and no-C (without C no read gives T, without no-C every read does), so these
    are left out one at a time, where they could make a difference.
    """
    if (names := set(wanted) - set(frame.actions.program.names)) or _witness(frame, wanted, frozenset()) is not None:
        if names:
            raise ValueError(f"the program has no {', '.join(sorted(names))}")
        return None
    edges = [rule for rule in RULES if rule not in ("C", "no-C") and _matters(frame, rule)]
    found = _minimal(edges, lambda without: _witness(frame, wanted, without) is not None)
    of_values = [
        rule
        for rule, matters in (("C", not frame.actions.is_atomic), ("no-C", UNDEFINED in wanted.values()))
        if matters and frame.settings.has(rule)
    ]
    for rule in of_values:
        more = _minimal(edges, lambda without: _witness(frame, wanted, without | {rule}) is not None)  # noqa: B023
        found += [without | {rule} for without in more]
    found = [each for each in found if not any(other < each for other in found)]
    found.sort(key=lambda each: (len(each), sorted(map(SHOWN_FIRST.index, each))))
    if not found:
        return Forbidden()
    candidate = _witness(frame, wanted, found[0])
    assert candidate is not None
    weaker = _without(frame, found[0])
    return Forbidden(tuple(found), execution_of(weaker, candidate), _cycle(frame, candidate, found[0]))


def _matters(frame: Frame, rule: str) -> bool:
    """Whether ``rule`` is in force and orders something here."""
    if not frame.settings.has(rule):
        return False
    if rule in ("CAS-F", "CAS-T"):
        return bool(frame.cas)
    return rule not in frame.static or bool(frame.static[rule])


def _without(frame: Frame, without: Rules) -> Frame:
    settings = frame.settings
    return Frame(frame.actions, replace(settings, without={*settings.without, *without}))


def _witness(frame: Frame, wanted: Wanted, without: Rules) -> Candidate | None:
    names = frame.actions.program.names
    places = [(names.index(name), value) for name, value in wanted.items()]
    for candidate in outcomes(_without(frame, without), wanted=wanted):
        if all(candidate.outcome[place] == value for place, value in places):
            return candidate
    return None


def _minimal(names: Sequence[str], allows: Callable[[Rules], bool]) -> list[Rules]:
    """The minimal sets that ``allows`` accepts. It must accept every superset of a set that it accepts.

    Where a set does not allow the outcome, the rules that remain of ``names`` are shrunk to a core that forbids it:
    each set that allows has a rule of every core. So the next set to try is a smallest one with a rule of each core.
    """
    everything = frozenset(names)
    if not allows(everything):
        return []
    found: list[Rules] = []
    cores: list[Rules] = []
    for size in range(len(names) + 1):
        for some in map(frozenset, combinations(names, size)):
            if all(core & some for core in cores) and not any(each <= some for each in found):
                if allows(some):
                    found.append(some)
                    continue
                core = everything - some
                for name in names:
                    if name in core and not allows(everything - (core - {name})):
                        core -= {name}
                cores.append(core)
    return found


# --- the cycle -------------------------------------------------------------------------------------------------------


class _Edges:
    """The pairs that happens-before of an execution has, each labelled with its relation and rule, and their
    closure."""

    def __init__(self, frame: Frame, candidate: Candidate, without: Rules) -> None:
        self.actions, self.without = frame.actions, without
        self.candidate = candidate
        self.hb: Rows | None = candidate.hb
        self.labels: dict[Pair, tuple[str, str]] = {}

    def add(self, pair: Pair, relation: str, rule: str) -> None:
        """Put a pair there; of several rules that order it the label keeps one that is in force."""
        if pair not in self.labels or self.labels[pair][1] in self.without:
            self.labels[pair] = relation, rule
        if self.hb is not None:
            self.hb = joined(self.hb, *pair)

    def cycle(self) -> tuple[CycleEdge, ...]:
        """A shortest cycle."""
        after: dict[int, list[int]] = {}
        for source, target in self.labels:
            after.setdefault(source, []).append(target)
        paths = (shortest_path(after, target, source) for source, target in self.labels)
        nodes = min(filter(None, paths), key=len)
        first = nodes.index(min(nodes))
        nodes = nodes[first:] + nodes[:first]
        return tuple(
            CycleEdge(source, target, *self.labels[source, target])
            for source, target in zip(nodes, (*nodes[1:], *nodes[:1]), strict=True)
        )


def _cycle(frame: Frame, candidate: Candidate, without: Rules) -> tuple[CycleEdge, ...]:
    """A cycle in happens-before of ``candidate`` with the rules ``without`` which it is consistent. Empty where these
    rules forbid it in another way: the least order has no race, or has one, where there would have to be the other."""
    actions = frame.actions
    edges = _Edges(frame, candidate, without)
    for pair, relation, rule in _of_execution(frame, candidate):
        edges.add(pair, relation, rule)
    has = frame.settings.has
    while edges.hb is not None:
        stop_point()
        hb = edges.hb
        if has("R1") and (pairs := list(rules.r1(actions, candidate.source, hb))):
            for pair in pairs:
                edges.add(pair, "rb", "R1")
            continue
        racing = [(first, second) for first, row in enumerate(candidate.never) for second in members(row & hb[first])]
        if racing:
            for first, second in racing:
                edges.add((second, first), *_kept_out(candidate, second, first))
            break
        unordered = next(rules.ws(actions, hb), None) if has("WS") else None
        if unordered is None:
            return ()
        # Both orders of the two close a cycle, sooner or later: one is shown.
        edges.add(unordered, "mo", "WS")
    return edges.cycle()


def _of_execution(frame: Frame, candidate: Candidate) -> Iterator[tuple[Pair, str, str]]:
    """The pairs that the rules in force order in ``candidate``, also those of the rules that were left out for it."""
    actions, hb, has = frame.actions, candidate.hb, frame.settings.has
    for rule, pairs in frame.static.items():
        yield from ((pair, "po", rule) for pair in pairs)
    for statement in frame.cas:
        expected, held = candidate.values[statement.actions[0]], candidate.values[statement.actions[2]]
        rule = "CAS-T" if expected == held else "CAS-F"
        if has(rule):
            yield from ((pair, "po", rule) for pair in rules.cas(statement))
    for read in actions.readers:
        write = candidate.source[read]
        if rules.r2(actions, read, write) and has("R2"):
            yield (write, read), "rf", "R2"
    for location, (writers, readers) in enumerate(zip(actions.writers_of, actions.readers_of, strict=True)):
        for write in members(writers):
            for other in members(hb[write] & writers):
                if rules.both_atomic(actions, write, other):
                    yield (write, other), "mo", "WS"
        last = candidate.last[location]
        if last >= 0 and has("WS"):
            for write in members(writers & actions.atomic & ~(1 << last)):
                if actions.atomic >> last & 1:
                    yield (write, last), "mo", "WS"
        for read in members(readers):
            write = candidate.source[read]
            for other in members(hb[read] & writers):
                if (
                    rules.both_atomic(actions, read, other)
                    and rules.both_atomic(actions, read, write)
                    and hb[write] >> other & 1
                ):
                    yield (read, other), "rb", "R1"
    for first, second in actions.conflicting():
        for pair in ((first, second), (second, first)):
            if hb[pair[0]] >> pair[1] & 1:
                yield pair, _relation(candidate, *pair), "no-C"


def _relation(candidate: Candidate, first: int, second: int) -> str:
    """How two accesses to one location are related of which the first happens before the other."""
    source = candidate.source
    if source[second] == first:
        return "rf"
    if source[second] < 0:
        return "mo" if source[first] < 0 else "rb"
    return "hb"


def _kept_out(candidate: Candidate, first: int, second: int) -> tuple[str, str]:
    """Why ``second`` must not come before ``first``: they race, or it would be overwritten."""
    if candidate.never[first] >> second & 1:
        return "race", "C"
    return _relation(candidate, first, second), "no-C"
