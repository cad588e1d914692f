"""`pgasrob explain-error`."""

from __future__ import annotations

import re

from tests.cli.commands import (
    run,
)


def test_explain_error() -> None:
    listed = run("explain-error").output
    assert re.search(r"^PG011  \S", listed, re.MULTILINE)
    explained = run("explain-error", "PG011").output
    assert explained.startswith("PG011") and explained == run("explain-error", "pg011").output
