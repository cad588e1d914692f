"""`pgasrob explain-assumption`."""

from __future__ import annotations

import re

from pgasrob.program.assumptions import Kind
from tests.cli.commands import (
    run,
)


def test_explain_assumption() -> None:
    listed = run("explain-assumption").output
    assert re.findall(r"^[a-z-]+", listed, re.MULTILINE) == [kind.value for kind in Kind]
    assert run("explain-assumption", "program-order").output.startswith("program-order: ")
    wrong = run("explain-assumption", "program-ordre")
    assert wrong.exit_code == 2 and "did you mean `program-order`?" in wrong.stderr
