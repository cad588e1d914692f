"""Reductions of the attack search: fewer states, the same verdict.

Each can be on or off by itself. `reference.reduced_search` is the search that
obeys them; `analysis.futures` is what they know of the program.

- ``infeasibility``: a step is chosen as the source only when, values ignored, something might come of it.
- ``persistent``: a set of ranks that the others cannot disturb is expanded alone.
- ``merging``: the local commands that a rank has no choice about belong to the step before them.
- ``liveness``: what no later command can use is forgotten.
- ``symmetry``: of states that differ in the names of interchangeable ranks one is stored.
"""

from __future__ import annotations

REDUCTIONS = ("infeasibility", "persistent", "merging", "liveness", "symmetry")
"""The names of the reductions, in the order in which they are listed."""
