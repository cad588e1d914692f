"""Whatever is done to a C file, it is a program or a mistake that is reported; nothing breaks."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

import pgasrob
from pgasrob import Limits, SourceError
from tests.support import examples

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "programs/c").glob("*/*.c"))
LIMITS = Limits(max_states=300, timeout=2, memory=300_000_000)
BATCHES = 10
INSERTED = (
    "(", ")", "{", "}", "[", "]", ";", ",", "*", "&", "-", "!", "0", "1", "-1", "2147483648", "me", "int", "long",
    "char", "unsigned", "double", "void", "struct", "static", "if", "else", "while", "for", "return", "break", "goto",
    "sizeof", "NULL", "main", "1.5", '"', "'", "->", ".", "?", ":", "==", "=", "/", "%", "<<",
)  # fmt: skip
NOISE = ("\0", "\x01", "\x7f", "é", "\\", "\r", "\n", "#", '"', "'", "`", "@", "/*", "//", "\ufeff", "𝒙")


def mutant(random: Random) -> str:
    """A C program of the corpus after one to four changes."""
    text = random.choice(FILES).read_text()
    for _ in range(random.choice((1, 1, 2, 4))):
        words = re.findall(r"\w+|\s+|[^\w\s]", text)
        # Most changes leave alone what stands before the code: a broken head is soon found.
        start = words.index("main") if "main" in words and random.random() < 0.7 else 0
        places = [index for index in range(start, len(words)) if not words[index].isspace()]
        if not places:
            break
        one, two = random.choice(places), random.choice(places)
        match random.choice(("delete", "swap", "double", "put", "copy", "number", "move", "noise", "cut")):
            case "delete":
                del words[one : one + random.choice((1, 1, 1, 3, 10))]
            case "swap":
                words[one], words[two] = words[two], words[one]
            case "double":
                words[one:one] = words[one : one + random.choice((1, 3, 12))]
            case "put":
                words.insert(one, f" {random.choice(INSERTED)} ")
            case "copy":
                words[one] = words[two]
            case "number":
                numbers = [index for index in places if words[index].isdigit()] or [one]
                words[random.choice(numbers)] = random.choice(("0", "1", "3", "7", "-1", "99", "4294967296", "me"))
            case "move":
                lines = "".join(words).splitlines(keepends=True)
                lines.insert(random.randrange(len(lines)), lines.pop(random.randrange(len(lines))))
                words = lines
            case "noise":
                words.insert(one, random.choice(NOISE))
            case "cut" if random.random() < 0.3:
                del words[one:]
        text = "".join(words)
    return text


@pytest.mark.parametrize("batch", range(BATCHES))
def test_nothing_but_source_errors(batch: int, tmp_path: Path) -> None:
    path = tmp_path / "mutant.c"
    for seed in range(batch, examples(75, 10_000), BATCHES):
        text = mutant(Random(seed))
        path.write_bytes(text.encode(errors="replace"))
        try:
            survives(path)
        except Exception as error:
            error.add_note(f"seed {seed}:\n{text}")
            raise


def survives(path: Path) -> None:
    """Load, lower and check the file, with mistakes in it that can be printed."""
    try:
        program = pgasrob.load(path)
        program.instantiate()
    except SourceError as error:
        mistakes = error.diagnostics
    else:
        verdict = pgasrob.check(program, limits=LIMITS, threads=1)
        mistakes = list(verdict.errors)
        assert verdict.verdict in ("robust", "not robust", "unknown", "error")
    assert all(mistake.render() for mistake in mistakes)
