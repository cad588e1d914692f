"""Calls that all ranks have to make, where the rank is a symbol."""

import pytest

from pgasrob.frontends.c.symbolic import NumberNeeded
from tests.frontends.c.rank_parts import parts_of


@pytest.mark.parametrize("everywhere", [True, False])
def test_every_end_has_made_the_call_or_none(everywhere: bool) -> None:
    parts = parts_of(nodes=None)
    parts.agreements.check()
    other = parts.position.state.copy()
    parts.agreements.by_all("window", "MPI_Win_create", parts.position.span)
    parts.agreements.end()
    if everywhere:
        parts.agreements.check()
        return
    parts.position.go_to(other)
    parts.agreements.end()
    with pytest.raises(NumberNeeded, match="`MPI_Win_create` is called on some paths only"):
        parts.agreements.check()
