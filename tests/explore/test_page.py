"""The page in headless Chromium: a run is chosen, taken back, forked, led to a violation, edited and shared."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.explore.live_page import opened
from tests.page_measures import SIZES, cycle_outside, flaws, resize

pytest.importorskip("starlette", reason="no starlette (pip install '.[test]')")
pytest.importorskip("uvicorn", reason="no uvicorn (pip install '.[test]')")

ROOT = Path(__file__).parents[2]
FILE = "programs/one_to_one/one_to_one.pgas"
SIZE = {"width": 1280, "height": 800}
OVER = """() => {
  const [area, lines, box] = ["text", "lines", "editor"].map((id) => document.getElementById(id));
  const [down, across] = [area.scrollHeight - lines.offsetHeight, area.offsetWidth - lines.offsetWidth];
  return [down, across, box.scrollWidth - box.clientWidth];
}"""
"""By how much the text area is larger than the lines under it, and these are wider than their box."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    started = subprocess.Popen(
        [sys.executable, "-m", "pgasrob", "explore", FILE, "--no-browser"], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert started.stdout
    found = re.search(r"http://\S+", started.stdout.readline())
    assert found
    yield found[0]
    started.send_signal(signal.SIGINT)
    assert started.wait(60) == 130


@pytest.fixture(scope="module")
def context(chromium: Any) -> Any:
    return chromium.new_context(viewport=SIZE, color_scheme="light")


@pytest.fixture
def page(context: Any, address: str) -> Iterator[Any]:
    with opened(context, address) as found:
        yield found


def press(page: Any, *keys: str) -> None:
    """Press ``keys`` and wait until the answer to each is shown."""
    for key in keys:
        page.keyboard.press(key)
        settled(page)


def settled(page: Any) -> None:
    page.evaluate("async () => { await live.turn; await live.idle; }")


def until(page: Any, true: str) -> None:
    """Wait until ``true`` is. The policy of the page forbids `wait_for_function`, which evaluates a text there."""
    for _ in range(1_200):
        if page.evaluate(f"Boolean({true})"):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never {true}")


def said(page: Any, selector: str) -> list[str]:
    return [" ".join(text.split()) for text in page.locator(selector).all_inner_texts()]


def run(page: Any) -> str:
    return str(page.evaluate("live.runs.taken.join(',')"))


def test_choices_lead_to_a_violation_that_is_marked(page: Any) -> None:
    assert said(page, ".choice .command") == ["11 write(x, 1, y, q)", "11 write(x, 0, y, q)"]
    press(page, "1")
    assert said(page, ".blocked") == ["12 barrier it waits for rank 1"]
    assert said(page, ".choice.step") == ["1 popa x@0 = 1"]
    assert page.locator("#drawing .event").count() == 1
    page.get_by_role("button", name="2 11 write(x, 0, y, q)").click()
    settled(page)
    press(page, "1")  # the barrier, which both ranks have
    assert run(page) == "0.0,1.0,0.1"
    assert said(page, ".past-step") == ["1", "2", "3–4"]  # the barrier is an event of each rank
    assert said(page, "#count") == ["on 2 nodes"]
    assert said(page, "#verdict") == ["looks sequentially consistent so far"]
    assert said(page, ".code-line.stands .gutter") == ["0 1 13"]
    page.keyboard.press("v")
    page.wait_for_selector("#follow")
    while page.locator("#follow").count():
        assert page.locator(".choice.hinted").count() == 1
        press(page, "Space")
    assert said(page, "#verdict") == ["violation: no SC run looks like this run"]
    assert page.locator("#drawing .event.cycle").count() >= 4
    assert page.locator("#drawing .badge").count() == page.locator("#cycle li").count() == 5
    assert "before the write of rank" in said(page, "#cycle .late")[0]
    assert page.locator("#memory td.written").count() == 1


def test_back_another_way_and_forks_lose_nothing(page: Any) -> None:
    press(page, "1", "1", "1")
    first = run(page)
    assert first == "0.0,s0.0,s0.0"
    press(page, "ArrowLeft", "ArrowLeft")
    assert (run(page), page.locator(".past-step.later").count()) == ("0.0", 2)
    press(page, "ArrowRight")
    assert run(page) == "0.0,s0.0"
    press(page, "2")  # another way
    assert run(page) == "0.0,s0.0,1.0"
    assert said(page, ".tab") == ["Run 1", "Run 2×"]
    press(page, "[", "End")
    assert run(page) == first
    press(page, "f")
    assert said(page, '.tab[aria-selected="true"]') == ["Run 3×"]
    page.locator(".past-step").first.click()
    settled(page)
    assert run(page) == "0.0"
    page.locator(".tab .close").click()
    settled(page)
    assert page.locator(".tab").count() == 2


def test_the_text_is_edited_beside_the_run(page: Any) -> None:
    press(page, "1", "2")
    before = page.input_value("#text")
    page.fill("#text", before.replace("barrier;", "barier;"))
    page.wait_for_selector(".squiggle")
    assert said(page, ".squiggle") == ["barier"]
    assert said(page, "#errors p")[0].startswith("Line 12:")
    assert page.locator(".choice:enabled").count() == 0
    page.fill("#text", before.replace("barrier;", "wait(q); barrier;"))
    page.wait_for_selector("body:not(.stale)")
    settled(page)
    assert run(page) == "0.0,1.0"  # the run is still one
    assert "wait(q) it waits for the write of line 11" in said(page, ".blocked")[0]
    page.locator("#text").blur()
    page.keyboard.press("v")
    page.wait_for_selector(".found-none.good")
    assert said(page, ".found-none")[0].startswith("None, proved: all continuations of this run")
    page.fill("#text", before.replace("write(", "read("))
    until(page, "live.answer.steps[0].what.includes('read')")
    page.fill("#text", "program other;\nnodes 2;\nprocess { barrier; }\n")
    page.wait_for_selector(".note")
    assert said(page, ".note") == ["The run was cut before 1.0: this is not possible here."]


def test_c_is_explored_too_and_a_link_opens_the_same(page: Any, context: Any) -> None:
    from pgasrob.explore.link import Linked, from_link
    from tests.explore.test_link import to_fragment

    text = (ROOT / "programs/c/openshmem/message_passing_fence.c").read_text()
    link = to_fragment(Linked(text, "c", 2, ("0.0", "0.1")))
    page.evaluate("(link) => { location.hash = link; }", link)
    until(page, "live.language === 'c' && live.answer.steps.length === 2")
    press(page, "1")
    page.keyboard.press("s")
    page.wait_for_selector("#sharing[open]")
    shared, command = page.input_value("#link"), page.input_value("#command")
    linked = from_link(shared)
    assert (linked.text, linked.language, linked.nodes) == (text, "c", 2)
    assert ",".join(linked.run) == run(page)
    assert command == f"pgasrob explore --run '#p={shared.partition('#p=')[2]}'"
    other = context.new_page()
    other.goto(shared)
    other.wait_for_selector(".choice")
    assert (run(other), said(other, ".choice")) == (run(page), said(page, ".choice"))
    other.close()


def test_all_of_it_fits_a_projector(page: Any) -> None:
    press(page, "1", "1", "1")
    page.keyboard.press("v")
    page.wait_for_selector("#follow")
    page.get_by_role("button", name="All of it").click()
    page.wait_for_selector("#cycle:not([hidden])")
    assert page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]") == [1280, 800]
    for panel in ("#program", "#now", "#ranks", "#memory", "#graph", "#nearest", "#help-open"):
        box = page.locator(panel).bounding_box()
        assert min(box["x"], box["y"]) >= 0, panel
        assert box["x"] + box["width"] <= 1280 and box["y"] + box["height"] <= 800, panel
    newest = page.locator(".newest").first.bounding_box()
    graph = page.locator("#drawing").bounding_box()
    assert graph["y"] <= newest["y"] and newest["y"] + newest["height"] <= graph["y"] + graph["height"] + 1


def test_nothing_is_cut_on_a_projector_and_on_a_phone(page: Any) -> None:
    for width, height in SIZES:
        resize(page, width, height)
        page.keyboard.press("Home")
        settled(page)
        page.wait_for_timeout(300)
        assert flaws(page) == [], width
        page.fill(
            "#text", page.input_value("#text").replace("process {", f"process {{ // {'long ' * 30}{'x' * 90}\n\t")
        )
        assert [abs(each) <= 1 for each in page.evaluate(OVER)] == [True] * 3, "the text lies over its lines, and wraps"
        page.locator("#text").blur()
        page.keyboard.press("v")
        page.wait_for_selector("#follow")
        page.get_by_role("button", name="All of it").click()
        page.wait_for_selector("#cycle:not([hidden])")
        page.wait_for_timeout(300)
        assert flaws(page) == [], width
        assert cycle_outside(page, "#drawing") == (15, 0)
        page.keyboard.press("t")
        page.wait_for_timeout(300)
        assert flaws(page) == [], f"dark, {width}"
        page.keyboard.press("t")
    page.set_viewport_size(SIZE)


def test_no_key_is_lost_while_an_answer_is_on_the_way(page: Any) -> None:
    """However slow the server is: keys and clicks wait for what was asked before them."""
    delayed = """async () => {
      const ask = live.server.ask.bind(live.server);
      live.server.ask = async (...asked) => {
        await new Promise((done) => setTimeout(done, 60));
        return ask(...asked);
      };
    }"""
    page.evaluate(delayed)
    for key in ("1", "1", "1", "ArrowLeft", "ArrowLeft", "2", "1"):
        page.keyboard.press(key)
    settled(page)
    assert run(page) == "0.0,1.0,0.1"
    page.keyboard.press("Home")
    for key in ("v", "Space", "Space", "Space"):  # before it is found
        page.keyboard.press(key)
    settled(page)
    assert page.evaluate("live.runs.current.at") == 3 and page.locator("#follow").count() == 1
    page.keyboard.press("Escape")
    assert page.is_hidden("#search")
    page.keyboard.press("Home")
    settled(page)
    twice = page.locator(".choice").first
    twice.dblclick()  # the second click is of a choice that has been taken
    settled(page)
    assert page.evaluate("live.runs.current.at") == 1
    page.keyboard.press("e")
    page.keyboard.type(" ")
    page.keyboard.press("Escape")
    page.keyboard.press("1")  # at once, before the text has been read again
    settled(page)
    assert page.evaluate("live.runs.current.at") == 2


def test_terms_have_a_line(page: Any) -> None:
    page.hover("#legend .term >> nth=1")
    assert page.text_content("#tip").startswith("cf, conflict:")
    page.focus("#legend .term >> nth=0")
    assert page.text_content("#tip").startswith("po, program order:")
