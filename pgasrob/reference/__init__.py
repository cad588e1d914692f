"""The readable references of the native kernel: the same searches in Python, state for state, slow and commented.

`attack` is the space of the attack search and `attack_search` its engine; `reduced_search` goes through it with the
reductions, which are `persistent_sets`, `merging`, `liveness` and `renaming`, put together in `normalised`.
`exploration` goes through the traces of the SC runs; `trace_search` is the engine that looks for an attack in each, by
`closing` (the command that closes the cycle), `delaying` (what a delayed step keeps from happening) and `subsets` (of
updates that commute). `race_search` and `race_traces` look for races, `recordings` answers for one recorded trace.

The table `pgasrob.twins` chooses between them and the kernel. It alone imports them, with the explanations of the
theory (`robustness/explanation`) and the tests, which compare both.
"""
