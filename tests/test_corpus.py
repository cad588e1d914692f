"""The corpus: every program has the verdict its header states, by all engines, and the catalogue is up to date."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pgasrob
from pgasrob.api import check
from pgasrob.batch.job import Checked, Job, find_programs
from pgasrob.program.expectation import READINGS, read_expectation
from pgasrob.program.reading import DEFAULT_READING, LITERAL_READING, Reading
from pgasrob.render.corpus_catalogue import Entry, make_catalogue, reason, without_times
from pgasrob.robustness.engines import DEFAULT_ENGINE
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import EngineChoice, Robustness, Synchronisation
from pgasrob.robustness.synchronisation import as_expected_in_headers, synchronised
from pgasrob.robustness.verdict import Verdict
from tests.support import check_all, is_nightly, sampled

ROOT = Path(__file__).parents[1]
PROGRAMS = [Path(file) for file in find_programs([str(ROOT / "programs")])[0]]
CORE = [path for path in PROGRAMS if path.suffix == ".pgas"]
C = [path for path in PROGRAMS if path.suffix == ".c"]

# Operations pile up without bound in these, so that seeing every computation has no end.
UNBOUNDED = {
    "puts_in_a_loop", "read_loop_disjoint",
    "loop_captured_puts", "loop_endless_puts", "loop_flag_taken_back", "loop_gets", "loop_source_reused_wait",
    "loop_two_sources",
}  # fmt: skip
# The paper's engines, in Python, would look at half a million states of these, and at many millions of some.
TOO_LARGE = {
    "grid_two_wide", "hypercube_guarded", "hypercube_no_wait", "hypercube_powers_of_two", "row_leaders",
    "torus_three_wide",
}  # fmt: skip
SMALL = [path for path in CORE if path.stem not in TOO_LARGE]


def expected(path: Path, nodes: int) -> str | None:
    expectation = read_expectation(path.read_text(), str(path))
    return expectation.at(nodes) if expectation else None


def illegal_calls(path: Path) -> set[str]:
    """The rules that a program breaks, as its header says (`// illegal: mpi-no-epoch`); none where it says nothing."""
    line = re.search(r"^// illegal: (.*)$", path.read_text(), re.MULTILINE)
    return set(line[1].split(", ")) if line else set()


def test_the_corpus_is_large_and_says_why() -> None:
    assert len(CORE) >= 249
    assert len(C) >= 168
    assert len({path.stem for path in CORE}) == len(CORE)
    assert not [path for path in PROGRAMS if len(reason(path.read_text())) < 20]


def checked(
    engine: str, paths: list[Path], limits: Limits | None = None, reading: Reading = DEFAULT_READING
) -> list[Checked]:
    asked = Synchronisation() if engine == DEFAULT_ENGINE else Robustness()
    job = Job(asked=asked, engine=EngineChoice(engine), expect=True, limits=limits or Limits(), reading=reading)
    return list(check_all([str(path) for path in paths], job))


def wrong(found: list[Checked]) -> list[tuple[str, str, str | None]]:
    """What is not as the header says: the verdict, and whether it is correctly synchronised where that is said."""
    verdicts = [(one.file, one.verdict.verdict, one.expected) for one in found]
    return [each for each in verdicts if each[1] != each[2]] + [
        (one.file, answer, one.expected_synchronised)
        for one in found
        if one.expected_synchronised is not None and (answer := answer_of(one.verdict)) != one.expected_synchronised
    ]


def answer_of(verdict: Verdict) -> str:
    found = synchronised(verdict)
    return as_expected_in_headers(found) if found else "error"


def test_an_engine_of_the_paper_finds_what_is_expected() -> None:
    """It cannot do large C programs; of those of the calculus it decides one in fifty, with --nightly all."""
    chosen = sampled(SMALL, 50)
    assert len(chosen) > len(CORE) // 80
    assert not wrong(checked("product", chosen))


READ_IN_TWO_WAYS = [path for path in PROGRAMS if "\n// expect with " in path.read_text()]


@pytest.mark.parametrize(
    "reading",
    [pytest.param(each, marks=[pytest.mark.nightly] * (each == LITERAL_READING)) for each in READINGS.values()],
    ids=READINGS,
)
def test_another_reading_has_the_verdict_that_is_expected_of_it(reading: Reading) -> None:
    """One in two of the programs that it makes a difference to, and one in 160 of the others; with --nightly all."""
    others = sampled([path for path in PROGRAMS if path not in READ_IN_TWO_WAYS], 160)
    two_ways = sampled(READ_IN_TWO_WAYS, 2)
    assert len(two_ways) >= 8 and len(others) > len(PROGRAMS) // 240
    found = checked(DEFAULT_ENGINE, [*two_ways, *others], reading=reading)
    assert not wrong(found)


@pytest.mark.parametrize("reading", READINGS.values(), ids=READINGS)
@pytest.mark.parametrize("path", [path for path in CORE if path in READ_IN_TWO_WAYS], ids=lambda path: path.stem)
def test_all_engines_read_a_program_in_two_ways(path: Path, reading: Reading) -> None:
    expectation = read_expectation(path.read_text(), str(path))
    assert expectation is not None
    for engine in ("product", "definition"):
        verdict = check(pgasrob.load(path), engine=engine, effect=False, **reading._asdict())
        assert verdict.nodes is not None
        unbounded = engine == "definition" and verdict.verdict == "unknown"
        assert unbounded or verdict.verdict == expectation.at(verdict.nodes, reading)


@pytest.mark.parametrize("engine", ["product", pytest.param("definition", marks=pytest.mark.nightly)])
def test_a_second_engine_agrees_on_c_where_it_can_decide(engine: str) -> None:
    """Not on large programs, of which it looks at a few thousand states; on one in 120, with --nightly on all."""
    chosen = sampled(C, 120)
    assert len(chosen) > len(C) // 200
    decided = [one for one in checked(engine, chosen, Limits(3000, 60)) if one.verdict.verdict != "unknown"]
    assert not wrong(decided)
    assert len(decided) > len(chosen) * 2 // 3


STORE_BUFFERING = {"2_09_sb_shmem_quiet.c", "own_flag.c", "own_flag_fence.c"}
"""In these who is first decides."""


LARGE = {
    "command_loop.c", "gaspi_credits.c", "stencil_2d.c", "stencil_2d_no_fence.c",
    "puts_in_a_loop_unordered.pgas", "read_loop.pgas", "read_loop_disjoint_unordered.pgas",
}  # fmt: skip
"""These take half of the time for all."""


def test_the_default_engine_finds_what_is_expected_and_the_catalogue_is_up_to_date() -> None:
    """It pins verdicts and state counts; one test, for all of it needs one run of all programs (but those that are
    large, without --nightly).

    A C program about robustness that is repaired has nothing else that is wrong but what its header names.
    """
    chosen = [path for path in PROGRAMS if is_nightly() or path.name not in LARGE]
    found = checked(DEFAULT_ENGINE, chosen)
    assert not wrong(found)
    illegal = {path.name: illegal_calls(path) for path in chosen if path in C}
    assert illegal == {
        Path(one.file).name: {each.call.rule.code for each in one.verdict.illegal_calls}
        for one in found
        if Path(one.file).suffix == ".c"
    }
    robust = {
        Path(one.file).name: one
        for one in found
        if one.verdict.verdict == "robust" and not illegal.get(Path(one.file).name) and one.file.endswith(".c")
    }
    assert len(robust.keys() - STORE_BUFFERING) > len(C) // 3
    assert {
        name: (answer_of(one.verdict), one.expected_synchronised or "yes")
        for name, one in robust.items()
        if name not in STORE_BUFFERING and answer_of(one.verdict) != (one.expected_synchronised or "yes")
    } == {}
    entries = [
        Entry(path.relative_to(ROOT / "programs"), path.read_text(), one.verdict)
        for path, one in zip(chosen, found, strict=True)
    ]
    made = make_catalogue(entries, "pgasrob catalogue programs")
    kept = (ROOT / "programs" / "README.md").read_text()
    if not is_nightly():
        left_out = re.compile(rf"^(\d+ programs: .*|.*/({'|'.join(LARGE)})\).*)\n", re.MULTILINE)
        kept, made = (left_out.sub("", text) for text in (kept, made))
    assert without_times(kept) == without_times(made), "stale: run `pgasrob catalogue programs`"


@pytest.mark.parametrize("path", sampled(SMALL, 40), ids=lambda path: path.stem)
def test_definition_finds_what_is_expected(path: Path) -> None:
    verdict = pgasrob.check(pgasrob.load(path), engine="definition", effect=False)
    assert verdict.nodes is not None
    assert verdict.verdict == ("unknown" if path.stem in UNBOUNDED else expected(path, verdict.nodes))


def ranges() -> list[tuple[Path, int]]:
    """Programs whose header speaks of several node counts, with each of these counts."""
    found = []
    for path in PROGRAMS:
        expectation = read_expectation(path.read_text(), str(path))
        for case in expectation.cases if expectation else ():
            found += [(path, count) for count in case.counts or ()]
    return found


@pytest.mark.parametrize(("path", "nodes"), ranges(), ids=lambda value: getattr(value, "stem", value))
def test_headers_with_several_counts_hold_for_each(path: Path, nodes: int) -> None:
    assert pgasrob.check(pgasrob.load(path), nodes, effect=False).verdict == expected(path, nodes)


@pytest.mark.nightly
@pytest.mark.parametrize("path", CORE, ids=lambda path: path.stem)
def test_four_heads_never_say_otherwise(path: Path) -> None:
    """The paper's four heads; a limit may stop them, but a verdict of theirs is the expected one."""
    verdict = pgasrob.check(pgasrob.load(path), engine="product", heads=4, limits=pgasrob.Limits(500_000, 30))
    assert verdict.nodes is not None
    assert verdict.verdict in ("unknown", expected(path, verdict.nodes))
