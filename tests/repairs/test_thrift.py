"""What can be left out: against all sets of savings, and what has to stay."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path

from pgasrob.api import check
from pgasrob.frontends.lower import parse_c
from pgasrob.program.parser import parse
from pgasrob.repairs.candidates import Costs
from pgasrob.repairs.edits import applied
from pgasrob.repairs.savings import Saving, savings
from pgasrob.repairs.source_statements import Statements
from pgasrob.repairs.thrift import Thrift, thrift
from pgasrob.robustness.load import load
from pgasrob.semantics.sequential import SequentialSpace
from tests.oracle.polls_and_updates import random_program
from tests.support import examples, translated

PROGRAMS = Path(__file__).parents[2] / "programs"

HALO = """#include <assert.h>
#include <shmem.h>

static long field[4];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    int left = (me + n - 1) % n, right = (me + 1) % n;
    field[1] = me + 1;
    field[2] = 10 * (me + 1);
    shmem_barrier_all();
    shmem_long_put_nbi(&field[3], &field[1], 1, left);
    shmem_quiet();
    shmem_long_put_nbi(&field[0], &field[2], 1, right);
    shmem_quiet();
    shmem_barrier_all();
    shmem_barrier_all();
    assert(field[3] == right + 1 && field[0] == 10 * (left + 1));
    shmem_finalize();
    return 0;
}
"""


def thrifty(text: str, nodes: tuple[int, ...] = (2,)) -> Thrift:
    return thrift(parse_c(text), parse_c, nodes)


def told(found: Thrift) -> list[tuple[int, str, str]]:
    return [(each.line, each.call.partition("(")[0], each.instead.partition("(")[0]) for each in found.together]


def test_a_halo_with_too_much_comes_back_to_the_thrifty_one() -> None:
    """A wait after every put, and two barriers too many."""
    found = thrifty(HALO, (2, 3))
    assert (found.state, found.most, found.saved) == ("can save", True, 4 + 4 + 12 + 12)
    lines = HALO.splitlines(keepends=True)
    thin = [line for number, line in enumerate(lines, 1) if number not in (13, 15, 17, 18)]
    assert found.after == "".join(thin)
    assert thrifty(found.after, (2, 3)).state == "thrifty"


def test_a_put_whose_source_is_used_again_stays_blocking() -> None:
    text = """#include <shmem.h>
long x, y;
int main(void) {
  long local = 1;
  shmem_init();
  int other = 1 - shmem_my_pe();
  shmem_long_put(&x, &local, 1, other);
  local = 2;
  shmem_long_put(&y, &local, 1, other);
  shmem_barrier_all();
  return x + y;
}
"""
    found = thrifty(text)
    [first, second] = [each for each in found.judged if each.saving.instead.startswith("shmem_long_put_nbi")]
    assert not first.is_safe and first.tried.violation is not None
    assert second.is_safe and told(found) == [(9, "shmem_long_put", "shmem_long_put_nbi")]


def test_a_barrier_that_keeps_a_result_deterministic_stays() -> None:
    """Without it the program is as robust, but in SC runs either put may be the last."""
    text = """memory x; queue q; register r;
process 0 { write(one, 1, x, q); wait(q); barrier; }
process 1 { barrier; mem[x] <- 2; }
""".replace("memory x", "memory x, one = 1")
    found = thrift(parse(text), parse, (2,))
    kept = {each.saving.call: each for each in found.judged if each.saving.call == "barrier"}
    assert found.state == "thrifty" and "barrier" in kept
    alone = applied(
        text, [edit for each in found.judged if each.saving.call == "barrier" for edit in each.saving.edits]
    )
    assert check(parse(alone), 2).verdict == "robust"


def test_a_barrier_that_keeps_what_is_read_deterministic_stays() -> None:
    """What is printed is in no cell; in `.pgas` registers are part of how a run ends."""
    text = """#include <shmem.h>
#include <stdio.h>
static long x;
int main(void) {
  shmem_init();
  if (shmem_my_pe() == 0) x = 1;
  shmem_barrier_all();
  if (shmem_my_pe() == 1) printf("%ld", shmem_long_g(&x, 0));
  shmem_finalize();
  return 0;
}
"""
    assert told(thrifty(text)) == [(7, "shmem_barrier_all", "shmem_sync_all")]
    pgas = "memory x; register r; process { if (me == 0) { mem[x] <- 1; } barrier; if (me == 1) { r <- fetch(0, x); } }"
    assert thrift(parse(pgas), parse, (2,)).state == "thrifty"


def test_nothing_else_goes_with_a_call() -> None:
    """Neither what a comma or a function brings along, nor the statement that a label has to have."""
    text = """#include <shmem.h>
#include <stdio.h>
static int calls;
static void f(void) { calls++; }
static int g(void) { return calls++; }
#define ALSO(call) do { call; } while (0)
int main(void) {
  shmem_init();
  shmem_quiet(), f();
  ALSO(shmem_quiet());
  if (g()) here: shmem_quiet();
  shmem_quiet(/* ( */) /* ; */;
  switch (g()) { case 0: break; case 1: shmem_quiet(); }
  puts(")");
end:
  shmem_quiet();
}
"""
    expected = """  shmem_init();
  shmem_fence(), f();
  if (g()) here: ;
  switch (g()) { case 0: break; case 1: ; }
  puts(")");
end:
  ;
}
"""
    assert thrifty(text).after.split("int main(void) {\n")[1] == expected
    gaspi = """#include <GASPI.h>
static void check(gaspi_return_t result) { (void) result; }
int main(void) { gaspi_proc_init(GASPI_BLOCK); check(gaspi_wait(0, GASPI_BLOCK)); return 0; }
"""
    assert thrifty(gaspi).judged == ()


def test_barriers_between_collective_calls_with_a_psync_stay() -> None:
    text = """#include <shmem.h>
static long s, d, sync[SHMEM_BCAST_SYNC_SIZE];
int main(void) {
  shmem_init();
  for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; i++) sync[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  shmem_broadcast64(&d, &s, 1, 0, 0, 0, 2, sync);
  shmem_finalize();
}
"""
    assert told(thrifty(text)) == [(6, "shmem_barrier_all", "shmem_sync_all")]


def test_what_is_not_robust_is_not_made_thrifty() -> None:
    path = PROGRAMS / "one_to_one/one_to_one.pgas"
    found = thrift(load(path), partial(parse, file=str(path)), (2,))
    assert (found.state, found.judged, found.checks) == ("not robust", (), 0)


def test_every_call_is_found_in_macros_that_check_it() -> None:
    path = PROGRAMS / "c/gaspi/gaspi_notify_after_wait.c"
    text = path.read_text() if path.exists() else (PROGRAMS / "c/gaspi/gaspi_one_to_one_notify.c").read_text()
    found = [each.call for each in savings(Statements.of(parse_c(text)), Costs())]
    assert "gaspi_wait(0, GASPI_BLOCK)" in found


def ends(text: str) -> frozenset[object]:
    """How the SC runs of ``text`` end: control states are left out, for commands are."""
    instance = parse(text).instantiate()
    space = SequentialSpace(instance)
    seen, stack, found = {space.initial}, [space.initial], set()
    while stack:
        state = stack.pop()
        moves = [after for _, after in space.successors(state)]
        if not moves:
            done = not any(automaton.out[at] for automaton, at in zip(instance.automata, state.control, strict=True))
            found.add((done, state.memory, state.registers))
        for after in moves:
            if after not in seen:
                seen.add(after)
                stack.append(after)
    return frozenset(found)


def test_no_set_saves_more() -> None:
    counts: Counter[str] = Counter()
    for seed in range(examples(50, 4_000)):
        program = translated(random_program(8_000_000 + seed, hard=seed % 3 == 0)).program
        text = program.source.text
        all_savings: list[Saving] = list(savings(Statements.of(program), Costs()))
        if not all_savings or len(all_savings) > 7 or check(program).verdict != "robust":
            continue
        found = thrift(program, parse, (program.nodes or 2,))
        counts[found.state] += 1
        assert found.most and found.saved == sum(each.saves for each in found.together)
        counts["together"] += len(found.together) > 1
        before = ends(text)
        facts = check(program)
        for size in range(1, len(all_savings) + 1):
            for chosen in combinations(all_savings, size):
                saves = sum(each.saves for each in chosen)
                if saves <= found.saved and set(chosen) != set(found.together):
                    continue
                edits = sorted({edit for each in chosen for edit in each.edits})
                if any(one.end > other.start for one, other in pairwise(edits)):
                    continue
                verdict = check(parse(applied(text, edits)), engine="attack")
                worse = facts.deadlock != verdict.deadlock or (
                    verdict.assertions == "violated" and facts.assertions != "violated"
                )
                good = verdict.verdict == "robust" and not worse and ends(applied(text, edits)) == before
                if set(chosen) == set(found.together):
                    assert good, seed
                elif good and not verdict.polls and facts.polls == verdict.polls:
                    raise AssertionError((seed, [(each.line, each.call, each.instead) for each in chosen]))
                counts["sets"] += 1
    assert counts["can save"] >= examples(4, 400) and counts["thrifty"] >= examples(1, 100), counts
    assert counts["together"] >= examples(1, 100), counts


def test_what_a_function_has_read_counts_though_its_variables_are_gone_at_the_end() -> None:
    text = """#include <shmem.h>
static long x;
static int wrong(void) { long got; shmem_long_get(&got, &x, 1, 0); return got != 1; }
int main(void) {
  shmem_init();
  if (shmem_my_pe() == 0) { shmem_long_p(&x, 1, 0); shmem_quiet(); }
  shmem_barrier_all();
  return shmem_my_pe() == 1 && wrong();
}
"""
    [barrier] = [
        each for each in thrifty(text).judged if each.saving.call == "shmem_barrier_all()" and not each.saving.instead
    ]
    assert barrier.tried.why == "on 2 nodes SC runs end or read otherwise than before"
