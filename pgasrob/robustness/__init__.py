"""Deciding robustness: normal forms, cycle types, the engines and the verdict.

What e, D, sigma, source, taint, part, head and mark mean: `proofs/glossary.md`.
"""
