"""Styled lines on streams with and without colour and Unicode."""

from __future__ import annotations

import io
import re

import pytest

from pgasrob.render import lines as styled
from pgasrob.render.result_report import report
from pgasrob.render.verdict_json import Result
from tests.render.test_verdict_json import ONE_TO_ONE
from tests.render.test_verdict_text import GOLDEN, flat, result, without_cost


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def written(stream: io.StringIO, text: str = ONE_TO_ONE) -> str:
    styled.write(report(result(text)), stream)
    return stream.getvalue()


ESCAPE = re.compile(r"\x1b\[[\d;]*m")


def test_colour_changes_nothing_but_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    coloured, plain = written(Terminal()), written(io.StringIO())
    assert ESCAPE.search(coloured) and not ESCAPE.search(plain)
    assert without_cost(ESCAPE.sub("", coloured)) == without_cost(plain) == GOLDEN


@pytest.mark.parametrize("variable", [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colour_can_be_declined(monkeypatch: pytest.MonkeyPatch, variable: tuple[str, str]) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv(*variable)
    assert not ESCAPE.search(written(Terminal()))


def test_square_brackets_are_no_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    text = written(Terminal(), "memory red; process { mem[red] <- 1; assert(0); }")
    assert "mem[red] <- 1" in ESCAPE.sub("", text)


def test_a_terminal_without_unicode_gets_ascii() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    glyphs = styled.glyphs_for(stream)
    text = styled.plain(report(result(ONE_TO_ONE), 80, glyphs))
    assert text.isascii()
    assert "\n   step | rank 0" in text and "\n tau_1 -+---" in text
    assert "(load_0, {leave}) | (popb_0, {}) (popb_1, {enter})" in text
    assert "tau_1 | tau_2 are the parts of the normal form." in flat(text)
    assert styled.glyphs_for(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")) == styled.UNICODE


def test_a_file_name_cannot_disturb_the_terminal() -> None:
    for text in (ONE_TO_ONE, "process 0 { skip; }", "register r; process { r <- 1 / r; }"):
        found: Result = {**result(text), "file": "a\x1b[31m\nb.pgas"}
        lines = styled.plain(report(found)).splitlines()
        assert lines[0].startswith(r"a\x1b[31m\nb.pgas: ")
        assert all(line.isprintable() for line in lines)
