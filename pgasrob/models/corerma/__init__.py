"""coreRMA: puts, gets, flushes and remote atomics by axioms (A. M. Dan, P. Lam, T. Hoefler, M. Vechev, *Modeling and
Analysis of Remote Memory Access Programming*, OOPSLA 2016).

`actions` has what statements are made of (Table 3), `rules` the rules (Figure 4), `executions` the consistent
executions, `explanation` the rules that forbid an outcome, `machine` the programs of atomic accesses as a machine. How
the paper is read where it is silent or wrong is in `proofs/models.md`.
"""

from pgasrob.models.corerma.model import CoreRma

__all__ = ["CoreRma"]
