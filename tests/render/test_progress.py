"""What the progress display says, and when."""

from __future__ import annotations

import io
import sys
import threading

import pytest

from pgasrob.render.progress import MOST_CHECKS, Display, Shown, status
from pgasrob.robustness.watch import Progress

RING = Shown("[1/9] ring.pgas, 4 nodes", Progress("product", 50_000, 12.4, "cycle types: 3 refuted"), 2.4)
LOCK = Shown("[2/9] lock.pgas, 4 nodes", Progress("SC runs", 10, 1.0, ""), 1.0)


def test_one_check_is_told_at_length() -> None:
    assert status([RING], 1_000_000, 80) == [
        "[1/9] ring.pgas, 4 nodes",
        "  product: 50.0k states of at most 1.00M, 5.00k/s, 12 s",
        "  cycle types: 3 refuted",
    ]
    assert status([LOCK], None, 80) == ["[2/9] lock.pgas, 4 nodes", "  SC runs: 10 states, 1 s"]


def test_several_checks_have_a_line_each() -> None:
    assert status([RING, LOCK], 1_000_000, 80) == [
        "[1/9] ring.pgas, 4 nodes  product: 50.0k states, 5.00k/s, 12 s",
        "[2/9] lock.pgas, 4 nodes  SC runs: 10 states, 1 s",
    ]


@pytest.mark.parametrize("width", [40, 50, 80])
def test_a_long_title_leaves_room_for_the_counts(width: int) -> None:
    long = Shown(f"[1/9] {'folder/' * 20}ring.pgas, 4 nodes", RING.progress, RING.began)
    for line in status([long, LOCK], None, width):
        assert len(line) <= max(width, 50) and line.endswith(" s")
    assert status([long, LOCK], None, 80)[0].endswith("ring.pgas, 4 nodes  product: 50.0k states, 5.00k/s, 12 s")


def test_of_many_checks_some_are_shown() -> None:
    lines = status([LOCK] * 64, None, 80)
    assert len(lines) == MOST_CHECKS + 1 and lines[-1] == "and 56 more"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_checks_come_and_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is drawn for a small check, several are drawn together, and all is cleared at the end."""
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    display = Display(stream, None)
    with display("small") as small:
        small(Progress("attack", 1, 0.1, ""))
    assert stream.getvalue() == ""
    with display("first") as first, display("second") as second:
        first(Progress("attack", 1_000, 1.0, ""))
        display._drawn = 0.0
        second(Progress("attack", 2_000, 1.5, ""))
        drawn = stream.getvalue()
        assert "first  attack: 1.00k states" in drawn and "second  attack: 2.00k states" in drawn
        display.clear()
        display._drawn = 0.0
        first(Progress("attack", 3_000, 2.0, ""))
        assert "first  attack: 3.00k states" in stream.getvalue()[len(drawn) :]
    assert display._live is None


def test_the_display_has_no_thread_and_leaves_the_streams_of_python_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stdout, stderr, threads = sys.stdout, sys.stderr, set(threading.enumerate())
    stream = Terminal()
    with Display(stream, None)("first") as first:
        first(Progress("attack", 1_000, 1.0, ""))
        assert "first" in stream.getvalue()
        assert (sys.stdout, sys.stderr) == (stdout, stderr) and set(threading.enumerate()) <= threads
