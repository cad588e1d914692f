"""Labels on lines: off each other, off what crosses."""

from __future__ import annotations

from pgasrob.drawing.labels import BADGE, Line, clear_place, numbered_lines


def test_numbers_keep_off_each_other_and_off_crossings() -> None:
    def line(number: int, *points: tuple[float, float]) -> Line:
        return Line(number, number + 1, "cf", points, number)

    down = line(1, (50, 0), (50, 200))
    beside = line(2, (60, 0), (60, 200))
    across = line(3, (0, 130), (100, 130))
    spots = [(across, (20, 130), (20, 130)), (down, *down.points), (beside, *beside.points)]
    first, second, third = numbered_lines(spots, [Line(7, 8, "id", ((0, 70), (90, 70)))], 36)  # type: ignore[arg-type]
    assert third.badge == (20, 130)
    assert first.badge is not None and second.badge is not None
    assert abs(first.badge[1] - second.badge[1]) >= BADGE
    for each in (first, second):
        assert each.badge is not None and min(abs(each.badge[1] - 130), abs(each.badge[1] - 70)) >= BADGE / 2
        assert 100 - 65 < each.badge[1] < 100 + 65  # near the middle all the same


def test_a_number_at_a_barrier_stands_clear_of_lines_and_boxes() -> None:
    assert clear_place([30.0, 40.0], 0.0, 200.0, 36) == 120
    assert clear_place([100.0], 0.0, 110.0, 36) == 50
    assert clear_place([20.0], 0.0, 42.0, 36) == 21
