"""What a violation means, against all runs one by one: outcomes, assertions that fail, places that ranks come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pgasrob.api import check
from pgasrob.frontends.lower import parse_c
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.program.reading import DEFAULT_READING, LITERAL_READING
from pgasrob.render.verdict_json import to_json
from pgasrob.robustness import effect_search as searching
from pgasrob.robustness import maximal_runs
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.load import load
from pgasrob.robustness.maximal_runs import At, End, Runs, Viewer, words_of
from pgasrob.robustness.reasons import AnyValue, EffectLimit, RunsLeftOut, ScRunsLeft, TimeLimit
from pgasrob.robustness.session import Interrupted
from pgasrob.robustness.verdict import Effect, Verdict
from pgasrob.robustness.watch import Progress
from pgasrob.runs.outcomes import Outcomes, outcomes
from pgasrob.semantics.endings import FailedAssertion, ending_of, places
from pgasrob.semantics.happens_before import HappensBefore
from pgasrob.semantics.replay import Run, replay
from pgasrob.semantics.sequential import SequentialSpace, SequentialState
from pgasrob.semantics.state_space import State, StateSpace, computation_of
from tests.oracle.effects import TooMany as TooManyStates
from tests.oracle.effects import has_effect
from tests.oracle.polls_and_updates import random_program
from tests.oracle.spinning import spinning
from tests.oracle.syntax import to_pgas
from tests.support import FURTHER, SHARING, TooMany, computations, examples, tiny_instances, translated

PROGRAMS = Path(__file__).parents[2] / "programs"
TELLING = (
    *SHARING, "assert(r == 0);", "if (r == 0) { mem[y] <- 3; }", "if (r != 0) { r <- mem[y]; } else { s <- 1; }",
    "mem[x] <- 0;", "write(y, OTHER, x, u);", "s <- mem[x];",
)  # fmt: skip
"""Commands of which violations with an outcome, with a failing assertion and with neither are made."""


def effect_of(verdict: Verdict) -> Effect:
    assert verdict.verdict == "not robust" and verdict.effect is not None
    return verdict.effect


def reached(space: Any) -> set[tuple[int, int]]:
    """The control states that ranks come to, by every path."""
    seen, stack = {space.initial}, [space.initial]
    while stack:
        for _, after in space.successors(stack.pop()):
            if after not in seen:
                seen.add(after)
                stack.append(after)
    return {at for state in seen for at in enumerate(state.control)}


def controls(run: Run) -> set[tuple[int, int]]:
    """The control states that ranks come to in ``run``."""
    at = dict.fromkeys(range(run.instance.nodes), 0)
    found = set(at.items())
    for event in run.computation:
        if not event.is_step:
            leaving = run.instance.automata[event.rank].out[at[event.rank]]
            at[event.rank] = next(edge.target for edge in leaving if edge.occurrence == event.occurrence)
            found.add((event.rank, at[event.rank]))
    return found


def failures(run: Run) -> tuple[FailedAssertion, ...]:
    failed = {
        FailedAssertion(each.event.rank, each.span.line, each.event.occurrence)
        for each in run.events
        if each.holds is False
    }
    return tuple(sorted(failed))


def failed_in(found: Outcomes, sc: bool) -> set[FailedAssertion]:
    return {each for outcome in found.outcomes if not sc or outcome.sc_runs for each in outcome.failed}


def assert_effect(verdict: Verdict, drawn: Instance) -> str:
    """What ``verdict`` says is so by all runs of ``drawn``; what it says."""
    found = outcomes(drawn)
    only_there = reached(StateSpace(drawn)) - reached(SequentialSpace(drawn))
    failing = failed_in(found, sc=False) - failed_in(found, sc=True)
    if verdict.verdict == "robust":
        assert verdict.effect is None and not found.network_only and not only_there
        return "robust"
    effect = effect_of(verdict)
    assert (effect.kind != "none") == bool(found.network_only or only_there)
    assert (effect.kind == "assertion") == bool(failing)
    assert verdict.harmless == (effect.kind == "none")
    if effect.kind == "none":
        assert effect.reason is None and effect.run is None
        return effect.kind
    assert effect.run is not None and verdict.witness is not None
    assert effect.run.cycle == HappensBefore(effect.run.run.computation).cycle is not None
    run = replay(drawn, effect.run.run.computation)
    assert run.complete
    end = (
        ending_of(drawn, run.control, run.registers, run.memory),
        tuple(place.value(run.registers, run.memory) for place in places(drawn)),
        failures(run),
    )
    assert end in {(each.ending, each.values, each.failed) for each in found.network_only} or controls(run) & only_there
    if effect.kind == "assertion":
        assert effect.assertion in failing and effect.assertion in failures(run)
    elif effect.place is not None:
        assert effect.place in controls(run) & only_there
    else:
        assert_told(effect, run, found)
    if not verdict.witness.irreducible:  # else it may be the one that was found first, which leads nowhere
        assert_goes_on(verdict.witness.run, run)
    return effect.kind


def assert_told(effect: Effect, run: Run, found: Outcomes) -> None:
    """Some outcome has what is told, and none of an SC run has; alone it is told with what SC runs have instead."""
    names = [place.name for place in found.places]
    values = {each.name: each.value for each in effect.values}
    assert (
        values.items()
        <= dict(zip(names, (place.value(run.registers, run.memory) for place in found.places), strict=True)).items()
    )
    sc = [outcome for outcome in found.outcomes if outcome.sc_runs]
    assert not any(
        values.items() <= dict(zip(names, outcome.values, strict=True)).items()
        and effect.ending in (None, outcome.ending)
        and effect.failed in (None, outcome.failed)
        for outcome in sc
    )
    if len(effect.values) == 1 and effect.ending is None and effect.failed is None:
        place = names.index(effect.values[0].name)
        assert effect.values[0].in_sc == tuple(sorted({outcome.values[place] for outcome in sc}))


def assert_goes_on(witness: Run, run: Run) -> None:
    assert run.computation[: len(witness.computation)] == witness.computation


def drawn_effect(drawn: Instance) -> str | None:
    try:
        computations(drawn, 20_000)
    except TooMany:
        return None
    return assert_effect(check(drawn.program, drawn.nodes), drawn)


@settings(max_examples=examples(30, 5_000), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data(), st.sampled_from([TELLING, TELLING, SHARING, FURTHER]))
def test_an_effect_is_told_just_where_there_is_one(data: st.DataObject, commands: tuple[str, ...]) -> None:
    drawn_effect(data.draw(tiny_instances(6, commands)))


@settings(max_examples=examples(6, 3_000), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data(), st.sampled_from([TELLING, SHARING, FURTHER]))
def test_what_is_seen_of_maximal_runs_is_what_all_of_them_show(data: st.DataObject, commands: tuple[str, ...]) -> None:
    """Those that are left out show nothing else."""
    drawn = data.draw(tiny_instances(5, commands))
    try:
        computations(drawn, 20_000)
    except TooMany:
        return
    found, viewer = outcomes(drawn), Viewer(drawn)
    for runs, space, sc in (
        (Runs.under_sc(viewer), SequentialSpace(drawn), True),
        (Runs.on_the_network(viewer), StateSpace(drawn), False),
    ):
        seen = {*runs.begin()[1], *(each[1] for each in runs.explore() if each)}  # type: ignore[attr-defined]
        assert runs.complete  # type: ignore[attr-defined]
        ends = {
            (each.ending, tuple(value for _, value in each.values), each.failed)
            for each in seen
            if isinstance(each, End)
        }
        wanted = [each for each in found.outcomes if not sc or each.sc_runs]
        assert ends == {(each.ending, each.values, each.failed) for each in wanted}
        sights = {each for each in seen if isinstance(each, At | FailedAssertion)}
        assert sights == {*reached(space), *failed_in(found, sc)}


class AllScRuns(maximal_runs._ScRuns):
    """Nothing comes first and alone."""

    def edges(self, state: SequentialState) -> Iterator[Any]:
        return iter(())


class AllNetworkRuns(maximal_runs._NetworkRuns):
    def edges(self, state: State) -> Iterator[Any]:
        return iter(())


def seen_of(runs: Runs[Any], most: int) -> set[object] | None:
    """What can be seen of ``runs``; None when there are too many."""
    seen: set[object] = set(runs.begin()[1])
    for each in runs.explore():
        if runs.states > most:
            return None
        seen |= {each[1]} if each else set()
    return seen


def assert_nothing_is_lost(instance: Instance, most: int = 2_000) -> Counter[str]:
    """Or more than ``most`` states have to be looked at for that."""
    viewer, count, sc = Viewer(instance), Counter[str](), SequentialSpace(instance)
    for few, all_runs in (
        (Runs.under_sc(viewer), Runs(viewer, AllScRuns(instance, sc, sc.standstill))),
        (Runs.on_the_network(viewer), Runs(viewer, AllNetworkRuns(instance))),
    ):
        everything = seen_of(all_runs, most)
        if everything is not None:
            assert seen_of(few, 2 * most) == everything
            count.update(tried=1, states=few.states, all=all_runs.states, loops=few._rules.has_loops)
    return count


def test_loops_put_nothing_off_for_ever() -> None:
    count = Counter[str]()
    for seed in range(examples(13, nightly=2_000)):
        reading = DEFAULT_READING if seed % 2 else LITERAL_READING
        program = translated(random_program(seed, hard=seed % 3 == 0)).program
        count += assert_nothing_is_lost(program.instantiate(None, reading))
    assert count["loops"] > count["tried"] // 3
    assert count["states"] < count["all"] // 2


@pytest.mark.parametrize(
    "text",
    [
        # what comes behind a barrier can meet a step from before it, but no command that waits before it
        "process 0 { write(one, 1, x, q); barrier; } process 1 { barrier; r <- mem[x]; }",
        "process 0 { mem[x] <- 1; barrier; r <- fetch(1, x); } process 1 { mem[x] <- 1; barrier; mem[x] <- 2; }",
        # who goes round alone must not keep the others from what they do
        "process 0 { loop { r <- mem[s]; } } process 1 { mem[x] <- 1; mem[one] <- 2; }",
        "process 0 { while (r == 0) { r <- mem[x]; } } process 1 { s <- fetch(0, x); mem[one] <- 2; }",
    ],
)
def test_barriers_and_loops(text: str) -> None:
    program = _program(f"memory one = 1, x; register r, s; queue q unordered; {text}")
    assert assert_nothing_is_lost(program.instantiate(2, LITERAL_READING))["tried"] == 2


@settings(max_examples=examples(30, 600), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(tiny_instances(4, (*SHARING, *FURTHER)))
def test_the_words_of_a_computation_give_it_back(drawn: Instance) -> None:
    try:
        found = computations(drawn, 5_000)
    except TooMany:
        return
    for computation in found:
        assert computation_of(words_of(computation)) == computation


# Programs that are told


MESSAGE = "process 0 { write(one, 1, data, u); write(one, 1, flag, u); } process 1 { await(mem[flag] == 1); COMMAND }"


def message(command: str) -> Verdict:
    text = MESSAGE.replace("COMMAND", command)
    return check(_program(f"memory one = 1, data, flag; register r; queue u unordered; {text}"), 2)


def _program(text: str) -> Any:
    return parse(f"program p; {text}")


def test_a_stale_value_in_a_register_is_an_outcome_though_nobody_uses_it() -> None:
    verdict = message("r <- mem[data];")
    effect = effect_of(verdict)
    assert effect.kind == "outcome"
    assert [(each.name, each.value, each.in_sc) for each in effect.values] == [("r@1", 0, (1,))]
    assert verdict.witness is not None and effect.run is not None
    assert_goes_on(verdict.witness.run, effect.run.run)


def test_an_assertion_comes_before_other_outcomes() -> None:
    effect = effect_of(message("r <- mem[data]; assert(r == 1);"))
    assert effect.kind == "assertion" and effect.assertion is not None
    assert (effect.assertion.rank, effect.values) == (1, ())


def test_a_branch_that_only_the_network_takes_is_an_outcome() -> None:
    """The register is set anew afterwards, and both branches leave the same."""
    effect = effect_of(message("r <- mem[data]; if (r == 0) { fence(u); } r <- 0;"))
    assert effect.kind == "outcome" and effect.place is not None and effect.place.rank == 1


def test_nothing_depends_on_which_of_two_equal_values_comes_last() -> None:
    effect = effect_of(check(load(PROGRAMS / "coherence/puts_equal_values.pgas"), 2))
    assert (effect.kind, effect.reason, effect.run) == ("none", None, None)


ROUND = """memory d, f, one = 1, w; register r, s; queue q unordered;
    process 0 { write(one, 1, d, q); write(one, 1, f, q); }
    process 1 { await(mem[f] == 1); s <- mem[d]; mem[w] <- s + 2; mem[w] <- 3; s <- 0; }
    process 2 { choose { s <- 1; goto out; } or { skip; } again: r <- fetch(1, w); if (r != 2) { goto again; }
      out: r <- 0; s <- 0; }"""


@pytest.mark.parametrize("failed_polls", ["wait", "count"])
def test_where_a_poll_that_fails_comes_to_is_no_outcome(failed_polls: Any) -> None:
    """Nor is a control state in which a rank stands before commands that it comes to elsewhere, too."""
    verdict = check(_program(ROUND), 3, failed_polls=failed_polls)
    assert (verdict.verdict, effect_of(verdict).kind, effect_of(verdict).reason) == ("not robust", "none", None)


def test_where_only_the_network_leaves_a_loop_is_an_outcome() -> None:
    effect = effect_of(check(_program(ROUND.replace("out: r <- 0; s <- 0;", "fence(q); out: r <- 0; s <- 0;")), 3))
    assert (effect.kind, effect.place is not None and effect.place.rank) == ("outcome", 2)


def test_a_fault_is_an_outcome_though_another_rank_goes_on_for_ever() -> None:
    text = "memory x, f, one = 1, y, z; register r; queue q unordered;"
    text += "process 0 { write(one, 1, x, q); write(one, 1, f, q); }"
    divides = "process 1 { await(mem[f] == 1); r <- mem[x]; mem[y] <- 10 / r; r <- 0; }"
    effect = effect_of(check(_program(f"{text} {divides} process 2 {{ while (1) {{ mem[z] <- 1; }} }}"), 3))
    assert (effect.kind, effect.ending) == ("outcome", "fault")


# Ends that stay ends

SENT = "memory x, y, f, one = 1; register a, b; queue q unordered; process 0 { a <- mem[x]; "
SENT += "write(one, 1, x + a, q); write(one, 1, y + a, q); put(one, 1, f, q); }"
"""The places that process 0 writes to are not known, so that no cell is a flag."""


@pytest.mark.parametrize("condition", ["a + b < 2", "a + b != 2", "a + b + a < 3"])
def test_a_poll_that_fails_for_now_is_no_end(condition: str) -> None:
    """The read of x that gave 0 is an event, and that of y fails whatever it gives: nothing but a read that fails is
    left, but the rank goes round and gets out."""
    text = f"{SENT} process 1 {{ await(mem[f] == 1); while ({condition}) {{ a <- mem[x]; b <- mem[y]; }} a <- 0; }}"
    verdict = check(_program(text), 2)
    assert verdict.verdict == "not robust"
    assert (effect_of(verdict).kind, effect_of(verdict).reason) == ("none", None)


def test_where_a_read_leads_that_never_fails_is_an_outcome() -> None:
    """It has a condition by which it would fail, but no value satisfies that; the fence is in the loop."""
    inside = "if (a * 2 == 1) { goto again; } if (a == 0) { b <- b + 1; fence(q); if (b < 2) { goto again; } }"
    text = f"{SENT} process 1 {{ await(mem[f] == 1); again: a <- mem[x]; {inside} a <- 0; b <- 0; }}"
    program = _program(text).instantiate(2)
    (read,) = (edge for edge in program.automata[1].transitions if edge.command.kind == "load")
    assert read.form.until is not None
    effect = effect_of(check(program.program, 2))
    assert (effect.kind, effect.place is not None and effect.place.rank) == ("outcome", 1)


@pytest.mark.parametrize(
    ("loop", "kind"),
    [
        ("while (a == 0) { a <- fetch(1, x); }", "none"),
        ("while (a != 2) { a <- fetch(1, x); }", "none"),  # in SC runs, too
        ("a <- fetch(1, x); while (a == 0) { b <- fetch(1, x); }", "outcome"),
        ("a <- fetch(1, x); b <- 1; while (b != a) { b <- compare_swap(1, y, 7, 8); }", "outcome"),
        ("a <- fetch(1, x); b <- 5; while (b != a) { b <- swap(1, y, 1); }", "outcome"),  # by its end alone
        ("a <- fetch(1, x); b <- 5; while (a == 0) { b <- swap(1, x, 0); }", "outcome"),
    ],
)
def test_a_rank_that_goes_round_for_ever_is_an_end(loop: str, kind: str) -> None:
    text = "memory x, y = 1, f, one = 1; register a, b; queue q unordered; process 0 { put(one, 1, x, q);"
    text += f"put(one, 1, f, q); }} process 1 {{ await(mem[f] == 1); {loop} a <- 0; b <- 0; }}"
    verdict = check(_program(text), 2)
    assert (verdict.verdict == "not robust") >= (kind == "outcome")
    if verdict.verdict == "not robust":
        assert (effect_of(verdict).kind, effect_of(verdict).reason) == (kind, None)


C_MESSAGE = """#include <shmem.h>
#include <stdio.h>
static int data, flag, copy;
int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        shmem_int_p(&data, VALUE, 1);
        shmem_int_p(&flag, 1, 1);
    } else {
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
        COMMAND
    }
    shmem_finalize();
    return 0;
}
"""


GATHERS = """memory d, f, x, y, z, one = 1; register r, s, t; queue q unordered;
    process 0 { put(one, 1, d, q); put(one, 1, f, q); }
    process 1 { await(mem[f] == 1); r <- mem[d]; if (r) { put(one, 2, y, q); } r <- 0; put(one, 2, z, q); }
    process 2 { while (!(s && t)) { if (!s) { s <- mem[y]; } if (!t) { t <- mem[z]; } } s <- 0; t <- 0; }"""


def test_a_rank_that_never_sees_one_of_the_flags_that_it_gathers_is_an_end() -> None:
    """It stands before the flag that is looked at first, whichever of them it has seen, and is stuck there."""
    program = _program(GATHERS)
    assert any((until := getattr(form, "until", None)) and until.gathers for form in program.instantiate(3).forms)
    effect = effect_of(check(program, 3))
    assert (effect.kind, effect.ending) == ("outcome", "deadlock")


def test_where_a_rank_looks_meanwhile_is_no_new_place() -> None:
    """Rank 2 comes to the second look of a round in SC runs, too, where the first flag is not there yet."""
    text = GATHERS.replace("if (r) {", "if (1) {")
    effect = effect_of(check(_program(text), 3))
    assert (effect.kind, effect.place) == ("none", None)


@pytest.mark.parametrize(
    ("command", "number", "kind"),
    [
        ('printf("%d\\n", data);', 7, "outcome"),
        ('printf("%d\\n", data);', 0, "none"),  # what is there already
        ("int seen = data; if (seen == 0) shmem_int_p(&copy, 1, 0);", 7, "outcome"),
        ("copy = data;", 7, "outcome"),  # at the end the copy is another one
        ('copy = data; printf("%d\\n", copy);', 7, "outcome"),
    ],
)
def test_in_c_what_is_read_counts_and_what_is_left(command: str, number: int, kind: str) -> None:
    text = C_MESSAGE.replace("COMMAND", command).replace("VALUE", str(number))
    effect = effect_of(check(parse_c(text), 2))
    assert (effect.kind, effect.reason) == (kind, None)
    if kind == "outcome" and effect.values:
        (value,) = effect.values
        assert (value.rank, value.value, value.in_sc) == (1, 0, (7,))
        assert (value.occurrence is None) == (command == "copy = data;")


def test_in_c_no_violation_is_harmless_where_memory_holds_unknown_values() -> None:
    """The late put may bring any value, and what was there before is another one in most runs."""
    text = C_MESSAGE.replace("VALUE", "rand()").replace("COMMAND", 'printf("%d\\n", data);')
    effect = effect_of(check(parse_c(text), 2))
    assert effect.kind == "none found" and isinstance(effect.reason, AnyValue) and "data" in effect.reason.objects


def test_in_c_memory_counts_that_is_not_given_back() -> None:
    """The two puts may come in either order: at the end one or the other is there, and nobody reads it."""
    text = C_MESSAGE.replace("VALUE", "7").replace("COMMAND", "shmem_int_p(&data, 2, 1);")
    effect = effect_of(check(parse_c(text), 2))
    assert (effect.kind, effect.reason) == ("outcome", None)
    assert [(value.name, value.value, value.in_sc) for value in effect.values] == [("data@1", 7, (2,))]
    local = C_MESSAGE.replace("VALUE", "7").replace("COMMAND", "keep();")
    local = local.replace("int main", "static void keep(void) { int seen[2], *at = seen; at[1] = data; }\nint main")
    effect = effect_of(check(parse_c(local), 2))
    assert (effect.kind, effect.reason) == ("none", None)


def test_a_run_that_stays_in_a_wrong_guess_is_no_outcome() -> None:
    effect = effect_of(check(load(PROGRAMS / "c/openshmem/signal_numbers.c"), 2))
    assert (effect.kind, effect.values, effect.ending) == ("outcome", (), "deadlock")


def test_the_witness_is_one_that_changes_an_outcome() -> None:
    """The one that the engine finds first does not."""
    verdict = check(load(PROGRAMS / "completion/fence_then_barrier.pgas"), 2)
    effect = effect_of(verdict)
    assert verdict.witness is not None and effect.run is not None
    assert [(each.name, each.value) for each in effect.values] == [("r@1", 0)]
    assert_goes_on(verdict.witness.run, effect.run.run)
    assert verdict.witness.cycle and verdict.witness.sequential


# Limits


def test_a_loop_that_never_ends_leaves_it_open() -> None:
    effect = effect_of(check(load(PROGRAMS / "self_read/read_loop.pgas"), 1, limits=Limits(max_sc_states=2_000)))
    assert effect.kind == "none found" and isinstance(effect.reason, EffectLimit)


def test_nothing_is_claimed_where_not_all_sc_runs_were_seen() -> None:
    verdict = check(load(PROGRAMS / "store_buffering/store_buffering.pgas"), 2, limits=Limits(max_sc_states=5))
    effect = effect_of(verdict)
    assert (effect.kind, effect.reason) == ("none found", ScRunsLeft(EffectLimit(5)))


def test_a_program_with_gaps_has_runs_that_nobody_sees() -> None:
    text = C_MESSAGE.replace("VALUE", "7").replace("COMMAND", 'printf("%d", data);')
    program = parse_c(text)
    lowered = program.program(2)
    object.__setattr__(lowered, "gaps", ("line 3: something",))
    effect = effect_of(check(program, 2))
    assert (effect.kind, effect.reason) == ("none found", ScRunsLeft(RunsLeftOut(("line 3: something",))))


def test_it_ends_without_any_limit() -> None:
    program = load(PROGRAMS / "one_to_one" / "one_to_one.pgas")
    limits = Limits(max_states=None, timeout=None, memory=None, max_sc_states=None)
    assert effect_of(check(program, limits=limits)).kind == effect_of(check(program)).kind


def test_what_ends_the_check_ends_the_search_for_outcomes(monkeypatch: pytest.MonkeyPatch) -> None:
    program = load(PROGRAMS / "store_buffering/store_buffering.pgas")
    seen: list[str] = []

    def stop(told: Progress) -> None:
        seen.append(told.phase)
        if told.phase == "outcomes":
            raise KeyboardInterrupt

    monkeypatch.setattr("pgasrob.robustness.watch.LOOK_AROUND", 0)
    with pytest.raises(Interrupted) as interrupted:
        check(program, 2, progress=stop)
    assert seen[-1] == "outcomes"
    assert interrupted.value.verdict.verdict == "not robust"
    assert effect_of(interrupted.value.verdict).kind == "none found"
    assert not interrupted.value.verdict.harmless
    assert not to_json(interrupted.value.verdict)["effect_detail"]["exhaustive"]  # type: ignore[index]
    timed_out = check(program, 2, limits=Limits(timeout=1e-9))
    assert timed_out.effect is None or isinstance(timed_out.effect.reason, TimeLimit)


def test_a_run_that_shows_nothing_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The replay has the last word."""
    program = load(PROGRAMS / "store_buffering/store_buffering.pgas")

    def liar(self: searching.EffectSearch, witness: Any) -> Iterable[None]:
        self._network = Runs.on_the_network(self._viewer)
        return ()  # the run in which nothing happens
        yield

    monkeypatch.setattr(searching.EffectSearch, "_continuation_of", liar)
    effect = effect_of(check(program, 2))
    assert effect.kind == "none found" and effect.reason is not None and effect.reason.code == "internal-error"


# Against all runs and their ends, from the definition


def compared_effect(seed: int) -> Counter[str]:
    source = spinning(seed, ("look", "assert", "exit"), most_ranks=2)
    verdict = check(parse(to_pgas(source)), source.nodes, limits=Limits(max_states=20_000), waits="value")
    if verdict.verdict != "not robust" or effect_of(verdict).reason is not None:
        return Counter(left_out=1)
    try:
        effect, _, network = has_effect(source)
    except TooManyStates:
        return Counter(left_out=1)
    assert (effect_of(verdict).kind == "outcome") == effect, seed
    spins = any("spins" in end.ranks for end in network.outcomes)
    return Counter(compared=1, effect=effect, spins=spins, spins_without_effect=spins and not effect)


SEEDS = (273, 605, 622, 883, 1075, 1076, 1154, 1304, 1307, 1308, 1395, 1679, 1739, 1931, 2019, 2093, 2123, 2239, 2473)
"""Programs that are not robust. In 1739 a rank spins, another one polls, and its read of x came before the write."""


def test_effects_of_programs_that_spin_are_those_of_the_oracle() -> None:
    seen: Counter[str] = sum(map(compared_effect, (*SEEDS, *range(4_000, examples(4_000, nightly=40_000)))), Counter())
    assert seen["compared"] >= len(SEEDS)
    assert min(seen["effect"], seen["spins"], seen["spins_without_effect"]) >= 6, seen
