"""Meaning: the state-space automaton X(P, N), SC runs, computations, their replay, and happens-before.

`replay` and `happens_before` judge the engines, so no engine may import them or share their code.
"""
