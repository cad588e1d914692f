"""States in which nothing changes any more (`proofs/waiting.md`, section 6), against a graph of all states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.program.reading import DEFAULT_READING, LITERAL_READING
from pgasrob.robustness.reduction import REDUCTIONS
from pgasrob.semantics.replay import replay
from pgasrob.semantics.sequential import SequentialFacts, SequentialSpace, SequentialState
from pgasrob.semantics.standstill import Standstill, Stay
from pgasrob.twins import search_of_sc_runs, trace_search
from tests.oracle.ends import graph_of
from tests.oracle.readings import Reading
from tests.oracle.semantics import Machine
from tests.oracle.spinning import spinning
from tests.oracle.syntax import numbered, to_pgas
from tests.support import examples

MOST = 1_500
"""States of SC runs beyond which a random program is left out."""


def instance(blocks: Iterable[str], nodes: int | None = None) -> Instance:
    processes = "".join(f"\nprocess {rank} {{ {block} }}" for rank, block in enumerate(blocks))
    text = f"program p; memory x, y, f = 1; register r, s; queue q;{processes}"
    return parse(text).instantiate(nodes or processes.count("process"))


def facts_of(program: Instance) -> SequentialFacts:
    found = SequentialFacts(program)
    for _ in found.explore():
        pass
    return found


def stays(program: Instance) -> tuple[Stay, ...] | None:
    """How the ranks stay at the end of the first deadlock; None where there is none."""
    found = facts_of(program)
    assert found.complete
    if found.deadlock is None:
        return None
    run = replay(program, found.deadlock)
    state = SequentialState(run.control, run.registers, run.memory)
    return SequentialSpace(program).standstill.stays(state)


TAKE = "s <- 1; while (s != 0) { s <- compare_swap(0, f, 0, 1); }"


@pytest.mark.parametrize(
    ("blocks", "how"),
    [
        # locks that nobody releases: by compare_swap, by swap, by tickets
        ((TAKE,), ("spins",)),
        (("s <- 1; while (s == 1) { s <- swap(0, f, 1); }",), ("spins",)),
        (("r <- fetch_add(0, x, 1); s <- -1; while (s != r) { s <- fetch(0, y); }",) * 2, ("ended", "spins")),
        ((TAKE, "r <- swap(0, f, 0);"), None),
        ((f"{TAKE} barrier;", "barrier;"), ("spins", "waits")),
        # polls, and one that could still get out from where it is (the read of x gave 0 before it was set)
        (("while (r == 0) { r <- mem[x]; }",), ("spins",)),
        (("while (!(r && s)) { r <- mem[f]; s <- mem[x]; }",), ("spins",)),
        (("while (!(r && s)) { r <- mem[x]; s <- mem[y]; }", "r <- swap(0, x, 1); r <- swap(0, y, 1);"), None),
        (("while (r + s < 2) { r <- mem[x]; s <- mem[y]; } mem[f] <- 7;", "r <- swap(0, x, 1); r <- swap(0, y, 1);"),
         None),
        # a look that fails leads to a wait
        (("r <- mem[x]; if (r == 0) { await(mem[x] != 0); }",), ("waits",)),
        (("while (1) { mem[y] <- 1; r <- mem[x]; if (r == 0) { await(mem[x] != 0); } }",), ("waits",)),
        # loops that write: what is there already, what nobody looks at, what another one looks at
        (("while (1) { mem[f] <- 1; }",), ("spins",)),
        (("while (1) { mem[x] <- 1; mem[x] <- 0; }",), ("spins",)),
        (("while (1) { r <- swap(1, x, 1); r <- swap(1, x, 0); }", "while (1) { r <- mem[x]; }"), None),
        (("while (1) { r <- swap(1, x, 1); r <- swap(1, x, 0); }", "while (1) { r <- mem[y]; }"), ("spins", "spins")),
        # what others change may be looked at when it decides nothing
        (("while (r == 0) { mem[x @ 1] <- 1; r <- fetch(0, x); }", "while (1) { r <- mem[x]; mem[y] <- 1; }"),
         ("spins", "free")),
        (("while (r == 0) { mem[x @ 1] <- 1; r <- fetch(0, x); }", "while (1) { r <- mem[x]; mem[y] <- r; }"),
         ("spins", "free")),
        (("while (r == 0) { mem[x @ 1] <- 1; mem[x @ 1] <- 0; r <- fetch(0, y); }",
          "while (1) { r <- mem[x]; mem[y] <- r; mem[f] <- 0; }"), ("spins", "free")),
        (("while (r == 0) { mem[x @ 1] <- 1; mem[x @ 1] <- 0; r <- fetch(0, y); }",
          "while (1) { r <- mem[x]; mem[y] <- r; await(mem[y] == 0); }"), ("spins", "waits")),
        (("while (r == 0) { mem[x @ 1] <- 1; mem[x @ 1] <- 0; r <- fetch(0, y); }",
          "while (1) { r <- mem[x]; if (r) { s <- 1; } }"), None),
        (("while (r == 0) { mem[x @ 1] <- 1; mem[x @ 1] <- 0; r <- fetch(0, y); }",
          "while (1) { r <- mem[x]; if (r) { mem[f] <- 2; } }"), None),
        (("while (r == 0) { mem[x @ 1] <- 1; mem[x @ 1] <- 0; r <- fetch(0, y); }",
          "while (1) { r <- mem[x]; mem[y + r] <- 1; }"), None),
        # who passes data on for ever is meant to, if the loop has no way out
        (("while (1) { r <- swap(1, x, 1); }", "while (1) { r <- mem[x]; mem[y] <- 1; }"), None),
        (("while (1) { mem[x] <- 1; barrier; mem[x] <- 0; barrier; }",
          "while (1) { barrier; r <- fetch(0, x); mem[y] <- r; }"), None),
        # loops that all ranks go round together, and that one of them leaves
        (("while (r == 0) { barrier; r <- mem[x]; }",) * 2, ("spins", "spins")),
        (("while (r == 0) { barrier; r <- mem[x]; }", "while (r == 0) { barrier; r <- mem[f]; }"), ("waits", "ended")),
        (("while (1) { mem[x] <- 1; barrier; mem[x] <- 0; barrier; }", "while (1) { barrier; r <- mem[x]; }"),
         ("spins", "spins")),
        (("while (1) { mem[x] <- 1; barrier; mem[x] <- 0; barrier; }", "while (1) { barrier; r <- fetch(0, x); }"),
         None),
        (("while (1) { choose { barrier(a); } or { barrier(b); } }", "while (1) { barrier(a); }"), ("spins", "spins")),
        (("while (1) { choose { r <- mem[x]; barrier(a); } or { r <- mem[x]; barrier(b); } }",
          "while (1) { barrier(a); }"), ("waits", "waits")),
        # who may end, stop before an assume, or exit by choice is not stuck
        (("loop { r <- mem[x]; }",), None),
        (("loop { r <- mem[x]; } assume(r == 1);",), None),
        (("while (1) { choose { r <- mem[x]; } or { exit; } }",), None),
        (("while (1) { choose { r <- mem[x]; } or { r <- mem[y]; } }",), ("spins",)),
    ],
)  # fmt: skip
def test_how_ranks_stay(blocks: tuple[str, ...], how: tuple[str, ...] | None) -> None:
    program = instance(blocks)
    found = stays(program)
    assert (None if found is None else tuple(stay.how for stay in found)) == how
    for reductions in ((), REDUCTIONS):
        search = search_of_sc_runs(program, reductions, None)
        for _ in search.explore():
            pass
        assert search.complete and (search.deadlock is None) == (how is None), reductions
    traces = trace_search(program, longest=100)
    for _ in traces.run():
        pass
    assert not traces.facts.complete or (traces.facts.deadlock is None) == (how is None)


def test_what_is_told_of_a_loop() -> None:
    (stay,) = stays(instance(("r <- 1; while (s == 0) { s <- mem[x]; mem[y] <- 1; mem[y] <- 0; }",))) or ()
    assert [edge.command.kind for edge in stay.loop] == ["assume", "load", "store", "store"]
    assert (stay.how, stay.registers, stay.cells) == ("spins", {1}, {1})


def test_cells_that_others_make_change_go_on_changing() -> None:
    """At the end x and y of rank 1 are 0, and by itself it would leave them so."""
    blocks = (
        "while (r == 0) { mem[x @ 1] <- 1; mem[x @ 1] <- 0; r <- fetch(0, y); }",
        "while (1) { r <- mem[x]; mem[y] <- r; }",
    )
    one, other = stays(instance(blocks)) or ()
    assert (one.how, one.cells) == ("spins", {3}) and (other.how, other.cells) == ("free", {4})


def test_a_loop_that_counts_its_rounds_leaves_it_open() -> None:
    """The count is written, so it makes a difference; there is no end of states."""
    found = facts_of_some(instance(("while (s == 0) { s <- mem[x]; r <- r + 1; } mem[y] <- r;",)), 20)
    assert found.deadlock is None and not found.complete
    assert stays(instance(("while (s == 0) { s <- mem[x]; r <- r + 1; }",))) is not None


def facts_of_some(program: Instance, most: int) -> SequentialFacts:
    found = SequentialFacts(program)
    for _ in found.explore():
        if found.states > most:
            break
    return found


def compared(seed: int) -> Counter[str]:
    """What the oracle says of a random program; each of the searches says the same."""
    source = spinning(seed)
    graph = graph_of(Machine(numbered(source), None, Reading("count", "all")), MOST)
    if not graph.complete:
        return Counter(cut=1)
    ends = [end for end in graph.ends() if end.is_deadlock]
    seen = Counter(tried=1, stuck=bool(ends), spins=any("spins" in end.ranks for end in ends))
    seen["waits alone"] += bool(ends) and not seen["spins"]
    program = parse(to_pgas(source))
    for reading in (DEFAULT_READING, LITERAL_READING):
        drawn = program.instantiate(source.nodes, reading)
        if not drawn.can_wait:
            assert not ends, seed
            continue
        searches = [facts_of(drawn)] + [search_of_sc_runs(drawn, each, None) for each in ((), REDUCTIONS)]
        for search in searches:
            for _ in search.explore():
                pass
            assert search.complete and (search.deadlock is not None) == bool(ends), (seed, reading)
        traces = trace_search(drawn)
        for _ in traces.run():
            if traces.transitions > MOST:
                break
        if traces.facts.complete:
            seen["by traces"] += 1
            assert (traces.facts.deadlock is not None) == bool(ends), (seed, reading)
    return seen


def test_who_may_leave_at_another_value_does_not_leave_at_this_one() -> None:
    """402378: a loop that a rank leaves at once where a is 1, and never where it is 0."""
    assert compared(402_378)["spins"]


@pytest.mark.parametrize("seed", [106_934, 206_493])
def test_a_rank_that_looks_at_data_for_ever_excuses_nobody(seed: int) -> None:
    """Where liveness has forgotten a value that decides nothing, each write of it seems to be a change."""
    assert compared(seed)["spins"]


def test_deadlocks_of_programs_that_spin_are_those_of_the_oracle() -> None:
    seen: Counter[str] = sum(map(compared, range(examples(10, nightly=7_000))), Counter())
    of_each = min(seen["spins"], seen["waits alone"], seen["tried"] - seen["stuck"], seen["by traces"])
    assert of_each >= examples(1, nightly=300), seen


def test_once_too_much_was_looked_at_less_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A counter without an end: the first state costs 4,000 configurations, each of which is remembered then, and later
    64 more are looked at where a state is not among them."""
    counted: list[int] = []
    count = Standstill._count

    def noted(self: Standstill[SequentialState], number: int) -> None:
        counted.append(number)
        count(self, number)

    monkeypatch.setattr(Standstill, "_count", noted)
    endless = SequentialFacts(instance(["loop { r <- r + 1; mem[x] <- r; }"], 1))
    for _ in endless.explore(most=4_100):
        pass
    assert not endless.complete and (counted.count(0), counted.count(4_001), counted.count(65)) == (3, 1, 3)
