"""An explanation as a page, in headless Chromium too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pgasrob.render.explanation.blocks import Points, Remark, Rows, Text, Word
from pgasrob.render.explanation.chapters import Chapter
from pgasrob.render.explanation.html import to_html
from tests.page_measures import flaws
from tests.render.explanation.test_explanation import ONE_TO_ONE, PRESENT, explained, written
from tests.render.explanation.test_terminal import read, visible_text


@pytest.mark.parametrize("path", PRESENT)
def test_the_page_is_well_formed_and_needs_nothing_else(path: str) -> None:
    page = to_html(path, written(path), explained(path).instance.program.source.text)
    tags = read(page).tags
    assert not {"script", "img", "iframe", "object"} & {tag for tag, _ in tags}
    links = [value for _, attributes in tags for name, value in attributes.items() if name in ("href", "src")]
    assert links.pop(0) == "data:,"
    assert links and all(value is not None and value.startswith("#") for value in links)
    assert "url(" not in page and "@import" not in page
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {f"#{chapter.name}" for chapter in written(path)} == set(links)
    assert {link[1:] for link in links if link} <= set(ids)


def test_the_page_draws_what_there_is_to_draw() -> None:
    classes = [
        attributes.get("class") for tag, attributes in read(to_html("t", written(ONE_TO_ONE), "")).tags if tag == "svg"
    ]
    assert sorted(filter(None, classes)) == ["pg-graph"] * 4 + ["pg-run"] * 2


def test_what_comes_from_a_program_is_escaped() -> None:
    chapter = Chapter(1, "program", "<b>", [
        Text("a < b `c & d`"), Remark("<i>"), Points([("<u>", "<s>")]), Rows(("<a>",), [("<b>",)]), Word(["<w>", "|"]),
    ])  # fmt: skip
    page = to_html("</title><script>", [chapter], "if (a < b) </pre>")
    assert "<script" not in page
    told = visible_text(page)
    for text in ("</title><script>", "1. <b>", "a < b c & d", "<i>", "<u><s>", "<a>", "<w>", "if (a < b) </pre>"):
        assert text in told
    assert "<code>c &amp; d</code>" in page


@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize("path", [ONE_TO_ONE, "halo/halo_no_wait.pgas", "bakery/bakery_get.pgas"])
def test_the_page_fits_and_the_console_is_silent(chromium: Any, tmp_path: Path, path: str, width: int) -> None:
    file = tmp_path / "page.html"
    file.write_text(to_html(path, written(path), explained(path).instance.program.source.text), encoding="utf-8")
    page = chromium.new_page(viewport={"width": width, "height": 800})
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: messages.append(request.url) if not request.url.startswith("file:") else None)
    page.goto(file.as_uri())
    page.locator("summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width and flaws(page) == []
    page.locator('a[href="#attack"]').click()
    page.wait_for_function("document.querySelector('#attack').getBoundingClientRect().top < 800", timeout=60_000)
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.close()
    assert messages == []


def test_the_page_follows_the_colours_of_the_system(chromium: Any, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(to_html("t", written(ONE_TO_ONE), ""), encoding="utf-8")
    colours = []
    for scheme in ("light", "dark"):
        page = chromium.new_page(color_scheme=scheme)
        page.goto(file.as_uri())
        colours.append(page.evaluate("[getComputedStyle(document.body).backgroundColor, "
                                     "getComputedStyle(document.querySelector('.pg-graph .state')).fill]"))  # fmt: skip
        page.close()
    assert colours == [["rgb(255, 255, 255)"] * 2, ["rgb(20, 23, 26)"] * 2]
