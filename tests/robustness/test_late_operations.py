"""What a violation comes down to: on random programs, that something is late and what would keep it from that."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

from pgasrob.api import check
from pgasrob.program import commands, core
from pgasrob.program.parser import parse
from pgasrob.program.program import Program
from pgasrob.program.statements import Do
from pgasrob.program.variants import with_commands
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


def waiting(program: Program, rank: int) -> Program:
    """``program`` in which ``rank`` waits for each of its operations before it goes on."""

    def change(do: Do) -> tuple[Do, ...]:
        queue = getattr(do.command, "queue", None)
        transfer = isinstance(core.lower(do.command), core.Transfer)
        return (do, Do(commands.Wait(queue), do.span)) if transfer and queue is not None else (do,)

    own = [each for each in program.processes if rank in (each.ranks or ())]
    changed = with_commands(replace(program, processes=tuple(own)), change).processes
    return replace(program, processes=(*changed, *(each for each in program.processes if each not in own)))


def test_what_comes_between_the_steps_of_an_operation() -> None:
    """An operation of the same rank does so where the rank has not waited for it; else no wait of the rank helps."""
    seen: Counter[str] = Counter()
    for seed in range(examples(60, 20_000)):
        program = several_transfers(seed)
        verdict = check(program)
        if verdict.verdict != "not robust":
            continue
        assert verdict.witness is not None and verdict.witness.cycle is not None
        run, cycle = verdict.witness.run, verdict.witness.cycle
        events = run.computation
        for late in late_operations(run, cycle):
            issued, rank = events[late.issue].issued, events[late.issue].rank
            if late.within is not None:
                seen["within"] += 1
                other = events[late.within]
                assert other.rank == rank and late.within < late.issue and events[late.next].issued == issued
                steps = [place for place, event in enumerate(events) if event.issued == other.issued and event.is_step]
                assert max(steps) > late.issue, "it is not complete"
            elif events[late.next].issued == issued:
                seen["by others"] += 1
                assert check(waiting(program, rank)).verdict == "not robust"
            elif not any(edge.source == late.issue and edge.relation == "po" for edge in cycle):
                seen["later"] += 1
                assert events[late.next].rank == rank
    assert min(seen[each] for each in ("within", "by others", "later")) >= examples(2, 100), seen


def several_transfers(seed: int) -> Program:
    """Transfers to and from the cells of two ranks that have few of them, some waited for."""
    source = random.Random(seed)

    def body(rank: int) -> str:
        made = []
        for _ in range(source.choice((1, 2, 2, 3))):
            kind, here, there = source.choice(("read", "write", "write")), source.choice("xy"), source.choice("xy")
            made.append(f"{kind}({here}, {source.choice((rank, 1 - rank))}, {there}, {source.choice('qu')});")
            made += [source.choice(("wait(q);", "wait(u);", "mem[x] <- 3;", "r <- mem[y];", "wait_local(q);"))] * (
                source.random() < 0.3
            )
        return f"process {rank} {{ {' '.join(made)} }}"

    text = f"memory x, y; register r; queue q; queue u unordered;\n{body(0)}\n{body(1)}"
    return parse(f"program p; nodes 2; {text}")
