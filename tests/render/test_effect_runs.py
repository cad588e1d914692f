"""The run that is shown ends in the effect that is told: replayed, over the corpus."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgasrob.batch.job import Checked, Job, find_programs
from pgasrob.render import words
from pgasrob.render.effect_runs import clause
from pgasrob.render.lines import plain
from pgasrob.render.result_report import report
from pgasrob.render.run_json import Witness
from pgasrob.render.sarif import findings
from pgasrob.render.verdict_json import Result, to_json
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import Synchronisation
from pgasrob.robustness.verdict import Verdict
from pgasrob.semantics.endings import ending_of
from pgasrob.semantics.replay import Run, replay
from tests.support import check_all, sampled

ROOT = Path(__file__).parents[2]
PROGRAMS = [Path(file) for file in find_programs([str(ROOT / "programs")])[0]]


@pytest.fixture(scope="module")
def effects() -> list[Checked]:
    """The violations of the corpus with an effect, of one program in 80; with --nightly of all."""
    job = Job(asked=Synchronisation(), limits=Limits(timeout=60))
    checked = check_all([str(path) for path in sampled(PROGRAMS, 80)], job)
    return [each for each in checked if each.verdict.effect and each.verdict.effect.run]


def shown_run(verdict: Verdict, shown: Witness) -> Run:
    """The run that is shown, replayed by the semantics: that of the effect, or the violation."""
    assert verdict.effect and verdict.effect.run and verdict.witness
    runs = (verdict.effect.run.run, verdict.witness.run)
    run = next(each for each in runs if len(each.computation) == len(shown["computation"]))
    again = replay(run.instance, run.computation)
    assert [(each.event.kind, each.read) for each in again.events] == [
        (each["event"], each["read"]) for each in shown["computation"]
    ]
    return again


def ends_in(verdict: Verdict, run: Run) -> bool:
    """Whether the effect of ``verdict`` is to be seen in ``run``, from its events and its end alone."""
    effect, instance = verdict.effect, run.instance
    assert effect is not None
    failed = {(each.event.rank, each.span.line) for each in run.events if each.holds is False}
    if effect.assertion is not None:
        return (effect.assertion.rank, effect.assertion.line) in failed
    if effect.place is not None:
        return run.control[effect.place.rank] == effect.place.control or any(
            each.event.rank == effect.place.rank for each in run.events
        )
    for value in effect.values:
        if value.occurrence is None:
            name, _, at = value.name.rpartition("@")
            if name in instance.program.registers:
                process = int(at) if at.isdecimal() else instance.process_named(at)
                held = run.registers[process][instance.program.registers.index(name)]
            else:
                held = next(
                    run.memory[cell] for cell in range(len(run.memory)) if instance.cell_name(cell) == value.name
                )
        else:
            held = [
                each.read
                for each in run.events
                if (each.event.rank, each.event.occurrence) == (value.rank, value.occurrence) and each.read is not None
            ][-1]
        if held != value.value:
            return False
    broken = {(each.rank, each.line) for each in effect.failed or ()}
    if effect.failed is not None and broken != failed:
        return False
    return effect.ending is None or ending_of(instance, run.control, run.registers, run.memory) == effect.ending


def first_run(result: Result) -> Witness:
    return next(run for _, run in words.runs(result))


def test_the_run_that_comes_first_ends_in_the_effect(effects: list[Checked]) -> None:
    assert effects
    for each in effects:
        result = to_json(each.verdict)
        detail = result.get("effect_detail")
        assert detail is not None
        shown = first_run(result)
        assert ends_in(each.verdict, shown_run(each.verdict, shown)), each.file
        seen = clause(detail)
        assert seen in words.title(shown)
        whole = " ".join(plain(report(result)).split())
        assert f"in which {seen}:" in whole
        for place in (shown.get("effect") or {"places": []})["places"]:
            assert place < len(shown["computation"])
        (violation,) = [each for each in findings(result) if each["ruleId"] == "not-robust"]
        (flow,) = violation["codeFlows"][0]["threadFlows"]
        assert len(flow["locations"]) == len(shown["computation"])


def test_where_it_does_not_go_on_from_the_violation_both_are_shown() -> None:
    (checked,) = check_all([str(ROOT / "programs/producer_consumer/flag_get_no_wait.pgas")], Job())
    result = to_json(checked.verdict)
    (first, shown), (second, violation), *_ = words.runs(result)
    assert (first, second) == ("effect_run", "witness")
    assert "flag_copy of rank 1 ends as 1" in words.title(shown)
    assert words.title(violation).startswith("Another run")
    text = plain(report(result))
    assert text.index("A run on the network in which") < text.index("Another run on the network")
