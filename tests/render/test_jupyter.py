"""What Jupyter shows: well-formed fragments that hold what is known, leave the page around alone, and escape names."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

import pgasrob
from pgasrob.diagnostics import Diagnostic
from pgasrob.drawing.palette import COLOURS
from pgasrob.frontends.lower import parse_c
from pgasrob.program.parser import parse
from pgasrob.program.program import Program
from pgasrob.render import jupyter
from pgasrob.render.verdict_json import to_json
from pgasrob.robustness.reasons import StateLimit
from pgasrob.robustness.verdict import Stats, Verdict, Witness

ROOT = Path(__file__).parents[2]
ONE_TO_ONE = ROOT / "programs/one_to_one/one_to_one.pgas"
DEADLOCK = "memory flag; register r; process { await(mem[flag] == 1); mem[flag] <- 1; assert(0); }"
FAILS = "memory x; process { mem[x] <- 1; assert(0); }"
FAULTS = "memory x; register r; process { r <- 1 / r; }"
PUT = """#include <shmem.h>
// 5 < 6 && "quotes"
static int cell;
int main(void)
{
\tshmem_init();
\tshmem_p(&cell, 1, (shmem_my_pe() + 1) % shmem_n_pes());
\tshmem_finalize();
}
"""
HOSTILE = "<script>alert('1')<b>&\n\u202e.pgas"


@pytest.fixture(scope="module")
def program() -> Program:
    return pgasrob.load(ONE_TO_ONE)  # type: ignore[return-value]


@pytest.fixture(scope="module")
def verdict(program: Program) -> Verdict:
    return pgasrob.check(program)


def read(fragment: str | None) -> ElementTree.Element:
    """``fragment`` as an XML parser understands it; without names of XML's own."""
    assert fragment is not None
    root = ElementTree.fromstring(fragment)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return root


def text(element: ElementTree.Element) -> str:
    """All that ``element`` says, the style sheets left out and no-break spaces as others."""
    for parent in list(element.iter()):
        for child in parent.findall("style"):
            child.text = ""
    return "".join(element.itertext()).replace("\u00a0", " ")


def classed(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [element for element in root.iter() if name in element.attrib.get("class", "").split()]


# Verdicts


def test_a_violation_is_shown_with_its_run_and_its_cycle(verdict: Verdict) -> None:
    root = read(verdict._repr_html_())
    result = to_json(verdict)
    witness = result["effect_run"]
    assert witness and witness["cycle"] and result["witness"]
    assert len(root.findall(".//svg")) == 1
    assert len(classed(root, "event")) == len(witness["computation"]) == 12
    assert [item.text and item.text[:4] for item in root.findall(".//li")] == ["cf: ", "id: ", "po: ", "id: ", "po: "]
    said = text(root)
    assert "one_to_one not robust on 2 nodes" in said
    seen = "in which the assertion of rank 0 in line 14 fails"
    assert f"A run on the network that no SC run looks like, {seen}. Initially x = 1 on every rank; all else" in said
    assert "So step 8 would have to come before itself." in said
    assert str(ONE_TO_ONE) in said
    assert "portfolio engine (traces): " in said


def test_one_state_is_no_states(verdict: Verdict) -> None:
    little = replace(verdict, stats=Stats(states=1, seconds=0.5, sequential_states=1))
    assert "portfolio engine: 1 state, 1 SC state, 0.50 s" in text(read(little._repr_html_()))


def test_the_diagram_alone_says_what_it_shows(verdict: Verdict) -> None:
    root = read(verdict._repr_svg_())
    assert root.tag == "svg"
    assert "not robust" in text(root) and "So step 8 would have to come before itself." in text(root)


def test_a_robust_verdict_is_a_few_sentences() -> None:
    robust = pgasrob.check(parse("memory x; process { mem[x] <- 1; barrier; }", "r.pgas"), nodes=3)
    assert robust._repr_svg_() is None
    root = read(robust._repr_html_())
    assert not root.findall(".//svg") and not root.findall(".//li")
    assert "On 3 nodes every run on the network looks like a sequentially consistent (SC) run." in text(root)
    assert "No rank accesses the memory of another one" in text(root)


@pytest.mark.parametrize(
    ("source", "runs", "said"),
    [
        (FAILS, 1, "An SC run in which the assertion in line 1 fails"),
        (FAULTS, 0, "division by zero: 1 / 0"),
        (DEADLOCK, 0, "rank 1 stands before await(mem[flag] == 1) (line 1; flag@1 = 0)"),
        ("memory x; process 0 { mem[x] <- 1; barrier; } process { mem[x] <- 2; }", 1, "rank 1 has ended"),
    ],
)
def test_other_runs_are_shown_too(source: str, runs: int, said: str) -> None:
    found = pgasrob.check(parse(source, "s.pgas"))
    root = read(found._repr_html_())
    assert len(root.findall(".//svg")) == runs
    assert (found._repr_svg_() is not None) == bool(runs)
    assert said in text(root)


def test_what_is_wrong_with_a_text_is_shown() -> None:
    finding = Diagnostic("PG010", "expected ';' & more", "a.pgas", 3, 5, 2, "  r < 1", "write <b>;</b>")
    wrong = Verdict("a.pgas", None, None, "attack", "error", errors=(finding,))
    root = read(wrong._repr_html_())
    assert [block.text for block in root.findall("pre")] == [finding.render()]
    assert text(root).strip().startswith("a.pgas error")
    assert wrong._repr_svg_() is None


def test_an_unknown_verdict_says_why() -> None:
    unknown = Verdict("a.pgas", "a", 2, "attack", "unknown", reason=StateLimit(5))
    assert "the limit of 5 states was reached" in text(read(unknown._repr_html_()))


def test_a_very_long_run_is_not_drawn(verdict: Verdict, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jupyter, "MOST_EVENTS", 8)
    root = read(verdict._repr_html_())
    assert not root.findall(".//svg") and len(root.findall(".//li")) == 5
    assert "Its 12 events are too many to be drawn here." in text(root)
    assert verdict._repr_svg_() is None


# Programs


def test_a_program_is_its_text_with_line_numbers(program: Program) -> None:
    root = read(program._repr_html_())
    (listing,) = root.findall("pre")
    lines = "".join(listing.itertext()).split("\n")
    assert lines == [f"{number:>2}  {line}" for number, line in enumerate(ONE_TO_ONE.read_text().splitlines(), 1)]
    assert len(classed(listing, "pgasrob-number")) == len(lines)
    assert [line.text for line in classed(root, "pgasrob-mono")] == ["memory x = 1, y", "register r", "queue q"]


def test_the_control_automata_are_drawn_while_they_are_small(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    titles = [f"control automaton of rank {rank}" for rank in (0, 1)]
    shown = read(program._repr_svg_())
    assert [each.text for each in shown.findall("text")] == titles
    (details,) = read(program._repr_html_()).findall("details")
    assert [each.text for each in details.findall(".//svg/text")] == titles
    monkeypatch.setattr(jupyter, "MOST_STATES", 9)
    assert program._repr_svg_() is None
    assert not read(program._repr_html_()).findall("details")


def test_a_program_that_cannot_be_instantiated_is_shown_all_the_same() -> None:
    lacking = parse("nodes 2; process 0 { barrier; }", "l.pgas")
    assert lacking._repr_svg_() is None
    assert "process 0 { barrier; }" in text(read(lacking._repr_html_()))


def test_declarations() -> None:
    declared = parse("memory a[3] = {1, -2}, b[2], c = 7, d[20] = {1}; queue q, p unordered; process { skip; }")
    assert [line.text for line in classed(read(declared._repr_html_()), "pgasrob-mono")] == [
        "memory a[3] = {1, -2, 0}, b[2], c = 7, d[20] = {1, 0, 0, 0, 0, 0, 0, 0, ...}",
        "queue q, p unordered",
    ]


def test_a_program_without_a_text_has_one_all_the_same(program: Program) -> None:
    root = read(replace(program, source=parse("process { skip; }").source.__class__("made", ""))._repr_html_())
    assert "  write(x, (me + 1) % nodes, y, q);" in text(root)


def test_a_c_program_is_shown_as_it_stands() -> None:
    program = parse_c(PUT, "put.c")
    root = read(program._repr_html_())
    (listing,) = root.findall("pre")
    assert '\n2  // 5 < 6 && "quotes"\n' in "".join(listing.itertext())
    assert "\n6      shmem_init();\n" in "".join(listing.itertext())
    assert [line.text for line in classed(root, "pgasrob-mono")] == ["C with openshmem"]
    assert "put(" in text(read(program._repr_svg_())) or "update(" in text(read(program._repr_svg_()))


# On somebody else's page


def fragments(program: Program, verdict: Verdict) -> list[str]:
    deadlock = pgasrob.check(parse(DEADLOCK, "d.pgas"))
    found = [program._repr_html_(), program._repr_svg_(), verdict._repr_html_(), verdict._repr_svg_()]
    return [fragment for fragment in [*found, deadlock._repr_html_()] if fragment]


def test_nothing_has_an_id_or_runs_or_is_fetched(program: Program, verdict: Verdict) -> None:
    for fragment in fragments(program, verdict):
        for element in read(fragment).iter():
            assert element.tag not in ("script", "link", "img", "iframe")
            assert not {"id", "href", "src"} & set(element.attrib)
            assert not any(name.startswith("on") for name in element.attrib)
        assert "url(" not in fragment and "@import" not in fragment


def test_every_rule_is_about_our_own_elements(program: Program, verdict: Verdict) -> None:
    ours = re.compile(r"(\S+ )?\.(pgasrob|pg-run|pg-graph|pg-stage)\b(?!-)")
    for fragment in fragments(program, verdict):
        for sheet in re.findall(r"<style>(.*?)</style>", fragment, re.DOTALL):
            flat = re.sub(r"@media[^{]*\{((?:[^{}]*\{[^{}]*\})*)\s*\}", r"\1", sheet)
            selectors = [one.strip() for rule in re.findall(r"([^{}]+)\{[^{}]*\}", flat) for one in rule.split(",")]
            assert selectors
            assert [one for one in selectors if not ours.match(one)] == []
            assert flat.count("{") == flat.count("}")


def test_a_dark_page_sets_every_colour_of_the_drawings(verdict: Verdict) -> None:
    sheet = verdict._repr_html_()
    light = sheet[sheet.index("\n.pgasrob{") :].partition("}")[0]
    dark = sheet[sheet.index('[data-jp-theme-light="false"] .pgasrob') :].partition("}")[0]
    for name, (pale, deep) in COLOURS.items():
        assert re.search(rf"--pg-{name}:[^;]*{pale}", light), name
        assert re.search(rf"--pg-{name}:[^;]*{deep}", dark), name


def test_names_and_texts_are_escaped(program: Program, verdict: Verdict) -> None:
    source = parse(f"// {HOSTILE.partition(chr(10))[0]}\nprocess {{ skip; }}", HOSTILE)
    shown = read(source._repr_html_())
    assert r"<script>alert('1')<b>&\n\u202e.pgas" in text(shown)
    renamed = replace(verdict, file=HOSTILE, program=HOSTILE)
    for fragment in (renamed._repr_html_(), renamed._repr_svg_()):
        assert "<script" not in str(fragment)
        assert r"<script>alert('1')<b>&\n\u202e.pgas" in text(read(fragment))
    assert "<script" not in source._repr_html_()


def test_a_check_does_not_load_what_draws_and_drawing_nothing_large() -> None:
    code = (
        "import sys, pgasrob; verdict = pgasrob.check(pgasrob.load('programs/one_to_one/one_to_one.pgas'));"
        "print([name for name in sys.modules if name.startswith('pgasrob.render')]);"
        "verdict._repr_html_(); print('pgasrob.render.run_svg' in sys.modules);"
        "pgasrob.load('programs/spin_lock/spin_lock.pgas')._repr_html_();"
        "print([name for name in ('automata', 'sympy', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "True", "[]"]


def test_the_same_verdict_gives_the_same_text(verdict: Verdict) -> None:
    """So that a notebook that is run again does not change."""
    assert verdict._repr_html_() == verdict._repr_html_()
    assert isinstance(verdict.witness, Witness)
