"""The families are programs and robust, and the report says what the record says."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgasrob.api import check
from pgasrob.program.instance import Instance
from pgasrob.program.parser import parse
from pgasrob.robustness.limits import Limits
from tests.bench import pan
from tests.bench.families import FAMILIES, SCALED, SEEDS, Family, Scaled, flag_halo
from tests.bench.measure import (
    ALL,
    PLAIN,
    AgainstSpin,
    Budget,
    Comparison,
    Counterexample,
    Decided,
    FamilyRecord,
    Measurement,
    Record,
    ScalingRecord,
    load,
    median,
    save,
    search,
    variants,
)
from tests.bench.reading import Read, counted, keep
from tests.bench.repairs import RepairRecord
from tests.bench.report import report, targets
from tests.bench.scaling import Scaling, exponent

SMALL = {"halo": 5, "two_sided_halo": 3, "all_to_all": 3, "chain": 6, "ticket_lock": 3, "mcs_lock": 3, "bakery": 2,
         "work_stealing": 2, "random": 5}  # fmt: skip
"""The largest size at which the searches take a fraction of a second."""
PRODUCT = ("halo", "chain", "random")
"""The families that the product engine decides at their smallest size in a fraction of a second."""
FEW = Limits(max_states=200_000, timeout=60)


@pytest.fixture(params=list(FAMILIES.values()), ids=list(FAMILIES))
def family(request: pytest.FixtureRequest) -> Family:
    chosen = request.param
    assert isinstance(chosen, Family)
    return chosen


def instance(family: Family, nodes: int) -> Instance:
    return parse(family.program(nodes)).instantiate(nodes)


# Families


def test_every_size_is_a_program(family: Family) -> None:
    for nodes in (*family.growth, *range(family.spin_from, family.spin_to + 1)):
        program = parse(family.program(nodes))
        assert program.nodes == nodes
        program.instantiate(nodes)


def test_sizes_are_in_order_and_the_idiom_is_told(family: Family) -> None:
    assert list(family.growth) == sorted(set(family.growth)) and family.spin_from <= family.spin_to
    assert family.idiom and bool(family.broken) == bool(family.broken_at)


def test_families_are_robust(family: Family) -> None:
    for nodes in range(2, SMALL[family.name] + 1):
        verdict = check(parse(family.program(nodes)), engine="attack", limits=FEW)
        assert verdict.verdict == "robust", (nodes, verdict.reason)


@pytest.mark.parametrize("name", PRODUCT)
def test_the_paper_s_procedure_agrees(name: str) -> None:
    assert check(parse(FAMILIES[name].program(2)), engine="product", limits=FEW).verdict == "robust"


def test_variants_are_not_robust(family: Family) -> None:
    if family.broken is None:
        return
    for nodes in {2, min(family.broken_at)}:
        verdict = check(parse(family.broken(nodes)), engine="attack", limits=FEW)
        assert verdict.verdict == "not robust", (nodes, verdict.reason)


def test_random_programs_have_a_seed_for_every_size() -> None:
    family = FAMILIES["random"]
    assert {*family.growth, *range(family.spin_from, family.spin_to + 1)} <= set(SEEDS)


# Measuring


def test_variants_are_every_reduction_alone_and_without() -> None:
    assert variants(["a", "b"]) == {
        PLAIN: (),
        "a alone": ("a",),
        "b alone": ("b",),
        "without a": ("b",),
        "without b": ("a",),
        ALL: ("a", "b"),
    }
    assert list(variants([])) == [PLAIN]


def test_a_search_is_measured(tmp_path: Path) -> None:
    pytest.importorskip("pgasrob._kernel", reason="the kernel has not been built")
    file = tmp_path / "halo.pgas"
    file.write_text(FAMILIES["halo"].program(6))
    whole = search(file, 6, (), 60, 4 << 30)
    assert whole.done and whole.states and whole.states > 3_000
    assert whole.seconds and whole.wall > whole.seconds and whole.rss > 1 << 20 and whole.stored and whole.stored > 1
    stopped = search(file, 6, (), 60, 4 << 30, states=100)
    assert stopped.ended == "states" and stopped.states and 100 < stopped.states < whole.states


def test_the_median_is_told_figure_by_figure() -> None:
    runs = [Measurement("robust", wall, 1.0, 10, seconds=wall / 2, states=7) for wall in (3.0, 1.0, 2.0)]
    assert median(runs) == Measurement("robust", 2.0, 1.0, 10, seconds=1.0, states=7, repeats=3)
    assert median([*runs, Measurement("time", 9.0, 1.0, 10)]).ended == "time"


PAN = """
State-vector 44 byte, depth reached 196, errors: 0
  2000000 states, stored
 30201175 states, matched
 49529847 transitions (= stored+matched)
        2 atomic steps
hash conflicts:  12001180 (resolved)

Stats on memory usage (in Megabytes):
 1327.195 equivalent memory usage for states (stored*(State-vector + overhead))
  100.000 actual memory usage for states (compression: 65.35%)
          state-vector as stored = 19 byte + 28 byte overhead
   16.000 memory used for hash table (-w21)
    5.341 memory used for DFS stack (-m100000)
 1000.431 total actual memory usage

pan: elapsed time 59 seconds
"""


def test_what_pan_says_is_read() -> None:
    account = pan.read(PAN)
    assert (account.seconds, account.states, account.transitions) == (59, 2_000_000, 49_529_847)
    assert (account.errors, account.complete, account.vector) == (0, True, 44)
    assert account.stored == 116 * 2**20 / 2_000_000
    assert not pan.read("Warning: Search not completed" + PAN).complete
    with pytest.raises(pan.NoSpin, match="out of luck"):
        pan.read("pan: out of luck\n")


# The report


def measured(ended: str = "robust", seconds: float = 1.0, states: int = 100, stored: float = 30.0) -> Measurement:
    return Measurement(ended, seconds + 0.1, seconds, 50 << 20, seconds, states, stored, vector=40)


def record(reduced: float = 0.01, plain_bytes: float = 30.0, search: float = 0.1, repairing: float = 3.0) -> Record:
    """Seven families, all alike, and those that are scaled."""
    sizes = {"halo": (32, 64), "chain": (32,), "ticket_lock": (6,)}
    names = list(FAMILIES)[:7]
    return Record(
        "a machine",
        str(Budget()),
        {
            name: FamilyRecord(
                FAMILIES[name].idiom,
                {
                    PLAIN: {2: measured(), 32: measured("states", states=500_001)},
                    ALL: {nodes: measured(states=50) for nodes in sizes.get(name, (2,))},
                },
                Comparison(
                    9,
                    None,
                    measured(seconds=4.0, states=1_000, stored=40.0),
                    measured(seconds=2.0, states=1_000, stored=plain_bytes),
                    measured(seconds=reduced, states=10),
                    measured(seconds=0.2, states=10),
                ),
                {nodes: measured() for nodes in sizes.get(name, (2,))},
                [Counterexample(4, measured("not robust", states=77), None)],
                "2024-01-01",
            )
            for name in names
        },
        {name: scaled(family, search) for name, family in SCALED.items()},
        {"one.pgas": RepairRecord(0.1, repairing, 7, 4), "other.c": RepairRecord(0.1, 0.2, 3, None)},
        reading=[
            Read("puts", 1.0, 3_000, "calls", {"check": (0.5, 7_000_000), "race": (1.0, 5_000_000), "plain": (0.25, 1)})
        ],
    )


def scaled(family: Scaled, search: float) -> ScalingRecord:
    """Time in proportion to the nodes, which are those of the targets; SPIN takes 40 s."""
    sizes = {nodes: Decided(measured(seconds=nodes / 1e3), measured(seconds=nodes / 1e3)) for nodes in family.sizes}
    ours = Decided(measured(seconds=0.2), measured(seconds=search), 0.02, "traces")
    against = AgainstSpin(family.spin[0], measured(seconds=40.0), 2.0, ours, "on more ranks it is stopped")
    return ScalingRecord(family.idiom, sizes, against, "2024-01-01", (0.5, 1.5), "a machine")


def test_what_is_measured_again_takes_the_place_of_what_there_was(tmp_path: Path) -> None:
    """But for what is not measured now."""
    output = tmp_path / "report.md"
    save(record(), output.with_suffix(".json"))
    keep(output, Read("puts", 1.0, 3_000, "calls", {"check": (0.3, 7_000_000)}))
    assert load(output.with_suffix(".json")).reading[0].costs == {
        "check": (0.3, 7_000_000), "race": (1.0, 5_000_000), "plain": (0.25, 1),
    }  # fmt: skip
    row = next(line for line in output.read_text().splitlines() if line.startswith("| puts x 1 "))
    assert [cell.strip() for cell in row.split("|")[2:-1]] == ["3,000 calls", "10,000", "3,000", "7", "–", "4.00", "–"]
    assert counted("stencil", "1,250 calls, 37,000 accesses, 3 MB") == (37_000, "accesses")


def test_the_report_shows_what_was_measured() -> None:
    text = report(record())
    assert all(target.met for target in targets(record()))
    assert "missed" not in text and "> 500,001" in text and "a machine" in text
    assert all(f"**{name}**" in text for name in list(FAMILIES)[:7])
    assert "| 77 |" in text.replace("  ", "")
    row = next(line for line in text.splitlines() if line.startswith("| halo") and "4.00" in line)
    assert [cell.strip() for cell in row.split("|")[1:-1]] == [
        "halo", "9", "1,000", "4.00", "1,000", "2.00", "2.0", "10", "0.01", "400", "0.30", "13.3",
    ]  # fmt: skip


def test_the_report_owns_up() -> None:
    slow = {target.wanted: target for target in targets(record(reduced=1.0, plain_bytes=50.0))}
    missed = [target for target in slow.values() if target.met is False]
    assert len(missed) == 2
    assert "0 of 7 families" in missed[1].measured and "below: halo 4.0" in missed[0].measured
    assert report(record(reduced=1.0)).count("**missed**") == 1
    assert {target.met for target in targets(Record())} == {None}
    costly = [target.wanted for target in targets(record(repairing=3.1)) if not target.met]
    assert costly == ["a repair of a corpus program: at most 30 times a check of it"]
    assert "| one.pgas |" in report(record()) and "2 programs, of which 1 have a repair" in report(record())
    slower = {target.wanted: target.met for target in targets(record(search=1.0))}
    assert [wanted for wanted, met in slower.items() if not met] == [
        "100 times faster than SPIN in the median of families, search"
    ]
    stopped = record()
    stopped.scaling["mcs_lock"].sizes = {4: Decided(measured(), measured()), 5: Decided(measured("time"), measured())}
    stopped.scaling["pipeline"].sizes[1024] = Decided(measured(seconds=10_000.0), measured())
    assert [target.measured for target in targets(stopped) if not target.met] == [
        "stopped (time) on 5 ranks",
        "exponents at most flag_halo 1.0, dissemination 1.0, tree_broadcast 1.0, pipeline 2.1, recursive_doubling 1.0,"
        " token_ring 1.0, two_sided_halo 1.0",
    ]
    assert "> 1.10" in report(stopped)


def test_exponents() -> None:
    assert exponent((2, 1.0), (4, 4.0)) == 2 and exponent((2, 1.0), (8, 1.0)) == 0
    assert exponent((2, 0.0), (4, 1.0)) is None


@pytest.mark.parametrize("family", SCALED.values(), ids=list(SCALED))
def test_scaled_families_are_robust_programs(family: Scaled) -> None:
    assert family.idiom and list(family.sizes) == sorted(set(family.sizes))
    for nodes in (*family.sizes[:-1], *family.spin[:3]):
        if nodes <= 64:
            parse(family.program(nodes)).instantiate(nodes)
    for engine in ("attack", "portfolio"):
        verdict = check(parse(family.program(2)), 2, engine=engine, limits=FEW)
        assert verdict.verdict == "robust", verdict.reason


def test_a_decision_is_measured(tmp_path: Path) -> None:
    pytest.importorskip("pgasrob._kernel", reason="the kernel has not been built")
    scaling = Scaling(Budget(repeats=1), tmp_path, lambda line: None, (2, 4))
    record = scaling.family(Scaled(flag_halo, (2,)))
    assert {nodes: (found.settled_by, found.search.states) for nodes, found in record.sizes.items()} == {
        2: ("traces", 75),
        4: ("traces", 149),
    }
    assert all(found.command.done and found.prepared for found in record.sizes.values())
    assert record.against_spin == AgainstSpin()


def test_families_that_are_not_compared_say_why() -> None:
    some = record()
    some.families["halo"].comparison = Comparison(reason="spin or cc is not installed")
    assert "halo is not compared: spin or cc is not installed." in report(some)


def test_a_record_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    assert load(file) == Record()
    save(record(), file)
    assert load(file) == record()
