"""Slides of the lectures in headless Chromium: nothing falls off, the keys work, a run goes step by step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pgasrob.cli import cli
from pgasrob.course.lecture_page import parts
from pgasrob.course.slides import SMALLEST, to_slides
from tests.page_measures import SIZES, flaws, resize
from tests.support import examples

ROOT = Path(__file__).parents[2]
PAGES = sorted(ROOT.glob("programs/lectures/*/lecture.md"))
OUTSIDE = """() => slides.flatMap((slide, place) => {
  show(place, true);
  const body = slide.querySelector(".body"), title = slide.querySelector("h1, h2");
  const within = body.scrollHeight <= body.clientHeight && body.scrollWidth <= body.clientWidth;
  return within && title.scrollWidth <= title.clientWidth ? [] : [place + 1];
})"""


@pytest.fixture(scope="module")
def context(chromium: Any) -> Any:
    return chromium.new_context(viewport={"width": 1280, "height": 800}, color_scheme="light", offline=True)


@pytest.fixture
def opened(context: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Opens the slides of a page. The console stays silent."""
    said: list[str] = []
    browser = context.new_page()
    browser.on("pageerror", lambda error: said.append(str(error)))
    browser.on("console", lambda told: said.append(told.text))
    monkeypatch.chdir(ROOT)

    def open_slides(page: Path) -> Any:
        result = CliRunner().invoke(cli, ["course", "slides", str(page), "-o", str(tmp_path)], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        browser.goto(f"file://{tmp_path}/{page.parent.name}.html")
        return browser

    yield open_slides
    browser.close()
    assert said == []


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[] if place in (0, 7) else pytest.mark.nightly) for place, page in enumerate(PAGES)],
    ids=lambda page: page.parent.name,
)
def test_nothing_falls_off_a_slide(opened: Any, page: Path) -> None:
    browser = opened(page)
    assert browser.evaluate(OUTSIDE) == []
    assert min(map(float, re.findall(r'font-size:([\d.]+)px"', browser.content()))) >= SMALLEST
    assert browser.evaluate("document.documentElement.scrollHeight") <= 800


def test_nothing_is_cut_on_a_projector_and_on_a_phone(opened: Any) -> None:
    browser = opened(PAGES[0])
    for width, height in SIZES:
        resize(browser, width, height)
        for place in range(0, browser.evaluate("slides.length"), examples(4, nightly=1)):
            browser.evaluate("(place) => show(place, true)", place)
            assert flaws(browser) == [], (width, place + 1)


def test_the_keys(opened: Any) -> None:
    browser = opened(PAGES[0])

    def at() -> str:
        return str(browser.inner_text("#place"))

    def faded() -> int:
        return int(browser.locator(".now .event.future").count())

    browser.keyboard.press("End")
    last = int(at().split(" of ")[1])
    assert at() == f"{last} of {last}"
    browser.keyboard.press("ArrowRight")  # there is no more
    assert at() == f"{last} of {last}"
    browser.keyboard.press("Home")
    browser.keyboard.press("PageDown")
    browser.keyboard.press("ArrowRight")
    browser.keyboard.press("ArrowLeft")
    assert at() == f"2 of {last}" and browser.url.endswith("#2")
    assert browser.locator(".slide:visible").count() == 1

    run = browser.evaluate("slides.findIndex((slide) => slide.classList.contains('run')) + 1")
    browser.goto(re.sub("#.*", f"#{run}", browser.url))
    events = faded()
    assert events == browser.locator(".now .event").count() > 3
    browser.keyboard.press("ArrowRight")
    assert faded() == events - 1
    line = browser.locator(".now pre .now").inner_text()
    assert line.split() == ["10", "write(x,", "1,", "y,", "q);"]
    for _ in range(events - 1):
        browser.keyboard.press(" ")
    assert faded() == 0 and browser.locator(".now .future").count() == 0
    assert browser.locator(".now .cycle li").count() == 3
    browser.keyboard.press("ArrowLeft")
    assert faded() == 1
    browser.keyboard.press("ArrowDown")
    assert at() == f"{run + 1} of {last}"
    browser.keyboard.press("ArrowLeft")  # back at the end of the run
    assert at() == f"{run} of {last}" and faded() == 0

    assert not browser.locator(".now .notes").is_visible()
    browser.keyboard.press("n")
    assert "must come before" in browser.inner_text(".now .notes")
    browser.emulate_media(media="print")
    assert browser.locator(".slide:visible").count() == last
    assert browser.evaluate("getComputedStyle(document.querySelector('.run .event')).opacity") == "1"


def test_every_claim_program_and_picture_is_on_a_slide() -> None:
    drawn: list[str] = []

    def draw(command: str) -> None:
        drawn.append(command)

    for page in PAGES:
        read = parts(page.read_text())
        deck = to_slides("deck", read, page.parent, draw)
        slides = re.sub(r"<aside.*?</aside>", "", deck, flags=re.DOTALL)
        assert slides.count('class="claim"') >= sum(part.kind == "claim" for part in read)
        for part in read:
            if part.kind == "program":
                middle = part.text.splitlines()[len(part.text.splitlines()) // 2].strip()
                assert escape(middle) in slides
        assert not re.search(r"""(src|href)=["'](?!data:|#)|url\((?!#)|@import""", deck)
    assert len(drawn) > 30


def test_solutions_can_be_left_out() -> None:
    page = PAGES[0]
    read = parts(page.read_text())
    without = to_slides("deck", read, page.parent, lambda command: None, solutions=False)
    assert "Where to wait" in without and "buffer that is used twice" in without
    assert "solution" not in re.sub("<style>.*?</style>", "", without, flags=re.DOTALL)
    assert "store_to_myself" not in without and "1_e2" not in without
