"""Robustness trace by trace: the runs of a program up to the order of what does not depend on each other, and for each
whether an attack hides in it.

`trace` is one run and its order, `delaying` what a delayed step keeps from happening in it, `closing` the command that
closes the cycle, `exploration` the traces, `search` the engine. `proofs/traces.md` has the theorem.
"""
