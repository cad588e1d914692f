"""Texts that are too long."""

from __future__ import annotations

import pytest

from pgasrob.drawing.measure import fitted

LONG = "a_very_long_location_name_number_one_of_this"
OTHER = "another_quite_long_location_name_of_this_test"


@pytest.mark.parametrize(
    ("text", "room", "told"),
    [
        (f"lW {LONG} = 2147483647", 42, "lW a_very_long_l…_one_of_this = 2147483647"),
        (f"CAS {LONG}: -2147483648 -> 2147483647", 42, "CAS a_ver…_this: -2147483648 -> 2147483647"),
        (f"{LONG} = {OTHER}", 44, "a_very_lon…e_of_this = another_qu…this_test"),
        ("x = y + z", 8, "x = y +…"),
        ("lW x = 1", 42, "lW x = 1"),
    ],
)
def test_long_names_lose_their_middle(text: str, room: int, told: str) -> None:
    assert fitted(text, room) == told and len(told) <= room
