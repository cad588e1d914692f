"""Memory models of one-sided communication from the literature, and the outcomes that they give a program.

`litmus/` has the language of their programs, with the visitor of its instructions in `instructions`. Each model
is a folder or module: `corerma/` (Dan, Lam, Hoefler, Vechev, OOPSLA 2016), `rdma_tso/` (Ambal et al., OOPSLA 2024),
`sc`, `tso`, and `pgas`, which is the calculus that this project is about. A model refuses programs by a table
(`forms`). `operational` explores the states of a machine, whose threads share their control flow (`thread_control`);
axiomatic models are made of `candidate_executions` and `relations`. How the papers are read where they are silent or
wrong is in `proofs/models.md`.
"""
