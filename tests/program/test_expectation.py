"""What a file says about itself in its first comment."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgasrob.diagnostics import SourceError
from pgasrob.program.expectation import Case, Expectation, node_count, read_expectation
from pgasrob.program.reading import Reading

CORPUS = sorted(Path(__file__).parents[2].glob("programs/**/*.pgas"))


@pytest.mark.parametrize("verdict", ["robust", "not robust", "error"])
@pytest.mark.parametrize(
    "comment", ["// expect: {}", "//expect:{}", "/* expect: {} */", "/*\n * expect: {}\n */", " \n// expect: {}\r\n"]
)
def test_one_verdict_is_for_every_count(verdict: str, comment: str) -> None:
    expectation = read_expectation(comment.format(verdict) + "\nprocess { }")
    assert expectation == Expectation((Case(verdict),))
    assert [expectation.at(nodes) for nodes in (None, 1, 4096)] == [verdict] * 3


def test_counts_are_looked_up_and_others_fall_back_to_the_case_without() -> None:
    some = read_expectation("// expect: robust at 2..3, not robust at 5")
    assert some is not None
    assert [some.at(nodes) for nodes in (None, 1, 2, 3, 4, 5, 6)] == [
        None, None, "robust", "robust", None, "not robust", None,
    ]  # fmt: skip
    all_others = read_expectation("// expect: error at 1,  robust,not robust at 4..5")
    assert all_others is not None
    assert [all_others.at(nodes) for nodes in (None, 1, 2, 4, 5, 6)] == [
        "robust", "error", "robust", "not robust", "not robust", "robust",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "",
        "process { }",
        "// A program without a header.\nprocess { }",
        "// What we expect: nothing.",
        "// Expect nothing.",
        "// expected to hold, robust or not",
        "program p; // a comment, not at the head\n",
        'char *text = "expect: robust";',
    ],
)
def test_files_that_expect_nothing(text: str) -> None:
    assert read_expectation(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "// expect: robust\n// nodes: 4\nint main(void) { }",
        "/* expect: robust */ /* nodes: 4 */ int main(void) { }",
        "/* expect: robust\n   nodes: 4\n */\n#include <shmem.h>",
        "\ufeff// expect: robust\n// A sentence between.\n\n//nodes:4\n",
        "/* nodes: 4\n * expect: robust */",
    ],
)
def test_c_files_may_give_their_node_count(text: str) -> None:
    assert read_expectation(text) == Expectation((Case("robust"),), 4)


def test_readings_have_expectations_of_their_own() -> None:
    literally, counted, conflicts = Reading("count", "all"), Reading("count"), Reading(conflicts="all")
    text = "// expect: robust\n// Why.\n// expect with failed polls counted: not robust at 3\nint main(void) { }"
    found = read_expectation(text)
    assert found == Expectation((Case("robust"),), None, ((counted, (Case("not robust", range(3, 4)),)),))
    assert [found.at(3, reading) for reading in (Reading(), counted, conflicts, literally)] == [
        "robust", "not robust", "robust", "not robust",
    ]  # fmt: skip
    assert found.at(2, counted) == found.at(2, literally) == "robust"
    both = read_expectation("/* expect: robust\n * Expect  with Failed polls counted and all conflicts: not robust */")
    assert both is not None
    assert [both.at(2, reading) for reading in (Reading(), counted, conflicts, literally)] == [
        "robust", "robust", "robust", "not robust",
    ]  # fmt: skip


def test_a_node_count_may_stand_alone() -> None:
    expectation = read_expectation("// An example.\n// nodes: 3\nint main(void) { }")
    assert expectation == Expectation((), 3)
    assert expectation.at(3) is None


def test_races_are_counted_by_node_counts() -> None:
    some = read_expectation("// expect: robust, error at 9\n// races: none at 2..3,  1 pair at 4, 12 pairs\n// Why.")
    assert some is not None
    assert some.cases == (Case("robust"), Case("error", range(9, 10)))
    assert [some.races_at(nodes) for nodes in (None, 2, 3, 4, 5)] == ["12 pairs", "none", "none", "1 pair", "12 pairs"]
    assert some.at(4) == "robust"
    alone = read_expectation("/* A title.\n * races: 2 pairs at 4\n */")
    assert alone == Expectation((), races=(Case("2 pairs", range(4, 5)),))
    assert [alone.races_at(nodes) for nodes in (2, 4)] == [None, "2 pairs"]


def test_a_program_in_error_has_no_races_to_count() -> None:
    some = read_expectation("// expect: robust, error at 1\n// races: none at 2")
    assert some is not None
    assert [some.races_at(nodes) for nodes in (1, 2, 3)] == ["error", "none", None]


@pytest.mark.parametrize(
    "sentence", ["races with the flag: the wait", "Race: the put", "racing: 3", "races the put", "race\n// conditions"]
)
def test_sentences_about_races_are_no_expectation(sentence: str) -> None:
    assert read_expectation(f"// expect: robust\n// {sentence}\n") == Expectation((Case("robust"),))
    assert read_expectation(f"// expect: robust\nint x;\n// {sentence}\n") == Expectation((Case("robust"),))


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("// races: no", (1, 11), "`no` is not an expectation"),
        ("// races: 0 pairs", (1, 11), "`0 pairs` is not an expectation"),
        ("// races: 1 pairs", (1, 11), "`1 pairs` is not an expectation"),
        ("// races: 2 pair", (1, 11), "`2 pair` is not an expectation"),
        ("// races: 3", (1, 11), "`3` is not an expectation"),
        ("// races: none at 2, 3 pairs at 1..2", (1, 22), "two expectations for 2 nodes"),
        ("// races: none, 3 pairs", (1, 17), "two expectations for every node count"),
        ("// races: none\n// races: none", (2, 4), "a second expectation of races"),
        ("// race: 3 pairs", (1, 4), "the races that are expected are written `races: ...`"),
        ("// Races: none", (1, 4), "the races that are expected are written `races: ...`"),
        ("// races none", (1, 4), "the races that are expected are written `races: ...`"),
        ("// races with awaits: 3 pairs", (1, 4), "the races that are expected are written `races: ...`"),
        ("int x;\n// races: 3 pairs", (2, 4), "an expectation that is not at the head"),
        ("// expect: robsut", (1, 12), "`robsut` is not an expectation"),
        ("// expect: unknown", (1, 12), "`unknown` is not an expectation"),
        ("// expect: Robust", (1, 12), "`Robust` is not an expectation"),
        ("// expect: robust at 2..3; error", (1, 12), "`robust at 2..3; error` is not an expectation"),
        ("// expect: robust at two", (1, 12), "`robust at two` is not an expectation"),
        ("// expect: robust at 2..", (1, 12), "`robust at 2..` is not an expectation"),
        ("// expect: robust at 2, error when large", (1, 25), "`error when large` is not an expectation"),
        ("// expect:", (1, 11), "an expectation is missing"),
        ("// expect: robust,", (1, 19), "an expectation is missing"),
        ("// expect: robust at 3..2", (1, 12), "no node count is in 3..2"),
        ("// expect: robust at 0", (1, 12), "0 nodes, but a program runs on 1..4096"),
        ("// expect: robust at 2..4097", (1, 12), "4097 nodes, but a program runs on 1..4096"),
        ("// expect: robust at 2..4, error at 4", (1, 28), "two expectations for 4 nodes"),
        ("// expect: robust, error", (1, 20), "two expectations for every node count"),
        ("// Expect: robust", (1, 4), "an expectation is written `expect: ...`"),
        ("// expected: robust", (1, 4), "an expectation is written `expect: ...`"),
        ("// expect robust", (1, 4), "an expectation is written `expect: ...`"),
        ("// expect not robust", (1, 4), "an expectation is written `expect: ...`"),
        ("/* expect: robust\n   expect: error */", (2, 4), "a second expectation"),
        ("// A title.\n// expect: robust\n", (2, 4), "an expectation that is not in the first comment"),
        ("// expect: robust\n// expect: robust", (2, 4), "an expectation that is not in the first comment"),
        ("process { }\n  // expect: robust", (2, 6), "an expectation that is not in the first comment"),
        ("#include <shmem.h>\n/* expect: error */", (2, 4), "an expectation that is not in the first comment"),
        ("#include <shmem.h>\n/*\n * expect: error\n */", (3, 4), "an expectation that is not in the first comment"),
        ("// expect with polls: robust", (1, 16), "`polls` is no reading"),
        ("// expect with : robust", (1, 16), "`` is no reading"),
        ("// expect with all conflicts: robsut", (1, 31), "`robsut` is not an expectation"),
        ("// expect with all conflicts: error\n// expect with all conflicts: error", (2, 4), "a second expectation"),
        ("int x;\n// expect with all conflicts: error", (2, 4), "an expectation that is not in the first comment"),
        ("// rdma_tso: robust", (1, 4), "`rdma_tso` is no network"),
        ("// RDMA-TSO: not robust at 2", (1, 4), "`RDMA-TSO` is no network"),
        ("// expect: robust\n// rdma: refused", (2, 4), "`rdma` is no network"),
        ("// CoreRMA : robust", (1, 4), "`CoreRMA` is no network"),
        ("// rdma-tos no-pcie: robust", (1, 4), "`rdma-tos` is no network"),
        ("// rdma-tso nopcie: robust", (1, 4), "`rdma-tso` has no variant `nopcie` here"),
        ("// rdma-tso no-pcie vpi: robust", (1, 4), "`rdma-tso` has no variant `vpi` here"),
        ("// corerma vpi: robust", (1, 4), "`corerma` has no variant `vpi` here"),
        ("// tso placed: nonsense", (1, 4), "`tso` has no variant `placed` here"),
        (
            "// rdma-tso no-pcie: robust\n// rdma-tso no-pcie: robust",
            (2, 4),
            "a second expectation for rdma-tso no-pcie",
        ),
        ("// nodes: many", (1, 11), "`many` is not a node count"),
        ("// expect: robust\n// nodes: 0", (2, 11), "0 nodes, but a program runs on 1..4096"),
        ("// nodes: 99999999999", (1, 11), "`99999999999` is not a node count"),
    ],
)
def test_what_is_meant_as_an_expectation_is_never_passed_over(text: str, place: tuple[int, int], message: str) -> None:
    with pytest.raises(SourceError) as caught:
        read_expectation(text, "x.c")
    (only,) = caught.value.diagnostics
    assert (only.code, only.file, only.message) == ("PG070", "x.c", message)
    assert (only.line, only.column) == place
    assert only.hint


@pytest.mark.parametrize(
    "sentence",
    [
        "note: robust", "Also: not robust", "this one: robust", "core: robust", "on TSO machines it is: not robust",
        "rdma-tso: not robust at 2", "RDMA-TSO: InfiniBand", "TSO as such: robust",
        "TSO and others: a comparison", "verbs: robust on RDMA",
    ],
)  # fmt: skip
def test_comments_that_are_not_about_a_network(sentence: str) -> None:
    found = read_expectation(f"// expect: robust\n// {sentence}\n")
    assert found is not None and found.cases == (Case("robust"),)
    assert bool(found.networks) == sentence.startswith("rdma-tso")


def test_the_network_that_is_meant_is_named() -> None:
    hints = {
        "rdma_tso: robust": "did you mean `rdma-tso`?",
        "rdma-tso nopcie: robust": "did you mean `no-pcie`?",
        "corerma vpi: robust": "write `corerma: ...`; `pgasrob check --network` has no others",
    }
    for line, hint in hints.items():
        with pytest.raises(SourceError) as caught:
            read_expectation(f"// {line}")
        assert caught.value.diagnostics[0].hint == hint
    assert node_count("// nodes: 3\n// rdma_tso: robust") == 3


def test_the_mistake_is_shown() -> None:
    with pytest.raises(SourceError) as caught:
        read_expectation("/* expect: robust at 2, nothing at 3 */", "x.c")
    assert str(caught.value).startswith(
        "x.c:1:25: error[PG070]: `nothing at 3` is not an expectation\n"
        "    1 | /* expect: robust at 2, nothing at 3 */\n"
        "      |                         ^^^^^^^^^^^^\n"
    )


@given(st.text(alphabet="expctrobusnadi:.0123, \n/*\t", max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        expectation = read_expectation(text)
    except SourceError:
        return
    assert expectation is None or expectation.cases or expectation.nodes


@pytest.mark.parametrize("file", CORPUS, ids=lambda file: file.stem)
def test_every_program_of_the_corpus_says_what_is_expected(file: Path) -> None:
    expectation = read_expectation(file.read_text(encoding="utf-8"), str(file))
    assert expectation is not None
    assert expectation.cases


def test_memory_models() -> None:
    some = read_expectation("// expect: robust\n// unified: defined at 2..3,  undefined\n// separate: eventual\n")
    assert some is not None
    assert [some.status_at("unified", nodes) for nodes in (2, 3, 4, None)] == ["defined", "defined"] + 2 * ["undefined"]
    assert some.status_at("separate", 2) == "eventual"
    plain = read_expectation("// expect: robust\n// Unified windows: one copy.\n// separate windows")
    assert plain == Expectation((Case("robust"),))
    assert plain.status_at("unified", 2) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("// unified: fine", "PG070.*`fine` is not an expectation"),
        ("// unified: defined\n// unified: defined", "a second expectation of the unified model"),
        ("// expect: robust\nint x;\n// separate: undefined", "an expectation that is not at the head"),
    ],
)
def test_wrong_memory_models(text: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        read_expectation(text)


def test_synchronisation() -> None:
    text = (
        "// expect: robust\n// synchronised: yes at 2, no (race, stuck) at 3..4, no (illegal, not robust)\nprocess { }"
    )
    found = read_expectation(text)
    assert found is not None
    assert [found.synchronised_at(nodes) for nodes in (2, 3, 4, 5)] == [
        "yes", "no (stuck, race)", "no (stuck, race)", "no (illegal, not robust)",
    ]  # fmt: skip
    plain = read_expectation("// expect: robust\nprocess { }")
    assert plain is not None and plain.synchronised_at(2) is None
    assert read_expectation("// synchronised programs have no race that matters.\nprocess { }") is None


def test_synchronisation_alone() -> None:
    """It says what is expected of robustness, too."""
    found = read_expectation("// synchronised: yes at 2, no (race, stuck) at 3, no (not robust)\nprocess { }")
    assert found is not None and found.counts == (2, 3)
    assert [found.at(nodes) for nodes in (2, 3, 4, "all")] == ["robust", "robust", "not robust", "not robust"]
    assert read_expectation("// synchronised: yes\n// expect with all conflicts: not robust\nprocess { }") is not None
    stated = read_expectation("// expect: not robust\n// synchronised: yes\nprocess { }")
    assert stated is not None and stated.at(2) == "not robust"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("// synchronised: no", "`no` is not an expectation"),
        ("// synchronised: no (deadlock)", "`no (deadlock)` is not an expectation"),
        ("// synchronised: yes\n// synchronised: yes", "a second expectation of synchronisation"),
        ("process { }\n// synchronised: no (race)", "an expectation that is not at the head"),
    ],
)
def test_wrong_synchronisation(text: str, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        read_expectation(text)
    assert caught.value.diagnostics[0].message == message


@pytest.mark.parametrize("text", ["// nodes with{}x", "// expect with{}x", "/* {} */", "// races:{}x"])
def test_very_many_blanks_take_no_longer_than_other_text(text: str) -> None:
    """With a try from each blank, or each two, this would not end today."""
    node_count(text.replace("{}", " " * 50_000) + "\nint main(void) { return 0; }", "p.c")
