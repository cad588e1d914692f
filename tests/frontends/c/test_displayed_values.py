"""Programs whose commands tell what they show: random C programs, of which the same text that stores what it shows has
to end on the network as in SC runs, with every read an event, where they are found to be robust."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest

from pgasrob.frontends.c.display_cells import Display
from pgasrob.frontends.lower import CProgram, parse_c
from pgasrob.program.reading import LITERAL_READING
from pgasrob.semantics.sequential import SequentialSpace
from pgasrob.semantics.state_space import StateSpace
from tests.frontends.c import test_kept_values as kept
from tests.semantics.test_polls_and_memory import ends, is_violated
from tests.support import examples

TEXT = """#include <shmem.h>
#include <stdio.h>
static long flag[2], part[2];
static int out[4];
#ifdef STORED
#define SHOW(at, value) (out[at] = (value))
#define END 0
static long place;
#define IN_CELLS out[shmem_long_atomic_fetch(&place, 1) & 3] = 0;
#else
#define IN_CELLS
#define SHOW(at, value) (printf("%%d: %%d\\n", at, value))
#define END %(end)s
#endif
static void tell(int at, int value) { SHOW(at, value); }
int main(void) {
    shmem_init();
    int sum = 0, least = 9, mask = 0, k = 0, first = -1, last = 0, late = 0, n = 0, kept[2] = {0, 0};
    if (shmem_my_pe() == 1) {
        IN_CELLS
        %(puts)s
    } else {
        int left = 2, done[2] = {0, 0};
        while (left > 0) {
            for (int i = %(from)s) {
                if (done[i]) continue;
                long v = shmem_long_atomic_fetch(&flag[i], 0);
                if (v) { %(seen)s done[i] = 1; left--; }
                %(look)s
            }
            %(round)s
        }
        %(after)s
    }
    shmem_finalize();
    return END;
}
"""
ORDERED = ("k = k * 3 + i;", "last = i;", "if (first < 0) first = i;", "SHOW(1, i);", "kept[n] = i;", "tell(1, i);")
ANYHOW = ("sum += (int)v;", "sum += (int)part[i];", "if (v < least) least = (int)v;", "mask |= 1 << i;", "n++;",
          "kept[i] = (int)v;", "sum ^= i + 1;")  # fmt: skip
LOOKS = ("", "", "", "", "else if (left == 1) late = 1;", "else if (done[1 - i]) late++;", "else last = -1;")
VALUES = ("sum", "sum", "least", "mask", "k", "first", "last", "late", "n", "kept[0]", "kept[1]", "sum + n")


def drawn(seed: int) -> dict[str, str]:
    random = Random(seed)
    fence = random.choice(("", "shmem_fence();"))
    together = [f"shmem_long_p(&part[{i}], {i + 4}, 0); {fence} shmem_long_p(&flag[{i}], {i + 1}, 0);" for i in (0, 1)]
    if random.random() < 0.3:
        together = [f"shmem_long_p(&flag[{i}], {i + 1}, 0); {random.choice(('', '', fence))}" for i in (0, 1)]
    ordered = random.random() < 0.4
    seen = random.sample(ANYHOW, random.randint(1, 2)) + random.sample(ORDERED, int(ordered))
    shown = random.sample(VALUES, random.randint(1, 2))
    after = " ".join(f"{random.choice(('SHOW', 'SHOW', 'tell'))}({at + 2}, {each});" for at, each in enumerate(shown))
    if random.random() < 0.2:
        after = f"if ({random.choice(VALUES)} == 1) {{ {after} }}"
    return {
        "puts": " ".join(together),
        "from": random.choice(("0; i < 2; i++", "1; i >= 0; i--")),
        "seen": " ".join(random.sample(seen, len(seen))),
        "look": random.choice(LOOKS),
        "round": random.choice(("", "", "", "", "if (!first) last = left;", "if (done[1] && !done[0]) late = 1;")),
        "after": after,
        "end": random.choice(("0", "0", "0", "first == 1", "late")),
    }


def programs(parts: dict[str, str]) -> tuple[CProgram, CProgram]:
    """A program, and the same that stores what it shows."""
    stored = TEXT.replace("#define END 0", f"#define END (out[0] = ({parts['end']}))")
    return parse_c(TEXT % parts), parse_c("#define STORED\n" + stored % parts)


def judged(program: CProgram, stored: CProgram) -> Iterator[str]:
    """Of which kinds ``program`` is."""
    telling = program.telling(2)
    if telling is None:
        yield "nothing displayed"
        return
    violated = is_violated(telling.program(2).instantiate())
    literal = stored.program(2).instantiate(reading=LITERAL_READING)
    network, sequential = ends(StateSpace(literal)), ends(SequentialSpace(literal))
    if violated is None or network is None or sequential is None:
        return
    yield "compared"
    if violated:
        yield "violated" if network != sequential else "false alarm"
    elif network != sequential:
        yield "wrong"
    elif is_violated(program.program(2).instantiate()):
        yield "mended"


def test_where_it_is_found_robust_the_same_is_shown() -> None:
    seen: Counter[str] = Counter()
    for seed in range(few := examples(16, nightly=5_000)):
        parts = kept.drawn(seed)
        polls = parse_c(kept.TEXT % parts), parse_c("#define STORED\n" + kept.TEXT % parts)
        kinds = [*judged(*(programs(drawn(seed)) if seed % 2 else polls))]
        assert "wrong" not in kinds, seed
        seen.update(kinds)
    assert seen["compared"] > few // 2 and seen["mended"] and seen["false alarm"] < seen["compared"] // 3, seen


LATE = {
    "puts": "shmem_long_p(&flag[0], 1, 0); shmem_long_p(&flag[1], 1, 0);",
    "from": "1; i >= 0; i--",
    "seen": "",
    "look": "",
    "round": "if (done[1] && !done[0]) late = 1;",
    "after": "SHOW(2, late);",
    "end": "0",
}
"""It shows an order that no SC run has."""


def test_without_the_display_it_would_be_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [*judged(*programs(LATE))] == ["compared", "violated"]
    monkeypatch.setattr(Display, "show", lambda *_: None)
    assert [*judged(*programs(LATE))] == ["compared", "wrong"]
