"""What an engine hands over when it has found a violation, before anybody has checked it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgasrob.semantics.computation import Computation

if TYPE_CHECKING:
    from pgasrob.robustness.cycle_types import CycleType


@dataclass(frozen=True, slots=True)
class Violation:
    """A computation that an engine claims to be violating.

    ``parts`` gives for each event the part of the normal form it lies in, ``marks`` its marks, ``cycle_type`` the type
    that accepted it; None when the engine knows nothing of them.
    """

    computation: Computation
    parts: tuple[int, ...] | None = None
    marks: tuple[frozenset[str], ...] | None = None
    cycle_type: CycleType | None = None
