"""Random programs whose accesses are atomic in some type or not, to some bytes: the search finds what the definition
has, and each fact changes answers."""

from __future__ import annotations

import random
import re
from collections import Counter

from pgasrob.api import race as races
from pgasrob.program.parser import parse
from pgasrob.program.printer import to_source
from pgasrob.program.program import Program
from pgasrob.races.race_verdict import RaceVerdict
from pgasrob.robustness.limits import Limits
from tests.oracle.strategies import random_program
from tests.races.test_races_agree import CHOICES
from tests.support import examples, translated

ONE = re.compile(r"((?:\w+ <- mem|mem|\w+ <- (?:fetch|swap|compare)|await)\b.*)(?=;$)", re.MULTILINE)
"""What makes one access."""
MORE = re.compile(r"((?:read|write|put|update|notify|signal)\w*\(.*\))(?=;$)", re.MULTILINE)
FACTS = {
    "type": (" as plain", " as int", " as long"),
    "by": (" as int by add", " as int by add twice", " as int by set"),
    "bytes": (" as int[0-3]", " as int[4-7]", " as plain[2-5]"),
    "made up": (),
}


def with_facts(source: str, seed: int, kinds: list[str]) -> Program:
    """The program of ``source`` with facts of these ``kinds`` here and there."""
    draw = random.Random(seed)
    ways = [way for kind in kinds for way in FACTS[kind]]

    def told(match: re.Match[str], ways: list[str]) -> str:
        return match[0] + (draw.choice(ways) if ways and draw.random() < 0.6 else "")

    text = ONE.sub(lambda match: told(match, ways), source)
    text = MORE.sub(lambda match: told(match, [way for way in ways if "[" not in way]), text)
    if "made up" in kinds:
        text = re.sub(r"(?<=memory )(\w+(?: = [^,;]*)?)(?=[,;])", r"\1 made_up", text, count=1)
    return parse(text)


def places(verdict: RaceVerdict) -> set[tuple[int, int]]:
    return {race.lines for race in verdict.races}  # there is one statement in each line


def compare(seed: int) -> Counter[str]:
    source = to_source(translated(random_program(seed, commands=CHOICES[seed % len(CHOICES)])).program)
    strict, limits = seed % 2 == 1, Limits(max_states=3_000)
    program = with_facts(source, seed, [*FACTS])
    found, expected = (
        races(program, strict=strict, all_=True, limits=limits, engine=engine) for engine in ("search", "definition")
    )
    if "unknown" in (found.verdict, expected.verdict) or found.reason or expected.reason:
        return Counter(("too large or at fault",))
    assert found.verdict == expected.verdict, f"{seed}"
    assert places(found) == places(expected), f"{seed}"
    seen = Counter((found.verdict,))
    for left_out in FACTS:
        others = with_facts(source, seed, [kind for kind in FACTS if kind != left_out])
        without = races(others, strict=strict, all_=True, limits=limits)
        seen[f"{left_out} counts"] += len(without.races) != len(found.races)
    return seen


def test_random_programs_with_facts() -> None:
    seen: Counter[str] = Counter()
    for seed in range(examples(14, nightly=3_000)):
        seen.update(compare(seed))
    assert seen["race"] > 4 and seen["no race"] > 1, seen
    assert all(seen[f"{kind} counts"] for kind in FACTS), seen
