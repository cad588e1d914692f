"""Tracks in channels, and heights that keep off each other."""

from __future__ import annotations

from pgasrob.drawing.channels import CLEAR, MARGIN, MOST_TRACKS, PITCH, Channel, apart, settle, snapped


def test_the_nearest_height_that_is_apart() -> None:
    assert apart(10.5, (0, 20), [], (4,)) == 10.5
    assert apart(10.5, (0, 20), [10.5], (4, 2)) == 14.5
    assert apart(10.5, (8, 13), [10.5], (4, 2)) == 12.5, "there is no room for the first distance"
    assert apart(10.5, (10, 11), [10.5], (4, 2)) == 10.5, "nor for any"


def test_lines_share_a_track_where_they_are_apart() -> None:
    channel = Channel(20.0)
    first = channel.take(True, False, 0, 10)
    assert channel.take(True, False, 10 + CLEAR + 1, 30) == first
    assert channel.take(True, False, 5, 15).index == 1
    assert channel.take(False, False, 0, 10).index == 0, "the other side has tracks of its own"
    assert channel.take(True, True, 0, 10).index == 0, "and so have lines with labels"
    for _ in range(2 * MOST_TRACKS):
        last = channel.take(True, False, 0, 10)
    assert last.index == MOST_TRACKS - 1


def test_places_from_left_to_right() -> None:
    channels = [Channel(20.0), Channel(20.0)]
    plain, labelled = channels[1].take(True, False, 0, 10), channels[1].take(True, True, 0, 10)
    assert settle(channels, [100.0], 5.0, [7.0, 0.0]) == [max(5.0 + MARGIN, 12.0)]
    assert channels[1].x(plain) == snapped(channels[1].start + MARGIN)
    assert channels[1].x(labelled) >= channels[1].x(plain) + PITCH
    assert channels[1].end >= channels[1].x(labelled) + 10
