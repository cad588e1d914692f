"""What a violation comes down to: on random programs, that something is late and what would keep it from that."""

from __future__ import annotations

from collections import Counter

from pgasrob.api import check
from pgasrob.program import core
from pgasrob.robustness.late_operations import issued_operands, late_operations
from tests.oracle.polls_and_updates import random_program
from tests.support import examples, translated


def test_every_violation_has_an_operation_that_is_late() -> None:
    """The cycle of a run goes back in time, and it does so from a step of an operation that nobody has waited for."""
    missing: Counter[str] = Counter()
    for seed in range(examples(100, 20_000)):
        verdict = check(translated(random_program(seed, hard=seed % 3 == 0)).program)
        if verdict.verdict != "not robust":
            continue
        assert verdict.witness is not None and verdict.witness.cycle is not None
        run, cycle = verdict.witness.run, verdict.witness.cycle
        events, operands = run.computation, issued_operands(run)
        found = late_operations(run, cycle)
        assert found, seed
        backwards = [edge for edge in cycle if edge.target < edge.source and edge.relation == "id"]
        assert {late.step for late in found} <= {edge.source for edge in backwards}
        for late in found:
            issue, step, ahead = events[late.issue], events[late.step], events[late.ahead]
            assert late.issue < late.ahead < late.step and late.issue < late.next < late.step
            assert ahead.cell == step.cell is not None
            assert issue.issued == step.issued and events[late.next].rank == issue.rank
            operation = operands[issue.issued]
            assert isinstance(operation, core.Transfer)
            for place in range(late.issue, late.next + 1):
                event = events[place]
                if event.rank == issue.rank and not event.is_step:
                    waits = operands[event.issued]
                    completes = isinstance(waits, core.Wait) and waits.queue == operation.queue and not waits.local
                    assert not completes, "what is complete is not late"
            missing[late.missing] += 1
    assert min(missing[kind] for kind in ("local completion", "completion", "order")) >= examples(5, 1_000), missing
