"""(C1) of `proofs/every-n.md`: what is made of a C program without a number of nodes does what is made for that number.

Random programs that use much of C and of every API (`rich`) are made both ways, and the ends of their SC runs
compared: how they end, which ranks fault, and what lies in the cells that both know. Verdicts are compared as well: the
one without a number may be less, never more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from pgasrob.api import check
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.lower import CProgram, parse_c
from pgasrob.program.instance import Instance
from pgasrob.program.program import Program
from pgasrob.robustness.every_n.prove import prove
from pgasrob.robustness.limits import Limits
from pgasrob.semantics.endings import Ending, ending_of, places
from pgasrob.semantics.sequential import SequentialSpace, SequentialState
from tests.robustness.every_n.rich import features, rich
from tests.support import examples

COMPARED = ("out", "seen", "w", "wi", "ws", "wd", "got", "other", "flag")
"""The cells of the programs that both ways of making them have under one name."""
MOST_STATES = 30_000
LIMITS = Limits(max_states=20_000, timeout=60)
LOCAL = {"assign", "assume", "assert", "fence", "wait", "wait_local", "bundle"}
"""Commands after which it makes no difference to the ends when they were issued."""

End = tuple[Ending, tuple[int, ...], tuple[int, ...]]


class TooMany(Exception):
    """There are more states than are looked at."""


def ends(instance: Instance, names: Sequence[str], *, one: bool) -> set[End]:
    """How the SC runs end, which ranks fault there, and what the cells ``names`` hold; ``one``: those in which a rank
    goes on as long as it can, which stand for all where there is no race."""
    space, found, left = SequentialSpace(instance), set[End](), MOST_STATES
    cells = {place.name: place.cell for place in places(instance)}
    stack, seen = [space.initial], {space.initial}
    while stack:
        state, left = stack.pop(), left - 1
        if left < 0:
            raise TooMany
        after = _next(space, state, one, seen)
        if not after:
            ending = ending_of(instance, *state)
            faulty = tuple(sorted({rank for rank, _, _ in space.faults(state)}))
            if ending != "stopped":  # by a guess of the front end
                found.add((ending, faulty, tuple(state.memory[cells[name] or 0] for name in names)))
        stack += [each for each in after if each not in seen]
        seen.update(after)
    return found


def _next(
    space: SequentialSpace, state: SequentialState, one: bool, seen: set[SequentialState]
) -> Sequence[SequentialState]:
    for rank, automaton in enumerate(space.instance.automata):
        kinds = {each.command.kind for each in automaton.out[state.control[rank]]}
        if kinds and (one or kinds <= LOCAL):
            after = [target for _, target in space.issues_of(state, rank)]
            if after and (one or seen.isdisjoint(after)):
                return after
    return [target for _, target in space.successors(state)]


def compare(program: CProgram, without: Program, nodes: int, *, one: bool) -> set[End]:
    """The ends on ``nodes`` nodes, which are the same both ways; none where there are unknown values."""
    instances = without.instantiate(nodes), program.instantiate(nodes)
    if any(each.program.uncertain or each.program.gaps for each in instances):
        return set()
    known = [{place.name for place in places(each) if place.cell is not None} for each in instances]
    names = sorted(each for each in known[0] & known[1] if each.partition("@")[0].partition("[")[0] in COMPARED)
    found, expected = (ends(each, names, one=one) for each in instances)
    assert found == expected, f"{program.source.text}\non {nodes} nodes: {names}"
    return expected


def verdicts(program: CProgram, without: Program, nodes: int) -> tuple[str, str]:
    """The verdicts without a number and with: the former does not say more."""
    one, other = (check(each, nodes, limits=LIMITS, effect=False) for each in (without, program))
    known = "unknown" not in (one.verdict, other.verdict)
    weaker = (one.verdict, other.verdict) == ("not robust", "robust")
    assert not known or weaker or one.verdict == other.verdict, f"{program.source.text}\non {nodes} nodes"
    return one.verdict, other.verdict


def test_random_programs_do_the_same() -> None:
    found, used = Counter[str](), Counter[str]()
    few, counts = examples(6, nightly=3_000), (2, 3, 4, 10) if examples(0, 1) else (2, 3)
    for seed in range(few):
        racy = seed % 3 == 2
        text, contained = rich(seed, racy=racy)
        program = parse_c(text)
        try:
            without = program.for_every_count()
        except SourceError:
            found["refused"] += 1
            continue
        used.update(contained.keys())
        for nodes in counts[:2] if racy else counts:
            try:
                reached = compare(program, without, nodes, one=not racy)
            except (SourceError, TooMany):
                break
            found["compared"] += bool(reached)
            found["more than one end"] += len(reached) > 1
            found.update({ending for ending, _, _ in reached})
        if seed % 8 in (1, 4):
            verdicts(program, without, 2)
            proof = prove(without)
            found["proved"] += proof.holds
            if proof.holds and proof.cutoff and proof.cutoff <= 10:
                assert check(program, 10, limits=LIMITS, effect=False).verdict in ("robust", "unknown"), text
    assert found["compared"] >= 0.75 * few and found["ended"] > 0.7 * found["compared"], found
    assert found["proved"], found
    assert len(used) > 0.15 * len(features()), used


@pytest.mark.parametrize("other", ["n > 3", "n > 1"])
def test_differences_are_seen(other: str) -> None:
    """What is made without a number is compared with another program."""
    text = """#include <shmem.h>
    static long out[16], seen[16];
    int main(void) {
      shmem_init(); int me = shmem_my_pe(), n = shmem_n_pes();
      if (%s) out[1] = me + 1;
      shmem_long_put(seen, out, 16, me); shmem_barrier_all(); shmem_finalize();
    }"""
    program, different = parse_c(text % "n > 2"), parse_c(text % other)
    assert compare(program, program.for_every_count(), 3, one=True)
    without = different.for_every_count()
    with pytest.raises(AssertionError, match=r"on \d nodes"):
        [compare(program, without, nodes, one=True) for nodes in (2, 3)]
