"""Repairs of programs of several queues against every set of the catalogue's edits, the cheapest first."""

from __future__ import annotations

from collections import Counter

from pgasrob import twins
from pgasrob.api import check
from pgasrob.program.parser import parse
from pgasrob.repairs import Answer, Costs, repair
from tests.oracle.syntax import Program, to_pgas
from tests.repairs.every_repair import Edit, Edited, catalogue, keeps_outcomes, random_program, sets
from tests.support import examples

MOST_SETS = examples(12, 300)
UP_TO = 12
"""The cost up to which sets are tried where there is said to be no repair."""


def is_repair(program: Program, edits: tuple[Edit, ...]) -> bool | None:
    """Whether ``program`` with ``edits`` is robust and ends as before; None where that is not known."""
    search = twins.trace_search(parse(to_pgas(Edited(program, edits).program)).instantiate())
    for _ in search.run():
        pass
    assert search.gave_up is None
    if search.violation is not None:
        return False
    barriers = [each for each in edits if each.what == "barrier"]
    return not barriers or keeps_outcomes(program, barriers[0])


def cheaper(program: Program, costs: Costs, answers: tuple[Answer, ...], counts: Counter[str]) -> str:
    """A repair that costs less than ``answers`` do, or any where there are none; "" if none of the first sets is."""
    below = answers[0].cost if answers else UP_TO + 1
    for number, edits in enumerate(sets(catalogue(program, costs), range(1, below))):
        if number == MOST_SETS:
            counts["cut"] += 1
            break
        counts["sets"] += 1
        if is_repair(program, edits):
            return f"{edits} in\n{to_pgas(program)}"
    return ""


def remedies(answer: Answer) -> set[str]:
    """What it consists of, by the first word; an operation in another queue is one."""
    words = {(each.text.partition("(")[0].strip(";"), each.inserted) for each in answer.candidates}
    return {word if inserted or word.startswith("wait") else "queue" for word, inserted in words}


def test_nothing_in_the_catalogue_is_cheaper() -> None:
    counts: Counter[str] = Counter()
    wanted, seed = examples(8, 1_000), 0
    while counts["not robust"] < wanted:
        seed += 1
        program, costs = random_program(seed)
        found = repair(parse(to_pgas(program)), parse, (2,), costs, max_answers=2)
        if found.state == "robust":
            continue
        assert found.state in ("repaired", "not repaired"), (seed, found.reason)
        counts["not robust"] += 1
        counts[found.state] += 1
        counts["stuck"] += found.verdicts[0].deadlock is True
        assert not cheaper(program, costs, found.answers, counts), seed
        for answer in found.answers:
            assert answer.cost == found.answers[0].cost == sum(each.cost for each in answer.candidates)
            assert check(parse(answer.text), engine="attack").verdict == "robust", seed
        for remedy in remedies(found.answers[0]) if found.answers else ():
            counts[remedy] += 1
    for what in ("queue", "wait_local", "wait"):
        assert counts[what] >= wanted // 8, counts
    for what in ("barrier", "not repaired", "stuck"):
        assert counts[what] >= wanted // 25, counts
