"""Tables with an entry for each rank, made without a number of nodes: GASNet's segments, ARMCI's addresses."""

from __future__ import annotations

from collections import Counter

import pytest

import pgasrob
from pgasrob.api import check
from pgasrob.diagnostics import SourceError
from pgasrob.frontends.apis import split_barriers
from pgasrob.frontends.apis.armci import queues
from pgasrob.frontends.c import arithmetic, rank_tables
from pgasrob.frontends.lower import parse_c
from pgasrob.robustness.every_n.prove import prove
from pgasrob.robustness.reasons import NothingChecked
from tests.robustness.every_n.drawn_tables import ARMCI, GASNET, drawn_tables
from tests.robustness.every_n.test_c_differences import GASPI
from tests.robustness.every_n.test_c_programs import compare
from tests.support import check_every_count, examples

FAR = {GASNET: "gasnet_put_val(n + 5, mine, 1, 4);", ARMCI: "ARMCI_PutValueInt(1, table[n + 5], n + 5);"}
SHIFT = {
    GASNET: "gasnet_put({0}, (int *) table[{0}].addr, &x, 4); meet(); r = *mine;",
    ARMCI: "ARMCI_Put(&x, table[{0}], 4, {0}); ARMCI_Fence({1}); meet(); r = *mine;",
}


def program(api: str, body: str) -> str:
    return f"{api} {body}\n  return r + x;\n}}"


def test_random_programs() -> None:
    found, few = Counter[str](), examples(3, nightly=1_500)
    for seed in range(60, 60 + few):
        text = drawn_tables(seed)
        read = parse_c(text)
        without = read.for_every_count()
        proof = prove(without)
        counts = {2, 3} if not proof.holds else {2, 3, 4, 5, proof.cutoff or 2}
        found["compared"] += sum(compare(read, without, proof, iter(sorted(counts))))
        found["proved"] += proof.holds
        found["in a loop over ranks"] += "i < n" in text
        found["a pointer to an entry"] += "entry" in text
        found["a split barrier"] += (
            "_notify(0, 1); mine" in text or "); gasnet_barrier_notify" in text or "_try" in text
        )
    assert found["compared"] > 2 * found["proved"] > few, found
    assert found["in a loop over ranks"] and found["a split barrier"] and found["a pointer to an entry"], found


@pytest.mark.parametrize("api", [GASNET, ARMCI])
def test_entries_of_ranks_that_are_not_there_fault(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the proof has to find where that is on numbers beyond those that are checked alone."""
    entry = "(long) table[{}].addr" if api is GASNET else "(long) table[{}]"
    for rank, faulty in (("7", True), ("me - 1", True), ("n", True), ("me + n - 8", True), ("(me + 7) % n", False)):
        text = program(api, f"r = {entry.format(rank)} == 0;")
        without = parse_c(text).for_every_count()
        assert prove(without).holds != faulty, rank
        for nodes in (2, 3):
            assert check(without, nodes, effect=False).verdict == check(parse_c(text), nodes, effect=False).verdict
    monkeypatch.setattr(rank_tables, "is_a_rank", lambda rank: True)
    assert prove(parse_c(program(api, f"r = {entry.format(7)} == 0;")).for_every_count()).holds


REFUSED = {
    "pointers to two segments": (GASNET, f"if (table[0].addr == table[n - 1].addr) {FAR[GASNET]}", "two pointers"),
    "one's own and that of a rank": (ARMCI, f"if (mine == table[0]) {FAR[ARMCI]}", "two pointers point"),
    "pointers to entries": (ARMCI, f"if (&table[me] == table) {FAR[ARMCI]}", "pointer to the entry of a rank"),
    "entries one by one": (ARMCI, "for (void **p = table; p < table + n; p++) r++;", "pointer to the entry of a rank"),
    "an entry that is set": (ARMCI, f"table[0] = mine; if (n > 9) {FAR[ARMCI]}", "how large"),
    "the entry of a rank that is set": (ARMCI, "table[me] = 0; *(int *) table[me] = 1;", "not known where it points"),
    "a part of an entry": (ARMCI, "r = ((int *) table)[me];", "which entry of"),
    "a part of a pointer": (ARMCI, "r = *(short *) &table[me];", "no field"),
    "between the fields": (GASNET, "r = *(long *) ((char *) &table[me] + 4);", "no field"),
    "a table that is copied": (ARMCI, "void *c[2]; for (int i = 0; i < 2; i++) ((char *) c)[i] = ((char *) table)[i];",
                               "no field"),
    "memory of another rank": (ARMCI, "*(int *) table[(me + 1) % n] = 1;", "whose memory"),
    "memory that may be one's own": (ARMCI, "*(int *) table[0] = 1;", "whose memory"),
    "a source of another rank": (ARMCI, "ARMCI_Put(table[0], table[1], 4, 1);", "in whose memory"),
    "another rank's address": (ARMCI, "ARMCI_Put(&x, table[(me + 1) % n], 4, (me + 9) % n);", "an address of that"),
    "another node's address": (GASNET, "gasnet_put(me, table[0].addr, &x, 4);", "is an address of rank me"),
    "a table that is given back": (ARMCI, "free(table); r = table[0] == 0;", "no field"),
    "a table that nobody has filled": (ARMCI, "void **other = malloc(n * 8); r = other[me] == 0;", "no field"),
    "a table that is too short": (ARMCI, "void **o = malloc(n * 4); ARMCI_Malloc(o, 8);", "an entry for each rank"),
    "a table that some numbers exceed": (ARMCI, "void *o[64]; ARMCI_Malloc(o, 8);", "an entry for each rank"),
    "a table of some nodes": (GASNET, "gasnet_getSegmentInfo(table, n - 1);", "of which ranks"),
    "a table inside of another": (ARMCI, "ARMCI_Malloc(table + 1, 8);", "an entry for each rank"),
    "a pointer that is kept in a loop": (
        ARMCI, "int *p = mine; for (int i = 0; i < n; i++) { p = table[i]; if (x) x = 2; } ARMCI_Put(&x, p, 4, n - 1);",
        "another thing each time"),
    "sizes that differ": (ARMCI, "void **o = malloc(n * 8); ARMCI_Malloc(o, n > 9 ? 4 : 8); if (n > 9) "
                          "ARMCI_Put(&x, (int *) o[0] + 1, 4, 0);", "another"),
    "a table on some ways": (ARMCI, "void **o; if (n > 9) o = malloc(n * 8); else o = malloc(n * 16); "
                             "ARMCI_Malloc(o, 8); ARMCI_Put(&x, o[0], 4, 0);", "the size of"),
    "segments on some ways": (ARMCI, "if (me < 10) ARMCI_Malloc(table, 4);", "on some paths only"),
}  # fmt: skip


@pytest.mark.parametrize(("api", "body", "why"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_known_of_all_ranks_is_refused(api: str, body: str, why: str) -> None:
    text = program(api, body)
    with pytest.raises(SourceError, match=why):
        parse_c(text).for_every_count()
    verdict = check_every_count(parse_c(text), effect=False)
    assert verdict.verdict != "robust" and why in str((verdict.every and verdict.every.proof.obstacles[0]) or why)


def test_pointers_to_two_entries_are_not_taken_for_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """On 10 nodes they point to one place."""
    body = "if (n > 9 && me == 1 && table[(me + 9) % n] == table[n - 10]) " + FAR[ARMCI]
    text = program(ARMCI, body)
    assert check(parse_c(text), 10, effect=False).verdict == "error"
    with pytest.raises(SourceError, match="two pointers point"):
        parse_c(text).for_every_count()
    monkeypatch.setattr(arithmetic, "_may_be_one", lambda *_: False)
    assert isinstance(check(parse_c(text).for_every_count(), 10, effect=False).reason, NothingChecked)


def test_an_address_is_one_of_the_rank_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """On more than 9 nodes it is none."""
    body = "int peer = n > 9 ? 0 : 1; if (me == 0) ARMCI_Put(&x, table[1], 4, 1 + (n > 9));"
    text = program(ARMCI, body)
    with pytest.raises(SourceError, match="is an address of that process"):
        parse_c(text).for_every_count()
    with pytest.raises(SourceError, match="is an address of rank 1, not of rank 2"):
        parse_c(text).program(10)
    monkeypatch.setattr(queues, "is_owner", lambda owner, rank: True)
    assert prove(parse_c(text).for_every_count()).holds


def test_a_fence_waits_for_what_goes_to_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the name of the process; what may be another process each time is waited for with all others alone."""
    for fenced, holds in (("(me + 1) % n", True), ("(me + n - 1) % n", False)):
        text = program(ARMCI, SHIFT[ARMCI].format("((me + 1) % n)", fenced))
        assert prove(parse_c(text).for_every_count()).holds == holds
        assert (check(parse_c(text), 3, effect=False).verdict == "robust") == holds
        with monkeypatch.context() as patched:
            patched.setattr(queues, "named", lambda process: 0)
            assert prove(parse_c(text).for_every_count()).holds


def test_what_may_be_another_process_each_time_is_waited_for_with_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = "for (int i = 0; i < n; i++) {{ if ({}) {} }}"
    put = loop.format("i == 0 && me == 1", "ARMCI_Put(&x, table[i], 4, i);")
    text = program(
        ARMCI, f"{put} int peer = 1; {loop.format('i > 1', 'peer = i;')} ARMCI_Fence(peer); meet(); r = *mine;"
    )
    assert check(parse_c(text), 3, effect=False).verdict == "not robust"
    assert not prove(parse_c(text).for_every_count()).holds
    assert prove(parse_c(text.replace("ARMCI_Fence(peer)", "ARMCI_AllFence()")).for_every_count()).holds
    monkeypatch.setattr(queues, "SOMEWHERE", 7)
    monkeypatch.setattr(queues, "named", lambda process: 8)
    assert prove(parse_c(text).for_every_count()).holds


SPLIT = {
    "GASNet": (GASNET, "gasnet_barrier_notify(0, 1); {} gasnet_barrier_wait(0, 1); r = *mine;",
               "if (me == 0) gasnet_put_nbi(1, table[1].addr, &x, 4);", "gasnet_wait_syncnbi_all();"),
    "MPI": (ARMCI, "MPI_Request q; MPI_Ibarrier(MPI_COMM_WORLD, &q); {} MPI_Wait(&q, MPI_STATUS_IGNORE); r = *mine;",
            "if (me == 0) ARMCI_Put(&x, table[1], 4, 1);", "ARMCI_AllFence();"),
    "GASPI": ("// api: gaspi-1.01\n" + GASPI.split("%s", maxsplit=1)[0] + "long r = 0, x = 1, *mine = q;",
              "if (gaspi_barrier(GASPI_GROUP_ALL, GASPI_TEST) != GASPI_SUCCESS) {{ {} "
              "while (gaspi_barrier(GASPI_GROUP_ALL, GASPI_TEST) != GASPI_SUCCESS); }} r = *mine;",
              "if (me == 0) gaspi_write(0, 16, 1, 0, 0, 8, 0, GASPI_BLOCK);", "gaspi_wait(0, GASPI_BLOCK);"),
}  # fmt: skip


@pytest.mark.parametrize(("api", "barrier", "put", "wait"), SPLIT.values(), ids=SPLIT)
def test_halves_of_a_barrier(api: str, barrier: str, put: str, wait: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is complete before the first half has come before what is behind the second one, and nothing else has."""
    barrier = barrier.replace(" {} ", " x = 2; mine[1] = r; {} ")
    for body, holds in ((f"{put} {wait} {barrier.format('')}", True), (f"{put} {barrier.format(wait)}", False)):
        text = program(api, body)
        assert prove(parse_c(text).for_every_count()).holds == holds
        for nodes in (2, 3):
            verdicts = {
                check(each, nodes, effect=False).verdict for each in (parse_c(text), parse_c(text).for_every_count())
            }
            assert verdicts == {"robust" if holds else "not robust"}, (body, nodes)
    monkeypatch.setattr(split_barriers, "_await_all", lambda *_: None)
    assert prove(parse_c(text).for_every_count()).holds


@pytest.mark.parametrize("end", ["return 0;", "gasnet_exit(0);"])
def test_a_rank_that_ends_between_the_halves_of_a_barrier(end: str) -> None:
    """The others go on, and what it has put may come late."""
    put = "gasnet_put_nbi(1, table[1].addr, &x, 4); gasnet_barrier_notify(0, 1);"
    body = f"if (me == 0) {{ {put} {end} }} gasnet_barrier_notify(0, 1); gasnet_barrier_wait(0, 1); r = *mine;"
    text = program(GASNET, body)
    assert check(parse_c(text), 2, effect=False).verdict == "not robust"
    assert not prove(parse_c(text).for_every_count()).holds


def test_an_array_for_64_ranks_is_in_error_beyond() -> None:
    text = program(ARMCI.replace("void **table = calloc(n, sizeof *table);", "void *table[4];"), "r = *mine;")
    assert [pgasrob.check(parse_c(text), nodes, effect=False).verdict for nodes in (4, 5)] == ["robust", "error"]
    verdict = check_every_count(parse_c(text), effect=False)
    assert (verdict.verdict, verdict.nodes) == ("error", 5)
