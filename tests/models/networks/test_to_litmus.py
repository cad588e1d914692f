"""Programs of ranks as litmus programs: what they become, and what is refused, for every entry of the list."""

from __future__ import annotations

from random import Random

import pytest

from pgasrob.frontends.lower import parse_c
from pgasrob.models.litmus.instructions import (
    Assume,
    CompareAndSet,
    Flush,
    Get,
    GetAccumulate,
    Load,
    NicCompareAndSet,
    NicFetchAdd,
    Poll,
    Put,
    RemoteFence,
    Store,
)
from pgasrob.models.model_interface import Refused
from pgasrob.models.networks import to_litmus
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
    ("remote atomic", RDMA, "update(set, 1, 1, x, q);"),
    ("remote atomic", RDMA, "update(xor, 1, 1, x, q);"),
    ("remote atomic", RDMA, "update_from(set, y, 1, x, q, z);"),
    ("remote atomic", RDMA, "r <- swap(1, x, 1);"),
    ("remote atomic", RDMA, "r <- fetch_update(max, 1, x, 1);"),
    ("deferred atomic", CORE, "update(add, 1, 1, x, q);"),
    ("blocking remote access", RDMA, "mem[x @ 1] <- 1;"),
    ("blocking remote access", RDMA, "await_add(1, mem[x] == 0, 1);"),
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
    ("wait_local", CORE, "update_from(add, x, 1, y, q, z); wait_local(q);"),
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
        translate(instance("barrier; r <- swap(1, x, 1); write(x, me, y, q);", ""), RDMA)
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


def test_remote_atomics() -> None:
    update = "update(add, 5, 1, y, q); update(compare_swap, 5, 0, 1, y, q, z); update_from(fetch, 1, x, q, z);"
    translated = translate(instance(update, ""), RDMA)
    assert kinds(translated) == [NicFetchAdd, NicCompareAndSet, Get]
    assert copies(translated) == 1  # for the result that nobody asks for
    block = "update_from(add, x, 1, y, q); update_from(compare_swap, x, y, 1, z, u, z); wait(q);"
    translated = translate(instance(block, ""), RDMA)
    assert kinds(translated) == [Load, NicFetchAdd, Load, Load, NicCompareAndSet, Poll]
    add, swap = (
        each
        for edges in translated.program.threads[0].graph.out
        for each, _ in edges
        if isinstance(each, NicFetchAdd | NicCompareAndSet)
    )
    assert add.part == (1, False) and swap.part == (2, False)
    assert isinstance(swap, NicCompareAndSet) and swap.expected != swap.new


@pytest.mark.parametrize(
    ("block", "made"),
    [
        ("r <- fetch_add(1, x, 1);", [NicFetchAdd, Poll, Load]),
        ("r <- compare_swap(1, x, 0, 1);", [NicCompareAndSet, Poll, Load]),
        ("r <- fetch(1, x);", [Get, Poll, Load]),
        ("r <- mem[x @ 1];", [Get, Poll, Load]),
        # polls are for the oldest operation first
        ("write(x, 1, y, q); r <- fetch_add(1, x, 1); wait(q);", [Put, NicFetchAdd, Poll, Poll, Load]),
        (
            "r <- fetch_add(1, x, 1); write(x, 1, y, q); r <- fetch(1, x);",
            [NicFetchAdd, Poll, Load, Put, Get, Poll, Poll, Load],
        ),
    ],
)
def test_what_blocks_is_issued_polled_and_loaded_as_one_command(block: str, made: list[type]) -> None:
    translated = translate(instance(block, ""), RDMA)
    assert kinds(translated) == made
    *_, (last, _) = (edges[0] for edges in translated.program.threads[0].graph.out if edges)
    issued = max(place for place, kind in enumerate(made) if kind in (Get, NicFetchAdd, NicCompareAndSet))
    assert last.part == (len(made) - 1 - issued, False)


def test_a_fetch_that_polls_has_the_condition_behind_it() -> None:
    """As of an own load: a run in which it fails is none, and the rank may be waiting before the fetch instead."""
    graph = (
        translate(instance("r <- fetch(1, x); while (r == 0) { r <- fetch(1, x); }", ""), RDMA).program.threads[0].graph
    )
    start: list[type] = [type(edges[0][0]) for edges in graph.out[:4]]
    assert start == [Get, Poll, Load, Assume]
    assert 0 in graph.ends and not graph.ends & {1, 2, 3}


def test_a_remote_addition_of_another_width_is_refused() -> None:
    text = "#include <shmem.h>\nlong x;\nint main(void) { shmem_init(); shmem_long_atomic_inc(&x, 1 - shmem_my_pe()); }"
    program = parse_c(text).instantiate(2)
    with pytest.raises(Refused, match="here of `int`"):
        translate(program, RDMA)
    translate(parse_c(text.replace("long", "int")).instantiate(2), RDMA)


def test_an_atomic_that_has_been_polled_has_placed_the_puts_before_it() -> None:
    for atomic, pcie in (("update(add, 1, 1, x, q);", False), ("r <- fetch_add(1, x, 1);", False), ("", True)):
        block = f"write(x, 1, y, q); {atomic or 'read(z, 1, x, q);'} wait(q);"
        translate(instance(block, ""), RDMA, pcie=pcie)
    for later in ("read(z, 1, x, q);", "r <- fetch(1, x);"):
        with pytest.raises(Refused, match="without PCI Express"):
            translate(instance(f"write(x, 1, y, q); {later} wait(q);", ""), RDMA, pcie=False)
    with pytest.raises(Refused):
        translate(instance("update(add, 1, 1, x, q); write(x, 1, y, q); wait(q);", ""), RDMA)


def test_a_fence_is_one_of_the_network_where_an_atomic_may_be_pending() -> None:
    def fences(block: str) -> int:
        return kinds(translate(instance(block, ""), RDMA)).count(RemoteFence)

    assert fences("update(add, 1, 1, x, q); fence(q); write(x, 1, y, q);") == 1
    assert fences("update(add, 1, 1, x, q); fence(q, 1); write(x, 1, y, q);") == 1
    assert fences("update(add, 1, 1, x, q); fence(q, 0); write(x, 1, y, q);") == 0
    assert fences("update(add, 1, 1, x, q); fence(u); write(x, 1, y, q);") == 0
    assert fences("update(add, 1, 1, x, q); wait(q); fence(q); write(x, 1, y, q);") == 0
    assert fences("r <- fetch_add(1, x, 1); fence(q); write(x, 1, y, q);") == 0
    assert fences("write(x, 1, y, q); fence(q); write(x, 1, y, q);") == 0


def test_what_is_pending_is_followed_only_where_it_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts pile up without a wait, a fence of atomics, or an access that polls."""
    put = "loop { write(x, 1, y, q); %s }"
    for text in ("fence(q);", "s <- compare_swap(me, x, 0, 1);", "r <- mem[x];"):
        translate(instance(put % text, ""), RDMA)
    for text in ("wait_local(u);", "update(add, 1, 1, x, q); fence(q);"):
        with pytest.raises(Refused, match="wait more often"):
            translate(instance(put % text, ""), RDMA)
    assert copies(translate(instance("loop { r <- fetch_add(1, x, 1); }", ""), RDMA)) == 1
    for atomics in ("update(add, 1, 1, x, q, w);", "update(add, 1, 1, x, q); update(add, 2, 1, y, q);"):
        translated = translate(instance("loop { write(x, 1, y, q); " + atomics + "}", ""), RDMA)
        assert copies(translated) == ("w" not in atomics), "atomics without results share a location"
    two_kinds = "loop { choose { write(x, 1, y, q); } or { read(z, 1, y, u); } } wait_local(q);"
    with pytest.raises(Refused, match="wait more often"):
        translate(instance(two_kinds, ""), RDMA)
    monkeypatch.setattr(to_litmus, "MOST_WAYS_PENDING", 7)
    three = "choose { write(x, 1, y, q); } or { read(z, 1, y, u); } " * 3 + "wait_local(q);"
    with pytest.raises(Refused, match="wait more often"):
        translate(instance(three, ""), RDMA)
    monkeypatch.setattr(to_litmus, "MOST_WAYS_PENDING", 8)
    translate(instance(three, ""), RDMA)


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
                    f"r <- fetch_add({peer}, {one}, 2);",
                    f"s <- compare_swap({peer}, {one}, 0, r + 3);",
                    f"r <- fetch({peer}, {one});",
                    f"update(add, r + 1, {peer}, {one}, q); wait(q);",
                    f"update(compare_swap, 7, 0, {peer}, {one}, u, {two}); wait(u);",
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
    assert several == 47  # have more than one


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
