"""Self-contained pages: what is filled in, and what a page may do."""

from __future__ import annotations

import base64
import hashlib

import pytest

from pgasrob.render.page import filled, framed, part


def test_values_are_filled_in_once() -> None:
    assert filled("<p>{{a}} {{b}}</p>", {"a": "{{b}}", "b": "2"}) == "<p>{{b}} 2</p>"
    with pytest.raises(KeyError):
        filled("{{a}}", {})


@pytest.mark.parametrize("script", ["", "alert(1)"])
@pytest.mark.parametrize("connects", [False, True])
def test_a_page_runs_its_own_script_alone(script: str, connects: bool) -> None:
    page = framed("a <b>", "p{}", "<body></body>", script, connects)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert "<title>a &lt;b&gt;</title>" in page
    assert (f"script-src 'sha256-{digest}'" in page) == bool(script)
    assert ("connect-src 'self'" in page) == connects
    assert "default-src 'none'" in page


def test_parts_are_in_the_folder_of_their_room() -> None:
    assert "{{slides}}" in part("slides.html", "course")
    with pytest.raises(FileNotFoundError):
        part("slides.html")
