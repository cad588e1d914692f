"""The graph of what a rank does, while it is made."""

from __future__ import annotations

from dataclasses import dataclass, field

from pgasrob.program.expressions import Expr
from pgasrob.program.statements import NOWHERE, Span, Statement


@dataclass(slots=True)
class Node:
    """Straight code and what follows it: nothing (the rank has ended), one label, a branch, or any of some labels."""

    label: str
    statements: list[Statement] = field(default_factory=list)
    goes_to: tuple[str, ...] = ()
    condition: Expr | None = None
    span: Span = NOWHERE
