"""Static analyses: what holds for every run, found from the text. Ranges of values, future accesses, values that
matter, interchangeable ranks.

It knows programs and nothing of searches, which use it, as do exports.
"""
