"""The ranges of an instance, computed once for all that ask: `range_analysis` up to the instance's own symmetry."""

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
