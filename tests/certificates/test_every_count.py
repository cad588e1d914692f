# ruff: noqa: E501
"""Certificates of every number of nodes: those of the corpus, of random programs, forged ones, and what each rule is
for."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

import pgasrob
from pgasrob.api import check
from pgasrob.certificates.check.accept import examine
from pgasrob.certificates.check.names import Case, Domain, Linear, cases, cutoff, linear, plain
from pgasrob.certificates.write import Frame, NoCertificate, write_for_every_count
from pgasrob.program.expressions import Binary, Const, Fault, Me, evaluator, specialise
from pgasrob.program.parser import parse
from pgasrob.program.reading import Reading
from pgasrob.robustness.every_n.prove import prove
from pgasrob.robustness.limits import Limits
from tests.certificates.mutants import Edit, mutant
from tests.robustness.every_n.drawn import drawn
from tests.robustness.every_n.test_corpus import PROVED, programs
from tests.robustness.every_n.test_symbolic_values import TYPES
from tests.robustness.every_n.test_symbolic_values import drawn as random_expression
from tests.support import examples, sampled

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
    "spin_lock", "store_buffering_quiet", "test_lock", "ticket_lock", "try_two", "1_12_get_gaspi_wait",
    "gaspi_notify_same_queue", "gaspi_poll_fetch_add", "gaspi_read_wait", "gaspi_wait_then_barrier_101",
    "gaspi_write_list_notify", "gaspi_write_notify_covers_all_101", "gpi_one_to_one_wait",
}  # fmt: skip
"""Programs in C that have one."""
C_FAULTS = {"armci_flag_other_process_fence", "two_targets_quiet"}
"""The same of programs in C in which a command has no value on two nodes."""
FRAMES = (None, (0, 1, 1), (1, 1, 1), (1, 2, 1), (0, 1, 2), (1, 2, 3))
"""Proofs are right with whatever frame; None: the one that fits the program."""
LIMITS = Limits(max_states=4_000, timeout=60)


def test_the_corpus() -> None:
    """One program in twelve, with --nightly all."""
    for name in sampled([Path(each) for each in sorted(PROVED)], 12):
        program = programs()[name.stem]
        assert examine(program, write_for_every_count(program).text).reason is None


def test_no_random_program_is_accepted_wrongly() -> None:
    """What decides has nothing in common with the checker (`traces`)."""
    found = Counter[str]()
    for seed in range(examples(10, nightly=5_000)):
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


FRAMES_OF_NAMES = [
    (around, ends, modulus) for modulus in (1, 2, 3, 4) for around, ends in product(range(4 - modulus % 4), repeat=2)
]


def at(form: int | Linear, rank: int, nodes: int) -> int:
    x, n, c = linear(form)
    return x * rank + n * nodes + c


def instances(case: Case, nodes: int) -> Iterator[tuple[int, list[list[int]]]]:
    """For each x of the source's domain on so many nodes, the ranks of each name, those of the rest as their own x."""
    domain = case.names[0].domain
    whole, left = divmod(nodes, domain.modulus)
    if left == domain.nodes and whole >= domain.least:
        of_rank = linear(case.names[0].me).x
        for x in range(domain.low, whole - domain.high) if of_rank else (0,):
            found = [[at(name.me, x, whole)] for name in case.names if not name.rest]
            for each in (name.domain for name in case.names if name.rest):
                every = [at(each.at(0), y, whole) for y in range(each.low, whole - each.high)]
                found.append([rank for rank in every if [rank] not in found[: len(case.names) - each.modulus]])
            yield x, found


@pytest.mark.parametrize("frame", sampled([Path(str(each)) for each in FRAMES_OF_NAMES], 2), ids=str)
def test_names_are_different_ranks(frame: Path) -> None:
    """(N1) of `proofs/every-n.md`, on the first numbers of nodes: they are all ranks, and each part of the rest has
    one. Half of the frames, with --nightly all."""
    around, ends, modulus = ast.literal_eval(str(frame))
    first = cutoff(around, ends, modulus)
    found = list(cases(PROGRAM, Reading(), around, ends, modulus))
    for nodes in range(first, first + 6 + 2 * modulus):
        sources = []
        for case in found:
            for _, names in instances(case, nodes):
                assert all(names) and sorted(rank for name in names for rank in name) == list(range(nodes))
                sources += names[0]
        assert sorted(sources) == list(range(nodes))


PROGRAM = parse("program p;\nprocess { skip; }")


@pytest.mark.parametrize("frame", [(0, 1, 1), (1, 1, 1), (0, 1, 2), (0, 2, 3), (1, 1, 2)], ids=str)
def test_names_that_operands_may_be(frame: Frame) -> None:
    """Each rank that a form comes to be is among them: forms of the rank, of the number of nodes, and numbers, on the
    first numbers of nodes."""
    modulus, first = frame[2], cutoff(*frame)
    for case in cases(PROGRAM, Reading(), *frame):
        found = [
            (nodes // modulus, *each) for nodes in range(first, first + 2 * modulus) for each in instances(case, nodes)
        ]
        for rank, of in enumerate(case.names):
            shifts = [linear(of.me).plus(Linear(0, 0, by), 1) for by in range(-3, 4)]
            about_nodes = [of.domain.last(by) for by in range(3)] + [linear(by) for by in range(3)]
            others = [
                Linear(-modulus, modulus, -1),
                Linear(2 * modulus, 0, 0),
                Linear(1, 0, 0),
                Linear(3, 0, 1),
                Linear(0, 1, 0),
            ]
            for form in map(plain, [*shifts, *about_nodes, *others]):
                known = case.named(rank, form)
                for whole, x, names in found:
                    for own in names[rank]:
                        target = at(form, (own - of.domain.rank) // modulus if of.rest else x, whole)
                        if 0 <= target < whole * modulus + of.domain.nodes:
                            assert any(target in names[name] for name in known), (of, form, whole, own)
                            assert form != of.me or target == own


def test_values_of_random_expressions() -> None:
    """What is known is what there is, for each rank and number of nodes; what faults, faults for each."""
    known = forms = faults = 0
    for seed in range(examples(1_200, nightly=100_000)):
        random = Random(seed)
        modulus = random.choice((1, 1, 2, 3, 4, 6, 8))
        least = random.randrange(4, 9)
        left = random.randrange(modulus), random.randrange(modulus)
        domain = Domain(least, least + 8, random.randrange(3), random.randrange(3), modulus, *left)
        me = random.choice((domain.at(0), domain.at(0), domain.at(1), 2, domain.last(1)))
        expr = random_expression(random, random.choice((1, 2, 3)), random.choice(TYPES))
        file = None, random.choice((3, Linear(0, 1, 1))), random.choice((domain.at(1), Linear(1, 1, 0)))
        try:
            found = domain.value(expr, file, me)
        except Fault:
            found, faults = None, faults + 1
        else:
            if found is None:
                continue
            known += 1
            forms += isinstance(found, Linear)
        for whole in range(least, domain.most + 1):
            for x in range(domain.low, whole - domain.high):
                rank, nodes = at(me, x, whole), whole * modulus + domain.nodes
                held = [random.randrange(-9, 9), at(file[1], x, whole), at(file[2], x, whole)]
                try:
                    value = evaluator(specialise(expr, rank, nodes))(held)
                except Fault:
                    assert found is None, expr
                else:
                    assert found is not None and value == at(found, x, whole), (seed, expr, rank, nodes)
    assert known > 2 * forms > 200 and faults > 3


@pytest.mark.parametrize("symbol", ["&", "|", "^", "/", "%"])
def test_operations_with_numbers(symbol: str) -> None:
    """Of what leaves 5 modulo 8, and lies on both sides of 0."""
    domain = Domain(4, 6, 0, 0, 8, 5, 3)
    known = 0
    for number, by in product(range(-9, 10), (0, 8, -8, -16, 3)):
        expr = Binary(symbol, Binary("+", Me(), Const(by)), Const(number))
        try:
            found = domain.value(expr, (), domain.at(0))
        except Fault:
            found = None
        if found is None:
            continue
        known += 1
        for x in range(6):
            assert at(found, x, 6) == evaluator(specialise(expr, at(domain.at(0), x, 6), 6))(()), (number, by)
    assert known >= 12


# What each rule is for

HEADER = "program some;\nmemory x, y, z, a, w, b, g = 2;\nregister r, s;\nqueue q, u unordered, v unordered;\nprocess {{ {} }}\n"
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


ACCEPT, NAMES, COMMANDS, INFEASIBLE = (
    f"check/{name}.py" for name in ("accept", "names", "command_effects", "infeasible")
)
BELOW = (ACCEPT, "range(2, cutoff(*frame))", "()")
RULES = [
    Rule("numbers below the cutoff", f"if (nodes == 3) {{ {BAD} }}", 3, None, ((ACCEPT, "range(2, cutoff(*frame))", "()"),)),
    Rule("faults", "write(x, me + 1, y, q); wait(q);", 7, None, ((ACCEPT, "return None if all(each.legal for each in values.commands) else", "return None if True else"), ("write.py", "if left or not all(each.legal for each in values.commands):", "if left:"))),
    Rule("the cases near the low end", f"if (me == 1) {{ {BAD} }}", 7, (0, 2, 1), ((NAMES, "            yield case(of, [place], *sizes)\n", ""), (ACCEPT, "range(2, cutoff(*frame))", "()"))),
    Rule("the cases near the high end", f"if (me == nodes - 2) {{ {BAD} }}", 7, (0, 2, 1), ((NAMES, "            yield case(of, [of.last(place)], *reversed(sizes))\n", ""), (ACCEPT, "range(2, cutoff(*frame))", "()"))),
    Rule("the cases far from both", f"if (me > 1 && me < nodes - 2) {{ {BAD} }}", 7, (0, 2, 1), ((NAMES, "            yield case(of, map(of.at, sorted(range(-around, around + 1), key=abs)), ends, ends)\n", ""), (ACCEPT, "range(2, cutoff(*frame))", "()"))),
    Rule("blocks of ranks that have no names", "skip;", 4, (0, 1, 1), ((NAMES, "any(each >= ends for own", "any(False for own"), (ACCEPT, "range(2, cutoff(*frame))", "()")), blocks=f"process 2 {{ {BAD} }}"),
    Rule("names from the rest", in_the_middle("write(x, me, y, q); " + TWO.format("r <- fetch((me + 1) % nodes, y);")), 5, (0, 1, 1), ((NAMES, "return there or bool(found.x % to.x or found.n % to.x)", "return False"),)),
    Rule("the rest by names", in_the_middle("update(add, 1, me + 1, y, q); " + TWO.format("r <- mem[y];")), 5, (0, 1, 1), ((NAMES, "return name.rest or least <= 0 <= most", "return not name.rest and least <= 0 <= most"),)),
    Rule("accesses from elsewhere to own memory", "if (me == 2) { write(x, 0, y, q); r <- fetch_add(0, z, 1); } if (me > 2 && me < nodes - 3) { choose { r <- fetch(0, z); mem[w] <- 1; } or { r <- fetch(me - 1, w); r <- fetch(0, y); } }", 8, (0, 3, 1), ((COMMANDS, "ranks if is_own else ranks + own,", "ranks,"), (ACCEPT, "range(2, cutoff(*frame))", "()"))),
    Rule("own accesses meet others", in_the_middle("write(x, 0, y, q); mem[z @ me + 1] <- 1; }} or {{ r <- mem[z]; r <- fetch(0, y);".format()), 6, (0, 1, 1), ((COMMANDS, "ranks if is_own else ranks + own,", "() if is_own else ranks + own,"),)),
    Rule("other ranks of the rest", in_the_middle("write(x, 0, y, q); " + TWO.format("mem[a @ 0] <- 1; } or { r <- fetch(0, a); r <- fetch(0, y);")), 5, (0, 1, 1), ((INFEASIBLE, "if other != rank or rest)", "if other != rank)"),)),
    Rule("fences are about one target", "choose { write(x, 0, y, u); fence(u); write(x, 1, a, u); } or { r <- fetch(1, a); r <- fetch(0, y); }", 6, None, ((COMMANDS, "chain[bound:], to, queue, legal, stores)", "chain[bound:], 0, queue, legal, stores)"),)),
    Rule("barriers", "write(x, (me + 1) % nodes, y, q); barrier; r <- mem[y];", 7, None, ((INFEASIBLE, "if {place[0] for place, _ in ends} >= set(self.ranks):", "if False:"),)),
    Rule("forms that are equal somewhere", f"if (me + me == nodes) {{ {BAD} }}", 8, None, ((NAMES, "(low, min(max(low, 0), high), high)", "(low, high)"), (ACCEPT, "range(2, cutoff(*frame))", "()"))),
    Rule("forms that are less somewhere", f"if (me * 2 < nodes && me * 3 > nodes) {{ {BAD} }}", 8, None, ((NAMES, "(low, min(max(low, 0), high), high)", "(min(max(low, 0), high), high)"), (ACCEPT, "range(2, cutoff(*frame))", "()"))),
    Rule("forms that are greater somewhere", f"if (me * 2 > nodes && me * 3 < nodes + nodes) {{ {BAD} }}", 8, None, ((NAMES, "(low, min(max(low, 0), high), high)", "(low, min(max(low, 0), high))"), (ACCEPT, "range(2, cutoff(*frame))", "()"))),
    Rule("remainders are less than the divisor", f"r <- (me + 1) % nodes; if (r == 0) {{ {BAD} }}", 8, None, ((NAMES, "self.range(other.plus(rest, -1))[0] > 0", "self.range(other.plus(rest, -1))[0] >= 0"), (ACCEPT, "range(2, cutoff(*frame))", "()"))),
    Rule("remainders are no less than 0", f"r <- (me - 1) % nodes; if (r == 0 - 1) {{ {BAD} }}", 8, None, ((NAMES, "for rest in (one, one.plus(other, -1)):\n                    if self.range(rest)[0] >= 0 and", "for rest in (one.plus(other, -1), one.plus(other, 1)):\n                    if"), (ACCEPT, "range(2, cutoff(*frame))", "()"))),
    Rule("the cases of each remainder of ranks", f"if (me % 2 == 1 && me < nodes - 1) {{ {BAD} }}", 5, (0, 1, 2), ((NAMES, "        for rank in range(modulus):\n            of", "        for rank in range(1):\n            of"), BELOW)),
    Rule("the cases of each remainder of numbers", f"if (nodes % 2 == 1) {{ {BAD} }}", 5, (0, 1, 2), ((NAMES, "    for nodes in range(modulus):", "    for nodes in range(1):"), BELOW)),
    Rule("remainders are known of what the modulus divides", f"if (me % 2 == 1 && me > 2 && me < nodes - 3) {{ {BAD} }}", 8, (0, 2, 1), ((NAMES, "if mask and not (one.x % power or one.n % power) else 0", "if mask else 0"), BELOW)),
    Rule("remainders of what is less than 0", f"r <- (me - 6) % 2; if (r == 0 - 1) {{ {BAD} }}", 8, (0, 1, 2), ((NAMES, "return one.c % divisor if divisor > 0 and self.range(one)[0] >= 0 else None", "return one.c % divisor if divisor > 0 else None"), BELOW)),
    Rule("quotients of what is less than 0", f"r <- (me - 6) / 2; if (me > 1 && me % 2 == 1 && r * 2 == me - 5) {{ {BAD} }}", 8, (0, 2, 2), ((NAMES, 'case "/" if divisor > 0 and self.range(one)[0] >= 0:', 'case "/" if divisor > 0:'), BELOW)),
    Rule("last bits that are turned", f"if (me % 2 == 1 && (me ^ 1) == me - 1 && me > 2 && me < nodes - 3) {{ {BAD} }}", 8, (0, 2, 2), ((NAMES, "one.c - one.c % divisor + last", "one.c + last"), BELOW)),
    Rule("numbers without their last bit", f"if ((nodes & nodes - 1) == 0) {{ {BAD} }}", 8, (0, 1, 2), ((NAMES, "and one.c % (known & -known):", "and known:"), BELOW)),
    Rule("ranks that leave the same", "if (me >= 1 && me < nodes - 2) { choose { update(add, 1, me + 2, y, q); " + TWO.format("r <- mem[y];") + "} }", 7, (0, 2, 2), ((NAMES, "== 0 != apart.c % modulus:", "== 0 != apart.c:"), BELOW)),
    Rule("which rank of the rest has a name for a multiple", in_the_middle("write(x, me, y, q); " + TWO.format("r <- fetch(me / 4 * 3, y);")), 6, (0, 1, 4), ((NAMES, "return there or bool(found.x % to.x or found.n % to.x)", "return there and not found.x % to.x and not found.n % to.x"), BELOW)),
    Rule("a form of the source's rank is no form of the rest", "if (me >= 1 && me < nodes - 1) { if (me % 2 == 0) { write(x, me, y, q); r <- fetch_add(0, z, 1); } else { r <- fetch(0, z); r <- fetch(me - 1, y); } }", 5, (0, 1, 2), ((NAMES, "for each in self.names if not each.rest)", "for each in self.names)"), BELOW)),
    Rule("what cells hold at first", f"r <- fetch(0, g); if (r == 2) {{ {BAD} }}", 5, (0, 1, 1), ((COMMANDS, "(*enumerate(self.instance.memory), *stores)", "stores"), ("write.py", "{(cell % size, value) for cell, value in enumerate(case.instance.memory)}", "{(cell, 0) for cell in range(size)}"), BELOW)),
    Rule("what is stored", f"mem[z] <- 3; r <- mem[z]; if (r == 3) {{ {BAD} }}", 5, (0, 1, 1), ((COMMANDS, "stores = frozenset((at, each)", "stores = frozenset((at, 0)"), BELOW)),
    Rule("what is computed from what cells hold", f"r <- fetch_add(0, z, 1); if (r == 3) {{ {BAD} }}", 5, (0, 1, 1), ((COMMANDS, "if update is None or update.operation in core.CHOOSING else {None}", "if True else {None}"), BELOW)),
    Rule("what is carried from cell to cell", f"write(g, 0, z, q); wait(q); r <- fetch(0, z); if (r == 2) {{ {BAD} }}", 5, (0, 1, 1), ((COMMANDS, "written = held | operands if", "written = operands | {0} if"), BELOW)),
    Rule("stores of forms are of anything", f"mem[z] <- me; r <- mem[z]; if (r == 3) {{ {BAD} }}", 5, (0, 1, 1), ((COMMANDS, "known = [(role, each if isinstance(each, int) else None) for role, each in named]", "known = [(role, each if isinstance(each, int) else None if role is Role.ADDRESS else 0) for role, each in named]"), BELOW)),
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
    for path in sampled([path for path in sorted(folder.rglob("*.c")) if path.stem in C_CERTIFIED | C_FAULTS], 15):
        program = pgasrob.load(path)
        if path.stem in C_FAULTS:
            with pytest.raises(NoCertificate, match="has no value"):
                write_for_every_count(program)
        else:
            assert examine(program, write_for_every_count(program).text).reason is None
