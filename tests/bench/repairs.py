"""What a repair costs, in checks of the same program: every corpus program that is not robust."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.tables import Target, seconds, table

if TYPE_CHECKING:
    from tests.bench.measure import Record

PROGRAMS = Path(__file__).parents[2] / "programs"
MOST = 30
"""Times a check that a repair may take."""
WORST = 12


@dataclass(frozen=True, slots=True)
class RepairRecord:
    """One program: seconds of a check and of a repair, programs that this has checked, its cost (None: no repair)."""

    check: float
    repair: float
    checks: int
    cost: int | None

    @property
    def ratio(self) -> float:
        return self.repair / self.check


def measure_repairs(
    record: Record, say: Callable[[str], None], done: Callable[[Record], None], one_in: int = 1, repeats: int = 3
) -> None:
    """Measure one in so many of the programs; a check, which is short, is the fastest of some ``repeats``."""
    paths = sorted(
        path
        for path in PROGRAMS.rglob("*")
        if path.suffix in (".pgas", ".c") and "expect: not robust" in path.read_text(encoding="utf-8")
    )
    for path in paths[::one_in]:
        name = str(path.relative_to(PROGRAMS))
        record.repairs[name] = found = measured(path, repeats)
        say(f"{name}: {found.repair:.2f} s, {found.ratio:.1f} checks")
    done(record)


def measured(path: Path, repeats: int) -> RepairRecord:
    from pgasrob.api import check
    from pgasrob.frontends.lower import parse_c
    from pgasrob.program.parser import parse
    from pgasrob.repairs import repair
    from pgasrob.robustness.load import load

    read = partial(parse_c if path.suffix == ".c" else parse, file=str(path))
    check(load(path))  # what is imported once
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        check(load(path))
        taken.append(time.perf_counter() - started)
    program = load(path)
    found = repair(program, read, (program.nodes or 2,), max_answers=1)
    return RepairRecord(min(taken), found.seconds, found.checks, found.answers[0].cost if found.answers else None)


def repair_targets(repairs: dict[str, RepairRecord]) -> list[Target]:
    wanted = f"a repair of a corpus program: at most {MOST} times a check of it"
    if not repairs:
        return [Target(wanted, "not measured", None)]
    worst = max(repairs.values(), key=lambda each: each.ratio)
    told = f"{worst.ratio:.1f}, median {statistics.median(each.ratio for each in repairs.values()):.1f}"
    return [Target(wanted, told, worst.ratio <= MOST)]


def repair_table(repairs: dict[str, RepairRecord]) -> Sequence[str]:
    """The programs whose repairs take the most checks' time."""
    if not repairs:
        return []
    worst = sorted(repairs.items(), key=lambda each: -each[1].ratio)[:WORST]
    rows = [
        (
            name,
            seconds(each.check),
            seconds(each.repair),
            f"{each.ratio:.1f}",
            str(each.checks),
            str(each.cost or "none"),
        )
        for name, each in worst
    ]
    found = sum(each.cost is not None for each in repairs.values())
    return [
        f"`pgasrob repair`, the first answer, against `pgasrob check` of the same program: {len(repairs)} programs, of"
        f" which {found} have a repair; the {len(rows)} that take longest in checks.",
        "",
        *table(("program", "check s", "repair s", "ratio", "checked", "cost"), rows),
    ]
