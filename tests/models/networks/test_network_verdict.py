"""Programs with loops on RDMA-TSO (`programs/rdma_loops`): each has the verdict that was worked out by hand, and the
search over runs, which has a bound for pending operations, leaves 13 of 46 open."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from pgasrob.frontends.lower import parse_c
from pgasrob.models.litmus.litmus_program import Program
from pgasrob.models.networks import network_verdict
from pgasrob.models.networks.network_verdict import NetworkVerdict, verdicts
from pgasrob.models.networks.robustness import by_runs
from pgasrob.models.rdma_tso import RdmaTso
from pgasrob.program.expectation import Expectation, read_expectation
from pgasrob.robustness.check import nothing_known
from pgasrob.robustness.free_ways import has_free_ways
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import ProgramFile, Question, RobustnessOnNetwork
from pgasrob.robustness.reasons import PendingBound, Reason, RunsLeftOut, ValuesSetFree
from pgasrob.robustness.watch import Watch

FILES = sorted((Path(__file__).parents[3] / "programs" / "rdma_loops").iterdir())
STOCK = RobustnessOnNetwork("rdma-tso")
VARIANTS = (
    STOCK,
    RobustnessOnNetwork("rdma-tso", placed=True),
    RobustnessOnNetwork("rdma-tso", pcie=False),
)
OPEN = {
    "copy_rfence", "endless_puts", "flag_taken_back_mfence", "gets_two_rfences", "many_puts_behind",
    "source_reused_poll", "two_sources",
    "loop_captured_puts", "loop_endless_puts", "loop_gets_wait", "loop_source_reused_wait", "loop_two_sources",
    "loop_unordered_puts",
}  # fmt: skip
"""Programs in which more operations may be pending than the search over runs follows."""
QUICK = {"endless_puts", "flag_taken_back_mfence", "many_puts_behind", "loop_endless_puts", "loop_unordered_puts"}


def expectation_in(path: Path) -> Expectation:
    expectation = read_expectation(path.read_text(), str(path))
    assert expectation is not None
    return expectation


def decided(paths: list[Path], asked: RobustnessOnNetwork) -> list[NetworkVerdict]:
    return list(verdicts([str(path) for path in paths], Question(ProgramFile(""), asked=asked), expect=True))


def states_in(paths: list[Path], asked: RobustnessOnNetwork) -> int:
    """The states of ``paths`` together, each of which has the verdict that it states: for this variant, or for the
    model as in its paper where it states nothing for this one."""
    found = decided(paths, asked)
    for path, verdict in zip(paths, found, strict=True):
        wanted = verdict.expected or expectation_in(path).network_at(STOCK.line, None)
        assert wanted is not None and (verdict.verdict, verdict.reason) == (wanted, None), path.name
    return sum(verdict.states for verdict in found)


def test_there_are_thirty_litmus_tests_and_sixteen_programs_of_ranks() -> None:
    assert [sum(path.suffix == suffix for path in FILES) for suffix in (".litmus", ".pgas")] == [30, 16]
    robust = [expectation_in(path).network_at(STOCK.line, None) for path in FILES]
    assert [robust.count(each) for each in ("robust", "not robust", "refused")] == [24, 21, 1]


@pytest.mark.parametrize(
    ("asked", "files", "states"), [*zip(VARIANTS, (46, 7, 5), (17_842, 3_915, 2_735), strict=True)]
)
def test_programs_with_loops_have_the_verdicts_that_they_state(
    asked: RobustnessOnNetwork, files: int, states: int
) -> None:
    stated = [path for path in FILES if expectation_in(path).network_at(asked.line, None) is not None]
    assert (len(stated), states_in(stated, asked)) == (files, states)


@pytest.mark.nightly
@pytest.mark.parametrize(("asked", "states"), [*zip(VARIANTS[1:], (19_136, 10_855), strict=True)])
def test_variants_that_are_not_stated_are_as_in_the_paper(asked: RobustnessOnNetwork, states: int) -> None:
    assert states_in(FILES, asked) == states


def bounded_search(program: Program) -> str:
    """The verdict of the search over runs, of threads that may end behind each command."""
    found = by_runs(RdmaTso().machine(program.everywhere), Watch(Limits(timeout=600), None, time.monotonic()))
    assert found.reason in (None, PendingBound(16))
    return "not robust" if found.violation else "unknown" if found.reason else "robust"


def bounded_verdicts(paths: list[Path]) -> dict[str, str]:
    programs = {path.stem: one.program for path, one in zip(paths, decided(paths, STOCK), strict=True)}
    return {name: bounded_search(program) for name, program in programs.items() if program is not None}


def test_the_search_with_a_bound_leaves_some_open() -> None:
    found = bounded_verdicts([path for path in FILES if path.stem in QUICK])
    assert found == dict.fromkeys(sorted(QUICK), "unknown")


@pytest.mark.nightly
def test_the_search_with_a_bound_says_the_same_where_it_ends() -> None:
    found = bounded_verdicts(FILES)
    assert {name for name, verdict in found.items() if verdict == "unknown"} == OPEN
    for path in FILES:
        wanted = expectation_in(path).network_at(STOCK.line, None)
        assert found.get(path.stem, "refused") in (wanted, "unknown")


# C programs of which not all runs are known, or in whose place there are more

C_PROGRAM = """#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
static int x, y, source;
int main(void) {
    shmem_init();
    int me = shmem_my_pe(), n = 0;
    if (me == 0) x = rand() % 1000 + 100;
    if (me == 2) shmem_int_atomic_add(&x, 1, 0);
    BODY
}
"""
GAP = 'if (scanf("%d", &n) != 1) n = 3; n = 7 / (n * n - n - 13); if (me == 0) shmem_int_p(&y, n, 1);'
TWO_LOOKS = """if (me == 1) {
    int k = shmem_int_g(&x, 0), again = shmem_int_g(&x, 0);
    if (k > 500) shmem_int_put_nbi(&y, &source, 1, 2);
    if (again < 50) CHANGE
}"""
CHANGE = "source = 1;"
REUSE_BY_RANK_0 = " if (me == 0) { shmem_int_put_nbi(&y, &source, 1, 1); source = 1; }"


@pytest.mark.parametrize(
    ("body", "verdict", "reason", "free"),
    [
        (GAP, "unknown", RunsLeftOut, False),
        (GAP + REUSE_BY_RANK_0, "not robust", None, False),
        (TWO_LOOKS.replace("CHANGE", ";"), "robust", None, True),
        (TWO_LOOKS.replace("CHANGE", CHANGE), "unknown", ValuesSetFree, True),
        (TWO_LOOKS.replace("CHANGE", ";") + REUSE_BY_RANK_0, "not robust", None, True),
    ],
)
def test_runs_that_may_be_none_of_a_c_program_show_nothing_and_missing_ones_leave_it_open(
    tmp_path: Path, body: str, verdict: str, reason: type[Reason] | None, free: bool
) -> None:
    """In two looks at one value it does not get smaller, which no translation knows. (With --glob the atomic of rank 2
    is robust beside the store.)"""
    file = tmp_path / "test.c"
    file.write_text(C_PROGRAM.replace("BODY", body))
    asked = RobustnessOnNetwork("rdma-tso", glob=True)
    (found,) = verdicts([str(file)], Question(ProgramFile(""), nodes=3, asked=asked), nodes=[3])
    assert (found.verdict, type(found.reason)) == (verdict, reason or type(None))
    assert has_free_ways(parse_c(file.read_text(), "test.c").program(3).instantiate()) == free


@pytest.mark.parametrize(("body", "assertions"), [(GAP, "unknown"), ("", "hold")])
def test_assertions_of_a_program_with_missing_runs_are_left_open(tmp_path: Path, body: str, assertions: str) -> None:
    file = tmp_path / "test.c"
    text = C_PROGRAM.replace("BODY", f"{body} if (me == 1) assert(y != 6);{REUSE_BY_RANK_0}")
    file.write_text("#include <assert.h>\n" + text)
    (found,) = verdicts([str(file)], Question(ProgramFile(""), asked=STOCK), nodes=[3])
    assert (found.verdict, found.reason, found.assertions) == ("not robust", None, assertions)


def ranks_in(tmp_path: Path, *blocks: str) -> NetworkVerdict:
    file = tmp_path / "ranks.pgas"
    head = f"program ranks;\nnodes {len(blocks)};\nmemory x, y, z;\nregister r, s;\nqueue q;\n"
    file.write_text(head + "".join(f"process {rank} {{ {block} }}\n" for rank, block in enumerate(blocks)))
    (found,) = verdicts([str(file)], Question(ProgramFile(""), asked=STOCK))
    return found


def test_a_fault_in_the_search_for_an_assertion_leaves_the_verdict(tmp_path: Path) -> None:
    found = ranks_in(
        tmp_path, "loop { write(x, 1, y, q); mem[x] <- 1; }", "r <- mem[y]; s <- mem[y]; assert(1 / r + 1);"
    )
    assert (found.verdict, found.assertions, found.refusals) == ("not robust", "unknown", ())


def test_a_run_of_many_ranks_is_found_in_normal_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An execution is a violation; all runs up to it are too many."""
    blocks = [f"write(x, {(rank + 1) % 3}, y, q); mem[x] <- 1; r <- mem[y];" for rank in range(3)]
    in_all_runs = ranks_in(tmp_path, *blocks)
    monkeypatch.setattr(network_verdict, "MOST_FOR_A_RUN", 50)
    found = ranks_in(tmp_path, *blocks)
    assert found.verdict == in_all_runs.verdict == "not robust"
    for each in (found, in_all_runs):
        assert each.violation is not None and each.violation.execution.order and each.violation.cycle
    assert found.states < in_all_runs.states


def test_a_limit_before_assertions_are_looked_at_leaves_them_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "fails.pgas"
    file.write_text("program fails;\nnodes 2;\nmemory x;\nprocess 0 { assert(0 == 1); }\nprocess 1 { }\n")

    for known in ("violated", "unknown"):
        (found,) = verdicts([str(file)], Question(ProgramFile(""), asked=STOCK))
        assert (found.verdict, found.assertions) == ("robust", known)
        monkeypatch.setattr(network_verdict, "check", lambda session: nothing_known(session.question))
