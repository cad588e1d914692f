"""The ranges of registers, cells and operands, for all states that an engine may store (`range_analysis`)."""

from __future__ import annotations

from pgasrob.analysis.range_analysis import Ranges, find_ranges, single
from pgasrob.analysis.remembered import remembered
from pgasrob.analysis.symmetry import symmetry
from pgasrob.program.instance import Instance

__all__ = ["Ranges", "ranges", "single"]


@remembered
def ranges(instance: Instance) -> Ranges:
    """The ranges of ``instance``."""
    return find_ranges(instance, symmetry(instance))
