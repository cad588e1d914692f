"""Whatever is done to C files, they are programs or give errors with a place: there are no tracebacks."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from pgasrob import SourceError
from pgasrob.frontends.lower import parse_c
from tests.support import examples

FILES = sorted(Path(__file__).parents[3].joinpath("programs", "c").rglob("*.c"))
TOKEN = re.compile(r"\w+|[^\w\s]|\s+")
WORDS = ["0", "1", "-1", "x", "&", "*", "+", "0x7fffffff", "1.5", "NULL", "(", "&&", '"s"', "while", "1<<40", "flag"]


def mutated(text: str, random: Random) -> str:
    """``text`` with one to three tokens of what it executes changed, lost, doubled or swapped."""
    tokens = TOKEN.findall(text)
    first = tokens.index("main") if "main" in tokens else 0
    for _ in range(random.randint(1, 3)):
        here, there = random.randrange(first, len(tokens) - 1), random.randrange(first, len(tokens) - 1)
        match random.randrange(5):
            case 0:
                del tokens[here]
            case 1:
                tokens[here] = tokens[there]
            case 2:
                tokens[here] = random.choice(WORDS)
            case 3:
                tokens[here], tokens[there] = tokens[there], tokens[here]
            case _:
                tokens.insert(here, tokens[there])
    return "".join(tokens)


@pytest.mark.skipif(not FILES, reason="there are no C programs")
@pytest.mark.parametrize("seed", range(4))
def test_mutated_programs_are_lowered_or_refused(seed: int) -> None:
    random = Random(seed)
    for _ in range(examples(15, 400)):
        text = mutated(random.choice(FILES).read_text(), random)
        with suppress(SourceError):
            parse_c(text, "mutated.c").instantiate()
