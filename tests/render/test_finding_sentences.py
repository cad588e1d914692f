"""A finding has one place and one sentence in all formats, over the corpus."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgasrob.batch.job import Job, find_programs
from pgasrob.lsp.diagnostics import diagnostics
from pgasrob.lsp.edited_program import Found
from pgasrob.render.brief import brief
from pgasrob.render.finding_sentences import LONGEST, fitting
from pgasrob.render.findings import gcc, github, in_json
from pgasrob.render.lines import plain as plain_lines
from pgasrob.render.races_json import checked_with_races
from pgasrob.render.result_forms import VerdictForm
from pgasrob.render.result_report import report
from pgasrob.render.sarif import findings, plain, to_sarif
from pgasrob.render.verdict_json import Result
from pgasrob.robustness.limits import Limits
from pgasrob.robustness.question import Synchronisation
from tests.support import check_all, sampled

ROOT = Path(__file__).parents[2]
PROGRAMS = [Path(file) for file in find_programs([str(ROOT / "programs")])[0]]
Place = tuple[int | None, int | None]
Sentences = list[tuple[Place, str]]


@pytest.fixture(scope="module")
def results() -> list[Result]:
    """Those of the corpus with findings, of one program in 80; with --nightly of all."""
    job = Job(asked=Synchronisation(), limits=Limits(timeout=60))
    checked = check_all([str(path) for path in sampled(PROGRAMS, 80)], job)
    return [result for result in map(checked_with_races, checked) if findings(result)]


def of_sarif(result: Result) -> Sentences:
    found = []
    for each in json.loads(to_sarif([result]))["runs"][0]["results"]:
        region = each["locations"][0]["physicalLocation"].get("region", {})
        found.append(((region.get("startLine"), region.get("startColumn")), plain(each["message"])))
    return found


def of_lines(lines: Iterator[str]) -> Sentences:
    """Those of lines as compilers print them, without notes and without what comes after the sentence."""
    matches = (
        re.fullmatch(r"[^:]+(?::(\d+):(\d+))?: (?:error|warning|note)(?:\[\w+\])?: (.*)", line) for line in lines
    )
    return [(place_of(each[1], each[2]), re.sub(r" \[[\w-]+\]$", "", each[3])) for each in matches if each]


def place_of(line: str | None, column: str | None) -> Place:
    return (int(line) if line else None, int(column) if column else None)


def of_github(result: Result) -> Sentences:
    found = []
    for each in findings(result):
        (line,) = github(each)
        properties, _, text = line.removeprefix("::").partition("::")
        numbers = dict(re.findall(r"\b(line|col)=(\d+)", properties))
        first = text.split("%0A")[0].replace("%25", "%")
        found.append((place_of(numbers.get("line"), numbers.get("col")), first))
    return found


def of_editor(result: Result) -> Sentences:
    """Those of the language server, which leaves out what is found twice at a place."""
    file = result["file"]
    published = diagnostics([Found(2, "", tuple(findings(result)), ())], file, str, {file: Path(file).read_text()})
    return [
        ((each.range.start.line + 1, each.range.start.character + 1), each.message)
        for of_file in published.values()
        for each in of_file
    ]


def test_every_format_has_the_same_place_and_the_same_sentence(results: list[Result]) -> None:
    assert len(results) >= len(sampled(PROGRAMS, 80)) // 5 > 1
    for result in results:
        wanted = of_sarif(result)
        assert all(0 < len(sentence) <= LONGEST for _, sentence in wanted), wanted
        assert of_lines(line for each in findings(result) for line in list(gcc(each))[:1]) == wanted
        assert of_lines(brief(result))[: len(wanted)] == wanted
        assert [((each["line"], each["column"]), each["message"]) for each in in_json(result)["findings"]] == wanted
        row = VerdictForm().row(result)
        assert ((row["line"], row["column"]), row["message"]) == wanted[0]
        if all(column for (_, column), _ in wanted):
            assert of_github(result) == [(place, sentence) for place, sentence in wanted] or any(
                each["locations"][0]["physicalLocation"]["region"].get("endLine") != line
                for each, ((line, _), _) in zip(findings(result), wanted, strict=True)
            )  # GitHub has no columns where a finding goes over lines
            assert set(of_editor(result)) <= set(wanted)
        # In a report and on a page the headline says that the program is not robust.
        whole = " ".join(plain_lines(report(result)).split())
        for each, (_, sentence) in zip(findings(result), wanted, strict=True):
            if each["ruleId"] == "not-robust" and (why := sentence.partition(": ")[2]):
                assert why.rstrip(".") in whole


def test_a_long_wording_gives_way_to_a_shorter_one() -> None:
    words = "word " * 100
    assert fitting(words, "in short") == "in short"
    cut = fitting(words)
    assert len(cut) <= LONGEST and cut.endswith("word ...")
