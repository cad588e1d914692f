"""Windows as calls name them, and the names of their targets."""

from __future__ import annotations

import pytest

from pgasrob.frontends.apis.mpi.targets import SOMEWHERE, Target, Window, named
from pgasrob.frontends.c.symbolic import EVERYONE
from pgasrob.program.expressions import Binary, Const, Me, Nodes, Register, name_of

NEXT = Binary("%", Binary("+", Me(), Const(1)), Nodes())


@pytest.mark.parametrize(
    ("target", "name"),
    [
        (3, 3),
        (NEXT, name_of(NEXT)),
        (Register("x", 0), SOMEWHERE),
    ],
)
def test_a_target_has_the_same_name_in_all_runs_or_none(target: Target, name: int | str) -> None:
    assert named(target) == name


def test_the_targets_of_a_window_are_places_in_it() -> None:
    window = Window(("world", 0), (4, 2, 7))
    assert (window.rank(1), window.ranks(1), window.ranks(Me())) == (Const(2), (2,), ())
    everywhere = Window(("world", 0), EVERYONE)
    assert (everywhere.rank(1), everywhere.rank(Me()), everywhere.ranks(1)) == (Const(1), Me(), ())


def test_names_of_windows() -> None:
    assert Window(("world", 2), ()).name == "win2"
    assert Window(("world", "made", 0, 1), ()).name == "win_world_made_0_1"
    assert Window(("world", 2), ()).key("used") == "mpi.used.world.2"
