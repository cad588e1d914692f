"""Makes counterexamples happen on the real library.

Every reproduced run is one that the library may have by itself. The shim does three things, each of which the
specification of the call allows:

- An operation is *held back*: the call returns, and the operation happens later. Puts, gets that do not block and
  atomics that return nothing are not complete when they return; a blocking put has its source copied at the call. The
  calls that complete them (quiet, barrier_all, flush, unlock, ...) first perform all operations that their
  specification names, and each operation after those that must come before it (fences, accumulates on one location).
- A rank *waits for its turn* before a statement or a call: it is slow there.
- Elements of one transfer arrive one by one: nothing orders them.

`schedule` turns a run of the calculus into turns of ranks, `rewrite` makes the program report its statements,
`wrappers` writes the shim functions, `execute` builds and runs the program, `hold.c` is the shim's runtime.
"""
