"""No proof by views of two ranks is wrong: random programs with flags, polls and locks, and what each condition is for
(`proofs/every-n.md`, section 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from pgasrob.api import check
from pgasrob.program import polls
from pgasrob.program.parser import parse
from pgasrob.program.program import Program
from pgasrob.program.reading import DEFAULT_READING, Reading
from pgasrob.robustness.every_n import named_views, unfold
from pgasrob.robustness.every_n.named_commands import Ranks
from pgasrob.robustness.every_n.proof import Proof
from pgasrob.robustness.every_n.prove import Prover
from pgasrob.robustness.every_n.rank_cases import Frame
from pgasrob.robustness.every_n.symbolic_values import File
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.reduction import fixpoint
from pgasrob.robustness.reduction.abstract_commands import Command, Commands
from pgasrob.robustness.reduction.fixpoint import Fixpoint
from pgasrob.robustness.reduction.pairwise import Views
from tests.robustness.every_n.drawn_flags import drawn_flags
from tests.support import examples

FRAMES = (None, Frame(0, 1), Frame(0, 2), Frame(1, 1))
LIMITS = Limits(max_states=4_000, timeout=60)
COUNTED = Reading("count", DEFAULT_READING.conflicts)


def proof(program: Program, frame: Frame | None = None, reading: Reading = DEFAULT_READING) -> Proof:
    """A proof, or the first that is in its way."""
    prover = Prover(program, reading, frame)
    for _ in prover.run():
        if prover.proof.obstacles:
            break
    return prover.proof


def verdict(program: Program, nodes: int, reading: Reading = DEFAULT_READING, engine: str = "traces") -> str:
    """By an engine that has nothing in common with the proof, in the reading of waits that it has."""
    return check(program, nodes, engine, LIMITS, failed_polls=reading.failed_polls, waits="value", effect=False).verdict


def check_that_it_needs(mutation: Mutation, program: Program, patch: pytest.MonkeyPatch) -> None:
    """``program`` is not robust, and not proved unless ``mutation`` takes a condition out."""
    found = proof(program)
    assert not found.holds and found.cutoff is not None
    assert "not robust" in [verdict(program, found.cutoff, engine=engine) for engine in ("traces", "attack")]
    mutation(patch)
    assert proof(program).holds


def test_no_proof_of_a_random_program_is_wrong() -> None:
    found = Counter[str]()
    for seed in range(examples(13, nightly=20_000)):
        program, reading = parse(drawn_flags(seed)), COUNTED if seed % 3 == 0 else DEFAULT_READING
        proved = proof(program, FRAMES[seed % len(FRAMES)], reading)
        found["proved" if proved.holds else "not"] += 1
        if not proved.holds or not proved.views:
            continue
        assert proved.cutoff is not None
        found["by views"] += 1
        for nodes in sorted(
            {proved.cutoff, proved.cutoff + 1, *(each for each in range(2, 8) if each > proved.cutoff)}
        ):
            answer = verdict(program, nodes, reading)
            assert answer in ("robust", "unknown"), f"the program of {seed} is proved, and {answer} on {nodes} nodes"
            if answer == "unknown":
                break
    assert found["by views"] > 0.08 * examples(13, nightly=20_000)


# What each condition is for

HEADER = "program some; memory x = 1, y, z, f, g, one = 1, two = 2; register r, s, i; queue q, u unordered; process { "
Mutation = Callable[[pytest.MonkeyPatch], None]


def with_nothing_there_from_the_beginning(patch: pytest.MonkeyPatch) -> None:
    before = named_views._Search.__init__

    def without(self: named_views._Search, *arguments: object) -> None:
        before(self, *arguments[:-1], [99] * 7)  # type: ignore[arg-type]

    patch.setattr(named_views._Search, "__init__", without)


def with_the_first_writer_alone(patch: pytest.MonkeyPatch) -> None:
    before = named_views._Search._writers

    def first(self: named_views._Search, rank: int, state: int, place: int) -> list[named_views.Writer] | None:
        writers = before(self, rank, state, place)
        return writers and writers[:1]

    patch.setattr(named_views._Search, "_writers", first)


def without_what_follows_writers(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        named_views._Search, "_after", lambda self, rank: [1 << state for state in range(len(self.commands.of[rank]))]
    )


def without_what_the_source_rank_does(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Fixpoint, "_happen", lambda *_: None)


def without_steps_of_the_source_rank(patch: pytest.MonkeyPatch) -> None:
    before = Fixpoint._happen
    patch.setattr(Fixpoint, "_happen", lambda self, command, delayed: before(self, command, [True] * len(delayed)))


def without_what_the_source_rank_has_done(patch: pytest.MonkeyPatch) -> None:
    before = Fixpoint._may_be_satisfied

    def may_be_satisfied(self: Fixpoint, command: Command) -> bool:
        known = self.setting.views
        if known is None:
            return True
        self.setting.views = replace(known, after=[[0] * len(each) for each in known.after])
        found = before(self, command)
        self.setting.views = known
        return found

    patch.setattr(Fixpoint, "_may_be_satisfied", may_be_satisfied)


def without_coming_back_to_what_waits(patch: pytest.MonkeyPatch) -> None:
    before = Fixpoint._happen

    def happen(self: Fixpoint, command: Command, delayed: Sequence[bool]) -> None:
        self.waiting = []
        before(self, command, delayed)

    patch.setattr(Fixpoint, "_happen", happen)


def with_others_that_stay_where_they_are(patch: pytest.MonkeyPatch) -> None:
    def seen(self: Fixpoint, known: Views, other: int) -> set[int]:
        states = self.states_of_others[other]
        return {at for at in states if other == self.rank or known.may_be_at_once(self.rank, self.state, other, at)}

    patch.setattr(Fixpoint, "_seen", seen)


def with_what_is_known_later(patch: pytest.MonkeyPatch) -> None:
    before = fixpoint._KnownAccesses.add

    def add(self: fixpoint._KnownAccesses, rank: int, state: int, accesses: int) -> int:
        if self._views is not None:
            known, after = self._views.known[rank], self._views.after[rank][state]
            state = max(each for each in range(len(known)) if after >> each & 1 and known[each] is not None)
        return before(self, rank, state, accesses)

    patch.setattr(fixpoint._KnownAccesses, "add", add)


def with_a_rest_of_one_rank(patch: pytest.MonkeyPatch) -> None:
    before = named_views._Search.__init__

    def of_one(
        self: named_views._Search, known: unfold.Unfolded, ranks: Ranks, commands: Commands, initial: list[int]
    ) -> None:
        before(self, known, ranks, replace(commands, many=frozenset()), initial)

    patch.setattr(named_views._Search, "__init__", of_one)


def with_barriers_that_lead_to_the_end(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(named_views._Search, "_after_barrier", lambda self, rank, _: 1 << len(self.commands.of[rank]) - 2)


def with_one_file_at_each_state(patch: pytest.MonkeyPatch) -> None:
    before = unfold._Unfolding._number

    def number(self: unfold._Unfolding, state: int, file: File) -> int | None:
        first = next((each for each, (other, _) in enumerate(self._states) if other == state), None)
        return before(self, state, file) if first is None else first

    patch.setattr(unfold._Unfolding, "_number", number)


def with_polls_that_wait(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Prover, "_polls_wait", True)


def with_looks_at_what_depends_on_the_rank(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(polls, "_is_alike", lambda _: True)


RULES: list[tuple[Mutation, str, Frame | None, int, Reading]] = [
    (
        with_nothing_there_from_the_beginning,
        "r <- fetch(me, y); update(add, 1, (me + nodes - 1) % nodes, f, q); mem[f @ (me + 1) % nodes] <- 1;",
        Frame(1, 1), 7, DEFAULT_READING,
    ),
    (
        with_the_first_writer_alone,
        "choose { s <- swap(me, f, 2); } "
        "or { write(x, me, y, q); s <- swap(me, f, 2); await(mem[f] >= 1); r <- mem[y]; }",
        Frame(0, 2), 6, DEFAULT_READING,
    ),
    (
        without_what_follows_writers,
        "mem[f @ me == 0 ? 1 : 0] <- 1; write(one, me == 0 ? 1 : 0, f, u); await(mem[f] != 0);",
        Frame(0, 2), 6, DEFAULT_READING,
    ),
    (
        without_what_the_source_rank_does,
        "write(x, me, y, q); mem[f] <- 1; await(mem[f] == 1); read(z, me, y, q);",
        None, 4, DEFAULT_READING,
    ),
    (
        without_steps_of_the_source_rank,
        "write(x, me, y, u); write(one, me, f, q); await(mem[f] == 1); r <- mem[y];",
        None, 4, DEFAULT_READING,
    ),
    (
        without_what_the_source_rank_has_done,
        "mem[f] <- 2; write(one, me, f, u); await(mem[f] >= 1);",
        None, 4, DEFAULT_READING,
    ),
    (
        without_coming_back_to_what_waits,
        "if (me == 0) { write(x, me, y, q); "
        "loop { choose { await(mem[f] == 1); r <- mem[y]; } or { mem[f] <- 1; } } }",
        None, 4, DEFAULT_READING,
    ),
    (
        with_others_that_stay_where_they_are,
        "write(x, (me + 1) % nodes, y, q); mem[f @ (me + 1) % nodes] <- 1; await(mem[f] == 1); barrier; r <- mem[y];",
        None, 7, DEFAULT_READING,
    ),
    (
        with_what_is_known_later,
        "write(x, (me + 1) % nodes, y, q); r <- mem[y]; wait(q); "
        "write(one, (me + 1) % nodes, f, q); await(mem[f] == 1);",
        None, 7, DEFAULT_READING,
    ),
    (
        with_a_rest_of_one_rank,
        "if (me == nodes - 1) { write(x, 0, y, q); mem[g @ 0] <- 1; } "
        "if (me == 0) { await(mem[g] == 1); await(mem[f] == 1); mem[z] <- 1; } "
        "if (me > 0 && me < nodes - 1) { r <- fetch(0, z); r <- fetch(0, y); mem[f @ 0] <- 1; }",
        None, 4, DEFAULT_READING,
    ),
    (
        with_barriers_that_lead_to_the_end,
        "barrier; write(x, (me + 1) % nodes, y, q); r <- mem[y];",
        Frame(1, 1), 7, DEFAULT_READING,
    ),
    (
        with_one_file_at_each_state,
        "write(x, me, y, q); mem[f @ me] <- 2; while (r == 0) { r <- fetch(me, f); } r <- mem[y];",
        Frame(1, 1), 7, DEFAULT_READING,
    ),
    (
        with_polls_that_wait,
        "write(one, (me + 1) % nodes, f, q); while (r == 0) { r <- mem[f]; }",
        None, 7, COUNTED,
    ),
    (
        with_looks_at_what_depends_on_the_rank,
        # That process 0 seems to write elsewhere, too, is why x is no flag.
        "if (me == 0) { if (s) { write(two, 1, x + s, q); } write(two, 1, x, q); write(one, 1, y, u); } "
        "if (me == 1) { await(mem[y] == 1); while (r == 0) { "
        "choose { r <- mem[x]; } or { assume(me == nodes); mem[z] <- r; } } while (r < 2) { r <- mem[x]; } }",
        None, 6, DEFAULT_READING,
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("mutation", "block", "frame", "nodes", "reading"), RULES, ids=[mutation.__name__ for mutation, *_ in RULES]
)
def test_without_a_condition_there_is_a_wrong_proof(
    mutation: Mutation, block: str, frame: Frame | None, nodes: int, reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = parse(f"{HEADER}{block} }}")
    found = proof(program, frame, reading)
    assert not found.holds and found.cutoff == nodes
    assert "not robust" in (verdict(program, nodes, reading, engine) for engine in ("traces", "attack"))
    mutation(monkeypatch)
    found = proof(program, frame, reading)
    assert found.holds and found.views
