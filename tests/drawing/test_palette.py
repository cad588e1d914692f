"""Colours in style sheets."""

from __future__ import annotations

from pgasrob.drawing.palette import coloured


def test_colours_come_plain_and_as_variables() -> None:
    assert coloured(".a{fill:@ink;x:1}\n.b{x:2}") == ".a{fill:#1a1d21;fill:var(--ink);x:1}\n.b{x:2}"
