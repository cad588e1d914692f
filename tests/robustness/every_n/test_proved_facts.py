"""No assertion that is proved fails, and no program without deadlocks has one, on any number of nodes from the cutoff
on: random programs, and what each rule is for (`proofs/every-n.md`, section 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from pgasrob.frontends.lower import parse_c
from pgasrob.program import core
from pgasrob.program.instance import instantiate
from pgasrob.program.parser import parse
from pgasrob.program.program import Program
from pgasrob.program.reading import DEFAULT_READING, Reading
from pgasrob.robustness.every_n import proved_facts, sc_pairs
from pgasrob.robustness.every_n.prove import Prover, prove
from pgasrob.robustness.every_n.proved_facts import Facts
from pgasrob.robustness.every_n.rank_cases import Frame
from pgasrob.robustness.every_n.sc_pairs import UNWRITTEN, Meanwhile, ScPairs
from pgasrob.robustness.every_n.stuck import Stuck
from pgasrob.twins import search_of_sc_runs
from tests.robustness.every_n.drawn_facts import drawn_facts, drawn_facts_in_c
from tests.support import examples

FRAMES = (Frame(0, 1), None, Frame(0, 1), Frame(0, 2), Frame(0, 1), Frame(1, 1))
COUNTED = Reading("count", DEFAULT_READING.conflicts)
MOST_STATES = 10_000


def proved(program: Program, frame: Frame | None, reading: Reading = DEFAULT_READING) -> tuple[bool, bool, int] | None:
    """Whether the assertion is proved, and that there is no deadlock, and from how many nodes on; None for a program
    that may fault."""
    prover = Prover(program, reading, frame)
    known = prover.facts()
    for case in prover.frame.cases():
        flow = prover.flow(case)
        if any(True for _ in flow.faults()):
            return None
        known.look_at(case, flow)
    none = known.deadlock is None or known.deadlock.holds
    return all(claim.holds for claim in known.assertions), none, prover.frame.cutoff


def seen(program: Program, nodes: int, reading: Reading = DEFAULT_READING) -> tuple[bool, bool, bool]:
    """Whether an assertion fails in an SC run, there is a deadlock, and all SC runs were looked at."""
    found = search_of_sc_runs(instantiate(program, nodes, reading), (), None)
    for _ in found.explore():
        if found.states > MOST_STATES:
            break
    assert not found.fault
    return bool(found.failed), found.deadlock is not None, found.complete


def test_nothing_that_is_proved_of_a_random_program_is_wrong() -> None:
    found = Counter[str]()
    tried = examples(25, nightly=20_000)
    for seed in range(tried):
        program, reading = parse(drawn_facts(seed)), COUNTED if seed % 3 == 0 else DEFAULT_READING
        found += compared(program, lambda _, program=program: program, seed, reading)
    assert min(found[what] for what in ("holds", "fails", "none", "deadlock")) > 0.08 * tried


def test_nothing_that_is_proved_of_a_random_c_program_is_wrong() -> None:
    """What is proved of that which is made without a number, against what is made for numbers."""
    found = Counter[str]()
    tried = examples(8, nightly=5_000)
    for seed in range(tried):
        program = parse_c(drawn_facts_in_c(seed))
        found += compared(program.for_every_count(), program.program, seed)
    assert found["none"] and found["deadlock"] and found["fails"]


def compared(
    program: Program, on: Callable[[int], Program], seed: int, reading: Reading = DEFAULT_READING
) -> Counter[str]:
    """What is proved of the ``program`` of a seed and what the search finds of it ``on`` numbers of nodes."""
    claims = proved(program, FRAMES[seed % len(FRAMES)], reading)
    if claims is None:
        return Counter()
    holds, none, cutoff = claims
    fails = deadlock = False
    for nodes in (cutoff, cutoff + 1):
        failing, stands, complete = seen(on(nodes), nodes, reading)
        fails, deadlock = fails or failing, deadlock or stands
        assert not (holds and fails), f"the assertion of {seed} is proved, and fails on {nodes} nodes"
        assert not (none and deadlock), f"{seed} has a deadlock on {nodes} nodes, and is said to have none"
        if not complete:
            break
    return Counter({"holds": holds, "fails": fails, "none": none, "deadlock": deadlock})


# What each rule is for

HEADER = "program some; memory x, y, f, g, one = 1; register r, s, i; queue q, u unordered; process { "
RING = "(me + 1) % nodes"
Mutation = Callable[[pytest.MonkeyPatch], None]


def with_cells_that_are_certain(patch: pytest.MonkeyPatch) -> None:
    before = ScPairs._located_at
    patch.setattr(ScPairs, "_located_at", lambda self, *place: (before(self, *place)[0], True))


def with_updates_that_all_write(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sc_pairs, "_ALWAYS", frozenset(("set", "compare_swap")))


def without_what_was_there_from_the_beginning(patch: pytest.MonkeyPatch) -> None:
    before = ScPairs._with_last
    patch.setattr(
        ScPairs, "_with_last", lambda self, rank, cell, bit: 0 if bit == UNWRITTEN else before(self, rank, cell, bit)
    )


def without_the_writes_of_others(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ScPairs, "_after_write", lambda *_: None)


def with_one_rank_of_the_rest(patch: pytest.MonkeyPatch) -> None:
    others, at = ScPairs.others, ScPairs.at
    patch.setattr(ScPairs, "others", lambda self, rank: [each for each in others(self, rank) if each != rank])

    def alone(self: ScPairs, rank: int, state: int) -> Meanwhile:
        return tuple(1 if other == rank else states for other, states in enumerate(at(self, rank, state)))

    patch.setattr(ScPairs, "at", alone)


def with_two_ranks_in_each_part(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sc_pairs, "_may_be", lambda _, meanwhile: all(meanwhile))


def without_what_follows(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ScPairs, "_after_each", lambda self, rank, _: [1 << state for state in range(len(self.files[rank]))])


def with_x_the_same_for_all(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ScPairs, "_seen_by", lambda self, rank, writer, value: value)


def with_swaps_that_always_find_what_they_expect(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ScPairs, "_swaps", lambda *_: True)


def with_writes_that_may_be_for_certain(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sc_pairs, "_replaces", lambda edge, cell: any(write.cells >> cell & 1 for write in edge.writes))


def with_all_of_the_rest_where_one_of_them_is(patch: pytest.MonkeyPatch) -> None:
    before = ScPairs._after_write

    def after(self: ScPairs, rank: int, state: int, cell: int, write: sc_pairs._Write, *further: Any) -> object:
        found = before(self, rank, state, cell, write, *further)
        by, last = write.rank, self._with_last(write.rank, cell, write.bit)
        return found and tuple(each & last if other == by != rank else each for other, each in enumerate(found))

    patch.setattr(ScPairs, "_after_write", after)


def with_loops_in_which_nothing_is_read(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Stuck, "_may_be_read", lambda *_: False)


def with_loops_that_are_left(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Stuck, "_is_left", lambda *_: True)


def with_assumes_that_hold(patch: pytest.MonkeyPatch) -> None:
    before = Stuck._goes_on

    def goes_on(self: Stuck, rank: int, state: int) -> bool:
        return before(self, rank, state) or any(isinstance(each.form, core.Test) for each in self._out[rank][state])

    patch.setattr(Stuck, "_goes_on", goes_on)


def with_barriers_at_which_all_at_one_barrier(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Stuck, "_all_at_one_barrier", lambda *_: True)


def with_waits_that_are_over(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Stuck, "_is_met", lambda *_: True)


def without_circles(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(proved_facts, "comes_back", lambda _: False)


def with_others_that_are_all_smaller(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Stuck, "_on_one_side", lambda self: ((True, other) for other in range(1, len(self._out))))


def with_the_first_case_alone(patch: pytest.MonkeyPatch) -> None:
    before = Frame.cases
    patch.setattr(Frame, "cases", lambda self: [next(before(self))])


RULES: list[tuple[Mutation, str, Frame | None, int]] = [
    (
        with_cells_that_are_certain,
        "s <- (nodes * nodes % nodes + nodes) % nodes; mem[x @ s] <- 1; r <- mem[x]; assert(r == 1);",
        None, 4,
    ),
    (
        with_updates_that_all_write,
        "choose { mem[x] <- 2; } or { } update(compare_swap, 1, 0, me, x, q); wait(q); r <- mem[x]; assert(r == 1);",
        None, 4,
    ),
    (without_what_was_there_from_the_beginning, "r <- fetch(me, x); assert(r == 1); mem[x] <- 1;", None, 4),
    (
        without_the_writes_of_others,
        f"mem[x] <- 1; barrier; mem[x @ {RING}] <- 2; barrier; r <- mem[x]; assert(r == 1);",
        Frame(0, 1), 4,
    ),
    (
        with_one_rank_of_the_rest,
        "if (me > 0 && me < nodes - 1) { r <- fetch(0, x); if (r == 1) { mem[y @ 0] <- 1; } mem[x @ 0] <- 1; } "
        "barrier; if (me == 0) { r <- mem[y]; assert(r == 0); }",
        Frame(0, 1), 4,
    ),
    (
        with_two_ranks_in_each_part,  # on 8 nodes rank 5 is the only odd one that has no name where rank 2 is the first
        "if (me > 3 && me < nodes - 1 && me % 2 == 1) { s <- swap(0, x, 1); assume(s == 0); } barrier; "
        "if (me == 2) { assert(0); }",
        Frame(1, 1, 2), 8,
    ),
    (
        without_what_follows,
        "if (me == 0) { mem[y @ 1] <- 1; mem[f @ 1] <- 1; } "
        "if (me == 1) { await(mem[f] == 1); r <- mem[y]; assert(r == 0); }",
        None, 6,
    ),
    (
        with_x_the_same_for_all,
        "if (me > 1 && me < nodes - 2) { mem[x @ me - 1] <- me; } barrier; "
        "if (me > 1 && me < nodes - 2) { r <- mem[x]; assert(r <= me); }",
        Frame(0, 2), 6,
    ),
    (
        with_swaps_that_always_find_what_they_expect,
        "s <- compare_swap(me, x, nodes % 3, 1); r <- mem[x]; assert(r == 1);",
        None, 4,
    ),
    (
        with_writes_that_may_be_for_certain,  # rank 1 may write to y of rank 0, or of another rank
        "if (me == 0) { mem[y] <- 1; mem[x @ 1] <- 1; await(mem[f] == 1); r <- mem[y]; if (r == 1) { r <- mem[g]; "
        "assert(r == 0); } } "
        "if (me == 1) { await(mem[x] == 1); mem[y @ nodes % 5] <- 2; mem[g @ 0] <- 1; mem[f @ 0] <- 1; }",
        None, 6,
    ),
    (
        with_all_of_the_rest_where_one_of_them_is,
        "if (me == 0) { await(mem[x] == 1); mem[y] <- 1; } if (me > 0 && me < nodes - 1) { r <- fetch(0, y); "
        "if (r == 1) { mem[g @ 0] <- 1; } mem[x @ 0] <- 1; } barrier; if (me == 0) { r <- mem[g]; assert(r == 0); }",
        Frame(0, 1), 4,
    ),
    (with_loops_in_which_nothing_is_read, "r <- 0; while (r == 0) { r <- mem[f]; }", None, 4),
    (with_loops_that_are_left, "r <- 0; while (r == 0) { r <- mem[f]; }", None, 4),
    (with_assumes_that_hold, "if (me == 1) { assume(r == 1); } barrier;", None, 6),
    (with_barriers_at_which_all_at_one_barrier, "if (me == 0) { barrier; }", None, 4),
    (with_waits_that_are_over, "await(mem[f] == 1);", None, 4),
    (without_circles, f"await(mem[f] == 1); mem[f @ {RING}] <- 1;", None, 7),
    (with_others_that_are_all_smaller, f"await(mem[f] == 1); mem[f @ {RING}] <- 1;", None, 7),
    (with_the_first_case_alone, "if (me == 3) { assert(r == 1); }", Frame(0, 1), 4),
]  # fmt: skip


@pytest.mark.parametrize(
    ("mutation", "block", "frame", "nodes"), RULES, ids=[mutation.__name__ for mutation, *_ in RULES]
)
def test_without_a_rule_something_wrong_is_proved(
    mutation: Mutation, block: str, frame: Frame | None, nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = parse(f"{HEADER}{block} }}")
    claims, (fails, deadlock, _) = proved(program, frame), seen(program, nodes)
    assert claims is not None and claims[2] == nodes and (fails or deadlock)
    assert not (claims[0] and fails) and not (claims[1] and deadlock)
    mutation(monkeypatch)
    claims = proved(program, frame)
    assert claims is not None and ((claims[0] and fails) or (claims[1] and deadlock))


LOCKS = {
    "taken by adding": "await_add(0, mem[x] == 0, 1); {} r <- fetch_add(0, x, -1);",
    "tried again": "r <- 1; while (r != 0) {{ r <- compare_swap(0, x, 0, me + 1); }} {} r <- swap(0, x, 0);",
}


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_no_deadlock_and_keeps_others_out(lock: str) -> None:
    inside = "mem[y @ 0] <- me; r <- fetch(0, y); assert(r == me);"
    assert proved(parse(f"{HEADER}{LOCKS[lock].format(inside)} }}"), None) == (True, True, 4)
    claims = proved(
        parse(f"{HEADER}{LOCKS[lock].format('if (me == 2) { r <- 0; while (r == 0) { r <- mem[f]; } }')} }}"), None
    )
    assert claims is not None and not claims[1]


def test_a_chain_in_which_each_rank_waits_for_the_one_before_it_has_no_deadlock() -> None:
    chain = "if (me > 0) { await(mem[f] == 1); } if (me < nodes - 1) { write(one, me + 1, f, q); }"
    claims = proved(parse(f"{HEADER}{chain} }}"), None)
    assert claims is not None and claims[1]


def test_of_the_ways_that_a_call_may_have_a_rank_may_have_those_alone_that_wait() -> None:
    program = parse(f"{HEADER} if (me == 0) {{ choose {{ await(mem[f] == 1); }} or {{ mem[x] <- 1; }} }} barrier; }}")
    for each_way in (False, True):
        prover = Prover(program, DEFAULT_READING)
        known = Facts(prover._automata, prover._initial, prover._rules, prover._place, each_way=each_way)
        for case in prover.frame.cases():
            known.look_at(case, prover.flow(case))
        assert known.deadlock is not None and known.deadlock.holds is not each_way


def test_a_wait_for_a_number_without_a_bound_is_not_followed() -> None:
    """To follow it would end at the limit of commands; one for a number that the loop bounds is followed."""
    text = """
program counted; nodes 3; memory count; register d, k; queue q;
process {{
  while ({condition}) {{
    k <- k + 1; notify(add, 1, (me + 1) % nodes, count, q); wait(q); await(mem[count] >= k); {step}
  }}
}}
"""
    unbounded = prove(parse(text.format(condition="d < nodes", step="d <- d * 2 + 1;")), DEFAULT_READING)
    assert unbounded.obstacles == [] and unbounded.deadlock is not None
    assert "`await(mem[count] >= k)` in line 5, which waits for a number without a bound" in unbounded.deadlock.open
    bounded = prove(parse(text.format(condition="k < 2", step="")), DEFAULT_READING)
    assert bounded.deadlock is not None and "circle" in bounded.deadlock.open  # it was followed
