"""Texts as LaTeX."""

from __future__ import annotations

from typing import Any

import pytest

from pgasrob.drawing.latex import code, prose
from tests.render.test_output_files import ASCII


@pytest.mark.parametrize("escaped", [code, prose])
def test_no_character_is_a_command(escaped: Any) -> None:
    for char in ASCII:
        text = escaped(char)
        assert (text == char and char not in '\\{}#$%&_^~<>|"') or text[0] in "\\~'-?!,`{" or char == " "
    assert escaped("a_b%") == (r"a\char95{}b\char37{}" if escaped is code else r"a\_b\%")
    assert escaped("é→…ß") == r"{\'{e}}\pgasrobto{}\pgasrobdots{}{\ss}"
    assert escaped("中x😀Ж") == r"\pgasrobchar{1.05}{4E2D}x\pgasrobchar{1.05}{1F600}\pgasrobchar{.525}{0416}"
    assert escaped("e\u0301\u200d") == r"e\pgasrobchar{.525}{200D}"
    assert escaped("--") == "-{}-{}"
