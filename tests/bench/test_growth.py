"""How families grow is measured up to a limit, and the law that is told is the one that fits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bench import growth, measure
from tests.bench.growth import Growth, fit, states
from tests.bench.growth_report import growth_section
from tests.bench.measure import Grown, GrowthRecord, Measurement, Record, load, save
from tests.bench.processes import Process
from tests.bench.templates import TEMPLATES


def run(nodes: int, size: int, ended: str = "robust", reason: str | None = None) -> Measurement:
    return Measurement(ended, nodes * 0.5, nodes * 0.4, 1 << 20, nodes * 0.3, size, reason=reason)


@pytest.mark.parametrize(
    ("law", "told"),
    [
        (lambda n: 7 * n * n, "N^2.0"),
        (lambda n: 12 * n + 1, "N^1.0"),
        (lambda n: 50, "N^0.0"),
        (lambda n: 3 * 2**n, "2.0^N"),
        (lambda n: 6.5**n / n, "5.4^N"),
    ],
)
def test_the_law_is_the_one_that_fits(law: object, told: str) -> None:
    assert callable(law)
    assert str(fit([(n, law(n)) for n in (3, 4, 5, 6, 7, 8)])).partition(" or ")[0] == told


def test_few_points_and_searches_without_states_have_no_law() -> None:
    assert fit([(2, 5), (3, 7)]) is None and fit([(2, 0), (3, 0), (4, 0), (5, 1)]) is None


def test_what_a_limit_has_cut_is_left_out() -> None:
    cut = {6: Grown(run(6, 10, reason="not all runs were seen")), 7: Grown(run(7, 10, "time"))}
    record = GrowthRecord("It.", {n: Grown(run(n, 2**n)) for n in (3, 4, 5)} | cut)
    assert str(states(record)).startswith("2.0^N or N^")


@pytest.mark.parametrize(
    ("told", "late", "ended", "cut"),
    [
        ({"verdict": "robust", "reason": None}, False, "robust", True),
        ({"verdict": "robust", "reason": None, "settled_by": "traces"}, False, "robust", False),
        ({"verdict": "unknown", "reason": "interrupted"}, True, "time", True),
        ({"verdict": "unknown", "reason": "interrupted"}, False, "failed", True),
    ],
)
def test_what_a_limit_ended_is_told(
    told: dict[str, Any], late: bool, ended: str, cut: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stats = {"states": 9, "sc_states": 50_000, "seconds": 1.0, "settled_by": told.pop("settled_by", "infeasibility")}
    process = Process(json.dumps({**told, "stats": stats}), "", 0, late, 1.0, 1.0, 1)
    monkeypatch.setattr(measure, "run", lambda *_: process)
    found = measure.check(Path("p.pgas"), 2, "portfolio", 1, 1)
    assert (found.ended, bool(found.reason)) == (ended, cut)


class Asked(list[int]):
    """Stands for the command: notes the ranks it was asked for, and answers with ``law``."""

    def __init__(self, law: object, stops: int, reason: str | None = None) -> None:
        self.law, self.stops, self.reason = law, stops, reason

    def __call__(self, file: Path, nodes: int, *others: object) -> Measurement:
        self.append(nodes)
        assert callable(self.law)
        late = nodes >= self.stops
        return run(
            nodes, self.law(nodes), "time" if late and not self.reason else "robust", (late and self.reason) or None
        )


@pytest.mark.parametrize(
    ("family", "asked", "ranks"),
    [
        ("leader", Asked(lambda n: 5**n, 7), [2, 3, 4, 5, 6, 7]),
        ("leader", Asked(lambda n: 9 * n, 100), [2, 3, 4, 5, 10, 20, 40, 80, 160]),
        ("stencil_2d_flags", Asked(lambda n: 9 * n, 33), [4, 6, 8, 10, 20, 40]),
        ("hypercube_sum", Asked(lambda n: 5**n, 9), [2, 4, 8, 16]),
        ("leader", Asked(lambda n: 5**n, 4, "not all runs were seen"), [2, 3, 4, 5]),
    ],
)
def test_ranks_are_added_until_a_run_is_stopped(
    family: str, asked: Asked, ranks: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growth, "check", asked)
    found = Growth(tmp_path, lambda line: None, limit=1_000, with_spin=False).family(TEMPLATES[family])
    assert list(found.sizes) == ranks == asked


def test_a_base_is_run_in_turns_until_it_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, bool]] = []

    def check(file: Path, nodes: int, engine: str, seconds: float, memory: int, folder: Path) -> Measurement:
        asked.append((nodes, folder == tmp_path))
        late = nodes > (3 if folder == tmp_path else 4)
        return run(1, 5**nodes, "time" if late else "robust")

    monkeypatch.setattr(growth, "check", check)
    found = Growth(tmp_path, lambda line: None, against=tmp_path, with_spin=False).family(TEMPLATES["leader"])
    assert asked == [
        *[(2, False), (2, True)] * 3,
        *[(3, False), (3, True)] * 3,
        *[(4, False), (4, True)] * 3,
        (5, False),
    ]
    assert [each.base and each.base.ended for each in found.sizes.values()] == ["robust", "robust", "time", None]
    assert found.base == "a folder without a commit"


def test_a_family_is_measured(tmp_path: Path) -> None:
    measuring = Growth(tmp_path, lambda line: None, 30, most=4, with_spin=False)
    found = measuring.family(TEMPLATES["failed_swap"])
    assert [(n, each.ours.ended, bool(each.ours.states)) for n, each in found.sizes.items()] == [
        (3, "robust", True), (4, "robust", True)
    ]  # fmt: skip


def record() -> dict[str, GrowthRecord]:
    spin = run(3, 999)
    grows = GrowthRecord("It.", {n: Grown(run(n, 5**n), spin=spin) for n in range(2, 10)}, "on 10 ranks it is stopped")
    grows.sizes[10] = Grown(run(10, 77, "time"))
    flat = {n: Grown(run(n, 5 * n), run(n, 5 * n)) for n in (2, 3, 4, 8)}
    cut = {2: Grown(run(2, 50, reason="not all runs were seen"))}
    return {
        "leader": grows,
        "histogram": GrowthRecord("It.", flat, base="12345678", seconds=60),
        "spin_lock": GrowthRecord("It.", cut, seconds=60),
    }


def test_the_table_has_laws_and_reasons() -> None:
    text = "\n".join(growth_section(record()))
    rows = {
        line.split(" | ")[0].strip("| "): [cell.strip() for cell in line.split("|")[2:-1]] for line in text.splitlines()
    }
    told = "2: 25, 3: 125, 4: 625, ..., 7: 78,125, 8: 390,625, 9: 1,953,125"
    assert rows["leader"] == ["robust", told, "5.0^N or N^7.5", "N^1.0 or 1.2^N", "9", "3.60", "9", "999"]
    assert "2: 50\\*" in text and "Against 12345678" in text and growth_section({}) == []
    reasons = text.partition("Why those grow")[2]
    assert f"- leader: {TEMPLATES['leader'].grows}" in reasons and "- spin_lock: " in reasons
    assert "histogram" not in reasons and "leader: on 10 ranks it is stopped." in reasons


def test_it_is_kept(tmp_path: Path) -> None:
    save(Record(growth=record()), tmp_path / "record.json")
    assert load(tmp_path / "record.json") == Record(growth=record())
