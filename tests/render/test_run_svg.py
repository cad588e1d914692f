"""The SVG of a run: well formed, complete, readable without colour, and with no text on another one in a browser."""

from __future__ import annotations

import re
import shutil
import subprocess
from copy import deepcopy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from pgasrob.drawing.palette import COLOURS
from pgasrob.render.diagram.folding import fold
from pgasrob.render.diagram.model import edges, shown
from pgasrob.render.diagram.run_layout import layout
from pgasrob.render.run_svg import PRINTED, STYLE, to_svg
from pgasrob.render.verdict_json import Result
from tests.render.diagram.test_model import corpus, event, long_run, result_of, run, with_runs
from tests.render.test_verdict_json import DEADLOCK, ONE_TO_ONE
from tests.support import calls, instance

SVG = "{http://www.w3.org/2000/svg}"


def simulated(witness: Any, name: str = "example.pgas") -> Result:
    """The result of a simulated run."""
    made: dict[str, Any] = {
        "schema": 1, "file": name, "program": "example", "nodes": witness["nodes"], "engine": "attack",
        "verdict": None, "reason": None, "assertions": None, "deadlock": None, "communicates": True, "stats": {},
        "witness": witness, "assertion_run": None, "deadlock_run": None, "errors": [],
    }  # fmt: skip
    return made  # type: ignore[return-value]


def parsed(result: Result, **options: Any) -> ElementTree.Element:
    return ElementTree.fromstring(to_svg(result, **options))


def of_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [each for each in root.iter() if name in each.get("class", "").split()]


def words_in(element: ElementTree.Element) -> str:
    return " ".join("".join(text.itertext()) for text in element.iter(f"{SVG}text"))


def told(root: ElementTree.Element) -> list[tuple[int, int, str, bool]]:
    found = []
    for edge in of_class(root, "edge"):
        _, relation, *cycle = edge.get("class", "").split()
        found.append((int(edge.get("data-from", "")), int(edge.get("data-to", "")), relation, bool(cycle)))
    return found


def test_one_to_one_is_all_there() -> None:
    result = result_of(ONE_TO_ONE)
    witness = shown(result)
    assert witness is not None
    root = parsed(result)
    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title") == "example.pgas on 2 nodes: not robust"
    description = root.findtext(f"{SVG}desc") or ""
    assert description.startswith("A run on the network that no SC run looks like. step ")
    events = of_class(root, "event")
    places = [each.get("data-step") for each in events if each.get("data-step")]
    assert places == [str(place) for place in range(len(witness["computation"]))]
    assert [each.get("id") for each in events if each.get("id")] == [f"pg-e-{place}" for place in places]
    drawn = told(root)
    expected = [
        (edge["from"], edge["to"], edge["relation"], number is not None)
        for edge, number in edges(witness, fold(witness, False))
    ]
    assert sorted(drawn) == sorted(expected)
    numbers = [each.text for each in of_class(root, "number")]
    assert numbers[:9] == [str(place) for place in range(1, 10)]
    rows = of_class(root, "row")
    assert len(rows) == len(layout(witness).rows) == 5
    assert sorted(float(row.get("data-y", "")) for row in rows) == [float(row.get("data-y", "")) for row in rows]
    assert [part.get("data-part") for part in of_class(root, "part")] == ["1", "2"]
    shown_text = words_in(root)
    for text in ("rank 0", "rank 1", "write(x, 1, y, q)", "y@0: 0 → 1", "reads y@0 = 0; r stays 0", "Initially x = 1"):
        assert text in shown_text
    assert "write(x, 1, y, q)" in (events[0].findtext(f"{SVG}title") or "")
    (captions,) = of_class(root, "captions")
    numbers = [badge.get("data-number") for badge in of_class(root, "badge")]
    inside = [badge.get("data-number") for badge in of_class(captions, "badge")]
    assert inside == ["1", "2", "3", "4", "5"] and sorted(numbers) == sorted(inside * 2)
    assert "So step " in words_in(captions) and "program order of rank 0" in words_in(captions)


def test_what_else_is_said_around_the_diagram() -> None:
    result = deepcopy(result_of(ONE_TO_ONE))
    assert "where the cycle enters and leaves each rank; its cycle type is 0 1." in words_in(parsed(result))
    assert result["witness"] is not None
    for irreducible, said in ((True, True), (False, False), (None, False)):
        result["witness"]["irreducible"] = irreducible
        assert ("None of its events can be left out." in words_in(parsed(result))) is said
    few = simulated(run([event("store", 3, 0, (3, 0)), event("store", 9, 0, (9, 0))], 64))
    assert "62 other ranks have no event here and no lane." in words_in(parsed(few))
    assert [each.get("data-rank") for each in of_class(parsed(few), "lane")] == ["3", "9"]


def test_embedded_without_prolog_and_with_ids_of_its_own() -> None:
    first, second = result_of(ONE_TO_ONE), result_of(ONE_TO_ONE, 3)
    assert to_svg(first).startswith("<?xml") and to_svg(first, embedded=True).startswith("<svg ")
    ids = [set(re.findall(r' id="([^"]+)"', to_svg(each, embedded=True))) for each in (first, second)]
    assert ids[0] and ids[1] and not ids[0] & ids[1]
    for element in parsed(first, embedded=True).iter():
        assert "pg-e-" not in (element.get("id") or "")


def test_captions_can_be_left_out() -> None:
    bare = to_svg(result_of(ONE_TO_ONE), captions=False)
    assert "program order of rank" not in bare.split("</desc>")[1] and "Initially" not in bare
    root = ElementTree.fromstring(bare)
    assert len(of_class(root, "event")) == len(of_class(parsed(result_of(ONE_TO_ONE), captions=False), "event")) == 9


def test_the_same_result_gives_the_same_text() -> None:
    result = result_of(ONE_TO_ONE)
    assert to_svg(result) == to_svg(deepcopy(result))
    assert to_svg(result, embedded=True) == to_svg(deepcopy(result), embedded=True)


def test_other_runs_and_none() -> None:
    deadlock = parsed(result_of(DEADLOCK, 3, "attack") | {"witness": None, "assertion_run": None})  # type: ignore[operator]
    assert "stands before await" in words_in(deadlock) and len(of_class(deadlock, "standing")) == 3
    fault = parsed(result_of("register r; process { r <- 1 / r; }", 1, "attack"))
    assert "PG040" in words_in(fault) and "No command has been issued" in words_in(fault)
    assert len(of_class(fault, "fault")) == 1
    failing = parsed(result_of("register r; process { assert(r == 1); }", 1, "attack"))
    assert "FAILS" in words_in(failing) and "assertion in line 1 fails" in words_in(failing)
    none = parsed(result_of("process { skip; }", 1, "attack"))
    assert words_in(none) == "example.pgas on 1 node: robust" and not of_class(none, "event")
    played = parsed(simulated(run([event("store", 0, 0, (0, 0))], 1)))
    assert "A run" in words_in(played) and played.findtext(f"{SVG}title") == "example.pgas on 1 node"


def test_a_simulated_run_says_why_it_was_asked_for() -> None:
    from pgasrob.render.one_run_json import simulated_to_json
    from pgasrob.runs.simulate import simulate

    stuck: Any = simulated_to_json(simulate(instance("await(mem[y] == 1);", "assert(r == 1);"), 4))
    root = parsed(stuck)
    assert (root.findtext(f"{SVG}title") or "").endswith("on 2 nodes: a simulated run")
    said = words_in(root)
    assert "A simulated run (seed 4) that ends in a deadlock, in which the assertion in line" in said
    assert len(of_class(root, "standing")) == 2 and "stands before await" in said
    for told in ("The run ends in a deadlock.", "At its end ", "--seed 4 gives this run again."):
        assert told in said
    from pgasrob.render.run_graph import to_dot, to_mermaid

    for drawn in (to_mermaid(stuck), to_dot(stuck)):
        assert "a simulated run (seed 4) that ends in a deadlock" in drawn and "stands before await" in drawn


NASTY = 'p("<&>", \'\x00\x1b[31m\', "\ud800\u202e\ufffe漢\t")'


def test_every_character_is_safe() -> None:
    name = 'a"<&>\x07\ud801.pgas'
    where: Any = {"rank": 0, "index": 0, "name": "\x01<"}
    events = [event("store", 0, 0, command=NASTY, address=where), event("load", 0, 1, address=where)]
    root = parsed(simulated(run(events, 1, [(0, 1, "cf")]), name), embedded=True)
    assert [each.findtext(f"{SVG}title") for each in of_class(root, "edge")] == [
        r"cf, conflict (\x01<@0): step 1 before step 2"
    ]
    full, _ = (each.findtext(f"{SVG}title") or "" for each in of_class(root, "event") if each.get("data-step"))
    assert full.endswith('p("<&>", \'\\x00\\x1b[31m\', "\\ud800\\u202e\\ufffe漢\\t")')
    assert (root.findtext(f"{SVG}title") or "").startswith('a"<&>\\x07\\ud801.pgas')


def test_relations_differ_by_more_than_colour() -> None:
    root = parsed(corpus("mcs_lock/mcs_lock_fifo.pgas"))
    for relation, heads in (("po", 1), ("cf", 1), ("id", 0)):
        for edge in of_class(root, "edge"):
            if edge.get("class", "").split()[1] == relation:
                assert len(of_class(edge, "head")) == heads
    closed = {
        edge.get("class", "").split()[1]: of_class(edge, "head")[0].get("d", "").endswith("Z")
        for edge in of_class(root, "edge")
        if of_class(edge, "head")
    }
    assert closed == {"po": True, "cf": False}
    dashes = {
        relation: re.search(rf"\.pg-run \.{relation} \.way{{[^}}]*stroke-dasharray:([^;}}]+)", STYLE)
        for relation in ("po", "cf", "id")
    }
    assert dashes["po"] is None and dashes["cf"] and dashes["id"]
    assert dashes["cf"].group(1) != dashes["id"].group(1)


def test_colours_are_variables_with_a_plain_value_before_them() -> None:
    """The plain value is for rsvg-convert and Inkscape; a page sets `--pg-...`; paper is black on white."""
    light, rest = STYLE.split("@media (prefers-color-scheme:dark)")
    dark, printed = rest.split("@media print")
    for name, (bright, night) in COLOURS.items():
        assert f"--{name}:var(--pg-{name},{bright})" in light
        assert f"--{name}:var(--pg-{name},{night})" in dark
        assert f"--{name}:{PRINTED[name]}" in printed
    rules = printed.split("}}", 1)[1]
    used = re.findall(r"(fill|stroke):(#\w+);\1:var\(--(\w+)\)", rules)
    assert len(used) == rules.count("var(--")
    assert all(COLOURS[name][0] == value for _, value, name in used)
    assert {name for _, _, name in used} == set(COLOURS)
    assert all(
        value in ("#000", "#333") for name, value in PRINTED.items() if name in ("ink", "po", "cf", "id", "accent")
    )


def luminance(colour: str) -> float:
    """As WCAG 2 defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [0, 1])
def test_text_and_lines_stand_out_from_what_is_behind_them(scheme: int) -> None:
    for ground in ("paper", "part", "box", "step"):
        for name in ("ink", "told", "faint", "po", "cf", "id", "accent"):
            pair = luminance(COLOURS[name][scheme]), luminance(COLOURS[ground][scheme])
            assert (max(pair) + 0.05) / (min(pair) + 0.05) >= 4.5, (name, ground)


def test_every_run_of_the_corpus_is_well_formed() -> None:
    for file, witness in with_runs():
        root = parsed(simulated(witness, file))
        places = [each.get("data-step") for each in of_class(root, "event") if each.get("data-step")]
        assert places == [str(place) for place in range(len(witness["computation"]))], file
        assert len(told(root)) == len(edges(witness, fold(witness, False))), file


def test_a_long_run_takes_little_time() -> None:
    result = simulated(long_run(667, 3))
    made, text = calls(lambda: to_svg(result))
    assert made < 1300 * 2001
    assert text.count('class="event step"') == 1335  # and one in the legend


# --- As a browser draws it --------------------------------------------------------------------------------------------

OVERLAPS = """() => {
  const found = [], svg = document.querySelector('svg').getBoundingClientRect();
  const texts = [...document.querySelectorAll('svg text')]
    .map(text => [text.textContent, text.getBoundingClientRect()]).filter(([text, box]) => text.trim());
  for (const [text, box] of texts)
    if (box.left < svg.left || box.right > svg.right || box.top < svg.top || box.bottom > svg.bottom)
      found.push(`${text} is not on the picture`);
  texts.forEach(([one, a], index) => texts.slice(index + 1).forEach(([other, b]) => {
    // A box of letters is a little higher than the letters in it.
    if (a.left < b.right - .5 && b.left < a.right - .5 && a.top + 1.5 < b.bottom && b.top + 1.5 < a.bottom)
      found.push(`${one} | ${other}`);
  }));
  for (const group of document.querySelectorAll('svg .event, svg .badge, svg .standing')) {
    const rect = group.querySelector('rect')?.getBoundingClientRect();
    for (const text of group.querySelectorAll('text:not(.number)')) {
      const box = text.getBoundingClientRect();
      if (rect && (box.left < rect.left || box.right > rect.right)) found.push(`${text.textContent} leaves its box`);
    }
  }
  return [texts.length, found];
}"""


def browser() -> Any:
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("needs chromium or google-chrome")
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs the Python package playwright")
    return sync_api, program


@pytest.mark.parametrize(
    ("name", "nodes", "fold"),
    [
        ("one_to_one/one_to_one.pgas", 2, False),
        ("mcs_lock/mcs_lock_fifo.pgas", 2, False),
        ("halo/halo_no_wait.pgas", 6, False),
        ("c/openshmem/ticket_lock_no_quiet.c", 2, True),  # narrow, with a long diagnosis in bold type
    ],
)
def test_no_text_lies_on_another_in_a_browser(name: str, nodes: int, fold: bool, tmp_path: Path) -> None:
    sync_api, program = browser()
    file = tmp_path / "run.svg"
    file.write_text(to_svg(corpus(name, nodes), cycle_only=fold), encoding="utf-8")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            page = chromium.new_page(color_scheme="dark")
            page.goto(file.as_uri())
            count, found = page.evaluate(OVERLAPS)
            ground = page.evaluate("() => getComputedStyle(document.querySelector('.paper')).fill")
            page.emulate_media(color_scheme="light")
            bright = page.evaluate("() => getComputedStyle(document.querySelector('.paper')).fill")
            page.emulate_media(media="print", color_scheme="dark")
            printed = page.evaluate("() => getComputedStyle(document.querySelector('.cycle .way')).stroke")
        finally:
            chromium.close()
    assert count > 20 and not found
    assert (ground, bright, printed) == ("rgb(20, 23, 26)", "rgb(255, 255, 255)", "rgb(0, 0, 0)")


def test_librsvg_draws_it_too(tmp_path: Path) -> None:
    """It knows no variables: the plain values have to do."""
    if shutil.which("rsvg-convert") is None:
        pytest.skip("needs rsvg-convert")
    (tmp_path / "run.svg").write_text(to_svg(result_of(ONE_TO_ONE)), encoding="utf-8")
    done = subprocess.run(
        ["rsvg-convert", "run.svg", "-o", "run.png"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and not done.stderr and (tmp_path / "run.png").stat().st_size > 10_000
