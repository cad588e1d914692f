"""Every C program of the corpus says how many pairs of its lines race, and that is what the search finds.

Where a program in the core language says it, it is so, too.

The numbers were worked out from the sources and the specifications, before there was a search to ask.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pgasrob.api import race as races
from pgasrob.program.expectation import Expectation, read_expectation
from pgasrob.render.races_json import counted, races_to_json
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.load import load
from tests.support import examples, is_nightly, sampled

PROGRAMS = Path(__file__).parents[2] / "programs"
C = sorted(PROGRAMS.rglob("*.c"))
LONG = () if is_nightly() else ("bucket_sort", "histogram_owners")
"""What takes seconds each."""
ENOUGH = Limits(max_states=examples(3_000, 100_000), timeout=60)


def header(path: Path) -> Expectation:
    found = read_expectation(path.read_text(encoding="utf-8"), str(path))
    assert found is not None
    return found


def pairs(path: Path) -> int:
    """What the label says of the program's own node count."""
    said = header(path).races_at(header(path).nodes or 2)
    assert said is not None, f"{path} has no line `// races: ...`"
    return 0 if said == "none" else int(said.split(maxsplit=1)[0])


def test_every_c_program_says_how_many_pairs_of_lines_race() -> None:
    assert len(C) >= 270
    counted = Counter(map(pairs, C))
    assert all(counted[number] >= least for number, least in enumerate((161, 92, 13, 3, 1)))
    # Some are robust all the same.
    assert sum(header(path).at(None) == "robust" and pairs(path) > 0 for path in C) >= 11


def test_the_search_finds_as_many() -> None:
    """All of them where it comes to an end, and no more than these where it does not; one program in twelve."""
    chosen, wrong, decided = [path for path in sampled(C, 12) if path.stem not in LONG], [], 0
    for path in chosen:
        found, said = races(load(path), all_=True, limits=ENOUGH), pairs(path)
        whole = found.verdict in ("race", "no race") and found.reason is None
        decided += whole
        if found.verdict == "error" or len(found.races) > said or (whole and len(found.races) < said):
            wrong.append((path.name, said, [race.lines for race in found.races], found.verdict))
    assert not wrong
    assert len(chosen) > len(C) // 18 and decided > len(chosen) * 4 // 5


CORE = [path for path in sorted(PROGRAMS.rglob("*.pgas")) if "// races:" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", CORE, ids=lambda path: path.stem)
def test_labels_in_the_core_language(path: Path) -> None:
    said = header(path)
    counts = {count for case in said.races for count in case.counts or (load(path).nodes or 2,)}
    for nodes in counts:
        found = races(load(path), nodes, all_=True)
        assert found.reason is None and found.verdict != "error"
        assert said.races_at(nodes) == counted(races_to_json(found, True))
