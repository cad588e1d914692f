"""What holds for every run of a program, found from its text: ranges of values, who may access what from here on, which
values decide anything, which ranks are interchangeable.

It knows programs and nothing of searches, which use it, as do exports.
"""
