"""What SC runs show is the same whether failed reads are events or not (`proofs/polling.md`, `proofs/sc-runs.md`)."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.program.reading import DEFAULT_READING, LITERAL_READING, Reading
from pgasrob.semantics.sequential import SequentialFacts
from tests.support import examples

OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", "<=": ">", ">": "<="}


def statement(rng: random.Random, label: str) -> str:
    """One that looks, waits or writes, at one of two cells."""
    cell = rng.choice("xy")

    def compared() -> str:
        return f"{rng.choice(list(OPPOSITE))} {rng.randrange(3)}"

    relation, k = rng.choice(list(OPPOSITE)), rng.randrange(3)
    looks = f"r <- mem[{cell}]; if (r {relation} {k})"
    waited = rng.choice([compared(), f"{OPPOSITE[relation]} {k}"])
    again = f"if (s {compared()}) {{ goto {label}; }}"
    return rng.choice(
        [
            f"{looks} {{ await(mem[{cell}] {waited}); }}",
            f"{looks} {{ {label}: s <- mem[{cell}]; {again} }}",
            f"{looks} {{ await(mem[{cell}] {waited}); }} else {{ while (r {compared()}) {{ r <- mem[{cell}]; }} }}",
            f"{label}: s <- fetch({rng.randrange(2)}, {cell}); {again}",
            f"{label}: {looks} {{ s <- mem[y]; {again} }}",
            f"mem[{cell}] <- {rng.randrange(3)};",
            f"s <- swap({rng.randrange(2)}, {cell}, {rng.randrange(3)});",
            f"await(mem[{cell}] {compared()});",
            f"assert(r {compared()});",
            "barrier;",
        ]
    )


def facts(program: Instance) -> tuple[bool, bool, bool]:
    found = SequentialFacts(program)
    for _ in found.explore():
        pass
    assert found.complete
    return found.deadlock is not None, found.failed.get(None) is not None, found.fault is not None


@pytest.mark.parametrize(
    "looking",
    [
        # Who has seen 0 waits for ever, though 1 comes and would have led on.
        "r <- mem[x]; if (r < 1) { await(mem[x] >= 2); }",
        # Who sees 0 is stuck, though others that look poll.
        "r <- mem[y]; if (r == 0) { await(mem[y] >= 2); } else { while (r < 2) { r <- mem[y]; } }",
    ],
)
def test_a_look_hides_no_deadlock(looking: str) -> None:
    processes = f"process 0 {{ {looking} }} process 1 {{ r <- swap(0, x, 1); }}"
    program = parse(f"program p; nodes 2; memory x, y; register r; {processes}")
    for reading in (DEFAULT_READING, LITERAL_READING):
        assert facts(program.instantiate(2, reading)) == (True, False, False)


def test_facts_do_not_depend_on_failed_polls() -> None:
    rng, seen = random.Random(12), Counter[str]()
    for _ in range(examples(133)):
        blocks = [
            "\n".join(statement(rng, f"l{rank}{number}") for number in range(rng.randrange(1, 4))) for rank in range(2)
        ]
        processes = "\n".join(f"process {rank} {{ {block} }}" for rank, block in enumerate(blocks))
        program = parse(f"program p; nodes 2;\nmemory x, y;\nregister r, s;\n{processes}")
        guarded = program.instantiate(2)
        found = facts(guarded)
        assert found == facts(program.instantiate(2, Reading(failed_polls="count"))), program.source.text
        seen["deadlock"] += found[0]
        seen["violated"] += found[1]
        for form in guarded.forms:
            if (until := getattr(form, "until", None)) is not None:
                seen["polls" if until.spins else "looks"] += 1
    assert min(seen[name] for name in ("deadlock", "violated", "polls", "looks")) > examples(133) // 20
