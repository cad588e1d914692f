"""Recorded runs: what was recorded of a real execution, or of a simulated one, and what can be said of all the runs
that it stands for.

The answers are about the reorderings of one recorded trace (`proofs/recorded-traces.md`): the control flow, the
operands and the values that were read are those of the recording, the order of what is not synchronised is not.
"""
