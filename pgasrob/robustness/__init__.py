"""Deciding robustness: normal forms, cycle types, the engines and the verdict."""
