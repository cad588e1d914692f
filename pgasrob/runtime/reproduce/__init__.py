"""Counterexamples on the real library.

Every run that is reproduced is a run that the library may have by itself. The shim does three things, and each is
within the specification of the call it stands for:

- An operation is *held back*: the call returns, and the operation happens later. Puts, gets that do not block and
  atomics that return nothing are not complete when they return; a blocking put has its source copied at the call. The
  calls that complete them (quiet, barrier_all, flush, unlock, ...) let everything go first that their specification
  names, and an operation takes along those that must come before it (fences, accumulates on one location).
- A rank *waits for its turn* before a statement or a call: it is slow there.
- Elements of one transfer arrive one by one: nothing orders them.

`schedule` makes turns of a run of the calculus, `rewrite` has the program say where it is, `wrappers` makes the
functions that stand before the library's, `execute` builds and runs, `hold.c` is what happens at run time.
"""
