"""Rounds of polls that leave something behind which is shown later: random C programs, of which the same text that
stores what it shows has to end on the network as in SC runs, with every read an event, where polls are told robust."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random

import pytest

from pgasrob.frontends.lower import parse_c
from pgasrob.program.program import Program
from pgasrob.program.reading import LITERAL_READING
from pgasrob.program.shown_places import Shown
from pgasrob.semantics.sequential import SequentialSpace
from pgasrob.semantics.state_space import StateSpace
from tests.semantics.test_polls_and_memory import ends, is_violated
from tests.support import examples

TEXT = """#include <shmem.h>
#include <stdio.h>
static long a, b;
static int noted, out[4];
#ifdef STORED
#define SHOW(at, value) (out[at] = (value))
static long place;
#define IN_CELLS out[shmem_long_atomic_fetch(&place, 1) & 3] = 0;
#else
#define IN_CELLS
#define SHOW(at, value) (printf("%%d: %%d\\n", at, value))
#endif
static void note(int value) { if (value) noted = value; }
static int chosen(int one, int other) { if (one) return one; return other; }
static void tell(int at, int value) { SHOW(at, value); }
int main(void) {
    shmem_init();
    long x = 0, y = 0;
    int s = 0, t = 0, log[2] = {0, 0};
    if (shmem_my_pe() == 1) {
        IN_CELLS
        shmem_long_p(&a, 1, 0);
        %(fence)s
        shmem_long_p(&b, 1, 0);
    } else {
        %(loop)s
        %(after)s
    }
    shmem_finalize();
}
"""
CONDITIONS = ("x", "y", "x && !y", *["y && !x"] * 6, "s", "t == 1", "log[0]", "noted", "!s")
VALUES = ("0", "1", "2", "(int)x", "(int)(x + 2 * y)", "(int)y", "s", "t", "log[1]", "noted", "chosen((int)y, s)")


def drawn(seed: int) -> dict[str, str]:
    random = Random(seed)

    def value() -> str:
        return random.choice(VALUES)

    def given() -> str:
        return f"{random.choice(('s', 't', 's', 't', 'log[0]', 'log[1]', 'noted'))} = {value()};"

    def told(at: int) -> str:
        return random.choice((f"SHOW({at}, {value()});", f"tell({at}, {value()});", f"SHOW({at}, 1);"))

    def statement(at: int) -> str:
        found = random.choice((given, given, given, lambda: told(at), lambda: f"note({value()});", lambda: "s ^= 1;"))()
        return f"if ({random.choice(CONDITIONS)}) {{ {found} }}" if random.random() < 0.6 else found

    reads = ["x = shmem_long_atomic_fetch(&a, 0);", "y = shmem_long_atomic_fetch(&b, 0);"]
    if random.random() < 0.8:
        reads.reverse()  # what is put last comes first
    places = [random.choice((0, 1, 2, 2, 2)) for _ in range(random.choice((0, 1, 1, 2)))]
    body = "\n".join(
        " ".join(statement(1) for each in places if each == at) + read for at, read in enumerate((*reads, ""))
    )
    done = random.choice((*["x && y"] * 6, "y", "x"))
    loop = random.choice((f"while (!({done})) {{ {body} }}", f"do {{ {body} }} while (!({done}));",
                          f"for (;;) {{ {body} if ({done}) break; }}"))  # fmt: skip
    after = " ".join(statement(2) for _ in range(random.randrange(2))) + told(3) + f"SHOW(0, {value()});"
    return {"fence": random.choice(("", "", "", "shmem_fence();")), "loop": loop, "after": after}


def program(parts: dict[str, str], stored: bool) -> Program:
    return parse_c("#define STORED\n" * stored + TEXT % parts).program(2)


def judged(seeds: Iterable[int]) -> Counter[str]:
    """How many programs there were of which kind; the seeds of those that are wrongly told robust."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        parts = drawn(seed)
        violated = is_violated(program(parts, stored=False).instantiate())
        literal = program(parts, stored=True).instantiate(reading=LITERAL_READING)
        network, sequential = ends(StateSpace(literal)), ends(SequentialSpace(literal))
        if violated is None or network is None or sequential is None:
            continue
        seen["compared"] += 1
        counted = program(parts, stored=False).instantiate(reading=LITERAL_READING)
        seen["polls"] += not violated and is_violated(counted) is True
        seen["violated"] += violated
        seen["false alarms"] += violated and network == sequential
        if not violated and network != sequential:
            seen[f"wrong: {seed}"] += 1
    return seen


def wrong(seen: Counter[str]) -> list[str]:
    return [each for each in seen if each.startswith("wrong")]


def test_what_is_told_robust_shows_what_sc_runs_show() -> None:
    seen = judged(range(few := examples(60, nightly=5_000)))
    assert not wrong(seen), seen
    assert seen["compared"] > few // 2 and seen["polls"] > few // 20 and seen["violated"] > few // 6, seen


def test_without_what_rounds_keep_it_would_be_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Shown, "kept", lambda *_: False)
    assert wrong(judged((11, 285))) == ["wrong: 11", "wrong: 285"]
