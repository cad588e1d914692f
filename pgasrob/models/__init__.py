"""Published memory models of one-sided communication, and what programs do in them.

`litmus/` has the language that all of them share, one folder or module each model: `corerma/` (Dan, Lam, Hoefler,
Vechev, OOPSLA 2016), `rdma_tso/` (Ambal et al., OOPSLA 2024), `sc`, `tso`, and `pgas`, which is the calculus that this
project is about. Two engines do the work: `operational` goes through the states of a machine, `relations` has what
axioms are made of. How the papers are read where they are silent or wrong is in `proofs/models.md`.
"""
