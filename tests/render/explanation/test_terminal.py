"""An explanation on the terminal."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from pgasrob.render.explanation.blocks import Text
from pgasrob.render.explanation.html import to_html
from pgasrob.render.explanation.terminal import explanation_lines, rows_lines
from pgasrob.render.lines import ASCII, plain
from tests.render.explanation.test_explanation import ONE_TO_ONE, PRESENT, text, written


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("path", PRESENT)
def test_lines_are_no_longer_than_the_terminal(path: str, width: int) -> None:
    assert max(map(len, text(path, width).splitlines())) <= width


@pytest.mark.parametrize("path", PRESENT)
def test_a_terminal_without_unicode(path: str) -> None:
    found = plain(explanation_lines(path, written(path), 80, ASCII))
    assert found.isascii()
    assert found.count("\n") >= text(path).count("\n") - 40


def test_both_outputs_have_the_same_sentences() -> None:
    page = re.sub(r"\s+", " ", visible_text(to_html("t", written(ONE_TO_ONE), "")))
    lines = re.sub(r"\s+", " ", text(ONE_TO_ONE, 200))
    for chapter in written(ONE_TO_ONE):
        for block in chapter.blocks:
            if isinstance(block, Text):
                assert block.text.replace("`", "") in page
                assert block.text in lines


def test_a_wide_table_is_wrapped() -> None:
    lines = [line for ((line, _),) in rows_lines(("a", "b"), [("x" * 12 + " y" * 40, "z" * 30)], 60)]
    assert max(map(len, lines)) <= 60 and "".join(lines).count("y") == 40


class Reader(HTMLParser):
    """Checks that tags are closed in order, and collects what there is."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs)
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.texts.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert not reader.open
    return reader


def visible_text(page: str) -> str:
    return "".join(read(page).texts)
