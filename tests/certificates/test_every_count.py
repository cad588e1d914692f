# ruff: noqa: E501
"""Certificates of every number of nodes: those of the corpus, of random programs, forged ones, and what each rule is
for."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest

import pgasrob
from pgasrob.certificates.check.accept import examine
from pgasrob.certificates.check.names import RANK, Frame, cases, cutoff, linear
from pgasrob.certificates.write import NoCertificate, write_for_every_count
from pgasrob.program.parser import parse
from pgasrob.program.reading import Reading
from pgasrob.robustness.check import check
from pgasrob.robustness.every_n.prove import prove
from pgasrob.robustness.limits import Limits
from tests.certificates.mutants import Edit, mutant
from tests.robustness.every_n.drawn import drawn
from tests.robustness.every_n.test_corpus import PROVED, programs
from tests.support import examples, sampled

UNCERTIFIED = {
    "unreachable_fault", "unreachable_violation", "row_leaders", "grid_two_wide", "torus_three_wide",
    "hypercube_guarded", "hypercube_powers_of_two",
}  # fmt: skip
"""Robust since memory never holds some value, or by remainders of ranks: of that the checker knows nothing."""
C_CERTIFIED = {
    "1_09_exchange_barrier", "1_e4_reuse_shmem_put", "1_e4_reuse_shmem_quiet", "3_11_increments", "3_12_fetching",
    "4_03_shmem_quiet", "5_05_put_signal", "5_07_fence_put_signal", "5_19_shmem_lock", "7_07_handover_fence",
    "7_e3_counter_barrier", "7_e4_two_slots_put", "accumulate_order", "atomic_nbi_quiet", "column_halo",
    "context_quiet", "figure_1", "figure_10", "figure_11_two_fences", "figure_4c", "figure_4c_exclusive",
    "figure_7a", "figure_7b", "figure_7b_no_sync", "figure_8_atomics", "figure_8a", "figure_8b", "figure_8d",
    "gaspi_lock_101", "gaspi_lock_atomic", "gaspi_wait_test_loop", "gaspi_work_queue", "gpi_flag", "gpi_lock",
    "gpi_work_counter", "lock", "lock_exclusive", "message_passing_atomic_flag_add", "message_passing_fence",
    "message_passing_flush", "own_flag", "own_flag_fence", "put_barrier", "put_fence_put_signal", "put_quiet_get",
    "put_signal", "quiet_sync", "request_wait_flush", "rget", "ring_halo", "signal_numbers_fence", "source_reuse",
    "spin_lock", "store_buffering_quiet", "test_lock", "ticket_lock", "try_two",
}  # fmt: skip
"""Programs in C that have one."""
C_VALUES = {
    "1_12_get_gaspi_wait", "gaspi_pipeline", "gaspi_poll_fetch_add", "gaspi_read_wait", "gaspi_wait_then_barrier_101",
    "two_targets_quiet", "gaspi_notify_same_queue", "gaspi_write_list_notify", "gaspi_write_notify_covers_all_101",
}  # fmt: skip
"""The same of programs in C, and one in which a command has no value on two nodes."""
FRAMES = (None, (0, 1), (1, 1), (1, 2))
"""Proofs are right with whatever frame; None: the one that fits the program."""
LIMITS = Limits(max_states=4_000, timeout=3)


def test_the_corpus() -> None:
    """One program in twelve, with --nightly all."""
    for name in sampled([Path(each) for each in sorted(PROVED)], 12):
        program = programs()[name.stem]
        if name.stem in UNCERTIFIED:
            with pytest.raises(NoCertificate, match="than the checker knows"):
                write_for_every_count(program)
        else:
            assert examine(program, write_for_every_count(program).text).reason is None


def test_no_random_program_is_accepted_wrongly() -> None:
    """What decides has nothing in common with the checker (`traces`)."""
    found = Counter[str]()
    for seed in range(examples(20, nightly=5_000)):
        program, frame = parse(drawn(seed)), FRAMES[seed % len(FRAMES)]
        try:
            certificate = write_for_every_count(program, frame=frame)
        except NoCertificate:
            found["none"] += 1
            continue
        assert examine(program, certificate.text).reason is None
        first = prove(program).cutoff if frame is None else cutoff(*frame)
        assert first is not None
        for nodes in (2, 3, first - 1, first, first + 1):
            verdict = check(program, nodes, "traces", LIMITS, effect=False).verdict
            assert verdict not in ("not robust", "error"), f"the program of {seed} on {nodes} nodes"
            found[verdict] += 1
    assert found["robust"] > found["none"] > 0


def test_names_are_different_ranks() -> None:
    """(N1) of `proofs/every-n.md`, on the first numbers of nodes."""
    program = parse("program p;\nprocess { skip; }")
    for around, ends in product(range(4), repeat=2):
        first = cutoff(around, ends)
        found = list(cases(program, Reading(), around, ends))
        for nodes in range(first, first + 12):
            sources = set()
            for case in found:
                domain = case.names[0].domain
                far = case.names[0].me == RANK
                for source in range(domain.low, nodes - domain.high) if far else (0,):
                    if nodes < domain.least:
                        continue
                    x, n, c = zip(*(linear(name.me) for name in case.names[:-1]), strict=True)
                    ranks = [a * source + b * nodes + d for a, b, d in zip(x, n, c, strict=True)]
                    assert len(set(ranks)) == len(ranks) and all(0 <= rank < nodes for rank in ranks)
                    rest = case.names[-1].domain
                    others = set(range(nodes)) - set(ranks)
                    assert others and min(others) >= rest.low and max(others) <= nodes - 1 - rest.high
                    sources.add(ranks[0])
            assert sources == set(range(nodes))


# What each rule is for

HEADER = (
    "program some;\nmemory x, y, z, a, w, b;\nregister r, s;\nqueue q, u unordered, v unordered;\nprocess {{ {} }}\n"
)
BAD = "write(x, me, y, q); r <- mem[y];"
"""A violation of one rank."""
TWO = "r <- fetch_add(0, z, 1); }} or {{ r <- fetch(0, z); {}"
"""The end of what one rank does, and the beginning of what another one does after it."""


def in_the_middle(branches: str) -> str:
    return f"if (me >= 1 && me < nodes - 1) {{ choose {{ {branches} }} }}"


class Rule(NamedTuple):
    """What is changed, a program that is accepted then, a frame, and a number of nodes on which it is not robust, or in
    error; None: one that is out of reach."""

    name: str
    block: str
    nodes: int | None
    frame: Frame | None
    edits: tuple[Edit, ...]
    blocks: str = ""


ACCEPT, NAMES, COMMANDS, INFEASIBLE = (f"check/{name}.py" for name in ("accept", "names", "commands", "infeasible"))
RULES = [
    Rule("numbers below the cutoff", f"if (nodes == 3) {{ {BAD} }}", 3, None, ((ACCEPT, "range(2, cutoff(*frame))", "()"),)),
    Rule("faults", "write(x, me + 1, y, q); wait(q);", 7, None, ((ACCEPT, "return None if all(each.legal for each in values.commands) else", "return None if True else"), ("write.py", "if left or not all(each.legal for each in values.commands):", "if left:"))),
    Rule("the cases near the low end", f"if (me == 1) {{ {BAD} }}", 7, (0, 2), ((NAMES, "        yield case(domain, [place], *sizes)\n", ""), (ACCEPT, "range(2, cutoff(*frame))", "()"))),
    Rule("the cases near the high end", f"if (me == nodes - 2) {{ {BAD} }}", 7, (0, 2), ((NAMES, "        yield case(domain, [_last(place)], *reversed(sizes))\n", ""), (ACCEPT, "range(2, cutoff(*frame))", "()"))),
    Rule("the cases far from both", f"if (me > 1 && me < nodes - 2) {{ {BAD} }}", 7, (0, 2), ((NAMES, "    yield case(domain, [RANK._replace(c=by) for by in sorted(range(-around, around + 1), key=abs)], ends, ends)\n", ""), (ACCEPT, "range(2, cutoff(*frame))", "()"))),
    Rule("blocks of ranks that have no names", "skip;", 4, (0, 1), ((NAMES, "if min(around, ends) < 0 or any(rank >= ends for", "if any(False for"), (ACCEPT, "range(2, cutoff(*frame))", "()")), blocks=f"process 2 {{ {BAD} }}"),
    Rule("names from the rest", in_the_middle("write(x, me, y, q); " + TWO.format("r <- fetch((me + 1) % nodes, y);")), 5, (0, 1), ((NAMES, "return to.x not in (1, -1) or (lowest[1] >= 0 >= highest[0] and not named)", "return False"),)),
    Rule("the rest by names", in_the_middle("update(add, 1, me + 1, y, q); " + TWO.format("r <- mem[y];")), 5, (0, 1), ((NAMES, "n not in numbered or self._may_be(", "n in numbered and self._may_be("),)),
    Rule("accesses from elsewhere to own memory", "if (me == 2) { write(x, 0, y, q); r <- fetch_add(0, z, 1); } if (me > 2 && me < nodes - 3) { choose { r <- fetch(0, z); mem[w] <- 1; } or { r <- fetch(me - 1, w); r <- fetch(0, y); } }", 8, (0, 3), ((COMMANDS, "ranks if is_own else ranks + own,", "ranks,"), (ACCEPT, "range(2, cutoff(*frame))", "()"))),
    Rule("own accesses meet others", in_the_middle("write(x, 0, y, q); mem[z @ me + 1] <- 1; }} or {{ r <- mem[z]; r <- fetch(0, y);".format()), 6, (0, 1), ((COMMANDS, "ranks if is_own else ranks + own,", "() if is_own else ranks + own,"),)),
    Rule("other ranks of the rest", in_the_middle("write(x, 0, y, q); " + TWO.format("mem[a @ 0] <- 1; } or { r <- fetch(0, a); r <- fetch(0, y);")), 5, (0, 1), ((INFEASIBLE, "if other != rank or rest)", "if other != rank)"),)),
    Rule("fences are about one target", "choose { write(x, 0, y, u); fence(u); write(x, 1, a, u); } or { r <- fetch(1, a); r <- fetch(0, y); }", 6, None, ((COMMANDS, "chain[bound:], to, queue, legal)", "chain[bound:], 0, queue, legal)"),)),
    Rule("barriers", "write(x, (me + 1) % nodes, y, q); barrier; r <- mem[y];", 7, None, ((INFEASIBLE, "for other, ends in ranks.items() if ranks.keys() >= set(self.ranks) else ():", "for other, ends in ():"),)),
    Rule("forms that are equal somewhere", f"if (me + me == nodes) {{ {BAD} }}", 8, None, ((NAMES, "(low, min(max(low, 0), high), high)", "(low, high)"), (ACCEPT, "range(2, cutoff(*frame))", "()"))),
    Rule("forms that are less somewhere", f"if (me * 2 < nodes && me * 3 > nodes) {{ {BAD} }}", 8, None, ((NAMES, "(low, min(max(low, 0), high), high)", "(min(max(low, 0), high), high)"), (ACCEPT, "range(2, cutoff(*frame))", "()"))),
    Rule("forms that are greater somewhere", f"if (me * 2 > nodes && me * 3 < nodes + nodes) {{ {BAD} }}", 8, None, ((NAMES, "(low, min(max(low, 0), high), high)", "(low, min(max(low, 0), high))"), (ACCEPT, "range(2, cutoff(*frame))", "()"))),
    Rule("remainders are less than the divisor", f"r <- (me + 1) % nodes; if (r == 0) {{ {BAD} }}", 8, None, ((NAMES, "self.range(other.plus(rest, -1))[0] > 0", "self.range(other.plus(rest, -1))[0] >= 0"), (ACCEPT, "range(2, cutoff(*frame))", "()"))),
    Rule("remainders are no less than 0", f"r <- (me - 1) % nodes; if (r == 0 - 1) {{ {BAD} }}", 8, None, ((NAMES, "for rest in (one, one.plus(other, -1)):\n                    if self.range(rest)[0] >= 0 and", "for rest in (one.plus(other, -1), one.plus(other, 1)):\n                    if"), (ACCEPT, "range(2, cutoff(*frame))", "()"))),
    Rule("numbers of nodes up to the greatest", f"if (nodes == 20) {{ {BAD} }}", 20, None, ((NAMES, "for count in self[:2]", "for count in self[:1]"),)),
    Rule("what wraps around", f"if (me * 1000 < 0) {{ {BAD} }}", None, None, ((NAMES, "return found if expr.type.range[0] <= low and high <= expr.type.range[1] else None", "return found"),)),
]  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_without_a_rule_what_is_not_robust_is_accepted(rule: Rule, tmp_path: Path) -> None:
    program = parse(HEADER.format(rule.block) + rule.blocks)
    if rule.nodes is not None:
        assert check(program, rule.nodes, effect=False).verdict in ("not robust", "error")
    without = mutant(tmp_path, f"every_{RULES.index(rule)}", *rule.edits)
    written = without.write.write_for_every_count(program, frame=rule.frame)
    assert without.accept.examine(program, written.text).reason is None
    assert examine(program, written.text).reason is not None


def test_programs_in_c() -> None:
    """Lowered once from the cutoff on, and for each number below."""
    folder = Path(__file__).parents[2] / "programs" / "c"
    for path in sampled([path for path in sorted(folder.rglob("*.c")) if path.stem in C_CERTIFIED | C_VALUES], 15):
        program = pgasrob.load(path)
        if path.stem in C_VALUES:
            with pytest.raises(NoCertificate, match=r"than the checker knows|has no value"):
                write_for_every_count(program)
        else:
            assert examine(program, write_for_every_count(program).text).reason is None
