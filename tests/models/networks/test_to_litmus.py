"""Programs of ranks as litmus programs: what they become, and what is refused, for every entry of the list."""

from __future__ import annotations

from random import Random

import pytest

from pgasrob.models.litmus.instructions import CompareAndSet, Flush, Get, GetAccumulate, Poll, Put, Store
from pgasrob.models.model_interface import Refused
from pgasrob.models.networks.counterparts import OF_THE_CALCULUS
from pgasrob.models.networks.robustness import by_executions, by_runs
from pgasrob.models.networks.to_litmus import Network, Translation, translate
from pgasrob.models.rdma_tso import RdmaTso
from pgasrob.models.sc import Sc
from pgasrob.program.instance import Instance
from pgasrob.semantics.sequential import SequentialSpace
from tests.support import instance

RDMA: Network = "rdma-tso"
CORE: Network = "corerma"


def kinds(translated: Translation, rank: int = 0) -> list[type]:
    """The instructions of a rank without branches."""
    return [type(edges[0][0]) for edges in translated.program.threads[rank].graph.out if edges]


def polls(translated: Translation, rank: int = 0) -> int:
    return kinds(translated, rank).count(Poll)


def copies(translated: Translation) -> int:
    """How many locations are made for values that are put."""
    return sum(not location.shown for location in translated.program.locations)


REFUSED: list[tuple[str, Network, str]] = [
    ("barrier", RDMA, "barrier; r <- mem[x];"),
    ("barrier", CORE, "barrier; r <- mem[x];"),
    ("notification", RDMA, "notify(set, 1, 1, x, q);"),
    ("notification", CORE, "notify(set, 1, 1, x, q);"),
    ("signal", RDMA, "bundle; signal(set, 1, 1, x, q);"),
    ("signal", CORE, "bundle; signal(set, 1, 1, x, q);"),
    ("deferred atomic", RDMA, "update(add, 1, 1, x, q);"),
    ("deferred atomic", CORE, "update(add, 1, 1, x, q);"),
    ("blocking remote access", RDMA, "r <- fetch_add(1, x, 1);"),
    ("blocking remote access", CORE, "r <- fetch_add(1, x, 1);"),
    ("atomic on own memory", RDMA, "r <- fetch_add(me, x, 1);"),
    ("atomic on own memory", CORE, "r <- swap(me, x, 1);"),
    ("compare_swap", CORE, "r <- compare_swap(me, x, 0, 1);"),
    ("operand that is computed", RDMA, "r <- mem[x]; write(x + r, 1, y, q);"),
    ("operand that is computed", CORE, "r <- mem[x]; write(x, r, y, q);"),
    ("operation to itself", RDMA, "write(x, me, y, q);"),
    ("wait", RDMA, "write(x, 1, y, q); wait(q);"),
    ("unbounded waiting", RDMA, "loop { write(x, 1, y, q); } wait_local(q);"),
    ("wait_local", CORE, "write(x, 1, y, q); wait_local(q);"),
    ("fence", CORE, "write(x, 1, y, q); fence(q); write(x, 1, y, q);"),
    ("wait of one queue", CORE, "write(x, 1, y, q); write(x, 1, z, u); wait(q);"),
    ("control flow", CORE, "loop { mem[x] <- 1; }"),
    ("await", CORE, "await(mem[x] == 1);"),
    ("exit", RDMA, "exit;"),
    ("exit", CORE, "exit;"),
]


@pytest.mark.parametrize(("construct", "network", "block"), REFUSED)
def test_what_has_no_counterpart_is_refused_with_its_reason_and_place(
    construct: str, network: Network, block: str
) -> None:
    with pytest.raises(Refused) as refused:
        translate(instance(block, ""), network)
    (entry,) = [each for each in OF_THE_CALCULUS if (each.construct, each.model) == (construct, network)]
    found = [refusal for refusal in refused.value.refusals if entry.why in refusal.reason]
    assert found and all(refusal.span.line for refusal in found)


def test_a_wait_for_puts_without_pci_express_is_refused_by_another_reason() -> None:
    with pytest.raises(Refused, match="without PCI Express"):
        translate(instance("write(x, 1, y, q); read(z, 1, x, q); wait(q);", ""), RDMA, pcie=False)


def test_every_entry_of_the_list_is_met() -> None:
    met = {(construct, network) for construct, network, _ in REFUSED} | {("wait without PCI Express", RDMA)}
    assert met == {(each.construct, each.model) for each in OF_THE_CALCULUS}


def test_all_that_is_refused_is_told_at_once() -> None:
    with pytest.raises(Refused) as refused:
        translate(instance("barrier; r <- fetch_add(1, x, 1); write(x, me, y, q);", ""), RDMA)
    assert len(refused.value.refusals) == 3


@pytest.mark.parametrize(
    ("block", "wanted"),
    [
        ("write(x, 1, y, q); wait_local(q);", 1),
        ("write(x, 1, y, q); write(x, 1, z, q); wait_local(q);", 2),
        ("write(x, 1, y, q); write(x, 1, z, u); wait_local(q);", 1),
        ("write(x, 1, z, u); write(x, 1, y, q); wait_local(q);", 2),  # completions come in order
        ("write(x, 1, z, u); write(x, 1, y, q); wait_local(q); wait_local(u);", 2),
        ("write(x, 1, y, q); wait_local(q); write(x, 1, z, q); wait_local(q);", 2),
        ("read(x, 1, y, q); wait(q);", 1),
        ("write(x, 1, y, q); read(z, 1, x, q); wait(q);", 2),
        ("write(x, 1, y, q); read(z, 1, x, u); wait_local(u); wait(q);", 2),
        ("wait(q);", 0),
    ],
)
def test_waits_are_so_many_polls(block: str, wanted: int) -> None:
    assert polls(translate(instance(block, ""), RDMA)) == wanted


def test_a_put_behind_the_last_get_may_not_be_placed() -> None:
    with pytest.raises(Refused):
        translate(instance("read(z, 1, x, q); write(x, 1, y, q); wait(q);", ""), RDMA)
    translate(instance("read(z, 1, x, q); write(x, 1, y, q); wait(q);", ""), RDMA, placed=True)


def test_a_put_that_has_been_polled_need_not_be_placed() -> None:
    with pytest.raises(Refused):
        translate(instance("write(x, 1, y, q); wait_local(q); wait(q);", ""), RDMA)


def test_a_captured_put_has_a_copy_of_its_own_while_it_is_pending() -> None:
    translated = translate(instance("loop { put(x, 1, y, q); put(x, 1, z, q); wait_local(q); }", ""), RDMA)
    assert copies(translated) == 2
    assert copies(translate(instance("put(x, 1, y, q); put(x, 1, y, q);", ""), RDMA)) == 2


def test_commands_and_instructions() -> None:
    block = "mem[x] <- 1; r <- compare_swap(me, x, 1, 2); write(x, 1, y, q); read(z, 1, x, q);"
    assert kinds(translate(instance(block, ""), RDMA)) == [Store, CompareAndSet, Put, Get]
    block = "write(x, 1, y, q); update_from(add, x, 1, y, q, z); wait(q);"
    assert kinds(translate(instance(block, ""), CORE)) == [Put, GetAccumulate, Flush]


def test_a_barrier_at_the_end_orders_nothing_and_every_other_one_is_refused() -> None:
    translate(instance("write(x, 1, y, q); barrier;", "r <- mem[y]; barrier; r <- r + 1;"), RDMA)
    with pytest.raises(Refused):
        translate(instance("write(x, 1, y, q); barrier;", "barrier; r <- mem[y];"), RDMA)


def test_a_put_of_a_value_stores_it_in_a_copy() -> None:
    translated = translate(instance("update(set, 5, 1, y, q) as plain; update(set, 6, 1, y, q) as plain;", ""), RDMA)
    assert kinds(translated).count(Store) == kinds(translated).count(Put) == copies(translated) == 2
    model = RdmaTso()
    assert by_runs(model.machine(translated.program)).violation is None
    assert by_executions(model, translated.program).violation is None
    with pytest.raises(Refused):
        translate(instance("update(set, 5, 1, y, q);", ""), RDMA)


def test_a_rank_that_may_not_get_on_may_end_there() -> None:
    graph = translate(instance("r <- mem[x]; await(mem[y] == 1); mem[x] <- 2;", ""), RDMA).program.threads[0].graph
    assert graph.ends == {1, 4}
    graph = translate(instance("r <- mem[x]; if (r == 1) { mem[x] <- 2; }", ""), RDMA).program.threads[0].graph
    assert len(graph.ends) == 1


# The SC runs of a program and of its translation


def random_block(random: Random, rank: int) -> str:
    peer = 1 - rank
    made = []
    for _ in range(random.randint(1, 3)):
        one, two = random.choice("xyz"), random.choice("xyz")
        made.append(
            random.choice(
                (
                    f"mem[{one}] <- r + {random.randint(1, 3)};",
                    f"r <- mem[{one}];",
                    f"write({one}, {peer}, {two}, q);",
                    f"read({one}, {peer}, {two}, u); wait(u);",
                    f"s <- compare_swap(me, {one}, 0, 5);",
                    f"if (r == 1) {{ mem[{one}] <- 4; }}",
                    "wait_local(q); fence(q);",
                )
            )
        )
    return " ".join(made)


def sequential_outcomes(program: Instance) -> set[tuple[int, ...]]:
    """The memory and registers at the ends of all SC runs."""
    space = SequentialSpace(program)
    seen, stack, found = {space.initial}, [space.initial], set()
    while stack:
        state = stack.pop()
        edges = list(space.successors(state))
        if not edges:
            found.add((*state.memory, *(value for registers in state.registers for value in registers)))
        for _, target in edges:
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return found


def test_a_program_and_its_translation_have_the_same_sc_outcomes() -> None:
    """Every cell is loaded in the end, so that all are locations. (A captured put is three instructions.)"""
    several = 0
    for seed in range(150):
        random = Random(seed)
        tail = " r <- mem[x]; r <- mem[y]; r <- mem[z]; r <- mem[w];"
        program = instance(*(random_block(random, rank) + tail for rank in range(2)))
        wanted = sequential_outcomes(program)
        translated = translate(program, RDMA, placed=True)
        found = Sc().outcomes(translated.program)
        assert set(found.found) == wanted, seed
        several += len(wanted) > 1
    assert several == 30  # have more than one


def test_many_puts_before_a_flush_of_corerma_are_not_taken_for_a_loop() -> None:
    puts = "write(x, 1, y, q);" * 25
    made = kinds(translate(instance(puts + "wait(q);", ""), CORE))
    assert (made.count(Put), made.count(Flush)) == (25, 1)
    with pytest.raises(Refused) as refused:
        translate(instance(puts + "wait_local(q);", ""), RDMA)
    assert "wait more often" in str(refused.value.refusals[0])


@pytest.mark.parametrize("idle", ["wait_local(q);", "skip;", "fence(q);", "choose { skip; } or { wait(q); }"])
def test_a_rank_that_goes_round_and_does_nothing_ends_no_less(idle: str) -> None:
    blocks = "read(z, 1, y, q); read(x, 1, y, q); loop { " + idle + " }", "mem[y] <- 1;"
    translated = translate(instance(*blocks), RDMA)
    for found in (by_executions(RdmaTso(), translated.program), by_runs(RdmaTso().machine(translated.program))):
        assert found.violation is not None and found.reason is None
