"""Links hold a program and a run; what is no link says so."""

from __future__ import annotations

import base64
import json
import zlib

import pytest

from pgasrob.explore.link import MARK, Linked, from_link, is_link
from pgasrob.explore.request_bounds import MOST_TEXT


def packed(text: bytes) -> str:
    packer = zlib.compressobj(wbits=-15)
    return MARK + base64.urlsafe_b64encode(packer.compress(text) + packer.flush()).decode().rstrip("=")


def to_fragment(linked: Linked) -> str:
    """``linked`` as the end of an address, as the page writes it."""
    return packed(json.dumps(linked._replace(run=",".join(linked.run))._asdict()).encode())  # type: ignore[arg-type]


def test_a_link_holds_what_was_put_in() -> None:
    linked = Linked("process { skip; } // \u2026\n", "pgas", 3, ("0.0", "s0.0", "1.0/2"))
    assert is_link(to_fragment(linked))
    assert from_link(f"http://127.0.0.1:1/token/{to_fragment(linked)}") == linked
    assert from_link(to_fragment(linked._replace(nodes=None, run=()))) == linked._replace(nodes=None, run=())


@pytest.mark.parametrize(
    "link",
    [
        MARK,
        f"{MARK}!!!",
        to_fragment(Linked("x" * 500, "pgas", 2, ()))[:-9],
        packed(b"[]"),
        packed(b"{"),
        packed(b"[" * 100_000),
        packed(b"0" * (32 << 20)),
        packed(json.dumps({"text": "", "language": "sh", "nodes": 2, "run": ""}).encode()),
        packed(json.dumps({"text": "", "language": "c", "nodes": 10**9, "run": ""}).encode()),
        packed(json.dumps({"text": "x" * (MOST_TEXT + 1), "language": "c", "nodes": 2, "run": ""}).encode()),
    ],
)
def test_what_is_no_link_is_refused(link: str) -> None:
    with pytest.raises(ValueError, match="the link"):
        from_link(link)
