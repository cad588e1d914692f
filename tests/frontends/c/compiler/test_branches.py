"""Branches come together at joins."""

from __future__ import annotations

import pytest

from pgasrob.frontends.c.code import Join
from tests.frontends.c.compiler.net import function


@pytest.mark.parametrize("body", ["if (n) n++;", "n = n ? 1 : *p;", "n = n && *p;", "switch (n) { case 1: n++; }"])
def test_branches_come_together_at_a_join(body: str) -> None:
    assert any(isinstance(each, Join) for each in function(body).code)
