"""Robustness on every number of nodes: the infeasibility fixpoint on names of ranks (`proofs/every-n.md`)."""
