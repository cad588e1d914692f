"""What the front end makes of random programs of several sizes (`bytes_c`), run once and compared with their bytes.

Without engines: where no two accesses of a phase meet, one SC run shows what all do; and which accesses of a phase
meet is seen in the cells that the commands of their lines access. So it is fast, and says of each phase of each
fragment whether it has a race, and of each check whether it holds."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import NamedTuple

import pgasrob
from pgasrob import Limits
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import parse_c
from pgasrob.program import core
from pgasrob.races.access_facts import Fact, atomic_together, facts_of, made_up, overlap
from pgasrob.semantics.accesses import conflict
from pgasrob.semantics.sequential import SequentialSpace, SequentialState
from pgasrob.semantics.state_space import behind
from tests.frontends.bytes_c import Drawn

REFUSED = ("at once", "need it whole", "a call uses a float")
"""What errors say of programs in which an atomic has a part of what others have."""


class Ran(NamedTuple):
    """The accesses of each line, and what its assertions were."""

    accesses: dict[int, list[tuple[core.Access[int], Fact]]]
    asserted: dict[int, list[bool]]


def run(source: str) -> Ran:
    """An SC run of a program for two ranks, phase by phase. Raises :class:`SourceError`."""
    instance = parse_c(source).instantiate(2)
    space, ran = SequentialSpace(instance), Ran(defaultdict(list), defaultdict(list))
    state, inside = space.initial, made_up(instance.program)
    while True:
        for rank in range(2):
            state = _to_barrier(space, state, rank, ran, inside)
        arrivals = next(instance.barriers(state.control), None)
        if arrivals is None:
            return ran
        state = state._replace(control=behind(state.control, arrivals))


def _to_barrier(
    space: SequentialSpace, state: SequentialState, rank: int, ran: Ran, inside: frozenset[int]
) -> SequentialState:
    """Run one rank until it waits."""
    while (made := next(space.made_by(state, rank), None)) is not None:
        (transition, operands, _), state = made
        line = transition.span.line
        if isinstance(operands, core.Test) and not operands.blocks:
            ran.asserted[line].append(bool(operands.condition))
        for access, fact in zip(core.accesses_of(operands), facts_of(transition), strict=True):
            if space.instance.index(access.cell) not in inside:
                ran.accesses[line].append((access, fact))
    return state


def compare(drawn: Drawn, found: Counter[str]) -> None:
    """That the front end says of the program what its bytes do; ``found`` counts what it was."""
    source, refused = drawn.source(), ""
    try:
        ran = run(source)
    except SourceError as error:
        refused = str(error)
    if refused:
        torn = any(each.torn for each in drawn.fragments)
        assert torn and any(each in refused for each in REFUSED), f"refused: {refused}\n{source}"
        if len(drawn.fragments) > 1:
            for each in drawn.fragments:
                compare(Drawn((each,), drawn.reached), found)
        else:
            found["refused"] += 1
        return
    for number, fragment in enumerate(drawn.fragments):
        for phase, races in enumerate(fragment.races):
            ours, theirs = (ran.accesses[drawn.line(number, phase, rank)] for rank in range(2))
            meet = any(
                conflict(one, other) and overlap(fact, its) and not atomic_together(fact, its)
                for one, fact in ours
                for other, its in theirs
            )
            assert meet == races, f"fragment {number}, phase {phase}: {races=}\n{source}"
        found["race" if fragment.races[-1] else "no race"] += 1
    for line, check in drawn.checks().items():
        expected = [[False]] if check.fails else [[True], []]
        assert ran.asserted[line] in expected, f"line {line}: {ran.asserted[line]}\n{source}"


def compare_verdicts(drawn: Drawn, found: Counter[str]) -> None:
    """The same by verdicts, of one fragment."""
    (fragment,), source = drawn.fragments, drawn.source()
    limits = Limits(timeout=20)
    raced = pgasrob.race(parse_c(source), 2, limits=limits)
    if raced.verdict == "error":
        assert fragment.torn and any(each in str(raced.reason) for each in REFUSED), f"{raced.reason}\n{source}"
        found["refused"] += 1
        return
    assert raced.verdict == ("race" if fragment.races[-1] else "no race"), f"{raced.verdict}\n{source}"
    found[raced.verdict] += 1
    if raced.verdict == "no race":
        checked = pgasrob.check(parse_c(source), 2, limits=limits)
        violated = any(each.fails for each in fragment.checks)
        assert (checked.assertions == "violated") == violated, f"{checked}\n{source}"
        assert checked.verdict == "robust", f"{checked}\n{source}"
